// A setting of a hello: a slider, a switch, or a list to choose from. It shows what frames tell, unless a person is about to change it.

import type { Connection } from "../connection";
import { numbers } from "../decode";
import type { Frame } from "../frame.gen";
import type { Setting } from "../protocol";
import { Listed, Switch } from "./choice";
import { evenly, Slider, worded } from "./slider";
import { Wished } from "./wished";

export class SettingView {
  readonly root: HTMLElement;
  readonly tell: (frame: Frame) => void;

  constructor(setting: Setting, connection: Pick<Connection, "event">) {
    const { event, label, field, about = "" } = setting;
    if (setting.switch) {
      const wished = new Wished();
      const made = new Switch(label, about || label, (on) => {
        wished.want(Number(on));
        connection.event(event, Number(on));
      });
      made.show(setting.value !== 0);
      this.root = made.root;
      this.tell = (frame) => {
        const now = numbers(frame, field)[0] ?? setting.value;
        if (wished.hears(now)) made.show(now !== 0);
      };
    } else if (setting.choices) {
      const wished = new Wished();
      const made = new Listed(label, about || label, setting.choices, (place) => {
        wished.want(place);
        connection.event(event, place);
      });
      made.show(setting.value);
      this.root = made.root;
      this.tell = (frame) => {
        const now = Math.round(numbers(frame, field)[0] ?? setting.value);
        if (wished.hears(now)) made.show(now);
      };
    } else {
      const made = new Slider(label, evenly(setting), (x) => worded(x, setting), (x) => connection.event(event, x), about);
      this.root = made.root;
      this.tell = (frame) => made.tell(numbers(frame, field)[0] ?? made.value);
    }
  }
}
