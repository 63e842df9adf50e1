"""What is done sooner while compiling is the same as numba's: code to the letter, items, rows and exceptions."""

import os
import subprocess
import sys

import numpy as np
import pytest

from palpate import jit
from palpate.jit import entry, kernel

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the compiler is off")

# Functions of numba alone, with two settings; all code as LLVM is given it
CODE = """
import hashlib, math, re
import numba
from numba.core import codegen

texts, add = [], codegen.CPUCodeLibrary.add_ir_module

def adding(self, module):
    texts.append(re.sub(r"dynamic.globals.[0-9a-f]+|inttoptr .i64 [0-9]+", "", str(module)))
    return add(self, module)

codegen.CPUCodeLibrary.add_ir_module = adding

def norm(p, scale=2.0):
    return math.sqrt(p[0] * p[0] + p[1] * p[1]) * scale

def walk(n, x):
    total, last = 0.0, (x, 1.0)
    for k in range(n):
        if k % 2 == 0 and total < 10.0:
            total += max(norm(last), abs(x) ** 2, 0.5)
        elif k > 7:
            break
        last = (total - k, min(x, total))
    return total, last

for options in ({}, {"fastmath": {"contract"}}):
    inner = norm
    norm = numba.njit(**options)(inner)
    numba.njit("(int64, float64)", **options)(walk)
    norm = inner
print(len(texts), hashlib.sha256("".join(texts).encode()).hexdigest())
"""


def test_numba_gives_the_same_code_to_the_letter():
    """With its runtime; without it, variables own nothing and are let go of without a look at them."""
    env = os.environ | {"PYTHONHASHSEED": "0", "NUMBA_CACHE_DIR": os.devnull}
    said = [
        subprocess.run([sys.executable, "-c", first + CODE], env=env, capture_output=True, text=True, check=True).stdout
        for first in ("", "import palpate.jit\n")
    ]
    assert said[0] == said[1]
    assert int(said[0].split()[0]) >= 4


@kernel
def doubled(row):
    """All of a row."""
    total = 0.0
    for k in range(row.shape[0]):
        total += 2.0 * row[k]
        row[k] = 0.0
    return total


@entry("float64[:, :, ::1], float64[:, ::1], int64[::1], int64, int64, float64[::1]")
def pick(a, b, c, i, j, out):
    out[0] = a[i, j, 1]
    out[1] = a[i, -1, j]
    out[2] = b[i, j]
    out[3] = c[j]
    out[-1] = c[np.uint64(1)]
    out[4] = doubled(b[i])
    out[5] = a[i, j].shape[0]
    c[i] = j
    a[0, i, j] = c[0]
    out[6] = a[i][j, 0]


def test_items_and_rows_are_those_that_numpy_has():
    """From the start; from the end where the code says so."""
    rng = np.random.default_rng(0)
    for i, j in ((0, 0), (1, 2), (2, 1), (2, 2), (0, 2)):
        a, b, c = rng.normal(size=(3, 4, 3)), rng.normal(size=(3, 3)), rng.integers(9, size=3)
        wanted = [a[i, j, 1], a[i, -1, j], b[i, j], c[j], 2.0 * b[i].sum(), 3.0]
        left, kept = b.copy(), c.copy()
        left[i], kept[i] = 0.0, j
        changed = a.copy()
        changed[0, i, j] = kept[0]
        out, last = np.zeros(8), c[1]
        pick(a, b, c, i, j, out)
        np.testing.assert_allclose(out, [*wanted, changed[i, j, 0], last], rtol=1e-12)
        np.testing.assert_array_equal(a, changed)
        np.testing.assert_array_equal(b, left)
        np.testing.assert_array_equal(c, kept)


@kernel
def refusing(x):
    if x < 0.0:
        raise ValueError("negative")
    return x


@kernel
def between(x, y):
    return refusing(x) + doubled(y)


@entry("float64, float64[::1]")
def through_two(x, y):
    return between(x, y) + 1.0


def test_what_a_kernel_raises_comes_through_those_that_call_it():
    assert through_two(1.0, np.ones(2)) == 6.0
    with pytest.raises(ValueError, match="negative"):
        through_two(-1.0, np.ones(2))


def test_only_what_can_raise_is_asked_whether_it_did():
    """Of a kernel that was compiled here as of one from the cache, which another process may have filled meanwhile."""
    from numba.core.types import Array, float64

    x, y = float64, Array(float64, 1, "C")
    for each, given, expected in ((doubled, (y,), False), (refusing, (x,), True), (between, (x, y), True)):
        each.compile(given)
        found = each.overloads[given]
        may_fail = found.library.may_fail(found.fndesc.llvm_func_name)
        assert may_fail == (expected or bool(os.environ.get("NUMBA_BOUNDSCHECK"))), each


def test_variables_of_a_statement_are_all_that_are_in_it():
    """As numba finds them, by looking into everything."""
    from numba.core import compiler, ir

    seen = 0
    for function in (pick.py_func, doubled.py_func, through_two.py_func):
        for block in compiler.run_frontend(function).blocks.values():
            for statement in block.body:
                slowly = statement._rec_list_vars(statement.__dict__)
                assert [v.name for v in statement.list_vars()] == [v.name for v in slowly]
                seen += isinstance(statement, ir.Assign) and len(slowly) > 1
    assert seen > 20
