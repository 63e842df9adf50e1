"""Another device than the simulated pantograph as the drive of a lane: through its Port, and through its guard.

The plane is the device's x and y; z is held, where the hand was at first, so that a device with three freedoms is used
as a planar one; it takes at most half of the force, and the rest is left for walls.  Where the hand was at first the
body is: nothing jumps, and any workspace will do.  Turns are those about z; a device that senses none leaves the body
free to turn.

A stick goes on as long as it is pushed, and nobody feels where it has got to: the handle of a device without force
slips, so that it is never farther from the body than their spring may be stretched, and comes back at once.

Where its mechanism is not known there is no observer: the body is coupled by position alone, and the hand feels f_c.

sense   reading -> Drive.X, the velocity by the device's word
act     wanted wrench -> guard -> what is sent, which is Drive.applied
rest    no force: paused, stopped; when force comes back, it does so from nothing

A device that is lost or says what is not a number has no force until a reset, as everywhere (haptics/guard.py); the
body is then loose, and told as not held.

p  PortDrive, g  Guard
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from palpate.frame import DEVICE_PORTS
from palpate.haptics.devices.port import OK, InTick, load_port
from palpate.haptics.devices.protocol import Device
from palpate.haptics.guard import COUNTS, NO_FAULT, WHY, Guard, engage, guard, latch_fault, new_guard
from palpate.haptics.reach_kernels import is_readable
from palpate.jit import Block, Struct, Vector, block_loader, kernel
from palpate.jit.routines import call_routine, routine
from palpate.planar.bodies.tables import load_bodies
from palpate.planar.lane import Lane, in_room, nearer, times_scale
from palpate.planar.pantograph.drive import Drive
from palpate.servo.head import Head
from palpate.spatial.vectors import add, dot, get3, put_part, sub

if TYPE_CHECKING:
    from palpate.haptics.reach import DeviceReport

PLANE_N_M, PLANE_NS_M, PLANE_SHARE = 200.0, 2.0, 0.5  # what holds a device in its plane, of its limit [chosen]
ZERO, NAN3 = (0.0, 0.0, 0.0), (math.nan, math.nan, math.nan)
TURN = 2.0 * math.pi


class PortDrive(Struct):
    """A device's way into a lane."""

    port: int  # addresses: of its Block and its routines
    sample: int
    send: int
    engage: int  # 1: begin anew
    placed: int  # whether a reading has told where the hand is
    height: float  # of its plane, device frame [m]
    lift_N: float  # what holds it there at most; 0: nothing does
    slips: int  # whether the handle is brought back to the body
    turns: int  # whether it senses an angle
    status: int  # of the last exchange
    seen: int  # tick of the last exchange, so that lateness counts once
    before: Vector  # position of the reading before, for the account
    force: Vector  # as sent, device frame
    torque: Vector
    absorbed: float  # by the virtual side at the hand so far [J]
    lowest: float
    age_s: float
    oldest_s: float


load_port_drive = block_loader((Head, False), (PortDrive, False), (Guard, False), (Drive, False), (Lane, False))


@kernel
def twist(q, before):
    """Angle of a quaternion's turn about z, the one next to `before`."""
    angle = 2.0 * math.atan2(q[3], q[0]) if q[0] != 0.0 or q[3] != 0.0 else before
    return angle - TURN * math.floor((angle - before) / TURN + 0.5)


@kernel
def place(p, port, a, drive):
    """Where the reading puts the handle; the first one puts the room around it."""
    x, body = port.position, get3(load_bodies(a.bodies)[1].X, a.body)
    drive.X = (x[0], x[1], twist(port.quaternion, drive.X[2]) if p.turns else 0.0)
    if not p.placed:
        p.placed, p.height, p.before = 1, x[2], x
        a.offset = sub(body, times_scale(a.scale, drive.X))
    if p.slips:
        here = in_room(a, drive.X)
        a.offset = add(a.offset, sub(nearer(a, here, body), here))
    a.velocity = (port.velocity[0], port.velocity[1], port.spin[2] if p.turns else 0.0)
    p.absorbed -= dot(p.force, sub(x, p.before))
    p.lowest, p.before = min(p.lowest, p.absorbed), x


@kernel
def read_port(h, p):
    """Whether there is a reading that makes sense."""
    port = load_port(p.port)[0]
    port.now_s = 1e-9 * h.now_ns
    p.status = call_routine(p.sample, p.port)
    return p.status >= OK and is_readable(port) and not math.isnan(port.sampled_s)


@routine
def sense_port(address):
    """The reading as the lane's measured pose."""
    h, p, g, drive, a = load_port_drive(address)
    if p.engage:
        p.engage, p.placed = 0, 0
        engage(g)
    a.loose, a.velocity = 1, ZERO
    if read_port(h, p) and g.cause == NO_FAULT:
        a.loose = 0
        place(p, load_port(p.port)[0], a, drive)
    return p.status


@kernel
def send_wrench(h, p, g, drive, wanted):
    """Through the guard to the device; what holds it in its plane is no part of what the lane applied."""
    port, dt = load_port(p.port)[0], drive.dt
    readable = is_readable(port)
    velocity, lift = port.velocity if readable else NAN3, 0.0
    if p.placed and readable:
        lift = PLANE_N_M * (p.height - port.position[2]) - PLANE_NS_M * velocity[2]
        lift = max(-p.lift_N, min(p.lift_N, lift))
    late = h.late_s if p.seen != h.tick else 0.0
    p.seen, port.dt = h.tick, dt
    force, torque = guard(
        g, (wanted[0], wanted[1], lift), (0.0, 0.0, wanted[2]), velocity, port.spin, p.status, late, dt
    )
    port.force, port.torque = force, torque
    sent = call_routine(p.send, p.port)
    if sent != p.status and sent != OK:
        latch_fault(g, True, True, sent)
    p.force, p.torque, drive.applied = force, torque, (force[0], force[1], torque[2])
    if not math.isnan(port.sampled_s):
        p.age_s = port.now_s - port.sampled_s
        p.oldest_s = max(p.oldest_s, p.age_s)


@routine
def act_port(address):
    """The wanted wrench, as far as the guard lets it through."""
    h, p, g, drive, a = load_port_drive(address)
    send_wrench(h, p, g, drive, ZERO if a.loose else drive.wrench)
    return p.status


@routine
def rest_port(address):
    """No force, and none at once when it comes back; the hand may go anywhere meanwhile."""
    h, p, g, drive, _ = load_port_drive(address)
    read_port(h, p)
    p.placed = 0
    send_wrench(h, p, g, drive, ZERO)
    if g.cause == NO_FAULT:
        engage(g)
    return p.status


@kernel
def publish_device(f, i, k, at, address):
    """Fields of the device, if there is one."""
    if address == 0:
        f[k + at.device_quaternion] = 1.0
        return
    _, p, g, drive, a = load_port_drive(address)
    port = load_port(p.port)[0]
    here = in_room(a, drive.X)
    i[k + at.device_held], i[k + at.device_state] = a.body if p.placed and not a.loose else 0, g.state
    i[k + at.device_buttons] = port.buttons
    for n in range(len(COUNTS)):
        i[k + at.device_counters + n] = g.counts[n]
    put_part(f, k + at.device_position, (here[0], here[1], 0.0))
    put_part(f, k + at.device_quaternion, (math.cos(0.5 * here[2]), 0.0, 0.0, math.sin(0.5 * here[2])))
    put_part(f, k + at.device_point, (here[0], here[1], 0.0))
    put_part(f, k + at.device_force, p.force)
    put_part(f, k + at.device_torque, p.torque)
    put_part(f, k + at.device_body_force, (a.f_c[0], a.f_c[1], 0.0))
    f[k + at.device_age_s] = p.age_s
    f[k + at.device_energy] = p.absorbed


# ---- from Python


class Attached:
    """A device as the drive of a lane: `block` is what its routines take."""

    def __init__(self, device: Device, in_tick: InTick, head: Head, drive: Drive, lane: Lane) -> None:
        spec = device.spec
        self.spec, self.in_tick, self._lane = spec, in_tick, lane
        self.guard = new_guard(spec)
        self.arrays = PortDrive(
            port=in_tick.block.address, engage=1, seen=-1, turns=spec.senses > 3 or spec.senses_turn,
            lift_N=PLANE_SHARE * spec.force_limit_N if not spec.senses_turn and spec.actuates >= 3 else 0.0,
            slips=spec.actuates == 0,
        )  # fmt: skip
        self.block = Block(head, self.arrays, self.guard, drive, lane)

    def connect(self) -> None:
        """Compile or load the device's routines and ours."""
        self.arrays.sample, self.arrays.send = self.in_tick.sample.address, self.in_tick.send.address
        self._lane.sense, self._lane.act = sense_port.address, act_port.address
        self._lane.device = self.block.address

    def report(self) -> DeviceReport:
        """How it went so far."""
        from palpate.haptics.reach import DeviceReport

        p, nothing = self.arrays, dict.fromkeys(DEVICE_PORTS, 0.0)
        return DeviceReport(
            name=self.spec.name, counts=dict(zip(COUNTS, self.guard.counts.tolist(), strict=True)),
            absorbed_J=nothing | {"hand": p.absorbed}, lowest_J=nothing | {"hand": p.lowest},
            guard_work_J=self.guard.work_J, force_age_s=p.age_s, oldest_force_s=p.oldest_s, weight=self._lane.scale,
            fault=WHY[self.guard.cause],
        )  # fmt: skip
