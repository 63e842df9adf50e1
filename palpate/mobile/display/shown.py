"""What a page is told of displays: bodies, settings, plots, maps, keys, eyes.  World axes, z up."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from palpate.haptics.devices.simulation.phantom import L1, L2
from palpate.mobile.display.choices import FOLLOWERS, NOISES
from palpate.mobile.display.person import WAYS
from palpate.mobile.estimate.prediction import METHODS

if TYPE_CHECKING:
    from palpate.mobile.display.displays import MobileDisplays, OneDisplay

DARK, STEEL, BRASS = (0.20, 0.22, 0.26, 1), (0.62, 0.65, 0.70, 1), (0.80, 0.66, 0.35, 1)
SHIRTS = ((0.26, 0.45, 0.70, 1), (0.70, 0.38, 0.28, 1), (0.35, 0.58, 0.38, 1), (0.55, 0.42, 0.66, 1))
SKIN, TIP = (0.86, 0.68, 0.55, 1), (0.90, 0.25, 0.20, 1)
ROBOT_M, ROBOT_HIGH_M, GROUND_M = 0.5, 0.5, 0.06  # its body, and how far that is from the floor
HINT = {"mouse": "Walk with W A S D, turn with Q E. Drag the hand: it feels what it meets.",
        "finger": "Walk with the sticks. Drag the hand: it feels what it meets."}  # fmt: skip
WHEELS_RAD = (0.5 * math.pi, 7 * math.pi / 6, 11 * math.pi / 6)
ESTIMATORS = dict(zip(METHODS, ("the last one held", "constant velocity", "by the command"), strict=True))
WARNINGS = ("near", "too near", "contact predicted", "not seen")  # bits of mobile_warning, the gravest last
Row = tuple[str, list[dict[str, Any]], tuple[float, ...], dict[str, Any]]  # name, shapes, pose at the start, more


def describe_displays(displays: MobileDisplays) -> dict[str, Any]:
    """What is theirs in the hello of their World."""
    return {
        "settings": describe_settings(displays),
        "plots": describe_plots(len(displays.each), displays.configuration.arms),
        "actors": [describe_robot(k) for k in range(len(displays.each))],
        "maps": describe_maps(displays),
        "keys": KEYS,
        "walk": {"x": "walk_side", "y": "walk_ahead", "turn": "walk_turn"},
        "eyes": {"name": "Through the eyes", "body": "head", "at": [0.09, 0.0, 0.0], "ipd_m": 0.063, "fov_deg": 80,
                 "hides": ["head", "person"]},
        "person": {"head": "head", "hand": "hand", "at": [0.0, 0.0, 0.0], "turn_rad": math.pi},
        "hint": HINT,
        "tips": [body["name"] for body in displays.shown if body["name"].startswith("tip")],
        "mobile": {"displays": len(displays.each), "arms": displays.configuration.arms},
    }  # fmt: skip


# ---- bodies


def shape(kind: str, size: tuple[float, ...], at: tuple[float, float, float], color: Any) -> dict[str, Any]:
    return {"kind": kind, "size": list(size), "position": list(at), "color": list(color)}


def yawed(angle: float) -> tuple[float, float, float, float]:
    """A turn about z, as a quaternion."""
    return math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)


def shown_bodies(displays: MobileDisplays) -> list[dict[str, Any]]:
    """In the order of publish.py; names of the first display's have no number."""
    bodies = []
    for number, each in enumerate(displays.each):
        more = "" if number == 0 else f" {number + 1}"
        rows = (*robot_rows(each, number), *person_rows(each, number), *arm_rows(each, number))
        for name, shapes, start, extra in rows:
            bodies.append({"name": name + more, "shapes": shapes, "start": list(start)} | extra)
    return bodies


def robot_rows(each: OneDisplay, number: int) -> list[Row]:
    """Robot and mast: who looks through the person's eyes sees them only when they are near."""
    x, z, phi = each.drive.pose
    place, turn, fades = (-z, -x), yawed(-phi), fades_of(each, number)
    body = shape("box", (ROBOT_M, ROBOT_M, ROBOT_HIGH_M - GROUND_M), (0, 0, 0.5 * (ROBOT_HIGH_M + GROUND_M)), DARK)
    wheels = [shape("cylinder", (0.04, 0.03), (0.2 * math.cos(b), 0.2 * math.sin(b), 0.04), STEEL) for b in WHEELS_RAD]
    mast = shape("cylinder", (0.05, 0.5), (0.0, 0.0, -0.25), STEEL)
    tray = shape("box", (0.36, 0.16, 0.02), (0.10, 0.0, 0.0), DARK)
    return [("robot", [body, *wheels], (*place, 0.0, *turn), fades),
            ("mast", [mast, tray], (*place, each.display.height, *turn), fades)]  # fmt: skip


def fades_of(each: OneDisplay, number: int) -> dict[str, Any]:
    """It comes into the view of the person's eyes when it comes near (4.7)."""
    show = each.planner.show
    return {"fades": {"field": "mobile_distance_m", "index": number, "near": show - 0.1, "far": show, "only": "eyes"}}


def person_rows(each: OneDisplay, number: int) -> list[Row]:
    """Person, head and hand; a page leads those of the first."""
    u, shirt, led = each.walker, SHIRTS[number % len(SHIRTS)], {"touchable": number == 0}
    felt = {"led": {"field": "mobile_given_N", "index": 0}} if number == 0 else {}
    place, turn = (-u.z, -u.x), yawed(u.g + math.pi)
    trunk = shape("capsule", (0.16, 0.55), (0, 0, 1.10), shirt)
    legs = [shape("capsule", (0.09, 0.65), (0, side, 0.42), DARK) for side in (0.09, -0.09)]
    head = [shape("sphere", (0.11,), (-0.05, 0, 0), SKIN), shape("box", (0.05, 0.16, 0.07), (0.06, 0, 0.01), DARK)]
    hand = shape("sphere", (0.045,), (-0.055, 0, 0.01), SKIN)  # behind the tip that it holds
    return [("person", [trunk, *legs], (*place, 0.0, *turn), {}),
            ("head", head, (*place, u.eyes, *turn), led),
            ("hand", [hand], (-u.hand[2], -u.hand[0], u.hand[1], *turn), led | felt)]  # fmt: skip


def arm_rows(each: OneDisplay, number: int) -> list[Row]:
    """Turret, two links and the tip of each arm; who looks through the person's eyes always sees the tip."""
    x, z, phi = each.drive.pose
    start, rows, fades = (-z, -x, each.display.height, *yawed(-phi)), list[Row](), fades_of(each, number)
    for which in [""] if len(each.arms) == 1 else [" left", " right"]:
        rows += [
            (f"turret{which}", [shape("cylinder", (0.045, 0.12), (0, 0, -0.06), DARK)], start, fades),
            (f"link 1{which}", [shape("cylinder", (0.012, L1), (0, 0, 0), STEEL)], start, fades),
            (f"link 2{which}", [shape("cylinder", (0.010, L2), (0, 0, 0), BRASS)], start, fades),
            (f"tip{which}", [shape("sphere", (0.014,), (0, 0, 0), TIP)], start, {}),
        ]
    return rows


# ---- what is set

PANEL = ("person", "follower", "estimator", "noise", "barrier", "lift", "walk_speed")  # beside what the robot says
KEYS = [
    {"key": key, "event": event, "value": value, "about": about}
    for key, event, value, about in (
        ("w", "walk_ahead", 1.0, "walk ahead"), ("s", "walk_ahead", -1.0, "walk back"),
        ("a", "walk_side", -1.0, "step to the left"), ("d", "walk_side", 1.0, "step to the right"),
        ("q", "walk_turn", 1.0, "turn to the left"), ("e", "walk_turn", -1.0, "turn to the right"),
    )
]  # fmt: skip


def describe_settings(displays: MobileDisplays) -> list[dict[str, Any]]:
    own = displays.settings
    listed: dict[str, tuple[str, dict[str, Any]]] = {
        "person": ("Who walks", {"choices": list(WAYS[: int(own["person"].high) + 1]),
                                 "about": "a key or the pointer takes over"}),
        "follower": ("Follower", {"choices": ["as configured", *FOLLOWERS], "about": "how the robot follows"}),
        "estimator": ("Pose", {"choices": list(ESTIMATORS.values()), "about": "between two packets of the tracker"}),
        "noise": ("Tracker noise", {"choices": ["as configured", *NOISES]}),
        "barrier": ("Barrier", {"switch": True, "about": "never drives into a person"}),
        "lift": ("Lift", {"switch": True, "about": "follows the height of the hand"}),
        "walk_speed": ("Walking speed", {"unit": "m/s", "step": 0.05}),
    }  # fmt: skip
    return [{"event": name, "label": label, "field": f"mobile_{name}", "value": own[name].value} | more
            for name, (label, more) in listed.items()]  # fmt: skip


# ---- what is plotted and said


def numbered(field: str, label: str, n: int) -> list[dict[str, Any]]:
    """One line for each display, or each arm."""
    return [{"field": field, "index": k, "label": label if n == 1 else f"{label} {k + 1}"} for k in range(n)]


def describe_plots(n: int, arms: int) -> list[dict[str, Any]]:
    """Of n displays with so many arms each."""
    a = n * arms
    lines = {
        ("Force asked and felt", "N"): numbered("mobile_asked_N", "asked", a) + numbered("mobile_given_N", "felt", a),
        ("Distance to the person", "m"): numbered("mobile_distance_m", "distance", n),
        ("Error of the tip", "mm"): numbered("mobile_error_mm", "is", a) + numbered("mobile_sigma_mm", "expected", n),
        ("Leap of the tip in a tick", "mm"): numbered("mobile_step_mm", "leap", a),
        ("Hand off the middle", "mm"): numbered("mobile_off_mm", "hand", n),
        ("Hand outside", "share of the time"): numbered("mobile_off_share", "share", n),
    }
    return [{"title": title, "unit": unit, "zero": True, "series": series} for (title, unit), series in lines.items()]


def describe_robot(k: int) -> dict[str, Any]:
    """What the planner of display k does, in words."""
    warnings = ["none", *(WARNINGS[bits.bit_length() - 1] for bits in range(1, 1 << len(WARNINGS)))]
    says: dict[str, tuple[str, dict[str, Any]]] = {
        "active": ("it", {"names": ["stands", "follows"]}),
        "case": ("way", {"names": ["", "back off", "straight", "around the person"]}),
        "distance_m": ("distance", {"unit": "m"}),
        "least_m": ("least", {"unit": "m"}),
        "off_share": ("hand outside", {"unit": "%"}),
        "warning": ("warning", {"names": warnings}),
        "lost": ("trackers", {"names": ["see both", "lost: no force"]}),
    }
    return {"name": "Robot" if k == 0 else f"Robot {k + 1}", "settings": list(PANEL) if k == 0 else [],
            "says": [{"field": f"mobile_{field}", "index": k, "label": label} | more
                     for field, (label, more) in says.items()]}  # fmt: skip


# ---- maps


def describe_maps(displays: MobileDisplays) -> list[dict[str, Any]]:
    """Configuration space from above, from the front, from the side: figure 3.11 of the thesis."""
    r_c, usable = displays.configuration.rig.safety.contact_m, displays.configuration.usable_m
    half = 1.6 if len(displays.each) == 1 else 3.6  # so that the others are on it [m]
    x = {"label": "x", "unit": "m", "follow": ["mobile_user", 0], "half": -half}  # z is up the page: x is to the left
    z = {"label": "z", "unit": "m", "follow": ["mobile_user", 1], "half": half}
    phi = {"label": "φ", "unit": "rad", "low": -math.pi, "high": math.pi, "wraps": True}
    above, front, side = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()
    for k in range(len(displays.each)):
        above += seen_from_above(k, r_c, usable)
        front += seen_across(k, 0, r_c)
        side += seen_across(k, 1, r_c)
    return [{"name": "From above", "x": x, "y": z, "items": above},
            {"name": "From the front", "x": x, "y": phi, "items": front},
            {"name": "From the side", "x": z, "y": phi, "items": side}]  # fmt: skip


def at(k: int, what: str, i: int, j: int) -> dict[str, Any]:
    """Two of the three numbers of a field, in the row of display k."""
    return {"x": [f"mobile_{what}", 3 * k + i], "y": [f"mobile_{what}", 3 * k + j]}


def lines_of(k: int) -> tuple[int, int, str]:
    """Colours of a display's person and robot, and what their labels end with."""
    return (2, 1, "") if k == 0 else (6, 5, f" {k + 1}")


def first(k: int, label: str) -> dict[str, Any]:
    """A label that the legend has once, for what has one colour in all displays."""
    return {"label": label} if k == 0 else {}


def seen_from_above(k: int, r_c: float, usable: float) -> list[dict[str, Any]]:
    person, robot, n = lines_of(k)
    return [
        {
            "kind": "circle",
            **at(k, "user", 0, 1),
            "radius": r_c,
            "color": person,
            "label": f"person{n}",
            "filled": True,
        },
        {"kind": "trail", **at(k, "robot", 0, 1), "seconds": 20, "color": robot},
        {"kind": "circle", **at(k, "middle", 0, 2), "radius": usable, "color": 4, **first(k, "usable sphere")},
        {"kind": "cross", **at(k, "hand", 0, 2), "color": 4, **first(k, "hand")},
        {"kind": "point", **at(k, "robot", 0, 1), "color": robot, "label": f"robot{n}"},
        {"kind": "cross", **at(k, "target", 0, 1), "color": 3, **first(k, "target")},
        {"kind": "point", **at(k, "way", 0, 1), "color": 3, **first(k, "temporary target")},
    ]


def seen_across(k: int, axis: int, r_c: float) -> list[dict[str, Any]]:
    """One coordinate of the floor and the heading; the person is in the way at every heading."""
    person, robot, n = lines_of(k)
    return [
        {"kind": "band", "x": ["mobile_user", 3 * k + axis], "radius": r_c, "color": person, "label": f"person{n}"},
        {"kind": "trail", **at(k, "robot", axis, 2), "seconds": 20, "color": robot},
        {"kind": "point", **at(k, "robot", axis, 2), "color": robot, "label": f"robot{n}"},
        {"kind": "cross", **at(k, "target", axis, 2), "color": 3, **first(k, "target")},
    ]
