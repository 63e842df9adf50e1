"""Devices: what a hand holds.  One file and one line here each; all keep the contract in tests/contracts.

DEVICES need nothing but palpate; DRIVERS need the vendor's library, a service or another package, and none of them has
been tried on hardware.
"""

from palpate.registry import Registry

DEVICES: Registry = {
    "pointer": ("palpate.haptics.devices.pointer:Pointer", "the mouse or finger in the browser page (the default)"),
    "simulated": (
        "palpate.haptics.devices.simulation.simulated:Simulated",
        "a simulated device with a simulated hand on it: simulated:phantom-premium-1.5 (-6dof, -gimbal), :touch, :omni",
    ),
    "simulated:pantograph": (
        "palpate.planar.pantograph.device:SimulatedPantograph",
        "two pantographs and a crank: x, y and unlimited rotation in a plane, with a simulated hand on it",
    ),
    "playback": ("palpate.haptics.devices.simulation.playback:Playback", "a recorded hand: playback:FILE.csv"),
    "scripted": ("palpate.haptics.devices.simulation.scripted:Scripted", "a hand that follows a written path"),
    "null": ("palpate.haptics.devices.null:Null", "no device: senses nothing, takes any force and drops it"),
}
DRIVERS: Registry = {
    "force-dimension": (
        "palpate.haptics.devices.drivers.force_dimension:ForceDimension",
        "omega, sigma, delta, lambda, Falcon, through the vendor's libdrd",
    ),
    "openhaptics": (
        "palpate.haptics.devices.drivers.openhaptics:OpenHaptics",
        "Touch, PHANToM Omni, Desktop, Premium, through the vendor's libHD: openhaptics:NAME",
    ),
    "haply": ("palpate.haptics.devices.drivers.haply:Haply", "Inverse3, through the vendor's service on this machine"),
    "spacemouse": (
        "palpate.haptics.devices.drivers.spacemouse:SpaceMouse",
        "a SpaceMouse, without force (pip install palpate[hid])",
    ),
    "gamepad": (
        "palpate.haptics.devices.drivers.gamepad:Gamepad",
        "a gamepad that rumbles with the force (pip install palpate[gamepad])",
    ),
}
