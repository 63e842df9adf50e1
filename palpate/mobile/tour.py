"""A tour of the scenes' room: past the cube, along the slabs, to the boat; tour.csv has it, as recorded.

No person was at hand: who walked is the simulated one, with the sway of a gait.  To record it again:

    python -c "from palpate.mobile.tour import record_tour; record_tour()"
"""

from __future__ import annotations

from pathlib import Path

from palpate.mobile.walking.users import Event, turn, walk
from palpate.model.model import Floats

TOUR_FILE = Path(__file__).with_name("tour.csv")
TOUR_S, ROWS_HZ = 37.0, 25
AHEAD, RIGHT, BACK, LEFT = 0.0, -90.0, 180.0, 90.0  # of who looks along z; x is to their left

TOUR: tuple[Event, ...] = (
    walk(0.5, 2.2, 0.25, LEFT),
    walk(3.0, 1.6, 0.15, AHEAD),  # to the cube, 10 mm into it
    walk(5.0, 1.7, 0.10, RIGHT),  # along its face
    walk(7.0, 1.2, 0.20, BACK),
    walk(8.5, 2.0, 0.35, RIGHT),
    walk(11.0, 1.15, 0.10, AHEAD),  # to the ridges
    walk(12.7, 4.2, 0.10, RIGHT),  # over them, and the gravel
    walk(17.5, 1.2, 0.30, BACK),
    walk(19.2, 3.95, 0.45, LEFT),
    turn(23.5, 2.0, 90.0),
    walk(28.0, 1.8, 0.10, LEFT),  # to the boat, which is ahead now
    walk(30.5, 3.5, 0.15, AHEAD),  # along its side
)


def record_tour(path: Path = TOUR_FILE) -> Floats:
    """The tour as a recorded walk, (n, 10); also into a file."""
    from palpate.mobile.display.recorded import save_walk, walked

    rows = walked(TOUR, TOUR_S, ROWS_HZ)
    save_walk(path, rows)
    return rows
