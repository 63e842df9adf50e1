"""Avatars that answer: a hand shake, a tap."""

from __future__ import annotations

from collections.abc import Sequence

from palpate.control.avatar import Actor
from palpate.control.behaviours.machine import Acting, behave
from palpate.control.behaviours.rows import Behaviour
from palpate.control.feeling import feel_touch
from palpate.model.library import hrp2, human
from palpate.scenes.looks import floor
from palpate.scenes.scene import Scene
from palpate.scenes.standing import DAMPING, STIFFNESS
from palpate.world.world import World

AVATARS = {"hrp2": hrp2, "human": human}


def answering(avatar: str, rate_hz: float, at_start: str = "", more: Sequence[Behaviour] = ()) -> tuple[World, Acting]:
    """An avatar on a floor with all its behaviours and `more`, legs held; told `at_start` when it begins."""
    if avatar not in AVATARS:
        raise ValueError(f"avatar is one of {', '.join(AVATARS)}, not {avatar!r}")
    world = World([AVATARS[avatar](), floor()], dt=1.0 / rate_hz)
    world.hold(STIFFNESS, DAMPING)
    actor = Actor(world)
    return world, behave(actor, more, felt=feel_touch(actor), at_start=at_start)


def hand_shake(avatar: str = "human", rate_hz: float = 1000.0) -> Scene:
    """It offers its right hand: take it and shake."""
    world, acting = answering(avatar, rate_hz, "offer hand")
    return Scene("hand-shake", "take the hand and shake it", world, controllers=tuple(acting.actor.parts))


def tap(avatar: str = "hrp2", rate_hz: float = 1000.0) -> Scene:
    """It answers what it feels: a tap, two, a stroke, a push, a pull at the hand."""
    world, acting = answering(avatar, rate_hz)
    return Scene("tap", "tap it, stroke it, lead it by the hand", world, controllers=tuple(acting.actor.parts))
