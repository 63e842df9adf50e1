"""A simulated hand on a simulated PHANToM Premium 1.5 pushes a box over the floor, takes it from above and lifts it.

In simulated time: no device, no page, and the same numbers every time.
"""

import palpate as pp

MASS, SIDE, FRICTION = 0.2, 0.06, 0.5  # of the box [kg], [m], and between it and the floor
ROUGH = pp.Material("rough", friction=FRICTION)

# Where the hand wants to be [s, m], in the device's frame: x away from the person, y to their left, z up.
hand = pp.Hand(
    intent=(
        (0.0, (-0.06, 0, 0)), (1.0, (-0.06, 0, 0)), (2.0, (0.0, 0, 0)),  # waits, then pushes the box away
        (3.0, (-0.06, 0, 0.07)), (4.0, (0.03, 0, 0.07)), (5.0, (0.03, 0, 0.025)),  # over it, and down
        (6.5, (0.03, 0, 0.09)),  # and up, with the button pressed
    ),
    holds=((5.0, 9.0),),
)  # fmt: skip


def after(seconds: float) -> tuple:
    """The force on the hand [N], the position of the box [m], and the device's report, after so long."""
    box = pp.models.box((SIDE, SIDE, SIDE), mass=MASS, at=(0, 0, SIDE / 2), material=ROUGH)
    world = pp.World([pp.models.plane(material=ROUGH), box])
    # compensated: the motors also carry the arm's own weight, which the hand would feel otherwise
    with pp.open_device("simulated:phantom-premium-1.5", hand=hand, compensated=True) as device:
        place = pp.Transform(p=(0, 0, SIDE / 2))  # the middle of the device's workspace, in the world
        session = pp.touch(world, device, mode="pull", place=place, strength_N=device.spec.force_limit_N)
        report = session.simulate(seconds)
        return device.force_on_hand_N, world.pose("box")[:3, 3], report.devices[0]


force, _, _ = after(1.75)
print(f"pushing, the hand feels {-force[0]:.2f} N; friction is {FRICTION * MASS * 9.81:.2f} N")
_, box, _ = after(4.0)
print(f"the box went {100 * box[0]:.1f} cm")
force, box, report = after(9.0)
print(f"lifted by {100 * (box[2] - SIDE / 2):.1f} cm, it weighs {-force[2]:.2f} N; m g is {MASS * 9.81:.2f} N")
taken, given = report.absorbed_J["hand"], -report.absorbed_J["coupling"] - report.absorbed_J["surfaces"]
print(f"the hand did {taken:.3f} J of work, the box got {given:.3f} J of it")
print(report)
