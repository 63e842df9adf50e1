"""Avatars that answer: a hand shake, a tap."""

from __future__ import annotations

from collections.abc import Sequence

from palpate.control.avatar import Actor
from palpate.control.balance.balancing import Balancing, Stepping
from palpate.control.behaviours.machine import Acting, behave
from palpate.control.behaviours.rows import Behaviour
from palpate.control.feeling import feel_touch
from palpate.control.grasp.grasping import Grasping
from palpate.scenes.pushed import standing_world
from palpate.scenes.scene import Scene
from palpate.scenes.tables import table_world
from palpate.world.world import World


def answering(
    avatar: str, rate_hz: float = 1000.0, at_start: str = "", more: Sequence[Behaviour] = (), balanced: bool = True
) -> tuple[World, Acting]:
    """An avatar on a floor, and what `answers` gives."""
    world = standing_world(avatar, rate_hz=rate_hz)
    return world, answers(world, at_start, more, balanced)


def answers(world: World, at_start: str = "", more: Sequence[Behaviour] = (), balanced: bool = True) -> Acting:
    """The avatar of a world with all its behaviours and `more`; told `at_start` when it begins.

    balanced  it keeps its balance and steps; else its legs are held by springs
    """
    actor = Actor(world)
    balance = None
    if balanced:
        balancing = Balancing(actor)
        balance = balancing.balance
        actor.add(Stepping(balancing).part)
        actor.add(balancing.part)
    return behave(actor, more, felt=feel_touch(actor), balance=balance, at_start=at_start)


def handing_over(world: World, squeeze_N: float | None = None) -> Acting:
    """The avatar of a world with a box that it may take."""
    actor = Actor(world)
    balancing = Balancing(actor)
    actor.add(balancing.part)
    grasping = Grasping(actor, squeeze_N=squeeze_N, balanced=True)
    acting = behave(actor, felt=feel_touch(actor), grasp=grasping.arrays, balance=balancing.balance, at_start="take")
    actor.add(grasping.part)
    return acting


def hand_shake(avatar: str = "human", rate_hz: float = 1000.0) -> Scene:
    """It offers its right hand: take it and shake."""
    return Scene("hand-shake", "take the hand and shake it", standing_world(avatar, rate_hz=rate_hz),
                 controllers=(lambda world: answers(world, "offer hand").actor.parts,))  # fmt: skip


def tap(avatar: str = "hrp2", rate_hz: float = 1000.0) -> Scene:
    """It answers what it feels: a tap, two, a stroke, a push, a pull at the hand."""
    return Scene("tap", "tap it, stroke it, lead it by the hand", standing_world(avatar, rate_hz=rate_hz),
                 controllers=(lambda world: answers(world).actor.parts,))  # fmt: skip


def hand_over(avatar: str = "human", rate_hz: float = 1000.0) -> Scene:
    """It takes a box from a table by itself; told so it hands it over, and lets go of it when it is pulled."""
    squeeze_N = 40.0 if avatar == "hrp2" else None
    return Scene("hand-over", "it hands you the box", table_world(avatar, rate_hz=rate_hz),
                 controllers=(lambda world: handing_over(world, squeeze_N).actor.parts,))  # fmt: skip
