"""Pages out of the network, fetched so that an address given by a stranger cannot reach what is not public."""

from __future__ import annotations

from referee.web.addresses import Resolver, resolve
from referee.web.fetch import Fetched, WebLimits, fetch_page

__all__ = ["Fetched", "Resolver", "WebLimits", "fetch_page", "resolve"]
