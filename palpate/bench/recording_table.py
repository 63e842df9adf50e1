"""Results of `palpate bench record` as a table for the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from palpate.bench.tables import print_goals, print_load, wide


def record_table(console: Console, result: dict[str, Any]) -> None:
    """Recordings, what kill -9 cost them, and how fast they could be written."""
    for table in (_recordings(result), _kills(result)):
        wide(console).print(table)
    for row in result["rows"]:
        most, rate_hz = row["frames_per_s"], row["rate_hz"]
        console.print(f"{row['scene']}: at most {most['recorder']:.0f} frames in a second of a core "
                      f"({most['recorder'] / rate_hz:.1f} times its rate); raw bytes {most['raw']:.0f}, "
                      f"the mcap package {most['mcap']:.0f}", soft_wrap=True)  # fmt: skip
        for note in row["notes"]:
            console.print(f"! {row['scene']}: {note}", soft_wrap=True)
    print_load(console, result, f"; files in {result['folder']}")
    print_goals(console, result)


def _recordings(result: dict[str, Any]) -> Table:
    table = Table(title=f"recordings, {result['seconds']:g} s each", title_justify="left")
    table.add_column("scene", no_wrap=True)
    for name in ("contacts", "published", "written", "lost", "kB each", "MB/s", "file MB/s", "recorder", "ticks late"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in result["rows"]:
        table.add_row(
            row["scene"], *(str(row[key]) for key in ("contacts", "published", "written", "lost")),
            f"{1e-3 * row['frame_bytes']:.1f}", f"{row['frames_MB_s']:.1f}", f"{row['file_MB_s']:.1f}",
            f"{100 * row['recorder_cpu']:.0f} %", f"{100 * row['late_fraction']:.3f} %",
        )  # fmt: skip
    return table


def _kills(result: dict[str, Any]) -> Table:
    table = Table(title="kill -9 of recorders at random moments: what was lost, in ms", title_justify="left")
    table.add_column("scene", no_wrap=True)
    for name in ("killed", "median", "most", "torn bytes"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in result["rows"]:
        lost_ms = sorted(1e3 * kill["lost_s"] for kill in row["killed"])
        table.add_row(
            row["scene"], str(len(lost_ms)), f"{lost_ms[len(lost_ms) // 2]:.0f}", f"{lost_ms[-1]:.0f}",
            str(max(kill["lost_bytes"] for kill in row["killed"])),
        )  # fmt: skip
    return table
