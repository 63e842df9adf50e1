"""A world that runs elsewhere: `palpate touch --remote HOST:PORT`; and the other end of the link, `palpate serve`."""

from __future__ import annotations

import contextlib
import secrets
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from palpate.haptics.devices.protocol import Device
from palpate.link import LinkError
from palpate.link.impair import Impairments
from palpate.link.keys import Key, require_key
from palpate.link.sockets import bind, connect
from palpate.link.wire import BYE, HELLO, OTHER_VERSION, VERSION, WELCOME, Packet, Wire, state_parts
from palpate.runtime.link.mirror import Mirroring
from palpate.runtime.link.reflected import scene_fingerprint, words_of
from palpate.runtime.link.relay import Relaying
from palpate.runtime.report import SessionReport
from palpate.runtime.world.session import SMOOTH_S, WorldSession
from palpate.scenes.scene import Scene

if TYPE_CHECKING:
    from palpate.haptics.reach import Reach, Reaching

PORT = 8643
PATIENCE_S, AGAIN_S = 2.0, 0.1  # for a WELCOME, and how often HELLO is said meanwhile


class Serving(WorldSession):
    """A scene in real time whose hand is at the other end of a link."""

    def __init__(
        self,
        scene: Scene,
        host: str = "127.0.0.1",
        port: int = PORT,
        key: Key | None = None,
        record: Path | None = None,
        fifo: bool = True,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        state_parts(scene.model.nq, scene.model.nv, words_of(scene))  # or a ValueError: too many
        key = require_key(host, key)
        super().__init__(scene, record=record, fifo=fifo, say=say)
        self.socket = bind(host, port)
        self.relaying = Relaying(scene, self.simulation, key, self.socket)
        self._hands_in, self._events_in = self.relaying.own_hands, self.relaying.own_events

    def _is_pending(self, number: int) -> bool:
        return self.relaying.is_pending(number)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.socket.getsockname()[1])

    def start(self) -> Serving:
        super().start()
        return self

    def _start(self) -> None:
        self.simulation.learn_to_touch()  # whoever comes may press
        super()._start()
        self.relaying.start()

    def stop(self) -> SessionReport:
        try:
            self.relaying.stop()
        finally:
            super().stop()
        return self.report


class Remote:
    """The other end, found: its scene's name, and what is needed to talk to it."""

    def __init__(self, host: str, port: int, key: Key | None = None) -> None:
        self.where, self.key = f"{host}:{port}", require_key(host, key)
        self.socket: socket.socket = connect(host, port)
        try:
            welcome = self._greet()
        except BaseException:
            self.socket.close()
            raise
        self.scene: str = welcome.fields["name"]
        if Path(self.scene).name != self.scene:  # a robot's file is read here: which one is not the server's to say
            self.socket.close()
            raise LinkError(f"{self.where} serves {self.scene!r}: a server names no folders of this machine")
        self.sizes = (int(welcome.fields["nq"]), int(welcome.fields["nv"]))
        self.fingerprint, self.rate_hz = int(welcome.fields["fingerprint"]), float(welcome.fields["rate_hz"])

    def _greet(self) -> Packet:
        wire, nonce = Wire(self.key, kinds=(HELLO, WELCOME)), secrets.randbits(62)
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            hello = wire.pack(HELLO, sequence=1, time_ns=time.monotonic_ns(), nonce=nonce)
            try:
                self.socket.send(hello)
                welcome = self._answer(wire, nonce)
            except ConnectionRefusedError:
                time.sleep(AGAIN_S)
                continue
            if welcome is not None:
                return welcome
        raise LinkError(f"nobody answers at {self.where}: is `palpate serve` running there, with the same key and "
                        "the same version of palpate?")  # fmt: skip

    def _answer(self, wire: Wire, nonce: int) -> Packet | None:
        until = time.monotonic() + AGAIN_S
        while time.monotonic() < until:
            try:
                packet = wire.unpack(self.socket.recv(2048))
            except BlockingIOError:
                time.sleep(0.001)
                continue
            if packet.kind == OTHER_VERSION:
                raise LinkError(f"{self.where} speaks version {packet.fields['version']} of the link's packets, this "
                                f"palpate version {VERSION}: use one version of palpate on both sides")  # fmt: skip
            if packet.kind == WELCOME and packet.fields["nonce"] == nonce:
                return packet
        return None

    def check(self, scene: Scene) -> None:
        """That this side's scene is the other's."""
        if (scene.model.nq, scene.model.nv) != self.sizes or scene_fingerprint(scene) != self.fingerprint:
            raise LinkError(
                f"the scene {self.scene!r} of {self.where} is not the same here: "
                "use one version of palpate, and of the robot's file, on both sides"
            )


class RemoteSession(WorldSession):
    """Touch a world that runs elsewhere, as if it were here.

    scene       the same as there (Remote.scene has its name); it is moved as the states that come say
    deadline_s  how long a tick waits for a new state; then the previous one is used again
    estimate    "hold", "interpolate" or "extrapolate": the state between two packets (link/estimate.py)
    holds       False: only watch
    there, back what a bad network does to packets, for experiments
    """

    simulation: Mirroring

    def __init__(
        self,
        remote: Remote,
        scene: Scene,
        devices: Sequence[tuple[Device, Reach]] = (),
        page: bool = False,
        record: Path | None = None,
        port: int = 8642,
        fifo: bool = True,
        say: Callable[[str], None] = lambda text: None,
        deadline_s: float = 0.0003,
        estimate: str = "extrapolate",
        holds: bool = True,
        there: Impairments | None = None,
        back: Impairments | None = None,
        round_trips: int = 0,
        **options: Any,
    ) -> None:
        remote.check(scene)
        if not 0.0 <= deadline_s < 1.0 / remote.rate_hz:
            raise ValueError(f"the deadline must be 0 .. {1e3 / remote.rate_hz:g} ms, within a tick; got {deadline_s}")
        self.remote = remote
        self._link: dict[str, Any] = {"estimate": estimate, "there": there, "back": back, "deadline_s": deadline_s,
                                      "holds": holds, "round_trips": round_trips}  # fmt: skip
        mirrored = Scene(scene.name, scene.title, scene.world, None, scene.path, controllers=scene.controllers)
        super().__init__(mirrored, devices, page=page, record=record, port=port, playing=False, fifo=fifo, say=say,
                         **options)  # fmt: skip

    def _simulation(self, given: Sequence[Reaching], shared: bool) -> Mirroring:
        remote, now_ns = self.remote, time.monotonic_ns()
        return Mirroring(self.scene, None, remote.key, remote.socket, given, start_ns=now_ns,
                         smooth_s=SMOOTH_S, shared=shared, **self._link)  # fmt: skip

    def stop(self) -> SessionReport:
        report = super().stop()
        if self.remote.socket.fileno() >= 0:
            wire = Wire(self.remote.key, kinds=(BYE,))
            session = self.simulation.mirror.session_id
            sequence = self.simulation.mirror.sent + 1
            with contextlib.suppress(OSError):  # perhaps nobody is there to be told
                self.remote.socket.send(wire.pack(BYE, session=session, sequence=sequence))
            self.remote.socket.close()
        return report
