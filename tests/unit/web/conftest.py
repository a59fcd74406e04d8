from __future__ import annotations

from collections.abc import Iterator

import pytest

from .page_server import PageServer, serving


@pytest.fixture
def pages() -> Iterator[PageServer]:
    with serving() as running:
        yield running
