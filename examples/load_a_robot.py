"""Load a real robot from a URDF file and print what it weighs and what holding it still takes.

    python load_a_robot.py [FILE]

FILE is a .urdf, or the name of one in the package example-robot-data; default: ur5_robot.urdf.
"""

import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np

import palpate as pp


def find(name: str) -> Path:
    """The file itself, or the one of that name in example-robot-data."""
    if Path(name).exists():
        return Path(name)
    try:
        files = distribution("example-robot-data").files or []
    except PackageNotFoundError:
        sys.exit(f"{name} is not here, and example-robot-data is not installed (extra 'peers')")
    for file in files:
        if file.name == name:
            return Path(str(file.locate()))
    sys.exit(f"{name} is neither here nor in example-robot-data")


robot = pp.load(find(sys.argv[1] if len(sys.argv) > 1 else "ur5_robot.urdf"))
model = pp.compile(robot)
print(f"{model.name}: {len(robot.bodies)} bodies in {model.n_links - 1} moving links, {model.nv} degrees of freedom")

print("\nbody                    mass [kg]")
for body in robot.bodies:
    if body.mass > 0.0:
        print(f"{body.name:24}{body.mass:9.3f}")
print(f"{'all':24}{robot.mass:9.3f}")

torques = pp.bias(model, model.neutral(), np.zeros(model.nv)).round(6) + 0.0  # at rest, the bias is gravity
print("\njoint                   holds [N m]  may [N m]")
for joint in model.joint_names:
    v = model.v_index[joint]
    for torque, limit in zip(torques[v], model.effort_limit[v], strict=True):
        print(f"{joint:24}{torque:11.2f}{limit:11.1f}")
