"""A scripted hand in simulated time: the same every time, and where its script says."""

import numpy as np
import pytest

from palpate import jit
from palpate.experiments.simulated import simulated_run
from palpate.haptics.devices.simulation.scripted import Grasp, Scripted
from palpate.scenes.arm import arm_at_rest

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")


def test_a_scripted_hand_pulls_the_arm_where_its_script_says_and_lets_go():
    scene, target = arm_at_rest(), (0.52, 0.25, 0.02)
    hand = Scripted((Grasp("tool", 0.1037, 2.0, to=target, move_s=0.8),))
    first, second = (simulated_run(scene, 2500, hand) for _ in range(2))
    for name in first:
        assert np.array_equal(first[name], second[name]), name
    held = np.flatnonzero(first["hand_body"])
    assert (held[0], held[-1]) == (104, 1999)  # the ticks of 0.1037 s .. 2.0 s, though they begin inside a batch
    assert np.linalg.norm(first["hand_point"][1990] - target) < 1e-3
    assert not first["hand_force"][2001:].any()
