"""Controllers of a World: compiled ones are parts of its tick, those in Python run beside it."""

from __future__ import annotations

import numpy as np
import pytest
from waiting import until

import palpate as pp
from palpate.frame import EVENT_AT, Field
from palpate.jit import Block, Struct, block_loader
from palpate.jit.routines import routine
from palpate.model.model import Floats1
from palpate.servo.head import Head
from palpate.servo.parts import Part

TURN_NM = 0.3


def pendulum() -> pp.World:
    return pp.World(pp.models.puma560(), gravity=(0.0, 0.0, 0.0))


class Asked:
    """Turns the first joint with as many times TURN_NM as it was asked before, and keeps what it was told."""

    def __init__(self, rate_hz: float, latency_s: float) -> None:
        self.rate_hz, self.latency_s = rate_hz, latency_s
        self.told: list[tuple[float, np.ndarray, np.ndarray]] = []
        self.resets = 0

    def control(self, time_s, q, v):
        self.told.append((time_s, q, v))
        return np.array([TURN_NM * len(self.told), 0.0, 0.0, 0.0, 0.0, 0.0])

    def reset(self):
        self.told.clear()
        self.resets += 1


def simulated(controller, ticks: int = 200) -> tuple[pp.Run, pp.World]:
    from palpate.runtime.world.simulation import WorldSimulation

    world = pendulum()
    run = pp.Run(WorldSimulation(pp.Scene("controlled", "Controlled", world, controllers=(controller,))))
    run.ticks(ticks)
    return run, world


@pytest.mark.parametrize(("rate_hz", "latency_s"), [(1000.0, 0.001), (100.0, 0.003), (250.0, 0.011), (40.0, 0.0)])
def test_in_simulated_time_an_answer_counts_a_stated_time_after_what_it_was_told(rate_hz, latency_s):
    controller = Asked(rate_hz, latency_s)
    run, _ = simulated(controller)
    every, latency = round(1000.0 / rate_hz), max(1, round(1e3 * latency_s))
    asked = np.arange(0, 200, every)
    assert [time_s for time_s, _, _ in controller.told] == pytest.approx(1e-3 * asked)
    tau = run.history("tau")[:, 0]
    for k in range(200):
        answered = int(np.count_nonzero(asked + latency <= k))
        assert tau[k] == pytest.approx(TURN_NM * answered)
        age = 1e-3 * (k - asked[answered - 1]) if answered else 0.0
        assert run.history("control_age_s")[k] == pytest.approx(age)
    for time_s, q, v in controller.told:  # what it was told is what the frame of that tick shows
        k = round(1e3 * time_s)
        assert np.array_equal(q, run.history("q")[k])
        assert np.array_equal(v, run.history("v")[k])


def test_a_run_with_a_python_controller_repeats_bit_for_bit():
    frames = [simulated(Asked(90.0, 0.007))[0].frames for _ in range(2)]
    assert np.array_equal(*frames)


def test_a_reset_forgets_what_was_asked_before_and_tells_the_controller():
    controller = Asked(100.0, 0.005)
    run, _ = simulated(controller, 103)  # asked in tick 100, not yet answered
    run.simulation.restart()
    run.ticks(4)
    assert np.array_equal(run.history("tau")[103:, 0], np.zeros(4))
    run.ticks(3)
    assert controller.resets == 1
    assert run.history("tau")[-1, 0] == pytest.approx(TURN_NM)


@pytest.mark.parametrize("answer", [None, [1.0], [np.nan] * 6])
def test_an_answer_that_is_none_is_said(answer):
    class Wrong:
        def control(self, time_s, q, v):
            return answer

    with pytest.raises(Exception, match=r"6 finite numbers|must be a real number|NoneType"):
        simulated(Wrong())


def test_what_is_no_controller_is_refused():
    with pytest.raises(TypeError, match="a controller has"):
        simulated(object())


def test_two_python_controllers_do_not_move_the_same_joints():
    with pytest.raises(ValueError, match="control_age_s"):
        pp.touch(pendulum(), page=False, controllers=[Asked(100.0, 0.0), Asked(50.0, 0.0)])


def test_a_plan_and_controllers_do_not_move_the_same_joints():
    from palpate.scenes.arm import arm

    with pytest.raises(ValueError, match="follow a plan"):
        pp.touch(arm(), page=False, controllers=[Asked(100.0, 0.0)])


def test_in_real_time_it_answers_through_a_mailbox_and_its_failure_leaves_the_joints_alone():
    class Failing(Asked):
        def control(self, time_s, q, v):
            if len(self.told) == 20:
                raise RuntimeError("no idea")
            return super().control(time_s, q, v)

    with pp.touch(pendulum(), page=False, controllers=[Failing(200.0, 0.0)]) as session:
        assert until(lambda: session.frame()["tau"][0] > 0.0)
        until(lambda: any("no idea" in note for note in session.report.notes))
        assert until(lambda: (session.frame()["tau"] == 0.0).all())
        tick = session.frame()["tick"]
        until(lambda: session.frame()["tick"] > tick)  # the servo goes on


# ---- compiled


class Spring(Struct):
    stiffness: float
    event: int
    at: int
    q: Floats1
    tau: Floats1


load = block_loader((Head, False), (Spring, False))


@routine
def tick_spring(address):
    _, c = load(address)
    c.tau[0] = -c.stiffness * c.q[0]
    return 0


@routine
def take_spring(address):
    h, c = load(address)
    if h.event[EVENT_AT.kind] != c.event:
        return 0
    c.stiffness = h.event_f[EVENT_AT.value]
    return 1


@routine
def publish_spring(address):
    h, c = load(address)
    h.frames_f[h.frame_at + c.at] = c.stiffness
    return 0


class Sprung:
    """A spring on the first joint, with an event and a field of its own."""

    fields = (Field("spring_Nm_rad", "f", (), "of the first joint"),)
    takes = (pp.Event("spring", 0.0, 100.0),)

    def part(self, engine):
        state = engine.world.arrays.state
        spring = Spring(stiffness=5.0, event=engine.kind_of("spring"), at=engine.layout.offset["spring_Nm_rad"],
                        q=state.q, tau=state.tau)  # fmt: skip
        self.block = Block(engine.head, spring)
        return Part(tick_spring, self.block, take=take_spring, publish=publish_spring)


def test_a_compiled_controller_brings_its_own_field_and_event():
    world = pendulum()
    world.q = [0.1, -0.6, 2.8, 0.0, 0.5, 0.0]
    session = pp.touch(world, page=False, controllers=[Sprung()])
    session.simulate(0.01)
    frame = session.frame()
    assert frame["spring_Nm_rad"] == 5.0
    assert frame["tau"][0] == pytest.approx(-5.0 * frame["q"][0])
    session.send("spring", 20.0)
    session.simulate(0.01)
    frame = session.frame()
    assert frame["spring_Nm_rad"] == 20.0
    assert frame["tau"][0] == pytest.approx(-20.0 * frame["q"][0])
    session.stop()
