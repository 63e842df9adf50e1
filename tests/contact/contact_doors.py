"""Doors from Python to the kernels of one contact, over many problems at once; and the law itself, in plain numpy."""

import numpy as np

from palpate.contact.cone import alart_curnier, natural_map, project
from palpate.contact.single import prepare, solve_prepared
from palpate.contact.smoothing import smooth_map
from palpate.jit import entry
from palpate.spatial.vectors import get3, put3, put9


@entry("float64[:, ::1], float64[::1], float64[:, ::1]")
def projections(x, mu, out):
    for i in range(x.shape[0]):
        put3(out, i, project(get3(x, i), mu[i]))


@entry("float64[:, ::1], float64[:, ::1], float64[::1], float64[::1], float64[:, ::1]")
def natural_maps(l, u, mu, g, F):
    for i in range(l.shape[0]):
        put3(F, i, natural_map(get3(l, i), get3(u, i), mu[i], g[i]))


@entry(
    "float64[:, ::1], float64[:, ::1], float64[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1]"
)
def newton_maps(l, u, mu, g, F, C, N):
    for i in range(l.shape[0]):
        f, c, n = alart_curnier(get3(l, i), get3(u, i), mu[i], g[i])
        put3(F, i, f)
        put9(C, i, c)
        put9(N, i, n)


@entry(
    "float64[:, ::1], float64[:, ::1], float64[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1]"
)
def smooth_maps(l, u, mu, rho_tau, F, C, N):
    for i in range(l.shape[0]):
        f, c, n = smooth_map(get3(l, i), get3(u, i), mu[i], rho_tau[0], rho_tau[1])
        put3(F, i, f)
        put9(C, i, c)
        put9(N, i, n)


@entry("float64[:, ::1], float64[:, ::1], float64[::1], float64[:, ::1], float64[:, ::1], int64[::1]")
def single_solves(G, c, mu, warm, l, several):
    """G (n, 6) as (nn, t1t1, t2t2, nt1, nt2, t1t2)."""
    for i in range(G.shape[0]):
        own = prepare((G[i, 0], G[i, 1], G[i, 2], G[i, 3], G[i, 4], G[i, 5]))
        found, several[i] = solve_prepared(own, get3(c, i), mu[i], get3(warm, i))
        put3(l, i, found)


# ---- the law, written once more and differently


def nearest(x, mu):
    """P_K of rows of x (n, 3)."""
    n, t = x[:, 0], np.linalg.norm(x[:, 1:], axis=1)
    along = np.maximum((n + mu * t) / (1.0 + mu**2), 0.0)  # nearest point of the generator below x
    direction = x[:, 1:] / np.maximum(t, 1e-300)[:, None]
    surface = np.column_stack([along, (mu * along)[:, None] * direction])
    return np.where(((t <= mu * n) & (n >= 0.0))[:, None], x, surface)


def residuals(G, c, mu, lam):
    """Lengths (m,) of the natural map of a dense problem [N s]."""
    m = len(c) // 3
    l, u = lam.reshape(m, 3), (G @ lam + c).reshape(m, 3)
    g = np.diag(G).reshape(m, 3).mean(axis=1)
    shift = u + np.column_stack([mu * np.linalg.norm(u[:, 1:], axis=1), np.zeros((m, 2))])
    return np.linalg.norm(l - nearest(l - shift / g[:, None], np.broadcast_to(mu, m)), axis=1)


def packed(G):
    """(n, 3, 3) symmetric as (n, 6)."""
    return np.stack([G[:, 0, 0], G[:, 1, 1], G[:, 2, 2], G[:, 0, 1], G[:, 0, 2], G[:, 1, 2]], axis=1)


@entry("float64[:, ::1], float64[::1], float64[::1], intp, float64[::1]")
def gauss_seidel(G, c, mu, sweeps, l):
    """l (3m,) after plain sweeps from nothing, each contact solved exactly in turn."""
    for _ in range(sweeps):
        for i in range(mu.shape[0]):
            k = 3 * i
            u0, u1, u2 = c[k], c[k + 1], c[k + 2]
            for j in range(l.shape[0]):
                if j < k or j > k + 2:
                    u0 += G[k, j] * l[j]
                    u1 += G[k + 1, j] * l[j]
                    u2 += G[k + 2, j] * l[j]
            own = (G[k, k], G[k + 1, k + 1], G[k + 2, k + 2], G[k, k + 1], G[k, k + 2], G[k + 1, k + 2])
            new, _ = solve_prepared(prepare(own), (u0, u1, u2), mu[i], (l[k], l[k + 1], l[k + 2]))
            l[k], l[k + 1], l[k + 2] = new
