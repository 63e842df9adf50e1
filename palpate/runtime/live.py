"""`palpate touch` and `palpate replay`: start, tell where the page is, wait, and say how it went."""

from __future__ import annotations

import ipaddress
import signal
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

from palpate.frame import EVENT, HAND, Layout
from palpate.haptics.devices import DEVICES
from palpate.jit.ahead import compiled_ahead
from palpate.registry import find
from palpate.runtime.children import Child
from palpate.runtime.ring import Ring
from palpate.scenes import SCENES

Say = Callable[[str], None]


def _loopback(host: str) -> str:
    try:
        local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        raise ValueError(f"{host!r} is not an address; use 127.0.0.1") from None
    if not local:
        raise ValueError(f"listening on {host} is not supported yet: pages from other machines will need a token")
    return host


def _wait(ended: threading.Event, seconds: float | None) -> None:
    """Until Ctrl-C, a request to terminate, or the time [s]."""
    before = signal.signal(signal.SIGTERM, lambda *_: ended.set())
    try:
        ended.wait(seconds)
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)


def _show(url: str, browser: bool, say: Say) -> None:
    opened = browser and webbrowser.open(url)
    say(f"the page is at {url}{'' if opened else '  (open it in a browser)'}; Ctrl-C ends")


def touch(
    scene: str, device: str, record: Path | None, browser: bool, host: str, port: int, seconds: float | None, say: Say
) -> int:
    """Run a scene in real time with its page; returns an exit code."""
    from palpate.runtime.session import Session

    host = _loopback(host)
    spec = find(DEVICES, "devices", device)().spec
    if device != "pointer":
        raise ValueError(f"the device {device!r} cannot drive a live session yet; the page's own is 'pointer'")
    with compiled_ahead("palpate.runtime.loop", "servo_loop"):
        built = find(SCENES, "scenes", scene)()
        session = Session(built, spec, page=True, record=record, host=host, port=port, say=say).start()
    try:
        _show(session.url, browser, say)
        how = "SCHED_FIFO" if session.report.fifo else "normal scheduling"
        say(f"servo at {built.rate_hz:g} Hz, {how}{', recording into ' + str(record) if record else ''}")
        _wait(threading.Event(), seconds)
    finally:
        session.stop()
    say(str(session.report))
    return 0


def replay(file: Path, browser: bool, port: int, seconds: float | None, say: Say) -> int:
    """Show a recording on the same page; returns an exit code."""
    from palpate.record.reader import Recording
    from palpate.runtime.player import Player

    with Recording(file) as recording:
        frames = Ring.create(256, recording.layout.words)
        hands, events = Ring.create(16, Layout(HAND).words), Ring.create(64, Layout(EVENT).words)
        fds = {"frame_fd": frames.fd, "hand_fd": hands.fd, "event_fd": events.fd}
        with Player(recording, frames, events):
            orders = fds | {"host": "127.0.0.1", "port": port, "hello": recording.replay_hello()}
            page = Child("palpate.page.server", orders, list(fds.values()))
            try:
                url = page.answer("url", 15.0)
                say(
                    f"{recording.count} frames, {recording.duration_s:.2f} s, of the scene {recording.hello['scene']!r}"
                )
                _show(url, browser, say)
                _wait(threading.Event(), seconds)
            finally:
                page.end()
    return 0
