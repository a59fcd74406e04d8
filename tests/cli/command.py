"""Running the command line inside the test process."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

from referee.cli import main


@dataclass(frozen=True)
class Outcome:
    """What a user of the command line gets."""

    code: int
    out: str
    err: str


class Referee:
    """``referee(...)`` runs the command line and returns code, stdout and stderr."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: object) -> Outcome:
        self._monkeypatch.setattr(sys, "argv", ["referee", *map(str, arguments)])
        self._capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        printed = self._capsys.readouterr()
        return Outcome(code, printed.out, printed.err)


def leave_plots_undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plots become files with their names and nothing to see: drawing is most of a command's time."""
    monkeypatch.setattr("referee.reports.plots.Plot.svg", lambda plot, themed=False: f'<svg aria-label="{plot.name}"/>')
    monkeypatch.setattr("referee.reports.plots.Plot.png", lambda plot: b"\x89PNG")
