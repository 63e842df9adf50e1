"""Keys: hexadecimal digits or a passphrase, from a file or the environment, never shown, needed beyond this machine."""

import hashlib
import os
import threading
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palpate.link.keys import PUBLIC_KEY, Key, is_loopback, key_of, load_key, require_key

POSIX = pytest.mark.skipif(os.name != "posix", reason="files have no modes")
HEX = "000102030405060708090a0b0c0d0e0f"
ELSEWHERE = [
    "0.0.0.0",
    "::",
    "192.168.1.7",
    "fe80::1",
    "robot.local",
    "",
    "127.0.0.1.example.com",
    "localhost.evil.org",
]


def test_hexadecimal_digits_are_the_key_itself():
    assert key_of(HEX).words.tolist() == [0x0706050403020100, 0x0F0E0D0C0B0A0908]
    assert key_of(HEX.upper()) == key_of(HEX) == key_of(f"  {HEX}\n")


@given(st.text(st.characters(), min_size=1))
def test_a_passphrase_is_hashed(text):
    text = f"not {text} only digits"
    data = text.encode(errors="surrogatepass")
    assert key_of(text) == Key(hashlib.blake2b(data, digest_size=16, person=b"palpate link").digest())


def test_one_letter_more_is_another_key():
    assert key_of("correct horse") != key_of("correct horsf")
    assert key_of(HEX[:-1]) != key_of(HEX)
    assert key_of("x") != "x"
    assert len({key_of("x"), key_of("x"), key_of("y")}) == 2


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_key_is_refused(text):
    with pytest.raises(ValueError, match="empty"):
        key_of(text)


def test_a_key_has_sixteen_bytes():
    with pytest.raises(ValueError, match="16 bytes, this has 3"):
        Key(b"abc")


@pytest.fixture
def file(tmp_path):
    """An empty file that only we can read."""
    made = tmp_path / "key"
    made.touch(mode=0o600)
    return made


def test_the_file_goes_before_the_environment(file):
    file.write_text(HEX + "\n")
    assert load_key(file, {"PALPATE_KEY": "other"}) == key_of(HEX)
    assert load_key(None, {"PALPATE_KEY": HEX}) == key_of(HEX)
    assert load_key(None, {}) is None


def test_the_variable_is_read_when_asked(monkeypatch):
    monkeypatch.setenv("PALPATE_KEY", "one")
    assert load_key() == key_of("one")
    monkeypatch.delenv("PALPATE_KEY")
    assert load_key() is None


def test_a_variable_that_is_empty_is_a_mistake_not_the_public_key():
    with pytest.raises(ValueError, match="empty"):
        load_key(None, {"PALPATE_KEY": ""})


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "cannot be read: No such file"), (b"\xff\xfe", "is not text"), (b"a" * 5000, "longer than 4096 bytes"),
     (b"\n", "empty")],
)  # fmt: skip
def test_a_bad_file_is_one_line(file, content, words):
    file.unlink() if content is None else file.write_bytes(content)
    with pytest.raises(ValueError, match=words) as caught:
        load_key(file)
    assert "\n" not in str(caught.value)


@POSIX
@pytest.mark.parametrize("mode", [0o604, 0o640, 0o644, 0o660, 0o602, 0o620, 0o666, 0o777])
def test_a_file_that_others_can_read_or_write_is_refused_with_the_remedy(file, mode):
    file.write_text(HEX)
    file.chmod(mode)
    with pytest.raises(ValueError, match=f"chmod 600 {file}") as caught:
        load_key(file)
    assert "\n" not in str(caught.value)
    assert HEX not in str(caught.value)
    file.chmod(0o600)
    assert load_key(file) == key_of(HEX)


@POSIX
def test_a_link_to_an_open_file_is_refused_too(file, tmp_path):
    file.write_text(HEX)
    file.chmod(0o644)
    (tmp_path / "link").symlink_to(file)
    with pytest.raises(ValueError, match="open to others"):
        load_key(tmp_path / "link")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_secret_that_another_owns_is_as_open_as_its_owner_wants(file):
    file.write_text(HEX)
    file.chmod(0o644)
    os.chown(file, 65534, 65534)
    assert load_key(file) == key_of(HEX)


@POSIX
def test_a_key_may_come_through_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(HEX,))
    writer.start()
    assert load_key(tmp_path / "pipe") == key_of(HEX)
    writer.join()


def test_a_folder_is_not_a_key(tmp_path):
    with pytest.raises(ValueError, match="cannot be read"):
        load_key(tmp_path)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost", "LOCALHOST", "::1", "[::1]"])
def test_on_this_machine_no_key_is_needed(host):
    assert is_loopback(host)
    assert require_key(host, None) is PUBLIC_KEY
    key = key_of("mine")
    assert require_key(host, key) is key


@pytest.mark.parametrize("host", ELSEWHERE)
def test_beyond_this_machine_a_key_is_needed(host):
    """design.md section 6: another address needs a key."""
    assert not is_loopback(host)
    for none in (None, PUBLIC_KEY):
        with pytest.raises(ValueError, match="PALPATE_KEY") as caught:
            require_key(host, none)
        assert "\n" not in str(caught.value)
    key = key_of("mine")
    assert require_key(host, key) is key


@given(st.binary(min_size=16, max_size=16))
def test_a_key_is_never_shown(data):
    key = Key(data)
    assert repr(key) == str(key) == f"{key}" == "Key(...)"


def test_the_public_key_says_that_it_is():
    assert repr(PUBLIC_KEY) == "Key(public)"


def test_no_message_holds_the_key(file):
    secret = "tell nobody about this"
    file.write_bytes(secret.encode() + b"\xff")
    with pytest.raises(ValueError, match="not text") as caught:
        load_key(file)
    assert secret not in "".join(traceback.format_exception(caught.value))
