"""Devices that lead the planar scenes through their Port and their guard; and the page's door for them."""

import math

import numpy as np
import pytest

import palpate as pp
from palpate import jit
from palpate.frame import DEVICE_COUNTERS
from palpate.haptics.devices.port import LOST, OK, InTick, Port, empty_port
from palpate.haptics.devices.protocol import DeviceSpec, OpenClose
from palpate.haptics.devices.simulation.scripted import Grasp, Scripted
from palpate.haptics.devices.simulation.simulated import Simulated
from palpate.haptics.guard import RISE_S, STATES
from palpate.haptics.hand import Hand
from palpate.jit import Block, Struct, block_loader
from palpate.jit.routines import routine
from palpate.planar import scenes
from palpate.planar.bodies.rooms import free_room
from palpate.planar.pantograph.device import SimulatedPantograph
from palpate.planar.simulation import PlanarSimulation
from palpate.runtime.hello import hello_of
from palpate.servo.run import Run

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")
INTO_THE_WALL = Hand(intent=((0.0, (0.0, 0.0, 0.0)), (0.9, (0.05, 0.0, 0.0)), (1.6, (0.05, 0.02, 0.0))))


def frames_of(session, seconds: float, every: float = 0.01) -> list[dict]:
    """Frames of a session in simulated time."""
    told = []
    for _ in range(round(seconds / every)):
        session.simulate(every)
        told.append(session.frame())
    return told


def opened(device):
    device.open()
    return device


@pytest.mark.parametrize("model", ["touch", "phantom-premium-1.5", "phantom-premium-1.5-6dof"])
def test_a_device_leads_the_block_and_feels_the_wall_through_its_guard(model):
    device, simulation = opened(Simulated(model, INTO_THE_WALL)), scenes.planar_wall()
    session = pp.touch(simulation, device, page=False)
    told = frames_of(session, 1.6)
    force = np.array([f["device_force"][0] for f in told])
    assert told[0]["block"] == pytest.approx([-0.02, 0.0, 0.0], abs=1e-3)  # where the hand was at first, the block is
    assert told[-1]["contacts"] > 0
    assert told[-1]["device_held"][0] == simulation.lanes[0].body
    assert force[120:, 0].max() < -1.0  # pushed back,
    assert np.linalg.norm(force, axis=1).max() <= device.spec.force_limit_N * (1.0 + 1e-9)
    assert told[-1]["penetration_mm"] < 10.0
    (report,) = session.report.devices
    assert (report.fault, report.counts["rising"] > 0) == ("", True)
    assert report.absorbed_J["hand"] > 0.0
    assert told[-1]["coupling"] == simulation.adjustable[8].choices.index("position-force")  # as it is set,
    assert simulation.lanes[0].channels.mode == 2  # but by position alone: its mechanism is not known
    assert told[-1]["parked"][simulation.first_link : simulation.first_other - 1].all()


def test_a_pantograph_leads_the_block_with_its_observer():
    simulation = scenes.planar_wall()
    device = opened(SimulatedPantograph(hand=INTO_THE_WALL))
    session = pp.touch(simulation, device, page=False)
    told = frames_of(session, 1.0)
    hand = np.array([f["hand_estimate"][0] for f in told[-5:]])
    assert simulation.lanes[0].drive.known == 1
    assert hand.mean() == pytest.approx(-device.force_on_hand_N[0], rel=0.1)
    assert max(f["offset_mm"] for f in told[60:]) < 8.0  # of a hand that the motors can answer
    assert not told[-1]["parked"][simulation.first_link : simulation.first_other].any()
    settings = {s["event"] for s in hello_of(simulation)["settings"]}
    assert {"coupling", "observer"} <= settings
    assert "compare" not in settings


def test_a_device_turns_the_block_if_it_senses_a_turn():
    turned = Hand(turns=((0.0, pp.Rotation()), (0.8, pp.Rotation.about((0.0, 0.0, 1.0), 0.5))))
    for device, angle in (
        (SimulatedPantograph(hand=turned), 0.5),
        (Simulated("phantom-premium-1.5-6dof", turned), 0.5),
    ):
        session = pp.touch(scenes.planar_free(), opened(device), page=False)
        assert frames_of(session, 1.6)[-1]["block"][2] == pytest.approx(angle, abs=0.1)


def test_the_scale_brings_a_small_workspace_over_the_whole_room():
    simulation, device = scenes.planar_block(), Simulated("touch")
    pp.touch(simulation, opened(device), page=False)
    assert simulation.lanes[0].lane.scale == pytest.approx(0.16 / device.spec.workspace_radius_m)
    simulation = scenes.planar_block()
    pp.touch(simulation, opened(Simulated("touch")), page=False, scale=3.0)
    assert simulation.lanes[0].lane.scale == 3.0


# ---- faults


class Fails(Struct):
    after: int  # readings
    how: int
    count: int
    sent: float  # the largest force since it failed


load = block_loader((Port, False), (Fails, False))


@routine
def sample_failing(address):
    port, f = load(address)
    f.count += 1
    port.sampled_s = port.now_s
    port.position, port.velocity = (1e-4 * min(f.count, 400), 0.0, 0.0), (0.0, 0.0, 0.0)
    if f.count > f.after:
        if f.how == 0:
            return LOST
        port.velocity = (math.nan, 0.0, 0.0)
    return OK


@routine
def send_failing(address):
    port, f = load(address)
    if f.count > f.after + 15:  # the guard fades a fault out in 20 ms
        f.sent = max(f.sent, abs(port.force[0]) + abs(port.force[1]) + abs(port.torque[2]))
    return OK


class Failing(OpenClose):
    """Moves into the wall, and is lost, or says what is no number."""

    def __init__(self, how: int, after: int = 600) -> None:
        self.spec = DeviceSpec("failing", 5.0)
        self.fails, port = Fails(after=after, how=how), empty_port()
        self.in_tick = InTick(port, Block(port, self.fails), sample_failing, send_failing, owner=self)


@pytest.mark.parametrize(("how", "counted"), [(0, "device_lost"), (1, "bad_reading")])
def test_a_device_that_is_lost_or_talks_nonsense_has_no_force_until_a_reset(how, counted):
    device, simulation = opened(Failing(how)), scenes.planar_wall()
    session = pp.touch(simulation, device, page=False)
    session.simulate(1.1)
    assert abs(session.frame()["device_force"][0, 0]) > 0.5  # it felt the wall
    session.simulate(0.5)
    frame = session.frame()
    assert device.fails.sent == 0.0
    assert not frame["device_force"].any()
    assert session.device_reports()[0].counts[counted] == 1
    assert session.faults()[0]
    assert STATES[frame["device_state"][0]] == "fault"  # of which the page makes its line, as it does for every device
    assert frame["device_counters"][0, DEVICE_COUNTERS.index(counted)] == 1
    assert frame["device_held"][0] == 0
    assert f"no force: {session.faults()[0]}" in str(session.report)
    assert frame["fault"] == 0  # the room goes on: its block is loose,
    assert np.isfinite(frame["block"]).all()
    assert np.abs(simulation.lanes[0].lane.f_c).max() == 0.0
    device.fails.after, device.fails.count = 10**9, 0
    simulation.restart()
    session.simulate(1.1)
    assert session.faults() == [""]
    assert abs(session.frame()["device_force"][0, 0]) > 0.5


AGAIN = Hand(
    intent=((0.0, (0.0, 0.0, 0.0)), (0.5, (0.05, 0.0, 0.0)), (1.0, (0.05, 0.0, 0.0)), (1.5, (0.0, 0.0, 0.0)),
            (2.6, (0.0, 0.0, 0.0)), (3.2, (0.05, 0.0, 0.0)))
)  # fmt: skip


def test_a_reset_ends_the_fault_of_a_pantograph_that_leads_and_force_comes_slowly():
    device, simulation = opened(SimulatedPantograph(hand=AGAIN)), scenes.planar_wall()
    session = pp.touch(simulation, device, page=False)
    session.simulate(1.0)
    assert session.frame()["device_force"][0, 0] < -0.5
    session.simulate(0.7)
    device._plant.encoder_error = (0.3, 0.0, 0.0, 0.0)
    session.simulate(0.1)
    frame = session.frame()
    assert device.fault == "an encoder jumped"
    assert (STATES[frame["device_state"][0]], frame["device_held"][0]) == ("fault", 0)
    assert not frame["device_force"].any()
    assert session.faults() == ["the device was lost"]
    simulation.restart()
    session.simulate(0.1)
    assert device.fault != ""  # what is still wrong is a fault again,
    assert session.device_reports()[0].counts["device_lost"] == 2
    device._plant.encoder_error = (0.0, 0.0, 0.0, 0.0)
    session.simulate(0.1)
    assert device.fault != ""  # and nothing but a reset ends it
    rising = session.device_reports()[0].counts["rising"]
    simulation.restart()
    told = frames_of(session, 0.6)
    assert (device.fault, session.faults()) == ("", [""])
    states = [STATES[f["device_state"][0]] for f in told]
    assert states[0] == "rising"
    assert states[-1] == "on"
    assert session.device_reports()[0].counts["rising"] - rising >= round(RISE_S * simulation.rate_hz) - 1
    assert np.abs([f["device_force"] for f in told]).max() < 0.5
    assert told[0]["block"] == pytest.approx([-0.02, 0.0, 0.0], abs=1e-3)  # nothing jumps
    session.simulate(1.2)
    assert session.frame()["device_force"][0, 0] < -0.5
    assert session.frame()["device_held"][0] == simulation.lanes[0].body


def test_a_body_whose_device_is_lost_is_pushed_by_nothing_in_any_coupling():
    """With forces alone the fence of the workspace is the body's, too: but not of a device of which nobody knows."""
    beyond = Hand(intent=((0.0, (0.0, 0.0, 0.0)), (0.8, (0.0, 0.075, 0.0))))
    device, simulation = opened(SimulatedPantograph(hand=beyond)), scenes.planar_free(coupling="force")
    session = pp.touch(simulation, device, page=False)
    session.simulate(1.0)
    assert abs(simulation.lanes[0].lane.f_c[1]) > 0.1  # it is beyond the fence
    device._plant.encoder_error = (0.3, 0.0, 0.0, 0.0)
    session.simulate(0.1)
    assert session.faults() == ["the device was lost"]
    assert np.abs(simulation.lanes[0].lane.f_c).max() == 0.0


@pp.wall_law(stiffness_N_m=2500.0, damping_Ns_m=0.0)
def breaks(depth, approach, dt, mass, setting, state):
    return math.nan if depth > 2e-4 else setting[0] * depth


def test_a_law_that_fails_takes_the_force_off_a_device_at_once():
    device, simulation = opened(Failing(0, after=10**9)), scenes.planar_wall(wall=breaks)
    session = pp.touch(simulation, device, page=False)
    session.simulate(2.0)
    assert "not a number" in session.report.notes[0]
    assert device.in_tick.port.force == (0.0, 0.0, 0.0)
    assert simulation.stage.faults == 1


# ---- who takes which device


def test_one_handle_takes_one_device_and_before_the_first_tick():
    simulation = scenes.planar_free()
    pair = (opened(Simulated("touch")), pp.Reach())
    with pytest.raises(ValueError, match="has one handle"):
        pp.touch(simulation, [pair, (opened(Simulated("omni")), pp.Reach())], page=False)
    simulation = scenes.planar_free()
    Run(simulation).ticks(2)
    with pytest.raises(ValueError, match="before the first tick"):
        pp.touch(simulation, [pair], page=False)


def test_a_simulation_that_takes_none_says_so():
    class Bare(pp.Simulation):
        name = "bare"

    with pytest.raises(ValueError, match="'bare' is a simulation of another kind"):
        pp.touch(Bare(rate_hz=100.0), opened(Simulated("touch")), page=False)


def test_a_device_by_the_clock_is_met_through_its_mailbox():
    """The scripted hand and a gamepad have no way into a tick of their own: simulated time refuses them."""
    session = pp.touch(scenes.planar_free(), opened(Scripted()), page=False)
    assert [box.device.spec.name for box in session.mailboxes] == ["scripted"]
    with pytest.raises(ValueError, match="scripted runs by the clock"):
        session.simulate(0.1)


def test_a_scripted_path_of_the_hand_leads_the_block_in_simulated_time():
    script = Scripted((Grasp("handle", 0.0, 1.5, (0.03, 0.02, 0.0), move_s=0.5),))
    simulation = PlanarSimulation(free_room())
    row = [body["name"] for body in simulation.hello()["bodies"]].index("handle")
    messages = [
        simulation.hand_layout.pack(body=row, target=script.target(script.actions[0], np.zeros(3), k / 500.0),
                                    stiffness_N_m=400.0) for k in range(750)
    ]  # fmt: skip
    run = Run(simulation)
    run.ticks(750, np.array(messages))
    assert run.now["block"][:2] == pytest.approx([0.03, 0.02], abs=1e-3)
