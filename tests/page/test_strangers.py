"""A page that others can reach: its token, its certificate; and the meshes that it serves."""

import asyncio
import shutil
import ssl
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest
from clients import HOLD, client, connected
from fake_servo import Page, Rings
from waiting import until_async as until

from palpate.runtime.page.addresses import reachable
from palpate.runtime.page.tls import make_certificate

TOKEN = "a-token_of-16-bytes"
OPENSSL = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


@pytest.fixture
def public(rings: Rings) -> Iterator[Page]:
    """A page on every address of this machine."""
    process = Page(rings, host="0.0.0.0", token=TOKEN)
    yield process
    process.close()


def here(page: Page, path: str = "") -> str:
    """An address of the page that this machine reaches in any case."""
    return f"http://127.0.0.1:{page.port}/{path}"


async def code_of(url: str, **headers: str) -> int:
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        return answer.status


# ---- the token


def test_the_printed_address_has_the_token_and_a_name_that_others_can_use(public: Page) -> None:
    assert public.url == f"http://{reachable('0.0.0.0')}:{public.port}/?token={TOKEN}"
    assert reachable("192.168.1.7") == "192.168.1.7"
    assert reachable("robot.example") == "robot.example"
    assert reachable("::") not in ("", "::")


@pytest.mark.parametrize("path", ["", "ws", "mesh/0", "favicon.svg", "?token=", "?token=wrong", "ws?token=%ff%00"])
def test_without_the_token_everything_is_refused(public: Page, path: str) -> None:
    assert asyncio.run(code_of(here(public, path))) == 403


@pytest.mark.parametrize(
    "cookie", ["palpate=wrong", "wrong", "palpate-{port}=wrong", "palpate-{port}=\udcff", "a=b=c;;"]
)
def test_a_wrong_cookie_is_refused(public: Page, cookie: str) -> None:
    assert asyncio.run(code_of(here(public), Cookie=cookie.format(port=public.port))) == 403


def test_with_the_token_the_page_opens_and_from_then_on_a_cookie_does(public: Page) -> None:
    async def look() -> None:
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            async with session.get(here(public, f"?token={TOKEN}")) as answer:
                assert answer.status == 200
                cookie = answer.headers["Set-Cookie"]
                assert "HttpOnly" in cookie
                assert "SameSite=Strict" in cookie
            async with session.get(here(public, "favicon.svg")) as answer:
                assert answer.status == 200
            async with session.ws_connect(here(public, "ws")) as ws:
                assert (await ws.receive_json())["type"] == "hello"
            async with session.get(here(public, "?token=wrong")) as answer:
                assert answer.status == 200  # it has the cookie

    asyncio.run(look())


def test_a_program_connects_with_the_token_alone(rings: Rings, public: Page) -> None:
    async def look() -> None:
        async with connected(here(public, f"?token={TOKEN}")) as program:
            await program.say(HOLD)
            await until(lambda: rings.hands.head == 1)

    asyncio.run(look())


def test_the_token_opens_it_under_any_name_but_not_for_a_page_of_another_site(public: Page) -> None:
    async def look() -> None:
        assert await code_of(here(public, f"?token={TOKEN}"), Host="robot.example") == 200
        with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
            async with connected(here(public, f"?token={TOKEN}"), Origin="http://evil.example"):
                pass
        assert refusal.value.status == 403

    asyncio.run(look())


def test_two_pages_of_one_machine_keep_each_their_cookie(built: None, rings: Rings, public: Page) -> None:
    second = Page(rings, host="0.0.0.0", token="another")

    async def look() -> None:
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            for url in (here(public, f"?token={TOKEN}"), here(second, "?token=another"), here(public), here(second)):
                async with session.get(url) as answer:
                    assert answer.status == 200, url

    asyncio.run(look())
    second.close()


def test_on_this_machine_no_token_is_needed_and_none_is_printed(page: Page) -> None:
    assert page.url == f"http://127.0.0.1:{page.port}/"
    assert asyncio.run(code_of(page.url)) == 200


# ---- https


@OPENSSL
def test_the_page_comes_by_https_with_a_certificate_of_our_own(
    rings: Rings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALPATE_CACHE_DIR", str(tmp_path))
    certificate, key = make_certificate("127.0.0.1")
    assert key.stat().st_mode & 0o077 == 0  # nobody else reads it
    page = Page(rings, cert=str(certificate), key=str(key))
    assert page.url == f"https://127.0.0.1:{page.port}/"
    trust = ssl.create_default_context(cafile=str(certificate))

    async def look() -> None:
        async with aiohttp.ClientSession() as session, session.get(page.url, ssl=trust) as answer:
            assert answer.status == 200
            assert f"wss://127.0.0.1:{page.port}" in answer.headers["Content-Security-Policy"]
        async with connected(page.url, trust, Origin=page.url.rstrip("/")) as browser:
            await browser.say(HOLD)
            await until(lambda: rings.hands.head == 1)

    asyncio.run(look())
    page.close()


@OPENSSL
def test_a_certificate_names_its_host_and_is_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALPATE_CACHE_DIR", str(tmp_path))
    named = {}
    for host, kind in (("10.1.2.3", "IP Address"), ("robot.example", "DNS"), ("fe80::1", "IP Address")):
        certificate, _ = make_certificate(host)
        names = ssl._ssl._test_decode_cert(str(certificate))["subjectAltName"]  # type: ignore[attr-defined]
        named[host] = certificate.read_bytes()
        assert any(k == kind and ("FE80" in name or name == host) for k, name in names), names
        assert ("DNS", "localhost") in names
    assert len(set(named.values())) == 3
    assert make_certificate("10.1.2.3")[0].read_bytes() == named["10.1.2.3"]  # a browser asks once


def test_without_openssl_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ValueError, match="--tls needs the program openssl"):
        make_certificate("127.0.0.1")


# ---- meshes


def test_meshes_are_served_by_number_and_nothing_else_is(rings: Rings, tmp_path: Path) -> None:
    files = [tmp_path / "0.mesh", tmp_path / "1.mesh"]
    for number, file in enumerate(files):
        file.write_bytes(bytes([number] * 100))
    page = Page(rings, meshes=[str(file) for file in files])

    async def look() -> None:
        async with aiohttp.ClientSession() as session:
            for number, file in enumerate(files):
                async with session.get(f"{page.url}mesh/{number}") as answer:
                    assert answer.status == 200
                    assert answer.headers["Content-Type"] == "application/octet-stream"
                    assert await answer.read() == file.read_bytes()
            for path in ("2", "-1", "x", "", "0/x", "9" * 5000, "..%2f0.mesh"):
                async with session.get(f"{page.url}mesh/{path}") as answer:
                    assert answer.status == 404, path[:20]

    asyncio.run(look())
    page.close()


def test_a_scene_without_meshes_has_none(page: Page) -> None:
    assert asyncio.run(code_of(f"{page.url}mesh/0")) == 404


def test_hello_is_for_whoever_may_come_in(public: Page) -> None:
    async def look() -> int:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
            async with client(public, Cookie="palpate=x"):
                pass
        return refusal.value.status

    public.url = here(public)
    assert asyncio.run(look()) == 403
