"""Plans of the functions in swept.py."""

from pathlib import Path
from typing import Any

from palpate.experiments.studies.sweeps.plan import Plan, make_plan

SWEPT = Path(__file__).parent / "swept.py"


def plan_of(function: str, **document: Any) -> Plan:
    """As a file with these words would be."""
    return make_plan({"function": f"{SWEPT}:{function}"} | document, function, SWEPT.parent)
