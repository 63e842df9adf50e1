"""Avatars to be pushed: HRP-2 and a person who keep their balance, and step when they must."""

from __future__ import annotations

from palpate.control.avatar import Actor
from palpate.control.balance.balancing import Balancing, Stepping
from palpate.model.library import hrp2, human
from palpate.scenes.looks import floor
from palpate.scenes.scene import Scene
from palpate.scenes.standing import DAMPING, STIFFNESS, into_posture
from palpate.world.world import World


def standing_world(
    kind: str = "hrp2", sole: str = "box", rate_hz: float = 1000.0, height: float = 1.75, mass: float = 75.0
) -> World:
    """HRP-2 or a human of any stature, ready, on a floor, all joints held."""
    if kind not in ("hrp2", "human"):
        raise ValueError(f'an avatar is "hrp2" or "human", got {kind!r}')
    body = hrp2(sole=sole) if kind == "hrp2" else human(height=height, mass=mass, sole=sole)
    world = World([body, floor()], dt=1.0 / rate_hz)
    if kind == "human":
        into_posture(world, kind)
    world.hold(STIFFNESS, DAMPING)
    return world


def balanced(world: World, steps: bool = True) -> Actor:
    """The avatar of a world, in balance."""
    actor = Actor(world)
    balancing = Balancing(actor)
    if steps:
        actor.add(Stepping(balancing).part)
    actor.add(balancing.part)
    return actor


def pushed(kind: str, sole: str = "spheres", steps: bool = True, rate_hz: float = 1000.0) -> Scene:
    """An avatar that balances and, if it may, steps."""
    world = standing_world(kind, sole, rate_hz)
    who = "HRP-2" if kind == "hrp2" else "a person"
    name = "push-me" if kind == "hrp2" else "push-me-human"
    return Scene(
        name, f"push me: {who} keeps the balance", world, controllers=(lambda world: balanced(world, steps).parts,)
    )


def push_me(steps: bool = True, sole: str = "spheres", rate_hz: float = 1000.0) -> Scene:
    """HRP-2: push it anywhere; it keeps its balance, and steps when it must."""
    return pushed("hrp2", sole, steps, rate_hz)


def push_me_human(steps: bool = True, sole: str = "spheres", rate_hz: float = 1000.0) -> Scene:
    """A person of 75 kg: the same."""
    return pushed("human", sole, steps, rate_hz)
