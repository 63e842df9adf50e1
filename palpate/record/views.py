"""What other viewers show of a recording: the scene, where its bodies are, the forces, and numbers with names.

    /scene    foxglove.SceneUpdate      once: the shapes of all bodies, each in the frame of its body
    /tf       foxglove.FrameTransforms  where the bodies are, in the frame of the world
    /forces   foxglove.SceneUpdate      arrows: contacts and hands (force on the body), devices (force on the hand)
    /state    palpate.State, JSON       joints, forces, devices, counters and energy by name, for plots

At most RATE_HZ times a second: the exact frames are in /frame.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from palpate.frame import Layout
from palpate.record import foxglove
from palpate.record.blanks import Blank, vector
from palpate.record.labels import columns
from palpate.record.wire import stamp_bytes

RATE_HZ = 60
SCENE, TRANSFORMS, FORCES, STATE = "/scene", "/tf", "/forces", "/state"
GREY = (0.72, 0.74, 0.78, 1.0)  # of shapes without a colour
GROUND_M = 10.0  # edge of the square that a plane is drawn as
M_N = 0.004  # length of an arrow for a newton
SHORTEST_N, LONGEST_N = 1e-3, 250.0
# field of points, field of forces, colour
ARROWS = (
    ("contact_point", "contact_force", (0.95, 0.65, 0.10, 1.0)),
    ("hand_point", "hand_force", (0.10, 0.65, 0.30, 1.0)),
    ("device_position", "device_force", (0.15, 0.45, 0.90, 1.0)),
)
_NOT_JSON = re.compile(r"(?<=:)-?(?:nan|inf)(?=[,}])")  # JSON has no infinity
# the field `arrows` of foxglove.SceneEntity
ARROW = Blank().part(7, Blank()
    .part(1, Blank().part(1, vector((1, 2, 3))).part(2, vector((1, 2, 3, 4))))
    .doubles(2, 3, 4, 5)
    .part(6, vector((1, 2, 3, 4))))  # fmt: skip


class Topic(NamedTuple):
    """A topic for other viewers, and what its messages look like."""

    name: str
    schema: str
    encoding: str  # of a message
    schema_encoding: str
    schema_data: bytes


class Views:
    """Makes those messages from a scene description and frames.

    meshes  the scene's meshes in the order of their numbers, each as runtime/world/meshes.py writes it
    """

    def __init__(self, hello: dict[str, Any], layout: Layout, meshes: Sequence[bytes] = ()) -> None:
        self.hello, self.layout, self.meshes = hello, layout, meshes
        self.bodies = [str(body["name"]) for body in hello.get("bodies", ())]
        if len(self.bodies) != layout.shape.get("pose", (0,))[0]:
            self.bodies = []
        self._groups: dict[str, list[tuple[str, int, str]]] = {"": []}  # group -> (name, word, kind)
        for column in columns(layout, hello):
            group, name = _group(column.name)
            self._groups.setdefault(group, []).append((name, column.word, column.kind))
        listed = [member for members in self._groups.values() for member in members]
        self._words = np.array([word for _, word, _ in listed])
        self._whole = [k for k, (_, _, kind) in enumerate(listed) if kind == "i"]
        self._text = self._state_text()
        self._poses = Blank()  # a foxglove.FrameTransforms
        for name in self.bodies[1:]:
            one = Blank().stamp(1).text(2, self.bodies[0]).text(3, name)
            self._poses.part(1, one.part(4, vector((1, 2, 3))).part(5, vector((1, 2, 3, 4))))
        self._arrows = [a for a in ARROWS if {a[0], a[1]} <= set(layout.offset)]

    def topics(self) -> list[Topic]:
        """All that there will be messages of."""
        named = Topic(STATE, "palpate.State", "json", "jsonschema", json.dumps(self._state_schema()).encode())
        if not self.bodies:
            return [named]
        return [
            Topic(topic, f"foxglove.{name}", "protobuf", "protobuf", foxglove.schema(name))
            for topic, name in ((SCENE, "SceneUpdate"), (TRANSFORMS, "FrameTransforms"), (FORCES, "SceneUpdate"))
        ] + [named]

    def scene(self, unix_ns: int) -> bytes:
        """All shapes."""
        update = foxglove.message("SceneUpdate")()
        for body in self.hello.get("bodies", ()):
            shapes = [shape for shape in body.get("shapes", ()) if shape.get("role") != "collision"]
            if shapes:
                name = body["name"].encode(errors="backslashreplace")  # as Blank writes it
                entity = update.entities.add(frame_id=name, id=name, frame_locked=True)
                entity.timestamp.FromNanoseconds(unix_ns)
                for shape in shapes:
                    self._draw(entity, shape)
        data: bytes = update.SerializeToString()
        return data

    def messages(self, words: np.ndarray, unix_ns: int) -> list[tuple[str, bytes]]:
        """(topic, message) of one frame (words,) int64."""
        made = [(STATE, self._state(words))]
        if self.bodies:
            made += [(TRANSFORMS, self._transforms(words, unix_ns)), (FORCES, self._forces(words, unix_ns))]
        return made

    # ---- shapes

    def _draw(self, entity: Any, shape: dict[str, Any]) -> None:
        kind, size, color = shape["kind"], shape["size"], shape.get("color") or GREY
        place = tuple(shape["position"]), tuple(shape["quaternion"])
        if kind == "box":
            _solid(entity.cubes, place, size, color)
        elif kind == "plane":
            _solid(entity.cubes, place, (GROUND_M, GROUND_M, 1e-3), color, along=-0.5e-3)
        elif kind == "sphere":
            _solid(entity.spheres, place, 3 * (2.0 * size[0],), color)
        elif kind in ("cylinder", "capsule"):
            radius, length = size
            tube = _solid(entity.cylinders, place, (2 * radius, 2 * radius, length), color)
            tube.bottom_scale = tube.top_scale = 1.0
            if kind == "capsule":
                for end in (-0.5 * length, 0.5 * length):
                    _solid(entity.spheres, place, 3 * (2.0 * radius,), color, along=end)
        elif kind == "mesh" and shape.get("mesh") is not None and shape["mesh"] < len(self.meshes):
            _triangles(entity, self.meshes[shape["mesh"]], place, color)

    # ---- what moves

    def _transforms(self, words: np.ndarray, unix_ns: int) -> bytes:
        poses = self.layout.read(words, "pose")[1:, [0, 1, 2, 4, 5, 6, 3]]  # (x, y, z, w) is their order
        return self._poses.filled(poses.reshape(1, -1), unix_ns)

    def _forces(self, words: np.ndarray, unix_ns: int) -> bytes:
        entity = Blank().text(1, stamp_bytes(unix_ns)).text(2, self.bodies[0]).text(3, "forces")
        for points, forces, color in self._arrows:
            p, f = (self.layout.read(words, name).reshape(-1, 3) for name in (points, forces))
            newtons = np.sqrt((f * f).sum(axis=1))
            drawn = np.isfinite(p).all(axis=1) & (newtons > SHORTEST_N) & (newtons < np.inf)
            if drawn.any():
                entity.data += ARROW.filled(arrows(p[drawn], f[drawn], newtons[drawn], color))
        return bytes(Blank().text(2, bytes(entity.data)).data)

    def _state(self, words: np.ndarray) -> bytes:
        floats = words.view(np.float64)[self._words]
        values: list[float | int] = floats.tolist()
        for k in self._whole:
            values[k] = int(words[self._words[k]])
        text = self._text % tuple(values)
        return (text if np.isfinite(floats).all() else _NOT_JSON.sub("null", text)).encode()

    def _state_schema(self) -> dict[str, Any]:
        told: dict[str, Any] = {"title": "palpate.State", "type": "object", "properties": {}}
        for group, members in self._groups.items():
            kinds = {name: {"type": "integer" if kind == "i" else "number"} for name, _, kind in members}
            if group:
                told["properties"][group] = {"type": "object", "properties": kinds}
            else:
                told["properties"] |= kinds
        return told

    def _state_text(self) -> str:
        """The JSON of a state, with a place for each number: six digits are enough for a plot."""
        parts = []
        for group, members in self._groups.items():
            inner = ",".join(f"{_quoted(name)}:{'%d' if kind == 'i' else '%.6g'}" for name, _, kind in members)
            parts.append(f"{_quoted(group)}:{{{inner}}}" if group else inner)
        return "{" + ",".join(parts) + "}"


def _group(label: str) -> tuple[str, str]:
    """("q", "shoulder") of "q.shoulder", ("", "time_s") of "time_s"."""
    group, dot, name = label.partition(".")
    return (group, name) if dot else ("", group)


def _quoted(name: str) -> str:
    return json.dumps(name).replace("%", "%%")


def _place(pose: Any, position: Sequence[float], wxyz: Sequence[float]) -> None:
    pose.position.x, pose.position.y, pose.position.z = position
    pose.orientation.w, pose.orientation.x, pose.orientation.y, pose.orientation.z = wxyz


def _paint(to: Any, color: Sequence[float]) -> None:
    to.r, to.g, to.b, to.a = color


def _solid(
    into: Any, place: tuple[tuple[float, ...], tuple[float, ...]], size: Sequence[float], color: Sequence[float],
    along: float = 0.0,
) -> Any:  # fmt: skip
    """A cube, sphere or cylinder of this size over all [m], moved by `along` its own z [m]."""
    solid, (p, (w, x, y, z)) = into.add(), place
    axis = (2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y))
    _place(solid.pose, [a + along * b for a, b in zip(p, axis, strict=True)], (w, x, y, z))
    solid.size.x, solid.size.y, solid.size.z = size
    _paint(solid.color, color)
    return solid


def _triangles(entity: Any, mesh: bytes, place: tuple[Any, Any], color: Sequence[float]) -> None:
    """A mesh; its points are put down as bytes, since there may be many: tag, length, and three tagged doubles."""
    n, m = np.frombuffer(mesh, dtype="<u4", count=2).tolist()
    xyz = np.frombuffer(mesh, dtype="<f4", count=3 * n, offset=8).reshape(n, 3).astype("<f8")
    points = np.empty((n, 29), dtype=np.uint8)
    points[:, :2] = (0x12, 27)
    for axis in range(3):
        points[:, 2 + 9 * axis] = (axis + 1) << 3 | 1
        points[:, 3 + 9 * axis : 11 + 9 * axis] = np.ascontiguousarray(xyz[:, axis]).view(np.uint8).reshape(n, 8)
    made = entity.triangles.add()
    made.MergeFromString(points.tobytes())
    made.indices.extend(np.frombuffer(mesh, dtype="<u4", count=3 * m, offset=8 + 12 * n).tolist())
    _place(made.pose, *place)
    _paint(made.color, color)


def arrows(p: np.ndarray, f: np.ndarray, newtons: np.ndarray, color: Sequence[float]) -> np.ndarray:
    """The doubles of ARROW (n, 15) for arrows from points p (n, 3) along forces f (n, 3) of these sizes (n,).

    +x is turned to a direction d by the quaternion (1 + d.x, x cross d), normalised; to -x by half a turn about z.
    """
    d, n = f / newtons[:, None], len(p)
    across = d[:, 1] ** 2 + d[:, 2] ** 2
    w = np.where(d[:, 0] < 0.0, across / (1.0 + np.abs(d[:, 0])), 1.0 + d[:, 0])  # 1 + d.x, exact near -x too
    turn = np.column_stack((np.zeros(n), -d[:, 2], d[:, 1], w))
    turn[(across < 1e-30) & (d[:, 0] < 0.0)] = (0.0, 0.0, 1.0, 0.0)
    turn /= np.sqrt((turn * turn).sum(axis=1, keepdims=True))
    length = M_N * np.minimum(newtons, LONGEST_N)
    head = np.minimum(0.3 * length, 0.03)
    sizes = np.column_stack((length - head, np.full(n, 0.008), head, np.full(n, 0.018)))
    return np.column_stack((p, turn, sizes, np.tile(color, (n, 1))))
