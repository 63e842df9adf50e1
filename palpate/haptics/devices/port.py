"""The port: the memory through which a tick and one device exchange a reading and a command.

A device that can be reached from compiled code gives two routines (jit/routines.py), both called with the address of a
Block whose first part is a Port: `sample` fills the reading, `send` takes the command.  What follows the Port in the
Block is the device's own.  Any other device runs in a thread of its own, and a mailbox stands in for it.

Everything is in the device's frame: x away from the person, y to their left, z up; [m, s, N, N m].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from palpate.haptics.devices.protocol import FORCE, TORQUE, DeviceReading
from palpate.haptics.devices.want import Want
from palpate.jit import Block, Quaternion, Struct, Vector, block_loader
from palpate.jit.routines import Routine

# what a routine returns
OK, NOTHING_NEW, SATURATED, LOST = 0, 1, 2, -1


class Port(Struct):
    """One exchange with a device."""

    # from the tick
    now_s: float  # its clock
    dt: float  # its period [s]
    torque: Vector  # on the hand, as in protocol.py
    force: Vector
    anew: int  # 1 after a reset: a device that can leave its fault without danger does, and puts it back to 0
    # the reading, from the device
    position: Vector
    velocity: Vector
    quaternion: Quaternion
    spin: Vector
    buttons: int  # one bit each, bit 0 holds
    sampled_s: float  # when it was sensed, on the tick's clock


load_port = block_loader((Port, False))


def empty_port(dt_s: float = 1e-3) -> Port:
    """At rest in the middle, unturned, nothing sensed yet."""
    return Port(dt=dt_s, quaternion=(1.0, 0.0, 0.0, 0.0), sampled_s=np.nan)


def copy_reading(port: Port, out: DeviceReading) -> None:
    """What a port holds, into a caller's reading."""
    out.position_m[:], out.velocity_m_s[:] = port.position, port.velocity
    out.quaternion[:], out.spin_rad_s[:] = port.quaternion, port.spin
    out.buttons, out.sampled_at_s = port.buttons, port.sampled_s


def put_wrench(port: Port, wrench: np.ndarray) -> None:
    """A command (6,) as `write` takes it."""
    port.torque, port.force = wrench[TORQUE].tolist(), wrench[FORCE].tolist()


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
