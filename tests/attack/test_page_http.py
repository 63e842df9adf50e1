"""What HTTP can be bent to: files beside the page's own, two requests in one, pages of other sites."""

import contextlib
import socket

from fake_servo import Page
from siege import besieged
from waiting import WAIT_S

OWN = b"Host: 127.0.0.1\r\n"
UPWARDS = [
    b"/../server.py", b"/assets/../../server.py", b"/%2e%2e/server.py", b"/assets/%2e%2e/%2e%2e/server.py",
    b"/..%2fserver.py", b"/..%5cserver.py", b"/%252e%252e/server.py", b"/....//server.py", b"//etc/passwd",
    b"/%2fetc%2fpasswd", b"/mesh/../server.py", b"/mesh/%2e%2e%2fserver.py", b"/./../server.py", b"/\\..\\server.py",
    b"/%c0%ae%c0%ae/server.py", b"file:///etc/passwd", b"http://127.0.0.1/../server.py", b"/assets", b"/assets/",
    b"/index.html%00.css", b"/..;/server.py", b"/static/../../guard.py",
]  # fmt: skip
ORIGINS = [
    "null", "http://evil.example", "http://127.0.0.1.evil.example", "http://127.0.0.1:1", "https://localhost", "file://",
    "chrome-extension://x", "http://127.0.0.1@evil",
]  # fmt: skip
CHUNKED, NEXT = b"Transfer-Encoding: chunked\r\n", b"GET /smuggled HTTP/1.1\r\n" + OWN + b"\r\n"
AMBIGUOUS = {
    "a length and chunks": b"Content-Length: 5\r\n" + CHUNKED + b"\r\n0\r\n\r\n",
    "chunks and a length": CHUNKED + b"Content-Length: 5\r\n\r\n0\r\n\r\n",
    "two lengths": b"Content-Length: 0\r\nContent-Length: 44\r\n\r\n",
    "a list of lengths": b"Content-Length: 0, 44\r\n\r\n",
    "a length with a sign": b"Content-Length: +0\r\n\r\n",
    "a length of nothing": b"Content-Length: \r\n\r\n",
    "a length in hexadecimal": b"Content-Length: 0x0\r\n\r\n",
    "space before the colon": b"Transfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "a folded line": b"Content-Length: 5\r\nX: y\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunked twice": b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "another coding": b"Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "a chunk with a sign": CHUNKED + b"\r\n+0\r\n\r\n",
    "a chunk in no number": CHUNKED + b"\r\n0x0\r\n\r\n",
    "a bare line feed": b"X: y\nContent-Length: 44\r\n\r\n",
}


def heard(page: Page, said: bytes, patience_s: float = WAIT_S) -> bytes:
    """All that comes back until the connection ends, or nothing more comes."""
    with socket.create_connection(("127.0.0.1", page.port), timeout=patience_s) as connection:
        connection.sendall(said)
        answer = b""
        with contextlib.suppress(ConnectionResetError, TimeoutError):
            while new := connection.recv(1 << 16):
                answer += new
    return answer


def test_no_path_leads_to_files_beside_the_pages_own() -> None:
    with besieged() as (_, page):
        for path in UPWARDS:
            answer = heard(page, b"GET " + path + b" HTTP/1.1\r\n" + OWN + b"Connection: close\r\n\r\n")
            assert answer.split(b" ")[1] in (b"400", b"403", b"404"), (path, answer[:200])
            assert b"import" not in answer, path
            assert b"root:" not in answer, path


def test_a_request_that_could_be_two_is_at_most_one() -> None:
    with besieged() as (_, page):
        answers = {
            what: heard(page, b"POST / HTTP/1.1\r\n" + OWN + said + NEXT, 0.3) for what, said in AMBIGUOUS.items()
        }
    assert {what: answer for what, answer in answers.items() if answer.count(b"HTTP/1.") > 1} == {}
    assert {what: answer for what, answer in answers.items() if b" 200 " in answer or b"/smuggled" in answer} == {}
    assert any(answer.startswith(b"HTTP/1.0 400 ") or b" 400 " in answer for answer in answers.values())


def test_a_page_of_another_site_gets_nothing() -> None:
    with besieged() as (_, page):
        for origin in ORIGINS:
            for path in ("/", "/ws", "/mesh/0"):
                asked = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nOrigin: {origin}\r\n\r\n"
                assert heard(page, asked.encode()).startswith(b"HTTP/1.1 403 "), (origin, path)
