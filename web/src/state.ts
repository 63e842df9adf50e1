// What the page knows, in one place. Views read it and are told what changed; they do not talk to each other.

import type { Frame } from "./frame.gen";
import type { Compiling, Hello, Status } from "./protocol";

export type Connection = "connecting" | "open" | "lost" | "other-version";

export interface State {
  connection: Connection;
  hello: Hello | null;
  frame: Frame | null;
  compiling: Compiling | null; // how far the compiler is; null: the scene runs, or nobody knows
  arrived: number; // when the frame came, as performance.now() counts [ms]
  hovered: number; // body under the pointer, 0: none
  chosen: number; // body that the keyboard is at, 0: none
  held: number; // body in our hand, 0: none
  taken: boolean; // another page has the hands
  status: Status | null; // who has them, and who asks
  loading: string; // the scene that was asked for and is not there yet, "": none
  touch: Touch; // how our hands touch
  drawn: ReadonlySet<string>; // names of the drawings that are turned on
  sight: Sight;
}

/** Where the scene is seen from: from outside, through the eyes of somebody in it, or with both, side by side. */
export type Sight = "outside" | "eyes" | "stereo";

/** How our hands touch; the servo has the last word. */
export interface Touch {
  mode: "pull" | "press";
  stiffness_N_m: number | null; // null: as the scene proposes
  damping: number; // times critical
}

export const USUAL_TOUCH: Touch = { mode: "pull", stiffness_N_m: null, damping: 1 };

type Listener<K extends keyof State> = (value: State[K]) => void;

export class Store {
  private readonly state: State = {
    connection: "connecting", hello: null, frame: null, compiling: null, arrived: 0, hovered: 0, chosen: 0, held: 0, taken: false, status: null,
    loading: "", touch: USUAL_TOUCH, drawn: new Set(), sight: "outside",
  };
  private readonly listeners: { [K in keyof State]?: Listener<K>[] } = {};

  get<K extends keyof State>(key: K): State[K] {
    return this.state[key];
  }

  set<K extends keyof State>(key: K, value: State[K]): void {
    if (this.state[key] === value) return;
    this.state[key] = value;
    for (const listener of this.listeners[key] ?? []) listener(value);
  }

  /** Calls back on every change from now on, and at once with what is known. */
  on<K extends keyof State>(key: K, listener: Listener<K>): void {
    const list = (this.listeners[key] ??= [] as never) as Listener<K>[];
    list.push(listener);
    listener(this.state[key]);
  }

  /** Whether a person can touch something now. */
  canTouch(): boolean {
    return this.state.connection === "open" && this.state.hello?.mode === "live" && !this.state.taken;
  }

  bodyName(body: number): string {
    return this.state.hello?.bodies[body]?.name ?? "";
  }
}
