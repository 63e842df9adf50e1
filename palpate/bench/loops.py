"""Compiled loops over many states: what an algorithm costs inside a compiled program, without the call from Python."""

from palpate.dynamics.aba import aba
from palpate.dynamics.rnea import rnea
from palpate.dynamics.workspace import load
from palpate.jit import entry


@entry("intp, float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], intp")
def forward_loop(address, q, v, tau, wrenches, a, repeats):
    """Forward dynamics of every row of q (n, nq), v, tau (n, nv) into a (n, nv), `repeats` times."""
    m, w = load(address)
    for _ in range(repeats):
        for s in range(q.shape[0]):
            aba(m, q[s], v[s], tau[s], wrenches, w, a[s])


@entry("intp, float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], intp")
def inverse_loop(address, q, v, a, wrenches, tau, repeats):
    """Inverse dynamics of every row of q (n, nq), v, a (n, nv) into tau (n, nv), `repeats` times."""
    m, w = load(address)
    for _ in range(repeats):
        for s in range(q.shape[0]):
            rnea(m, q[s], v[s], a[s], wrenches, w, tau[s])
