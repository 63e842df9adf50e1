"""Effects by name, and laws of one's own: compiled functions that the tick calls by address.

An effect law gives the force on the hand in free space:

    (fx, fy, fz) [N] = law(position [m], velocity [m/s], time_s, settings)

position and velocity are tuples of three, settings a tuple of the four numbers that the user gave; a fifth argument,
`state`, is a row of four numbers that the law may keep, zero at first, one row for each effect.  The sum of all
effects goes through the guard (haptics/guard.py), so no law can exceed the device's limits; one that gives a NaN ends
in a fault that names it.

A new effect law: a function here or in a file of its own and one line below, or an entry point of the group
"palpate.effects" in another package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from palpate.jit.laws import FieldLaw, field_law
from palpate.registry import Registry, find
from palpate.spatial.vectors import cross

EFFECTS: Registry = {
    "viscosity": ("palpate.haptics.rendering.effects:Viscosity", "a thick liquid: F = -b v"),
    "magnet": ("palpate.haptics.rendering.effects:Magnet", "pulls towards a point, line or plane nearby"),
    "vibration": ("palpate.haptics.rendering.effects:Vibration", "a sinusoid along a direction"),
    "guidance-line": ("palpate.haptics.rendering.effects:GuidanceLine", "a spring to a line, free along it"),
    "guidance-plane": ("palpate.haptics.rendering.effects:GuidancePlane", "a spring to a plane, free within it"),
    "workspace-limit": ("palpate.haptics.rendering.effects:WorkspaceLimit", "a soft wall before the device's end"),
    "constant-force": ("palpate.haptics.rendering.effects:ConstantForce", "the same everywhere, such as a weight"),
    "curl": ("palpate.haptics.laws:curl", "law: pushes across the motion, F = b n x v; settings b, n"),
}

Vector = tuple[float, float, float]


def effect_law(function: Callable[..., Any]) -> FieldLaw:
    """Make a function of (position, velocity, time_s, settings) that gives three numbers [N] an effect law.

    It is compiled: it may use `math` and kernels, but not allocate or raise.  With a fifth argument, `state`, it keeps
    four numbers of its own wherever it is used.
    """
    return field_law(function)


def find_effect(which: str) -> Any:
    """What a name stands for: a class of effects, or an effect law."""
    return find(EFFECTS, "effects", which)


def find_effect_law(which: str | FieldLaw) -> FieldLaw:
    """An effect law by its name or as it is."""
    found = find_effect(which) if isinstance(which, str) else which
    if not isinstance(found, FieldLaw):
        raise ValueError(f"an effect law must be a name or made with @effect_law, got {which!r}")
    return found


@effect_law
def curl(position, velocity, time_s, settings):
    """F = b n x v, of R. Shadmehr and F. Mussa-Ivaldi, J. Neuroscience 14, 1994; across the motion, so without work."""
    b, nx, ny, nz = settings
    return cross((b * nx, b * ny, b * nz), velocity)
