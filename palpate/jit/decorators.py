"""kernel, exact_kernel, stage and entry: how functions are compiled, and by whom they may be called."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any, TypeVar

import numba
import numpy as np
from numba import extending
from numba.core import imputils, registry, types
from numba.core.typing import make_concrete_template

from palpate.jit.cache.functions import FunctionCache
from palpate.jit.cache.turns import in_turn
from palpate.jit.compiler import items, sooner  # noqa: F401  how numba compiles, from here on
from palpate.jit.compiler.flags import FASTMATH
from palpate.jit.compiler.narrow import NarrowCompiler
from palpate.jit.compiler.parts import PartCompiler

F = TypeVar("F", bound=Callable[..., Any])

DISABLED: bool = bool(numba.config.DISABLE_JIT)
# of everything compiled here
OPTIONS: dict[str, Any] = {
    "nopython": True, "nogil": True, "boundscheck": None, "error_model": "numpy", "fastmath": set(FASTMATH),
    "_nrt": False,
}  # fmt: skip


class Dispatcher(registry.CPUDispatcher):
    _cached = False

    def enable_caching(self) -> None:
        """Not before it is needed: a start from the cache loads a few entries, and no kernel that is part of them."""
        if not self._cached:
            self._cache, self._cached = FunctionCache.of(self.py_func), True

    def compile(self, signature: Any) -> Any:
        self.enable_caching()
        return super().compile(signature)


class KernelType(types.Dispatcher):
    """Of kernels in compiled code, where they are called and nothing else."""


extending.register_model(KernelType)(extending.models.OpaqueModel)


@imputils.lower_constant(KernelType)
def _no_value(context: Any, builder: Any, kind: Any, function: Any) -> Any:
    return context.get_dummy_value()  # not its address, which could not be kept


class Kernel(Dispatcher):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._type = self._numba_type_
        self.typingctx._remove_global(self)  # a Dispatcher's
        self.typingctx.insert_global(self, self._type)
        self._templates: dict[tuple[Any, ...], Any] = {}  # by the types of arguments

    @property
    def _numba_type_(self) -> Any:
        return KernelType(self)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        # 0 and 1 as arguments are one type, not two: or each literal would be a compilation of its own
        given = (tuple(map(types.unliteral, args)), tuple(kws.items()))
        if given not in self._templates:
            _, python, folded, _ = super().get_call_template(given[0], kws)
            name, fitting = self.py_func.__name__, [self.overloads[tuple(folded)].signature]
            template = make_concrete_template(f"CallTemplate({name})", key=name, signatures=fitting)
            self._templates[given] = template, python, folded, {}
        return self._templates[given]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            f"{self.py_func.__module__}.{self.py_func.__name__} is a kernel: only compiled code can call it "
            "(decorate it with @entry to call it from Python)"
        )


class Entry(Dispatcher):
    """Has one signature: another type of argument is a TypeError, never a silent second compilation."""

    declared: str

    def compile(self, signature: Any) -> Any:
        with in_turn():
            return super().compile(signature)

    def warm(self) -> None:
        """Compile, or load from the cache, ahead of the first call."""
        if not self.overloads:
            with ExitStack() as stack:
                for around in around_entries:
                    stack.enter_context(around(self.py_func))
                self.compile(self.declared)
            self.disable_compile()

    def _compile_for_args(self, *args: Any, **kwargs: Any) -> Any:
        # numba calls this when no compiled version fits the arguments, and then calls what it returns
        self.warm()
        given = self.overloads.get(tuple(map(self.typeof_pyval, args)))
        if given is None:
            raise TypeError(f"{self.py_func.__name__} takes {self.declared}")
        return given.entry_point


around_entries: list[Callable[..., AbstractContextManager[None]]] = []  # what is done around compiling an entry
entries: list[Entry] = []  # all that are imported, for `palpate doctor --warm`


def _compiled(
    function: Callable[..., Any], dispatcher: type[Dispatcher], fastmath: frozenset[str], inline: bool = True
) -> Any:
    options = OPTIONS | {"fastmath": set(fastmath), "no_cfunc_wrapper": True}
    if dispatcher is Kernel:
        options |= {"no_cpython_wrapper": True, "forceinline": inline}
    pipeline = PartCompiler if dispatcher is Kernel else NarrowCompiler
    return dispatcher(py_func=function, targetoptions=options, pipeline_class=pipeline)


def kernel(function: F) -> F:
    """Compile for compiled callers only; always inlined, releases the GIL.

    Without numba's runtime: a kernel that allocates does not compile, and arrays passed to it cost no counting of
    references (atomic operations that took three quarters of the time of a forward dynamics, measured).
    """
    return function if DISABLED else _compiled(function, Kernel, FASTMATH)


def exact_kernel(function: F) -> F:
    """A kernel whose sums are done in the order written, for code that works at the last bit of a float."""
    return function if DISABLED else _compiled(function, Kernel, FASTMATH - {"reassoc", "arcp"})


def stage(function: F) -> F:
    """A kernel that stays a function of its own: for big pieces that are called rarely or from several places.

    Inlining everything makes one function that takes a minute to compile.  Arrays are costly to hand over, so a stage
    takes a Block's address and a few numbers, and loads what it needs.
    """
    return function if DISABLED else _compiled(function, Kernel, FASTMATH, inline=False)


def entry(signature: str) -> Callable[[F], F]:
    """Compile a door from Python, of one signature in numba's notation; releases the GIL.

    "intp, float64[::1]" takes a Block's address and a contiguous vector; anything else is a TypeError at once.
    """

    def decorate(function: F) -> F:
        if DISABLED:
            return _checked(function, signature)
        compiled = _compiled(function, Entry, FASTMATH)
        compiled.declared = f"({signature},)"
        entries.append(compiled)
        return compiled

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


def warm(function: Any) -> None:
    """Compile an entry, or load it from the cache, before it is needed."""
    if not DISABLED:
        function.warm()


def allocations() -> int:
    """Arrays allocated by compiled code so far; needs NUMBA_NRT_STATS=1 in the environment."""
    from numba.core.runtime import rtsys

    rtsys.initialize(registry.cpu_target.target_context)  # kernels do without the runtime, so nobody else started it
    return int(rtsys.get_allocation_stats().alloc)
