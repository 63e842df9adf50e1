"""Laws as compiled functions: found by name or given, called by the step, and stopped when they give nonsense."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

import palpate as pp
from palpate.contact.laws import FRICTION, LAWS, RESTITUTION, find_law, law_address
from palpate.contact.laws.coulomb import SLIDING_M_S
from palpate.jit.laws import STATE, Law, law
from palpate.world.defaults import DefaultSimulator

DRY = pp.Material("dry", friction=0.6, friction_sliding=0.3)
RUBBER = pp.Material("rubber", friction=0.0, restitution=0.8)


@pp.friction_law
def coulomb_again(mu_static, mu_sliding, slip_m_s, normal_impulse_Ns):
    return mu_sliding if slip_m_s > SLIDING_M_S else mu_static


@pp.friction_law
def ice(mu_static, mu_sliding, slip_m_s, normal_impulse_Ns):
    return 0.02


@pp.friction_law
def heavy_is_slippery(mu_static, mu_sliding, slip_m_s, normal_impulse_Ns):
    return mu_static / (1.0 + normal_impulse_Ns / 0.01)


@pp.friction_law
def nonsense_when_fast(mu_static, mu_sliding, slip_m_s, normal_impulse_Ns):
    return math.nan if slip_m_s > 0.5 else mu_static


@pp.restitution_law
def dead(e, approach_m_s):
    return 0.0


@pp.friction_law
def polishing(mu_static, mu_sliding, slip_m_s, normal_impulse_Ns, state):
    """A contact is worn by every millimetre it slips."""
    state[0] += 1e-3 * slip_m_s
    return mu_static * math.exp(-state[0] / 0.02)


@pp.restitution_law
def work_hardening(e, approach_m_s, state):
    """Every blow bounces half as much as the last."""
    state[0] += 1.0
    return e * 0.5 ** (state[0] - 1.0)


def sliding_box(speed=1.0, **options):
    box = pp.models.box((0.2, 0.2, 0.1), mass=2.0, at=(0, 0, 0.05), material=DRY)
    world = pp.World([pp.models.plane(material=DRY), box], **options)
    world.v[3] = speed
    return world


def dropped_ball(height=0.5, **options):
    ball = pp.models.ball(0.05, at=(0, 0, 0.05 + height), material=RUBBER)
    return pp.World([pp.models.plane(material=RUBBER), ball], **options)


def run(world, steps):
    out = []
    for _ in range(steps):
        world.step()
        out.append((world.q.copy(), world.v.copy()))
    return np.array([q for q, _ in out]), np.array([v for _, v in out])


def test_the_built_in_law_and_the_same_law_by_address_give_the_same_motion():
    one, two = sliding_box(), sliding_box(friction_law=coulomb_again)
    q1, _ = run(one, 600)
    q2, _ = run(two, 600)
    assert (q1 == q2).all()


def test_a_law_of_ones_own_decides_the_stopping_distance():
    for given, mu in (("coulomb", 0.3), (ice, 0.02)):
        world = sliding_box(friction_law=given)
        world.step(300)
        assert 1.0 - world.v[3] == pytest.approx(min(mu * 9.81 * 0.3, 1.0), rel=2e-3)


def test_a_friction_law_hears_the_normal_impulse_of_the_last_step():
    world = sliding_box(friction_law=heavy_is_slippery)
    world.step(50)
    before = world.v[3]
    world.step(50)
    corner = np.array([c.normal_force for c in world.contacts]) * 1e-3
    assert corner.sum() == pytest.approx(2.0 * 9.81e-3, rel=1e-5)
    mean = (0.6 / (1.0 + corner / 0.01) * corner).sum() / corner.sum()
    assert before - world.v[3] == pytest.approx(mean * 9.81 * 0.05, rel=0.02)


def test_stribeck_slows_as_its_equation_says():
    from palpate.contact.laws.stribeck import stribeck

    world = sliding_box(speed=0.03, friction_law="stribeck")
    v = 0.03
    for _ in range(8):
        v -= stribeck(0.6, 0.3, v, 0.0) * 9.81 * 1e-3
        world.step()
        assert world.v[3] == pytest.approx(v, abs=1e-6)


def test_a_restitution_law_decides_how_high_it_bounces():
    tops = {}
    for given in ("constant", "walton", dead):
        world = dropped_ball(restitution_law=given)
        q, v = run(world, 900)
        hit = int(np.argmax(v[:, 5] >= 0.0))
        tops[getattr(given, "name", given)] = (q[hit:, 2].max() - 0.05, -v[hit - 1, 5])
    approach = tops["constant"][1]
    assert tops["constant"][0] == pytest.approx(0.8**2 * 0.5, rel=0.02)
    assert tops["walton"][0] == pytest.approx(find_law(RESTITUTION, "walton")(0.8, approach) ** 2 * 0.5, rel=0.02)
    assert tops["dead"][0] < 1e-3


@pytest.mark.parametrize("options", [{}, {"simulator": DefaultSimulator()}], ids=["compiled", "in Python"])
def test_a_law_that_gives_nonsense_stops_the_world_and_is_named(options):
    world = sliding_box(speed=0.4, friction_law=nonsense_when_fast, **options)
    world.step(5)
    world.v[3] = 0.9
    q, v, time = world.q.copy(), world.v.copy(), world.time
    with pytest.raises(
        pp.WorldError, match=r"the friction law 'nonsense_when_fast' gave no number .* 'plane' and 'box'"
    ):
        world.step(3)
    assert (world.q == q).all()
    assert (world.v == v).all()
    assert world.time == time
    world.v[3] = 0.2  # and it goes on when the reason is gone
    world.step(5)
    assert world.v[3] < 0.2


@pytest.mark.parametrize("value", [math.nan, -0.1, math.inf, 1.1])
def test_a_restitution_outside_its_bounds_stops_the_world(value):
    @pp.restitution_law
    def odd(e, approach_m_s):
        return value

    world = dropped_ball(0.02, restitution_law=odd)
    with pytest.raises(
        pp.WorldError, match=r"the restitution law 'odd' gave no number within 0 \.\. 1 where 'plane' and 'ball'"
    ):
        world.step(200)
    assert 0.0 < world.time < 0.2


def test_the_default_costs_no_call():
    assert law_address(FRICTION, find_law(FRICTION, "coulomb")) == 0
    assert law_address(RESTITUTION, find_law(RESTITUTION, "constant")) == 0
    assert law_address(FRICTION, ice) == ice.address != 0


# ---- state


@pytest.mark.nojit
def test_a_law_has_the_state_that_it_is_given_and_any_number_of_arguments():
    @law(1)
    def total(x, state):
        state[1] += x
        return state[1]

    @law(6)
    def sum_of_six(a, b, c, d, e, f):
        return a + b + c + d + e + f

    here, there = np.zeros(STATE), np.zeros(STATE)
    assert [total(x, here) for x in (1.0, 2.0, 4.0)] == [1.0, 3.0, 7.0]
    assert total(0.5, there) == 0.5
    assert total(8.0) == 8.0  # of a new place
    assert (here[1], there[1]) == (7.0, 0.5)
    assert sum_of_six(1, 2, 3, 4, 5, 6) == 21.0
    with pytest.raises(TypeError, match="the state of the law 'total' is 4"):
        total(1.0, np.zeros(2))


@pytest.mark.nojit
@pytest.mark.parametrize("options", [{}, {"simulator": DefaultSimulator()}], ids=["compiled", "in Python"])
def test_a_friction_law_keeps_a_state_of_its_own_at_every_contact(options):
    """Two boxes side by side, one of which slips: each is as it is alone, and only the one that slips is worn."""

    def box(y):
        return pp.models.box((0.2, 0.2, 0.1), mass=2.0, at=(0, y, 0.05), material=DRY)

    both = pp.World([pp.models.plane(material=DRY), box(-0.5), box(0.5)], friction_law=polishing, **options)
    alone = pp.World([pp.models.plane(material=DRY), box(-0.5)], friction_law=polishing, **options)
    both.v[3], alone.v[3], both.v[9] = 0.5, 0.5, 0.05
    v = slipped = 0.0
    for _ in range(10):
        both.step()
        alone.step()
    assert both.v[3] == pytest.approx(alone.v[3], abs=1e-9)
    v, slipped = 0.5, 0.0
    for _ in range(10):  # mu falls with the way that the corners have gone
        slipped += 1e-3 * v
        v -= 0.6 * math.exp(-slipped / 0.02) * 9.81e-3
    assert both.v[3] == pytest.approx(v, rel=1e-4)
    worn = both._arrays.rows.warm_friction[:8, 0]
    assert worn[:4] == pytest.approx(slipped, rel=1e-4)
    assert worn[4:].max() < 0.1 * slipped


def test_a_restitution_law_remembers_the_blows_before_it_within_a_contact():
    """The contact lasts while the ball is within the margin: the second blow is weaker than its law alone makes it."""
    state = np.zeros(STATE)
    assert [work_hardening(0.8, 1.0, state) for _ in range(3)] == pytest.approx([0.8, 0.4, 0.2])
    ball = pp.models.ball(0.05, at=(0, 0, 0.05 + 0.01), material=RUBBER)
    world = pp.World([pp.models.plane(material=RUBBER), ball], restitution_law=work_hardening, margin=0.1)
    _, v = run(world, 300)
    blows = np.flatnonzero((v[1:, 5] > 0.0) & (v[:-1, 5] < 0.0))
    ratios = -v[blows + 1, 5] / v[blows, 5]
    assert ratios[:2] == pytest.approx([0.8, 0.4], abs=0.05)


def test_what_a_law_remembers_is_part_of_a_snapshot_and_of_no_failed_step():
    world = sliding_box(friction_law=polishing)
    world.step(20)
    snap = world.snapshot()
    first, _ = run(world, 30)
    world.restore(snap)
    again, _ = run(world, 30)
    assert (first == again).all()
    worn = world._arrays.rows.warm_friction.copy()
    world.v[5] = math.nan
    with pytest.raises(pp.WorldError):
        world.step()
    assert (world._arrays.rows.warm_friction == worn).all()


def test_laws_survive_a_change_of_bodies():
    world = sliding_box(friction_law=ice)
    world.add(pp.models.ball(0.1, at=(5, 0, 1)))
    world.step(200)
    assert 1.0 - world.v[3] == pytest.approx(0.02 * 9.81 * 0.2, rel=0.02)


@pytest.mark.parametrize(("options", "message"), [
    ({"friction_law": "coulom"}, "did you mean 'coulomb'"),
    ({"friction_law": "walton"}, "'walton' is no friction law"),
    ({"restitution_law": ice}, r"'ice' is no restitution law: it must be a function of \(e, approach_m_s\)"),
    ({"friction_law": lambda a, b, c, d: a}, "made with @friction_law, got function"),
])  # fmt: skip
def test_what_is_no_law_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        pp.World(pp.models.ball(0.1), **options)


def test_a_function_that_cannot_be_a_law_is_refused():
    with pytest.raises(TypeError, match="must take 4 arguments, or one more for its state"):
        pp.friction_law(lambda a, b: a)

    def careful(e, approach_m_s):
        assert e >= 0.0
        return e

    with pytest.raises(TypeError, match=r"raises or asserts.*return math\.nan"):
        pp.restitution_law(careful)


def test_an_entry_point_of_another_package_is_a_law(monkeypatch):
    from palpate import registry

    monkeypatch.setattr(
        registry, "everything", lambda known, group: {"ice": (f"{__name__}:ice", "from elsewhere")} | known
    )
    assert find_law(FRICTION, "ice") is ice


def test_a_law_calls_its_compiled_code_and_says_what_it_is():
    @law(2)
    def longer(a, b):
        """The longer of two."""
        return a if a > b else b

    assert isinstance(longer, Law)
    assert longer(2.0, 3.0) == 3.0
    assert longer.__doc__ == "The longer of two."
    assert "longer" in repr(longer)


@pytest.mark.nojit
def test_every_law_works_without_the_compiler():
    from palpate.contact.laws.calls import friction_of, restitution_of
    from palpate.jit import DISABLED
    from palpate.registry import find

    assert find(LAWS, "laws", "stribeck")(0.6, 0.3, 0.0, 1.0) == pytest.approx(0.6)
    if DISABLED:
        none = np.zeros(0)
        assert friction_of(ice.address, 0.6, 0.3, 0.1, 0.0, none) == 0.02
        assert friction_of(0, 0.6, 0.3, 0.1, 0.0, none) == 0.3
        assert restitution_of(dead.address, 0.5, 1.0, none) == 0.0


def test_a_law_is_compiled_once_and_kept(tmp_path):
    """A second process loads it from the cache."""
    (tmp_path / "own_law.py").write_text(
        "import palpate as pp\n\n\n@pp.restitution_law\ndef half(e, approach_m_s):\n    return 0.5 * e\n"
    )
    code = "import own_law; print(own_law.half(0.8, 1.0), own_law.half._callback.cache_hits)"
    done = [
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True,
                       env=os.environ | {"PALPATE_CACHE_DIR": str(tmp_path / "cache")}).stdout.split()
        for _ in range(2)
    ]  # fmt: skip
    assert done == [["0.4", "0"], ["0.4", "1"]]
