"""Newton's linear system: blocks, their order and what is left out of them change nothing of its solution."""

import numpy as np
import pytest
from test_unconverged import fallen, tower, wall

import palpate as pp
from palpate.contact.factor import factor, invert, invert_pivoting, respond
from palpate.contact.ordering import analyse
from palpate.contact.rows import load_rows
from palpate.jit import entry
from palpate.scenes.standing import hrp2_standing

SIDES = (0, 1)


@entry("float64[:, ::1], int64[:, ::1]")
def inverses(N, done):
    """Both ways of inverting rows of N (n, 36), the second in the second half of them."""
    n = done.shape[0]
    for i in range(n):
        done[i, 0], done[i, 1] = invert(N, i), invert_pivoting(N, n + i)


@entry("intp, intp, int64[::1]")
def solved(address, k, done):
    """dW of island k from the impulses in P and the resistance of its rows in MN."""
    (r,) = load_rows(address)
    begin, end, first, last = r.rows_begin[k], r.rows_begin[k + 1], r.slots_begin[k], r.slots_begin[k + 1]
    done[0] = analyse(address, begin, end, first, last)
    done[1] = done[0] > 0 and factor(address, begin, end, first, last)
    if done[1]:
        respond(r, first, last)


def some_blocks(kind, n, rng):
    """(n, 6, 6): positive ones, with a skew part, badly scaled ones, and such as need other pivots."""
    A = rng.normal(size=(n, 6, 6))
    N = A @ A.transpose(0, 2, 1) + 0.1 * np.eye(6)
    if kind == "sliding":
        S = rng.normal(size=(n, 6, 6))
        N += 3.0 * (S - S.transpose(0, 2, 1))
    elif kind == "scaled":
        d = 10.0 ** rng.uniform(-9, 9, size=(n, 6))
        N *= d[:, :, None] * d[:, None, :]
    elif kind == "exchanged":
        N = N[:, rng.permutation(6)]
    elif kind == "no diagonal":
        N = A - np.einsum("nii->ni", A)[:, :, None] * np.eye(6)
    return N


@pytest.mark.nojit
@pytest.mark.parametrize("kind", ["positive", "sliding", "scaled", "exchanged", "no diagonal"])
def test_an_inverse_is_one_or_is_refused(kind):
    """What is inverted without pivoting is right to rounding; what is not safe is left as it was, for pivoting."""
    n = 200
    N = some_blocks(kind, n, np.random.default_rng(5))
    out, done = np.concatenate([N, N]).reshape(2 * n, 36).copy(), np.zeros((n, 2), dtype=np.int64)
    inverses(out, done)
    assert done[:, 1].all()
    assert kind not in ("positive", "scaled") or done[:, 0].all()
    for i in range(n):
        for half, ok in enumerate(done[i]):
            X = out[half * n + i].reshape(6, 6)
            if not ok:
                assert np.array_equal(X, N[i])
                continue
            size = np.abs(N[i]) @ np.abs(X)  # whose rounding it has
            assert np.abs(N[i] @ X - np.eye(6)).max() < (1e-11 if half else 1e-6) * size.max()


@pytest.mark.nojit
def test_what_has_no_inverse_is_said():
    N = np.ones((1, 6, 6))
    out, done = np.concatenate([N, N]).reshape(2, 36).copy(), np.ones((1, 2), dtype=np.int64)
    inverses(out, done)
    assert not done.any()


def on_its_back():
    world = fallen(pp.models.human(), 3)
    world.step(900)
    return world


def stepped(world, steps):
    world.step(steps)
    return world


SCENES = {
    "wall": lambda: stepped(wall(), 5),
    "tower": lambda: stepped(tower(12), 5),
    "hrp2 stands": lambda: stepped(hrp2_standing(full=True).world, 5),
    "human lies": on_its_back,
    "human on planks": lambda: stepped(
        pp.World([pp.models.plane(), pp.models.human(),
                  *(pp.models.box((0.4, 0.1, 0.02), at=(0.0, y, 0.01), name=f"plank{y}") for y in (-0.1, 0.1))]), 400),
}  # fmt: skip


@pytest.mark.parametrize("scene", SCENES)
def test_the_blocks_solve_what_the_whole_matrix_solves(scene):
    """(1 + Om K) dW = Om P to rounding: bodies by themselves, trees, reduced ones, with rows that resist nothing."""
    world, rng = SCENES[scene](), np.random.default_rng(11)
    r = world.arrays.rows
    assert r.n_islands > 0
    for k in range(r.n_islands):
        rows = r.order[r.rows_begin[k] : r.rows_begin[k + 1]]
        slots = r.island_slots[r.slots_begin[k] : r.slots_begin[k + 1]]
        place, n = {s: 6 * i for i, s in enumerate(slots)}, 6 * len(slots)
        Om, K = np.zeros((n, n)), np.zeros((n, n))
        for a in slots:
            first, width = r.slot_first[a], 6 * r.slot_count[a]
            block = r.table[r.table_at[a] : r.table_at[a] + 6 * width].reshape(6, width)
            for b in range(first, first + r.slot_count[a]):
                Om[place[a] : place[a] + 6, place[b] : place[b] + 6] = block[:, 6 * (b - first) : 6 * (b - first) + 6]
        for i in rows:
            J = np.zeros((3, n))
            for side in SIDES:
                if s := r.slot[2 * i + side]:
                    J[:, place[s] : place[s] + 6] += r.J[i, 18 * side : 18 * side + 18].reshape(3, 6)
            A = np.zeros((3, 3))
            if rng.random() < 0.6:
                X = rng.normal(size=(3, 3))
                A = (X @ X.T + 0.5 * (X - X.T)) * 10.0 ** rng.uniform(0, 5) / r.scale[i]
            r.MN[i] = A.ravel()
            K += J.T @ A @ J
        P = rng.normal(size=n)
        for s in slots:
            r.P[6 * s : 6 * s + 6] = P[place[s] : place[s] + 6]
        done = np.zeros(2, dtype=np.int64)
        solved(world.arrays.state.rows, k, done)
        assert done.all()
        dW = np.concatenate([r.dW[6 * s : 6 * s + 6] for s in slots])
        size = np.abs(dW) + np.abs(Om) @ (np.abs(K) @ np.abs(dW) + np.abs(P))
        assert np.abs(dW + Om @ (K @ dW) - Om @ P).max() < 1e-8 * size.max()
