"""A sequence of tasks as given and optimised: HRP-2 takes a box from a table, lifts, carries and places it.

The AMELIF paper's last hope.  Given is what a programmer writes: every phase a minimum-jerk motion of one second, from
rest to rest (reference on avatars 4.2).  Optimised, durations and points between are free, it stops only where the
squeeze changes, and limits of joints, hands, grip and balance hold.

    equally smooth   no rougher than given (integrated squared jerk), in as little time as that allows
    between          up to ten times the jerk
    fastest          whatever the jerk: something is at its limit nearly always

All are played at 1 kHz in a World with table, box and floor: implicit springs and dampers hold the planned joints, and
inverse dynamics, the box's weight and inertia and the squeeze (as torques) are fed forward.  The grasp is by friction;
there is no weld.  It is open loop: nothing looks at the contact forces, other than a real grasp would.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure

import palpate as pp
from palpate.control.sequences.optimise import Infeasible
from palpate.control.sequences.performance import support
from palpate.control.sequences.performer import hrp2_avatar
from palpate.control.sequences.sequence import Carry, Held, Lift, Limits, Performance, Place, Reach, Sequence, Take
from palpate.experiments.report import Report

DT_S = 1e-3
AT_M = (0.09, 0.0, 0.0)  # reference on avatars 4.1: nearer to the table than the paper's figure
BOX = Held((0.20, 0.30, 0.15), 2.0, (0.42, 0.0, 0.825))
SQUEEZE_N = 40.0
LIFT_M, CARRY_M, GAP_M = 0.10, (0.0, 0.10, 0.0), 0.05
LIMITS = Limits(acceleration=15.0, effort=40.0, margin_m=0.04)
STIFF, SOFT = (2000.0, 60.0), (400.0, 20.0)  # legs and trunk; arms [N m/rad, N m s/rad]
SETTLE_S, AFTER_S = 0.5, 0.3
EVERY = 5  # ticks between looks at contacts
WAYS = {"equally smooth": (1.0, 0.1), "between": (10.0, 0.01), "fastest": (np.inf, 0.001)}  # rougher, weight
COLOURS = {"given": "#8a8a8a", "equally smooth": "#1f5fa8", "between": "#2a8a4a", "fastest": "#d9534f"}


def ready(model: pp.Model) -> np.ndarray:
    """Half sitting, with the hands above the table."""
    q = model.posture("half_sitting")
    for side, sign in (("R", 1.0), ("L", -1.0)):
        for n, degrees in ((0, 20.0), (1, -20.0 * sign), (3, -95.0)):
            q[model.q_index[f"{side}ARM_JOINT{n}"]] = np.radians(degrees)
        q[model.q_index[f"{side}HAND_JOINT0"]] = 0.0
    return q


def the_sequence(limits: Limits = LIMITS, squeeze_N: float = SQUEEZE_N) -> Sequence:
    model = pp.compile(pp.models.hrp2(at=AT_M))
    q = ready(model)
    right, left = BOX.sides(GAP_M)
    tasks = [
        Reach(right=right, left=left), Take(squeeze_N=squeeze_N), Lift(height_m=LIFT_M), Carry(by=CARRY_M),
        Place(depth_m=LIFT_M, open_m=GAP_M), Reach(posture=q),
    ]  # fmt: skip
    return Sequence(hrp2_avatar(model), q, tasks, BOX, limits)


@dataclass(frozen=True, eq=False)
class Played:
    """What was measured in the World."""

    time_s: np.ndarray  # (m,) of looks
    margin_m: np.ndarray  # (m,) of the centre of pressure inside the soles
    box_m: np.ndarray  # (m, 3)
    tilt_deg: np.ndarray  # (m,)
    squeeze_N: np.ndarray  # (m, 2) normal forces of the palms
    speed: float  # largest of a moved joint [rad/s]
    hand_speed_m_s: float
    torque_Nm: float  # largest of a moved joint, feed-forward and spring
    off_plan: float  # largest distance of a moved joint from its plan [rad]
    slip_m: float  # the box against the palms, from the end of the squeeze to the end of the way down
    feet_m: float  # of a sole


def play(sequence: Sequence, performance: Performance) -> Played:
    """Hold the plan's joints in a World, tick by tick."""
    avatar, model = sequence.avatar, sequence.avatar.model
    carton, wood = pp.Material("carton", friction=0.5), pp.Material("table", friction=0.4)
    parts = [
        pp.models.hrp2(at=AT_M), pp.models.plane(name="floor"),
        pp.models.box((0.60, 1.00, 0.03), at=(0.55, 0.0, 0.735), fixed=True, material=wood, name="table"),
        pp.models.box(BOX.size, mass=BOX.mass_kg, at=BOX.at, material=carton, name="box"),
    ]  # fmt: skip
    pairs = {
        ("hand", "carton"): pp.Material("palm", friction=0.8),
        ("table", "carton"): pp.Material("slide", friction=0.4),
        ("sole", "default"): pp.Material("stand", friction=0.7),
    }
    world = pp.World(parts, dt=DT_S, pairs=pairs)
    to_q = np.concatenate([np.arange(world.model.nq)[world.model.q_index[j]] for j in model.joint_names])
    to_v = np.concatenate([np.arange(world.model.nv)[world.model.v_index[j]] for j in model.joint_names])
    world.q[to_q] = sequence.q
    arms = [j for j in model.joint_names if "ARM" in j or "HAND" in j]
    world.hold(*STIFF)
    world.hold(*SOFT, joints=arms)
    state, moved = world.arrays.state, avatar.in_v
    fed = leg_torques(sequence, performance)
    fed[:, moved] = performance.tau[:, moved]
    fed[:, :6] = 0.0
    rows = np.clip(np.arange(-round(SETTLE_S / DT_S), len(performance.phase) + round(AFTER_S / DT_S)), 0,
                   len(performance.phase) - 1)  # fmt: skip
    normal, offset, _ = support(avatar, np.array(sequence.q, dtype=np.float64))
    held = [p.name in ("lift", "carry", "lower") for p in performance.phases]
    palms = [hand.body for hand in avatar.hands]
    feet = [body for body, _ in avatar.soles]
    looks: list[tuple[float, ...]] = []
    gripped, slip, sole, speed, hand_speed, torque, off = None, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    stood = {foot: world.pose(foot)[:3, 3].copy() for foot in feet}
    kp, kv = np.zeros(model.nv), np.zeros(model.nv)
    kp[:], kv[:] = STIFF
    for j in arms:
        kp[model.v_index[j]], kv[model.v_index[j]] = SOFT
    for n, row in enumerate(rows):
        state.q_hold[to_q[avatar.in_q]] = performance.plan.q[row, avatar.in_q]
        state.v_hold[to_v[moved]] = performance.plan.v[row, moved]
        state.tau[to_v] = fed[row]
        world.step()
        q, v = world.q[to_q][avatar.in_q], world.v[to_v][moved]
        lag = performance.plan.q[row, avatar.in_q] - q
        speed, off = max(speed, float(np.abs(v).max())), max(off, float(np.abs(lag).max()))
        spring = kp[moved] * lag + kv[moved] * (performance.plan.v[row, moved] - v)
        torque = max(torque, float(np.abs(performance.tau[row, moved] + spring).max()))
        if n % EVERY:
            continue
        look = _look(world, palms)
        box = world.pose("box")
        looks.append((world.time - SETTLE_S, float((look[:2] @ normal.T - offset).min()), *box[:3, 3],
                      float(np.degrees(np.arccos(np.clip(box[2, 2], -1.0, 1.0)))), *look[2:]))  # fmt: skip
        jacobians = [pp.jacobian(model, world.q[to_q], hand.body, hand.palm)[3:] for hand in avatar.hands]
        hand_speed = max(hand_speed, *(float(np.linalg.norm(J @ world.v[to_v])) for J in jacobians))
        if held[performance.phase[row]] and 0 < row < len(performance.phase) - 1:
            between = np.mean([(world.pose(h.body) @ (*h.palm, 1.0))[:3] for h in avatar.hands], axis=0)
            apart = box[:3, :3].T @ (between - box[:3, 3])
            gripped = apart if gripped is None else gripped
            slip = max(slip, float(np.linalg.norm(apart - gripped)))
        sole = max(sole, *(float(np.linalg.norm(world.pose(foot)[:3, 3] - stood[foot])) for foot in feet))
        if n * DT_S < SETTLE_S:
            stood = {foot: world.pose(foot)[:3, 3].copy() for foot in feet}
            sole = 0.0
    table = np.array(looks)
    return Played(table[:, 0], table[:, 1], table[:, 2:5], table[:, 5], table[:, 6:8], speed, hand_speed, torque, off,
                  slip, sole)  # fmt: skip


def leg_torques(sequence: Sequence, performance: Performance) -> np.ndarray:
    """(n, nv), legs only: what lets the soles give what the ground has to, each its least-norm part of the wrench."""
    avatar, model = sequence.avatar, sequence.avatar.model
    J = np.vstack([pp.jacobian(model, sequence.q, body) for body, _ in avatar.soles])  # stays, as root and legs do
    tau = np.zeros_like(performance.tau)
    legs = np.concatenate([np.arange(model.nv)[model.v_index[j]] for j in model.joint_names if "LEG" in j])
    # J_root^T w = tau_root, so that nothing is missing at the free root
    w = performance.tau[:, :6] @ np.linalg.pinv(J[:, :6].T).T
    tau[:, legs] = performance.tau[:, legs] - w @ J[:, legs]
    return tau


def _look(world: pp.World, palms: list[str]) -> np.ndarray:
    """(centre of pressure on the floor (2), normal force of each palm on the box (2))."""
    moment, weight, grip = np.zeros(2), 0.0, np.zeros(2)
    for contact in world.contacts:
        names = (contact.body_a, contact.body_b)
        if "floor" in names:
            up = abs(contact.force[2])
            moment, weight = moment + up * contact.point[:2], weight + up
        elif "box" in names:
            for k, palm in enumerate(palms):
                if palm in names or palm.replace("ARM_JOINT6", "HAND_JOINT0") in names:
                    grip[k] += abs(contact.normal_force)
    return np.concatenate([moment / weight if weight > 0.0 else np.full(2, np.nan), grip])


def draw(sequence: Sequence, motions: dict[str, Performance], played: dict[str, Played]) -> Figure:
    figure = Figure(figsize=(14.0, 8.2), layout="constrained")
    grid = figure.add_gridspec(3, 3, height_ratios=(0.7, 1.0, 1.0))
    strip = figure.add_subplot(grid[0, :])
    shades = {"reach": "#c9d8ea", "close": "#9fbfe0", "squeeze": "#f0b95b", "lift": "#86c49a", "carry": "#4fa56d",
              "lower": "#86c49a", "release": "#f0b95b", "part": "#9fbfe0"}  # fmt: skip
    for y, motion in enumerate(reversed(motions.values())):
        ends = np.append(motion.begins_s[1:], motion.seconds)
        for phase, begin, end in zip(motion.phases, motion.begins_s, ends, strict=True):
            strip.barh(y, end - begin, left=begin, color=shades[phase.name], edgecolor="white", height=0.8)
            if end - begin > 0.2:
                strip.text(0.5 * (begin + end), y, phase.name, ha="center", va="center", fontsize=8)
        strip.text(motion.seconds + 0.05, y, f"{motion.seconds:.2f} s", va="center", fontsize=9)
    strip.set(yticks=range(len(motions)), xlabel="time [s]", xlim=(0, 1.07 * max(m.seconds for m in motions.values())))
    strip.set_yticklabels(list(reversed(motions)))
    axes = [figure.add_subplot(grid[1 + k // 3, k % 3]) for k in range(6)]
    hand, jerk, margin, path, torque, grip = axes
    for name, motion in motions.items():
        colour, t = COLOURS[name], motion.time_s
        hand.plot(t, motion.hand_speed_m_s.max(axis=1), color=colour, lw=1.4, label=name)
        shaken = np.gradient(motion.plan.a[:, sequence.avatar.in_v], motion.dt, axis=0)
        jerk.semilogy(t[5:-5], np.sqrt((shaken[5:-5] ** 2).sum(axis=1)) + 1e-1, color=colour, lw=1.0)
        margin.plot(t, 100 * motion.margin_m, color=colour, lw=1.4)
        margin.plot(played[name].time_s, 100 * played[name].margin_m, color=colour, lw=0.8, ls=":")
        carried = motion.load_kg > 0.0
        middle = motion.palms[carried].mean(axis=1)
        path.plot(100 * middle[:, 1], 100 * middle[:, 2], color=colour, lw=1.4)
        path.plot(100 * played[name].box_m[:, 1], 100 * played[name].box_m[:, 2], color=colour, lw=0.8, ls=":")
        torque.plot(t, np.abs(motion.tau[:, sequence.avatar.in_v]).max(axis=1), color=colour, lw=1.2)
        grip.plot(played[name].time_s, played[name].squeeze_N.min(axis=1), color=colour, lw=1.0)
    L = sequence.limits
    hand.axhline(L.hand_speed_m_s, color="k", lw=0.8, ls="--")
    margin.axhline(100 * L.margin_m, color="k", lw=0.8, ls="--")
    hand.set(xlabel="time [s]", ylabel="faster palm [m/s]", title="hand speed; dashed: its limit", ylim=(0, None))
    hand.legend(fontsize=8)
    jerk.set(xlabel="time [s]", ylabel="|jerk| of all joints [rad/s³]", title="roughness", ylim=(1.0, None))
    margin.set(xlabel="time [s]", ylabel="inside the soles by [cm]", ylim=(0, None),
               title="zero-moment point: planned, and measured (dotted)")  # fmt: skip
    path.set(
        xlabel="y [cm]", ylabel="z [cm]", title="the box from the front: planned, measured (dotted)", aspect="equal"
    )
    torque.set(
        xlabel="time [s]", ylabel="largest joint torque [N m]", title="torques of arms and trunk", ylim=(0, None)
    )
    grip.set(xlabel="time [s]", ylabel="weaker palm presses [N]", title="grip, as measured", ylim=(0, None))
    for each in axes:
        each.grid(alpha=0.25)
    return figure


def trade(points: list[tuple[float, float]], given: Performance) -> Figure:
    """Duration over roughness."""
    figure = Figure(figsize=(6.2, 4.2), layout="constrained")
    axes = figure.subplots()
    J, T = np.array(points).T
    axes.semilogx(J / given.jerk, T, "o-", color="#1f5fa8", label="optimised, by the jerk it may have")
    axes.plot(1.0, given.seconds, "s", color="#8a8a8a", ms=9, label="given")
    k = np.geomspace(1.0, max(J) / given.jerk, 50)
    pause = sum(p.seconds for p in given.phases if not p.moves)
    axes.plot(k, pause + (given.seconds - pause) * k**-0.2, "--", color="#8a8a8a", lw=1, label="given, only hurried")
    axes.set(xlabel="integrated squared jerk over that of the given motion", ylabel="duration [s]", ylim=(0, None),
             title="what smoothness costs")  # fmt: skip
    axes.legend(fontsize=8)
    axes.grid(alpha=0.25, which="both")
    return figure


def infeasible(limits: Limits, squeeze_N: float = SQUEEZE_N) -> str:
    """What is said of limits that cannot be kept; empty: they can."""
    try:
        the_sequence(limits, squeeze_N).optimise(DT_S)
    except Infeasible as said:
        return str(said)
    return ""


def run(report: Report) -> None:
    sequence = the_sequence()
    motions, points, took = {"given": sequence.given(DT_S)}, [], {}
    for name, (rougher, weight) in WAYS.items():
        began = perf_counter()
        found = sequence.optimise(DT_S, rougher=rougher, weight=weight)
        took[name] = perf_counter() - began
        motions[name] = found.best
        points.append((found.best.jerk, found.best.seconds))
        report.say(
            f"{name}: {found.best.seconds:.2f} s after {found.given.seconds:.2f} s, "
            f"{found.best.jerk / found.given.jerk:.2f} times the jerk; {found.steps} steps, {took[name]:.1f} s"
        )
    given = motions["given"]
    report.claim("given: within all limits", max(given.worst.values()), high=0.0)
    for name in WAYS:
        motion = motions[name]
        report.claim(f"{name}: largest excess over any limit, every tick", max(motion.worst.values()), high=0.0)
        report.claim(
            f"{name}: zero-moment point inside the soles", motion.margin_m.min(), low=LIMITS.margin_m, unit="m"
        )
    smooth, fast = motions["equally smooth"], motions["fastest"]
    report.claim("equally smooth: duration over the given", smooth.seconds / given.seconds, high=0.75)
    report.claim("equally smooth: jerk over the given", smooth.jerk / given.jerk, high=1.0)
    report.claim("fastest: duration over the given", fast.seconds / given.seconds, high=0.5)
    played = {name: play(sequence, motion) for name, motion in motions.items()}
    goal = np.add(BOX.at, CARRY_M)
    for name, seen in played.items():
        report.say(f"{name}, played: centre of pressure {100 * seen.margin_m.min():.1f} cm inside, box lifted "
                   f"{100 * (seen.box_m[:, 2].max() - BOX.at[2]):.1f} cm, slips {1000 * seen.slip_m:.2f} mm, tilts "
                   f"{seen.tilt_deg.max():.2f} deg, peak torque {seen.torque_Nm:.1f} N m")  # fmt: skip
        report.claim(
            f"{name}, played: measured centre of pressure inside the soles",
            np.nanmin(seen.margin_m),
            low=LIMITS.margin_m - 0.005,
            unit="m",
        )
        report.claim(f"{name}, played: the box was lifted", seen.box_m[:, 2].max() - BOX.at[2], low=0.09, unit="m")
        missed = float(np.linalg.norm(seen.box_m[-1] - goal))
        report.claim(f"{name}, played: the box ends off its goal", missed, high=5e-3, unit="m")
        report.claim(f"{name}, played: joint speeds over their limit", seen.speed / np.max(LIMITS.velocity), high=1.0)
        report.claim(f"{name}, played: the box slips in the palms", seen.slip_m, high=5e-4, unit="m")
        report.claim(f"{name}, played: joints off their plan", seen.off_plan, high=0.01, unit="rad")
        report.claim(f"{name}, played: feet moved", seen.feet_m, high=1e-4, unit="m")
    for label, limits, squeeze, word in (
        ("a margin of 0.12 m", Limits(margin_m=0.12), SQUEEZE_N, "balance"),
        ("a squeeze of 12 N", LIMITS, 12.0, "grip"),
        ("joint torques of 5 N m", Limits(effort=5.0), SQUEEZE_N, "effort"),
    ):
        said = infeasible(limits, squeeze)
        report.say(f"{label}: {said}")
        report.claim(f"{label} is refused, and the limit is named", float(word in said), low=1.0)
    report.values |= {
        name: {
            "seconds": motion.seconds,
            "jerk_rad2_s5": motion.jerk,
            "planned_margin_m": float(motion.margin_m.min()),
            "planned_torque_Nm": float(np.abs(motion.tau[:, sequence.avatar.in_v]).max()),
            "hand_speed_m_s": float(motion.hand_speed_m_s.max()),
            "search_s": took.get(name, 0.0),
            "worst": motion.worst,
            "played": {key: float(getattr(played[name], key)) for key in
                       ("speed", "hand_speed_m_s", "torque_Nm", "off_plan", "slip_m", "feet_m")}
            | {"margin_m": float(np.nanmin(played[name].margin_m)), "tilt_deg": float(played[name].tilt_deg.max())},
        }
        for name, motion in motions.items()
    }  # fmt: skip
    report.figure("avatar-sequence", draw(sequence, motions, played))
    report.figure("avatar-sequence-trade", trade(points, given))
