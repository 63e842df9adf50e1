"""`python -m palpate.page.generate` writes web/src/frame.gen.ts from palpate/frame.py; a test fails if it is stale."""

from __future__ import annotations

import json
from pathlib import Path

from palpate import frame
from palpate.page.messages import PROTOCOL

TARGET = Path(__file__).parents[2] / "web" / "src" / "frame.gen.ts"


def typescript() -> str:
    """The text of frame.gen.ts."""
    lines = [
        "// Generated from palpate/frame.py by `python -m palpate.page.generate`. Do not edit.",
        "",
        _constant("COUNTERS", list(frame.COUNTERS)),
        _constant("LATENESS_EDGES_US", list(frame.LATENESS_EDGES_US)),
        _constant("STATES", {"PAUSED": frame.PAUSED, "RUNNING": frame.RUNNING, "FAULT": frame.FAULT}),
        _constant("PROTOCOL", PROTOCOL),
        _constant("CONTACT_MODES", list(frame.CONTACT_MODES)),
        "",
        "/** The fields that this page knows something about: their kind, and how many indices they have. */",
        "export const KNOWN: Record<string, readonly [kind: string, rank: number]> = {",
        *(f"  {f.name}: {json.dumps([f.kind, len(f.shape)])}," for f in frame.FRAME),
        "};",
        "",
        "/** Those that every frame has. */",
        _constant("BASE", [f.name for f in frame.BASE]),
        "",
        "/** One published tick: what every one has, and what a World adds. Arrays are flat, row by row. */",
        "export interface Frame {",
    ]
    for field in frame.FRAME:
        optional = "" if field in frame.BASE else "?"
        lines += [f"  /** {field.about} */", f"  {field.name}{optional}: {_type(field)};"]
    return "\n".join([*lines, "}", ""])


def _constant(name: str, value: object) -> str:
    return f"export const {name} = {json.dumps(value)} as const;"


def _type(field: frame.Field) -> str:
    if not field.shape:
        return "number"
    return "Float64Array" if field.kind == "f" else "number[]"


if __name__ == "__main__":
    TARGET.write_text(typescript(), encoding="utf-8")
    print(f"wrote {TARGET}")
