"""From one state to the next: what velocities do to positions, and how a lone spinning body turns.

A free body's linear velocity is kept in body axes, but it is the velocity in the world that force changes: the step
works in the body's axes of its beginning and turns the result into those of its end.  Positions go straight along the
new velocity (semi-implicit), or, where nothing touches, along the mean of old and new: a thrown body then follows its
parabola exactly.  What is placed stays, with no velocity, whatever was done to it.
Spin: I (w+ - w) = dt (t - wm x I wm), wm the mean of w and w+ (implicit midpoint), keeps energy and momentum of a
turning body to rounding; the explicit form blows up where spin times dt is not small.
"""

from palpate.dynamics.coordinates import put_quaternion, quaternion_at
from palpate.jit import kernel
from palpate.model.model import CHAIN, FREE
from palpate.spatial.quaternions import quaternion_exp, quaternion_matrix, quaternion_product
from palpate.spatial.vectors import (
    add,
    add_scaled,
    cross,
    dot,
    get3,
    get6,
    get9,
    put3,
    rotate,
    rotate_back,
    scale,
    sub,
    symmetric_times,
)  # fmt: skip
from palpate.world.state import FLUNG, MIDWAY

NEWTON_STEPS = 3
ROUNDING = 1e-17  # part of the angular momentum that may be left of Newton's equation: less than its last digit
NO_TORQUE = 1e-14  # part of w x I w that a torque is at most which is rounding
ZERO = (0.0, 0.0, 0.0)
NO_TURN = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def solve3(a, b, c, x):
    """(a b c)^-1 x, columns a, b, c: Cramer's rule."""
    bc = cross(b, c)
    k = 1.0 / dot(a, bc)
    return (k * dot(x, bc), k * dot(a, cross(x, c)), k * dot(a, cross(b, x)))


@kernel
def midpoint_spin(I, w, torque, dt):
    """w+ of the implicit midpoint rule, body axes: Newton from w.

    The equation f = 0 is quadratic in w+, so that after a step d all that is left of it is dt/4 d x I d.
    """
    new, h = w, 0.5 * dt
    f = scale(dt, sub(cross(w, symmetric_times(I, w)), torque))
    for _ in range(NEWTON_STEPS):
        whole = symmetric_times(I, new)
        if dot(f, f) <= ROUNDING * ROUNDING * dot(whole, whole):
            break
        mean = scale(0.5, add(w, new))
        L = symmetric_times(I, mean)
        # df/dw+ = I + dt/2 ([wm]x I - [I wm]x), by columns
        x, y, z = (I[0], I[3], I[4]), (I[3], I[1], I[5]), (I[4], I[5], I[2])
        a = add_scaled(x, h, sub(cross(mean, x), cross(L, (1.0, 0.0, 0.0))))
        b = add_scaled(y, h, sub(cross(mean, y), cross(L, (0.0, 1.0, 0.0))))
        c = add_scaled(z, h, sub(cross(mean, z), cross(L, (0.0, 0.0, 1.0))))
        d = scale(-1.0, solve3(a, b, c, f))
        new = add(new, d)
        f = scale(0.5 * h, cross(d, symmetric_times(I, d)))
    return new


@kernel
def half_turn(s, j, dt):
    """The matrix by which axes that turn at s.v[j:] have turned half a step later."""
    h = quaternion_exp(0.5 * dt * s.v[j], 0.5 * dt * s.v[j + 1], 0.5 * dt * s.v[j + 2])
    return quaternion_matrix(h[0], h[1], h[2], h[3])


@kernel
def turn_levers(m, w, s, dt):
    """turned: what `midway` misses of the wrenches on lone links, whose levers turn and whose forces do not."""
    for i in range(1, m.parent.shape[0]):
        put3(s.turned, i, ZERO)
    for b in range(1, s.n_wrenches):
        i = m.body_link[b]
        if s.lone[i] == 0:
            continue
        R, H = get9(w.R, i), half_turn(s, m.axis_v[m.axis_begin[i]], dt)
        n, f = get6(s.wrenches, b)
        n, f = rotate_back(R, n), rotate_back(R, f)
        if m.kind[i] == FREE:
            r = sub(get3(m.body_p, b), get3(m.com, i))
            more = sub(cross(r, rotate_back(H, f)), rotate_back(H, cross(r, f)))
        else:
            r = get3(m.body_p, b)
            more = add(sub(rotate_back(H, n), n), cross(r, sub(rotate_back(H, f), f)))
        put3(s.turned, i, add(get3(s.turned, i), more))


@kernel
def falls_freely(m, s, i, torque, gyroscopic):
    """Whether nothing but gravity acts on a lone link: no wrench, nothing on its axes, no torque but rounding."""
    j = m.axis_v[m.axis_begin[i]]
    if m.kind[i] != FREE or s.n_wrenches != 0:
        return False
    for k in range(j, j + 6):
        if s.torque[k] != 0.0:
            return False
    return dot(torque, torque) <= NO_TORQUE * NO_TORQUE * dot(gyroscopic, gyroscopic)


@kernel
def midway(m, s, i, H, torque):
    """The torque on a lone link in the axes H of half a step later, which turn under a torque that stays in the world.

    On a spherical joint that is gravity's, with the lever it then has: with positions along the mean velocity this is
    position Verlet, which a pendulum neither feeds nor brakes.  The rest there is the joint's own and turns with it.
    """
    if s.n_wrenches:
        torque = add(torque, get3(s.turned, i)) if m.kind[i] != FREE else add(torque, rotate(H, get3(s.turned, i)))
    if m.kind[i] == FREE:
        j = m.axis_v[m.axis_begin[i]]
        f = (s.torque[j + 3], s.torque[j + 4], s.torque[j + 5])
        own = sub((s.torque[j], s.torque[j + 1], s.torque[j + 2]), cross(get3(m.com, i), f))  # turns with the body
        return add(rotate_back(H, sub(torque, own)), own)
    x = quaternion_at(s.q, m.q_begin[i])
    g = rotate_back(get9(m.axis_R, m.axis_begin[i]), (m.gravity[0], m.gravity[1], m.gravity[2]))
    g = rotate_back(quaternion_matrix(x[0], x[1], x[2], x[3]), g)
    return add_scaled(torque, m.mass[i], cross(get3(m.com, i), sub(rotate_back(H, g), g)))


@kernel
def from_start(m, s):
    """q_stage, v_begin, mean: everything as it is at the beginning of the step."""
    for n in range(m.nq):
        s.q_stage[n] = s.q[n]
    for j in range(m.nv):
        s.v_begin[j], s.mean[j] = s.v[j], s.v[j]


@kernel
def accelerations_of_vectors(m, v, a):
    """a of free joints from that of coordinates, in axes that turn, to that of a vector: plus w x u."""
    for i in range(1, m.parent.shape[0]):
        if m.kind[i] == FREE:
            j = m.axis_v[m.axis_begin[i]]
            turn = cross((v[j], v[j + 1], v[j + 2]), (v[j + 3], v[j + 4], v[j + 5]))
            for c in range(3):
                a[j + 3 + c] += turn[c]


@kernel
def free_velocities(m, w, s, dt):
    """v_next = v_begin + dt a, with the spin of lone links by the midpoint rule."""
    for j in range(m.nv):
        s.v_next[j] = s.v_begin[j] + dt * s.a[j]
    if s.n_wrenches:
        turn_levers(m, w, s, dt)
    for i in range(1, m.parent.shape[0]):
        if s.lone[i] == 0 or s.asleep[i] != 0:
            continue
        j = m.axis_v[m.axis_begin[i]]
        spin = (s.v[j], s.v[j + 1], s.v[j + 2])
        I = (s.spin[i, 0], s.spin[i, 1], s.spin[i, 2], s.spin[i, 3], s.spin[i, 4], s.spin[i, 5])
        gyroscopic = cross(spin, symmetric_times(I, spin))
        torque = add(symmetric_times(I, (s.a[j], s.a[j + 1], s.a[j + 2])), gyroscopic)
        falls = falls_freely(m, s, i, torque, gyroscopic)
        H = NO_TURN if falls else half_turn(s, j, dt)
        new = midpoint_spin(I, spin, ZERO if falls else midway(m, s, i, H, torque), dt)
        if m.kind[i] == FREE:
            # what force changes is the centre's velocity, u + w x c: its lever c turns with the body meanwhile, so
            # what that alone does to the origin, dt w x (w x c), is not for the lever of the beginning to have
            lever = get3(m.com, i)
            spun = sub((s.v_next[j], s.v_next[j + 1], s.v_next[j + 2]), new)
            left = add(cross(spun, lever), scale(dt, cross(spin, cross(spin, lever))))
            own = (s.torque[j + 3], s.torque[j + 4], s.torque[j + 5])  # a force that turns with the body
            left = add_scaled(left, dt / m.mass[i], sub(rotate(H, own), own))
            for c in range(3):
                s.v_next[j + 3 + c] += left[c]
        for c in range(3):
            s.v_next[j + c] = new[c]


@kernel
def advance(m, s, touched, move, step):
    """q_next along `move` (nv,), the velocities in v_next or with a shift; then v_next in the new axes.

    From q, or the second half from q_stage for what goes MIDWAY; what is FLUNG is there.
    """
    for k in range(m.axis_v.shape[0]):
        way = s.way[s.tree[k]]
        if s.chain[k] != 0 and way != FLUNG:
            n, j = m.axis_q[k], m.axis_v[k]
            s.q_next[n] = s.q_stage[n] + 0.5 * step * move[j] if way == MIDWAY else s.q[n] + step * move[j]
    for i in range(1, m.parent.shape[0]):
        way = s.way[m.root[i]]
        if m.kind[i] == CHAIN or way == FLUNG or s.asleep[i] != 0:
            continue
        q, dt = (s.q_stage, 0.5 * step) if way == MIDWAY else (s.q, step)
        j = m.axis_v[m.axis_begin[i]]
        n = m.q_begin[i]
        if s.pushed[i] != i:  # placed
            for at in range(n, n + 7):
                s.q_next[at] = s.q[at]
            for at in range(j, j + 6):
                s.v_next[at] = 0.0
            continue
        w = (move[j], move[j + 1], move[j + 2])
        if m.kind[i] != FREE:
            if s.lone[i] != 0 and touched[i] == 0:
                w = scale(0.5, add(w, (s.v[j], s.v[j + 1], s.v[j + 2])))
            turn = quaternion_exp(w[0] * dt, w[1] * dt, w[2] * dt)
            put_quaternion(s.q_next, n, quaternion_product(quaternion_at(q, n), turn))
            continue
        # what goes straight is the root's origin of a tree; of a lone body the centre of mass, and while it touches the
        # middle of its shapes: a ball with its weight off the middle keeps its height on a floor
        alone, touches = s.lone[i] != 0, touched[i] != 0
        c = get3(m.com, i) if alone else ZERO
        x = get3(s.middle, i) if alone and touches else c
        u = add((move[j + 3], move[j + 4], move[j + 5]), cross(w, x))
        if alone and not touches:  # flying
            old = (s.v[j], s.v[j + 1], s.v[j + 2])
            w = scale(0.5, add(w, old))
            u = scale(0.5, add(u, add((s.v[j + 3], s.v[j + 4], s.v[j + 5]), cross(old, c))))
        turn = quaternion_exp(w[0] * dt, w[1] * dt, w[2] * dt)
        T = quaternion_matrix(turn[0], turn[1], turn[2], turn[3])
        here = quaternion_at(q, n + 3)
        # in the axes of the beginning: x + dt u - T x from the old origin to the new
        far = rotate(quaternion_matrix(here[0], here[1], here[2], here[3]), sub(add_scaled(x, dt, u), rotate(T, x)))
        for at in range(3):
            s.q_next[n + at] = q[n + at] + far[at]
        put_quaternion(s.q_next, n + 3, quaternion_product(here, turn))
        spin = (s.v_next[j], s.v_next[j + 1], s.v_next[j + 2])
        lever = cross(spin, c)
        u = rotate_back(T, add((s.v_next[j + 3], s.v_next[j + 4], s.v_next[j + 5]), lever))
        s.v_next[j + 3], s.v_next[j + 4], s.v_next[j + 5] = sub(u, lever)
