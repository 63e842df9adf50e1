"""The compiler, in one place: its decorators, blocks of arrays, and a cache that notices every edit.

kernel   compiled code that only compiled code calls.  It has no Python wrapper (half the compile time), so a call
         from Python would crash the process; here it is a TypeError.
entry    the few functions Python calls, each of one signature: the address of a Block and a few float64 arrays.
Block    the descriptors of many arrays in one piece of memory, so that a call passes one address instead of fifty arrays.

Numba's own cache looks only at the file a function stands in.  Ours stamps it with a digest of that file and of
everything it imports from its package, and keeps builds with other flags (bounds checks, versions) in other folders:
an edit anywhere is seen, and a checked build never mixes with a fast one.

This is the only file that imports numba.  With NUMBA_DISABLE_JIT=1 both decorators return the plain function.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import numba
import numpy as np
from numba import extending
from numba.core import caching, event, registry, types

F = TypeVar("F", bound=Callable[..., Any])

DISABLED: bool = bool(numba.config.DISABLE_JIT)

# Contraction and reassociation let LLVM use FMA and SIMD; "nnan"/"ninf" are left out because they make isnan() false.
FASTMATH = frozenset({"contract", "reassoc", "nsz", "arcp"})

# Settings of numba that change the machine code it emits.
_FLAGS = (
    "BOUNDSCHECK",
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "ENABLE_AVX",
    "CPU_NAME",
    "CPU_FEATURES",
    "DEBUGINFO_DEFAULT",
    "DEBUG_NRT",
)


# --- the cache -------------------------------------------------------------------------------------------------------


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


@functools.cache
def cache_dir() -> Path | None:
    """Where compiled kernels are kept, or None when nothing is writable (then every start compiles).

    PALPATE_CACHE_DIR, else the user's cache folder, else the temporary folder; below it one folder for each
    combination of versions and flags.
    """
    versions = f"numba{numba.__version__}-llvmlite{llvmlite.__version__}-py{sys.version_info[0]}{sys.version_info[1]}"
    flags = repr([(name, getattr(numba.config, name, None)) for name in _FLAGS]) + repr(sorted(FASTMATH))
    checked = "-boundscheck" if numba.config.BOUNDSCHECK else ""
    build = f"{versions}{checked}-{hashlib.sha256(flags.encode()).hexdigest()[:8]}"
    chosen = os.environ.get("PALPATE_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    temporary = Path(tempfile.gettempdir()) / f"palpate-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"
    for root in [Path(chosen)] if chosen else [Path(home) / "palpate", temporary]:
        if _writable(root / build):
            return root / build
    return None


@functools.cache
def _imported_names(file: Path) -> tuple[tuple[int, str, tuple[str, ...]], ...]:
    """(level, module, names) of every import statement in a file."""
    found = []
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            found += [(0, alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append((node.level, node.module or "", tuple(alias.name for alias in node.names)))
    return tuple(found)


def _package_root(file: Path) -> Path:
    """The folder that the file's absolute imports start from: above its outermost package."""
    folder = file.parent
    while (folder / "__init__.py").exists():
        folder = folder.parent
    return folder


def _module_file(base: Path) -> Path | None:
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def _imported_files(file: Path) -> Iterator[Path]:
    """Files that `file` imports from its own package (or, for a script, its own folder) and from palpate."""
    root = _package_root(file)
    package = file.relative_to(root).parts[0] if file.parent != root else None
    for level, module, names in _imported_names(file):
        parts = module.split(".") if module else []
        if level:
            base = file.parents[level - 1].joinpath(*parts)
        elif parts[0] == "palpate":
            base = Path(__file__).parent.parent.joinpath(*parts)
        elif package is None or parts[0] == package:
            base = root.joinpath(*parts)
        else:
            continue
        submodules = [_module_file(base / name) for name in names]
        yield from (s for s in submodules if s)
        # the package's own __init__ counts only where a name comes from it and not from a submodule
        if (not names or not all(submodules)) and (own := _module_file(base)):
            yield own


@functools.cache
def import_closure(file: Path) -> tuple[Path, ...]:
    """The file and every file it reaches by imports within its package and palpate, sorted."""
    seen, stack = {file}, [file]
    while stack:
        new = set(_imported_files(stack.pop())) - seen
        seen |= new
        stack += new
    return tuple(sorted(seen))


@functools.cache
def _source_stamp(file: Path) -> str:
    digest = hashlib.sha256()
    for member in import_closure(file):
        digest.update(str(member).encode() + b"\0" + member.read_bytes() + b"\0")
    return digest.hexdigest()


class _Locator(caching._CacheLocator):  # type: ignore[misc]
    """Tells numba's cache where to keep a function and when what it kept is stale."""

    def __init__(self, file: Path, line: int) -> None:
        self._file, self._line = file, line

    def get_cache_path(self) -> str:
        folder = cache_dir()
        assert folder is not None
        return str(folder / self.get_suitable_cache_subpath(str(self._file)))

    def get_source_stamp(self) -> str:
        return _source_stamp(self._file)

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Locator | None:
        file = Path(py_file)
        if cache_dir() is None or not file.exists():  # no folder, or typed at a prompt
            return None
        locator = cls(file.resolve(), py_func.__code__.co_firstlineno)
        locator.ensure_cache_path()
        return locator


class _CacheImpl(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class _Cache(caching.FunctionCache):  # type: ignore[misc]
    _impl_class = _CacheImpl


# --- the decorators --------------------------------------------------------------------------------------------------


class _Dispatcher(registry.CPUDispatcher):
    def enable_caching(self) -> None:
        if _Locator.from_function(self.py_func, self.py_func.__code__.co_filename) is not None:
            self._cache = _Cache(self.py_func)


class _Kernel(_Dispatcher):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            f"{self.py_func.__module__}.{self.py_func.__name__} is a kernel: only compiled code can call it "
            "(decorate it with @entry to call it from Python)"
        )


class _Entry(_Dispatcher):
    """Has one signature: another type of argument is a TypeError, never a silent second compilation."""

    declared: str

    def warm(self) -> None:
        """Compile, or load from the cache, ahead of the first call."""
        if not self.overloads:
            self.compile(self.declared)
            self.disable_compile()

    def _compile_for_args(self, *args: Any, **kwargs: Any) -> Any:
        # numba calls this when no compiled version fits the arguments, and then calls what it returns
        self.warm()
        given = self.overloads.get(tuple(map(self.typeof_pyval, args)))
        if given is None:
            raise TypeError(f"{self.py_func.__name__} takes {self.declared}")
        return given.entry_point


entries: list[_Entry] = []  # all that are imported, for `palpate doctor --warm`


def _compiled(function: Callable[..., Any], dispatcher: type[_Dispatcher], fastmath: frozenset[str]) -> Any:
    options = {
        "nopython": True, "nogil": True, "boundscheck": None, "error_model": "numpy", "fastmath": set(fastmath),
        "no_cfunc_wrapper": True, "_nrt": False,
    }  # fmt: skip
    if dispatcher is _Kernel:
        options |= {"no_cpython_wrapper": True, "forceinline": True}
    compiled = dispatcher(py_func=function, targetoptions=options)
    compiled.enable_caching()
    return compiled


def kernel(function: F) -> F:
    """Compile for compiled callers only; always inlined, releases the GIL.

    Without numba's runtime: a kernel that allocates does not compile, and arrays passed to it cost no counting of
    references (atomic operations that took three quarters of the time of a forward dynamics, measured).
    """
    return function if DISABLED else _compiled(function, _Kernel, FASTMATH)


def exact_kernel(function: F) -> F:
    """A kernel whose sums are done in the order written, for code that works at the last bit of a float."""
    return function if DISABLED else _compiled(function, _Kernel, FASTMATH - {"reassoc", "arcp"})


def entry(signature: str) -> Callable[[F], F]:
    """Compile a door from Python, of one signature in numba's notation; releases the GIL.

    "intp, float64[::1]" takes a Block's address and a contiguous vector; anything else is a TypeError at once.
    """

    def decorate(function: F) -> F:
        if DISABLED:
            return _checked(function, signature)
        compiled = _compiled(function, _Entry, FASTMATH)
        compiled.declared = f"({signature})"
        entries.append(compiled)
        return compiled  # type: ignore[no-any-return]

    return decorate


def _checked(function: F, signature: str) -> F:
    """The plain function with the entry's refusal of other types, for runs without the compiler."""
    kinds = re.findall(r"(\w+)(\[[^\]]*\])?", signature)

    @functools.wraps(function)
    def refusing(*args: Any) -> Any:
        for value, (name, dims) in zip(args, kinds, strict=True):
            if dims and not (
                isinstance(value, np.ndarray)
                and value.dtype == name
                and value.ndim == dims.count(":") - dims.count("::")
                and value.flags.c_contiguous
                and value.flags.writeable
            ):
                raise TypeError(f"{function.__name__} takes ({signature})")
        return function(*args)

    return refusing  # type: ignore[return-value]


# --- blocks of arrays ------------------------------------------------------------------------------------------------


class Block:
    """NamedTuples of arrays whose descriptors lie in one piece of memory: compiled code gets them all from `address`.

    A call then unpacks one integer instead of fifty arrays.  Whoever passes the address keeps the Block alive.
    """

    def __init__(self, *parts: Any) -> None:
        self.parts = parts
        self.address: Any = parts
        if not DISABLED:
            words = [word for part in parts for x in part for word in _descriptor(x)]
            self._memory = np.array(words, dtype=np.int64)
            self.address = self._memory.ctypes.data


def _descriptor(x: Any) -> tuple[int, ...]:
    """A value as compiled code lays it out; arrays: owner (2, none), items, item size, data, shape, strides."""
    if isinstance(x, np.ndarray):
        return (0, 0, x.size, x.itemsize, x.ctypes.data, *x.shape, *x.strides)
    return (int(x),)


def block_loader(*layouts: tuple[type, bool]) -> Any:
    """load(address) -> the NamedTuples of a Block, in compiled code.

    Each layout is a NamedTuple class and whether its arrays are read-only; its fields are annotated with the names
    Floats1, Floats2 (float64 of that many dimensions), Ints1 (int64) or int.
    """
    if DISABLED:
        return lambda address: address
    block = types.Tuple(tuple(_named_tuple_type(layout, readonly) for layout, readonly in layouts))

    @extending.intrinsic
    def load(typingctx, address):
        def codegen(context, builder, signature, args):
            return builder.load(builder.inttoptr(args[0], context.get_value_type(block).as_pointer()))

        return block(types.intp), codegen

    return load


def _named_tuple_type(layout: type, readonly: bool) -> Any:
    known = {"Floats1": (types.float64, 1), "Floats2": (types.float64, 2), "Ints1": (types.int64, 1)}
    fields = []
    for annotation in layout.__annotations__.values():
        name = getattr(annotation, "__forward_arg__", annotation)  # NamedTuple wraps the names
        fields.append(types.int64 if name == "int" else types.Array(*known[name], "C", readonly=readonly))
    return types.NamedTuple(fields, layout)


# --- what the first start says ---------------------------------------------------------------------------------------


class _Progress(event.Listener):  # type: ignore[misc]
    """Says on stderr that an entry is being compiled, how many kernels it took and how long."""

    def __init__(self) -> None:
        self.depth = self.count = 0
        self.began = 0.0
        self.listener: Callable[[str, int, float, bool], None] | None = None

    def on_start(self, event: Any) -> None:
        if isinstance(event.data["dispatcher"], _Dispatcher):
            if self.depth == 0:
                self.count, self.began, self.name = 0, time.perf_counter(), event.data["dispatcher"].__name__
            self.depth += 1
            self._say(done=False)

    def on_end(self, event: Any) -> None:
        if isinstance(event.data["dispatcher"], _Dispatcher):
            self.depth -= 1
            self.count += 1
            self._say(done=self.depth == 0)

    def _say(self, done: bool) -> None:
        seconds = time.perf_counter() - self.began
        if self.listener is not None:
            self.listener(self.name, self.count, seconds, done)
        elif not os.environ.get("PALPATE_QUIET"):
            live = sys.stderr.isatty()
            text = f"palpate: compiling {self.name} for this machine, once: {self.count} kernels, {seconds:.1f} s"
            if done or live:
                print(text, end="\n" if done else "\r", file=sys.stderr, flush=True)


_progress = _Progress()
if not DISABLED:
    event.register("numba:compile", _progress)


@contextmanager
def compile_listener(listener: Callable[[str, int, float, bool], None]) -> Iterator[None]:
    """While inside, `listener(entry, kernels_so_far, seconds, done)` hears of compilation instead of stderr."""
    before, _progress.listener = _progress.listener, listener
    try:
        yield
    finally:
        _progress.listener = before


def allocations() -> int:
    """Arrays allocated by compiled code so far; needs NUMBA_NRT_STATS=1 in the environment."""
    from numba.core.runtime import rtsys

    return int(rtsys.get_allocation_stats().alloc)
