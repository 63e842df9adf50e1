"""The OpenHaptics driver against a fake of the vendor's library, with a scheduler thread or frame by frame."""

import math
import threading
import time

import numpy as np
import pytest
from contracts.test_devices import (  # noqa: F401  the contract, run here with the fake
    test_a_closed_device_refuses_to_work,
    test_a_wrench_above_a_limit_or_not_finite_is_refused,
    test_it_states_its_limits,
    test_reading_fills_the_callers_arrays_and_keeps_none_of_them,
)
from fake_hd import FakeHD, FakeStylus
from hypothesis import given, settings
from hypothesis import strategies as st
from waiting import WAIT_S

import palpate as pp
from palpate.haptics.devices.drivers import library, openhaptics
from palpate.haptics.devices.drivers.openhaptics import LIMITS, UNKNOWN, OpenHaptics
from palpate.haptics.devices.drivers.openhaptics_kernels import DEAD_S, MM, copy_newest, load, publish
from palpate.haptics.devices.port import LOST, NOTHING_NEW, OK, SATURATED  # fmt: skip
from palpate.haptics.devices.protocol import HAND_SPEED_M_S, DeviceError, DeviceReading, wrench
from palpate.jit import DISABLED, entry, warm
from palpate.jit.routines import call_routine

pytestmark = pytest.mark.nojit
TURN = np.array([[0, 0, -1], [-1, 0, 0], [0, 1, 0]])  # the vendor's x right, y up, z toward the person
COMMUNICATION_ERROR, WARM_MOTORS = 0x0302, 0x0200


@entry("intp, intp")
def run_routine_entry(routine, block):
    return call_routine(routine, block)


class Tick:
    """What a tick does with a device: routines by their addresses, and a clock of its own."""

    def __init__(self, device, now_s=100.0):
        self.way, self.port, self.now_s = device.in_tick, device.in_tick.port, now_s

    def sample(self, after_s=1e-3):
        self.now_s += after_s
        self.port.now_s = self.now_s
        return run_routine_entry(self.way.sample.address, self.way.block.address)

    def send(self, *force):
        self.port.force = force
        return run_routine_entry(self.way.send.address, self.way.block.address)


def a_moment():
    """A clock that stands still: nothing falls silent."""
    return 5.0


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """A busy machine must not look like a scheduler that does not run."""
    monkeypatch.setattr(openhaptics, "READY_S", 30.0)


@pytest.fixture
def device():
    """For the contract."""
    device = OpenHaptics(library=FakeHD(), clock=a_moment)
    yield device
    device.close()


@pytest.fixture
def opened():
    """opened(FakeStylus, ...): the driver, the fake stylus and the fake library, frame by frame unless told."""
    made = []

    def make(stylus=None, manual=True, rate_hz=1000.0, bad_start=0, **settings):
        stylus = stylus or FakeStylus()
        lib = FakeHD(manual=manual, rate_hz=rate_hz, bad_start=bad_start, **{"Default Device": stylus})
        made.append(OpenHaptics(library=lib, **settings))
        made[-1].open()
        return made[-1], stylus, lib

    yield make
    for device in made:
        device.close()


vectors = st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3).map(np.array)


def test_poses_come_in_our_axes_and_metres(opened):
    device, stylus, lib = opened()
    tick = Tick(device)

    @settings(max_examples=30, deadline=None)
    @given(vectors, vectors, vectors, vectors, st.integers(0, 15))
    def check(position, velocity, spin, turn, buttons):
        angle = float(np.linalg.norm(turn))
        R = pp.Rotation.about(turn / angle, angle) if angle > 1e-6 else pp.Rotation.about((0, 0, 1), 0.0)
        stylus.transform[:3, :3], stylus.transform[:3, 3] = R.matrix(), position / MM
        stylus.velocity, stylus.spin, stylus.buttons = velocity / MM, spin, buttons
        lib.frames(1)
        assert tick.sample() == OK
        reading = tick.port
        assert reading.position == pytest.approx(TURN @ position)
        assert reading.velocity == pytest.approx(TURN @ velocity)
        assert reading.spin == pytest.approx(TURN @ spin)
        ours = TURN @ R.matrix() @ TURN.T
        assert pp.Rotation(reading.quaternion).matrix() == pytest.approx(ours, abs=1e-12)
        assert tick.port.buttons == buttons

    check()


def test_pushing_away_left_and_up_means_the_same_to_both(opened, eventually):
    """In words: away from the person is the vendor's -z, left is its -x, up is its y."""
    device, stylus, lib = opened()
    tick = Tick(device)

    def arrives():  # a command is obeyed for 50 ms: on a busy machine, again
        assert tick.send(1.0, 2.0, 0.5) == OK
        lib.frames(1)
        return stylus.forces[-1] == pytest.approx([-2.0, 0.5, -1.0])

    eventually(arrives)


def test_a_command_of_a_tick_that_is_gone_is_not_obeyed(opened):
    """design.md section 6: after 50 ms zero, outside the loop."""
    device, stylus, lib = opened()
    Tick(device).send(1.0, 0.0, 0.0)
    time.sleep(DEAD_S + 0.01)
    lib.frames(1)
    assert not stylus.forces[-1].any()


def test_a_reading_keeps_its_age(opened):
    device, _, lib = opened()
    tick = Tick(device)
    lib.frames(1)
    time.sleep(0.02)
    assert tick.sample() == OK
    assert tick.port.sampled_s <= tick.now_s - 0.02


def test_silence_of_the_vendors_thread_is_a_loss_after_20_ms(opened):
    """design.md section 6: the force of a lost device goes to zero in 20 ms, so by then it must be known."""
    device, _, lib = opened()
    tick = Tick(device)
    assert tick.sample() == OK
    results = [tick.sample() for _ in range(25)]
    assert results[:19] == [NOTHING_NEW] * 19
    assert results[21:] == [LOST] * 4
    assert "silent for 20 ms" in device.reason()
    lib.frames(1)
    assert tick.sample() == OK  # it may come back


def test_an_error_ends_the_servo_with_zero_force_and_its_reason(opened):
    device, stylus, lib = opened()
    tick = Tick(device)
    tick.send(1.0, 1.0, 1.0)
    stylus.error = COMMUNICATION_ERROR
    lib.frames(3)
    assert not stylus.forces[-1].any()
    assert not lib.tasks  # it asked not to be called again
    assert tick.sample() == LOST
    assert tick.send(1.0, 1.0, 1.0) == LOST
    with pytest.raises(DeviceError, match=r"'Touch' was lost: communication error \(0x0302\)"):
        device.read(DeviceReading())


def test_an_error_that_nobody_knows_is_reported_by_its_number(opened):
    device, stylus, lib = opened()
    stylus.error = 0x0777
    lib.frames(2)
    with pytest.raises(DeviceError, match="was lost: error 0x0777"):
        device.read(DeviceReading())


def test_warm_motors_are_saturation_and_the_servo_goes_on(opened):
    device, stylus, lib = opened()
    tick = Tick(device)
    stylus.error = WARM_MOTORS
    lib.frames(1)
    stylus.error = 0
    assert tick.sample() == OK
    assert tick.send(1.0, 0.0, 0.0) == SATURATED
    assert tick.send(1.0, 0.0, 0.0) == OK
    lib.frames(1)
    assert tick.sample() == OK


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_reading_that_is_not_a_number_is_a_loss_and_never_reaches_the_tick(bad, opened):
    device, stylus, lib = opened()
    tick = Tick(device)
    assert tick.sample() == OK
    stylus.velocity = np.array([0.0, bad, 0.0])
    lib.frames(1)
    assert tick.sample() == LOST
    assert np.isfinite(tick.port.position + tick.port.velocity + tick.port.quaternion + tick.port.spin).all()
    assert "not a number" in device.reason()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_command_that_is_not_a_number_reaches_the_motors_as_zero(bad, opened):
    device, stylus, lib = opened()
    assert Tick(device).send(1.0, bad, 1.0) == SATURATED
    lib.frames(1)
    assert not stylus.forces[-1].any()


def test_opening_follows_the_vendors_order(opened):
    _, stylus, lib = opened()
    assert lib.calls == ["hdInitDevice", *["hdEnable"] * 3, "hdScheduleAsynchronous", "hdStartScheduler"]
    assert stylus.enabled == {0x4000, 0x4001, 0x4003}  # force output, and the vendor's own limits
    assert not np.any(stylus.forces)


def test_closing_sends_zero_force_first_always(opened, monkeypatch):
    monkeypatch.setattr(openhaptics, "LAST_FRAME_S", 20.0)
    device, stylus, lib = opened(manual=False, clock=a_moment)
    device.write(wrench([1.0, 0.0, 0.0]))
    lib.calls.clear()
    device.close()
    device.close()
    assert not stylus.forces[-1].any()
    assert lib.calls == ["hdStopScheduler", "hdUnschedule", "hdDisable", "hdDisableDevice"]
    assert 0x4000 not in stylus.enabled
    assert lib.thread is None


def test_errors_while_the_scheduler_starts_are_expected(opened):
    """People with a Touch report illegal frames and a default pose until the servo loop really runs."""
    device, _, _ = opened(manual=False, bad_start=6, clock=a_moment)
    device.read(DeviceReading())


def test_calibration_is_updated_in_the_vendors_thread_when_it_is_asked_for(opened):
    _, stylus, lib = opened(FakeStylus(calibration=0x5001), manual=False)
    assert lib.calls.count("hdUpdateCalibration") >= 1
    assert stylus.calibration == 0x5000


def test_a_device_that_cannot_be_calibrated_says_what_to_do(monkeypatch):
    monkeypatch.setattr(openhaptics, "READY_S", 0.1)
    for stylus, calibrate in ((FakeStylus(calibration=0x5002), True), (FakeStylus(calibration=0x5001), False)):
        lib = FakeHD(**{"Default Device": stylus})
        with pytest.raises(DeviceError, match="'Touch' gives no readings: it is not calibrated; put the stylus into"):
            OpenHaptics(library=lib, calibrate=calibrate).open()
        assert lib.thread is None
        assert lib.calls[-1] == "hdDisableDevice"


def test_a_scheduler_that_does_not_run_is_an_error(monkeypatch):
    monkeypatch.setattr(openhaptics, "READY_S", 0.1)
    lib = FakeHD()
    lib.stalled = True
    with pytest.raises(DeviceError, match="scheduler does not run"):
        OpenHaptics(library=lib).open()


def test_no_device_says_what_to_do():
    """The vendor's open may fail and return a handle: 0xFFFFFFFF."""
    lib = FakeHD()
    with pytest.raises(DeviceError, match=r"no device left: device fault \(0x0300\); connect it, set it up"):
        OpenHaptics("left", library=lib).open()
    assert "hdStartScheduler" not in lib.calls


def test_a_missing_or_wrong_library_says_where_it_was_looked_for(monkeypatch, tmp_path):
    monkeypatch.setattr(library, "SYSTEM_FOLDERS", (str(tmp_path), str(tmp_path)))
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    monkeypatch.delenv("OH_SDK_BASE", raising=False)
    with pytest.raises(DeviceError, match=r"no libHD.so\* in \$OH_SDK_BASE, .*install the OpenHaptics runtime"):
        OpenHaptics().open()
    assert openhaptics.available().startswith("not found: libHD.so*")
    (tmp_path / "libHD.so").write_text("this is not a library")
    assert openhaptics.available() == f"found {tmp_path / 'libHD.so'}"
    with pytest.raises(DeviceError, match=r"libHD\.so cannot be loaded"):
        OpenHaptics().open()
    with pytest.raises(DeviceError, match="its library has no hdUnschedule"):
        OpenHaptics(library=FakeHD(missing=("hdUnschedule",))).open()


@pytest.mark.parametrize("limits", LIMITS)
def test_limits_are_the_published_ones_and_no_more_than_the_vendor_allows(limits, opened):
    name = f"PHANToM {limits.model}".encode()
    for much in (100.0, 0.0):  # a library that does not know says nothing
        vendor = FakeStylus(name, max_force=much, max_stiffness=much, continuous_force=much, velocity_limit=1e3 * much)
        device, _, _ = opened(vendor)
        assert (device.spec.force_limit_N, device.spec.stiffness_limit_N_m) == (limits.force_N, limits.stiffness_N_m)
        assert (device.spec.continuous_force_N, device.spec.velocity_limit_m_s) == (limits.continuous_N, HAND_SPEED_M_S)
        device.close()
    device, _, _ = opened(FakeStylus(name, max_force=1.5, max_stiffness=0.2, continuous_force=0.3, velocity_limit=900))
    assert (device.spec.force_limit_N, device.spec.stiffness_limit_N_m) == (1.5, 200.0)
    assert (device.spec.continuous_force_N, device.spec.velocity_limit_m_s) == (0.3, 0.9)
    assert device.spec.workspace_radius_m == pytest.approx(0.035)


def test_an_unknown_model_gets_the_weakest_limits(opened):
    assert all(UNKNOWN.force_N <= known.force_N and UNKNOWN.continuous_N <= known.continuous_N for known in LIMITS)
    device, _, _ = opened(FakeStylus(model=b"Marvel 9", max_force=100.0))
    assert device.spec.force_limit_N == UNKNOWN.force_N


def test_two_devices_share_the_scheduler_and_do_not_mix():
    left, right = FakeStylus(model=b"Touch"), FakeStylus(model=b"Omni")
    left.transform[0, 3], right.transform[0, 3] = -100.0, 100.0
    lib = FakeHD(manual=True, left=left, right=right)
    devices = [OpenHaptics(name, library=lib) for name in ("left", "right")]
    for device in devices:
        device.open()
    ticks = [Tick(device) for device in devices]
    for step in range(20):  # the second runs at a third of the first's rate
        lib.frames(1)
        assert ticks[0].sample() == OK
        assert ticks[0].port.position[1] == pytest.approx(0.1)
        if step % 3 == 0:
            assert ticks[1].sample(after_s=3e-3) == OK
            assert ticks[1].port.position[1] == pytest.approx(-0.1)
    left.error = COMMUNICATION_ERROR
    lib.frames(2)
    assert ticks[0].sample() == LOST
    assert ticks[1].sample() == OK  # the other goes on
    devices[0].close()
    assert lib.calls[-2:] == ["hdDisableDevice", "hdStartScheduler"]
    lib.frames(1)
    assert ticks[1].sample() == OK
    devices[1].close()
    assert lib.calls[-1] == "hdDisableDevice"
    assert not lib.tasks


def test_a_device_that_does_not_open_leaves_the_other_running(opened):
    first, _, lib = opened(manual=False)
    with pytest.raises(DeviceError, match="no device right"):
        OpenHaptics("right", library=lib).open()
    assert lib.thread is not None
    assert first.is_open


@entry("intp, int64")
def publish_many(address, count):
    _, x = load(address)
    for n in range(1, count + 1):
        for i in range(16):
            x.transform[i] = float(n) if 12 <= i < 15 else 1.0 if i % 5 == 0 else 0.0
        for i in range(3):
            x.vendor_velocity[i] = float(n)
        publish(x, n, float(n))


@entry("intp, int64, int64[::1]")
def copy_many(address, until, counts):
    """counts: readings taken, readings of which the parts differ."""
    port, x = load(address)
    stamp = 0.0
    while stamp < until:
        found = copy_newest(port, x)
        if not math.isnan(found):
            stamp = found
            counts[0] += 1
            for part in (port.position, port.velocity):
                for i in range(3):
                    if abs(abs(part[i]) - MM * stamp) > 1e-9 or port.buttons != int(stamp):
                        counts[1] += 1


def test_no_reading_is_torn(opened):
    """Two threads at full speed: position, velocity, buttons and stamp are always of the same frame."""
    device, _, lib = opened()
    lib.tasks.clear()  # nobody else writes
    count, counts, address = 2000 if DISABLED else 300_000, np.zeros(2, dtype=np.int64), device.in_tick.block.address
    for function in (publish_many, copy_many):
        warm(function)
    Tick(device).sample()  # what was left from opening
    reader = threading.Thread(target=copy_many, args=(address, count, counts))
    reader.start()
    publish_many(address, count)
    reader.join(WAIT_S)
    assert not reader.is_alive()
    assert counts[0] > 0
    assert counts[1] == 0


def test_closing_under_a_running_tick_and_reader_is_safe(opened, eventually):
    device, _, _ = opened(manual=False)
    tick, results, stop = Tick(device), [], threading.Event()

    def run():
        while not stop.is_set():
            results.append(tick.sample(after_s=0.0))
            tick.send(0.1, 0.0, 0.0)

    thread = threading.Thread(target=run)
    thread.start()
    eventually(lambda: len(results) > 20)
    device.close()
    ticks = len(results)
    eventually(lambda: len(results) > ticks + 5)
    stop.set()
    thread.join()
    assert results[-1] == LOST
    assert "closed" in device.reason()


REAL = """
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include <string.h>
typedef struct { unsigned code; int internal; unsigned device; } HDErrorInfo;
typedef unsigned (*Callback)(void *);
static Callback callback; static void *data; static atomic_int running; static pthread_t thread;
static double force[3]; static unsigned pending; static int frames;
static void *run(void *p) {
  while (atomic_load(&running)) { if (callback && !callback(data)) callback = 0; usleep(500); }
  return 0; }
unsigned hdInitDevice(const char *n) { return n && strcmp(n, "left") ? 0xFFFFFFFFu : 7; }
void hdDisableDevice(unsigned d) {}  void hdMakeCurrentDevice(unsigned d) {}  void hdBeginFrame(unsigned d) {}
void hdEndFrame(unsigned d) { if (d != 7) pending = 0x0104; if (++frames < 3) pending = 0x0401; }
void hdEnable(unsigned c) {}  void hdDisable(unsigned c) {}  const char *hdGetString(unsigned n) { return "Touch X"; }
/* the position is the force that was sent [mm]: what goes out comes back */
void hdGetDoublev(unsigned n, double *v) {
  int i;
  if (n == 0x2052) { for (i = 0; i < 16; i++) v[i] = i % 5 == 0; for (i = 0; i < 3; i++) v[12 + i] = force[i]; }
  else if (n == 0x2051 || n == 0x2053) for (i = 0; i < 3; i++) v[i] = 1000 * (i + 1);
  else v[0] = 0; }
void hdGetIntegerv(unsigned n, int *v) { *v = n == 0x2000 ? 3 : 4; }
void hdSetDoublev(unsigned n, const double *v) { if (n == 0x2700) memcpy(force, v, sizeof force); }
HDErrorInfo hdGetError(void) { HDErrorInfo e = {pending, -1, 7}; pending = 0; if (!e.code) e.internal = -5; return e; }
unsigned hdCheckCalibration(void) { return 0x5000; }  void hdUpdateCalibration(unsigned s) {}
void hdStartScheduler(void) { atomic_store(&running, 1); pthread_create(&thread, 0, run, 0); }
void hdStopScheduler(void) { if (atomic_exchange(&running, 0)) pthread_join(thread, 0); }
unsigned long hdScheduleAsynchronous(Callback c, void *d, unsigned short p) { data = d; callback = c; return 1; }
void hdUnschedule(unsigned long t) { callback = 0; }
"""


def test_a_real_shared_library_calls_our_compiled_servo_from_its_own_thread(compiled_library, monkeypatch, eventually):
    """The error struct comes by value, as the vendor's does, with rubbish beside a code of zero."""
    path = compiled_library("libHD.so.3.4", REAL)
    monkeypatch.setenv("OH_SDK_BASE", str(path.parent))
    device = OpenHaptics("left", clock=a_moment)
    device.open()
    reading = DeviceReading()

    def arrives():
        device.write(wrench([0.5, 1.0, 2.0]))
        device.read(reading)
        return reading.position_m == pytest.approx([0.5e-3, 1e-3, 2e-3])

    eventually(arrives)
    assert reading.velocity_m_s == pytest.approx([-3, -1, 2])
    assert reading.buttons == 3
    device.close()
    with pytest.raises(DeviceError, match="no device right: "):
        OpenHaptics("right", library=str(path)).open()
