"""A fake of the package pygame: gamepads whose sticks and buttons a test moves."""

import threading
from types import SimpleNamespace


class FakePad:
    def __init__(self, rumbles=True):
        self.axes, self.buttons, self.can_rumble = [0.0, 0.0, -1.0, 0.0, 0.0, -1.0], [0] * 4, rumbles
        self.rumbled, self.threads = [], set()

    def get_name(self):
        return "Fake Pad"

    def get_instance_id(self):
        return 7

    def get_numaxes(self):
        return len(self.axes)

    def get_axis(self, i):
        self.threads.add(threading.current_thread().name)
        return self.axes[i]

    def get_numbuttons(self):
        return len(self.buttons)

    def get_button(self, i):
        return self.buttons[i]

    def rumble(self, low, high, ms):
        self.rumbled.append((low, high, ms))
        return self.can_rumble

    def stop_rumble(self):
        self.rumbled.append(None)

    def quit(self):
        pass


class FakePygame:
    """Stands for the module pygame."""

    JOYDEVICEREMOVED = 1542

    def __init__(self, *pads):
        self.pads, self.events, self.up = pads, [], set()
        part = lambda name: {"init": lambda: self.up.add(name), "quit": lambda: self.up.discard(name)}  # noqa: E731
        self.display = SimpleNamespace(**part("display"))
        self.joystick = SimpleNamespace(
            **part("joystick"), get_count=lambda: len(self.pads), Joystick=lambda i: self.pads[i]
        )
        self.event = SimpleNamespace(get=self._get)

    def _get(self):
        events, self.events = self.events, []
        if any(isinstance(event, Exception) for event in events):
            raise events[0]
        return events
