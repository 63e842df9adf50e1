"""Doors from Python to tasks: steps from given coordinates, in simulated time, and what is missing there."""

from palpate.control.prioritised.task_kernels import put_q, put_rows, step_tasks, take_q
from palpate.control.prioritised.task_tables import load_tasks
from palpate.dynamics.coordinates import bad_coordinate
from palpate.jit import entry


@entry("intp, float64[::1], float64, intp")
def step_tasks_entry(address, q, dt, steps):
    """q (nq,) of the whole model, `steps` further, in place; FINE or the tree's coordinate that is none."""
    m, _, t = load_tasks(address)
    take_q(t, q)
    bad = bad_coordinate(m, t.q)
    if bad < 0:
        for _ in range(steps):
            step_tasks(address, dt)
        put_q(t, q)
    return bad


@entry("intp, float64[::1]")
def look_at_tasks_entry(address, q):
    """What is missing at q, into the table's error."""
    m, w, t = load_tasks(address)
    take_q(t, q)
    bad = bad_coordinate(m, t.q)
    if bad < 0:
        put_rows(m, w, t)
    return bad
