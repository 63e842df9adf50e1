"""Beside: work that is too slow for a tick, or is Python, in a thread of its own.

A part of the tick writes a request now and then, and takes whatever answer is newest: nobody waits for anybody.  In
simulated time the same work is done between ticks, and its answer counts a stated number of ticks after the request:
so a run is the same every time, however slow the work is.

e  Exchange
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from palpate.jit import Struct, kernel
from palpate.jit.atomics import load_acquire
from palpate.model.model import Floats1, Ints1
from palpate.servo.ring import HEAD, Ring
from palpate.servo.ring_kernels import begin_write, copy_message, end_write

SLOTS = 8
LONGEST_WAIT_S = 0.002  # between two looks for a request

Work = Callable[[np.ndarray], np.ndarray]


class Exchange(Struct):
    """What the tick sees: two mailboxes, and the messages that go through them."""

    epoch: int  # how often it was reset: what was asked before does not count after
    asked_tick: int  # of the newest request
    seen: int  # number of the newest answer
    answered_tick: int  # of the request that the answer is to, -1: none yet
    request: Ints1  # (2 + n,) epoch, tick, and
    request_f: Floats1  # as floats from 2 on what is asked
    answer: Ints1  # (2 + n,) the same of the newest answer
    answer_f: Floats1
    requests: Ints1  # the rings' memory
    answers: Ints1


@kernel
def ask(e, tick):
    """Send e.request."""
    e.request[0], e.request[1], e.asked_tick = e.epoch, tick, tick
    at = begin_write(e.requests)
    for i in range(e.request.shape[0]):
        e.requests[at + i] = e.request[i]
    end_write(e.requests)


@kernel
def take_answer(e):
    """Whether there is a new one, now in e.answer, that was not asked for before a reset."""
    newest = load_acquire(e.answers, HEAD)
    if newest == e.seen or not copy_message(e.answers, newest, e.answer):
        return False
    e.seen = newest
    if e.answer[0] != e.epoch:
        return False
    e.answered_tick = e.answer[1]
    return True


@kernel
def forget(e):
    """A reset."""
    e.epoch += 1
    e.answered_tick = -1


class Beside:
    """Work beside a tick: `work(request (n,)) -> answer (m,)`, in Python, or in compiled code without the GIL.

    every    ticks between two requests;  latency  ticks from a request to its answer, in simulated time
    error    what the work raised; then it is done no more
    """

    def __init__(self, work: Work, n_request: int, n_answer: int, every: int, latency: int, rate_hz: float) -> None:
        if every < 1 or latency < 1:
            raise ValueError("work beside the tick is asked for every 1 or more ticks, and answers 1 or more later")
        self._work, self.every, self.latency = work, every, latency
        self._wait_s = min(0.25 * every / rate_hz, LONGEST_WAIT_S)
        self.requests, self.answers = (Ring.create(SLOTS, 2 + n, shared=False) for n in (n_request, n_answer))
        request, answer = (np.zeros(2 + n, dtype=np.int64) for n in (n_request, n_answer))
        self.exchange = Exchange(
            answered_tick=-1, request=request, request_f=request.view(np.float64), answer=answer,
            answer_f=answer.view(np.float64), requests=self.requests.memory, answers=self.answers.memory,
        )  # fmt: skip
        self._seen = 0
        self._due: list[tuple[int, np.ndarray]] = []  # in simulated time: (tick, answer)
        self.error: Exception | None = None
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def _answer(self) -> np.ndarray | None:
        """To the newest request, if there is a new one."""
        newest = self.requests.newest()
        if newest is None or newest[0] == self._seen:
            return None
        self._seen, request = newest
        x = np.asarray(self._work(request[2:].view(np.float64).copy()), dtype=np.float64)
        if x.shape != (self.answers.words - 2,) or not np.isfinite(x).all():
            raise ValueError(f"it must answer with {self.answers.words - 2} finite numbers, not {x!r:.200}")
        return np.concatenate([request[:2], x.view(np.int64)])

    # ---- simulated time

    def ticks_until_due(self, tick: int) -> int:
        """How many ticks may be done before `serve` is called: up to that which asks, or the last before an answer."""
        return min([-tick % self.every + 1, *(due - tick for due, _ in self._due if due > tick)])

    def serve(self, tick: int) -> None:
        """Before tick number `tick`: do what was asked for, and give what is due."""
        if (answer := self._answer()) is not None:
            self._due.append((int(answer[1]) + self.latency, answer))
        for due, answer in self._due:
            if due <= tick:
                self.answers.write(answer)
        self._due = [(due, answer) for due, answer in self._due if due > tick]

    # ---- real time

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="beside", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stopping.wait(self._wait_s):
            try:
                answer = self._answer()
            except Exception as error:  # whatever a controller of a user's raises: the servo goes on, without it
                self.error = error
                nothing = np.zeros(self.answers.words, dtype=np.int64)
                nothing[:2] = self.exchange.epoch, self.exchange.asked_tick
                self.answers.write(nothing)
                return
            if answer is not None:
                self.answers.write(answer)

    def stop(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
