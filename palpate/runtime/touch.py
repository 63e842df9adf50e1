"""pp.touch: a world under the hand, from Python.

With a page it runs at once, and does not block: in a notebook, at a prompt and in a `with` the program goes on.  A
script that comes to its end while such a session runs waits there for Ctrl-C, as an interpreter waits for threads; one
that an error ends does not.
"""

from __future__ import annotations

import atexit
import contextlib
import sys
import weakref
import webbrowser
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from palpate.haptics.devices.opening import open_device
from palpate.haptics.devices.protocol import Device
from palpate.haptics.reach import Reach
from palpate.printable import printable
from palpate.runtime.ending import Ending
from palpate.runtime.page.users import address_to_open
from palpate.runtime.runnable import session_of
from palpate.runtime.saying import unfailing
from palpate.runtime.session import Session
from palpate.scenes.scene import Scene
from palpate.servo.simulation import Simulation
from palpate.world.world import World

_started: list[Session] = []  # by `touch`, in the order they came


def touch(
    world: World | Scene | Simulation,
    device: Device | str | Sequence[tuple[Device, Reach]] | None = None,
    mode: str = "pull",
    *,
    page: bool | None = None,
    record: str | Path | None = None,
    port: int = 8642,
    fifo: bool = True,
    browser: bool = True,
    controllers: Sequence[Any] = (),
    **reach: Any,
) -> Session:
    """A session of a world, or of a simulation of another kind.  Without a device the browser is the device: it runs at
    once, with its page open.

    With a page the session runs when this returns, and its address is printed: go on, use it in a `with`, or let the
    script end, and it runs until Ctrl-C.  Without a page it is ready to `run(seconds=5)`, to `simulate`, or for a
    `with`.

    device  an open device (pp.open_device), its name, such as "simulated:pantograph", or several as pairs of device and
            pp.Reach.  One by name is opened here, and closes with the session.  page: also with a device
    mode    "push", "pull" or "tool"; it and any further keyword are those of pp.Reach
    record  every frame into this MCAP file; port: of the page, 0 picks one; fifo: ask for real-time scheduling
    browser False: do not open the page in a browser, only print where it is
    controllers   of the world's joints, compiled or in Python (docs/extending.md)
    """
    options: dict[str, Any] = {"record": None if not record else Path(record), "fifo": fifo}
    if isinstance(device, str):
        by_name: Device = open_device(device)
        try:
            session = touch(world, by_name, mode, page=page, record=record, port=port, fifo=fifo, browser=browser,
                            controllers=controllers, **reach)  # fmt: skip
        except BaseException:
            by_name.close()
            raise
        session.owned.append(by_name)
        weakref.finalize(session, by_name.close)  # one that is never started is never stopped
        return session
    devices = _devices(device, mode, reach)
    wants_page = not devices if page is None else page
    if wants_page:
        options |= {"page": True, "port": port, "say": _say}
    made = Scene("world", "A world", world) if isinstance(world, World) else world
    if controllers and not isinstance(made, Scene):
        raise ValueError("controllers move a World's joints; another simulation has its own")
    if isinstance(made, Scene):
        made = replace(made, controllers=(*made.controllers, *controllers))
    session = session_of(made, devices, **options)
    if not wants_page:
        return session
    session.start()
    opened = browser and webbrowser.open(address_to_open(session.url))
    _say(f"the page is at {session.url}{'' if opened else '  (open it in a browser)'}")
    if not _started:
        atexit.register(_at_exit)
    _started.append(session)
    return session


def _devices(
    device: Device | Sequence[tuple[Device, Reach]] | None, mode: str, reach: dict[str, Any]
) -> list[tuple[Device, Reach]]:
    if isinstance(device, Sequence):
        if reach:
            raise ValueError(f"with several devices each has its own pp.Reach: {', '.join(reach)} belongs there")
        return list(device)
    return [] if device is None else [(device, Reach(mode=mode, **reach))]


@unfailing
def _say(text: str) -> None:
    print(printable(text), flush=True)


def _is_script() -> bool:
    """Whether there is no prompt or notebook, at which somebody could still do something."""
    return not (sys.flags.interactive or hasattr(sys, "ps1"))


def _at_exit() -> None:
    """The end of a script is not that of its sessions; the end of a prompt, or an error, is."""
    running = [session for session in _started if session.is_running]
    failed = getattr(sys, "last_value", None) is not None
    if running and _is_script() and not failed:
        with contextlib.suppress(KeyboardInterrupt), Ending(None) as ending:
            _say("the session runs until Ctrl-C")
            ending.wait()
    for session in running:
        session.stop()
        _say(str(session.report))
