"""`palpate touch`, `serve` and `replay`: start, tell where the page is, wait, and say how it went."""

from __future__ import annotations

import gc
import secrets
import sys
import webbrowser
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from palpate.conventions import WORLD
from palpate.dynamics.facade import forward_kinematics
from palpate.frame import EVENT, HAND, Layout
from palpate.haptics.devices.protocol import DeviceSpec
from palpate.jit.starts.ahead import compiled_ahead, compiled_beside
from palpate.runtime.children import Child
from palpate.runtime.ending import Ending
from palpate.runtime.folders import Folder, sweep
from palpate.runtime.page.early import page_first
from palpate.runtime.page.process import Where
from palpate.runtime.page.tls import make_certificate
from palpate.runtime.page.users import address_to_open
from palpate.runtime.saying import Say, unfailing
from palpate.scenes.any_arm import scene_of
from palpate.scenes.loose import with_loose
from palpate.scenes.scene import Scene
from palpate.servo.ring import Ring
from palpate.spatial.placement import Transform
from palpate.whole_files import write_whole

if TYPE_CHECKING:
    from palpate.haptics.reach import Reach
    from palpate.runtime.runnable import Runnable

CLEAR_M, MOST_STEPS_UP = 0.03, 200  # of a device's middle from every surface, and the way up to look for it


def _show(url: str, browser: bool, say: Say) -> None:
    opened = browser and webbrowser.open(address_to_open(url))
    say(f"the page is at {url}{'' if opened else '  (open it in a browser)'}; Ctrl-C ends")


def touch(
    scene: str,
    device: str,
    mode: str,
    edit: str | None,
    record: Path | None,
    browser: bool,
    host: str,
    port: int,
    tls: bool,
    seconds: float | None,
    say: Say,
) -> int:
    """Run a scene in real time with its page, and a device beside the page's pointer; returns an exit code."""
    from palpate.haptics.devices.opening import open_device
    from palpate.runtime.runnable import session_of

    say, certificate = unfailing(say), make_certificate(host) if tls else None
    where = Where(host, port, certificate, secrets.token_urlsafe(16))  # open pages come back to the next scene
    with Ending(seconds) as ending, ExitStack() as stack:
        opened = None if device == "pointer" else stack.enter_context(closing(open_device(device)))
        scene_of(scene)  # an unknown name is said before anything is started
        compiling = stack.enter_context(ExitStack())  # until the first session runs
        early = page_first(compiling, where, scene, edit)
        if early is not None:
            early.listening()  # which takes longer beside those that compile
            where = early.where
            _show(early.url, browser, say)
        compiling.enter_context(compiled_ahead(*_doors_of(scene)))
        built: Runnable | None = build(scene, edit)
        first = True
        while built is not None and not ending.over:  # one session a scene: a page may ask for another
            reaching = [(opened, default_reach(built, opened.spec, mode))] if opened else []
            session = session_of(
                built, reaching, page=True, record=record if first else None, host=host, port=where.port, say=say,
                certificate=certificate, token=where.token, early=early if first else None, may_leave=True,
            )  # fmt: skip
            with session:
                compiling.close()
                assert session.page is not None
                where = session.page.where
                if first and early is None:
                    _show(session.url, browser, say)
                if first:
                    stack.enter_context(compiled_beside(*_doors_of(scene)))
                    how = "SCHED_FIFO" if session.report.fifo else "normal scheduling"
                    say(f"servo at {built.rate_hz:g} Hz, {how}{', recording into ' + str(record) if record else ''}")
                ending.wait(session.leaving)
                built, first = session.next_scene, False
            say(str(session.report))
            del session
            gc.collect()  # the scene that was left, which its threads held, before another needs the room
            if built is not None and not ending.over:
                say(f"now the scene {built.name!r}{', which is not recorded' if record else ''}")
    return 0


def _doors_of(scene: str) -> tuple[str, str]:
    """Module and name of what a scene's session calls: all of a World's, or the TICK of its own module."""
    module = sys.modules.get(getattr(scene_of(scene), "__module__", ""))
    return getattr(module, "TICK", ("palpate.runtime.page.early", "AHEAD"))


def build(scene: str, edit: str | None) -> Runnable:
    """What a name or file stands for, as a session runs it."""
    return with_loose(_edited(scene_of(scene)(), edit))


def _edited(scene: Runnable, mode: str | None) -> Runnable:
    """The scene, its plan answering to a hand in another way."""
    if mode is None:
        return scene
    if not isinstance(scene, Scene) or scene.plan is None:
        raise ValueError(f"nothing is planned in the scene {scene.name!r}: --edit is for moving arms, such as arm-line")
    return replace(scene, editing=replace(scene.editing, mode=mode))


def serve(
    scene: str,
    edit: str | None,
    record: Path | None,
    host: str,
    port: int,
    key_file: Path | None,
    seconds: float | None,
    say: Say,
) -> int:
    """Run a scene in real time for hands at the other end of a link; returns an exit code."""
    from palpate.link.keys import load_key
    from palpate.runtime.link.sessions import Serving

    say, key = unfailing(say), load_key(key_file)
    with Ending(seconds) as ending, ExitStack() as stack:
        with compiled_ahead("palpate.runtime.world.tick", "tick_world"):
            built = _edited(scene_of(scene)(), edit)
            if not isinstance(built, Scene):
                raise ValueError(f"only Worlds are served; {scene!r} is a simulation of another kind")
            if built.devices:
                raise ValueError(f"only Worlds without devices of their own are served; {scene!r} brings some")
            session = Serving(built, host, port, key, record, say=say)
            stack.enter_context(session)
        say(f"serving {built.name!r} at {host}:{session.port} ({'with a key' if key else 'this machine only'}); "
            f"`palpate touch --remote {host}:{session.port}` touches it; Ctrl-C ends")  # fmt: skip
        ending.wait()
    told = ", ".join(f"{name} {n}" for name, n in session.relaying.counts().items() if n)
    say(f"{session.report}; packets: {told or 'none'}")
    return 0


def touch_remote(
    remote: str,
    device: str,
    mode: str,
    watch: bool,
    estimate: str,
    key_file: Path | None,
    record: Path | None,
    browser: bool,
    port: int,
    seconds: float | None,
    say: Say,
) -> int:
    """Touch a scene that runs elsewhere, with a page here; returns an exit code."""
    from palpate.haptics.devices.opening import open_device
    from palpate.link.keys import load_key
    from palpate.runtime.link.sessions import Remote, RemoteSession

    say, (host, remote_port) = unfailing(say), _address(remote)
    with Ending(seconds) as ending, ExitStack() as stack:
        opened = None if device == "pointer" else stack.enter_context(closing(open_device(device)))
        with compiled_ahead("palpate.runtime.link.mirror_kernels", "tick_mirror"):
            other = Remote(host, remote_port, load_key(key_file))
            built = scene_of(other.scene)()
            reaching = []
            if opened:
                reaching = [(opened, replace(default_reach(built, opened.spec, mode), passivity="tank"))]
            session = stack.enter_context(RemoteSession(other, built, reaching, page=True, record=record, port=port,
                                                        say=say, estimate=estimate, holds=not watch))  # fmt: skip
        _show(session.url, browser, say)
        say(f"{'watching' if watch else 'touching'} {built.name!r} of {remote}")
        ending.wait()
    say(str(session.report))
    return 0


def _address(text: str) -> tuple[str, int]:
    """host and port of "HOST:PORT", "[v6]:PORT" or "HOST"."""
    from palpate.runtime.link.sessions import PORT

    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        host, port = text, str(PORT)
    if not host or not port.isdecimal() or not 0 < int(port) <= 65535:
        raise ValueError(f"--remote takes HOST:PORT, the port from 1 to 65535; got {text!r}")
    return host.strip("[]"), int(port)


def default_reach(scene: Runnable, spec: DeviceSpec, mode: str) -> Reach:
    """The device's workspace over what the scene shows: its middle above the middle of what can move, in the open.

    A recorded hand is in world axes already, and stays there.
    """
    from palpate.haptics.reach import Reach
    from palpate.haptics.rendering.facade import Proxy

    if spec.name == "playback" or not isinstance(scene, Scene):  # session_of says that there is nothing to reach into
        return Reach(mode=mode)
    model = scene.model
    poses = forward_kinematics(model, scene.world.q)
    moving = [X[:3, 3] for X, link in zip(poses, model.arrays.body_link, strict=True) if link != WORLD]
    points = np.array(moving or [np.zeros(3)])
    middle, size = 0.5 * (points.min(axis=0) + points.max(axis=0)), np.ptp(points, axis=0).max()
    reach_m = spec.workspace_radius_m if np.isfinite(spec.workspace_radius_m) else 0.5 * size
    scale = max(1.0, 0.5 * size / max(reach_m, 1e-3))
    surroundings = Proxy(model)
    surroundings.move(scene.world.q)
    for _ in range(MOST_STEPS_UP):
        if surroundings.nearest(middle).distance > CLEAR_M:
            break
        middle[2] += CLEAR_M
    return Reach(mode=mode, place=Transform(p=tuple(middle)), scale=float(scale))


def _decline(page: Child, request: dict[str, Any]) -> None:
    page.tell({"id": request.get("id"), "ok": False, "error": "this is a recording: it can only be watched"})


def replay(file: Path, browser: bool, port: int, seconds: float | None, say: Say) -> int:
    """Show a recording on the same page; returns an exit code."""
    from palpate.record.reader import Recording
    from palpate.runtime.record.player import Player, shown_hello, shown_layout

    say = unfailing(say)
    sweep()
    with Ending(seconds) as ending, Recording(file) as recording, Folder("meshes") as folder:
        meshes = [folder / f"{number}.mesh" for number in range(len(recording.meshes))]
        for path, mesh in zip(meshes, recording.meshes, strict=True):
            write_whole(path, mesh)
        frames = Ring.create(256, shown_layout(recording).words)
        hands, events = Ring.create(16, Layout(HAND).words), Ring.create(64, Layout(EVENT).words)
        fds = {"frame_fd": frames.fd, "hand_fd": hands.fd, "event_fd": events.fd}
        with Player(recording, frames, events):
            orders = fds | {"host": "127.0.0.1", "port": port, "token": secrets.token_urlsafe(16),
                            "hello": shown_hello(recording), "meshes": list(map(str, meshes))}  # fmt: skip
            page = Child("page", orders, list(fds.values()), _decline)
            try:
                url = page.answer("url", 15.0)
                for note in sorted(recording.notes):
                    say(note)
                scene = recording.hello.get("scene", "")
                say(f"{recording.count} frames, {recording.duration_s:.2f} s, of the scene {scene!r}")
                _show(url, browser, say)
                ending.wait()
            finally:
                page.end()
    return 0
