"""A person walks up to a wall and along it; a robot follows, and carries the haptic arm that feels it.

In simulated time; with --page in real time, and you may take over: W A S D walk, Q E turn.
"""

import sys

import numpy as np

import palpate as pp
from palpate.mobile.display.configuration import Who
from palpate.mobile.display.displays import MobileDisplays
from palpate.mobile.scenes import reach_of
from palpate.mobile.walking.users import walk
from palpate.runtime.world.simulation import WorldSimulation

# The person begins at the origin and looks along -x; at arm's length the hand is 0.6 m ahead.
wall = pp.models.box((0.2, 6.0, 2.2), at=(-1.6, 0.0, 1.1), fixed=True, name="wall")  # its face is 1.5 m ahead
there = walk(0.5, 3.23, 0.3)  # from 0.5 s on: up to the wall, and the hand 9 mm into it
along = walk(4.5, 4.0, 0.25, towards_deg=-90.0)  # to the right, without turning

displays = MobileDisplays([Who(events=[there, along])], seed=1)
reach = reach_of(stiffness_N_m=1000.0)  # how the arm feels what stands there
scene = pp.Scene("wall", "A wall", pp.World([wall]), controllers=(displays,), devices=displays.devices(reach))

if "--page" in sys.argv:
    pp.touch(scene)
else:
    run = pp.Run(WorldSimulation(scene))
    run.seconds(8.5)

    person, robot = run.history("mobile_user")[:, 0], run.history("mobile_robot")[:, 0]
    touches = np.linalg.norm(run.history("device_body_force")[:, 0], axis=1) > 0.0
    strolling = slice(5000, 8500)
    force = run.history("mobile_given_N")[strolling, 0]
    went, came = (abs(x[-1, 0] - x[4500, 0]) for x in (person, robot))

    print(f"the hand is at the wall after {touches.argmax() / 1000:.1f} s")
    print(f"the person walks {went:.2f} m along it, the robot {came:.2f} m")
    print(f"touching for {100 * touches[strolling].mean():.0f} % of that, {force.mean():.1f} N on average")
    print(f"robot and person: {run.now['mobile_least_m'][0]:.2f} m at least; 0.50 m would be contact")
    print(f"the tip leaps by {run.history('mobile_step_mm').max():.2f} mm in a tick at most")
