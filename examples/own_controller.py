"""A controller of your own, in Python: holds an arm where it is put, with gravity taken off its joints.

python examples/own_controller.py             in simulated time
python examples/own_controller.py --touch     on the page: drag the arm, and leave it somewhere else
"""

import sys

import numpy as np

import palpate as pp


class Float:
    """tau = G(q) - B v: the arm weighs nothing, and stays where the hand leaves it."""

    rate_hz = 250.0  # how often it is asked
    latency_s = 0.002  # in simulated time, from what it is told to what it does

    def __init__(self, model: pp.Model) -> None:
        self.model = model

    def control(self, time_s: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return pp.bias(self.model, q, np.zeros_like(v)) - 2.0 * v


world = pp.World(pp.models.puma560())
world.q = [0.0, -0.6, 2.8, 0.0, 0.5, 0.0]
scene = pp.Scene("float", "An arm that weighs nothing", world, controllers=(Float(world.model),))
if "--touch" in sys.argv:
    pp.touch(scene)
else:
    session = pp.touch(scene, page=False)
    session.simulate(2.0)
    moved = np.abs(world.q - [0.0, -0.6, 2.8, 0.0, 0.5, 0.0]).max()
    print(f"after 2 s without a hand no joint has moved by more than {np.ceil(1e3 * moved):.0f} mrad")
