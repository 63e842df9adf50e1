"""The table: the inverse inertia Om_ab between any two touching links, from the factors that `aba` left behind.

An axis k turns a twist before it into one after it by L_k = 1 - S_k D_k^-1 U_k^T, and adds S_k D_k^-1 S_k^T of its own:
    Om_after = L_k Om_before L_k^T + S_k D_k^-1 S_k^T                              root to leaf
    Om_ab    = (L ... L) Om_c (L ... L)^T through their nearest common ancestor c; zero across trees
D has the implicit terms of the controller in it, so contact and joints see the same inertia.  Nothing here has the size
of the model: cost goes with touching links times the links that carry them.

r  Rows (rows.py);  m  ModelArrays;  w  Workspace
"""

from palpate.contact.rows import N_SLOTS
from palpate.conventions import WORLD
from palpate.dynamics.kinematics import joint_motion
from palpate.jit import kernel
from palpate.spatial.vectors import add, get6, put6


@kernel
def row6(array, k):
    return (array[k, 0], array[k, 1], array[k, 2], array[k, 3], array[k, 4], array[k, 5])


@kernel
def pass_axis(Om, i, S, U, D_inv):
    """Om_i <- L Om_i L^T + S D^-1 S^T: one symmetric update of rank two."""
    x = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for r in range(6):  # Om U, by rows since Om is symmetric
        at = 6 * r
        x = (x[0] + Om[i, at] * U[r], x[1] + Om[i, at + 1] * U[r], x[2] + Om[i, at + 2] * U[r],
             x[3] + Om[i, at + 3] * U[r], x[4] + Om[i, at + 4] * U[r], x[5] + Om[i, at + 5] * U[r])  # fmt: skip
    Ux = x[0] * U[0] + x[1] * U[1] + x[2] * U[2] + x[3] * U[3] + x[4] * U[4] + x[5] * U[5]
    half = 0.5 * D_inv * (1.0 + D_inv * Ux)
    y = (half * S[0] - D_inv * x[0], half * S[1] - D_inv * x[1], half * S[2] - D_inv * x[2],
         half * S[3] - D_inv * x[3], half * S[4] - D_inv * x[4], half * S[5] - D_inv * x[5])  # fmt: skip
    for r in range(6):
        for c in range(6):
            Om[i, 6 * r + c] += S[r] * y[c] + y[r] * S[c]


@kernel
def pass_right(X, i, a, b, D_inv):
    """X_i <- X_i (1 - D^-1 a b^T): X L_k for (a, b) = (S, U), X L_k^T for (U, S)."""
    for r in range(6):
        at = 6 * r
        f = D_inv * (X[i, at] * a[0] + X[i, at + 1] * a[1] + X[i, at + 2] * a[2]
                     + X[i, at + 3] * a[3] + X[i, at + 4] * a[4] + X[i, at + 5] * a[5])  # fmt: skip
        for c in range(6):
            X[i, at + c] -= f * b[c]


@kernel
def mark_links(m, r):
    """link_slot non-zero at touching links -> slots in the order of links, and marks on all that carry them."""
    n = 1
    table = 0
    for i in range(1, m.parent.shape[0]):
        r.mark[i] = 0
        if r.link_slot[i]:
            r.link_slot[i] = n
            r.slot_link[n] = i
            same = n > 1 and m.root[r.slot_link[n - 1]] == m.root[i]
            r.slot_first[n] = r.slot_first[n - 1] if same else n
            n += 1
    r.integer[N_SLOTS] = n
    s = 1
    while s < n:
        last = s
        while last < n and r.slot_first[last] == s:
            last += 1
        k = last - s
        for a in range(s, last):
            r.slot_count[a] = k
            r.table_at[a] = table
            table += 36 * k
        s = last
    for s in range(n - 1, 0, -1):  # the deeper first; a link already marked has marked all above it
        i = r.slot_link[s]
        fresh = r.mark[i] == 0
        r.mark[i] += fresh
        while fresh and m.parent[i] != WORLD:
            i = m.parent[i]
            fresh = r.mark[i] == 0
            r.mark[i] += 1 + fresh


@kernel
def link_blocks(m, w, v, r):
    """Root to leaf over marked links: Om_i and the twist under velocities v."""
    for i in range(1, m.parent.shape[0]):
        if r.mark[i] == 0:
            continue
        parent = m.parent[i]
        jw, jv = joint_motion(m, w, i, v)
        if parent == WORLD:
            for c in range(36):
                r.link_Om[i, c] = 0.0
        else:
            for c in range(36):
                r.link_Om[i, c] = r.link_Om[parent, c]
            omega, u = get6(r.link_W, parent)
            jw, jv = add(jw, omega), add(jv, u)
        put6(r.link_W, i, jw, jv)
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            pass_axis(r.link_Om, i, row6(w.S, k), row6(w.U, k), w.D_inv[k])


@kernel
def put_block(r, a, b, X, i):
    """X_i into the table as Om_ab, and turned over as Om_ba; a and b of one tree."""
    width = 6 * r.slot_count[a]
    at, ta = r.table_at[a] + 6 * (b - r.slot_first[a]), r.table_at[b] + 6 * (a - r.slot_first[a])
    for row in range(6):
        for c in range(6):
            r.table[at + row * width + c] = X[i, 6 * row + c]
    if a != b:
        for row in range(6):
            for c in range(6):
                r.table[ta + c * width + row] = X[i, 6 * row + c]


@kernel
def climb(m, w, r, a):
    """carry <- Om_ai for the links i above slot a at which other touching links branch off, and for its own link."""
    i = r.slot_link[a]
    for c in range(36):
        r.carry[i, c] = r.link_Om[i, c]
        r.carry[WORLD, c] = 0.0  # T, which turns twists of i into twists of a's link; row 0 is free
    for c in range(6):
        r.carry[WORLD, 7 * c] = 1.0
    while m.parent[i] != WORLD:
        for k in range(m.axis_begin[i] + m.axis_count[i] - 1, m.axis_begin[i] - 1, -1):
            pass_right(r.carry, WORLD, row6(w.S, k), row6(w.U, k), w.D_inv[k])
        i = m.parent[i]
        if r.mark[i] > 2:
            for row in range(6):
                for c in range(6):
                    x = 0.0
                    for j in range(6):
                        x += r.carry[WORLD, 6 * row + j] * r.link_Om[i, 6 * j + c]
                    r.carry[i, 6 * row + c] = x


@kernel
def descend(m, w, r, a):
    """carry down from there to the slots after a, into the table."""
    last = r.slot_first[a] + r.slot_count[a] - 1
    for i in range(r.slot_link[a] + 1, r.slot_link[last] + 1):
        if r.mark[i] == 0:
            continue
        for c in range(36):
            r.carry[i, c] = r.carry[m.parent[i], c]
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            pass_right(r.carry, i, row6(w.U, k), row6(w.S, k), w.D_inv[k])
        if r.link_slot[i]:
            put_block(r, a, r.link_slot[i], r.carry, i)


@kernel
def build_table(m, w, v, r):
    """Om between all slots, and their twists under velocities v as W_free."""
    link_blocks(m, w, v, r)
    for s in range(1, r.integer[N_SLOTS]):
        i = r.slot_link[s]
        put_block(r, s, s, r.link_Om, i)
        for c in range(6):
            r.W_free[6 * s + c] = r.link_W[i, c]
        if s < r.slot_first[s] + r.slot_count[s] - 1:
            climb(m, w, r, s)
            descend(m, w, r, s)


@kernel
def spread(m, w, r, v):
    """v += H^-1 J^T l: the impulses P of the slots, inward to the roots and outward to every joint of their trees.

    u, dA of the workspace serve as scratch, as in `aba`.
    """
    for i in range(m.parent.shape[0] - 1, 0, -1):  # inward, marked links only
        if r.mark[i]:
            for c in range(6):
                r.link_W[i, c] = 0.0
    for s in range(1, r.integer[N_SLOTS]):
        for c in range(6):
            r.link_W[r.slot_link[s], c] = r.P[6 * s + c]
    for i in range(m.parent.shape[0] - 1, 0, -1):
        if r.mark[i] == 0:
            continue
        f = row6(r.link_W, i)
        for k in range(m.axis_begin[i] + m.axis_count[i] - 1, m.axis_begin[i] - 1, -1):
            S, U = row6(w.S, k), row6(w.U, k)
            u = S[0] * f[0] + S[1] * f[1] + S[2] * f[2] + S[3] * f[3] + S[4] * f[4] + S[5] * f[5]
            w.u[k] = u
            x = u * w.D_inv[k]
            f = (f[0] - x * U[0], f[1] - x * U[1], f[2] - x * U[2], f[3] - x * U[3], f[4] - x * U[4], f[5] - x * U[5])
        if m.parent[i] != WORLD:
            for c in range(6):
                r.link_W[m.parent[i], c] += f[c]
    for i in range(1, m.parent.shape[0]):
        if r.mark[m.root[i]] == 0:
            continue
        d = row6(w.dA, m.parent[i])
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            S, U = row6(w.S, k), row6(w.U, k)
            u = w.u[k] if r.mark[i] else 0.0
            x = u - (U[0] * d[0] + U[1] * d[1] + U[2] * d[2] + U[3] * d[3] + U[4] * d[4] + U[5] * d[5])
            x *= w.D_inv[k]
            d = (d[0] + x * S[0], d[1] + x * S[1], d[2] + x * S[2], d[3] + x * S[3], d[4] + x * S[4], d[5] + x * S[5])
            v[m.axis_v[k]] += x
        for c in range(6):
            w.dA[i, c] = d[c]
