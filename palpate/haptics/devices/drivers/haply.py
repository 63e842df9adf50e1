"""Haply Inverse3, through the Haply Inverse Service on this machine (a websocket that speaks JSON).

**Not tried on hardware.**  Written from the vendor's documentation of the service, 3.1 to 3.5; tested against a fake
of the service.

The client is the clock: the service answers each message with one state.  A thread sends the newest force, waits for
the state, and so on at `rate_hz`; commands last one tick, so that a client that stops is safe by itself.  A force
written longer than DEAD_S ago is not sent again but zero is.  A second channel tells of disconnection and of the
device's own safety: an emergency brake makes the force zero until it is released.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections import Counter
from contextlib import suppress
from typing import Any

import numpy as np

from palpate.haptics.devices.drivers.haply_messages import (
    Malformed,
    State,
    devices,
    force_field,
    force_message,
    parse,
    read_state,
)
from palpate.haptics.devices.protocol import FORCE, HAND_SPEED_M_S, DeviceError, DeviceReading, DeviceSpec, OpenClose

HOST = "127.0.0.1"  # the service and this program share a machine; nothing here leaves it
PORT, EVENTS_PORT = 10001, 10020
CONNECT_S = 2.0
DEAD_S = 0.050  # a force older than this is not sent again
MOST_MALFORMED = 20  # answers in a row
START = "start the Haply Inverse Service (systemctl start haply-inverse-service)"


def available(port: int = PORT) -> str:
    """One line: whether a service listens; sends nothing."""
    try:
        socket.create_connection((HOST, port), timeout=0.2).close()
    except OSError:
        return f"not found: nothing listens at {HOST}:{port} ({START})"
    return f"found a service at {HOST}:{port}"


class Haply(OpenClose):
    """The Inverse3 called `device_id` (None: the first that the service lists).

    port, events_port, http_port  of the service; http_port None: the same as port
    force_limit_N                 the service tells no limits: this is a cautious one
    continuous_N                  what its motors make for ever; chosen, a third of what is allowed by default
    centre_m                      the middle of the workspace from the device's base, in our axes
    field                         what the service calls a force: "vector", "values", or None to ask its version
    profile                       how this program introduces itself: "organisation:application"
    answer_s                      without an answer for this long the service is lost
    """

    def __init__(
        self,
        device_id: str | None = None,
        *,
        port: int = PORT,
        events_port: int = EVENTS_PORT,
        http_port: int | None = None,
        force_limit_N: float = 3.0,
        continuous_N: float = 1.0,
        rate_hz: float = 1000.0,
        centre_m: tuple[float, float, float] = (-0.12, 0.0, 0.15),
        field: str | None = None,
        profile: str = "palpate:touch",
        answer_s: float = 0.5,
    ) -> None:
        if field not in (None, "vector", "values"):
            raise ValueError(f"field is {field!r}, it must be 'vector', 'values' or None")
        if not 0.0 < rate_hz <= 10_000.0:
            raise ValueError(f"rate_hz is {rate_hz}, it must be from above 0 to 10000")
        self.spec = DeviceSpec("haply-inverse3", force_limit_N=force_limit_N, stiffness_limit_N_m=500.0,
                               workspace_radius_m=0.1, senses=6, actuates=3, rate_hz=rate_hz,
                               velocity_limit_m_s=HAND_SPEED_M_S, continuous_force_N=continuous_N)  # fmt: skip
        self.device_id, self.port, self.events_port = device_id, port, events_port
        self.http_port, self.profile, self._asked_field, self.answer_s = http_port or port, profile, field, answer_s
        self._centre = np.array(centre_m, dtype=float)
        self._lock, self._ready = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None
        self._reset()

    def _reset(self) -> None:
        self._stop, self._lost, self.braked = False, "", False
        self._state: State | None = None
        self._command = (np.zeros(3), -np.inf)  # a force and when it was written: replaced whole
        self.field, self.connected_id = self._asked_field or "vector", ""
        self.malformed, self.frames = 0, 0
        self.events: Counter[str] = Counter()  # by their names, safety ones by their type
        self.hears_events = False

    def open(self) -> None:
        with self._lock:
            if self.is_open:
                return
            self._reset()
            self._ready.clear()
            self._thread = threading.Thread(target=self._run, name="palpate-haply", daemon=True)
            self._thread.start()
            in_time = self._ready.wait(2.0 * CONNECT_S + self.answer_s)
            if not in_time or self._lost:
                self._finish()
                raise DeviceError(self._lost or f"Haply: the service at {HOST}:{self.port} did not answer; {START}")
            self.is_open = True

    # ---- the thread

    def _run(self) -> None:
        try:
            asyncio.run(self._converse())
        except Exception as error:  # of any kind: whoever reads must hear of it, not this thread
            self._lost = self._lost or f"the device {self.spec.name!r} was lost: {error}"
        finally:
            self._ready.set()

    async def _converse(self) -> None:
        import aiohttp  # half a second: only for those who have the device

        timeout = aiohttp.ClientTimeout(total=None, connect=CONNECT_S)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            try:
                socket_ = await asyncio.wait_for(session.ws_connect(f"ws://{HOST}:{self.port}/", compress=0), CONNECT_S)
            except (aiohttp.ClientError, OSError, TimeoutError) as error:
                self._lost = f"Haply: no service at {HOST}:{self.port} ({error or 'no answer'}); {START}"
                return
            if self._asked_field is None:
                self.field = await self._ask_version(session)
            async with socket_:
                listener = asyncio.create_task(self._listen(session))
                try:
                    await self._exchange(socket_)
                finally:
                    listener.cancel()
                    with suppress(asyncio.CancelledError):
                        await listener

    async def _ask_version(self, session: Any) -> str:
        """How this version calls a force; a service that does not say gets the newest form."""
        with suppress(Exception):
            async with asyncio.timeout(CONNECT_S), session.get(f"http://{HOST}:{self.http_port}/version") as answer:
                return force_field(await answer.json(content_type=None))
        return force_field(None)

    async def _exchange(self, socket_: Any) -> None:
        inventory = parse(await self._receive(socket_))
        ids = [device.get("device_id") for device in devices(inventory, "inverse3")]
        wanted = self.device_id if self.device_id is not None else next(iter(ids), None)
        if wanted is None or wanted not in ids:
            which = "no Inverse3" if self.device_id is None else f"no Inverse3 {self.device_id!r}"
            self._lost = f"Haply: the service lists {which}; connect it and switch it on"
            return
        self.connected_id = str(wanted)
        profile: str | None = self.profile
        due_s, wrong = time.monotonic(), 0
        while not self._stop:
            await socket_.send_str(force_message(self.connected_id, self._force_now(), self.field, profile))
            profile = None
            text = await self._receive(socket_)
            try:
                state = read_state(parse(text), self.connected_id, self._centre, time.monotonic())
                wrong = 0
            except Malformed as error:
                self.malformed, wrong = self.malformed + 1, wrong + 1
                if wrong >= MOST_MALFORMED:
                    raise DeviceError(f"the service talks nonsense: {error}") from None
                continue
            if state is None:
                raise DeviceError(f"the service does not list {self.connected_id!r} any more")
            self._state, self.frames = state, self.frames + 1
            self._ready.set()
            due_s = max(due_s + 1.0 / self.spec.rate_hz, time.monotonic())
            await asyncio.sleep(max(0.0, due_s - time.monotonic()))
        # one last tick without force, and its answer, so that it has arrived
        await socket_.send_str(force_message(self.connected_id, np.zeros(3), self.field))
        await self._receive(socket_)

    async def _receive(self, socket_: Any) -> str:
        import aiohttp

        try:
            message = await asyncio.wait_for(socket_.receive(), self.answer_s)
        except TimeoutError:
            raise DeviceError(f"the service has not answered for {self.answer_s:g} s") from None
        if message.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
            return message.data if isinstance(message.data, str) else message.data.decode(errors="replace")
        raise DeviceError("the service closed the connection")

    def _force_now(self) -> np.ndarray:
        force, written_s = self._command
        fresh = time.monotonic() - written_s <= DEAD_S
        return force if fresh and not self.braked else np.zeros(3)

    async def _listen(self, session: Any) -> None:
        """The channel of events; a service without it is served without."""
        with suppress(Exception):
            async with session.ws_connect(f"ws://{HOST}:{self.events_port}/", compress=0) as channel:
                self.hears_events = True
                async for message in channel:
                    with suppress(Malformed):
                        self._hear(parse(str(message.data)))
        self.hears_events = False

    def _hear(self, event: dict[str, Any]) -> None:
        data = event.get("data")
        data = data if isinstance(data, dict) else {}
        if data.get("device_id", self.connected_id) != self.connected_id:
            return
        name = str(event.get("name", ""))
        kind = str(data.get("safety_type", name)) if name == "device-safety-triggered" else name
        self.events[kind] += 1
        if kind in ("ebrake_triggered", "ebrake_released"):
            self.braked = kind == "ebrake_triggered"
        elif kind == "device-disconnected":
            self._lost = self._lost or f"the device {self.spec.name!r} was lost: the service says it was disconnected"

    # ---- everybody else

    def read(self, out: DeviceReading) -> None:
        with self._lock:
            self.require_open()
            state = self._state
            if self._lost or state is None:
                raise DeviceError(self._lost or f"the device {self.spec.name!r} has not been heard of yet")
            out.position_m[:], out.velocity_m_s[:], out.quaternion[:] = state[:3]
            out.buttons, out.sampled_at_s = state.buttons, state.sampled_at_s
            out.spin_rad_s[:] = 0.0  # the service does not tell

    def write(self, wrench: np.ndarray) -> None:
        with self._lock:
            self.require_open()
            self.require_allowed(wrench)
            if self._lost:
                raise DeviceError(self._lost)
            self._command = (np.array(wrench[FORCE], dtype=float), time.monotonic())

    def close(self) -> None:
        """A last tick without force; then the connection ends."""
        with self._lock:
            if self.is_open:
                self.is_open = False
                self._finish()

    def _finish(self) -> None:
        self._command, self._stop = (np.zeros(3), -np.inf), True
        if self._thread is not None:
            self._thread.join(2.0 * CONNECT_S + 2.0 * self.answer_s)
            self._thread = None
