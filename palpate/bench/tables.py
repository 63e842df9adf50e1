"""Bench results as tables for the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

WIDE = 130  # columns that the widest tables take


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}x"


def dynamics_table(console: Console, result: dict[str, Any]) -> None:
    """Times in us per call; a ratio above 1 means we are faster."""
    table = Table(title="forward and inverse dynamics, us per call (medians, interleaved)", title_justify="left")
    for name in ("robot", "nv", "algorithm", "compiled loop", "Python call", "Pinocchio", "loop ratio", "call ratio",
                 "agreement"):  # fmt: skip
        table.add_column(name, justify="left" if name in ("robot", "algorithm") else "right")
    for row in result["rows"]:
        peer = "-" if row["peer_us"] is None else f"{row['peer_us']:.2f}"
        agreement = "-" if row["agreement"] is None else f"{row['agreement']:.0e}"
        table.add_row(row["robot"], str(row["nv"]), row["algorithm"], f"{row['loop_us']:.2f}", f"{row['call_us']:.2f}",
                      peer, _ratio(row["loop_ratio"]), _ratio(row["call_ratio"]), agreement)  # fmt: skip
    console.print(table)
    machine = result["machine"]
    console.print(f"load {machine['load_1_min']:.2f} on {machine['cores']} cores before the run; "
                  f"Pinocchio {machine['packages']['pin'] or 'not installed'}")  # fmt: skip
    for missing in result["missing"]:
        console.print(f"not measured: {missing} is not installed")
    for line in result["shortfalls"]:
        console.print(f"below its goal: {line}")
    if not result["shortfalls"] and not result["missing"]:
        console.print("all goals met: 32-joint humanoids forward 3x and inverse 2x in the loop, no call slower")


def servo_table(console: Console, result: dict[str, Any]) -> None:
    """Lateness in us; late: ticks that ended after the next was due."""
    table = Table(
        title=f"servo of the arm, {result['seconds']:g} s each: how late ticks begin, in us", title_justify="left"
    )
    for name in ("rate", "neighbour", "FIFO", "p50", "p99", "p99.9", "max", "late"):
        table.add_column(name, justify="left" if name in ("neighbour", "FIFO") else "right")
    for row in result["rows"]:
        table.add_row(f"{row['rate_hz']} Hz", *_beside(row), *_us(row, "p50", "p99", "p99.9", "max"),
                      f"{100 * row['late_fraction']:.3f} %")  # fmt: skip
    console.print(table)
    touched_table(console, result)
    rendering_table(console, result["rendering"])
    for name, row in result["latency"].items():
        console.print(f"{name}: {row['p50_ms']:.2f} ms (median), {row['p99_ms']:.2f} ms (99 %), "
                      f"{row['max_ms']:.2f} ms (largest of {row['samples']})", soft_wrap=True)  # fmt: skip
    machine = result["machine"]
    console.print(f"load {machine['load_1_min']:.2f} on {machine['cores']} cores before the run"
                  f"{'' if result['fifo_permitted'] else '; SCHED_FIFO is not permitted here'}")  # fmt: skip
    print_goals(console, result)


def touched_table(console: Console, result: dict[str, Any]) -> None:
    """Times in us: how late ticks begin, how long they take, how old forces are when written."""
    table = Table(
        title=f"touched at 1 kHz by a simulated PHANToM that pushes and drags, {result['seconds']:g} s each, in us",
        title_justify="left",
    )
    for name in ("scene", "neighbour", "FIFO", "of", "p50", "p99", "p99.9", "max", "late"):
        left = name in ("scene", "neighbour", "FIFO", "of")
        table.add_column(name, justify="left" if left else "right", no_wrap=True)
    for row in result["touched"]:
        late = f"{100 * row['late_fraction']:.3f} %"
        table.add_row(row["scene"], *_beside(row), "lateness", *_us(row, "p50", "p99", "p99.9", "max"), late)
        for what, key in (("tick", "tick"), ("force age", "age")):
            times = _us(row, f"{key}_p50", f"{key}_p99", f"{key}_p99.9", f"{key}_max")
            table.add_row("", "", "", what, *times, "", end_section=key == "age")
    wide(console).print(table)
    for row in result["touched"]:
        if row["fault"]:
            console.print(f"! {row['scene']}: {row['fault']}, so its times mean little", soft_wrap=True)


def rendering_table(console: Console, result: dict[str, Any]) -> None:
    """Times of one update in us, thousands of updates a second."""
    table = Table(title="touching one thing: one update of the proxy, in us", title_justify="left")
    for name in ("thing", "triangles", "hand", "p50", "p99", "max", "rate"):
        table.add_column(name, justify="left" if name in ("thing", "hand") else "right", no_wrap=True)
    before = None
    for row in result["rows"]:
        thing = row["thing"], f"{row['triangles']:,}" if row["triangles"] else ""
        if before not in (None, thing):
            table.add_section()
        table.add_row(*(thing if thing != before else ("", "")), row["situation"],
                      *(f"{row[key]:.2f}" for key in ("p50_us", "p99_us", "max_us")),
                      f"{1e-3 * row['rate_hz']:.0f} kHz")  # fmt: skip
        before = thing
    console.print(table)
    rounds, clock = result["rounds"], result["clock_ns"]
    console.print(f"{result['updates']} updates each, every one the median of {rounds} rounds; {clock:.0f} ns of it "
                  "are the clock's own, and the rate is without them", soft_wrap=True)  # fmt: skip


def avatars_table(console: Console, result: dict[str, Any]) -> None:
    """Times of controllers in us; of whole scenes in real time, and 10 s of them on one core in s."""
    table = Table(title="controllers of avatars, each timed in its tick, in us", title_justify="left")
    for name in ("scene", "controller", "every", "p50", "p99"):
        table.add_column(name, justify="left" if name in ("scene", "controller") else "right", no_wrap=True)
    last = ""
    for row in result["parts"]:
        scene, last = "" if row["scene"] == last else row["scene"], row["scene"]
        table.add_row(scene, row["part"], str(row["every"]), *_us(row, "p50", "p99"))
    console.print(table)
    table = Table(title=f"the same scenes whole, in real time for {result['seconds']:g} s, in us", title_justify="left")
    for name in ("scene", "FIFO", "tick p50", "p99", "late", "10 s on a core"):
        table.add_column(name, justify="left" if name in ("scene", "FIFO") else "right", no_wrap=True)
    for row in result["rows"]:
        table.add_row(row["scene"], "yes" if row["fifo"] else "no", *_us(row, "tick_p50", "tick_p99"),
                      f"{100 * row['late_fraction']:.3f} %", f"{row['core_s']:.2f} s")  # fmt: skip
    console.print(table)
    console.print(f"load {result['machine']['load_1_min']:.2f} on {result['machine']['cores']} cores before the run")
    print_goals(console, result)


def link_table(console: Console, result: dict[str, Any]) -> None:
    """Every network in real time beside plain Python sockets, then in simulated time; times in us."""
    titles = {
        "rows": f"a hand across a link, two processes in real time, {result['seconds']:g} s each, in us",
        "simulated": "the same in simulated time, exact and repeatable, in us",
    }
    for key, title in titles.items():
        rows, timed = result[key], key == "rows"
        table = Table(title=title, title_justify="left")
        table.add_column("network", no_wrap=True)
        for name in (*(("rate Hz", "period p99") if timed else ()), "stale", *(("late",) if timed else ()), "trip p50",
                     "p99", "p99.9", "step N", "work J", "tanks mJ", "backlog"):  # fmt: skip
            table.add_column(name, justify="right", no_wrap=True)
        for row in rows:
            table.add_row(row["network"], *_link_cells(row, timed))
        if timed:
            table.add_section()
            table.add_row("Python echo", *_link_cells(result["python_echo"], timed))
        wide(console).print(table)
        for row in rows:
            if row["outage"]:
                zero, back = row["outage"]["zero_after_ms"], row["outage"]["back_after_ms"]
                console.print(f"{row['network']}: "
                              f"{'the force stayed' if zero is None else f'no force after {zero:.0f} ms'}, "
                              f"{'and none came back' if back is None else f'back {back:.0f} ms after its end'}",
                              soft_wrap=True)  # fmt: skip
            if row["fault"]:
                console.print(f"! {row['network']}: {row['fault']}", soft_wrap=True)
    print_load(console, result, "" if result["fifo_permitted"] else "; SCHED_FIFO is not permitted here")
    print_goals(console, result)


def _link_cells(row: dict[str, Any], timed: bool) -> list[str]:
    """What a row knows; plain sockets touch nothing."""
    cells = [f"{row['rate_hz']:.1f}", f"{row['period_p99_us']:.0f}"] if timed else []
    cells.append(f"{100 * row['stale_fraction']:.2f} %")
    if timed:
        cells.append(f"{100 * row['late_fraction']:.2f} %" if "late_fraction" in row else "-")
    cells += [f"{row[f'round_trip_{p}_us']:.0f}" for p in ("p50", "p99", "p99.9")]
    if "work_J" not in row:
        return [*cells, *4 * "-"]
    tanks = " ".join(f"{1e3 * row['tank_lowest_J'][end]:.3f}" for end in ("hand", "body"))
    return [*cells, f"{row['force_step_N']:.2f}", f"{row['work_J']:+.3f}", tanks, str(row["backlog"])]


def _beside(row: dict[str, Any]) -> tuple[str, str]:
    return "busy" if row["busy"] else "-", "yes" if row["fifo"] else "no"


def _us(row: dict[str, Any], *keys: str) -> list[str]:
    return [f"{row[f'{key}_us']:.1f}" for key in keys]


def wide(console: Console) -> Console:
    """For tables wider than some terminals: broken lines can be read, cut numbers cannot."""
    return Console(file=console.file, width=max(console.width, WIDE), highlight=False)


def print_load(console: Console, result: dict[str, Any], more: str = "") -> None:
    """How busy the machine was, before and after."""
    (before, *_), (after, *_) = result["load"]["before"], result["load"]["after"]
    cores = result["machine"]["cores"]
    console.print(f"load {before:.2f} on {cores} cores before the run, {after:.2f} after it{more}", soft_wrap=True)


def print_goals(console: Console, result: dict[str, Any]) -> None:
    """What was reached, and what was not."""
    for line in result["met"]:
        console.print(f"goal met: {line}", soft_wrap=True)
    for line in result["shortfalls"]:
        console.print(f"below its goal: {line}", soft_wrap=True)


def _times(run: dict[str, Any]) -> tuple[float | None, ...]:
    return (*(run["timing"][key] for key in ("p50_us", "p99_us", "max_us", "mean_us")), run["loop_us"])


def contact_table(console: Console, result: dict[str, Any]) -> None:
    """Times in us per step with how many times faster we are than each engine; then how soft each of them is."""
    times = Table(title="one step of 1 ms, called from Python, us (interleaved)", title_justify="left")
    softness = Table(
        title=f"how they rest: height, deepest penetration, drift in {result['resting_s']:g} s", title_justify="left"
    )
    columns = {
        times: ("contacts", "p50", "p99", "max", "mean", "loop", "residual", "ratio"),
        softness: ("height m", "error mm", "deepest mm", "drift mm", "furthest mm"),
    }
    for table, names in columns.items():
        for name in ("scene", "phase", "engine"):
            table.add_column(name, no_wrap=True)
        for name in names:
            table.add_column(name, justify="right", no_wrap=True)
    for row in result["rows"]:
        scene = f"{row['scene']} {row['points']}" if row["points"] else row["scene"]
        for i, run in enumerate(row["runs"]):
            of = (*((scene, row["phase"]) if i == 0 else ("", "")), f"{run['engine']} {run['setting']}")
            last = i == len(row["runs"]) - 1
            times.add_row(
                *of,
                str(run["contacts"]),
                *("-" if x is None else f"{x:.{1 if x < 1000.0 else 0}f}" for x in _times(run)),
                "-" if run["residual"] is None else f"{run['residual']:.0e}",
                f"{run['times_faster']:.{2 if run['times_faster'] < 10.0 else 0}f}x" if i else "",
                end_section=last,
            )
            softness.add_row(
                *of,
                f"{run['height_m']:.4f}{'' if row['same_height'] else ' !'}",
                *("-" if x is None else f"{1e3 * x:.3f}" for x in
                  (run["error_m"], run["depth_m"], *(run["drift_m"] or (None, None)))),
                end_section=last,
            )  # fmt: skip
    for table in columns:
        wide(console).print(table)
    for row in result["rows"]:
        if not row["same_height"]:
            console.print(f"! {row['scene']} {row['phase']}: the engines rest {1e3 * row['apart_m']:.1f} mm apart, "
                          "so their times may not compare", soft_wrap=True)  # fmt: skip
    for title, seconds in result["ten_seconds_s"].items():
        walls = ", ".join(f"{engine} {value:.3f} s" for engine, value in seconds.items())
        console.print(f"{result['long_steps']} steps of {title}, in each engine's own loop: {walls}", soft_wrap=True)
    if result["call_overhead_us"] is not None:
        console.print(f"a step called from Python: {result['call_overhead_us']:.2f} us beyond one in the compiled loop")
    machine = result["machine"]
    versions = ", ".join(f"{name} {version or 'not installed'}" for name, version in machine["packages"].items())
    console.print(f"load {machine['load_1_min']:.2f} on {machine['cores']} cores before the run; {versions}")
    for missing in result["missing"]:
        console.print(f"not measured: {missing} is not installed")
    print_goals(console, result)
    if result["quick"]:
        console.print("a quick run: it shows that everything runs; its times and heights mean nothing")
