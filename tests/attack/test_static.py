"""What turns data into code or commands stands in few places, each with its reason."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "palpate"

# modules whose very use reads code from data
MODULES = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "yaml", "code"}
# builtins, and functions of a module
BUILTINS = {"eval", "exec", "__import__"}
FUNCTIONS = {"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"}
# arguments that make a harmless call a dangerous one, unless they are plainly False
ARGUMENTS = {"allow_pickle", "shell"}

# (file, what it may use all the same): why
ALLOWED = {
    (
        "jit/cache/functions.py",
        "pickle",
    ): "compiled code, of a folder that only we can fill, its digest checked",
    ("experiments/studies/sweeps/processes.py", "pickle"): "between us and our own children, through their pipes",
}


def uses(text: str) -> Iterator[str]:
    """Dangerous names in a source, read from its syntax tree."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (n.name.split(".")[0] for n in node.names if n.name.split(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            module = (node.module or "").split(".")[0]
            if module in MODULES:
                yield module
            yield from (name for n in node.names if (name := f"{node.module}.{n.name}") in FUNCTIONS)
        elif isinstance(node, ast.Name) and node.id in BUILTINS:
            yield node.id
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in FUNCTIONS:
            yield ast.unparse(node)
        elif isinstance(node, ast.Call):
            for each in node.keywords:
                constant_false = isinstance(each.value, ast.Constant) and not each.value.value
                if each.arg in ARGUMENTS and not constant_false:
                    yield each.arg


def test_palpate_makes_no_code_of_data_but_where_it_says_why():
    found = {(p.relative_to(PACKAGE).as_posix(), use) for p in PACKAGE.rglob("*.py") for use in uses(p.read_text())}
    assert found == set(ALLOWED)


@pytest.mark.parametrize(
    ("text", "use"),
    [
        ("import pickle", "pickle"),
        ("def f():\n    from pickle import loads", "pickle"),
        ("import os, marshal as m", "marshal"),
        ("import joblib.numpy_pickle", "joblib"),
        ("from yaml import load", "yaml"),
        ("eval('1')", "eval"),
        ("run = exec", "exec"),
        ("import os\nos.system('ls')", "os.system"),
        ("from os import system", "os.system"),
        ("subprocess.run(x, shell=True)", "shell"),
        ("subprocess.run(x, shell=maybe)", "shell"),
        ("numpy.load(f, allow_pickle=True)", "allow_pickle"),
    ],
)
def test_each_way_is_noticed(text, use):
    assert use in list(uses(text))


@pytest.mark.parametrize(
    "text",
    ["re.compile('a')", "f(shell=False)", "np.load(f, allow_pickle=False)", "'eval(1)'  # exec(2)"],
)
def test_what_only_looks_alike_is_not(text):
    assert not list(uses(text))
