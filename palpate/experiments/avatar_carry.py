"""Two avatars carry a plank 0.30 m sideways: one leads, the other follows what its palms feel; or a hand leads both.

Reference on avatars section 5, acceptance item 34.  The leader's palms go by minimum jerk; the follower yields in the
object form, M_o v' + B_o v = f, f what the plank does to its palms beyond its share of the weight.  Motion from t0 to
t1, x the plank, v_1 and v_2 the mean velocities of both pairs of hands, f_2 the follower's:

    completion time   T = t1 - t0: first time |x - goal| < 0.02 m and |v| < 0.02 m/s for 0.5 s
    path deviation    D = (1/T) int min_s |x(t) - x_r(s)| dt, x_r the straight path
    synchrony         S = 1 - int |v_1 - v_2| dt / int (|v_1| + |v_2|) dt
    follower force    F = (1/T) int |f_2 - f_2(static)| dt

Without steps an avatar reaches 0.15 m to either side: the way is from one end of that to the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from palpate.control.avatar import Actor
from palpate.control.grasp.grasp_tables import CARRY
from palpate.control.grasp.grasping import Grasping
from palpate.experiments.avatar_figures import draw_world
from palpate.experiments.avatar_stories import HAND, minimum_jerk
from palpate.experiments.report import Report
from palpate.frame import PULL
from palpate.runtime.world.simulation import WorldSimulation, running
from palpate.scenes.scene import Scene
from palpate.scenes.tables import carry_world, carrying
from palpate.servo.run import Run
from palpate.world.world import World

SIDE_M = 0.15
PAYLOADS_KG = (0.5, 1.0, 3.0, 5.0)
DAMPINGS_NS_M = (30.0, 60.0, 120.0)
THERE_M, SLOW_M_S, STAYS_S = 0.02, 0.02, 0.5
F_N, D_M, S_LEAST = 10.0, 0.02, 0.9
LEAD_S = 4.0  # of a hand's way


class Carried(NamedTuple):
    """A motion, measured."""

    T_s: float
    D_m: float
    S: float
    F_N: float
    slip_m: float
    time_s: np.ndarray
    plank: np.ndarray  # (n, 7)
    felt_N: np.ndarray  # (n, 3) of the follower
    pose: np.ndarray  # (n_bodies, 7) at the end

    def row(self) -> dict[str, float]:
        return {"T_s": self.T_s, "D_mm": 1e3 * self.D_m, "S": self.S, "F_N": self.F_N, "slip_mm": 1e3 * self.slip_m}


class Team:
    """Two avatars, a plank, in simulated time."""

    def __init__(self, run: Run[WorldSimulation], world: World, actors: list[Actor], hands: list[Grasping]) -> None:
        self.run, self.world, self.actors, self.hands = run, world, actors, hands
        self.plank_q = world.model.q_index["plank"]

    def take(self) -> None:
        for _ in range(1200):
            self.run.ticks(10)
            if all(each.arrays.state == CARRY for each in self.hands):
                self.run.ticks(500)
                return
        raise RuntimeError(f"the plank was not lifted: {[(each.state, each.why) for each in self.hands]}")

    def lead(self, leader: int, to_m: float, seconds: float) -> Carried:
        """One of them leads the plank."""
        first = self.run.count
        self.hands[leader].arrays.go_m = to_m
        self.run.ticks(round(1000 * seconds))
        return self.measure(first, to_m, 1 - leader)

    def drag(self, way_m: float, seconds: float, at_x_m: float = 0.0) -> Carried:
        """A hand leads it by a spring, at a place along it."""
        first, rest = self.run.count, round(1000 * (seconds - LEAD_S))
        start = self.run.now["q"][self.plank_q][:3] + [at_x_m, 0.0, 0.0]
        path = way_m * np.r_[minimum_jerk(np.arange(round(1000 * LEAD_S)) / (1000 * LEAD_S)), np.ones(rest)]
        pack, body = self.run.simulation.hand_layout.pack, self.world.model.body("plank")
        messages = [
            pack(body=body, hold=PULL, at_body=(at_x_m, 0.0, 0.0), target=(start[0], start[1] + y, start[2]),
                 stiffness_N_m=500.0, damping_Ns_m=(63.2,) * 3)
            for y in path
        ]  # fmt: skip
        goal = start[1] + way_m
        self.run.ticks(len(messages), np.array(messages))
        done = self.measure(first, goal, 1)
        self.run.ticks(100, np.tile(pack(), (100, 1)))
        return done

    def measure(self, first: int, goal_y: float, follower: int) -> Carried:
        layout, frames, dt = self.run.simulation.layout, self.run.frames[first:], self.world.dt
        x = layout.column(frames, "q")[:, self.plank_q]
        pose = layout.column(frames, "pose")
        velocity = np.gradient(x[:, :3], dt, axis=0)
        goal = np.array([x[0, 0], goal_y, x[0, 2]])
        there = (np.linalg.norm(x[:, :3] - goal, axis=1) < THERE_M) & (np.linalg.norm(velocity, axis=1) < SLOW_M_S)
        stays = round(STAYS_S / dt)
        held = np.convolve(there, np.ones(stays), "valid") == stays
        end = int(np.argmax(held)) if held.any() else len(x)
        T = end * dt if held.any() else np.nan
        moving = slice(0, max(end, 2))
        along = np.clip((x[moving, 1] - x[0, 1]) / (goal_y - x[0, 1]), 0.0, 1.0)
        straight = x[0, :3] + along[:, None] * (goal - x[0, :3])
        v = [np.gradient(pose[:, actor.avatar.hand, :3].mean(axis=1), dt, axis=0)[moving] for actor in self.actors]
        apart = np.linalg.norm(v[0] - v[1], axis=1).sum()
        together = sum(np.linalg.norm(each, axis=1).sum() for each in v)
        felt = layout.column(frames, self.actors[follower].field_prefix + "grasp_felt")
        return Carried(
            T, float(np.linalg.norm(x[moving, :3] - straight, axis=1).mean()), float(1.0 - apart / together),
            float(np.linalg.norm(felt[moving] - felt[0], axis=1).mean()),
            max(float(each.arrays.slip_m) for each in self.hands), layout.column(frames, "time_s"), x, felt, pose[-1],
        )  # fmt: skip


@contextmanager
def team(plank_kg: float = 3.0, shares: bool = False, **how: Any) -> Iterator[Team]:
    """how: of scenes.tables.carrying."""
    world = carry_world(plank_kg=plank_kg)
    actors, hands = carrying(world, shares=shares, **how)
    scene = Scene("carry-two", "carry", world, controllers=tuple(part for each in actors for part in each.parts))
    with running(scene, device=HAND) as run:
        yield Team(run, world, actors, hands)


def carried(report: Report, name: str, plank_kg: float = 3.0, leader: int = 0, **how: Any) -> Carried:
    """From one side to the other."""
    with team(plank_kg, leader=leader, **how) as t:
        t.take()
        t.lead(leader, -SIDE_M, 3.5)
        done = t.lead(leader, SIDE_M, 5.5)
    say(report, name, done)
    return done


def say(report: Report, name: str, done: Carried) -> None:
    report.say(
        f"{name}: T {done.T_s:.2f} s, D {1e3 * done.D_m:.1f} mm, S {done.S:.3f}, F {done.F_N:.1f} N, "
        f"slip {1e3 * done.slip_m:.2f} mm"
    )


def run(report: Report) -> None:
    rows: dict[str, Carried] = {}
    for leader in (0, 1):
        rows[f"3 kg, avatar {leader + 1} leads"] = carried(report, f"3 kg, avatar {leader + 1} leads", leader=leader)
    rows["3 kg, in balance"] = carried(report, "3 kg, in balance", balanced=True)
    for kg in PAYLOADS_KG:
        if kg != 3.0:
            rows[f"{kg:g} kg"] = carried(report, f"{kg:g} kg", kg)
    for damping in DAMPINGS_NS_M:
        if damping != 30.0:
            name = f"3 kg, B {damping:g} N s/m"
            rows[name] = carried(report, name, damping_Ns_m=damping)
    with team(balanced=True) as t:
        t.take()
        rows["a hand leads, in the middle"] = t.drag(SIDE_M, 6.0)
        say(report, "a hand leads, in the middle", rows["a hand leads, in the middle"])
        picture = t.run.now["pose"], t.world.model
    report.values["rows"] = [{"name": name} | row.row() for name, row in rows.items()]
    for name in ("3 kg, avatar 1 leads", "3 kg, avatar 2 leads", "3 kg, in balance"):
        done = rows[name]
        report.claim(f"follower force (item 34), {name}", done.F_N, high=F_N, unit="N")
        report.claim(f"path deviation (item 34), {name}", done.D_m, high=D_M, unit="m")
        report.claim(f"synchrony (item 34), {name}", done.S, S_LEAST)
        report.claim(f"completion time, {name}", done.T_s, high=5.0, unit="s")
    report.claim("slip of all", max(1e3 * row.slip_m for row in rows.values()), high=2.0, unit="mm")
    figure(report, rows, *picture)


def figure(report: Report, rows: dict[str, Carried], pose: np.ndarray, model: Any) -> None:
    drawn = Figure(figsize=(12.0, 4.2), layout="constrained")
    scene, path, force = drawn.subplots(1, 3, width_ratios=(1.3, 1.0, 1.0))
    draw_world(scene, model, pose)
    for name in ("3 kg, avatar 1 leads", "3 kg, avatar 2 leads", "3 kg, in balance", "5 kg"):
        row = rows[name]
        t = row.time_s - row.time_s[0]
        path.plot(t, 1e3 * row.plank[:, 1], label=name)
        force.plot(t, np.linalg.norm(row.felt_N - row.felt_N[0], axis=1), label=name)
    path.set(xlabel="time [s]", ylabel="plank, sideways [mm]")
    force.set(xlabel="time [s]", ylabel="follower's force [N]", ylim=(0, None))
    force.axhline(F_N, color="#999999", ls="--", lw=1)
    path.legend(fontsize=7)
    for axes in (path, force):
        axes.grid(alpha=0.25)
    report.figure("carry", drawn)
