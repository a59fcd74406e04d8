"""Text that a file holds and no page prints: comments, properties, alternative texts. Ordinary, and listed."""

from __future__ import annotations

import re
from collections.abc import Callable

from referee.papers.hidden.addresses import addresses_a_model, beginning
from referee.papers.hidden.characters import decode, find_invisible
from referee.schemas.paper import Finding

_MOST = 20
_WORD = re.compile(r"[^\W\d_]{2,}")
_LEAST_WORDS = 2


class Unprinted:
    """Such texts by where they stand, as a reader meets them.

    Args:
        speaks: What counts as speaking to a model; only that is more than ordinary.
    """

    def __init__(self, speaks: Callable[[str], bool] = addresses_a_model) -> None:
        self._speaks = speaks
        self._pieces: dict[str, dict[str, None]] = {}

    def add(self, where: str, text: str | None) -> None:
        """Keep a text; ``where`` is told as in 'The file holds text in its comments'."""
        plain = " ".join((text or "").split())
        plain = (decode(plain) if find_invisible(plain) else "") or plain
        if len(_WORD.findall(plain)) >= _LEAST_WORDS:
            self._pieces.setdefault(where, {})[plain] = None

    def findings(self) -> tuple[Finding, ...]:
        """What speaks to a model one by one (at most twenty a place), and the rest as one low finding a place."""
        found: list[Finding] = []
        for where, pieces in self._pieces.items():
            speaking = [piece for piece in pieces if self._speaks(piece)][:_MOST]
            found += [told(where, piece, speaks=True) for piece in speaking]
            if rest := [piece for piece in pieces if piece not in speaking]:
                count = f" ({len(rest)} pieces)" if len(rest) > 1 else ""
                found.append(told(f"{where}{count}", " … ".join(rest)))
        return tuple(found)


def told(where: str, text: str, *, speaks: bool = False) -> Finding:
    """One finding: ordinary and low, or, where it speaks to a model, as high as any hidden text."""
    return Finding(
        kind="hidden_text" if speaks else "not_printed",
        message=f"The file holds text in {where} that no page prints. It was not read as part of the paper.",
        certainty="high" if speaks else "low",
        text=beginning(text),
    )
