"""The point nearest to x that a few planes allow: at most three of them hold it.

    min |y - x|^2  with  n_i . y >= o_i      y = x + sum l_i n_i,  l_i >= 0,  l_i > 0 only where plane i holds
    G l = b,  G_ij = n_i . n_j,  b_i = o_i - n_i . x                        for the planes that hold

Zilles and Salisbury 1995 solve this for the god-object.  With six planes at most, all sets of one, two and three are
tried in turn; the one with l >= 0 whose point all others allow is the solution, and the only one.
The planes lie a skin above the surface.  The depth that is felt is G l = b - skin: it begins at the surface itself.
"""

from palpate.haptics.rendering.tables import load_proxy
from palpate.jit import kernel, shared
from palpate.spatial.vectors import add_scaled, dot, get3

# What is this little behind a plane is on it [m].
ON_PLANE = 1e-12
# Planes that make no corner: determinant of G.
SINGULAR = 1e-12


@kernel
def allowed(plane, count, y):
    """Whether all planes allow y."""
    for k in range(count):
        if dot(get3(plane, k), y) < plane[k, 3] - ON_PLANE:
            return False
    return True


@kernel
def put_solution(s, count, y, i, li, fi, j, lj, fj, k, lk, fk):
    """Multipliers l and felt depths f of up to three planes; a row -1 is none."""
    for r in range(count):
        s.multiplier[r], s.pressed[r] = 0.0, 0.0
    s.multiplier[i], s.pressed[i] = li, max(fi, 0.0)
    if j >= 0:
        s.multiplier[j], s.pressed[j] = lj, max(fj, 0.0)
    if k >= 0:
        s.multiplier[k], s.pressed[k] = lk, max(fk, 0.0)
    s.goal[0], s.goal[1], s.goal[2] = y


@kernel
def solve3(G01, G02, G12, det, a, b, c):
    """G l = (a, b, c) for a G with ones on its diagonal."""
    return ((a * (1.0 - G12 * G12) + b * (G02 * G12 - G01) + c * (G01 * G12 - G02)) / det,
            (a * (G02 * G12 - G01) + b * (1.0 - G02 * G02) + c * (G01 * G02 - G12)) / det,
            (a * (G01 * G12 - G02) + b * (G01 * G02 - G12) + c * (1.0 - G01 * G01)) / det)  # fmt: skip


@kernel
def one_plane(s, count, x):
    for i in range(count):
        n = get3(s.plane, i)
        b = s.plane[i, 3] - dot(n, x)
        if b > 0.0:
            y = add_scaled(x, b, n)
            if allowed(s.plane, count, y):
                put_solution(s, count, y, i, b, b - s.skin_m, -1, 0.0, 0.0, -1, 0.0, 0.0)
                return True
    return False


@kernel
def two_planes(s, count, x):
    skin = s.skin_m
    for i in range(count):
        for j in range(i + 1, count):
            n, m = get3(s.plane, i), get3(s.plane, j)
            G = dot(n, m)
            det = 1.0 - G * G
            if det < SINGULAR:
                continue
            a, b = s.plane[i, 3] - dot(n, x), s.plane[j, 3] - dot(m, x)
            l, r = (a - G * b) / det, (b - G * a) / det
            if l >= 0.0 and r >= 0.0:
                y = add_scaled(add_scaled(x, l, n), r, m)
                if allowed(s.plane, count, y):
                    less = skin * (1.0 - G) / det
                    put_solution(s, count, y, i, l, l - less, j, r, r - less, -1, 0.0, 0.0)
                    return True
    return False


@kernel
def three_planes(s, count, x):
    skin = s.skin_m
    for i in range(count):
        for j in range(i + 1, count):
            for k in range(j + 1, count):
                n, m, o = get3(s.plane, i), get3(s.plane, j), get3(s.plane, k)
                G01, G02, G12 = dot(n, m), dot(n, o), dot(m, o)
                det = 1.0 + 2.0 * G01 * G02 * G12 - G01 * G01 - G02 * G02 - G12 * G12
                if det < SINGULAR:
                    continue
                a, b, c = s.plane[i, 3] - dot(n, x), s.plane[j, 3] - dot(m, x), s.plane[k, 3] - dot(o, x)
                l = solve3(G01, G02, G12, det, a, b, c)
                if l[0] >= 0.0 and l[1] >= 0.0 and l[2] >= 0.0:
                    y = add_scaled(add_scaled(add_scaled(x, l[0], n), l[1], m), l[2], o)
                    if allowed(s.plane, count, y):
                        f = solve3(G01, G02, G12, det, a - skin, b - skin, c - skin)
                        put_solution(s, count, y, i, l[0], f[0], j, l[1], f[1], k, l[2], f[2])
                        return True
    return False


@shared("int64(intp, float64, float64, float64)")
def nearest_allowed(address, x, y, z):
    """goal, multiplier and pressed for the planes there are; 0 if none is found: they leave no room, or all but."""
    _, _, _, s = load_proxy(address)
    at, count = (x, y, z), s.n_planes
    if allowed(s.plane, count, at):
        for r in range(count):
            s.multiplier[r], s.pressed[r] = 0.0, 0.0
        s.goal[0], s.goal[1], s.goal[2] = at
        return 1
    return 1 if one_plane(s, count, at) or two_planes(s, count, at) or three_planes(s, count, at) else 0
