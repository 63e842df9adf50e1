"""Simulation: what a session runs.  A World is one, the mirror of one across a link another, a user's own a third."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from palpate.frame import (
    BASE,
    COUNTERS,
    EVENT,
    EVENT_WORDS,
    FIRST_OWN,
    HAND,
    HAND_WORDS,
    HANDS,
    LATENESS_EDGES_US,
    Field,
    Layout,
    places,
)
from palpate.jit import Block, warm
from palpate.jit.routines import Routine
from palpate.servo.beside import Beside
from palpate.servo.head import Head
from palpate.servo.loop import PERIOD_NS, STOP, Beat, restart, servo_loop, simulate
from palpate.servo.ring import Ring

if TYPE_CHECKING:  # rendering loads with the first device
    from palpate.haptics.devices.port import InTick
    from palpate.haptics.devices.protocol import Device
    from palpate.haptics.reach import DeviceReport, Reach

EVENT_SLOTS, HAND_SLOTS = 64, 256  # the recorder looks every 20 ms, hands may come every millisecond
FRAME_SECONDS = 2.0  # how far back a slow reader of frames can reach
SLOWEST_HZ, FASTEST_HZ = 10.0, 8000.0


class Event(NamedTuple):
    """One of a simulation's own: `value` within bounds, a whole number or any; a page may send it unless `inside`."""

    name: str
    low: float = 0.0
    high: float = 0.0
    whole: bool = False
    inside: bool = False


class Simulation:
    """Derive from it, and say what a tick is:

    name     for files and lists;  title  for people
    fields   beside those of BASE in every frame;  at  places("At", fields): where they lie, for the tick
    takes    events of its own; their kinds are FIRST_OWN and up, in this order
    tick     routine: sense, act, publish if moving or showing, advance if moving; < 0: it stopped
    reset    routine: back to the start, all of it
    take     routine: 1 if Head.event is one of its own, and is done, < 0 to be asked again in the next period, 0 if it
             is none of its own;  None: it has none

    All are called with `block`: the Head (head.py), where the fields lie, and the `parts` that it was made with.  The
    routines compile when `address`, which loops take, is first asked for.
    """

    name, title = "simulation", ""
    fields: tuple[Field, ...] = ()
    at: ClassVar[Any] = places("At", ())
    takes: tuple[Event, ...] = ()
    tick: ClassVar[Routine]
    reset: ClassVar[Routine]
    take: ClassVar[Routine | None] = None

    def __init__(
        self, *parts: Any, rate_hz: float, sizes: dict[str, int] | None = None, shared: bool = True,
        lateness_log: int = 0, hand: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """
        shared        other processes will read frames and write hands and events
        lateness_log  of how many periods the lateness is kept
        hand          where the newest message of each hand lies (HANDS * HAND_WORDS,); made unless given
        """
        if not SLOWEST_HZ <= rate_hz <= FASTEST_HZ:
            raise ValueError(f"the tick rate must be {SLOWEST_HZ:g} .. {FASTEST_HZ:g} Hz, not {rate_hz:g}")
        names = [field.name for field in BASE + self.fields]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two fields of a frame have one name: {', '.join(twice)}")
        self.rate_hz = rate_hz
        self.beside: list[Beside] = []
        self.layout, self.hand_layout, self.event_layout = (
            Layout(BASE + self.fields, **sizes or {}), Layout(HAND), Layout(EVENT)
        )  # fmt: skip
        self.frames = Ring.create(round(FRAME_SECONDS * rate_hz), self.layout.words, shared)
        self.hands = Ring.create(HAND_SLOTS, HAND_WORDS, shared)
        self.events = Ring.create(EVENT_SLOTS, EVENT_WORDS, shared)
        words = np.zeros(HANDS * HAND_WORDS, dtype=np.int64) if hand is None else hand
        self.head, self.beat = self._head(words), self._beat(lateness_log)
        self.places = self.at(*(self.layout.offset[name] for name in self.at._fields))
        self.block = Block(self.head, self.places, *parts)
        self._beating = Block(self.beat, self.head)

    def _head(self, hand: np.ndarray) -> Head:
        event = np.zeros(EVENT_WORDS, dtype=np.int64)
        return Head(
            dt=1.0 / self.rate_hz, speed=1.0, counters=np.zeros(len(COUNTERS), dtype=np.int64),
            lateness=np.zeros(len(LATENESS_EDGES_US) + 1, dtype=np.int64), hand=hand, hand_f=hand.view(np.float64),
            event=event, event_f=event.view(np.float64), frames=self.frames.memory,
            frames_f=self.frames.memory.view(np.float64),
        )  # fmt: skip

    def _beat(self, lateness_log: int) -> Beat:
        control = np.zeros(8, dtype=np.int64)
        control[PERIOD_NS] = round(1e9 / self.rate_hz)
        return Beat(
            next_event=1, message=np.zeros(HAND_WORDS, dtype=np.int64),
            edges_ns=np.array(LATENESS_EDGES_US, dtype=np.int64) * 1000,
            lateness_log=np.zeros(lateness_log, dtype=np.int64), control=control, clock=np.zeros(2, dtype=np.int64),
            hands=self.hands.memory, events=self.events.memory,
        )  # fmt: skip

    @property
    def address(self) -> int:
        """What servo_loop, restart and simulate take; the first use compiles or loads the routines."""
        beat = self.beat
        if beat.tick == 0:
            beat.simulation, beat.take = self.block.address, self.take.address if self.take else 0
            beat.reset, beat.tick = self.reset.address, self.tick.address
        return self._beating.address

    def warm(self) -> None:
        """Compile, or load from the cache, all that runs in real time."""
        warm(servo_loop)
        self.address  # noqa: B018

    def warm_later(self) -> None:
        """Compile what nothing needs at once; done while it runs, in a thread of its own."""

    def restart(self) -> None:
        """Back to the start, paused or running as it was."""
        restart(self.address)

    def simulate(self, ticks: int, hands: np.ndarray | None = None) -> int:
        """Ticks in simulated time, each with its message (ticks, words) of a hand; how many: fewer if it stopped."""
        hands, done = np.zeros((0, HAND_WORDS), dtype=np.int64) if hands is None else hands, 0
        while done < ticks:
            n = min([ticks - done, *(each.ticks_until_due(self.head.tick) for each in self.beside)])
            did = int(simulate(self.address, n, hands[done : done + n]))
            done += did
            if did < n:
                break
            for each in self.beside:
                each.serve(self.head.tick)
        return done

    def loop(self, periods: int = 0) -> int:
        """Real time, in this thread, until `stop` or for so many periods; how many there were."""
        return int(servo_loop(self.address, periods))

    def stop(self) -> None:
        """Ends `loop` within a period."""
        self.beat.control[STOP] = 1

    def ring_fds(self) -> dict[str, int]:
        """File descriptors of the rings, for processes that share them."""
        return {"frame_fd": self.frames.fd, "hand_fd": self.hands.fd, "event_fd": self.events.fd}

    def kind_of(self, event: str) -> int:
        """Of one of its own events, as EVENT has it."""
        return FIRST_OWN + [each.name for each in self.takes].index(event)

    # ---- devices

    def take_device(self, device: Device, in_tick: InTick, reach: Reach) -> None:
        """An open device that somebody holds, and how a tick reaches it; before the first tick.

        Whoever takes one reports of it (`device_reports`), and sends it nothing but what its guard lets through.
        """
        raise ValueError(f"devices reach into a World; {self.name!r} is a simulation of another kind, and takes none")

    def device_reports(self) -> list[DeviceReport]:
        """Of each device that it took how it went."""
        return []

    # ---- what a page is told, and what the session asks

    def hello(self) -> dict[str, Any]:
        """What a page needs to show it: bodies, settings, plots, panels (docs/extending.md); nothing is needed."""
        return {}

    def why_stopped(self) -> str:
        """In one line, after a tick that was its last."""
        return "the simulation stopped"

    def close(self) -> None:
        """Let go of the shared memory; nothing may run on it any more."""
        for ring in (self.frames, self.hands, self.events):
            ring.close()
