"""The mass matrix: composite-rigid-body algorithm.  Featherstone 2008, section 6.2; world-aligned, see kinematics.py.

Ic_i = inertia of link i with all it carries, locked: mass, m c and I about the reference point simply add.
H_kl = S_l . Ic_i S_k, for axis k of link i and every axis l on the way to the root
"""

from palpate.conventions import WORLD
from palpate.dynamics.inertia import about_reference, link_mass
from palpate.jit import kernel
from palpate.spatial.vectors import add, cross, dot, get6, scale, sub, symmetric_times


@kernel
def composite_inertias(m, w):
    """R, p -> Ic (L, 10): mass, m c (3), I about the reference point (6)."""
    Ic = w.Ic
    for i in range(1, m.parent.shape[0]):
        mass, c, I = link_mass(m, w, i)
        I, mc = about_reference(mass, c, I)
        Ic[i, 0] = mass
        for j in range(3):
            Ic[i, 1 + j] = mc[j]
        for j in range(6):
            Ic[i, 4 + j] = I[j]
    for i in range(m.parent.shape[0] - 1, 0, -1):
        parent = m.parent[i]
        if parent != WORLD:
            for j in range(10):
                Ic[parent, j] += Ic[i, j]


@kernel
def crba(m, w, H):
    """R, p, S -> H (nv, nv), armature included."""
    composite_inertias(m, w)
    H[:, :] = 0.0
    for i in range(1, m.parent.shape[0]):
        mass, mc = w.Ic[i, 0], (w.Ic[i, 1], w.Ic[i, 2], w.Ic[i, 3])
        I = (w.Ic[i, 4], w.Ic[i, 5], w.Ic[i, 6], w.Ic[i, 7], w.Ic[i, 8], w.Ic[i, 9])
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            sw, sv = get6(w.S, k)
            n = add(symmetric_times(I, sw), cross(mc, sv))  # Ic S
            f = sub(scale(mass, sv), cross(mc, sw))
            a = m.axis_v[k]
            H[a, a] += dot(sw, n) + dot(sv, f) + m.axis_ratio[k] * m.axis_ratio[k] * m.armature[k]
            link, l = i, k - 1  # the axes below k: first of this link, then of its ancestors
            while link != WORLD:
                while l >= m.axis_begin[link]:
                    lw, lv = get6(w.S, l)
                    h = dot(lw, n) + dot(lv, f)
                    b = m.axis_v[l]
                    H[a, b] += h  # when a mimic joint shares its leader's velocity both land on H[a, a], as they must
                    H[b, a] += h
                    l -= 1
                link = m.parent[link]
                l = m.axis_begin[link] + m.axis_count[link] - 1
