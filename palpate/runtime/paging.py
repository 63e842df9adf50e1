"""The page of a session: its process, its address, the meshes it draws, and the desk that answers what it requests."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from palpate.runtime.children import Child
from palpate.runtime.desk import Desk

if TYPE_CHECKING:
    from palpate.runtime.session import Session

PATIENCE_S = 15.0


class Paging:
    """Starts the page, again if it ended, and ends it."""

    def __init__(
        self, session: Session, host: str, port: int, certificate: tuple[Path, Path] | None, token: str
    ) -> None:
        self.session, self.host, self.port, self.certificate = session, host, port, certificate
        self.token = token or secrets.token_urlsafe(16)
        self.url = ""
        self.process: Child | None = None
        self.desk = Desk(session)

    def start(self) -> None:
        """Start its process, which takes a while; `listening` waits for it."""
        if self.process is not None:
            self.process.end()
        fds = self.session.simulation.ring_fds()
        orders = fds | {"host": self.host, "port": self.port, "hello": self.session.hello(), "token": self.token,
                        "meshes": self.session.mesh_files()}  # fmt: skip
        if self.certificate is not None:
            orders |= dict(zip(("cert", "key"), map(str, self.certificate), strict=True))
        self.process = Child("palpate.page.server", orders, list(fds.values()), self.desk.requested)

    def listening(self) -> None:
        """Returns when it listens; a ChildError says why it cannot."""
        assert self.process is not None
        self.url = self.process.answer("url", PATIENCE_S)
        self.port = urlsplit(self.url).port or self.port  # a restarted page must be found where it was

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.alive

    def end(self) -> None:
        self.desk.close()
        if self.process is not None:
            self.process.end()
