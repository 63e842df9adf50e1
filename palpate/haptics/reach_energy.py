"""The energy of one device's port, tick by tick: observed, and kept honest as its Reach says.

a  ReachArrays (reach_tables.py);  e  PortEnergy (passivity.py);  t  Tank (tank.py);  port  Port of the device, in whose
frame everything here is
"""

from palpate.haptics.devices.port import POSITION, QUATERNION
from palpate.haptics.devices.protocol import FORCE, TORQUE
from palpate.haptics.passivity import bound, control, observe, observe_turn
from palpate.haptics.reach_tables import (
    BOUNDING,
    CONTROLLER,
    DAMPING,
    DEVICE_INERTIA,
    DEVICE_MASS,
    ENERGY_J,
    GRANTED_J,
    HAND,
    HAND_TURN,
    LAST,
    LAST_TURN,
    NEW_LINK,
    OBSERVER,
    PASSIVITY,
    SCALE,
    STARTED,
    TANK,
    TURN_DAMPING,
    WEIGHT,
)
from palpate.haptics.tank import absorb, empty, grant, keep_passive, receive
from palpate.jit import kernel
from palpate.spatial.quaternions import rotation_between
from palpate.spatial.vectors import get3, part3, part4, put3, put_part, scale, sub

ZERO = (0.0, 0.0, 0.0)


@kernel
def watch_energy(a, port, e):
    """(displacement, rotation vector) of the device since the last tick; counts what the wrench held meanwhile did."""
    x, turn = part3(port.reading, POSITION.start), part4(port.reading, QUATERNION.start)
    moved, turned = ZERO, ZERO
    if a.integer[STARTED]:
        moved = sub(x, get3(a.vector, LAST))
        turned = rotation_between(part4(a.turn, LAST_TURN), turn)
        observe(e, HAND, part3(port.command, FORCE.start), moved)
        observe_turn(e, HAND_TURN, part3(port.command, TORQUE.start), turned)
    put3(a.vector, LAST, x)
    put_part(a.turn, LAST_TURN, turn)
    a.integer[STARTED] = 1
    return moved, turned


@kernel
def spend(a, t, port, force, moved, dt):
    """The wanted force, device frame, as far as this end of a link has energy for it; in the bodies' units there."""
    weight, stretch = a.number[WEIGHT], a.number[SCALE]
    if a.integer[NEW_LINK]:
        a.integer[NEW_LINK] = 0
        empty(t)
    absorb(t, scale(weight, part3(port.command, FORCE.start)), scale(stretch, moved))
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
        return bound(part3(port.command, FORCE.start), force, moved, a.number[DAMPING], dt)
    return force


@kernel
def keep_turning_honest(a, e, port, torque, turned, dt):
    """The same of the wanted torque; a link has no tank for it, so that there the controller does it."""
    if a.integer[PASSIVITY] == OBSERVER:
        return torque
    if a.integer[PASSIVITY] == BOUNDING:
        return bound(part3(port.command, TORQUE.start), torque, turned, a.number[TURN_DAMPING], dt)
    return control(e, HAND_TURN, torque, turned, a.number[DEVICE_INERTIA], dt)
