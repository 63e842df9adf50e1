"""Devices: what a hand holds.  One file and one line here each; all keep the contract in tests/contracts."""

from palpate.registry import Registry

DEVICES: Registry = {
    "pointer": ("palpate.haptics.devices.pointer:Pointer", "the mouse or finger in the browser page (the default)"),
    "scripted": (
        "palpate.haptics.devices.scripted:Scripted",
        "a hand that follows a written path",
    ),
    "null": ("palpate.haptics.devices.null:Null", "no device: senses nothing, takes any force and drops it"),
}
