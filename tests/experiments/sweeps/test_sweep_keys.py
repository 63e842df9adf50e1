"""Keys: the same for the same task, in every process, and for no other."""

import subprocess
import sys
from pathlib import Path

import pytest
from waiting import FINDS_US

from palpate.experiments.studies.sweeps import keys
from palpate.experiments.studies.sweeps.plan import make_plan

PARAMETERS = {"stiffness_N_m": 1000.0, "law": "zoh", "filtered": True, "damping_Ns_m": 0.1}
CODE = f"""
from palpate.experiments.studies.sweeps.keys import canonical, task_key, task_seed
text = canonical({PARAMETERS!r})
print(task_key("walls.py:drop", text, 3, "1"), task_seed(1, 2, text))
"""


def task_key(function, parameters, seed, version):
    return keys.task_key(function, keys.canonical(parameters), seed, version)


def task_seed(seed, repeat, parameters):
    return keys.task_seed(seed, repeat, keys.canonical(parameters))


def test_a_key_is_the_same_in_every_process():
    here = f"{task_key('walls.py:drop', PARAMETERS, 3, '1')} {task_seed(1, 2, PARAMETERS)}"
    for seed in ("0", "1", "random"):
        done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True,
                              env=FINDS_US | {"PYTHONHASHSEED": seed})  # fmt: skip
        assert done.stdout.strip() == here


def test_a_key_is_that_of_results_which_people_have():
    assert task_key("walls.py:drop", PARAMETERS, 3, "1") == "e344b981630f5607f07bfe519199e7da"


def test_order_and_the_way_a_number_is_written_do_not_matter():
    turned = dict(reversed(PARAMETERS.items())) | {"stiffness_N_m": 1000}
    assert task_key("f", turned, 3, "1") == task_key("f", PARAMETERS, 3, "1")
    assert task_seed(1, 0, turned) == task_seed(1, 0, PARAMETERS)


@pytest.mark.parametrize(
    "other",
    [("g", PARAMETERS, 3, "1"), ("f", PARAMETERS, 4, "1"), ("f", PARAMETERS, 3, "2"),
     ("f", PARAMETERS | {"law": "seh"}, 3, "1"), ("f", PARAMETERS | {"filtered": 1}, 3, "1"),
     ("f", PARAMETERS | {"filtered": "true"}, 3, "1"), ("f", PARAMETERS | {"new": 0}, 3, "1")],
)  # fmt: skip
def test_function_parameters_seed_and_version_each_make_another_task(other):
    assert task_key(*other) != task_key("f", PARAMETERS, 3, "1")


def test_ten_thousand_tasks_have_ten_thousand_keys_and_seeds_of_their_own():
    over = {"a": {"from": 0, "to": 1, "count": 50}, "b": list(range(20)), "c": ["x", "y"]}
    plan = make_plan({"function": "m:f", "repeats": 5, "grid": over}, "p", Path())
    tasks = list(plan.tasks())
    assert len(tasks) == len({task.key for task in tasks}) == 10_000
    assert len({task.seed for task in tasks}) > 9_990  # of 2^31: two may meet
    assert [task.number for task in tasks] == list(range(10_000))
    assert all(plan.task(task.number) == task for task in tasks[::997])


def test_a_longer_axis_keeps_the_keys_that_were_there():
    def keys(values):
        document = {"function": "m:f", "repeats": 2, "seed": 5, "grid": {"a": values, "b": [1, 2]}}
        return {task.key for task in make_plan(document, "p", Path()).tasks()}

    assert keys([1, 2, 3]) < keys([0, 1, 2, 3, 4])


def test_a_file_that_moved_has_the_same_tasks():
    def keys(function):
        return [task.key for task in make_plan({"function": function, "grid": {"a": [1]}}, "p", Path()).tasks()]

    assert keys("here/walls.py:drop") == keys("/there/walls.py:drop") != keys("walls.py:press")
