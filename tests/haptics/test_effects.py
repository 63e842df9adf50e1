"""Effects in free space as laws: what they take and give, where they are continuous, and what they never exceed."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from palpate.haptics.devices.protocol import DeviceSpec
from palpate.haptics.guard import ForceGuard
from palpate.haptics.laws import EFFECTS, curl, effect_law, find_effect, find_effect_law
from palpate.haptics.rendering.effects import (
    MAX_EFFECTS,
    ConstantForce,
    Effect,
    Effects,
    GuidanceLine,
    GuidancePlane,
    Magnet,
    Own,
    Vibration,
    Viscosity,
    WorkspaceLimit,
    make_effect,
)
from palpate.jit.laws import FieldLaw, law

pytestmark = pytest.mark.nojit

CENTRE, ALONG = (0.01, -0.02, 0.03), (1.0, 2.0, -2.0)
UNIT = np.array(ALONG) / 3.0
MAGNETS = [Magnet(CENTRE, to, ALONG, range_m=0.03, max_N=1.5) for to in ("point", "line", "plane")]
SPRINGS = [kind(CENTRE, ALONG, 300.0, 0.0, max_N) for kind in (GuidanceLine, GuidancePlane) for max_N in (1.5, np.inf)]
CONSERVATIVE = [*MAGNETS, *SPRINGS, WorkspaceLimit(CENTRE, 0.02, 80.0, 1.5), ConstantForce((0.3, -0.4, 1.2))]
SIZED = [  # of 1.5 N at most
    *(effect for effect in CONSERVATIVE[:-1] if effect.max_N == 1.5),
    Viscosity(3.0, 1.5),
    Vibration(1.5, 80.0, ALONG),
    Magnet(CENTRE, "line", ALONG, 0.03, 1.5, damping_Ns_m=4.0),
    GuidanceLine(CENTRE, ALONG, 300.0, 5.0, 1.5),
    Own("curl", (2.0, 0.0, 0.0, 1.0), 1.5),
]

numbers = st.floats(-0.1, 0.1, allow_subnormal=False)
positions = st.tuples(numbers, numbers, numbers).map(np.array)
velocities = st.tuples(*[st.floats(-2, 2, allow_subnormal=False)] * 3).map(np.array)


def name_of(effect):
    return f"{type(effect).__name__}-{getattr(effect, 'to', '')}-{getattr(effect, 'max_N', '')}"


def work_along(effect, path):
    """Of the force on the hand along the points of a path, by the midpoint rule; sampled densely by the caller."""
    effects = Effects([effect])
    middle = 0.5 * (path[1:] + path[:-1])
    return sum(effects.force(x) @ step for x, step in zip(middle, np.diff(path, axis=0), strict=True))


# ---- energy


@settings(max_examples=100, deadline=None)
@given(positions, velocities)
def test_viscosity_never_gives_energy(x, v):
    for most in (np.inf, 0.5):
        force = Effects([Viscosity(2.5, most)]).force(x, v)
        assert force @ v <= 0.0
    assert Effects([Viscosity(2.5)]).force(x, v) == pytest.approx(-2.5 * v)


@settings(max_examples=60, deadline=None)
@given(positions, velocities)
def test_the_dampers_of_magnets_and_guidance_only_take_energy(x, v):
    for damped, plain in (
        (Magnet(CENTRE, "point", ALONG, 0.1, 100.0, 3.0), Magnet(CENTRE, "point", ALONG, 0.1, 100.0)),
        (GuidanceLine(CENTRE, ALONG, 300.0, 5.0, np.inf), GuidanceLine(CENTRE, ALONG, 300.0, 0.0, np.inf)),
        (GuidancePlane(CENTRE, ALONG, 300.0, 5.0, np.inf), GuidancePlane(CENTRE, ALONG, 300.0, 0.0, np.inf)),
    ):
        assert (Effects([damped]).force(x, v) - Effects([plain]).force(x, v)) @ v <= 1e-12


@settings(max_examples=60, deadline=None)
@given(velocities, velocities, st.floats(-5, 5))
def test_the_curl_field_does_no_work(n, v, b):
    """Shadmehr and Mussa-Ivaldi 1994."""
    assert abs(curl((0, 0, 0), v, 0.0, (b, *n)) @ v) <= 1e-12
    assert curl((0, 0, 0), v, 0.0, (b, *n)) == pytest.approx(b * np.cross(n, v), abs=1e-12)


@pytest.mark.parametrize("effect", CONSERVATIVE, ids=name_of)
def test_a_closed_path_costs_no_work(effect):
    """Within the error of the integration, which falls with the square of the step where forces have corners."""
    turn = 2 * np.pi * np.linspace(0.0, 1.0, 2001)
    rng = np.random.default_rng(3)
    for size in (0.01, 0.05):  # within the range, and through its edge
        a, b, c = rng.normal(scale=size, size=(3, 3))
        path = np.array(CENTRE) + np.outer(np.cos(turn), a) + np.outer(np.sin(turn), b) + np.outer(np.sin(2 * turn), c)
        path[-1] = path[0]
        length = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
        assert abs(work_along(effect, path)) < 1e-6 * 1.5 * length


def potential(effect, x):
    """Of a magnet, as its file states it."""
    e = x - np.array(CENTRE)
    d = {"point": e, "line": e - UNIT * (UNIT @ e), "plane": UNIT * (UNIT @ e)}[effect.to]
    left = max(0.0, 1.0 - d @ d / effect.range_m**2)
    return -effect.max_N * 25 * math.sqrt(5) / 16 * effect.range_m * left**3 / 6


@pytest.mark.parametrize("effect", MAGNETS, ids=name_of)
def test_a_magnet_is_minus_the_gradient_of_its_potential(effect):
    effects, rng, h = Effects([effect]), np.random.default_rng(4), 1e-6
    for x in np.array(CENTRE) + rng.normal(scale=0.015, size=(100, 3)):
        slope = [(potential(effect, x + h * axis) - potential(effect, x - h * axis)) / (2 * h) for axis in np.eye(3)]
        assert effects.force(x) == pytest.approx(-np.array(slope), abs=1e-6)


# ---- shape


@pytest.mark.parametrize("effect", MAGNETS, ids=name_of)
def test_a_magnet_is_nothing_at_its_centre_and_beyond_its_range_and_its_maximum_between(effect):
    effects = Effects([effect])
    away = UNIT if effect.to == "plane" else np.array([0.0, 1.0, 1.0]) / math.sqrt(2)  # across ALONG
    reach = np.linspace(0.0, 1.5, 3001)
    pull = np.array([-effects.force(np.array(CENTRE) + 0.03 * u * away) @ away for u in reach])
    assert abs(pull[0]) < 1e-12
    assert not pull[reach > 1.0 + 1e-9].any()
    assert pull.min() > -1e-12  # it attracts, everywhere
    assert pull.max() == pytest.approx(1.5, rel=1e-6)
    assert reach[pull.argmax()] == pytest.approx(1 / math.sqrt(5), abs=1e-3)
    free = {"point": np.zeros(3), "line": UNIT, "plane": np.array([0.0, 1.0, 1.0])}[effect.to]
    assert effects.force(np.array(CENTRE) + 0.01 * away + 0.3 * free) == pytest.approx(
        effects.force(np.array(CENTRE) + 0.01 * away), abs=1e-12
    )


@settings(max_examples=60, deadline=None)
@given(st.floats(-0.003, 0.003), st.floats(-0.003, 0.003), st.floats(-1, 1), velocities)
def test_guidance_is_a_spring_across_and_free_along(across, sideways, along, v):
    p, q = np.array([0.0, 1.0, 1.0]) / math.sqrt(2), np.cross(UNIT, np.array([0.0, 1.0, 1.0]) / math.sqrt(2))
    x = np.array(CENTRE) + across * p + sideways * q + along * UNIT
    line = Effects([GuidanceLine(CENTRE, ALONG, 300.0, 5.0, np.inf)]).force(x, v)
    assert line == pytest.approx(-300.0 * (across * p + sideways * q) - 5.0 * (v - UNIT * (UNIT @ v)), abs=1e-9)
    plane = Effects([GuidancePlane(CENTRE, ALONG, 300.0, 5.0, np.inf)]).force(x, v)
    assert plane == pytest.approx(-(300.0 * along + 5.0 * (UNIT @ v)) * UNIT, abs=1e-9)


def test_the_edge_of_the_workspace_is_an_inward_spring_of_50_N_m_up_to_1_5_N():
    """mobile-haptic-display.md 5.2: begins at 95.5 mm, 0.05 N/mm, at most 1.5 N."""
    effects, direction = Effects([WorkspaceLimit()]), np.array([2.0, -1.0, 2.0]) / 3.0
    for radius_mm, force_N in ((0.0, 0.0), (95.5, 0.0), (96.5, 0.05), (105.5, 0.5), (125.5, 1.5), (300.0, 1.5)):
        assert effects.force(1e-3 * radius_mm * direction) == pytest.approx(-force_N * direction, abs=1e-12)


def test_a_constant_force_is_the_same_everywhere_and_a_weight_pulls_down():
    for x in (np.zeros(3), np.array([1.0, 2.0, 3.0])):
        assert Effects([ConstantForce((0.3, -0.4, 1.2))]).force(x) == pytest.approx((0.3, -0.4, 1.2), rel=1e-12)
        assert Effects([ConstantForce.weight(0.1)]).force(x) == pytest.approx((0.0, 0.0, -0.981))
    assert not Effects([ConstantForce()]).force(np.zeros(3)).any()


@pytest.mark.parametrize("effect", SIZED, ids=name_of)
def test_no_force_jumps_anywhere(effect):
    """Along a line through ranges and edges a short step changes no force by more than its steepest slope allows."""
    effects, start, end = Effects([effect]), np.array([-0.06, -0.07, 0.01]), np.array([0.09, 0.03, 0.06])
    path = np.linspace(start, end, 4001)
    force = np.array([effects.force(x, (0.1, 0.2, -0.1)) for x in path])
    step = np.linalg.norm(path[1] - path[0])
    steepest = max(300.0, (25 * math.sqrt(5) / 16 * 1.5 + 4.0 * 0.3 * 4) / 0.03)  # springs; magnets with their dampers
    assert np.abs(np.diff(force, axis=0)).max() <= 1.01 * steepest * step


@pytest.mark.parametrize("effect", SIZED, ids=name_of)
@settings(max_examples=60, deadline=None)
@given(x=positions, v=velocities, t=st.floats(0, 1e4), size=st.sampled_from([1.0, 1e-3, 1e3, 1e150]))
def test_no_effect_exceeds_its_maximum(effect, x, v, t, size):
    with np.errstate(over="ignore", invalid="ignore"):
        force = Effects([effect]).force(size * x, size * v, t)
    assert np.linalg.norm(force) <= 1.5


# ---- vibration


@pytest.mark.parametrize(("frequency_hz", "phase"), [(1.0, 0.0), (50.0, 0.25), (125.0, 0.1), (499.0, 0.3)])
def test_a_vibration_has_no_mean_and_one_spectral_line(frequency_hz, phase):
    effects = Effects([Vibration(0.8, frequency_hz, ALONG, phase)], rate_hz=1000.0)
    for start_s in (0.0, 36000.0):  # after ten hours too
        force = np.array([effects.force((0, 0, 0), time_s=start_s + k / 1000.0) for k in range(1000)])
        assert np.abs(force.mean(axis=0)).max() < 1e-6
        along = force @ UNIT
        assert force == pytest.approx(np.outer(along, UNIT), abs=1e-12)
        lines = np.abs(np.fft.rfft(along)) / 500.0
        assert lines[int(frequency_hz)] == pytest.approx(0.8, rel=1e-6)
        lines[int(frequency_hz)] = 0.0
        assert lines.max() < 1e-6


def test_a_vibration_must_lie_below_half_the_rate():
    Effects([Vibration(frequency_hz=499.9)], rate_hz=1000.0)
    with pytest.raises(ValueError, match="500 Hz must be below half the rate of 1000 Hz"):
        Effects([Vibration(frequency_hz=500.0)], rate_hz=1000.0)


# ---- many at once


@settings(max_examples=30, deadline=None)
@given(positions, velocities, st.floats(0, 10), st.lists(st.sampled_from(SIZED), max_size=MAX_EFFECTS))
def test_effects_add_up(x, v, t, chosen):
    together = Effects(chosen).force(x, v, t)
    assert together == pytest.approx(sum((Effects([e]).force(x, v, t) for e in chosen), np.zeros(3)), abs=1e-12)


def test_eight_are_enough():
    Effects([Viscosity()] * 8)
    with pytest.raises(ValueError, match="9 effects are too many; at most 8"):
        Effects([Viscosity()] * 9)


# ---- laws of one's own


@effect_law
def well(position, velocity, time_s, settings):
    """A spring to a height that swings with time; not a number below the floor."""
    height = settings[0] + settings[1] * math.sin(time_s)
    return 0, 0.0, settings[2] * (height - position[2]) * math.sqrt(position[2] - settings[3])


def test_a_law_of_ones_own_is_called_with_its_settings():
    x, t, s = (0.1, 0.2, 0.3), 0.7, (0.5, 0.1, 20.0, 0.1)
    expected = 20.0 * (0.5 + 0.1 * math.sin(0.7) - 0.3) * math.sqrt(0.2)
    assert well(x, (0, 0, 0), t, s) == pytest.approx((0.0, 0.0, expected))
    assert Effects([Own(well, s)]).force(x, time_s=t) == pytest.approx((0.0, 0.0, expected))
    assert np.linalg.norm(Effects([Own(well, s, max_N=0.3)]).force(x, time_s=t)) <= 0.3


@pytest.mark.parametrize("most", [np.inf, 1.0])
def test_a_law_that_gives_no_number_ends_in_the_guard_as_a_fault_with_its_name(most):
    effects = Effects([Viscosity(), Own("curl", (1.0, 0.0, 0.0, 1.0)), Own(well, (0.0, 0.0, 20.0, -1.0), most)])
    guard, velocity = ForceGuard(DeviceSpec("any", force_limit_N=3.3)), np.array([0.1, 0.0, 0.0])
    guard(effects.force((0.0, 0.0, 0.0)), velocity, 1e-3)  # nothing is wanted there
    for _ in range(600):
        sent, _ = guard(effects.force((0.0, 0.0, -0.05), velocity), velocity, 1e-3)
    assert guard.state == "on"
    assert effects.failed == ""
    for tick in range(1, 21):
        now, _ = guard(effects.force((0.0, 0.0, -1.1), velocity), velocity, 1e-3)
        assert now == pytest.approx(sent * (1 - tick / 20), abs=1e-9)
    assert (guard.state, guard.why) == ("fault", "the wanted force is not a number")
    assert effects.failed == "well"


@effect_law
def backlash(position, velocity, time_s, settings, state):
    """A spring to a mark that the hand drags along: force comes only once the play is used up."""
    stiffness, play = settings[0], settings[1]
    state[0] = min(max(state[0], position[0] - play), position[0] + play)
    return (stiffness * (state[0] - position[0]), 0.0, 0.0)


@pytest.mark.nojit
def test_a_law_with_state_has_one_of_its_own_in_each_effect_and_each_table():
    """Hysteresis: at the same place the force is another on the way back, and another where the play is another."""
    path = (0.0, 0.01, 0.02, 0.01, 0.0)

    def along(*plays):
        effects = Effects([Own(backlash, (100.0, play)) for play in plays])
        return np.array([effects.force((x, 0, 0))[0] for x in path])

    small, large = along(0.002), along(0.005)
    assert small == pytest.approx(-100.0 * np.array([0.0, 0.002, 0.002, -0.002, -0.002]))
    assert large == pytest.approx(-100.0 * np.array([0.0, 0.005, 0.005, -0.005, -0.005]))
    assert along(0.002, 0.005) == pytest.approx(small + large)
    state = np.zeros(4)
    assert [backlash((x, 0, 0), (0, 0, 0), 0.0, (100.0, 0.002), state)[0] for x in path] == pytest.approx(small)


def test_a_reading_that_is_no_number_is_not_blamed_on_an_effect():
    effects = Effects([Viscosity(), Own(well)])
    assert np.isnan(effects.force((np.nan, 0.0, 0.0))).all()
    assert np.isnan(effects.force((0.0, 0.0, 0.0), (0.0, np.inf, 0.0))).all()
    assert effects.failed == ""


def test_a_law_of_another_shape_is_refused_in_one_line():
    with pytest.raises(TypeError, match="'short' must take 4 arguments"):

        @effect_law
        def short(position, velocity):
            return position

    with pytest.raises(TypeError, match="raises or asserts"):

        @effect_law
        def loud(position, velocity, time_s, settings):
            raise ValueError

    friction = law(2)(lambda a, b: a)
    for wrong in (friction, "viscosity", lambda x, v, t, s: x):
        with pytest.raises(ValueError, match="made with @effect_law"):
            Own(wrong)
    with pytest.raises(ValueError, match="no effect is called 'curls'; did you mean 'curl'"):
        Own("curls")
    with pytest.raises(ValueError, match="up to four finite numbers"):
        Own("curl", (1, 2, 3, 4, 5))


# ---- the registry, and bad input


@pytest.mark.parametrize("name", EFFECTS)
def test_every_effect_of_the_registry_can_be_made_and_felt(name):
    found = find_effect(name)
    assert found.__doc__
    assert isinstance(found, FieldLaw) or issubclass(found, Effect)
    force = Effects([make_effect(name)]).force((0.001, 0.002, -0.003), (0.1, 0.0, 0.1), 0.01)
    assert np.isfinite(force).all()
    if isinstance(found, FieldLaw):
        assert find_effect_law(name) is found


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Viscosity(-1.0), "Viscosity: damping_Ns_m must be finite and not negative"),
        (lambda: Viscosity(np.nan), "damping_Ns_m must be finite"),
        (lambda: Viscosity(max_N=0.0), "max_N must be positive"),
        (lambda: Magnet(to="sphere"), "to must be one of point, line, plane, got 'sphere'"),
        (lambda: Magnet(range_m=0.0), "range_m must be positive"),
        (lambda: Magnet(max_N=np.inf), "must be finite"),
        (lambda: Magnet(direction=(0, 0, 0)), "direction must be three numbers, not all zero"),
        (lambda: Vibration(amplitude_N=np.inf), "amplitude_N must be finite"),
        (lambda: GuidanceLine(at=(0, np.nan, 0)), "at must be three finite numbers"),
        (lambda: GuidancePlane(direction=(1, 0)), "direction must be three numbers"),
        (lambda: WorkspaceLimit(radius_m=-1.0), "radius_m must be positive"),
        (lambda: ConstantForce((1, 2)), "force_N must be three finite numbers"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_one_line(make, message):
    with pytest.raises(ValueError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


@settings(max_examples=30, deadline=None)
@given(velocities)
def test_a_direction_need_not_be_of_length_one(direction):
    assume(np.linalg.norm(direction) > 1e-6)
    force = Effects([Vibration(0.7, 1.0, tuple(direction), 0.25)]).force((0, 0, 0))
    assert force == pytest.approx(0.7 * direction / np.linalg.norm(direction))
