"""Two pushes on link 2 lead the I-GMS arm past the obstacle and to the wall: the plan is edited by hand while it runs.

Reference on articulated bodies 5.4, acceptance item 17.  Mode HOLD: a push adds H^-1 J^T c to the joint accelerations
in force, and what they are then is kept until the next push.  15 N during step 11 turn the arm away from the obstacle,
30 N the other way during step 23 turn it back to the wall.

Beside the servo's tick stands the paper's own scheme: one event per push, from then on q'' constant over steps of h,

    U_E = J^T c,   q'' += H^-1 U_E,   q += v h + q'' h^2/2,   v += q'' h
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import palpate as pp
from palpate.control.plans.plan import Plan
from palpate.experiments.arm_figures import (
    LINK2_RADIUS_M,
    PUSH_AT_M,
    STEP_S,
    STEPS_PER_S,
    Band,
    Motion,
    edit_figure,
    move,
    posture_gaps,
    wall_tick,
)
from palpate.experiments.report import Report
from palpate.haptics.devices.simulation.scripted import Push
from palpate.scenes.arm import WALL_X_M, arm_line
from palpate.scenes.scene import Scene

FIRST_STEP, SECOND_STEP = 11, 23
FIRST_N, SECOND_N = 15.0, 30.0
ROBUST_N = ((12.0, 30.0), (15.0, 25.0), (15.0, 35.0), (18.0, 30.0))
SECONDS = 1.7  # long enough for the wall;  alone, a push has 70 steps
MOST_STEPS = 70
PARTS = 50  # of a step, in which the paper's scheme is looked at


def push(step: int, along_y_N: float, steps: float = 1.0) -> Push:
    """A sideways push on the surface of link 2, from the beginning of a step on."""
    begin = step / STEPS_PER_S
    return Push("link2", begin, (step + steps) / STEPS_PER_S, (0.0, along_y_N, 0.0), PUSH_AT_M, LINK2_RADIUS_M)


def both(first_N: float = FIRST_N, second_N: float = SECOND_N) -> tuple[Push, Push]:
    return push(FIRST_STEP, -first_N), push(SECOND_STEP, second_N)


# ---- the paper's scheme


@dataclass(frozen=True)
class Event:
    """One push as an event: its U_E (nv,) [N m], the change of q'' (nv,) and q'' from then on (nv,) [rad/s^2]."""

    q: np.ndarray
    external: np.ndarray
    change: np.ndarray
    held: np.ndarray


def paper_scheme(
    model: pp.Model, plan: Plan, dt: float, pushes: Sequence[Push], last_step: int, on_surface: bool = True
) -> tuple[list[Event], np.ndarray]:
    """Events, and q (n, nq) at PARTS points of every step from the first push on.

    dt          of the plan's rows [s]
    on_surface  False: the push acts at the axis less the radius along the force, which is the reference's table
    """
    row = round(pushes[0].begin_s / dt)
    q, v, a = plan.q[row], plan.v[row], plan.a[row]
    events, path = [], [q]
    for step in range(round(pushes[0].begin_s * STEPS_PER_S), last_step):
        for each in pushes:
            if round(each.begin_s * STEPS_PER_S) == step:
                event = push_event(model, q, a, each, on_surface)
                events.append(event)
                a = event.held
        h = STEP_S * np.arange(1, PARTS + 1)[:, None] / PARTS
        path.extend(q + v * h + 0.5 * a * h**2)
        q, v = path[-1], v + a * STEP_S
    return events, np.array(path)


def push_event(model: pp.Model, q: np.ndarray, a: np.ndarray, each: Push, on_surface: bool) -> Event:
    """What a push does to the accelerations a in force."""
    force = np.array(each.force_N)
    R = pp.forward_kinematics(model, q)[model.body(each.body)][:3, :3]
    against = -force / np.linalg.norm(force)
    at = each.point(R) if on_surface else np.array(each.at_body) + R.T @ (each.radius_m * against)
    external = pp.jacobian(model, q, each.body, at)[3:].T @ force
    change = np.linalg.solve(pp.mass_matrix(model, q), external)
    return Event(q, external, change, a + change)


def paper_outcome(model: pp.Model, path: np.ndarray) -> tuple[float, float]:
    """(smallest clearance to the wall or the end [m], steps from the first push to the wall) of postures (n, nq)."""
    hit = wall_tick(np.array([pp.forward_kinematics(model, q)[model.body("tool")][0, 3] for q in path]))
    gaps = posture_gaps(model, path if hit is None else path[: hit + 1])
    return float(min(gap.min() for gap in gaps.values())), np.nan if hit is None else hit / PARTS


# ---- the claims


def claim_paper(report: Report, scene: Scene, motion: Motion) -> None:
    """The reference's table and outcome, by the paper's scheme; and how near the tick comes to it."""
    model, plan = scene.model, scene.plan
    assert plan is not None
    events, path = paper_scheme(model, plan, scene.world.dt, both(), 30)
    table, _ = paper_scheme(model, plan, scene.world.dt, both(), 24, on_surface=False)
    half = 5e-4 * (1 + 1e-9)  # the table is rounded to 1e-3
    printed = (
        ("pushing1, U_E of joint 1", events[0].external[:1], (-3.565,), "N m"),
        ("pushing1, change of q''", events[0].change[:3], (-1.018, -0.068, 0.116), "rad/s^2"),
        ("held from step 11, q''", events[0].held, (-1.018, 0.614, -1.380, -0.015, 0.815, 0.0), "rad/s^2"),
        ("pushing2 on the surface, U_E of joints 1 and 2", events[1].external[:2], (10.142, -1.244), "N m"),
        ("pushing2 as tabulated, U_E of joints 1 and 2", table[1].external[:2], (10.451, -1.287), "N m"),
        ("pushing2 as tabulated, change of q''", table[1].change[:3], (2.439, -0.069, -0.177), "rad/s^2"),
        ("held from step 23 as tabulated, q''", table[1].held, (1.421, 0.545, -1.558, 0.018, 0.817, 0.0), "rad/s^2"),
    )
    for name, values, wanted, unit in printed:
        report.claim(f"paper's scheme, {name}: off the table by", np.abs(values - wanted).max(), high=half, unit=unit)
    gap, steps = paper_outcome(model, path)
    report.claim("paper's scheme, smallest clearance (reference 0.0214)", gap, 0.0214 - 5e-4, 0.0214 + 5e-4, "m")
    report.claim("paper's scheme, wall reached", FIRST_STEP + steps, 28.9, 29.3, "steps")
    report.claim("paper's scheme, theta_1 at step 23", np.degrees(events[1].q[0]), -10.55, -10.45, "deg")
    for step, event in zip(
        (20, 28), events, strict=True
    ):  # in the tick a push lasts a step, and the arm moves on in it
        off = np.abs(held(motion, step) - event.held).max() / np.abs(event.change).max()
        report.claim(f"tick, q'' held at step {step}: off the paper's scheme, share of the change", off, high=0.02)
    report.values["paper"] = {
        "external_N_cm": [(100.0 * e.external).round(2).tolist() for e in events],
        "external_N_m": [e.external.round(4).tolist() for e in events],
        "change_rad_s2": [e.change.round(4).tolist() for e in events],
        "held_rad_s2": [e.held.round(4).tolist() for e in events],
        "clearance_m": round(gap, 5),
        "wall_step": round(FIRST_STEP + steps, 3),
    }


def bands(wall_s: float) -> list[Band]:
    first, second = both()
    return [(0.0, first.begin_s, "planned"), (first.begin_s, first.end_s, "pushing 1"),
            (first.end_s, second.begin_s, "held"), (second.begin_s, second.end_s, "pushing 2"),
            (second.end_s, wall_s, "held")]  # fmt: skip


def held(motion: Motion, step: float) -> np.ndarray:
    return motion.acceleration[round(step / STEPS_PER_S / motion.time_s[1])]


def run(report: Report) -> None:
    scene = arm_line(solid=False, mode="hold")
    motion = move(scene, SECONDS, both(), report.recording("arm-push"))
    report.say(f"two pushes: clearance {motion.clearance_m:.4f} m, wall at step {motion.wall_step:.2f}")
    report.claim("smallest clearance", motion.clearance_m, 0.019, 0.023, "m")
    report.claim("wall reached", motion.wall_step, 28.8, 29.4, "steps")

    first, second = both()
    alone = move(scene, MOST_STEPS * STEP_S, (first,))
    report.claim("first push alone: smallest clearance", alone.clearance_m, low=0.0, unit="m")
    report.claim(
        "first push alone: furthest x of the tool in 70 steps", alone.tool[:, 0].max(), high=WALL_X_M - 1e-3, unit="m"
    )
    report.claim(
        "second push alone: smallest clearance", move(scene, SECONDS, (second,)).clearance_m, high=0.0, unit="m"
    )
    touch = Push("link2", first.begin_s, first.end_s, (0.0, 0.0, 0.0))  # the acceleration of step 11 stays in force
    report.claim("no push, acceleration held from step 11: smallest clearance",
                 move(scene, SECONDS, (touch,)).clearance_m, high=0.0, unit="m")  # fmt: skip
    for pair in ROBUST_N:
        other = move(scene, SECONDS, both(*pair))
        report.claim(f"{pair[0]:g} N and {pair[1]:g} N: smallest clearance", other.clearance_m, low=0.0, unit="m")
        report.claim(f"{pair[0]:g} N and {pair[1]:g} N: wall reached", other.wall_step, high=MOST_STEPS, unit="steps")

    torque, pushed = motion.external_N_cm, motion.force_N > 0.0
    first_tick = int(np.argmax(pushed))
    report.claim(
        "pushing1 in the tick, U_E of joint 1 (reference -356.5)", torque[first_tick, 0], -357.0, -356.0, "N cm"
    )
    steps = set(np.floor(motion.steps[np.abs(torque).max(axis=1) > 0.0] + 1e-9).astype(int).tolist())
    report.claim("steps with torques of the hand, other than 11 and 23, as the paper's figure shows them",
                 len(steps - {FIRST_STEP, SECOND_STEP}), high=0)  # fmt: skip
    claim_paper(report, scene, motion)
    report.values |= {
        "smallest_clearances_m": {name: round(float(gap.min()), 5) for name, gap in motion.gaps.items()},
        "tool_at_the_wall_m": motion.tool[-1].round(4).tolist(),
        "held_rad_s2": [held(motion, step).round(4).tolist() for step in (20, 28)],
        "wall_step": round(motion.wall_step, 3),
    }
    report.figure("arm-push", edit_figure(motion, bands(motion.wall_s), scene.path))
