"""Opening sources of poses and drivers of bases by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from palpate.mobile.adapters import BASE_DRIVERS, POSE_SOURCES
from palpate.mobile.adapters.inbox import PoseInbox, into
from palpate.registry import Registry, find


def make_pose_source(name: str, **options: Any) -> Any:
    """A source that is not open yet; what follows the first colon and the options go to its class."""
    return _made(POSE_SOURCES, "pose_sources", name, options)


def open_pose_source(name: str, inboxes: Mapping[int, PoseInbox], **options: Any) -> Any:
    """An open source, "udp:127.0.0.1:9000", "recorded:FILE.csv", ..., whose stations' poses go into inboxes.

    inboxes   by station: 0 the robot's, 1 the head's (with Judging(gaze=True)), 2 the tool's, ...
    Closes at the end of a `with`; refuses with a ValueError that says what is missing.
    """
    source = make_pose_source(name, **options)
    source.open(into(inboxes))
    return source


def make_base_driver(name: str, **options: Any) -> Any:
    """A driver that is not open yet."""
    return _made(BASE_DRIVERS, "base_drivers", name, options)


def open_base_driver(name: str, **options: Any) -> Any:
    """An open driver: "simulated", "ros-twist:tcp:127.0.0.1:9090", ...; closes at the end of a `with`."""
    driver = make_base_driver(name, **options)
    driver.open()
    return driver


def _made(registry: Registry, group: str, name: str, options: dict[str, Any]) -> Any:
    kind, colon, which = name.partition(":")
    build = find(registry, group, kind)
    try:
        return build(*([which] if colon else []), **options)
    except TypeError as error:
        raise ValueError(f"{name!r} cannot be made like this: {error}") from None
