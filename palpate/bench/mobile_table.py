"""Results of `palpate bench mobile` as tables for the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from palpate.bench.avatars import STORY_S
from palpate.bench.tables import print_goals


def mobile_table(console: Console, result: dict[str, Any]) -> None:
    """Ticks of whole scenes in us, and how many times faster than real time they are on one core."""
    table = Table(
        title=f"mobile displays with everything, in real time for {result['seconds']:g} s, in us", title_justify="left"
    )
    for name in ("scene", "FIFO", "tick p50", "p99", "late", "x real time"):
        table.add_column(name, justify="left" if name in ("scene", "FIFO") else "right", no_wrap=True)
    for row in result["rows"]:
        table.add_row(
            row["scene"], "yes" if row["fifo"] else "no", f"{row['tick_p50_us']:.1f}", f"{row['tick_p99_us']:.1f}",
            f"{100 * row['late_fraction']:.3f} %", f"{STORY_S / row['core_s']:.0f}",
        )  # fmt: skip
    console.print(table)
    proxy, walks, ours = result["proxy"], result["walks"], result["proxy"]["compiled_us"]
    table = Table(title="the proxy on a ball of 1280 triangles, one update, in us", title_justify="left")
    for name in ("way", "us", "ratio"):
        table.add_column(name, justify="left" if name == "way" else "right", no_wrap=True)
    for way, key in (("compiled", "compiled_us"), ("called from Python", "called_us"), ("numpy", "numpy_us")):
        table.add_row(way, f"{proxy[key]:.2f}", f"{proxy[key] / ours:.1f}x")
    console.print(table)
    for line in (
        f"walks without a device: {walks['times']:.0f} times real time on one core ({walks['walks']} of "
        f"{walks['seconds']:g} s)",
        f"numpy: the reference's algorithm, every triangle asked; forces differ by {proxy['apart_N']:.3f} N (median)",
        f"load {result['machine']['load_1_min']:.2f} on {result['machine']['cores']} cores before the run",
    ):
        console.print(line, soft_wrap=True)
    print_goals(console, result)
    if result["quick"]:
        console.print("a quick run: it shows that everything runs; its times mean nothing")
