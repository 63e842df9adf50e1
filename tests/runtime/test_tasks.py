"""A task and its score: what the tick counts is what happened; trials repeat, are recorded and come back."""

from types import SimpleNamespace

import numpy as np
import pytest

import palpate as pp
from palpate import jit
from palpate.experiments.felt import FeltHand, felt_trials
from palpate.experiments.simulated import simulated_run
from palpate.haptics.devices.simulation.playback import HandRecording, Playback
from palpate.haptics.devices.simulation.scripted import Grasp, Scripted
from palpate.record.export import export
from palpate.record.reader import Recording
from palpate.scenes.arm import arm_at_rest
from palpate.scenes.past import PUCK_TARGET_M, training
from palpate.scenes.scene import Scene
from palpate.scenes.task import REACHED, RUNNING, WAITING, Trial, trend, trials_of
from palpate.servo.ring import Follower

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")


def led(*places, each_s=1.0, begin_s=0.1):
    """A hand that leads the puck from place to place (x, y)."""
    ways = [Grasp("puck", begin_s + k * each_s, begin_s + (k + 1) * each_s, (x, y, 0.015))
            for k, (x, y) in enumerate(places)]  # fmt: skip
    return Scripted(ways)


@pytest.mark.parametrize(("places", "hits"), [
    (((0.0, -0.25), (0.25, 0.0)), 0),  # round the bar
    (((-0.02, 0.0), (-0.15, 0.0), (-0.02, 0.0), (-0.15, -0.25), (0.1, -0.25), (0.25, 0.0)), 2),  # twice into it
])  # fmt: skip
def test_the_score_is_what_happened(places, hits):
    """Against the poses, forces and contacts of the same frames."""
    scene, hand = training(), led(*places)
    frames = simulated_run(scene, round(1000 * (0.5 + len(places))), hand)
    puck, bar = scene.model.body("puck"), scene.model.body("bar")
    state, at = frames["task_state"], frames["pose"][:, puck, :3]
    begun, ended = np.argmax(state == RUNNING), np.argmax(state == REACHED)
    assert (state[:begun] == WAITING).all()
    assert frames["hand_body"][begun] == puck
    assert not frames["hand_body"][:begun].any()
    assert (state[ended:] == REACHED).all()
    away = np.linalg.norm(at - PUCK_TARGET_M, axis=1)
    assert frames["task_distance_m"][1:] == pytest.approx(away[1:], abs=1e-9)
    assert away[ended] <= scene.task.radius_m < away[ended - 1]
    (trial,) = trials_of(frames)
    assert (trial.number, trial.reached, trial.collisions) == (1, True, hits)
    assert trial.seconds == pytest.approx(frames["time_s"][ended] - frames["time_s"][begun])
    assert trial.path_m == pytest.approx(np.linalg.norm(np.diff(at[begun : ended + 1], axis=0), axis=1).sum())
    assert trial.peak_N == pytest.approx(
        np.linalg.norm(frames["hand_force"][begun : ended + 1], axis=1).max(), rel=1e-6
    )
    touched = np.array([any(set(pair) == {puck, bar} for pair in row[:n])
                        for row, n in zip(frames["contact_body"], frames["contacts"], strict=True)])  # fmt: skip
    assert touched.any() == (hits > 0)


def test_a_scene_without_a_task_has_no_score():
    frames = simulated_run(arm_at_rest(), 50, Scripted((Grasp("tool", 0.0, 1.0, (0.5, 0.2, 0.0)),)))
    for name in ("trial", "state", "collisions", "time_s", "path_m", "peak_N", "distance_m"):
        assert not frames[f"task_{name}"].any()
    assert trials_of(frames) == []
    with pytest.raises(ValueError, match="has no task"):
        felt_trials(arm_at_rest(), FeltHand((0, 0, 0)), 1, 1.0)


def test_trials_are_counted_by_resets_and_recorded_with_their_marks(tmp_path):
    path = tmp_path / "trials.mcap"
    frames = felt_trials(training(), FeltHand(PUCK_TARGET_M), 3, 8.0, path)
    trials = trials_of(frames)
    assert [t.number for t in trials] == [1, 2, 3]
    assert all(t.reached for t in trials)
    with Recording(path) as recording:
        assert recording.trials == trials
        assert [mark.text for mark in recording.marks] == ["trial 1", "trial 2", "trial 3"]
        assert [Trial(**mark.data) for mark in recording.marks] == trials
    export(path, tmp_path / "trials.csv")
    header = (tmp_path / "trials.csv").read_text().partition("\n")[0].split(",")
    assert {"task_trial", "task_state", "task_collisions", "task_time_s", "task_path_m", "task_peak_N"} <= set(header)


def test_the_same_hand_feels_the_same_way_again():
    one, two = (felt_trials(training(), FeltHand(PUCK_TARGET_M), 2, 8.0) for _ in range(2))
    assert all(np.array_equal(one[name], two[name]) for name in one)


def test_a_hand_that_feels_nothing_does_not_get_past_the_bar():
    """So it is force that shows the way."""

    class Numb(FeltHand):
        def move(self, felt_N, dt):
            return super().move(np.zeros(3), dt)

    (trial,) = trials_of(felt_trials(training(), Numb(PUCK_TARGET_M), 1, 8.0))
    assert not trial.reached


def test_a_trend_is_the_slope_over_trials():
    trials = [Trial(k + 1, True, 5.0 - k, 0.5, 2.0 + 0.5 * k, 3 - k) for k in range(4)]
    assert trend(trials) == pytest.approx(
        {"seconds": -1.0, "path_m": 0.0, "peak_N": 0.5, "collisions": -1.0}, abs=1e-12
    )
    assert set(trend(trials[:1]).values()) == {0.0}


def played(times, places, holds_from: int) -> Playback:
    """A device that goes through places, button pressed from the so-manieth on."""
    device = Playback(HandRecording(np.array(times), np.array(places), buttons=np.arange(len(times)) >= holds_from))
    device.open()
    return device


def test_a_session_keeps_its_trials():
    """A device pulls the puck round the bar; a second run is a second trial."""
    z = 0.02
    places = ((-0.25, 0, z), (-0.25, 0, z), (-0.25, 0, z), (0.0, -0.25, z), (0.27, 0.0, z), (0.27, 0.0, z))
    device = played((0.0, 0.6, 0.7, 1.7, 2.7, 4.0), places, 1)
    session, told = pp.touch(training(), device, "pull", page=False), []
    session.recorder = SimpleNamespace(tell=told.append)
    session.simulate(4.0)
    session.recorder = None
    (first,) = session.trials
    assert [(mark["mark"]["text"], mark["mark"]["data"]) for mark in told] == [("trial 1", first._asdict())]
    assert (first.number, first.reached, first.collisions) == (1, True, 0)
    assert 0.5 < first.path_m < 0.9
    assert first.peak_N > 0.0
    session.stop()


# ---- the blow of a held body


def struck(stiffness: float, mass: float, speed: float):
    """Frames of a ball that a hand carries into a wall at x = 0 at about that speed, and the tick of the blow."""
    smooth = pp.Material("smooth", 0.0)
    ball = pp.models.ball(0.05, mass=mass, at=(-0.25, 0, 0), material=smooth, name="ball")
    wall = pp.models.plane(normal=(-1, 0, 0), material=smooth, name="wall")
    world = pp.World([ball, wall], gravity=(0, 0, 0))
    seconds = 1.5 * 0.4 / speed  # smoothstep over 0.4 m is fastest half way, where the wall is
    hand = Grasp("ball", 0.0, seconds, (0.15, 0, 0), stiffness_N_m=stiffness)
    frames = simulated_run(Scene("blow", "a blow", world), round(1000 * seconds), Scripted((hand,), force_rise_N_s=1e9))
    return frames, int(np.argmax(np.abs(frames["contact_force"][:, 0, 0]) > 0.0))


@pytest.mark.parametrize("stiffness", [200.0, 800.0])
@pytest.mark.parametrize("mass", [0.2, 1.0])
@pytest.mark.parametrize("speed", [0.2, 0.5])
def test_the_impact_of_a_held_body_is_felt(stiffness, mass, speed):
    """F = K e + B e': a body that a blow stops by dv pulls at the hand by B dv at once, B = 2 sqrt(K m).

    And momentum is whole: m dv = impulse of the wall + impulse of the hand, in every tick.
    """
    frames, blow = struck(stiffness, mass, speed)
    v, force = frames["v"][:, 3], frames["hand_force"][:, 0]  # on the body; the hand feels its opposite
    before, after = blow - 1, blow + 3  # the solver stops it where it arrives, in two steps
    lost = v[before] - v[after]
    assert lost == pytest.approx(speed, rel=0.15)
    jump, law = force[after] - force[before], 2.0 * np.sqrt(stiffness * mass) * lost
    moved = stiffness * speed * (after - before) * 1e-3  # what the spring is stretched by meanwhile, at most
    assert law <= jump <= 1.01 * law + moved
    assert jump > 5.0 * np.abs(force[after - before :] - force[: before - after])[50 : before - 10].max()
    on_ball = np.where(frames["contact_body"][:, 0, 1] == 1, 1.0, -1.0)  # contact_force is on the second body
    wall = on_ball * frames["contact_force"][:, 0, 0]
    assert mass * np.diff(v) == pytest.approx(1e-3 * (force[:-1] + wall[1:]), abs=1e-9)


def test_a_device_shows_the_blow_of_the_body_it_holds():
    """Its force is that of the coupling, weighted, growing no faster than the guard allows: the blow is in it."""
    smooth = pp.Material("smooth", 0.0)
    ball = pp.models.ball(0.05, mass=0.3, at=(-0.25, 0, 0), material=smooth, name="ball")
    world = pp.World([ball, pp.models.plane(normal=(-1, 0, 0), material=smooth, name="wall")], gravity=(0, 0, 0))
    device = played((0.0, 1.0, 2.0, 2.05), ((-0.25, 0, 0), (-0.25, 0, 0), (0.0, 0, 0), (0.0, 0, 0)), 0)
    session = pp.touch(Scene("blow", "a blow", world), device, "pull", page=False)
    follower, frames = Follower(session.simulation.frames), []
    session.simulate(1.9)  # the ring holds two seconds
    frames = [session.simulation.layout.unpack(words) for words in follower.read()]
    weight, spec = session.reaching[0].weight, session.reaching[0].spec
    session.stop()
    force = np.array([f["device_force"][0, 0] for f in frames])  # on the hand
    blow = int(np.argmax([abs(f["contact_force"][0, 0]) > 0.0 for f in frames]))
    lost = frames[blow - 1]["v"][3] - frames[blow + 3]["v"][3]
    assert lost == pytest.approx(0.25, rel=0.1)
    law = 2.0 * np.sqrt(800.0 * 0.3) * lost / weight  # B dv, as the hand feels it
    felt = force[blow - 1] - force[blow - 1 : blow + 50]  # against the hand, which goes on along x
    assert felt.max() >= law
    assert np.diff(force).min() >= -spec.force_rise_N_s * 1e-3 - 1e-9
    assert felt.max() > 5.0 * np.abs(np.diff(force[blow - 300 : blow - 5 : 50])).max()
