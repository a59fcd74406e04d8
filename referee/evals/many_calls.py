"""The ledger of a run with very many calls: what the run has cost is known at once, and prompts stay on the disk."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from referee.runs import Ledger
from referee.schemas.run import CallRecord
from referee.schemas.usage import Usage


class LongLedger(Ledger):
    """A ledger that adds up as it goes and remembers replies without the messages they answer.

    The file is the same as a ``Ledger``'s. Adding all calls up anew for each call takes minutes at some ten thousand.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._total = Usage()
        self._by_role: dict[str, Usage] = defaultdict(Usage)
        super().__init__(path)

    def usage(self) -> Usage:
        """What the run has consumed in all its starts."""
        return self._total

    def usage_by_role(self) -> dict[str, Usage]:
        """The same, per role."""
        return dict(sorted(self._by_role.items()))

    def _remember(self, record: CallRecord) -> None:
        self._total += record.usage
        self._by_role[record.role] += record.usage
        super()._remember(record.model_copy(update={"messages": ()}))
