"""However the work in a run folder ends, ``run.json`` says how, and the error names the run."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from referee.errors import BudgetExceeded, RefereeError, RunError
from referee.runs import Ledger, RunFolder
from referee.runs.folder import CHECKPOINTS, RECORD, TRACE
from referee.schemas.run import RunStatus


@contextmanager
def recorded(run: RunFolder, ledger: Ledger) -> Iterator[None]:
    """Record the end of what happens inside: failed, stopped by a budget, or interrupted."""
    try:
        yield
    except RefereeError as error:
        _end(run, ledger, "stopped" if isinstance(error, BudgetExceeded) else "failed", str(error))
        error.ids["run"] = os.fspath(run.path)
        raise
    except (OSError, sqlite3.Error) as error:
        failure = _unusable(run, error)
        _end(run, ledger, "failed", str(failure))
        raise failure from error
    except BaseException as error:
        interrupted = isinstance(error, asyncio.CancelledError | KeyboardInterrupt)
        _end(run, ledger, "stopped" if interrupted else "failed", "interrupted" if interrupted else repr(error))
        raise


def _end(run: RunFolder, ledger: Ledger, status: RunStatus, error: str) -> None:
    run.set_usage(ledger.usage(), ledger.usage_by_role())
    with suppress(OSError):  # the folder itself may be what failed
        run.set_status(status, error=error)


def _unusable(run: RunFolder, error: OSError | sqlite3.Error) -> RunError:
    """What is said where the run's own files fail: a full disk, lost rights, a damaged file."""
    if isinstance(error, OSError):
        where = f" in {str(error.filename)!r}" if error.filename else ""
        cause, hint = f"{error.strerror or error}{where}", "Make room or mend its rights"
    else:
        cause, hint = f"{CHECKPOINTS}: {error}", f"If {CHECKPOINTS} is damaged, delete it"
    there = (run.path / RECORD).is_file()
    return RunError(
        f"run folder {str(run.path)!r} can no longer be used: {cause}.",
        hint=f"{hint}; the replies in {TRACE} are not paid again." if there else "Start a new run.",
        ids={"run": os.fspath(run.path)} if there else {},
    )
