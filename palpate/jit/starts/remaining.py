"""What is left to compile before entries can run: which functions, how many, and about how long it will take.

One estimate, for the terminal and for the page.  A function is done when this process has it, or when its file has come
into the cache: then another process made it (ahead.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from numba.core import registry, sigutils, typing

from palpate.jit.cache.functions import FunctionCache
from palpate.jit.decorators import Entry, entries
from palpate.jit.routines import Routine, routines
from palpate.jit.shared import Shared, reached_by

# What takes longer to compile than most [s], on one core of the machine where it was measured.  Another machine is
# faster or slower by some factor, which is found out on the way.
SECONDS = {
    "haptics.reach": 3.3, "dynamics.inverse_kinematics_entry": 2.7, "control.guide": 2.7, "world.fly": 2.4,
    "contact.solve": 1.9, "world.blows": 1.9, "runtime.tick_world": 1.8, "contact.admm": 1.7,
    "world.prepare_rows": 1.3, "world.fall_asleep": 1.3, "world.put_rows": 1.2, "contact.newton": 1.2,
    "runtime.take_guide": 1.1, "world.accelerate": 1.0, "world.move": 1.0, "collision.detect": 1.0,
    "runtime.restart_world": 0.9, "collision.epa": 0.9, "contact.analyse": 0.9, "world.rouse": 0.9,
    "contact.project_positions": 0.8, "collision.corners": 0.8, "contact.sweeps": 0.7, "collision.gjk": 0.6,
    "contact.factor": 0.6, "dynamics.mass_matrix_entry": 0.6, "servo.servo_loop": 0.6, "world.leave_stiff": 0.5,
    "world.one_step": 0.5, "world.add_joint_row": 0.5,
}  # fmt: skip
USUAL_S = 0.25  # of the others
SURE_S = 3.0  # of parts that were compiled, after which their times count more than SECONDS


class Part(Protocol):
    """Something to compile: its name, about how long it takes [s], and whether it is done."""

    name: str
    seconds: float

    @property
    def done(self) -> bool: ...


Compiled = Shared | Routine | Entry


class Function:
    """A shared function, a routine or an entry, as a Part."""

    def __init__(self, compiled: Compiled) -> None:
        self._compiled, context = compiled, registry.cpu_target.target_context
        python, signature = python_of(compiled), signature_of(compiled)
        self.name = f"{python.__module__.removeprefix('palpate.').partition('.')[0]}.{python.__name__}"
        self.seconds = SECONDS.get(self.name, USUAL_S)
        cache = FunctionCache.of(python)
        self._file = cache.file(signature, context) if isinstance(cache, FunctionCache) else None
        self.was_cached = isinstance(cache, FunctionCache) and cache.content(signature, context) is not None
        self._before = self._written()

    @property
    def was_written(self) -> bool:
        """Whether the user's cache had a file of it at first, of this source or an older one."""
        return self._before != 0

    def _written(self) -> int:
        """When its file was [ns]; 0: there is none."""
        try:
            return self._file.stat().st_mtime_ns if self._file else 0
        except OSError:
            return 0

    @property
    def done(self) -> bool:
        compiled = self._compiled
        if isinstance(compiled, Entry):
            here = bool(compiled.overloads)
        else:
            here = compiled.callback is not None if isinstance(compiled, Shared) else compiled.is_compiled
        return here or self._written() not in (0, self._before)  # before: of an older source


def python_of(compiled: Compiled) -> Callable[..., Any]:
    """The function that is compiled."""
    function: Callable[..., Any] = compiled.py_func if isinstance(compiled, Entry) else compiled.function
    return function


def signature_of(compiled: Compiled) -> Any:
    """As its file in the cache is named by."""
    if isinstance(compiled, Entry):
        return compiled.declared
    args, returns = sigutils.normalize_signature(compiled.signature)
    return typing.signature(returns, *args)


def _functions(needed: Iterable[Entry | Routine]) -> list[Function]:
    wanted: list[Compiled] = []
    for each in needed:
        wanted += [*reached_by(python_of(each)), each]
    return list(map(Function, {id(each): each for each in wanted}.values()))


def missing(needed: Iterable[Entry | Routine]) -> list[Function]:
    """What entries and routines need and nobody has compiled, in the order in which a process compiles it."""
    return [each for each in _functions(needed) if not each.was_cached]


def not_kept(needed: Iterable[Entry | Routine]) -> list[Function]:
    """What of it is not in the user's cache: it may have come with the package."""
    return [each for each in _functions(needed) if not each.was_written]


class Left(NamedTuple):
    """How far the compiler is: what it is at, how many are done, of how many, and for how long it will go on [s]."""

    what: str
    done: int
    of: int
    seconds: float


class Remaining:
    """How much of some parts is left, on which so many processes work: one from the first to the last, others ahead.

    How slow this machine is, is measured by the first, and what the others have done in part is not known: so the end
    is expected when all of them would have done all of it, at that speed, and not before what nobody can have begun.
    """

    def __init__(self, parts: Sequence[Part], processes: int = 1, clock: Callable[[], float] = time.monotonic) -> None:
        self.parts, self._processes, self._clock = list(parts), processes, clock
        self._began = self._since = clock()
        self._at: Part | None = None  # what the first process compiles, since then
        self._took = self._measured = SURE_S  # what it took for parts of so many seconds

    def heard(self, entry: str, *_: object) -> None:
        """A `compile_listener`: an entry that nobody foresaw is being compiled."""
        known = {part.name for part in self.parts}
        if not any(name.endswith(f".{entry}") for name in known):
            doors: list[Any] = [*entries, *routines]
            more = missing(each for each in doors if each.__name__ == entry)
            self.parts = [part for part in more if part.name not in known] + self.parts  # it comes before the others

    def look(self) -> Left:
        """As it is now."""
        parts, now = self.parts, self._clock()
        left = [part for part in parts if not part.done]
        at = left[0] if left else None
        if at is not self._at:
            if self._at is not None and self._at.done:
                self._took += now - self._since
                self._measured += self._at.seconds
            self._at, self._since = at, now
        slowness = self._took / self._measured / self._processes
        untouched = sorted(part.seconds for part in left)[: -self._processes]
        end = slowness * sum(part.seconds for part in parts) - (now - self._began)
        seconds = max(end, slowness * sum(untouched), 1.0) if left else 0.0
        return Left(at.name if at else "", len(parts) - len(left), len(parts), seconds)
