"""What a page is told of the planar interface: bodies, settings, plots, drawings.

The plane is a table top at z = 0.  Bodies lie on it, the mechanism is above, its handle over the body that it moves: as
large as the room is, so that both are seen to move alike.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from palpate.planar.bodies.description import PlanarBody
from palpate.planar.fields import OTHER, PORTS

if TYPE_CHECKING:
    from palpate.planar.simulation import PlanarSimulation

# heights [m]: of table, walls, body, second body; of the two pantographs and the crank over the table
TABLE_M, WALL_M, BODY_M, OTHER_M = 0.006, 0.024, 0.020, 0.014
LAYERS_M, CRANK_M, KNOB_M, ROD_M = (0.030, 0.036), 0.042, (0.009, 0.016), 0.0035  # low: little parallax
PLAIN, WALL, BLOCK = (0.82, 0.83, 0.85, 1), (0.45, 0.50, 0.58, 1), (0.85, 0.45, 0.20, 1)
SECOND = (0.25, 0.60, 0.75, 0.6)
# what moves is seen through the links, which are over it
STEEL, BRASS, KNOB = (0.62, 0.65, 0.70, 0.5), (0.75, 0.65, 0.40, 0.5), (0.15, 0.16, 0.20, 1)
OUTLINE_M = 0.002  # radius of the rods that a shape is drawn with which is no box
CONTACTS_PLOTTED = 4  # each with its own line


def describe_planar(simulation: PlanarSimulation) -> dict[str, Any]:
    """What is its own in its hello."""
    chosen, room = simulation.configuration, simulation.lanes[0].world.bodies
    attached = simulation.attached
    hand = chosen.hand.pointer_N_m / chosen.scale**2
    settings = [s.hello(v) for s, v in zip(simulation.adjustable, simulation.settings.value.tolist(), strict=True)]
    beside = ("compare", "other_wall", "other_friction")
    if attached is not None:  # which has no second one of its kind
        known = bool(simulation.lanes[0].drive.known)
        settings = [s for s in settings if s["event"] not in (*beside, *(() if known else ("coupling", "observer")))]
    compared = {"name": "Side by side", "settings": list(beside), "says": [
        {"field": OTHER + "penetration_mm", "label": "depth", "unit": "mm"},
        {"field": OTHER + "normal_N", "label": "force", "unit": "N"},
    ]}  # fmt: skip
    return {
        "bodies": describe_bodies(simulation),
        "start": describe_start(simulation),
        "views": describe_views(simulation),
        "settings": settings,
        "plots": PLOTS,
        "drawings": DRAWINGS,
        "actors": [] if attached else [compared],
        "panels": ["touch", "contacts", "scenes", "lab", *(["devices"] if attached else [])],
        "hand": {"stiffness_N_m": hand, "force_limit_N": chosen.hand.most_N / chosen.scale,
                 "plane": [0, 0, 1], "turns": [0, 0, 1], "stiffness_Nm_rad": chosen.hand.stiffness[2]},
        "devices": [{"name": attached.spec.name, "force_limit_N": attached.spec.force_limit_N}] if attached else [],
        "planar": {"scale": simulation.lanes[0].lane.scale, "body": simulation.lanes[0].body,
                   "handle": simulation.first_other - 1, "bodies": [body.name for body in room]},
        "configuration": chosen.told(),
        "seed": chosen.seed,
    }  # fmt: skip


# ---- bodies


def box(size: tuple[float, float, float], at: tuple[float, float, float], color: Any) -> dict[str, Any]:
    return {"kind": "box", "size": list(size), "position": list(at), "color": list(color)}


def rod(length: float, z: float, color: Any) -> dict[str, Any]:
    """Along x, about the origin."""
    return box((length + 2.0 * ROD_M, 2.0 * ROD_M, ROD_M), (0.0, 0.0, z), color)


def prism(body: PlanarBody, height: float, color: Any) -> list[dict[str, Any]]:
    """A body as it lies on the table: a box if it is one, else its edges as rods."""
    points = body.outline
    low, high = points.min(axis=0), points.max(axis=0)
    corners = {(x, y) for x in (low[0], high[0]) for y in (low[1], high[1])}
    if len(points) == 4 and {tuple(p) for p in points} == corners:
        x, y = 0.5 * (low + high)
        return [box((high[0] - low[0], high[1] - low[1], height), (x, y, 0.5 * height), color)]
    rods = []
    for a, b in zip(points, np.roll(points, -1, axis=0), strict=True):
        (x, y), (dx, dy) = 0.5 * (a + b), b - a
        half = 0.5 * math.atan2(dy, dx)
        turned = [math.cos(half), 0.0, 0.0, math.sin(half)]
        rods.append(
            box((math.hypot(dx, dy), 2 * OUTLINE_M, height), (x, y, 0.5 * height), color) | {"quaternion": turned}
        )
    return rods


def describe_bodies(simulation: PlanarSimulation) -> list[dict[str, Any]]:
    """In the order of `pose`: world, bodies, links, the second lane's bodies."""
    lane, device, s = simulation.lanes[0], simulation.configuration.device, simulation.configuration.scale
    reach_x, reach_y = table_size(simulation)
    led = simulation.attached is not None  # by a device: the page's hands have nothing to hold
    top = box((2.0 * reach_x, 2.0 * reach_y, TABLE_M), (*simulation.configuration.offset, -0.5 * TABLE_M), PLAIN)
    bodies: list[dict[str, Any]] = [{"name": "world", "shapes": [top]}]
    for row, body in enumerate(lane.world.bodies, start=1):
        moves = body.mass_kg is not None
        shapes = prism(body, BODY_M if moves else WALL_M, BLOCK if moves else WALL)
        bodies.append({"name": body.name, "shapes": shapes, "touchable": row == lane.body and not led})
    for name, length, color in (("proximal", device.proximal_m, STEEL), ("distal", device.distal_m, BRASS)):
        rods = [rod(s * length, LAYERS_M[i // 2], color) for i in range(4)]
        bodies += [{"name": f"{name} {i + 1}", "shapes": [each]} for i, each in enumerate(rods)]
    knob = {"kind": "cylinder", "size": list(KNOB_M), "position": [0.0, 0.0, CRANK_M + 0.5 * KNOB_M[1]],
            "color": list(KNOB)}  # fmt: skip
    bodies.append({"name": "handle", "touchable": not led, "shapes": [rod(s * device.crank_m, CRANK_M, KNOB), knob]})
    away = not simulation.configuration.compare
    return bodies + [{"name": f"other {body.name}", "parked": away, "shapes": prism(body, OTHER_M, SECOND)}
                     for body in lane.world.bodies if body.mass_kg is not None]  # fmt: skip


def table_size(simulation: PlanarSimulation) -> tuple[float, float]:
    """Half of it: it holds all bodies."""
    world, offset = simulation.lanes[0].world, simulation.configuration.offset
    corners = [world.start.X[k, :2] + body.outline for k, body in enumerate(world.bodies, start=1)]
    device, s = simulation.configuration.device, simulation.configuration.scale
    nominal = s * np.array([device.half_width_m, device.half_height_m])
    far = np.maximum(np.abs(np.concatenate(corners) - offset).max(axis=0), nominal) + 0.02
    return float(far[0]), float(far[1])


def describe_start(simulation: PlanarSimulation) -> list[list[float]]:
    """Rows as of `pose`; the links where the mechanism has them."""
    world, lane = simulation.lanes[0].world, simulation.lanes[0]
    rows = [planar_row(X) for X in world.start.X]
    device, s, offset = simulation.configuration.device, simulation.configuration.scale, simulation.configuration.offset
    rods = links_at(device, np.array(lane.plant.X))
    rows += [planar_row((offset[0] + s * x, offset[1] + s * y, angle)) for x, y, angle in rods]
    rows += [planar_row(world.start.X[k]) for k, body in enumerate(world.bodies, start=1) if body.mass_kg is not None]
    return np.round(rows, 6).tolist()


def planar_row(X: Any) -> list[float]:
    return [float(X[0]), float(X[1]), 0.0, math.cos(0.5 * X[2]), 0.0, 0.0, math.sin(0.5 * X[2])]


def links_at(device: Any, X: Any) -> list[tuple[float, float, float]]:
    """Middle and angle of the nine links with the handle at X (reference 1.3)."""
    proximal, distal = [], []
    u = 0.5 * device.crank_m * np.array([math.cos(X[2]), math.sin(X[2])])
    for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        base = np.array([sx * 0.5 * device.base_m, sy * device.offset_m])
        P = X[:2] + sy * u
        r = P - base
        R, l1, l2 = float(np.hypot(*r)), device.proximal_m, device.distal_m
        q = math.atan2(r[1], r[0]) + sx * sy * math.acos((l1**2 + R**2 - l2**2) / (2.0 * l1 * R))
        E = base + l1 * np.array([math.cos(q), math.sin(q)])
        proximal.append((*(0.5 * (base + E)), q))
        distal.append((*(0.5 * (E + P)), math.atan2(*(P - E)[::-1])))
    return [*proximal, *distal, (float(X[0]), float(X[1]), float(X[2]))]


def describe_views(simulation: PlanarSimulation) -> dict[str, Any]:
    """From above, at a slant; from right above."""
    x, y = simulation.configuration.offset
    far = 2.4 * max(table_size(simulation))
    return {
        "perspective": {"eye": [x, y - 0.75 * far, far], "target": [x, y, 0.0]},
        "top": {"eye": [x, y - 1e-3, 1.3 * far], "target": [x, y, 0.0]},
    }


# ---- plots and drawings


def estimated(index: int, label: str) -> list[dict[str, Any]]:
    """A number of the hand's wrench, and what the observer says of it."""
    return [{"field": "hand_true", "index": index, "label": label},
            {"field": "hand_estimate", "index": index, "label": f"{label}, estimated"}]  # fmt: skip


def two(field: str, label: str, index: int = 0) -> list[dict[str, Any]]:
    """A number of both lanes."""
    return [{"field": field, "index": index, "label": label},
            {"field": OTHER + field, "index": index, "label": f"{label}, other", "dashed": True}]  # fmt: skip


PLOTS: list[dict[str, Any]] = [
    {"title": "Penetration", "unit": "mm", "zero": True, "series": two("penetration_mm", "depth")},
    {"title": "Contact force", "unit": "N", "zero": True,
     "series": [*two("normal_N", "normal"), *two("friction_N", "friction")]},
    {"title": "Stick or slip", "unit": "share that slips", "least": 1, "zero": True, "series": two("slips", "slips")},
    {"title": "Energy into the body", "unit": "J", "zero": True,
     "series": [*(line for k, port in enumerate(PORTS) for line in two("energy_J", port, k)),
                *two("kinetic_J", "kinetic")]},
    {"title": "Energy that each contact took", "unit": "J", "zero": True,
     "series": [line for k in range(CONTACTS_PLOTTED) for line in two("contact_energy_J", f"contact {k + 1}", k)]},
    {"title": "Force of the hand", "unit": "N", "zero": True, "series": [*estimated(0, "x"), *estimated(1, "y")]},
    {"title": "Torque of the hand", "unit": "N m", "zero": True, "series": estimated(2, "torque")},
    {"title": "Motors", "unit": "N m", "zero": True,
     "series": [{"field": "torque", "index": k, "label": f"motor {k + 1}"} for k in range(4)]},
    {"title": "Between handle and body", "unit": "mm", "zero": True, "series": two("offset_mm", "distance")},
    {"title": "Closure residual", "unit": "mm", "zero": True, "series": two("residual_mm", "residual")},
    {"title": "Energy audit", "unit": "J", "series": two("audit_J", "error")},
]  # fmt: skip

FULL_N, FULL_M = 6.0, 0.05  # of the longest arrows
DRAWINGS: list[dict[str, Any]] = [
    {"name": "Normal forces", "kind": "arrows", "at": "contact_god", "values": "contact_normal", "full": FULL_N,
     "unit": "N", "color": 1, "shown": True},
    {"name": "Friction forces", "kind": "arrows", "at": "contact_god", "values": "contact_friction", "full": FULL_N,
     "unit": "N", "color": 2, "shown": True},
    {"name": "God-objects and depth", "kind": "arrows", "at": "contact_god", "values": "contact_sink", "full": FULL_M,
     "unit": "m", "color": 3},
    {"name": "God-objects and depth", "kind": "columns", "at": "contact_god", "values": "contact_sunk_mm", "full": 5.0,
     "unit": "mm", "color": 3},
    *({"name": "Forces of the other", "kind": "arrows", "at": OTHER + "contact_god", "values": OTHER + values,
       "full": FULL_N, "unit": "N", "color": color}
      for values, color in (("contact_normal", 4), ("contact_friction", 5))),
]  # fmt: skip
