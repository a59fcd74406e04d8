"""One review in a process of its own.

The end of its input is a SIGTERM to it, so that a stop, the app's end and the app's death are one thing: no further
call is sent, and it ends within ``calls.stop_after_s``. What happens is written, line by line, to the job's folder.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import traceback
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from referee.app.asking import read_asked
from referee.app.job_files import ESTIMATE, LOG, Estimated, Line, add_line
from referee.errors import RefereeError, RunStopped
from referee.reports.activities import activity
from referee.reports.tally import Tally, fetched
from referee.runs.files import write_atomically
from referee.runs.stopping import Stop, run_stoppable
from referee.secrets import scrub
from referee.settings import load_settings

if TYPE_CHECKING:
    from referee.api import ReviewEstimate
    from referee.runs import Event


class Teller:
    """Writes what happens as lines of the job's events, counts beside it."""

    def __init__(self, job: Path) -> None:
        self._job = job
        self._said = ""
        self.tally = Tally()

    def __call__(self, event: Event) -> None:
        """Write one event."""
        self.tally.count(event)
        if event.kind == "run":
            return
        if event.kind == "fetch" and event.total:
            text = fetched(event)
            if text == self._said:  # a download tells of every piece
                return
        else:
            text = activity(event.prompt) if event.prompt else event.text
        self.say(text)

    def say(self, text: str, state: str = "", hint: str = "") -> None:
        """Write one line; ``state`` is how the work ended, where it did."""
        self._said = text
        line = Line(
            said=scrub(text),
            hint=scrub(hint),
            phrases=tuple(self.tally.phrases()),
            done=self.tally.done,
            expected=self.tally.expected,
            state=state,
        )
        add_line(self._job, line)


def work(held: Connection, what: str, run: Path, job: Path, base_url: str | None) -> None:
    """Plan the review of a job, or make it.

    Args:
        held: Its end tells this process to stop.
        what: ``plan`` or ``run``.
        run: The run's folder.
        job: The folder where the job keeps what was asked for.
        base_url: The server of all models, for a run that begins here.
    """
    tell, stop = Teller(job), Stop()
    ask = _plan if what == "plan" else _review

    def leave() -> NoReturn:
        try:
            tell.say(f"Stopped: {stop.kept}.", "stopped")
        finally:
            os._exit(0)

    async def attended() -> None:
        threading.Thread(target=_terminate_at_the_end_of, args=(held,), daemon=True).start()
        await ask(run, job, base_url, tell)

    try:
        after_s = load_settings().calls.stop_after_s
        run_stoppable(attended(), stop, after_s=after_s, say=tell.say, leave=leave)
    except RunStopped as error:
        tell.say(error.message, "stopped", error.hint or "")
    except RefereeError as error:
        tell.say(error.message, "failed", error.hint or "")
    except (asyncio.CancelledError, KeyboardInterrupt):
        tell.say(f"Stopped: {stop.kept}.", "stopped")
    except BaseException as error:
        (job / LOG).write_text(scrub(traceback.format_exc()), encoding="utf-8")
        tell.say(f"The work broke off: {type(error).__name__}.", "failed", f"{LOG} in {str(job)!r} has the details.")
        raise SystemExit(1) from error
    else:
        tell.say("Done.", "finished")


def _terminate_at_the_end_of(held: Connection) -> None:
    with suppress(EOFError):
        held.recv_bytes()
    os.kill(os.getpid(), signal.SIGTERM)


async def _plan(run: Path, job: Path, base_url: str | None, tell: Teller) -> None:
    """Read the paper and write the estimate; nothing is sent to a model and no run begins."""
    from referee import api
    from referee.reports.estimates import review_estimate_lines
    from referee.venues import render_policy

    asked = read_asked(job)
    assert asked is not None, "the app writes it first"
    seen: list[ReviewEstimate] = []

    def shown(plan: ReviewEstimate) -> bool:
        seen.append(plan)
        return False

    options = api.RunOptions(
        out=run,
        base_url=base_url,
        max_cost=asked.max_cost,
        max_tokens=asked.max_tokens,
        prompts=asked.prompts,
        progress=tell,
        confirm=shown,
    )
    form = api.load_venue(asked.venue)
    try:
        await api.review(asked.paper, venue=asked.venue, model=asked.model, strategy=asked.strategy, options=options)
    except RefereeError:
        if not seen:
            raise
    lines = [scrub(line) for line in review_estimate_lines(replace(seen[0], other=None), words="")]
    estimate = Estimated(lines=tuple(lines), rule=render_policy(form), venue=form.name)
    write_atomically(job / ESTIMATE, estimate.model_dump_json() + "\n")


async def _review(run: Path, job: Path, base_url: str | None, tell: Teller) -> None:
    """Begin the run, or go on with it."""
    from referee import api
    from referee.api.resuming import begun_review
    from referee.runs.folder import RECORD

    asked = read_asked(job)
    limits: dict[str, Any] = {"max_cost": asked.max_cost, "max_tokens": asked.max_tokens} if asked else {}

    def noted(plan: ReviewEstimate) -> bool:
        tell.tally.expected = plan.calls
        return True

    if (run / RECORD).is_file():
        begun = begun_review(run)
        resumed = api.RunOptions(resume=run, settings=begun.continued(), progress=tell, confirm=noted, **limits)
        await api.review(begun.paper, venue=begun.venue, options=resumed)
        return
    assert asked is not None, "a new run was asked for"
    limits["prompts"] = asked.prompts
    options = api.RunOptions(out=run, base_url=base_url, progress=tell, confirm=noted, **limits)
    await api.review(asked.paper, venue=asked.venue, model=asked.model, strategy=asked.strategy, options=options)
