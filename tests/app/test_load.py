"""Many at once, and the app's sudden end: nothing is lost, nothing paid twice, one run's crash leaves the others."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import psutil

from tests.held import Held
from tests.support import FakeServer

from .served import PATIENCE_S, App, served, wait_for

MOST_BYTES = 300 * 2**20


def workers(app: App) -> list[psutil.Process]:
    """The app's workers: each in a session of its own; one that ends meanwhile is left out."""
    found = []
    for one in psutil.Process(app.process.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess, ProcessLookupError):
            if os.getsid(one.pid) == one.pid:
                found.append(one)
    return found


def works_on(worker: psutil.Process, run: str) -> bool:
    """Whether a worker has the files of a run open."""
    return any(f"/{run}/" in file.path for file in worker.open_files())


def listens(app: App) -> bool:
    """Whether the app still takes connections."""
    try:
        httpx.get(app.address, timeout=PATIENCE_S)
    except httpx.TransportError:
        return False
    return True


def test_eight_uploads_and_five_that_watch(app: App, paper: Path) -> None:
    at_once, memory = Counter[int](), 0
    done = threading.Event()

    def look() -> None:
        nonlocal memory
        while not done.wait(0.2):
            at_once[len(workers(app))] += 1
            memory = max(memory, psutil.Process(app.process.pid).memory_info().rss)

    def watch(run: str) -> str:
        with httpx.stream("GET", f"{app.address}/runs/{run}/events", timeout=PATIENCE_S) as events:
            return "".join(events.iter_text())

    looking = threading.Thread(target=look)
    looking.start()
    try:
        with ThreadPoolExecutor(13) as pool:
            runs = list(pool.map(lambda _: app.upload(paper), range(8)))
            watched = [pool.submit(watch, run) for run in runs[-5:]]
            for run in runs:
                app.reach(run, "Waits for your go")
            assert all("event: rest" in one.result(PATIENCE_S) for one in watched)
    finally:
        done.set()
        looking.join()
    assert len(set(runs)) == 8
    assert max(at_once) <= 2, at_once
    assert memory < MOST_BYTES
    assert app.get("/").text.count("waits for your go") >= 8


def test_one_that_is_killed_leaves_the_others(tmp_path: Path, paper: Path) -> None:
    held = Held()
    with FakeServer(held, context_tokens=32_000) as server, served(tmp_path, server) as app:
        runs = [app.upload(paper) for _ in range(2)]
        for run in runs:
            app.reach(run, "Waits for your go")
            app.post(f"/runs/{run}/start")
        wait_for(lambda: len(server.log.calls()) >= 2)
        victim = next(one for one in workers(app) if works_on(one, runs[0]))
        victim.kill()
        held.go.set()
        app.reach(runs[1], "Finished")
        wait_for(lambda: app.state(runs[0]) in ("Interrupted", "Failed"))
        assert "was ended by signal 9" in app.get(f"/runs/{runs[0]}").text
        app.post(f"/runs/{runs[0]}/start")
        app.reach(runs[0], "Finished")


def test_the_sudden_end_of_the_app_in_the_middle_of_three_runs(tmp_path: Path, examples: Path) -> None:
    held = Held(first=3)
    with FakeServer(held, context_tokens=32_000) as server:
        with served(tmp_path, server) as app:
            runs = [app.upload(examples / "paper.md", venue="neurips-2025", strategy="sections") for _ in range(3)]
            for run in runs:
                app.reach(run, "Waits for your go")
            for run in runs:
                app.post(f"/runs/{run}/start")
            wait_for(lambda: all(app.state(run) == "Is being made" for run in runs) and len(server.log.calls()) >= 6)
            left = workers(app)
            app.end(signal.SIGKILL)
            held.go.set()
            psutil.wait_procs(left, timeout=PATIENCE_S)
            assert not any(one.is_running() for one in left), "they end by themselves"
        with served(tmp_path, server) as app:
            assert [app.state(run) for run in runs] == ["Stopped"] * 3
            for run in runs:
                assert app.post(f"/runs/{run}/start").status_code == 303
            for run in runs:
                app.reach(run, "Finished")
        per_run = Counter(call.digest for call in server.log.calls())
        assert max(per_run.values()) <= 3, "the three ask the same, each once"


def test_its_end_waits_for_what_is_paid(tmp_path: Path, paper: Path) -> None:
    held = Held()
    with FakeServer(held, context_tokens=32_000) as server:
        with served(tmp_path, server) as app:
            run = app.upload(paper)
            app.reach(run, "Waits for your go")
            app.post(f"/runs/{run}/start")
            wait_for(lambda: server.log.calls())
            app.process.send_signal(signal.SIGINT)
            wait_for(lambda: not listens(app))
            held.go.set()
            assert app.process.wait(PATIENCE_S) == 0
            assert app.log.read_text() == ""
        with served(tmp_path, server) as app:
            if app.state(run) != "Finished":
                app.post(f"/runs/{run}/start")
                app.reach(run, "Finished")
            assert len(server.log.calls()) == len({call.digest for call in server.log.calls()})
