"""`palpate bench servo`: its hand really pushes and drags, its proxies really slide, and the tables have every row.

Nothing here is timed.
"""

import json
import math

import numpy as np
import pytest

import palpate as pp
from palpate import cli, jit
from palpate.bench import rendering, servo, touched
from palpate.collision.polyhedra import merged, volume
from palpate.frame import DEVICE_COUNTERS
from palpate.haptics.rendering.facade import Proxy
from palpate.model.shapes import SHAPE_KINDS
from palpate.runtime.world.simulation import WorldSimulation

needs_compiler = pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")
SMALL = ((48, 41),)  # meridians and parallels: 3840 triangles, flat to well within the 3 mm of the sliding hand

# ---- scenes under a hand


CASES = touched.touched_scenes()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_hand_repeats_its_round_and_ends_where_it_began(case):
    hand = case.hand(2.5 * touched.ROUND_S)
    times = [t for t, _ in hand.intent]
    assert len(hand.holds) == 3
    assert hand.intent[0][1] == hand.intent[-1][1] == case.way[0][1]
    assert times[-1] == 3 * touched.ROUND_S
    assert all(begin < touched.ROUND_S for begin, _ in case.hand(1e-3).holds)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_round_pushes_takes_hold_drags_and_lets_go(case):
    """In simulated time, so the same every time: what the real-time rows are about happens."""
    scene = case.build()
    with pp.open_device(touched.DEVICE, hand=case.hand(touched.ROUND_S)) as device:
        reaching = case.reaching(scene.world, device, real_time=False)
        engine = WorldSimulation(scene, devices=[reaching])
        log = touched.FrameLog(engine)
        engine.restart()
        ticks, nobody = round(touched.ROUND_S * scene.rate_hz), np.zeros((0, engine.hand_layout.words), dtype=np.int64)
        assert engine.simulate(ticks, nobody) == ticks
        log.read()
        last = engine.layout.unpack(engine.frames.newest()[1])
        engine.close()
    row = log.summary()
    assert row["frames"] + row["frames_lost"] == ticks
    assert row["pushing"] > 0.02
    pressed = round((touched.HOLD_S[1] - touched.HOLD_S[0]) * scene.rate_hz)
    assert 0.5 * pressed < round(row["holding"] * ticks) <= pressed + 1  # the ends of a tick's time are rounded
    assert last["device_held"][0] == 0
    assert not reaching.fault


@pytest.mark.slow
@needs_compiler
def test_hrp2_stands_through_a_round():
    """A row about a robot that lies on the floor would be about something else."""
    case = next(case for case in CASES if "hrp2" in case.name)
    scene = case.build()
    head = scene.world.pose("HEAD_JOINT1")[2, 3]
    with pp.open_device(touched.DEVICE, hand=case.hand(touched.ROUND_S)) as device:
        session = pp.touch(scene, [(device, case.reach)], page=False)
        session.simulate(touched.ROUND_S)
        session.simulation.close()
    assert scene.world.pose("HEAD_JOINT1")[2, 3] > 0.97 * head


@pytest.mark.slow
@needs_compiler
def test_a_touched_row_has_what_its_table_needs():
    """In real time, as the bench does it; how late it was is nobody's business here."""
    case, seconds = CASES[-1], 0.3
    row = touched.touched(case, seconds, fifo=False)
    assert row["scene"] == case.name
    assert row["fault"] == ""
    assert set(row["device"]) == set(DEVICE_COUNTERS)
    assert row["frames"] + row["frames_lost"] == round(seconds * row["rate_hz"])
    assert 0.0 <= row["p50_us"] <= row["p99_us"] <= row["p99.9_us"] <= row["max_us"]
    assert 0.0 < row["tick_p50_us"] <= row["tick_p99_us"] <= row["tick_p99.9_us"] <= row["tick_max_us"]
    assert 0.0 < row["age_p50_us"] <= row["age_p99_us"] <= row["age_p99.9_us"] <= row["age_max_us"]
    assert 0.0 <= row["late_fraction"] <= 1.0
    assert 0.0 <= row["too_long"] <= 1.0


def touched_row(
    scene: str = "crowd", late: float = 0.0, fifo: bool = True, busy: bool = False, fault: str = ""
) -> dict:
    keys = [f"{of}{name}_us" for of in ("", "tick_", "age_") for name in ("p50", "p99", "p99.9", "max")]
    return dict.fromkeys(keys, 1.5) | {
        "scene": scene, "rate_hz": 1000.0, "late_fraction": late, "fifo": fifo, "busy": busy, "fault": fault,
        "too_long": 0.5 * late, "pushing": 0.25, "holding": 0.5,
    }  # fmt: skip


def test_the_goal_is_for_a_quiet_machine_with_fifo_only():
    rows = [touched_row(late=0.0009), touched_row("hrp2", late=0.001), touched_row(late=0.5, busy=True),
            touched_row(late=0.5, fifo=False)]  # fmt: skip
    assert [is_met for _, is_met in touched.verdicts(rows)] == [True, False]
    assert "0.090 % late (0.045 % took longer than a period themselves)" in touched.verdicts(rows)[0][0]


# ---- one update of the proxy


@pytest.mark.parametrize(("meridians", "parallels"), [(3, 2), (12, 9), *rendering.MESHES])
def test_a_ball_mesh_is_closed_faces_outward_and_has_the_triangles_it_says(meridians, parallels):
    vertices, triangles = rendering.ball_mesh(meridians, parallels, rendering._ball)
    assert len(triangles) == 2 * meridians * (parallels - 1)
    edges = np.vstack([triangles[:, [k, (k + 1) % 3]] for k in range(3)])
    assert len(np.unique(edges, axis=0)) == len(edges)  # every edge once, and
    assert {tuple(e) for e in edges.tolist()} == {(b, a) for a, b in edges.tolist()}  # once the other way round
    assert 0.0 < volume(vertices, triangles) < 4.0 / 3.0 * math.pi * rendering.SIZE_M**3
    assert len(merged(vertices, triangles)[1]) == len(triangles)


def test_the_large_meshes_are_of_5000_and_100000_triangles():
    assert [2 * n * (p - 1) for n, p in rendering.MESHES] == [5_000, 100_000]


def test_every_kind_of_shape_is_felt(tmp_path):
    found = rendering.things(tmp_path, SMALL)
    assert {thing.shape.kind for thing in found} == set(SHAPE_KINDS)
    assert [thing.shape.convex for thing in found if thing.triangles] == [True, False]


def test_vertices_lie_where_the_hand_expects_the_surface():
    vertices, _ = rendering.ball_mesh(*SMALL[0], rendering._wavy)
    r = np.linalg.norm(vertices, axis=1)
    np.testing.assert_allclose(rendering._wavy(vertices / r[:, None]), r, rtol=1e-12)
    assert np.ptp(r) > rendering.WAVE * rendering.SIZE_M  # there are waves


def test_the_hand_is_as_far_from_the_surface_as_the_situation_says(tmp_path):
    """r(d) of each thing against the distances that rendering itself finds; between vertices a mesh is not quite r."""
    for thing in rendering.things(tmp_path, SMALL):
        proxy = Proxy(thing.shape)
        gaps = {situation: [proxy.nearest(x).distance for x in rendering.hand(thing, situation, 400)[::20]]
                for situation in rendering.SITUATIONS}  # fmt: skip
        assert min(gaps["free"]) > 0.0, thing.name
        assert max(gaps["sliding"]) < 0.0, thing.name
        assert min(gaps["sliding"]) >= -rendering.SLIDING_M - 1e-9 or thing.triangles, thing.name
        assert max(gaps["free"]) <= rendering.FREE_M + 1e-9 or thing.triangles, thing.name
        assert max(gaps["deep"]) < min(gaps["sliding"]), thing.name


@pytest.mark.slow
def test_rendering_has_a_row_for_each_thing_and_situation_and_touches_when_it_should():
    result = rendering.run(updates=150, rounds=2, meshes=SMALL)
    names = [(row["thing"], row["situation"]) for row in result["rows"]]
    assert len(names) == len(set(names)) == 3 * (len(SHAPE_KINDS) + 1)
    assert (result["updates"], result["rounds"]) == (150, 2)
    assert result["clock_ns"] >= 0.0
    json.dumps(result)
    for row in result["rows"]:
        assert 0.0 < row["p50_us"] <= row["p99_us"] <= row["max_us"]
        assert 0.0 < row["rate_hz"] < math.inf
        touches = row["touching"]
        assert touches == 0.0 if row["situation"] == "free" else touches > 0.9, row
        assert (row["largest_force_N"] > 0.0) == (row["situation"] != "free"), row


# ---- the whole


def latencies(seconds):
    assert seconds > 0.0
    return {"servo to socket client": {"p50_ms": 0.5, "p99_ms": 0.75, "max_ms": 1.0, "samples": 7}}


@pytest.mark.slow
@needs_compiler
def test_the_bench_prints_and_writes_every_row(monkeypatch, tmp_path, capsys):
    """The rows of the arm are measured, for a moment; those of scenes and proxies have their own tests."""
    felt = {"rows": [{"thing": "mesh", "triangles": 5000, "situation": situation, "p50_us": 0.5, "p99_us": 1.25,
                      "max_us": 2.5, "rate_hz": 2e6} for situation in rendering.SITUATIONS],
            "clock_ns": 20.0, "updates": 10, "rounds": 2}  # fmt: skip
    measured = []

    def measure(case, seconds, fifo):
        measured.append((case.name, fifo))
        return touched_row(case.name, late=0.002, fault="the device was lost" if "hrp2" in case.name else "")

    monkeypatch.setattr(servo, "RATES_HZ", (1000,))
    monkeypatch.setattr(servo, "latency", latencies)
    monkeypatch.setattr(touched, "touched", measure)
    monkeypatch.setattr(rendering, "run", lambda progress: felt)
    monkeypatch.setattr(servo, "fifo_permitted", lambda: False)
    assert cli.main(["bench", "servo", "--seconds", "0.02", "--json", str(tmp_path / "bench.json")]) == 0
    out, result = capsys.readouterr().out, json.loads((tmp_path / "bench.json").read_text())
    assert [(row["rate_hz"], row["fifo"], row["busy"]) for row in result["rows"]] == [(1000, False, busy) for busy in
                                                                                     (False, True)]  # fmt: skip
    for row in result["rows"]:
        assert 0.0 <= row["p50_us"] <= row["p99_us"] <= row["p99.9_us"] <= row["max_us"]
    assert measured == 2 * [(case.name, False) for case in CASES]
    assert [row["busy"] for row in result["touched"]] == [False, False, True, True]
    for case in CASES:
        assert out.count(case.name) >= 2
    assert "the device was lost" in out
    assert "5,000" in out
    assert "2000 kHz" in out
    assert "20 ns of it are the clock's own" in out
    assert "servo to socket client: 0.50 ms" in out
    assert "SCHED_FIFO is not permitted here" in out
    assert result["met"] == result["shortfalls"] == []  # the goal is for FIFO


def test_a_missed_goal_is_said(capsys):
    from palpate.bench.tables import servo_table

    rows = [touched_row(late=0.0), touched_row("hrp2", late=0.01)]
    goals = touched.verdicts(rows)
    servo_table(cli.console, {
        "rows": [], "touched": rows, "seconds": 1.0, "latency": {}, "fifo_permitted": True,
        "rendering": {"rows": [], "clock_ns": 1.0, "updates": 1, "rounds": 1}, "machine": servo.machine(),
        "met": [what for what, is_met in goals if is_met], "shortfalls": [what for what, is_met in goals if not is_met],
    })  # fmt: skip
    out = capsys.readouterr().out
    assert "goal met: crowd, touched at 1000 Hz with SCHED_FIFO: 0.000 % late" in out
    assert "below its goal: hrp2, touched at 1000 Hz with SCHED_FIFO: 1.000 % late" in out
