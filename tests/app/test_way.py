"""The whole way of a new user in a real browser: upload, estimate, start, watch, read, compare, stop, go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.browser import opened, refused
from tests.held import Held
from tests.support import FakeServer

from .served import App, served

PATIENCE_MS = 600_000


def tab_to(page: Any, words: str) -> None:
    """Go by the Tab key to what is called so."""
    for _ in range(200):
        page.keyboard.press("Tab")
        if (
            page.evaluate("(document.activeElement.innerText || document.activeElement.ariaLabel || '').trim()")
            == words
        ):
            return
    raise AssertionError(f"{words!r} is not reached by keyboard")


def begin(page: Any, app: App, paper: Path, venue: str, strategy: str, model: str = "") -> None:
    """From the first page to a review at work, by keyboard but for the system's own dialog for files."""
    page.goto(app.address)
    page.set_input_files("input[type=file]", str(paper))
    page.focus("input[name=venue]")
    page.keyboard.type(venue)
    page.select_option("select[name=strategy]", strategy)
    if model:
        page.fill("input[name=model]", model)
    tab_to(page, "Read the paper and estimate")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Start the review", timeout=PATIENCE_MS)
    assert "calls" in page.inner_text("main") or "1 call" in page.inner_text("main")
    assert "language models in reviewing" in page.inner_text("main"), "the venue's rule"
    assert refused(page) == []
    tab_to(page, "Start the review")
    page.keyboard.press("Enter")


def test_the_whole_way_with_a_local_server(tmp_path: Path, examples: Path, server: FakeServer) -> None:
    with served(tmp_path, server) as app:
        the_whole_way(app, examples)
        run = next(path.name for path in app.runs.iterdir() if (path / "review.json").exists())
        with opened(app.address, width=400, scheme="dark") as page:
            for path in ("/", f"/runs/{run}", f"/runs/{run}/report"):
                page.goto(f"{app.address}{path}")
                assert refused(page) == []


def the_whole_way(app: App, examples: Path) -> None:
    with opened(app.address) as page:
        assert refused(page) == []
        begin(page, app, examples / "paper.pdf", "neurips-2025", "auto")
        page.wait_for_selector("#phrases:has-text('calls')", timeout=PATIENCE_MS)
        assert refused(page) == []
        page.wait_for_selector("text=Open the review beside its paper", timeout=PATIENCE_MS)
        tab_to(page, "Open the review beside its paper")
        page.keyboard.press("Enter")
        point = page.wait_for_selector(".points .point:has(a.place)", timeout=PATIENCE_MS)
        assert refused(page) == []
        first = page.get_attribute(".points .point:has(a.place)", "data-marks").split()[0]
        point.query_selector("a.place").click()
        assert page.eval_on_selector(f"#{first}", "e => e.classList.contains('lit')")
        assert page.eval_on_selector(f"#{first} rect", "e => e.getBoundingClientRect().width") > 1
        assert page.eval_on_selector("image", "e => e.getBoundingClientRect().height") > 100

        begin(page, app, examples / "paper.pdf", "neurips-2025", "single")
        page.wait_for_selector("text=Open the review beside its paper", timeout=PATIENCE_MS)
        page.goto(app.address)
        for box in page.query_selector_all("input[name=run]"):
            box.check()
        tab_to(page, "Compare two")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=Two reviews side by side")
        assert len(page.query_selector_all(".two section")) == 2
        assert refused(page) == []


def test_stopped_in_the_middle_it_goes_on_and_pays_nothing_twice(tmp_path: Path, examples: Path) -> None:
    held = Held(first=1)
    with (
        FakeServer(held, context_tokens=32_000) as server,
        served(tmp_path, server) as app,
        opened(app.address) as page,
    ):
        begin(page, app, examples / "paper.pdf", "neurips-2025", "auto")
        page.wait_for_selector('#share[value]:not([value="0"])', timeout=PATIENCE_MS)
        tab_to(page, "Stop")
        page.keyboard.press("Enter")
        page.locator("#state", has_not_text="Is being made").wait_for()
        held.go.set()
        page.wait_for_selector("text=Go on; what was paid is not paid again", timeout=PATIENCE_MS)
        assert "Stopped" in page.inner_text("#state")
        tab_to(page, "Go on")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=Open the review beside its paper", timeout=PATIENCE_MS)
        asked = [call.digest for call in server.log.calls()]
        assert len(asked) == len(set(asked))


def test_a_hostile_paper_does_nothing(tmp_path: Path, examples: Path, server: FakeServer) -> None:
    """``opened`` fails on any dialog, any error of the page and any request that leaves the machine."""
    hostile = tmp_path / "paper.md"
    attack = "<script>alert(1)</script><img src=http://192.0.2.1/x onerror=alert(2)><svg onload=alert(3)>"
    text = (examples / "short.md").read_text(encoding="utf-8")
    hostile.write_text(text.replace("\n\n", f"\n\n{attack} ", 3).replace("# ", f"# {attack} ", 1), encoding="utf-8")
    with served(tmp_path, server) as app:
        run = app.upload(hostile, '"><script>alert(4)<script>.md')
        app.reach(run, "Waits for your go")
        app.post(f"/runs/{run}/start")
        app.reach(run, "Finished")
        for path in (f"/?q={attack}", f"/runs/{run}", f"/runs/{run}/report", f"/runs/{attack.replace('/', '')}"):
            shown = app.get(path).text
            assert "<script>alert" not in shown
            assert "<img src=http" not in shown
        with opened(f"{app.address}/runs/{run}/report") as page:
            assert "onerror=alert(2)" in page.inner_text(".paper"), "the paper's text is there, as text"
