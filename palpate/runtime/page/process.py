"""The page of a session: its process, its address, the meshes it draws, and the desk that answers what it requests."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from palpate.runtime.children import Child
from palpate.runtime.page.requests import Desk

if TYPE_CHECKING:
    from palpate.runtime.page.early import EarlyPage
    from palpate.runtime.session import Session

PATIENCE_S = 15.0


class Where(NamedTuple):
    """Where a page is, and who may come in."""

    host: str
    port: int
    certificate: tuple[Path, Path] | None
    token: str

    def orders(self) -> dict[str, Any]:
        """For its process."""
        files = {} if self.certificate is None else dict(zip(("cert", "key"), map(str, self.certificate), strict=True))
        return {"host": self.host, "port": self.port, "token": self.token, **files}


class Paging:
    """Starts the page, or takes over one that is there early; starts it again if it ended, and ends it."""

    def __init__(self, session: Session, where: Where, early: EarlyPage | None = None) -> None:
        self.session, self._early = session, early
        self.where = where._replace(token=where.token or secrets.token_urlsafe(16))
        self.url = ""
        self.process: Child | None = None
        self.desk = Desk(session)

    def start(self) -> None:
        """Start its process, which takes a while; `listening` waits for it."""
        if self.process is not None:
            self.process.end()
        if self._early is not None and self._early.process.alive:
            self.process = self._early.process
            return
        self._early = None  # it has ended: another comes where it was
        session, fds = self.session, self.session.simulation.ring_fds()
        orders = self.where.orders() | fds | {"hello": session.page_hello(), "meshes": session.mesh_files()}
        self.process = Child("page", orders, list(fds.values()), self.desk.requested)

    def listening(self) -> None:
        """Returns when it listens; a ChildError says why it cannot."""
        assert self.process is not None
        if self._early is not None:
            session = self.session
            self.url = self._early.url
            self._early.take_over(session.page_hello(), session.mesh_files(), session.simulation.ring_fds(),
                                  self.desk.requested)  # fmt: skip
            self._early = None
        else:
            self.url = self.process.answer("url", PATIENCE_S)
        # a restarted page must be found where it was
        self.where = self.where._replace(port=urlsplit(self.url).port or self.where.port)

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.alive

    def end(self) -> None:
        self.desk.close()
        if self.process is not None:
            self.process.end()
