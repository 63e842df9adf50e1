"""Recordings of a simulation that is no World: its frames have what all have, and two fields of its own."""

import csv
import json

import numpy as np
import pytest
from sample_recordings import frames

from palpate.frame import BASE, EVENT, FRAME, RUNNING, Field, Layout
from palpate.record import RecordError
from palpate.record.export import export
from palpate.record.reader import Recording
from palpate.record.recover import recover
from palpate.record.writer import FrameWriter, layout_of
from palpate.runtime.hello import complete
from palpate.runtime.record.player import Player, shown_hello, shown_layout
from palpate.servo.ring import Ring

OWN = (Field("level", "f", (), "of the water", "m", "Tank"), Field("valves", "i", (2,), "how far each is open"))
TANK = Layout((*BASE, *OWN))
N = 60


def shuffled(layout: Layout, seed: int = 4) -> Layout:
    """The same fields, in an order that this version would never choose."""
    order = np.random.default_rng(seed).permutation(len(layout.fields))
    at, described = 0, layout.describe()
    for k in order:
        described[k]["offset"], at = at, at + described[k]["length"]
    return Layout.described(described, **layout.sizes)


@pytest.fixture(params=["as this version orders fields", "as another one would"])
def tank(request, tmp_path):
    """(its file, its layout): finished, with a level that rises and falls."""
    layout = TANK if "this" in request.param else shuffled(TANK)
    words = np.array([
        layout.pack(tick=k, wall_ns=1_000_000 * k, state=RUNNING, time_s=1e-3 * k, level=np.sin(0.1 * k),
                    valves=(k, -k)) for k in range(N)
    ])  # fmt: skip
    path = tmp_path / "tank.mcap"
    with FrameWriter(path, complete({"scene": "tank", "title": "A tank"}, layout), clock_offset_ns=0) as writer:
        writer.add(words[: N // 2])
        writer.flush()
        writer.add(words[N // 2 :])
    return path, layout, words


def test_it_is_read_back_to_the_last_bit(tank):
    path, layout, words = tank
    with Recording(path) as back:
        assert np.array_equal(np.array(list(back)), words)
        assert back.layout.describe() == layout.describe()
        assert back.layout.read(back.frame(7), "valves").tolist() == [7, -7]
        assert back.trials == []


def test_it_is_replayed_with_the_plot_of_its_signal(tank):
    path, _, _ = tank
    with Recording(path) as back:
        layout, hello = shown_layout(back), shown_hello(back)
        assert Layout.described(hello["frame"]).offset == layout.offset
        assert [plot["name"] for plot in hello["plots"]] == ["Tank", "lateness"]
        assert hello["plots"][0]["series"] == [{"field": "level", "index": 0, "label": "level", "unit": "m"}]
        assert (hello["settings"], hello["bodies"]) == ([], [])
        ring, events = Ring.create(128, layout.words), Ring.create(16, Layout(EVENT).words)
        player = Player(back, ring, events, clock=lambda: 0.0)
        player.advance(1e-3 * (N - 1) - 1e-6)
        shown = layout.unpack(ring.newest()[1])
        assert (shown["tick"], shown["level"], shown["valves"].tolist()) == (
            N - 2,
            np.sin(0.1 * (N - 2)),
            [N - 2, 2 - N],
        )


def test_what_its_recorder_left_is_saved(tank, tmp_path):
    path, _, words = tank
    crashed = tmp_path / "crashed.mcap"
    crashed.write_bytes(path.read_bytes()[:-2000])
    saved = recover(crashed)
    with Recording(saved.path) as back:
        assert 0 < back.count == saved.frames
        assert np.array_equal(np.array(list(back)), words[: back.count])


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_every_field_has_its_columns(tank, tmp_path, form):
    path, _, _ = tank
    out = tmp_path / f"tank.{form}"
    assert export(path, out, form) == N
    if form == "csv":
        rows = list(csv.DictReader(out.read_text().splitlines()))
    else:
        rows = pytest.importorskip("pyarrow.parquet").read_table(out).to_pylist()
    assert set(rows[0]) >= {"time_s", "tick", "wall_ns", "state", "counter.late", "level", "valves.0", "valves.1"}
    assert [float(row["level"]) for row in rows] == [float(np.sin(0.1 * k)) for k in range(N)]
    assert [(int(row["valves.0"]), int(row["valves.1"])) for row in rows] == [(k, -k) for k in range(N)]


@pytest.mark.parametrize(("form", "why"), [
    ("trajectory", "has no joints"), ("hand", "holds no hands"), ("hands", "holds no hands"),
])  # fmt: skip
def test_what_it_has_not_is_refused_in_one_line(tank, tmp_path, form, why):
    with pytest.raises(RecordError, match=why) as said:
        export(tank[0], tmp_path / "out", form)
    assert "\n" not in str(said.value)
    assert not (tmp_path / "out").exists()


def test_a_world_whose_fields_lie_otherwise_is_exported_the_same(tmp_path):
    now = Layout(FRAME, nq=2, nv=2, n_bodies=3, n_devices=1, n_contacts=2)
    texts = []
    for layout in (now, shuffled(now)):
        words = np.array([layout.pack(**now.unpack(frame)) for frame in frames(20, now)])
        path = tmp_path / f"{len(texts)}.mcap"
        with FrameWriter(
            path, {"scene": "arm", "bodies": [], "sizes": now.sizes, "frame": layout.describe()}
        ) as writer:
            writer.add(words)
        export(path, tmp_path / "out.csv", "csv", everything=True)
        texts.append((tmp_path / "out.csv").read_text())
    assert texts[0] == texts[1]


@pytest.mark.parametrize("change", [
    lambda frame: frame[1].update(offset=0),  # two in one place
    lambda frame: frame[-1].update(offset=10_000),  # a gap
    lambda frame: frame[3].update(length=2),
    lambda frame: frame.append(dict(frame[0])),
])  # fmt: skip
def test_fields_that_overlap_or_leave_a_gap_are_no_layout(change):
    described = json.loads(json.dumps(TANK.describe()))
    change(described)
    with pytest.raises(RecordError, match="scene description"):
        layout_of({"frame": described})
