"""Touch the arm from Python, without a page: pull the tool for a second, let go, and watch the arm come back.

The servo runs in real time in a thread of this process.  What it prints depends a little on the machine.
"""

import time

import numpy as np

from palpate.runtime.world.session import WorldSession
from palpate.scenes.arm import arm_at_rest

scene = arm_at_rest()
tool = scene.model.body("tool")

with WorldSession(scene) as session:  # the pointer's limits: 60 N, 2000 N/s
    session.wait(0.2)
    start = session.frame()["pose"][tool][:3].copy()
    target = start + (0.0, 0.10, 0.05)  # 10 cm to the left, 5 cm up

    largest, ended = 0.0, time.monotonic() + 1.0
    while time.monotonic() < ended:  # a hand that is silent for 100 ms has let go, so say it again and again
        session.hold("tool", (0, 0, 0), target, stiffness_N_m=800.0)
        session.wait(0.01)
        largest = max(largest, float(np.linalg.norm(session.frame()["hand_force"][0])))
    frame = session.frame()
    moved = np.linalg.norm(frame["pose"][tool][:3] - start)
    work = frame["energy"][2]  # kinetic, potential, work of the hand [J]
    print(f"pulled with at most {largest:.0f} N; the tool went {100 * moved:.1f} cm; {work:.2f} J of work")

    session.let_go()
    session.wait(2.0)  # the plan takes over again within 0.8 s
    back = np.linalg.norm(session.frame()["pose"][tool][:3] - start)
    print(f"let go: {1000 * back:.1f} mm from where it was")

report = session.report
print(report)
print({name: n for name, n in report.counters.items() if n})
