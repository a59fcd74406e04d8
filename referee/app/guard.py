"""Who may ask the app what: its own host only, changes from its own pages only, a token where others can reach it."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "referee_token"
SAFE = frozenset({"GET", "HEAD"})
PAGES = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""The content security policy of the app's own pages."""
FILES = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
"""That of pages that lie in run folders, which may come from anywhere: no script runs in them."""
_HEADERS = {
    "content-security-policy": PAGES,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Lets through what may pass, and gives every answer the headers that keep it to itself.

    Args:
        app: What is guarded.
        hosts: The names by which the app is reached, with the port. Others are refused, which keeps out pages of other
            sites that have their name lead here.
        token: What a browser must have shown once; None where only this machine reaches the app.
    """

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str], token: str | None = None) -> None:
        self._app, self._hosts, self._token = app, frozenset(hosts), token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or pass on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = self._refusal(scope)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await (answer or self._app)(scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        if host not in self._hosts:
            return PlainTextResponse("This app answers under its own address only.\n", 421)
        if self._token is not None and not self._shown(headers):
            return self._entering(scope) or PlainTextResponse(
                "Open the address with ?token=... that the terminal printed.\n", 401
            )
        if scope["method"] not in SAFE and not _is_own(headers, host):
            return PlainTextResponse("Changes are made from the app's own pages only.\n", 403)
        return None

    def _shown(self, headers: Headers) -> bool:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return cookie is not None and self._is_token(cookie.value)

    def _entering(self, scope: Scope) -> Response | None:
        """Where the token stands in the address it is kept as a cookie, and taken out of the address."""
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given = query.pop("token", [""])[-1]
        if scope["method"] not in SAFE or not self._is_token(given):
            return None
        rest = urlencode(query, doseq=True)
        answer = RedirectResponse(f"{scope['path']}{'?' if rest else ''}{rest}", 303)
        answer.set_cookie(COOKIE, given, httponly=True, samesite="strict")
        return answer

    def _is_token(self, given: str) -> bool:
        return self._token is not None and secrets.compare_digest(given.encode(), self._token.encode())


def _is_own(headers: Headers, host: str) -> bool:
    """Whether a change comes from a page of this app; browsers say so in one of two headers."""
    origin = headers.get("origin")
    if origin is not None:
        return urlsplit(origin).netloc.lower() == host
    return headers.get("sec-fetch-site") == "same-origin"
