"""The first ticks of every scene, pushed, against what they were: a law that changed by accident is seen here.

pinned_scenes.json has three numbers a scene: q and v, each summed with weights, and the energy.  Not the bits, nor a
hash of rounded ones, which now and then rounds to the other side and does not say by how much: another processor adds
in another order (vectors, fused multiply-add), and contacts are solved to a residual.  So the runs are short, before
anything is chaotic, and the tolerance is ten times what kernels without vectors and fused multiply-add differed by
(NUMBA_CPU_NAME=x86-64; most scenes by 1e-8 or less, the largest named below).

When a law was changed on purpose, this writes them anew, and git shows which scenes it changed:

    .venv/bin/python tests/test_pinned_scenes.py
"""

import json
from pathlib import Path

import numpy as np
import pytest

from palpate import jit
from palpate.dynamics.facade import jacobian
from palpate.experiments.simulated import simulated_run
from palpate.haptics.devices.simulation.scripted import Push, Scripted
from palpate.registry import find
from palpate.scenes import SCENES
from palpate.scenes.scene import Scene

FILE = Path(__file__).with_name("pinned_scenes.json")
TICKS = 80
TOLERANCE = 1e-5  # relative; of numbers below one absolute
# How five boxes, or two cards, share the friction between them is not unique: the sums of a product in another order
# moved the cards by 2e-5.
LARGER = {"stack": 3e-4, "cards": 3e-4}

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")


def told(name: str) -> list[float]:
    """What is pinned of a scene."""
    scene = find(SCENES, "scenes", name)()
    frames = simulated_run(
        scene, TICKS, Scripted((Push(pushed(scene), 0.005, 0.03, (4.0, -2.0, 1.0), (0.0, 0.01, 0.03)),))
    )
    return [weighed(frames["q"][-1]), weighed(frames["v"][-1]), float(frames["energy"][-1, :2].sum())]


def pushed(scene: Scene) -> str:
    """The last body that a force moves, of those that are not put away."""
    away = {*scene.obstacles, *scene.spares, *(name for names in scene.loose.values() for name in names)}
    q = scene.world.q
    return [name for name in scene.model.body_names if name not in away and jacobian(scene.model, q, name).any()][-1]


def weighed(x: np.ndarray) -> float:
    """A sum to which each number contributes its own part."""
    return float(np.cos(np.arange(len(x))) @ x)


def test_every_scene_is_pinned():
    assert json.loads(FILE.read_text()).keys() == SCENES.keys()


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_moves_as_it_did(name):
    pinned, tolerance = json.loads(FILE.read_text()).get(name), LARGER.get(name, TOLERANCE)
    assert told(name) == pytest.approx(pinned, rel=tolerance, abs=tolerance), "on purpose? " + __doc__.splitlines()[-1]


if __name__ == "__main__":
    FILE.write_text(json.dumps({name: told(name) for name in sorted(SCENES)}, indent=1) + "\n")
