"""Velocities of tasks in order of priority: each does what those before it leave free.

    v = 0, N = 1;  for each level:  v += (J N)^# (e - J v),  N <- N less the rows of J N
                                                                Siciliano & Slotine 1991; damped as Chiaverini 1997
Not by a singular value decomposition: N is kept as an orthonormal basis B of all rows so far, N = 1 - B^T B, and a
level adds the rows of J N to it by Gram and Schmidt with pivots, A = J N = R^T Q:

    away from singular      s_min >= 1/|R^-1|_F >= l:  R^T y = e - J v,  v += Q^T y                            exact
    near to it              R = W S U^T by one-sided Jacobi (R is as small as the task), each singular value by itself:
                            y = W diag(s/(s^2 + l2)) U^T (e - J v),   l2 = l^2 - s^2 below l, else 0
    l                       EPS, or what keeps |e - J v|/(2 l) below t.singular_speed: with EPS alone joints chatter
                            about the stretched arm when a lower task asks for much (tried: 8 rad/s from tick to tick)

What is left free for lower levels are the directions in which this one moves by less than TOL.

Ranges and speeds of joints never cost a higher level anything.  A joint that a level would take beyond its end is put
into the basis, so that neither it nor those below move it, and the level is solved again: other joints take over.  What
is still too far or too fast is a smaller part of the level's dv.

t  TaskTable (task_tables.py);  n columns: the velocities that may move;  a level's rows: r0 .. r1 of J and e
"""

import math

from palpate.jit import kernel

EPS = 0.05  # [m/rad, rad/rad] singular values below this are damped: reference on avatars 9
SINGULAR_SPEED = 1.0  # [rad/s] that a singular direction moves joints by at most, unless a table says another
TOL = 1e-4  # a lower task changes a higher one by at most this share of the joints' speed
RANK = 1e-9  # [m/rad] below which a row says nothing new
LOST = 0.1  # a row that shrinks to this share of itself is made orthogonal once more: twice is enough (Kahan)
AGAIN = 3  # a level is solved again for joints at their ends at most so often
SHARE = 0.8  # of the speed that is left a level takes at most this, so that those below it can move at all
SLACK = 1e-9  # [rad/s] beyond an end that is rounding; the coordinate itself is cut there
HARDLY = 1e-4  # share of a joint's column that is free, below which higher levels have decided what it does
SWEEPS = 12  # of Jacobi's rotations; three to five do
ORTHOGONAL = 1e-10  # cosine of rows that are: singular values are then right to its square


@kernel
def dot_rows(a, i, b, j, n):
    total = 0.0
    for c in range(n):
        total += a[i, c] * b[j, c]
    return total


@kernel
def take_off(a, i, f, b, j, n):
    """Row i of a less f times row j of b."""
    for c in range(n):
        a[i, c] -= f * b[j, c]


@kernel
def residual(t, r0, r1):
    """e - J v of a level, into t.rest."""
    n = t.v.shape[0]
    for r in range(r0, r1):
        total = t.e[r]
        for c in range(n):
            total -= t.J[r, c] * t.v[c]
        t.rest[r - r0] = total


@kernel
def project_rows(t, r0, r1, rank):
    """t.A = J N: free columns only, less what higher levels use."""
    n = t.v.shape[0]
    for r in range(r0, r1):
        for c in range(n):
            t.A[r - r0, c] = t.J[r, c] * t.free[c]
        before = dot_rows(t.A, r - r0, t.A, r - r0, n)
        t.size[r - r0] = before
        for b in range(rank):
            take_off(t.A, r - r0, dot_rows(t.A, r - r0, t.basis, b, n), t.basis, b, n)


@kernel
def orthogonal_again(t, i, rank, added, n):
    """A pivot that lost digits, orthogonal to all of the basis once more; what it had of this level's goes into R."""
    for b in range(rank + added):
        f = dot_rows(t.A, i, t.basis, b, n)
        take_off(t.A, i, f, t.basis, b, n)
        if b >= rank:
            t.R[b - rank, i] += f


@kernel
def add_rows(t, rows, rank):
    """Gram and Schmidt with pivots: A = R^T Q, Q the new rows of the basis; returns how many there are."""
    n = t.v.shape[0]
    for i in range(rows):
        t.pivot[i] = i
        for k in range(rows):
            t.R[k, i] = 0.0
    for k in range(rows):
        best, most = k, -1.0
        for j in range(k, rows):
            square = dot_rows(t.A, t.pivot[j], t.A, t.pivot[j], n)
            if square > most:
                best, most = j, square
        t.pivot[k], t.pivot[best] = t.pivot[best], t.pivot[k]
        i = t.pivot[k]
        if most < LOST * LOST * t.size[i]:
            orthogonal_again(t, i, rank, k, n)
            most = dot_rows(t.A, i, t.A, i, n)
        if most < RANK * RANK:
            return k
        length = math.sqrt(most)
        t.R[k, i] = length
        for c in range(n):
            t.basis[rank + k, c] = t.A[i, c] / length
        for j in range(k + 1, rows):
            i = t.pivot[j]
            f = dot_rows(t.A, i, t.basis, rank + k, n)
            t.R[k, i] = f
            take_off(t.A, i, f, t.basis, rank + k, n)
    return rows


@kernel
def inverse_size(t, rows):
    """|R^-1|_F of a square R: a column of the inverse after the other, by back substitution; in t.y."""
    total = 0.0
    for k in range(rows):
        for a in range(k, -1, -1):
            x = 1.0 if a == k else 0.0
            for b in range(a + 1, k + 1):
                x -= t.R[a, t.pivot[b]] * t.y[b]
            t.y[a] = x / t.R[a, t.pivot[a]]
            total += t.y[a] * t.y[a]
    return math.sqrt(total)


@kernel
def damping(t, rows):
    """EPS, or more where more is asked for: s/(s^2 + l2) <= 1/(2 l)."""
    total = 0.0
    for r in range(rows):
        total += t.rest[r] * t.rest[r]
    return max(EPS, 0.5 * math.sqrt(total) / t.singular_speed)


@kernel
def solve_exactly(t, rows):
    """R^T y = rest, forward."""
    for k in range(rows):
        x = t.rest[t.pivot[k]]
        for a in range(k):
            x -= t.R[a, t.pivot[k]] * t.y[a]
        t.y[k] = x / t.R[k, t.pivot[k]]


@kernel
def rotate_rows(X, a, b, c, s, n):
    for i in range(n):
        x, y = X[a, i], X[b, i]
        X[a, i], X[b, i] = c * x - s * y, s * x + c * y


@kernel
def jacobi(t, added, rows):
    """Rows of R (added, rows) turned until they are orthogonal: then W^T R = S U^T, W^T in t.W; S^2 in t.square.

    Pivots have sorted the rows by size, which is how Jacobi converges best (Drmac & Veselic 2008).
    """
    for a in range(added):
        for b in range(added):
            t.W[a, b] = 1.0 if a == b else 0.0
    for _ in range(SWEEPS):
        turned = False
        for a in range(added):
            t.square[a] = dot_rows(t.R, a, t.R, a, rows)
        for a in range(added - 1):
            for b in range(a + 1, added):
                aa, bb, ab = t.square[a], t.square[b], dot_rows(t.R, a, t.R, b, rows)
                if ab * ab <= ORTHOGONAL * ORTHOGONAL * aa * bb:
                    continue
                turned = True
                z = (bb - aa) / (2.0 * ab)
                tan = (1.0 if z >= 0.0 else -1.0) / (abs(z) + math.sqrt(1.0 + z * z))
                c = 1.0 / math.sqrt(1.0 + tan * tan)
                rotate_rows(t.R, a, b, c, c * tan, rows)
                rotate_rows(t.W, a, b, c, c * tan, added)
                t.square[a], t.square[b] = aa - tan * ab, bb + tan * ab
        if not turned:
            return


@kernel
def solve_damped(t, added, rows, eps):
    """y = W diag(s/(s^2 + l2)) U^T rest; squares of singular values into t.square."""
    for b in range(added):
        t.y[b] = 0.0
    for a in range(added):
        square, push = 0.0, 0.0
        for i in range(rows):
            square += t.R[a, i] * t.R[a, i]
            push += t.R[a, i] * t.rest[i]
        t.square[a] = square
        damped = max(0.0, eps * eps - square)
        f = push / (square + damped)
        for b in range(added):
            t.y[b] += f * t.W[a, b]


@kernel
def leave_weak(t, rank, added):
    """Of this level's directions only those above TOL stay in the basis; returns how many.  A is scratch by now."""
    n, kept = t.v.shape[0], 0
    for a in range(added):
        if t.square[a] <= TOL * TOL:
            continue
        for c in range(n):
            t.A[kept, c] = 0.0
        for b in range(added):
            take_off(t.A, kept, -t.W[a, b], t.basis, rank + b, n)
        kept += 1
    if kept < added:
        for a in range(kept):
            for c in range(n):
                t.basis[rank + a, c] = t.A[a, c]
    return kept


# ---- joints' ranges and speeds


@kernel
def come_back(t):
    """v to begin with: a joint outside its range comes back, whatever tasks ask; the others are free."""
    for c in range(t.v.shape[0]):
        t.v[c], t.free[c] = 0.0, 1.0
        t.low[c], t.high[c] = -t.fastest[c], t.fastest[c]
        n = t.q_of[c]
        if n < 0:
            continue
        low, high = (t.lower[c] - t.q[n]) / t.dt, (t.upper[c] - t.q[n]) / t.dt
        if low > 0.0 or high < 0.0:
            back = low if low > 0.0 else high
            t.v[c], t.free[c] = min(max(back, -t.fastest[c]), t.fastest[c]), 0.0
            t.low[c], t.high[c] = t.v[c], t.v[c]
        else:
            t.low[c], t.high[c] = max(low, -t.fastest[c]), min(high, t.fastest[c])


@kernel
def leaves_range(t, c):
    """Whether this level takes a joint beyond an end, and not only beyond its speed."""
    v = t.v[c] + t.dv[c]
    return (v < t.low[c] - SLACK and t.low[c] > -t.fastest[c]) or (v > t.high[c] + SLACK and t.high[c] < t.fastest[c])


@kernel
def hold_joint(t, c, rank):
    """Column c into the basis, as far as it is not in there: nothing from here on moves it.  How many rows that is."""
    n = t.v.shape[0]
    for i in range(n):
        t.A[0, i] = 1.0 if i == c else 0.0
    for _ in range(2):
        for b in range(rank):
            take_off(t.A, 0, dot_rows(t.A, 0, t.basis, b, n), t.basis, b, n)
    length = math.sqrt(dot_rows(t.A, 0, t.A, 0, n))
    if length < HARDLY:
        return 0
    for i in range(n):
        t.basis[rank, i] = t.A[0, i] / length
    return 1


@kernel
def hold_ends(t, rank):
    """All joints that this level takes beyond their ends; how many rows the basis got."""
    before = rank
    for c in range(t.v.shape[0]):
        if t.free[c] > 0.0 and leaves_range(t, c):
            rank += hold_joint(t, c, rank)
    return rank - before


@kernel
def move(t):
    """v += dv, as much of it as speeds and ranges allow, of the speed a share of what is left."""
    part = 1.0
    for c in range(t.v.shape[0]):
        v, dv, most = t.v[c], t.dv[c], t.fastest[c]
        if abs(dv) <= SLACK:
            continue
        end = t.high[c] if dv > 0.0 else t.low[c]
        if abs(end) >= most:  # its speed, not its range
            end = v + SHARE * (end - v)
        part = min(part, max(0.0, (end - v) / dv))
    for c in range(t.v.shape[0]):
        t.v[c] += part * t.dv[c]


# ---- levels


@kernel
def ask_level(t, r0, r1, rank):
    """dv that the rows r0 .. r1 ask for within what the basis leaves free; how many rows the basis gets from them."""
    n, rows = t.v.shape[0], r1 - r0
    project_rows(t, r0, r1, rank)
    added = add_rows(t, rows, rank)
    eps = damping(t, rows)
    regular = added == rows and inverse_size(t, rows) * eps <= 1.0
    if regular:
        solve_exactly(t, rows)
    else:
        t.near_singular += 1
        jacobi(t, added, rows)
        solve_damped(t, added, rows, eps)
    for c in range(n):
        t.dv[c] = 0.0
    for k in range(added):
        for c in range(n):
            t.dv[c] += t.y[k] * t.basis[rank + k, c]
    return added if regular else leave_weak(t, rank, added)


@kernel
def solve_level(t, r0, r1, rank):
    """One level; returns the basis' new size."""
    residual(t, r0, r1)
    added = ask_level(t, r0, r1, rank)
    for _ in range(AGAIN):
        held = hold_ends(t, rank)
        if held == 0:
            break
        t.solves += 1
        rank += held
        added = ask_level(t, r0, r1, rank)
    move(t)
    return rank + added


@kernel
def ask_posture(t, rank):
    """dv of the last level, of all columns: what is free goes to the posture, N (e - v)."""
    n = t.v.shape[0]
    for c in range(n):
        t.A[0, c] = t.free[c] * (t.e_posture[c] - t.v[c])
    for _ in range(2):
        for b in range(rank):
            take_off(t.A, 0, dot_rows(t.A, 0, t.basis, b, n), t.basis, b, n)
    for c in range(n):
        t.dv[c] = t.A[0, c]


@kernel
def solve_posture(t, rank):
    ask_posture(t, rank)
    for _ in range(AGAIN):
        held = hold_ends(t, rank)
        if held == 0:
            break
        t.solves += 1
        rank += held
        ask_posture(t, rank)
    move(t)


@kernel
def solve_levels(t):
    """v of all levels, within joint speeds and ranges."""
    come_back(t)
    t.near_singular, t.solves, rank = 0, 1, 0
    for level in range(t.level_begin.shape[0] - 1):
        rank = solve_level(t, t.level_begin[level], t.level_begin[level + 1], rank)
    if t.has_posture:
        solve_posture(t, rank)
