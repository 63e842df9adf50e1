"""The trials of a session's task, as they are completed: a list, and marks in the recording."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np

from palpate.scenes.task import REACHED, Trial, trials_of

if TYPE_CHECKING:
    from palpate.runtime.world.session import WorldSession


class Trials(list[Trial]):
    """Trials that reached the target, in their order."""

    def collect(self, session: WorldSession) -> None:
        """Take the one that was completed since, if one was."""
        now = session.simulation.arrays
        number = int(now.task_trial)
        if now.task_state != REACHED or any(trial.number == number for trial in self):
            return
        newest = trials_of({name: np.array([value]) for name, value in session.frame().items()})
        for trial in newest:  # none if it was reset meanwhile
            self.append(trial)
            with contextlib.suppress(ValueError):  # nothing is recorded, or no longer
                session.mark(f"trial {number}", trial._asdict())
