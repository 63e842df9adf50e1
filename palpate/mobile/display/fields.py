"""What frames say of displays, beside a World's own: a row for each display; the floor's (x, z), y up, and headings."""

from __future__ import annotations

from palpate.frame import Field, places

PACKETS = ("used", "stale", "absurd", "restarts", "lost")  # of the robot's tracker
# what can be set while it runs; each is an event, and a number of every frame
SETTINGS = (
    "person", "follower", "estimator", "noise", "barrier", "lift", "walk_speed", "walk_ahead", "walk_side", "walk_turn",
)  # fmt: skip


def fields_of(displays: int, arms: int) -> tuple[Field, ...]:
    """Of so many displays with so many arms each."""
    n, a = displays, displays * arms
    return (
        Field("mobile_case", "i", (n,), "the planner's: 1 retreats, 2 straight, 3 around"),
        Field("mobile_active", "i", (n,), "1: the planner drives the base"),
        Field("mobile_warning", "i", (n,), "bits: near, touching, contact predicted, not seen"),
        Field("mobile_lost", "i", (n,), "1: a tracker is silent, or the base: no force, and the base stops"),
        Field("mobile_frozen", "i", (n,), "1: contact holds the base's pose"),
        Field("mobile_trips", "i", (a,), "times that a device's protection took force away"),
        Field("mobile_packets", "i", (n, len(PACKETS)), "of the robot's tracker, as PACKETS names them"),
        Field("mobile_plans", "i", (n,), "so far"),
        Field("mobile_visuals", "i", (n,), "views sent to the head so far"),
        Field("mobile_driven", "i", (n,), "commands that the base took so far"),
        Field("mobile_samples", "i", (n,), "of the robot's tracker so far"),
        Field("mobile_user", "f", (n, 3), "x, z [m] of the person, and where they face [rad], 0: along z"),
        Field("mobile_hand", "f", (n, 3), "x, y, z of the hand, as the person wants it [m]"),
        Field("mobile_middle", "f", (n, 3), "x, y, z of the middle of the first device's workspace [m]"),
        Field("mobile_head", "f", (n, 3), "x, y, z of the head [m]"),
        Field("mobile_robot", "f", (n, 3), "x, z [m] and phi [rad] of the robot"),
        Field("mobile_seen", "f", (n, 3), "the same, as rendering uses it"),
        Field("mobile_seen_user", "f", (n, 3), "the person, as the planner sees them"),
        Field("mobile_target", "f", (n, 3), "where the robot shall be"),
        Field("mobile_way", "f", (n, 3), "x, z where it goes first, and how far that is [m]"),
        Field("mobile_command", "f", (n, 3), "to the base [m/s, m/s, rad/s]"),
        Field("mobile_height", "f", (n,), "of the robot's frame above the floor [m]"),
        Field("mobile_distance_m", "f", (n,), "of the centres of robot and person [m]"),
        Field("mobile_least_m", "f", (n,), "the least of it so far [m]"),
        Field("mobile_off_mm", "f", (n,), "of the hand from the middle of the device's workspace [mm]"),
        Field("mobile_off_share", "f", (n,), "of the time that it was outside of the usable sphere"),
        Field("mobile_sigma_mm", "f", (n,), "of the pose, as its estimate has it [mm]"),
        Field("mobile_error_mm", "f", (a,), "of the HIP: where it seems to be from where it is [mm]"),
        Field("mobile_step_mm", "f", (a,), "of that error, in this tick [mm]"),
        Field("mobile_asked_N", "f", (a,), "force that rendering asks for [N]"),
        Field("mobile_given_N", "f", (a,), "force that the hand feels [N]"),
        *(Field(f"mobile_{name}", "f", (), "as it is set") for name in SETTINGS),
    )


POSE = Field("pose", "f", ("n_bodies", 7), "a World's")  # into which the shown bodies are written, after its own
At = places("At", (*fields_of(1, 1), POSE))
