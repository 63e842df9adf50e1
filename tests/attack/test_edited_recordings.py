"""A recording whose scene description somebody edited: it is read, or refused in one line that names it.

Every place of scene.json is removed or replaced, and everything that can be done with a recording is done with it.
"""

import copy
import json
from pathlib import Path

import numpy as np
import pytest
from mcap.records import Attachment

from palpate import jit
from palpate.experiments.simulated import simulated_run
from palpate.frame import EVENT, HAND, Layout
from palpate.haptics.devices.simulation.scripted import Grasp, Scripted
from palpate.page.sockets import Hub
from palpate.record import RecordError
from palpate.record.export import FORMATS, columns, export
from palpate.record.hands import hands_of
from palpate.record.output import Output
from palpate.record.reader import Recording
from palpate.record.recover import recover
from palpate.record.views import Views
from palpate.record.writer import END, SCENE_FILE, FrameWriter
from palpate.runtime.record.player import Player, shown_hello, shown_layout
from palpate.runtime.world.recorded_hands import touch_again
from palpate.scenes.any_arm import scene_of
from palpate.scenes.loose import with_loose
from palpate.servo.ring import Ring

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="a recording needs the compiler")
TICKS, REMOVED = 6, object()


def nested(depth: int) -> list:
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


INSTEAD = (REMOVED, None, [], {}, "", "x", "a\ud800b", -1, 0, 3, 0.5, 1e308, -1e308, 10**30, 2**31, float("nan"),
           float("inf"), True, [None], [[]], {"name": None}, [-1, -1, -1], nested(40), nested(5000))  # fmt: skip


@pytest.fixture(scope="module")
def scene():
    return with_loose(scene_of("inspection")())


@pytest.fixture(scope="module")
def original(scene, tmp_path_factory):
    """A recording with joints, free bodies, a task, hands and a mark."""
    folder = tmp_path_factory.mktemp("original")
    tool = scene.editing.tool or scene.model.body_names[-7]
    simulated_run(scene, TICKS, Scripted((Grasp(tool, 0.0, 1.0, to=(0.5, 0.3, 0.8)),)), record=folder / "a.mcap")
    hand, path = Layout(HAND), folder / "original.mcap"
    with Recording(folder / "a.mcap") as back, FrameWriter(path, back.hello, clock="simulated") as writer:
        words = np.array(list(back))
        writer.add(words)
        for frame in words:
            age_ns = np.rint(1e9 * back.layout.read(frame, "hand_age_s")[0])
            writer.hands(hand.pack(sent_ns=int(back.layout.read(frame, "wall_ns") - age_ns), hand=0)[None])
        writer.mark("begun", {"trial": 1}, 0)
    return path


def edited(original: Path, out: Path, data: bytes) -> Path:
    """The recording with other bytes for its scene.json, all else as it was."""
    with Recording(original) as back:
        found, saved = back.contents, Output(out, "", overwrite=True)
        for name, a in found.attachments.items():
            saved.add_attachment(Attachment(a.create_time, a.log_time, name, a.media_type,
                                            data if name == SCENE_FILE else a.data))  # fmt: skip
        for name, told in found.metadata.items():
            if name != END:
                saved.add_metadata(name, told)
        for channel in found.channels.values():
            saved.add_channel(channel, found.schemas.get(channel.schema_id))
        for place in range(len(found.chunk_at)):
            data, messages = back.unpacked(place)
            saved.add_chunk(data, messages.indexes())
        saved.end(END, {"frames": back.count, "lost": 0})
    return out


def places(value, at=()):
    """Where something is in a JSON document; of long lists, the first two and the last."""
    yield at
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*at, key))
    if isinstance(value, list):
        for k in sorted({0, 1, len(value) - 1} & set(range(len(value)))):
            yield from places(value[k], (*at, k))


def replaced(document, at, instead):
    if not at:
        return None if instead is REMOVED else instead
    document = copy.deepcopy(document)
    inner = document
    for key in at[:-1]:
        inner = inner[key]
    if instead is REMOVED:
        del inner[at[-1]]
    else:
        inner[at[-1]] = instead
    return document


def dumped(document) -> bytes:
    """JSON as Python's own writer cannot nest it."""
    if isinstance(document, dict):
        return b"{" + b",".join(json.dumps(k).encode() + b":" + dumped(v) for k, v in document.items()) + b"}"
    if isinstance(document, list) and document and isinstance(document[0], list) and len(document) == 1:
        depth = 0
        while isinstance(document, list) and len(document) == 1:
            document, depth = document[0], depth + 1
        return b"[" * depth + dumped(document) + b"]" * depth
    if isinstance(document, list):
        return b"[" + b",".join(map(dumped, document)) + b"]"
    return json.dumps(document).encode()


# ---- what is done with it


def looked_at(path, scene):
    with Recording(path) as back:
        assert len(list(back)) == back.count
        assert len(back.times) == back.count
        _ = back.marks, back.hands, back.events, back.trials, back.topics, back.meshes, back.duration_s
        columns(back), columns(back, everything=True)


def viewed(path, scene):
    with Recording(path) as back:
        views = Views(back.hello, back.layout, back.meshes)
        assert views.topics()
        views.scene(0)
        for words in back:
            for topic, data in views.messages(words, 0):
                if topic == "/state":
                    json.loads(data)


def played(path, scene):
    with Recording(path) as back:
        layout = shown_layout(back)
        frames, hands, events = (Ring.create(8, n, shared=False)
                                 for n in (layout.words, Layout(HAND).words, Layout(EVENT).words))  # fmt: skip
        player = Player(back, frames, events, clock=lambda: 0.0)
        player.advance(1.0)
        hub = Hub()
        hub.show(shown_hello(back), (frames, hands, events))
        assert json.loads(hub.hello)["mode"] == "replay"
        assert Layout.described(json.loads(hub.hello)["frame"]).words == layout.words
        assert isinstance(back.hello["scene"], str)


def touched_again(path, scene):
    with Recording(path) as back:
        hands = hands_of(back)
    assert len(touch_again(scene, hands)) == hands.ticks


def recovered(path, scene):
    out = path.with_suffix(".again.mcap")
    out.unlink(missing_ok=True)
    recover(path, out)
    out.unlink()


def exported(form):
    def act(path, scene):
        out = path.with_suffix(f".{form}")
        export(path, out, form, everything=form == "csv")
        if form == "trajectory":
            json.loads(out.read_text())
        out.unlink()

    act.__name__ = form
    return act


ACTIONS = (looked_at, viewed, played, recovered, touched_again, *map(exported, FORMATS))


def act_on(path, scene, what):
    """All of them; whatever they refuse is one line that names the file."""
    for act in ACTIONS:
        said, refused = path.name, True
        try:
            act(path, scene)
        except RecordError as error:
            said = str(error)
        except ValueError as error:  # another scene is touched: it says what it has not
            said, refused = f"{path.name}: {error}", act is touched_again
        except Exception as error:
            raise AssertionError(f"{what}: {act.__name__}: {error!r}") from error
        assert refused, f"{what}: {act.__name__}: {said}"
        assert path.name in said, f"{what}: {act.__name__}: {said}"
        assert "\n" not in said, f"{what}: {act.__name__}: {said}"


def test_the_original_is_taken_by_every_action(original, scene, tmp_path):
    with Recording(original) as back:
        path = edited(original, tmp_path / "same.mcap", json.dumps(back.hello).encode())
    for act in ACTIONS:
        act(path, scene)


def cases(original):
    with Recording(original) as back:
        return back.hello, [(at, k) for at in places(back.hello) for k in range(len(INSTEAD))]


def attack(original, scene, folder, which):
    hello, every = cases(original)
    for at, k in [every[i] for i in which]:
        data = dumped(replaced(hello, at, INSTEAD[k]))
        what = f"{'.'.join(map(str, at))} with the {k}th instead"
        act_on(edited(original, folder / "edited.mcap", data), scene, what)


def test_an_edited_description_is_read_or_refused_in_one_line(original, scene, tmp_path):
    _, every = cases(original)
    attack(original, scene, tmp_path, np.random.default_rng(5).choice(len(every), 60, replace=False))


@pytest.mark.slow
def test_places_all_over_a_description_may_be_edited(original, scene, tmp_path):
    """One edit in 49: every second place, each with something else instead than its neighbours."""
    _, every = cases(original)
    attack(original, scene, tmp_path, range(0, len(every), 2 * len(INSTEAD) + 1))


@pytest.mark.parametrize("n", [15, pytest.param(120, marks=pytest.mark.slow)])
def test_fields_of_a_frame_may_be_renamed_or_shaped_otherwise(original, scene, tmp_path, n):
    """All that is left then fits together: offsets and lengths are as they were."""
    with Recording(original) as back:
        hello = back.hello
    every = [(k, how) for k in range(len(hello["frame"])) for how in ("renamed", "reversed", "flat", "deep")]
    for i in np.random.default_rng(6).permutation(len(every))[:n]:
        k, how = every[i]
        document = copy.deepcopy(hello)
        field = document["frame"][k]
        if how == "renamed":
            field["name"] = "x"
        else:
            shape = {"reversed": field["shape"][::-1], "flat": [field["length"]], "deep": [*field["shape"], 1, 1]}
            field["shape"] = shape[how]
        path = edited(original, tmp_path / "edited.mcap", json.dumps(document).encode())
        act_on(path, scene, f"{hello['frame'][k]['name']} {how}")


@pytest.mark.parametrize("data", [b"", b"[", b"null", b"\xff", b"{}" * 2, b'{"a":' * 100_000, b"[" * 100_000, b"1e999"])
def test_a_description_that_is_no_json_is_refused_in_one_line(original, scene, tmp_path, data):
    act_on(edited(original, tmp_path / "edited.mcap", data), scene, data[:20])


def test_a_body_that_is_not_there_is_named(original, scene, tmp_path):
    with Recording(original) as back:
        hello = back.hello
    for key, value in (("tool", "nobody"), ("obstacles", ["nobody"]), ("loose", {"box": ["nobody"]})):
        path = edited(original, tmp_path / "edited.mcap", json.dumps(hello | {key: value}).encode())
        with pytest.raises(RecordError, match=r"edited\.mcap.*nobody"):
            Recording(path)
