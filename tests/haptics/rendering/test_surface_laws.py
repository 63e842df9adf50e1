"""Laws of one contact on surfaces: the proxy's normal force and friction are then the law's, with its memory."""

import math

import numpy as np
import pytest

import palpate as pp
from palpate.collision.geometry import start_posture
from palpate.haptics.contact_laws import FRICTIONS, KEEPERS, WALLS
from palpate.haptics.rendering.facade import Proxy
from palpate.planar.trials import friction_along, press, wall_along

DT = 1e-3
STILL = (0.0, 0.0, 0.0)
ICY = {"static_friction": 0.0, "dynamic_friction": 0.0}


def ground(**surface):
    """A floor that the hand is above of."""
    proxy = Proxy(pp.Shape("plane"), pp.Surface(**surface), dt_s=DT)
    proxy.update((0.0, 0.0, 0.01), STILL)
    return proxy


def dips(rng, count=60):
    """Depths of two contacts, a flight between them [m]."""
    t = np.arange(count)
    return 2e-3 * np.sin(2 * np.pi * t / 40.0) + 2e-4 * rng.normal(size=count)


def fall(proxy, mass, push, gap, seconds, damping=0.0):
    """Height and force of a mass that is let go above the ground, its force held: as `press` does it."""
    x, v, trace = gap, 0.0, []
    for _ in range(round(seconds / DT)):
        force = proxy.update((0.0, 0.0, x), (0.0, 0.0, v))[2]
        trace.append((x, v, force))
        a = (force - push - damping * v) / mass
        x, v = x + DT * v + 0.5 * DT * DT * a, v + DT * a
    return np.array(trace).T


@pytest.mark.nojit
@pytest.mark.parametrize("wall", WALLS)
def test_the_force_is_that_of_the_law_led_through_the_same_depths(wall):
    """Each contact begins with zero rows, so two dips are two walls."""
    surface = pp.Surface(stiffness_N_m=700.0, damping_Ns_m=2.0, wall=wall, **ICY)
    proxy = Proxy(pp.Shape("plane"), surface, dt_s=DT)
    proxy.update((0.0, 0.0, 0.01), STILL)
    depth = dips(np.random.default_rng(1))
    rate = np.gradient(depth, DT)
    felt = np.array([proxy.update((0.01 * k * DT, 0.0, -d), (0.0, 0.0, -v))[2]
                     for k, (d, v) in enumerate(zip(depth, rate, strict=True))])  # fmt: skip
    inside = np.flatnonzero(depth > 0.0)
    for contact in np.split(inside, np.flatnonzero(np.diff(inside) > 1) + 1):
        alone = wall_along(wall, depth[contact], rate[contact], DT, 0.1,
                           {"stiffness_N_m": 700.0, "damping_Ns_m": 2.0})  # fmt: skip
        assert felt[contact] == pytest.approx(np.maximum(alone, 0.0), rel=1e-6, abs=1e-6)
    assert not felt[depth <= 0.0].any()
    assert felt.max() > 0.5


@pytest.mark.nojit
def test_a_surface_with_the_held_spring_as_its_law_is_the_surface_without():
    plain, lawful = ground(**ICY), ground(wall="zoh", **ICY)
    for k, depth in enumerate(dips(np.random.default_rng(2))):
        hip, v = (1e-4 * k, 0.0, -depth), (0.1, 0.0, 0.3 * math.sin(k))
        assert lawful.update(hip, v) == pytest.approx(plain.update(hip, v), abs=1e-12)


@pytest.mark.parametrize("keeper", KEEPERS)
def test_a_keeper_is_around_the_wall_of_a_surface(keeper):
    """As in one dimension: where a held spring throws the mass back higher, the keeper does not."""
    settings = {"stiffness_N_m": 2e4, "damping_Ns_m": 0.0}
    for kept in (None, keeper):
        proxy = ground(wall="zoh", keeper=kept, **settings, **ICY)
        proxy.rendering.state.mass_kg = 0.35
        x, v, _ = fall(proxy, 0.35, 3.0, 0.01, 2.0, damping=1.1)
        alone = press("zoh", kept, wall_settings=settings, mass_kg=0.35, push_N=3.0, gap_m=0.01, dt_s=DT, seconds=2.0,
                      damping_Ns_m=1.1)  # fmt: skip
        gained = (0.5 * 0.35 * v**2 - 3.0 * (0.01 - x)).max()
        assert (gained > 1e-3) == (kept is None)
        assert x.min() == pytest.approx(alone.x.min(), rel=0.1)


@pytest.mark.nojit
@pytest.mark.parametrize("friction", FRICTIONS)
def test_friction_is_that_of_the_law_led_along_the_same_way(friction):
    proxy = ground(damping_Ns_m=0.0, static_friction=0.33, dynamic_friction=0.3, friction=friction)
    t = np.arange(120) * DT
    along = 6e-3 * np.sin(12.0 * t)
    rate = np.gradient(along, DT)
    law = friction_along(friction, along, rate, 4.0, DT, 0.1, {"mu": 0.3, "stiction": 0.1})
    for direction in ((1.0, 0.0), (0.0, -1.0)):
        proxy.reset()
        proxy.update((0.0, 0.0, 0.01), STILL)
        felt = []
        for s, v in zip(along, rate, strict=True):
            force = proxy.update((s * direction[0], s * direction[1], -4e-3), (v * direction[0], v * direction[1], 0.0))
            felt.append(-(force[0] * direction[0] + force[1] * direction[1]))
            assert force[2] == pytest.approx(4.0, rel=1e-3)
        most = 1.1 * 0.3 * 1000.0 * 4e-3
        assert np.array(felt) == pytest.approx(np.clip(law, -most, most), abs=0.02)


@pytest.mark.nojit
@pytest.mark.parametrize("friction", ["reset-integrator", "karnopp", "classical"])
def test_friction_is_against_the_motion_and_within_its_cone_in_all_directions(friction):
    rng = np.random.default_rng(3)
    proxy = ground(friction=friction, static_friction=0.4, dynamic_friction=0.3, damping_Ns_m=0.0)
    for _ in range(5):
        angle = rng.uniform(0.0, 2.0 * math.pi)
        e = np.array([math.cos(angle), math.sin(angle), 0.0])
        proxy.reset()
        proxy.update((0.0, 0.0, 0.01), STILL)
        for k in range(60):
            force = proxy.update(e * 0.1 * k * DT + (0.0, 0.0, -3e-3), 0.1 * e)
            assert math.hypot(force[0], force[1]) <= 0.4 * force[2] + 1e-9
        assert force @ e < -0.2 * force[2]
        assert abs(np.cross(force, e)[2]) < 0.35 * force[2]


def test_the_ground_moves_and_friction_goes_with_it():
    """A hand that rests on a table that slides away under it is dragged along."""
    body = pp.models.box((1.0, 1.0, 0.1), at=(0.0, 0.0, -0.05), name="table")
    proxy = Proxy(body, pp.Surface(friction="reset-integrator", damping_Ns_m=0.0), dt_s=DT)
    q = proxy.model.neutral() if hasattr(proxy.model, "neutral") else np.array([0.0, 0.0, -0.05, 1.0, 0.0, 0.0, 0.0])
    proxy.update((0.0, 0.0, 0.01), STILL)
    force = proxy.update((0.0, 0.0, -2e-3), STILL)
    for k in range(1, 200):
        proxy.move(np.r_[1e-4 * k, q[1:]])
        force = proxy.update((0.0, 0.0, -2e-3), STILL)
    assert force[0] == pytest.approx(0.3 * force[2], rel=0.4)


def test_two_walls_of_a_corner_have_a_memory_each():
    """A hysteretic floor that was pressed before, a wall that is met now: the same as each by itself."""
    shapes = (pp.Shape("plane"), pp.Shape("plane", placement=pp.Transform(R=pp.Rotation.between((0, 0, 1), (1, 0, 0)))))
    soft = pp.Surface(wall="hysteretic", damping_Ns_m=0.0, **ICY)
    corner, floor, side = (Proxy(chosen, soft, dt_s=DT) for chosen in (shapes, shapes[:1], shapes[1:]))
    for proxy in (corner, floor, side):
        proxy.update((0.02, 0.0, 0.02), STILL)
    for k in range(200):
        down = 2e-3 * math.sin(0.05 * k) + 3e-3
        hip = (0.01 - 1e-4 * k, 0.0, -down)
        force = corner.update(hip, STILL)
        assert force[2] == pytest.approx(floor.update(hip, STILL)[2], abs=1e-9)
        assert force[0] == pytest.approx(side.update(hip, STILL)[0], abs=1e-9)


def any_surface(rng):
    """Laws or none, as they come."""

    def one(names):
        return None if rng.random() < 0.25 else str(rng.choice(list(names)))

    wall = one(WALLS)
    return pp.Surface(stiffness_N_m=rng.uniform(100.0, 2000.0), damping_Ns_m=rng.uniform(0.0, 3.0), wall=wall,
                      keeper=one(KEEPERS) if wall else None, friction=one(FRICTIONS))  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_any_laws_among_moving_things_are_finite_and_forget_when_a_contact_ends(seed):
    """A hand that is thrown about between a floor, a ball and a box that moves, all with laws of their own."""
    rng = np.random.default_rng(seed)
    bodies = [pp.models.plane(), pp.models.ball(0.03, at=(0.05, 0.0, 0.02)),
              pp.models.box((0.06, 0.2, 0.1), at=(-0.03, 0.0, 0.04))]  # fmt: skip
    proxy = Proxy(bodies, by_body={body.name: any_surface(rng) for body in bodies}, dt_s=DT)
    state, q = proxy.rendering.state, start_posture(proxy.model)
    centre, most = np.array([0.02, 0.0, 0.02]), 0
    for k in range(1500):
        if k % 50 == 0:
            swing, turn = rng.uniform(0.005, 0.05, 3), rng.uniform(5.0, 120.0, 3)
        moved = q.copy()
        moved[0] += 0.004 * math.sin(0.05 * k)
        moved[-7] += 0.004 * math.cos(0.03 * k)
        proxy.move(moved)
        force = proxy.update(centre + swing * np.sin(turn * k * DT) + 1e-4 * rng.normal(size=3))
        assert np.isfinite(force).all()
        kept = state.slot_shape >= 0
        assert kept.sum() == state.n_slots <= state.n_contacts
        for rows in (state.wall_state, state.keeper_state, state.slot_travel):
            assert not rows[~kept].any()
        assert not state.friction_state.reshape(-1, 32)[~kept].any()
        most = max(most, state.n_slots)
    assert most >= 1 or all(s.wall is None and s.friction is None for s in proxy.rendering._laws[1:])


@pp.wall_law(stiffness_N_m=1000.0, damping_Ns_m=0.0)
def cracks(depth, approach, dt, mass, setting, state):
    """No number below 3 mm."""
    return setting[0] * depth if depth < 3e-3 else math.nan


def test_a_law_that_gives_no_number_is_named_and_nothing_gets_it():
    proxy = ground(wall=cracks, **ICY)
    assert proxy.update((0.0, 0.0, -2e-3), STILL)[2] == pytest.approx(2.0, rel=0.01)
    with pytest.raises(ValueError, match="a law on the surface of shape0 gave what is not a number"):
        proxy.update((0.0, 0.0, -4e-3), STILL)
    assert not proxy.force.any()
    proxy.reset()
    proxy.update((0.0, 0.0, 0.01), STILL)
    assert proxy.update((0.0, 0.0, -2e-3), STILL)[2] == pytest.approx(2.0, rel=0.01)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"wall": "she"}, "no wall is called 'she'; did you mean 'seh'"),
        ({"friction": "lugr"}, "did you mean 'lugre'"),
        ({"wall": "seh", "wall_settings": {"colour": 1.0}}, "the wall 'seh' has no setting 'colour'"),
        ({"wall_settings": {"hold": 1.0}}, "wall_settings are of a wall's law, and the surface has none"),
        ({"keeper": "energy-bounding"}, "a keeper is around a wall's law: give the surface a wall too"),
        ({"wall": math.sin}, "a wall must be a name or made with its decorator"),
    ],
)
def test_a_surface_that_cannot_be_is_one_line(wrong, message):
    with pytest.raises(ValueError, match=message):
        pp.Surface(**wrong)
