"""`palpate bench mobile`: the ways that are compared do the same work, and goals are said; nothing here is timed."""

import json

import numpy as np
import pytest

from palpate import cli, jit
from palpate.bench.mobile import pushes, verdicts
from palpate.bench.peers.proxy_numpy import NumpyProxy

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="a World's tick needs the compiler")


def test_the_hand_of_the_bench_is_now_inside_and_now_outside():
    away = np.linalg.norm(pushes(4000), axis=1)
    assert (away < 0.0999).mean() == pytest.approx(0.5, abs=0.05)
    assert away.min() > 0.094


def test_the_proxy_in_numpy_gives_a_plates_force():
    """Mobile display, 5.1: 5 mm behind a flat face 5 N at 1 N/mm, and nothing in front of it."""
    square = np.array([[[-1, -1, 0], [1, -1, 0], [1, 1, 0]], [[-1, -1, 0], [1, 1, 0], [-1, 1, 0]]], dtype=float)
    proxy = NumpyProxy(square, 1000.0)
    assert (proxy.update(np.array([0.1, 0.2, 0.01])) == 0.0).all()
    assert proxy.update(np.array([0.1, 0.2, -0.005])) == pytest.approx([0.0, 0.0, 5.0], abs=1e-9)
    assert proxy.update(np.array([0.3, 0.1, -0.004])) == pytest.approx([0.0, 0.0, 4.0], abs=1e-6)


def test_a_goal_that_is_missed_is_said():
    row = {"scene": "mobile", "core_s": 0.3, "tick_p50_us": 19.0, "late_fraction": 0.002}
    assert [met for _, met in verdicts([row])] == [False, True, False]


@pytest.mark.slow
def test_the_bench_prints_its_table_and_writes_what_it_measured(tmp_path, capsys):
    path = tmp_path / "mobile.json"
    assert cli.main(["bench", "mobile", "--quick", "--json", str(path)]) == 0
    result = json.loads(path.read_text())
    assert {row["scene"] for row in result["rows"]} == {"mobile", "mobile-two", "mobile-recorded"}
    assert result["proxy"]["apart_N"] < 0.05
    assert "times mean nothing" in capsys.readouterr().out
