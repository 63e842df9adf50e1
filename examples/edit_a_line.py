"""Edit a UR5's motion by hand: two pulls lead it around an obstacle; the result is checked, kept and exported.

    python edit_a_line.py [FOLDER]

The hand is a recorded one, so that it runs by itself; with a page or a force-feedback device it would be yours.
Files go to FOLDER; default: a temporary one.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import palpate as pp
from palpate.control.plans.files import export_csv, export_joint_trajectory, load, save
from palpate.haptics.devices.simulation.playback import HandRecording, Playback
from palpate.scenes.any_arm import any_arm_line, way_around

scene = any_arm_line("ur5", mode="resume")
beside, behind = (np.array(place) for place in way_around(scene))
ahead = -0.015 * np.array(scene.editing.wall[1])  # the fingers are just before the tool

# The hand takes hold at 0.3 s (button 1), pulls the tool aside, then on to the wall, lets go at 2 s and goes up.
t = np.linspace(0.0, 2.3, 231)
s1, s2 = (np.clip((t - begin) / 0.8, 0.0, 1.0) for begin in (0.3, 1.1))
s1, s2 = s1**2 * (3.0 - 2.0 * s1), s2**2 * (3.0 - 2.0 * s2)
place = scene.path[0] + ahead + np.outer(s1, beside - scene.path[0]) + np.outer(s2, behind - beside)
place[:, 2] += np.maximum(t - 2.0, 0.0)
device = Playback(HandRecording(t, place, buttons=(t >= 0.3) & (t < 2.0)))
device.open()

session = pp.touch(scene, device, "pull")
planned = session.edit.plan
print("as planned:", session.edit.check(planned)[0])
assert session.edit.clearance(planned).of(obstacle="obstacle").smallest.gap_m < 0.0

session.simulate(4.0)
kept = session.edit.keep()  # smoothed; from now on this is the plan
near = session.edit.clearance(kept)
gap, wall = near.of(obstacle="obstacle").smallest, near.of(obstacle="wall").gap_m[-1]
print(f"as edited: {100 * gap.gap_m:.1f} cm between {gap.body} and the obstacle, {1000 * abs(wall):.1f} mm to the wall")
assert gap.gap_m > 0.0

device.close()
follower = pp.touch(any_arm_line("ur5"), page=False)  # nobody touches it this time
follower.edit.follow(kept)
follower.simulate(kept.duration_s + 3.0)
replayed = follower.edit.clearance(follower.edit.motion()).of(obstacle="obstacle").smallest.gap_m
print(f"replayed: {100 * replayed:.1f} cm from the obstacle")
assert replayed > 0.0

with tempfile.TemporaryDirectory() as temporary:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else temporary)
    save(folder / "edited.json", kept)
    export_csv(folder / "edited.csv", kept)
    export_joint_trajectory(folder / "joint_trajectory.json", kept, "json")
    export_joint_trajectory(folder / "joint_trajectory.yaml", kept, "yaml")
    same = np.array_equal(load(folder / "edited.json").q, kept.q)
    print(f"exported {len(kept.time_s)} rows of {len(kept.names)} joints; read back: {'the same' if same else 'not'}")
