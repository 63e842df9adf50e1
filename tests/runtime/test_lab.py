"""Experiments from a page: they run beside the session, one at a time, and leave whole results or none."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from quick_experiments import NAMES, PICTURES, install
from waiting import until

from palpate.experiments import EXPERIMENTS, process
from palpate.registry import everything
from palpate.runtime.page import experiments as lab_module
from palpate.runtime.page.experiments import Lab
from palpate.runtime.page.results import PIECE, REPORT, Results, file_name


class Session:
    """As far as the lab looks at it."""

    def __init__(self) -> None:
        self.may_leave = True


@pytest.fixture
def lab(tmp_path, monkeypatch):
    site = tmp_path / "site"
    install(site)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])]))
    made = Lab(Session(), tmp_path / "out")
    yield made
    made.close()


@pytest.fixture
def shelf(tmp_path):
    """A lab whose list is known already: it starts no process, and shows what lies there."""
    made = Lab(Session(), tmp_path / "out")
    made._list = [{"name": name, "about": ""} for name in NAMES]
    return made


def ask(lab, what, **more):
    """As a page does that could have the hands."""
    answer = lab.answers[what]({"id": 1, "what": what, "hands": True, **more})
    return json.loads(json.dumps(answer, allow_nan=False))


def ended(lab, so_far=lambda run: run["state"] != "running"):
    """The run, when it has come so far."""

    def come() -> dict | None:
        run = ask(lab, "experiments")["run"]
        return run if so_far(run) else None

    return until(come, lambda: ask(lab, "experiments")["run"])


def whole(lab, name, file):
    """A file, as a page puts it together."""
    data, size = b"", 1
    while len(data) < size:
        piece = ask(lab, "fetch", name=name, file=file, **{"from": len(data)})
        data, size = data + base64.b64decode(piece["data"]), piece["size"]
    return data


def made_in(tmp_path):
    out = tmp_path / "out"
    return sorted(str(path.relative_to(out)) for path in out.rglob("*")) if out.exists() else []


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")


def write_report(tmp_path, name="quick", text=None, **document):
    folder = tmp_path / "out" / name
    folder.mkdir(parents=True, exist_ok=True)
    document = {"claims": [], "figures": [], **document}
    (folder / REPORT).write_text(json.dumps(document) if text is None else text)
    return folder


# ---- running


def test_every_experiment_is_listed_with_its_line_those_of_other_packages_too(lab):
    cards = {card["name"]: card for card in ask(lab, "experiments")["experiments"]}
    assert set(everything(EXPERIMENTS, "experiments")) | set(NAMES) == set(cards)
    assert cards["arm-line"]["about"] == EXPERIMENTS["arm-line"][1]
    assert cards["quick"]["about"] == "from some-experiments"
    assert cards["arm-line"]["result"] is None


def test_a_run_leaves_claims_figures_and_a_recording_and_gives_way_to_the_servo(lab, tmp_path):
    ask(lab, "run", name="quick")
    run = ended(lab)
    assert (run["state"], run["error"], run["lines"]) == ("done", "", ["it begins", "3"])
    report = ask(lab, "report", name="quick")
    priority, total, nothing = report["claims"]
    assert priority["passed"]
    assert total == {"name": "a sum", "value": 2.0, "low": 2.0, "high": 2.0, "unit": "m", "passed": True}
    assert (nothing["value"], nothing["passed"]) == (None, False)
    assert report["figures"] == [{"name": "drawing", "as": ["png", "svg"]}]
    assert report["recordings"] == ["motion.mcap"]
    assert whole(lab, "quick", "drawing.svg") == PICTURES[".svg"]
    assert whole(lab, "quick", REPORT) == (tmp_path / "out" / "quick" / REPORT).read_bytes()
    card = next(c for c in ask(lab, "experiments")["experiments"] if c["name"] == "quick")
    assert (card["result"]["met"], card["result"]["of"]) == (2, 3)
    files = ["drawing.png", "drawing.svg", "motion.mcap", REPORT]
    assert made_in(tmp_path) == ["quick", *(f"quick/{file}" for file in files)]  # and nothing unfinished


@pytest.mark.parametrize(("name", "why"), [("failing", "RuntimeError: the arm fell off"), ("dying", "code 7")])
def test_a_run_that_fails_says_so_in_one_line_and_leaves_nothing(lab, tmp_path, name, why):
    ask(lab, "run", name=name)
    run = ended(lab)
    assert run["state"] == "failed"
    assert why in run["error"]
    assert "more" not in run["error"]
    assert made_in(tmp_path) == []
    ask(lab, "run", name="quick")  # and the next one runs
    assert ended(lab)["state"] == "done"


def test_a_cancelled_run_is_gone_and_earlier_results_stand(lab, tmp_path):
    folder = write_report(tmp_path, "endless", figures=["half.png"])
    (folder / "half.png").write_bytes(b"of an earlier run")
    ask(lab, "run", name="endless")
    pid = int(ended(lab, lambda run: run["lines"])["lines"][0].split()[-1])
    assert alive(pid)
    ask(lab, "cancel")
    assert ask(lab, "experiments")["run"]["state"] == "cancelled"
    assert not alive(pid)
    assert whole(lab, "endless", "half.png") == b"of an earlier run"
    assert made_in(tmp_path) == ["endless", "endless/half.png", f"endless/{REPORT}"]


def test_one_at_a_time(lab):
    ask(lab, "run", name="endless")
    for name in ("quick", "endless"):
        with pytest.raises(ValueError, match="endless is running: one at a time"):
            ask(lab, "run", name=name)
    assert ask(lab, "experiments")["run"]["state"] == "running"


def test_a_run_ends_with_the_session(lab, tmp_path):
    ask(lab, "run", name="endless")
    pid = int(ended(lab, lambda run: run["lines"])["lines"][0].split()[-1])
    lab.close()
    assert not alive(pid)
    assert made_in(tmp_path) == []
    with pytest.raises(ValueError, match="over"):
        ask(lab, "run", name="quick")


def test_a_run_ends_when_the_session_is_killed(lab, tmp_path):
    """Nobody is left to tell it: the end of its stdin does."""
    orders = {"run": "endless", "into": str(tmp_path / "out" / "x"), "out": str(tmp_path / "out" / "endless")}
    code = (
        "import json, subprocess, sys\n"
        f"command = [sys.executable, '-m', 'palpate.processes', {lab_module.PROCESS!r}]\n"
        "child = subprocess.Popen(command, stdin=subprocess.PIPE)\n"
        f"child.stdin.write(json.dumps({orders!r}).encode() + b'\\n')\n"
        "child.stdin.flush()\n"
        "child.wait()\n"
    )
    session = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        assert session.stdout is not None
        pid = int(json.loads(session.stdout.readline())["said"].split()[-1])
    finally:
        session.kill()
        session.wait()
        session.stdout.close()
    until(lambda: not alive(pid))
    assert made_in(tmp_path) == []


# ---- who, and what


def test_only_a_page_that_could_have_the_hands_may_run_and_cancel(shelf):
    for hands in ({}, {"hands": False}, {"hands": "yes"}, {"hands": 1}):
        request = {"id": 1, "name": "quick", **hands}
        for what in ("run", "cancel"):
            with pytest.raises(ValueError, match="Another page has the hands"):
                shelf.answers[what](request)
        assert "Another page" in shelf.answers["experiments"](request)["cannot"]
    assert ask(shelf, "experiments")["run"] is None
    assert ask(shelf, "experiments")["cannot"] == ""


def test_a_programs_session_shows_results_and_runs_nothing(shelf, tmp_path):
    shelf._session.may_leave = False
    write_report(tmp_path)
    with pytest.raises(ValueError, match="palpate touch"):
        ask(shelf, "run", name="quick")
    assert "palpate run" in ask(shelf, "experiments")["cannot"]
    assert ask(shelf, "report", name="quick")["claims"] == []


@pytest.mark.parametrize("name", ["nothing", "", None, 3, ["quick"], "../out/quick", "quick/../quick", "QUICK", "/"])
def test_only_experiments_by_their_names(shelf, tmp_path, name):
    write_report(tmp_path)
    for what in ("run", "report", "fetch"):
        with pytest.raises(ValueError, match="no experiment is called"):
            ask(shelf, what, name=name, file=REPORT)


def test_only_figures_that_the_report_names_and_the_report(shelf, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "secret.png").write_bytes(b"secret")
    (tmp_path / "out" / "other.png").write_bytes(b"secret")
    named = ["fine.png", "../other.png", "../../secret.png", str(tmp_path / "secret.png"), ".png", "data.csv", 3]
    folder = write_report(tmp_path, figures=named, recordings=["motion.mcap"])
    for file in ("fine.png", "unnamed.png", "motion.mcap"):
        (folder / file).write_bytes(b"fine")
    assert [f["name"] for f in ask(shelf, "report", name="quick")["figures"]] == ["fine"]
    assert whole(shelf, "quick", "fine.png") == b"fine"
    for file in ("unnamed.png", "motion.mcap", "../other.png", "../../secret.png", str(tmp_path / "secret.png"), None):
        with pytest.raises(ValueError, match="has no figure"):
            ask(shelf, "fetch", name="quick", file=file)


@pytest.mark.parametrize("start", [-1, 0.5, "0", None, True])
def test_a_piece_begins_at_a_byte(shelf, tmp_path, start):
    write_report(tmp_path)
    with pytest.raises(ValueError, match="begins at a byte"):
        ask(shelf, "fetch", name="quick", file=REPORT, **{"from": start})


# ---- results, whatever lies there


def test_a_large_figure_comes_in_pieces_that_a_socket_bears(shelf, tmp_path):
    folder = write_report(tmp_path, figures=["large.png", "empty.svg"])
    content = bytes(i * 7 % 256 for i in range(2 * PIECE + 5))
    (folder / "large.png").write_bytes(content)
    (folder / "empty.svg").write_bytes(b"")
    first = ask(shelf, "fetch", name="quick", file="large.png")
    assert len(base64.b64decode(first["data"])) == PIECE
    assert whole(shelf, "quick", "large.png") == content
    assert ask(shelf, "fetch", name="quick", file="empty.svg") | {"made": ""} == {"data": "", "size": 0, "made": ""}
    assert ask(shelf, "fetch", name="quick", file="large.png", **{"from": 10 * PIECE})["data"] == ""


def test_a_figure_that_was_drawn_anew_is_another(shelf, tmp_path):
    folder = write_report(tmp_path, figures=["a.png"])
    (folder / "a.png").write_bytes(b"first")
    made = ask(shelf, "fetch", name="quick", file="a.png")["made"]
    os.utime(folder / "a.png", ns=(1, 1))
    assert ask(shelf, "fetch", name="quick", file="a.png")["made"] != made


@pytest.mark.parametrize(
    "text",
    ["", "[]", "3", "{", '{"claims": 3}', '{"claims": [3], "figures": []}', '{"claims": [], "figures": 3}', "[" * 10**5,
     '{"claims": [], "figures": [], "options": 3}', '{"claims": [{"name": "a"}], "figures": []}', "\0\xff"],
)  # fmt: skip
def test_a_report_that_is_none_is_said_in_one_line_and_hides_nothing_else(shelf, tmp_path, text):
    write_report(tmp_path, text=text)
    with pytest.raises(ValueError, match=r"out/quick/report\.json") as error:
        ask(shelf, "report", name="quick")
    assert "\n" not in str(error.value)
    assert str(tmp_path) not in str(error.value)
    assert {card["result"] for card in ask(shelf, "experiments")["experiments"]} == {None}


def test_numbers_that_json_cannot_hold_are_none(tmp_path):
    claims = '[{"name": "a", "value": NaN, "low": -Infinity, "high": 1e999, "passed": true}]'
    write_report(tmp_path, text=f'{{"claims": {claims}, "figures": [], "seconds": {"9" * 400}}}')
    report = Results(tmp_path / "out").report("quick")
    assert [report["claims"][0][key] for key in ("value", "low", "high")] == [None] * 3
    assert report["seconds"] is None


def test_an_experiment_that_has_not_run_says_so(shelf):
    with pytest.raises(ValueError, match="quick has not run yet"):
        ask(shelf, "report", name="quick")


def test_whole_results_replace_older_ones_the_report_last(tmp_path, monkeypatch):
    into, out = tmp_path / "into", tmp_path / "out"
    for folder, text in ((into, "new"), (out, "old")):
        folder.mkdir()
        for name in (REPORT, "a.png", "z.png"):
            (folder / name).write_text(text)
        (folder / "more").mkdir()
        (folder / "more" / text).write_text(text)
    moved = []
    replace = os.replace
    monkeypatch.setattr(process.os, "replace", lambda a, b: (moved.append(Path(a).name), replace(a, b)))
    process.hand_over(into, out)
    assert moved[-1] == REPORT
    assert (out / "a.png").read_text() == "new"
    assert [path.name for path in (out / "more").iterdir()] == ["new"]
    assert not into.exists()


NO_FILES = ("../../x", "a/b", "a\\b", "a\nb", "a\x1b[2Jb", "a\u202eb", ".hidden", "C:x", "a\0b", "\ud800", 'a"b', "<b>")


@pytest.mark.parametrize("name", [*NO_FILES, " ", "x" * 300, "a;b", "%00", "..", "\N{ROBOT FACE}" * 100])
def test_what_a_page_may_save_has_the_name_of_a_file(name):
    shown = file_name(name)
    assert shown.isprintable()
    assert 0 < len(shown) <= 80
    assert not set(shown) & set('/\\:*?"<>|;%')
    assert not shown.startswith(".")
    assert shown == file_name(shown)


def test_a_figure_that_is_no_name_of_a_file_is_not_offered(tmp_path):
    write_report(tmp_path, figures=[f"{name}.png" for name in NO_FILES] + ["arm, \N{EM DASH} 1.png"])
    assert [f["name"] for f in Results(tmp_path / "out").report("quick")["figures"]] == ["arm, \N{EM DASH} 1"]
