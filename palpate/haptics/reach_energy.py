"""The energy of one device's port, tick by tick: observed, and kept honest as its Reach says.

a  ReachArrays (reach_tables.py);  e  PortEnergy (passivity.py);  t  Tank (tank.py);  port  Port of the device, in whose
frame everything here is
"""

from palpate.haptics.passivity import bound, control, observe, observe_turn
from palpate.haptics.reach_tables import (
    BOUNDING,
    CONTROLLER,
    HAND,
    HAND_TURN,
    LAST_TURN,
    OBSERVER,
    TANK,
)
from palpate.haptics.tank import absorb, empty, grant, keep_passive, receive
from palpate.jit import kernel
from palpate.spatial.quaternions import rotation_between
from palpate.spatial.vectors import part4, put_part, scale, sub

ZERO = (0.0, 0.0, 0.0)


@kernel
def watch_energy(a, port, e):
    """(displacement, rotation vector) of the device since the last tick; counts what the wrench held meanwhile did."""
    x, turn = port.position, port.quaternion
    moved, turned = ZERO, ZERO
    if a.started:
        moved = sub(x, a.last)
        turned = rotation_between(part4(a.turn, LAST_TURN), turn)
        observe(e, HAND, port.force, moved)
        observe_turn(e, HAND_TURN, port.torque, turned)
    a.last = x
    put_part(a.turn, LAST_TURN, turn)
    a.started = 1
    return moved, turned


@kernel
def spend(a, t, port, force, moved, dt):
    """The wanted force, device frame, as far as this end of a link has energy for it; in the bodies' units there."""
    weight, stretch = a.weight, a.scale
    if a.new_link:
        a.new_link = 0
        empty(t)
    absorb(t, scale(weight, port.force), scale(stretch, moved))
    a.granted_J = grant(t)
    receive(t, a.energy_J)
    mass = a.device_mass * weight / stretch
    sent = keep_passive(t, scale(weight, force), scale(stretch / dt, moved), mass, dt)
    return scale(1.0 / weight, sent)


@kernel
def keep_honest(a, e, t, port, force, moved, dt):
    """The wanted force, device frame, after what keeps the port passive, if anything does."""
    if a.passivity == TANK:
        return spend(a, t, port, force, moved, dt)
    if a.passivity == CONTROLLER:
        return control(e, HAND, force, moved, a.device_mass, dt)
    if a.passivity == BOUNDING:
        return bound(port.force, force, moved, a.damping, dt)
    return force


@kernel
def keep_turning_honest(a, e, port, torque, turned, dt):
    """The same of the wanted torque; a link has no tank for it, so that there the controller does it."""
    if a.passivity == OBSERVER:
        return torque
    if a.passivity == BOUNDING:
        return bound(port.torque, torque, turned, a.turn_damping, dt)
    return control(e, HAND_TURN, torque, turned, a.device_inertia, dt)
