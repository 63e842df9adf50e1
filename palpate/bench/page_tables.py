"""Results of `palpate bench page` as tables for the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from palpate.bench.tables import print_goals, print_load, wide


def page_table(console: Console, result: dict[str, Any]) -> None:
    """Frames to pages, hands to the servo and starts; times in ms."""
    for table in (_frames(result), _ways(result)):
        wide(console).print(table)
    for row in result["browser"]:
        console.print(f"{row['scene']} in Chromium, drawn by the processor: {row['drawn_hz']:.1f} pictures and "
                      f"{row['shown_hz']:.1f} frames a second; its clock is known to {row['clock_off_ms']:.2f} ms",
                      soft_wrap=True)  # fmt: skip
    for start in result["starts"]:
        console.print(f"palpate touch {start['scene']}: page after {start['page_s']:.2f} s, first frame after "
                      f"{start['frame_s']:.2f} s", soft_wrap=True)  # fmt: skip
    first = result["first"]
    console.print(f"palpate touch {first['scene']}, its first start: page after {first['page_s']:.2f} s, first frame "
                  f"after {first['frame_s']:.2f} s, {first['compiled']} files compiled", soft_wrap=True)  # fmt: skip
    for missing in result["missing"]:
        console.print(f"not measured: the page in a browser, {missing}", soft_wrap=True)
    print_load(console, result, "" if result["fifo"] else "; SCHED_FIFO is not permitted here")
    print_goals(console, result)


def _frames(result: dict[str, Any]) -> Table:
    table = Table(title=f"frames to pages, {result['seconds']:g} s each: how old they are when they come, in ms",
                  title_justify="left")  # fmt: skip
    table.add_column("scene", no_wrap=True)
    for name in ("kB each", "pages", "p50", "p99", "max", "frames/s", "kB/s", "slow got", "ticks late"):
        table.add_column(name, justify="right", no_wrap=True)
    before = None
    for row in result["frames"]:
        if before not in (None, row["scene"]):
            table.add_section()
        each = [f"{row['frames_hz']:.1f}", f"{1e-3 * row['bytes_s']:.0f}"] if row["pages"] else ["-", "-"]
        scene, before = row["scene"] if row["scene"] != before else "", row["scene"]
        table.add_row(scene, f"{1e-3 * row['frame_bytes']:.1f}", f"{row['pages']}{' + slow' * row['slow']}",
                      *_times(row), *each, str(row["slow_frames"]) if row["slow"] else "-",
                      f"{100 * row['late_fraction']:.3f} %")  # fmt: skip
    return table


def _ways(result: dict[str, Any]) -> Table:
    table = Table(title="hands to the servo and back, in ms", title_justify="left")
    for name in ("who", "way", "p50", "p99", "max", "samples"):
        table.add_column(name, justify="left" if name in ("who", "way") else "right", no_wrap=True)
    groups = [("a page without a browser", result["hand"])]
    groups += [(f"Chromium, {row['scene']}", row["stages"]) for row in result["browser"]]
    groups.append((f"bare WebSocket, {1e-3 * result['frames'][0]['frame_bytes']:.1f} kB", result["peer"]))
    for who, ways in groups:
        for k, (way, times) in enumerate(ways.items()):
            table.add_row("" if k else who, way, *_times(times), str(times["samples"]), end_section=k == len(ways) - 1)
    return table


def _times(row: dict[str, Any]) -> list[str]:
    return ["-" if row[key] is None else f"{row[key]:.2f}" for key in ("p50_ms", "p99_ms", "max_ms")]
