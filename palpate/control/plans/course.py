"""RESUME: a new way for the tool from where it is to the goal, and the joint accelerations that keep it there.

Position and turn are quintics in time with the tool's velocity at the beginning, and rest at the end:

    x(t) = x0 + v0 t + (10 D - 6 v0 T) (t/T)^3 + (8 v0 T - 15 D) (t/T)^4 + (6 D - 3 v0 T) (t/T)^5,      D = x1 - x0
    R(t) = exp(r(t)) R0,  r from 0 to log(R1 R0^T);   w = r' + b r x r' + c r x (r x r')                reference 2.4

Joints follow by resolved acceleration (Luh, Walker & Paul 1980), damped near singular poses, with what is left of the
joints' freedom braked: so an arm that is sent out of its reach comes to rest, stretched:

    a = J^T (J J^T + d 1)^-1 (x''_ref - J' v) - k_n (v - J^T (J J^T + d 1)^-1 J v)
    x''_ref = x'' + Kp e + Kd e'

g  Guide (guide_tables.py);  m, w  model and workspace;  world axes, (angular, linear)
"""

import math

from palpate.control.plans.follow import KD, KP
from palpate.conventions import WORLD
from palpate.dynamics.cholesky import cholesky_solve
from palpate.dynamics.jacobian import body_frame, point_jacobian, point_motion
from palpate.jit import kernel
from palpate.spatial.quaternions import (
    matrix_quaternion,
    quaternion_exp,
    quaternion_product,
    rotation_between,
)  # fmt: skip
from palpate.spatial.vectors import add, add_scaled, cross, dot, get6, part4, put_part, scale, sub

DAMPING = 1e-3  # d [m^2, rad^2]: of directions in which a joint moves the tool by less than 3 cm per rad
BRAKE = 20.0  # k_n [1/s]
STEEPEST = 200.0  # [rad/s^2, m/s^2] asked of a joint at most
ZERO = (0.0, 0.0, 0.0)


@kernel
def tool_state(m, w, body):
    """(p from the reference point, position, velocity, spin, velocity-product acceleration) of a body's origin.

    The last is J' v: (angular, linear)
    """
    link = m.body_link[body]
    _, p, position, velocity, spin = point_motion(m, w, body, ZERO)
    _, u = get6(w.V, link)
    alpha, a = get6(w.A, link)
    turning = add(a, add(cross(alpha, p), cross(spin, add(u, cross(spin, p)))))
    _, gravity = get6(w.A, WORLD)  # the world's own acceleration, which is no motion of the tool
    return p, position, velocity, spin, (alpha, sub(turning, gravity))


@kernel
def put_quintic(course, row, x0, v0, x1, T):
    """Coefficients of one coordinate."""
    D, s = x1 - x0, 1.0 / T
    course[row, 0], course[row, 1], course[row, 2] = x0, v0, 0.0
    course[row, 3] = (10.0 * D - 6.0 * v0 * T) * s**3
    course[row, 4] = (8.0 * v0 * T - 15.0 * D) * s**4
    course[row, 5] = (6.0 * D - 3.0 * v0 * T) * s**5


@kernel
def set_course(m, w, g):
    """From the tool's present state to the goal, shifted along `slide` to where the tool would soon be."""
    body, T = g.tool, g.goal_s
    _, position, velocity, spin, _ = tool_state(m, w, body)
    R, _ = body_frame(m, w, body)
    here = matrix_quaternion(R)
    goal, slide = g.goal, g.slide
    soon = add_scaled(position, g.ahead_s, velocity)
    goal = add_scaled(goal, dot(slide, sub(soon, goal)), slide)
    turn = rotation_between(here, part4(g.goal_turn, 0))
    put_part(g.course_turn, 0, here)
    for r in range(3):
        put_quintic(g.course, r, 0.0, spin[r], turn[r], T)
        put_quintic(g.course, 3 + r, position[r], velocity[r], goal[r], T)
    g.since_s, g.has_course = 0.0, 1


@kernel
def polynomial(course, row, t):
    """(x, x', x'') of one coordinate."""
    c0, c1, c2, c3, c4, c5 = (course[row, 0], course[row, 1], course[row, 2], course[row, 3], course[row, 4],
                              course[row, 5])  # fmt: skip
    return (c0 + t * (c1 + t * (c2 + t * (c3 + t * (c4 + t * c5)))),
            c1 + t * (2.0 * c2 + t * (3.0 * c3 + t * (4.0 * c4 + t * 5.0 * c5))),
            2.0 * c2 + t * (6.0 * c3 + t * (12.0 * c4 + t * 20.0 * c5)))  # fmt: skip


@kernel
def three(course, row, t):
    """The same of three coordinates from `row` on, as vectors."""
    a, b, c = polynomial(course, row, t), polynomial(course, row + 1, t), polynomial(course, row + 2, t)
    return (a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2])


@kernel
def spin_of(r, rate):
    """w of exp(r(t)), from r and r': the left Jacobian of SO(3)."""
    square = dot(r, r)
    angle = math.sqrt(square)
    if angle < 1e-3:  # the series, to the fourth power of the angle
        b, c = 0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0
    else:
        b, c = (1.0 - math.cos(angle)) / square, (angle - math.sin(angle)) / (square * angle)
    x = cross(r, rate)
    return add(rate, add(scale(b, x), scale(c, cross(r, x))))


@kernel
def solve_task(g, x):
    """y = (J J^T + d 1)^-1 x for the planned joints' columns of J, into g.y."""
    for r in range(6):
        for c in range(6):
            total = DAMPING if r == c else 0.0
            for k in range(g.v_at.shape[0]):
                total += g.J[r, g.v_at[k]] * g.J[c, g.v_at[k]]
            g.JJ[r, c] = total
        g.y[r] = x[0][r] if r < 3 else x[1][r - 3]
    cholesky_solve(g.JJ, g.y)


@kernel
def column_dot(g, j):
    total = 0.0
    for r in range(6):
        total += g.J[r, j] * g.y[r]
    return total


@kernel
def course_acceleration(m, w, g, feedback):
    """a_ref of the planned joints on the course; feedback 0: only what the course asks for, as while a hand pushes."""
    body, t = g.tool, min(g.since_s, g.goal_s)
    p, position, velocity, spin, bias = tool_state(m, w, body)
    R, _ = body_frame(m, w, body)
    r, rate, curve = three(g.course, 0, t)
    x, v, a = three(g.course, 3, t)
    if t >= g.goal_s:  # there, exactly
        rate, curve, v, a = ZERO, ZERO, ZERO, ZERO
    wanted = quaternion_product(quaternion_exp(r[0], r[1], r[2]), part4(g.course_turn, 0))
    away = rotation_between(matrix_quaternion(R), wanted)
    alpha = spin_of(r, curve)  # less what the Jacobian itself changes: second order, for the feedback to take out
    kp, kd = feedback * KP, feedback * KD
    alpha = add(alpha, add(scale(kp, away), scale(kd, sub(spin_of(r, rate), spin))))
    a = add(a, add(scale(kp, sub(x, position)), scale(kd, sub(v, velocity))))
    point_jacobian(m, w, m.body_link[body], p, g.J)
    solve_task(g, (sub(alpha, bias[0]), sub(a, bias[1])))
    for k in range(g.v_at.shape[0]):
        j = g.v_at[k]
        g.a_ref[j] = min(max(column_dot(g, j), -STEEPEST), STEEPEST)
    if feedback > 0.0:  # what the tool does not need, or a stretched arm cannot do, comes to rest
        own_spin, own = ZERO, ZERO
        for k in range(g.v_at.shape[0]):
            j = g.v_at[k]
            own_spin = add_scaled(own_spin, g.v[j], (g.J[0, j], g.J[1, j], g.J[2, j]))
            own = add_scaled(own, g.v[j], (g.J[3, j], g.J[4, j], g.J[5, j]))
        solve_task(g, (own_spin, own))
        for k in range(g.v_at.shape[0]):
            j = g.v_at[k]
            g.a_ref[j] -= BRAKE * (g.v[j] - column_dot(g, j))
