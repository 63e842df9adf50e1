"""`palpate bench batch`: the peer rolls out what we do, the harness reports all of it.  Nothing here is timed."""

import json

import numpy as np
import pytest

from palpate import cli
from palpate.bench import batch
from palpate.bench.batch import Row, Run
from palpate.bench.batch_engines import OurCopies, mujoco_class, pushes, stirred
from palpate.bench.contact_scenes import Phase, shortened

COPIES = 3


@pytest.fixture(scope="module")
def scene():
    return shortened(batch.scenes()[0], 0.1)


def test_scenes_are_the_robot_standing_and_pushed_on_all_points_and_on_corners():
    assert [(s.name, s.points) for s in batch.scenes()] == [("hrp2", 32), ("hrp2", 8)]
    assert all([p.name for p in s.phases] == ["standing", "pushed"] for s in batch.scenes())


def test_every_copy_has_its_own_push_and_its_own_beginning():
    f = pushes(Phase("pushed", 10, "chest", (60.0, 0.0, 0.0), 4), 5)
    assert f.shape == (5, 10, 3)
    assert f[:, 3, 0] == pytest.approx([30.0, 37.5, 45.0, 52.5, 60.0])
    assert not f[:, 4:].any()
    assert len(np.unique(stirred(7, 5), axis=0)) == 5


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("phase", [0, 1])
def test_our_copies_begin_alike_every_time(scene, threads, phase):
    ours = OurCopies(scene, COPIES)
    ends = []
    for _ in range(2):
        ours.prepare(threads, scene.phases[phase])
        ours.rollout()
        ends.append(ours._out.q)
    assert np.array_equal(*ends)
    assert len({*ends[0][:, -1, 0]}) == COPIES
    ours.close()


@pytest.mark.parametrize("threads", [1, 2])
def test_mujoco_moves_as_we_do(scene, threads):
    """Standing and pushed, its copies go where ours go, in the same time, to what its softness makes of it."""
    peer = mujoco_class()
    if peer is None:
        pytest.skip("MuJoCo is not installed")
    ours, theirs = OurCopies(scene, COPIES), peer(scene, COPIES, "dense")
    for phase in scene.phases:
        for engine in (ours, theirs):
            engine.prepare(threads, phase)
            engine.rollout()
        assert theirs.heights() == pytest.approx(ours.heights(), abs=2e-3)
        q = theirs._states[:, :, 1 : 1 + theirs.peer.m.nq]
        assert q == pytest.approx(ours._out.q, abs=0.02)
        if phase.pushed:
            forward = [x[:, -1, 0] - x[:, 0, 0] for x in (q, ours._out.q)]
            assert (np.diff(forward) > 0.0).all()  # who is pushed harder goes farther
    ours.close()
    theirs.close()


def test_a_ratio_is_that_of_processor_times_and_the_fastest_setting_counts():
    def of(engine, setting, threads, step_us, core_us):
        return Run(engine, setting, threads, step_us, core_us, core_us / step_us, 0.65)

    row = Row("hrp2", 32, "standing", (
        of("Palpate", "corners", 1, 10.0, 10.0), of("Palpate", "corners", 2, 5.5, 10.5),
        of("MuJoCo", "dense", 1, 50.0, 44.0), of("MuJoCo", "dense", 2, 22.0, 44.0),
        of("MuJoCo", "sparse", 1, 41.0, 41.5), of("MuJoCo", "sparse", 2, 21.0, 42.0),
    ))  # fmt: skip
    assert row.ratio() == pytest.approx(4.15)
    assert row.ratio(2) == pytest.approx(4.0)
    assert row.gain == pytest.approx(10.0 / 5.5)
    assert row.gain_given_two == pytest.approx(20.0 / 10.5)
    met = batch.goals([row])
    assert list(met.values()) == [True, False]
    assert "1.82 times on 1.91 cores (1.90 by processor time), goal 1.9" in list(met)[1]


def test_a_quick_run_prints_and_writes_everything(tmp_path, capsys, monkeypatch):
    first = shortened(next(batch.standing("hrp2")), 0.1)
    monkeypatch.setattr(batch, "scenes", lambda: [first])
    file = tmp_path / "batch.json"
    assert cli.main(["bench", "batch", "--quick", "--rounds", "1", "--json", str(file)]) == 0
    printed, written = capsys.readouterr().out, json.loads(file.read_text())
    assert "a step of 1 ms of one of 64 copies" in printed
    assert "a quick run" in printed
    assert [row["phase"] for row in written["rows"]] == ["standing", "pushed"]
    for row in written["rows"]:
        assert {run["threads"] for run in row["runs"]} == {1, 2}
        assert all(run["step_us"] > 0.0 and run["core_us"] > 0.0 for run in row["runs"])
    assert written["met"] == written["shortfalls"] == []
