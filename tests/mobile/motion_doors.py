"""Doors from Python to kernels of planner, base, tracker and prediction."""

from palpate.jit import block_loader, entry
from palpate.mobile.estimate.prediction import Predictor, correct, predict
from palpate.mobile.hardware.base import Drive, drive, velocity_of, wheel_speeds
from palpate.mobile.hardware.tracker import Station, bias_at, take, track
from palpate.mobile.planning.barrier import barrier
from palpate.mobile.planning.planner import Planner, plan, see_user
from palpate.mobile.planning.room import clearance
from palpate.mobile.planning.target import bearing_of_hand, facing, waypoint
from palpate.mobile.planning.velocity import improved_velocity, thesis_velocity, turning
from palpate.mobile.rates import due, wrap
from palpate.mobile.walking.users import Walker, step_user

load_planner = block_loader((Planner, False))
load_drive = block_loader((Drive, False))
load_station = block_loader((Station, False))
load_predictor = block_loader((Predictor, False))
load_walker = block_loader((Walker, False))


@entry("float64[:, ::1], float64[::1], float64[:, ::1]")
def waypoint_door(rows, setup, out):
    """rows (n, 8): robot, user, hand, last bearing, last side; setup d1, r_c, pi1; out x, z, case, side, phi*."""
    for i in range(rows.shape[0]):
        r = rows[i]
        robot, user = (r[0], r[1]), (r[2], r[3])
        beta = bearing_of_hand(user, (r[4], r[5]), r[6])
        (x, z), case, side = waypoint(robot, user, beta, setup[0], setup[1], setup[2], r[7])
        out[i, 0], out[i, 1], out[i, 2], out[i, 3], out[i, 4] = x, z, float(case), side, facing(robot, user)


@entry("float64[:, ::1], float64[::1], float64[:, ::1]")
def velocity_door(rows, setup, out):
    """rows (n, 6): e, target velocity, phi*, phi; setup vmax, stop, slow, gain, k, wmax, dead.

    out (n, 5): thesis, improved, turn.
    """
    for i in range(rows.shape[0]):
        r = rows[i]
        out[i, 0], out[i, 1] = thesis_velocity(r[0], r[1], setup[0], setup[1], setup[2])
        out[i, 2], out[i, 3] = improved_velocity(r[0], r[1], (r[2], r[3]), setup[0], setup[3], setup[1])
        out[i, 4] = turning(r[4], r[5], setup[4], setup[5], setup[6])


@entry("float64[:, ::1], float64[::1], float64[:, ::1]")
def barrier_door(rows, setup, out):
    """rows (n, 7): v, robot, user, approach; setup keep, gain, vmax, brake; out v, of a base that goes at v."""
    for i in range(rows.shape[0]):
        r = rows[i]
        v = (r[0], r[1])
        out[i, 0], out[i, 1] = barrier(
            v[0], v[1], (r[2], r[3]), (r[4], r[5]), r[6], setup[0], setup[1], setup[2], v, setup[3]
        )


@entry("float64[:, ::1], float64, float64, float64[:, ::1]")
def wheels_door(rows, rho, radius, out):
    """rows (n, 4): v, phi; out wheel speeds, and the velocity back from them."""
    for i in range(rows.shape[0]):
        r = rows[i]
        w = wheel_speeds((r[0], r[1], r[2]), r[3], rho, radius)
        out[i, 0], out[i, 1], out[i, 2] = w
        out[i, 3], out[i, 4], out[i, 5] = velocity_of(w, r[3], rho, radius)


@entry("intp, float64[:, ::1], float64[:, ::1]")
def drive_door(address, commands, out):
    """A row of commands a tick: vx, vz, vphi, 1 if given; out pose and velocity."""
    (b,) = load_drive(address)
    for k in range(out.shape[0]):
        c = commands[k]
        if c[3] > 0.0:
            b.command, b.commanded_at = (c[0], c[1], c[2]), k
        drive(b, k)
        out[k, 0], out[k, 1], out[k, 2] = b.pose
        out[k, 3], out[k, 4], out[k, 5] = b.velocity


@entry("intp, intp, float64[:, ::1], float64[:, ::1]")
def track_door(address, begin, poses, out):
    """A station led along poses (n, 4), a tick each from `begin` on.

    out (m, 6): arrival and sample tick, pose; row 0: how many.
    """
    (s,) = load_station(address)
    n = 0
    for i in range(poses.shape[0]):
        k = begin + i
        track(s, k, poses[i, 0], poses[i, 1], poses[i, 2], poses[i, 3])
        ts = take(s, k)
        while ts >= 0:
            n += 1
            out[n, 0], out[n, 1] = float(k), float(ts)
            out[n, 2], out[n, 3], out[n, 4], out[n, 5] = s.pose
            ts = take(s, k)
    out[0, 0] = float(n)


@entry("intp, float64[:, ::1], float64[:, ::1]")
def bias_door(address, points, out):
    (s,) = load_station(address)
    for i in range(points.shape[0]):
        out[i, 0], out[i, 1], out[i, 2] = bias_at(s, points[i, 0], points[i, 1], points[i, 2])


@entry("intp, float64[::1], float64[:, ::1], float64[:, ::1]")
def predict_door(address, command, packets, out):
    """Packets (m, 5): arrival, sample tick, pose, in order of arrival; out (n, 9): p_out, v_out, fade, lost, last."""
    (s,) = load_predictor(address)
    at = 0
    for k in range(out.shape[0]):
        predict(s, (command[0], command[1], command[2]))
        while at < packets.shape[0] and packets[at, 0] <= s.now:
            correct(s, int(packets[at, 1]), (packets[at, 2], packets[at, 3], packets[at, 4]))
            at += 1
        for i in range(3):
            out[k, i], out[k, 3 + i] = s.p_out[i], s.v_out[i]
        out[k, 6], out[k, 7], out[k, 8] = s.fade, float(s.lost), float(s.last)


@entry("intp, float64[::1], float64[:, ::1]")
def user_door(address, robot, out):
    """A person beside a robot that stands; out (n, 9): x, z, g, hand, head."""
    (u,) = load_walker(address)
    for k in range(out.shape[0]):
        step_user(u, k, robot[0], robot[1])
        out[k, 0], out[k, 1], out[k, 2] = u.x, u.z, u.g
        for i in range(3):
            out[k, 3 + i], out[k, 6 + i] = u.hand[i], u.head[i]


@entry("intp, float64[:, ::1], float64, float64[:, ::1]")
def see_door(address, heads, h, out):
    """Head poses (n, 3), h apart; out (n, 4): trunk and its velocity."""
    (s,) = load_planner(address)
    for k in range(heads.shape[0]):
        see_user(s, k, h, heads[k, 0], heads[k, 1], heads[k, 2])
        out[k, 0], out[k, 1], out[k, 2], out[k, 3] = s.user[0], s.user[1], s.user_v[0], s.user_v[1]


@entry("intp, float64[:, ::1], float64[:, ::1]")
def plan_door(address, rows, out):
    """rows (n, 6): robot, hand, lost; an ideal robot is the caller's.  out (n, 6): command, case, active, clearance."""
    (s,) = load_planner(address)
    for k in range(rows.shape[0]):
        r = rows[k]
        robot = (r[0], r[1], r[2])
        plan(s, robot, (r[3], r[4]), 1.0, r[5] > 0.0)
        out[k, 0], out[k, 1], out[k, 2] = s.command
        out[k, 3], out[k, 4], out[k, 5] = float(s.case), float(s.active), clearance(s, r[0], r[1])


@entry("int64[::1], intp, float64[::1], float64[::1]")
def rates_door(counts, ticks, angles, wrapped):
    """counts (n, ): rates in, events in so many ticks of 1 kHz out; angles wrapped."""
    for i in range(counts.shape[0]):
        n, rate = 0, counts[i]
        for k in range(ticks):
            if due(k, rate, 1000):
                n += 1
        counts[i] = n
    for i in range(angles.shape[0]):
        wrapped[i] = wrap(angles[i])
