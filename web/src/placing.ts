// Obstacles on their way to another place: no more often than a servo and its page need it, and the last place always.

const MOST_HZ = 30;

export class Placing {
  private readonly due = new Map<number, number[]>(); // places that wait to be told, by body
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly place: (body: number, placement: number[]) => void) {}

  /** Puts a body at position [m] and quaternion (w, x, y, z): now, or as soon as it may. */
  put(body: number, placement: number[]): void {
    this.due.set(body, placement);
    if (this.timer === null) this.tell();
  }

  private tell(): void {
    this.timer = null;
    if (this.due.size === 0) return;
    for (const [body, placement] of this.due) this.place(body, placement);
    this.due.clear();
    this.timer = setTimeout(() => this.tell(), 1000 / MOST_HZ);
  }
}
