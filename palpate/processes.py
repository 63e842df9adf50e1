"""Which module is which process.  A session starts them by what they are for: `python -m palpate.processes page`."""

from __future__ import annotations

import runpy
import sys

PROCESSES = {
    "page": "palpate.page.server",
    "preview": "palpate.runtime.page.preview",
    "robot-reading": "palpate.runtime.page.first_reading",
    "recorder": "palpate.runtime.record.recorder",
    "experiment": "palpate.experiments.process",
    "sweep-worker": "palpate.experiments.studies.sweeps.processes",
}

if __name__ == "__main__":  # another name is that of a module: a bench, or a test, has processes of its own
    runpy.run_module(PROCESSES.get(sys.argv[1], sys.argv[1]), run_name="__main__", alter_sys=True)
