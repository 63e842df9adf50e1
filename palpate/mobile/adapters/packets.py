"""Poses on the wire: MHD1, 52 bytes, little endian.  Mobile display, 1.1.

    magic "MHD1" | type u8 | station u8 | flags u16 | sequence u32 | t_sample f64 [s] | x, y, z f32 [m]
    | qw, qx, qy, qz f32 | crc32 u32 of all before it

Flag bit 0: tracking lost, the numbers of the pose mean nothing.  The sequence is for those who watch the wire: here
time stamps decide what is new.
"""

from __future__ import annotations

import struct
import zlib

from palpate.mobile.adapters.source import Malformed, Pose, checked

LAYOUT = struct.Struct("<4sBBHId3f4f")
CRC = struct.Struct("<I")
PACKET_BYTES = LAYOUT.size + CRC.size  # 52
MAGIC = b"MHD1"
POSE = 1  # the only type so far
LOST = 1  # flag


def pack(pose: Pose, sequence: int = 0) -> bytes:
    """A pose as a packet; ValueError if it is none."""
    pose = checked(pose)
    flags = LOST if pose.lost else 0
    head = LAYOUT.pack(MAGIC, POSE, pose.station, flags, sequence & 0xFFFFFFFF, pose.sampled_s, *pose.position_m,
                       *pose.quaternion)  # fmt: skip
    return head + CRC.pack(zlib.crc32(head))


def unpack(packet: bytes) -> Pose:
    """The pose of a packet; Malformed with its kind: length, magic, crc, type, station, time, number, far, quaternion.

    What is forged or broken is known by its crc before anything inside is believed.
    """
    if len(packet) != PACKET_BYTES:
        raise Malformed("length")
    if not packet.startswith(MAGIC):
        raise Malformed("magic")
    head = packet[: LAYOUT.size]
    if CRC.unpack_from(packet, LAYOUT.size)[0] != zlib.crc32(head):
        raise Malformed("crc")
    _, kind, station, flags, _, sampled_s, *numbers = LAYOUT.unpack(head)
    if kind != POSE:
        raise Malformed("type")
    x, y, z, qw, qx, qy, qz = numbers
    return checked(Pose(station, sampled_s, (x, y, z), (qw, qx, qy, qz), bool(flags & LOST)))
