"""The port: the memory through which a tick and one device exchange a reading and a command.

A device that can be reached from compiled code gives two routines (jit/routines.py), both called with the address of a
Block whose first part is a Port: `sample` fills the reading, `send` takes the command.  What follows the Port in the
Block is the device's own.  Any other device runs in a thread of its own, and a mailbox stands in for it.

Everything is in the device's frame: x away from the person, y to their left, z up; [m, s, N, N m].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from palpate.haptics.devices.protocol import DeviceReading
from palpate.haptics.devices.want import Want
from palpate.jit import Block, block_loader
from palpate.jit.routines import Routine
from palpate.model.model import Floats1, Ints1

# parts of Port.reading
POSITION, VELOCITY, QUATERNION, SPIN = slice(0, 3), slice(3, 6), slice(6, 10), slice(10, 13)
# rows of Port.number: the tick's clock and period (given), when the reading was sensed, on the same clock (filled)
NOW_S, DT_S, SAMPLED_S = range(3)
# row of Port.integer: one bit each, bit 0 holds
BUTTONS = 0
# what a routine returns
OK, NOTHING_NEW, SATURATED, LOST = 0, 1, 2, -1


class Port(NamedTuple):
    """One exchange with a device; the device writes reading, SAMPLED_S and BUTTONS, the tick the rest."""

    reading: Floats1  # (13,) POSITION, VELOCITY, QUATERNION (w, x, y, z), SPIN
    command: Floats1  # (6,) TORQUE and FORCE on the hand, a wrench as in protocol.py
    number: Floats1  # NOW_S, DT_S, SAMPLED_S
    integer: Ints1  # BUTTONS


load_port = block_loader((Port, False))


def empty_port(dt_s: float = 1e-3) -> Port:
    """At rest in the middle, unturned, nothing sensed yet."""
    port = Port(np.zeros(13), np.zeros(6), np.array([0.0, dt_s, np.nan]), np.zeros(1, dtype=np.int64))
    port.reading[QUATERNION.start] = 1.0
    return port


def copy_reading(port: Port, out: DeviceReading) -> None:
    """What a port holds, into a caller's reading."""
    out.position_m[:], out.velocity_m_s[:] = port.reading[POSITION], port.reading[VELOCITY]
    out.quaternion[:], out.spin_rad_s[:] = port.reading[QUATERNION], port.reading[SPIN]
    out.buttons, out.sampled_at_s = int(port.integer[BUTTONS]), float(port.number[SAMPLED_S])


@dataclass(frozen=True)
class InTick:
    """How a tick reaches a device without Python; `owner` keeps alive whatever the addresses point into.

    want  what the device says that it wants to do; None: what its buttons say
    """

    port: Port
    block: Block
    sample: Routine
    send: Routine
    owner: Any = None
    want: Want | None = None
