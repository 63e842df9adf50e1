"""Things that spin: a top on its pivot, a ball with its weight off the middle."""

from __future__ import annotations

import math

from palpate.model.description import Body, Joint, MultiBody
from palpate.model.shapes import Shape, capsule_between
from palpate.scenes.looks import DARK_STEEL, DARK_WOOD, WOOD, colour, floor, surface
from palpate.scenes.scene import Scene
from palpate.spatial.placement import Rotation, Transform
from palpate.world.world import World

TOP_KG, TOP_RADIUS_M, TOP_HEIGHT_M, DISC_M = 0.5, 0.06, 0.08, 0.02  # height of the disc's centre above the pivot


def top_inertia() -> tuple[float, float]:
    """(across, along) the axis of the top, about its pivot [kg m^2]."""
    along = 0.5 * TOP_KG * TOP_RADIUS_M**2
    across = TOP_KG * (TOP_RADIUS_M**2 / 4.0 + DISC_M**2 / 12.0)
    return across + TOP_KG * TOP_HEIGHT_M**2, along


def spinning_top(
    spin: float = 200.0, tilt_deg: float = 30.0, precession: float | None = None, rate_hz: float = 1000.0
) -> Scene:
    """A disc on a pivot, tilted, spinning at `spin` [rad/s] about its axis.

    precession  [rad/s] about the vertical, to begin with; None: the slow steady one, so that the top does not nod
    """
    pivot, tilt = 0.12, math.radians(tilt_deg)
    across, along = top_inertia()
    if precession is None:
        precession = steady_precession(spin, tilt)
    R = Rotation.about((0, 1, 0), tilt)
    disc = Transform(p=(0.0, 0.0, TOP_HEIGHT_M))
    shapes = (
        Shape("cylinder", (TOP_RADIUS_M, DISC_M), disc, color=colour(3)),
        Shape("box", (0.8 * TOP_RADIUS_M, 0.012, 1.02 * DISC_M), disc, role="visual", color=colour(5)),
        capsule_between((0, 0, 0), (0, 0, 0.12), 0.004, role="visual", color=DARK_STEEL),
    )
    inertia = (across - TOP_KG * TOP_HEIGHT_M**2,) * 2 + (along,)
    top = MultiBody(
        "top",
        (Body("top", TOP_KG, disc.p, inertia, shapes),),
        (Joint("top", "spherical", "world", "top", Transform(p=(0.0, 0.0, pivot))),),
        {"start": {"top": R.wxyz}},
    )
    stick = capsule_between((0, 0, 0), (0, 0, pivot - 0.012), 0.008, role="visual", color=DARK_WOOD)
    stand = MultiBody("post", (Body("post", shapes=(stick,)),), (Joint("post", "fixed", "world", "post"),))
    world = World([floor(), stand, top], dt=1.0 / rate_hz)
    about_vertical = R.inv().apply((0.0, 0.0, precession))
    world.v[world.model.v_index["top"]] = (about_vertical[0], about_vertical[1], spin)
    return Scene("top", "a spinning top", world)


def steady_precession(spin: float, tilt: float, g: float = 9.81) -> float:
    """The slower rate p at which a top spinning at w3 about its axis circles without nodding [rad/s].

    I1 p^2 cos(tilt) - I3 w3 p + m g l = 0; for a fast top p -> m g l / (I3 w3).
    """
    across, along = top_inertia()
    weight, L = TOP_KG * g * TOP_HEIGHT_M, along * spin
    root = L * L - 4.0 * across * math.cos(tilt) * weight
    if root < 0.0:
        raise ValueError(f"at {spin:g} rad/s the top is too slow to circle at {math.degrees(tilt):g} degrees")
    return 2.0 * weight / (L + math.sqrt(root))


def tippe_top(
    spin: float = 150.0, tilt_deg: float = 10.0, offset: float = 0.01, friction: float = 0.3, rate_hz: float = 1000.0
) -> Scene:
    """A ball whose weight lies `offset` [m] below its middle, spinning fast: it climbs until its weight is on top."""
    radius, mass = 0.05, 0.2
    rough = surface(friction)
    R = Rotation.about((0, 1, 0), math.radians(tilt_deg))
    shapes = (
        Shape("sphere", (radius,), material=rough, color=WOOD),
        Shape("cylinder", (0.15 * radius, 0.03), Transform(p=(0.0, 0.0, radius)), role="visual", color=colour(3)),
    )
    body = Body("top", mass, (0.0, 0.0, -offset), (0.4 * mass * radius**2,) * 3, shapes)
    start = {"start": {"top": (0.0, 0.0, radius, *R.wxyz)}}
    top = MultiBody("top", (body,), (Joint("top", "free", "world", "top"),), start)
    world = World([floor(rough), top], dt=1.0 / rate_hz)
    # about the vertical through the centre of mass, which stays
    w = R.inv().apply((0.0, 0.0, spin))
    v = (-w[1] * -offset, w[0] * -offset, 0.0)  # of the middle: -(w x com)
    world.v[world.model.v_index["top"]] = (*w, *v)
    return Scene("tippe-top", "a top that turns itself over", world)
