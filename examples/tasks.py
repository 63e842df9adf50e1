"""A person reaches and looks; feet and centre of mass stay, however far away the place is.

python tasks.py               in simulated time
python tasks.py --touch       on the page, under the World's springs: pull at the arm that reaches
"""

import sys

import numpy as np

import palpate as pp

world = pp.World([pp.models.human(), pp.models.plane()])
world.hold(2000.0, 60.0)
model, q = world.model, world.q

feet, centre = pp.tasks.Feet("foot_r", "foot_l"), pp.tasks.CenterOfMass()
hand, look = pp.tasks.Point("hand_r", (0.35, -0.15, 1.15)), pp.tasks.Gaze("head", (0.35, -0.15, 1.15))
tasks = pp.Tasks(model, [feet, centre, hand, look, pp.tasks.Posture()], q)

if "--touch" in sys.argv:
    pp.touch(pp.Scene("reach", "A person reaches", world, controllers=(tasks,)))
    sys.exit()

fastest, slipped, swayed = 0.0, 0.0, 0.0


def follow(seconds: float) -> None:
    """A step a millisecond, and the most that feet and centre of mass were ever away by."""
    global q, fastest, slipped, swayed
    for _ in range(round(1e3 * seconds)):
        q = tasks.step(q, 1e-3)
        fastest = max(fastest, np.abs(tasks.velocity[6:]).max())
        slipped = max(slipped, *(tasks.error(foot, q)[1] for foot in feet.poses))
        swayed = max(swayed, tasks.error(centre, q)[1])


follow(3.0)
still = f"feet {1e3 * slipped:.3f} mm, centre of mass {1e3 * swayed:.3f} mm"
angle = np.degrees(tasks.error(look, q)[0])
print(f"reached: hand {1e3 * tasks.error(hand, q)[1]:.2f} mm, gaze {angle:.1f} deg, {still}")

for task in (hand, look):
    tasks.aim(task, (1.5, -0.5, 1.0))
follow(3.0)
still = f"feet {1e3 * slipped:.3f} mm, centre of mass {1e3 * swayed:.3f} mm"
print(f"too far: hand {1e3 * tasks.error(hand, q)[1]:.0f} mm short, {still}")
print(f"at most {fastest:.1f} rad/s in any joint")
