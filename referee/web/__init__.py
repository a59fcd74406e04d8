"""Pages out of the network, fetched so that an address given by a stranger cannot reach what is not public."""

from __future__ import annotations

from referee.web.fetch import Fetched, WebLimits, fetch_page
from referee.web.targets import Resolver, resolve

__all__ = ["Fetched", "Resolver", "WebLimits", "fetch_page", "resolve"]
