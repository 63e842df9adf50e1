"""Opening a device by name, and saying which can be opened."""

from __future__ import annotations

import importlib
from typing import Any

from palpate.haptics.devices import DEVICES, DRIVERS
from palpate.haptics.devices.drivers.library import FORCE_DIMENSION, OPENHAPTICS
from palpate.haptics.devices.protocol import Device
from palpate.registry import find


def make_device(name: str, **options: Any) -> Device:
    """A device that is not open yet; `name` is "kind" or "kind:which", as `open_device` takes it."""
    kind, colon, which = name.partition(":")
    if name in DEVICES:  # a device of its own, though it has a colon
        kind, colon = name, ""
    build = find(DEVICES | DRIVERS, "devices", kind)
    arguments: list[Any] = []
    if colon:
        arguments = [int(which) if which.isdigit() else which]
    try:
        device: Device = build(*arguments, **options)
    except TypeError as error:
        raise ValueError(f"the device {name!r} cannot be made like this: {error}") from None
    return device


def open_device(name: str, **options: Any) -> Any:
    """An open device: "simulated:phantom-premium-1.5", "openhaptics", ...; `palpate devices` lists them.

    What follows the colon and the options go to the device's class.  Closes at the end of a `with`, and refuses with
    a DeviceError that says what is missing.
    """
    device = make_device(name, **options)
    device.open()
    return device


def availability(name: str) -> str:
    """One line about a driver: "found ..." or "not found: ..."; opens nothing."""
    libraries = {"force-dimension": FORCE_DIMENSION, "openhaptics": OPENHAPTICS}
    if name in libraries:  # asked without importing the driver, which loads the compiler
        return libraries[name].available()
    module = DRIVERS[name][0].partition(":")[0]
    return str(importlib.import_module(module).available())
