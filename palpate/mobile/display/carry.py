"""Arms on a base: where rendering takes a device to be, what its ride does to it, what it does to the base.

The device's frame (x away from the person, y to their left, z up) stands on the robot turned by pi - phi about z, its
origin at R + x_R RPx + y_R RPy + z_R RPz (reference 2.2), R = (Rx, Ry, Rz) the robot's frame.

a ReachArrays, b Drive, d Display, l Lift;  pose (x, z, phi);  y the height of the robot's frame
"""

import math

from palpate.haptics.devices.port import load_port
from palpate.haptics.devices.simulation.simulated import load as load_simulated
from palpate.haptics.rendering.tables import load_proxy
from palpate.jit import kernel
from palpate.mobile.geometry.frames import to_y_up, to_z_up
from palpate.mobile.rates import clip
from palpate.spatial.vectors import add, cross, length, put3, put9, rotate, rotate_back, scale, sub


@kernel
def axes_on_robot(phi):
    """Device to room, z up, row-major."""
    c, s = math.cos(phi), math.sin(phi)
    return (-c, -s, 0.0,
            s, -c, 0.0,
            0.0, 0.0, 1.0)  # fmt: skip


@kernel
def origin_on_robot(pose, y, rp):
    """Of a device, z up [m]."""
    c, s = math.cos(pose[2]), math.sin(pose[2])
    return to_z_up((pose[0] - c * rp[0] - s * rp[1], y + rp[2], pose[1] - s * rp[0] + c * rp[1]))


@kernel
def place_reach(a, pose, y, rp, velocity, climb):
    """The frame that a reach is in, and how it moves: base (vx, vz, vphi), lift [m/s]."""
    origin, turn = origin_on_robot(pose, y, rp), 0.5 * (math.pi - pose[2])
    put9(a.frame, 0, axes_on_robot(pose[2]))
    put3(a.frame_origin, 0, origin)
    a.frame_turn[0], a.frame_turn[3] = math.cos(turn), math.sin(turn)
    a.frame_spin = (0.0, 0.0, -velocity[2])
    lever = sub(origin, to_z_up((pose[0], y, pose[1])))
    a.frame_velocity = add(to_z_up((velocity[0], climb, velocity[1])), cross(a.frame_spin, lever))


@kernel
def ride(arm, b, y, climbing, hand, dt):
    """Tell a simulated device how it is carried, and its hand where it is led: hand (x, y, z) in the room, y up."""
    _, motion, _, _, _, carried = load_simulated(arm.device)
    R, origin = axes_on_robot(b.pose[2]), origin_on_robot(b.pose, y, arm.rp_true)
    lever = rotate_back(R, sub(origin, to_z_up((b.pose[0], y, b.pose[1]))))
    spin, rate = -b.velocity[2], -b.acceleration[2]
    a = rotate_back(R, to_z_up((b.acceleration[0], climbing, b.acceleration[1])))
    turning = (-rate * lever[1] - spin * spin * lever[0], rate * lever[0] - spin * spin * lever[1], 0.0)
    carried.moves, carried.acceleration = 1, add(a, turning)
    carried.spin, carried.spin_rate = spin, rate
    x = rotate_back(R, sub(to_z_up(hand), origin))
    arm.off = length(x)
    lead = x if arm.off <= arm.farthest else scale(arm.farthest / arm.off, x)
    carried.leads, carried.lead, carried.lead_s = 1, lead, motion.time_s
    carried.lead_velocity = scale(1.0 / dt, sub(lead, arm.lead))
    arm.lead = lead


@kernel
def push_base(arm, b, y):
    """What the hand does to the base through the device: its force and its moment about phi (2.6)."""
    motion = load_simulated(arm.device)[1]
    R, origin = axes_on_robot(b.pose[2]), origin_on_robot(b.pose, y, arm.rp_true)
    F, hip = to_y_up(rotate(R, scale(-1.0, motion.grip))), to_y_up(add(origin, rotate(R, motion.tip)))
    moment = -(hip[2] - b.pose[1]) * F[0] + (hip[0] - b.pose[0]) * F[2]
    b.force = add(b.force, (F[0], F[2], moment))


@kernel
def measure_hip(arm, a, b, y):
    """How far the HIP seems to be from where it is; the reading and the frame that it was taken in are of this tick."""
    before = arm.error
    if arm.device != 0:
        seen = load_simulated(arm.device)[1].seen
        true = add(origin_on_robot(b.pose, y, arm.rp_true), rotate(axes_on_robot(b.pose[2]), seen))
        arm.error = sub(a.aim, true)
        arm.given_N = length(load_simulated(arm.device)[1].grip)
    else:
        arm.off = length(load_port(a.port)[0].position)
        arm.given_N = length(a.sent)
    arm.step = length(sub(arm.error, before)) if arm.seen > 0 else 0.0
    arm.asked_N = length(a.felt)


@kernel
def protect(arm, a, fade):
    """What the device does by itself: no force while the HIP seems to leap; and force fades where the pose is lost.

    Mobile display, 1.4 and acceptance 25.
    """
    leaps = length(sub(a.aim, arm.aim)) > arm.trip_m or length(sub(a.sent, arm.sent)) > arm.trip_N
    if arm.seen > 1 and leaps:
        arm.trips += arm.ramp > 0.0
        arm.ramp = 0.0
    else:
        arm.ramp = min(arm.ramp + arm.ramp_step, 1.0)
    arm.aim, arm.sent = a.aim, a.sent
    arm.seen += 1
    a.share = min(arm.ramp, fade)


@kernel
def fade_texture(a, gain):
    """Textures need a pose that is sure (5.3)."""
    if a.proxy != 0:
        load_proxy(a.proxy)[3].texture_gain = gain


@kernel
def use_pose(d, f, in_contact, idle):
    """The pose that rendering uses: while a standing robot's hand is in contact, the one it began with (5.2).

    It follows the predicted one at a distance of freeze at most, and goes back to it slowly when contact ends.
    """
    p = (f.p_out[0], f.p_out[1], f.p_out[2])
    d.holds = 1 if in_contact and idle else 0
    if d.holds:
        d.offset = sub(d.used, p)
        far = math.hypot(d.offset[0], d.offset[1]) > d.freeze_m or abs(d.offset[2]) > d.freeze_rad
    if not d.holds or far:
        o, m, r = d.offset, d.rate_m_s * d.dt, d.rate_rad_s * d.dt
        d.offset = (o[0] - clip(o[0], m), o[1] - clip(o[1], m), o[2] - clip(o[2], r))
    d.used = add(p, d.offset)
