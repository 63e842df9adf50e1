"""Recorded walks as files: what is written is read, what is none is refused, and the tour is what it says."""

import numpy as np
import pytest

from palpate import jit
from palpate.mobile.display.person import ROW
from palpate.mobile.display.recorded import load_walk, save_walk, walked
from palpate.mobile.tour import ROWS_HZ, TOUR, TOUR_FILE, TOUR_S
from palpate.mobile.walking.users import explore

compiled = pytest.mark.skipif(jit.DISABLED, reason="too slow as plain Python")


@pytest.mark.parametrize("seed", range(3))
@compiled
def test_a_walk_is_read_as_it_was_written(tmp_path, seed):
    rows = walked(explore(seed, 6.0), 6.0, 50)
    save_walk(tmp_path / "walk.csv", rows)
    assert load_walk(tmp_path / "walk.csv") == pytest.approx(rows, abs=5.1e-5)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "begins with the line"),
        ("a,b,c\n1,2,3\n", "begins with the line"),
        (",".join(ROW) + "\n1,2,3,4,5,6,7,8,9,ten\n", "ten"),
        (",".join(ROW) + "\n1,2,3\n1,2,3,4\n", "walk.csv"),
        ("\xff\x00", "walk.csv"),
    ],
)
def test_a_file_that_is_no_walk_is_refused_in_one_line(tmp_path, text, words):
    path = tmp_path / "walk.csv"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=words) as error:
        load_walk(path)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_refused_in_one_line(tmp_path):
    with pytest.raises(ValueError, match=r"nothing\.csv: cannot be read"):
        load_walk(tmp_path / "nothing.csv")


@compiled
def test_the_recorded_tour_is_the_tour():
    assert load_walk(TOUR_FILE) == pytest.approx(walked(TOUR, TOUR_S, ROWS_HZ), abs=5.1e-5)


@compiled
def test_nobody_walks_faster_than_their_events_say():
    rows = walked(explore(8, 20.0, 0.45), 20.0, 100, sway=False)
    speed = np.hypot(*np.diff(rows[:, 1:3], axis=0).T) * 100
    assert speed.max() <= 0.45 + 1e-9
