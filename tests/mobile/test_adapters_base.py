"""Drivers of bases: the simulated one behind orders, and a robot with ROS on loopback.  Mobile display, 1.1 and 6.2."""

import json
import math
import socket
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from palpate import registry
from palpate.jit import Block
from palpate.mobile.adapters import BASE_DRIVERS
from palpate.mobile.adapters.opening import make_base_driver, open_base_driver
from palpate.mobile.adapters.orders import OrderBook
from palpate.mobile.adapters.ros_twist import ANSWER_S, DEAD_S, RosTwist, message, twist
from palpate.mobile.adapters.simulated import SimulatedBase
from palpate.mobile.geometry import frames
from palpate.mobile.hardware.base import Base, new_drive
from tests.mobile.adapter_doors import order_door
from tests.mobile.fake_robot import FakeRobot
from tests.mobile.motion_doors import drive_door
from tests.waiting import until

ODOMETRY = b'{"op": "publish", "topic": "/odom", "msg": {}}\n'
HERE = "udp:127.0.0.1:1"  # of drivers that are not opened


class Tick:
    """Orders as the tick gives them."""

    def __init__(self, driver):
        self.drive = new_drive(Base(), (0.0, 0.0, 0.0), 0)
        self.block, self.k = Block(driver.book.orders, self.drive), 0

    def order(self, vx, vz, vphi, phi=0.0):
        order_door(self.block.address, self.k, np.array([vx, vz, vphi, phi]))
        self.k += 1
        return True


class Ordering(threading.Thread):
    """A tick that orders the same again and again until it is ended, as a servo does."""

    def __init__(self, driver, *order):
        super().__init__(daemon=True)
        self.tick, self.ordered, self.ended = Tick(driver), order, threading.Event()

    def run(self):
        while not self.ended.wait(0.001):
            self.tick.order(*self.ordered)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


# ---- orders


@pytest.mark.nojit
def test_the_newest_order_is_what_is_read():
    driver = SimulatedBase()
    tick = Tick(driver)
    assert driver.book.newest() is None
    for k in range(20):
        tick.order(0.1 * k, -0.2, 0.3, 0.4)
    found = driver.book.newest()
    assert found.number == 20
    assert (*found.velocity, found.heading_rad) == pytest.approx((1.9, -0.2, 0.3, 0.4))


def test_the_simulated_base_takes_orders_as_commands():
    """The same motion, to the last bit, as with commands that are written into it; slip and events included."""
    rng = np.random.default_rng(12)
    ticks = 1500
    orders = np.repeat(rng.normal(0.0, 0.4, (ticks // 100, 3)), 100, axis=0)
    expected = np.zeros((ticks, 6))
    block = Block(new_drive(Base(), (0.1, 0.2, 0.3), 7))
    drive_door(block.address, np.column_stack([orders, np.ones(ticks)]), expected)
    driver = make_base_driver("simulated", pose=(0.1, 0.2, 0.3), seed=7)
    behind = Block(driver.book.orders, driver.drive)
    for k, v in enumerate(orders):
        order_door(behind.address, k, np.array([*v, 0.0, k]))
        assert (*driver.drive.pose, *driver.drive.velocity) == tuple(expected[k])
    assert driver.book.orders.silent == 0


def test_the_simulated_base_stands_when_told_to_stop_and_when_orders_cease():
    driver = SimulatedBase(Base(slip=0.0, events_1_s=0.0))
    block = Block(driver.book.orders, driver.drive)

    def run(begin, end, ordering=True):
        for k in range(begin, end):
            order_door(block.address, k if ordering else -1, np.array([0.3, 0.0, 0.2, 0.0, k]))
        return driver.drive.velocity

    assert run(0, 1000) == pytest.approx((0.3, 0.0, 0.2), abs=1e-3)
    driver.stop()
    assert run(1000, 3000) == pytest.approx((0.0, 0.0, 0.0), abs=1e-6)
    driver.resume()
    assert run(3000, 5000) == pytest.approx((0.3, 0.0, 0.2), abs=1e-3)
    assert run(5000, 8000, ordering=False) == pytest.approx((0.0, 0.0, 0.0), abs=1e-6)
    with driver:
        assert driver.book.orders.stopped == 0
    assert driver.book.orders.stopped == 1


# ---- axes


def test_velocities_are_turned_into_ros_axes():
    """REP-103: the world's by the door of all others, the robot's by its front, (sin phi, 0, -cos phi)."""
    rng = np.random.default_rng(103)
    for _ in range(100):
        vx, vz, w, phi = rng.normal(size=4).tolist()
        x, y, _ = frames.vectors_z_up([vx, 0.0, vz])
        assert twist((vx, vz, w), phi, "odom") == pytest.approx((x, y, -w), abs=1e-14)
        forward, left, turn = twist((vx, vz, w), phi, "base_link")
        yaw = frames.yaw_of(phi)
        axes = np.array([[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]])  # of the robot, in the world
        assert axes @ [forward, left] == pytest.approx([x, y], abs=1e-14)
        assert turn == -w
    assert twist((math.sin(0.3), -math.cos(0.3), 0.0), 0.3, "base_link") == pytest.approx((1.0, 0.0, 0.0), abs=1e-15)


def test_a_line_is_a_twist_with_a_stamp():
    """geometry_msgs/TwistStamped, as rosbridge's publish has it."""
    line = message("/cmd_vel", "base_link", (0.1, -0.2, 0.3), 1234.5)
    assert line.endswith(b"}\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == {
        "op": "publish", "topic": "/cmd_vel", "msg": {
            "header": {"stamp": {"sec": 1234, "nanosec": 500000000}, "frame_id": "base_link"},
            "twist": {"linear": {"x": 0.1, "y": -0.2, "z": 0.0}, "angular": {"x": 0.0, "y": 0.0, "z": 0.3}},
        },
    }  # fmt: skip


# ---- what is driven, by a time that is given


def driven(driver, now_s):
    return driver.velocity(now_s)[0]


def test_nothing_is_driven_before_the_first_order_and_100_ms_after_the_last():
    """A dead man's handle: the tick's silence is noticed, and its return."""
    driver = RosTwist(HERE)
    tick = Tick(driver)
    assert driven(driver, 0.0) == driven(driver, 10.0) == (0.0, 0.0, 0.0)
    assert not driver.faults
    tick.order(0.1, 0.2, 0.3)
    assert driven(driver, 11.0) == (0.1, 0.2, 0.3)
    assert driven(driver, 11.0 + DEAD_S - 1e-6) == (0.1, 0.2, 0.3)
    for k in range(5):
        assert driven(driver, 11.0 + DEAD_S + 1e-6 + 0.02 * k) == (0.0, 0.0, 0.0)
    assert driver.faults == {"dead": 1}
    tick.order(0.1, 0.2, 0.3)
    assert driven(driver, 12.0) == (0.1, 0.2, 0.3)
    assert driven(driver, 13.0) == (0.0, 0.0, 0.0)
    assert driver.faults == {"dead": 2}
    assert driver.book.orders.silent == 0


def test_told_to_stop_it_stands_until_told_to_go_on():
    driver = RosTwist(HERE)
    tick = Tick(driver)
    for stopped in (False, True, False):
        (driver.stop if stopped else driver.resume)()
        for k in range(5):
            tick.order(0.1, 0.0, 0.0)
            assert driven(driver, 0.02 * k) == ((0.0, 0.0, 0.0) if stopped else (0.1, 0.0, 0.0))


def test_a_base_that_does_not_answer_is_silent_and_stands():
    """0.5 s without a heartbeat, when they are asked for: a fault, once; the display reads `silent`."""
    driver = RosTwist(HERE, heartbeat="/odom")
    tick, silent = Tick(driver), []
    for k in range(150):
        now_s = 0.02 * k
        tick.order(0.1, 0.0, 0.0)
        if now_s <= 1.0 or now_s >= 2.5:
            driver.hear(ODOMETRY, now_s)
        moving = driven(driver, now_s) != (0.0, 0.0, 0.0)
        silent.append(driver.book.orders.silent)
        assert moving != silent[-1]
    began, ended = silent.index(1), len(silent) - silent[::-1].index(1)
    assert 0.02 * began == pytest.approx(1.0 + ANSWER_S, abs=0.021)
    assert 0.02 * ended == pytest.approx(2.5, abs=0.021)
    assert driver.faults == {"silent": 1}
    unasked = RosTwist(HERE)
    Tick(unasked).order(0.1, 0.0, 0.0)
    assert driven(unasked, 100.0) == (0.1, 0.0, 0.0)


@pytest.mark.parametrize(("order", "expected"), [
    ((3.0, 4.0, 0.0), (0.3, 0.4, 0.0)),
    ((0.3, -0.4, 9.0), (0.3, -0.4, math.radians(40.0))),
    ((0.0, 0.0, -9.0), (0.0, 0.0, -math.radians(40.0))),
    ((1e300, 0.0, 0.0), (0.5, 0.0, 0.0)),
    ((math.nan, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ((0.1, -math.inf, 0.0), (0.0, 0.0, 0.0)),
    ((0.1, 0.0, 0.0, math.nan), (0.0, 0.0, 0.0)),
])  # fmt: skip
def test_no_more_is_ever_sent_than_the_base_may_do(order, expected):
    """The direction is kept; what is no number is zero, and counted."""
    driver = RosTwist(HERE)
    Tick(driver).order(*order)
    assert driven(driver, 0.0) == pytest.approx(expected, abs=1e-12)
    assert driver.faults["number"] == (0 if all(map(math.isfinite, order)) else 1)


def test_answers_are_found_however_the_bytes_are_cut_and_nonsense_is_counted():
    """With or without ends of lines between objects; what is not for us is no answer."""
    other = b'{"op": "status", "msg": "a } and a {"}' + b'{"op":"publish","topic":"/tf","msg":{}}\n\r\n [1, 2]\n'
    data = ODOMETRY.strip() + ODOMETRY + other + b"not json\n" + '{"op": "ü"}\n'.encode() + ODOMETRY
    for size in (1, 3, 10, 1000):
        driver = RosTwist(HERE, heartbeat="/odom")
        for k in range(0, len(data), size):
            driver.hear(data[k : k + size], 1.0)
        assert (driver.answers, driver.faults) == (3, {"malformed": 1})
    driver.hear(b"[" * 100_000, 2.0)
    driver.hear(b"\n" + ODOMETRY, 3.0)
    assert driver.faults["malformed"] >= 2
    assert driver.answers == 4


# ---- on loopback


def test_an_order_of_before_it_was_opened_is_not_driven():
    with FakeRobot() as robot, RosTwist(robot.where) as driver:
        Tick(driver).order(0.1, 0.2, 0.3)
        driver.open()
        until(lambda: len(robot.twists) > 3)
        assert set(robot.twists) == {(0.0, 0.0, 0.0)}
        assert not driver.faults


@pytest.mark.parametrize("way", ["udp", "tcp"])
def test_a_robot_gets_orders_and_zero_at_the_end(way):
    """What it hears first is what it will be told; last, that it shall stand."""
    with FakeRobot(way, answer=ODOMETRY) as robot:  # which nobody asked for, and is under way at the end
        driver = open_base_driver(f"ros-twist:{robot.where}")
        with driver, Ordering(driver, 0.1, -0.2, 0.3, 0.0):
            until(lambda: len(robot.twists) > 5 and robot.twists[-1] == (0.2, -0.1, -0.3), lambda: robot.heard[-3:])
        until(lambda: len(robot.twists) == driver.sent, lambda: (len(robot.twists), driver.sent))
        assert robot.twists[-3:] == [(0.0, 0.0, 0.0)] * 3
        assert set(robot.twists) == {(0.2, -0.1, -0.3), (0.0, 0.0, 0.0)}
        assert robot.heard[0] == {"op": "advertise", "topic": "/cmd_vel", "type": "geometry_msgs/msg/TwistStamped"}
        driver.close()
        assert not [thread for thread in threading.enumerate() if thread.name == "palpate-ros-twist"]


def test_a_tick_that_ends_leaves_the_robot_standing():
    with FakeRobot() as robot, RosTwist(robot.where) as driver:
        driver.open()
        with Ordering(driver, 0.1, 0.0, 0.0):
            until(lambda: (0.0, -0.1, 0.0) in [tuple(np.round(t, 9) + 0.0) for t in robot.twists])
        until(lambda: driver.faults["dead"] >= 1)
        seen = len(robot.twists)
        until(lambda: len(robot.twists) > seen + 3)
        assert robot.twists[-3:] == [(0.0, 0.0, 0.0)] * 3
        assert driver.book.orders.silent == 0  # it is the tick that is silent


@pytest.mark.parametrize("way", ["udp", "tcp"])
def test_a_robot_that_falls_silent_is_noticed_and_heard_again(way):
    with FakeRobot(way, answer=ODOMETRY) as robot, RosTwist(robot.where, heartbeat="/odom") as driver:
        driver.open()
        with Ordering(driver, 0.0, -0.1, 0.0):
            until(lambda: driver.answers > 5 and robot.twists[-1] == (0.1, 0.0, 0.0), lambda: driver.faults)
            assert {"op": "subscribe", "topic": "/odom"} in robot.heard
            robot.answer = b""
            until(lambda: driver.book.orders.silent == 1 and robot.twists[-1] == (0.0, 0.0, 0.0))
            assert driver.faults["silent"] >= 1
            robot.answer = ODOMETRY
            until(lambda: driver.book.orders.silent == 0 and robot.twists[-1] == (0.1, 0.0, 0.0))


def test_a_robot_that_ends_the_connection_is_lost():
    with FakeRobot("tcp") as robot, RosTwist(robot.where) as driver:
        driver.open()
        until(lambda: robot.guest is not None)
        robot.guest.shutdown(socket.SHUT_RDWR)
        until(lambda: driver.book.orders.silent == 1)
        until(lambda: driver.error)
        assert "was lost" in driver.error
        assert driver.faults["lost"] == 1


def test_what_a_robot_says_at_the_end_does_not_take_the_last_zeros_away():
    """Bytes that nobody has read when a TCP connection closes reset it, and what was sent last is gone."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        driver = RosTwist(f"tcp:127.0.0.1:{listening.getsockname()[1]}")
        driver.open()
        robot, _ = listening.accept()
        driver._ending.set()
        driver._thread.join()  # which reads
        with robot:
            robot.sendall(100 * ODOMETRY)
            driver.close()
            heard = b"".join(iter(lambda: robot.recv(65536), b""))
    lines = [json.loads(line) for line in heard.splitlines()]
    assert len(lines) >= 4
    assert [line["msg"]["twist"]["linear"]["x"] for line in lines[-3:]] == [0.0, 0.0, 0.0]


def test_a_port_where_nobody_is_is_silent_over_udp_and_refused_over_tcp():
    with socket.socket(type=socket.SOCK_DGRAM) as gone:
        gone.bind(("127.0.0.1", 0))
        port = gone.getsockname()[1]
    with RosTwist(f"127.0.0.1:{port}") as driver:
        driver.open()
        until(lambda: driver.faults["refused"] and driver.book.orders.silent == 1, lambda: driver.faults)
    with pytest.raises(ValueError, match=r"there is no base at tcp:127.0.0.1:\d+: Connection refused"):
        open_base_driver(f"ros-twist:tcp:127.0.0.1:{port}")


# ---- names


@pytest.mark.parametrize(("name", "options", "says"), [
    ("ros-twits:1", {}, "no base_driver is called 'ros-twits'; did you mean 'ros-twist'"),
    ("ros-twist", {}, "'ros-twist' cannot be made like this"),
    ("ros-twist:tcp:somewhere", {}, "'somewhere' is no address: write HOST:PORT"),
    ("ros-twist:1.2.3.4:5", {"speed_m_s": 0.0}, "speed_m_s 0.0 and turn_rad_s .* are limits: positive and finite"),
    ("simulated", {"pose": (0.0, 1.0)}, "pose is"),
])  # fmt: skip
def test_a_wrong_name_or_address_is_one_line(name, options, says):
    with pytest.raises(ValueError, match=says) as why:
        make_base_driver(name, **options)
    assert "\n" not in str(why.value)


def test_another_package_adds_a_driver_of_its_own(monkeypatch):
    """Entry-point group palpate.base_drivers."""
    point = SimpleNamespace(name="cart", value="palpate.mobile.adapters.simulated:SimulatedBase", dist=None)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == "palpate.base_drivers" else [])
    assert isinstance(make_base_driver("cart"), SimulatedBase)
    for name in BASE_DRIVERS:  # what the contract asks of each
        driver = make_base_driver(name if name == "simulated" else f"{name}:127.0.0.1:9")
        assert isinstance(driver.book, OrderBook)
        driver.close()
        driver.close()
        assert driver.book.orders.stopped == 1
