"""Doors from Python to kernels of several displays and of two hands."""

from palpate.jit import block_loader, entry
from palpate.mobile.planning.hands import two_hands
from palpate.mobile.planning.planner import Planner, plan
from palpate.mobile.walking.several_kernels import assign

load_planner = block_loader((Planner, False))


@entry("float64[:, ::1], int64[::1], int64[::1], float64")
def assign_door(cost, orders, base_of, hysteresis):
    """Writes base_of."""
    return assign(cost, orders, base_of, hysteresis)


@entry("float64[:, ::1], float64[:, ::1], float64[:, ::1]")
def hands_door(rows, centres, out):
    """rows (n, 9): pose, left and right hand; centres (2, 3); out (n, 3): x, z, off centre."""
    for i in range(rows.shape[0]):
        r = rows[i]
        (out[i, 0], out[i, 1]), out[i, 2] = two_hands(
            (r[0], r[1], r[2]), (r[3], r[4], r[5]), (r[6], r[7], r[8]),
            (centres[0, 0], centres[0, 1], centres[0, 2]), (centres[1, 0], centres[1, 1], centres[1, 2]),
        )  # fmt: skip


@entry("intp, float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1]")
def two_hands_door(address, start, hands, centres, out):
    """An ideal robot led by two hands that stay: start (1, 3), hands (2, 3); out (n, 6): pose, off, active, command."""
    (s,) = load_planner(address)
    x, z, phi = start[0, 0], start[0, 1], start[0, 2]
    left, right = (hands[0, 0], hands[0, 1], hands[0, 2]), (hands[1, 0], hands[1, 1], hands[1, 2])
    for k in range(out.shape[0]):
        hand, off = two_hands(
            (x, z, phi), left, right, (centres[0, 0], centres[0, 1], centres[0, 2]),
            (centres[1, 0], centres[1, 1], centres[1, 2]),
        )  # fmt: skip
        plan(s, (x, z, phi), hand, off, False)
        out[k, 0], out[k, 1], out[k, 2], out[k, 3], out[k, 4] = x, z, phi, off, float(s.active)
        out[k, 5] = abs(s.command[0]) + abs(s.command[1]) + abs(s.command[2])
        x, z, phi = x + s.dt * s.command[0], z + s.dt * s.command[1], phi + s.dt * s.command[2]
