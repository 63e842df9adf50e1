"""Record two seconds in simulated time, then read the file back; given a folder, the file stays there.

The same file is for `palpate replay`, `palpate export`, and any program that reads MCAP.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from palpate.experiments.simulated import simulated_run
from palpate.haptics.devices.simulation.scripted import Grasp, Scripted
from palpate.record.reader import Recording
from palpate.scenes.arm import arm


def make(file: Path) -> None:
    """A hand takes the tool at 0.5 s, moves it in half a second, and lets go at 1.5 s."""
    hand = Scripted((Grasp("tool", 0.5, 1.5, to=(0.6, 0.35, 0.1), move_s=0.5),))
    simulated_run(arm(), 2000, hand, record=file)


def read(file: Path) -> None:
    with Recording(file) as recording:
        hello, layout = recording.hello, recording.layout  # the scene; where each field lies in a frame
        print(f"{recording.count} frames, {recording.duration_s:.3f} s of the scene {hello['scene']!r}")

        force = np.array([layout.read(words, "hand_force")[0] for words in recording])  # first hand (frames, 3) [N]
        size = np.linalg.norm(force, axis=1)
        print(f"the hand pulled for {np.count_nonzero(size) / hello['rate_hz']:.2f} s, "
              f"at most with {size.max():.1f} N at {recording.times[size.argmax()]:.3f} s")  # fmt: skip

        for mark in recording.marks:  # what `session.mark` or the page put there
            print(f"{mark.time_s:.3f} s: {mark.text} {mark.data}")

        tool = [body["name"] for body in hello["bodies"]].index("tool")
        frame = layout.unpack(recording.frame(recording.index_at(1.0)))  # one frame, all fields by name
        print(f"at {frame['time_s']:.3f} s the tool was at", frame["pose"][tool][:3].round(3), "m")


with tempfile.TemporaryDirectory() as folder:
    file = Path(sys.argv[1] if len(sys.argv) > 1 else folder) / "pull.mcap"
    make(file)
    read(file)
