"""A session, its desk, and a page that asks: what requests are tested with."""

import json

from waiting import until

from palpate.runtime.page.requests import Desk


class Page:
    """What the desk tells a page."""

    def __init__(self) -> None:
        self.told: list[dict] = []

    def tell(self, message: dict) -> None:
        self.told.append(json.loads(json.dumps(message, allow_nan=False)))


class Office:
    """A session, its desk, and a page that asks."""

    def __init__(self, session) -> None:
        self.session, self.page = session, Page()
        self.session.may_leave = True
        self.desk = Desk(session)

    def ask(self, what: str, **more) -> dict:
        """The answer."""
        page = Page()
        self.desk.requested(page, {"type": "request", "id": 7, "what": what, **more})
        until(lambda: page.told, what)
        assert page.told[0]["id"] == 7
        return page.told[0]

    def refuses(self, what: str, words: str, **more) -> None:
        """It fails in one line, nothing has changed, and the desk is still open."""
        before = self.session.simulation.events.head, self.session.next_scene
        answer = self.ask(what, **more)
        assert answer.keys() == {"id", "ok", "error"}
        assert not answer["ok"]
        assert words in answer["error"]
        assert "\n" not in answer["error"]
        assert (self.session.simulation.events.head, self.session.next_scene) == before
        assert not self.session.leaving.is_set()
        assert all(thread.is_alive() for thread in self.desk._threads)
