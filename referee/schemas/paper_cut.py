"""How much of a paper a model read: the numbers, the sentence that says so, and the refusal to read too little."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
            f"{cut.body_total:,} tokens ({cut.body_share:.0%}) of the body of the paper {title or paper_id[:12]!r}.",
            hint="Use a model with a larger window; set models.context_tokens where the server has more; or take "
            "--strategy sections, which reads part by part. To go on with what fits, add --yes to `referee review`, "
            "or set paper.min_read lower.",
            ids={"paper": paper_id, "model": model},
        )
        self.cut = cut


def cut_line(cut: PaperCut | None, *, will: bool = False) -> str:
    """What of a paper was not read, or will not be, in one line for people; empty where all of it is."""
    if cut is None:
        return ""
    more = len(cut.sections) - 1
    names = f"{cut.sections[0]!r}" if cut.sections else "a section"
    if more > 0:
        names += f" and {more} more section{'' if more == 1 else 's'}"
    was = "are" if will and more > 0 else "is" if will else "were" if more > 0 else "was"
    return (
        f"The model {'will read' if will else 'read'} {cut.tokens_kept:,} of {cut.tokens_total:,} tokens of the paper "
        f"({_percent(cut)}); {names} {was} cut. "
        f"{_MORE[cut.by]}."
    )


def cuts_told(cuts: Iterable[PaperCut | None], read: Iterable[bool], what: str = "papers") -> str:
    """The same of many papers, in one line; empty where nothing was cut.

    Args:
        cuts: One for each reading of a paper by a model, null where it was shown all of it.
        read: Whether the model was asked; it is not where too little of the body fits.
        what: What they are.
    """
    given = list(zip(cuts, read, strict=True))
    cut = sorted((one for one, asked in given if one and asked), key=lambda one: one.share)
    unread = sum(1 for one, asked in given if one and not asked)
    said = []
    if len(given) == 1:
        said += [cut_line(one) for one in cut]
    elif cut:
        least = f"{cut[0].tokens_kept:,} of {cut[0].tokens_total:,} tokens"
        said.append(
            f"The model read {_range(cut)} of {len(cut):,} of {len(given):,} {what} (at least {least}); the rest of "
            f"them was cut. {_MORE[cut[0].by]}."
        )
    if unread:
        were = "paper was" if unread == 1 else "papers were"
        said.append(f"{unread:,} {were} not read: less of the body fits into the model's window than paper.min_read.")
    return " ".join(said)


def cuts_foreseen(cuts: Iterable[PaperCut | None]) -> str:
    """That papers will be cut, for a note before the first call; empty where none will be."""
    given = list(cuts)
    cut = sorted((one for one in given if one), key=lambda one: one.share)
    if not cut:
        return ""
    return f"the model will read {_range(cut)} of {len(cut):,} of {len(given):,} papers that were looked at"


def _range(cuts: Sequence[PaperCut]) -> str:
    least, most = _percent(cuts[0]), _percent(cuts[-1])
    return least if least == most else f"{least} to {most}"


def _percent(cut: PaperCut) -> str:
    """Whole per cent; what was cut is never called whole."""
    return f"{min(99, round(100 * cut.share))}%"
