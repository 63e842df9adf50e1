"""The Force Dimension driver against a fake of the vendor's library."""

import threading

import numpy as np
import pytest
from contracts.test_devices import (  # noqa: F401  the contract, run here with the fake
    test_a_closed_device_refuses_to_work,
    test_a_wrench_above_a_limit_or_not_finite_is_refused,
    test_it_states_its_limits,
    test_reading_fills_the_callers_arrays_and_keeps_none_of_them,
)
from fake_dhd import FakeDevice, FakeDHD
from hypothesis import given, settings
from hypothesis import strategies as st
from waiting import WAIT_S

import palpate as pp
from palpate.haptics.devices.drivers import force_dimension, library
from palpate.haptics.devices.drivers.force_dimension import LIMITS, UNKNOWN, ForceDimension
from palpate.haptics.devices.port import LOST, NOTHING_NEW, OK, SATURATED, put_wrench  # fmt: skip
from palpate.haptics.devices.protocol import DeviceError, DeviceReading, wrench
from palpate.jit import entry
from palpate.jit.routines import call_routine

pytestmark = pytest.mark.nojit
HALF_TURN = np.diag([-1.0, -1.0, 1.0])  # the vendor's x toward the person, y right, z up
SET, GET, CLOSE = "dhdSetForceAndTorqueAndGripperForce", "dhdGetPosition", "drdClose"


@entry("intp, intp")
def run_entry(routine, block):
    return call_routine(routine, block)


class Tick:
    """What a tick does with a device: routines by their addresses, and a clock of its own."""

    def __init__(self, device, now_s=100.0):
        self.device, self.port, self.now_s = device, device.in_tick.port, now_s

    def sample(self, after_s=1e-3):
        self.now_s += after_s
        self.port.now_s = self.now_s
        return run_entry(self.device.in_tick.sample.address, self.device.in_tick.block.address)

    @property
    def reading(self):
        return self.port.position + self.port.velocity + self.port.quaternion + self.port.spin

    def send(self, force, torque=(0.0, 0.0, 0.0)):
        put_wrench(self.port, wrench(force, torque))
        return run_entry(self.device.in_tick.send.address, self.device.in_tick.block.address)


@pytest.fixture
def device():
    """For the contract."""
    device = ForceDimension(library=FakeDHD(FakeDevice()))
    yield device
    device.close()


@pytest.fixture
def opened():
    """opened(FakeDevice, ...): the driver, the fake device and the fake library."""
    made = []

    def make(fake=None, **settings):
        fake = fake or FakeDevice()
        lib = FakeDHD(fake)
        made.append(ForceDimension(library=lib, **settings))
        made[-1].open()
        return made[-1], fake, lib

    yield make
    for device in made:
        device.close()


vectors = st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3).map(np.array)


def test_position_velocity_and_force_are_turned_into_our_axes(opened):
    device, fake, _ = opened()
    tick = Tick(device)

    @settings(max_examples=30, deadline=None)
    @given(vectors, vectors, vectors, st.integers(0, 2**32 - 1))
    def check(position, velocity, force, buttons):
        fake.position, fake.velocity, fake.buttons = position, velocity, buttons
        assert tick.sample() == OK
        assert tick.port.position == pytest.approx(HALF_TURN @ position)
        assert tick.port.velocity == pytest.approx(HALF_TURN @ velocity)
        assert tick.port.quaternion == pytest.approx([1, 0, 0, 0])
        assert tick.port.buttons == buttons
        assert tick.port.sampled_s == tick.now_s
        assert tick.send(force, (1.0, 1.0, 1.0)) == OK
        assert fake.forces[-1] == pytest.approx([*(HALF_TURN @ force), 0, 0, 0, 0])  # no torque: it has no wrist

    check()


def test_pulling_up_and_away_and_left_means_the_same_to_both():
    """In words: away from the person is the vendor's -x, left is its -y, up is its z."""
    fake = FakeDevice(position=np.array([-0.01, -0.02, 0.03]))
    device = ForceDimension(library=FakeDHD(fake))
    device.open()
    reading = DeviceReading()
    device.read(reading)
    assert reading.position_m == pytest.approx([0.01, 0.02, 0.03])
    device.write(wrench([1.0, 2.0, 3.0]))
    assert fake.forces[-1][:3] == pytest.approx([-1.0, -2.0, 3.0])
    device.close()


def test_a_wrist_turns_with_the_axes_and_takes_torque(opened):
    axis, angle = np.array([0.6, 0.0, 0.8]), 0.7
    fake = FakeDevice(kind=104, name=b"sigma.7", wrist=True, active_wrist=True, gripper=True)
    fake.frame, fake.spin = pp.Rotation.about(axis, angle).matrix(), np.array([0.1, 0.2, 0.3])
    device, fake, lib = opened(fake)
    tick = Tick(device)
    assert tick.sample() == OK
    ours = pp.Rotation.about(HALF_TURN @ axis, angle)
    assert tick.port.quaternion == pytest.approx(np.array(ours.wxyz))
    assert tick.port.spin == pytest.approx([-0.1, -0.2, 0.3])
    tick.send((0, 0, 0), (0.1, 0.05, 0.02))
    assert fake.forces[-1] == pytest.approx([0, 0, 0, -0.1, -0.05, 0.02, 0])
    assert (device.spec.senses, device.spec.actuates, device.spec.torque_limit_Nm) == (6, 6, 0.2)
    assert "dhdEmulateButton" in lib.names()  # its gripper holds


def test_opening_follows_the_vendors_order_and_never_moves_the_device_unasked(opened):
    _, fake, lib = opened()
    order = ["drdOpen", "drdIsInitialized", "drdStop", "dhdSetGravityCompensation", "dhdEnableForce", SET, GET]
    at = [lib.names().index(name) for name in order]
    assert at == sorted(at)
    assert ("drdStop", True, 0) in lib.calls  # regulation stops, forces stay on
    assert ("dhdEnableForce", 1, 0) in lib.calls
    assert not fake.forces[0].any()
    assert "drdAutoInit" not in lib.names()


def test_closing_sends_zero_force_first_always(opened):
    device, fake, lib = opened()
    device.write(wrench([3.0, 0.0, 0.0]))
    lib.calls.clear()
    device.close()
    device.close()
    assert lib.names() == [SET, "dhdEnableForce", CLOSE]
    assert lib.calls[1][1] == 0
    assert not fake.forces[-1].any()
    assert not fake.opened


def test_a_device_that_is_not_initialised_is_refused_unless_it_may_move():
    fake = FakeDevice(initialised=False)
    lib = FakeDHD(fake)
    with pytest.raises(DeviceError, match="calibration pit, or open it with initialise=True, which moves"):
        ForceDimension(library=lib).open()
    assert "drdAutoInit" not in lib.names()
    assert not fake.opened  # it is let go again
    lib.calls.clear()
    device = ForceDimension(library=lib, initialise=True)
    device.open()
    assert lib.names().index("drdAutoInit") < lib.names().index("dhdEnableForce")
    device.close()


@pytest.mark.parametrize(
    "symbol", ["drdStop", "dhdSetGravityCompensation", "dhdEnableForce", "dhdSetEffectorMass", SET, GET]
)
def test_a_refusal_while_opening_is_an_error_and_lets_the_device_go(symbol, monkeypatch):
    monkeypatch.setattr(force_dimension, "FIRST_READING_S", 0.05)
    fake = FakeDevice(answer={symbol: -1})
    device = ForceDimension(library=FakeDHD(fake), effector_mass_kg=0.1)
    with pytest.raises(DeviceError, match="communication error") as error:
        device.open()
    assert "\n" not in str(error.value)
    assert not fake.opened
    with pytest.raises(DeviceError, match="is not open"):
        device.read(DeviceReading())


def test_no_device_and_no_such_device_say_what_to_do():
    for index, which in ((None, "no device"), (3, "no device 3")):
        with pytest.raises(DeviceError, match=rf"{which} \(no device found\); connect .* udev rule"):
            ForceDimension(index, library=FakeDHD()).open()


def test_a_missing_or_wrong_library_says_where_it_was_looked_for(monkeypatch, tmp_path):
    monkeypatch.setattr(library, "SYSTEM_FOLDERS", (str(tmp_path), str(tmp_path)))
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    monkeypatch.setenv("FDSDK", str(tmp_path / "kit"))
    with pytest.raises(DeviceError, match=r"no libdrd.so\* in \$FDSDK, .*install the Force Dimension SDK"):
        ForceDimension().open()
    assert force_dimension.available().startswith("not found: libdrd.so*")
    folder = tmp_path / "kit" / "lib" / "release" / "lin-x86_64-gcc"
    folder.mkdir(parents=True)
    (folder / "libdrd.so.3.17.6").write_text("this is not a library")
    assert force_dimension.available() == f"found {folder / 'libdrd.so.3.17.6'}"
    with pytest.raises(DeviceError, match=r"libdrd\.so\.3\.17\.6 cannot be loaded"):
        ForceDimension().open()
    with pytest.raises(DeviceError, match="its library has no dhdGetAngularVelocityRad; install a newer one"):
        ForceDimension(library=FakeDHD(FakeDevice(), missing=("dhdGetAngularVelocityRad",))).open()


@pytest.mark.parametrize(("kind", "limits"), [*LIMITS.items(), (999, UNKNOWN)])
def test_limits_come_from_the_table_of_types(kind, limits, opened):
    device, _, _ = opened(FakeDevice(kind=kind))
    assert device.spec.force_limit_N == limits.force_N
    assert device.spec.stiffness_limit_N_m == limits.stiffness_N_m
    assert device.spec.workspace_radius_m == limits.radius_m
    assert device.spec.continuous_force_N == limits.continuous_N <= limits.force_N


def test_an_unknown_type_gets_the_weakest_limits():
    for known in LIMITS.values():
        assert UNKNOWN.force_N <= known.force_N
        assert UNKNOWN.radius_m <= known.radius_m
        assert UNKNOWN.continuous_N <= known.continuous_N


@pytest.mark.parametrize(("answer", "result"), [(0, OK), (1, NOTHING_NEW), (2, SATURATED), (-1, LOST)])
def test_answers_to_a_force_are_reported(answer, result, opened):
    device, fake, _ = opened()
    fake.answer[SET] = answer
    assert Tick(device).send((1.0, 0.0, 0.0)) == result
    fake.answer.clear()


def test_a_time_guard_keeps_the_old_reading_and_its_age_and_for_ever_it_is_a_loss(opened):
    """design.md section 6: the force of a lost device goes to zero in 20 ms, so by then it must be known."""
    device, fake, _ = opened()
    tick = Tick(device)
    assert tick.sample() == OK
    sampled, before = tick.now_s, tick.reading
    fake.answer[GET] = 1
    fake.position = np.array([0.5, 0.5, 0.5])
    results = [tick.sample() for _ in range(25)]
    assert results[:19] == [NOTHING_NEW] * 19
    assert results[21:] == [LOST] * 4
    assert tick.port.sampled_s == sampled
    assert tick.reading == before
    assert "nothing new for 20 ms" in device.reason()
    fake.answer.clear()
    assert tick.sample() == OK  # it may come back


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("part", ["position", "velocity"])
def test_a_reading_that_is_not_a_number_is_a_loss_and_never_reaches_the_tick(bad, part, opened):
    device, fake, _ = opened()
    tick = Tick(device)
    setattr(fake, part, np.array([0.0, bad, 0.0]))
    assert tick.sample() == LOST
    assert np.isfinite(tick.reading).all()
    with pytest.raises(DeviceError, match="was lost: its reading is not a number"):
        device.read(DeviceReading())


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_command_that_is_not_a_number_reaches_the_motors_as_zero(bad, opened):
    device, fake, _ = opened()
    assert Tick(device).send((1.0, bad, 2.0)) == SATURATED
    assert fake.forces[-1].tolist() == [0.0] * 7


def test_a_device_lost_in_the_middle_says_why_and_can_be_closed(opened):
    device, fake, lib = opened()
    fake.answer.update({GET: -1, SET: -1})
    with pytest.raises(DeviceError, match=r"'omega.3' was lost: a call failed \(communication error\)"):
        device.read(DeviceReading())
    with pytest.raises(DeviceError, match="was lost"):
        device.write(np.zeros(6))
    device.close()
    assert lib.names()[-3:] == [SET, "dhdEnableForce", CLOSE]


def test_a_velocity_that_is_not_ready_yet_is_no_loss(opened):
    """The vendor's estimator looks back 20 ms, and has nothing to look at when the device was just opened."""
    device, fake, _ = opened()
    tick = Tick(device)
    tick.sample()
    fake.answer["dhdGetLinearVelocity"] = -1
    assert tick.sample() == NOTHING_NEW
    assert tick.sample(after_s=0.03) == LOST


def test_two_devices_at_different_rates_do_not_mix():
    fakes = [FakeDevice(), FakeDevice(kind=60, name=b"Falcon")]
    lib = FakeDHD(*fakes)
    devices = [ForceDimension(i, library=lib) for i in range(2)]
    for device in devices:
        device.open()
    ticks = [Tick(device) for device in devices]
    for step in range(40):  # 1000 Hz and 400 Hz
        for i, (tick, fake) in enumerate(zip(ticks, fakes, strict=True)):
            if step * (2, 5)[i] // 5 != (step + 1) * (2, 5)[i] // 5:
                fake.position = np.array([0.001 * step, 0.1 * i, 0.0])
                assert tick.sample(after_s=(2.5e-3, 1e-3)[i]) == OK
                assert tick.port.position == pytest.approx([-0.001 * step, -0.1 * i, 0.0])
                assert tick.send((0.0, 0.0, 1.0 + i)) == OK
                assert fake.forces[-1][2] == 1.0 + i
    devices[0].close()
    assert ticks[0].sample() == LOST
    assert ticks[1].sample() == OK  # the other goes on
    devices[1].close()


@entry("intp, intp, intp, int64[::1]")
def ticks_until_lost(sample, send, block, count):
    while call_routine(sample, block) != LOST:
        call_routine(send, block)
        count[0] += 1
    return count[0]


def test_closing_under_a_running_tick_calls_the_vendor_no_more(opened, eventually):
    device, _, lib = opened()
    way, count = device.in_tick, np.zeros(1, dtype=np.int64)
    arguments = (way.sample.address, way.send.address, way.block.address, count)
    ticking = threading.Thread(target=ticks_until_lost, args=arguments)
    ticking.start()
    eventually(lambda: count[0] > 20)
    device.close()
    ticking.join(WAIT_S)
    assert not ticking.is_alive()
    assert lib.names()[-1] == CLOSE


def test_closing_while_another_thread_reads_ends_its_reading_with_one_clear_line(opened, eventually):
    device, _, lib = opened()
    reading, ended = [0], []

    def read():
        try:
            while True:
                device.read(DeviceReading())
                reading[0] += 1
        except DeviceError as error:
            ended.append(str(error))

    thread = threading.Thread(target=read)
    thread.start()
    eventually(lambda: reading[0] > 20)
    device.close()
    thread.join(WAIT_S)
    assert ended == ["the device 'omega.3' is not open"]
    assert lib.names()[-1] == CLOSE


def test_it_can_be_opened_again(opened):
    device, fake, _ = opened()
    device.close()
    device.open()
    device.read(DeviceReading())
    assert fake.opened


def test_an_impossible_tool_is_refused():
    with pytest.raises(ValueError, match="effector_mass_kg is -1"):
        ForceDimension(effector_mass_kg=-1)


REAL = """
#include <stdbool.h>
static double force[7]; static int error;
int drdOpen(void) { return 0; }  int drdOpenID(char i) { return i; }  int drdClose(char i) { return 0; }
bool drdIsSupported(char i) { return true; }  bool drdIsInitialized(char i) { return true; }
int drdAutoInit(char i) { return 0; }  int drdStop(bool f, char i) { return 0; }
const char *dhdErrorGetLastStr(void) { return "no error"; }
int dhdGetSystemType(char i) { return 63; }  const char *dhdGetSystemName(char i) { return "delta.3"; }
bool dhdHasWrist(char i) { return true; }  bool dhdHasActiveWrist(char i) { return false; }
bool dhdHasGripper(char i) { return false; }  int dhdEmulateButton(unsigned char v, char i) { return -1; }
int dhdSetEffectorMass(double m, char i) { return 0; }  int dhdSetGravityCompensation(int v, char i) { return 0; }
int dhdEnableForce(unsigned char v, char i) { return 0; }
/* the position is the force that was sent: what goes out comes back */
int dhdGetPosition(double *x, double *y, double *z, char i) {
  if (i != 0) return -1;
  *x = 0.001 * force[0]; *y = 0.001 * force[1]; *z = 0.001 * force[2]; return 0; }
int dhdGetLinearVelocity(double *x, double *y, double *z, char i) { *x = 1; *y = 2; *z = 3; return 0; }
int dhdGetAngularVelocityRad(double *x, double *y, double *z, char i) { *x = 4; *y = 5; *z = 6; return 0; }
int dhdGetOrientationFrame(double m[3][3], char i) {
  for (int a = 0; a < 3; a++) for (int b = 0; b < 3; b++) m[a][b] = 0;
  m[0][0] = 1; m[1][2] = -1; m[2][1] = 1; return 0; }          /* a quarter turn about its x */
unsigned dhdGetButtonMask(char i) { return 0x80000001u; }
int dhdSetForceAndTorqueAndGripperForce(double a, double b, double c, double d, double e, double f, double g, char i) {
  if (i != 0) return -1;
  force[0] = a; force[1] = b; force[2] = c; return 0; }
"""


def test_a_real_shared_library_is_loaded_from_its_path_and_called_in_the_tick(compiled_library, monkeypatch):
    path = compiled_library("libdrd.so.3.99", REAL)
    monkeypatch.setenv("FDSDK", str(path.parent))
    device = ForceDimension()
    device.open()
    tick = Tick(device)
    assert tick.send((1.0, 2.0, 3.0)) == OK
    assert tick.sample() == OK
    assert tick.port.position == pytest.approx([1e-3, 2e-3, 3e-3])
    assert tick.port.velocity == pytest.approx([-1, -2, 3])
    assert tick.port.spin == pytest.approx([-4, -5, 6])
    assert tick.port.quaternion == pytest.approx([0.5**0.5, -(0.5**0.5), 0, 0])
    assert tick.port.buttons == 0x80000001
    assert device.spec.name == "delta.3"
    device.close()
