"""Sources of poses: files, packets, VRPN, a headset.  All traffic is on loopback.  Mobile display, 1.1 and 6.2."""

import math
import socket
import struct
import threading
import zlib
from types import SimpleNamespace

import numpy as np
import pytest

from palpate import registry
from palpate.jit import Block
from palpate.mobile.adapters import POSE_SOURCES
from palpate.mobile.adapters.addresses import address
from palpate.mobile.adapters.headset import Headset
from palpate.mobile.adapters.inbox import Judging, PoseInbox
from palpate.mobile.adapters.opening import make_pose_source, open_pose_source
from palpate.mobile.adapters.packets import pack
from palpate.mobile.adapters.recorded import Recorded, read_arrivals, write_arrivals
from palpate.mobile.adapters.register import Registration
from palpate.mobile.adapters.source import HEAD, ROBOT, Pose
from palpate.mobile.adapters.udp import Udp
from palpate.mobile.adapters.vrpn import Stream, Vrpn
from tests.mobile.adapter_doors import take_door
from tests.mobile.fake_vrpn import COOKIE, FakeVrpn, framed, named, pose_body
from tests.waiting import until

HALF = math.sqrt(0.5)
POSES = [Pose(k % 2, 100.0 + 0.005 * k, (0.25 * k, 1.5, -0.5), (HALF, 0.0, -HALF, 0.0)) for k in range(8)]
TYPES, SENDERS = -2, -1
GREETING = (named(SENDERS, 4, "Tracker0") + named(SENDERS, 0, "Other") + named(TYPES, 3, "vrpn_Base ping_message")
            + named(TYPES, 11, "vrpn_Tracker Pos_Quat") + named(TYPES, 12, "vrpn_Tracker Velocity"))  # fmt: skip


def vrpn_pose(pose, sender=4, kind=11):
    w, x, y, z = pose.quaternion
    return framed(kind, sender, pose_body(pose.station, pose.position_m, (x, y, z, w)), pose.sampled_s)


def same(found, expected):
    assert [(p.station, p.lost) for p in found] == [(p.station, p.lost) for p in expected]
    for a, b in zip(found, expected, strict=True):
        assert a.sampled_s == pytest.approx(b.sampled_s, abs=1e-6)
        assert (*a.position_m, *a.quaternion) == pytest.approx((*b.position_m, *b.quaternion), abs=1e-6)


# ---- the contract: each source is fed in its own way


class FedUdp:
    def __init__(self):
        self.source = Udp(0)
        self.sending = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def feed(self, poses):
        for k, pose in enumerate(poses):
            self.sending.sendto(pack(pose, k), ("127.0.0.1", self.source.port))

    def close(self):
        self.sending.close()


class FedVrpn:
    def __init__(self):
        self.server = FakeVrpn(greeting=GREETING)
        self.source = Vrpn(f"Tracker0@127.0.0.1:{self.server.port}")

    def feed(self, poses):
        self.server.send(b"".join(map(vrpn_pose, poses)))

    def close(self):
        self.server.close()


class FedHeadset:
    def __init__(self):
        self.source = Headset()

    def feed(self, poses):
        for pose in poses:
            w, x, y, z = pose.quaternion
            self.source.hear({"time_s": pose.sampled_s, "position": pose.position_m, "orientation": [x, y, z, w],
                              "station": pose.station})  # fmt: skip

    def close(self):
        pass


class FedRecorded:
    def __init__(self):
        self.source = Recorded([(pose.sampled_s, pose) for pose in POSES])

    def feed(self, poses):
        """It has them."""

    def close(self):
        pass


FED = {"udp": FedUdp, "vrpn": FedVrpn, "headset": FedHeadset, "recorded": FedRecorded}


@pytest.mark.parametrize("name", POSE_SOURCES)
def test_a_source_delivers_what_comes_until_it_is_closed(name):
    """Station, time, place and orientation, in order; closed twice, and nothing after that."""
    fed, found = FED[name](), []
    source = fed.source
    try:
        source.close()  # before it was open
        source.open(found.append)
        fed.feed(POSES)
        until(lambda: len(found) == len(POSES), source.refused)
        same(found, POSES)
        assert source.delivered == len(POSES)
        assert not source.refused
        source.close()
        source.close()
        if name != "vrpn":
            fed.feed(POSES)
        assert len(found) == len(POSES)
        assert not [thread for thread in threading.enumerate() if thread.name == f"palpate-{name}"]
    finally:
        source.close()
        fed.close()


# ---- packets over UDP


def test_packets_that_are_wrong_are_counted_by_kind_and_the_rest_arrives():
    """Mobile display, 1.1: malformed and forged packets among good ones."""
    good, found = pack(POSES[0]), []
    wrong = {
        "length": good[:10], "magic": b"XXXX" + good[4:], "crc": good[:-4] + bytes(4),
        "quaternion": _sealed(good[:32] + struct.pack("<f", 9.0) + good[36:48]),
        "number": _sealed(good[:20] + struct.pack("<f", math.nan) + good[24:48]),
        "station": _sealed(good[:5] + b"\x63" + good[6:48]), "type": _sealed(good[:4] + b"\x07" + good[5:48]),
    }  # fmt: skip
    with Udp("127.0.0.1:0") as source, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
        source.open(found.append)
        for packet in (*wrong.values(), good * 40, b"", good):  # one longer than any, one empty
            sending.sendto(packet, ("127.0.0.1", source.port))
        until(lambda: found, source.refused)
        assert source.refused == {**dict.fromkeys(wrong, 1), "length": 3}
        assert source.error == ""
    same(found, POSES[:1])


def _sealed(head):
    return head + struct.pack("<I", zlib.crc32(head))


def test_only_this_machine_is_listened_to_unless_told():
    assert Udp().host == Udp(9000).host == Udp("9000").host == "127.0.0.1"
    assert (Udp("0.0.0.0:7").host, Udp("0.0.0.0:7").port) == ("0.0.0.0", 7)
    with Udp(0) as first, Udp(0) as second:
        first.open(lambda pose: None)
        second.port = first.port
        with pytest.raises(ValueError, match=f"poses cannot be received at 127.0.0.1:{first.port}: Address already"):
            second.open(lambda pose: None)


def test_a_packet_reaches_the_tick():
    """Socket, thread, ring, kernel."""
    box = PoseInbox(Judging(latency_s=0.0))
    block, out = Block(box.inbox), np.zeros((4, 5))
    with open_pose_source("udp:127.0.0.1:0", {ROBOT: box}) as source, socket.socket(type=socket.SOCK_DGRAM) as sending:
        for k in range(2):  # two that agree begin
            sending.sendto(pack(Pose(ROBOT, 50.0 + 1e-3 * k, (1.0, 0.5, 2.0), (HALF, 0.0, -HALF, 0.0))),
                           ("127.0.0.1", source.port))  # fmt: skip

        def taken():
            take_door(block.address, 100, out)
            return out[-1, 0] == 1.0

        until(taken, source.refused)
        assert out[0, 1:] == pytest.approx([1.0, 0.5, 2.0, math.pi / 2], abs=1e-6)


# ---- files


def arrivals(seed, n=200):
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(n):
        q = rng.normal(size=4)
        t, late = 0.005 * k, float(rng.exponential(0.01))
        rows.append((t + late, Pose(k % 3, t, tuple(rng.normal(size=3).tolist()),
                                    tuple((q / np.linalg.norm(q)).tolist()), bool(k % 17 == 3))))  # fmt: skip
    return sorted(rows, key=lambda row: row[0])


def test_a_file_is_read_as_it_was_written(tmp_path):
    rows = arrivals(1)
    write_arrivals(tmp_path / "poses.csv", rows)
    assert read_arrivals(tmp_path / "poses.csv") == rows


def test_a_recording_is_the_same_every_time_in_simulated_time(tmp_path):
    """By its arrivals, whatever steps time takes; late ones after those that overtook them."""
    rows = arrivals(2)
    write_arrivals(tmp_path / "poses.csv", rows)
    found = {}
    for step_s in (0.001, 0.0137, 5.0):
        source = Recorded(tmp_path / "poses.csv", simulated=True)
        for run in range(2):  # opened again, it begins again
            came = found[step_s, run] = []
            source.open(lambda pose, came=came: came.append(pose))
            k = 0
            while not source.ended:
                assert all(due - source.begin_s <= k * step_s for due, _ in rows[: len(came)])
                k += 1
                source.serve(k * step_s)
    kept = [pose for _, pose in rows]
    for came in found.values():
        assert [p.sampled_s for p in came] == [p.sampled_s for p in kept]
        same([p for p in came if not p.lost], [p for p in kept if not p.lost])
    assert (np.diff([p.sampled_s for p in kept]) < 0).any()


def test_columns_come_in_any_order_among_others(tmp_path):
    path = tmp_path / "poses.csv"
    path.write_text("\ufeffnote,qz,qy,qx,qw,z,y,x,time_s\n\n'a', 0,0,0,1, 3,2,1, 0.5\n", encoding="utf-8")
    assert read_arrivals(path) == [(0.5, Pose(0, 0.5, (1.0, 2.0, 3.0), (1.0, 0.0, 0.0, 0.0)))]


HEADER = "time_s,station,x,y,z,qw,qx,qy,qz"


@pytest.mark.parametrize(("text", "says"), [
    ("", "is empty; its first line names the columns"),
    (b"\xff\xfe\x00\x01", "is no text file"),
    (HEADER + '\n"unclosed', "is no CSV file"),
    (HEADER, "has no poses"),
    (HEADER.replace("qw", "w") + "\n0,0,0,0,0,1,0,0,0", "has no column qw; it has time_s, station"),
    (HEADER + ",x\n0,0,0,0,0,1,0,0,0,0", "more than one column of x"),
    (HEADER + "\n0,0,0", "line 2: 3 cells for 9 columns"),
    (HEADER + "\n0,0,much,0,0,1,0,0,0", "line 2: x is no number: 'much'"),
    (HEADER + "\n0,0,0,0,0,1,0,0,0\nnan,0,0,0,0,1,0,0,0", "line 3: a time is not finite"),
    (HEADER + "\n0,1.5,0,0,0,1,0,0,0", "station 1.5 is no whole number from 0"),
])  # fmt: skip
def test_what_is_wrong_with_a_file_is_said_in_one_line(tmp_path, text, says):
    path = tmp_path / "poses.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=says) as why:
        Recorded(path)
    assert "\n" not in str(why.value)


def test_there_must_be_a_file_with_poses(tmp_path):
    with pytest.raises(ValueError, match="there is no file"):
        make_pose_source(f"recorded:{tmp_path}/nowhere.csv")
    with pytest.raises(ValueError, match="cannot be read"):
        make_pose_source(f"recorded:{tmp_path}")
    with pytest.raises(ValueError, match="without poses"):
        Recorded([])


def test_numbers_of_a_recording_are_refused_as_a_trackers_are():
    bad = [Pose(0, 0.0, (math.nan, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)), Pose(0, 0.1, (0.0,) * 3, (1.0, 1.0, 0.0, 0.0))]
    source, found = Recorded([(p.sampled_s, p) for p in bad], simulated=True), []
    source.open(found.append)
    source.serve(1.0)
    assert (found, source.refused) == ([], {"number": 1, "quaternion": 1})


# ---- VRPN


def test_messages_are_found_however_the_bytes_are_cut():
    data = GREETING + b"".join(map(vrpn_pose, POSES)) + framed(12, 4, b"123", 7.25)
    whole = list(Stream().feed(data))
    assert len(whole) == 5 + len(POSES) + 1
    assert whole[-1] == (7.25, 4, 12, b"123")
    for size in (1, 2, 7, 23, 24, 25, 100):
        stream = Stream()
        assert [m for k in range(0, len(data), size) for m in stream.feed(data[k : k + size])] == whole


def test_both_sides_begin_with_the_cookie():
    with FakeVrpn(greeting=GREETING) as server, Vrpn(f"127.0.0.1:{server.port}") as source:
        source.open(lambda pose: None)
        until(lambda: server.heard)
        assert server.heard == COOKIE
        assert len(COOKIE) == 24


def test_only_the_named_tracker_and_its_poses_are_heard():
    """Other senders, other types, pings; sensors by their stations; z up turned."""
    found, up = [], Pose(0, 5.5, (1.0, 2.0, 3.0), (HALF, 0.0, 0.0, HALF))  # z up: a turn to the left by 90 degrees
    with FakeVrpn(greeting=GREETING) as server:
        source = Vrpn(f"Tracker0@127.0.0.1:{server.port}", stations={0: HEAD, 3: ROBOT}, axes="z-up")
        with source:
            source.open(found.append)
            server.send(
                vrpn_pose(up, sender=0) + vrpn_pose(up, kind=12) + framed(3, 4, b"") + framed(11, 4, b"short")
                + vrpn_pose(up._replace(station=9)) + vrpn_pose(up._replace(quaternion=(0.0,) * 4))
                + framed(-3, 1234, b"127.0.0.1\0") + vrpn_pose(up) + vrpn_pose(up._replace(station=3))
            )  # fmt: skip
            until(lambda: len(found) == 2, source.refused)
            assert source.refused == {"message": 1, "sensor": 1, "quaternion": 1}
    turned = Pose(HEAD, 5.5, (-2.0, 3.0, -1.0), (HALF, 0.0, HALF, 0.0))
    same(found, [turned, turned._replace(station=ROBOT)])


def test_without_a_name_every_tracker_of_the_server_is_heard():
    found = []
    with FakeVrpn(greeting=GREETING) as server, Vrpn(f"127.0.0.1:{server.port}") as source:
        source.open(found.append)
        server.send(vrpn_pose(POSES[0], sender=0) + vrpn_pose(POSES[1]))
        until(lambda: len(found) == 2, source.refused)


def test_poses_come_in_datagrams_when_asked_for():
    """The server calls back; names over TCP, poses over UDP, several in one or broken ones among them."""
    found = []
    with FakeVrpn(greeting=GREETING, udp=True) as server, Vrpn(f"udp:Tracker0@127.0.0.1:{server.port}") as source:
        source.open(found.append)
        until(lambda: 11 in source._types, source.error)  # names have come
        server.lob(vrpn_pose(POSES[0]) + vrpn_pose(POSES[1]))
        for broken in (b"", b"noise", bytes(100), vrpn_pose(POSES[0])[:50]):
            server.lob(broken)
        server.lob(vrpn_pose(POSES[2]))
        until(lambda: len(found) == 3, lambda: (source.refused, source.error))
        assert source.refused == {"message": 3}
        assert source.error == ""
    same(found, POSES[:3])


@pytest.mark.parametrize(("cookie", "says"), [
    (b"vrpn: ver. 06.01  0".ljust(24, b"\0"), "does not speak VRPN 07: it begins with 'vrpn: ver. 06.01  0'"),
    (b"HTTP/1.1 400 Bad Request\r\n", "does not speak VRPN 07"),
])  # fmt: skip
def test_what_does_not_speak_vrpn_is_refused(cookie, says):
    with FakeVrpn(cookie) as server, pytest.raises(ValueError, match=says):
        Vrpn(f"127.0.0.1:{server.port}").open(lambda pose: None)


def test_where_nobody_listens_is_said():
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    with pytest.raises(ValueError, match=f"no VRPN server answers at 127.0.0.1:{port}: Connection refused"):
        make_pose_source(f"vrpn:Tracker0@127.0.0.1:{port}").open(lambda pose: None)


def test_a_server_that_ends_or_talks_nonsense_ends_the_poses_and_says_why():
    with FakeVrpn(greeting=GREETING) as server, Vrpn(f"127.0.0.1:{server.port}") as source:
        source.open(lambda pose: None)
        server.hang_up()
        until(lambda: source.error)
        assert "closed the connection" in source.error
    for length in (-1, 23, 1 << 30):
        with FakeVrpn(greeting=GREETING) as server, Vrpn(f"127.0.0.1:{server.port}") as source:
            source.open(lambda pose: None)
            server.send(struct.pack("!6i", length, 0, 0, 4, 11, 0))
            until(lambda source=source: source.error)
            assert f"a message of {length} bytes" in source.error


# ---- headset


def test_a_headset_is_where_its_registration_says():
    """Mobile display, 6.2: local-floor up to a yaw and a translation.  A head that looks along -Z, turned by 90 deg."""
    headset, found = Headset(Registration(math.pi / 2, (1.0, 0.0, 2.0))), []
    headset.open(found.append)
    headset.hear({"time_s": 1.0, "position": [0.0, 1.7, -1.0], "orientation": [0.0, 0.0, 0.0, 1.0]})
    same(found, [Pose(HEAD, 1.0, (0.0, 1.7, 2.0), (HALF, 0.0, HALF, 0.0))])


def test_a_guessed_pose_counts_as_lost():
    headset, found = Headset(), []
    headset.open(found.append)
    headset.hear({"time_s": 1, "position": [0, 1, 0], "orientation": [0, 0, 0, 1], "emulated": True})
    assert [pose.lost for pose in found] == [True]


GOOD = {"time_s": 1.0, "position": [0.0, 1.0, 0.0], "orientation": [0.0, 0.0, 0.0, 1.0]}


@pytest.mark.parametrize("message", [
    {}, [], "pose", None, {**GOOD, "position": [1, 2]}, {**GOOD, "position": 3}, {**GOOD, "orientation": ["a"] * 4},
    {**GOOD, "time_s": None}, {**GOOD, "station": "head"}, {**GOOD, "station": math.nan}, {**GOOD, "time_s": "soon"},
])  # fmt: skip
def test_a_message_that_is_no_pose_is_counted(message):
    headset, found = Headset(), []
    headset.open(found.append)
    headset.hear(message)
    assert (found, headset.refused) == ([], {"message": 1})


# ---- names


def test_sources_are_opened_by_name():
    assert set(FED) == set(POSE_SOURCES)
    source = make_pose_source("udp:127.0.0.1:9123", axes="z-up")
    assert (type(source), source.host, source.port, source.axes) == (Udp, "127.0.0.1", 9123, "z-up")
    assert make_pose_source("vrpn:Head0@127.0.0.1").tracker == b"Head0"
    assert make_pose_source("vrpn:Head0@127.0.0.1").port == 3883
    assert isinstance(make_pose_source("headset"), Headset)


@pytest.mark.parametrize(("name", "options", "says"), [
    ("upd:9000", {}, "no pose_source is called 'upd'; did you mean 'udp'"),
    ("udp:127.0.0.1:70000", {}, "'127.0.0.1:70000' is no address: write HOST:PORT"),
    ("udp:here:there", {}, "is no address"),
    ("udp:9000", {"axes": "x-up"}, "axes are 'x-up'; they are one of y-up, z-up, tracker"),
    ("udp:9000", {"speed": 1}, "'udp:9000' cannot be made like this"),
    ("recorded", {}, "'recorded' cannot be made like this"),
    ("vrpn:T@127.0.0.1:x", {}, "is no address"),
])  # fmt: skip
def test_a_wrong_name_or_address_is_one_line(name, options, says):
    with pytest.raises(ValueError, match=says) as why:
        make_pose_source(name, **options)
    assert "\n" not in str(why.value)


def test_another_package_adds_a_source_of_its_own(monkeypatch):
    """Entry-point group palpate.pose_sources."""
    point = SimpleNamespace(name="mocap", value="palpate.mobile.adapters.headset:Headset", dist=None)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == "palpate.pose_sources" else [])
    assert isinstance(make_pose_source("mocap"), Headset)


@pytest.mark.parametrize(("where", "found"), [
    ("127.0.0.1:80", ("127.0.0.1", 80)), ("lab:80", ("lab", 80)), (80, ("127.0.0.1", 80)), ("lab", ("lab", 5)),
    (":80", ("127.0.0.1", 80)), ("lab:", ("lab", 5)),
])  # fmt: skip
def test_addresses_as_people_write_them(where, found):
    assert address(where, port=5) == found
