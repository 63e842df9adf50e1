"""A PUMA 560 with free joints swings under gravity for 2 s, and is pushed on link 2 on the way.

Nothing dissipates, so energy tells whether the dynamics are right: it stays (free swing), or changes by exactly the
work of the push.  Acceptance item 11 of the reference on articulated bodies.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure

import palpate as pp
from palpate.experiments.report import Report

DT_S = 1e-3
SECONDS = 2.0
PUSH_N = np.array([0.0, 15.0, 0.0])  # world axes, at the elbow end of link 2
PUSH_AT_BODY_M = (0.4318, 0.0, 0.0)
PUSH_FROM_S, PUSH_TO_S = 0.6, 0.8

State = tuple[np.ndarray, np.ndarray]
Acceleration = Callable[[np.ndarray, np.ndarray], np.ndarray]


def runge_kutta(model: pp.Model, state: State, dt: float, acceleration: Acceleration) -> State:
    """One classical fourth-order step; the arm's coordinates are plain angles, so they add."""
    q, v = state
    a1 = acceleration(q, v)
    v2 = v + 0.5 * dt * a1
    a2 = acceleration(q + 0.5 * dt * v, v2)
    v3 = v + 0.5 * dt * a2
    a3 = acceleration(q + 0.5 * dt * v2, v3)
    v4 = v + dt * a3
    a4 = acceleration(q + dt * v3, v4)
    return q + dt / 6 * (v + 2 * v2 + 2 * v3 + v4), v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


def semi_implicit(model: pp.Model, state: State, dt: float, acceleration: Acceleration) -> State:
    """One step of semi-implicit Euler: velocity first, then position with the new velocity."""
    q, v = state
    v = v + dt * acceleration(q, v)
    return pp.integrate(model, q, v, dt), v


def pushed_acceleration(model: pp.Model, force: np.ndarray) -> Acceleration:
    """The arm's acceleration with no joint torques and a constant force at the push point."""
    zero, wrenches, link2 = np.zeros(model.nv), np.zeros((model.n_bodies, 6)), model.body("link2")

    def acceleration(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        lever = pp.forward_kinematics(model, q)[link2][:3, :3] @ PUSH_AT_BODY_M
        wrenches[link2] = np.r_[np.cross(lever, force), force]
        return pp.forward_dynamics(model, q, v, zero, wrenches)

    return acceleration


def swing(model: pp.Model, step: Callable[..., State], pushed: bool) -> dict[str, np.ndarray]:
    """Histories over time: q, v (n, 6), kinetic and potential energy [J], work of the push so far [J]."""
    free, push = pushed_acceleration(model, np.zeros(3)), pushed_acceleration(model, PUSH_N)
    state: State = (model.neutral(), np.zeros(model.nv))
    work = 0.0
    rows: dict[str, list] = {"t": [], "q": [], "v": [], "kinetic": [], "potential": [], "work": []}
    for n in range(round(SECONDS / DT_S) + 1):
        t = n * DT_S
        for name, value in zip(rows, (t, *state, *pp.energy(model, *state), work), strict=True):
            rows[name].append(value)
        if pushed and PUSH_FROM_S < t + 0.5 * DT_S < PUSH_TO_S:  # the force is constant over a step
            after, middle = step(model, state, DT_S, push), step(model, state, 0.5 * DT_S, push)
            # its work, by Simpson's rule on the velocity of the point it acts on
            power = [
                PUSH_N @ (pp.jacobian(model, q, "link2", PUSH_AT_BODY_M) @ v)[3:] for q, v in (state, middle, after)
            ]
            work += float(DT_S / 6 * (power[0] + 4 * power[1] + power[2]))
            state = after
        else:
            state = step(model, state, DT_S, free)
    return {name: np.array(values) for name, values in rows.items()}


def drift(history: dict[str, np.ndarray]) -> np.ndarray:
    """Error of the energy account over time, relative to the largest kinetic energy."""
    account = history["kinetic"] + history["potential"] - history["work"]
    return np.abs(account - account[0]) / history["kinetic"].max()


def draw(model: pp.Model, history: dict[str, np.ndarray], drifts: dict[str, np.ndarray]) -> Figure:
    """The arm's motion as a fan of snapshots, its joint angles, and the energy account."""
    figure = Figure(figsize=(12.5, 4.2), layout="constrained")
    arm, angles, energy = figure.subplots(1, 3)
    chain = ["link1", "link2", "link3", "link4", "tool"]
    shots = np.linspace(0, len(history["t"]) - 1, 26).astype(int)
    for age, n in zip(np.linspace(0.12, 1.0, len(shots)), shots, strict=True):
        poses = pp.forward_kinematics(model, history["q"][n])
        points = np.array([poses[model.body(name)][:3, 3] for name in chain])
        arm.plot(points[:, 0], points[:, 2], "-o", color="#1f5fa8", alpha=age, lw=1.6, ms=2.5)
    arm.plot(0, 0, "s", color="#333333", ms=9)
    arm.set(xlabel="x [m]", ylabel="z [m]", title="the pushed swing from the side", aspect="equal")
    for j in range(6):
        angles.plot(history["t"], np.degrees(history["q"][:, j]), label=f"joint {j + 1}")
    angles.axvspan(PUSH_FROM_S, PUSH_TO_S, color="#f2b134", alpha=0.3, lw=0, label="15 N push")
    angles.set(xlabel="time [s]", ylabel="angle [deg]", title="joint angles")
    angles.legend(fontsize=7, ncols=2)
    for name, drift in drifts.items():
        energy.semilogy(history["t"][1:], np.maximum(drift[1:], 1e-17), label=name)
    energy.set(xlabel="time [s]", ylabel="error / largest kinetic energy", title="energy account")
    energy.legend(fontsize=8)
    for axes in (arm, angles, energy):
        axes.grid(alpha=0.25)
    return figure


def run(report: Report) -> None:
    model = pp.compile(pp.models.puma560())
    report.say(f"{model.name}: {model.nv} joints, {model.mass:.2f} kg, released with the upper arm level")
    histories = {
        "free, Runge-Kutta": swing(model, runge_kutta, pushed=False),
        "free, semi-implicit": swing(model, semi_implicit, pushed=False),
        "pushed, Runge-Kutta": swing(model, runge_kutta, pushed=True),
    }
    free, pushed = histories["free, Runge-Kutta"], histories["pushed, Runge-Kutta"]
    report.say(f"it swung for {SECONDS:g} s, at most {np.abs(free['v']).max():.2f} rad/s, "
               f"trading {free['kinetic'].max():.1f} J")  # fmt: skip
    report.say(f"the push did {pushed['work'][-1]:.3f} J of work")
    for name, history in histories.items():
        limit = 5e-3 if "semi" in name else 1e-9
        report.claim(f"energy account, {name}: error over largest kinetic energy", drift(history).max(), high=limit)
    moved = np.degrees(np.abs(pushed["q"][-1, 0] - free["q"][-1, 0]))
    report.claim("the push turned joint 1 by", moved, low=1.0, unit="deg")
    report.values |= {"largest_speed_rad_s": float(np.abs(free["v"]).max()), "push_work_J": float(pushed["work"][-1])}
    report.figure("arm-swing", draw(model, pushed, {name: drift(h) for name, h in histories.items()}))
