"""The schedule knows no physics: what it asks of a simulation, whatever that is."""

from __future__ import annotations

import time

import numpy as np
import pytest
from toys import Counter

import palpate as pp
from palpate.frame import FAULT, FIRST_OWN, PAUSE, PAUSED, PLAY, RESET, RUNNING, SPEED, STEP, Field
from palpate.jit import Block, Struct, block_loader
from palpate.jit.routines import routine
from palpate.servo.loop import IDLE_EVERY
from palpate.servo.parts import Part


def send(simulation, kind, value=0.0):
    simulation.events.write(simulation.event_layout.pack(kind=kind, value=value))


def after(events, periods=200):
    """(counts, head) of a counter that was sent some events and then beaten so often, in real time."""
    simulation = Counter()
    for event in events:
        send(simulation, *event)
    assert simulation.loop(periods) == periods
    return simulation.counts, simulation.head


def test_a_paused_simulation_is_called_once_a_period_and_does_not_move():
    counts, head = after([])
    assert (counts.ticks, counts.still, head.tick, head.state) == (0, 200, 0, PAUSED)


def test_while_paused_only_some_frames_are_published():
    simulation = Counter()
    simulation.loop(200)
    assert simulation.frames.head == 200 // IDLE_EVERY


@pytest.mark.parametrize("speed", [0.25, 1.0, 3.0])
def test_ticks_are_as_many_as_the_speed_has_earned(speed):
    counts, head = after([(PLAY,), (SPEED, speed)])
    assert counts.ticks == head.tick == 200 * speed
    assert counts.still == (200 - counts.ticks if speed < 1.0 else 0)
    assert head.time == pytest.approx(head.tick * head.dt)


@pytest.mark.parametrize("speed", [0.5, 1.0, 3.0])
def test_a_tick_is_told_by_when_it_should_be_done_and_in_simulated_time_that_it_need_not(speed):
    simulation = Counter()
    send(simulation, PLAY)
    send(simulation, SPEED, speed)
    began_ns = time.monotonic_ns()
    simulation.loop(20)
    assert began_ns < simulation.head.until_ns < time.monotonic_ns() + 1e9 / simulation.rate_hz
    simulation.simulate(5)
    assert simulation.head.until_ns == 0


def test_single_steps_are_made_while_paused():
    counts, head = after([(PLAY,), (PAUSE,), (STEP,), (STEP,), (STEP,)])
    assert (counts.ticks, head.state) == (3, PAUSED)


def test_a_reset_is_the_simulations_and_time_begins_anew():
    simulation = Counter()
    send(simulation, PLAY)
    simulation.loop(50)
    send(simulation, RESET)
    simulation.loop(7)
    assert (simulation.counts.resets, simulation.counts.ticks, simulation.head.tick) == (1, 7, 7)


def test_a_tick_below_zero_is_a_fault_that_only_a_reset_leaves():
    simulation = Counter()
    simulation.counts.stops_at = 20
    send(simulation, PLAY)
    simulation.loop(50)
    assert (simulation.head.state, simulation.counts.ticks) == (FAULT, 20)
    send(simulation, PLAY)
    simulation.loop(5)
    assert simulation.head.state == FAULT
    send(simulation, RESET)
    simulation.loop(5)
    assert (simulation.head.state, simulation.counts.ticks) == (PAUSED, 0)
    with pytest.raises(RuntimeError, match="it was to stop"):
        pp.Run(simulation).ticks(21)


def test_the_simulation_is_asked_about_every_event_in_order_and_may_ask_for_patience():
    simulation = Counter()
    simulation.counts.refuses = 3
    kinds = [PLAY, FIRST_OWN + 4, PAUSE, FIRST_OWN, PLAY]
    for kind in kinds:
        send(simulation, kind)
    simulation.loop(3)
    assert simulation.counts.n_taken == 0
    simulation.loop(1)
    assert simulation.counts.taken[: len(kinds)].tolist() == kinds
    assert simulation.head.state == RUNNING


class Called(Struct):
    times: int
    resets: int


load_called = block_loader((Called, False))


@routine
def call(address):
    load_called(address)[0].times += 1
    return 0


@routine
def call_reset(address):
    load_called(address)[0].resets += 1
    return 0


@pytest.mark.parametrize(("every", "phase"), [(1, 0), (2, 1), (7, 0), (7, 6), (100, 42)])
def test_a_part_is_called_on_its_divider(every, phase):
    called = Called()
    simulation = Counter([Part(call, Block(called), every, phase, reset=call_reset)])
    pp.Run(simulation).ticks(1000)
    assert called.times == len(range(phase, 1000, every))
    assert called.resets == 1


def test_a_divider_that_makes_no_sense_is_refused():
    for every, phase in ((0, 0), (3, 3), (2, -1)):
        with pytest.raises(ValueError, match="every n ticks"):
            Counter([Part(call, Block(Called()), every, phase)])


def test_a_run_is_the_same_every_time_and_keeps_every_frame():
    runs = []
    for batches in ([1000], [1, 249, 250, 500], [333, 667]):
        run = pp.Run(Counter())
        for ticks in batches:
            run.ticks(ticks)
        runs.append(run.frames)
        assert np.array_equal(run.history("tick"), np.arange(1000))
        assert np.array_equal(run.history("ticks"), run.history("tick"))
    assert all(np.array_equal(runs[0], other) for other in runs[1:])


def test_two_fields_of_one_name_are_refused():
    for twice in ("ticks", "tick"):  # its own, and one that every frame has
        with pytest.raises(ValueError, match=f"have one name: {twice}"):
            Counter(more=(Field(twice, "i", (), ""),))


def test_a_rate_that_no_loop_can_hold_is_refused():
    for rate_hz in (1.0, 1e5):
        with pytest.raises(ValueError, match=r"tick rate must be 10 \.\. 8000 Hz"):
            Counter(rate_hz=rate_hz)
