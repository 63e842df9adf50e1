"""Plug-in simulations (acceptance 38): init, step and cleanup, from an object, a file or an entry point."""

import re
from pathlib import Path

import pytest

import palpate as pp
from palpate import cli
from palpate.experiments import plugins
from palpate.experiments.plugins import load_plugin

EXAMPLE = Path(__file__).parents[2] / "examples" / "push_plugin.py"


def falling_ball():
    return pp.World([pp.models.plane(), pp.models.ball(0.05, at=(0.0, 0.0, 0.5))])


class Diary:
    """Writes down what is called, and fails where it is told to."""

    def __init__(self, fails=()):
        self.calls, self.fails = [], dict(fails)

    def _note(self, what):
        self.calls.append(what)
        if self.calls.count(what) == self.fails.get(what):
            raise ZeroDivisionError(f"in {what}")

    def init(self, world):
        self._note("init")

    def step(self, world, dt):
        assert dt == world.dt
        self._note("step")

    def cleanup(self, world):
        self._note("cleanup")


def test_init_then_steps_then_cleanup_once():
    diary, world, parts = Diary(), falling_ball(), []
    assert pp.run_simulation(diary, world, 0.25, parts.append) == 250
    assert diary.calls == ["init", *["step"] * 250, "cleanup"]
    assert world.time == pytest.approx(0.25)
    assert parts == sorted(parts)
    assert parts[-1] == 1.0
    assert 50 <= len(parts) <= 126


@pytest.mark.parametrize("fails", [{"step": 3}, {"init": 1}])
def test_cleanup_is_called_exactly_once_when_something_raises(fails):
    """Acceptance 38."""
    diary = Diary(fails)
    with pytest.raises(ZeroDivisionError, match=next(iter(fails))):
        pp.run_simulation(diary, falling_ball(), 1.0)
    assert diary.calls == ["init", *["step"] * fails.get("step", 0), "cleanup"]


def test_cleanup_is_called_once_when_the_world_stops_or_the_user_does():
    class Breaks(Diary):
        def step(self, world, dt):
            super().step(world, dt)
            world.v[2] = float("nan")

    class Stopped(Diary):
        def step(self, world, dt):
            super().step(world, dt)
            raise KeyboardInterrupt

    for plugin, error in ((Breaks(), pp.WorldError), (Stopped(), KeyboardInterrupt)):
        with pytest.raises(error):
            pp.run_simulation(plugin, falling_ball(), 1.0)
        assert plugin.calls == ["init", "step", "cleanup"]


def test_an_error_in_cleanup_does_not_hide_the_first():
    diary = Diary({"step": 2, "cleanup": 1})
    with pytest.raises(ZeroDivisionError, match="in step") as caught:
        pp.run_simulation(diary, falling_ball(), 1.0)
    assert caught.value.__notes__ == ["cleanup failed as well: ZeroDivisionError: in cleanup"]
    with pytest.raises(ZeroDivisionError, match="in cleanup"):
        pp.run_simulation(Diary({"cleanup": 1}), falling_ball(), 0.01)


def test_what_a_plugin_applies_moves_the_next_step():
    class Lift(Diary):
        def step(self, world, dt):
            world.apply("ball", force=(0.0, 0.0, 9.81 * world.model.mass))

    world = falling_ball()
    pp.run_simulation(Lift(), world, 0.2)
    assert world.q[2] == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize(("plugin", "seconds", "message"), [
    (object(), 1.0, "object is no plug-in simulation: it has no init and no step and no cleanup"),
    (Diary, 1.0, r"Diary is a class; a plug-in is an object of it: Diary\(\)"),
    (Diary(), 0.0, "seconds must be positive"),
    (Diary(), float("nan"), "seconds must be positive"),
])  # fmt: skip
def test_what_cannot_run_is_refused_before_anything_is_called(plugin, seconds, message):
    with pytest.raises(ValueError, match=message):
        pp.run_simulation(plugin, falling_ball(), seconds)
    assert getattr(plugin, "calls", None) in (None, [])


# ---- from files and packages

PLUGIN = """
import palpate as pp


class {name}:
    height = {height}

    def make_world(self):
        return pp.World([pp.models.plane(), pp.models.ball(0.05, at=(0, 0, self.height))])

    def init(self, world): pass

    def step(self, world, dt): {step}

    def cleanup(self, world):
        print("{name} ends at", round(float(world.q[2]), 3))
"""


def write(folder, file="drop.py", name="Drop", height=0.5, step="pass"):
    folder.mkdir(exist_ok=True)
    path = folder / file
    path.write_text(PLUGIN.format(name=name, height=height, step=step))
    return str(path)


def test_two_plugins_load_in_one_process(tmp_path):
    """Acceptance 38: even two files of one name with classes of one name."""
    one, two = (load_plugin(write(tmp_path / folder, height=h)) for folder, h in (("a", 0.3), ("b", 0.6)))
    worlds = [plugin.make_world() for plugin in (one, two)]
    for plugin, world in zip((one, two), worlds, strict=True):
        pp.run_simulation(plugin, world, 0.1)
    assert worlds[0].q[2] == pytest.approx(0.3 - 0.5 * 9.81 * 0.01, abs=1e-6)
    assert worlds[1].q[2] == pytest.approx(0.6 - 0.5 * 9.81 * 0.01, abs=1e-6)
    assert type(one) is not type(two)


def test_a_class_is_chosen_by_name_among_several(tmp_path):
    path = Path(write(tmp_path))
    path.write_text(path.read_text() + PLUGIN.format(name="Other", height=2.0, step="pass"))
    assert load_plugin(f"{path}:Other").height == 2.0
    with pytest.raises(ValueError, match=r"drop\.py has several plug-ins; say which: drop\.py:Drop, drop\.py:Other"):
        load_plugin(str(path))


def test_the_command_runs_a_file_and_says_how_it_went(tmp_path, capsys):
    assert cli.main(["run", write(tmp_path), "--seconds", "0.2"]) == 0
    out = capsys.readouterr().out
    assert " 50 %  0.100 s" in out
    assert "Drop ends at 0.304" in out
    assert re.search(r"^Drop: 0\.2 s in 200 steps took \d+\.\d\d s; 0 contacts at the end$", out, re.MULTILINE)
    assert cli.main(["run", write(tmp_path) + ":Drop", "--seconds", "0.01"]) == 0


def test_the_command_runs_a_plugin_in_the_world_of_a_scene(tmp_path, capsys):
    assert cli.main(["run", write(tmp_path), "--scene", "ball-on-plane", "--seconds", "0.05"]) == 0
    assert "Drop: 0.05 s in 50 steps" in capsys.readouterr().out


def test_the_command_finds_a_plugin_by_its_entry_point(monkeypatch, capsys):
    known = {"diary": (f"{__name__}:Diary", "from a test")}
    monkeypatch.setattr(plugins, "SIMULATIONS", known)
    assert cli.main(["run", "diary", "--scene", "ball-on-plane", "--seconds", "0.01"]) == 0
    assert "Diary: 0.01 s" in capsys.readouterr().out


def broken(folder, text):
    (folder / "broken.py").write_text(text)
    return str(folder / "broken.py")


METHODS = "    def init(self, world): pass\n    def step(self, world, dt): pass\n"
ALL = METHODS + "    def cleanup(self, world): pass\n"


@pytest.mark.parametrize(("text", "message"), [
    ("x = 1\n", "broken.py has no class with the methods init, step, cleanup"),
    ("class A:\n" + METHODS, "broken.py:A is no plug-in simulation: it has no cleanup"),
    ("class A:\n" + METHODS + "    def cleanup(self): pass\n", "broken.py:A.cleanup must take (world)"),
    ("class A:\n" + ALL, "has no make_world(): give it the world of a scene"),
    ("class A:\n    def __init__(self, x): pass\n" + ALL, "cannot be made"),
    ("class A:\n" + ALL + "    def make_world(self): return 3\n",
     "must return a World, got int"),
    ("def f(:\n", "broken.py cannot be read: SyntaxError"),
    ("1 / 0\n", "broken.py cannot be read: ZeroDivisionError: division by zero (broken.py, line 1)"),
])  # fmt: skip
def test_a_file_that_is_no_plugin_is_one_line_and_exit_2(text, message, tmp_path, capsys):
    assert cli.main(["run", broken(tmp_path, text)]) == 2
    error = capsys.readouterr().err.strip()
    assert message in error
    assert "\n" not in error


def test_a_plugin_that_fails_is_one_line_that_says_where(tmp_path, capsys):
    assert cli.main(["run", write(tmp_path, step="1 / 0")]) == 2
    out, error = capsys.readouterr()
    assert re.fullmatch(
        r"palpate: \S+drop\.py stopped after 0 s: ZeroDivisionError: division by zero \(drop\.py, line \d+\)\n", error
    )
    assert "Drop ends at 0.5" in out  # it was cleaned up


@pytest.mark.parametrize(("arguments", "message"), [
    (["nowhere.py"], "there is no file nowhere.py"),
    (["nowhere.py:Name"], "there is no file nowhere.py"),
    ([str(EXAMPLE) + ":Pull"], "push_plugin.py has no class Pull; it has: Push"),
    ([str(EXAMPLE), "--out", "x"], "--out and --set are for experiments"),
    ([str(EXAMPLE), "--seconds", "-1"], "--seconds takes"),
    ([str(EXAMPLE), "--scene", "hrp3"], "no scene is called 'hrp3'"),
    (["arm-swing", "--seconds", "1"], "--seconds and --scene are for plug-ins"),
])  # fmt: skip
def test_a_wrong_call_is_one_line_and_exit_2(arguments, message, capsys):
    assert cli.main(["run", *arguments]) == 2
    error = capsys.readouterr().err.strip()
    assert message in error
    assert "\n" not in error
