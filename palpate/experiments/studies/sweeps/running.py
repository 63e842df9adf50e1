"""Chunks of tasks go out, outcomes come in: on any Executor, whatever becomes of a task.

Tasks that fail are outcomes of their own.  A chunk whose worker died comes back as an exception.  If the worker's note
says which task it was, that one is a suspect, and the others go out again; if not, all of them are suspects.  Suspects
go out one by one while nothing else runs: who dies alone has died.  A task that hung is not tried again.  Executors
that break as a whole are opened anew.

The first task goes out alone: it compiles what is not in the cache yet, and the others find it there.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import suppress
from itertools import islice
from pathlib import Path

from palpate.experiments.studies.sweeps.executors import workers_of
from palpate.experiments.studies.sweeps.plan import Task
from palpate.experiments.studies.sweeps.task import DIED, HUNG, Job, Note, Outcome, process_name, read_note, run_chunk

CHUNK_S = 0.25  # how long a chunk should take: long beside its way, short beside a person's patience
LONGEST_CHUNK = 512  # tasks
WAITING = 2  # chunks for each worker, of which one waits
POLL_S = 0.1

Take = Callable[[list[Outcome]], None]


class Runner:
    """Runs tasks on what `open_executor` makes; `take` hears of every outcome, `beat` ten times a second."""

    def __init__(self, job: Job, open_executor: Callable[[], Executor], take: Take, beat: Callable[[], None]) -> None:
        self.job, self.open_executor, self.take, self.beat = job, open_executor, take, beat
        self.executor = open_executor()
        self.queue: Iterator[Task] = iter(())
        self.back: deque[Task] = deque()  # went out in vain, and are not to blame
        self.suspects: deque[Task] = deque()
        self.out: dict[Future[list[Outcome]], tuple[Task, ...]] = {}
        self.alone = False  # a suspect is out
        self.mean_s = CHUNK_S  # of a task, of late

    def run(self, tasks: Iterable[Task], count: int, warm: bool) -> None:
        """All of them; `warm`: kernels are known to be compiled.  Ends its workers, however it ends."""
        self.queue, left = iter(tasks), count
        try:
            self._send(tuple(islice(self.queue, 1)))
            left -= 1
            if not warm:
                self._await()
            while True:
                while self._room() and (chunk := self._chunk(left)):
                    left -= len(chunk)
                    self._send(chunk)
                if not self.out:
                    return
                self._await()
        finally:
            self.executor.shutdown(wait=True, cancel_futures=True)

    # ---- going out

    def _room(self) -> bool:
        if self.suspects or self.alone:
            return not self.out
        return len(self.out) < WAITING * workers_of(self.executor)

    def _chunk(self, left: int) -> tuple[Task, ...]:
        if self.suspects:
            self.alone = True
            return (self.suspects.popleft(),)
        self.alone = False
        share = (left + len(self.back)) // (WAITING * workers_of(self.executor))  # towards the end all have something
        size = max(1, min(int(CHUNK_S / max(self.mean_s, 1e-6)), LONGEST_CHUNK, share))
        chunk = [self.back.popleft() for _ in range(min(size, len(self.back)))]
        chunk += islice(self.queue, size - len(chunk))
        return tuple(chunk)

    def _send(self, chunk: tuple[Task, ...]) -> None:
        if not chunk:
            return
        try:
            future = self.executor.submit(run_chunk, self.job, chunk)
        except BrokenExecutor:
            self._reopen()
            future = self.executor.submit(run_chunk, self.job, chunk)
        self.out[future] = chunk

    # ---- coming in

    def _await(self) -> None:
        """Until something came in, or a moment has passed."""
        while self.out:
            done, _ = wait(self.out, timeout=POLL_S, return_when=FIRST_COMPLETED)
            for future in done:
                if future in self.out:  # else it broke together with another one
                    self._come(future, self.out.pop(future))
            self.beat()
            if done:
                return

    def _come(self, future: Future[list[Outcome]], chunk: tuple[Task, ...]) -> None:
        try:
            outcomes = future.result()
        except BrokenExecutor as error:
            self._blame(chunk, error)
            self._reopen()
        except CancelledError:  # by a cluster that had to: nobody is to blame
            self.back.extend(chunk)
        except Exception as error:
            self._blame(chunk, error)
        else:
            self.mean_s += 0.3 * (sum(o.seconds for o in outcomes) / len(outcomes) - self.mean_s)
            self.take(outcomes)

    def _blame(self, chunk: tuple[Task, ...], error: Exception) -> None:
        notes = self._notes(error)
        hung = [(task, notes[task.key]) for task in chunk if task.key in notes and notes[task.key].hung]
        for task, note in hung:
            place = f", in {note.where}" if note.where else ""
            self.take(
                [Outcome(task, HUNG, {}, f"took longer than {self.job.timeout_s:g} s{place}", self.job.timeout_s)]
            )
        rest = [task for task in chunk if task not in [t for t, _ in hung]]
        if not hung and self.alone:
            self.take([Outcome(task, DIED, {}, _one_line(error), 0.0) for task in rest])
        elif hung:
            self.back.extend(rest)
        else:
            pid = getattr(error, "pid", None)
            known = pid is not None and any(task.key in notes for task in rest)
            for task in rest:
                (self.suspects if not known or task.key in notes else self.back).append(task)

    def _notes(self, error: Exception) -> dict[str, Note]:
        """By key: the note of the worker that died, if that is known; else of all."""
        pid = getattr(error, "pid", None)
        folder = Path(self.job.notes)
        paths = [folder / process_name(pid)] if pid is not None else list(folder.iterdir())
        found = {}
        for path in paths:
            if (note := read_note(path)) is not None and (pid is not None or note.hung):
                found[note.key] = note
                with suppress(OSError):
                    os.unlink(path)
        return found

    def _reopen(self) -> None:
        """The executor is broken: everything that is out in it fails as well."""
        broken, out = self.executor, dict(self.out)
        self.out.clear()
        for future, chunk in out.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                self.take(future.result())
            else:
                self.suspects.extend(chunk)
        broken.shutdown(wait=False, cancel_futures=True)
        self.executor = self.open_executor()


def _one_line(error: Exception) -> str:
    """Its first sentence: those of clusters go on for long."""
    return " ".join(f"{type(error).__name__}: {error}".split()).partition(". ")[0]


def job_for(function: str, path: Iterable[str], timeout_s: float, notes: Path, recordings: Path | None) -> Job:
    """A job that is at home in this process."""
    return Job(function, tuple(path), timeout_s, str(notes), process_name(), str(recordings or ""))
