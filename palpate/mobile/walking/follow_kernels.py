"""The closed loop of person, trackers, estimate, planner and base, in simulated time.  Mobile display, 4.9.

Order of tick k (rates of 1.1): the person moves; trackers sample, send, deliver; the estimate is predicted and
corrected; the planner plans, where it is due; what is true is measured and written; the base moves on to k + 1.
The tool is held: the device measures the hand in robot axes, so a wrong base pose puts the hand wrong as well.
"""

from __future__ import annotations

import math

from palpate.jit import block_loader, entry, kernel
from palpate.mobile.estimate.prediction import Predictor, correct, predict
from palpate.mobile.hardware.base import Drive, drive
from palpate.mobile.hardware.tracker import Station, take, track
from palpate.mobile.planning.hands import from_robot_axes, in_robot_axes
from palpate.mobile.planning.planner import Planner, plan, see_user
from palpate.mobile.rates import due
from palpate.mobile.walking.measures import Loop, measure, measure_plan
from palpate.mobile.walking.users import Walker, step_user

COLUMNS = (
    "time_s", "user_x", "user_z", "user_g", "hand_x", "hand_y", "hand_z", "robot_x", "robot_z", "robot_phi",
    "seen_robot_x", "seen_robot_z", "seen_robot_phi", "seen_user_x", "seen_user_z", "command_x", "command_z",
    "command_phi", "target_x", "target_z", "way_x", "way_z", "distance_m", "offset_m", "case", "active", "warning",
    "lost",
)  # fmt: skip


load_follow = block_loader(
    (Loop, False), (Walker, False), (Station, False), (Station, False), (Predictor, False), (Planner, False),
    (Drive, False),
)  # fmt: skip


@kernel
def write_row(row, m, u, f, p, b, d, off_centre):
    row[0], row[1], row[2], row[3] = m.tick / m.tick_hz, u.x, u.z, u.g
    row[4], row[5], row[6] = u.hand
    row[7], row[8], row[9] = b.pose
    row[10], row[11], row[12] = f.p_out[0], f.p_out[1], f.p_out[2]
    row[13], row[14] = p.user[0], p.user[1]
    row[15], row[16], row[17] = b.command
    row[18], row[19], row[20], row[21] = p.target[0], p.target[1], p.way[0], p.way[1]
    row[22], row[23], row[24], row[25] = d, off_centre, float(p.case), float(p.active)
    row[26], row[27] = float(p.warning), float(f.lost)


@kernel
def deliver_head(k, head, p, dt):
    """Packets of the head that have arrived by tick k, to the planner."""
    ts = take(head, k)
    while ts >= 0:
        see_user(p, ts, dt, head.pose[0], head.pose[2], head.pose[3])
        ts = take(head, k)


@kernel
def deliver(k, head, body, f, p, dt):
    """Packets that have arrived by tick k, to whom they are for."""
    ts = take(body, k)
    while ts >= 0:
        correct(f, ts, (body.pose[0], body.pose[2], body.pose[3]))
        ts = take(body, k)
    deliver_head(k, head, p, dt)


@kernel
def plan_now(m, f, p, b, k, ahead, aside, off_centre):
    """The planner's turn: what it sees is the estimate, and the hand from it."""
    robot = (f.p_out[0], f.p_out[1], f.p_out[2])
    lost = f.lost == 1 or p.heard == 0 or k - p.seen_at > m.head_lost
    plan(p, robot, from_robot_axes(robot, ahead, aside), off_centre, lost)
    b.command, b.commanded_at = p.command, k
    measure_plan(m, p, k, lost)


@kernel
def tick_display(m, u, head, body, f, p, b):
    """Tick m.tick of one display; (distance to the user, offset of the hand) at it, before the base moves on."""
    k, dt = m.tick, 1.0 / m.tick_hz
    step_user(u, k, b.pose[0], b.pose[1])
    track(head, k, u.head[0], u.head[1], u.head[2], u.g)
    track(body, k, b.pose[0], 0.0, b.pose[1], b.pose[2])
    if k > 0:
        predict(f, b.command)
    deliver(k, head, body, f, p, dt)
    ahead, aside = in_robot_axes(b.pose, u.hand[0], u.hand[2])
    high = u.hand[1] - m.hand_height
    off_centre = math.sqrt((ahead - m.ahead) ** 2 + aside * aside + high * high)
    if p.heard == 1 and due(k, p.rate_hz, m.tick_hz):
        plan_now(m, f, p, b, k, ahead, aside, off_centre)
    return measure(m, u, b, k, off_centre), off_centre


@entry("intp, intp, intp, float64[:, ::1]")
def follow_entry(address, ticks, every, history):
    """So many ticks; a row of COLUMNS every so many of them, while there is room in history."""
    m, u, head, body, f, p, b = load_follow(address)
    for _ in range(ticks):
        d, off_centre = tick_display(m, u, head, body, f, p, b)
        if every > 0 and m.tick % every == 0 and m.rows < history.shape[0]:
            write_row(history[m.rows], m, u, f, p, b, d, off_centre)
            m.rows += 1
        drive(b, m.tick)
        m.tick += 1
