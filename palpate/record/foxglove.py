"""The message schemas of Foxglove that recordings use, as protobuf (github.com/foxglove/foxglove-sdk, schemas/proto).

Names and numbers are those published there; a viewer knows a schema by its full name, foxglove.SceneUpdate.  Fields
100 and up (identifiers and lineage, which newer versions added) are left out: protobuf readers take them as absent.
"""

from __future__ import annotations

from functools import cache
from typing import Any

# message -> its fields as "number name type", `*` after a type: repeated.  Types: protobuf's own, Timestamp, Duration,
# Type (the enumeration of that message) and messages of this table
SCHEMAS: dict[str, tuple[str, ...]] = {
    "Vector3": ("1 x double", "2 y double", "3 z double"),
    "Point3": ("1 x double", "2 y double", "3 z double"),
    "Quaternion": ("1 x double", "2 y double", "3 z double", "4 w double"),
    "Pose": ("1 position Vector3", "2 orientation Quaternion"),
    "Color": ("1 r double", "2 g double", "3 b double", "4 a double"),
    "KeyValuePair": ("1 key string", "2 value string"),
    "ArrowPrimitive": ("1 pose Pose", "2 shaft_length double", "3 shaft_diameter double", "4 head_length double",
                       "5 head_diameter double", "6 color Color"),
    "CubePrimitive": ("1 pose Pose", "2 size Vector3", "3 color Color"),
    "SpherePrimitive": ("1 pose Pose", "2 size Vector3", "3 color Color"),
    "CylinderPrimitive": ("1 pose Pose", "2 size Vector3", "3 bottom_scale double", "4 top_scale double",
                          "5 color Color"),
    "LinePrimitive": ("1 type Type", "2 pose Pose", "3 thickness double", "4 scale_invariant bool", "5 points Point3*",
                      "6 color Color", "7 colors Color*", "8 indices fixed32*"),
    "TriangleListPrimitive": ("1 pose Pose", "2 points Point3*", "3 color Color", "4 colors Color*",
                              "5 indices fixed32*"),
    "TextPrimitive": ("1 pose Pose", "2 billboard bool", "3 font_size double", "4 scale_invariant bool",
                      "5 color Color", "6 text string"),
    "ModelPrimitive": ("1 pose Pose", "2 scale Vector3", "3 color Color", "4 override_color bool", "5 url string",
                       "6 media_type string", "7 data bytes"),
    "SceneEntityDeletion": ("1 timestamp Timestamp", "2 type Type", "3 id string"),
    "SceneEntity": ("1 timestamp Timestamp", "2 frame_id string", "3 id string", "4 lifetime Duration",
                    "5 frame_locked bool", "6 metadata KeyValuePair*", "7 arrows ArrowPrimitive*",
                    "8 cubes CubePrimitive*", "9 spheres SpherePrimitive*", "10 cylinders CylinderPrimitive*",
                    "11 lines LinePrimitive*", "12 triangles TriangleListPrimitive*", "13 texts TextPrimitive*",
                    "14 models ModelPrimitive*"),
    "SceneUpdate": ("1 deletions SceneEntityDeletion*", "2 entities SceneEntity*"),
    "FrameTransform": ("1 timestamp Timestamp", "2 parent_frame_id string", "3 child_frame_id string",
                       "4 translation Vector3", "5 rotation Quaternion"),
    "FrameTransforms": ("1 transforms FrameTransform*",),
}  # fmt: skip
ENUMS = {
    "LinePrimitive": ("LINE_STRIP", "LINE_LOOP", "LINE_LIST"),
    "SceneEntityDeletion": ("MATCHING_ID", "ALL"),
}
PACKAGE = "foxglove"


@cache
def schema(name: str) -> bytes:
    """The protobuf FileDescriptorSet of foxglove.NAME and all that it is made of."""
    files = _files(name)
    data: bytes = files.SerializeToString(deterministic=True)
    return data


@cache
def message(name: str) -> Any:
    """The class of foxglove.NAME."""
    from google.protobuf import descriptor_pool, message_factory

    pool = descriptor_pool.DescriptorPool()  # one for each root: no two ever meet
    for file in _files(name).file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))


def _files(name: str) -> Any:
    from google.protobuf import descriptor_pb2, duration_pb2, timestamp_pb2

    files = descriptor_pb2.FileDescriptorSet()
    for known in (timestamp_pb2, duration_pb2):
        known.DESCRIPTOR.CopyToProto(files.file.add())
    done: set[str] = set()

    def add(name: str) -> None:
        if name in done:
            return
        done.add(name)
        fields = [field.split() for field in SCHEMAS[name]]
        parts = [kind.rstrip("*") for _, _, kind in fields]
        for part in parts:
            if part in SCHEMAS:
                add(part)
        file = files.file.add(name=f"{PACKAGE}/{name}.proto", package=PACKAGE, syntax="proto3")
        file.dependency.extend(dict.fromkeys(_home(part) for part in parts if _home(part)))
        made = file.message_type.add(name=name)
        if name in ENUMS:
            enum = made.enum_type.add(name="Type")
            for value, label in enumerate(ENUMS[name]):
                enum.value.add(name=label, number=value)
        for number, field, kind in fields:
            made.field.add(name=field, number=int(number), **_kind(name, kind))

    add(name)
    return files


def _home(kind: str) -> str:
    """The file that a message lives in; empty for protobuf's own types."""
    if kind in ("Timestamp", "Duration"):
        return f"google/protobuf/{kind.lower()}.proto"
    return f"{PACKAGE}/{kind}.proto" if kind in SCHEMAS else ""


def _kind(name: str, kind: str) -> dict[str, Any]:
    """Label and type of a field of message `name`."""
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Kind

    label = Kind.LABEL_REPEATED if kind.endswith("*") else Kind.LABEL_OPTIONAL
    kind = kind.rstrip("*")
    if kind == "Type":
        return {"label": label, "type": Kind.TYPE_ENUM, "type_name": f".{PACKAGE}.{name}.Type"}
    if _home(kind):
        package = PACKAGE if kind in SCHEMAS else "google.protobuf"
        return {"label": label, "type": Kind.TYPE_MESSAGE, "type_name": f".{package}.{kind}"}
    return {"label": label, "type": getattr(Kind, f"TYPE_{kind.upper()}")}
