"""Recordings of the planar interface, exported: its signals by name, every bit of them."""

import csv

import numpy as np
import pytest

from palpate import jit
from palpate.planar.scenes import planar_wall
from palpate.record import RecordError
from palpate.record.export import export
from palpate.record.writer import FrameWriter
from palpate.runtime.hello import hello_of
from palpate.servo.run import Run

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")
PATH = [(0.0, -0.02, 0.0, 0.0), (0.3, 0.04, 0.0, 0.0), (0.6, 0.04, 0.02, 0.2)]
# a column of CSV, and where its numbers are in a frame
SIGNALS = {
    "penetration_mm": ("penetration_mm", ()), "normal_N": ("normal_N", ()), "friction_N": ("friction_N", ()),
    "slips": ("slips", ()), "contacts": ("contacts", ()), "wall": ("wall", ()), "fault": ("fault", ()),
    "block.0": ("block", (0,)), "block.2": ("block", (2,)), "handle.1": ("handle", (1,)),
    "hand_true.0": ("hand_true", (0,)), "hand_estimate.2": ("hand_estimate", (2,)), "pull.0": ("pull", (0,)),
    "torque.3": ("torque", (3,)), "energy_J.4": ("energy_J", (4,)), "audit_worst": ("audit_worst", ()),
    "other_normal_N": ("other_normal_N", ()), "other_block.0": ("other_block", (0,)),
    "hand0.force_x": ("hand_force", (0, 0)), "device0.held": ("device_held", (0,)),
}  # fmt: skip


@pytest.fixture(scope="module")
def wall(tmp_path_factory):
    """(file, run): a hand leads the block into the wall and along it; a second block has another law."""
    simulation = planar_wall(path=PATH, compare=True)
    run, path = Run(simulation), tmp_path_factory.mktemp("planar") / "wall.mcap"
    run.seconds(0.6)
    with FrameWriter(path, hello_of(simulation), clock_offset_ns=0) as writer:
        writer.add(run.frames)
    return path, run


def exported(path, out, **options):
    export(path, out, "csv", **options)
    return list(csv.DictReader(out.read_text().splitlines()))


def test_its_signals_are_columns_with_every_bit(wall, tmp_path):
    path, run = wall
    rows = exported(path, tmp_path / "wall.csv")
    assert len(rows) == run.count
    assert run.history("penetration_mm").max() > 0.1  # something happened
    for column, (field, at) in SIGNALS.items():
        assert np.array_equal([float(row[column]) for row in rows], run.history(field)[(slice(None), *at)]), column
    told = {plotted["field"] for plot in run.simulation.hello()["plots"] for plotted in plot["series"]}
    lacking = {name for name in told if not any(column.split(".")[0] == name for column in rows[0])}
    assert {name.removeprefix("other_").partition("_")[0] for name in lacking} <= {"contact"}  # which come with all


def test_contacts_come_with_everything_and_not_before(wall, tmp_path):
    path, run = wall
    few, all_ = (exported(path, tmp_path / f"{k}.csv", everything=k)[0] for k in (False, True))
    assert len(all_) == run.simulation.layout.words
    assert not [name for name in few if name.startswith(("contact0", "other_contact_"))]
    assert {"contact0.depth_mm", "contact15.force_x", "contact1.god_y", "pose.block.x"} <= set(all_) - set(few)


def test_without_a_device_there_is_no_hand_to_play_again(wall, tmp_path):
    with pytest.raises(RecordError, match="holds no hands"):
        export(wall[0], tmp_path / "hand.csv", "hand")
