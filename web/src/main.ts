// Puts the page together: state in the middle, the socket on one side, scene and panels on the other.

import { Connection } from "./connection";
import { largestHandForce } from "./devices";
import { el } from "./dom";
import type { Frame } from "./frame.gen";
import { GamepadHand } from "./gamepad";
import { Hand } from "./hand";
import { HeldEvents } from "./held";
import { HeldKeys } from "./held_keys";
import { KeyboardHand } from "./keyboard";
import { Actors } from "./panels/actors";
import { CompilingCard } from "./panels/compiling";
import { Controls } from "./panels/controls";
import { DrawingSwitches } from "./panels/drawing_switches";
import { Edit } from "./panels/edit";
import { Experiments } from "./panels/experiments";
import { Folding } from "./panels/folding";
import { headsetPart } from "./panels/headset";
import { Header } from "./panels/header";
import { Help } from "./panels/help";
import { Keys } from "./panels/keys";
import { Maps } from "./panels/maps";
import { Marker } from "./panels/marker";
import { Notices } from "./panels/notices";
import { Plots } from "./panels/plots";
import { Scenes } from "./panels/scenes";
import { Sticks } from "./panels/sticks";
import { Study } from "./panels/study";
import { Task } from "./panels/task";
import { Theme } from "./panels/theme";
import { Transport } from "./panels/transport";
import { Person } from "./person";
import type { Vector3 } from "./protocol";
import { Rumble } from "./rumble";
import { hasWebGL } from "./scene/quality";
import { SceneView } from "./scene/view";
import { Store, type Sight } from "./state";

/** For tests and for curious people at the console. */
interface Hooks {
  frame(): Frame | null;
  connected(): boolean;
  forceN(): number;
  projected(bodyName: string): { x: number; y: number } | null;
  inView(): { bodies: number; of: number; drawCalls: number };
  hovered(): string;
  chosen(): string;
  held(): string;
}

declare global {
  interface Window {
    __palpate: Hooks;
  }
}

const NARROW = matchMedia("(max-width: 760px)");
const GAP_PX = 12; // around maps
const BAR_PX = 32; // what chooses among them has room beside the header

function start(app: HTMLElement): void {
  const theme = new Theme();
  const store = new Store();
  const keys = new Keys();
  const connection = new Connection(store);
  const stage = el("div", { class: "stage", tabindex: 0, role: "application", "aria-label": "the scene: arrows choose a body, Enter takes it" });
  let view: SceneView | null = null;

  const transport = new Transport(store, connection, keys, { fit: () => view?.lookThrough("outside", true), toggle: (panel) => folding.toggle(panel) });
  const help = new Help(keys);
  const scenes = new Scenes(store, connection, keys);
  const experiments = new Experiments(store, connection, keys, (running) => header.experimenting(running));
  const header = new Header(store, keys, { scenes: () => scenes.open(), experiments: () => experiments.open(), help: () => help.open() });
  const plots = new Plots(store, keys);
  const notices = new Notices(store, connection, keys);
  const marker = new Marker(connection, keys, () => folding.put("controls", true));
  const looks = {
    lookFrom: (name: "perspective" | "front" | "side" | "top") => view?.lookFrom(name),
    lookThrough: (sight: Sight) => view?.lookThrough(sight),
    showContacts: (on: boolean) => view?.show({ contacts: on }),
    lightsOff: (on: boolean) => {
      app.classList.toggle("lights-off", on);
      theme.lightsOff(on);
      view?.show({ dark: on });
    },
  };
  const headset = headsetPart(keys, async () => view?.enterXR());
  const controls = new Controls(store, connection, keys, theme, looks, new Task(store).root, marker.root, headset);
  const freePlace = (radius: number, where: "ground" | "air"): Vector3 | null => (view?.find.freePlace(radius, where)?.toArray() as Vector3 | undefined) ?? null;
  const edit = new Edit(store, connection, keys, freePlace, (plan, motion) => view?.showPaths(plan, motion));
  const actors = new Actors(store, connection);
  const drawings = new DrawingSwitches(store);
  const side = el("div", { class: "side" }, actors.root, edit.root, controls.root);
  const dialogs = [scenes, experiments, help].map(({ root }) => root.element);
  notices.root.prepend(new CompilingCard(store, [side, plots.root, transport.root]).root);
  const maps = new Maps(store, keys, () => view?.moved());
  const held = new HeldEvents(store, (event, value) => connection.event(event, value));
  new HeldKeys(keys, held, store);
  const sticks = new Sticks(store, held);
  app.append(stage, maps.root, header.root, side, plots.root, sticks.root, notices.root, transport.root, new Study(app, store, connection, keys).root, ...dialogs);

  const folding = new Folding(app, NARROW, (panels) => {
    for (const { name, open, there } of panels) transport.tell(name, open, there);
    arrangeMaps();
    if (NARROW.matches) view?.fit(true); // a sheet takes half the height
    else view?.resize();
  });
  store.on("hello", () => {
    folding.offer("actors", actors.useful);
    if (actors.useful) actors.root.append(drawings.root); // beside what they are about
    else controls.add(drawings.root);
    folding.offer("edit", edit.useful);
  });
  keys.listen();

  /** The part of the window that panels leave to the maps and the scene among them. */
  function arrangeMaps(): void {
    const parts = [side, plots.root, notices.root, sticks.root, header.root, transport.root].map((part) => part.getBoundingClientRect());
    const [left, right, notice, stick, head, buttons] = parts as [DOMRect, DOMRect, DOMRect, DOMRect, DOMRect, DOMRect];
    const tops = (...boxes: DOMRect[]): number[] => boxes.filter(({ height }) => height > 0).map(({ top }) => top);
    const narrow = NARROW.matches;
    const from = narrow || left.width === 0 ? GAP_PX : left.right + GAP_PX;
    const to = narrow || right.width === 0 ? innerWidth - GAP_PX : right.left - GAP_PX;
    const under = narrow ? Math.max(head.bottom, notice.bottom) : head.right + maps.barWidth + GAP_PX < to ? head.bottom - BAR_PX : head.bottom;
    const top = head.right + GAP_PX > from ? under + GAP_PX / 2 : GAP_PX;
    const over = Math.min(buttons.top, ...(narrow ? tops(left, right, stick) : tops(notice))) - GAP_PX;
    maps.arrange(new DOMRect(from, top, Math.max(50, to - from), Math.max(50, over - top)));
  }

  /** The part of the stage that panels leave free. */
  const clear = (): DOMRect => {
    const box = stage.getBoundingClientRect();
    const among = maps.sceneArea();
    if (among && among.width > 0) return among;
    const [left, right, notice] = [side, plots.root, notices.root].map((part) => part.getBoundingClientRect()) as [DOMRect, DOMRect, DOMRect];
    const under = header.root.getBoundingClientRect().bottom;
    const over = transport.root.getBoundingClientRect().top;
    if (NARROW.matches) {
      const sheet = Math.min(...[left, right].filter(({ height }) => height > 0).map(({ top }) => top), over);
      const top = notice.height > 0 ? notice.bottom : under; // notices are below the header, if narrow
      return new DOMRect(box.left, top, box.width, Math.max(50, sheet - top));
    }
    const from = left.width > 0 ? left.right : box.left;
    const to = right.width > 0 ? right.left : box.right;
    const bottom = notice.height > 0 ? notice.top : over; // notices are above the buttons
    const top = left.width > 0 ? box.top : under; // beside the panels, the scene has all the height
    return new DOMRect(from, top, Math.max(50, to - from), Math.max(50, bottom - top));
  };

  const around = new ResizeObserver(() => {
    arrangeMaps();
    if (maps.there) view?.resize();
  });
  for (const part of [app, header.root, notices.root, sticks.root]) around.observe(part);
  if (hasWebGL()) {
    view = new SceneView(stage, store, clear);
    view.person = new Person(store, (message) => connection.send(message));
    new Rumble(store);
    const hand = new Hand(stage, view, store, (message) => connection.send(message), notices.grabbed);
    const keyboard = new KeyboardHand(stage, view, store, hand.holds, () => hand.mode, notices.grabbed, keys);
    new GamepadHand(store, hand.holds, keyboard.steering, () => keyboard.takeOrLetGo(), (way, value) => sticks.walk("pad", way, value));
    notices.root.append(keyboard.line);
    store.on("touch", ({ mode, stiffness_N_m, damping }) => {
      hand.mode = mode;
      hand.feel(stiffness_N_m, damping);
    });
  } else {
    const text = "This browser cannot draw the scene: WebGL 2 is off or missing. Turn on hardware acceleration in its settings, or use a current Firefox, Chrome, Edge or Safari. Plots and buttons work all the same.";
    stage.append(el("p", { class: "message" }, text));
    app.classList.add("no-scene"); // nothing to grab
  }

  window.__palpate = {
    frame: () => store.get("frame"),
    connected: () => store.get("connection") === "open" && store.get("frame") !== null,
    forceN: () => largestHandForce(store.get("frame")),
    projected: (bodyName) => view?.find.projected(bodyName) ?? null,
    inView: () => view?.inView() ?? { bodies: 0, of: 0, drawCalls: 0 },
    hovered: () => (store.get("hovered") ? store.bodyName(store.get("hovered")) : ""),
    chosen: () => (store.get("chosen") ? store.bodyName(store.get("chosen")) : ""),
    held: () => (store.get("held") ? store.bodyName(store.get("held")) : ""),
  };
  connection.open(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
}

start(document.getElementById("app")!);
