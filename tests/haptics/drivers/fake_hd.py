"""A fake of OpenHaptics: C functions around a Python object, with a scheduler thread that calls the driver's callback.

HDErrorInfo is returned as the 64 bits that a caller finds in the result register; the compiled fake of
test_driver_openhaptics.py returns the struct itself.
"""

import ctypes
import threading
import time
from ctypes import c_char_p, c_int, c_int64, c_uint, c_ulong, c_ushort, c_void_p
from dataclasses import dataclass, field

import numpy as np

PD, PI = ctypes.POINTER(ctypes.c_double), ctypes.POINTER(c_int)
FORCE, TRANSFORM, VELOCITY, SPIN, BUTTONS = 0x2700, 0x2052, 0x2051, 0x2053, 0x2000
Servo = ctypes.CFUNCTYPE(c_uint, c_void_p)


@dataclass
class FakeStylus:
    """One device, in the vendor's axes and millimetres."""

    model: bytes = b"Touch"
    max_force: float = 3.3
    max_stiffness: float = 0.5
    continuous_force: float = 0.88
    velocity_limit: float = 1200.0
    transform: np.ndarray = field(default_factory=lambda: np.eye(4))
    velocity: np.ndarray = field(default_factory=lambda: np.zeros(3))
    spin: np.ndarray = field(default_factory=lambda: np.zeros(3))
    buttons: int = 0
    forces: list = field(default_factory=list)
    enabled: set = field(default_factory=set)
    calibration: int = 0x5000
    styles: int = 4
    error: int = 0  # raised at the end of the next frame, and again until it is 0
    started: bool = False


class FakeHD:
    """Stands where ctypes.CDLL would."""

    def __init__(self, rate_hz=1000.0, missing=(), bad_start=0, manual=False, **devices):
        self.devices, self.handles = devices or {"Default Device": FakeStylus()}, []
        self.rate_hz, self.calls, self.errors = rate_hz, [], []
        self.manual = manual  # no thread: frames come when `frames` is called, and ten at the start
        self.current, self.tasks, self.thread, self.frame = 0, {}, None, None
        self.bad_start = bad_start  # frames with errors after the scheduler starts, as the real one has
        self.stalled, self.stop_event, self.lock = False, threading.Event(), threading.Lock()
        none = None
        table = {
            "hdInitDevice": (c_uint, (c_char_p,)), "hdDisableDevice": (none, (c_uint,)),
            "hdMakeCurrentDevice": (none, (c_uint,)),
            "hdBeginFrame": (none, (c_uint,)), "hdEndFrame": (none, (c_uint,)),
            "hdEnable": (none, (c_uint,)), "hdDisable": (none, (c_uint,)), "hdGetString": (c_char_p, (c_uint,)),
            "hdGetDoublev": (none, (c_uint, PD)), "hdGetIntegerv": (none, (c_uint, PI)),
            "hdSetDoublev": (none, (c_uint, PD)), "hdGetError": (c_int64, ()), "hdCheckCalibration": (c_uint, ()),
            "hdUpdateCalibration": (none, (c_uint,)), "hdStartScheduler": (none, ()), "hdStopScheduler": (none, ()),
            "hdScheduleAsynchronous": (c_ulong, (c_void_p, c_void_p, c_ushort)), "hdUnschedule": (none, (c_ulong,)),
        }  # fmt: skip
        for name, (result, arguments) in table.items():
            if name not in missing:
                action = getattr(self, "_" + name)
                setattr(self, name, ctypes.CFUNCTYPE(result, *arguments)(self._noted(name, action)))

    def _noted(self, name, action):
        def call(*values):
            if name in ("hdInitDevice", "hdEnable", "hdDisable", "hdStartScheduler", "hdStopScheduler", "hdUnschedule",
                        "hdScheduleAsynchronous", "hdDisableDevice", "hdUpdateCalibration"):  # fmt: skip
                self.calls.append(name)
            return action(*values)

        return call

    @property
    def device(self):
        return self.handles[self.current]

    def _hdInitDevice(self, name):
        name = (name or b"Default Device").decode()
        if name not in self.devices:
            self.errors.append(0x0300)
            return 0xFFFFFFFF
        self.handles.append(self.devices[name])
        self.current = len(self.handles) - 1
        return self.current

    def _hdDisableDevice(self, handle):
        pass

    def _hdMakeCurrentDevice(self, handle):
        self.current = handle

    def _hdBeginFrame(self, handle):
        self.frame = handle

    def _hdEndFrame(self, handle):
        if self.bad_start > 0:
            self.bad_start -= 1
            self.errors.append(0x0401)
        elif self.frame != handle:
            self.errors.append(0x0401)
        elif self.handles[handle].error:
            self.errors.append(self.handles[handle].error)
        self.frame = None

    def _hdEnable(self, what):
        self.device.enabled.add(what)

    def _hdDisable(self, what):
        self.device.enabled.discard(what)

    def _hdGetString(self, what):
        self._kept = c_char_p(self.device.model)
        return ctypes.cast(self._kept, c_void_p).value

    def _hdGetDoublev(self, what, out):
        d = self.device
        values = {
            TRANSFORM: d.transform.ravel(order="F"), VELOCITY: d.velocity, SPIN: d.spin, 0x2602: [d.max_stiffness],
            0x2603: [d.max_force], 0x2604: [d.continuous_force], 0x2606: [d.velocity_limit],
            0x2551: [-80, -60, -35, 80, 60, 35],
        }[what]  # fmt: skip
        for i, value in enumerate(values):
            out[i] = value

    def _hdGetIntegerv(self, what, out):
        out[0] = {BUTTONS: self.device.buttons, 0x2555: self.device.styles}[what]

    def _hdSetDoublev(self, what, values):
        if what == FORCE:
            self.device.forces.append(np.array(values[:3]))

    def _hdGetError(self):
        return self.errors.pop() if self.errors else 0

    def _hdCheckCalibration(self):
        return self.device.calibration

    def _hdUpdateCalibration(self, style):
        assert style == self.device.styles
        self.device.calibration = 0x5000

    def _hdScheduleAsynchronous(self, callback, data, priority):
        task = len(self.tasks) + 1
        self.tasks[task] = (Servo(callback), data)
        return task

    def _hdUnschedule(self, task):
        self.tasks.pop(task, None)

    def _hdStartScheduler(self):
        assert self.thread is None, "the scheduler was started twice"
        if self.manual:
            self.frames(10)
            return
        self.stop_event.clear()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _hdStopScheduler(self):
        if self.thread is not None:
            self.stop_event.set()
            self.thread.join()
            self.thread = None

    def frames(self, count=1):
        for _ in range(count):
            for task, (callback, data) in list(self.tasks.items()):
                if callback(data) == 0:
                    self.tasks.pop(task, None)

    def _run(self):
        while not self.stop_event.is_set():
            if not self.stalled:
                self.frames()
            time.sleep(1.0 / self.rate_hz)
