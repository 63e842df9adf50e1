"""A limb as a chain: where its end would be if its joints stood at their targets, and a step of them towards a goal.

Kinematics run on State.q_hold from where the link that carries the limb is now: a step that looked at q itself would
push the targets ahead until they overcame whatever yields, and so undo every compliance.

    dq = dq0 + J^T (J J^T + l^2)^-1 (e - J dq0)        damped least squares; dq0 is what the null space is for
    q_hold <- q_hold (+) dq                             on the tangent space: turning and spherical joints alike

Columns of joints that would leave their range are dropped, and the step is solved again.

c Chain;  z, at  axis and a point on it for each column;  x, R  of the end;  all in world axes from the tree's
reference point
"""

from __future__ import annotations

import math

import numpy as np

from palpate.dynamics.cholesky import cholesky_solve
from palpate.dynamics.coordinates import links_difference, put_quaternion, quaternion_at
from palpate.jit import Block, Struct, Vector, block_loader, kernel, shared
from palpate.model.model import CHAIN, REVOLUTE, Floats1, Floats2, Ints1, Model
from palpate.spatial.quaternions import (
    matrix_quaternion,
    quaternion_exp,
    quaternion_log,
    quaternion_matrix,
    quaternion_product,
)
from palpate.spatial.vectors import (
    add,
    add_scaled,
    column,
    compose,
    cross,
    dot,
    get3,
    get6,
    get9,
    put3,
    put9,
    rotate,
    sub,
    transpose,
    turn_z,
)
from palpate.world.state import load as load_world

DAMPING = 0.02  # l [m and rad]: below it a direction counts as lost (reference 4.2)
DROPS = 3  # how often the step is solved again without joints at their ends
ZERO = (0.0, 0.0, 0.0)


class Chain(Struct):
    """n axes from the link `base`, which carries them, to the link of `body`."""

    base: int
    body: int
    point: Vector  # of the body that is led, in its axes
    links: Ints1  # (l,) from the base outwards
    borne: Ints1  # (b,) these, and fingers on the last
    axes: Ints1  # (n,) of the model, in the order of links
    lower: Floats1  # (n,) ranges, infinite: none
    upper: Floats1  # (n,)
    bend: int  # column at whose axis an elbow is, -1: none
    q_rest: Floats1  # (nq,) of the whole model: where its joints rest
    # written by chain_frames
    z: Floats2  # (n, 3)
    at: Floats2  # (n, 3)
    R: Floats2  # (1, 9)
    x: Vector
    # scratch of the step
    J: Floats2  # (6, n)
    JJ: Floats2  # (6, 6)
    y: Floats1  # (6,)
    e: Floats1  # (6,) twist that is asked for: turn, way
    dq: Floats1  # (n,) the step
    dq0: Floats1  # (n,) what the null space would like
    rate: Floats1  # (n,) of the targets [rad/s]
    free: Ints1  # (n,) 0: at an end of its range


load_chain = block_loader((Chain, False))


@shared("void(intp, intp)")
def chain_frames(world, chain):
    """z, at, R, x of a Chain at q_hold; addresses, as below."""
    m, w, _, _, _, s = load_world(world)
    c, q = load_chain(chain)[0], s.q_hold
    R, p, n = get9(w.R, c.base), get3(w.p, c.base), 0
    for i in c.links:
        k = m.axis_begin[i]
        if m.kind[i] == CHAIN:
            for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
                p = add(p, rotate(R, get3(m.axis_p, k)))
                R = compose(R, get9(m.axis_R, k))
                angle = q[m.axis_q[k]]
                put3(c.z, n, column(R, 2))
                put3(c.at, n, p)
                R = turn_z(R, math.cos(angle), math.sin(angle))
                n += 1
        else:
            p = add(p, rotate(R, get3(m.axis_p, k)))
            R = compose(R, get9(m.axis_R, k))
            a, b, d, e = quaternion_at(q, m.q_begin[i])
            R = compose(R, quaternion_matrix(a, b, d, e))
            for r in range(3):
                put3(c.z, n, column(R, r))
                put3(c.at, n, p)
                n += 1
    p = add(p, rotate(R, get3(m.body_p, c.body)))
    R = compose(R, get9(m.body_R, c.body))
    put9(c.R, 0, R)
    c.x = add(p, rotate(R, c.point))


@kernel
def chain_jacobian(c, turning):
    """J of the end at those frames: (z, z x (x - at)); its turn counts `turning` times."""
    for n in range(c.axes.shape[0]):
        z = get3(c.z, n)
        u = cross(z, sub(c.x, get3(c.at, n)))
        for r in range(3):
            c.J[r, n], c.J[3 + r, n] = turning * z[r], u[r]


@shared("void(intp, intp)")
def posture_error(world, chain):
    """dq0 = q_rest (-) q_hold."""
    m, _, _, _, _, s = load_world(world)
    c = load_chain(chain)[0]
    links_difference(m, c.links, s.q_hold, c.q_rest, c.dq0)


@kernel
def bend_outwards(c, out, way):
    """dq0 += what moves the elbow by `way` along the direction `out`: J^T (J J^T + l^2)^-1."""
    elbow, square = get3(c.at, c.bend), DAMPING * DAMPING
    for n in range(c.bend):
        u = dot(cross(get3(c.z, n), sub(elbow, get3(c.at, n))), out)
        square += u * u
    for n in range(c.bend):
        c.dq0[n] += dot(cross(get3(c.z, n), sub(elbow, get3(c.at, n))), out) * way / square


@kernel
def least_squares(c):
    """dq of the free columns, for e and dq0."""
    n_axes = c.axes.shape[0]
    for r in range(6):
        c.y[r] = c.e[r]
        for s in range(6):
            c.JJ[r, s] = DAMPING * DAMPING if r == s else 0.0
    for n in range(n_axes):
        if c.free[n] == 0:
            continue
        for r in range(6):
            c.y[r] -= c.J[r, n] * c.dq0[n]
            for s in range(6):
                c.JJ[r, s] += c.J[r, n] * c.J[s, n]
    cholesky_solve(c.JJ, c.y)
    for n in range(n_axes):
        c.dq[n] = 0.0
        if c.free[n] != 0:
            total = c.dq0[n]
            for r in range(6):
                total += c.J[r, n] * c.y[r]
            c.dq[n] = total


@shared("void(intp, intp)")
def solve_step(world, chain):
    """dq for e and dq0, within the ranges of joints."""
    m, _, _, _, _, s = load_world(world)
    c, q = load_chain(chain)[0], s.q_hold
    for n in range(c.axes.shape[0]):
        c.free[n] = 1
    for drop in range(DROPS + 1):
        least_squares(c)
        dropped = False
        for n in range(c.axes.shape[0]):
            at = q[m.axis_q[c.axes[n]]] + c.dq[n]  # of an axis of a spherical joint the ends are infinite
            if drop < DROPS and c.free[n] != 0 and (at > c.upper[n] or at < c.lower[n]):
                c.free[n], dropped = 0, True
        if not dropped:
            return


@kernel
def largest(x):
    most = 0.0
    for n in range(x.shape[0]):
        most = max(most, abs(x[n]))
    return most


@kernel
def end_motion(c, x):
    """What a step x (n,) of the joints moves the end by; the frames are those of `chain_frames`."""
    way = ZERO
    for n in range(c.axes.shape[0]):
        way = add_scaled(way, x[n], cross(get3(c.z, n), sub(c.x, get3(c.at, n))))
    return way


@shared("void(intp, intp)")
def move_targets(world, chain):
    """q_hold <- q_hold (+) dt rate, within ranges; v_hold = rate."""
    m, _, _, _, _, s = load_world(world)
    c, dt = load_chain(chain)[0], s.dt
    n = 0
    for i in c.links:
        k = m.axis_begin[i]
        if m.kind[i] == CHAIN:
            for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
                at = m.axis_q[k]
                s.q_hold[at] = min(max(s.q_hold[at] + dt * c.rate[n], c.lower[n]), c.upper[n])
                s.v_hold[m.axis_v[k]] = c.rate[n]
                n += 1
        else:
            turn = quaternion_exp(dt * c.rate[n], dt * c.rate[n + 1], dt * c.rate[n + 2])
            put_quaternion(s.q_hold, m.q_begin[i], quaternion_product(quaternion_at(s.q_hold, m.q_begin[i]), turn))
            for r in range(3):
                s.v_hold[m.axis_v[k] + r] = c.rate[n + r]
            n += 3


@kernel
def target_ahead(m, s, c):
    """dq = q_hold (-) q: how far the targets are ahead of the joints."""
    links_difference(m, c.links, s.q, s.q_hold, c.dq)


@kernel
def held_force(w, s, c, x):
    """Force [N] that springs kp dq in the chain's joints hold its end with, at x: the one that fits them best,
    (J J^T + l^2)^-1 J tau, J of the joints where they are."""
    for r in range(6):
        c.y[r] = 0.0
        for k in range(6):
            c.JJ[r, k] = DAMPING * DAMPING if r == k else 0.0
    for n in range(c.axes.shape[0]):
        k = c.axes[n]
        sw, sv = get6(w.S, k)
        u = add(sv, cross(sw, x))
        for r in range(3):
            c.y[3 + r] += u[r] * s.kp[k] * c.dq[n]
            for t in range(3):
                c.JJ[3 + r, 3 + t] += u[r] * u[t]
    cholesky_solve(c.JJ, c.y)
    return math.sqrt(c.y[3] * c.y[3] + c.y[4] * c.y[4] + c.y[5] * c.y[5])


@shared("int64(intp, intp, float64, float64, float64, float64)")
def slip_targets(world, chain, x, y, z, most_N):
    """Targets whose springs would hold the end, at (x, y, z), with more than a force come back to the joints until they
    do not; 0 N: all the way.  1 if they did.  q_hold <- q (+) part (q_hold (-) q)"""
    m, w, _, _, _, s = load_world(world)
    c = load_chain(chain)[0]
    target_ahead(m, s, c)
    force = held_force(w, s, c, (x, y, z))
    if most_N > 0.0 and not force > most_N:
        return 0
    part, n = most_N / force if most_N > 0.0 else 0.0, 0
    for i in c.links:
        if m.kind[i] == CHAIN:
            for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
                at = m.axis_q[k]
                s.q_hold[at] = min(max(s.q[at] + part * c.dq[n], c.lower[n]), c.upper[n])
                n += 1
        else:
            turn = quaternion_exp(part * c.dq[n], part * c.dq[n + 1], part * c.dq[n + 2])
            put_quaternion(s.q_hold, m.q_begin[i], quaternion_product(quaternion_at(s.q, m.q_begin[i]), turn))
            n += 3
    return 1


@kernel
def push_chain(m, w, s, c, x, force):
    """tau += J^T f: the chain pushes with a force at x."""
    for n in range(c.axes.shape[0]):
        k = c.axes[n]
        sw, sv = get6(w.S, k)
        s.tau[m.axis_v[k]] += dot(add(sv, cross(sw, x)), force)


@kernel
def turn_to(R, goal):
    """log(goal R^T), world axes: the turn that is missing; both row-major."""
    return quaternion_log(matrix_quaternion(compose(goal, transpose(R))))


def chain_of(model: Model, base: int, body: int, point: Vector, q_rest: Floats1, elbow: int = 0) -> tuple[Chain, Block]:
    """The chain from a body up to another one, which carries it; elbow: body on the way, 0: none."""
    m, zeros = model.arrays, np.zeros
    links, i, stop = [], int(m.body_link[body]), int(m.body_link[base])
    while i not in (stop, 0):
        links.append(i)
        i = int(m.parent[i])
    if i != stop:
        raise ValueError(f"{model.body_names[body]!r} does not hang on {model.body_names[base]!r}")
    links.reverse()
    axes = [k for i in links for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i])]
    for i in links:
        turning = m.axis_kind[m.axis_begin[i] : m.axis_begin[i] + m.axis_count[i]] == REVOLUTE
        if m.kind[i] == CHAIN and not turning.all():
            raise ValueError(f"a joint between {model.body_names[base]!r} and {model.body_names[body]!r} slides")
    borne = [i for i in range(links[0], model.n_links) if on_the_way(m.parent, i, links[-1]) or i in links]
    chained = np.array([m.kind[i] == CHAIN for i in links for _ in range(m.axis_count[i])])
    at = m.axis_q[axes]
    n = len(axes)
    chain = Chain(
        base=stop, body=body, point=point, bend=axes.index(m.axis_begin[m.body_link[elbow]]) if elbow else -1,
        links=np.array(links, dtype=np.int64),
        borne=np.array(borne, dtype=np.int64), axes=np.array(axes, dtype=np.int64),
        lower=np.where(chained, model.lower[at], -np.inf), upper=np.where(chained, model.upper[at], np.inf),
        q_rest=q_rest, z=zeros((n, 3)), at=zeros((n, 3)), R=zeros((1, 9)), J=zeros((6, n)), JJ=zeros((6, 6)),
        y=zeros(6), e=zeros(6), dq=zeros(n), dq0=zeros(n), rate=zeros(n), free=np.ones(n, dtype=np.int64),
    )  # fmt: skip
    return chain, Block(chain)


def on_the_way(parent: Ints1, i: int, link: int) -> bool:
    """Whether link i hangs on a link."""
    while i > link:
        i = int(parent[i])
    return i == link
