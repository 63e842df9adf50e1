"""The planar interface as a simulation: control end to end, settings while it runs, hands, faults, recordings."""

import json
import math
import os
import subprocess
import sys
import textwrap
from importlib.metadata import EntryPoint

import lane_doors
import numpy as np
import pytest
from leading import handle, led, message, set_to

import palpate as pp
import palpate.registry
from palpate import jit
from palpate.frame import FIRST_OWN
from palpate.haptics.contact_laws import wall_law
from palpate.jit import Block
from palpate.planar import scenes
from palpate.planar.bodies.rooms import enclosure
from palpate.planar.fields import OTHER, SETTINGS
from palpate.planar.lane import FAULTS, Lane
from palpate.planar.simulation import PlanarSimulation
from palpate.record.reader import Recording
from palpate.record.writer import FrameWriter
from palpate.runtime.hello import hello_of
from palpate.runtime.record.player import shown_hello
from palpate.servo.run import Run

compiled = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")
ALL = (scenes.planar_block, scenes.planar_peg, scenes.planar_wall, scenes.planar_free)


def reference_path(ticks: int = 900) -> np.ndarray:
    """The hand of the reference's four-channel run (10.1)."""
    t = 0.002 * np.arange(ticks)
    turn = np.where(t < 0.9, 0.2 * np.sin(2.0 * np.pi * 0.7 * t), 0.0)
    return np.stack([t, -0.02 + 0.06 * np.minimum(t / 0.5, 1.0), 0.01 * np.sin(2.0 * np.pi * t), turn], axis=1)


def coupled(mode: str) -> dict[str, np.ndarray]:
    """K = 2000 N/m and B = 4 N s/m, shared by two vertices."""
    simulation = scenes.planar_wall(
        path=reference_path(), coupling=mode, wall="seh", friction="none", impact="none", stiffness_N_m=1000.0,
        damping_Ns_m=2.0,
    )  # fmt: skip
    run = Run(simulation)
    run.ticks(900)
    return run.histories()


# ---- the lane


@compiled
def test_four_channels_keep_handle_and_body_together_and_two_do_not():
    """Planar haptics, acceptance 10, in the whole simulation."""
    four, two = coupled("position-force"), coupled("position")
    error = four["block"] - four["handle"]
    assert np.hypot(error[50:, 0], error[50:, 1]).max() < 1e-3
    assert np.linalg.norm(error[700:, :2].mean(axis=0)) < 0.05e-3
    hand, wall = four["hand_true"][700:, 0].mean(), four["environment"][700:, 0].mean()
    assert abs(hand + wall) < 0.02 * abs(hand)
    assert hand == pytest.approx(4.884, rel=0.01)
    assert (two["offset_mm"][700:] > 5.0).all()
    assert max(four["audit_worst"][-1], two["audit_worst"][-1]) < 1e-9


@compiled
def test_no_controller_reads_the_true_force_of_the_hand():
    runs = []
    for poisoned in (False, True):
        simulation = scenes.planar_wall(path=reference_path())
        run = Run(simulation)
        for _ in range(60):
            run.ticks(5)
            if poisoned:
                simulation.lanes[0].plant.hand_wrench = (math.nan, math.nan, math.nan)
        runs.append(run.histories())
    for name in ("block", "handle", "command", "torque", "hand_estimate", "energy_J"):
        assert np.array_equal(runs[0][name], runs[1][name])


@pytest.mark.nojit
def test_the_scale_of_motion_carries_power_over():
    rng = np.random.default_rng(1)
    for _ in range(100):
        s = rng.uniform(0.2, 5.0)
        wrench, motion = rng.normal(size=3), rng.normal(size=3)  # in the room, and of the device
        back, moved, same, out = np.zeros((4, 3))
        lane_doors.scaled(s, wrench, back, out)
        lane_doors.scaled(s, motion, moved, out)
        lane_doors.scaled(s, back, out, same)
        assert np.dot(back, motion) == pytest.approx(np.dot(wrench, moved), rel=1e-12)
        assert np.allclose(same, wrench, rtol=1e-14)


@pytest.mark.nojit
def test_an_impulse_is_felt_whole_in_as_few_pulses_as_the_motors_allow():
    """Planar haptics, 3.2: over k = ceil(L / (T F_max)) samples."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        s, dt, most = rng.uniform(0.5, 3.0), rng.choice([0.00025, 0.002, 0.004]), rng.uniform(2.0, 10.0)
        lane = Lane(scale=s, pulse_N=most, pulse_Nm=0.4)
        address, struck, nothing = Block(lane), rng.normal(size=3) * (0.05, 0.05, 1e-3), np.zeros(3)
        k = max(1, math.ceil(max(s * math.hypot(*struck[:2]) / (dt * most), abs(struck[2]) / (dt * 0.4))))
        felt, last = np.zeros((k, 3)), np.zeros(3)
        for n in range(k):
            lane_doors.pulse(address.address, nothing if n else struck, dt, felt[n])
        assert lane.pulse_left == 0
        assert np.allclose(dt * np.sum(felt, axis=0), struck, rtol=1e-12, atol=1e-18)
        assert s * np.hypot(*felt[:, :2].T).max() <= most * (1.0 + 1e-12)
        lane_doors.pulse(address.address, nothing, dt, last)
        assert not last.any()


@compiled
def test_what_a_hand_presses_with_is_the_wall_times_the_scale():
    simulation = scenes.planar_block(friction="none")
    run = led(simulation, handle(simulation), (0.25, 0.0), seconds=0.5, rest=2.5)
    hand, wall = run.history("hand_true")[-200:, 0].mean(), run.history("environment")[-200:, 0].mean()
    assert simulation.lanes[0].lane.scale == 2.0
    assert hand > 1.0
    assert hand == pytest.approx(-2.0 * wall, rel=0.02)


# ---- settings


@compiled
def test_every_law_can_be_swapped_while_the_block_is_pressed_into_a_corner():
    """And the balance of energy holds with each of them."""
    simulation = scenes.planar_block()
    run = led(simulation, handle(simulation), (0.2, 0.16), seconds=0.4, rest=0.8)
    hold = np.array([message(simulation, handle(simulation), (0.2, 0.16))] * 30)
    for setting, laws in (
        ("wall", simulation.walls),
        ("friction", simulation.frictions),
        ("keeper", simulation.keepers),
    ):
        for place in range(len(laws.names)):
            set_to(simulation, setting, place)
            run.ticks(30, hold)
            assert run.now[setting] == place
            assert run.now["fault"] == 0
            assert run.history("contacts")[-30:].max() > 0, laws.names[place]
        set_to(simulation, setting, laws.names.index(getattr(simulation.configuration, setting)))
    assert run.now["audit_worst"] < 1e-9
    assert set(simulation.lanes[0].world.laws.wall.tolist()) <= set(simulation.choices.wall.tolist())


@compiled
def test_laws_of_other_packages_can_be_chosen_and_one_that_does_not_load_is_left_out(monkeypatch):
    def entry_points(group):
        names = {"palpate.walls": "rubber", "palpate.frictions": "smooth", "palpate.keepers": "timid"}
        found = [EntryPoint(names[group], f"toy_laws:{names[group]}", group)] if group in names else []
        return [*found, EntryPoint("broken", "no_such_module:law", group)]

    monkeypatch.setattr(palpate.registry, "entry_points", entry_points)
    simulation = scenes.planar_wall(path=reference_path(), wall="rubber", friction="smooth")
    run = Run(simulation)
    run.ticks(400)
    set_to(simulation, "keeper", simulation.keepers.names.index("timid"))
    run.ticks(50)
    assert simulation.walls.names[int(run.now["wall"])] == "rubber"
    assert (run.now["fault"], run.history("contacts").max()) == (0, 2)
    assert "broken" not in simulation.walls.names
    assert "no_such_module" in simulation.walls.left_out["broken"]


@compiled
def test_a_tick_allocates_nothing():
    """A thousand ticks as much as one, two lanes pressed into a corner."""
    code = """
        from palpate.jit import allocations
        from palpate.planar.scenes import planar_block
        simulation = planar_block(compare=True, path=[[0.0, 0.0, 0.0, 0.0], [0.5, 0.1, 0.08, 0.3]])
        simulation.simulate(400)
        def spent(ticks):
            before = allocations()
            simulation.simulate(ticks)
            return allocations() - before
        spent(1)
        print(spent(1) == spent(1000), simulation.lanes[0].world.contacts.count > 0)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True,
                          env=os.environ | {"NUMBA_NRT_STATS": "1"})  # fmt: skip
    assert done.stdout.split() == ["True", "True"], done.stderr


@compiled
def test_a_setting_out_of_bounds_changes_nothing():
    simulation = scenes.planar_wall()
    run = Run(simulation)
    before = simulation.settings.value.copy()
    for name, value in (("wall", 99.0), ("wall", -1.0), ("stiffness", math.nan), ("mu", -0.1), ("rate", 17.0),
                        ("restitution", 1.5), ("compare", 2.0), ("damping", math.inf)):  # fmt: skip
        set_to(simulation, name, value)
    run.ticks(3)
    assert np.array_equal(simulation.settings.value, before)
    assert simulation.takes[0].name == SETTINGS[0]
    assert simulation.kind_of("wall") == FIRST_OWN


@compiled
def test_numbers_reach_every_edge():
    simulation = scenes.planar_block()
    run = Run(simulation)
    for name, value in (("stiffness", 4000.0), ("damping", 3.0), ("restitution", 0.7), ("mu", 0.5), ("impact", 2.0)):
        set_to(simulation, name, value)
    run.ticks(2)
    for lane in simulation.lanes:
        laws = lane.world.laws
        assert (laws.wall_setting[:, 0] == 4000.0).all()
        assert (laws.wall_setting[:, 1] == 3.0).all()
        assert (laws.friction_setting[:, 0] == 0.5).all()
        assert (laws.restitution == 0.7).all()
        assert lane.world.rules.impact == 1
        assert laws.impulse.all()
    set_to(simulation, "impact", 0.0)
    run.ticks(1)
    assert not simulation.lanes[0].world.laws.impulse.any()


@compiled
def test_the_servo_has_its_own_rate_and_the_tick_keeps_its():
    ends = {}
    for place, rate in enumerate((250, 500, 1000, 2000, 4000)):
        simulation = scenes.planar_wall(path=reference_path(), wall="seh", friction="none", servo_hz=rate)
        run = Run(simulation)
        run.ticks(600)
        assert run.now["steps"] == pytest.approx(600 * rate / 500, abs=rate / 500)
        assert (run.now["rate"], run.now["fault"]) == (place, 0)
        assert run.history("time_s")[-1] == pytest.approx(599 / 500)
        ends[rate] = run.history("block")[-50:].mean(axis=0)
    for rate, end in ends.items():
        assert np.abs(end - ends[4000]) == pytest.approx(0.0, abs=5e-3), rate
        assert np.abs(end - ends[4000])[:2].max() < 1e-3, rate
    set_to(simulation, "rate", 0)  # and while it runs
    run.ticks(50)
    assert run.now["fault"] == 0


# ---- side by side


@compiled
def test_two_lanes_of_one_law_do_the_same_and_of_two_laws_do_not():
    same, other = ({"other_wall": "seh", "other_friction": "reset-integrator"}, {"other_wall": "hysteretic"})
    for more, equal in ((same, True), (other, False)):
        simulation = scenes.planar_block(compare=True, wall="seh", **more)
        now = led(simulation, handle(simulation), (0.2, 0.0), seconds=0.4, rest=0.4).now
        both = [now[prefix + "block"] for prefix in ("", OTHER)]
        assert np.array_equal(*both) == equal
        assert not now["parked"].any()
        assert now["contacts"] > 0
        assert now[OTHER + "contacts"] > 0
        assert now[OTHER + "audit_worst"] < 1e-9


@compiled
def test_a_comparison_begins_from_the_start_and_ends_with_the_second_body_gone():
    simulation = scenes.planar_block()
    start = simulation.lanes[0].world.start.X[1]
    run = led(simulation, handle(simulation), (0.1, 0.05), seconds=0.3, rest=0.2)
    assert np.abs(run.now["block"] - start).max() > 0.05
    assert run.now["parked"][-1] == 1
    set_to(simulation, "compare", 1.0)
    run.ticks(1, np.array([simulation.hand_layout.pack()]))
    assert np.array_equal(run.now["block"], start)
    assert np.array_equal(run.now[OTHER + "block"], start)
    assert run.now["parked"][-1] == 0
    assert run.now["tick"] > 200  # time goes on
    set_to(simulation, "compare", 0.0)
    run.ticks(1)
    assert run.now["parked"][-1] == 1


# ---- faults


@wall_law(stiffness_N_m=2500.0, damping_Ns_m=0.0)
def breaks(depth, approach, dt, mass, setting, state):
    return math.nan if depth > 1e-4 else setting[0] * depth


@compiled
@pytest.mark.parametrize(("what", "why"), [
    ("law", "not a number"), ("encoder", "jumped"), ("contradiction", "contradict"), ("body", "not a number"),
])  # fmt: skip
def test_a_fault_takes_all_torque_away_at_once_and_only_a_reset_leaves_it(what, why):
    simulation = scenes.planar_wall(path=reference_path(), **({"wall": breaks} if what == "law" else {}))
    run, lane = Run(simulation), simulation.lanes[0]
    run.ticks(20)
    if what == "encoder":
        lane.plant.encoder_error = (0.5, 0.0, 0.0, 0.0)
    if what == "body":
        lane.world.motion.v[1] = math.nan
    for k in range(40 if what == "contradiction" else 0):  # slowly, so that nothing jumps
        run.ticks(1)
        lane.plant.encoder_error = (2e-4 * k, 0.0, 0.0, 0.0)
    with pytest.raises(RuntimeError, match=why) as said:
        run.ticks(700)
    assert "\n" not in str(said.value)
    assert lane.drive.torque == (0.0, 0.0, 0.0, 0.0)
    assert lane.plant.torque == (0.0, 0.0, 0.0, 0.0)
    assert (simulation.stage.faults, simulation.stage.fault > 0) == (1, True)
    assert FAULTS[simulation.stage.fault] in simulation.why_stopped()
    assert simulation.simulate(5) == 0  # it stays so
    lane.plant.encoder_error = (0.0, 0.0, 0.0, 0.0)
    simulation.head.state = 0
    simulation.restart()
    run.ticks(30)
    assert run.now["fault"] == 0
    assert run.now["faults"] == 1


def test_what_cannot_be_is_refused_in_one_line():
    for given, why in (  # what is given, and what is said of it
        ({"wall": "brick"}, "wall is one of"), ({"friction": 3}, "must be a name"), ({"mu": -1.0}, "goes from 0"),
        ({"coupling": "glue"}, "coupling is one of"), ({"scale": 0.0}, "scale must be positive"),
        ({"scale": 0.1}, "does not reach"), ({"servo_hz": 300}, "servo rate is one of"),
        ({"impedance": "soft"}, "impedance is one of"), ({"path": [[0.0, 0.0]]}, "a path has rows"),
        ({"path": [[0.0, 0.0, 0.0, 0.0]] * 2}, "times must rise"), ({"shown_contacts": 0}, "contacts can be shown"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=why) as said:
            PlanarSimulation(enclosure(pose=(0.05, 0.0, 0.0)), **{"scale": 2.0} | given)
        assert "\n" not in str(said.value)


# ---- frames, recordings, the same run again


@pytest.mark.parametrize("scene", ALL)
@compiled
def test_what_a_page_is_told_is_what_frames_show(scene):
    simulation = scene()
    hello = json.loads(json.dumps(hello_of(simulation), allow_nan=False))
    run = Run(simulation)
    run.ticks(2)
    assert np.abs(np.array(hello["start"]) - run.history("pose")[0]).max() < 2e-6
    assert len(hello["bodies"]) == simulation.n_bodies
    assert [body["name"] for body in hello["bodies"] if body["touchable"]] == [hello["bodies"][1]["name"], "handle"]
    for setting in hello["settings"]:
        assert run.now[setting["field"]] == setting["value"]
        if "choices" in setting:
            assert (setting["low"], setting["high"], setting["step"]) == (0, len(setting["choices"]) - 1, 1)
    assert hello["actors"][0]["name"] == "Side by side"


@compiled
def test_the_same_seed_gives_the_same_bits_and_another_one_another_start():
    """Planar haptics, acceptance 40."""
    frames = {}
    for name, seed in (("one", 3), ("again", 3), ("other", 4)):
        simulation = scenes.planar_block(seed=seed, spread=(0.02, 0.02, 0.3))
        frames[name] = led(simulation, 1, (0.15, 0.1), seconds=0.3, rest=0.3).frames
        told = json.loads(json.dumps(simulation.report(), allow_nan=False))
        assert told["seed"] == seed
        assert told["configuration"]["wall"] == "seh"
        assert told["energy"]["worst"] < 1e-9
    assert np.array_equal(frames["one"], frames["again"])
    assert not np.array_equal(frames["one"], frames["other"])


@compiled
def test_a_restart_is_the_same_run_again():
    simulation = scenes.planar_wall(path=reference_path())
    first = Run(simulation)
    first.ticks(300)
    again = Run(simulation)
    again.ticks(300)
    assert np.array_equal(first.frames, again.frames)


@compiled
def test_a_recording_has_configuration_seed_and_audit_and_is_replayed(tmp_path):
    """Planar haptics, acceptance 40."""
    simulation = scenes.planar_wall(path=reference_path(), seed=5)
    run, path = Run(simulation), tmp_path / "planar.mcap"
    with FrameWriter(path, hello_of(simulation), clock="simulated", clock_offset_ns=0) as writer:
        run.sink = writer.add
        run.ticks(60)
    with Recording(path) as back:
        assert np.array_equal(np.array(list(back)), run.frames)
        assert back.hello["seed"] == 5
        assert back.hello["configuration"]["device"]["crank_m"] == 0.1
        assert back.layout.read(back.frame(59), "audit_worst") < 1e-9
        shown = shown_hello(back)
        assert shown["mode"] == "replay"
        assert "Penetration" in [plot["title"] for plot in shown["plots"]]


@compiled
def test_exaggeration_sinks_what_is_shown_and_nothing_else():
    shown = {}
    for times in (1.0, 20.0):
        simulation = scenes.planar_wall(exaggeration=times, friction="none")
        now = led(simulation, handle(simulation), (0.06, 0.0)).now
        shown[times] = now
        deep = now["contact_point"][0] - now["contact_god"][0]
        assert np.allclose(now["contact_sink"][0], times * deep, atol=1e-12)
        assert now["penetration_mm"] > 0.5
    assert np.array_equal(shown[1.0]["block"], shown[20.0]["block"])
    assert shown[20.0]["pose"][1, 0] - shown[1.0]["pose"][1, 0] == pytest.approx(
        19e-3 * shown[1.0]["penetration_mm"], rel=0.05
    )


@compiled
def test_a_session_runs_it_as_any_other():
    session = pp.touch(scenes.planar_free(), page=False)
    report = session.simulate(0.2)
    assert (report.periods, report.notes, report.devices) == (100, [], [])
