"""A virtual tool between device and wall (reference on planar haptics 8.2; haptics/virtual_coupling.py has the method).

Device and tool are joined by K_v, B_v; only the tool meets the wall, which is called with the tool's depth.  The tool
is on the surface, at rest, when the device enters.  The device's port is passive for b > K_v T/2 + B_v, b the device's
own damping, however stiff a wall that is passive towards the tool.  Rigid: the tool stops at the surface, and the wall
is not asked.  In the air there is no tool: its mass, which a device would lose at each impact, is not felt.

Depths are positive inside, so all signs here are those of depth: the tool is drawn inwards and the wall pushes it out.
"""

from palpate.haptics.contact_laws import STATE, call_wall, keeper_law, pushing
from palpate.haptics.virtual_coupling import coupling_force, drawn, stopped

DEPTH, RATE, WAS_IN = range(3)  # places in the state: of the tool [m, m/s]; 1 while it is in the wall
ORIGIN, OUTWARDS = (0.0, 0.0, 0.0), (-1.0, 0.0, 0.0)


@keeper_law(coupling_N_m=450.0, coupling_Ns_m=0.0, tool_kg=0.1, rigid=0.0)
def virtual_coupling(wall, wall_setting, wall_state, depth, approach, dt, mass, setting, state):
    """Fn = K_v (d - y) + B_v (C0 - u)."""
    coupling, tool, rigid = (setting[0], setting[1]), setting[2], setting[3] > 0.5
    x, v = (depth, 0.0, 0.0), (approach, 0.0, 0.0)
    y, u = (state[DEPTH], 0.0, 0.0), (state[RATE], 0.0, 0.0)
    push = 0.0
    if not rigid:
        if y[0] > 0.0:
            push = pushing(call_wall(wall, y[0], u[0], dt, tool, wall_setting, wall_state))
        elif state[WAS_IN] > 0.5:
            for i in range(STATE):
                wall_state[i] = 0.0
        state[WAS_IN] = 1.0 if y[0] > 0.0 else 0.0
    u = drawn(coupling, tool, x, v, y, u, (-push, 0.0, 0.0), dt)
    if rigid:
        y, u, _ = stopped(ORIGIN, OUTWARDS, y, u, dt)
    else:
        y = (y[0] + dt * u[0], 0.0, 0.0)
    state[DEPTH], state[RATE] = y[0], u[0]
    return -coupling_force(coupling, x, v, y, u)[0]
