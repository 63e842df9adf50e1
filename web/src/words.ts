// Numbers as people read them.

/** An energy as people read it: "0 J", "0.42 mJ", "3.1 J", "1.25 kJ". */
export function joules(x: number): string {
  if (!(x >= 5e-6)) return "0 J";
  const [size, unit] = x >= 1000 ? [1e3, "kJ"] : x >= 0.1 ? [1, "J"] : [1e-3, "mJ"];
  const value = x / (size as number);
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${unit}`;
}

/** A tick of an axis in as few letters as it takes. */
export function tick(x: number): string {
  return Math.abs(x) >= 10000 ? x.toExponential(0).replace("+", "") : String(Number(x.toPrecision(4))).replace("-", "\u2212");
}

/** A number with `digits` decimals and a true minus sign, and no minus before zero. */
export function plain(x: number, digits: number): string {
  const text = x.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text.replace("-", "\u2212");
}

/** A number as its unit is read: "12.3°" (of degrees, for rad), "0.120 m", "4.0 N", "3.1 J"; of others, three digits. */
export function quantity(x: number, unit: string): string {
  if (unit === "rad") return `${plain(x, 1)}°`;
  if (unit === "m") return `${plain(x, 3)} m`;
  if (unit === "N") return `${x.toFixed(1)} N`;
  if (unit === "J") return x < 0 ? `−${joules(-x)}` : joules(x);
  return `${String(Number(x.toPrecision(3))).replace("-", "\u2212")} ${unit}`.trim();
}

/** A length as it is read beside things: "4 mm", "−12 mm", "1.23 m". */
export function length(x: number): string {
  return Math.abs(x) < 1 ? `${plain(1000 * x, 0)} mm` : `${plain(x, 2)} m`;
}

/** With a large first letter. */
export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
