// Which of many joints to plot: those that move most, without changing one's mind all the time.

const BETTER = 1.5; // another one takes a place only if it moves this much more
const LEAST = 0.1; // and by this much at all, in units of its scale

/**
 * Which `columns` to show in `count` places: those of the widest range, measured in units of their own `scale`.
 * `shown` is what the places have now (empty: nothing yet); whoever stays keeps its place, and so its colour.
 */
export function mostMoving(columns: ArrayLike<number>[], scale: number[], shown: number[], count: number): number[] {
  const places = shown.length > 0 ? [...shown] : columns.map((_, i) => i).slice(0, count);
  const range = columns.map((column, i) => rangeOf(column) / (scale[i] ?? 1));
  const others = columns.map((_, i) => i).filter((i) => !places.includes(i)).sort((i, j) => range[j]! - range[i]!);
  for (const other of others) {
    const least = places.reduce((k, i, place) => (range[i]! < range[places[k]!]! ? place : k), 0);
    if (range[other]! <= BETTER * range[places[least]!]! + LEAST) break;
    places[least] = other;
  }
  return places;
}

function rangeOf(column: ArrayLike<number>): number {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < column.length; i++) {
    low = Math.min(low, column[i]!);
    high = Math.max(high, column[i]!);
  }
  return column.length > 0 ? high - low : 0;
}
