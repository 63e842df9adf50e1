"""The machine of behaviours as a part of the tick (reference 8): notice, decide, act.

every tick   what is noticed and told becomes events and guards (senses.py)
             of the rows for the present state whose event came and whose guards hold, that to the highest rank
             counts; unless it is urgent it waits until the state has lasted 0.2 s, and its event waits with it
             the state's act writes the Intent; what it returns is the event `done` or `failed`

actor = Actor(world)
acting = behave(actor)                              patterns, gestures and behaviours, added to actor.parts
Scene(..., controllers=tuple(actor.parts))          `behave` with acting.command("offer hand") tells it so
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from palpate.control.avatar import Actor
from palpate.control.behaviours import BEHAVIOURS
from palpate.control.behaviours.rows import COLUMNS, PATTERNS, Behaviour, commands_of, table_of
from palpate.control.behaviours.senses import ARM, HAND, HEAD, LEG, NOWHERE, SHOULDER, TRUNK, notice
from palpate.control.behaviours.tables import MEMORY, Machine, load
from palpate.control.felt.oscillator import new_shake
from palpate.control.gestures.intent import LEFT_ALONE, at_ease, make_intent
from palpate.control.gestures.part import Gesturing, shared_number
from palpate.control.limbs import LEFT, LEFT_ARM, LEFT_LEG, NECK, RIGHT, RIGHT_ARM, RIGHT_LEG
from palpate.control.limbs import TRUNK as TRUNK_LIMB
from palpate.control.part import ControlPart, Setting, Shown
from palpate.frame import Field
from palpate.jit import Block, Struct, block_loader, kernel
from palpate.jit.routines import call_routine, routine
from palpate.model.model import Ints1
from palpate.registry import find
from palpate.spatial.vectors import get3
from palpate.world.state import load as load_world

LEAST_S = 0.2  # that a state lasts (reference 8)
SHAKE_S = 4.0  # that a hand shake lasts at most (reference 6), and
SHAKE_GAINS = (12.0, 28.0)  # of its oscillator in contact
NO_COMMAND = -1.0
STATE, EVENT, GUARDED, NEXT, URGENT = range(COLUMNS)
DONE_BIT, FAILED_BIT = 1 << len(PATTERNS), 2 << len(PATTERNS)  # as table_of orders events
ZERO = (0.0, 0.0, 0.0)

load_machine = block_loader((Machine, False))


@kernel
def next_state(b):
    """Where the rows lead, or the state itself."""
    chosen, highest = b.behaviour, -1
    for r in range(0, b.rows.shape[0], COLUMNS):
        if b.rows[r + STATE] != b.behaviour:
            continue
        event, guards, to = b.rows[r + EVENT], b.rows[r + GUARDED], b.rows[r + NEXT]
        came = event == 0 or (b.events & event) != 0
        may = b.rows[r + URGENT] != 0 or b.ticks >= b.least_ticks
        if came and may and (b.guards & guards) == guards and b.rank[to] > highest:
            chosen, highest = to, b.rank[to]
    return chosen


@kernel
def enter(b, state):
    b.behaviour, b.ticks, b.stage, b.done, b.events = state, 0, 0, 0, 0
    for k in range(b.memory.shape[0]):
        b.memory[k] = 0.0


@kernel
def decide(b):
    """The state of this tick; 1 if it is a new one.  Events that no row takes are gone with the least time."""
    if b.done in (1, 2):
        b.events |= DONE_BIT if b.done == 1 else FAILED_BIT
    state = next_state(b)
    if state != b.behaviour:
        enter(b, state)
        return 1
    if b.ticks >= b.least_ticks:
        b.events = 0
    return 0


@routine
def step_machine(address):
    """One tick of it alone: decide, and a tick later."""
    (b,) = load_machine(address)
    changed = decide(b)
    b.ticks += 1
    return changed


@kernel
def mind_grasp(i, b):
    """Tell the grasp; while it does anything the arms are its own."""
    if i.grasp >= 0:
        b.grasp_wish[0] = float(i.grasp)
    if b.grasp_state[0] != 0:
        for side in range(2):
            i.reach[side] = LEFT_ALONE


@routine
def run(address):
    a, i, b, g = load(address)
    m, w, _, _, _, s = load_world(a.world)
    notice(m, w, s, a, b, g)
    if decide(b):
        b.since = get3(a.palm, b.side)
    at_ease(i)
    b.behaviour_time_s = b.ticks * b.dt
    b.done = call_routine(b.act[b.behaviour], address)
    mind_grasp(i, b)
    b.ticks += 1
    return 0


@routine
def restart(address):
    """As at the start: in the first state, nothing noticed."""
    _, i, b, _ = load(address)
    enter(b, 0)
    b.told, b.guards, b.side, b.where, b.since = b.told_first, 0, RIGHT, ZERO, ZERO
    b.hand_force[:, :] = 0.0
    for side in range(2):
        b.hand_N[side], b.hand_led_s[side], b.hand_free_s[side] = 0.0, 0.0, 0.0
    b.object_N, b.trunk_force, b.trunk_N, b.pressed_s, b.released_s = 0.0, ZERO, 0.0, 0.0, 0.0
    b.margin_m, b.tipping_s, b.steady_s, b.strain_s = 0.0, 0.0, 0.0, 0.0
    b.limits, b.fallen, b.n_hull, b.behaviour_time_s = 0, 0, 0, 0.0
    b.heard_count = b.said_count[0]
    at_ease(i)
    return 0


FIELDS = (
    Field("behaviour", "i", (), "state of the avatar's behaviours, as the hello names them"),
    Field("behaviour_time_s", "f", (), "since it began [s]"),
    Field("stage", "i", (), "of a behaviour that has several"),
    Field("hand_N", "f", (2,), "force of persons on the right and the left hand [N]"),
    Field("margin_m", "f", (), "of the capture point within the soles, as behaviours see it [m]"),
    Field("limits", "i", (), "ticks in which a limit was passed"),
)


SHAKEN = (
    (Field("shake_phase", "f", (), "of the oscillator that shakes along [rad]"), "phase"),
    (Field("shake_rad_s", "f", (), "its frequency [rad/s]"), "w"),
)


class Said(Struct):
    """Of a pattern recogniser that is not there."""

    said: int
    said_count: int


class Held(Struct):
    """Of a grasp that is not there."""

    wish: float
    state: int


class Acting:
    """Behaviours of one avatar: its machine, and gestures under it."""

    def __init__(
        self, actor: Actor, behaviours: Sequence[Behaviour], felt: Any = None, grasp: Any = None, balance: Any = None,
        at_start: str = "",
    ) -> None:  # fmt: skip
        self.actor, self.behaviours, table = actor, tuple(behaviours), table_of(behaviours)
        self.names, self.commands = tuple(b.name for b in behaviours), tuple(commands_of(behaviours))
        first = float(self.command(at_start)) if at_start else NO_COMMAND
        self.intent = make_intent()
        self._look_ahead()
        self.gesturing = Gesturing(actor, self.intent, balance)
        felt, grasp, dt = felt or Said(), grasp or Held(), actor.world.dt
        place, side_of = places_of(actor)
        self.oscillator = new_shake(SHAKE_GAINS)
        self._oscillator = Block(self.oscillator)
        zeros = np.zeros
        self.machine = Machine(
            dt=dt, told=first, told_first=first, least_ticks=round(LEAST_S / dt), shake_s=SHAKE_S, follows=1.0,
            oscillator=self._oscillator.address, rows=table.rows, rank=table.ranks,
            act=np.array([b.act.address for b in behaviours], dtype=np.int64),
            first_command=len(PATTERNS) + 2, memory=zeros(MEMORY), place=place, side_of=side_of,
            hand_force=zeros((2, 3)), hand_N=zeros(2), hand_led_s=zeros(2), hand_free_s=zeros(2),
            point=zeros((8, 2)), hull=zeros((9, 2)), said=shared_number(felt, "said"),
            said_count=shared_number(felt, "said_count"), grasp_wish=shared_number(grasp, "wish"),
            grasp_state=shared_number(grasp, "state"),
        )  # fmt: skip
        self._kept = (felt, grasp)
        a, number = actor.avatar, "" if actor.number == 0 else str(actor.number + 1)
        self.event = f"behave{number}"
        self.part = ControlPart(
            f"behaviours{number}", run, Block(a, self.intent, self.machine, self.gesturing.gestures), reset=restart,
            world=a.world, hello=self.hello,
            shows=(
                *actor.shown(self.machine, FIELDS),
                *(Shown(f._replace(name=actor.field_prefix + f.name), self.oscillator, of) for f, of in SHAKEN),
            ),
            settings=(
                Setting(self.event, 0.0, len(self.commands) - 1.0, self.machine, "told", whole=True),
                Setting(f"shake_s{number}", 0.5, 60.0, self.machine, "shake_s"),
                Setting(f"shakes_along{number}", 0.0, 1.0, self.machine, "follows", whole=True),
            ),
        )  # fmt: skip

    def _look_ahead(self) -> None:
        """The person stands where the avatar looks, until it is said where."""
        X = self.actor.world.pose(self.actor.prefix + self.actor.limbs.head)
        ahead = X[:3, 3] + X[:3, :3] @ (2.0, 0.0, 0.05)
        self.intent.user_x, self.intent.user_y, self.intent.user_z = map(float, ahead)

    def command(self, word: str) -> int:
        """What the event `behave` carries to tell it that."""
        if word not in self.commands:
            raise ValueError(f"no behaviour knows {word!r}; there are: {', '.join(self.commands)}")
        return self.commands.index(word)

    def state(self, name: str) -> int:
        """The number of a state in frames."""
        return self.names.index(name)

    def hello(self) -> dict[str, Any]:
        return {"avatars": [{
            "prefix": self.actor.field_prefix, "states": list(self.names), "patterns": ["none", *PATTERNS],
            "commands": list(self.commands), "event": self.event,
        }]}  # fmt: skip


def all_behaviours() -> list[Behaviour]:
    """Those of the registry, by the order of its lines, and those of installed packages."""
    from palpate.registry import everything

    names = [*BEHAVIOURS, *(name for name in everything(BEHAVIOURS, "behaviours") if name not in BEHAVIOURS)]
    return [find(BEHAVIOURS, "behaviours", name) for name in names]


def behave(
    actor: Actor, more: Sequence[Behaviour] = (), felt: Any = None, grasp: Any = None, balance: Any = None,
    at_start: str = "",
) -> Acting:  # fmt: skip
    """Give an avatar behaviours: the registry's, and `more`; adds their parts to actor.parts.

    felt   Struct with `said` and `said_count`: what a recogniser of touch patterns says, of [none, *PATTERNS]
    grasp  Struct with `wish` and `state`, as that of Grasping (carry.py)
    balance   Struct with `on` and `feeds`, as that of Balancing: it bears the arms' weight
    at_start  command that it is told when it begins
    """
    acting = Acting(actor, [*all_behaviours(), *more], felt, grasp, balance, at_start)
    actor.add(acting.part)
    actor.add(acting.gesturing.part)
    return acting


def places_of(actor: Actor) -> tuple[Ints1, Ints1]:
    """(B,) which of PLACES a body is, and (B,) on which side."""
    a, model = actor.avatar, actor.world.model
    m = model.arrays
    place, side = np.full(model.n_bodies, NOWHERE), np.full(model.n_bodies, -1)
    limb_place = {RIGHT_LEG: LEG, LEFT_LEG: LEG, TRUNK_LIMB: TRUNK, NECK: HEAD, RIGHT_ARM: ARM, LEFT_ARM: ARM}
    limb_side = {RIGHT_LEG: RIGHT, LEFT_LEG: LEFT, RIGHT_ARM: RIGHT, LEFT_ARM: LEFT}
    for body in np.flatnonzero(a.own):
        link = int(m.body_link[body])
        limb = int(a.limb[m.axis_begin[link]])
        place[body], side[body] = limb_place.get(limb, TRUNK), limb_side.get(limb, -1)
    for which in (RIGHT, LEFT):
        hand, elbow = int(m.body_link[a.hand[which]]), int(m.body_link[a.elbow[which]])
        for body in np.flatnonzero(a.own):
            link = int(m.body_link[body])
            up = link
            while up not in (hand, 0):
                up = int(m.parent[up])
            if up == hand:  # the hand, and fingers on it
                place[body], side[body] = HAND, which
        upper = int(m.parent[elbow])  # the upper arm; what is between it and the chest is the shoulder
        up = int(m.parent[upper])
        while up != int(m.body_link[a.chest]) and up != 0:
            place[m.body_link == up] = SHOULDER
            up = int(m.parent[up])
    return place.astype(np.int64), side.astype(np.int64)
