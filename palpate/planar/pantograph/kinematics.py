"""Pose and joint angles of the pantographs.  Reference on planar haptics, 1.2 to 1.4.

X = (x, y, theta)   the handle, theta unwrapped        q = (q1, .., q4)   proximal links, from +x
P    end point of the leg's pantograph: p -+ r u,  u = (cos theta, sin theta)
e    from the base joint to the elbow, E = b + e       w = P - E, the distal link      t = (-e_y, e_x) = dE/dq
sx, sy    signs of the leg's base joint (sx bx, sy by); A has sy = -1, B has +1; its branch is s = sx sy: 1, 3 are +1
A    q' = A X', rows of joints: w.J_P / (w.t),  J_P = [I | sy r u'],  u' = (-sin theta, cos theta)

The elbow is where two circles meet, so dynamics need no angle of a joint: e from X by one square root.
"""

import math

from palpate.jit import kernel

TURN = 2.0 * math.pi
FOUR = (0.0, 0.0, 0.0, 0.0)


@kernel
def elbow(m, X, c, s, sx, sy, straight):
    """(e, whether it is bent by more than asin(straight)) of one leg; c, s cosine and sine of X's angle."""
    x, y = X[0] + sy * m.r * c - sx * m.bx, X[1] + sy * m.r * s - sy * m.by  # r = P - b
    square = x * x + y * y
    along = 0.5 * (m.l1 * m.l1 - m.l2 * m.l2 + square)  # r.e
    area = m.l1 * m.l1 * square - along * along  # (r x e)^2 = (l1 l2 sin(elbow))^2
    least = straight * m.l1 * m.l2
    if not area > least * least:  # a NaN too
        return (0.0, 0.0), False
    across = sx * sy * math.sqrt(area)
    k = 1.0 / square
    return (k * (along * x - across * y), k * (along * y + across * x)), True


@kernel
def turns_left(m, X, c, s, ea, eb, sy, straight):
    """Whether P is on its own side of the elbows of its pantograph, which it is assembled on."""
    ax, ay = sy * m.bx + ea[0], sy * m.by + ea[1]
    bx, by = -sy * m.bx + eb[0], sy * m.by + eb[1]
    x, y = X[0] + sy * m.r * c - 0.5 * (ax + bx), X[1] + sy * m.r * s - 0.5 * (ay + by)
    return (bx - ax) * y - (by - ay) * x > straight * m.l2 * m.l2


@kernel
def bent_elbows(m, X, straight):
    """((e1, e2, e3, e4), whether all angles of the mechanism at X are farther from straight than asin(straight))."""
    c, s = math.cos(X[2]), math.sin(X[2])
    e1, ok1 = elbow(m, X, c, s, -1.0, -1.0, straight)
    e2, ok2 = elbow(m, X, c, s, 1.0, -1.0, straight)
    e3, ok3 = elbow(m, X, c, s, 1.0, 1.0, straight)
    e4, ok4 = elbow(m, X, c, s, -1.0, 1.0, straight)
    ok = ok1 and ok2 and ok3 and ok4
    ok = ok and turns_left(m, X, c, s, e1, e2, -1.0, straight) and turns_left(m, X, c, s, e3, e4, 1.0, straight)
    return (e1, e2, e3, e4), ok


@kernel
def elbows(m, X):
    """((e1, e2, e3, e4), whether the mechanism can be at X)."""
    return bent_elbows(m, X, m.stop)


@kernel
def is_inside(m, X):
    """Whether X is in the workspace: before the stops."""
    _, inside = bent_elbows(m, X, m.straight)
    return inside


@kernel
def elbows_of(m, q):
    """(e1, e2, e3, e4) from joint angles."""
    return (
        (m.l1 * math.cos(q[0]), m.l1 * math.sin(q[0])), (m.l1 * math.cos(q[1]), m.l1 * math.sin(q[1])),
        (m.l1 * math.cos(q[2]), m.l1 * math.sin(q[2])), (m.l1 * math.cos(q[3]), m.l1 * math.sin(q[3])),
    )  # fmt: skip


@kernel
def inverse(m, X):
    """(q, whether the mechanism can be there); each angle within a turn of zero, zeros if it cannot."""
    (e1, e2, e3, e4), ok = elbows(m, X)
    if not ok:
        return FOUR, False
    q = (math.atan2(e1[1], e1[0]), math.atan2(e2[1], e2[0]), math.atan2(e3[1], e3[0]), math.atan2(e4[1], e4[0]))
    return q, True


@kernel
def five_bar(m, ax, ay, bx, by):
    """(P, whether it exists): left of the way from elbow a to elbow b, l2 from both."""
    dx, dy = bx - ax, by - ay
    square = dx * dx + dy * dy
    height = m.l2 * m.l2 - 0.25 * square
    if not (height >= 0.0 and square > 0.0):
        return (0.0, 0.0), False
    k = math.sqrt(height / square)
    return (0.5 * (ax + bx) - k * dy, 0.5 * (ay + by) + k * dx), True


@kernel
def forward(m, q, angle_before):
    """(X, residual of the crank's length [m], whether the elbows are near enough to each other); of X the angle is the
    one next to angle_before."""
    e1, e2, e3, e4 = elbows_of(m, q)
    A, is_a = five_bar(m, -m.bx + e1[0], -m.by + e1[1], m.bx + e2[0], -m.by + e2[1])
    B, is_b = five_bar(m, m.bx + e3[0], m.by + e3[1], -m.bx + e4[0], m.by + e4[1])
    dx, dy = B[0] - A[0], B[1] - A[1]
    distance = math.sqrt(dx * dx + dy * dy)
    turn = math.atan2(dy, dx) - angle_before
    turn -= TURN * math.floor(turn / TURN + 0.5)
    X = (0.5 * (A[0] + B[0]), 0.5 * (A[1] + B[1]), angle_before + turn)
    return X, distance - 2.0 * m.r, is_a and is_b


@kernel
def row(m, X, c, s, e, sx, sy):
    """(A_i, w) of one leg."""
    wx, wy = X[0] + sy * m.r * c - sx * m.bx - e[0], X[1] + sy * m.r * s - sy * m.by - e[1]
    k = 1.0 / (wy * e[0] - wx * e[1])  # w.t
    return (k * wx, k * wy, k * sy * m.r * (wy * c - wx * s)), (wx, wy)


@kernel
def jacobian_of(m, X, e):
    """A from the elbows."""
    c, s = math.cos(X[2]), math.sin(X[2])
    a1, _ = row(m, X, c, s, e[0], -1.0, -1.0)
    a2, _ = row(m, X, c, s, e[1], 1.0, -1.0)
    a3, _ = row(m, X, c, s, e[2], 1.0, 1.0)
    a4, _ = row(m, X, c, s, e[3], -1.0, 1.0)
    return a1, a2, a3, a4


@kernel
def jacobian(m, X, q):
    """A, four rows of three: q' = A X'."""
    return jacobian_of(m, X, elbows_of(m, q))
