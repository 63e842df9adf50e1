"""Whoever gets a recording, an export or a page need not learn where its maker keeps their files."""

import json

import pytest
from runtime.small_robot import MESH_NAME, stl, urdf

import palpate as pp
from palpate import jit
from palpate.experiments.simulated import simulated_run
from palpate.record.export import export
from palpate.record.reader import Recording
from palpate.runtime.hello import hello_of
from palpate.runtime.page.experiments import Run
from palpate.scenes.any_arm import scene_of

SECRET = "someones-home"


@pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")
def test_a_robot_from_a_file_is_called_by_its_name_alone(tmp_path):
    folder = tmp_path / SECRET / "robots"
    (folder / "meshes").mkdir(parents=True)
    (folder / MESH_NAME).write_bytes(stl())
    (folder / "small.urdf").write_text(urdf(MESH_NAME))
    scene = scene_of(str(folder / "small.urdf"))()
    assert (scene.name, scene.title) == ("small.urdf", "small.urdf, wall and obstacle")
    session = pp.touch(scene, page=False)
    assert SECRET not in json.dumps(hello_of(session.simulation))
    session.stop()
    path = tmp_path / "a.mcap"
    simulated_run(scene, 50, record=path)
    with Recording(path) as back:
        chunks = [back.unpacked(place)[0] for place in range(len(back.contents.chunk_at))]
        assert back.count == 50
    assert not any(SECRET.encode() in data for data in (path.read_bytes(), *chunks))
    for style in ("csv", "marks"):
        export(path, tmp_path / f"out.{style}", style, everything=True)
        assert SECRET not in (tmp_path / f"out.{style}").read_text(encoding="utf-8")


def test_what_an_experiment_says_to_a_page_has_no_folders_above_its_own(tmp_path):
    out = tmp_path / SECRET / "out" / "nothing"
    run = Run("nothing", out.parent / ".nothing.unfinished", out)
    run._child.end()
    run._take({"said": f"writing {out}/figure.png"})
    run._take({"error": f"[Errno 13] Permission denied: '{out.parent}/.nothing.unfinished'"})
    told = run.told()
    assert (told["lines"], told["error"]) == (
        ["writing out/nothing/figure.png"], "[Errno 13] Permission denied: 'out/.nothing.unfinished'",
    )  # fmt: skip
