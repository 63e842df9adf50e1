"""solve_contacts ends, stays in the cones and says its residual honestly; and it solves what can be expected of it."""

import numpy as np
import pytest
from contact_doors import gauss_seidel, residuals
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

import palpate as pp
from palpate import jit
from palpate.contact.lemke import lemke

FEW = 3 if jit.DISABLED else 40


@pytest.fixture
def rng():
    return np.random.default_rng(2026)


def full_rank(rng, m, largest_mu=1.0):
    J = rng.normal(size=(3 * m, 3 * m))
    return J @ J.T, rng.normal(size=3 * m), rng.uniform(0, largest_mu, size=m)


def redundant(rng, m, rank):
    """More rows than freedoms, moving as one body would."""
    J = rng.normal(size=(3 * m, rank))
    return J @ J.T, J @ rng.normal(size=rank), rng.uniform(0, 1, size=m)


def stack(boxes, ratio=1.0, sideways=0.0, rng=None):
    """Cubes of 1 m on each other, four corners each; the heaviest on top, `ratio` times the lowest."""
    J, v = np.zeros((boxes, 4, 3, boxes, 6)), np.zeros((boxes, 6))
    axes = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    v[:, 5] = -9.81e-3
    if rng is not None:
        v[:, 2:5] += sideways * rng.normal(size=(boxes, 3))
    for b in range(boxes):
        for k, (x, y) in enumerate(((0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5))):
            J[b, k, :, b] = np.hstack([np.cross([x, y, -0.5], axes), axes])
            if b:
                J[b, k, :, b - 1] = -np.hstack([np.cross([x, y, 0.5], axes), axes])
    mass = np.geomspace(1.0, ratio, boxes)
    inverse = np.concatenate([np.r_[np.full(3, 6.0 / m), np.full(3, 1.0 / m)] for m in mass])
    J = J.reshape(12 * boxes, 6 * boxes)
    return (J * inverse) @ J.T, J @ v.ravel(), np.full(4 * boxes, 0.5), mass


def checked(G, c, mu, **options):
    """lam and report, after the promises that hold for every problem: feasible, honest."""
    lam, report = pp.solve_contacts(G, c, mu, **options)
    l = lam.reshape(-1, 3)
    assert (np.hypot(l[:, 1], l[:, 2]) <= mu * l[:, 0]).all()  # exactly
    maps = residuals(G, c, mu, lam)
    true, g = maps.max(), np.diag(G).reshape(-1, 3).mean(axis=1)
    largest = np.linalg.norm(l, axis=1).max()
    # what each contact's velocity is made of
    terms = np.linalg.norm(c.reshape(-1, 3), axis=1) * (1 + mu) + np.sqrt(g) * (np.sqrt(g) * l[:, 0]).max() * (1 + mu)
    assert abs(report.residual - true) <= 1e-6 * true + 1e-12 * largest * (1 + np.max(mu)) + 1e-14 * (terms / g).max()
    coupled = np.abs(G).reshape(len(g), 3, len(g), 3).max(axis=(1, 3)) > 0.0
    _, island = connected_components(coupled)
    approach = np.maximum(-c[::3], 0.0)
    fastest = np.array([approach[island == k].max() for k in island])
    rounding = 1e-15 * terms  # a velocity below is zero, and above it is only known to that
    with np.errstate(divide="ignore", invalid="ignore"):
        least = ((g * maps - rounding) / fastest)[g * maps > 3.0 * rounding].max(initial=0.0)
        most = ((g * maps + rounding) / fastest)[g * maps > 0.3 * rounding].max(initial=0.0)
    assert (1.0 - 1e-6) * least <= report.relative_residual <= (1.0 + 1e-6) * most
    assert report.converged == (report.relative_residual <= options.get("tolerance", 1e-8))
    assert report.sweeps + report.newton + report.admm <= options.get("budget", 1000)
    return lam, report


# ---- problems that it solves


@pytest.mark.nojit
@pytest.mark.parametrize("m", [1, 2, 5] if jit.DISABLED else [1, 2, 5, 12, 32])
def test_random_problems(m, rng):
    for _ in range(min(FEW, 160 // m)):
        _, report = checked(*full_rank(rng, m))
        assert report.converged


@pytest.mark.nojit
@pytest.mark.parametrize(("m", "rank"), [(4, 6), (8, 12)] if jit.DISABLED else [(4, 6), (24, 6), (16, 12), (32, 48)])
def test_redundant_contacts_have_unique_velocities(m, rank, rng):
    """Impulses of single points are not unique; from other starts come others, with the same velocities.

    Without friction, where theory promises it; with friction they are solved."""
    for _ in range(3):
        G, c, mu = redundant(rng, m, rank)
        _, report = checked(G, c, mu)
        assert report.converged
        frictionless = [
            checked(G, c, np.zeros(m), tolerance=1e-10, warm=warm)[0] for warm in (None, np.abs(rng.normal(size=3 * m)))
        ]
        assert np.abs(G @ (frictionless[0] - frictionless[1])).max() < 1e-7


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("boxes", "ratio"), [(1, 1.0), (3, 100.0)] if jit.DISABLED else [(1, 1.0), (5, 1e3), (10, 1e4)]
)
def test_a_stack_carries_its_weight(boxes, ratio):
    G, c, mu, mass = stack(boxes, ratio)
    lam, report = checked(G, c, mu, tolerance=1e-11)
    assert report.converged
    carried = lam[::3].reshape(boxes, 4).sum(axis=1)
    above = mass[::-1].cumsum()[::-1]
    assert carried == pytest.approx(9.81e-3 * above, rel=1e-6)


def test_boxes_that_slide_and_turn_on_each_other(rng):
    """What Gauss-Seidel cycles on and Newton does not reach from afar: solved by following the rounded problem."""
    reports = [checked(*stack(8, 1.0, 0.1, rng)[:3])[1] for _ in range(6)]
    assert all(report.converged for report in reports)
    assert max(report.newton for report in reports) > 20


@pytest.mark.nojit
def test_badly_scaled_problems(rng):
    """Inverse masses from 1e-6 to 1e6 in one problem: the same to the solver as with all masses alike."""
    for _ in range(FEW):
        G, c, mu = full_rank(rng, 6)
        scale = np.repeat(10.0 ** rng.uniform(-3, 3, size=6), 3)
        _, report = checked(G * scale * scale[:, None], c * scale, mu)
        assert report.converged
    tiny, small = checked(1e-6 * G, 1e-6 * c, mu)
    huge, large = checked(1e6 * G, 1e6 * c, mu)
    assert small.converged
    assert large.converged
    assert np.allclose(tiny, huge, rtol=1e-6, atol=1e-9)


@pytest.mark.nojit
def test_without_friction_it_is_the_linear_complementarity_problem(rng):
    for _ in range(FEW):
        G, c, _ = full_rank(rng, 4)
        lam, report = checked(G, c, 0.0, tolerance=1e-10)
        z, _, ok = lemke(G[::3, ::3], c[::3], 1000)
        assert ok
        assert report.converged
        assert np.abs(lam[::3] - z).max() < 1e-8 * max(1.0, z.max())
        assert not lam.reshape(-1, 3)[:, 1:].any()


def test_very_much_friction(rng):
    for _ in range(FEW):
        _, report = checked(*full_rank(rng, 4)[:2], 10.0)
        assert report.converged


@pytest.mark.nojit
def test_a_warm_start_shortens(rng):
    work = [0, 0]
    for _ in range(FEW):
        G, c, mu = full_rank(rng, 6)
        lam, cold = checked(G, c, mu)
        _, warm = checked(G, c + 1e-6 * rng.normal(size=c.shape), mu, warm=lam)
        work[0] += cold.sweeps + cold.newton + cold.admm
        work[1] += warm.sweeps + warm.newton + warm.admm
        same, again = checked(G, c, mu, warm=lam)
        assert again.sweeps + again.newton + again.admm <= 1
        assert np.abs(same - lam).max() <= 1e-7 * np.abs(lam).max()
    assert work[1] < 0.75 * work[0]


def test_the_order_of_contacts_matters_only_within_the_tolerance(rng):
    m = 6
    for _ in range(FEW):
        J = rng.normal(size=(3 * m, 3 * m))
        G, c, mu = J @ J.T / (3 * m) + 0.2 * np.eye(3 * m), rng.normal(size=3 * m), np.full(m, 0.4)
        lam, _ = checked(G, c, mu, tolerance=1e-10)
        order = rng.permutation(m)
        rows = (3 * order[:, None] + np.arange(3)).ravel()
        other, _ = checked(G[np.ix_(rows, rows)], c[rows], mu, tolerance=1e-10)
        assert np.abs(other - lam[rows]).max() <= 1e-8 * np.abs(lam).max()


# ---- problems that have no good solution, or several


def rods(n, mu, angle, rng):
    """n slender rods, each sliding on its lower end, tied to its neighbour by a third contact between them."""
    J = np.zeros((2 * n - 1, 3, n, 6))
    axes = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    v = np.zeros((n, 6))
    for b in range(n):
        lean = angle + 0.1 * rng.normal()
        tip = np.array([np.cos(lean), 0.0, -np.sin(lean)])  # half length 1 m
        J[b, :, b] = np.hstack([np.cross(tip, axes), axes])
        v[b] = [0.0, 0.0, 0.0, 3.0, 0.1 * rng.normal(), -0.01]
        if b:
            J[n + b - 1, :, b] = np.hstack([np.cross(-tip, axes), axes])
            J[n + b - 1, :, b - 1] = -np.hstack([np.cross(0.5 * tip, axes), axes])
    J = J.reshape(-1, 6 * n)
    inverse = np.tile([3.0, 3.0, 3.0, 1.0, 1.0, 1.0], n)
    return (J * inverse) @ J.T, J @ v.ravel(), mu


@pytest.mark.nojit
def test_painleves_rod_alone_jams(rng):
    """mu above 4/3: sliding friction would pull the tip into the ground.  It jams, though it hardly closes."""
    for direction in (1.0, -1.0):
        G, c, mu = rods(1, 1.5, np.radians(63.0), rng)
        c = c * np.array([1.0, direction, direction])
        lam, report = checked(G, c, mu)
        assert report.converged
        assert lam[0] > 0.0
    assert (G[0, 0] - mu * abs(G[0, 1])) < 0.0  # the paradox is there


@pytest.mark.parametrize("mu", [0.5, 1.5, 4.0])
def test_rods_in_painleves_paradox_end_feasible_and_honest(mu, rng):
    for n in (2, 4, 8):
        for _ in range(3):
            lam, report = checked(*rods(n, mu, np.radians(60.0), rng), budget=400)
            assert np.isfinite(lam).all()
            assert report.converged or report.ran_out


@pytest.mark.nojit
def test_velocities_that_no_impulse_can_reach(rng):
    """Redundant rows that contradict each other, as stabilisation can ask for: it ends and says so, or solves it."""
    m, tried = (4, 2) if jit.DISABLED else (10, 10)
    admm = 0
    for _ in range(tried):
        G, _, mu = redundant(rng, m, 3)
        _, report = checked(G, rng.normal(size=3 * m), mu, budget=200)
        assert report.converged or report.ran_out
        admm += report.admm
    assert admm > 0


@pytest.mark.nojit
def test_a_contact_that_nothing_can_move():
    G = np.diag([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    lam, report = pp.solve_contacts(G, [-1.0, 0.0, 0.0, 0.5, 1.0, 0.0], 0.5)
    assert lam == pytest.approx([1.0, 0, 0, 0, 0, 0])
    assert report.converged
    lam, report = pp.solve_contacts(G, [-1.0, 0.0, 0.0, -0.5, 1.0, 0.0], 0.5)
    assert lam[3:].tolist() == [0.0, 0.0, 0.0]
    assert report.residual == np.inf
    assert not report.converged
    assert not report.ran_out


@pytest.mark.nojit
def test_planar_problems_and_none_at_all():
    G = np.diag([1.0, 1.0, 0.0])  # nothing moves along the second tangent
    lam, report = pp.solve_contacts(G, [-1.0, 2.0, 0.0], 0.5)
    assert lam == pytest.approx([1.0, -0.5, 0.0])
    assert report.converged
    lam, report = pp.solve_contacts(np.zeros((0, 0)), [], 0.5)
    assert lam.shape == (0,)
    assert report.converged
    lam, report = pp.solve_contacts(np.eye(6), np.ones(6), [0.5, 0.2])
    assert not lam.any()
    assert report == pp.SolveReport(True, 0.0, 0.0, 0.0, 0, 0, 0, 0, False)


@pytest.mark.nojit
def test_units_at_the_ends_of_floats_change_nothing():
    G, c = np.diag([1.0, 2.0, 3.0]), np.array([-1.0, 2.0, 0.5])
    lam, report = pp.solve_contacts(G, c, 0.5)
    for size, speed in ((2.0**-700, 1.0), (2.0**600, 2.0**-300), (1.0, 2.0**500)):
        other, same = pp.solve_contacts(size * G, speed * c, 0.5)
        assert np.array_equal(other, lam * (speed / size))
        assert same.relative_residual == report.relative_residual


def test_a_small_budget_is_kept(rng):
    G, c, mu, _ = stack(6, 1.0, 0.1, rng)
    for budget in (1, 2, 5, 17, 60):
        _, report = checked(G, c, mu, budget=budget)
        assert report.ran_out != report.converged


def test_the_same_input_gives_the_same_bits(rng):
    G, c, mu, _ = stack(4, 10.0, 0.1, rng)
    first, second = (pp.solve_contacts(G, c, mu) for _ in range(2))
    assert np.array_equal(first[0], second[0])
    assert first[1] == second[1]


numbers = st.floats(-1.0, 1.0).map(lambda x: round(x, 6))


@settings(max_examples=3 if jit.DISABLED else 150, deadline=None)
@given(st.data())
def test_whatever_the_problem_it_ends_feasible_and_honest(data):
    m = data.draw(st.integers(1, 6))
    rank = data.draw(st.integers(1, 3 * m))
    J = np.array(data.draw(st.lists(st.lists(numbers, min_size=rank, max_size=rank), min_size=3 * m, max_size=3 * m)))
    scale = np.repeat(10.0 ** np.array(data.draw(st.lists(st.floats(-3, 3), min_size=m, max_size=m))), 3)
    J = J * scale[:, None]
    c = np.array(data.draw(st.lists(numbers, min_size=3 * m, max_size=3 * m)))
    mu = np.array(data.draw(st.lists(st.floats(0.0, 10.0), min_size=m, max_size=m)))
    G = J @ J.T
    diagonal = np.diag(G)
    if (diagonal[::3] <= 1e-12 * diagonal.reshape(m, 3).mean(axis=1)).any():
        lam, report = pp.solve_contacts(G, c, mu, budget=200)  # cannot move: another measure
        l = lam.reshape(-1, 3)
        assert (np.hypot(l[:, 1], l[:, 2]) <= mu * l[:, 0]).all()
        assert report.residual >= 0.0
    else:
        checked(G, c, mu, budget=200)


# ---- mistakes


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.eye(4), np.ones(4), 0.5), r"G has shape \(4, 4\)"),
        ((np.ones((3, 6)), np.ones(3), 0.5), r"G has shape \(3, 6\)"),
        ((np.eye(6), np.ones(3), 0.5), "c has 3 numbers, 2 contacts need 6"),
        ((np.eye(6), np.ones(6), [0.5] * 3), r"mu has shape \(3,\)"),
        ((np.eye(3), np.ones(3), -0.1), "mu must lie between 0 and"),
        ((np.eye(3), np.ones(3), np.nan), "mu must lie between 0 and"),
        ((np.eye(3) * np.nan, np.ones(3), 0.5), "G holds a NaN"),
        ((np.eye(3), [np.inf, 0, 0], 0.5), "c holds a NaN or an infinity"),
        ((np.array([[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]), np.ones(3), 0.5), r"G\[0, 1\] = 0.5 but G\[1, 0\] = 0"),
        ((np.diag([1.0, -1.0, 1.0]), np.ones(3), 0.5), r"G\[1, 1\] is negative"),
        ((np.array([[1, 2, 0], [2, 1, 0], [0, 0, 1.0]]), np.ones(3), 0.5), "negative eigenvalue"),
    ],
)
def test_wrong_problems_are_explained_in_one_line(arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        pp.solve_contacts(*arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.nojit
def test_wrong_options_are_explained():
    with pytest.raises(ValueError, match="tolerance is 0"):
        pp.solve_contacts(np.eye(3), np.ones(3), 0.5, tolerance=0.0)
    with pytest.raises(ValueError, match="budget is 0"):
        pp.solve_contacts(np.eye(3), np.ones(3), 0.5, budget=0)
    with pytest.raises(ValueError, match="warm has 2 numbers"):
        pp.solve_contacts(np.eye(3), np.ones(3), 0.5, warm=[1.0, 2.0])


def heap(rng, bodies=6, contacts=16):
    """Rigid bodies of masses over two decades that touch each other and the ground at random, pressed down."""
    mass, J = 10.0 ** rng.uniform(-1.0, 1.0, size=bodies), np.zeros((contacts, 3, bodies, 6))
    for k in range(contacts):
        a, b = rng.choice(bodies + 1, size=2, replace=False)
        up = rng.normal(size=3) * 0.4 + (0.0, 0.0, 1.0)  # the normal
        frame = np.linalg.qr(np.column_stack([up, rng.normal(size=(3, 2))]))[0].T
        frame[0] *= np.sign(frame[0] @ up)
        for body, sign in ((min(a, b), -1.0), (max(a, b), 1.0)):
            if body:  # 0 is the ground
                arm = 0.5 * rng.normal(size=3)
                J[k, :, body - 1] = sign * np.hstack([np.cross(arm, frame), frame])
    J = J.reshape(3 * contacts, 6 * bodies)
    inverse = np.repeat(1.0 / mass, 6) * np.tile([6.0, 6.0, 6.0, 1.0, 1.0, 1.0], bodies)
    v = 0.1 * rng.normal(size=(bodies, 6)) + (0, 0, 0, 0, 0, -1.0)
    return (J * inverse) @ J.T, J @ v.ravel(), rng.uniform(0.1, 0.8, size=contacts)


def test_it_gets_wherever_plain_gauss_seidel_gets():
    rng = np.random.default_rng(11)
    solved = 0
    for _ in range(60):
        G, c, mu = heap(rng)
        plain = np.zeros(len(c))
        gauss_seidel(G, c, mu, 1000, plain)
        if (np.diag(G).reshape(-1, 3).mean(axis=1) * residuals(G, c, mu, plain)).max() < 1e-10:
            solved += 1
            assert checked(G, c, mu)[1].converged
    assert solved > 20
