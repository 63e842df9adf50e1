"""The implicit virtual coupling: device and virtual tool joined by a spring and a damper; only the tool meets walls.

    f  = -K (x - y) - B (v - u)                                 force on the device; the tool gets its opposite
    A u+ = m u + T (K (x - y) + B v + f_e),  A = m + T B + T^2 K       the tool, implicit Euler: stable for any K, B, T
    y+ = y + T u+

Then the tool meets a plane, n.(y - p) = d < 0 inside.  Rigid: the tool is put on it and loses its normal velocity.
Compliant, implicit too: N = -K_w d+ - B_w u_n+ >= 0 with A u_n+ = A u_n + T N and d+ = d + T u_n+.

x, v device [m, m/s];  y, u tool;  K, B of the coupling [N/m, N s/m];  m of the tool [kg];  f_e other forces on the tool
[N];  K_w, B_w of the wall;  T = dt [s].  Colgate, Stanley & Brown 1995; Adams & Hannaford 1999.  The device's port is
passive for b > K T/2 + B, b the device's own damping, however stiff the wall; against a rigid stop it is stable up to
about K < 2 (b + B)/T.  Reference on planar haptics 8.2.  Take v from the same samples as x: v = (x - x_before)/T.
"""

from __future__ import annotations

from palpate.jit import kernel
from palpate.spatial.vectors import add, add_scaled, dot, scale, sub

Vector = tuple[float, float, float]
Spring = tuple[float, float]  # stiffness [N/m], damping [N s/m]


@kernel
def shown_mass(coupling: Spring, mass: float, dt: float) -> float:
    """A [kg]: what the tool weighs for forces of this step, tied to the device as it is."""
    return mass + dt * (coupling[1] + dt * coupling[0])


@kernel
def drawn(
    coupling: Spring, mass: float, x: Vector, v: Vector, y: Vector, u: Vector, others: Vector, dt: float
) -> Vector:
    """The tool's next velocity u+ [m/s], drawn by the device and by `others` [N], nothing in its way."""
    force = add(add_scaled(scale(coupling[0], sub(x, y)), coupling[1], v), others)
    return scale(1.0 / shown_mass(coupling, mass, dt), add_scaled(scale(mass, u), dt, force))


@kernel
def stopped(point: Vector, normal: Vector, y: Vector, u: Vector, dt: float) -> tuple[Vector, Vector, bool]:
    """(y+, u+, touching) of a tool at y with next velocity u and a rigid plane through `point`."""
    after = add_scaled(y, dt, u)
    depth = -dot(sub(after, point), normal)
    if depth <= 0.0:
        return after, u, False
    return add_scaled(after, depth, normal), add_scaled(u, -min(0.0, dot(u, normal)), normal), True


@kernel
def pressed(
    wall: Spring, shown: float, point: Vector, normal: Vector, y: Vector, u: Vector, dt: float
) -> tuple[Vector, Vector, float]:
    """(y+, u+, N) of a tool at y with next velocity u, `shown` [kg], and a compliant plane; N >= 0 [N] on the tool."""
    along, gap = dot(u, normal), dot(sub(y, point), normal)
    push = 0.0
    if gap + dt * along < 0.0:
        pressing = -(wall[0] * (gap + dt * along) + wall[1] * along)  # N if the tool did not give way
        push = max(0.0, pressing / (1.0 + dt / shown * (wall[1] + dt * wall[0])))
    after = add_scaled(u, dt * push / shown, normal)
    return add_scaled(y, dt, after), after, push


@kernel
def coupling_force(coupling: Spring, x: Vector, v: Vector, y: Vector, u: Vector) -> Vector:
    """The force on the device [N]; with the tool's state after its step."""
    return sub(scale(-coupling[0], sub(x, y)), scale(coupling[1], sub(v, u)))
