"""What is left to compile, and for how long: one estimate, for the terminal and for pages."""

import random
from dataclasses import dataclass

import pytest

from palpate import jit
from palpate.jit.starts.remaining import SECONDS, Remaining

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="nothing is compiled")


@dataclass
class Fake:
    """Something to compile."""

    name: str
    seconds: float
    done: bool = False


class Compiler:
    """Processes that compile, the first from the front and the others from the end, by a clock of their own."""

    def __init__(self, parts: list[Fake], processes: int, slowness: float) -> None:
        self.now, self.parts, self.processes, self.slowness = 0.0, parts, processes, slowness
        self.remaining = Remaining(parts, processes, clock=lambda: self.now)
        self.work: dict[int, list] = {}  # [what, when it is done] of each process

    def end(self, step_s: float = 0.1):
        """Looks until all is compiled: (time, what is said)."""
        said = [(0.0, self.remaining.look())]
        while not all(part.done for part in self.parts):
            for k in range(self.processes):
                part, until = self.work.get(k, (None, 0.0))
                if part is not None and self.now >= until:
                    part.done = True
                if part is None or part.done:
                    taken = [each for each, _ in self.work.values() if not each.done]
                    free = [each for each in self.parts if not each.done and each not in taken]
                    if free:
                        part = free[0 if k == 0 else -1]
                        self.work[k] = [part, self.now + self.slowness * part.seconds]
            self.now += step_s
            said.append((self.now, self.remaining.look()))
        return said


def parts(rng: random.Random, n: int = 50) -> list[Fake]:
    return [Fake(f"part.{k}", rng.choice([0.5, 0.5, 0.5, 2.0, 5.0])) for k in range(n)] + [Fake("part.long", 20.0)]


@pytest.mark.parametrize("processes", [1, 2, 4])
@pytest.mark.parametrize("slowness", [0.5, 1.0, 4.0])
def test_halfway_the_end_is_foreseen_whatever_the_machine(processes, slowness):
    compiler = Compiler(parts(random.Random(processes)), processes, slowness)
    said = compiler.end()
    end = said[-1][0]
    for now, left in said[len(said) // 2 :]:
        assert abs(now + left.seconds - end) < 0.3 * end


def test_what_is_done_only_grows_and_the_first_that_is_not_is_named():
    compiler = Compiler(parts(random.Random(1)), 2, 1.0)
    said = [left for _, left in compiler.end()]
    assert [left.done for left in said] == sorted(left.done for left in said)
    assert (said[0].what, said[0].done, said[0].of) == ("part.0", 0, 51)
    assert (said[-1].what, said[-1].done, said[-1].seconds) == ("", 51, 0.0)


def test_as_long_as_something_is_left_so_is_some_time():
    compiler = Compiler(parts(random.Random(2)), 2, 30.0)  # far slower than anybody thought
    assert all(left.seconds >= 1.0 for _, left in compiler.end(1.0) if left.done < left.of)


def test_what_is_said_to_take_long_exists():
    """A function that was renamed would count as one that takes half a second."""
    from palpate.jit.routines import routines
    from palpate.jit.shared import all_shared
    from palpate.jit.starts.remaining import Function
    from palpate.runtime.page import early as early_page

    assert early_page.SESSION
    assert set(SECONDS) <= {Function(each).name for each in (*all_shared, *routines, *jit.entries)}
