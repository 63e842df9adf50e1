// How to touch, what can be set of the simulation, and how it is shown. All of it can be put back. Settings are shown as
// the servo has them: another page, or a program, may have changed them.

import type { Connection } from "../connection";
import { el } from "../dom";
import { CONTACT_MODES } from "../frame.gen";
import { wants, type Hello } from "../protocol";
import { MODE_COLORS } from "../scene/modes";
import { USUAL_TOUCH, type Sight, type Store, type Touch } from "../state";
import { plain } from "../words";
import { Choice, Switch } from "./choice";
import type { Keys } from "./keys";
import { SettingView } from "./setting";
import { Slider, type Scale } from "./slider";
import { THEMES, THEME_WORDS, type Theme } from "./theme";

export const VIEWS = ["perspective", "front", "side", "top"] as const;
export type ViewName = (typeof VIEWS)[number];

/** What the panel asks of the scene's picture. */
export interface Looks {
  lookFrom(name: ViewName): void;
  lookThrough(sight: Sight): void;
  showContacts(on: boolean): void;
  lightsOff(on: boolean): void;
}

const STIFFNESS: Scale = { least: 50, most: 5000, usual: 800, steps: 60, even: "ratios" };
const DAMPING: Scale = { least: 0.1, most: 3, usual: 1, steps: 58, even: "differences" };
const VIEW_WORDS: Record<ViewName, [string, string]> = {
  perspective: ["Slant", "look at a slant"], front: ["Front", "look from the front"], side: ["Side", "look from the side"], top: ["Top", "look from above"],
};

const SIGHTS = ["eyes", "stereo"] as const; // keys 5 and 6
const SIGHT_WORDS: Record<(typeof SIGHTS)[number], [string, string]> = {
  eyes: ["One", "look through the eyes of who is in the scene"], stereo: ["Side by side", "look through both eyes, side by side"],
};

/** What the colours of contacts mean. */
function modeLegend(): HTMLElement {
  const rows = CONTACT_MODES.slice(1).map((mode) => el("li", { style: `--color: var(${MODE_COLORS[mode]})` }, mode));
  return el("ul", { class: "path-legend contact-modes", "aria-label": "what the colours of contacts mean", hidden: "" }, ...rows);
}

export class Controls {
  readonly root: HTMLElement;
  private readonly stiffness = new Slider(
    "Stiffness", STIFFNESS, (x) => `${x} N/m`, (x) => this.touch({ stiffness_N_m: x }), "of the spring between your hand and what it holds",
  );
  private readonly damping = new Slider(
    "Damping", DAMPING, (x) => `${plain(x, 2)} ×`, (x) => this.touch({ damping: x }), "of that spring, times critical: below one it swings",
  );
  private readonly settings = el("section", { class: "live-only" });
  private sliders: SettingView[] = [];
  private readonly seeing = el("section");
  private known = ""; // scene and settings that are shown

  constructor(
    private readonly store: Store,
    private readonly connection: Connection,
    keys: Keys,
    theme: Theme,
    looks: Looks,
    ...more: HTMLElement[]
  ) {
    const modes = modeLegend();
    const contacts = new Switch("Contacts", "Show contact points and forces (K)", (on) => {
      modes.hidden = !on;
      looks.showContacts(on);
    });
    const dark = new Switch("Lights off", "Lights off: work by force alone (L)", looks.lightsOff);
    const views = new Choice("view", VIEWS, (name) => VIEW_WORDS[name][0], looks.lookFrom, (name) => `${VIEW_WORDS[name][1]} (${VIEWS.indexOf(name) + 1})`);
    const colours = new Choice("colours", THEMES, (name) => (name === "system" ? "System" : name === "light" ? "Light" : "Dark"), (name) => {
      theme.choose(name);
      colours.show(name);
    }, (name) => `Colours: ${THEME_WORDS[name]} (D)`);
    colours.show(theme.choice);
    const sights = new Choice<Sight>("eyes", SIGHTS, (sight) => SIGHT_WORDS[sight as "eyes"][0], looks.lookThrough, (sight) => `${SIGHT_WORDS[sight as "eyes"][1]} (${sight === "eyes" ? 5 : 6})`);
    const inside = row("Eyes", sights.root);
    store.on("sight", (sight) => sights.show(sight));
    const touching = el("section", { class: "live-only" }, this.stiffness.root, this.damping.root);
    this.seeing.append(row("View", views.root), inside, row("Colours", colours.root), el("div", { class: "row switches" }, contacts.root, dark.root), modes);
    this.root = el("aside", { class: "card panel controls", id: "controls", "aria-label": "controls" }, el("h2", {}, "Controls"), touching, this.settings, this.seeing, ...more);

    keys.bind("View", "k", "contacts on or off", () => contacts.turn(!contacts.on));
    keys.bind("View", "l", "lights off: work by force alone; or on", () => dark.turn(!dark.on));
    VIEWS.forEach((name, i) => keys.bind("View", String(i + 1), VIEW_WORDS[name][1], () => looks.lookFrom(name)));
    SIGHTS.forEach((sight, i) => keys.bind("View", String(i + 5), SIGHT_WORDS[sight][1], () => looks.lookThrough(sight)));
    keys.bind("View", "d", "colours: as the system, light, dark", () => {
      theme.next();
      colours.show(theme.choice);
    });

    store.on("hello", (hello) => {
      if (!hello) return;
      this.root.classList.toggle("replay", hello.mode === "replay");
      touching.hidden = !wants(hello, "touch");
      contacts.root.hidden = !wants(hello, "contacts");
      inside.hidden = !hello.eyes;
      inside.title = hello.eyes?.name ?? "";
      const known = JSON.stringify([hello.scene, hello.settings]);
      if (known !== this.known) this.begin(hello);
      this.known = known;
    });
    store.on("frame", (frame) => {
      if (!frame) return;
      for (const each of this.sliders) each.tell(frame);
    });
  }

  /** Another part, after how things are seen. */
  add(part: HTMLElement): void {
    this.seeing.after(part);
  }

  private touch(change: Partial<Touch>): void {
    this.store.set("touch", { ...this.store.get("touch"), ...change });
  }

  /** Another simulation has its own stiffness and its own settings, whose values come with its frames. */
  private begin({ hand, settings: all, actors = [] }: Hello): void {
    const settings = all.filter(({ event }) => !actors.some((actor) => actor.settings.includes(event))); // those have theirs
    this.stiffness.begin(hand.stiffness_N_m);
    this.damping.begin();
    this.sliders = settings.map((setting) => new SettingView(setting, this.connection));
    this.settings.replaceChildren(...this.sliders.map(({ root }) => root));
    this.settings.hidden = settings.length === 0;
    this.store.set("touch", { ...USUAL_TOUCH, mode: this.store.get("touch").mode });
  }
}

function row(name: string, what: HTMLElement): HTMLElement {
  return el("div", { class: "row" }, el("span", { class: "name" }, name), what);
}
