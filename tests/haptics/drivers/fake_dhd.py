"""A fake of Force Dimension's library: C functions around a Python object, one per symbol that the driver uses.

It keeps what was called, in order, and answers as the vendor's headers say; each device has its own pose and faults.
"""

import ctypes
from ctypes import c_bool, c_byte, c_char_p, c_double, c_int, c_ubyte, c_uint
from dataclasses import dataclass, field

import numpy as np

PD = ctypes.POINTER(c_double)


@dataclass
class FakeDevice:
    """One device behind the fake library; vectors in the vendor's axes."""

    kind: int = 33
    name: bytes = b"omega.3"
    wrist: bool = False
    active_wrist: bool = False
    gripper: bool = False
    supported: bool = True
    initialised: bool = True
    position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    velocity: np.ndarray = field(default_factory=lambda: np.zeros(3))
    spin: np.ndarray = field(default_factory=lambda: np.zeros(3))
    frame: np.ndarray = field(default_factory=lambda: np.eye(3))
    buttons: int = 0
    forces: list = field(default_factory=list)  # every seven numbers it was sent
    answer: dict = field(default_factory=dict)  # symbol: what it answers instead of 0
    opened: bool = False


class FakeDHD:
    """Stands where ctypes.CDLL would: an attribute for each symbol, each a C function."""

    def __init__(self, *devices: FakeDevice, missing: tuple[str, ...] = ()):
        self.devices, self.calls, self.error = list(devices), [], b"no error"
        for name, (result, arguments) in self._functions().items():
            if name not in missing:
                setattr(self, name, self._c_function(name, result, arguments))

    def _c_function(self, name, result, arguments):
        action = getattr(self, "_" + name, None)

        def call(*values):
            self.calls.append((name, *[v for v in values if isinstance(v, int | float)]))
            known = values and name != "drdOpenID"  # all others end with the number of an open device
            code = self.devices[values[-1]].answer.get(name) if known else None
            if code is not None and code < 0:
                self.error = b"communication error"
                return code
            value = action(*values) if action else 0
            return value if code is None else code

        return ctypes.CFUNCTYPE(result, *arguments)(call)

    @staticmethod
    def _functions():
        three, one = (PD, PD, PD, c_byte), (c_byte,)
        return {
            "drdOpen": (c_int, ()), "drdOpenID": (c_int, one), "drdClose": (c_int, one),
            "drdIsSupported": (c_bool, one), "drdIsInitialized": (c_bool, one), "drdAutoInit": (c_int, one),
            "drdStop": (c_int, (c_bool, c_byte)), "dhdErrorGetLastStr": (c_char_p, ()),
            "dhdGetSystemType": (c_int, one), "dhdGetSystemName": (c_char_p, one), "dhdHasWrist": (c_bool, one),
            "dhdHasActiveWrist": (c_bool, one), "dhdHasGripper": (c_bool, one),
            "dhdEmulateButton": (c_int, (c_ubyte, c_byte)), "dhdSetEffectorMass": (c_int, (c_double, c_byte)),
            "dhdSetGravityCompensation": (c_int, (c_int, c_byte)), "dhdEnableForce": (c_int, (c_ubyte, c_byte)),
            "dhdGetPosition": (c_int, three), "dhdGetLinearVelocity": (c_int, three),
            "dhdGetAngularVelocityRad": (c_int, three), "dhdGetOrientationFrame": (c_int, (PD, c_byte)),
            "dhdGetButtonMask": (c_uint, one),
            "dhdSetForceAndTorqueAndGripperForce": (c_int, (c_double,) * 7 + (c_byte,)),
        }  # fmt: skip

    def names(self) -> list[str]:
        return [call[0] for call in self.calls]

    def _drdOpen(self):
        return self._drdOpenID(next((i for i, d in enumerate(self.devices) if not d.opened), -1))

    def _drdOpenID(self, number):
        if not 0 <= number < len(self.devices) or self.devices[number].opened:
            self.error = b"no device found"
            return -1
        self.devices[number].opened = True
        return number

    def _drdClose(self, number):
        self.devices[number].opened = False
        return 0

    def _drdIsSupported(self, number):
        return self.devices[number].supported

    def _drdIsInitialized(self, number):
        return self.devices[number].initialised

    def _drdAutoInit(self, number):
        self.devices[number].initialised = True
        return 0

    def _dhdErrorGetLastStr(self):
        return self.error_buffer()

    def error_buffer(self):
        self._kept = ctypes.c_char_p(self.error)  # a C function returns an address: what is there must stay
        return ctypes.cast(self._kept, ctypes.c_void_p).value

    def _dhdGetSystemType(self, number):
        return self.devices[number].kind

    def _dhdGetSystemName(self, number):
        self._name = ctypes.c_char_p(self.devices[number].name)
        return ctypes.cast(self._name, ctypes.c_void_p).value

    def _dhdHasWrist(self, number):
        return self.devices[number].wrist

    def _dhdHasActiveWrist(self, number):
        return self.devices[number].active_wrist

    def _dhdHasGripper(self, number):
        return self.devices[number].gripper

    @staticmethod
    def _fill(values, *pointers):
        for pointer, value in zip(pointers, values, strict=True):
            pointer[0] = value
        return 0

    def _dhdGetPosition(self, x, y, z, number):
        return self._fill(self.devices[number].position, x, y, z)

    def _dhdGetLinearVelocity(self, x, y, z, number):
        return self._fill(self.devices[number].velocity, x, y, z)

    def _dhdGetAngularVelocityRad(self, x, y, z, number):
        return self._fill(self.devices[number].spin, x, y, z)

    def _dhdGetOrientationFrame(self, matrix, number):
        for i, value in enumerate(self.devices[number].frame.ravel()):
            matrix[i] = value
        return 0

    def _dhdGetButtonMask(self, number):
        return self.devices[number].buttons

    def _dhdSetForceAndTorqueAndGripperForce(self, *values):
        self.devices[values[-1]].forces.append(np.array(values[:-1]))
        return 0
