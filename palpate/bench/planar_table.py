"""Results of `palpate bench planar` as tables for the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from palpate.bench.tables import print_goals

WAYS = {"compiled": "compiled loop", "called": "called from Python", "numpy": "numpy", "pymunk": "pymunk"}


def planar_table(console: Console, result: dict[str, Any]) -> None:
    """Times of a step in us; how many times faster the compiled loop is than that row."""
    table = Table(
        title="planar: one servo step of 2 ms, whole, one block in the enclosure, in us", title_justify="left"
    )
    _columns(table, "hand", "way", "contacts", "p50", "p99", "max", "ratio")
    for row in result["servo"]:
        for way in ("compiled", "numpy"):
            first = way == "compiled"
            table.add_row(
                row["situation"] if first else "", WAYS[way], f"{row['contacts']:.0f}" if first else "",
                *_times(row[way]), "" if first else f"{row['times_faster']:.0f}x", end_section=not first,
            )  # fmt: skip
    console.print(table)
    table = Table(title="bodies and walls alone, one step of 2 ms, in us", title_justify="left")
    _columns(table, "bodies", "way", "contacts", "p50", "p99", "max", "ratio")
    for row in result["bodies"]:
        ours = row["ways"]["compiled"]["p50_us"]
        for way, times in row["ways"].items():
            first = way == "compiled"
            table.add_row(
                row["bodies"] if first else "", WAYS[way], f"{row['contacts']:.1f}" if first else "", *_times(times),
                "" if first else f"{times['p50_us'] / ours:.1f}x", end_section=way == list(row["ways"])[-1],
            )  # fmt: skip
    console.print(table)
    fast, machine = result["real_time"], result["machine"]
    said = [
        f"planar-block at {fast['rate_hz']} Hz for {fast['seconds']:g} s{' with SCHED_FIFO' if fast['fifo'] else ''}: "
        f"ticks begin {fast['p50_us']:.1f} us late (median), {fast['p99_us']:.1f} (99 %), {fast['max_us']:.1f} (most), "
        f"{100 * fast['late_fraction']:.3f} % ended after the next was due",
        "numpy: the same servo step from the reference; walls are half-planes, without level 1 of proximity. "
        "pymunk: hard contacts by 10 sweeps of impulses; no laws, no audit, no device",
        f"{result['steps']} steps, every one the median of {result['rounds']} rounds; load "
        f"{machine['load_1_min']:.2f} on {machine['cores']} cores before the run; "
        f"pymunk {result['pymunk'] or 'not installed'}",
    ]
    for line in said:
        console.print(line, soft_wrap=True)
    print_goals(console, result)
    if result["quick"]:
        console.print("a quick run: it shows that everything runs; its times mean nothing")


def _columns(table: Table, *names: str) -> None:
    for name in names:
        table.add_column(name, justify="left" if name in ("hand", "way", "bodies") else "right", no_wrap=True)


def _times(times: dict[str, float]) -> list[str]:
    return [
        f"{times[key]:.2f}" if times[key] < 100.0 else f"{times[key]:.0f}" for key in ("p50_us", "p99_us", "max_us")
    ]
