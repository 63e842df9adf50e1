// Puts the page together: state in the middle, the socket on one side, scene and panels on the other.

import { Connection } from "./connection";
import { norm } from "./decode";
import { el } from "./dom";
import type { Frame } from "./frame.gen";
import { Hand } from "./hand";
import { Header } from "./panels/header";
import { Notices } from "./panels/notices";
import { Plots } from "./panels/plots";
import { Transport } from "./panels/transport";
import { hasWebGL } from "./scene/quality";
import { SceneView } from "./scene/view";
import { Store } from "./state";

/** For tests and for curious people at the console. */
interface Hooks {
  frame(): Frame | null;
  connected(): boolean;
  forceN(): number;
  projected(bodyName: string): { x: number; y: number } | null;
  inView(): { bodies: number; of: number; drawCalls: number };
  hovered(): string;
  held(): string;
}

declare global {
  interface Window {
    __palpate: Hooks;
  }
}

const NARROW = matchMedia("(max-width: 760px)");

function start(app: HTMLElement): void {
  const store = new Store();
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const connection = new Connection(store);
  const stage = el("div", { class: "stage" });
  const header = new Header(store);
  const plots = new Plots(store);
  const notices = new Notices(store);
  let view: SceneView | null = null;
  const transport = new Transport(store, connection, {
    fit: () => view?.fit(),
    togglePlots: () => {
      app.classList.toggle("plots-folded");
      view?.resize();
    },
  });
  app.classList.toggle("plots-folded", NARROW.matches);
  app.append(stage, header.root, plots.root, notices.root, transport.root);

  /** The part of the stage that panels leave free. */
  const clear = (): DOMRect => {
    const box = stage.getBoundingClientRect();
    const open = !app.classList.contains("plots-folded");
    const panel = plots.root.getBoundingClientRect();
    const right = open && !NARROW.matches && panel.width > 0 ? panel.left : box.right;
    const notice = notices.root.getBoundingClientRect(); // above the buttons, or, if narrow, below the header
    const told = notice.height > 0;
    const over = told && !NARROW.matches ? notice.top : transport.root.getBoundingClientRect().top;
    const bottom = open && NARROW.matches && panel.height > 0 ? panel.top : over;
    const top = told && NARROW.matches ? notice.bottom : header.root.getBoundingClientRect().bottom;
    return new DOMRect(box.left, top, right - box.left, Math.max(50, bottom - top));
  };

  if (hasWebGL()) {
    view = new SceneView(stage, store, clear);
    new Hand(stage, view, store, (message) => connection.send(message), notices.grabbed);
  } else {
    const text = "This browser cannot draw the scene: WebGL 2 is off or missing. Turn on hardware acceleration in its settings, or use a current Firefox, Chrome, Edge or Safari. Plots and buttons work all the same.";
    stage.append(el("p", { class: "message" }, text));
    app.classList.add("no-scene"); // nothing to grab
  }

  window.__palpate = {
    frame: () => store.get("frame"),
    connected: () => store.get("connection") === "open" && store.get("frame") !== null,
    forceN: () => norm(store.get("frame")?.hand_force ?? []),
    projected: (bodyName) => view?.projected(bodyName) ?? null,
    inView: () => view?.inView() ?? { bodies: 0, of: 0, drawCalls: 0 },
    hovered: () => (store.get("hovered") ? store.bodyName(store.get("hovered")) : ""),
    held: () => (store.get("held") ? store.bodyName(store.get("held")) : ""),
  };
  connection.open(`${scheme}://${location.host}/ws`);
}

start(document.getElementById("app")!);
