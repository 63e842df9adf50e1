"""What a page is told of displays: bodies, settings, plots, maps, keys, eyes.  World axes, z up."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from palpate.haptics.devices.simulation.phantom import L1, L2
from palpate.mobile.display.person import WAYS
from palpate.mobile.prediction import METHODS

if TYPE_CHECKING:
    from palpate.mobile.display.displays import MobileDisplays, OneDisplay

DARK, STEEL, BRASS = (0.20, 0.22, 0.26, 1), (0.62, 0.65, 0.70, 1), (0.80, 0.66, 0.35, 1)
SHIRTS = ((0.26, 0.45, 0.70, 1), (0.70, 0.38, 0.28, 1), (0.35, 0.58, 0.38, 1), (0.55, 0.42, 0.66, 1))
SKIN, TIP = (0.86, 0.68, 0.55, 1), (0.90, 0.25, 0.20, 1)
ROBOT_M, ROBOT_HIGH_M = 0.5, 0.5
ESTIMATORS = ("the last pose is held", "constant velocity", "driven by the command")  # as prediction.METHODS
assert len(ESTIMATORS) == len(METHODS)
WARNINGS = ("near", "too near", "contact predicted", "not seen")  # bits of mobile_warning
Shape = dict[str, Any]


def shape(kind: str, size: tuple[float, ...], at: tuple[float, float, float], color: Any) -> Shape:
    return {"kind": kind, "size": list(size), "position": list(at), "color": list(color)}


def shown_bodies(displays: MobileDisplays) -> list[dict[str, Any]]:
    """In the order of publish.py."""
    bodies: list[dict[str, Any]] = []
    for number, each in enumerate(displays.each):
        bodies += display_bodies(each, number)
    return bodies


def display_bodies(each: OneDisplay, number: int) -> list[dict[str, Any]]:
    """Of one display; names of the first have no number."""
    more = "" if number == 0 else f" {number + 1}"
    show = each.planner.show
    fades = {"field": "mobile_distance_m", "index": number, "near": show - 0.1, "far": show, "only": "eyes"}
    height, eyes = each.display.height, each.walker.eyes
    x, y, z = displays_place(each)
    turn, person = yawed(-each.drive.pose[2]), yawed(each.walker.g + math.pi)
    px, py = -each.walker.z, -each.walker.x
    shirt = SHIRTS[number % len(SHIRTS)]
    body = [
        ("robot", [shape("box", (ROBOT_M, ROBOT_M, ROBOT_HIGH_M - 0.06), (0, 0, 0.5 * ROBOT_HIGH_M + 0.03), DARK),
                   *(shape("cylinder", (0.04, 0.03), (0.2 * math.cos(b), 0.2 * math.sin(b), 0.04), STEEL)
                     for b in (0.5 * math.pi, 7 * math.pi / 6, 11 * math.pi / 6))],
         (x, y, 0.0, *turn), {"fades": fades}),
        ("column", [shape("cylinder", (0.05, 0.5), (0.0, 0.0, -0.25), STEEL),
                    shape("box", (0.36, 0.16, 0.02), (0.10, 0.0, 0.0), DARK)], (x, y, height, *turn), {"fades": fades}),
        ("person", [shape("capsule", (0.16, 0.55), (0, 0, 1.10), shirt), shape("capsule", (0.09, 0.65), (0, 0.09, 0.42), DARK),
                    shape("capsule", (0.09, 0.65), (0, -0.09, 0.42), DARK)], (px, py, 0.0, *person), {}),
        ("head", [shape("sphere", (0.11,), (-0.05, 0, 0), SKIN), shape("box", (0.05, 0.16, 0.07), (0.06, 0, 0.01), DARK)],
         (px, py, eyes, *person), {"touchable": number == 0}),
        ("hand", [shape("sphere", (0.045,), (0, 0, 0), SKIN)], (px, py, 1.0, *person), {"touchable": number == 0}),
    ]  # fmt: skip
    for k in range(len(each.arms)):
        arm = "" if len(each.arms) == 1 else f" {'lr'[k]}"
        body += [
            (f"turret{arm}", [shape("cylinder", (0.045, 0.12), (0, 0, -0.06), DARK)], (x, y, height, *turn), {}),
            (f"link 1{arm}", [shape("cylinder", (0.012, L1), (0, 0, 0), STEEL)], (x, y, height, *turn), {}),
            (f"link 2{arm}", [shape("cylinder", (0.010, L2), (0, 0, 0), BRASS)], (x, y, height, *turn), {}),
            (f"tip{arm}", [shape("sphere", (0.014,), (0, 0, 0), TIP)], (x, y, height, *turn), {}),
        ]
    return [{"name": name + more, "shapes": shapes, "start": list(start)} | extra for name, shapes, start, extra in body]


def displays_place(each: OneDisplay) -> tuple[float, float, float]:
    """Of its robot, z up."""
    x, z, _ = each.drive.pose
    return -z, -x, 0.0


def yawed(angle: float) -> tuple[float, float, float, float]:
    return math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)


# ---- what is set


def describe_settings(displays: MobileDisplays) -> list[dict[str, Any]]:
    from palpate.mobile.display.displays import FOLLOWERS, NOISES

    own = displays.settings
    ways = list(WAYS[: int(own["person"][2]) + 1])
    listed: dict[str, tuple[str, dict[str, Any]]] = {
        "person": ("Who walks", {"choices": ways, "about": "a key or the pointer takes over"}),
        "follower": ("Follower", {"choices": ["as configured", *FOLLOWERS], "about": "how the robot follows"}),
        "estimator": ("Pose", {"choices": list(ESTIMATORS), "about": "between two packets of the tracker"}),
        "noise": ("Tracker noise", {"choices": ["as configured", *NOISES]}),
        "barrier": ("Barrier", {"switch": True, "about": "never drives into a person"}),
        "lift": ("Lift", {"switch": True, "about": "follows the height of the hand"}),
        "walk_speed": ("Walking speed", {"unit": "m/s", "step": 0.05}),
    }
    return [{"event": name, "label": label, "field": f"mobile_{name}", "value": own[name][0]} | more
            for name, (label, more) in listed.items()]  # fmt: skip


KEYS_HELD = [
    {"key": "w", "event": "walk_ahead", "value": 1.0, "about": "walk ahead"},
    {"key": "s", "event": "walk_ahead", "value": -1.0, "about": "walk back"},
    {"key": "a", "event": "walk_side", "value": -1.0, "about": "step to the left"},
    {"key": "d", "event": "walk_side", "value": 1.0, "about": "step to the right"},
    {"key": "q", "event": "walk_turn", "value": 1.0, "about": "turn to the left"},
    {"key": "e", "event": "walk_turn", "value": -1.0, "about": "turn to the right"},
]


# ---- what is plotted and drawn


def numbered(field: str, label: str, n: int) -> list[dict[str, Any]]:
    """One line for each display."""
    return [{"field": field, "index": k, "label": label if n == 1 else f"{label} {k + 1}"} for k in range(n)]


def describe_plots(displays: MobileDisplays) -> list[dict[str, Any]]:
    n = len(displays.each)
    arms = n * displays.configuration.arms
    return [
        {"title": "Force asked and felt", "unit": "N", "zero": True,
         "series": [*numbered("mobile_asked_N", "asked", arms), *numbered("mobile_given_N", "felt", arms)]},
        {"title": "Distance to the person", "unit": "m", "zero": True, "series": numbered("mobile_distance_m", "distance", n)},
        {"title": "HIP error", "unit": "mm", "zero": True,
         "series": [*numbered("mobile_error_mm", "error", arms), *numbered("mobile_sigma_mm", "deviation", n)]},
        {"title": "HIP leap in a tick", "unit": "mm", "zero": True, "series": numbered("mobile_step_mm", "leap", arms)},
        {"title": "Hand off the workspace's middle", "unit": "mm", "zero": True, "series": numbered("mobile_off_mm", "hand", n)},
        {"title": "Hand outside", "unit": "share", "least": 0.1, "zero": True, "series": numbered("mobile_off_share", "share", n)},
    ]  # fmt: skip


def describe_actor(each: OneDisplay, number: int) -> dict[str, Any]:
    """What the planner does, in words."""
    return {
        "name": "Robot" if number == 0 else f"Robot {number + 1}",
        "says": [
            {"field": "mobile_case", "index": number, "label": "case", "names": ["", "retreats", "straight", "around"]},
            {"field": "mobile_active", "index": number, "label": "it", "names": ["stands", "follows"]},
            {"field": "mobile_distance_m", "index": number, "label": "distance", "unit": "m"},
            {"field": "mobile_least_m", "index": number, "label": "nearest", "unit": "m"},
            {"field": "mobile_off_share", "index": number, "label": "hand outside, share"},
            {"field": "mobile_warning", "index": number, "label": "warning", "names": warning_names()},
            {"field": "mobile_lost", "index": number, "label": "trackers", "names": ["see all", "lost: no force"]},
        ],
    }


def warning_names() -> list[str]:
    """Of all sums of bits, the gravest."""
    names = ["none"]
    for bits in range(1, 1 << len(WARNINGS)):
        names.append(WARNINGS[bits.bit_length() - 1])
    return names


def describe_maps(displays: MobileDisplays) -> list[dict[str, Any]]:
    """Configuration space from above, from the front, from the side: figure 3.11 of the thesis."""
    safety, usable = displays.configuration.rig.safety, displays.configuration.usable_m
    r_c = safety.contact_m
    x = {"label": "x", "unit": "m", "follow": ["mobile_user", 0], "half": -1.6}  # as seen from above, z up the page
    z = {"label": "z", "unit": "m", "follow": ["mobile_user", 1], "half": 1.6}
    phi = {"label": "φ", "unit": "rad", "low": -math.pi, "high": math.pi, "wraps": True}
    above: list[dict[str, Any]] = []
    front: list[dict[str, Any]] = []
    side: list[dict[str, Any]] = []
    for k in range(len(displays.each)):
        at = {name: [[f"mobile_{name}", 3 * k + i] for i in range(3)] for name in
              ("user", "hand", "middle", "robot", "target", "way")}  # fmt: skip
        n, color = "" if k == 0 else f" {k + 1}", k % 2
        user, robot = (2 + 4 * color) % 8 or 8, 1 + 4 * color
        above += [
            {"kind": "circle", "x": at["user"][0], "y": at["user"][1], "radius": r_c, "color": user, "label": f"person{n}", "filled": True},
            {"kind": "trail", "x": at["robot"][0], "y": at["robot"][1], "seconds": 20, "color": robot},
            {"kind": "circle", "x": at["middle"][0], "y": at["middle"][2], "radius": usable, "color": 4,
             "label": f"usable sphere{n}"},
            {"kind": "cross", "x": at["hand"][0], "y": at["hand"][2], "color": 4, "label": f"hand{n}"},
            {"kind": "point", "x": at["robot"][0], "y": at["robot"][1], "color": robot, "label": f"robot{n}"},
            {"kind": "cross", "x": at["target"][0], "y": at["target"][1], "color": 3, "label": f"target{n}"},
            {"kind": "point", "x": at["way"][0], "y": at["way"][1], "color": 3, "label": f"temporary target{n}"},
        ]
        for items, i in ((front, 0), (side, 1)):
            items += [
                {"kind": "band", "x": at["user"][i], "radius": r_c, "color": user, "label": f"person{n}"},
                {"kind": "trail", "x": at["robot"][i], "y": at["robot"][2], "seconds": 20, "color": robot},
                {"kind": "point", "x": at["robot"][i], "y": at["robot"][2], "color": robot, "label": f"robot{n}"},
                {"kind": "cross", "x": at["target"][i], "y": at["target"][2], "color": 3, "label": f"target{n}"},
            ]
    return [{"name": "From above", "x": x, "y": z, "items": above},
            {"name": "From the front", "x": x, "y": phi, "items": front},
            {"name": "From the side", "x": z, "y": phi, "items": side}]  # fmt: skip


def describe_displays(displays: MobileDisplays) -> dict[str, Any]:
    """What is theirs in the hello of their World."""
    return {
        "settings": describe_settings(displays),
        "plots": describe_plots(displays),
        "actors": [describe_actor(each, k) for k, each in enumerate(displays.each)],
        "maps": describe_maps(displays),
        "keys": KEYS_HELD,
        "walk": {"x": "walk_side", "y": "walk_ahead", "turn": "walk_turn"},
        "eyes": {"name": "Through the eyes", "body": "head", "at": [0.09, 0.0, 0.0], "ipd_m": 0.063, "fov_deg": 80,
                 "hides": ["head", "person"]},
        "person": {"head": "head", "hand": "hand", "at": [0.0, 0.0, 0.0], "turn_rad": math.pi},
        "mobile": {"displays": len(displays.each), "arms": displays.configuration.arms},
    }  # fmt: skip
