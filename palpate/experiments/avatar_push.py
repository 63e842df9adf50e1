"""HRP-2 and a person, pushed at the chest in eight directions and pulled by a hand: stiff joints, balance, and steps.

avatars.md 1 to 3, items 1, 5, 6, 10, 11 and 15.  What is survived is found by bisection and held against the bound of
the capture point without a step, J_b = m w d, and F_b = m g d / h of a force that lasts.  Every trial starts from rest;
fallen is a centre of mass below 0.7 of its height or a chest that leans by more than 75 degrees.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure

from palpate.control.avatar import Actor
from palpate.control.balance.balancing import Balancing, Stepping
from palpate.control.balance.push_trial import FINE, UPRIGHT, PushTrial
from palpate.experiments.report import Report
from palpate.scenes.pushed import standing_world

DIRECTIONS = tuple(range(0, 360, 45))
PULLS = {"forward": 0.0, "left": 90.0, "back": 180.0}
AVATARS = {"hrp2": "HRP-2", "human": "a person"}
WITHOUT_GOAL, WITH_GOAL = 0.9, 1.5  # shares of J_b at the chest
FED_N = {"hrp2": (90.0, 105.0, 75.0), "human": (105.0, 90.0, 60.0)}  # item 10: forward, left, back
MOST = 4.0  # J_b, tried
STEPS = {"hrp2": 6, "human": 3}  # at 1.5 J_b; the goal is 2: HRP-2's hips spread by 35 degrees only
COLOURS = {"springs": "#d9534f", "balance": "#1f5fa8", "balance, not told": "#7d5ba6", "steps": "#2a8a4a"}


def springs(kind: str) -> PushTrial:
    """Stiff joints alone: 2000 N m/rad, 60 N m s/rad."""
    return PushTrial(Actor(standing_world(kind)))


def balance(kind: str, feeds: bool = True, steps: bool = False) -> PushTrial:
    actor = Actor(standing_world(kind))
    balancing = Balancing(actor, feeds=feeds)
    if steps:
        actor.add(Stepping(balancing).part)
    actor.add(balancing.part)
    return PushTrial(actor)


HOW: dict[str, Callable[[str], PushTrial]] = {
    "springs": springs,
    "balance": balance,
    "balance, not told": lambda kind: balance(kind, feeds=False),
    "steps": lambda kind: balance(kind, steps=True),
}


def steps_taken(trial: PushTrial, degrees: float, share: float) -> int:
    """Of a push that was survived; -1: it was not."""
    fine = trial.push(degrees, share) == FINE
    (count,) = [s.struct.array(s.name) for part in trial.actor.parts for s in part.shows if s.name == "count"]
    return int(count) if fine else -1


def polar(title: str, shares: dict[str, list[float]], goals: tuple[float, ...]) -> Figure:
    figure = Figure(figsize=(6.2, 6.4), layout="constrained")
    axes = figure.add_subplot(projection="polar")
    around = np.radians([*DIRECTIONS, DIRECTIONS[0]])
    circle = np.linspace(0.0, 2.0 * math.pi, 200)
    for goal in goals:
        axes.plot(circle, np.full(200, goal), ":", color="#999999", lw=1.2)
    axes.plot(circle, np.ones(200), "-", color="#444444", lw=1.2, label="bound without a step")
    for how, row in shares.items():
        axes.plot(around, [*row, row[0]], "o-", ms=4, color=COLOURS[how], label=how)
    axes.set(title=title, theta_zero_location="N", yticks=(0.5, 1.0, 1.5, 2.0, 3.0))
    axes.legend(fontsize=8, loc="lower left", bbox_to_anchor=(-0.12, -0.1))
    return figure


def bars(title: str, held: dict[str, list[float]], bound: list[float]) -> Figure:
    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    at = np.arange(len(PULLS))
    for k, (how, row) in enumerate(held.items()):
        axes.bar(at + 0.2 * (k - 1.5), row, 0.18, color=COLOURS[how], label=how)
    for x, limit in zip(at, bound, strict=True):
        axes.plot((x - 0.42, x + 0.42), (limit, limit), "k-", lw=1.5, label="m g d / h" if x == 0 else None)
    axes.set(title=title, ylabel="force at one hand for 2.5 s [N]", xticks=at, xticklabels=list(PULLS))
    axes.legend(fontsize=8)
    return figure


def recoveries(kind: str) -> Figure:
    """The capture point after pushes forward and to the left, with balance and with steps."""
    figure = Figure(figsize=(9.0, 4.0), layout="constrained")
    for axes, degrees, axis in zip(figure.subplots(1, 2), (0.0, 90.0), (0, 1), strict=True):
        for how, share in (("balance", 0.8), ("steps", 1.1)):
            trial = HOW[how](kind)
            trial.push(degrees, share)
            log = trial.log
            t = np.arange(len(log)) * trial.world.dt
            axes.plot(t, log[:, axis] - log[0, axis], color=COLOURS[how], label=f"{how}, {share:g} of the bound")
            lean = np.degrees(np.arccos(np.clip(log[:, UPRIGHT], -1.0, 1.0)))
            axes.plot(t, lean / 100.0, "--", lw=1.0, color=COLOURS[how], label="lean of the chest [100 deg]")
        axes.axhline(trial.edge_m(degrees), color="#999999", ls=":", label="edge of the soles")
        axes.set(xlabel="time [s]", ylabel="capture point [m]", title="forward" if axis == 0 else "left")
        axes.legend(fontsize=7)
    return figure


def run(report: Report, within: float = 0.03) -> None:
    for kind, name in AVATARS.items():
        trials = {how: make(kind) for how, make in HOW.items()}
        chest = {how: [t.survived(d, high=MOST, within=within) for d in DIRECTIONS] for how, t in trials.items()}
        at_com = {how: [trials[how].survived(d, within=within, at_com=True) for d in DIRECTIONS]
                  for how in ("springs", "balance", "balance, not told")}  # fmt: skip
        held = {how: [t.held_N(d) for d in PULLS.values()] for how, t in trials.items()}
        steps = {d: steps_taken(trials["steps"], d, WITH_GOAL) for d in DIRECTIONS}
        any_trial = trials["balance"]
        any_trial.reset()  # the hands hang where they do at rest
        a = any_trial.actor.avatar
        bound = [a.mass * 9.81 * any_trial.edge_m(d) / float(a.palm[0, 2] - a.floor_m) for d in PULLS.values()]
        report.values[kind] = {
            "directions_deg": DIRECTIONS, "edge_m": [any_trial.edge_m(d) for d in DIRECTIONS],
            "bound_Ns": [any_trial.impulse_bound_Ns(d) for d in DIRECTIONS], "chest_share": chest, "com_share": at_com,
            "held_N": held, "held_bound_N": bound, "steps_at_1.5": steps,
        }  # fmt: skip
        for how, row in chest.items():
            report.say(f"{name}, chest, {how}: {' '.join(f'{x:.2f}' for x in row)} of J_b")
        report.say(f"{name}, steps at 1.5 J_b (-1: fell): {list(steps.values())}")
        report.say(f"{name}, hand {', '.join(PULLS)}: " + "; ".join(f"{how} {row} N" for how, row in held.items()))
        report.claim(f"{name}: least share of J_b at the chest, balance", min(chest["balance"]), WITHOUT_GOAL)
        report.claim(f"{name}: least share, not told the force", min(chest["balance, not told"]), 0.85)
        report.claim(f"{name}: least share at the centre of mass, balance", min(at_com["balance"]), 1.05)
        report.claim(f"{name}: balance over springs at the chest, least ratio",
                     min(np.divide(chest["balance"], chest["springs"])), 1.0)  # fmt: skip
        for degrees, share in zip(DIRECTIONS, chest["steps"], strict=True):
            report.claim(f"{name}: share with steps, {degrees} deg", share, WITH_GOAL)
        report.claim(f"{name}: fewest steps at 1.5 J_b (-1: it fell)", min(steps.values()), 1)
        report.claim(f"{name}: most steps at 1.5 J_b", max(steps.values()), 1, STEPS[kind])
        for k, (direction, least) in enumerate(zip(PULLS, FED_N[kind], strict=True)):
            report.claim(f"{name}: force at a hand, {direction}, told", held["balance"][k], least, unit="N")
            report.claim(f"{name}: and not told", held["balance, not told"][k], None, least - 1.0, unit="N")
        report.figure(f"chest-{kind}", polar(f"{name}, pushed at the chest for 0.1 s: share of J_b", chest, (0.9, 1.5)))
        report.figure(f"com-{kind}", polar(f"{name}, pushed at the centre of mass: share of J_b", at_com, (1.05,)))
        report.figure(f"hand-{kind}", bars(f"{name}, pulled at the right hand", held, bound))
        report.figure(f"recovery-{kind}", recoveries(kind))
