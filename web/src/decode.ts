// From the words of a frame to its fields, as the hello lays them out: any simulation's, in any order.

import { BASE, KNOWN, type Frame } from "./frame.gen";
import type { DescribedField, Quantity } from "./protocol";

export class Layout {
  readonly words: number;

  private constructor(private readonly fields: DescribedField[]) {
    this.words = Math.max(0, ...fields.map(({ offset, length }) => offset + length));
  }

  /** Null if these are not the frames that this page knows: page and server are of different versions. */
  static of(fields: DescribedField[]): Layout | null {
    const meant = fields.every(({ name, kind, shape }) => {
      const [as, rank] = (Object.hasOwn(KNOWN, name) ? KNOWN[name] : null) ?? [kind, shape.length];
      return kind === as && shape.length === rank;
    });
    return meant && BASE.every((name) => fields.some((field) => field.name === name)) ? new Layout(fields) : null;
  }

  /** The fields of a message, or null when it has another size. Little-endian, as is every machine with a browser. */
  decode(message: ArrayBuffer): Frame | null {
    if (message.byteLength !== 8 * this.words) return null;
    const view = new DataView(message);
    const frame: Record<string, number | number[] | Float64Array> = {};
    for (const { name, kind, offset, length, shape } of this.fields) {
      const read = (i: number): number =>
        kind === "f" ? view.getFloat64(8 * (offset + i), true) : Number(view.getBigInt64(8 * (offset + i), true));
      if (shape.length === 0) frame[name] = read(0);
      else if (kind === "f") frame[name] = new Float64Array(message, 8 * offset, length); // no copy: there may be thousands
      else frame[name] = Array.from({ length }, (_, i) => read(i));
    }
    return frame as unknown as Frame;
  }
}

/** The numbers of any field of a frame, row by row; none if it has no such field. */
export function numbers(frame: Frame, field: string): ArrayLike<number> {
  const found = (frame as unknown as Record<string, number | ArrayLike<number> | undefined>)[field];
  return typeof found === "number" ? [found] : (found ?? []);
}

/** A quantity of a hello, as a frame has it; NaN if it has not. */
export function read(frame: Frame, quantity: Quantity): number {
  if (typeof quantity === "number") return quantity;
  const [field, index] = typeof quantity === "string" ? [quantity, 0] : quantity;
  return numbers(frame, field)[index] ?? NaN;
}

export function norm(v: ArrayLike<number>): number {
  return Math.hypot(v[0] ?? 0, v[1] ?? 0, v[2] ?? 0);
}
