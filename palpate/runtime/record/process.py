"""The recorder of a session: its process, from the first frame to the last."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from palpate.record.marks import check_mark
from palpate.runtime.children import Child, ChildError

if TYPE_CHECKING:
    from palpate.runtime.session import Session

PATIENCE_S, LAST_S = 15.0, 30.0  # for its start, and for writing what is left


def start_recorder(session: Session, path: Path, fifo: bool) -> Child:
    """The process, when it records; a ChildError says why it cannot."""
    rings = session.simulation.ring_fds()
    orders = rings | {"path": str(path), "hello": session.hello(), "meshes": session.mesh_files(), "fifo": fifo}
    recorder = Child("recorder", orders, list(rings.values()))
    try:
        recorder.answer("recording", PATIENCE_S)
    except ChildError:
        recorder.end()
        raise
    return recorder


def finish_recorder(recorder: Child, path: Path | None) -> str:
    """Let it write what is left, and end it; what to say of it, or a ChildError."""
    recorder.ask_to_end()
    try:
        done = recorder.answer("done", LAST_S)
        return f"recorded {done['frames']} frames, {done['lost']} lost, in {path}"
    finally:
        recorder.end()


def why_it_ended(recorder: Child) -> str:
    """Of a recorder that ended by itself."""
    try:
        recorder.answer("done", 1.0)
        return "it was asked to"
    except ChildError as error:
        return str(error)
    finally:
        recorder.end()


def tell_mark(recorder: Child, text: str, data: Any, arrived_ns: int | None = None) -> None:
    """A marker into the file: at the moment when it arrived [ns of the monotonic clock], or now."""
    now_ns = time.monotonic_ns()
    check_mark(text, data)
    wall_ns = now_ns if arrived_ns is None else min(arrived_ns, now_ns)
    recorder.tell({"mark": {"text": text, "data": data, "wall_ns": wall_ns}})
