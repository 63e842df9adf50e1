"""What one published tick holds: the schema that the servo writes and that recorder, page and network read.

A message is a run of 8-byte little-endian words: first all int64 fields, then all float64 fields, each in the order
listed here; of a frame first those of BASE.  Three messages share this one way of being written down:

    frame    servo -> everyone, every tick: BASE, and then the simulation's own fields (those of a World: WORLD_FIELDS)
    HAND     page or link -> servo, the latest of each hand counts
    EVENT    page -> servo, every one counts

`web/src/frame.gen.ts` is generated from this file; a test fails when it is stale.
"""

from __future__ import annotations

import sys
from collections import namedtuple
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

# Things that should not happen, counted since the start: in every frame, on the page, in the recording.
COUNTERS = (
    "late",  # ticks that ended after the next was due
    "skipped",  # ticks given up because the loop was more than a tick behind
    "hand_stale",  # times a hand that held something was not heard of for 100 ms, and was let go
    "hand_refused",  # hands whose numbers made no sense, and were let go
    "capped",  # ticks on which the pull was stretched beyond its cap
    "clamped",  # ticks on which the force to the hand was scaled to the device's limit
    "rate_limited",  # ticks on which the force to the hand was not allowed to rise as fast as it wanted
    "events_lost",  # events that came faster than they could be taken
    "contacts_lost",  # contacts for which there was no room
    "ran_out",  # ticks on which the contact solver's budget ended above its tolerance
    "watchdog",  # times the watchdog found the loop silent for 50 ms
    "link_stale",  # ticks of a remote session for which no new state had come
    "link_silent",  # times the other end of a link was not heard of for 100 ms
)
# The same of one device: what stood between the force that was wanted and the hand (haptics/guard.py).
DEVICE_COUNTERS = (
    "not_finite", "bad_reading", "device_lost", "link_lost", "law_failed",  # faults: no more force until a reset
    "gated", "rising", "too_fast", "late_zeroed", "late_damped", "late_held", "heat_limited", "clamped",
    "rate_limited", "stale", "saturated",
)  # fmt: skip
DEVICE_PORTS = ("hand", "hand_turn", "coupling", "surfaces")  # where energy is counted (haptics/reach_tables.py)
# Upper edges of the lateness histogram [us]: how long after its due time a tick began; the last bucket is open.
LATENESS_EDGES_US = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)

PAUSED, RUNNING, FAULT = 0, 1, 2  # state: FAULT means the world stopped, the last good state is shown

# kind of an EVENT: those of every session, SEEK [s] and SPEED with a value; a simulation's own come from FIRST_OWN on
PLAY, PAUSE, STEP, RESET, SEEK, SPEED, FIRST_OWN = range(1, 8)
# a World's own: MODE (of control/plans/modes.py), GRAVITY and FRICTION (times the scene's own) carry a value; PLACE a
# body, where to put it, and as value whether it is parked there; FOLLOW the address of a plan, and so is none that a
# page or a link may send
MODE, FOLLOW, PLACE, GRAVITY, FRICTION = range(FIRST_OWN, FIRST_OWN + 5)
# hold of a HAND: a spring between the held point and the target; a force at that point; a ball at the target that
# touches whatever is there
PULL, PUSH, PRESS = 0, 1, 2
HANDS = 2  # that a page has: two pointers, two hands
CONTACT_MODES = ("unknown", "open", "stick", "slide", "roll")  # what a contact does (contact/mode.py)
UNKNOWN, OPEN, STICK, SLIDE, ROLL = range(5)


class Field(NamedTuple):
    """One field: `shape` is of numbers and of names of sizes that the scene gives.

    A field with a unit or a group is a signal: pages plot it, together with the others of its group.
    """

    name: str
    kind: str  # "i" int64, "f" float64
    shape: tuple[int | str, ...]
    about: str
    unit: str = ""
    group: str = ""


BASE = (
    Field("tick", "i", (), "ticks since the start"),
    Field("wall_ns", "i", (), "monotonic clock when the tick began [ns]"),
    Field("state", "i", (), "PAUSED, RUNNING or FAULT"),
    Field("counters", "i", (len(COUNTERS),), "as COUNTERS names them"),
    Field("lateness", "i", (len(LATENESS_EDGES_US) + 1,), "ticks by how late they began"),
    Field("time_s", "f", (), "simulated time [s]"),
    Field("tick_us", "f", (), "how long the tick before this one took [us]"),
    Field("speed", "f", (), "of the simulation, times real time"),
)

WORLD_FIELDS = (
    Field("hand_body", "i", (HANDS,), "body that each hand holds or presses on, 0: none"),
    Field("hand_kind", "i", (HANDS,), "what each hand does: PULL, PUSH or PRESS"),
    Field("edit_mode", "i", (), "what a touch does to the plan: wait, hold, resume, blend, teach"),
    Field("edit_stage", "i", (), "of the motion: planned, touched, edited, ended"),
    Field("contacts", "i", (), "contact points solved in the tick before this one"),
    Field("contact_body", "i", ("n_contacts", 2), "the two bodies of each contact, as far as there is room"),
    Field("parked", "i", ("n_bodies",), "1: the body waits to be added, and takes no part"),
    Field("contact_mode", "i", ("n_contacts",), "what each contact does, as CONTACT_MODES names it"),
    Field("task_trial", "i", (), "number of the trial of the scene's task, 0: it has none"),
    Field("task_state", "i", (), "of that trial: waiting for a touch, running, reached"),
    Field("task_collisions", "i", (), "times that an obstacle was hit in it"),
    Field("device_held", "i", ("n_devices",), "body that each device holds, 0: none"),
    Field("device_state", "i", ("n_devices",), "of its guard: engaging, rising, on, slowed, late, fault"),
    Field("device_buttons", "i", ("n_devices",), "one bit each"),
    Field("device_counters", "i", ("n_devices", len(DEVICE_COUNTERS)), "as DEVICE_COUNTERS names them"),
    Field("gravity", "f", (), "times the scene's own"),
    Field("friction", "f", (), "times the scene's own"),
    Field("q", "f", ("nq",), "coordinates"),
    Field("v", "f", ("nv",), "velocities"),
    Field("tau", "f", ("nv",), "joint forces of the controller [N m or N]"),
    Field("plan_q", "f", ("nq",), "where the plan, or what holds the joints, wants them"),
    Field("pose", "f", ("n_bodies", 7), "position [m] and quaternion (w, x, y, z) of each body in the world"),
    Field("hand_point", "f", (HANDS, 3), "the held point, or the ball that presses, world [m]"),
    Field("hand_target", "f", (HANDS, 3), "where the hand is, world [m]"),
    Field("hand_force", "f", (HANDS, 3), "force on the body from the hand, world [N]"),
    Field("hand_torque", "f", (HANDS, 3), "torque on the body from the hand, world [N m]"),
    Field("hand_age_s", "f", (HANDS,), "from the hand's sample to this force [s]"),
    Field("granted_J", "f", (), "energy granted to a hand at the other end of a link so far [J]"),
    Field("device_position", "f", ("n_devices", 3), "where each device's hand is, world [m]"),
    Field("device_quaternion", "f", ("n_devices", 4), "how it is turned, (w, x, y, z) in the world"),
    Field("device_point", "f", ("n_devices", 3), "its proxy, or the point it holds, world [m]"),
    Field("device_force", "f", ("n_devices", 3), "force on the hand, as sent, world [N]"),
    Field("device_torque", "f", ("n_devices", 3), "torque on the hand, as sent, world [N m]"),
    Field("device_body_force", "f", ("n_devices", 3), "force on the bodies it touches or holds, world [N]"),
    Field("device_age_s", "f", ("n_devices",), "from its sample to this force [s]"),
    Field("device_energy", "f", ("n_devices", len(DEVICE_PORTS)), "absorbed at each of DEVICE_PORTS so far [J]"),
    Field("contact_point", "f", ("n_contacts", 3), "of each contact, world [m]"),
    Field("contact_force", "f", ("n_contacts", 3), "on the second of its bodies, world [N]"),
    Field("task_time_s", "f", (), "of the trial, since its first touch [s]"),
    Field("task_path_m", "f", (), "way of its body [m]"),
    Field("task_peak_N", "f", (), "largest force of a hand in it [N]"),
    Field("task_distance_m", "f", (), "of its body from the target [m]"),
    Field("residual", "f", (), "of the contact solver in the tick before, relative to the largest impulse"),
    Field("energy", "f", (3,), "kinetic, potential, work of the hands so far [J]"),
)
FRAME = BASE + WORLD_FIELDS

HAND = (
    Field("sent_ns", "i", (), "monotonic clock when it was sent [ns]"),
    Field("hand", "i", (), "which of HANDS"),
    Field("body", "i", (), "body that is held, 0: none"),
    Field("hold", "i", (), "what it does: PULL, PUSH or PRESS"),
    Field("session", "i", (), "number of the account whose energy limits it; 0: none does"),
    Field("at_body", "f", (3,), "the held point in body axes [m]"),
    Field("target", "f", (3,), "where the hand is, world [m]"),
    Field(
        "velocity", "f", (3,), "how it moves, world [m/s]; of a hand across a link, of others it follows from targets"
    ),
    Field("stiffness_N_m", "f", (), "of the spring between them"),
    Field("damping", "f", (), "of that spring, times critical; 0 means 1"),
    Field("orientation", "f", (4,), "of the hand, quaternion (w, x, y, z) in the world"),
    Field("stiffness_Nm_rad", "f", (), "of the spring that turns the body to it; 0: it turns freely"),
    Field("force", "f", (3,), "PUSH: on the body, world [N]"),
    Field("normal", "f", (3,), "not used any more"),
    Field("energy_J", "f", (), "that the other end of the link has granted so far"),
    # later ones come last: recordings of before have the words up to here
    Field("stiffer_N_m", "f", (3,), "of that spring on each world axis, beyond stiffness_N_m"),
    Field("damping_Ns_m", "f", (3,), "of that spring on each world axis; 0: critical, times `damping`"),
    Field("damping_Nms_rad", "f", (), "of the spring that turns; 0: critical"),
    Field("radius_m", "f", (), "PRESS: of the ball; 0: a point"),
)

EVENT = (
    Field("kind", "i", (), "PLAY, PAUSE, STEP, RESET, SEEK, SPEED, MODE, FOLLOW, PLACE, GRAVITY or FRICTION"),
    Field("event_body", "i", (), "of PLACE; of FOLLOW the address of the plan (control/plans/guide_tables.py)"),
    Field("value", "f", (), "of SEEK [s], SPEED, MODE, GRAVITY and FRICTION; of PLACE: 1 if the body is parked"),
    Field("placement", "f", (7,), "of PLACE: position [m] and quaternion (w, x, y, z) in the world"),
)


class Layout:
    """Where each field of a message lies, for given sizes: offsets and lengths in words."""

    def __init__(self, fields: tuple[Field, ...], **sizes: int) -> None:
        self.fields, self.sizes = fields, sizes
        self.offset: dict[str, int] = {}
        self.length: dict[str, int] = {}
        self.shape: dict[str, tuple[int, ...]] = {}
        self.words = 0
        names = {field.name for field in BASE}
        is_frame = names <= {field.name for field in fields}
        base = [field for field in fields if is_frame and field.name in names]  # at the same place in every frame
        own = [field for field in fields if not is_frame or field.name not in names]
        for field in (f for part in (base, own) for kind in "if" for f in part if f.kind == kind):
            shape = tuple(sizes[s] if isinstance(s, str) else s for s in field.shape)
            self.shape[field.name], self.length[field.name] = shape, int(np.prod(shape, dtype=int))
            self.offset[field.name] = self.words
            self.words += self.length[field.name]

    def read(self, words: np.ndarray, name: str) -> Any:
        """One field of a message (words,) int64: a number, or an array of the field's shape."""
        field = next(f for f in self.fields if f.name == name)
        part = words[self.offset[name] : self.offset[name] + self.length[name]]
        part = part.view(np.float64) if field.kind == "f" else part
        return part.reshape(self.shape[name]) if field.shape else part[0].item()

    def column(self, frames: np.ndarray, name: str) -> np.ndarray:
        """One field of many messages (n, words) int64: (n, ...)."""
        field = next(f for f in self.fields if f.name == name)
        part = np.ascontiguousarray(frames[:, self.offset[name] : self.offset[name] + self.length[name]])
        return (part.view(np.float64) if field.kind == "f" else part).reshape(len(frames), *self.shape[name])

    def columns(self, frames: np.ndarray) -> dict[str, np.ndarray]:
        """All fields so, by name."""
        return {field.name: self.column(frames, field.name) for field in self.fields}

    def unpack(self, words: np.ndarray) -> dict[str, Any]:
        """All fields of a message."""
        return {f.name: self.read(words, f.name) for f in self.fields}

    def pack(self, **values: Any) -> np.ndarray:
        """A message (words,) int64 from its fields; those not given are zero."""
        words = np.zeros(self.words, dtype=np.int64)
        for field in self.fields:
            if field.name in values:
                dtype = np.float64 if field.kind == "f" else np.int64
                part = np.asarray(values.pop(field.name), dtype=dtype).reshape(self.shape[field.name])
                begin = self.offset[field.name]
                words[begin : begin + self.length[field.name]] = part.ravel().view(np.int64)
        if values:
            raise ValueError(f"no such fields: {', '.join(values)}")
        return words

    def describe(self) -> list[dict[str, Any]]:
        """For people and pages: name, kind, offset, length, shape and meaning of every field, as JSON can hold it."""
        return [
            {"name": f.name, "kind": f.kind, "offset": self.offset[f.name], "length": self.length[f.name],
             "shape": list(self.shape[f.name]), "about": f.about}
            | {key: text for key, text in (("unit", f.unit), ("group", f.group)) if text}
            for f in self.fields
        ]  # fmt: skip

    @classmethod
    def described(cls, fields: list[dict[str, Any]], **sizes: int) -> Layout:
        """The layout that such a description gives: its offsets, whatever order this version would choose."""
        layout = cls((), **sizes)
        layout.fields = tuple(
            Field(f["name"], f["kind"], tuple(f["shape"]), *(f.get(key, "") for key in ("about", "unit", "group")))
            for f in fields
        )
        layout.shape = {f.name: tuple(int(n) for n in f.shape) for f in layout.fields}
        layout.length = {name: int(np.prod(shape, dtype=int)) for name, shape in layout.shape.items()}
        layout.offset = {f["name"]: int(f["offset"]) for f in fields}
        places = sorted((layout.offset[name], length) for name, length in layout.length.items())
        *begins, layout.words = accumulate((length for _, length in places), initial=0)
        told = [(f["offset"], f["length"]) for f in fields]
        if begins != [at for at, _ in places] or told != [(layout.offset[n], layout.length[n]) for n in layout.offset]:
            raise ValueError("fields overlap, leave a gap, or are not as long as their shape")
        return layout


def places(name: str, *messages: tuple[Field, ...]) -> Any:
    """A NamedTuple class of offsets, one for each field of some messages: compiled code knows it as part of a Block."""
    names = [field.name for fields in messages for field in fields]
    caller = sys._getframe(1).f_globals["__name__"]  # whose class it is: compiled code knows classes by their names
    made: Any = namedtuple(name, names, module=caller)  # type: ignore[misc]  # listed once, above
    made.__annotations__ = dict.fromkeys(names, "int")
    return made


# Where fields lie that are at the same place in every message of their kind [words].
BASE_AT, HAND_AT, EVENT_AT = (
    places(name, fields)(**Layout(fields).offset)
    for name, fields in (("BaseAt", BASE), ("HandAt", HAND), ("EventAt", EVENT))
)
HAND_WORDS, EVENT_WORDS = Layout(HAND).words, Layout(EVENT).words
