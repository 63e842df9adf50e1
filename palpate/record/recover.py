"""Crashed file -> proper file.  The crashed one stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from palpate.record import RecordError
from palpate.record.reader import Recording
from palpate.record.writer import FrameWriter

Progress = Callable[[float], None]  # told how much is done, 0 to 1


class RecoverReport(NamedTuple):
    """What was saved."""

    frames: int
    seconds: float  # from the first to the last of them
    lost_bytes: int  # of the crashed file, that could not be used
    path: Path  # the proper file; the given one if there was nothing to repair


def recover(path: str | Path, out: str | Path | None = None, progress: Progress | None = None) -> RecoverReport:
    """Save what is whole of a recording into a proper file: `out`, or name.recovered.mcap beside it.

    A recording that is sound is left alone if no `out` is given.  A chunk that is damaged inside is left out.
    """
    with Recording(path) as crashed:
        if out is None and crashed.finished and _is_sound(crashed):
            return RecoverReport(crashed.count, crashed.duration_s, 0, crashed.path)
        lost_bytes = crashed.file_bytes - crashed.whole_bytes
        writer = FrameWriter(
            crashed.path.with_suffix(".recovered.mcap") if out is None else out,
            crashed.hello,
            clock=crashed.metadata.get("clock", "monotonic"),
            clock_offset_ns=int(crashed.metadata.get("clock_offset_ns", 0)),
        )
        try:
            for number in range(crashed.n_chunks):
                try:
                    frames = crashed.decode(number)
                except RecordError:
                    lost_bytes += crashed.chunk_bytes(number)
                else:
                    writer.add(*frames)
                    writer.flush()
                if progress:
                    progress((number + 1) / crashed.n_chunks)
            lost = {} if crashed.lost is None else {"lost": crashed.lost}
            writer.close(recovered_from=crashed.path.name, damaged_bytes=lost_bytes, **lost)
        except BaseException:
            writer.discard()
            raise
        return RecoverReport(writer.frames, writer.seconds, lost_bytes, writer.path)


def _is_sound(recording: Recording) -> bool:
    try:
        for number in range(recording.n_chunks):
            recording.chunk(number)
    except RecordError:
        return False
    return True
