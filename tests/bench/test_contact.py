"""`palpate bench contact`: the peers simulate what we do, the harness reports all of it.  Nothing here is timed."""

import json
from dataclasses import replace

import numpy as np
import pytest
from mechanisms import random_state, random_tree

import palpate as pp
from palpate import cli
from palpate.bench import contact, contact_engines
from palpate.bench.contact import Row, Run, Timing
from palpate.bench.contact_scenes import BenchScene, Phase, scenes, shortened, soles_only, touching

SCENES = {f"{scene.title}, {scene.phases[0].name}": scene for scene in scenes()}
NO_DRAKE = "Drake is not installed: extra `drake`, which is large"
ROBOTS = [name for name, scene in SCENES.items() if scene.held]


def standing(name: str) -> BenchScene:
    return next(s for s in SCENES.values() if s.title == name and s.phases[0].name == "standing")


# ---- scenes


@pytest.mark.parametrize(("robot", "points"), [(pp.models.hrp2, 32), (pp.models.human, 104)])
def test_corners_are_four_of_each_sole_and_span_the_same_rectangle(robot, points):
    full, corners = soles_only(robot(sole="spheres")), soles_only(robot(sole="spheres"), corners=True)
    assert sum(len(touching(body)) for body in full.bodies) == points
    for all_points, few in zip(full.bodies, corners.bodies, strict=True):
        assert len(touching(few)) in (0, 4)
        if touching(few):
            p, c = (np.array([s.placement.p for s in touching(b)]) for b in (all_points, few))
            np.testing.assert_array_equal([p.min(axis=0), p.max(axis=0)], [c.min(axis=0), c.max(axis=0)])


def test_phases_of_robots_and_piles_are_all_there():
    phases = {(s.name, s.points, p.name) for s in SCENES.values() for p in s.phases}
    solved = (("hrp2", 32), ("human", 104), ("hrp2", 8), ("human", 8), ("hrp2 all", 32), ("human all", 104))
    robots = {(name, n, p) for name, n in solved for p in ("standing", "pushed", "sliding")}
    piles = {(name, 0, phase) for name in ("200 boxes", "200 balls") for phase in ("landing", "stacked", "asleep")}
    piles |= {("stack", 40, phase) for phase in ("stacked", "asleep")} | {("1000 boxes", 0, "asleep")}
    assert phases == robots | piles | {("box", 4, "sliding")}


def test_engines_sleep_in_the_scenes_that_say_so_and_in_no_others():
    assert {s.sleep for s in SCENES.values() if s.phases[0].name == "asleep"} == {True}
    assert {s.sleep for s in SCENES.values() if s.phases[0].name != "asleep"} == {False}
    for name, sleeps in (("stack, 40 points, stacked", False), ("stack, 40 points, asleep", True)):
        engines = contact_engines.settled(SCENES[name])
        assert {"PyBullet", "Drake"}.isdisjoint(e.name for e in engines) or not sleeps
        for engine in engines:
            if engine.name == contact_engines.OURS:
                assert len(engine.world.asleep) == (10 if sleeps else 0)
            elif engine.name == "MuJoCo":
                assert engine.d.ntree_awake == (0 if sleeps else 10)
            elif engine.name == "Rapier":
                solids = [engine.world.rigid_bodies[handle] for handle in engine.handle.values()]
                assert sum(solid.is_sleeping for solid in solids) == (10 if sleeps else 0)
            engine.close()


# ---- MuJoCo


@pytest.mark.parametrize("name", ["hrp2, 32 points", "human, 104 points"])
def test_mujoco_has_our_mass_matrix_and_gravity(name):
    peer = pytest.importorskip("palpate.bench.peers.mujoco").MujocoPeer(standing(name), "dense")
    model, q = peer.model, peer.q()
    H, gravity = pp.mass_matrix(model, q), pp.bias(model, q, np.zeros(model.nv))
    np.testing.assert_allclose(peer.mass_matrix(), H, atol=1e-12 * np.abs(H).max())
    np.testing.assert_allclose(peer.bias(), gravity, atol=1e-12 * np.abs(gravity).max())
    assert peer.m.body_mass.sum() == pytest.approx(model.mass)


@pytest.mark.parametrize("seed", range(5))
def test_mujoco_has_our_mass_matrix_for_any_joints_it_knows(seed):
    module = pytest.importorskip("palpate.bench.peers.mujoco")
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, ["revolute", "prismatic", "spherical"], 7, armature=True)
    free = replace(tree.joints[0], kind="free", placement=pp.Transform(), child_placement=pp.Transform(), armature=0.0)
    tree = replace(tree, joints=(free, *tree.joints[1:]), postures={"start": {}})
    peer = module.MujocoPeer(BenchScene("tree", 0, (tree,), (), (), held=True), "dense")
    q, _, _ = random_state(rng, peer.model)
    peer.d.qpos[:] = q
    module.mujoco.mj_forward(peer.m, peer.d)
    H = pp.mass_matrix(peer.model, q)
    np.testing.assert_allclose(peer.mass_matrix(), H, atol=1e-12 * np.abs(H).max())


def test_mujoco_has_our_friction_for_every_pair():
    module = pytest.importorskip("palpate.bench.peers.mujoco")
    smooth, rough = pp.Material("smooth", 0.2), pp.Material("rough", 0.8)
    boxes = [pp.models.box(at=(0, 0, 0.0499 + 0.0999 * i), material=smooth, name=f"box{i}") for i in range(2)]
    scene = BenchScene("two", 8, (*boxes, pp.models.plane(material=rough)), (), (), moving_touch=True)
    peer = module.MujocoPeer(scene, "dense")
    frictions = {round(float(c.friction[0]), 6) for c in peer.d.contact}
    assert frictions == {0.2, 0.4}
    with pytest.raises(ValueError, match="several frictions"):
        module.MujocoPeer(replace(scene, parts=(*scene.parts, pp.models.ball(material=rough))), "dense")


# ---- every peer


def peer(kind: str, scene: BenchScene):
    if kind == "MuJoCo":
        return pytest.importorskip("palpate.bench.peers.mujoco").MujocoPeer(scene, scene.peer_solvers[0])
    if kind == "Rapier":
        return pytest.importorskip("palpate.bench.peers.rapier").RapierPeer(scene)
    if kind == "Drake":
        drake = pytest.importorskip("palpate.bench.peers.drake", reason=NO_DRAKE).DrakePeer
        return drake(scene, drake.settings(scene)[0])
    start = pp.compile(scene.parts).posture("start")
    return pytest.importorskip("palpate.bench.peers.bullet").BulletPeer(scene, start)


@pytest.mark.oracle_heavy
@pytest.mark.parametrize("kind", ["MuJoCo", "PyBullet", "Rapier", "Drake"])
@pytest.mark.parametrize("name", ["hrp2, 8 points", "human, 8 points"])
def test_a_peer_stands_on_the_given_points_where_it_was_put_and_repeats_itself(kind, name):
    scene = shortened(standing(name), 0.1)
    engine = peer(kind, scene)
    assert contact.height(engine, scene.watched) == pytest.approx(0.6487 if "hrp2" in name else 0.941, abs=1e-4)
    engine.advance(scene.settling)
    assert engine.contacts() == 8
    rest, height = engine.save(), contact.height(engine, scene.watched)
    assert height == pytest.approx(0.6465 if "hrp2" in name else 0.941, abs=4e-3)
    ends = []
    for _ in range(2):
        engine.restore(rest)
        contact.timed(engine, scene.phases[1])
        ends.append(contact.height(engine, scene.watched))
    assert ends[0] == ends[1]
    engine.close()


def test_a_push_in_mujoco_acts_at_the_origin_of_the_body():
    """Its own forces act at the centre of mass, which in the chest is 14 cm away."""
    engine = peer("MuJoCo", standing("hrp2, 8 points"))
    mujoco, force = pytest.importorskip("mujoco"), (60.0, -20.0, 5.0)
    before = engine.d.qfrc_smooth.copy()
    engine.push("CHEST_JOINT1", force)
    mujoco.mj_forward(engine.m, engine.d)
    generalised = engine.to_theirs().T @ (engine.d.qfrc_smooth - before)
    J = pp.jacobian(engine.model, engine.q(), "CHEST_JOINT1")
    np.testing.assert_allclose(generalised, J.T @ np.array([0.0, 0.0, 0.0, *force]), atol=1e-9)


@pytest.mark.parametrize("kind", ["MuJoCo", "PyBullet", "Rapier", "Drake"])
def test_a_push_lasts_as_long_as_the_phase_says(kind):
    box = pp.models.box((0.2, 0.2, 0.1), mass=4.0, at=(0.0, 0.0, 1.0))
    engine = peer(kind, BenchScene("box", 0, (box, pp.models.plane()), (), ("box",)))
    contact.timed(engine, Phase("lifted", 20, "box", (0.0, 0.0, 2 * 4.0 * 9.81), 10))
    # up with g for 10 ms, down with g for 10 ms: at rest again, g t^2 higher
    assert contact.height(engine, ["box"]) == pytest.approx(1.0 + 9.81 * 0.01**2, abs=2e-6)
    engine.close()


@pytest.mark.parametrize("kind", ["MuJoCo", "PyBullet", "Rapier", "Drake"])
def test_peers_have_the_mass_of_the_model(kind):
    scene = SCENES["stack, 40 points, stacked"]
    engine = peer(kind, scene)
    mass = engine.m.body_mass.sum() if kind == "MuJoCo" else engine.mass()
    assert mass == pytest.approx(10.0)
    engine.close()


@pytest.mark.oracle_heavy
@pytest.mark.parametrize("kind", ["Palpate", "MuJoCo", "PyBullet", "Rapier", "Drake"])
@pytest.mark.parametrize("name", ["box, 4 points, sliding", "stack, 40 points, stacked"])
def test_every_engine_rests_at_the_exact_height(kind, name):
    """Within the 2 mm beyond which the bench marks them; ours within a tenth of one."""
    scene = SCENES[name]
    engine = contact_engines.Ours(scene) if kind == "Palpate" else peer(kind, scene)
    engine.advance(scene.settling)
    assert contact.height(engine, scene.watched) == pytest.approx(scene.exact, abs=1e-4 if kind == "Palpate" else 2e-3)
    _, furthest = contact.drift(engine, scene.watched, 100)
    assert furthest < 1e-3
    engine.close()


# ---- the harness


class Still:
    """An engine in which nothing happens."""

    name, setting, loops = "Palpate", "still", True

    def __init__(self, scene):
        self.start = pp.compile(scene.parts).posture("start")
        self.pushes = []

    def step(self):
        pass

    def advance(self, steps):
        pass

    def push(self, body, force):
        self.pushes.append((body, force))

    def save(self):
        return None

    def restore(self, saved):
        pass

    def poses(self, bodies):
        X = np.tile(np.eye(4), (len(bodies), 1, 1))
        X[:, :3, 3] = [(i, 0.0, 0.7) for i in range(len(bodies))]
        return X

    def contacts(self):
        return 3

    def residual(self):
        return 1e-9

    def q(self):
        return self.start

    def close(self):
        pass


def test_a_phase_pushes_first_and_then_lets_go():
    engine = Still(SCENES["box, 4 points, sliding"])
    assert contact.timed(engine, Phase("pushed", 5, "box", (1.0, 0.0, 0.0), 2)).shape == (5,)
    assert engine.pushes == [("box", (1.0, 0.0, 0.0))] * 2 + [("box", (0.0, 0.0, 0.0))]


def test_without_peers_all_rows_are_there_and_the_missing_are_named(monkeypatch, capsys):
    monkeypatch.setattr(contact_engines, "peer_class", lambda package: None)
    result = contact.run(rounds=1, quick=True, ours=Still)
    assert result["missing"] == ["mujoco (MuJoCo)", "pybullet (PyBullet)", "rapier3d (Rapier)", "drake (Drake)"]
    expected = [(s.name, s.points, p.name) for s in SCENES.values() for p in s.phases]
    assert [(row["scene"], row["points"], row["phase"]) for row in result["rows"]] == expected
    for row in result["rows"]:
        (run,) = row["runs"]
        assert (run["contacts"], run["residual"]) == (3, 1e-9)
        assert run["height_m"] == pytest.approx(0.7, rel=1e-12)  # a mean of up to a thousand
        assert run["drift_m"] == (None if row["phase"] == "landing" else (0.0, 0.0))
        assert row["mujoco_ratio"] is None
        assert row["rapier_ratio"] is None
        assert row["drake_ratio"] is None
    monkeypatch.setattr(contact, "run", lambda **_: result)
    assert cli.main(["bench", "contact", "--quick"]) == 0
    out = capsys.readouterr().out
    assert "not measured: mujoco (MuJoCo) is not installed" in out
    assert "not measured: pybullet (PyBullet) is not installed" in out
    assert "not measured: rapier3d (Rapier) is not installed" in out
    assert "not measured: drake (Drake) is not installed" in out


@pytest.mark.oracle_heavy
@pytest.mark.slow
def test_a_quick_run_of_everything_prints_and_writes_all_rows(tmp_path, capsys):
    assert cli.main(["bench", "contact", "--quick", "--rounds", "1", "--json", str(tmp_path / "bench.json")]) == 0
    out, result = capsys.readouterr().out, json.loads((tmp_path / "bench.json").read_text())
    peers = {engine for package, (engine, *_) in contact_engines.PEERS.items() if contact_engines.peer_class(package)}
    assert len(result["rows"]) == sum(len(s.phases) for s in SCENES.values())
    for row in result["rows"]:
        assert row["scene"] in out
        awake_only = {"PyBullet", "Drake"} if row["phase"] == "asleep" else set()
        assert {run["engine"] for run in row["runs"]} == {"Palpate"} | peers - awake_only
        for run in row["runs"]:
            t = run["timing"]
            assert 0.0 < t["p50_us"] <= t["p99_us"] <= t["max_us"]
            assert (run["residual"] is None) == (run["engine"] != "Palpate")
            assert run["depth_m"] >= 0.0
            assert (run["error_m"] is None) == (row["scene"] not in ("box", "stack"))
    assert set(result["ten_seconds_s"]) == {standing.title for standing in SCENES.values() if standing.held}


def test_drift_is_how_far_bodies_went():
    class Wanders(Still):
        gone = 0

        def advance(self, steps):
            self.gone += steps

        def poses(self, bodies):
            X = super().poses(bodies)
            X[0, :3, 3] += self.gone * np.array([3e-6, 0.0, -4e-6])
            return X

    engine = Wanders(SCENES["box, 4 points, sliding"])
    assert contact.drift(engine, ["a", "b"], 1000) == pytest.approx((5e-3 / 2**0.5, 5e-3))


# ---- what it makes of the numbers


def row(ours: float, height: float = 1.0, scene: str = "hrp2", points: int = 32, phase: str = "standing") -> Row:
    def run(engine: str, setting: str, p50: float, mean: float, at: float = 1.0) -> Run:
        return Run(engine, setting, at, points, None, Timing(p50, p50, p50, mean), None, 2e-4, at - 1.0, (3e-6, 4e-5))

    return Row(scene, points, phase, (
        run("Palpate", "", ours, ours), run("MuJoCo", "dense", 40.0, 60.0), run("MuJoCo", "sparse", 50.0, 30.0),
        run("PyBullet", "", 500.0, 500.0, height), run("Rapier", "", 36.0, 37.0),
        run("Drake", "", 900.0, 800.0)), tolerance_m=2e-3)  # fmt: skip


def test_a_ratio_is_the_worst_of_medians_and_means_against_the_fastest_setting():
    assert row(10.0).ratio("MuJoCo") == 3.0
    assert row(10.0).ratio("PyBullet") == 50.0
    assert row(10.0).ratio("Rapier") == 3.6
    assert row(10.0).ratio("Drake") == 80.0
    assert row(10.0).ratio("Jolt") is None


def test_engines_that_rest_apart_are_marked(capsys):
    assert row(10.0, height=1.0019).same_height
    apart = row(10.0, height=1.0021)
    assert not apart.same_height
    result = {"rows": [apart.json()], "ten_seconds_s": {}, "long_steps": 1, "call_overhead_us": None, "quick": False,
              "missing": [], "met": [], "shortfalls": [], "resting_s": 1.0,
              "machine": contact.dynamics.machine(("mujoco", "pybullet"))}  # fmt: skip
    from palpate.bench.tables import contact_table

    contact_table(cli.console, result)
    out = capsys.readouterr().out
    assert "1.0021 !" in out
    assert "2.1 mm apart" in out
    assert max(map(len, out.splitlines())) <= 120
    softness = out[out.index("how they rest") :]
    (bullet,) = [line for line in softness.splitlines() if "PyBullet" in line and "│" in line]
    assert [cell.strip() for cell in bullet.split("│")[4:9]] == ["1.0021 !", "2.100", "0.200", "0.003", "0.040"]


def test_the_time_of_a_step_is_its_median_over_the_rounds():
    rounds = [np.array([1.0, 2.0, 900.0]), np.array([1.0, 800.0, 3.0]), np.array([700.0, 2.0, 3.0])]
    assert Timing.of(rounds) == Timing(2.0, pytest.approx(2.98), 3.0, 2.0)


def test_goals_say_what_was_measured_and_whether_it_is_met():
    rows = [row(6.5), row(11.0, points=8), row(100.0, scene="human", points=104),
            row(20.0, scene="human", points=8), row(31.0, scene="200 boxes", points=0, phase="stacked"),
            row(30.0, scene="200 balls", points=0, phase="landing"),
            row(21.0, scene="stack", points=40, phase="stacked")]  # fmt: skip
    met = contact.goals(rows, {"hrp2, 32 points": {"Palpate": 0.3}, "human, 8 points": {"Palpate": 9.0}}, 3.5)
    verdicts = {goal.split(":")[0]: is_met for goal, is_met in met.items()}
    assert verdicts["hrp2 standing, 32 points, MuJoCo"]
    assert not verdicts["hrp2 standing, 8 points, MuJoCo"]
    assert verdicts["hrp2 standing, 8 points, PyBullet"]
    assert not verdicts["human standing, 104 points, PyBullet"]
    assert not verdicts["human standing, 104 points to 8"]
    assert not verdicts["200 boxes stacked, MuJoCo"]
    assert not verdicts["200 boxes stacked, Rapier"]  # 36 / 31
    assert verdicts["200 balls landing, Rapier"]  # 36 / 30
    assert not verdicts["stack stacked, 40 points, MuJoCo"]  # 30 / 21
    assert sum("Rapier" in goal for goal in verdicts) == 2
    assert verdicts["10 s of hrp2, 32 points"]
    assert not verdicts["a call of step() beyond the loop"]
    assert "10 s of human, 8 points" not in verdicts
    assert verdicts["10 s of human, 8 points, real time"]
    slow = contact.goals([], {"hrp2 all, 32 points": {"Palpate": 93.0}, "human all, 104 points": {"Palpate": 301.0},
                              "hrp2, 8 points": {"Palpate": 10.1}}, None)  # fmt: skip
    assert len(slow) == 3
    assert not any(slow.values())


@pytest.mark.parametrize(("robot", "points"), [("hrp2 all", 32), ("human all", 104), ("hrp2", 8), ("human", 8)])
def test_the_run_that_is_measured_is_the_published_one(robot, points):
    """articulated-haptics.md acceptance 37: every step is taken, on all its points, within tolerance, standing.

    `long_run_s` is what `palpate bench contact` prints and compares; seconds are its own affair.
    """
    scene = shortened(standing(f"{robot}, {points} points"), contact.QUICK)
    engine, steps, seen = contact_engines.Ours(scene), round(contact.QUICK * contact.LONG), []
    engine.advance(scene.settling)
    rest = engine.world.time

    class Watched(contact_engines.Ours):
        def __init__(self):
            self.__dict__ = engine.__dict__

        def advance(self, n):
            super().advance(n)
            report = self.world.report
            seen.append((round((self.world.time - rest) / self.world.dt), report.contacts, report.ran_out))
            assert report.relative_residual <= 1e-6
            assert contact.height(self, scene.watched) == pytest.approx(0.6465 if "hrp2" in robot else 0.941, abs=4e-3)

    assert contact.long_run_s(Watched(), steps) > 0.0
    assert contact.LONG * engine.world.dt == 10.0
    assert seen == [(steps, points, 0)] * 2  # the better of two
