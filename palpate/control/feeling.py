"""What touches an avatar, as a pattern: the force of persons on the body that feels most of it, given to control/felt.

Outward is away from the body's middle: its centre of mass.  a Avatar, p Felt, t Touches
"""

from __future__ import annotations

import math

from palpate.control.avatar import Actor, Avatar
from palpate.control.felt.stream import clear_felt, feel, recognise
from palpate.control.felt.tables import Felt, load_felt, new_felt
from palpate.control.part import ControlPart, Shown, Touches, no_touches
from palpate.dynamics.jacobian import body_frame
from palpate.frame import Field
from palpate.jit import Block, Struct, block_loader, kernel
from palpate.jit.routines import routine
from palpate.spatial.vectors import add, dot, get3, get9, rotate, rotate_back, scale, sub
from palpate.world.state import load as load_world

ZERO, UP = (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)


class Feeling(Struct):
    felt: int  # address of a Felt


load = block_loader((Avatar, False), (Feeling, False), (Touches, False))


@kernel
def strongest(a, t):
    """Row of the hand that pushes its bodies most, -1: none does."""
    chosen, most = -1, 0.0
    for n in range(t.body.shape[0]):
        f = get3(t.force, n)
        if a.own[t.body[n]] and dot(f, f) > most:
            chosen, most = n, dot(f, f)
    return chosen


@kernel
def touch_in_body(m, w, body, force, point):
    """(force, point, outward normal) of a touch, in the axes of the body that is touched."""
    link = m.body_link[body]
    R, p = body_frame(m, w, body)
    middle = add(get3(w.p, link), rotate(get9(w.R, link), get3(m.com, link)))
    at = sub(point, get3(w.origin, m.root[link]))
    out = sub(at, middle)
    size = math.sqrt(dot(out, out))
    n = scale(1.0 / size, out) if size > 1e-9 else UP
    return rotate_back(R, force), rotate_back(R, sub(at, p)), rotate_back(R, n)


@routine
def tick_feeling(address):
    a, f, t = load(address)
    p = load_felt(f.felt)[0]
    m, w, _, _, _, _ = load_world(a.world)
    force, point, normal = ZERO, ZERO, UP
    n = strongest(a, t)
    if n >= 0:
        a.touch_point = get3(t.point, n)  # where it really is, along the force too
        force, point, normal = touch_in_body(m, w, t.body[n], get3(t.force, n), get3(t.point, n))
    if feel(p, force, point, normal):
        recognise(p, f.felt)
    return 0


@routine
def reset_feeling(address):
    clear_felt(load_felt(load(address)[1].felt)[0])
    return 0


class Touched:
    """What is felt on one avatar: `felt` says patterns, in `said` and `said_count`."""

    def __init__(self, actor: Actor) -> None:
        self.felt, at = new_felt(actor.world.dt), actor.field_prefix
        self._felt, touches = Block(self.felt), no_touches()
        number = "" if actor.number == 0 else str(actor.number + 1)
        self.part = ControlPart(
            f"feeling{number}", tick_feeling, Block(actor.avatar, Feeling(felt=self._felt.address), touches),
            touches=touches, reset=reset_feeling, world=actor.avatar.world, keeps=self,
            shows=tuple(Shown(each._replace(name=at + each.name), self.felt, name) for each, name in FIELDS),
        )  # fmt: skip


def feel_touch(actor: Actor) -> Felt:
    """Adds the part to an avatar's, and gives what it says."""
    touched = Touched(actor)
    actor.add(touched.part)
    return touched.felt


FIELDS = (
    (Field("pattern", "i", (), "what a touch of the avatar looks like, as the hello names patterns"), "pattern"),
    (Field("pattern_sureness", "f", (), "how sure that is, 0 .. 1"), "sureness"),
    (Field("said", "i", (), "pattern that was recognised last"), "said"),
)
