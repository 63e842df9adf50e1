// What a touch can do to a plan, in one line each (palpate/control/plans/modes.py says it in full).

export const MODE_LINES: Record<string, string> = {
  wait: "The plan waits while you hold, and goes on when you let go.",
  hold: "Your push bends the motion; let go, and it stays bent.",
  resume: "Your push bends the motion; let go, and it finds a new way to the goal.",
  blend: "The plan goes on, and your hand shifts it.",
  teach: "The arm weighs nothing and follows your hand; what you show it can be kept.",
};

/** With a capital letter, as a choice. */
export function modeName(mode: string): string {
  return mode.charAt(0).toUpperCase() + mode.slice(1);
}
