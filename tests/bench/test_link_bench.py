"""`palpate bench link`: its networks are what they say, its accounts add up, and in simulated time the goals hold.

Nothing here is timed: the rows in real time must be there, and say what happened.
"""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from palpate import cli, jit
from palpate.bench import link, link_rows
from palpate.bench.link_rows import CYCLE_S, FIVE_PERCENT, NETWORKS, PERFECT, TWENTY_MS, Network, Trace
from palpate.bench.peers import link as link_peer
from palpate.bench.tables import link_table
from palpate.haptics.tank import RESERVE_J
from palpate.link.wire import QUERY_WORDS

needs_compiler = pytest.mark.skipif(jit.DISABLED, reason="both ends are compiled loops")
SECONDS = link_rows.row_seconds(1)
KEYS = {
    "network", "given", "ticks", "rate_hz", "period_p99_us", "stale_fraction", "late_fraction", "force_step_N",
    "largest_force_N", "hand_absorbed_J", "body_absorbed_J", "work_J", "round_trip_p50_us", "round_trip_p99_us",
    "round_trip_p99.9_us", "exchanges", "tank_lowest_J", "backlog", "fault", "outage",
}  # fmt: skip

# ---- networks and the hand


@given(p=st.floats(0.0, 1.0), seconds=st.floats(0.0, 0.1))
def test_two_ways_make_the_round_trip_that_the_network_says(p, seconds):
    network = Network("", loss=p, delay_s=seconds, jitter_s=seconds, reorder=p, duplicate=p)
    there, back = network.there, network.back
    for name in ("loss", "reorder", "duplicate"):
        spared = (1.0 - getattr(there, name)) * (1.0 - getattr(back, name))
        assert 1.0 - spared == pytest.approx(p, abs=1e-12)
    for name in ("delay_s", "jitter_s"):
        assert getattr(there, name) + getattr(back, name) == pytest.approx(seconds, abs=1e-15)
    assert there.seed != back.seed


def test_networks_are_those_that_the_reference_lists():
    """articulated-haptics.md section 4: loss 0, 1, 5, 20 %, delay 0, 1, 5, 20 ms, and jitter."""
    assert {n.loss for n in NETWORKS} == {0.0, 0.01, 0.05, 0.2}
    assert {n.delay_s for n in NETWORKS} == {0.0, 0.001, 0.005, 0.02}
    for name in ("jitter_s", "reorder", "duplicate", "outage_s"):
        assert sum(bool(getattr(n, name)) for n in NETWORKS) == 1
    assert len({n.name for n in NETWORKS}) == len(NETWORKS)


@pytest.mark.parametrize("rounds", [1, 3])
def test_the_hand_s_cycle_is_closed_and_it_holds_all_the_way(rounds):
    hand = link_rows.cycling_hand(rounds)
    ((begin, end),) = hand.holds
    assert end - begin == pytest.approx(rounds * CYCLE_S)
    places = dict(hand.intent)
    assert hand.intent[0][1] == hand.intent[-1][1] == places[begin] == (0.0, 0.0, 0.0)
    assert max(abs(p[1]) for p in places.values()) == link_rows.CYCLE_M
    assert hand.intent[-1][0] < end < link_rows.row_seconds(rounds)


def test_a_row_has_whole_cycles_and_outlasts_its_outage():
    outage = next(n for n in NETWORKS if n.outage_s)
    assert [link_rows.cycles(PERFECT, s) for s in (0.01, SECONDS, SECONDS + 0.1)] == [1, 1, 2]
    assert link_rows.row_seconds(link_rows.cycles(outage, SECONDS)) >= sum(outage.outage_s) + link_rows.AFTER_OUTAGE_S


# ---- what a row says


def trace(n: int = 1001, **given: np.ndarray) -> Trace:
    parts = {"wall_ns": 1_000_000 * np.arange(n), "stale": np.zeros(n), "late": np.zeros(n), "force": np.zeros((n, 3)),
             "position": np.zeros((n, 3))}  # fmt: skip
    return Trace(**(parts | given))


def test_stale_and_late_are_parts_of_the_ticks_after_the_greeting():
    n = 1001
    stale = np.cumsum(np.arange(n) % 10 == 0) + np.minimum(np.arange(n), 50)  # one in ten, and all while greeting
    late = np.cumsum(np.arange(n) % 100 == 5)
    row = trace(n, stale=stale, late=late).summary(1.0)
    assert row["stale_fraction"] == pytest.approx(0.1, abs=1e-12)
    assert row["late_fraction"] == pytest.approx(0.01, abs=1e-12)
    assert row["rate_hz"] == pytest.approx(1000.0)
    assert row["period_p99_us"] == pytest.approx(1000.0)


@given(stretch=st.floats(0.01, 0.1), weight=st.floats(1.0, 10.0), lag=st.integers(0, 20))
def test_work_of_a_spring_is_nothing_over_a_cycle_and_that_of_its_lag_is_the_area(stretch, weight, lag):
    """f = -k x(t - lag): over a closed cycle the hand does pi k a^2 sin(w lag), the area of the ellipse."""
    n, k = 1001, 100.0
    phase = 2.0 * np.pi * np.arange(n) / (n - 1)
    position, force = np.zeros((n, 3)), np.zeros((n, 3))
    position[:, 0] = stretch * np.cos(phase)
    step = phase[1]
    force[:, 0] = -k * stretch * np.cos(phase + 0.5 * step - lag * step)  # held over the tick: its middle counts
    row = trace(n, position=position, force=force).summary(weight)
    area = weight * np.pi * k * stretch**2 * np.sin(-lag * step)
    assert row["hand_absorbed_J"] == pytest.approx(area, abs=1e-5 * weight * k * stretch**2)


def test_the_step_is_that_of_the_vector():
    force = np.zeros((1001, 3))
    force[700:, :2] = (0.3, 0.4)
    row = trace(force=force).summary(1.0)
    assert row["force_step_N"] == pytest.approx(0.5)
    assert row["largest_force_N"] == pytest.approx(0.5)


def test_an_outage_is_told_from_its_begin_and_its_end():
    force = np.zeros((1001, 3))
    force[:320, 2] = force[650:, 2] = 1.0
    begin_ns = 200 * 1_000_000
    assert trace(force=force).outage(begin_ns, 0.4) == pytest.approx({"zero_after_ms": 120.0, "back_after_ms": 50.0})
    assert trace(force=np.ones((1001, 3))).outage(begin_ns, 0.4)["zero_after_ms"] is None
    assert trace().outage(begin_ns, 0.4)["back_after_ms"] is None


# ---- in simulated time


@pytest.fixture(scope="module")
def simulated() -> dict[str, dict]:
    return {network.name: link.simulated_row(network, SECONDS) for network in NETWORKS}


@needs_compiler
def test_a_perfect_network_is_never_stale(simulated):
    """articulated-haptics.md acceptance 36: without loss 1000 +- 5 Hz and stale < 1 %; here exactly."""
    row = simulated[PERFECT.name]
    assert set(row) == KEYS
    assert (row["stale_fraction"], row["late_fraction"], row["backlog"]) == (0.0, 0.0, 1)
    assert row["rate_hz"] == pytest.approx(1000.0, abs=1e-9)
    assert row["ticks"] == round(1000 * SECONDS)
    assert row["largest_force_N"] > 1.0  # something was felt
    assert row["body_absorbed_J"] < -0.1  # and done to the arm


@needs_compiler
def test_five_percent_loss_is_five_percent_stale_and_hardly_felt(simulated):
    """articulated-haptics.md acceptance 36: stale 5 +- 1.5 %, the largest force step < 2 x that without loss."""
    row = simulated[FIVE_PERCENT.name]
    assert abs(row["stale_fraction"] - 0.05) <= 0.015
    assert row["force_step_N"] < 2.0 * simulated[PERFECT.name]["force_step_N"]


@needs_compiler
def test_with_delay_nothing_queues(simulated):
    """articulated-haptics.md acceptance 36: with 20 ms of delay the rate holds and the queue length stays <= 1."""
    row = simulated[TWENTY_MS.name]
    assert (row["stale_fraction"], row["backlog"]) == (0.0, 1)
    assert row["rate_hz"] == pytest.approx(1000.0, abs=1e-9)
    assert {row[f"round_trip_{p}_us"] for p in ("p50", "p99", "p99.9")} == {20_000.0}


@needs_compiler
@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
def test_no_link_makes_energy(simulated, network):
    """articulated-haptics.md section 4: the work over a closed cycle is not below -1 mJ; each tank keeps its half."""
    row = simulated[network.name]
    assert row["work_J"] >= -1e-3
    assert min(row["tank_lowest_J"].values()) >= -RESERVE_J
    assert row["fault"] == ""


@needs_compiler
def test_doubles_change_nothing(simulated):
    """A packet that comes twice counts once: all but the number of packets is as without."""
    differs = {"network", "given", "backlog"}
    perfect, doubled = ({k: v for k, v in simulated[name].items() if k not in differs}
                        for name in (PERFECT.name, "doubles 10 %"))  # fmt: skip
    assert doubled == perfect


@needs_compiler
def test_an_outage_takes_the_force_away_after_its_patience_and_brings_it_back(simulated):
    """100 ms of silence, then a fade of 20 ms; the other end is greeted ten times a second."""
    times = simulated["outage 2 s"]["outage"]
    assert 100.0 < times["zero_after_ms"] <= 121.0
    assert times["back_after_ms"] is not None
    assert times["back_after_ms"] > 0.0
    assert [name for name, row in simulated.items() if row["outage"]] == ["outage 2 s"]


@needs_compiler
def test_a_simulated_row_is_the_same_every_time(simulated):
    assert link.simulated_row(FIVE_PERCENT, SECONDS) == simulated[FIVE_PERCENT.name]


@needs_compiler
def test_all_goals_hold_in_simulated_time(simulated):
    goals = link.verdicts(list(simulated.values()), "in simulated time")
    assert len(goals) == 7
    assert [what for what, is_met in goals if not is_met] == []


# ---- goals and the table


def made_up(network: str, **changed: object) -> dict:
    numbers = dict.fromkeys((k for k in KEYS if k.endswith(("_us", "_N", "_J", "_hz", "_fraction"))), 0.0)
    return numbers | {
        "network": network, "rate_hz": 1000.0, "force_step_N": 1.0, "backlog": 1, "fault": "", "outage": None,
        "tank_lowest_J": {"hand": 0.0, "body": 0.0},
    } | changed  # fmt: skip


def test_every_goal_can_be_missed():
    rows = [
        made_up(PERFECT.name, rate_hz=994.9, stale_fraction=0.01),
        made_up(FIVE_PERCENT.name, stale_fraction=0.034, force_step_N=2.0),
        made_up(TWENTY_MS.name, rate_hz=1005.1, backlog=2, work_J=-1.1e-3),
    ]
    assert [is_met for _, is_met in link.verdicts(rows, "")] == 7 * [False]
    assert len(link.verdicts([made_up("another")], "")) == 1  # without those networks only energy is judged


def test_the_table_says_what_happened(capsys):
    cut = {"zero_after_ms": 119.4, "back_after_ms": None}
    rows = [made_up(PERFECT.name, work_J=0.125), made_up("outage", outage=cut, fault="the link was lost")]
    echo = {k: v for k, v in made_up("").items() if k.startswith(("rate", "period", "stale", "round"))}
    link_table(cli.console, {
        "rows": rows, "simulated": rows, "python_echo": echo, "load": {"before": (0.5, 0, 0), "after": (1.25, 0, 0)},
        "machine": {"cores": 2}, "seconds": 2.4, "fifo_permitted": False, "met": ["one"], "shortfalls": ["another"],
    })  # fmt: skip
    out = capsys.readouterr().out
    assert out.count("+0.125") == 2
    assert "…" not in out
    assert "outage: no force after 119 ms, and none came back" in out
    assert "the link was lost" in out
    assert "Python echo" in out
    assert "load 0.50 on 2 cores before the run, 1.25 after it; SCHED_FIFO is not permitted here" in out
    assert "goal met: one" in out
    assert "below its goal: another" in out


# ---- in real time


def test_plain_sockets_bring_every_packet_back():
    row = link_peer.python_echo(0.05, 1000.0, 8 * QUERY_WORDS, 0.0003, fifo=False)
    assert 0.0 < row["round_trip_p50_us"] <= row["round_trip_p99_us"] <= row["round_trip_p99.9_us"]
    assert 0.0 <= row["stale_fraction"] <= 1.0
    assert row["rate_hz"] > 0.0


@pytest.mark.slow
@needs_compiler
def test_the_bench_runs_two_processes_and_writes_every_row(monkeypatch, tmp_path, capsys):
    """One perfect network and one that loses half: how fast it went is nobody's business here."""
    half = Network("loss 50 %", loss=0.5)
    monkeypatch.setattr(link, "NETWORKS", (PERFECT, half))
    monkeypatch.setattr(link, "fifo_permitted", lambda: False)
    assert cli.main(["bench", "link", "--seconds", "0.1", "--json", str(tmp_path / "bench.json")]) == 0
    out, result = capsys.readouterr().out, json.loads((tmp_path / "bench.json").read_text())
    assert {"bench", "machine", "load", "rows", "simulated", "python_echo", "met", "shortfalls"} <= set(result)
    for rows, more in ((result["rows"], {"frames_lost"}), (result["simulated"], set())):
        assert [row["network"] for row in rows] == [PERFECT.name, half.name]
        assert all(set(row) == KEYS | more for row in rows)
    perfect, lossy = result["rows"]
    assert perfect["ticks"] > 0
    assert 0.0 < perfect["round_trip_p50_us"] <= perfect["round_trip_p99_us"] <= perfect["round_trip_p99.9_us"]
    assert 0 < lossy["exchanges"] < 0.75 * lossy["ticks"]
    assert lossy["stale_fraction"] > 0.25
    for row in result["rows"]:
        assert row["largest_force_N"] > 0.0
        assert row["body_absorbed_J"] != 0.0
    assert out.count("loss 50 %") >= 2
    assert "in real time" in out


def test_seconds_must_be_positive(capsys):
    assert cli.main(["bench", "link", "--seconds", "0"]) == 2
    assert "--seconds takes" in capsys.readouterr().err
