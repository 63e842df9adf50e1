"""Playback: a recorded hand as a device, the same every time.

Between two rows the position goes straight and the orientation turns about one axis (slerp); the buttons are those of
the row before.  After the last row its pose is held with no button pressed, or all begins again.

A recording is a table with a header, one row per sample:  time_s,x,y,z,qw,qx,qy,qz,buttons  in the device's frame
[s, m]; buttons one bit each, bit 0 holds.  The four columns of the orientation may be missing, and so may buttons.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from palpate.haptics.devices.port import LOST, NOTHING_NEW, OK, InTick, Port, empty_port
from palpate.haptics.devices.protocol import DeviceSpec
from palpate.haptics.devices.simulation.stepped import SteppedDevice
from palpate.haptics.hand import row_before
from palpate.jit import Block, Struct, block_loader, kernel
from palpate.jit.routines import routine
from palpate.model.model import Floats1, Floats2, Ints1
from palpate.spatial.quaternions import quaternion_exp, quaternion_product, rotation_between
from palpate.spatial.vectors import add_scaled, get3, get4, scale, sub
from palpate.whole_files import written_whole

POSE = ("x", "y", "z")
TURN = ("qw", "qx", "qy", "qz")
COLUMNS = ("time_s", *POSE, *TURN, "buttons")


# ---- recordings


class HandRecording:
    """What a hand did: time_s (n,), position_m (n, 3), quaternion (n, 4), buttons (n,); read-only, device frame."""

    def __init__(
        self, time_s: ArrayLike, position_m: ArrayLike, quaternion: ArrayLike | None = None,
        buttons: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        """Times must increase [s]; quaternions (w, x, y, z) are normalised, None: unturned; None: no button pressed."""
        n = np.size(time_s)
        parts = {
            "time_s": (time_s, (n,)),
            "position_m": (position_m if n else np.zeros((0, 3)), (n, 3)),
            "quaternion": (np.tile((1.0, 0.0, 0.0, 0.0), (n, 1)) if quaternion is None else quaternion, (n, 4)),
            "buttons": (np.zeros(n) if buttons is None else buttons, (n,)),
        }
        arrays = {}
        for name, (given, shape) in parts.items():
            arrays[name] = np.array(given, dtype=np.float64)
            if arrays[name].shape != shape:
                raise ValueError(
                    f"a recording: {name} has shape {arrays[name].shape}, for {n} times it must be {shape}"
                )
        table = np.column_stack(list(arrays.values()))
        if wrong := _first_fault(table):
            raise ValueError(f"a recording: row {wrong[0]}: {wrong[1]}")
        self.time_s, self.position_m = arrays["time_s"], arrays["position_m"]
        self.quaternion = arrays["quaternion"] / np.linalg.norm(arrays["quaternion"], axis=1, keepdims=True)
        self.buttons = arrays["buttons"].astype(np.int64)
        for array in (self.time_s, self.position_m, self.quaternion, self.buttons):
            array.setflags(write=False)


def _first_fault(table: np.ndarray) -> tuple[int, str] | None:
    """(row, what is wrong) of a table (n, 9) of COLUMNS."""
    b = table[:, 8]
    faults = {
        "every number must be finite": ~np.isfinite(table).all(axis=1),
        "time_s does not increase": np.diff(table[:, 0], prepend=-np.inf) <= 0.0,
        "a quaternion of length zero": np.linalg.norm(table[:, 4:8], axis=1) < 1e-6,
        "buttons are bits, a whole number from 0": (b < 0.0) | (b >= 2.0**31) | (b != np.floor(b)),
    }
    rows = [(int(np.argmax(bad)), text) for text, bad in faults.items() if bad.any()]
    return min(rows) if rows else None


def read_recording(path: str | Path) -> HandRecording:
    """A recording from a CSV file; a mistake in it is a ValueError with its line."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            lines = [(i, [x.strip() for x in row]) for i, row in enumerate(csv.reader(file), start=1) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ValueError(f"the recording {str(path)!r} cannot be read: {reason}") from None
    _, header = lines[0] if lines else (1, [])
    known = set(header) <= set(COLUMNS) and len(set(header)) == len(header)
    if not known or not {"time_s", *POSE} <= set(header) or len(set(header) & set(TURN)) not in (0, 4):
        raise ValueError(f"{path} line 1: the header must be {','.join(COLUMNS)} (without q* or buttons, too), "
                         f"got {','.join(header)!r}")  # fmt: skip
    table = np.zeros((len(lines) - 1, len(COLUMNS)))
    table[:, COLUMNS.index("qw")] = 1.0
    places = [COLUMNS.index(name) for name in header]
    for k, (line, row) in enumerate(lines[1:]):
        if len(row) != len(header):
            raise ValueError(f"{path} line {line}: {len(row)} values, the header has {len(header)}")
        for place, text in zip(places, row, strict=True):
            try:
                table[k, place] = float(text)
            except ValueError:
                raise ValueError(f"{path} line {line}: {COLUMNS[place]} is {text!r}, not a number") from None
    if wrong := _first_fault(table):
        raise ValueError(f"{path} line {lines[1 + wrong[0]][0]}: {wrong[1]}")
    return HandRecording(table[:, 0], table[:, 1:4], table[:, 4:8], table[:, 8])


def write_recording(path: str | Path, recording: HandRecording) -> None:
    """As a CSV file that `read_recording` reads back to the last bit, but for the length of quaternions."""
    with written_whole(path) as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for t, p, q, b in zip(
            recording.time_s, recording.position_m, recording.quaternion, recording.buttons, strict=True
        ):
            writer.writerow([repr(float(x)) for x in (t, *p, *q)] + [int(b)])


# ---- playing, in compiled code


class Tape(NamedTuple):
    """A recording, its time from zero, read-only."""

    time: Floats1  # (n,)
    position: Floats2  # (n, 3)
    quaternion: Floats2  # (n, 4)
    buttons: Ints1  # (n,)


class Player(Struct):
    time_s: float  # of the recording
    speed: float  # how much of it passes in a second
    loop: int
    is_open: int


load = block_loader((Port, False), (Player, False), (Tape, True))


@kernel
def pose_at(tape, t, speed):
    """x [m], x' [m/s], quaternion, spin [rad/s], buttons at time t of the tape, played at a speed."""
    last = tape.time.shape[0] - 1
    still = (0.0, 0.0, 0.0)
    if t >= tape.time[last]:
        return get3(tape.position, last), still, get4(tape.quaternion, last), still, 0
    i = row_before(tape.time, t)
    seconds = tape.time[i + 1] - tape.time[i]
    u = (t - tape.time[i]) / seconds
    x, way = get3(tape.position, i), sub(get3(tape.position, i + 1), get3(tape.position, i))
    q, r = get4(tape.quaternion, i), get4(tape.quaternion, i + 1)
    turn = rotation_between(q, r)  # device axes
    now = quaternion_product(quaternion_exp(u * turn[0], u * turn[1], u * turn[2]), q)
    rate = speed / seconds
    return add_scaled(x, u, way), scale(rate, way), now, scale(rate, turn), tape.buttons[i]


@routine
def sample(address):
    """The pose at the player's time; NOTHING_NEW without a recording."""
    port, player, tape = load(address)
    if not player.is_open:
        return LOST
    if tape.time.shape[0] == 0:
        return NOTHING_NEW
    port.position, port.velocity, port.quaternion, port.spin, port.buttons = pose_at(tape, player.time_s, player.speed)
    port.sampled_s = port.now_s
    return OK


@routine
def send(address):
    """Play on for `dt`; the recorded hand feels no force."""
    port, player, tape = load(address)
    if not player.is_open:
        return LOST
    if port.dt > 0.0:
        t = player.time_s + player.speed * port.dt
        last = tape.time.shape[0] - 1
        if player.loop and last > 0 and t >= tape.time[last]:
            t %= tape.time[last]
        player.time_s = t
    return OK


class Playback(SteppedDevice):
    """A recorded hand: from a CSV file, from arrays, or, without either, one that senses nothing.

    Time passes in `advance` or in the tick's `send`.  Forces are taken and dropped: a recording does not give way.
    """

    def __init__(
        self, recording: HandRecording | str | Path | None = None, *, loop: bool = False, speed: float = 1.0
    ) -> None:
        if recording is None:
            recording = HandRecording((), ())
        self.recording = recording if isinstance(recording, HandRecording) else read_recording(recording)
        self.spec = DeviceSpec("playback", force_limit_N=60.0, force_rise_N_s=2000.0, senses=6, actuates=0)
        time = self.recording.time_s - self.recording.time_s[:1].sum()  # of the first row, if there is one
        time.setflags(write=False)
        self._state = self._player = Player(speed=1.0, loop=loop)
        self.speed = speed
        tape = Tape(time, self.recording.position_m, self.recording.quaternion, self.recording.buttons)
        port = empty_port()
        self.in_tick = InTick(port, Block(port, self._player, tape), sample, send, owner=(self, tape))
        self.duration_s = float(time[-1]) if len(time) else 0.0

    @property
    def speed(self) -> float:
        """Seconds of the recording per second; 0 pauses."""
        return self._player.speed

    @speed.setter
    def speed(self, speed: float) -> None:
        if not 0.0 <= speed < np.inf:
            raise ValueError(f"the speed of a playback is zero or more, got {speed}")
        self._player.speed = speed

    def seek(self, time_s: float) -> None:
        """Go to a time from the first row [s]; beyond the end is at the end."""
        if not 0.0 <= time_s < np.inf:
            raise ValueError(f"a recording begins at 0 s, cannot go to {time_s} s")
        self._player.time_s = min(time_s, self.duration_s)
