// How the servo does, in plain language, from what the frames count.

import { COUNTERS, STATES, type Frame } from "./frame.gen";

export type Level = "good" | "fair" | "poor";

const SPAN_NS = 2e9; // over how long the rate is measured
const FAIR_LATE = 0.01; // share of late ticks above which a hand may feel it
const POOR_LATE = 0.1;
const OFF_RATE = 0.03; // share by which the rate may be off before it is said

/** What each counter means to a person. */
export const COUNTER_WORDS: Record<(typeof COUNTERS)[number], string> = {
  late: "ticks that ended late",
  skipped: "ticks given up to catch up",
  hand_stale: "times the hand fell silent and was let go",
  hand_refused: "times the hand made no sense and was let go",
  capped: "ticks with the spring at its longest",
  clamped: "ticks with the force at its limit",
  rate_limited: "ticks with the force held back in its rise",
  events_lost: "button presses lost",
  contacts_lost: "contacts for which there was no room",
  ran_out: "ticks on which contacts were not solved to the end",
  watchdog: "times the servo was silent",
  link_stale: "ticks for which no news had come over the link",
  link_silent: "times the other end of the link was not heard",
};

/** What a counter means; of a simulation's own, its name. */
export function counterWords(name: string): string {
  return (COUNTER_WORDS as Record<string, string>)[name] ?? name.replaceAll("_", " ");
}

interface Sample {
  periods: number; // of the servo, counted also while the world is paused, unlike ticks
  wall_ns: number;
  late: number;
}

export interface Health {
  text: string;
  level: Level;
}

export class HealthMeter {
  private samples: Sample[] = [];

  push(frame: Frame): void {
    const last = this.samples.at(-1);
    const periods = frame.lateness.reduce((sum, n) => sum + n, 0);
    if (last && (periods < last.periods || frame.wall_ns < last.wall_ns)) this.samples = []; // another servo
    this.samples.push({ periods, wall_ns: frame.wall_ns, late: frame.counters[COUNTERS.indexOf("late")] ?? 0 });
    while (this.samples.length > 2 && (this.samples[1] as Sample).wall_ns < frame.wall_ns - SPAN_NS) this.samples.shift();
  }

  /** What to say about a servo that should run at `rate_hz`. */
  say(frame: Frame, rate_hz: number): Health {
    if (frame.state === STATES.FAULT) {
      return { text: "Stopped: the simulation came to an impossible state. Press reset.", level: "poor" };
    }
    const first = this.samples[0] as Sample;
    const last = this.samples.at(-1) as Sample;
    const span_s = (last.wall_ns - first.wall_ns) * 1e-9;
    if (span_s < 0.5) return { text: "starting …", level: "good" };
    const rate = (last.periods - first.periods) / span_s;
    const lateNow = (last.late - first.late) / Math.max(1, last.periods - first.periods);
    const late = last.late / Math.max(1, last.periods);
    const off = Math.abs(rate - rate_hz) > OFF_RATE * rate_hz;
    const level = lateNow > POOR_LATE ? "poor" : lateNow > FAIR_LATE || off ? "fair" : "good";
    const hz = off ? `${Math.round(rate)} of ${rate_hz} Hz` : `${rate_hz} Hz`;
    const contacts = frame.contacts ? `, ${frame.contacts} ${frame.contacts === 1 ? "contact" : "contacts"}` : "";
    return { text: `${hz}, ${percent(late)} late${contacts}`, level };
  }
}

/** A share as people read it: "0 %", "0.02 %", "3.1 %", "12 %". */
export function percent(share: number): string {
  const p = 100 * share;
  if (p === 0) return "0 %";
  if (p < 0.01) return "< 0.01 %";
  return `${p.toFixed(p < 1 ? 2 : p < 10 ? 1 : 0)} %`;
}
