"""A ball on a plane, pushed by a finger, by a stick and by a rubbing finger, and released: against closed forms.

Reference on articulated bodies 5.6, acceptance items 20 and 21.  The finger is the primary contact, the plane the
secondary one.  m mass, R radius, F push, mu friction of the plane, f its friction force on the ball, N its normal one:

    pushed through the centre, rolling    a = 5F/(7m)                 f = -2F/7              2F/7 <= mu m g
                               slipping   a = (F - mu m g)/m          f = -mu m g            alpha = 5 mu g/(2R)
    inclined downward by phi              a = 5F cos(phi)/(7m)        f = -2F cos(phi)/7     N = m g + F sin(phi)
    stick at height h above the centre    a = (5F/7m)(1 + h/R)        f = F(5h/R - 2)/7
    finger with friction mu1              a = 5F(1 - mu1)/(7m)        f = -F(2 + 5 mu1)/7    N = m g + mu1 F
    released with v0, no spin             rolls after t = 2 v0/(7 mu g), x = 12 v0^2/(49 mu g), with 5 v0/7
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import palpate as pp
from palpate.conventions import GRAVITY
from palpate.experiments.report import Report
from palpate.experiments.simulated import simulated_run
from palpate.haptics.devices.simulation.scripted import Push, Scripted
from palpate.scenes.balls import ball_on_plane

G = -GRAVITY[2]
MASS_KG, RADIUS_M, FRICTION = 1.0, 0.1, 0.2
PUSHES_N = (1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0)  # slips above 7 mu m g / 2 = 6.87 N
SLOPES_DEG = (0.0, 15.0, 30.0, 45.0)
HEIGHTS = (-0.3, 0.0, 0.2, 0.4, 0.6, 0.8)  # h / R
FINGERS = (0.0, 0.1, 0.2, 0.3, 0.4)  # mu1
PUSH_N, FINGER_N = 2.0, 2.0
SPEED_M_S = 1.0
STEPS = 50
SETTLED = 20  # steps after which the finger's first blow has passed
EXACT = 1e-6  # relative, acceptance 21


class Answer(NamedTuple):
    """Of a push: acceleration [m/s^2] and turning [rad/s^2] of the ball, friction and normal force of the plane [N]."""

    push_N: float
    a: float
    alpha: float
    friction_N: float
    normal_N: float


def velocity(world: pp.World) -> np.ndarray:
    """(6,) of the ball, angular and linear, world axes."""
    R = world.pose("ball")[:3, :3]
    v = world.v[world.model.v_index["ball"]]
    return np.r_[R @ v[:3], R @ v[3:]]


def force_on_ball(world: pp.World, other: str) -> np.ndarray:
    """Sum of the forces (3,) of the last step."""
    signs = {(other, "ball"): 1.0, ("ball", other): -1.0}
    pushes = [signs[c.body_a, c.body_b] * c.force for c in world.contacts if (c.body_a, c.body_b) in signs]
    return np.sum(pushes, axis=0) if pushes else np.zeros(3)


def pushed(force_N: tuple[float, float, float], height_m: float = 0.0) -> Answer:
    """The ball from rest under a constant force, whose line passes the centre at a height."""
    world = ball_on_plane(FRICTION, MASS_KG, RADIUS_M).world
    for _ in range(STEPS):
        x, y, z = world.pose("ball")[:3, 3]
        world.apply("ball", force_N, at_world=(x, y, z + height_m))
        world.step()
    rate, plane = velocity(world) / (STEPS * world.dt), force_on_ball(world, "floor")
    return Answer(float(np.linalg.norm(force_N)), rate[3], rate[1], plane[0], plane[2])


def rubbed(finger_friction: float) -> Answer:
    """The ball under a finger that is a body of its own and rubs on the ball's rising rear."""
    world = ball_on_plane(0.5, MASS_KG, RADIUS_M, finger_N=FINGER_N, finger_friction=finger_friction).world
    world.step(SETTLED)
    before = velocity(world)
    world.step()
    rate, plane = (velocity(world) - before) / world.dt, force_on_ball(world, "floor")
    return Answer(force_on_ball(world, "finger")[0], rate[3], rate[1], plane[0], plane[2])


class Released(NamedTuple):
    """Histories (n,) of a ball let go without spin, and when [s] and where [m] it began to roll."""

    time_s: np.ndarray
    x: np.ndarray
    v: np.ndarray
    spin: np.ndarray
    rolls_s: float
    rolls_m: float


def released(seconds: float = 0.7) -> Released:
    world = ball_on_plane(FRICTION, MASS_KG, RADIUS_M, speed=SPEED_M_S).world
    rows, rolls = [], (np.nan, np.nan)
    for _ in range(round(seconds / world.dt)):
        world.step()
        rate, x = velocity(world), world.pose("ball")[0, 3]
        rows.append((world.time, x, rate[3], rate[1]))
        if np.isnan(rolls[0]) and world.contacts[0].mode == "roll":
            rolls = (world.time, x)
    time_s, x, v, spin = np.array(rows).T
    return Released(time_s, x, v, spin, *rolls)


def off(got: Answer, **wanted: float) -> float:
    """The largest relative difference from what the closed form says; friction that should vanish: relative to F."""
    return max(abs(getattr(got, name) - value) / (abs(value) if abs(value) > 1e-9 else got.push_N)
               for name, value in wanted.items())  # fmt: skip


def through_centre(F: float) -> dict[str, float]:
    """What a horizontal push through the centre does."""
    m, R, mu = MASS_KG, RADIUS_M, FRICTION
    if 3.5 * mu * m * G >= F:  # rolls
        return {"a": 5 * F / (7 * m), "alpha": 5 * F / (7 * m * R), "friction_N": -2 * F / 7, "normal_N": m * G}
    return {"a": (F - mu * m * G) / m, "alpha": 5 * mu * G / (2 * R), "friction_N": -mu * m * G, "normal_N": m * G}


def draw(centre: list[Answer], stick: list[Answer], finger: list[Answer], free: Released) -> Figure:
    """Accelerations against the analytic lines, and the onset of rolling."""
    figure = Figure(figsize=(15.0, 3.9), layout="constrained")
    push, height, felt, roll = figure.subplots(1, 4)
    limit = 3.5 * FRICTION * MASS_KG * G
    rolls, slips = np.array([0.0, limit]), np.array([limit, 14.5])
    push.plot(rolls, 5 * rolls / 7 / MASS_KG, "k-", lw=1, label="5F/7m, rolls")
    push.plot(slips, slips / MASS_KG - FRICTION * G, "k--", lw=1, label="F/m − μg, slips")
    push.plot([x.push_N for x in centre], [x.a for x in centre], "o", color="#1f5fa8", mfc="none", label="simulated")
    push.set(xlabel="push through the centre F [N]", ylabel="acceleration [m/s²]", title="frictionless finger")
    h = np.linspace(-0.4, 0.9, 2)
    height.plot(h, 5 * PUSH_N / 7 / MASS_KG * (1 + h), "k-", lw=1, label="a = (5F/7m)(1 + h/R)")
    height.plot(h, PUSH_N * (5 * h - 2) / 7, "k--", lw=1, label="f = F(5h/R − 2)/7")
    height.plot(HEIGHTS, [x.a for x in stick], "o", color="#1f5fa8", mfc="none")
    height.plot(HEIGHTS, [x.friction_N for x in stick], "s", color="#2a8a4a", mfc="none")
    height.axvline(0.4, color="#555555", lw=0.8, ls=":")
    height.set(xlabel="height of the stick h/R", ylabel="a [m/s²], f [N]", title=f"stick, F = {PUSH_N:g} N")
    mu = np.linspace(0, 0.45, 100)
    felt.plot(mu, 7 * MASS_KG / 5 / (1 - mu), "k-", lw=1, label="7m/(5(1 − μ₁))")
    felt.plot(FINGERS, [x.push_N / x.a for x in finger], "o", color="#1f5fa8", mfc="none", label="simulated")
    felt.set(xlabel="friction of the finger μ₁", ylabel="F/a [kg]", title="what the hand feels")
    roll.plot(free.time_s, free.v, color="#1f5fa8", label="v")
    roll.plot(free.time_s, RADIUS_M * free.spin, color="#2a8a4a", label="R ω")
    roll.axhline(5 * SPEED_M_S / 7, color="k", lw=0.8, ls="--", label="5 v₀/7")
    roll.axvline(2 * SPEED_M_S / (7 * FRICTION * G), color="#d9534f", lw=1, label="2 v₀/(7 μ g)")
    roll.set(xlabel="time [s]", ylabel="[m/s]", title="released without spin")
    for axes in figure.axes:
        axes.grid(alpha=0.25)
        axes.legend(fontsize=7)
    return figure


def run(report: Report) -> None:
    m, R, mu, F = MASS_KG, RADIUS_M, FRICTION, PUSH_N
    centre = [pushed((push, 0, 0)) for push in PUSHES_N]
    for slips in (False, True):
        worst = max(off(x, **through_centre(x.push_N)) for x in centre if (2 * x.push_N / 7 > mu * m * G) == slips)
        report.claim(f"frictionless finger, {'slipping' if slips else 'rolling'}: relative error", worst, high=EXACT)
    worst = 0.0
    for phi in map(math.radians, SLOPES_DEG):
        x, y = F * math.cos(phi), F * math.sin(phi)
        worst = max(worst, off(pushed((x, 0, -y)), a=5 * x / (7 * m), friction_N=-2 * x / 7, normal_N=m * G + y))
    report.claim("inclined push: relative error", worst, high=EXACT)
    stick = [pushed((F, 0, 0), h * R) for h in HEIGHTS]
    worst = max(off(x, a=5 * F / (7 * m) * (1 + h), friction_N=F * (5 * h - 2) / 7)
                for x, h in zip(stick, HEIGHTS, strict=True))  # fmt: skip
    report.claim("stick above or below the centre: relative error", worst, high=EXACT)
    finger = [rubbed(mu1) for mu1 in FINGERS]
    worst = max(off(x, a=5 * x.push_N * (1 - mu1) / (7 * m), friction_N=-x.push_N * (2 + 5 * mu1) / 7,
                    normal_N=m * G + mu1 * x.push_N) for x, mu1 in zip(finger, FINGERS, strict=True))  # fmt: skip
    report.claim("finger with friction: relative error", worst, high=EXACT)
    report.claim("finger with friction: smallest push", min(x.push_N for x in finger), low=1.0, unit="N")
    free, v0 = released(), SPEED_M_S
    report.claim("released: end speed from 5 v0/7", abs(free.v[-1] - 5 * v0 / 7), high=1e-6, unit="m/s")
    report.claim(
        "released: rolling begins, from 2 v0/(7 mu g)", abs(free.rolls_s - 2 * v0 / (7 * mu * G)), high=1.5e-3, unit="s"
    )
    there = 12 * v0**2 / (49 * mu * G)
    report.claim(
        "released: distance until then, relative to 12 v0^2/(49 mu g)", abs(free.rolls_m / there - 1), high=0.005
    )

    # the same by the servo's tick, as a recording
    scene = ball_on_plane(mu, m, R)
    hand = Scripted((Push("ball", 0.1, 0.4, (F, 0.0, 0.0)),))
    frames = simulated_run(scene, 1000, hand, report.recording("ball-push"))
    path = frames["pose"][:, scene.model.body("ball"), 0]
    speed = (path[-1] - path[500]) / (frames["time_s"][-1] - frames["time_s"][500])
    report.say(f"a push of {F:g} N for 0.3 s left the ball rolling at {speed:.4f} m/s")
    report.claim(
        "pushed in the servo's tick: speed over (5F/7m) t", speed / (5 * F / (7 * m) * 0.3), 1 - EXACT, 1 + EXACT
    )
    report.values |= {
        "felt_mass_kg": {str(mu1): round(x.push_N / x.a, 6) for mu1, x in zip(FINGERS, finger, strict=True)},
        "rolls_after_s": free.rolls_s,
        "rolls_after_m": round(float(free.rolls_m), 6),
    }
    report.figure("ball-push", draw(centre, stick, finger, free))
