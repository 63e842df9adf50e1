"""Export: the right columns, and numbers that read back as the same bits."""

import csv
import json
import sys

import numpy as np
import pyarrow.parquet
import pytest
from sample_recordings import HUMANOID, SMALL, frames, hello_of, recording

from palpate.control.plans.cells import FORMULA, cell_text
from palpate.frame import COUNTERS
from palpate.record import RecordError
from palpate.record.export import columns, export
from palpate.record.hands import MESSAGE, Hands, read_hands, write_hands
from palpate.record.hands import columns as hand_columns
from palpate.record.reader import Recording
from palpate.record.writer import FrameWriter

COLUMNS = [
    "time_s", "tick", "wall_ns", "state", *(f"counter.{c}" for c in COUNTERS), "tick_us", "speed",
    "hand0.body", "hand1.body", "hand0.kind", "hand1.kind", "edit_mode", "edit_stage", "contacts",
    "task_trial", "task_state", "task_collisions", "gravity", "friction",
    *(f"{part}.{joint}" for part in ("q", "v", "tau", "plan_q") for joint in ("shoulder", "elbow")),
    *(f"hand{k}.{part}_{axis}" for part in ("point", "target", "force", "torque") for k in (0, 1) for axis in "xyz"),
    "hand0.age_s", "hand1.age_s", "granted_J",
    *(f"task_{part}" for part in ("time_s", "path_m", "peak_N", "distance_m")), "residual",
    "energy_kinetic", "energy_potential", "energy_hand",
]  # fmt: skip


def test_csv_has_one_row_a_frame_and_every_bit(tmp_path):
    words = frames(45)
    words[3, SMALL.offset["q"]] = np.float64(0.1 + 0.2).view(np.int64)
    words[4, SMALL.offset["q"]] = np.float64(5e-324).view(np.int64)
    words[5, SMALL.offset["wall_ns"]] = 2**62 + 1
    told = []
    assert export(recording(tmp_path / "a.mcap", words), tmp_path / "a.csv", progress=told.append) == 45
    with open(tmp_path / "a.csv", newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == COLUMNS
    assert len(rows) == 45
    for row, frame in zip(rows, words, strict=True):
        values = SMALL.unpack(frame)
        begins = [COLUMNS.index(name) for name in ("tick_us", "hand0.body", "gravity")]  # of floats, integers, floats
        integers, rest = row[1 : begins[0]] + row[begins[1] : begins[2]], row[begins[0] : begins[1]] + row[begins[2] :]
        assert [int(x) for x in integers] == [values["tick"], values["wall_ns"], values["state"],
                                               *values["counters"], *values["hand_body"],
                                               *values["hand_kind"], values["edit_mode"], values["edit_stage"],
                                               values["contacts"], values["task_trial"], values["task_state"],
                                               values["task_collisions"]]  # fmt: skip
        floats = [values["time_s"], values["tick_us"], values["speed"], values["gravity"],
                  values["friction"], *values["q"], *values["v"], *values["tau"], *values["plan_q"],
                  *values["hand_point"].ravel(), *values["hand_target"].ravel(), *values["hand_force"].ravel(),
                  *values["hand_torque"].ravel(), *values["hand_age_s"], values["granted_J"],
                  *(values[f"task_{part}"] for part in ("time_s", "path_m", "peak_N", "distance_m")),
                  values["residual"],
                  *values["energy"]]  # fmt: skip
        assert [float(x) for x in (row[0], *rest)] == floats  # exactly
    assert rows[3][COLUMNS.index("q.shoulder")] == "0.30000000000000004"
    assert told == [1 / 3, 2 / 3, 1.0]


def test_csv_writes_what_is_not_a_number_and_what_is_infinite(tmp_path):
    words = frames(1)
    words[0, SMALL.offset["q"] :][:2] = np.array([np.nan, -np.inf]).view(np.int64)
    export(recording(tmp_path / "a.mcap", words), tmp_path / "a.csv")
    row = (tmp_path / "a.csv").read_text().splitlines()[1].split(",")
    at = COLUMNS.index("q.shoulder")
    assert row[at : at + 2] == ["nan", "-inf"]


def test_everything_adds_poses_and_lateness(tmp_path):
    with Recording(recording(tmp_path / "a.mcap", frames(2))) as back:
        names = [column.name for column in columns(back, everything=True)]
        assert set(COLUMNS) < set(names)
        assert len(names) == SMALL.words == len({column.word for column in columns(back, everything=True)})
        assert {"pose.world.x", "pose.fore.qz", "lateness.0", "lateness.13"} <= set(names)


def test_joints_with_several_coordinates_are_numbered(tmp_path):
    path = recording(tmp_path / "a.mcap", frames(2, HUMANOID), HUMANOID)
    with Recording(path) as back:
        assert {"q.0", "q.38", "v.37"} <= {column.name for column in columns(back)}
    with pytest.raises(RecordError, match="joints with one coordinate each"):
        export(path, tmp_path / "a.json", "trajectory")


def test_trajectory_is_a_message_of_ros_of_the_last_run(tmp_path):
    """Two runs with a reset between them, and a pause in the second: only the second, without the pause."""
    second = frames(30, first=100)
    paused = np.repeat(second[10:11], 25, axis=0)
    words = np.concatenate((frames(40, first=90), second[:10], paused, second[10:]))
    assert export(recording(tmp_path / "a.mcap", words), tmp_path / "a.json", "trajectory") == 30
    trajectory = json.loads((tmp_path / "a.json").read_text())
    assert list(trajectory) == ["joint_names", "points"]
    assert trajectory["joint_names"] == ["shoulder", "elbow"]
    assert len(trajectory["points"]) == 30
    for i, (point, frame) in enumerate(zip(trajectory["points"], second, strict=True)):
        assert point["positions"] == SMALL.read(frame, "q").tolist()
        assert point["velocities"] == SMALL.read(frame, "v").tolist()
        assert point["time_from_start"] == {"sec": 0, "nanosec": i * 1_000_000}


def test_parquet_has_the_same_numbers(tmp_path):
    words = frames(45)
    assert export(recording(tmp_path / "a.mcap", words), tmp_path / "a.parquet", "parquet") == 45
    table = pyarrow.parquet.read_table(tmp_path / "a.parquet")
    assert table.column_names == COLUMNS
    assert table["tick"].to_pylist() == list(range(45))
    assert table["q.elbow"].to_pylist() == [SMALL.read(frame, "q")[1] for frame in words]


def test_parquet_without_pyarrow_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(RecordError, match=r"pip install 'palpate\[parquet\]'"):
        export(recording(tmp_path / "a.mcap", frames(3)), tmp_path / "a.parquet", "parquet")
    assert not (tmp_path / "a.parquet").exists()


def test_wrong_calls_are_one_line(tmp_path):
    path = recording(tmp_path / "a.mcap", frames(3))
    with pytest.raises(RecordError, match="'xls'; there are: csv, parquet, trajectory"):
        export(path, tmp_path / "a.xls", "xls")
    with pytest.raises(RecordError, match="is the recording itself"):
        export(path, path)
    with pytest.raises(RecordError, match="there is no file"):
        export(tmp_path / "b.mcap", tmp_path / "b.csv")
    with pytest.raises(RecordError, match="holds no frames"):
        export(recording(tmp_path / "empty.mcap", frames(0)), tmp_path / "b.csv")


def test_each_device_has_columns_of_its_own(tmp_path):
    with Recording(recording(tmp_path / "a.mcap", frames(3, HUMANOID), HUMANOID)) as back:
        names = [column.name for column in columns(back) if column.name.startswith("device")]
    assert len(names) == len(set(names))
    for k in (0, 1):
        assert {f"device{k}.held", f"device{k}.age_s", f"device{k}.force_z", f"device{k}.quaternion_w"} <= set(names)
        assert {f"device{k}.counters_clamped", f"device{k}.energy_coupling"} <= set(names)


def test_the_hand_of_a_device_can_be_played_back(tmp_path):
    from palpate.haptics.devices.simulation.playback import read_recording

    words, at = frames(30, HUMANOID), HUMANOID.offset
    floats = words.view(np.float64)
    floats[:, at["device_position"] : at["device_position"] + 3] = np.arange(90).reshape(30, 3) * 1e-3
    floats[:, at["device_quaternion"] : at["device_quaternion"] + 4] = (0.0, 1.0, 0.0, 0.0)
    words[:, at["device_buttons"]] = np.arange(30) >= 20
    floats[:10, at["time_s"]] += 5.0  # a run before the last reset
    file = recording(tmp_path / "a.mcap", words, HUMANOID)
    assert export(file, tmp_path / "hand.csv", "hand") == 20
    hand = read_recording(tmp_path / "hand.csv")
    assert np.array_equal(hand.time_s, np.arange(10, 30) * 1e-3)
    assert np.array_equal(hand.position_m, floats[10:, at["device_position"] : at["device_position"] + 3])
    assert (hand.quaternion == (0.0, 1.0, 0.0, 0.0)).all()
    assert np.array_equal(hand.buttons, np.arange(10, 30) >= 20)


def test_without_a_hand_there_is_none_to_export(tmp_path):
    with pytest.raises(RecordError, match="holds no hands: neither a device nor the page's pointer took part"):
        export(recording(tmp_path / "a.mcap", frames(5)), tmp_path / "hand.csv", "hand")


def nasty_texts(seed=3, n=60):
    """Texts that a spreadsheet would run, or that break a row, and mixtures of them."""
    rng = np.random.default_rng(seed)
    pieces = ["=1+1", "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "'", "''=", '"', '","', "#",
              ",", "\N{FULLWIDTH EQUALS SIGN}1", "\x1b[2J", "\u2028", "\0", "x", "", " ", "\r\n",
              "\x85"]  # fmt: skip
    return pieces + ["".join(rng.choice(pieces, size=4)) for _ in range(n)]


def test_no_text_of_a_table_is_a_formula_and_all_of_it_is_there(tmp_path):
    texts = nasty_texts()
    with FrameWriter(tmp_path / "a.mcap", hello_of()) as writer:
        for text in texts:
            writer.mark(text, {"note": text, text: -1.5, "list": [text]})
            writer.mark("plain", text)
    assert export(tmp_path / "a.mcap", tmp_path / "a.csv", "marks") == 2 * len(texts)
    with open(tmp_path / "a.csv", newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    for cell in (cell for row in (header, *rows) for cell in row if cell.startswith(FORMULA)):
        float(cell)  # a number of ours
    told = [cell_text(row[header.index("text")]) for row in rows if row[header.index("text")] != "plain"]
    noted = [cell_text(row[header.index("data")]) for row in rows if row[header.index("text")] == "plain"]
    assert told == noted == [text.encode(errors="backslashreplace").decode() for text in texts]
    assert {row[header.index("data.x")] for row in rows} == {"-1.5", ""}


def test_names_of_bodies_come_back_from_a_file_of_hands(tmp_path):
    names = [text.encode(errors="backslashreplace").decode() for text in nasty_texts()]
    n = len(names)
    hands = Hands(n, np.arange(n), np.zeros(n, dtype=int), np.zeros(n, dtype=bool), tuple(names),
                  np.zeros((n, MESSAGE.words), dtype=np.int64), ())  # fmt: skip
    write_hands(tmp_path / "a.csv", hands)
    assert read_hands(tmp_path / "a.csv").body == tuple(names)
    with open(tmp_path / "a.csv", newline="", encoding="utf-8") as file:
        assert not any(cell.startswith(FORMULA) for row in csv.reader(file) for cell in row)


def test_no_header_begins_like_a_formula(tmp_path):
    hello = hello_of() | {"joints": ["=1+1", "@a"], "bodies": [{"name": n, "shapes": []} for n in ("+w", "-a", "\t")]}
    with FrameWriter(tmp_path / "a.mcap", hello) as writer:
        writer.add(frames(3))
    export(tmp_path / "a.mcap", tmp_path / "a.csv", everything=True)
    header = next(csv.reader((tmp_path / "a.csv").read_text().splitlines()))
    assert {"q.=1+1", "pose.+w.x"} <= set(header)
    assert not any(name.startswith(FORMULA) for name in header)


HEADER = ",".join(hand_columns())
NO_HANDS = ["", "\xff\xfe", "tick,hand\n", "a\0b", '"' * 200_000, f"{HEADER}\n1,0,0,x,1e999\n", "# 99 ticks\n",
            f"{HEADER}\n{'9' * 30},0,0,,"]  # fmt: skip


@pytest.mark.parametrize("text", NO_HANDS)
def test_a_file_that_holds_no_hands_is_one_line_with_its_name(tmp_path, text):
    (tmp_path / "a.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(RecordError) as told:
        read_hands(tmp_path / "a.csv")
    assert str(tmp_path / "a.csv") in str(told.value)
    assert "\n" not in str(told.value)
