"""A device with a hand on it, carried by a base, in simulated time: what is commanded and what a sensor measures.

Order of tick k, as in the display (display/tick.py): the device is read; the HIP is where the pose that rendering uses
puts it; the force is commanded; device and hand move on to k + 1, and the sensor reads; then the base moves on, which
feels the hand too, the person's intent, trackers, estimate, planner; and the device is told its ride.

Directions of the thesis: x to the right, y up, z out of the device towards the person.
"""

from __future__ import annotations

import math

from palpate.haptics.devices.port import load_port
from palpate.haptics.devices.simulation.phantom import thesis_axes
from palpate.haptics.devices.simulation.simulated import load as load_simulated
from palpate.haptics.rendering.proxy import update_proxy
from palpate.haptics.rendering.tables import load_proxy
from palpate.haptics.safety import limit_norm
from palpate.jit import Struct, Vector, block_loader, entry, kernel
from palpate.jit.routines import call_routine
from palpate.mobile.display.carry import axes_on_robot, origin_on_robot, push_base, ride
from palpate.mobile.estimate.prediction import Predictor, predict
from palpate.mobile.geometry.frames import to_y_up, to_z_up
from palpate.mobile.hardware.base import Drive, drive
from palpate.mobile.hardware.lift import Lift, lift_step
from palpate.mobile.hardware.sensor import Sensor, sense
from palpate.mobile.hardware.tracker import Station, track
from palpate.mobile.planning.planner import Planner, plan
from palpate.mobile.rates import due
from palpate.mobile.walking.follow_kernels import deliver
from palpate.mobile.walking.users import Walker, step_user
from palpate.model.model import Floats2
from palpate.spatial.vectors import add, add_scaled, cross, get3, length, rotate, rotate_back, scale, sub

COMMANDED, MEASURED = slice(1, 4), slice(4, 7)
COLUMNS = ("time_s", "commanded_x", "commanded_y", "commanded_z", "measured_x", "measured_y", "measured_z",
           "tip_x", "tip_y", "tip_z", "base_x", "base_z", "base_phi", "height_m", "error_m", "off_m")  # fmt: skip
ZERO = (0.0, 0.0, 0.0)


class Trial(Struct):
    """What is tried, and where the hand is."""

    tick_hz: int
    dt: float
    device: int  # Block of a simulated device, and
    sample: int  # its routines
    send: int
    rest: float  # Ry while the lift is in its middle [m]
    height: float  # Ry [m]
    climb: float  # its velocity [m/s]
    rp_true: Vector  # of the device on the robot [m]
    farthest: float  # so far from its middle the device follows the hand [m]
    lead: Vector  # of the hand, device frame [m], written by `ride`
    off: float  # of the hand from the device's middle [m], the same
    # the hand's intent: hold + sum of rows (ax, ay, az, rate, phase), room axes; while it follows, from the walker's
    hold: Vector
    swing: Floats2
    # the base's commands: +-(vx, vz, vphi), reversed every so many ticks; or those of the planner
    speed: Vector
    reverse: int
    follows: int
    usable: float
    head_lost: int  # [ticks]
    # the force
    force: Vector  # constant, device frame [N]
    proxy: int  # address of a Rendering, 0: none
    limit: float  # of the device [N]
    perfect: int  # 1: rendering knows the true pose
    sum_command: Vector  # since the last line of the log


load_trial = block_loader(
    (Trial, False), (Walker, False), (Station, False), (Station, False), (Predictor, False), (Planner, False),
    (Drive, False), (Lift, False), (Sensor, False),
)  # fmt: skip


@kernel
def hip_at(s, pose, v, x, x_rate):
    """(HIP, its velocity), room, z up, of a tip in the device's frame, on a robot with a pose and a velocity."""
    R, origin = axes_on_robot(pose[2]), origin_on_robot(pose, s.height, s.rp_true)
    hip = add(origin, rotate(R, x))
    lever = sub(hip, to_z_up((pose[0], s.height, pose[1])))
    ridden = add(to_z_up((v[0], s.climb, v[1])), cross((0.0, 0.0, -v[2]), lever))
    return hip, add(ridden, rotate(R, x_rate))


@kernel
def command(s, f, b, port):
    """The force of this tick, device frame, within the device's limit; and how far the HIP seems from where it is."""
    truth = hip_at(s, b.pose, b.velocity, port.position, port.velocity)
    pose, hip, v = b.pose, truth[0], truth[1]
    if not s.perfect:
        pose = (f.p_out[0], f.p_out[1], f.p_out[2])
        hip, v = hip_at(s, pose, (f.v_out[0], f.v_out[1], f.v_out[2]), port.position, port.velocity)
    force = s.force
    if s.proxy != 0:
        update_proxy(s.proxy, hip[0], hip[1], hip[2], v[0], v[1], v[2], s.dt)
        felt = load_proxy(s.proxy)[3].force
        force = add(force, rotate_back(axes_on_robot(pose[2]), (felt[0], felt[1], felt[2])))
    return limit_norm(force, s.limit)[0], length(sub(hip, truth[0]))


@kernel
def intent(s, u, t):
    """Where the hand wants to be in the room, y up [m]."""
    x = add(u.hand, s.hold) if s.follows else s.hold
    for j in range(s.swing.shape[0]):
        x = add_scaled(x, math.sin(s.swing[j, 3] * t + s.swing[j, 4]), get3(s.swing, j))
    return x


@kernel
def carry(s, u, head, body, f, p, b, l, k):
    """Base, person, trackers, estimate, planner and lift, from tick k to the next; the device is told."""
    if not s.follows:  # the first way is half as long: to and fro about where it stands
        turns = (k + s.reverse // 2) // s.reverse
        b.command, b.commanded_at = scale(1.0 if turns % 2 == 0 else -1.0, s.speed), k
    b.force = ZERO
    push_base(s, b, s.height)
    drive(b, k)
    n = k + 1
    step_user(u, n, b.pose[0], b.pose[1])
    track(head, n, u.head[0], u.head[1], u.head[2], u.g)
    track(body, n, b.pose[0], 0.0, b.pose[1], b.pose[2])
    predict(f, b.command)
    deliver(n, head, body, f, p, s.dt)
    robot, x = (f.p_out[0], f.p_out[1], f.p_out[2]), load_port(s.device)[0].position
    seen = to_y_up(hip_at(s, robot, ZERO, x, ZERO)[0])
    if s.follows and p.heard == 1 and due(n, p.rate_hz, s.tick_hz):
        plan(p, robot, (seen[0], seen[2]), length(x), f.lost == 1 or n - p.seen_at > s.head_lost)
        b.command, b.commanded_at = p.command, n
    lift_step(l, n, seen[1], f.lost == 0)
    s.height, s.climb = s.rest + l.y, l.velocity
    ride(s, b, s.height, l.acceleration, intent(s, u, n * s.dt), s.dt)


@kernel
def write_row(row, s, m, b, k, force, error, tip):
    row[0] = (k + 1) * s.dt
    asked, felt, at = thesis_axes(force), thesis_axes(m.force), thesis_axes(tip)
    for i in range(3):
        row[1 + i], row[4 + i], row[7 + i], row[10 + i] = asked[i], felt[i], at[i], b.pose[i]
    row[13], row[14], row[15] = s.height, error, s.off


@entry("intp, float64[:, ::1], float64[:, ::1]")
def trial_entry(address, trace, log):
    """A row of COLUMNS for each tick; a line of the log (time, commanded, measured: means) for each of the sensor's."""
    s, u, head, body, f, p, b, l, m = load_trial(address)
    port = load_port(s.device)[0]
    motion = load_simulated(s.device)[1]
    port.dt = s.dt
    step_user(u, 0, b.pose[0], b.pose[1])
    s.lead = rotate_back(axes_on_robot(b.pose[2]), sub(to_z_up(intent(s, u, 0.0)),
                                                       origin_on_robot(b.pose, s.height, s.rp_true)))  # fmt: skip
    ride(s, b, s.height, 0.0, intent(s, u, 0.0), s.dt)
    for k in range(trace.shape[0]):
        port.now_s = k * s.dt
        call_routine(s.sample, s.device)
        port.force, error = command(s, f, b, port)
        s.sum_command = add(s.sum_command, port.force)
        call_routine(s.send, s.device)
        summed = m.summed + 1
        if sense(m, motion.grip, ZERO) and m.logged <= log.shape[0]:
            line, asked, felt = log[m.logged - 1], thesis_axes(s.sum_command), thesis_axes(m.mean_force)
            line[0] = (k + 1) * s.dt
            for i in range(3):
                line[1 + i], line[4 + i] = asked[i] / summed, felt[i]
            s.sum_command = ZERO
        write_row(trace[k], s, m, b, k, port.force, error, motion.tip)
        carry(s, u, head, body, f, p, b, l, k)
