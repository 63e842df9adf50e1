"""The table: the inverse inertia Om_ab between any two touching links, from the factors that `aba` left behind.

An axis k turns a twist before it into one after it by L_k = 1 - S_k D_k^-1 U_k^T, and adds S_k D_k^-1 S_k^T of its own:
    Om_after = L_k Om_before L_k^T + S_k D_k^-1 S_k^T                              root to leaf
    Om_ab    = (L ... L) Om_c (L ... L)^T through their nearest common ancestor c; zero across trees
D has the implicit terms of the controller in it, so contact and joints see the same inertia.  Nothing here has the size
of the model: cost goes with touching links times the links that carry them.

r  Rows (rows.py);  m  ModelArrays;  w  Workspace
"""

from palpate.conventions import WORLD
from palpate.dynamics.aba import put_rigid
from palpate.dynamics.free_body import free_response
from palpate.dynamics.inertia import about_reference, link_mass
from palpate.dynamics.kinematics import joint_motion
from palpate.jit import kernel
from palpate.jit.six import inner, lane, no_six, plus, plus_times, put_six, six, times
from palpate.spatial.vectors import (
    add,
    compose,
    get6,
    get9,
    inverse_symmetric,
    part3,
    put6,
    put_part,
    rotate_back,
)  # fmt: skip


@kernel
def pass_axis(Om, i, source, S, U, k, D_inv):
    """Om_i = L Om_source L^T + S D^-1 S^T over axis k: one symmetric update of rank two."""
    x = no_six()
    for r in range(6):  # Om U, by rows since Om is symmetric
        x = plus_times(x, U[k, r], six(Om, source, 6 * r))
    half = 0.5 * D_inv * (1.0 + D_inv * inner(x, six(U, k, 0)))
    s = six(S, k, 0)
    y = plus_times(times(half, s), -D_inv, x)
    for r in range(6):
        row = plus_times(six(Om, source, 6 * r), S[k, r], y)
        put_six(Om, i, 6 * r, plus_times(row, lane(y, r), s))


@kernel
def pass_right(X, i, source, a, b, k, D_inv):
    """X_i = X_source (1 - D^-1 a_k b_k^T): X L_k for (a, b) = (S, U), X L_k^T for (U, S)."""
    left, right = six(a, k, 0), six(b, k, 0)
    for r in range(6):
        x = six(X, source, 6 * r)
        put_six(X, i, 6 * r, plus_times(x, -D_inv * inner(x, left), right))


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
    r.n_slots = n
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
def put_free_block(m, w, r, i):
    """Om_i of a free body by itself, in closed form: [[J, -J [c]x], [[c]x J, 1/m - [c]x J [c]x]], J = I^-1 about c.

    And its inverse, the body's inertia about the reference point: [[I_0, m [c]x], [-m [c]x, m]].
    """
    mass, c, I = link_mass(m, w, i)
    J = inverse_symmetric(I)
    X = (0.0, -c[2], c[1], c[2], 0.0, -c[0], -c[1], c[0], 0.0)
    XJ = compose(X, J)
    XJX = compose(XJ, X)
    for row in range(3):
        for col in range(3):
            r.link_Om[i, 6 * row + col] = J[3 * row + col]
            r.link_Om[i, 6 * row + 3 + col] = XJ[3 * col + row]
            r.link_Om[i, 6 * (3 + row) + col] = XJ[3 * row + col]
            r.link_Om[i, 6 * (3 + row) + 3 + col] = (1.0 / mass if row == col else 0.0) - XJX[3 * row + col]
    I_0, mc = about_reference(mass, c, I)
    put_rigid(r.inertia, i, I_0, mc, mass)


@kernel
def link_blocks(m, w, v, r):
    """Root to leaf over marked links: Om_i and the twist under velocities v."""
    for i in range(1, m.parent.shape[0]):
        if r.mark[i] == 0:
            continue
        parent = m.parent[i]
        jw, jv = joint_motion(m, w, i, v)
        if parent != WORLD:
            omega, u = get6(r.link_W, parent)
            jw, jv = add(jw, omega), add(jv, u)
        put6(r.link_W, i, jw, jv)
        r.alone[i] = w.alone[i]
        if r.alone[i]:
            put_free_block(m, w, r, i)
            continue
        source = parent  # row 0, of the world, stays zero
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            pass_axis(r.link_Om, i, source, w.S, w.U, k, w.D_inv[k])
            source = i


@kernel
def put_block(r, a, b, X, i):
    """X_i into the table as Om_ab, and turned over as Om_ba; a and b of one tree."""
    width = 6 * r.slot_count[a]
    at, ta = r.table_at[a] + 6 * (b - r.slot_first[a]), r.table_at[b] + 6 * (a - r.slot_first[a])
    for row in range(6):
        put_six(r.table, 0, at + row * width, six(X, i, 6 * row))
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
            pass_right(r.carry, WORLD, WORLD, w.S, w.U, k, w.D_inv[k])
        i = m.parent[i]
        if r.mark[i] > 2:
            for row in range(6):
                x = no_six()
                for j in range(6):
                    x = plus_times(x, r.carry[WORLD, 6 * row + j], six(r.link_Om, i, 6 * j))
                put_six(r.carry, i, 6 * row, x)


@kernel
def descend(m, w, r, a):
    """carry down from there to the slots after a, into the table."""
    last = r.slot_first[a] + r.slot_count[a] - 1
    for i in range(r.slot_link[a] + 1, r.slot_link[last] + 1):
        if r.mark[i] == 0:
            continue
        source = m.parent[i]
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            pass_right(r.carry, i, source, w.U, w.S, k, w.D_inv[k])
            source = i
        if r.link_slot[i]:
            put_block(r, a, r.link_slot[i], r.carry, i)


@kernel
def build_table(m, w, v, r):
    """Om between all slots, and their twists under velocities v as W_free."""
    link_blocks(m, w, v, r)
    for s in range(1, r.n_slots):
        i = r.slot_link[s]
        put_block(r, s, s, r.link_Om, i)
        for c in range(6):
            r.W_free[6 * s + c] = r.link_W[i, c]
        if s < r.slot_first[s] + r.slot_count[s] - 1:
            climb(m, w, r, s)
            descend(m, w, r, s)


@kernel
def add_free(m, w, r, i, v):
    """The same of a link that floats alone: v += what the impulse on it does."""
    R, (n, f), j = get9(w.R, i), get6(r.link_W, i), m.axis_v[m.axis_begin[i]]
    omega, u = free_response(m, i, rotate_back(R, n), rotate_back(R, f))
    put_part(v, j, add(part3(v, j), omega))
    put_part(v, j + 3, add(part3(v, j + 3), u))


@kernel
def spread(m, w, r, v):
    """v += H^-1 J^T l: the impulses P of the slots, inward to the roots and outward to every joint of their trees.

    u, dA of the workspace serve as scratch, as in `aba`.
    """
    for i in range(1, m.parent.shape[0]):
        if r.mark[i]:
            put_six(r.link_W, i, 0, no_six())
    for s in range(1, r.n_slots):
        put_six(r.link_W, r.slot_link[s], 0, six(r.P, 0, 6 * s))
    for i in range(m.parent.shape[0] - 1, 0, -1):  # inward, marked links only
        if r.mark[i] == 0 or w.alone[i] != 0:
            continue
        f = six(r.link_W, i, 0)
        for k in range(m.axis_begin[i] + m.axis_count[i] - 1, m.axis_begin[i] - 1, -1):
            u = inner(six(w.S, k, 0), f)
            w.u[k] = u
            f = plus_times(f, -u * w.D_inv[k], six(w.U, k, 0))
        if m.parent[i] != WORLD:
            put_six(r.link_W, m.parent[i], 0, plus(six(r.link_W, m.parent[i], 0), f))
    for i in range(1, m.parent.shape[0]):
        if r.mark[m.root[i]] == 0:
            continue
        if w.alone[i]:
            add_free(m, w, r, i, v)
            continue
        d = six(w.dA, m.parent[i], 0)
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            x = ((w.u[k] if r.mark[i] else 0.0) - inner(six(w.U, k, 0), d)) * w.D_inv[k]
            d = plus_times(d, x, six(w.S, k, 0))
            v[m.axis_v[k]] += x
        put_six(w.dA, i, 0, d)
