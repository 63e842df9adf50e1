"""Postures, blended: from where the joints should be now to others in a given time, on the manifold, for all kinds.

    q_d(t) = q_from (+) r(t),  r quintic in each velocity's direction: r(0) = 0, r(T) = q_to (-) q_from, at rest there,
    r'(0), r''(0) as the target moved before: another posture may be asked for on the way, and nothing jumps
    chain      v = r'
    spherical  w = r' - b r x r' + c r x (r x r'), child axes: the right Jacobian of SO(3); about one axis just r'
    free       stays: nothing drives it

At T, and after, q_d is q_to bit by bit and v is zero.  In a tick, for the World's implicit PD (world/joints.py):

    m, b = load_blend(address)
    begin_blend(m, b, T)                                     once, with b.q_to written before
    step_blend(m, b, dt); put_q(b, s.q_hold); put_v(b, s.v_hold)                           put_*: task_kernels.py

b  Blend;  m  model of the tree (tree.py)
"""

from __future__ import annotations

from palpate.control.plans.course import spin_of
from palpate.control.prioritised.task_kernels import put_q, put_v
from palpate.dynamics.coordinates import bad_coordinate, difference, integrate
from palpate.jit import Struct, block_loader, entry, kernel
from palpate.model.model import FREE, SPHERICAL, Floats1, ModelArrays
from palpate.spatial.vectors import part3, put_part, scale


class Blend(Struct):
    """nq coordinates and nv velocities of a tree."""

    seconds: float  # T; 0: there is nothing to do
    since_s: float
    q_begin: int  # among the World's
    v_begin: int
    q: Floats1  # (nq,) q_d, and
    v_tree: Floats1  # (nv,) its velocity, and
    a: Floats1  # (nv,) acceleration
    q_from: Floats1  # (nq,)
    q_to: Floats1  # (nq,)
    way: Floats1  # (nv,) q_to (-) q_from
    v_from: Floats1  # (nv,)
    a_from: Floats1  # (nv,)
    r: Floats1  # (nv,) scratch


load_blend = block_loader((ModelArrays, True), (Blend, False))


@kernel
def begin_blend(m, b, seconds):
    """From q_d, moving as it does, to q_to in so many seconds; 0: at once."""
    for n in range(b.q.shape[0]):
        b.q_from[n] = b.q[n]
    for j in range(b.v_tree.shape[0]):
        b.v_from[j], b.a_from[j] = b.v_tree[j], b.a[j]
    difference(m, b.q_from, b.q_to, b.way)
    for i in range(1, m.parent.shape[0]):
        if m.kind[i] == FREE:
            for n in range(7):
                b.q_to[m.q_begin[i] + n] = b.q_from[m.q_begin[i] + n]
            for r in range(6):
                b.way[m.axis_v[m.axis_begin[i]] + r] = 0.0
    b.seconds, b.since_s = seconds, 0.0
    if seconds <= 0.0:
        end_blend(b)


@kernel
def end_blend(b):
    """There, exactly."""
    for n in range(b.q.shape[0]):
        b.q[n] = b.q_to[n]
    for j in range(b.v_tree.shape[0]):
        b.v_tree[j], b.a[j] = 0.0, 0.0
    b.seconds = 0.0


@kernel
def quintic(D, v0, a0, T, t):
    """(r, r', r'') from 0 with v0, a0 to D at rest, u = t/T (quintic.py)."""
    u, v, a = t / T, T * v0, T * T * a0
    c3, c4, c5 = 10.0 * D - 6.0 * v - 1.5 * a, -15.0 * D + 8.0 * v + 1.5 * a, 6.0 * D - 3.0 * v - 0.5 * a
    return (u * (v + u * (0.5 * a + u * (c3 + u * (c4 + u * c5)))),
            (v + u * (a + u * (3.0 * c3 + u * (4.0 * c4 + u * 5.0 * c5)))) / T,
            (a + u * (6.0 * c3 + u * (12.0 * c4 + u * 20.0 * c5))) / (T * T))  # fmt: skip


@kernel
def step_blend(m, b, dt):
    """q_d, its velocity and acceleration a tick further; whether it is still on its way."""
    if b.seconds <= 0.0:
        return False
    b.since_s += dt
    if b.since_s >= b.seconds - 0.5 * dt:
        end_blend(b)
        return False
    for j in range(b.v_tree.shape[0]):
        b.r[j], b.v_tree[j], b.a[j] = quintic(b.way[j], b.v_from[j], b.a_from[j], b.seconds, b.since_s)
    integrate(m, b.q_from, b.r, 1.0, b.q)
    for i in range(1, m.parent.shape[0]):
        if m.kind[i] == FREE:  # bit by bit, where rounding would have its way
            for n in range(7):
                b.q[m.q_begin[i] + n] = b.q_from[m.q_begin[i] + n]
        elif m.kind[i] == SPHERICAL:
            j = m.axis_v[m.axis_begin[i]]
            back = scale(-1.0, part3(b.r, j))  # the right Jacobian is the left one of -r
            put_part(b.v_tree, j, spin_of(back, part3(b.v_tree, j)))
            put_part(b.a, j, spin_of(back, part3(b.a, j)))  # without what the Jacobian changes: second order
    return True


@entry("intp, float64")
def begin_blend_entry(address, seconds):
    """FINE, or the first coordinate of q_to that is none."""
    m, b = load_blend(address)
    bad = bad_coordinate(m, b.q_to)
    if bad < 0:
        begin_blend(m, b, seconds)
    return bad


@entry("intp, float64, float64[::1], float64[::1]")
def step_blend_entry(address, dt, q, v):
    """A tick, into q (nq,) and v (nv,) of the whole; whether it is still on its way."""
    m, b = load_blend(address)
    moving = step_blend(m, b, dt)
    put_q(b, q)
    put_v(b, v)
    return moving
