"""Six numbers as one vector of the processor: the same arithmetic as numpy's, with and without the compiler."""

import inspect

import numpy as np
import pytest

from palpate.jit import DISABLED, entry, warm
from palpate.jit.six import inner, lane, no_six, plus, plus_times, put_six, six, times, with_lane

pytestmark = pytest.mark.nojit


@entry("float64[:, ::1], float64[::1], float64[:, ::1]")
def everything(rows, line, out):
    """Every operation once; out (8, 8)."""
    x, y = six(rows, 1, 2), six(line, 0, 3)
    put_six(out, 0, 1, plus(x, y))
    put_six(out, 1, 1, times(2.5, x))
    put_six(out, 2, 1, plus_times(y, -1.5, x))
    put_six(out, 3, 1, with_lane(x, 4, 7.0))
    put_six(out, 4, 1, no_six())
    out[5, 0] = inner(x, y)
    for k in range(6):
        out[6, k] = lane(y, k)
    put_six(line, 0, 2, x)


def test_six_numbers_at_once_are_what_they_are_one_by_one():
    rng = np.random.default_rng(4)
    rows, line, out = rng.normal(size=(3, 9)), rng.normal(size=10), np.full((8, 8), 9.0)
    x, y, before = rows[1, 2:8].copy(), line[3:9].copy(), line.copy()
    everything(rows, line, out)
    replaced = x.copy()
    replaced[4] = 7.0
    for row, expected in enumerate((x + y, 2.5 * x, y - 1.5 * x, replaced, np.zeros(6))):
        assert out[row, 1:7] == pytest.approx(expected, rel=1e-15, abs=1e-15)
        assert out[row, 0] == out[row, 7] == 9.0  # nothing beside them is touched
    assert out[5, 0] == pytest.approx(x @ y, rel=1e-14)
    assert (out[6, :6] == y).all()
    assert (line[2:8] == x).all()
    assert (line[[0, 1, 8, 9]] == before[[0, 1, 8, 9]]).all()


def nearer(rows, i, j):
    """With a function of numba's own in it."""
    d = plus_times(six(rows, i, 0), -1.0, six(rows, j, 0))
    put_six(rows, 0, 0, times(max(rows[i, 6], rows[j, 6]), d))


@pytest.mark.skipif(DISABLED, reason="the compiler is off")
def test_they_take_no_registers_that_are_wider_than_it_pays():
    """Of the processors that tests run on some have those of 512 bits, zmm, and then a Six would be one of them."""
    scope = {name: globals()[name] for name in ("six", "put_six", "plus_times", "times")}
    exec(compile(inspect.getsource(nearer), "<typed>", "exec"), scope)  # of no file: it is compiled here, not kept
    function = entry("float64[:, ::1], intp, intp")(scope["nearer"])
    warm(function)
    (code,) = function.inspect_asm().values()
    assert "ymm" in code
    assert "zmm" not in code
