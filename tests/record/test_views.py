"""What other viewers show: schemas as they are published, and messages that say what the frame says."""

import json
import math

import mcap.reader
import mcap_protobuf.decoder
import numpy as np
import pytest
from google.protobuf import descriptor_pb2
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_recordings import BODIES, SMALL, frames, hello_of

from palpate.record import foxglove
from palpate.record.reader import Recording
from palpate.record.views import LONGEST_N, M_N, RATE_HZ, arrows
from palpate.record.writer import FrameWriter

# As github.com/foxglove/foxglove-sdk publishes them in schemas/proto/foxglove (read in 2026): number -> name, type.
Kind = descriptor_pb2.FieldDescriptorProto
DOUBLE, STRING, BOOL, MESSAGE = Kind.TYPE_DOUBLE, Kind.TYPE_STRING, Kind.TYPE_BOOL, Kind.TYPE_MESSAGE
PUBLISHED = {
    "FrameTransforms": {1: ("transforms", MESSAGE, ".foxglove.FrameTransform", True)},
    "FrameTransform": {
        1: ("timestamp", MESSAGE, ".google.protobuf.Timestamp", False), 2: ("parent_frame_id", STRING, "", False),
        3: ("child_frame_id", STRING, "", False), 4: ("translation", MESSAGE, ".foxglove.Vector3", False),
        5: ("rotation", MESSAGE, ".foxglove.Quaternion", False),
    },
    "Vector3": {1: ("x", DOUBLE, "", False), 2: ("y", DOUBLE, "", False), 3: ("z", DOUBLE, "", False)},
    "Quaternion": {1: ("x", DOUBLE, "", False), 2: ("y", DOUBLE, "", False), 3: ("z", DOUBLE, "", False),
                   4: ("w", DOUBLE, "", False)},
    "SceneUpdate": {1: ("deletions", MESSAGE, ".foxglove.SceneEntityDeletion", True),
                    2: ("entities", MESSAGE, ".foxglove.SceneEntity", True)},
    "SceneEntity": {
        1: ("timestamp", MESSAGE, ".google.protobuf.Timestamp", False), 2: ("frame_id", STRING, "", False),
        3: ("id", STRING, "", False), 4: ("lifetime", MESSAGE, ".google.protobuf.Duration", False),
        5: ("frame_locked", BOOL, "", False), 6: ("metadata", MESSAGE, ".foxglove.KeyValuePair", True),
        7: ("arrows", MESSAGE, ".foxglove.ArrowPrimitive", True),
        8: ("cubes", MESSAGE, ".foxglove.CubePrimitive", True),
        9: ("spheres", MESSAGE, ".foxglove.SpherePrimitive", True),
        10: ("cylinders", MESSAGE, ".foxglove.CylinderPrimitive", True),
        11: ("lines", MESSAGE, ".foxglove.LinePrimitive", True),
        12: ("triangles", MESSAGE, ".foxglove.TriangleListPrimitive", True),
        13: ("texts", MESSAGE, ".foxglove.TextPrimitive", True),
        14: ("models", MESSAGE, ".foxglove.ModelPrimitive", True),
    },
    "ArrowPrimitive": {
        1: ("pose", MESSAGE, ".foxglove.Pose", False), 2: ("shaft_length", DOUBLE, "", False),
        3: ("shaft_diameter", DOUBLE, "", False), 4: ("head_length", DOUBLE, "", False),
        5: ("head_diameter", DOUBLE, "", False), 6: ("color", MESSAGE, ".foxglove.Color", False),
    },
    "CubePrimitive": {1: ("pose", MESSAGE, ".foxglove.Pose", False), 2: ("size", MESSAGE, ".foxglove.Vector3", False),
                      3: ("color", MESSAGE, ".foxglove.Color", False)},
    "SpherePrimitive": {1: ("pose", MESSAGE, ".foxglove.Pose", False), 2: ("size", MESSAGE, ".foxglove.Vector3", False),
                        3: ("color", MESSAGE, ".foxglove.Color", False)},
    "CylinderPrimitive": {
        1: ("pose", MESSAGE, ".foxglove.Pose", False), 2: ("size", MESSAGE, ".foxglove.Vector3", False),
        3: ("bottom_scale", DOUBLE, "", False), 4: ("top_scale", DOUBLE, "", False),
        5: ("color", MESSAGE, ".foxglove.Color", False),
    },
    "TriangleListPrimitive": {
        1: ("pose", MESSAGE, ".foxglove.Pose", False), 2: ("points", MESSAGE, ".foxglove.Point3", True),
        3: ("color", MESSAGE, ".foxglove.Color", False), 4: ("colors", MESSAGE, ".foxglove.Color", True),
        5: ("indices", Kind.TYPE_FIXED32, "", True),
    },
    "Pose": {1: ("position", MESSAGE, ".foxglove.Vector3", False),
             2: ("orientation", MESSAGE, ".foxglove.Quaternion", False)},
    "Color": {1: ("r", DOUBLE, "", False), 2: ("g", DOUBLE, "", False), 3: ("b", DOUBLE, "", False),
              4: ("a", DOUBLE, "", False)},
}  # fmt: skip
TRIANGLE = b"".join((
    np.array([3, 1], dtype="<u4").tobytes(), np.array([0, 0, 0, 1, 0, 0, 0, 2.5, 0], dtype="<f4").tobytes(),
    np.array([0, 2, 1], dtype="<u4").tobytes(),
))  # fmt: skip


def shape(kind, size, color=None, position=(0.0, 0.0, 0.0), quaternion=(1.0, 0.0, 0.0, 0.0), role="both", mesh=None):
    return {"kind": kind, "size": list(size), "color": color, "position": list(position),
            "quaternion": list(quaternion), "role": role, "mesh": mesh}  # fmt: skip


def hello():
    told = hello_of()
    half = math.sqrt(0.5)
    told["bodies"] = [
        {"name": "world", "shapes": [shape("plane", ())]},
        {"name": "upper", "shapes": [
            shape("box", (0.1, 0.2, 0.3), [1.0, 0.5, 0.25, 0.75]), shape("sphere", (0.05,), role="collision"),
            shape("capsule", (0.1, 0.6), position=(0.0, 0.0, 1.0), quaternion=(half, 0.0, half, 0.0)),
        ]},
        {"name": "fore", "shapes": [shape("cylinder", (0.05, 0.4)), shape("mesh", (1, 1, 1), mesh=0)]},
    ]  # fmt: skip
    return told


@pytest.fixture(scope="module")
def decoded(tmp_path_factory):
    """Messages by topic as mcap's own reader and the schemas in the file give them; and the words."""
    path, words = tmp_path_factory.mktemp("views") / "a.mcap", frames(200)
    words[:, SMALL.offset["contacts"]] = 1
    for name in ("contact_body", "contact_mode", "contact_point", "contact_force"):
        part = words[:, SMALL.offset[name] : SMALL.offset[name] + SMALL.length[name]].reshape(200, 2, -1)
        part[:, 0], part[:, 1] = words[:, SMALL.offset["v"], None], 0  # one contact, with some numbers
        words[:, SMALL.offset[name] : SMALL.offset[name] + SMALL.length[name]] = part.reshape(200, -1)
    with FrameWriter(path, hello(), meshes=[TRIANGLE]) as writer:
        writer.add(words)
    topics: dict = {}
    with open(path, "rb") as file:
        reader = mcap.reader.make_reader(
            file, validate_crcs=True, decoder_factories=[mcap_protobuf.decoder.DecoderFactory()]
        )
        summary = reader.get_summary()
        wanted = [c.topic for c in summary.channels.values() if c.message_encoding == "protobuf"]
        for _, channel, message, told in reader.iter_decoded_messages(wanted):
            topics.setdefault(channel.topic, []).append((message, told))
        for _, channel, message in reader.iter_messages(["/state"]):
            topics.setdefault(channel.topic, []).append((message, json.loads(message.data)))
    return path, words, summary, topics


# ---- schemas


@pytest.mark.parametrize("root", ["SceneUpdate", "FrameTransforms"])
def test_schemas_have_the_published_names_and_numbers(root):
    files = descriptor_pb2.FileDescriptorSet.FromString(foxglove.schema(root))
    found = {}
    for file in files.file:
        if file.package == "foxglove":
            (message,) = file.message_type
            found[message.name] = {
                f.number: (f.name, f.type, f.type_name, f.label == Kind.LABEL_REPEATED) for f in message.field
            }
            assert file.name == f"foxglove/{message.name}.proto"
            assert file.syntax == "proto3"
    assert root in found
    for name in found.keys() & PUBLISHED.keys():
        assert found[name] == PUBLISHED[name], name
    # a reader without our table can build them: each file comes after those it needs
    seen = set()
    for file in files.file:
        assert set(file.dependency) <= seen
        seen.add(file.name)


def test_channels_name_their_schemas_as_viewers_expect(decoded):
    _, _, summary, _ = decoded
    told = {c.topic: (summary.schemas[c.schema_id].name, summary.schemas[c.schema_id].encoding, c.message_encoding)
            for c in summary.channels.values()}  # fmt: skip
    assert told == {
        "/frame": ("palpate.Frame", "protobuf", "protobuf"), "/hand": ("palpate.Hand", "protobuf", "protobuf"),
        "/event": ("palpate.Event", "protobuf", "protobuf"), "/marks": ("palpate.Mark", "jsonschema", "json"),
        "/scene": ("foxglove.SceneUpdate", "protobuf", "protobuf"),
        "/tf": ("foxglove.FrameTransforms", "protobuf", "protobuf"),
        "/forces": ("foxglove.SceneUpdate", "protobuf", "protobuf"), "/state": ("palpate.State", "jsonschema", "json"),
    }  # fmt: skip


# ---- messages


def test_viewers_get_no_more_than_they_can_show(decoded):
    _, words, _, topics = decoded
    for topic in ("/tf", "/forces", "/state"):
        times = np.array([message.log_time for message, _ in topics[topic]])
        assert len(times) >= 0.2 * RATE_HZ - 1
        periods = times // (10**9 // RATE_HZ)
        assert len(set(periods.tolist())) == len(periods)
    assert len(topics["/scene"]) == 1
    assert len(topics["/frame"]) == len(words)


def test_transforms_are_the_poses_of_the_frame(decoded):
    _, _, _, topics = decoded
    by_time = {message.log_time: frame for message, frame in topics["/frame"]}
    for message, told in topics["/tf"]:
        pose = np.array(by_time[message.log_time].pose).reshape(len(BODIES), 7)
        assert [t.child_frame_id for t in told.transforms] == list(BODIES[1:])
        for t, (x, y, z, qw, qx, qy, qz) in zip(told.transforms, pose[1:], strict=True):
            assert t.parent_frame_id == "world"
            assert t.timestamp.ToNanoseconds() == message.log_time
            assert (t.translation.x, t.translation.y, t.translation.z) == (x, y, z)
            assert (t.rotation.x, t.rotation.y, t.rotation.z, t.rotation.w) == (qx, qy, qz, qw)


def test_the_scene_has_every_shape_that_is_seen(decoded):
    _, _, _, topics = decoded
    ((_, scene),) = topics["/scene"]
    by_id = {entity.id: entity for entity in scene.entities}
    assert list(by_id) == list(BODIES)
    assert all(entity.frame_id == entity.id and entity.frame_locked for entity in scene.entities)
    (box,) = by_id["upper"].cubes
    assert (box.size.x, box.size.y, box.size.z) == (0.1, 0.2, 0.3)
    assert (box.color.r, box.color.g, box.color.b, box.color.a) == (1.0, 0.5, 0.25, 0.75)
    (tube,) = by_id["upper"].cylinders  # the capsule, its axis along the body's x
    assert (tube.size.x, tube.size.y, tube.size.z, tube.top_scale, tube.bottom_scale) == (0.2, 0.2, 0.6, 1.0, 1.0)
    ends = sorted((ball.pose.position.x, ball.pose.position.z, ball.size.x) for ball in by_id["upper"].spheres)
    np.testing.assert_allclose(ends, [(-0.3, 1.0, 0.2), (0.3, 1.0, 0.2)], atol=1e-15)  # and no collision sphere
    (mesh,) = by_id["fore"].triangles
    assert [(p.x, p.y, p.z) for p in mesh.points] == [(0, 0, 0), (1, 0, 0), (0, 2.5, 0)]
    assert list(mesh.indices) == [0, 2, 1]


def test_forces_are_arrows_of_contacts_and_hands(decoded):
    _, _, _, topics = decoded
    by_time = {message.log_time: frame for message, frame in topics["/frame"]}
    drawn = 0
    for message, told in topics["/forces"]:
        frame, (entity,) = by_time[message.log_time], told.entities
        assert (entity.frame_id, entity.id, entity.timestamp.ToNanoseconds()) == ("world", "forces", message.log_time)
        wanted = [
            pair for names in (("contact_point", "contact_force"), ("hand_point", "hand_force"))
            for pair in zip(*(np.array(getattr(frame, name)).reshape(-1, 3) for name in names), strict=True)
        ]  # fmt: skip
        assert len(entity.arrows) == len(wanted)  # one contact, two hands
        for arrow, (p, f) in zip(entity.arrows, wanted, strict=True):
            size = np.linalg.norm(f)
            assert [arrow.pose.position.x, arrow.pose.position.y, arrow.pose.position.z] == p.tolist()
            assert arrow.shaft_length + arrow.head_length == pytest.approx(M_N * min(size, LONGEST_N), rel=1e-12)
            drawn += 1
    assert drawn == 3 * len(topics["/forces"])


@settings(max_examples=100, deadline=None)
@given(st.tuples(*3 * [st.floats(-1e3, 1e3)]).filter(lambda f: math.hypot(*f) > 1e-2))
def test_an_arrow_points_along_its_force(force):
    f = np.array([force])
    (row,) = arrows(np.zeros((1, 3)), f, np.linalg.norm(f, axis=1), (1, 0, 0, 1))
    x, y, z, w = row[3:7]
    turned = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])  # +x, turned
    assert math.hypot(x, y, z, w) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(turned, f[0] / np.linalg.norm(f), atol=1e-6)


def test_the_state_has_every_number_by_name(decoded):
    _, _, summary, topics = decoded
    by_time = {message.log_time: frame for message, frame in topics["/frame"]}
    schema = next(json.loads(s.data) for s in summary.schemas.values() if s.name == "palpate.State")
    assert schema["type"] == "object"
    for message, told in topics["/state"]:
        frame = by_time[message.log_time]
        assert told["q"]["elbow"] == pytest.approx(frame.q[1], rel=1e-5)
        assert told["hand1"]["force_z"] == pytest.approx(frame.hand_force[5], rel=1e-5)
        assert told["energy_potential"] == pytest.approx(frame.energy[1], rel=1e-5)
        assert told["counter"]["late"] == frame.counters[0]
        assert told["tick"] == frame.tick
        assert told.keys() == schema["properties"].keys()
        for name, of in schema["properties"].items():
            if of["type"] == "object":
                assert told[name].keys() == of["properties"].keys()


def test_the_state_of_what_is_no_number_is_null(tmp_path):
    words = frames(1)
    words[0, SMALL.offset["q"] :][:2] = np.array([np.nan, -np.inf]).view(np.int64)
    with FrameWriter(tmp_path / "a.mcap", hello()) as writer:
        writer.add(words)
    with open(tmp_path / "a.mcap", "rb") as file:
        ((_, _, message),) = mcap.reader.make_reader(file).iter_messages("/state")
    told = json.loads(message.data, parse_constant=pytest.fail)
    assert told["q"] == {"shoulder": None, "elbow": None}


def test_meshes_are_in_the_file_for_a_replay(decoded):
    path, _, _, _ = decoded
    with Recording(path) as back:
        assert back.meshes == [TRIANGLE]
        assert back.hello == hello()


# ---- contact rows


def test_contact_rows_that_are_not_used_are_not_written(decoded, tmp_path):
    path, words, _, topics = decoded
    assert all(len(told.contact_point) == 3 and len(told.contact_body) == 2 for _, told in topics["/frame"])
    with Recording(path) as back:
        assert np.array_equal([*back], words)
