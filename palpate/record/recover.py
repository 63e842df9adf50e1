"""Crashed file -> proper file, with all its topics.  The crashed one stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from palpate.record import RecordError
from palpate.record.output import Output
from palpate.record.reader import Recording
from palpate.record.writer import END

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
        found, chunks = crashed.contents, range(len(crashed.contents.chunk_at))
        if out is None and crashed.finished and _is_sound(crashed):
            return RecoverReport(crashed.count, crashed.duration_s, 0, crashed.path)
        lost_bytes = crashed.file_bytes - crashed.whole_bytes
        saved = Output(crashed.path.with_suffix(".recovered.mcap") if out is None else out,
                       str(crashed.hello.get("palpate", "")))  # fmt: skip
        frames, first_ns, last_ns = 0, 0, 0
        try:
            for attachment in found.attachments.values():
                saved.add_attachment(attachment)
            for name, metadata in found.metadata.items():
                if name != END:
                    saved.add_metadata(name, metadata)
            for channel in found.channels.values():
                saved.add_channel(channel, found.schemas.get(channel.schema_id))
            for place in chunks:
                try:
                    data, messages = crashed.unpacked(place)
                    log_ns = crashed.decoded(data, messages).log_ns
                except RecordError:
                    lost_bytes += found.chunk_length[place]
                    continue
                if indexes := messages.indexes():
                    saved.add_chunk(data, indexes)
                if len(log_ns):
                    first_ns = min(first_ns, int(log_ns.min())) if frames else int(log_ns.min())
                    last_ns, frames = max(last_ns, int(log_ns.max())), frames + len(log_ns)
                if progress:
                    progress((place + 1) / len(chunks))
            lost = {} if crashed.lost is None else {"lost": crashed.lost}
            saved.end(END, {"frames": frames, "recovered_from": crashed.path.name, "damaged_bytes": lost_bytes} | lost)
        except OSError as error:  # a full disk
            saved.discard()
            raise RecordError(f"{saved.path} cannot be written: {error.strerror or error}") from None
        except BaseException:
            saved.discard()
            raise
        return RecoverReport(frames, (last_ns - first_ns) / 1e9, lost_bytes, saved.path)


def _is_sound(recording: Recording) -> bool:
    """Whether all of a finished file can be read, and its indexes say what is in it."""
    try:
        for place in range(len(recording.contents.chunk_at)):
            recording.unpacked(place)
        for number in range(recording.n_chunks):
            recording.chunk(number)
    except RecordError:
        return False
    return True
