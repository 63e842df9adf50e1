"""An avatar at a table holds a box, and a hand leads it there and back: what its compliance feels like."""

from palpate.experiments.avatar_stories import story, there_and_back


def lead(kind: str, damping_Ns_m: float, move_s: float) -> dict[str, float]:
    """Lag of the box behind the hand, the largest force of the hand, what slipped in the palms, and the work of it."""
    with story(kind, damping_Ns_m=damping_Ns_m, squeeze_N=20.0) as told:
        told.take()
        row = told.lead(there_and_back(0.10, move_s)).row()
    return {"lag_rms_mm": row["rms_mm"], "peak_N": row["peak_N"], "slip_mm": row["slip_mm"], "work_J": row["work_J"]}
