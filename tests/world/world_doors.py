"""A door from Python to the rule by which lone bodies spin."""

from palpate.jit import entry
from palpate.spatial.vectors import get3, get6, put3
from palpate.world.advance import midpoint_spin


@entry("float64[:, ::1], float64[:, ::1], float64[:, ::1], float64, float64[:, ::1]")
def spins(I, w, torque, dt, out):
    """w+ of each row: I (n, 6) as xx, yy, zz, xy, xz, yz; w, torque, out (n, 3)."""
    for i in range(I.shape[0]):
        a, b = get6(I, i)
        put3(out, i, midpoint_spin((a[0], a[1], a[2], b[0], b[1], b[2]), get3(w, i), get3(torque, i), dt))
