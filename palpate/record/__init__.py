"""Recordings: MCAP files that hold every frame of a session, and what can be done with them.

    writer.py    frames, hands, events and marks -> file, chunk by chunk
    reader.py    file, finished or crashed -> the same;  scene_file.py  what it says of its scene, checked
    recover.py   crashed file -> proper file
    export.py    file -> CSV, Parquet, joint trajectory, marks;  labels.py  what each number is called
    hands.py     file -> what the hands did, tick by tick (runtime/world/recorded_hands.py plays them)
    views.py     frame -> what other viewers show;  foxglove.py  their schemas;  blanks.py  filling them quickly
    wire.py      frame <-> protobuf message
    output.py    an MCAP file being written;  summary.py  its end;  container.py  the records that these need
    marks.py     how large a mark may be

A file holds, in this order: the scene description (attachment scene.json) and its meshes (mesh/0, ...), the metadata
record "palpate" (format, version, clocks), schemas and channels, chunks, the metadata record "palpate.end" (frames,
lost) and the summary.  A frame is a protobuf message palpate.Frame, whose descriptor is in the file:

    log_time       when the tick began, Unix clock [ns]: the frame's wall_ns + the file's clock_offset_ns
    publish_time   simulated time [ns]
    sequence       the tick's number, modulo 2^32

Chunks of frames hold nothing else; what other topics have to say is in chunks between them.

wall_ns is of the monotonic clock, whose offset to the Unix clock is measured once, when the file is opened, so that a
correction of the Unix clock never makes time jump in a recording.  In a recording made as fast as possible, wall_ns is
simulated time; its clock is called "simulated", its offset is when the file was opened, and all players show it at its
own pace.
"""


class RecordError(ValueError):
    """A recording cannot be written, read or exported; one line that says why and what to do."""
