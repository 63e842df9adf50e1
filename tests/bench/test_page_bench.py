"""`palpate bench page`: what it says was measured was measured, its goals can be missed, and the tables have every row.

Nothing here is timed.
"""

import inspect
import json
import time
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from waiting import until

from palpate import bench, cli, jit
from palpate.bench import page, page_browser
from palpate.bench.page_browser import STAGES, compared, stages
from palpate.bench.page_clients import spread, touches, watched
from palpate.bench.page_tables import page_table
from palpate.bench.peers import page as page_peer
from palpate.page.server import STATIC
from palpate.runtime.world.session import WorldSession

needs_servo = pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")
needs_page = pytest.mark.skipif(not (STATIC / "index.html").is_file(), reason="the page is not built: make page")


# ---- the list of benches


@pytest.mark.parametrize("name", bench.BENCHES)
def test_every_bench_is_where_the_list_says_and_takes_what_it_says(name):
    found = bench.BENCHES[name]
    takes = inspect.signature(bench._named(found.run)).parameters
    assert {"progress", *found.takes} <= set(takes)
    assert all(takes[option].default is not inspect.Parameter.empty for option in found.takes)
    assert callable(bench._named(found.table))


def test_the_command_line_knows_every_bench():
    assert set(get_args(cli.BenchName)) == set(bench.BENCHES)


# ---- from the pointer to the picture


def test_every_stage_of_a_move_is_found_again():
    """Two moves; the first is said twice, as a page does, and the second is used a tick late and drawn two later."""
    a, b = (0.1, 0.2, 0.3), (0.1, 0.2, 0.4)
    times = stages(
        sent=[[100.0, 101.0, *a], [120.0, 120.5, *b]],
        took=[(a, 1_103_000_000), (a, 1_110_000_000), (b, 1_121_000_000)],
        used=[(7, 1_102_000_000, 1_080_000_000), (8, 1_104_000_000, 1_103_000_000), (9, 1_121_000_000, 1_110_000_000),
              (10, 1_123_000_000, 1_121_000_000)],
        shown=[[6, 90.0], [8, 109.0], [9, 121.0], [12, 140.0]],
        clock_ms=1000.0,
    )  # fmt: skip
    assert list(times) == list(STAGES)
    assert [times[name] for name in STAGES] == [
        pytest.approx(x) for x in ([1.0, 0.5], [2.0, 0.5], [1.0, 2.0], [5.0, 17.0], [9.0, 20.0])
    ]


@pytest.mark.parametrize("lacks", ["took", "used", "shown"])
def test_a_move_that_was_not_followed_to_its_picture_is_left_out(lacks):
    way = {"took": [((0.0, 0.0, 0.0), 5)], "used": [(1, 6, 5)], "shown": [[1, 1.0]]}
    assert len(stages([[0.0, 0.0, 0.0, 0.0, 0.0]], **way, clock_ms=0.0)[STAGES[0]]) == 1
    assert not any(stages([[0.0, 0.0, 0.0, 0.0, 0.0]], **way | {lacks: []}, clock_ms=0.0).values())


@given(ahead_ms=st.floats(-1e6, 1e6))
def test_another_clock_is_as_far_off_as_is_said(ahead_ms):
    zero_ms, off_ms = compared(lambda: 1e-6 * time.monotonic_ns() + ahead_ms)
    assert abs(zero_ms + ahead_ms) <= off_ms + 1e-3  # a float of some days in ms


def test_stages_add_up_to_the_whole_way():
    rng = np.random.default_rng(2)
    at = np.cumsum(rng.uniform(0.1, 5.0, (30, 5)), axis=1) + 1000.0 * np.arange(30)[:, None]
    where = [tuple(rng.normal(size=3)) for _ in at]
    times = stages(
        sent=[[*row[:2], *x] for row, x in zip(at, where, strict=True)],
        took=[(x, round(1e6 * row[2])) for row, x in zip(at, where, strict=True)],
        used=[(k, round(1e6 * row[3]), round(1e6 * row[2])) for k, row in enumerate(at)],
        shown=[[k, row[4]] for k, row in enumerate(at)],
        clock_ms=0.0,
    )
    *parts, whole = (np.array(times[name]) for name in STAGES)
    assert len(whole) == len(at)
    np.testing.assert_allclose(sum(parts), whole, atol=1e-5)


def test_without_a_browser_it_says_why(monkeypatch):
    monkeypatch.setattr(page_browser.shutil, "which", lambda name: None)
    assert page_browser.missing() in ("no Chromium on this machine", "playwright is not installed")


# ---- goals and the tables


def test_times_are_summed_up():
    assert spread(list(range(1, 102))) == {"p50_ms": 51.0, "p99_ms": 100.0, "max_ms": 101.0, "samples": 101}
    assert spread([]) == {"p50_ms": None, "p99_ms": None, "max_ms": None, "samples": 0}


TIMES = {"p50_ms": 0.5, "p99_ms": 0.75, "max_ms": 1.25, "samples": 7}


def made_up(frame_ms=0.5, frames_hz=60.0, late=0.0, hand_ms=0.5, start_s=1.5, missing=(), first_s=4.0, compiled=0):
    """A result; late: of the ticks with pages."""

    def row(pages, slow=False):
        seen = spread([]) if pages == 0 else TIMES | {"p50_ms": frame_ms}
        return {"scene": "arm", "pages": pages, "slow": slow, **seen, "frame_bytes": 2048, "frames_hz": frames_hz,
                "bytes_s": 122880.0, "slow_frames": 3, "late_fraction": late if pages else 0.001}  # fmt: skip

    return {
        "seconds": 1.0, "machine": {"cores": 2}, "fifo": False, "frames": [row(0), row(1), row(8), row(1, slow=True)],
        "hand": {"hand to page": TIMES, "hand to force": TIMES | {"p50_ms": hand_ms}},
        "browser": [] if missing else [{"scene": "arm", "drawn_hz": 59.5, "shown_hz": 58.5, "clock_off_ms": 0.25,
                                        "stages": dict.fromkeys(STAGES, TIMES)}],
        "missing": list(missing), "starts": [{"scene": "arm", "page_s": start_s, "frame_s": start_s}] * 3,
        "first": {"scene": "arm", "page_s": first_s, "frame_s": first_s, "compiled": compiled},
        "peer": {"there and back": TIMES, "back": TIMES}, "load": {"before": (0.5, 0, 0), "after": (1.25, 0, 0)},
        "met": ["one"], "shortfalls": ["another"],
    }  # fmt: skip


def test_every_goal_can_be_met_and_missed():
    met, missed = made_up(), made_up(4.0, 53.9, 0.0021, 2.4, 3.0, first_s=30.0, compiled=550)
    assert [is_met for _, is_met in page.verdicts(met)] == 9 * [True]
    assert [is_met for _, is_met in page.verdicts(missed)] == 9 * [False]
    assert [is_met for _, is_met in page.verdicts(made_up(first_s=9.9, compiled=550))] == 9 * [True]
    assert [is_met for _, is_met in page.verdicts(made_up(first_s=5.0))].count(False) == 2  # brought by a wheel
    assert [is_met for _, is_met in page.verdicts(made_up(None, hand_ms=None))].count(False) == 2
    assert any("0.210 % of ticks late with 8 pages, 0.100 % without" in what for what, _ in page.verdicts(missed))


def test_the_tables_say_what_happened(capsys):
    page_table(cli.console, made_up())
    out = capsys.readouterr().out
    assert "…" not in out
    assert "1 + slow" in out
    assert "None" not in out
    for stage in (*STAGES, "hand to page", "there and back"):
        assert stage in out
    assert "arm in Chromium, drawn by the processor: 59.5 pictures and 58.5 frames a second" in out
    assert out.count("page after 1.50 s, first frame after 1.50 s") == 3
    assert "its first start: page after 4.00 s, first frame after 4.00 s, 0 files compiled" in out
    assert "load 0.50 on 2 cores before the run, 1.25 after it; SCHED_FIFO is not permitted here" in out
    assert "goal met: one" in out
    assert "below its goal: another" in out


def test_what_is_not_measured_is_said(capsys):
    page_table(cli.console, made_up(missing=("no Chromium on this machine",)))
    assert "not measured: the page in a browser, no Chromium on this machine" in capsys.readouterr().out


# ---- in real time


def test_the_bare_server_answers_with_as_many_bytes(monkeypatch):
    sizes = []

    async def next_frame(ws):
        message = await ws.receive()
        sizes.append(len(message.data))
        return np.frombuffer(message.data, dtype="<i8")

    monkeypatch.setattr(page_peer, "next_frame", next_frame)
    trips_ms, back_ms = page_peer.bare_echo(0.2, 4096)
    assert set(sizes) == {4096}
    assert len(trips_ms) == len(back_ms) == len(sizes)
    assert all(0.0 < back <= trip for trip, back in zip(trips_ms, back_ms, strict=True))


@pytest.mark.slow
@needs_servo
@needs_page
def test_pages_that_watch_and_one_that_touches_see_what_the_servo_does():
    shown = page.SCENES[0]
    with WorldSession(shown.build(), page=True, port=0) as session:
        until(lambda: session.frame()["tick"] > 500)
        session.reset()  # ticks are counted from here again, and the row must not mind
        published = session.simulation.frames.head
        seen = watched(session, pages=2, slow=True, seconds=1.0)
        published = session.simulation.frames.head - published
        felt = touches(session, shown.body, seconds=1.0)
        assert session.frame()["hand_body"][0] == 0  # it let go
        frame_bytes = 8 * session.simulation.layout.words
    for got in seen.pages:
        assert got.frame_bytes == frame_bytes * len(got.ages_ms) > 0
        assert min(got.ages_ms) > 0.0
    assert seen.slow_frames > 0
    assert 0 < seen.ticks <= published
    assert 0 <= seen.late <= seen.ticks
    assert len(felt.to_page) == len(felt.to_force) == len(felt.and_back) > 0
    assert min(felt.to_page) > 0.0
    assert all(force < back for force, back in zip(felt.to_force, felt.and_back, strict=True))


@pytest.mark.browser
@pytest.mark.slow
@needs_servo
@needs_page
@pytest.mark.skipif(bool(page_browser.missing()), reason=page_browser.missing() or "there is a browser")
def test_a_drag_in_chromium_is_followed_from_the_pointer_to_the_picture(monkeypatch):
    """A few moves; if the page sent or showed them in another way than its notes expect, none would come through."""
    monkeypatch.setattr(page_browser, "LEAST_MOVES", 4)
    monkeypatch.setattr(page_browser, "WINDOW", {"width": 640, "height": 400})  # few pixels: they are drawn in software
    shown = page.SCENES[0]
    with WorldSession(shown.build(), page=True, port=0) as session, page_browser.chromium() as browser:
        row = page.browser_row(shown, session, browser, 0.01)
        until(lambda: session.frame()["hand_body"][0] == 0)  # the button is up
    assert set(row["stages"]) == set(STAGES)
    for times in row["stages"].values():
        assert times["samples"] > 0
    assert row["clock_off_ms"] > 0.0
    assert row["stages"]["pointer to message"]["p50_ms"] >= 0.0  # by one clock


@pytest.mark.slow
@needs_servo
@needs_page
def test_the_bench_prints_and_writes_every_row(monkeypatch, tmp_path, capsys):
    """One scene, for a moment, without a browser; the start of a program is a real one, the first one a second.

    (A first start compiles for most of a minute: .ci/run has a real one, of a wheel.)
    """
    one = page.Shown("arm-line", page.arm_line, "link3", (page.Case(0), page.Case(1)))
    monkeypatch.setattr(page, "SCENES", (one,))
    monkeypatch.setattr(page, "STARTS", 1)
    monkeypatch.setattr(page, "first_start", lambda scene: page.start(scene) | {"compiled": 0})
    monkeypatch.setattr(page_browser, "missing", lambda: "nobody looks")
    assert cli.main(["bench", "page", "--seconds", "0.2", "--json", str(tmp_path / "bench.json")]) == 0
    out, result = capsys.readouterr().out, json.loads((tmp_path / "bench.json").read_text())
    assert [(row["scene"], row["pages"]) for row in result["frames"]] == [("arm-line", 0), ("arm-line", 1)]
    assert result["frames"][1]["frames_hz"] > 0.0
    assert 0.0 < result["starts"][0]["page_s"] < result["starts"][0]["frame_s"]
    assert 0.0 < result["first"]["page_s"] < result["first"]["frame_s"]
    assert len(result["met"]) + len(result["shortfalls"]) == len(page.verdicts(result))
    assert "nobody looks" in out
    assert "hand to force" in out
