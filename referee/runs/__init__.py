"""Run folders, the call ledger, locks, budget, progress."""

from referee.runs.budget import Budget, Reservation
from referee.runs.folder import RunFolder
from referee.runs.ledger import Ledger
from referee.runs.progress import Event, Progress, silent

__all__ = ["Budget", "Event", "Ledger", "Progress", "Reservation", "RunFolder", "silent"]
