"""``open_report``: the page of a finished run, made again where it is gone."""

from __future__ import annotations

import os
from pathlib import Path

from referee.api.resuming import begun_review
from referee.errors import RunError
from referee.reports.html import PAGE
from referee.runs.folder import read_record, require_run
from referee.venues import load_venue


def report_of(run: str | Path) -> Path:
    """The page of a run.

    A review's is made from its folder where it is missing, as after an update of this package.

    Raises:
        RunError: There is no run or no finished one, its files are damaged or of a newer version, or what it was made
            by writes no page.
    """
    folder = Path(run)
    require_run(folder, "Name the folder that a command wrote (its last line says which).")
    record = read_record(folder)
    page = folder / PAGE
    if page.is_file():
        return page
    if record.status != "finished":
        cause = f": {record.error}" if record.error else ""
        raise RunError(
            f"run {str(folder)!r} is not finished, it is {record.status}{cause}.",
            hint=f"Continue it: the command it was started with, and --resume {folder}",
            ids={"run": os.fspath(folder)},
        )
    if record.command != "review":
        raise RunError(
            f"run {str(folder)!r} of `referee {record.command}` has no {PAGE}.",
            hint="Its files are named in the last line that the command printed.",
        )
    from referee.reports.review_page import write_review_page

    return write_review_page(folder, load_venue(begun_review(folder).venue))
