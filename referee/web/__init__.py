"""What is asked over HTTP: within limits, without a secret to another host, and pages only from public addresses."""

from __future__ import annotations

from referee.web.client import USER_AGENT, Answer, Carry, WebLimits, ask, carried_by, retry_after_s, tls
from referee.web.fetch import fetch_page
from referee.web.targets import Resolver, resolve, server_of

__all__ = [
    "USER_AGENT",
    "Answer",
    "Carry",
    "Resolver",
    "WebLimits",
    "ask",
    "carried_by",
    "fetch_page",
    "resolve",
    "retry_after_s",
    "server_of",
    "tls",
]
