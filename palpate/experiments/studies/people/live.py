"""A study before a person: a session with its page, which a conductor leads from screen to screen.

A page asks for the screen that is on, and answers it; what it is told says nothing of what is set.  Conditions with
another scene or device have a session of their own, where the page finds it.
"""

from __future__ import annotations

import secrets
import threading
import time
import webbrowser
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from palpate.experiments.studies.people.answers import Answers
from palpate.experiments.studies.people.conduct import Conductor, Screen
from palpate.experiments.studies.people.plan import Condition, Study
from palpate.experiments.studies.people.screening import screened
from palpate.experiments.studies.people.setting import Settable, apply, check_settings, settable
from palpate.runtime.commands import build, default_reach
from palpate.runtime.ending import Ending
from palpate.runtime.link.mirror import DELAY
from palpate.runtime.page.users import address_to_open
from palpate.runtime.runnable import session_of, simulation_of
from palpate.runtime.saying import Say, unfailing
from palpate.runtime.session import Session
from palpate.scenes.any_arm import scene_of
from palpate.scenes.scene import Scene

LONGEST_S = 1e5  # an answer that is said to have taken longer is timed here
BEGIN_S = 10.0  # from a page that listens to a session that runs
TOLD_S = 0.3  # for the page to hear the answer, before its session ends
LINGER_S = 2.0  # the last screen stays before the session ends


class Leading:
    """Answers a page's requests: {"do": "now"} and {"do": "answer", "screen", "value", "response_s"}."""

    def __init__(self, study: Study, conductor: Conductor) -> None:
        self.study, self.conductor = study, conductor
        self.leaving = threading.Event()  # another session is needed, or it is over
        self.session: Session | None = None
        self._can = Settable("", {}, {})
        self._lock = threading.Condition()
        self._turn = 0  # which session it is
        self._gone = False  # this session has nothing more to ask
        self._shown_s = time.monotonic()

    @property
    def condition(self) -> Condition:
        """That of the screen, or of what comes next."""
        screen = self.conductor.screen
        return screen.condition or self.conductor.conditions[self.conductor.block]

    def begin(self, session: Session) -> None:
        """This session has what the condition of the screen needs."""
        with self._lock:
            self.session, self._can = session, settable(session.simulation)
            self.leaving.clear()
            self._gone = False
            self._set(self.conductor.screen)
            self._turn += 1
            self._lock.notify_all()

    def answers(self) -> dict[str, Any]:
        """For the session that is to begin next: what its pages may request."""
        turn = self._turn + 1
        return {"study": lambda request: self.requested(request, turn)}

    def requested(self, request: dict[str, Any], turn: int = 0) -> dict[str, Any]:
        """What a page is told; one that is there before its session has begun waits for it."""
        with self._lock:
            self._lock.wait_for(lambda: self._turn >= turn, BEGIN_S)
            if request.get("do") == "answer":
                self._answered(request)
            return {"screen": self.conductor.screen.told()}

    def _answered(self, request: dict[str, Any]) -> None:
        number, value, took = request.get("screen"), request.get("value"), request.get("response_s")
        if self._gone:
            raise ValueError("the next part is on its way: this session is gone")
        if type(number) is not int:
            raise ValueError("an answer says which screen it is to")
        own_s = time.monotonic() - self._shown_s
        given = took if isinstance(took, (int, float)) and 0.0 <= took <= LONGEST_S else own_s
        before, known = self.conductor.screen, len(self.conductor.answers.done)
        after = self.conductor.answer(number, value, given)
        self._shown_s = time.monotonic()
        for line in self.conductor.answers.done[known:]:
            self.mark(f"study {line['kind']}", line)
        if place_of(self.condition) != self._place or after.kind == "end":
            self._gone = True
            threading.Timer(TOLD_S, self.leaving.set).start()
        elif after is not before:
            self._set(after)

    def _set(self, screen: Screen) -> None:
        """The simulation as the screen wants it; it stands while nothing is to be felt."""
        assert self.session is not None
        self._place = place_of(self.condition)
        if screen.kind != "feel":
            self.session.pause()
            return
        assert screen.condition is not None
        apply(self.session, self._can, self.study, screen.condition, screen.value)
        trial = screen.trial
        self.mark("study feel", {"participant": self.conductor.participant, "condition": screen.condition.name,
                                 "trial": trial.number if trial else 0, "part": screen.part,
                                 "value": screen.value})  # fmt: skip

    def mark(self, text: str, data: dict[str, Any]) -> None:
        """Into the recording, if there is one."""
        session = self.session
        if session is not None and session.recorder is not None:
            session.mark(text, {"participant": self.conductor.participant} | data)


def place_of(condition: Condition) -> tuple[str, str, str]:
    """What needs a session of its own."""
    return condition.scene, condition.device, condition.link


def check_scenes(study: Study) -> None:
    """ValueError unless the scenes of all conditions exist, and have the settings that are set."""
    known: dict[tuple[str, str], Settable] = {}
    for condition in study.conditions:
        place = condition.scene, condition.link
        if place not in known:
            made = simulation_of(build(condition.scene, None))
            known[place] = settable(made, *((DELAY,) if condition.link else ()))
            made.close()
        check_settings(study, condition, known[place])


def conduct(
    study: Study, participant: int, folder: Path, device: str, record: bool, browser: bool, host: str, port: int,
    seconds: float | None, say: Say,
) -> int:  # fmt: skip
    """Lead a participant through a study on the page; an exit code: 0 if all was answered, 1 if not."""
    from palpate.runtime.page.process import Where

    say = unfailing(say)
    check_scenes(study)
    with Ending(seconds) as ending, ExitStack() as stack:
        answers = stack.enter_context(Answers(folder, study, participant))
        conductor = Conductor(study, answers)
        if conductor.resumes_at:
            say(f"participant {participant} goes on at trial {conductor.resumes_at} of {conductor.total}")
        leading, where, first = Leading(study, conductor), Where(host, port, None, secrets.token_urlsafe(16)), True
        while not conductor.is_over() and not ending.over:
            condition = leading.condition
            with ExitStack() as inner:
                session = _session(study, condition, device, folder, participant, record, where, leading, inner, say)
                leading.begin(session)
                assert session.page is not None
                where = session.page.where
                if first:
                    _show(session.url, browser, say)
                first = False
                ending.wait(leading.leaving)
                if conductor.is_over():  # the page shows the last screen
                    ending.wait(_Later(LINGER_S))
    done = sum(line["kind"] == "trial" for line in answers.done)
    say(f"{done} of {conductor.total} trials answered, in {answers.path}"
        f"{'' if conductor.is_over() else '; the same command goes on there'}")  # fmt: skip
    return 0 if conductor.is_over() else 1


def _session(
    study: Study, condition: Condition, device: str, folder: Path, participant: int, record: bool, where: Any,
    leading: Leading, stack: ExitStack, say: Say,
) -> Session:  # fmt: skip
    from palpate.haptics.devices.opening import open_device

    built = build(condition.scene, None)
    name = condition.device or device
    opened = None if name == "pointer" else stack.enter_context(closing(open_device(name)))
    reaching = [(opened, default_reach(built, opened.spec, "pull"))] if opened else []
    options: dict[str, Any] = {
        "page": True, "record": _free(folder, participant) if record else None, "host": where.host, "port": where.port,
        "token": where.token, "say": say, "answers": leading.answers(),
        "tells": lambda hello: screened(study, hello),
    }  # fmt: skip
    if condition.link:
        return stack.enter_context(_linked(condition, built, reaching, options, stack))
    return stack.enter_context(session_of(built, reaching, playing=False, **options))


def _linked(
    condition: Condition, built: Any, reaching: list[Any], options: dict[str, Any], stack: ExitStack
) -> Session:
    """A session of the hand's end of a link, whose other end is in this process too."""
    from palpate.runtime.link.sessions import Remote, RemoteSession, Serving

    if not isinstance(built, Scene):
        raise ValueError(f"only Worlds are touched over a link; {condition.scene!r} is a simulation of another kind")
    serving = stack.enter_context(Serving(scene_of(condition.scene)(), port=0))
    reaching = [(device, replace(reach, passivity="tank")) for device, reach in reaching]
    mirrored = scene_of(condition.scene)()
    return RemoteSession(Remote("127.0.0.1", serving.port), mirrored, reaching, estimate=condition.link, **options)


def _free(folder: Path, participant: int) -> Path:
    """A recording of its own for each start: none is written over."""
    k = 1
    while (path := folder / f"participant-{participant:03d}-{k}.mcap").exists():
        k += 1
    return path


def _show(url: str, browser: bool, say: Say) -> None:
    opened = browser and webbrowser.open(address_to_open(url))
    say(f"the page is at {url}{'' if opened else '  (open it in a browser)'}; Ctrl-C ends, and answers are kept")


class _Later:
    """Set after a while [s]."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    def is_set(self) -> bool:
        return time.monotonic() >= self._until
