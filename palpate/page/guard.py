"""Who may come in: programs of the user who started it, or whoever has the token; and no page of another site.

A site that a person visits can make their browser call 127.0.0.1, and a DNS name can be made to point there.  Hence:
the Host must be this machine (a foreign name that points here is refused), and the Origin of a socket must be the Host
(a foreign page is refused).  A program without a browser sends no Origin; it is the user's own already.

The token is in the address that the person gets (?token=...), then in a cookie that no other site's page can send.  A
page that others can reach has it instead of the rule about the Host; on this machine the user's own programs need none
where the system says whose they are (runtime/page/users.py), and other users' do.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web

from palpate.link.keys import is_loopback
from palpate.runtime.page.users import is_own

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
TOKEN: web.AppKey[str] = web.AppKey("token", str)  # empty: nobody has it
HERE: web.AppKey[bool] = web.AppKey("here", bool)  # only this machine can reach it
LONGEST_PATH = 200  # no file here has a longer name, and file systems stumble over some


def host_is_ours(header: str | None) -> bool:
    """Whether a Host header ("127.0.0.1:8642", "[::1]:8642", "localhost") names this machine."""
    try:
        host = urlsplit(f"//{header or ''}").hostname
    except ValueError:
        return False
    return host is not None and is_loopback(host)


def same_origin(origin: str | None, host: str | None) -> bool:
    """Whether the page that asks came from here."""
    return origin is None or origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())


def cookie_name(request: web.Request) -> str:
    """Cookies belong to a machine, not to a port; two pages on one machine must not overwrite each other's."""
    where = request.transport.get_extra_info("sockname") if request.transport else None
    return f"palpate-{where[1] if where else 0}"


def has_token(request: web.Request, token: str) -> bool:
    """Whether the address or the cookie has the token."""
    if not token:
        return False
    given = (request.query.get("token", ""), request.cookies.get(cookie_name(request), ""))
    return any(hmac.compare_digest(each.encode(errors="surrogatepass"), token.encode()) for each in given)


def comes_from_own(request: web.Request) -> bool:
    """Whether a program of the user who started us asks, from this machine."""
    if request.transport is None:
        return False
    here, there = (request.transport.get_extra_info(end) for end in ("sockname", "peername"))
    return here is not None and there is not None and is_own(here, there)


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuses with 403 whoever may not come in; tells the browser to load nothing from elsewhere."""
    token, here = request.app[TOKEN], request.app[HERE]
    if not has_token(request, token) and not (here and comes_from_own(request)):
        raise _refusal("This page needs the token: open the address that palpate printed.")
    if here and not host_is_ours(request.headers.get("Host")):
        raise _refusal("This page answers to 127.0.0.1 and localhost only.")
    if not same_origin(request.headers.get("Origin"), request.headers.get("Host")):
        raise _refusal("A page of another site may not touch this simulation.")
    if len(request.path) > LONGEST_PATH:
        raise web.HTTPNotFound(text="There is nothing of that name.\n")
    response = await handler(request)
    if "token" in request.query and has_token(request, token) and not response.prepared:
        response.set_cookie(cookie_name(request), token, httponly=True, samesite="Strict", secure=request.secure)
    return response


def _refusal(why: str) -> web.HTTPForbidden:
    """And the end of that connection: its place is for others."""
    refusal = web.HTTPForbidden(text=f"{why}\n")
    refusal.force_close()
    return refusal


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """On every answer: load nothing from elsewhere, do not be shown inside another page."""
    response.headers["Content-Security-Policy"] = (
        f"default-src 'self'; connect-src 'self' ws://{request.host} wss://{request.host}; img-src 'self' data: blob:; "
        "style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    hashed = request.path.startswith("/assets/")  # their names change with their content
    response.headers["Cache-Control"] = "max-age=31536000, immutable" if hashed else "no-cache"
