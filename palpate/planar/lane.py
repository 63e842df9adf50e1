"""One lane: a device with its hand, its control, and the bodies that it moves; the servo step of the reference, 1.10.

1 encoders -> X_m, residual               lane_feel
2 f_h, v of the observer
3 f_c; contacts at the body's pose, impulses, f_e
4 wrench -> torques, within limits, held   lane_move
5 observer; bodies, with all that pushes them; the energy audit

The room may be larger than the device's workspace: X_s = o + s X_m in x and y, angles one to one.  What is carried over
is power: what the bodies do to the handle comes back times s, what the hand does to the body is divided by it.  f_c and
f_e are in the room, f_h, f_cmd and torques at the device.

An impulse L of an impact is felt as pulses over k = ceil(s |L| / (T F_max)) samples (3.2), all of it in the end.

The spring of a device whose mechanism is not known may be stretched so far and no farther: beyond that it pulls with
what it has, and no hand presses the body deep into a wall.

A fence, a spring and damper at the border of the nominal workspace, keeps a handle that was let go of inside;
beyond it nothing else pushes outwards.

a  Lane, m  Mechanism, o  Observer, c  Channels, z  Impedance
"""

from __future__ import annotations

import math

from palpate.jit import Struct, Vector, block_loader, kernel, shared
from palpate.jit.routines import call_routine
from palpate.planar.bodies.stages import contact_stage, motion_stage
from palpate.planar.bodies.tables import COUPLING, DRAG, HAND, load_bodies
from palpate.planar.control.channels import FORCE, POSITION, Channels, couple, to_master
from palpate.planar.control.impedance import Impedance, impedance
from palpate.planar.control.observer import Observer, estimate, update
from palpate.planar.fields import LaneAt
from palpate.planar.pantograph.drive import FAULTS as DRIVE_FAULTS
from palpate.planar.pantograph.drive import Drive, act, sense
from palpate.planar.pantograph.mechanism import Mechanism
from palpate.planar.pantograph.plant import HandSpring, Plant
from palpate.spatial.vectors import add, finite3, get3, put3, sub

FAULTS = (
    *DRIVE_FAULTS, "a law of a contact gave what is not a number", "a body's motion is not a number",
    "the device's motion is not a number",
)  # fmt: skip
LAW_FAILED, BODY_LOST, DEVICE_LOST = range(len(DRIVE_FAULTS), len(FAULTS))
ZERO, FOUR = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)


class Lane(Struct):
    """What a lane has beside its parts."""

    bodies: int  # address of their Block
    body: int  # row of the one that the hand moves
    scale: float  # s
    offset: Vector  # o: the device's middle in the room
    drag: Vector  # B_d of that body [N s/m, N s/m, N m s]
    fence: Vector  # half the nominal workspace in x and y [m]; 0: there is no fence
    fence_stiffness: float  # [N/m]
    fence_damping: float  # [N s/m]
    pulse_N: float  # F_max of a pulse, at the device
    pulse_Nm: float
    # another device than the pantograph (port_drive.py): routines that sense and act, and their Block; 0: none
    sense: int
    act: int
    device: int
    turns: int  # whether the device senses an angle: without, the body turns freely
    loose: int  # 1: nobody knows where the device is, so nothing couples
    velocity: Vector  # of a device whose mechanism is not known, by its own word
    stretch: float  # how far it may be from the body, in the room [m], 0: as far as it is
    twist: float  # and turned from it [rad]
    # of this step
    fault: int  # as FAULTS names it
    f_h: Vector  # at the device
    v_m: Vector
    f_c: Vector  # in the room
    f_e: Vector
    f_cmd: Vector  # at the device
    pulse: Vector  # impulse that is still to be felt, in the room [N s, N m s]
    pulse_left: int  # samples in which it will have been


load_lane = block_loader(
    (Lane, False), (Mechanism, True), (Plant, False), (HandSpring, False), (Drive, False), (Observer, False),
    (Channels, False), (Impedance, False), (LaneAt, False),
)  # fmt: skip


@kernel
def times_scale(s, x):
    """A velocity of the device, in the room; a wrench in the room, at the device."""
    return (s * x[0], s * x[1], x[2])


@kernel
def over_scale(s, x):
    """A velocity in the room, at the device; a wrench at the device, in the room."""
    return (x[0] / s, x[1] / s, x[2])


@kernel
def in_room(a, X):
    """A pose of the handle, in the room."""
    return add(a.offset, times_scale(a.scale, X))


@kernel
def nearer(a, X, X_s):
    """A pose in the room, brought as near to the body's as the spring between them may be stretched."""
    if a.stretch <= 0.0:
        return X
    away = sub(X, X_s)
    length = math.sqrt(away[0] * away[0] + away[1] * away[1])
    share = a.stretch / length if length > a.stretch else 1.0
    turn = max(-a.twist, min(a.twist, away[2]))
    return (X_s[0] + share * away[0], X_s[1] + share * away[1], X_s[2] + turn)


@kernel
def next_pulse(a, struck, dt):
    """The wrench, in the room, with which impulses are felt in this sample: what is left, evenly over what is left."""
    if struck[0] != 0.0 or struck[1] != 0.0 or struck[2] != 0.0:
        a.pulse = add(a.pulse, struck)
        p = a.pulse
        force = a.scale * math.sqrt(p[0] * p[0] + p[1] * p[1]) / (dt * a.pulse_N)
        a.pulse_left = max(1, math.ceil(max(force, abs(p[2]) / (dt * a.pulse_Nm))))
    if a.pulse_left <= 0:
        return ZERO
    p, n = a.pulse, a.pulse_left
    felt = (p[0] / n, p[1] / n, p[2] / n)
    a.pulse = sub(p, felt) if n > 1 else ZERO
    a.pulse_left = n - 1
    return (felt[0] / dt, felt[1] / dt, felt[2] / dt)


@kernel
def beyond(x, v, border, k, b):
    """Force of the fence along one axis; it pushes in, never out."""
    over = abs(x) - border
    if border <= 0.0 or over <= 0.0:
        return 0.0
    out = 1.0 if x > 0.0 else -1.0
    return -out * max(0.0, k * over + b * out * v)


@kernel
def fence(a, X, v):
    k, b, border = a.fence_stiffness, a.fence_damping, a.fence
    return (beyond(X[0], v[0], border[0], k, b), beyond(X[1], v[1], border[1], k, b), 0.0)


@kernel
def inwards(a, X, w):
    """A wrench without what pushes the handle further out, where it is beyond the fence."""
    x = 0.0 if a.fence[0] > 0.0 and abs(X[0]) > a.fence[0] and w[0] * X[0] > 0.0 else w[0]
    y = 0.0 if a.fence[1] > 0.0 and abs(X[1]) > a.fence[1] and w[1] * X[1] > 0.0 else w[1]
    return (x, y, w[2])


@kernel
def stop_lane(a, drive, plant, why):
    """No torque, at once; the first fault stays."""
    if a.fault == 0:
        a.fault = why
    drive.wrench, drive.applied, drive.torque, plant.torque = ZERO, ZERO, FOUR, FOUR


@kernel
def sense_device(a, m, drive, plant, o):
    """Pose, estimated force of the hand and velocity, at the device."""
    if a.device == 0:
        sense(m, drive, plant)
    else:
        call_routine(a.sense, a.device)
    if drive.known:
        estimate(o, drive.X)
        a.f_h, a.v_m = o.force, o.velocity
    else:
        a.f_h, a.v_m = ZERO, a.velocity


@shared("int64(intp, float64)")
def lane_feel(address, dt):
    """Steps 1 to 4, up to the wanted wrench; the lane's fault, 0: none."""
    a, m, plant, _, drive, o, c, z, _ = load_lane(address)
    sense_device(a, m, drive, plant, o)
    if drive.fault != 0:
        stop_lane(a, drive, plant, drive.fault)
        return a.fault
    s = a.scale
    _, motion, _, contacts, _, _ = load_bodies(a.bodies)
    X_m, X_s, v_s = in_room(a, drive.X), get3(motion.X, a.body), get3(motion.v, a.body)
    v_m = times_scale(s, a.v_m)
    if not a.turns:
        X_m, v_m = (X_m[0], X_m[1], X_s[2]), (v_m[0], v_m[1], v_s[2])
    a.f_c = ZERO if a.loose else couple(c, nearer(a, X_m, X_s), v_m, X_s, v_s)
    contact_stage(a.bodies, dt)
    if contacts.fault != 0:
        stop_lane(a, drive, plant, LAW_FAILED)
        return a.fault
    a.f_e = add(get3(motion.contact, a.body), next_pulse(a, get3(motion.struck, a.body), dt))
    a.f_cmd = times_scale(s, to_master(c, a.f_c, a.f_e))  # wrench back times s
    border = fence(a, drive.X, a.v_m)
    if c.mode == FORCE and not a.loose:  # nothing else tells the body of it
        a.f_c = over_scale(s, border)
    wrench = impedance(z, m, drive.X, a.v_m, a.f_h, a.f_cmd) if drive.known else a.f_cmd
    drive.wrench = add(inwards(a, drive.X, wrench), border)  # which no shaped inertia makes weaker
    if not finite3(drive.wrench):
        stop_lane(a, drive, plant, BODY_LOST)
    return a.fault


@shared("int64(intp, float64)")
def lane_move(address, dt):
    """The rest of the step, dt further; the lane's fault, 0: none."""
    a, m, plant, hand, drive, o, c, _, _ = load_lane(address)
    if a.device == 0:
        act(m, drive, plant, hand, dt)
    else:
        drive.dt = dt
        call_routine(a.act, a.device)
    if drive.known:
        update(o, m, drive.X, drive.applied, dt)
    _, motion, _, _, _, _ = load_bodies(a.bodies)
    n, b, v_s = motion.X.shape[0], a.drag, get3(motion.v, a.body)
    f_h = ZERO if c.mode == POSITION or a.loose else over_scale(a.scale, a.f_h)
    put3(motion.applied, HAND * n + a.body, f_h)
    put3(motion.applied, COUPLING * n + a.body, a.f_c)
    put3(motion.applied, DRAG * n + a.body, (-b[0] * v_s[0], -b[1] * v_s[1], -b[2] * v_s[2]))
    motion_stage(a.bodies, dt)
    if drive.fault != 0:
        stop_lane(a, drive, plant, drive.fault)
    elif not (finite3(plant.X) and finite3(plant.V)):
        stop_lane(a, drive, plant, DEVICE_LOST)
    elif not (finite3(get3(motion.X, a.body)) and finite3(get3(motion.v, a.body))):
        stop_lane(a, drive, plant, BODY_LOST)
    return a.fault


@shared("int64(intp, float64)")
def lane_step(address, dt):
    """The whole servo step."""
    fault = lane_feel(address, dt)
    return fault if fault != 0 else lane_move(address, dt)
