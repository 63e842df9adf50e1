"""How a spherical joint may be written down, and what goes wrong: the AMELIF paper's warning, measured.

Reference on articulated bodies 6.1a, 6.1c.  The same limb (the human's upper arm on a fixed shoulder) falls, described
by a quaternion, by Euler angles (z, y, x), by a rotation vector, and by three hinges with two light bodies between
them.  Beside all of them runs an accurate solution: fourth-order Runge and Kutta in small steps (spherical_limb.py), on
rotation and angular velocity alone.

    quaternion       4 numbers, no singularity; by Euler's rule its length grows by sqrt(1 + (h w/2)^2) a step
    Euler angles     rates go as 1/cos of the middle angle: an arm raised to the front passes there
    rotation vector  rates are singular at a whole turn, which a new start at more than half a turn avoids
    three hinges     the same singularity, in the mass matrix; bodies between with inertia keep it regular, and then it
                     is another arm; with less of it nearer to the right one, and stiffer where joints are damped
"""

from __future__ import annotations

import math

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullFormatter

import palpate as pp
from palpate.experiments.report import Report
from palpate.experiments.spherical_limb import (
    CASES,
    KINDS,
    SECONDS,
    angle_between,
    condition,
    coordinates,
    decays,
    drop,
    euler_rule_length,
    fall,
    falls,
    longest_step,
    nearest_to_lock,
    past_lock,
    step_for,
    upper_arm,
    whole_arm,
)  # fmt: skip

STEPS_S = (2.5e-4, 5e-4, 1e-3, 2e-3, 4e-3, 8e-3)
FINE_S = 2e-4  # of the accurate solution
PAST_LOCK_DEG = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1)  # roll of the arm, which then passes gimbal lock at 0.6 of that
EPSILONS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)  # inertia of the bodies between over the limb's
ARMS = 6  # falls of the human's arm
ARM_SECONDS, ARM_DT_S, ARM_FINE_S = 0.8, 1e-3, 2e-4
GOOD_RAD, GOOD_M = 1e-3, 1e-2
COLOURS = {"quaternion": "#1f5fa8", "Euler angles": "#d9534f", "rotation vector": "#2a8a4a", "three hinges": "#e58a2b"}
MIDDLES_DEG = (*np.linspace(0.0, 80.0, 17), *(90.0 - np.geomspace(9.0, 0.01, 40)))


def draw(
    found: dict[str, dict[str, list[float]]],
    lengths: list[tuple[float, float, float, float]],
    locks: list[tuple[float, dict[str, float]]],
    conditions: dict[str, np.ndarray],
    steps: dict[float, float],
    arms: dict[float | None, list[tuple[float, float]]],
) -> Figure:
    figure = Figure(figsize=(14.0, 8.4), layout="constrained")
    (clear, locked, near), (length, cond, arm) = figure.subplots(2, 3)
    h = 1e3 * np.array(STEPS_S)
    for axes, name in ((clear, "clear of gimbal lock"), (locked, "past gimbal lock")):
        for kind, errors in found[name].items():
            axes.loglog(h, np.maximum(errors, 1e-13), "o-", color=COLOURS[kind], lw=1.6, ms=4, label=kind)
        axes.set(
            xlabel="step [ms]",
            ylabel="orientation off after 1.2 s [rad]",
            title=f"an arm falls, {name}",
            ylim=(1e-13, 10),
        )
    clear.legend(fontsize=8, loc="upper left")
    distance = [d for d, _ in locks]
    for kind in KINDS:
        near.loglog(distance, [1e3 * s[kind] for _, s in locks], "o-", color=COLOURS[kind], lw=1.6, ms=4, label=kind)
    near.set(xlabel="nearest to gimbal lock [deg]", ylabel="step for an error of 1 mrad [ms]", title="step size needed")
    for w, colour in ((5.0, "#9fbfe0"), (10.0, "#4f86c0"), (20.0, "#1f3f78")):
        some = [(step, found_, law) for speed, step, found_, law in lengths if speed == w]
        length.loglog(
            [1e3 * s for s, _, _ in some], [f - 1.0 for _, f, _ in some], "o", color=colour, label=f"{w:.0f} rad/s"
        )
        length.loglog([1e3 * s for s, _, _ in some], [law - 1.0 for _, _, law in some], "-", color=colour, lw=1)
    length.set(xlabel="step [ms]", ylabel="length − 1 after 10 s", title="quaternion by Euler's rule; lines: the law")
    length.legend(fontsize=8)
    middle = np.array(MIDDLES_DEG)
    for name, values in conditions.items():
        ball = name == "spherical joint"
        cond.semilogy(
            90.0 - middle,
            values,
            "-",
            lw=2.2 if ball else 1.2,
            color=COLOURS["quaternion"] if ball else None,
            label=name,
        )
    cond.set(
        xscale="log",
        xlabel="from gimbal lock [deg]",
        ylabel="condition of the mass matrix",
        title="three hinges for one joint",
    )
    cond.legend(fontsize=7, title="bodies between")
    sizes = [e for e in arms if e is not None]
    off = [[max(o, 1e-9) if np.isfinite(o) else 3.0 for o, _ in arms[e]] for e in sizes]
    for k in range(len(off[0])):
        arm.loglog(sizes, [row[k] for row in off], "o", color=COLOURS["three hinges"], ms=4, alpha=0.6)
    arm.loglog(
        sizes, [float(np.median(row)) for row in off], "-", color=COLOURS["three hinges"], label="three hinges (median)"
    )
    arm.axhline(
        float(np.median([o for o, _ in arms[None]])), color=COLOURS["quaternion"], lw=2, label="spherical joints"
    )
    twin = arm.twinx()
    twin.loglog(list(steps), [1e3 * s for s in steps.values()], "--", color="#555555", lw=1.2)
    twin.set_ylabel("longest step with dampers, in lock [ms] (dashed)", fontsize=8)
    arm.set(xlabel="inertia of the bodies between, of the limb's", ylabel="hand off after 0.8 s [m]", ylim=(1e-9, 5),
            title="a whole arm, steps of 1 ms")  # fmt: skip
    arm.legend(fontsize=8, loc="lower right")
    for axes in (clear, locked, length):
        axes.xaxis.set_major_locator(FixedLocator(h.tolist()))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
    for axes in (clear, locked, near, length, cond, arm):
        axes.grid(alpha=0.25)
    return figure


def run(report: Report) -> None:
    # 1. the same fall in three descriptions
    found: dict[str, dict[str, list[float]]] = {}
    drift: dict[str, float] = {}
    for name, (R, w) in CASES.items():
        exact, _, off = fall("quaternion", R, w, FINE_S)
        report.claim(f"{name}: energy of the accurate solution, change over m g c", off, high=1e-12)
        found[name] = {}
        for kind in KINDS:
            ends = [fall(kind, R, w, h) for h in STEPS_S]
            found[name][kind] = [angle_between(end[0], exact) for end in ends]
            drift[f"{name}, {kind}"] = ends[STEPS_S.index(1e-3)][2]
        report.say(
            f"{name} (at least {nearest_to_lock(R, w):.2g} deg from lock), off after {SECONDS} s at 1 ms: "
            + ", ".join(f"{kind} {errors[STEPS_S.index(1e-3)]:.1e} rad" for kind, errors in found[name].items())
        )
    at = STEPS_S.index(1e-3)
    for kind in KINDS:
        errors = found["clear of gimbal lock"][kind]
        report.claim(f"clear of lock, {kind}: order of convergence", math.log2(errors[-1] / errors[-3]) / 2.0, 3.5, 4.5)
    lock = found["past gimbal lock"]
    report.claim("past lock, quaternion: off at 1 ms", lock["quaternion"][at], high=1e-8, unit="rad")
    report.claim("past lock, rotation vector: off at 1 ms", lock["rotation vector"][at], high=1e-8, unit="rad")
    report.claim(
        "past lock, Euler angles over quaternion: how much worse at 1 ms",
        lock["Euler angles"][at] / lock["quaternion"][at],
        low=1e4,
    )
    report.claim("past lock, Euler angles: off at 8 ms", lock["Euler angles"][-1], low=0.1, unit="rad")
    report.claim("past lock, Euler angles over quaternion: change of energy at 1 ms",
                 drift["past gimbal lock, Euler angles"] / drift["past gimbal lock, quaternion"], low=1e3)  # fmt: skip
    R, w = CASES["tumbling"]
    exact = fall("quaternion", R, w, FINE_S)[0]
    never = angle_between(fall("rotation vector", R, w, 1e-3, settle=False)[0], exact)
    report.claim(
        "tumbling, rotation vector: off at 1 ms",
        found["tumbling"]["rotation vector"][at],
        high=1e-6,
        unit="rad",
    )
    report.claim("tumbling, a rotation vector that is never started anew: how much worse at 1 ms",
                 never / found["tumbling"]["rotation vector"][at], low=50.0)  # fmt: skip
    # 2. how near to lock, and the step that it needs
    locks = []
    for degrees in PAST_LOCK_DEG:
        R, w = past_lock(degrees), np.zeros(3)
        exact = fall("quaternion", R, w, FINE_S)[0]
        locks.append((nearest_to_lock(R, w), {kind: step_for(kind, R, w, exact, GOOD_RAD) for kind in KINDS}))
    report.claim(
        "step that Euler angles need at 0.06 deg from lock over that of a quaternion (16 ms, the longest tried)",
        locks[-1][1]["Euler angles"] / locks[-1][1]["quaternion"],
        high=0.1,
    )
    # 3. the length of a quaternion by Euler's rule
    lengths = [(w, h, *euler_rule_length(w, h, 10.0)) for w in (5.0, 10.0, 20.0) for h in STEPS_S]
    report.claim(
        "Euler's rule: length of a quaternion against the law",
        max(abs(a / b - 1.0) for _, _, a, b in lengths),
        high=1e-9,
    )
    report.claim(
        "Euler's rule: length after 10 s at 20 rad/s, 1 ms",
        next(a for w, h, a, _ in lengths if w == 20.0 and h == 1e-3),
        1.1,
        2.0,
    )
    # 4. three hinges for a spherical joint
    ball = upper_arm(None)
    straight = float(np.linalg.cond(pp.mass_matrix(ball, ball.neutral())))
    conditions = {"spherical joint": np.full(len(MIDDLES_DEG), straight)}
    for epsilon in (0.0, 1e-6, 1e-4, 1e-2):
        model = upper_arm(epsilon)
        conditions["none" if epsilon == 0.0 else f"{epsilon:.0e}"] = np.array(
            [condition(model, m) for m in MIDDLES_DEG]
        )
    report.claim("condition of the mass matrix, spherical joint", straight, high=20.0)
    report.claim("condition of the mass matrix, three hinges 0.01 deg from lock", conditions["none"][-1], low=1e6)
    grows = np.log(conditions["none"][-1] / conditions["none"][-10]) / np.log(
        (90 - MIDDLES_DEG[-10]) / (90 - MIDDLES_DEG[-1])
    )
    report.claim("it grows as the distance to the power of minus", grows, 1.9, 2.1)
    steps = {}
    for epsilon in EPSILONS:
        model, q = upper_arm(epsilon), np.array([0.0, -0.5 * math.pi, 0.0])
        steps[epsilon] = longest_step(model, q)
        if epsilon in (1e-2, 1e-4):
            good, bad = decays(model, q, 0.9 * steps[epsilon]), decays(model, q, 1.1 * steps[epsilon])
            report.claim(
                f"three hinges of {epsilon:.0e} in lock, dampers: stable just below the bound, not above",
                float(good and not bad),
                low=1.0,
            )
    report.claim("longest step with dampers, spherical joint", longest_step(ball, ball.neutral()), low=1e-2, unit="s")
    report.claim("longest step with dampers, three hinges of 1e-4 in lock", steps[1e-4], high=1e-4, unit="s")
    # 5. a whole arm of three such joints
    arms: dict[float | None, list[tuple[float, float]]] = {}
    starts = falls(np.random.default_rng(6), ARMS)
    exact_hands = [drop(whole_arm(None), coordinates(arm, None), ARM_FINE_S, ARM_SECONDS)[0] for arm in starts]
    fastest = 0.0
    sizes: tuple[float | None, ...] = (None, *EPSILONS)
    for size in sizes:
        model, arms[size] = whole_arm(size), []
        for arm, exact in zip(starts, exact_hands, strict=True):
            hand, off, fast = drop(model, coordinates(arm, size), ARM_DT_S, ARM_SECONDS)
            error = float(np.linalg.norm(hand - exact))
            arms[size].append((error if np.isfinite(error) else math.inf, off))
            fastest = max(fastest, fast if np.isfinite(fast) and size is not None else 0.0)
    wrong = {epsilon: float(np.median([o for o, _ in rows])) for epsilon, rows in arms.items()}
    report.say(f"a whole arm at 1 ms, hand off: spherical joints {wrong[None]:.1e} m; three hinges "
               + ", ".join(f"{e:.0e}: {wrong[e]:.1e} m" for e in EPSILONS))  # fmt: skip
    report.claim(
        "whole arm, spherical joints: hand off at 1 ms, worst", max(o for o, _ in arms[None]), high=1e-4, unit="m"
    )
    report.claim("whole arm, spherical joints: change of energy, worst", max(e for _, e in arms[None]), high=1e-6)
    report.claim(
        "whole arm, three hinges with bodies of 0.1: hand off, median: another arm", wrong[1e-1], low=GOOD_M, unit="m"
    )
    report.claim(
        "whole arm, three hinges: best median over spherical joints",
        min(wrong[e] for e in EPSILONS) / wrong[None],
        low=100.0,
    )
    report.claim("whole arm, three hinges: the fastest of them", fastest, low=100.0, unit="rad/s")
    report.values |= {
        "off_rad": found,
        "energy_change_at_1ms": drift,
        "step_s_by_distance_from_lock_deg": {f"{d:.3g}": s for d, s in locks},
        "condition_near_lock": {name: float(values[-1]) for name, values in conditions.items()},
        "longest_step_in_lock_s": {f"{e:.0e}": s for e, s in steps.items()},
        "hand_off_m_median": {str(e): o for e, o in wrong.items()},
        "failed_of_arms": {str(e): sum(not o < GOOD_M for o, _ in rows) for e, rows in arms.items()},
    }
    report.figure("joint-parameters", draw(found, lengths, locks, conditions, steps, arms))
