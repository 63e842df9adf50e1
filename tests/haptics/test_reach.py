"""Devices in a world, in simulated time: what the hand feels, what the bodies get, and what no fault may do.

The hand is mostly a recording: an ideal one, which does not give way.
"""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import palpate as pp
from palpate.frame import DEVICE_COUNTERS, DEVICE_PORTS
from palpate.haptics.devices.simulation.playback import HandRecording, Playback
from palpate.haptics.devices.simulation.simulated import Simulated
from palpate.haptics.guard import STATES
from palpate.haptics.reach_tables import LEVER_M
from palpate.scenes.arm import arm

DT = 1e-3
STILL = (0.0, 0.0, 0.0)
ON = STATES.index("on")


def hand(*rows, buttons=0, quaternion=None) -> Playback:
    """A recorded hand through (time, position), open; after the last row it rests, and presses nothing."""
    times, places = zip(*rows, strict=True)
    pressed = np.broadcast_to(buttons, len(times))
    device = Playback(HandRecording(times, places, quaternion, pressed))
    device.open()
    return device


def resting(position=STILL, buttons=0, seconds=100.0) -> Playback:
    return hand((0.0, position), (seconds, position), buttons=buttons)


def forward(metres, seconds=0.5, begin=0.0, x=0.0, buttons=0) -> Playback:
    """Straight on along x, and there it stays for the rest of the day."""
    rows = [(0.0, (x, 0, 0))] if begin else []
    rows += [(begin, (x, 0, 0)), (begin + seconds, (x + metres, 0, 0)), (1000.0, (x + metres, 0, 0))]
    return hand(*rows, buttons=buttons)


def floating(*bodies, **options) -> pp.World:
    return pp.World(bodies, dt=DT, gravity=STILL, **options)


def cube(x=0.06, mass=1.0, size=0.1, **options):
    """With the face that looks at the origin at x - size/2."""
    return pp.models.box((size, size, size), mass=mass, at=(x, 0.0, 0.0), **options)


class Run:
    """A session in simulated time, some ticks at a time; `frames` has every tick's fields, one row each."""

    def __init__(self, world, device, mode="pull", **reach) -> None:
        self.session = pp.touch(world, device, mode, **reach)
        self.world, self.reaching = self.session.scene.world, self.session.reaching
        for each in self.reaching:
            each.arrays.real_time = 0
        self._run = pp.Run(self.session.simulation)

    def go(self, seconds: float) -> "Run":
        self._run.seconds(seconds)
        return self

    def tick(self) -> "Run":
        return self.go(self.world.dt)

    def __getitem__(self, field: str) -> np.ndarray:
        return self._run.history(field)

    def vector(self, name: str, device: int = 0) -> np.ndarray:
        return np.array(getattr(self.reaching[device].arrays, name))

    def count(self, name: str, device: int = 0) -> int:
        return int(self.reaching[device].guard.counts[DEVICE_COUNTERS.index(name)])

    def absorbed(self, port: str, device: int = 0) -> float:
        return float(self.reaching[device].energy.absorbed[DEVICE_PORTS.index(port)])

    @property
    def momentum(self) -> np.ndarray:
        return pp.momentum(self.world.model, self.world.q, self.world.v)[3:]


def lengths(vectors):
    return np.linalg.norm(vectors, axis=-1)


# ---- action and reaction


@pytest.mark.nojit
@pytest.mark.parametrize("mode", ["push", "pull", "tool"])
@pytest.mark.parametrize(("strength_N", "weight"), [(20.0, 1.0), (60.0, 1.0), (420.0, 7.0)])
def test_bodies_get_the_opposite_of_what_the_hand_feels_times_the_weight(mode, strength_N, weight):
    """The header of reach_kernels.py: forces are scaled in one place.  The limit of a recorded hand is 60 N."""
    options = {"tool": "box"} if mode == "tool" else {}
    device = forward(0.1, 0.2, x=0.005, buttons=int(mode == "pull"))
    run = Run(floating(cube()), device, mode, strength_N=strength_N, **options)
    assert run.reaching[0].weight == weight
    strongest = 0.0
    for _ in range(60):
        run.tick()
        felt, given = run.vector("felt"), run.vector("bodies_force")
        assert given == pytest.approx(-weight * felt, rel=1e-12, abs=1e-15)
        strongest = max(strongest, np.linalg.norm(given))
    assert 1.0 < strongest <= strength_N


@pytest.mark.parametrize("mode", ["push", "pull", "tool"])
def test_the_momentum_of_a_free_body_is_the_impulse_of_the_hand(mode):
    options = {"tool": "box"} if mode == "tool" else {}
    start = (0.0, 0.013, -0.02)  # off the centre: the box turns as well
    device = hand((0.0, start), (0.3, (0.1, 0.03, 0.0)), (9.0, (0.1, 0.03, 0.0)), buttons=int(mode == "pull"))
    run = Run(floating(cube(mass=0.7)), device, mode, **options).go(0.25)
    impulse = DT * run["device_body_force"][:, 0].sum(axis=0)
    assert np.linalg.norm(impulse) > 0.05
    assert run.momentum == pytest.approx(impulse, abs=1e-12)


def test_a_body_that_is_pushed_moves_away_and_the_force_ends():
    run = Run(floating(cube()), forward(0.05), "push").go(1.0)
    force = lengths(run["device_force"][:, 0])
    assert force.max() > 0.5
    assert force[-1] == 0.0
    assert run.momentum[0] > 0.05
    assert run["pose"][-1, 1, 0] - 0.05 > run["device_position"][-1, 0, 0]  # the face is ahead of the hand


def test_the_hand_moves_the_world_by_its_scale_and_from_its_place():
    """x = o + s R x_dev, and forces on the hand come back along the same turn."""
    turned = pp.Transform(pp.Rotation.between((1, 0, 0), (0, 1, 0)), (0.0, 0.5, 0.0))
    wall = pp.models.plane(at=(0, 0.6, 0), normal=(0, -1, 0))
    run = Run(floating(wall), forward(0.04), "push", place=turned, scale=3.0).go(1.2)
    assert run["device_position"][-1, 0] == pytest.approx((0.0, 0.62, 0.0))
    assert run["device_force"][-1, 0] == pytest.approx((0.0, -20.0, 0.0), rel=1e-3)  # 20 mm of 1000 N/m
    assert run.reaching[0].in_tick.port.force == pytest.approx((-20.0, 0.0, 0.0), rel=1e-3)


# ---- holding


def test_item_31_a_drag_by_a_device_does_not_overshoot_and_lags_by_the_weight():
    """articulated-haptics.md acceptance 31: 2 kg, kp 500, through the whole tick."""
    device = hand((0.0, STILL), (1.0, STILL), (1.5, (0.1, 0, 0)), (99.0, (0.1, 0, 0)))
    run = Run(floating(cube(0.0, mass=2.0)), device, "tool", tool="box", stiffness_N_m=500.0, strength_N=1e3).go(0.5)
    device.seek(2.0)  # a step: the recording's way there is skipped, and with it its velocity
    run.go(3.0)
    x = run["pose"][:, 1, 0]
    assert x.max() - 0.1 < 1e-3 * 0.1
    assert x[-1] == pytest.approx(0.1, abs=1e-6)
    heavy = pp.World([cube(0.0, mass=2.0)], dt=DT)
    run = Run(heavy, resting(), "tool", tool="box", stiffness_N_m=500.0, strength_N=1e3).go(3.0)
    assert -run["pose"][-1, 1, 2] == pytest.approx(2.0 * 9.81 / 500.0, rel=0.01)


def test_taking_hold_never_jumps():
    """The force on the body is at most what the hand's motion since then explains: K way + B speed."""
    speed, mass, K = 0.1, 1.0, 800.0
    device = hand((0.0, STILL), (0.3, (0.03, 0, 0)), (0.6, (0.06, 0, 0)), buttons=(0, 1, 1))
    run = Run(floating(cube(0.1, mass=mass)), device, stiffness_N_m=K).go(0.6)
    held = np.flatnonzero(run["device_held"][:, 0])
    assert held[0] == 300
    force = lengths(run["device_body_force"][:, 0])
    assert not force[: held[0]].any()
    since = speed * DT * np.arange(len(held))
    assert (force[held] <= K * since + 2.0 * math.sqrt(K * mass) * speed + 1e-9).all()
    assert force.max() > 1.0


def test_letting_go_leaves_the_body_its_velocity():
    device = hand((0.0, STILL), (0.5, (0.1, 0, 0)), (0.51, (0.1, 0, 0)), buttons=(1, 0, 0))
    run = Run(floating(cube(0.07)), device).go(0.6)
    released = int(np.flatnonzero(run["device_held"][:, 0])[-1]) + 1
    assert 499 <= released <= 501
    before = run["v"][released]
    assert before[3] == pytest.approx(0.2, rel=0.05)
    assert run["v"][-1] == pytest.approx(before, abs=1e-12)
    assert not run["device_body_force"][released:, 0].any()


def test_a_body_turns_with_a_hand_whose_orientation_is_sensed():
    angle = 0.8
    turned = (math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2))
    device = hand((0.0, STILL), (0.5, STILL), (9.0, STILL), buttons=1, quaternion=((1, 0, 0, 0), turned, turned))
    run = Run(floating(cube(0.07)), device).go(2.0)
    w, x, y, z = run["pose"][-1, 1, 3:]
    assert 2.0 * math.atan2(z, w) == pytest.approx(angle, abs=1e-3)
    assert (x, y) == pytest.approx((0.0, 0.0), abs=1e-6)


@pytest.mark.nojit
@pytest.mark.parametrize(("body", "distance", "held"), [
    ({"fixed": True}, 0.01, False),
    ({}, 0.0301, False),
    ({}, 0.0299, True),
])  # fmt: skip
def test_only_what_can_move_and_is_within_reach_is_held(body, distance, held):
    """grab_m is 30 mm."""
    run = Run(floating(cube(0.05 + distance, **body)), resting(buttons=1)).go(0.05)
    assert run["device_held"][:, 0].any() == held


def test_a_hold_does_not_survive_a_reset():
    """A reset moves bodies away under the hand; without letting go, the spring would be as long as that way."""
    run = Run(floating(cube(0.0)), forward(0.1, buttons=1), "tool", tool="box").go(0.8)
    assert run.world.q[0] > 0.09
    run.session.simulation.restart()
    run.go(0.05)
    assert not run["device_body_force"][-50:, 0].any()


# ---- light and heavy


@settings(max_examples=15, deadline=None)
@given(st.floats(-3.0, 3.0), st.sampled_from(["push", "tool"]))
@example(-3.0, "push")
@example(-3.0, "tool")
def test_a_body_of_any_mass_never_moves_faster_than_a_hand_can_throw_it(log_mass, mode):
    """A gram or a tonne, at weight 7: a spring moved at u throws at most 2 u, whatever it weighs."""
    speed = 0.2
    options = {"tool": "box"} if mode == "tool" else {}
    world = floating(cube(0.02, mass=10.0**log_mass, size=0.03))
    run = Run(world, forward(0.1, 0.1 / speed), mode, strength_N=420.0, **options).go(1.0)
    assert lengths(run["v"][:, 3:]).max() <= 2.0 * speed * (1.0 + 1e-6)
    assert lengths(run["v"][:, :3]).max() < 1.0
    assert np.isfinite(run["device_force"]).all()


@settings(max_examples=10, deadline=None)
@given(st.floats(-3.0, 1.0), st.floats(-0.01, 0.01), st.floats(-0.01, 0.01))
def test_a_small_body_held_off_its_centre_comes_to_rest(log_mass, y, z):
    """The spring yields to what a step allows, for the point that shows least mass too."""
    world = floating(cube(0.02, mass=10.0**log_mass, size=0.03))
    device = hand((0.0, (0.0, y, z)), (0.2, (0.03, y, z)), (9.0, (0.03, y, z)), buttons=1)
    run = Run(world, device, strength_N=60.0).go(3.0)
    assert run["device_held"][-1, 0]
    assert lengths(run["v"][-1]) < 1e-3
    assert lengths(run["device_body_force"][:, 0]).max() <= 60.0


# ---- a tool, an arm


def test_a_tool_stops_at_a_wall_and_the_hand_feels_the_spring_between():
    run = Run(floating(cube(0.0), pp.models.plane(at=(0.15, 0, 0), normal=(-1, 0, 0))),
              forward(0.15, 0.5), "tool", tool="box").go(1.5)  # fmt: skip
    face = run["pose"][:, 1, 0] + 0.05
    assert face.max() < 0.15 + 1e-4
    assert face[-1] == pytest.approx(0.15, abs=1e-4)
    assert run.vector("sent") == pytest.approx((-800.0 * 0.05, 0.0, 0.0), rel=0.01, abs=0.1)
    assert run["contacts"][-1] > 0


def test_an_arm_that_is_held_yields_and_its_plan_waits():
    scene = arm()
    body = scene.model.body("tool")
    start = pp.forward_kinematics(scene.model, scene.world.q)[body][:3, 3]
    device = hand((0.0, STILL), (0.1, STILL), (1.1, (0.0, 0.1, 0.0)), (1.101, (0.0, 0.1, 0.0)), buttons=(0, 1, 1, 0))
    run = Run(scene, device, place=pp.Transform(p=tuple(start)), strength_N=200.0).go(1.0)
    assert run["device_held"][-1, 0] == body
    guide = run.session.simulation.guiding.arrays
    assert guide.gain == 0.0
    assert guide.phase < 200.0
    assert run["pose"][-1, body, 1] - start[1] > 0.05
    run.go(1.5)
    assert guide.gain == 1.0
    assert guide.phase > 700.0


# ---- energy


def test_the_account_of_the_coupling_is_the_work_on_the_held_body():
    """Against the ledger of the World, which takes the mean velocity of a step: F.v dt + F^2 dt^2 / 2 m."""
    mass = 1.3
    device = hand((0.0, STILL), (0.3, (0.05, 0.02, 0)), (0.6, (0, 0.05, 0.04)), (9.0, STILL))
    run = Run(floating(cube(0.0, mass=mass), ledger=True), device, "tool", tool="box").go(0.8)
    force = run["device_body_force"][:, 0]
    extra = (force**2).sum() * DT**2 / (2.0 * mass)
    assert run.world.ledger.hands == pytest.approx(-run.absorbed("coupling") + extra, abs=1e-9)
    assert run.world.ledger.hands == pytest.approx(run.world.energy.kinetic, abs=1e-9)
    assert abs(run.absorbed("coupling")) > 1e-3


def press(passivity, stiffness_N_m, damping_Ns_m=0.0):
    """A soft hand on the simulated PHANToM presses into a wall and rests there."""
    person = pp.Hand(intent=((0.0, (-0.02, 0, 0)), (0.6, (-0.02, 0, 0)), (1.2, (0.01, 0, 0))), stiffness_N_m=150.0,
                     damping_Ns_m=1.0, grip_N_m=1000.0, grip_Ns_m=0.5)  # fmt: skip
    device = Simulated(hand=person)
    device.open()
    surface = pp.Surface(stiffness_N_m, damping_Ns_m, 0.0, 0.0)
    return Run(floating(pp.models.plane(normal=(-1, 0, 0))), device, "push", surface=surface, passivity=passivity)


def test_a_wall_softer_than_its_damping_takes_energy():
    """b > K T / 2: the sampled spring is passive (mobile-haptic-display.md 5.3), and the hand's account says so."""
    run = press("observer", 800.0, 1.0).go(3.0)
    assert lengths(run["device_force"][:, 0]).max() > 0.5
    assert run["device_energy"][:, 0, 0].min() >= -1e-6
    assert run.absorbed("hand") > 0.0


def test_a_wall_too_stiff_for_the_loop_rattles_and_passivity_calms_it():
    """planar-haptics.md 8.1 and 8.3: 8000 N/m without damping gives energy; controller and bounding do not let it."""
    free, controlled, bounded = (press(kind, 8000.0).go(3.0) for kind in ("observer", "controller", "bounding"))

    def shaking(run):
        return float(np.std(run["device_position"][-1000:, 0, 0]))

    assert free.absorbed("hand") < -0.01
    for calm in (controlled, bounded):
        assert calm.absorbed("hand") > 0.1 * free.absorbed("hand")
        assert shaking(calm) < 0.1 * shaking(free)


# ---- two hands


def test_two_devices_feel_each_its_own_and_hold_one_body_between_them():
    left, right = resting(buttons=1), hand((0.0, STILL), (0.5, (0.02, 0, 0)), (99.0, (0.02, 0, 0)), buttons=1)
    places = [pp.Transform(p=(x, 0.0, 0.0)) for x in (-0.06, 0.06)]
    run = Run(floating(cube(0.0)), [(left, pp.Reach(place=places[0])), (right, pp.Reach(place=places[1]))]).go(2.0)
    assert (run["device_held"][-1] == 1).all()
    forces = run["device_body_force"][-1]
    assert forces[0] == pytest.approx(-forces[1], abs=1e-3)
    assert forces[1, 0] > 1.0
    assert run["pose"][-1, 1, 0] == pytest.approx(0.01, abs=1e-4)


def test_a_second_device_changes_nothing_for_the_first():
    wall, far = pp.models.plane(normal=(-1, 0, 0)), pp.Transform(p=(-5.0, 0.0, 0.0))
    alone = Run(floating(wall), forward(0.02), "push").go(0.8)
    reach = pp.Reach(mode="push")
    pair = [(forward(0.02), reach), (forward(0.03), pp.Reach(mode="push", place=far))]
    both = Run(floating(wall), pair).go(0.8)
    assert (both["device_force"][:, 0] == alone["device_force"][:, 0]).all()
    assert alone["device_force"][:, 0].any()
    assert not both["device_force"][:, 1].any()


def test_same_hand_same_world_same_bits():
    def once():
        person = pp.Hand(intent=((0.0, STILL), (0.5, (0.04, 0.01, 0))), holds=((0.3, 0.8),))
        device = Simulated(hand=person)
        device.open()
        world = pp.World([cube(0.06), pp.models.plane(at=(0, 0, -0.05))], dt=DT)
        run = Run(world, device).go(1.0)
        return [run[field] for field in ("q", "v", "device_force", "device_energy", "device_held", "pose")]

    for first, second in zip(once(), once(), strict=True):
        assert (first == second).all()


# ---- what is refused


@pytest.mark.nojit
@pytest.mark.parametrize(("mode", "options", "message"), [
    ("poke", {}, "mode must be one of push, pull, tool; got 'poke'"),
    ("tool", {}, "needs the name of the body that is the tool"),
    ("push", {"tool": "box"}, "only this mode has one"),
    ("tool", {"tool": "plane"}, "the tool 'plane' cannot move"),
    ("tool", {"tool": "boxx"}, "boxx"),
    ("push", {"scale": 0.0}, "scale must be positive and finite, got 0.0"),
    ("push", {"strength_N": math.nan}, "strength_N must be positive and finite"),
    ("push", {"passivity": "hope"}, "passivity must be one of"),
    ("push", {"radius_m": -1.0}, "radius"),
    ("push", {"surfaces": {"bx": None}}, "bx"),
])  # fmt: skip
def test_a_reach_that_makes_no_sense_is_refused_in_one_line(mode, options, message):
    with pytest.raises(ValueError, match=message.replace(".", r"\.")) as error:
        pp.touch(floating(cube(), pp.models.plane(at=(0, 0, -1))), resting(), mode, **options)
    assert "\n" not in str(error.value)


def test_reaches_of_several_devices_are_their_own():
    with pytest.raises(ValueError, match=r"each has its own pp\.Reach: scale"):
        pp.touch(floating(cube()), [(resting(), pp.Reach())], scale=2.0)


# ---- effects


def test_effects_are_felt_in_the_tick():
    run = Run(floating(cube(5.0)), forward(0.1), "push", effects=[pp.effects.Viscosity(3.0)])
    for _ in range(100):
        run.tick()
        assert run.vector("felt") == pytest.approx(-3.0 * run.vector("hip_velocity"), rel=1e-12)
    assert run.vector("felt")[0] == pytest.approx(-0.6)
    limit = pp.effects.WorkspaceLimit(radius_m=0.08, stiffness_N_m=50.0)
    run = Run(floating(cube(5.0)), forward(0.1), "push", effects=[limit]).go(1.5)
    assert run.vector("sent") == pytest.approx((-1.0, 0.0, 0.0), rel=1e-9)
    assert not run["device_body_force"].any()  # an effect pushes the hand, and no body


@pp.effect_law
def breaks_at_half_a_second(position, velocity, time_s, settings):
    """Rises to 2 N, and is no number from 0.5 s on."""
    return (min(8.0 * time_s, 2.0), 0.0, 0.0 if time_s < 0.5 else math.nan)


def test_a_law_that_fails_takes_its_force_away_and_nothing_else():
    world = floating(cube(5.0))
    world.v[3] = 0.1
    effects = [pp.effects.Viscosity(0.1), pp.effects.Own(breaks_at_half_a_second)]
    run = Run(world, resting(), "push", effects=effects).go(1.0)
    sent = lengths(run["device_force"][:, 0])
    assert sent[499] > 1.5
    assert (np.diff(sent[499:521]) <= 0.0).all()
    assert not sent[520:].any()
    assert run.count("law_failed") == 1
    assert run.reaching[0].fault == "a law failed: breaks_at_half_a_second"
    assert run.world.q[0] == pytest.approx(5.0 + 0.1, rel=1e-9)  # the world went on
    run.session.simulation.restart()
    run.go(0.4)
    assert run.reaching[0].fault == ""
    assert run.vector("sent")[0] > 1.0


# ---- laws of one contact on surfaces


@pp.wall_law(stiffness_N_m=1000.0, damping_Ns_m=0.0)
def cracks(depth, approach, dt, mass, setting, state):
    """No number below 10 mm."""
    return setting[0] * depth if depth < 0.01 else math.nan


@pytest.mark.parametrize("wall", ["zoh", "seh", "pi", "hysteretic", "pulse"])
def test_a_device_at_a_wall_with_a_law_is_stopped_and_rests(wall):
    """A hand of spring and mass leans on a fixed cube, 10 mm beyond its face."""
    device = Simulated(hand=pp.Hand(intent=((0.0, (0, 0, 0)), (0.5, (0.02, 0, 0)))))
    device.open()
    surface = pp.Surface(stiffness_N_m=600.0, damping_Ns_m=2.0, wall=wall, friction="reset-integrator")
    run = Run(floating(cube(0.06, fixed=True)), device, "push", surface=surface).go(1.5)
    force = run["device_force"][:, 0, 0]
    assert run.reaching[0].fault == ""
    assert force[-200:].max() < -0.05
    assert np.ptp(force[-200:]) < 0.2 * abs(force[-200:].mean())


def test_a_surface_whose_law_fails_is_a_fault_and_no_body_gets_it():
    in_and_out = hand((0.0, STILL), (0.5, (0.025, 0, 0)), (1.0, (0.012, 0, 0)), (100.0, (0.012, 0, 0)))
    run = Run(floating(cube(0.06, mass=5e4)), in_and_out, "push", surface=pp.Surface(wall=cracks)).go(1.5)
    assert run.count("law_failed") == 1
    assert run.reaching[0].fault == "a law failed: on the surface of box"
    assert np.isfinite(run.world.q).all()
    assert not lengths(run["device_force"][-100:, 0]).any()
    run.session.simulation.restart()
    run.go(0.5)
    assert run.reaching[0].fault == ""  # the hand is 2 mm deep now
    assert run.count("law_failed") == 1
    assert run.vector("felt")[0] < -1.0


def test_what_the_motors_cannot_make_is_counted():
    """design.md 6: saturated is a counter."""
    middle, aside = (-0.08, 0.0, 0.0), (-0.08, 0.06, 0.0)  # far out, 8.5 N across is more than the first motor can
    device = Simulated(hand=pp.Hand(intent=((0.0, middle), (0.6, middle), (1.0, aside))))
    device.open()
    wall = pp.effects.WorkspaceLimit(at=middle, radius_m=0.02, stiffness_N_m=2000.0, max_N=8.5)
    run = Run(floating(cube(5.0)), device, "push", effects=[wall]).go(0.6)
    assert run.count("saturated") == 0
    run.go(1.0)
    assert lengths(run["device_force"][:, 0]).max() > 8.0  # for as long as the motors stay cold
    assert run.count("saturated") > 100


# ---- faults and surprises


def test_a_wall_around_the_hand_gives_no_jump():
    """The hand begins 30 mm deep inside: 30 N if it were felt at once."""
    run = Run(floating(cube(0.02, fixed=True)), resting(), "push").go(1.5)
    force = lengths(run["device_force"][:, 0])
    assert force[:10].max() < 1.0
    assert np.diff(force).max() < 1.0
    assert force.max() == pytest.approx(30.0, rel=1e-2)


def test_a_body_that_appears_on_the_hand_gives_no_jump():
    """A snapshot is restored in which the box is where the hand is, 15 mm deep: 15 N if it were felt at once."""
    world = floating(cube(0.035, mass=50.0))
    there = world.snapshot()
    world.q[0] = 1.0
    run = Run(world, resting(), "push").go(1.0)
    assert run["device_state"][-1, 0] == ON
    world.restore(there)
    run.go(1.0)
    force = lengths(run["device_force"][1000:, 0])
    assert force[:10].max() < 1.0
    assert np.diff(force).max() < 1.0
    assert force.max() > 5.0  # and yet it is there


@pytest.mark.parametrize("mode", ["pull", "tool"])
def test_a_held_body_that_is_put_elsewhere_is_not_pulled_back(mode):
    options = {"tool": "box"} if mode == "tool" else {}
    world = floating(cube(0.06))
    run = Run(world, resting(buttons=1), mode, **options).go(0.7)
    assert run["device_held"][-1, 0]
    elsewhere = world.snapshot()
    elsewhere.arrays["q"][:3] = 0.0, 0.3, 0.1
    world.restore(elsewhere)
    run.go(0.1)
    assert not run["device_body_force"].any()
    assert run["device_held"][-1, 0] == (mode == "tool")  # too far to be taken again; a tool always is


@pytest.mark.parametrize("speed", [0.5, 30.0])
def test_a_fast_body_does_not_disturb_a_touch(speed):
    """Only what is put elsewhere ends a touch, not what flies by."""
    world = floating(pp.models.plane(normal=(-1, 0, 0)), cube(-2.0))
    world.v[:] = (0.0, 0.0, speed, 0.0, speed, 0.0)
    alone = Run(floating(pp.models.plane(normal=(-1, 0, 0))), forward(0.02), "push").go(0.8)
    beside = Run(world, forward(0.02), "push").go(0.8)
    assert (beside["device_force"] == alone["device_force"]).all()
    assert alone["device_force"].any()


@pytest.mark.parametrize("mode", ["push", "pull", "tool"])
@pytest.mark.parametrize("direction", [(1, 0, 0), (0, 0, -1)])
def test_a_leap_of_a_hundred_metres_stays_within_every_limit(mode, direction):
    """No blow-up when pulled hard: sent within the device's limit, bodies get at most the strength, nothing is NaN."""
    far = tuple(100.0 * x for x in direction)
    rows = [(0.0, STILL), (1.0, STILL), (1.001, far), (1.5, far), (1.501, STILL), (2.0, STILL)]
    options = {"tool": "box"} if mode == "tool" else {}
    world = pp.World([cube(0.06), pp.models.plane(at=(0, 0, -0.05))], dt=DT)
    device = hand(*rows, buttons=int(mode == "pull"))
    run = Run(world, device, mode, strength_N=120.0, **options).go(2.5)
    for field in ("q", "v", "device_force", "device_body_force", "device_torque", "device_energy", "device_point"):
        assert np.isfinite(run[field]).all()
    assert lengths(run["device_force"]).max() <= 60.0
    assert lengths(run["device_body_force"]).max() <= 120.0
    assert run.reaching[0].fault == ""


def test_a_deep_push_is_capped_at_the_strength_on_both_sides():
    """design.md 6: stretched beyond its cap: capped, and counted."""
    run = Run(floating(pp.models.plane(normal=(-1, 0, 0))), forward(0.2), "push", strength_N=30.0).go(1.5)
    assert run["device_body_force"][-1, 0, 0] == pytest.approx(30.0)
    assert run.vector("felt")[0] == pytest.approx(-30.0)
    assert run.reaching[0].arrays.capped == run.count("clamped") > 0


def test_a_wrung_body_gets_at_most_the_torque_of_the_strength():
    half = ((1, 0, 0, 0), (0, 0, 0, 1), (0, 0, 0, 1))
    device = hand((0.0, STILL), (0.02, STILL), (9.0, STILL), quaternion=half)
    run = Run(floating(cube(0.0, mass=50.0)), device, "tool", tool="box", strength_N=5.0).go(0.1)
    inertia = 50.0 * 0.1**2 / 6.0
    torque = inertia * np.diff(run["v"][:, 2]) / DT
    assert torque.max() == pytest.approx(5.0 * LEVER_M, rel=1e-6)
    assert torque.min() > -5.0 * LEVER_M


@pytest.mark.parametrize("part", ["position_m", "quaternion"])
@pytest.mark.parametrize("mode", ["push", "pull", "tool"])
def test_a_reading_that_is_not_a_number_stops_the_force_and_not_the_world(mode, part):
    options = {"tool": "box"} if mode == "tool" else {}
    device = forward(0.1, buttons=int(mode == "pull"), seconds=1.0)
    tape = getattr(device.recording, part)
    tape.setflags(write=True)
    run = Run(floating(cube(mass=50.0)), device, mode, **options).go(0.7)
    assert run.vector("sent").any()
    tape[:] = np.nan
    run.go(0.5)
    assert run.count("bad_reading") == 1
    assert run.reaching[0].fault == "the device's reading is not a number"
    assert not run["device_force"][720:, 0].any()
    for field in ("q", "v", "device_body_force", "device_energy", "device_position", "device_point"):
        assert np.isfinite(run[field]).all()
    assert not run["device_held"][720:].any()


def test_a_device_that_is_closed_is_lost_and_lets_go():
    device = forward(0.1, buttons=1)
    run = Run(floating(cube()), device).go(0.7)
    assert run["device_held"][-1, 0]
    device.close()
    run.go(0.1)
    assert run.reaching[0].fault == "the device was lost"
    assert run.count("device_lost") == 1
    assert not run["device_force"][720:, 0].any()
    assert not run["device_held"][700:, 0].any()
    assert not run["device_body_force"][700:, 0].any()
