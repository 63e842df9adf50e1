"""The tick in simulated time: the same bits every time; it follows, yields, recovers, and stops at a NaN."""

import numpy as np
import pytest

import palpate as pp
from palpate import frame, jit
from palpate.control.plans.plan import rest
from palpate.haptics.devices.pointer import Pointer
from palpate.runtime.world.simulation import WorldSimulation
from palpate.scenes.arm import arm, arm_at_rest
from palpate.scenes.scene import Scene
from palpate.servo.run import Run

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")


@pytest.fixture(scope="module")
def scene():
    return arm()


def engine_of(scene, **options) -> WorldSimulation:
    engine = WorldSimulation(scene, **options)
    engine.restart()
    return engine


def run(engine: WorldSimulation, ticks: int, hands=None) -> list[dict]:
    """Frames of that many ticks; hands is a function of the tick that gives (body, target) or None."""
    ticking = Run(engine)
    table = np.zeros((ticks, engine.hand_layout.words), dtype=np.int64)
    for k in range(ticks):
        held = hands(k) if hands else None
        if held:
            table[k] = engine.hand_layout.pack(body=engine.model.body(held[0]), target=held[1], stiffness_N_m=800.0)
    ticking.ticks(ticks, table)
    return [engine.layout.unpack(words) for words in ticking.frames]


def pulled(tick):
    """1.3 s of pulling the tool 10 cm to the side and up, then nothing."""
    return ("tool", (0.5, 0.25, 0.05)) if 200 <= tick < 1500 else None


def test_the_same_input_gives_the_same_bits(scene):
    def words():
        engine = engine_of(scene)
        frames = run(engine, 2000, pulled)
        engine.close()
        return frames

    for a, b in zip(words(), words(), strict=True):
        for name in a:
            assert np.array_equal(a[name], b[name]), name


def test_after_real_time_a_world_has_all_the_time_again():
    """Else whoever steps it next would get impulses that were cut short."""
    scene = arm_at_rest()
    engine = engine_of(scene)
    engine.events.write(engine.event_layout.pack(kind=frame.PLAY))
    engine.loop(20)
    assert engine.head.tick == 20
    assert engine.head.until_ns > 0
    assert scene.world.arrays.rows.until_ns == 0
    engine.close()


def test_undisturbed_the_arm_is_on_its_plan(scene):
    engine = engine_of(scene)
    errors = [np.abs(f["q"] - f["plan_q"]).max() for f in run(engine, 4000)]
    assert max(errors) < 2e-4
    assert not engine.head.counters.any()


def test_a_pulled_arm_yields_and_comes_back(scene):
    engine = engine_of(scene)
    frames = run(engine, 5000, pulled)
    held = frames[1490]
    assert held["hand_body"].tolist() == [scene.model.body("tool"), 0]
    assert np.linalg.norm(held["hand_point"][0] - (0.5, 0.25, 0.05)) < 0.01  # it went where it was pulled
    assert np.linalg.norm(held["hand_force"][0]) < 5.0  # and gives no resistance there
    assert max(np.linalg.norm(f["hand_force"][0]) for f in frames) <= Pointer().spec.force_limit_N
    assert not frames[1510]["hand_body"].any()
    assert not frames[1510]["hand_force"].any()
    assert np.abs(frames[-1]["q"] - frames[-1]["plan_q"]).max() < 1e-3


def test_item_35_the_force_never_rises_faster_than_the_device_allows(scene):
    engine = engine_of(scene)
    force = np.array([f["hand_force"][0] for f in run(engine, 900, pulled)])
    rise = np.diff(np.linalg.norm(force, axis=1))
    assert rise.max() <= Pointer().spec.force_rise_N_s * 1e-3 * (1 + 1e-9)


def test_a_yielding_arm_gains_no_energy_beyond_the_hands_work():
    """The arm at rest yields in weightlessness (gravity compensated): kinetic energy never exceeds the work put in."""
    scene = arm_at_rest()
    weightless = pp.World(pp.models.puma560(), gravity=(0, 0, 0))
    engine = WorldSimulation(Scene("rest", "At rest", weightless, rest(weightless.model, scene.plan.q[0])))
    engine.restart()
    frames = run(engine, 3000, lambda k: ("tool", (0.55, 0.25, 0.05)) if k >= 100 else None)
    excess = [f["energy"][0] - f["energy"][2] for f in frames if f["tick"] > 160]  # once it yields fully
    assert max(excess) < 1e-3
    assert frames[-1]["energy"][0] < 1e-6  # and comes to rest


def test_a_hand_with_an_orientation_turns_the_body_to_it():
    """All six freedoms of the coupling: the tool goes where the hand is and turns as the hand is turned."""
    scene = arm_at_rest()
    engine = engine_of(scene)
    row = scene.model.body("tool")
    X = pp.forward_kinematics(scene.model, scene.plan.q[0])[row]
    target = X[:3, 3] + (0.03, 0.05, 0.02)
    orientation = pp.Rotation.about((0, 0, 1), 0.3) @ pp.Rotation.from_matrix(X[:3, :3])
    hand = engine.hand_layout.pack(body=row, target=target, stiffness_N_m=800.0,
                                   orientation=orientation.wxyz, stiffness_Nm_rad=20.0)  # fmt: skip
    engine.simulate(4000, np.array([hand] * 4000))
    pose = engine.layout.unpack(engine.frames.newest()[1])["pose"][row]
    assert np.linalg.norm(pose[:3] - target) < 1e-3
    assert np.abs((pp.Rotation(tuple(pose[3:])).inv() @ orientation).log()).max() < 1e-2


def test_a_new_grasp_begins_without_a_jerk(scene):
    engine = engine_of(scene)
    frames = run(engine, 300, lambda k: ("link3", (0.3, 0.6, 0.3)) if k >= 100 else None)
    first = frames[100]
    assert np.linalg.norm(first["hand_force"][0]) < 2.1


@pytest.mark.parametrize("body", [-1, 0, 10**6])
def test_a_hand_on_no_body_or_a_fixed_one_holds_nothing(scene, body):
    engine = engine_of(scene)
    table = np.array([engine.hand_layout.pack(body=body, target=(9, 9, 9), stiffness_N_m=800.0)] * 10)
    engine.simulate(10, table)
    fixed = np.array([engine.hand_layout.pack(body=scene.model.body("floor"), stiffness_N_m=800.0)] * 10)
    engine.simulate(10, fixed)
    assert not any(hand.arrays.bodies_force != (0.0, 0.0, 0.0) for hand in engine.page_hands)
    assert np.isfinite(engine.arrays.q).all()


@pytest.mark.parametrize("poison", [np.nan, np.inf, 1e300])
def test_a_hand_with_impossible_numbers_cannot_break_the_world(scene, poison):
    engine = engine_of(scene)
    bad = engine.hand_layout.pack(
        body=scene.model.body("tool"), target=(poison,) * 3, stiffness_N_m=poison, orientation=(poison,) * 4,
        stiffness_Nm_rad=poison, at_body=(poison,) * 3,
    )  # fmt: skip
    engine.simulate(200, np.array([bad] * 200))
    engine.simulate(200, np.zeros((200, engine.hand_layout.words), dtype=np.int64))
    assert np.isfinite(engine.arrays.q).all()
    assert engine.head.state != frame.FAULT
    assert np.linalg.norm(engine.page_hands[0].arrays.bodies_force) <= Pointer().spec.force_limit_N


def test_a_nan_stops_the_world_at_its_last_good_state():
    engine = engine_of(arm())
    run(engine, 50)
    good = engine.arrays.q.copy()
    engine.world.tau[0] = engine.arrays.tau_start[0] = np.nan
    engine.world.arrays.state.kv[0] = np.nan
    assert engine.simulate(10, np.zeros((0, engine.hand_layout.words), dtype=np.int64)) == 0
    assert engine.head.state == frame.FAULT
    assert engine.world.arrays.state.fault_at >= 0
    assert np.array_equal(engine.arrays.q, good)


def test_frames_hold_the_poses_of_the_kinematics(scene):
    engine = engine_of(scene)
    f = run(engine, 321)[-1]
    poses = pp.forward_kinematics(scene.model, f["q"])
    for pose, X in zip(f["pose"], poses, strict=True):
        assert np.abs(pose[:3] - X[:3, 3]).max() < 1e-12
        assert np.abs(pp.Rotation(tuple(pose[3:])).matrix() - X[:3, :3]).max() < 1e-12
    energy = pp.energy(scene.model, f["q"], f["v"])
    assert f["energy"][:2] == pytest.approx(energy, rel=1e-9, abs=1e-12)


def test_an_impossible_rate_is_refused():
    with pytest.raises(ValueError, match="tick rate must be"):
        WorldSimulation(Scene("world", "A world", pp.World(pp.models.puma560(), dt=1e-5)))


def test_a_plan_for_a_free_joint_is_refused():
    world = pp.World(pp.models.human())
    with pytest.raises(ValueError, match="a free joint cannot follow a plan"):
        WorldSimulation(Scene("rest", "At rest", world, rest(world.model, world.q)))


def test_a_hand_pulls_a_free_body_over_the_floor():
    """A box on a plane: the hand moves it to the target, friction holds it there, contacts are in the frame."""
    world = pp.World([pp.models.box((0.2, 0.2, 0.2), mass=2.0, at=(0, 0, 0.1)), pp.models.plane()])
    engine = WorldSimulation(Scene("world", "A world", world))
    engine.restart()
    frames = run(engine, 3000, lambda k: ("box", (0.3, 0.0, 0.1)) if k >= 100 else None)
    assert frames[50]["contacts"] == 4
    moved = frames[-1]["pose"][world.model.body("box")]
    assert abs(moved[0] - 0.3) < 0.5 * 2.0 * 9.81 / 800.0 + 1e-3  # friction keeps the spring stretched by mu m g / k
    assert abs(moved[2] - 0.1) < 1e-3
    assert max(f["residual"] for f in frames) <= 1e-6
