"""What frames of the planar interface hold.

Those of a lane come twice: as they are named here, and once more, `other_` before the name, for the lane that is
compared with it.  Poses (x, y, angle), wrenches (fx, fy, torque); of the device in its own coordinates, of bodies in
the room's.
"""

from __future__ import annotations

from palpate.frame import DEVICE_COUNTERS, DEVICE_PORTS, HANDS, Field, places

OTHER = "other_"
PORTS = ("hand", "coupling", "drag", "impulses", "contacts")  # where energy comes to a body and leaves it
# What can be set while it runs; each is an event, and a number of every frame (settings.py)
SETTINGS = (
    "wall", "friction", "keeper", "stiffness", "damping", "restitution", "mu", "rate", "coupling", "observer", "impact",
    "exaggeration", "compare", "other_wall", "other_friction",
)  # fmt: skip

LANE_FIELDS = (
    Field("contacts", "i", (), "contacts of this step"),
    Field("contact_body", "i", ("n_contacts", 2), "the two bodies of each: the edge's, then the vertex's"),
    Field("contact_mode", "i", ("n_contacts",), "what each contact does, as CONTACT_MODES names it"),
    Field("contact_state", "i", ("n_contacts",), "0 none, 1 colliding, 2 continuous"),
    Field("contact_point", "f", ("n_contacts", 3), "the vertex of each contact, world [m]"),
    Field("contact_force", "f", ("n_contacts", 3), "on the vertex's body, world [N]"),
    Field("contact_normal", "f", ("n_contacts", 3), "the part of it that the wall gives, world [N]"),
    Field("contact_friction", "f", ("n_contacts", 3), "and the part that friction gives, world [N]"),
    Field("contact_god", "f", ("n_contacts", 3), "the god-object: where the vertex would be on a hard wall, world [m]"),
    Field("contact_sink", "f", ("n_contacts", 3), "from there to the vertex, times the exaggeration, world [m]"),
    Field("contact_sunk_mm", "f", ("n_contacts",), "how far that is, not exaggerated [mm]"),
    Field("contact_depth_mm", "f", ("n_contacts",), "penetration, of each in a place of its own while it lasts [mm]"),
    Field("contact_energy_J", "f", ("n_contacts",), "that each took from the bodies since it began, likewise [J]"),
    Field("penetration_mm", "f", (), "of the deepest contact [mm]"),
    Field("normal_N", "f", (), "sum of the normal forces [N]"),
    Field("friction_N", "f", (), "sum of the friction forces, each as large as it is [N]"),
    Field("slips", "f", (), "share of the contacts that slip"),
    Field("handle", "f", (3,), "the handle, as measured"),
    Field("handle_true", "f", (3,), "and as it is, which no controller knows"),
    Field("block", "f", (3,), "the body that the hand moves"),
    Field("block_velocity", "f", (3,), "how it moves"),
    Field("hand_true", "f", (3,), "wrench of the hand on the handle, which no controller knows"),
    Field("hand_estimate", "f", (3,), "the same, as the observer has it"),
    Field("command", "f", (3,), "wrench that the motors are to make on the handle"),
    Field("applied", "f", (3,), "and the one that they made in the step before"),
    Field("pull", "f", (3,), "f_c: wrench of the coupling on the body"),
    Field("environment", "f", (3,), "f_e: wrench of its contacts on the body, impulses as pulses"),
    Field("torque", "f", (4,), "of the motors [N m]"),
    Field("residual_mm", "f", (), "closure residual of the mechanism [mm]"),
    Field("offset_mm", "f", (), "between body and handle, in the room [mm]"),
    Field("energy_J", "f", (len(PORTS),), "into the bodies so far at each of PORTS [J]"),
    Field("kinetic_J", "f", (), "of all bodies [J]"),
    Field("audit_J", "f", (), "kinetic energy less all that came in: rounding [J]"),
    Field("audit_worst", "f", (), "the largest of it so far, relative"),
)

COMMON_FIELDS = (
    Field("parked", "i", ("n_bodies",), "1: the body is not there"),
    Field("hand_body", "i", (HANDS,), "body that each hand holds, 0: none"),
    Field("hand_kind", "i", (HANDS,), "what each hand does: PULL, PUSH or PRESS"),
    Field("fault", "i", (), "why it stopped, as lane.FAULTS names it; 0: it runs"),
    Field("faults", "i", (), "how often it stopped so far"),
    Field("steps", "i", (), "steps of the servo so far"),
    Field("device_held", "i", ("n_devices",), "body that each device holds, 0: none"),
    Field("device_state", "i", ("n_devices",), "of its guard: engaging, rising, on, slowed, late, fault"),
    Field("device_buttons", "i", ("n_devices",), "one bit each"),
    Field("device_counters", "i", ("n_devices", len(DEVICE_COUNTERS)), "as DEVICE_COUNTERS names them"),
    *(Field(name, "f", (), "as it is set") for name in SETTINGS),
    Field("pose", "f", ("n_bodies", 7), "position [m] and quaternion (w, x, y, z) of each body in the world"),
    Field("hand_point", "f", (HANDS, 3), "the held point, world [m]"),
    Field("hand_target", "f", (HANDS, 3), "where the hand is, world [m]"),
    Field("hand_force", "f", (HANDS, 3), "force of the hand on what it holds, world [N]"),
    Field("hand_torque", "f", (HANDS, 3), "torque of the hand on what it holds, world [N m]"),
    Field("device_position", "f", ("n_devices", 3), "where each device's hand is, world [m]"),
    Field("device_quaternion", "f", ("n_devices", 4), "how it is turned, (w, x, y, z) in the world"),
    Field("device_point", "f", ("n_devices", 3), "the handle that it moves, world [m]"),
    Field("device_force", "f", ("n_devices", 3), "force on the hand, as sent, world [N]"),
    Field("device_torque", "f", ("n_devices", 3), "torque on the hand, as sent, world [N m]"),
    Field("device_body_force", "f", ("n_devices", 3), "force on the body that it moves, world [N]"),
    Field("device_age_s", "f", ("n_devices",), "from its sample to this force [s]"),
    Field("device_energy", "f", ("n_devices", len(DEVICE_PORTS)), "absorbed at each of DEVICE_PORTS so far [J]"),
)  # fmt: skip

OTHER_FIELDS = tuple(field._replace(name=OTHER + field.name) for field in LANE_FIELDS)
FIELDS = (*COMMON_FIELDS, *LANE_FIELDS, *OTHER_FIELDS)

At = places("At", COMMON_FIELDS)
LaneAt = places("LaneAt", LANE_FIELDS)
