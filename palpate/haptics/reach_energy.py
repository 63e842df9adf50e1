"""The energy of one device's port, tick by tick: observed, and kept honest as its Reach says.

a  ReachArrays (reach_tables.py);  e  PortEnergy (passivity.py);  t  Tank (tank.py);  port  Port of the device, in whose
frame everything here is
"""

from palpate.haptics.devices.port import POSITION, QUATERNION
from palpate.haptics.passivity import bound, control, observe, observe_turn
from palpate.haptics.reach_tables import (
    BOUNDING,
    CONTROLLER,
    DAMPING,
    DEVICE_MASS,
    ENERGY_J,
    GRANTED_J,
    HAND,
    HAND_TURN,
    LAST,
    LAST_TURN,
    NEW_LINK,
    PASSIVITY,
    SCALE,
    STARTED,
    TANK,
    WEIGHT,
)
from palpate.haptics.tank import absorb, empty, grant, keep_passive, receive
from palpate.jit import kernel
from palpate.spatial.quaternions import rotation_between
from palpate.spatial.vectors import get3, part3, part4, put3, put_part, scale, sub

ZERO = (0.0, 0.0, 0.0)


@kernel
def watch_energy(a, port, e):
    """Displacement of the device since the last tick; counts what the force and torque held meanwhile did."""
    x, turned = part3(port.reading, POSITION.start), part4(port.reading, QUATERNION.start)
    moved = ZERO
    if a.integer[STARTED]:
        moved = sub(x, get3(a.vector, LAST))
        rotation = rotation_between(part4(a.turn, LAST_TURN), turned)
        observe(e, HAND, part3(port.command, 0), moved)
        observe_turn(e, HAND_TURN, part3(port.command, 3), rotation)
    put3(a.vector, LAST, x)
    put_part(a.turn, LAST_TURN, turned)
    a.integer[STARTED] = 1
    return moved


@kernel
def spend(a, t, port, force, moved, dt):
    """The wanted force, device frame, as far as this end of a link has energy for it; in the bodies' units there."""
    weight, stretch = a.number[WEIGHT], a.number[SCALE]
    if a.integer[NEW_LINK]:
        a.integer[NEW_LINK] = 0
        empty(t)
    absorb(t, scale(weight, part3(port.command, 0)), scale(stretch, moved))
    a.number[GRANTED_J] = grant(t)
    receive(t, a.number[ENERGY_J])
    mass = a.number[DEVICE_MASS] * weight / stretch
    sent = keep_passive(t, scale(weight, force), scale(stretch / dt, moved), mass, dt)
    return scale(1.0 / weight, sent)


@kernel
def keep_honest(a, e, t, port, force, moved, dt):
    """The wanted force, device frame, after what keeps the port passive, if anything does."""
    if a.integer[PASSIVITY] == TANK:
        return spend(a, t, port, force, moved, dt)
    if a.integer[PASSIVITY] == CONTROLLER:
        return control(e, HAND, force, moved, a.number[DEVICE_MASS], dt)
    if a.integer[PASSIVITY] == BOUNDING:
        return bound(part3(port.command, 0), force, moved, a.number[DAMPING], dt)
    return force
