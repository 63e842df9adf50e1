"""Two pulls of the tool lead the I-GMS arm around the obstacle and to the wall.

Reference on articulated bodies 3.2, 5.5, acceptance items 15 and 18.  From step 11 on a hand holds the tool by a spring
and a damper, in position and orientation, and the arm does nothing but bear its own weight:

    F = K e + B e',   U = rnea(q, v, 0) + J^T F,   B = 2 sqrt(K m)

e, e' of position: hand less tool;  of orientation: log(R_hand R^T), -w.  The reference has m = 12 kg and 0.3 kg m^2 at
all times; a hand of the servo's tick may ask for that damping, and then has its peak force too.  Left to itself the
tick is critical for the mass and inertia that the tool shows at the moment, 3 / tr(J H^-1 J^T), here less, and so is
its peak force.  All are run: the reference's law for its numbers, the tick with the same numbers and with its own, and
the law with the tick's damping to see that nothing else differs.  In the tick a pull is mode HOLD on a plan that ends
at step 11 and asks for no acceleration there.

Item 15: the published F = K e - B e' drives the arm apart.  With the right sign a passive arm, U = G + J^T F, never
gains more energy than the hand puts in:  d(kinetic + K e^2 / 2) = F v_hand dt - B e'^2 dt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import palpate as pp
from palpate.control.plans.plan import Plan
from palpate.experiments.arm_figures import GREEN, RED, STEPS_PER_S, Band, Motion, edit_figure, move, posture_gaps
from palpate.experiments.report import Report
from palpate.haptics.devices.simulation.scripted import AT_ONCE_N_S, Grasp
from palpate.scenes.arm import TOOL_ALONG_X, WALL_X_M, arm_line
from palpate.scenes.scene import Scene

FIRST_S, SECOND_S = 11 / STEPS_PER_S, 23 / STEPS_PER_S
VIA_M, BEHIND_M = (0.68, -0.15, -0.05), (0.95, -0.15, -0.05)
SECOND_MOVES_S = 0.8
SECONDS = 2.4
STIFFNESS_N_M, TURN_NM_RAD = 800.0, 20.0
TURNED_KG_M2, HELD_KG = 0.3, 12.0  # what the reference's damping is critical for
PEAKS_N = {200.0: 35.8, 400.0: 44.6, 800.0: 51.9, 1600.0: 62.8}  # reference 5.5, by stiffness [N/m]
BEHIND_N = 0.25  # the tick takes the hand's velocity from two targets, half a tick late: at most B x'' dt / 2 there
PLANNED = np.asarray(TOOL_ALONG_X.matrix())  # orientation that the hand holds
DT_S = 1e-3
STRETCH_M = (0.05, -0.05, 0.03)  # of the spring, where item 15 begins


def pulls(
    stiffness: float = STIFFNESS_N_M, via: tuple[float, float, float] = VIA_M, own: bool = False
) -> tuple[Grasp, Grasp]:
    """The two pulls of 5.5; the hand does not let go between them.  own: with the tick's damping."""
    how = {"stiffness_N_m": stiffness, "stiffness_Nm_rad": TURN_NM_RAD, "orientation": tuple(TOOL_ALONG_X.wxyz)}
    if not own:
        how |= {"damping_Ns_m": 2.0 * np.sqrt(stiffness * HELD_KG),
                "damping_Nms_rad": 2.0 * np.sqrt(TURN_NM_RAD * TURNED_KG_M2)}  # fmt: skip
    behind = (BEHIND_M[0], via[1], BEHIND_M[2])
    return (Grasp("tool", FIRST_S, SECOND_S, via, **how),  # type: ignore[arg-type]
            Grasp("tool", SECOND_S, SECONDS, behind, move_s=SECOND_MOVES_S, **how))  # type: ignore[arg-type]  # fmt: skip


def left_alone_at_step_11(scene: Scene) -> Scene:
    """The scene with a plan that ends where the hand takes over, and asks for nothing there."""
    assert scene.plan is not None
    rows = round(FIRST_S * scene.rate_hz) + 1
    q, v, a = (x[:rows].copy() for x in scene.plan)
    a[-1] = 0.0
    return replace(scene, plan=Plan(q, v, a))


# ---- the reference's own coupling


def turn_between(R: np.ndarray, to: np.ndarray) -> np.ndarray:
    """log(to R^T) (3,), of less than half a turn."""
    D = to @ R.T
    axis = 0.5 * np.array([D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], D[1, 0] - D[0, 1]])  # of length sin(angle)
    sine = float(np.linalg.norm(axis))
    return axis if sine < 1e-9 else np.arctan2(sine, 0.5 * (np.trace(D) - 1.0)) / sine * axis


@dataclass(frozen=True)
class Coupling:
    """Spring and damper between a hand and the tool.

    inertia_and_mass  [kg m^2, kg] that the damping is critical for;  None: what the tool shows at the moment
    sign              of the damping;  -1: as printed
    """

    stiffness_N_m: float = STIFFNESS_N_M
    inertia_and_mass: tuple[float, float] | None = (TURNED_KG_M2, HELD_KG)
    sign: float = 1.0

    @property
    def stiffness(self) -> np.ndarray:
        """(6,) of turn [N m/rad] and position [N/m]."""
        return np.repeat([TURN_NM_RAD, self.stiffness_N_m], 3)

    def damping(self, model: pp.Model, q: np.ndarray, J: np.ndarray) -> np.ndarray:
        """(6,) of turn [N m s/rad] and position [N s/m]."""
        shown = self.inertia_and_mass
        if shown is None:
            mobility = np.diag(J @ np.linalg.solve(pp.mass_matrix(model, q), J.T))
            shown = 3.0 / mobility[:3].sum(), 3.0 / mobility[3:].sum()
        return 2.0 * np.sqrt(self.stiffness * np.repeat(shown, 3))

    def error(self, model: pp.Model, q: np.ndarray, hand: np.ndarray) -> np.ndarray:
        """e (6,) from the tool to a hand at `hand` (3,) that holds the planned orientation."""
        X = pp.forward_kinematics(model, q)[model.body("tool")]
        return np.r_[turn_between(X[:3, :3], PLANNED), hand - X[:3, 3]]

    def wrench(
        self, model: pp.Model, q: np.ndarray, v: np.ndarray, hand: np.ndarray, hand_velocity: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(F (6,) on the tool, J (6, nv)); torque and force, world axes."""
        J = pp.jacobian(model, q, "tool")
        rate = np.r_[np.zeros(3), hand_velocity] - J @ v
        damping = self.sign * self.damping(model, q, J)
        return self.stiffness * self.error(model, q, hand) + damping * rate, J

    def stored_J(self, model: pp.Model, q: np.ndarray, hand: np.ndarray) -> float:
        """Energy of the springs."""
        return float(0.5 * self.stiffness @ self.error(model, q, hand) ** 2)


def hand_path(start: np.ndarray) -> Callable[[float], tuple[np.ndarray, np.ndarray]]:
    """Position and velocity (3,) of the hand of 5.5 at a time [s], which takes the tool at `start`."""
    legs = ((FIRST_S, SECOND_S - FIRST_S, start, np.array(VIA_M)),
            (SECOND_S, SECOND_MOVES_S, np.array(VIA_M), np.array(BEHIND_M)))  # fmt: skip

    def at(t: float) -> tuple[np.ndarray, np.ndarray]:
        begin, lasts, a, b = legs[t >= SECOND_S]
        s = min((t - begin) / lasts, 1.0)
        return a + s * s * (3 - 2 * s) * (b - a), 6 * s * (1 - s) / lasts * (b - a)

    return at


class Pulled(NamedTuple):
    """What the reference's law does: when the wall is reached, its peaks; q (n, nq), every ms from step 11 on."""

    wall_s: float
    force_N: float
    moment_N_m: float
    q: np.ndarray


def reference_pull(scene: Scene, coupling: Coupling) -> Pulled:
    """By semi-implicit Euler at 1 kHz."""
    model, plan = scene.model, scene.plan
    assert plan is not None
    row = round(FIRST_S / DT_S)
    q, v = plan.q[row].copy(), plan.v[row].copy()
    hand = hand_path(pp.forward_kinematics(model, q)[model.body("tool")][:3, 3])
    path, wrenches = [q], []
    for n in range(row, round(SECONDS / DT_S)):
        F, J = coupling.wrench(model, q, v, *hand(n * DT_S))
        wrenches.append(F)
        v = v + DT_S * np.linalg.solve(pp.mass_matrix(model, q), J.T @ F)  # U = rnea(q, v, 0) + J^T F
        q = q + DT_S * v
        path.append(q)
        if pp.forward_kinematics(model, q)[model.body("tool")][0, 3] >= WALL_X_M:
            break
    reached = len(path) - 1 < round(SECONDS / DT_S) - row
    moments, forces = np.linalg.norm(np.array(wrenches).reshape(-1, 2, 3), axis=2).T
    wall_s = (row + len(path) - 1) * DT_S if reached else np.nan
    return Pulled(wall_s, float(forces.max()), float(moments.max()), np.array(path))


# ---- acceptance 15


def passive_arm(
    model: pp.Model,
    q: np.ndarray,
    coupling: Coupling,
    swing_m: float,
    seconds: float,
    stretch_m: tuple[float, float, float] = STRETCH_M,
) -> tuple[np.ndarray, np.ndarray]:
    """(energy of arm and springs (n,), work of the hand so far (n,)) [J] at every ms; stops once the energy is 1e6 J.

    The arm bears its weight and no more; the hand, `stretch_m` away at the beginning, swings to and fro at 1 Hz.
    """
    zero, rest = np.zeros(model.nv), pp.forward_kinematics(model, q)[model.body("tool")][:3, 3] + stretch_m
    swing, omega = swing_m * np.array([0.0, 1.0, 0.0]), 2.0 * np.pi

    def hand(t: float) -> tuple[np.ndarray, np.ndarray]:
        return rest + np.sin(omega * t) * swing, omega * np.cos(omega * t) * swing

    def rates(t: float, state: np.ndarray) -> np.ndarray:
        """Of (q, v, work)."""
        at, speed = hand(t)
        q, v = state[: model.nq], state[model.nq : -1]
        F, J = coupling.wrench(model, q, v, at, speed)
        weight = pp.inverse_dynamics(model, q, zero, zero)
        return np.r_[v, pp.forward_dynamics(model, q, v, weight + J.T @ F), F[3:] @ speed]

    state, energies, works = np.r_[q, zero, 0.0], [], []
    for n in range(round(seconds / DT_S) + 1):
        t, h = n * DT_S, DT_S
        q, v = state[: model.nq], state[model.nq : -1]
        energies.append(pp.energy(model, q, v).kinetic + coupling.stored_J(model, q, hand(t)[0]))
        works.append(state[-1])
        if not energies[-1] < 1e6:
            break
        k1 = rates(t, state)  # the classical fourth-order step
        k2 = rates(t + h / 2, state + h / 2 * k1)
        k3 = rates(t + h / 2, state + h / 2 * k2)
        k4 = rates(t + h, state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.array(energies), np.array(works)


def claim_passivity(report: Report, scene: Scene) -> dict[str, np.ndarray]:
    """Energies to draw."""
    model, q = scene.model, scene.world.model.posture("line_start")
    right, printed = Coupling(), Coupling(sign=-1.0)
    still, _ = passive_arm(model, q, right, 0.0, 1.0)
    swung, work = passive_arm(model, q, right, 0.05, 0.5)
    driven, _ = passive_arm(model, q, printed, 0.0, 1.0)
    report.claim(
        "right sign, hand at rest: largest gain of energy in a step", np.diff(still).max(), high=1e-9, unit="J"
    )
    report.claim("right sign, hand swinging: largest gain in a step beyond the hand's work",
                 (np.diff(swung) - np.diff(work)).max(), high=1e-9, unit="J")  # fmt: skip
    blown = np.flatnonzero(driven > 100.0 * driven[0])
    report.claim("printed sign: energy is 100 times what it was after", blown[0] * DT_S if len(blown) else np.nan,
                 high=1.0, unit="s")  # fmt: skip
    return {"right sign": still, "as printed": driven}


# ---- the experiment


def bands(motion: Motion) -> list[Band]:
    return [(0.0, FIRST_S, "planned"), (FIRST_S, SECOND_S, "pulling 1"), (SECOND_S, motion.wall_s, "pulling 2")]


def draw_coupling(energies: dict[str, np.ndarray], peaks: dict[str, list[float]]) -> Figure:
    """The energy of a passive arm with either sign, and the peak force over the stiffness."""
    figure = Figure(figsize=(10.0, 3.8), layout="constrained")
    energy, peak = figure.subplots(1, 2)
    for (name, values), colour in zip(energies.items(), (GREEN, RED), strict=True):
        energy.semilogy(np.arange(len(values)) * DT_S, np.maximum(values, 1e-6), color=colour, label=name)
    energy.set(xlabel="time [s]", ylabel="energy of arm and spring [J]", title="F = K e ± B e', hand at rest")
    energy.legend(fontsize=8)
    for (name, forces), style in zip(peaks.items(), ("k_", "o", "s"), strict=True):
        peak.plot(list(PEAKS_N), forces, style, label=name, ms=14 if style == "k_" else 6, mfc="none")
    peak.set(xlabel="stiffness of the hand's spring [N/m]", ylabel="peak force [N]", xscale="log", ylim=(0, None),
             title="the peak follows the stiffness")  # fmt: skip
    peak.set_xticks(list(PEAKS_N), [f"{k:g}" for k in PEAKS_N], minor=False)
    peak.minorticks_off()
    peak.legend(fontsize=8)
    for axes in (energy, peak):
        axes.grid(alpha=0.25)
    return figure


def claim_reference(report: Report, line: Scene, pulled: Pulled) -> None:
    """Acceptance 18, by the reference's law."""
    gaps = posture_gaps(line.model, pulled.q)
    report.claim("reference's law: smallest clearance", min(x.min() for x in gaps.values()), low=0.05, unit="m")
    report.claim("reference's law: smallest clearance of link 2 (0.068)", gaps["link 2"].min(), 0.0675, 0.0685, "m")
    report.claim("reference's law: wall reached (1.761)", pulled.wall_s, 1.76, 1.762, "s")
    report.claim("reference's law: peak force (51.9)", pulled.force_N, 49.0, 55.0, "N")
    report.claim("reference's law: peak moment (7.5)", pulled.moment_N_m, 7.45, 7.55, "N m")


def move_own(scene: Scene, stiffness: float) -> Motion:
    """The same pulls with the damping that the tick gives a hand that asks for none."""
    return move(scene, SECONDS, pulls(stiffness, own=True), rise_N_s=AT_ONCE_N_S)


def run(report: Report) -> None:
    line = arm_line(solid=False, mode="hold")
    scene = left_alone_at_step_11(line)
    motion = move(scene, SECONDS, pulls(), report.recording("arm-pull"), rise_N_s=AT_ONCE_N_S)
    peak = float(motion.force_N.max())
    report.say(f"two pulls: clearance {motion.clearance_m:.4f} m, wall at {motion.wall_s:.3f} s, peak {peak:.1f} N")
    by_law = {stiffness: reference_pull(line, Coupling(stiffness)) for stiffness in PEAKS_N}
    claim_reference(report, line, by_law[STIFFNESS_N_M])
    report.claim("the tick: smallest clearance", motion.clearance_m, low=0.05, unit="m")
    report.claim("the tick: wall reached", motion.wall_s, 1.71, 1.81, "s")
    report.claim("the tick: peak force", peak, 49.0, 55.0, "N")
    same, own = reference_pull(line, Coupling(inertia_and_mass=None)), move_own(scene, STIFFNESS_N_M)
    off = abs(float(own.force_N.max()) - same.force_N)
    report.claim("the tick's own damping: smallest clearance", own.clearance_m, low=0.05, unit="m")
    report.claim("the tick's own damping: wall reached", own.wall_s, 1.71, 1.81, "s")
    report.claim("the tick's own damping: peak force from that of the law with it", off, high=0.1, unit="N")

    peaks: dict[str, list[float]] = {
        "reference 5.5": list(PEAKS_N.values()), "the tick, 12 kg": [], "the tick's own damping": []}  # fmt: skip
    for stiffness, wanted in PEAKS_N.items():
        force = by_law[stiffness].force_N
        report.claim(
            f"reference's law, {stiffness:g} N/m: peak force off {wanted} by", abs(force - wanted), high=0.051, unit="N"
        )
        other = move(scene, SECONDS, pulls(stiffness), rise_N_s=AT_ONCE_N_S)
        report.claim(f"the tick, {stiffness:g} N/m: smallest clearance", other.clearance_m, low=0.0, unit="m")
        report.claim(f"the tick, {stiffness:g} N/m: wall reached", other.wall_s, high=SECONDS, unit="s")
        report.claim(f"the tick, {stiffness:g} N/m: peak force off {wanted} by",
                     abs(float(other.force_N.max()) - wanted), high=BEHIND_N, unit="N")  # fmt: skip
        peaks["the tick, 12 kg"].append(float(other.force_N.max()))
        peaks["the tick's own damping"].append(float(move_own(scene, stiffness).force_N.max()))
    energies = claim_passivity(report, line)
    report.values |= {
        "smallest_clearances_m": {name: round(float(gap.min()), 5) for name, gap in motion.gaps.items()},
        "tool_at_the_wall_m": motion.tool[-1].round(4).tolist(),
        "peak_moment_N_m": round(float(np.linalg.norm(motion.frames["hand_torque"], axis=1).max()), 3),
        "peak_force_N_by_stiffness_N_m": {name: dict(zip(map(str, PEAKS_N), np.round(values, 2).tolist(), strict=True))
                                          for name, values in peaks.items()},
    }  # fmt: skip
    report.figure("arm-pull", edit_figure(motion, bands(motion), line.path))
    report.figure("arm-pull-coupling", draw_coupling(energies, peaks))
    report.say(f"with the printed sign the energy was {energies['as printed'][-1]:.3g} J after "
               f"{DT_S * (len(energies['as printed']) - 1):.3g} s")  # fmt: skip
