"""A real browser for tests of pages: Chromium of Debian's packages, which may fetch nothing but what a test serves."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

_QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


@contextmanager
def opened(url: str, *, width: int = 1280, scheme: Any = "light") -> Iterator[Page]:
    """A page in Chromium; a request that leaves this machine, and anything the page complains of, fails the test."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(_QUIET))
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: said.append(request.url) if not _own(request.url) else None)
        page.goto(url)
        yield page
        assert said == [], said
        browser.close()


def refused(page: Page) -> list[str]:
    """What axe finds serious or worse."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html']}" for one in found if one["impact"] in ("serious", "critical")]


def _own(url: str) -> bool:
    return url.startswith(("file:", "data:", "http://127.0.0.1:", "http://localhost:"))
