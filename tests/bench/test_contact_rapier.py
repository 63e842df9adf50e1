"""Rapier in `palpate bench contact`: the same solids, friction and forces as ours.  Nothing here is timed."""

import numpy as np
import pytest
from peer_laws import moves_a_solid_as_we_do

import palpate as pp
from palpate.bench import contact, contact_engines
from palpate.bench.contact_depth import Solids
from palpate.bench.contact_scenes import BenchScene, Phase, scenes

SCENES = {f"{scene.title}, {scene.phases[0].name}": scene for scene in scenes()}


def rapier(scene: BenchScene):
    return pytest.importorskip("palpate.bench.peers.rapier").RapierPeer(scene)


@pytest.mark.parametrize("name", ["stack, 40 points, stacked", "200 boxes, landing", "hrp2, 32 points, standing",
                                  "human, 104 points, standing"])  # fmt: skip
def test_rapier_has_every_body_where_we_have_it(name):
    scene = SCENES[name]
    theirs, ours = rapier(scene), contact_engines.Ours(scene)
    bodies = tuple(theirs.handle)
    assert set(Solids.of(scene).bodies) <= set(bodies)
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


@pytest.mark.parametrize("seed", range(3))
def test_rapier_moves_a_solid_of_any_mass_as_we_do(seed):
    moves_a_solid_as_we_do(rapier, seed)


def test_rapier_says_which_joint_it_does_not_have():
    slider = pp.MultiBody(
        name="slider",
        bodies=tuple(pp.Body(name, mass=1.0, inertia=(0.1, 0.1, 0.1)) for name in ("base", "cart")),
        joints=(
            pp.Joint("root", kind="free", parent="world", child="base"),
            pp.Joint("slide", kind="prismatic", parent="base", child="cart"),
        ),
        postures={"start": {}},
    )
    with pytest.raises(ValueError, match="joint 'slide' has no counterpart in this bench"):
        rapier(BenchScene("slider", 0, (slider,), (), ()))
