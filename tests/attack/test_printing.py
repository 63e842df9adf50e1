"""What files, devices and the other end of a link are called reaches the terminal as text, and is not obeyed by it."""

import io
import json
import re
import subprocess
import sys
import unicodedata
import warnings

import numpy as np
import pytest
from record.sample_recordings import frames, hello_of
from rich.console import Console

from palpate import cli, terminal
from palpate.jit.cache import functions
from palpate.jit.starts import progress
from palpate.model.description import ModelWarning, warn
from palpate.printable import complain, printable
from palpate.record.writer import FrameWriter
from palpate.runtime import commands as live

NASTY = (
    "\x1b[2J", "\x1b]0;title\x07", "\x1b]8;;http://a\x1b\\b", "\x1bP+q\x1b\\", "\x9b2J", "\x90q\x9c", "\r", "\n",
    "\b\b", "\x7f", "\0", "\t", "\x0b", "\x85", "\u2028", "\u2029", "\u202e", "\u2066", "\u200f", "\ufeff", "\u00ad",
    "\ud800", "\udcff",
    "\U000e0041", "[red]a[/]", "[link=http://a]b[/link]", "[/]", "[bold", ":smile:", "\\", "%s", "{0}",
)  # fmt: skip
LEGIBLE = "Arm \N{EN DASH} \N{GREEK SMALL LETTER PI} été ü 机械臂 \N{ROBOT FACE} می\u200cخواهم"  # none of it is touched
OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[1A|\x1b\[2K|\r")  # colours, and a line that is written again


def names(n=12, seed=2):
    """Single ones, and mixtures in the middle of a name."""
    rng = np.random.default_rng(seed)
    return [*NASTY, *("a" + "b".join(rng.choice(NASTY, size=5)) + "c" for _ in range(n))]


def mixtures():
    """Few names with all of them."""
    return ["a" + "b".join(NASTY[k::6]) + "c" for k in range(6)]


def obeyed(text: str) -> list[str]:
    """Characters that a terminal would obey, or that turn the writing."""
    hidden = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return [repr(c) for c in text if unicodedata.category(c) in hidden and c not in "\n\u200c\u200d"]


@pytest.mark.parametrize("name", names(40))
def test_a_text_is_one_line_that_can_be_read_back(name):
    shown = printable(name)
    assert not obeyed(shown)
    assert "\n" not in shown
    assert len(shown) >= len(name)
    if "\\" not in name:
        assert re.sub(r"\\x..|\\u....|\\U........|\\[tnr]", lambda m: eval(f'"{m[0]}"'), shown) == name


def test_text_that_is_none_of_this_stays_as_it_is():
    assert printable(LEGIBLE) == LEGIBLE
    assert printable("".join(map(chr, range(32, 127)))) == "".join(map(chr, range(32, 127)))


@pytest.fixture(params=[False, True], ids=["plain", "terminal"])
def printed(request, monkeypatch):
    """A console that is a file or a terminal; what it got."""
    file = io.StringIO()
    made = Console(file=file, highlight=False, markup=False, emoji=False, force_terminal=request.param, width=80)
    ours = terminal.console
    assert (ours._highlight, ours._markup, ours._emoji) == (False, False, False)
    for module in (terminal, cli):
        monkeypatch.setattr(module, "console", made)
    return file


@pytest.mark.parametrize("name", names())
def test_whatever_is_said_is_printed_as_it_is_called(name, printed, capsys):
    cli.say(f"recording into {name}; done")
    cli.say_marked("holds", "green", f"  {name}: done")
    cli.complain(f"{name} is not there")
    told, complaint = OURS.sub("", printed.getvalue()), capsys.readouterr().err
    assert not obeyed(told + complaint)
    assert told.splitlines() == [f"recording into {printable(name)}; done", f"holds  {printable(name)}: done"]
    assert complaint == f"palpate: {printable(name)} is not there\n"


@pytest.mark.parametrize("name", names())
def test_names_in_lists_of_scenes_and_devices_are_shown(name, printed):
    cli._list({name: ("nowhere:nothing", f"about {name}")}, "no such group")
    assert not obeyed(OURS.sub("", printed.getvalue()))
    assert printable(name).split("\\")[0].strip() in printed.getvalue()


@pytest.mark.parametrize("name", names())
def test_a_doubtful_part_of_a_robots_file_is_named_in_plain_text(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn(f"the joint {name} has no limits")
    assert caught[0].category is ModelWarning
    assert str(caught[0].message) == f"the joint {printable(name)} has no limits"


def nasty_recording(path, name):
    hello = hello_of() | {"scene": name, "title": name, "joints": [name, "elbow"],
                          "palpate": name.encode(errors="replace").decode(),
                          "bodies": [{"name": n, "shapes": []} for n in ("world", name, "fore")],
                          "axes": [{"name": name, "index": 0, "v_index": 0}]}  # fmt: skip
    with FrameWriter(path, hello) as writer:
        writer.add(frames(5))
        text = name.encode(errors="replace").decode()  # halves of letters are refused
        writer.mark(text, {text: text})
    return path


@pytest.mark.parametrize("name", mixtures())
def test_commands_print_nothing_of_a_recording_raw(name, tmp_path, printed, capsys, monkeypatch):
    """Exports, recovery, replay and errors, of a file with such names inside and, where there can be one, outside."""
    try:
        folder = tmp_path / name.replace("/", "_").replace("\0", "_")
        folder.mkdir()
        (folder / "x").touch()
    except (OSError, UnicodeError):
        folder = tmp_path
    path = nasty_recording(folder / "a.mcap", name)
    (folder / "broken.mcap").write_bytes(path.read_bytes()[:300])
    monkeypatch.setattr(live, "_show", lambda url, browser, say: None)
    for arguments in (["export", str(path)], ["export", str(path), "--format", "trajectory"], ["recover", str(path)],
                      ["export", str(path), "--format", "hands"], ["export", str(path), "--format", "marks"],
                      ["recover", str(folder / "broken.mcap")], ["export", str(folder / "none.mcap")],
                      ["export", str(folder)], ["run", name, "--set", name],
                      ["touch", "--device", name], ["touch", "--remote", name], [name]):  # fmt: skip
        code = cli.main(arguments)
        told, out = OURS.sub("", printed.getvalue()), capsys.readouterr()
        assert not obeyed(told + out.err + OURS.sub("", out.out)), (arguments, told, out)
        assert out.err.count("\n") == (1 if code else 0), (arguments, out.err)


@pytest.mark.slow
@pytest.mark.parametrize("name", mixtures())
def test_replay_prints_the_name_of_a_scene_as_text(name, tmp_path):
    path = nasty_recording(tmp_path / "a.mcap", name)
    done = subprocess.run([sys.executable, "-m", "palpate", "replay", str(path), "--no-browser", "--port", "0",
                           "--seconds", "0.1"], capture_output=True, timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not obeyed(done.stdout.decode() + done.stderr.decode())
    assert len(done.stdout.decode().splitlines()) == 2


def test_a_terminal_with_few_characters_gets_their_numbers(tmp_path):
    path = nasty_recording(tmp_path / "étude π.mcap", "x")
    done = subprocess.run([sys.executable, "-m", "palpate", "export", str(path)], capture_output=True, timeout=300,
                          env={"PYTHONIOENCODING": "ascii", "PYTHONPATH": ":".join(sys.path), "PATH": ""})  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.dumps("étude π.csv")[1:-1].replace("\\u00e9", "\\xe9") in done.stdout.decode("ascii")


class Broken(io.StringIO):
    """A stream that nobody reads any more, or whose disk is full."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


def closed() -> io.StringIO:
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("stream", [Broken(), closed(), None], ids=["broken", "closed", "none"])
def test_a_stderr_that_cannot_be_written_to_stops_nothing(stream, monkeypatch):
    """Neither an error that is told, nor a cache that is not kept, nor waiting for another start, nor a compilation."""
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.delenv("PALPATE_QUIET", raising=False)
    told = progress.Progress()
    complain("nobody hears this")
    functions.say_once(f"nothing is kept {id(stream)}")
    with told.entry(complain):
        told.waiting()
        told.count = 1
