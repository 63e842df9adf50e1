"""Packets of poses, what is refused of them, and the axes of others.  Mobile display, 1.1 and 6.2."""

import math
import struct
import zlib

import numpy as np
import pytest

from palpate.mobile.adapters.packets import PACKET_BYTES, pack, unpack
from palpate.mobile.adapters.source import HEAD, ROBOT, TOOL, Malformed, Pose, checked, in_world
from palpate.mobile.geometry import frames
from palpate.mobile.geometry.chain import Chain

GOLDEN = bytes.fromhex(
    "4d484431 01 01 0000 2a000000 000000000000f43f 0000803f 00000040 000040c0 0000003f 0000003f 000000bf 0000003f"
    "d168561e"
)
POSE = Pose(HEAD, 1.25, (1.0, 2.0, -3.0), (0.5, 0.5, -0.5, 0.5))


def sealed(head: bytes) -> bytes:
    """With the right crc, written without the code that is tested."""
    return head + struct.pack("<I", zlib.crc32(head))


def head(magic=b"MHD1", kind=1, station=0, flags=0, sequence=0, t=0.0, numbers=(0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)):
    return struct.pack("<4sBBHId7f", magic, kind, station, flags, sequence, t, *numbers)


def kind_of(packet: bytes) -> str:
    with pytest.raises(Malformed) as why:
        unpack(packet)
    return why.value.kind


# ---- the wire


def test_a_packet_has_these_bytes():
    """Mobile display, 1.1: 52 of them, little endian, in this order."""
    assert pack(POSE, 42) == GOLDEN
    assert len(GOLDEN) == PACKET_BYTES == 52
    assert unpack(GOLDEN) == POSE
    assert (ROBOT, HEAD, TOOL) == (0, 1, 2)


def test_what_is_packed_is_unpacked():
    rng = np.random.default_rng(52)
    for k in range(300):
        q = rng.normal(size=4)
        t, place = float(rng.uniform(-1e9, 1e9)), rng.uniform(-90, 90, 3)
        pose = Pose(k % 16, t, tuple(place.tolist()), tuple((q / np.linalg.norm(q)).tolist()))
        found = unpack(pack(pose, k * 2**27))
        assert (found.station, found.sampled_s, found.lost) == (pose.station, pose.sampled_s, False)
        assert found.position_m == pytest.approx(pose.position_m, abs=4e-6)  # float32 of 90 m
        assert found.quaternion == pytest.approx(pose.quaternion, abs=1e-7)


def test_a_station_that_is_not_seen_says_so():
    """Flags bit 0; what else the packet holds is not looked at."""
    found = unpack(sealed(head(station=2, flags=1, t=3.0, numbers=(math.nan,) * 7)))
    assert (found.station, found.sampled_s, found.lost) == (2, 3.0, True)
    assert unpack(pack(POSE._replace(lost=True))).lost
    assert not unpack(sealed(head(flags=0xFFFE))).lost  # other bits are for later


@pytest.mark.parametrize(("packet", "kind"), [
    (b"", "length"),
    (GOLDEN[:-1], "length"),
    (GOLDEN + b"\0", "length"),
    (sealed(head(magic=b"MHD2")), "magic"),
    (GOLDEN[:-1] + b"\0", "crc"),
    (head() + struct.pack(">I", zlib.crc32(head())), "crc"),
    (sealed(head(kind=0)), "type"),
    (sealed(head(kind=2)), "type"),
    (sealed(head(station=16)), "station"),
    (sealed(head(station=255, flags=1)), "station"),
    (sealed(head(t=math.nan)), "time"),
    (sealed(head(t=math.inf, flags=1)), "time"),
    (sealed(head(t=-1e11)), "time"),
    (sealed(head(numbers=(math.nan, 0, 0, 1, 0, 0, 0))), "number"),
    (sealed(head(numbers=(0, -math.inf, 0, 1, 0, 0, 0))), "number"),
    (sealed(head(numbers=(0, 0, 0, math.nan, 0, 0, 0))), "number"),
    (sealed(head(numbers=(0, 0, 3e38, 1, 0, 0, 0))), "far"),
    (sealed(head(numbers=(0, -101, 0, 1, 0, 0, 0))), "far"),
    (sealed(head(numbers=(0, 0, 0, 0, 0, 0, 0))), "quaternion"),
    (sealed(head(numbers=(0, 0, 0, 1, 1, 0, 0))), "quaternion"),
    (sealed(head(numbers=(0, 0, 0, 30.0, 5.0, -90.0, 0.0))), "quaternion"),  # degrees
])  # fmt: skip
def test_what_is_no_pose_is_refused_by_kind(packet, kind):
    assert kind_of(packet) == kind


def test_any_bit_that_is_wrong_is_noticed():
    for bit in range(8 * PACKET_BYTES):
        broken = bytearray(GOLDEN)
        broken[bit // 8] ^= 1 << bit % 8
        assert kind_of(bytes(broken)) == ("magic" if bit < 32 else "crc")


def test_noise_is_refused_and_nothing_else_happens():
    rng = np.random.default_rng(7)
    for _ in range(500):
        noise = rng.bytes(int(rng.integers(0, 120)))
        assert kind_of(noise) in ("length", "magic")
        assert kind_of(sealed(b"MHD1" + rng.bytes(44))) in ("type", "station", "time", "number", "far", "quaternion")


def test_what_is_no_pose_is_not_packed():
    with pytest.raises(Malformed):
        pack(POSE._replace(quaternion=(2.0, 0.0, 0.0, 0.0)))


# ---- axes


def rotation(q):
    """(3, 3) of (w, x, y, z), as everyone writes it."""
    w, x, y, z = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def some_pose(rng):
    q = rng.normal(size=4)
    return Pose(0, 0.0, tuple(rng.uniform(-3, 3, 3).tolist()), tuple((q / np.linalg.norm(q)).tolist()))


def test_poses_with_z_up_come_through_the_door_of_all_others():
    """Mobile display, 6.2: x = -Z, y = -X, z = Y."""
    rng = np.random.default_rng(103)
    for _ in range(50):
        pose = some_pose(rng)
        found = in_world(pose, "z-up")
        assert found.position_m == pytest.approx(frames.vectors_y_up(pose.position_m), abs=1e-14)
        assert found.quaternion == pytest.approx(frames.quaternions_y_up(pose.quaternion), abs=1e-14)
        assert in_world(pose, "y-up") == pose


def test_poses_of_the_tracker_on_the_ceiling_come_through_its_matrix():
    """Mobile display, (4.1): a point, and a station that turns about the tracker's downward z by its heading."""
    chain, rng = Chain(), np.random.default_rng(41)
    W_T_I = frames.world_from_tracker(chain)
    at_zero = frames.tracker_from_sensor(0.0, (0, 0, 0))[:3, :3]
    for _ in range(50):
        phi, S = float(rng.uniform(-np.pi, np.pi)), rng.uniform(-2, 2, 3)
        turn = frames.tracker_from_sensor(phi, S)[:3, :3] @ at_zero.T  # of the station from where it had heading zero
        pose = Pose(0, 0.0, tuple(S.tolist()), (math.cos(phi / 2), 0.0, 0.0, math.sin(phi / 2)))
        assert rotation(pose.quaternion) == pytest.approx(turn, abs=1e-12)
        found = in_world(pose, "tracker")
        assert found.position_m == pytest.approx((W_T_I @ [*S, 1.0])[:3], abs=1e-12)
        assert rotation(found.quaternion) == pytest.approx(W_T_I[:3, :3] @ turn @ W_T_I[:3, :3].T, abs=1e-12)


def test_a_quaternion_that_is_nearly_one_is_made_one():
    found = checked(POSE._replace(quaternion=(0.503, 0.503, -0.503, 0.503)))
    assert math.hypot(*found.quaternion) == pytest.approx(1.0, abs=1e-15)
    with pytest.raises(Malformed):
        checked(POSE._replace(quaternion=(0.51, 0.51, -0.51, 0.51)))
