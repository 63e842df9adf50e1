"""Who may come in: this machine only, by its own name, and no page of another site.

A site that a person visits can make their browser call 127.0.0.1, and a DNS name can be made to point there.  Hence:
the Host must be this machine (a foreign name that points here is refused), and the Origin of a socket must be the Host
(a foreign page is refused).  A program without a browser sends no Origin; it runs on this machine already.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def is_loopback(host: str) -> bool:
    """Whether `host`, a name or an address without port, is this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


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


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuses with 403 whoever may not come in; tells the browser to load nothing from elsewhere."""
    if not host_is_ours(request.headers.get("Host")):
        raise web.HTTPForbidden(text="This page answers to 127.0.0.1 and localhost only.\n")
    if not same_origin(request.headers.get("Origin"), request.headers.get("Host")):
        raise web.HTTPForbidden(text="A page of another site may not touch this simulation.\n")
    return await handler(request)


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """On every answer: load nothing from elsewhere, do not be shown inside another page."""
    response.headers["Content-Security-Policy"] = (
        f"default-src 'self'; connect-src 'self' ws://{request.host}; img-src 'self' data: blob:; "
        "style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    hashed = request.path.startswith("/assets/")  # their names change with their content
    response.headers["Cache-Control"] = "max-age=31536000, immutable" if hashed else "no-cache"
