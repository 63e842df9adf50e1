"""shared: kernels that are compiled once and called by their symbol, however many others use them.

A kernel or stage becomes part of every function that calls it, directly or not, and is compiled again with each.  For
the big parts of a step that would be minutes.  A shared function has a C signature and a symbol of its own; callers
only know its name.  Before an entry runs, the shared functions of all files it imports are compiled or loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import llvmlite.binding
from numba.core import ccallback, sigutils, types

from palpate.jit.cache.functions import FunctionCache
from palpate.jit.cache.stamps import import_closure
from palpate.jit.cache.turns import in_turn
from palpate.jit.compiler.narrow import NarrowCompiler
from palpate.jit.decorators import DISABLED, OPTIONS, around_entries
from palpate.jit.starts.garbage import collected_rarely


class Callback(ccallback.CFunc):
    """numba's C function, with our cache."""

    def enable_caching(self) -> None:
        self._cache = FunctionCache.of(self._pyfunc)


_plain: list[Callable[..., Any]] = []  # without the compiler an address is a place in this list, and one


def plain_function(address: int) -> Callable[..., Any]:
    """Without the compiler: the function at an address."""
    return _plain[address - 1]


class CFunction:
    """A Python function, compiled to a C function of one signature that others call by its address."""

    def __init__(self, function: Callable[..., Any], signature: str) -> None:
        self.function, self.signature = function, signature
        self.name = self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def compiled(self) -> Any:
        """Compiled, or loaded from the cache; the symbols of those it calls must be known."""
        signature = sigutils.normalize_signature(self.signature)
        callback = Callback(self.function, signature, {}, dict(OPTIONS), NarrowCompiler)
        callback.enable_caching()
        with in_turn():
            callback.compile()
        return callback

    @cached_property
    def _callback(self) -> Any:
        return self.compiled()

    @cached_property
    def address(self) -> int:
        """Of the compiled function, never 0; valid while this object lives.  The first use compiles or loads it."""
        if DISABLED:
            _plain.append(self.function)
            return len(_plain)
        return int(self._callback.address)


class Shared(CFunction):
    """A function with a symbol, and, once linked, its compiled code."""

    def __init__(self, function: Callable[..., Any], signature: str) -> None:
        super().__init__(function, signature)
        self.file = Path(function.__code__.co_filename).resolve()
        args, returns = sigutils.normalize_signature(signature)
        # what callers see: a name and a signature
        self.symbol = f"{function.__module__}.{function.__name__}".replace(".", "_")
        self.external = types.ExternalFunction(self.symbol, returns(*args))
        self.callback: Any = None

    def link(self) -> None:
        """Compile or load it, and make its symbol known; those it calls must be linked already."""
        if self.callback is None:
            callback = self.compiled()
            llvmlite.binding.add_symbol(self.symbol, callback.address)
            self.callback = callback  # only now: a caller of what did not compile would end the process


all_shared: list[Shared] = []  # in the order of definition: what one calls comes before it


def shared(signature: str) -> Callable[[Callable[..., Any]], Any]:
    """Compile once, for compiled callers only: "int64(intp, float64)", numbers in, one number or void out."""

    def decorate(function: Callable[..., Any]) -> Any:
        if DISABLED:
            return function
        all_shared.append(Shared(function, signature))
        return all_shared[-1].external

    return decorate


def reached_by(function: Callable[..., Any]) -> list[Shared]:
    """The shared functions that a function's file can reach, in the order of definition."""
    file = Path(function.__code__.co_filename)
    reachable = set(import_closure(file.resolve())) if file.exists() else None  # None: typed at a prompt, who knows
    return [each for each in all_shared if reachable is None or each.file in reachable]


@contextmanager
def _linked(function: Callable[..., Any]) -> Iterator[None]:
    """Before an entry is compiled or loaded: every shared function that it may call."""
    with collected_rarely():
        for each in reached_by(function):
            each.link()
        yield


around_entries.append(_linked)
