"""Promises of the compiler layer: edits are seen, checks bite, kernels refuse Python, nothing allocates."""

import gc
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import palpate as pp
from palpate import jit
from palpate.dynamics import entries

compiled = pytest.mark.skipif(jit.DISABLED, reason="the compiler is off")
ROOT = Path(jit.__file__).parents[2]  # of the palpate that is tested


def python(code: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess:
    """Run code in a fresh interpreter whose kernel cache is in cwd."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "PALPATE_"))}
    env |= {"PALPATE_CACHE_DIR": str(cwd / "cache"), "PYTHONPATH": os.pathsep.join([str(cwd), str(ROOT)])} | environment
    env["PYTHONDONTWRITEBYTECODE"] = "1"  # Python does not see an edit of the same length within the same second
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=cwd, env=env, capture_output=True, text=True
    )


def output(code: str, cwd: Path, **environment: str) -> str:
    done = python(code, cwd, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def package(tmp_path):
    """A package of two files: an entry in one that calls a kernel in the other."""
    folder = tmp_path / "twofiles"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "inner.py").write_text("from palpate.jit import kernel\n\n@kernel\ndef triple(x):\n    return 3.0 * x\n")
    (folder / "outer.py").write_text(
        "from palpate.jit import entry\nfrom twofiles.inner import triple\n\n"
        '@entry("float64")\ndef run(x):\n    return triple(x) + 1.0\n\n'
        '@entry("float64[::1], intp")\ndef read(x, i):\n    return x[i]\n'
    )
    return tmp_path


RUN = "from twofiles.outer import run; print(run(2.0), sum(run._cache_hits.values()))"


@compiled
def test_an_edit_of_a_kernel_in_another_file_is_seen(package):
    assert output(RUN, package) == "7.0 0"
    assert output(RUN, package) == "7.0 1"  # from the cache
    inner = package / "twofiles" / "inner.py"
    inner.write_text(inner.read_text().replace("3.0", "5.0"))
    assert output(RUN, package) == "11.0 0"


@compiled
def test_a_kernel_is_a_part_of_its_callers_and_is_kept_for_the_next_of_them(package):
    code = """
        from twofiles.outer import run
        from twofiles.inner import triple
        print(run(2.0), sum(triple._cache_hits.values()))
        (part,), (door,) = triple.overloads.values(), run.overloads.values()
        for each in (part, door):
            print(each.library.get_pointer_to_function(each.fndesc.llvm_func_name) != 0)
    """
    assert output(code, package).split() == ["7.0", "0", "False", "True"]  # machine code is the caller's alone
    outer = package / "twofiles" / "outer.py"
    outer.write_text(outer.read_text().replace("+ 1.0", "+ 2.0"))
    assert output(code, package).split() == ["8.0", "1", "False", "True"]


@compiled
def test_while_something_is_compiled_garbage_is_collected_rarely_and_then_as_before():
    from palpate.jit.starts.garbage import OBJECTS, collected_rarely

    before = gc.get_threshold()
    with collected_rarely():
        assert gc.get_threshold()[0] >= OBJECTS
    assert gc.get_threshold() == before


@compiled
def test_an_edit_of_a_layout_is_seen_by_a_kernel_whose_file_does_not_import_it(package):
    """Or compiled code would read a field where another is now."""
    folder = package / "twofiles"
    (folder / "layout.py").write_text(
        'from palpate.jit import Struct, block_loader\n\nclass Ball(Struct):\n    mass: "float"\n    size: "float"\n\n'
        "load = block_loader((Ball, False))\n"
    )
    (folder / "reader.py").write_text("from palpate.jit import kernel\n\n@kernel\ndef mass_of(b):\n    return b.mass\n")
    (folder / "door.py").write_text(
        "from palpate.jit import entry\nfrom twofiles.layout import load\nfrom twofiles.reader import mass_of\n\n"
        '@entry("intp")\ndef mass(address):\n    return mass_of(load(address)[0])\n'
    )
    code = """
        from palpate.jit import Block
        from twofiles.door import mass
        from twofiles.layout import Ball
        block = Block(Ball(mass=3.0, size=7.0))
        print(mass(block.address))
    """
    assert output(code, package) == "3.0"
    layout = folder / "layout.py"
    layout.write_text(
        layout.read_text().replace('mass: "float"\n    size: "float"', 'size: "float"\n    mass: "float"')
    )
    assert output(code, package) == "3.0"


@compiled
def test_an_edit_elsewhere_does_not_recompile(package):
    output(RUN, package)
    (package / "twofiles" / "bystander.py").write_text("# imported by nobody\n")
    assert output(RUN, package) == "7.0 1"


@compiled
def test_bounds_checks_bite_over_a_warm_cache(package):
    read = "import numpy as np; from twofiles.outer import read; read(np.zeros(3), 3); print('silent')"
    assert output(read, package) == "silent"
    checked = python(read, package, NUMBA_BOUNDSCHECK="1")
    assert checked.returncode == 1
    assert "IndexError" in checked.stderr
    assert output(read, package) == "silent"  # and the checked build did not replace the fast one


@compiled
@pytest.mark.parametrize("index", [-1, -3, 3])
def test_with_bounds_checks_an_index_counts_from_the_start(package, index):
    read = f"import numpy as np; from twofiles.outer import read; print(read(np.arange(3.0), {index}))"
    assert "IndexError" in python(read, package, NUMBA_BOUNDSCHECK="1").stderr


@compiled
def test_numba_of_others_counts_from_the_end_as_it_does_without_us(package):
    read = """
        import numba, numpy as np
        import palpate.jit
        last = numba.njit(lambda x, y, i: x[i] + y[i, i])
        print(last(np.arange(3.0), np.ones((2, 2)), -1))
    """
    assert output(read, package) == "3.0"


@compiled
def test_an_unwritable_cache_still_computes(package):
    code = "from twofiles.outer import run; from palpate.jit import cache_dir; print(run(2.0), cache_dir())"
    assert output(code, package, PALPATE_CACHE_DIR="/proc/nowhere") == "7.0 None"


def test_the_closure_follows_imports_through_the_package():
    here = Path(pp.__file__).parent
    closure = {f.relative_to(here).as_posix() for f in jit.import_closure(here / "dynamics" / "aba.py")}
    assert {"dynamics/aba.py", "dynamics/kinematics.py", "spatial/vectors.py", "spatial/sincos.py"} <= closure
    assert "dynamics/rnea.py" not in closure


@pytest.mark.parametrize(
    "line",
    [
        "import used",
        "    from used import a, b  # both",
        "from used import (\n    a,  # (the first)\n    b,\n)",
        "from used \\\n    import a",
        "x = 1; import used",
        "if True: from used import a",
        '"""One must\nimport this: it is prose."""\nimport used',
        "from .used import a",
    ],
)  # fmt: skip
def test_the_closure_sees_an_import_however_it_is_written(line, tmp_path):
    indented = "def later():\n" if line.startswith(" ") else ""
    (tmp_path / "user.py").write_text(f'"""Says import too."""\n{indented}{line}\n')
    (tmp_path / "used.py").write_text("a = b = 1\n")
    assert jit.import_closure(tmp_path / "user.py") == (tmp_path / "used.py", tmp_path / "user.py")


def test_the_closure_reads_a_file_in_its_own_encoding(tmp_path):
    (tmp_path / "user.py").write_bytes("# -*- coding: latin-1 -*-\n# é\nimport used\n".encode("latin-1"))
    (tmp_path / "used.py").write_text("")
    assert len(jit.import_closure(tmp_path / "user.py")) == 2


@compiled
def test_a_kernel_called_from_python_is_a_type_error():
    from palpate.dynamics.aba import aba

    with pytest.raises(TypeError, match="only compiled code can call it"):
        aba(1, 2, 3)


@compiled
def test_a_kernel_that_allocates_does_not_compile():
    @jit.kernel
    def greedy(n):
        return np.zeros(n)[0]

    @jit.entry("intp")
    def door(n):
        return greedy(n)

    jit.entries.remove(door)
    with pytest.raises(Exception, match=r"NRT required|Only accept returning of array"):
        door(3)


def test_an_entry_refuses_other_types_instead_of_compiling_again():
    model = pp.compile(pp.models.puma560())
    pp.mass_matrix(model, model.neutral())
    with pytest.raises(TypeError, match=r"mass_matrix_entry takes|No matching definition"):
        entries.mass_matrix_entry(0, np.zeros(6, dtype=int), np.zeros((6, 6)))
    if not jit.DISABLED:
        assert all(len(e.overloads) <= 1 for e in jit.entries)


@compiled
def test_the_dynamics_allocate_nothing():
    code = """
        import numpy as np, palpate as pp
        from palpate.bench.loops import forward_loop, inverse_loop
        from palpate.dynamics.workspace import address_of
        from palpate.jit import allocations
        model = pp.compile(pp.models.human())
        q, v = np.array([model.neutral()] * 2), np.ones((2, model.nv))
        out, none = np.empty((2, model.nv)), np.zeros((0, 6))
        def spent(loop, n):
            before = allocations()
            loop(address_of(model), q, v, v, none, out, n)
            return allocations() - before
        for loop in (forward_loop, inverse_loop):
            spent(loop, 1)
            print(spent(loop, 1) == spent(loop, 1000), end=" ")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True,
                          env=os.environ | {"NUMBA_NRT_STATS": "1"})  # fmt: skip
    assert done.stdout.split() == ["True", "True"], done.stderr


@compiled
def test_the_first_compilation_says_so_and_how_long_it_took(package):
    done = python(RUN, package, PALPATE_QUIET="")
    assert "palpate: compiling run for this machine, once: 2 kernels" in done.stderr
    assert python(RUN, package).stderr == ""  # the second start has nothing to say


@compiled
def test_nan_survives_the_fast_arithmetic():
    @jit.entry("float64")
    def is_nan(x):
        return np.isnan(x + 1.0)

    jit.entries.remove(is_nan)
    assert is_nan(float("nan"))
    assert not is_nan(1.0)


@compiled
def test_kernels_never_ask_math_isfinite():
    """It is always true under our fast arithmetic; `spatial.vectors.is_finite` is not."""
    package = Path(pp.__file__).parent
    for file in [*package.glob("spatial/*.py"), *package.glob("dynamics/*.py"), *package.glob("runtime/*.py"),
                 *package.glob("haptics/*.py"), *package.glob("control/*.py")]:  # fmt: skip
        text = file.read_text()
        if "@kernel" in text or "@entry" in text:
            assert "math.isfinite(" not in text, file


def test_settings_of_functions_are_equal_as_numba_has_them():
    """Random pairs, with defaults said and unsaid: equal where all values are, and then with one hash."""
    from numba.core.compiler import Flags

    rng = np.random.default_rng(0)
    names = [name for name, option in Flags.options.items() if option.type is bool]
    equal = 0
    for _ in range(2000):
        pair = [Flags(), Flags()]
        for name in rng.choice(names, size=3):
            for flags in pair:
                if rng.random() < 0.7:
                    setattr(flags, name, bool(rng.random() < 0.2) != Flags.options[name].default)
        a, b = pair
        assert (a == b) == (a.values() == b.values())
        assert (a != b) == (a.values() != b.values())
        if a == b:
            equal += 1
            assert hash(a) == hash(b)
    assert 100 < equal < 1900
    assert Flags() != "flags"
