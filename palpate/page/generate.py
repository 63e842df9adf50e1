"""`python -m palpate.page.generate` writes web/src/frame.gen.ts from palpate/frame.py; a test fails if it is stale."""

from __future__ import annotations

import json
from pathlib import Path

from palpate import frame
from palpate.page.messages import EVENT_KINDS

TARGET = Path(__file__).parents[2] / "web" / "src" / "frame.gen.ts"


def typescript() -> str:
    """The text of frame.gen.ts."""
    lines = [
        "// Generated from palpate/frame.py by `python -m palpate.page.generate`. Do not edit.",
        "",
        _constant("COUNTERS", list(frame.COUNTERS)),
        _constant("LATENESS_EDGES_US", list(frame.LATENESS_EDGES_US)),
        _constant("STATES", {"PAUSED": frame.PAUSED, "RUNNING": frame.RUNNING, "FAULT": frame.FAULT}),
        _constant("EVENT_KINDS", list(EVENT_KINDS)),
        _constant("CONTACT_MODES", list(frame.CONTACT_MODES)),
        "",
        "/** One field of a message: all int64 fields come first, then all float64 fields, each in this order. */",
        "export interface Field {",
        '  readonly name: keyof Frame;\n  readonly kind: "i" | "f";\n  readonly shape: readonly (number | string)[];',
        "}",
        "",
        "export const FRAME_FIELDS: readonly Field[] = [",
        *(f"  {json.dumps({'name': f.name, 'kind': f.kind, 'shape': list(f.shape)})}," for f in frame.FRAME),
        "];",
        "",
        "/** One published tick. Arrays are flat, row by row. */",
        "export interface Frame {",
    ]
    for field in frame.FRAME:
        lines += [f"  /** {field.about} */", f"  {field.name}: {_type(field)};"]
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
