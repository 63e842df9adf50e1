"""One tick of the displays, after their devices had theirs: what is true is measured, base and person go on to the next
tick, are tracked, the pose is predicted, the planner plans where it is due, and the arms are carried there.

A device's reading, its force and the frame they were rendered in are of one tick; the base then moves, and what it does
to the arm is known before the arm moves.  Rates as in reference 1.1; the haptic rate is the World's.

d Display, p Person, u Walker, f Predictor, s Planner, b Drive, l Lift
"""

import math

from palpate.haptics.devices.port import load_port
from palpate.haptics.reach_tables import load_head
from palpate.jit import kernel, shared
from palpate.jit.routines import routine
from palpate.mobile.adapters.inbox import robot_of, take_pose
from palpate.mobile.adapters.orders import order
from palpate.mobile.display.carry import (
    fade_texture,
    measure_hip,
    origin_on_robot,
    place_reach,
    protect,
    push_base,
    ride,
    use_pose,
)
from palpate.mobile.display.person import from_trunk_axes, in_trunk_axes, step_person
from palpate.mobile.display.settings import set_again
from palpate.mobile.display.tables import (
    load_arm,
    load_body_inbox,
    load_display,
    load_displays,
    load_head_inbox,
    load_orders,
)
from palpate.mobile.estimate.prediction import correct, predict
from palpate.mobile.estimate.survey import load_marks, put_right
from palpate.mobile.geometry.frames import to_y_up, to_z_up
from palpate.mobile.hardware.base import drive
from palpate.mobile.hardware.lift import lift_step
from palpate.mobile.hardware.tracker import take, track
from palpate.mobile.planning.others import forget_others, note_other
from palpate.mobile.planning.planner import plan, see_user
from palpate.mobile.rates import due
from palpate.mobile.walking.follow_kernels import deliver_head
from palpate.servo.kept import restore_kept
from palpate.spatial.vectors import add, add_scaled, dot, length, scale

TILT_RAD = 0.35  # of the gaze, down
COS_TILT, SIN_TILT = math.cos(0.5 * TILT_RAD), math.sin(0.5 * TILT_RAD)


@kernel
def look(d, u, f, b, l):
    """What is true at the beginning of this tick; no force where the HIP leaps or the pose is lost."""
    d.distance = math.hypot(b.pose[0] - u.x, b.pose[1] - u.z)
    d.least, d.off = min(d.least, d.distance), 0.0
    for n in range(d.arm.shape[0]):
        arm = load_arm(d.arm[n])[0]
        a = load_head(arm.reach)[0]
        measure_hip(arm, a, b, d.height + l.y)
        protect(arm, a, 0.0 if d.silent else f.fade)
        d.off = max(d.off, arm.off)
    d.off_ticks += d.off > d.usable
    d.ticks += 1


@kernel
def go_on(d, p, u, b, l, k):
    """Base, lift and person, from tick k to the next."""
    b.force, middle = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for n in range(d.arm.shape[0]):
        arm = load_arm(d.arm[n])[0]
        if arm.device != 0:
            push_base(arm, b, d.height + l.y)
        origin = origin_on_robot(b.pose, d.height + l.y, arm.rp_true)
        middle = add_scaled(middle, 1.0 / d.arm.shape[0], to_y_up(origin))
    if d.body_inbox == 0:
        drive(b, k)
    if d.head_inbox == 0:
        step_person(p, u, k + 1, b.pose, middle, d.usable)
        if load_arm(d.arm[0])[0].device == 0:  # a device that is given is where their hand is
            u.hand, _ = hands_seen(d)


@kernel
def gaze(g):
    """Of a person who faces g and looks down at the hand, x ahead, z up: a turn about z, then the tilt about y."""
    c, s = math.cos(0.5 * (g + math.pi)), math.sin(0.5 * (g + math.pi))
    return (c * COS_TILT, -s * SIN_TILT, c * SIN_TILT, s * COS_TILT)


@kernel
def hands_seen(d):
    """(x, y, z) between the hands as the devices tell it, and how far the farther is from its device's middle."""
    middle, off, n = (0.0, 0.0, 0.0), 0.0, d.arm.shape[0]
    for i in range(n):
        a = load_head(load_arm(d.arm[i])[0].reach)[0]
        middle = add(middle, scale(1.0 / n, to_y_up(a.aim)))
        off = max(off, length(load_port(a.port)[0].position))
    return middle, off


@kernel
def hear_head(d, u, s, k):
    """Poses of a real head; where it is seen is all that is known of the person."""
    (box,) = load_head_inbox(d.head_inbox)
    ts = take_pose(box, k)
    while ts >= 0:
        x, y, z, g = box.pose
        see_user(s, ts, d.dt, x, z, g)
        u.x, u.z, u.g, u.head = s.user[0], s.user[1], g, (x, y, z)
        ts = take_pose(box, k)
    hand, _ = hands_seen(d)
    u.hand = hand


@kernel
def surveyed(d, pose):
    """A robot's pose as it was read, without what a survey of the floor found to be wrong."""
    return put_right(load_marks(d.marks)[0], pose) if d.marks != 0 else pose


@kernel
def deliver_body(d, body, f, k):
    """Packets of the robot's tracker that have arrived by tick k, to the estimate."""
    ts = take(body, k)
    while ts >= 0:
        correct(f, ts, surveyed(d, (body.pose[0], body.pose[2], body.pose[3])))
        ts = take(body, k)


@kernel
def hear_body(d, f, b, k):
    """Poses of a real robot; where it is predicted is all that is known of it."""
    box, chain = load_body_inbox(d.body_inbox)
    ts = take_pose(box, k)
    while ts >= 0:
        x, _, z, phi = robot_of(chain, box.pose)
        correct(f, ts, surveyed(d, (x, z, phi)))
        ts = take_pose(box, k)
    b.pose, b.velocity = (f.p_out[0], f.p_out[1], f.p_out[2]), (f.v_out[0], f.v_out[1], f.v_out[2])


@kernel
def sense(d, u, head, body, f, s, b, k):
    """Trackers and the estimate, at tick k."""
    if d.head_inbox == 0:
        track(head, k, u.head[0], u.head[1], u.head[2], u.g)
    if d.body_inbox == 0:
        track(body, k, b.pose[0], 0.0, b.pose[1], b.pose[2] - d.psi)
    predict(f, b.command)
    if d.head_inbox != 0:
        hear_head(d, u, s, k)
    else:
        deliver_head(k, head, s, d.dt)
    if d.body_inbox != 0:
        hear_body(d, f, b, k)
    else:
        deliver_body(d, body, f, k)
    d.sigma = math.sqrt(max(f.P[0, 0], f.P[1, 0]))
    if f.heard == f.now or f.now - f.heard > f.coast:
        d.settled = d.sigma
    d.texture = min(max(d.texture + (-d.texture_step if d.settled > d.texture_m else d.texture_step), 0.0), 1.0)
    d.lost = 1 if f.lost or d.silent or s.heard == 0 or k - s.seen_at > d.silence else 0
    if due(k, d.visual_hz, d.tick_hz):  # what the head-mounted view gets
        d.eye, d.eye_turn = to_z_up(u.head), gaze(u.g)
        d.visuals += 1


@kernel
def decide(d, f, s, b, l, k):
    """The planner's turn, and the lift's; a base that is not seen is told to stand."""
    hand, off = hands_seen(d)
    if s.heard == 1 and due(k, s.rate_hz, d.tick_hz):
        plan(s, (d.used[0], d.used[1], d.used[2]), (hand[0], hand[2]), off, d.lost == 1)
        b.command, b.commanded_at = s.command, k
    if d.lost:
        b.command = (0.0, 0.0, 0.0)
    if d.orders != 0:
        (o,) = load_orders(d.orders)
        order(o, k, b.command, d.used[2])
        d.silent = o.silent
    lift_step(l, k, hand[1], d.lost == 0)


@kernel
def touches(d):
    for n in range(d.arm.shape[0]):
        force = load_head(load_arm(d.arm[n])[0].reach)[0].bodies_force
        if dot(force, force) > 0.0:
            return True
    return False


@kernel
def carry_on(d, u, f, s, b, l):
    """Where the arms are at the next tick: as rendering believes, and in truth."""
    idle = s.command[0] == 0.0 and s.command[1] == 0.0 and s.command[2] == 0.0
    use_pose(d, f, touches(d), idle)
    v = (0.0, 0.0, 0.0) if d.holds else (f.v_out[0], f.v_out[1], f.v_out[2])
    y, hand = d.height + l.y, in_trunk_axes(u, u.hand)
    for n in range(d.arm.shape[0]):
        arm = load_arm(d.arm[n])[0]
        a = load_head(arm.reach)[0]
        place_reach(a, d.used, y, arm.rp, v, l.velocity)
        fade_texture(a, d.texture)
        if arm.device != 0:
            ride(arm, b, y, l.acceleration, from_trunk_axes(u, add(hand, arm.beside)), d.dt)


@kernel
def tell(r, n):
    """The planner of display n where the other people and robots are, as they are seen."""
    s = load_display(r.display[n])[6]
    forget_others(s)
    for k in range(r.display.shape[0]):
        if k != n:
            d, _, _, _, _, _, other, _, _ = load_display(r.display[k])
            note_other(s, other, d.used[0], d.used[1])


@shared("void(intp, intp)")
def move_display(address, k):
    """What is true now, and then the next tick's."""
    d, p, u, head, body, f, s, b, l = load_display(address)
    look(d, u, f, b, l)
    go_on(d, p, u, b, l, k)
    sense(d, u, head, body, f, s, b, k + 1)


@shared("void(intp, intp)")
def lead_display(address, k):
    """What is decided, and where the arms are then."""
    d, _, u, _, _, f, s, b, l = load_display(address)
    decide(d, f, s, b, l, k + 1)
    carry_on(d, u, f, s, b, l)


@routine
def tick_displays(address):
    h, r, _ = load_displays(address)
    if not h.moving:
        return 0
    for n in range(r.display.shape[0]):
        move_display(r.display[n], h.tick)
    for n in range(r.display.shape[0]):
        tell(r, n)
        lead_display(r.display[n], h.tick)
    return 0


@routine
def reset_displays(address):
    """All as it was at the start, and the arms where they are then; settings stay."""
    h, r, _ = load_displays(address)
    restore_kept(r.kept)
    set_again(r, h.tick)
    for n in range(r.display.shape[0]):
        d, _, u, _, _, f, s, b, l = load_display(r.display[n])
        carry_on(d, u, f, s, b, l)
        carry_on(d, u, f, s, b, l)  # a second time: the hand is there, and led nowhere
    return 0
