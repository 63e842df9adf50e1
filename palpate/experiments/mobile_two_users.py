"""Two persons and two robots in one room: they keep apart, and robots change hands.  Mobile display, 6.3.

Every person is an obstacle to both robots, with his velocity; robots keep 0.80 m from each other, each taking the other
to stand still.  Persons walk and turn at random, at most at 0.4 m/s, in a circle of 3.2 m, and keep 1.6 m apart.  Which
robot serves whom is decided anew at every plan: the order with the least total distance, if it saves 0.3 m.

Many rooms, each with its least distances; one of them looked at; and two robots that stand crosswise before the wrong
persons, with and without a change of hands.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from palpate.experiments.report import Report
from palpate.mobile.planning.planner import IMPROVED
from palpate.mobile.walking.follow import Rig
from palpate.mobile.walking.several import APART_M, ROW, Person, Several, Together, wanderers
from palpate.model.model import Floats

BASES_M, CONTACT_M = 0.70, 0.50
RIG = Rig(IMPROVED)
NEVER_M = 1e3  # a hysteresis that no change of hands overcomes
PERSONS, ROBOTS = ("#2a8a4a", "#8a5fb0"), ("#1f5fa8", "#e58a2b")


@dataclass(frozen=True)
class Setup:
    """Of the rooms."""

    rooms: float = 60
    seconds: float = 60.0
    speed_m_s: float = 0.4
    home_m: float = 1.6
    hysteresis_m: float = 0.3
    seed: float = 1

    def __post_init__(self) -> None:
        if not (2 <= self.rooms <= 10_000 and 2.0 <= self.seconds <= 600.0 and self.seed >= 0):
            raise ValueError("mobile-two-users: rooms 2 .. 10000, seconds 2 .. 600, seed 0 or more")
        if not (0.0 < self.speed_m_s <= 3.0 and self.home_m >= APART_M and self.hysteresis_m >= 0.0):
            raise ValueError(f"mobile-two-users: speed_m_s up to 3, home_m at least {APART_M}, hysteresis_m 0 or more")


@dataclass(frozen=True)
class Lived:
    """One room, looked at."""

    history: Floats  # (rows, 2, len(ROW))
    numbers: Together

    def of(self, column: str) -> Floats:
        """(rows, 2) of both persons."""
        return self.history[:, :, ROW.index(column)]

    @property
    def persons(self) -> Floats:
        """(rows, 2, 2) x, z."""
        return np.stack([self.of("user_x"), self.of("user_z")], axis=2)

    @property
    def robots(self) -> Floats:
        """(rows, 2, 2) x, z of robot 0 and 1, whomever they serve."""
        serving = np.stack([self.of("robot_x"), self.of("robot_z")], axis=2)
        return np.where((self.of("base")[:, 0] == 0.0)[:, None, None], serving, serving[:, ::-1])

    def totals(self) -> tuple[Floats, Floats]:
        """(rows,) sums of distances from robots to where they are wanted: as they serve, and changed."""
        wanted = np.stack([self.of("target_x"), self.of("target_z")], axis=2)
        serving = np.stack([self.of("robot_x"), self.of("robot_z")], axis=2)
        return (np.linalg.norm(wanted - serving, axis=2).sum(axis=1),
                np.linalg.norm(wanted - serving[:, ::-1], axis=2).sum(axis=1))  # fmt: skip


def room(setup: Setup, i: int) -> Several:
    """Room i."""
    seed = 1000 * int(setup.seed) + i
    people = wanderers(2, seed, setup.seconds, setup.speed_m_s, setup.home_m, turn_deg=180.0)
    return Several(people, RIG, seed, setup.hysteresis_m)


def look(setup: Setup, i: int) -> Lived:
    """Room i with its history, a row every 20 ms."""
    found = room(setup, i)
    return Lived(found.run(setup.seconds, every=20), found.numbers())


def crosswise(setup: Setup, hysteresis_m: float) -> Lived:
    """Two who stand, each before the other's robot."""
    people = [
        Person([], (-1.0, 0.0, 0.0), robot=(1.0, 0.85, 0.0)),
        Person([], (1.0, 0.0, 0.0), robot=(-1.0, 0.85, 0.0)),
    ]
    found = Several(people, RIG, int(setup.seed), hysteresis_m)
    return Lived(found.run(15.0, every=20), found.numbers())


def claim_all(report: Report, found: list[Together], broken: float, setup: Setup) -> None:
    """Acceptance 35, in every room."""
    if setup.speed_m_s <= 0.4:
        report.claim(
            "robot to robot, least of all rooms", min(n.least_between_bases_m for n in found), BASES_M, unit="m"
        )
        report.claim("any robot to any person, least", min(n.least_to_any_user_m for n in found), CONTACT_M, unit="m")
    report.claim("persons keep apart, least", min(n.least_between_users_m for n in found), APART_M - 1e-3, unit="m")
    report.claim("and come near each other, least", min(n.least_between_users_m for n in found), high=APART_M + 0.1,
                 unit="m")  # fmt: skip
    report.claim("plans that break their own user's barrier", broken, high=0.0)


def draw_paths(axes: Axes, r: Lived, seconds: float) -> None:
    """So long about the moment at which the robots are nearest."""
    middle, half = int(np.linalg.norm(r.robots[:, 0] - r.robots[:, 1], axis=1).argmin()), round(0.5 * seconds / 0.02)
    begin = max(middle - half, 5)  # before, nothing is planned
    rows = slice(begin, middle + half)
    for k in range(2):
        u, b = r.persons[rows, k], r.robots[rows, k]
        axes.plot(*u.T, color=PERSONS[k], lw=1.2, label=f"person {k + 1}")
        axes.plot(*b.T, color=ROBOTS[k], lw=1.8, label=f"robot {k + 1}")
        axes.add_patch(Circle(tuple(u[-1]), 0.25, color=PERSONS[k], alpha=0.35, lw=0))
        axes.add_patch(Circle(tuple(u[-1]), CONTACT_M, fill=False, color=PERSONS[k], lw=1, ls=":"))
        axes.add_patch(Circle(tuple(b[-1]), 0.25, color=ROBOTS[k], alpha=0.35, lw=0))
        axes.plot(*u[0], "o", color=PERSONS[k], ms=5)
        axes.plot(*b[0], "o", color=ROBOTS[k], ms=5)
    axes.set(
        aspect="equal", xlabel="x [m]", ylabel="z [m]", title=f"{seconds:g} s of a room, from above; discs: at the end"
    )
    axes.legend(fontsize=8, loc="upper left", framealpha=1.0)


def draw_distances(axes: Axes, r: Lived) -> None:
    t, u, b = r.of("time_s")[:, 0], r.persons, r.robots
    for i in range(2):
        for j in range(2):
            axes.plot(t, np.linalg.norm(b[:, j] - u[:, i], axis=1), color=ROBOTS[j], lw=1, ls="-" if i == j else "--",
                      label=f"robot {j + 1} to person {i + 1}")  # fmt: skip
    axes.plot(t, np.linalg.norm(b[:, 0] - b[:, 1], axis=1), color="black", lw=1.4, label="robot to robot")
    axes.axhline(BASES_M, color="black", lw=1, ls=":")
    axes.axhspan(0.0, CONTACT_M, color="#f6dcdb", lw=0)
    axes.text(t[-1], CONTACT_M, "contact", fontsize=8, ha="right", va="top")
    axes.set(xlabel="time [s]", ylabel="distance [m]", ylim=(0.3, 3.6), title="its distances; dotted: 0.70 m of robots")
    axes.legend(fontsize=8, ncols=3, loc="upper center", framealpha=1.0)


def draw_rooms(axes: Axes, found: list[Together], setup: Setup) -> None:
    bins = np.arange(0.45, 2.0, 0.025).tolist()
    for values, limit, colour, label in (
        ([n.least_to_any_user_m for n in found], CONTACT_M, "#d9534f", "any robot to any person"),
        ([n.least_between_bases_m for n in found], BASES_M, "black", "robot to robot"),
        ([n.least_between_users_m for n in found], APART_M, "#2a8a4a", "person to person, as they keep it"),
    ):
        axes.hist(np.minimum(values, 1.99), bins, histtype="step", lw=1.6, color=colour,
                  label=f"{label}: {min(values):.3f} m")  # fmt: skip
        axes.axvline(limit, color=colour, lw=1, ls=":")
    axes.set(xlabel="least distance in a room [m]", ylabel="rooms", title=f"{len(found)} rooms of {setup.seconds:g} s")
    axes.legend(fontsize=8)


def draw_change(axes: Axes, r: Lived, setup: Setup) -> None:
    t, (now, changed) = r.of("time_s")[:, 0], r.totals()
    swaps = np.flatnonzero(np.diff(r.of("base")[:, 0]))
    if len(swaps):
        near = np.abs(t - t[swaps[0]]) < 8.0
        t, now, changed = t[near], now[near], changed[near]
    axes.plot(t, now, color=ROBOTS[0], label="as they serve")
    axes.plot(t, changed, color="#999999", label="changed")
    axes.fill_between(t, changed, now, where=(changed < now).tolist(), color="#f1e1b5", lw=0)
    for at in swaps:
        axes.axvline(0.02 * at, color="#d9534f", lw=1, ls="--")
    axes.set(xlabel="time [s]", ylabel="total distance of robots to their places [m]", xlim=(t[0], t[-1]),
             title=f"robots change hands when it saves {setup.hysteresis_m:g} m (dashed)")  # fmt: skip
    axes.legend(fontsize=8)


def run(report: Report, **options: float | str) -> None:
    """Options are fields of Setup."""
    setup = Setup(**options)  # type: ignore[arg-type]
    found, broken = [], 0.0
    for i in range(int(setup.rooms)):
        several = room(setup, i)
        several.run(setup.seconds)
        found.append(several.numbers())
        broken += sum(d.numbers().broken for d in several.displays)
    report.say(f"{len(found)} rooms: robots {min(n.least_between_bases_m for n in found):.3f} m from each other, "
               f"{min(n.least_to_any_user_m for n in found):.3f} m from a person at least; "
               f"{sum(n.swaps for n in found)} changes of hands")  # fmt: skip
    claim_all(report, found, broken, setup)
    nearest = min(range(len(found)), key=lambda i: found[i].least_between_bases_m)
    most = max(range(len(found)), key=lambda i: found[i].swaps)
    with_change, without = crosswise(setup, setup.hysteresis_m), crosswise(setup, NEVER_M)
    if setup.hysteresis_m <= 0.3:
        report.claim("robots that stand crosswise change hands", with_change.numbers.swaps, 1.0, 1.0)
        report.claim("and a hand waits, of 15 s", 15.0 * with_change.numbers.off_share, high=1.0, unit="s")
        report.claim("and without that it waits, while robots stand head to head", 15.0 * without.numbers.off_share,
                     low=4.0, unit="s")  # fmt: skip
    report.claim("head to head, robot to robot", without.numbers.least_between_bases_m, BASES_M, unit="m")
    report.claim("head to head, any robot to any person", without.numbers.least_to_any_user_m, CONTACT_M, unit="m")
    report.values |= {
        "setup": asdict(setup), "seed": setup.seed, "rooms": [n._asdict() for n in found], "looked_at": nearest,
        "changing": most, "crosswise": [with_change.numbers._asdict(), without.numbers._asdict()],
    }  # fmt: skip
    figure = Figure(figsize=(15.0, 10.5), layout="constrained")
    (paths, distances), (rooms, change) = figure.subplots(2, 2)
    shown = look(setup, nearest)
    draw_paths(paths, shown, 16.0)
    draw_distances(distances, shown)
    draw_rooms(rooms, found, setup)
    draw_change(change, look(setup, most), setup)
    for axes in (paths, distances, rooms, change):
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
    report.figure("mobile-two-users", figure)


run.options = tuple(Setup.__dataclass_fields__)  # type: ignore[attr-defined]
