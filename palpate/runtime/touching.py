"""pp.touch: a world under the hand, from Python."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from palpate.haptics.devices.protocol import Device
from palpate.haptics.reach import Reach
from palpate.runtime.session import Session
from palpate.scenes.scene import Scene
from palpate.world.world import World


def touch(
    world: World | Scene,
    device: Device | Sequence[tuple[Device, Reach]] | None = None,
    mode: str = "pull",
    *,
    page: bool | None = None,
    record: str | Path | None = None,
    port: int = 8642,
    fifo: bool = True,
    **reach: Any,
) -> Session:
    """A session of a world, ready to `run(seconds=5)` or to be used in a `with`.

    device  an open device (pp.open_device), or several as pairs of device and pp.Reach.  Without one, the browser is
            the device: the page opens at `session.url`.  page: also with a device
    mode    "push", "pull" or "tool"; it and any further keyword are those of pp.Reach
    record  every frame into this MCAP file; port: of the page, 0 picks one; fifo: ask for real-time scheduling
    """
    if isinstance(device, Sequence):
        if reach:
            raise ValueError(f"with several devices each has its own pp.Reach: {', '.join(reach)} belongs there")
        devices = list(device)
    else:
        devices = [] if device is None else [(device, Reach(mode=mode, **reach))]
    scene = world if isinstance(world, Scene) else Scene("world", "A world", world)
    return Session(
        scene, devices, page=not devices if page is None else page, record=Path(record) if record else None,
        port=port, fifo=fifo,
    )  # fmt: skip
