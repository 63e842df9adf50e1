"""The page's hands on the planar handle and body: they take, turn, are limited, and let go."""

import math

import numpy as np
import pytest
from leading import handle, led, message, set_to

from palpate import jit
from palpate.frame import COUNTERS
from palpate.planar import scenes
from palpate.servo.run import Run

compiled = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")
ALL = (scenes.planar_block, scenes.planar_peg, scenes.planar_wall, scenes.planar_free)
TAME = {"stiffness": (100.0, 4000.0), "damping": (0.0, 20.0)}  # beyond, a sampled wall cannot be stable


@compiled
def test_a_hand_takes_handle_or_body_and_lets_go():
    for which in (handle, lambda simulation: 1):
        simulation = scenes.planar_block()
        row = which(simulation)
        run = led(simulation, row, (0.06, 0.04), rest=1.5, free=0.2)
        held = run.history("hand_body")[:, 0]
        assert (held[1:1000] == row).all()
        assert (held[-90:] == 0).all()
        assert run.history("block")[1040, :2] == pytest.approx([0.06, 0.04], abs=2e-3)
        assert simulation.lanes[0].hand.holds == 0
        assert np.abs(run.history("hand_true")[-90:]).max() == 0.0
        assert run.now["fault"] == 0


@compiled
def test_a_hand_turns_what_it_holds_through_more_than_a_turn():
    simulation = scenes.planar_free()
    run = led(simulation, handle(simulation), (0.0, 0.0), seconds=1.5, rest=0.5, turn=8.0)
    assert run.now["block"][2] == pytest.approx(8.0, abs=0.02)
    assert run.now["handle"][2] == pytest.approx(8.0, abs=0.02)


@compiled
def test_a_body_held_at_its_rim_turns_towards_the_hand():
    simulation = scenes.planar_free()
    rows = [message(simulation, 1, (0.05, 0.04), at_body=(0.05, 0.0, 0.0))] * 400
    run = Run(simulation)
    run.ticks(400, np.array(rows))
    assert run.history("block")[:100, 2].max() > 0.1
    assert np.hypot(*(run.now["hand_point"][0] - run.now["hand_target"][0])[:2]) < 5e-3
    assert run.now["fault"] == 0


@compiled
def test_a_hand_pulls_no_harder_than_it_can_and_no_stiffer_than_the_step_allows():
    simulation = scenes.planar_wall()
    run = led(simulation, handle(simulation), (0.5, 0.3), seconds=0.1, rest=1.0, stiffness_N_m=1e5)
    assert max(simulation.held.array("sharpest")[:2]) < 2000.0
    assert max(simulation.lanes[0].hand.stiffness[:2]) <= simulation.held.sharpest[0]
    assert np.abs(run.history("hand_true")[-300:, :2]).max() < 1.1 * simulation.configuration.hand.most_N
    assert run.now["fault"] == 0
    assert run.now["counters"][COUNTERS.index("capped")] > 0


@compiled
def test_a_handle_that_is_flung_away_stays_in_its_workspace():
    for to in ((0.1, 0.08), (-0.1, 0.02), (0.0, -0.08)):
        simulation = scenes.planar_free()
        run = led(simulation, handle(simulation), to, seconds=0.06, rest=0.04, free=1.0, stiffness_N_m=600.0)
        assert run.now["fault"] == 0
        assert np.abs(run.history("handle_true")[:, 0]).max() < 0.105
        assert np.abs(run.history("handle_true")[:, 1]).max() < 0.085


@compiled
def test_a_hand_that_makes_no_sense_or_falls_silent_is_let_go():
    simulation = scenes.planar_free()
    run = led(simulation, handle(simulation), (0.02, 0.0), seconds=0.2, rest=0.1)
    bad = message(simulation, handle(simulation), (math.nan, 0.0))
    run.ticks(5, np.array([bad] * 5))
    assert run.now["hand_body"][0] == 0
    run.ticks(20, np.array([message(simulation, handle(simulation), (0.02, 0.0))] * 20))
    assert run.now["hand_body"][0] == handle(simulation)
    run.ticks(60)  # no message in 120 ms
    assert run.now["hand_body"][0] == 0
    assert run.now["fault"] == 0
    assert np.isfinite(run.now["block"]).all()


@compiled
@pytest.mark.parametrize("scene", ALL)
def test_whatever_a_page_does_the_motors_keep_their_torque_and_the_audit_its_balance(scene):
    """Targets that leap, springs of any stiffness, any law and rate, while two lanes may run."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        simulation = scene(compare=bool(rng.integers(2)), servo_hz=int(rng.choice([250, 500, 1000, 2000, 4000])))
        run = Run(simulation)
        for _ in range(15):
            setting = simulation.adjustable[rng.integers(len(simulation.adjustable))]
            low, high = TAME.get(setting.name, setting.bounds)
            set_to(
                simulation,
                setting.name,
                float(rng.integers(low, high + 1) if setting.whole else rng.uniform(low, high)),
            )
            held, ticks = int(rng.choice([0, 1, handle(simulation)])), int(rng.integers(20, 120))
            turn = None if rng.random() < 0.5 else float(rng.uniform(-3.0, 3.0))
            stiffness = float(rng.choice([50.0, 200.0, 1000.0, 1e5]))
            row = message(simulation, held, rng.uniform(-0.2, 0.2, 2), turn, stiffness_N_m=stiffness)
            run.ticks(ticks, np.array([row] * ticks))  # or a RuntimeError
        assert max(lane.world.audit.worst for lane in simulation.lanes) < 1e-9
        assert np.isfinite(run.history("pose")).all()
