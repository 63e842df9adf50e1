"""Is the mobile display safe?  Many walkers, hostile ones among them, against each planner.  Mobile display, 4.7.

Random users walk, turn and reach; hostile ones walk at the robot whenever they like; both at most at 0.45 m/s, where
the robot has 0.5.  Others are faster than it.  Of every walk (palpate/mobile/walking/measures.py):

distance   the least to the user; contact is r_c = 0.50 m
escape     how long the robot is nearer than d' - 0.15 m although its user does not come on.  Its bound:
               T_r + (g (d' - 0.15 - keep) + v)/a + (d' - 0.15 - r_c)/v
           to notice, to turn round from as fast as the barrier lets it come, and to leave from the deepest point;
           v what the law gives 0.15 m from its target, T_r = planning period + latency + tau
encounter  with a wall somewhere in the room, missed if the hand is outside the usable sphere when it arrives
alarm      a contact is predicted

Before that, users who walk at a robot that stands at its place: what is lost of d' before it follows, against the bound
of 4.7, v T_r + v^2/(2 a) + what the hand may move before the robot does.  And faster ones: how long before the contact
they are warned.  The worst walk of each planner is left as a file that runs again: replay_case("case-improved.json").
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from palpate.experiments.mobile_follow import RIGS, UNGUARDED
from palpate.experiments.report import Report
from palpate.mobile.planning.planner import Safety
from palpate.mobile.walking.cases import Case, numbers_written, replay_case, write_case
from palpate.mobile.walking.follow import Followed, Rig, follow_many
from palpate.mobile.walking.users import Event, chase, explore
from palpate.model.model import Floats

IMPROVED, FULL, THESIS = "improved", "full speed", "thesis"
OPEN = Safety(barrier=False)
PLANNERS = {
    f"{THESIS}, open": replace(RIGS[THESIS], safety=UNGUARDED), THESIS: replace(RIGS[THESIS], safety=Safety()),
    f"{FULL}, open": replace(RIGS[FULL], safety=UNGUARDED), FULL: replace(RIGS[FULL], safety=Safety()),
    f"{IMPROVED}, open": replace(RIGS[IMPROVED], safety=OPEN), IMPROVED: RIGS[IMPROVED],
}  # fmt: skip
GUARDED = (THESIS, FULL, IMPROVED)
COLOURS = {THESIS: "#d9534f", FULL: "#e58a2b", IMPROVED: "#1f5fa8"}
CONTACT_M = UNGUARDED.contact_m
WALLS = 8  # of a walk
APPROACHES = (0.1, 0.2, 0.3, 0.4, 0.45, 0.5)  # [m/s]
FAST = (0.6, 0.7, 0.85, 1.0, 1.2, 1.4)
QUANTILES = (0.0, 0.01, 0.5, 0.99, 1.0)
DISTRIBUTIONS = ("least_distance_m", "escape_s", "freed_s", "off_share", "most_offset_m")
Walls = tuple[tuple[float, float, float], ...]
Study = dict[str, Floats]


@dataclass(frozen=True)
class Setup:
    """Of the walks: half of them are hostile; another eighth as many are fast."""

    walks: float = 1000
    seconds: float = 30.0
    speed_m_s: float = 0.45
    fast_m_s: float = 1.4
    starts: float = 20  # runs of each approach
    seed: float = 1

    def __post_init__(self) -> None:
        if not (8 <= self.walks <= 100_000 and 2.0 <= self.seconds <= 600.0 and self.seed >= 0):
            raise ValueError("mobile-safety: walks 8 .. 100000, seconds 2 .. 600, seed 0 or more")
        if not (0.0 < self.speed_m_s <= 3.0 and 0.0 < self.fast_m_s <= 3.0 and 1 <= self.starts <= 1000):
            raise ValueError("mobile-safety: speed_m_s and fast_m_s up to 3, starts 1 .. 1000")


def reaction_s(rig: Rig) -> float:
    """T_r: planning period, latency, and the base's response."""
    return 1.0 / rig.follower.rate_hz + rig.tracker.latency_s + rig.tracker.network_s + rig.base.tau_s


def loss_bound_m(rig: Rig, speed_m_s: float) -> float:
    """What a user who walks at a standing robot may take of d'."""
    v, a = speed_m_s, rig.base.acceleration_m_s2
    return v * reaction_s(rig) + v * v / (2.0 * a) + rig.follower.activation_m


def escape_bound_s(rig: Rig) -> float:
    """For how long a robot may be too near to a user who does not come on."""
    f, s = rig.follower, rig.safety
    deep = f.distance_m - s.show_m
    law = f.gain_1_s * s.show_m if f.improved else f.speed_m_s * s.show_m / f.slow_m
    v = min(law, f.speed_m_s)
    turns = (s.gain_1_s * (deep - s.contact_m - s.margin_m) + v) / rig.base.acceleration_m_s2
    return reaction_s(rig) + turns + (deep - s.contact_m) / v


def walls_of(seed: int) -> Walls:
    """Walls anywhere before the hand, which begins at (0, 0.6)."""
    rng = np.random.default_rng(seed)
    angle, beyond = rng.uniform(-math.pi, math.pi, WALLS), rng.uniform(0.1, 1.5, WALLS)
    x, z = np.sin(angle), np.cos(angle)
    return tuple(zip(x.tolist(), z.tolist(), (0.6 * z + beyond).tolist(), strict=True))


def walkers(setup: Setup) -> tuple[list[list[Event]], list[Walls]]:
    """Walk i is hostile if i is odd."""
    first, n = 10_000_000 * int(setup.seed), int(setup.walks)
    walks = [explore(first + i, setup.seconds, setup.speed_m_s, 180.0, chases=bool(i % 2)) for i in range(n)]
    return walks, [walls_of(first + i) for i in range(n)]


def starts(rig: Rig, speeds: tuple[float, ...], setup: Setup) -> dict[float, Study]:
    """Users who walk at a robot that stands, by speed."""
    n, seed = int(setup.starts), int(setup.seed)
    return {v: follow_many([[chase(1.0, 6.0, v)]] * n, 7.0, rig, seed) for v in speeds}


def share_of(study: Study, name: str, of: str) -> float:
    """Of all walks together, in percent."""
    return 100.0 * float(study[name].sum()) / max(float(study[of].sum()), 1.0)


def per_hour(study: Study, setup: Setup) -> float:
    """False alarms in an hour of walking."""
    return 3600.0 * float(study["false_alarms"].sum()) / (setup.seconds * len(study["false_alarms"]))


def claim_walks(report: Report, studies: dict[str, Study], setup: Setup) -> None:
    """Acceptance 21 and 22, and that it is always so."""
    report.claim("robots without barrier at 0.2 m/s touch users, of a hundred",
                 100.0 * float(np.isfinite(studies[f"{THESIS}, open"]["touched_s"]).mean()), 20.0)  # fmt: skip
    for name in GUARDED:
        s = studies[name]
        report.claim(f"{name}, barrier: plans that break it", s["broken"].sum(), high=0.0)
        if setup.speed_m_s <= 0.45:
            report.claim(f"{name}, barrier: users touched", np.isfinite(s["touched_s"]).sum(), high=0.0)
            report.claim(f"{name}, barrier: least distance of all", s["least_distance_m"].min(), CONTACT_M, unit="m")
            report.claim(f"{name}, barrier: longest escape of all from a user who does not come on", s["freed_s"].max(),
                         high=escape_bound_s(PLANNERS[name]), unit="s")  # fmt: skip
    if setup.speed_m_s <= 0.45:
        report.claim("improved: false alarms in an hour", per_hour(studies[IMPROVED], setup), high=10.0)
    better = [share_of(studies[name], "missed", "met") for name in (THESIS, FULL, IMPROVED)]
    report.claim("encounters missed: full speed less than thesis by", better[0] - better[1], 0.5, unit="%")
    report.claim("encounters missed: improved less than full speed by", better[1] - better[2], 10.0, unit="%")


def claim_starts(report: Report, slow: dict[str, dict[float, Study]], fast: dict[str, dict[float, Study]]) -> None:
    """The bound of 4.7, and warnings of what cannot be avoided."""
    rig = PLANNERS[IMPROVED]
    for v, s in slow[IMPROVED].items():
        lost = rig.follower.distance_m - s["least_distance_m"].min()
        report.claim(
            f"improved: of d' lost to a user who comes at {v:g} m/s", lost, high=loss_bound_m(rig, v), unit="m"
        )
    for v, s in fast[IMPROVED].items():
        report.claim(f"improved: who comes at {v:g} m/s from standing is warned before contact by", s["lead_s"].min(),
                     0.30, unit="s")  # fmt: skip


def table_of(study: Study) -> dict[str, object]:
    """Quantiles of every distribution, and sums."""
    rows: dict[str, object] = {
        name: dict(zip(map(str, QUANTILES), np.quantile(study[name], QUANTILES).tolist(), strict=True))
        for name in DISTRIBUTIONS
    }
    sums = {name: int(study[name].sum()) for name in ("broken", "escapes", "met", "missed", "alarms", "false_alarms")}
    return rows | sums | {"walks": len(study["met"]), "touched": int(np.isfinite(study["touched_s"]).sum())}


def leave_worst(
    report: Report, studies: dict[str, Study], walks: list[list[Event]], walls: list[Walls], setup: Setup
) -> dict[str, Followed]:
    """The walk with the least distance of every planner, as a file; the runs of those files."""
    found, same = {}, 0
    for name, study in studies.items():
        i = int(study["least_distance_m"].argmin())
        path = report.out / f"case-{name.replace(', ', '-').replace(' ', '-')}.json"
        write_case(path, Case(walks[i], replace(PLANNERS[name], walls=walls[i]), int(setup.seed) + i, setup.seconds))
        again = replay_case(path)
        same += again.same and again.written.least_distance_m == study["least_distance_m"][i]
        found[name] = again.run
        report.values.setdefault("worst", {})[name] = {
            "walk": i, "file": path.name, "numbers": numbers_written(again.written)
        }  # fmt: skip
    report.claim("worst walks that run again bit for bit", same, low=len(studies))
    return found


# ---- figures


def style(name: str) -> dict[str, str | float]:
    """One colour a planner; dashed without a barrier."""
    return {"color": COLOURS[name.removesuffix(", open")], "ls": "--" if name.endswith("open") else "-", "lw": 1.6}


def draw_share(axes: Axes, studies: dict[str, Study], column: str, names: tuple[str, ...]) -> None:
    """Of how many walks a number is at most so large."""
    for name in names:
        x = np.sort(studies[name][column])
        axes.plot(x, np.arange(1, len(x) + 1) / len(x), **style(name), label=name)  # type: ignore[arg-type]
    axes.set(yscale="log", ylim=(0.5 / len(x), 1.05), ylabel="share of walks below")


def draw_distance(axes: Axes, studies: dict[str, Study], setup: Setup) -> None:
    draw_share(axes, studies, "least_distance_m", tuple(PLANNERS))
    axes.axvspan(0.0, CONTACT_M, color="#f6dcdb", lw=0)
    axes.text(0.01, 0.75, "contact", fontsize=8)
    axes.set(xlabel="least distance to the user [m]", xlim=(0.0, 0.9),
             title=f"{int(setup.walks)} walkers of up to {setup.speed_m_s:g} m/s, half of them hostile")  # fmt: skip
    axes.legend(fontsize=8, loc="lower right", title="dashed: no barrier", title_fontsize=8)


def draw_escape(axes: Axes, studies: dict[str, Study]) -> None:
    for name in GUARDED:
        x = np.sort(studies[name]["freed_s"])
        axes.plot(x, 1.0 - np.arange(len(x)) / len(x), **style(name), label=name)  # type: ignore[arg-type]
        axes.axvline(escape_bound_s(PLANNERS[name]), color=COLOURS[name], lw=1, ls=":")
    axes.set(yscale="log", xlim=(0.0, None), xlabel="longest escape from a user who does not come on [s]",
             ylabel="share of walks above", title="escapes, with a barrier; dotted: the bounds")  # fmt: skip
    axes.legend(fontsize=8, loc="upper right")


def draw_missed(axes: Axes, studies: dict[str, Study]) -> None:
    at = np.arange(len(studies))
    missed = [share_of(s, "missed", "met") for s in studies.values()]
    off = [100.0 * float(s["off_share"].mean()) for s in studies.values()]
    colours = [COLOURS[name.removesuffix(", open")] for name in studies]
    axes.barh(at - 0.2, missed, 0.38, color=colours)
    axes.barh(at + 0.2, off, 0.38, color=colours, alpha=0.4)
    for y, (m, o) in enumerate(zip(missed, off, strict=True)):
        axes.text(m + 1.0, y - 0.2, f"{m:.0f}", va="center", fontsize=8)
        axes.text(o + 1.0, y + 0.2, f"{o:.0f}", va="center", fontsize=8)
    axes.set_yticks(at, list(studies), fontsize=8)
    axes.invert_yaxis()
    axes.set(xlim=(0.0, 108.0), xlabel="[%]", title="walls missed (full), time with the hand outside (pale)")


def draw_loss(axes: Axes, slow: dict[str, dict[float, Study]]) -> None:
    for name, by in slow.items():
        rig = PLANNERS[name]
        v = np.array(list(by))
        lost = [rig.follower.distance_m - s["least_distance_m"].min() for s in by.values()]
        axes.plot(v, 1e3 * np.array(lost), "o-", color=COLOURS[name], label=f"{name}, most of {len(by[v[0]]['met'])}")
        axes.plot(v, [1e3 * loss_bound_m(rig, float(x)) for x in v], ":", color=COLOURS[name], label="bound of 4.7")
    axes.axhline(1e3 * (0.85 - CONTACT_M), color="black", lw=1, ls="--")
    axes.text(0.1, 1e3 * (0.85 - CONTACT_M), "contact", fontsize=8, va="bottom")
    axes.set(xlabel="the user walks at the robot [m/s]", ylabel="lost of the distance [mm]", ylim=(0.0, 400.0),
             title="before the robot follows")  # fmt: skip
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(0.0, 0.85))


def draw_lead(axes: Axes, fast: dict[str, dict[float, Study]], runs: Study, setup: Setup) -> None:
    for name, by in fast.items():
        lead = np.array([[s["lead_s"].min(), s["lead_s"].max()] for s in by.values()])
        axes.fill_between(list(by), lead[:, 0], lead[:, 1], color=COLOURS[name], alpha=0.25, lw=0)
        axes.plot(list(by), lead[:, 0], "o-", color=COLOURS[name], label=f"{name}, least and most")
    axes.axhline(0.3, color="black", lw=1, ls="--")
    met = runs["lead_s"][np.isfinite(runs["lead_s"])]
    if len(met):
        axes.set_title(f"users who are faster; of {len(met)} contacts in walks of up to {setup.fast_m_s:g} m/s\n"
                       f"{100.0 * (met >= 0.3).mean():.0f} % were warned of 0.3 s before, the latest {met.min():.2f} s",
                       fontsize=10)  # fmt: skip
    axes.set(yscale="log", xlabel="the user walks at the robot [m/s]", ylabel="warned before contact [s]")
    axes.minorticks_off()
    axes.set_yticks([0.2, 0.3, 0.5, 1.0, 2.0], ["0.2", "0.3", "0.5", "1", "2"])
    axes.legend(fontsize=8, loc="upper right")


def draw_worst(axes: Axes, worst: dict[str, Followed]) -> None:
    for name in GUARDED:
        r = worst[name]
        middle = r["time_s"][r["distance_m"].argmin()]
        axes.plot(r["time_s"] - middle, r["distance_m"], **style(name),  # type: ignore[arg-type]
                  label=f"{name}, least {r.numbers.least_distance_m:.3f} m")  # fmt: skip
    axes.axhspan(0.0, CONTACT_M, color="#f6dcdb", lw=0)
    axes.set(xlabel="time from the nearest moment [s]", ylabel="robot to user [m]", ylim=(0.4, 1.4), xlim=(-6.0, 6.0),
             title="the worst walk of each, with a barrier")  # fmt: skip
    axes.legend(fontsize=8, loc="upper right")


def run(report: Report, **options: float | str) -> None:
    """Options are fields of Setup."""
    setup = Setup(**options)  # type: ignore[arg-type]
    seed, (walks, walls) = int(setup.seed), walkers(setup)
    studies: dict[str, Study] = {}
    for name, rig in PLANNERS.items():
        studies[name] = s = follow_many(walks, setup.seconds, rig, seed, walls=walls)
        report.say(f"{name}: {int(np.isfinite(s['touched_s']).sum())} of {len(walks)} touched, nearest "
                   f"{s['least_distance_m'].min():.3f} m, escape {s['freed_s'].max():.2f} s at most, missed "
                   f"{share_of(s, 'missed', 'met'):.0f} %, {per_hour(s, setup):.1f} false alarms/h")  # fmt: skip
    claim_walks(report, studies, setup)
    slow = {name: starts(PLANNERS[name], APPROACHES, setup) for name in (FULL, IMPROVED)}
    fast = {name: starts(PLANNERS[name], FAST, setup) for name in (FULL, IMPROVED)}
    claim_starts(report, slow, fast)
    hostile = [
        explore(20_000_000 * seed + i, setup.seconds, setup.fast_m_s, 180.0, chases=True)
        for i in range(len(walks) // 8)
    ]
    faster = follow_many(hostile, setup.seconds, PLANNERS[IMPROVED], seed)
    lead = faster["lead_s"][np.isfinite(faster["lead_s"])]
    report.say(f"faster users: {len(lead)} of {len(hostile)} walk into the robot, warned "
               f"{lead.min() if len(lead) else math.nan:.2f} s before at least")  # fmt: skip
    if setup.fast_m_s <= 1.4 and len(lead):
        report.claim("improved, hostile walks of up to 1.4 m/s: contacts warned of 0.3 s before",
                     100.0 * float((lead >= 0.3).mean()), 90.0, unit="%")  # fmt: skip
    worst = leave_worst(report, studies, walks, walls, setup)
    report.values |= {
        "setup": asdict(setup), "seed": setup.seed,
        "planners": {name: {"random": table_of({k: v[::2] for k, v in s.items()}),
                            "hostile": table_of({k: v[1::2] for k, v in s.items()})} for name, s in studies.items()},
        "escape_bound_s": {name: escape_bound_s(PLANNERS[name]) for name in GUARDED},
        "fast": {"walks": len(hostile), "contacts": len(lead),
                 "lead_s": np.quantile(lead, QUANTILES).tolist() if len(lead) else []},
    }  # fmt: skip
    figure = Figure(figsize=(17.0, 9.5), layout="constrained")
    (distance, escape, missed), (loss, before, cases) = figure.subplots(2, 3)
    draw_distance(distance, studies, setup)
    draw_escape(escape, studies)
    draw_missed(missed, studies)
    draw_loss(loss, slow)
    draw_lead(before, fast, faster, setup)
    draw_worst(cases, worst)
    for axes in (distance, escape, missed, loss, before, cases):
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
    report.figure("mobile-safety", figure)


run.options = tuple(Setup.__dataclass_fields__)  # type: ignore[attr-defined]
