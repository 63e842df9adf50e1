// From the words of a frame to its fields. The way fields lie in a message is that of palpate/frame.py.

import { FRAME_FIELDS, type Field, type Frame } from "./frame.gen";
import type { DescribedField, Sizes } from "./protocol";

interface Place {
  field: Field;
  offset: number; // in 8-byte words
  length: number;
}

export class Layout {
  readonly places: Place[] = [];
  readonly words: number;

  constructor(sizes: Sizes) {
    const known: Record<string, number> = { ...sizes };
    let offset = 0;
    for (const kind of ["i", "f"]) {
      for (const field of FRAME_FIELDS.filter((f) => f.kind === kind)) {
        const length = field.shape.reduce<number>((n, s) => n * (typeof s === "string" ? (known[s] ?? 0) : s), 1);
        this.places.push({ field, offset, length });
        offset += length;
      }
    }
    this.words = offset;
  }

  /** Whether the server means the same by a frame: false when page and server are of different versions. */
  agrees(described: DescribedField[]): boolean {
    return (
      described.length === this.places.length &&
      this.places.every(({ field, offset, length }) =>
        described.some((d) => d.name === field.name && d.kind === field.kind && d.offset === offset && d.length === length),
      )
    );
  }

  /** The fields of a message, or null when it has another size. Little-endian, as is every machine with a browser. */
  decode(message: ArrayBuffer): Frame | null {
    if (message.byteLength !== 8 * this.words) return null;
    const view = new DataView(message);
    const frame: Record<string, number | number[] | Float64Array> = {};
    for (const { field, offset, length } of this.places) {
      const read = (i: number): number =>
        field.kind === "f" ? view.getFloat64(8 * (offset + i), true) : Number(view.getBigInt64(8 * (offset + i), true));
      if (field.shape.length === 0) frame[field.name] = read(0);
      else if (field.kind === "f") frame[field.name] = new Float64Array(message, 8 * offset, length); // no copy: there may be thousands
      else frame[field.name] = Array.from({ length }, (_, i) => read(i));
    }
    return frame as unknown as Frame;
  }
}

export function norm(v: ArrayLike<number>): number {
  return Math.hypot(v[0] ?? 0, v[1] ?? 0, v[2] ?? 0);
}
