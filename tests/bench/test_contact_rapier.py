"""Rapier in `palpate bench contact`: the same solids, friction and forces as ours.  Nothing here is timed."""

from dataclasses import replace

import numpy as np
import pytest

import palpate as pp
from palpate.bench import contact, contact_engines
from palpate.bench.contact_depth import Solids
from palpate.bench.contact_scenes import BenchScene, Phase, scenes

SCENES = {f"{scene.title}, {scene.phases[0].name}": scene for scene in scenes() if not scene.held}


def rapier(scene: BenchScene):
    return pytest.importorskip("palpate.bench.peers.rapier").RapierPeer(scene)


@pytest.mark.parametrize("name", ["box, 4 points, sliding", "stack, 40 points, stacked", "200 boxes, landing"])
def test_rapier_has_every_solid_where_we_have_it(name):
    scene = SCENES[name]
    theirs, ours = rapier(scene), contact_engines.Ours(scene)
    bodies = Solids.of(scene).bodies
    np.testing.assert_allclose(theirs.poses(bodies), ours.poses(bodies), atol=1e-6)  # single precision


@pytest.mark.parametrize("friction", [(0.2, 0.8), (0.8, 0.05)])
def test_rapier_has_our_friction_of_a_pair(friction):
    """A box pulled at 1.05 times what friction holds slides; at 0.95 times it does not."""
    box, floor = (pp.Material(str(mu), mu) for mu in friction)
    parts = (pp.models.box((0.2, 0.2, 0.1), mass=4.0, at=(0, 0, 0.05), material=box), pp.models.plane(material=floor))
    holds = (friction[0] * friction[1]) ** 0.5 * 4.0 * 9.81
    for share, slides in ((1.05, True), (0.95, False)):
        engine = rapier(BenchScene("box", 4, parts, (), ("box",)))
        engine.advance(200)
        x = engine.poses(["box"])[0, 0, 3]
        contact.timed(engine, Phase("pulled", 500, "box", (share * holds, 0.0, 0.0), 500))
        assert (engine.poses(["box"])[0, 0, 3] - x > 0.01) == slides


def test_rapier_repeats_itself_and_never_sleeps():
    scene = SCENES["200 boxes, landing"]
    engine, ends = rapier(scene), []
    engine.advance(150)
    rest = engine.save()
    for _ in range(2):
        engine.restore(rest)
        engine.advance(20)
        ends.append(engine.poses(scene.watched))
    np.testing.assert_array_equal(*ends)
    assert not engine.world.physics_pipeline.counters.enabled
    still = rapier(SCENES["box, 4 points, sliding"])
    still.advance(3000)
    assert len(still.world.active_bodies()) == 1


def test_rapier_takes_solids_only_and_says_so():
    with pytest.raises(ValueError, match="has joints; here Rapier has only solids"):
        rapier(BenchScene("hrp2", 0, (pp.models.hrp2(),), (), ()))
    aside = pp.models.box()
    aside = replace(aside, bodies=(replace(aside.bodies[0], com=(0.01, 0.0, 0.0)),))
    with pytest.raises(ValueError, match="centre of mass at its origin"):
        rapier(BenchScene("aside", 0, (aside,), (), ()))
