// How contacts are coloured, in the picture and in words.

import type { CONTACT_MODES } from "../frame.gen";

/** Colours of the style sheet by what a contact does; the first is for recordings that do not say. */
export const MODE_COLORS: Record<(typeof CONTACT_MODES)[number], string> = {
  unknown: "--line-3", open: "--line-7", stick: "--line-3", slide: "--line-2", roll: "--line-5",
};
