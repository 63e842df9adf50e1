"""The contract that every device keeps; a new device is tested by being in the registry."""

import numpy as np
import pytest

from palpate.haptics.devices import DEVICES
from palpate.haptics.devices.opening import make_device
from palpate.haptics.devices.protocol import FORCE, TORQUE, DeviceError, DeviceReading, DeviceSpec, wrench
from palpate.haptics.devices.simulation.phantom import MODELS
from palpate.haptics.devices.simulation.scripted import Grasp, Scripted

pytestmark = pytest.mark.nojit


@pytest.fixture(params=[*DEVICES, *(f"simulated:{model}" for model in MODELS)])
def device(request):
    device = make_device(request.param)
    yield device
    device.close()


def test_it_states_its_limits(device):
    assert isinstance(device.spec, DeviceSpec)
    assert device.spec.force_limit_N >= 0.0
    assert device.spec.force_rise_N_s > 0.0


def test_a_closed_device_refuses_to_work(device):
    for action in (lambda: device.read(DeviceReading()), lambda: device.write(np.zeros(6))):
        with pytest.raises(DeviceError, match="is not open"):
            action()
    device.open()
    device.read(DeviceReading())
    device.close()
    device.close()  # twice is fine
    with pytest.raises(DeviceError, match="is not open"):
        device.read(DeviceReading())


def test_reading_fills_the_callers_arrays_and_keeps_none_of_them(device):
    device.open()
    first, second = DeviceReading(), DeviceReading()
    kept = first.position_m
    device.read(first)
    assert first.position_m is kept
    first.position_m[:] = 99.0
    device.read(second)
    assert not (second.position_m == 99.0).any()


def test_a_wrench_above_a_limit_or_not_finite_is_refused(device):
    device.open()
    force_N, torque_Nm = device.spec.force_limit_N, device.spec.torque_limit_Nm
    most = wrench([0.6 * force_N, 0, 0.8 * force_N], [0, -0.8 * torque_Nm, 0.6 * torque_Nm])
    device.write(most)
    device.write(np.zeros(6))
    for part, limit in ((FORCE, force_N), (TORQUE, torque_Nm)):
        for wrong in (1.01 * limit + 1e-3, np.nan, np.inf):
            for k in range(part.start, part.stop):
                with pytest.raises(DeviceError):
                    device.write(np.where(np.arange(6) == k, wrong, 0.0))
    for size in (0, 3, 5, 7):  # three numbers are no wrench
        with pytest.raises(DeviceError, match="torque, then force"):
            device.write(np.zeros(size))


def test_a_scripted_hand_is_where_its_script_says():
    hand = Scripted(
        (Grasp("tool", 1.0, 2.0, to=(1.0, 0.0, 0.0)), Grasp("tool", 3.0, 4.0, to=(0.0, 2.0, 0.0), move_s=0.5))
    )
    hand.open()
    reading = DeviceReading()
    path = [
        (0.5, 0, (0, 0, 0)), (1.0, 1, (0, 0, 0)), (1.5, 1, (0.5, 0, 0)), (1.999999999, 1, (1, 0, 0)),
        (2.5, 0, (0, 0, 0)), (3.25, 1, (0, 1, 0)), (3.9, 1, (0, 2, 0)),
    ]  # fmt: skip
    for time_s, holds, where in path:
        hand.advance(time_s)
        hand.read(reading)
        assert reading.buttons == holds
        assert reading.position_m == pytest.approx(where, abs=1e-6)
    with pytest.raises(ValueError, match="grasps overlap"):
        Scripted((Grasp("tool", 0.0, 2.0, to=(0, 0, 0)), Grasp("tool", 1.0, 3.0, to=(0, 0, 0))))


@pytest.mark.parametrize(
    "wrong", [{"force_limit_N": np.nan}, {"force_limit_N": -1.0}, {"force_limit_N": 1.0, "force_rise_N_s": 0.0}]
)
def test_an_impossible_spec_is_refused(wrong):
    with pytest.raises(ValueError, match="force_"):
        DeviceSpec("odd", **wrong)
