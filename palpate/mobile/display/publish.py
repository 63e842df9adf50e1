"""What frames say of displays, and where the bodies are that show them.

Bodies of a display, in the order of shown.py: robot, mast, person, head, hand; then of each arm turret, links, tip.

f, i  the frame's words as floats and as integers;  k  where the frame begins in them;  at  where its fields lie
"""

import math

from palpate.haptics.devices.port import load_port
from palpate.haptics.devices.simulation import phantom
from palpate.haptics.devices.simulation.simulated import load as load_simulated
from palpate.haptics.reach_tables import load_head
from palpate.jit import kernel
from palpate.jit.routines import routine
from palpate.mobile.display.carry import axes_on_robot, origin_on_robot
from palpate.mobile.display.tables import load_arm, load_display, load_displays
from palpate.mobile.geometry.frames import to_y_up, to_z_up
from palpate.servo.head import put_pose
from palpate.spatial.vectors import add, put_part, rotate, scale, sub

BODIES, ARM_BODIES = 5, 4
MM = 1e3


@kernel
def yawed(angle):
    """A turn about z, as a quaternion."""
    return (math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle))


@kernel
def along(x):
    """A turn of z to a direction, as a quaternion."""
    size = math.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
    w, a, b = size + x[2], -x[1], x[0]
    n = math.sqrt(w * w + a * a + b * b)
    return (w / n, a / n, b / n, 0.0) if n > 1e-12 else (0.0, 1.0, 0.0, 0.0)


@kernel
def put_rod(f, at, a, b):
    """A rod from one place to another, its middle between them."""
    put_pose(f, at, scale(0.5, add(a, b)), along(sub(b, a)))


@kernel
def put_arm(f, at, arm, b, y):
    """Turret, two links and the tip, where they are in truth."""
    R, o = axes_on_robot(b.pose[2]), origin_on_robot(b.pose, y, arm.rp_true)
    if arm.device != 0:
        theta = load_simulated(arm.device)[1].q
    else:
        reading = load_port(load_head(arm.reach)[0].port)[0].position
        theta, _ = phantom.inverse(phantom.L1, phantom.L2, phantom.thesis_axes(reading))
    l1, l2 = phantom.L1, phantom.L2
    c1, s1 = math.cos(theta[0]), math.sin(theta[0])
    shoulder = (0.0, l2, -l1)
    r = l1 * math.cos(theta[1])
    elbow = (s1 * r, l2 + l1 * math.sin(theta[1]), c1 * r - l1)
    tip = phantom.forward(l1, l2, theta)
    S, E = add(o, rotate(R, to_z_up(shoulder))), add(o, rotate(R, to_z_up(elbow)))
    T = add(o, rotate(R, to_z_up(tip)))
    put_pose(f, at, S, yawed(-b.pose[2] + theta[0]))
    put_rod(f, at + 7, S, E)
    put_rod(f, at + 14, E, T)
    put_pose(f, at + 21, T, (1.0, 0.0, 0.0, 0.0))


@kernel
def put_bodies(f, at, d, u, b, l):
    """Of one display."""
    y = d.height + l.y
    turn = yawed(-b.pose[2])
    put_pose(f, at, to_z_up((b.pose[0], 0.0, b.pose[1])), turn)
    put_pose(f, at + 7, to_z_up((b.pose[0], y, b.pose[1])), turn)
    put_pose(f, at + 14, to_z_up((u.x, 0.0, u.z)), yawed(u.g + math.pi))
    put_pose(f, at + 21, d.eye, d.eye_turn)
    put_pose(f, at + 28, to_z_up(u.hand), yawed(u.g + math.pi))
    for n in range(d.arm.shape[0]):
        put_arm(f, at + 7 * (BODIES + ARM_BODIES * n), load_arm(d.arm[n])[0], b, y)


@kernel
def put_numbers(f, i, k, at, n, d, u, body, g, s, b, l):
    """Row n of each field; g the Predictor."""
    i[k + at.mobile_case + n], i[k + at.mobile_active + n] = s.case, s.active
    i[k + at.mobile_warning + n], i[k + at.mobile_lost + n] = s.warning, d.lost
    i[k + at.mobile_frozen + n] = d.holds
    i[k + at.mobile_plans + n], i[k + at.mobile_visuals + n] = s.plans, d.visuals
    i[k + at.mobile_driven + n], i[k + at.mobile_samples + n] = b.updates, body.sampled
    for j, count in enumerate((g.used, g.stale, g.absurd, g.restarts, body.lost)):
        i[k + at.mobile_packets + 5 * n + j] = count
    put_part(f, k + at.mobile_user + 3 * n, (u.x, u.z, u.g))
    put_part(f, k + at.mobile_hand + 3 * n, u.hand)
    put_part(f, k + at.mobile_head + 3 * n, u.head)
    middle = origin_on_robot(b.pose, d.height + l.y, load_arm(d.arm[0])[0].rp_true)
    put_part(f, k + at.mobile_middle + 3 * n, to_y_up(middle))
    put_part(f, k + at.mobile_robot + 3 * n, b.pose)
    put_part(f, k + at.mobile_seen + 3 * n, d.used)
    put_part(f, k + at.mobile_seen_user + 3 * n, s.user)
    put_part(f, k + at.mobile_target + 3 * n, s.target)
    put_part(f, k + at.mobile_way + 3 * n, s.way)
    put_part(f, k + at.mobile_command + 3 * n, b.command)
    f[k + at.mobile_height + n], f[k + at.mobile_distance_m + n] = d.height + l.y, d.distance
    f[k + at.mobile_least_m + n], f[k + at.mobile_off_mm + n] = d.least, MM * d.off
    f[k + at.mobile_off_share + n] = d.off_ticks / max(d.ticks, 1)
    f[k + at.mobile_sigma_mm + n] = MM * d.sigma


@kernel
def put_arm_numbers(f, i, k, at, n, arm):
    i[k + at.mobile_trips + n] = arm.trips
    error = arm.error
    f[k + at.mobile_error_mm + n] = MM * math.sqrt(error[0] ** 2 + error[1] ** 2 + error[2] ** 2)
    f[k + at.mobile_step_mm + n] = MM * arm.step
    f[k + at.mobile_asked_N + n], f[k + at.mobile_given_N + n] = arm.asked_N, arm.given_N


@routine
def publish_displays(address):
    h, r, at = load_displays(address)
    f, i, k = h.frames_f, h.frames, h.frame_at
    row = k + at.pose + 7 * r.first_body
    for n in range(r.display.shape[0]):
        d, _, u, _, body, g, s, b, l = load_display(r.display[n])
        put_numbers(f, i, k, at, n, d, u, body, g, s, b, l)
        put_bodies(f, row, d, u, b, l)
        arms = d.arm.shape[0]
        for j in range(arms):
            put_arm_numbers(f, i, k, at, n * arms + j, load_arm(d.arm[j])[0])
        row += 7 * (BODIES + ARM_BODIES * arms)
    for which in range(r.setting.shape[0]):
        f[k + at.mobile_person + which] = r.setting[which, 0]
    f[k + at.mobile_person] = load_display(r.display[0])[1].way  # a key or a pointer may have taken over
    return 0
