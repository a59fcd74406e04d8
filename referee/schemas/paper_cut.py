"""How much of a paper a model read: the numbers, the sentence that says so, and the refusal to read too little."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from referee.errors import ContextTooLong
from referee.schemas.base import Frozen

_MORE = {
    "window": "A model with a larger window reads all of it",
    "reading_tokens": "A larger models.reading_tokens shows more of it",
}


class PaperCut(Frozen):
    """A paper of which a model was not shown everything.

    ``sections`` are the headings of the sections that were cut, in the paper's order. The body is the abstract and the
    sections before the appendices. ``by`` says what was too small: the model's window or ``models.reading_tokens``.
    """

    tokens_kept: int = Field(ge=0)
    tokens_total: int = Field(ge=1)
    body_kept: int = Field(ge=0)
    body_total: int = Field(ge=0)
    sections: tuple[str, ...] = ()
    by: Literal["window", "reading_tokens"] = "window"

    @property
    def share(self) -> float:
        """The share of the paper that was shown."""
        return self.tokens_kept / self.tokens_total

    @property
    def body_share(self) -> float:
        """The share of the body that was shown; 1 where there is no body."""
        return self.body_kept / self.body_total if self.body_total else 1.0

    def is_under(self, least: float) -> bool:
        """Whether the window left less of the body than this share; what ``models.reading_tokens`` cuts is chosen."""
        return self.by == "window" and self.body_share < least


class PaperNotRead(ContextTooLong):
    """A model's window holds less of a paper's body than ``paper.min_read``; nothing was sent."""

    def __init__(self, cut: PaperCut, *, title: str, paper_id: str, model: str, context_tokens: int) -> None:
        super().__init__(
            f"model {model!r} with a window of {context_tokens:,} tokens can read only {cut.body_kept:,} of "
            f"{cut.body_total:,} tokens ({cut.body_share:.0%}) of the body of the paper {title!r}.",
            hint="Use a model with a larger window; set models.context_tokens where the server has more; or take "
            "--strategy sections, which reads part by part. To go on with what fits, add --yes to `referee review`, "
            "or set paper.min_read lower.",
            ids={"paper": paper_id, "model": model},
        )
        self.cut = cut


def cut_line(cut: PaperCut | None) -> str:
    """What of a paper was not read, in one line for people; empty where all of it was."""
    if cut is None:
        return ""
    more = len(cut.sections) - 1
    names = f"{cut.sections[0]!r}" if cut.sections else "a section"
    if more > 0:
        names += f" and {more} more section{'' if more == 1 else 's'} were cut"
    else:
        names += " was cut"
    return (
        f"The model read {cut.tokens_kept:,} of {cut.tokens_total:,} tokens of the paper ({_percent(cut)}); {names}. "
        f"{_MORE[cut.by]}."
    )


def cuts_line(cuts: Iterable[PaperCut], *, papers: int, unread: int = 0) -> str:
    """The same of many papers, in one line; empty where nothing was cut.

    Args:
        cuts: One for each paper that was cut and read nevertheless; more than one where several models read it.
        papers: How many there are.
        unread: How many the model was not asked about, because too little of the body fitted.
    """
    given = sorted(cuts, key=lambda cut: cut.share)
    said = []
    if len(given) == 1 and papers == 1:
        said.append(cut_line(given[0]))
    elif given:
        least = given[0]
        said.append(
            f"{len(given):,} of {papers:,} papers were cut: the model read between {_percent(least)} "
            f"({least.tokens_kept:,} of {least.tokens_total:,} tokens) and {_percent(given[-1])} of them. "
            f"{_MORE[least.by]}."
        )
    if unread:
        were = "paper was" if unread == 1 else "papers were"
        said.append(f"{unread:,} {were} not read: too little of the body fits into the model's window.")
    return " ".join(said)


def _percent(cut: PaperCut) -> str:
    """Whole per cent; what was cut is never called whole."""
    return f"{min(99, round(100 * cut.share))}%"
