"""Drake in `palpate bench contact`: the same solids, joints, friction and forces as ours.  Nothing here is timed."""

from dataclasses import replace

import numpy as np
import pytest
from mechanisms import random_tree
from peer_laws import moves_a_solid_as_we_do

import palpate as pp
from palpate.bench import contact, contact_engines
from palpate.bench.contact_depth import Solids
from palpate.bench.contact_scenes import BenchScene, Phase, scenes

peers = pytest.importorskip("palpate.bench.peers.drake", reason="Drake is not installed: extra `drake`, which is large")
SCENES = {f"{scene.title}, {scene.phases[0].name}": scene for scene in scenes()}
SETTINGS = ("points", "surfaces")


def drake(scene: BenchScene, setting: str = "points", posture: np.ndarray | None = None) -> peers.DrakePeer:
    return peers.DrakePeer(scene, setting, posture)


@pytest.mark.parametrize("name", ["stack, 40 points, stacked", "200 boxes, landing", "hrp2, 32 points, standing",
                                  "human, 104 points, standing"])  # fmt: skip
def test_drake_has_every_body_where_we_have_it(name):
    scene = SCENES[name]
    theirs, ours = drake(scene), contact_engines.Ours(scene)
    bodies = tuple(theirs.body)
    assert set(Solids.of(scene).bodies) <= set(bodies)
    np.testing.assert_allclose(theirs.poses(bodies), ours.poses(bodies), atol=1e-12)
    assert theirs.mass() == pytest.approx(sum(part.mass for part in scene.parts))


@pytest.mark.parametrize("seed", range(3))
def test_drake_has_our_inertia_of_any_tree_it_can_build(seed):
    """Of the joints that turn, with their rotors: the velocities of its free joint are others than ours."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, ["revolute"], 7, armature=True)
    free = replace(tree.joints[0], kind="free", placement=pp.Transform(), child_placement=pp.Transform(), armature=0.0)
    tree = replace(tree, joints=(free, *tree.joints[1:]), postures={"start": {}})
    engine, model = drake(BenchScene("tree", 0, (tree,), (), ())), pp.compile(tree)
    H = pp.mass_matrix(model, model.posture("start"))
    names = [joint.name for joint in tree.joints[1:]]
    ours = [model.v_index[name].start for name in names]
    theirs = [engine.plant.GetJointByName(name).velocity_start() for name in names]
    np.testing.assert_allclose(
        engine.mass_matrix()[np.ix_(theirs, theirs)], H[np.ix_(ours, ours)], atol=1e-12 * np.abs(H).max()
    )


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("friction", [(0.2, 0.8), (0.8, 0.05)])
def test_drake_has_our_friction_of_a_pair(friction, setting):
    """A box pulled at 1.05 times what friction holds slides; at 0.95 times it does not."""
    box, floor = (pp.Material(str(mu), mu) for mu in friction)
    parts = (pp.models.box((0.2, 0.2, 0.1), mass=4.0, at=(0, 0, 0.05), material=box), pp.models.plane(material=floor))
    holds = (friction[0] * friction[1]) ** 0.5 * 4.0 * 9.81
    for share, slides in ((1.05, True), (0.95, False)):
        engine = drake(BenchScene("box", 4, parts, (), ("box",)), setting)
        engine.advance(200)
        x = engine.poses(["box"])[0, 0, 3]
        contact.timed(engine, Phase("pulled", 500, "box", (share * holds, 0.0, 0.0), 500))
        assert (engine.poses(["box"])[0, 0, 3] - x > 0.01) == slides


def test_drake_has_our_friction_among_what_moves_too():
    smooth, rough = pp.Material("smooth", 0.2), pp.Material("rough", 0.7)
    boxes = (pp.models.box(material=smooth, name="a"), pp.models.box(material=smooth, name="b"))
    scene = BenchScene("two", 8, (*boxes, pp.models.plane(material=rough)), (), (), moving_touch=True)
    mu = peers.frictions(scene)
    assert mu[0.2, True] == pytest.approx(0.2)
    own, floor = mu[0.2, True], mu[0.7, False]
    assert 2.0 * own * floor / (own + floor) == pytest.approx((0.2 * 0.7) ** 0.5)
    with pytest.raises(ValueError, match="four times as rough"):
        peers.frictions(replace(scene, parts=(*boxes, pp.models.plane(material=pp.Material("grit", 0.8)))))
    with pytest.raises(ValueError, match="several frictions"):
        peers.frictions(replace(scene, parts=(*scene.parts, pp.models.ball(material=rough))))


@pytest.mark.parametrize(("name", "setting"), [("200 balls, landing", "points"), ("200 boxes, landing", "surfaces")])
def test_drake_repeats_itself(name, setting):
    scene = SCENES[name]
    engine, ends = drake(scene, setting), []
    engine.advance(60)
    rest = engine.save()
    for _ in range(2):
        engine.restore(rest)
        engine.advance(10)
        ends.append(engine.poses(scene.watched))
    np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_stack_stands_in_either_setting(setting):
    scene = SCENES["stack, 40 points, stacked"]
    engine = drake(scene, setting)
    engine.advance(200)
    assert contact.height(engine, scene.watched) == pytest.approx(scene.exact, abs=1e-4)
    _, furthest = contact.drift(engine, scene.watched, 50)
    assert furthest < 1e-4
    assert engine.contacts() >= 40


def test_drake_takes_the_settings_that_do_a_scene_justice():
    assert peers.DrakePeer.settings(SCENES["hrp2, 8 points, standing"]) == ("points",)
    assert peers.DrakePeer.settings(SCENES["200 balls, stacked"]) == ("points",)
    assert peers.DrakePeer.settings(SCENES["stack, 40 points, stacked"]) == SETTINGS
    assert peers.DrakePeer.settings(SCENES["200 boxes, stacked"]) == ("surfaces",)


def test_drake_starts_where_it_is_put():
    scene = SCENES["200 balls, stacked"]
    ours = contact_engines.Ours(scene)
    ours.advance(100)
    theirs = drake(scene, "points", ours.q())
    np.testing.assert_allclose(theirs.poses(scene.watched), ours.poses(scene.watched), atol=1e-12)
    with pytest.raises(ValueError, match="starts in the posture that is held"):
        drake(SCENES["hrp2, 8 points, standing"], "points", np.zeros(1))


@pytest.mark.parametrize("seed", range(3))
def test_drake_moves_a_solid_of_any_mass_as_we_do(seed):
    moves_a_solid_as_we_do(drake, seed)


def test_a_human_pushed_in_drake_gives_way_as_ours_does():
    """Ball joints are held by bushings in roll, pitch and yaw there."""
    scene, ends = SCENES["human, 8 points, standing"], []
    for engine in (contact_engines.Ours(scene), drake(scene)):
        contact.timed(engine, Phase("pushed", 200, "thorax", (60.0, 0.0, 0.0), 200))
        ends.append(engine.poses(["thorax"])[0, :3, 3])
    assert ends[0][0] > 0.02
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-3)


def test_drake_says_which_joint_it_does_not_have():
    def on_a_base(joint: pp.Joint) -> BenchScene:
        bodies = tuple(pp.Body(name, mass=1.0, inertia=(0.1, 0.1, 0.1)) for name in ("base", "cart"))
        root = pp.Joint("root", kind="free", parent="world", child="base")
        tree = pp.MultiBody(name="tree", bodies=bodies, joints=(root, joint), postures={"start": {}})
        return BenchScene("tree", 0, (tree,), (), ())

    for kind, armature in (("prismatic", 0.0), ("spherical", 0.1)):
        scene = on_a_base(pp.Joint("odd", kind=kind, parent="base", child="cart", armature=armature))
        with pytest.raises(ValueError, match="joint 'odd' has no counterpart in this bench"):
            drake(scene)


def test_drake_refuses_a_scene_that_sleeps():
    with pytest.raises(ValueError, match="do not sleep in Drake"):
        drake(SCENES["stack, 40 points, asleep"])
