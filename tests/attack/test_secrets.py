"""Keys that we make: nobody else can read them at any moment, and where that cannot be had there are none."""

import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest

from palpate.runtime.page.tls import make_certificate

pytestmark = pytest.mark.skipif(os.name != "posix", reason="files have no modes")
OPENSSL = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def root(tmp_path, monkeypatch):
    """The folder named for the cache, of a user who has no other."""
    monkeypatch.setenv("PALPATE_CACHE_DIR", str(tmp_path / "root"))
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    monkeypatch.setattr(tempfile, "tempdir", "/proc/nowhere")
    before = os.umask(0)  # the worst there is
    yield tmp_path / "root"
    os.umask(before)


@OPENSSL
def test_key_and_folder_are_closed_whatever_the_umask(root):
    _, key = make_certificate("127.0.0.1")
    assert key.is_relative_to(root)
    assert mode(key) == 0o600
    assert {mode(folder) for folder in key.parents if folder.is_relative_to(root)} == {0o700}
    assert sorted(path.name for path in key.parent.iterdir()) == ["certificate.pem", "key.pem"]


def test_a_key_is_closed_from_its_first_moment(root, tmp_path, monkeypatch):
    fake = tmp_path / "bin" / "openssl"
    fake.parent.mkdir()
    fake.write_text(f"""#!/bin/sh
while [ "$1" != -keyout ]; do shift; done
echo key > "$2"; echo certificate > "$4"
ls -ld "$2" "$(dirname "$2")" > {tmp_path}/seen
""")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")
    make_certificate("127.0.0.1")
    assert {line[:10] for line in (tmp_path / "seen").read_text().splitlines()} == {"-rw-------", "drwx------"}


@OPENSSL
def test_a_key_that_was_open_to_others_is_made_anew(root):
    certificate, key = make_certificate("127.0.0.1")
    first = key.read_bytes(), certificate.read_bytes()
    key.chmod(0o644)
    assert make_certificate("127.0.0.1") == (certificate, key)
    assert mode(key) == 0o600
    assert key.read_bytes() != first[0]
    assert certificate.read_bytes() != first[1]


@OPENSSL
def test_beside_a_cache_that_is_only_read_the_key_is_in_the_users_own_folder(root, tmp_path, monkeypatch):
    monkeypatch.setenv("PALPATE_CACHE_DIR", "/proc")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    assert make_certificate("127.0.0.1")[1].is_relative_to(tmp_path / "own" / "palpate")


@OPENSSL
@pytest.mark.parametrize("place", ["open to all", "open to a group", "a file"])
def test_without_a_folder_of_our_own_there_is_no_key_and_one_line_says_why(root, place):
    if place == "a file":
        root.write_text("")
    else:
        root.mkdir()
        root.chmod(0o777 if place == "open to all" else 0o770)
    with pytest.raises(ValueError, match="--tls needs a folder for its key") as caught:
        make_certificate("127.0.0.1")
    assert str(root) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert root.is_file() or not list(root.iterdir())
