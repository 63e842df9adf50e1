"""Doors from Python to the kernels of the adapters, and a display in simulated time behind its inboxes."""

from palpate.jit import block_loader, entry
from palpate.mobile.adapters.inbox import Inbox, robot_of, take_pose
from palpate.mobile.adapters.orders import Orders, obey, order
from palpate.mobile.estimate.prediction import Predictor, correct, predict
from palpate.mobile.geometry.chain import Linkage
from palpate.mobile.hardware.base import Drive, drive
from palpate.mobile.planning.planner import Planner, plan, see_user

load_inbox = block_loader((Inbox, False))
load_linkage = block_loader((Linkage, True))
load_base = block_loader((Orders, False), (Drive, False))
load_display = block_loader(
    (Inbox, False), (Inbox, False), (Predictor, False), (Planner, False), (Orders, False), (Drive, False)
)


@entry("intp, intp, float64[:, ::1]")
def take_door(address, k, out):
    """All that an inbox has at tick k: rows of sample tick, x, y, z, phi; the last row's first number is how many."""
    (s,) = load_inbox(address)
    n = 0
    ts = take_pose(s, k)
    while ts >= 0 and n < out.shape[0] - 1:
        out[n, 0], out[n, 1], out[n, 2], out[n, 3], out[n, 4] = ts, s.pose[0], s.pose[1], s.pose[2], s.pose[3]
        n += 1
        ts = take_pose(s, k)
    out[out.shape[0] - 1, 0] = n


@entry("intp, float64[:, ::1], float64[:, ::1]")
def robot_door(address, poses, out):
    """rows (n, 4) of stations; out (n, 4) of their robots."""
    (c,) = load_linkage(address)
    for i in range(poses.shape[0]):
        p = poses[i]
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = robot_of(c, (p[0], p[1], p[2], p[3]))


@entry("intp, intp, float64[::1]")
def order_door(address, k, v):
    """An order of (vx, vz, vphi, phi); k < 0: none.  Then a tick of the simulated base, if there are five numbers."""
    o, b = load_base(address)
    if k >= 0:
        order(o, k, (v[0], v[1], v[2]), v[3])
    if v.shape[0] > 4:
        obey(b, o)
        drive(b, int(v[4]))


@entry("intp, intp, float64[::1]")
def display_door(address, k, out):
    """Tick k of a display whose user stands with a hand at 0.6 m: predict, correct, plan at 50 Hz, order, drive."""
    body, head, f, p, o, b = load_display(address)
    if k > 0:
        predict(f, p.command)
    ts = take_pose(body, k)
    while ts >= 0:
        correct(f, ts, (body.pose[0], body.pose[2], body.pose[3]))
        ts = take_pose(body, k)
    ts = take_pose(head, k)
    while ts >= 0:
        see_user(p, ts, 1e-3, head.pose[0], head.pose[2], head.pose[3])
        ts = take_pose(head, k)
    lost = f.lost == 1 or k - p.seen_at > 300 or o.silent == 1
    if p.heard == 1 and k % 20 == 0:
        plan(p, (f.p_out[0], f.p_out[1], f.p_out[2]), (p.user[0], p.user[1] + 0.6), 0.1, lost)
    order(o, k, p.command, f.p_out[2])
    obey(b, o)
    drive(b, k)
    out[0], out[1], out[2], out[3], out[4], out[5] = f.lost, f.fade, f.last, p.command[0], p.command[1], p.command[2]
    out[6], out[7], out[8] = f.p_out[0], f.p_out[1], f.p_out[2]
