"""Avatars that stand on soles of many points, held by springs and dampers in their joints (reference 6.5, 6.6)."""

from __future__ import annotations

from palpate.model.library import hrp2, human
from palpate.scenes.looks import floor
from palpate.scenes.scene import Scene
from palpate.world.world import World

STIFFNESS, DAMPING = 2000.0, 60.0  # [N m/rad, N m s/rad], implicit: stable at 1 ms on every joint


def hrp2_standing(sole: str = "spheres", full: bool = False, rate_hz: float = 1000.0) -> Scene:
    """HRP-2, half sitting on 2 x 16 points; full: every one of them is solved, not only the corners of each sole."""
    world = World([hrp2(sole=sole), floor()], dt=1.0 / rate_hz, full=full)
    world.hold(STIFFNESS, DAMPING)
    return Scene("hrp2", "HRP-2, standing", world)


def human_standing(
    height: float = 1.75, mass: float = 75.0, sole: str = "spheres", full: bool = False, rate_hz: float = 1000.0
) -> Scene:
    """An avatar of any stature on 2 x 52 points; full: every one of them is solved, not only the corners."""
    world = World([human(height=height, mass=mass, sole=sole), floor()], dt=1.0 / rate_hz, full=full)
    world.hold(STIFFNESS, DAMPING)
    return Scene("human", "a person, standing", world)


def into_posture(world: World, kind: str, prefix: str = "") -> None:
    """Knees bent; HRP-2's grippers shut, else their tips would be the first to touch."""
    model = world.model
    posture = "half_sitting" if kind == "hrp2" else "ready"
    for joint, value in model.description.postures[posture].items():
        if joint.startswith(prefix) and (prefix or "/" not in joint):
            world.q[model.q_index[joint]] = value
    if kind == "hrp2":
        for joint in ("RHAND_JOINT0", "LHAND_JOINT0"):
            world.q[model.q_index[prefix + joint]] = 0.0
