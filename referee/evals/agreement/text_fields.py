"""Which field of a human review answers which field of a predicted one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from referee.data.prose import plain_name
from referee.schemas.case import ReviewCase

JOINED = ("strengths_and_weaknesses", "strength_and_weaknesses")
SIDES = "strengths_weaknesses"
WHOLE = "review"
# By predicted field: the human fields that may answer it, in the order in which they are looked for.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "summary": (
        *("summary", "summary_of_paper", "summary_of_the_paper", "paper_topic_and_main_contributions"),
        "summary_of_contributions",
    ),
    "strengths": ("strengths", "reasons_to_accept", *JOINED),
    "weaknesses": ("weaknesses", "reasons_to_reject"),
    "reasons_to_accept": ("reasons_to_accept", "strengths"),
    "reasons_to_reject": ("reasons_to_reject", "weaknesses"),
}
_LOOSE = ("questions", "rebuttal_questions", "questions_for_rebuttal")
# A summary is one whatever its form calls it; the other fields keep their names, so that none is compared twice.
_CANDIDATES = {"summary": ALIASES["summary"]}


@dataclass(frozen=True, slots=True)
class TextPair:
    """What a model wrote in a field of a paper's form, and what each person wrote there, in the order of reviews.

    Empty texts are left out of ``references``.
    """

    paper_id: str
    field: str
    candidate: str
    references: tuple[str, ...]

    @property
    def reference(self) -> str:
        """All references, one below the other."""
        return "\n".join(self.references)


def text_pairs(predicted: ReviewCase, human: Sequence[ReviewCase], *, loose: bool = False) -> list[TextPair]:
    """The fields of one paper to compare, empty sides included, so that they can be counted.

    ``strengths_weaknesses`` sets a human review's joined box against the predicted strengths and weaknesses (or joined
    box): the table of ReviewArena sends it to the strengths alone, and leaves such forms' weaknesses without a
    reference. Where no named field has both sides, the whole reviews are compared as ``review``.

    Args:
        predicted: The model's review.
        human: People's reviews of the same paper, in order.
        loose: Let questions answer weaknesses.

    Source: "ReviewArena: A Large-Scale Cross-Conference Dataset and Benchmark for LLM Peer Review" (the table).
    """
    ours = _texts(predicted)
    theirs = [_texts(case) for case in human]
    pairs = []
    for field, aliases in ALIASES.items():
        names = (*aliases, *_LOOSE) if loose and field == "weaknesses" else aliases
        candidate = _first(ours, _CANDIDATES.get(field, (field,)))
        pairs.append(_pair(predicted.paper_id, field, candidate, [_first(texts, names) for texts in theirs]))
    pairs.append(_pair(predicted.paper_id, SIDES, _both_sides(ours), [_first(texts, JOINED) for texts in theirs]))
    if not any(pair.candidate and pair.references for pair in pairs):
        pairs.append(_pair(predicted.paper_id, WHOLE, predicted.text.strip(), [case.text.strip() for case in human]))
    return [pair for pair in pairs if pair.candidate or pair.references]


def _pair(paper_id: str, field: str, candidate: str, references: Sequence[str]) -> TextPair:
    return TextPair(paper_id, field, candidate, tuple(text for text in references if text))


def _both_sides(texts: Mapping[str, str]) -> str:
    """The joined box, or the two boxes together; nothing where only one of the two is filled."""
    sides = [
        _first(texts, names) for names in (("strengths", "reasons_to_accept"), ("weaknesses", "reasons_to_reject"))
    ]
    return _first(texts, JOINED) or ("\n".join(sides) if all(sides) else "")


def _first(texts: Mapping[str, str], names: Sequence[str]) -> str:
    return next((texts[name] for name in names if texts.get(name)), "")


def _texts(case: ReviewCase) -> dict[str, str]:
    out = {}
    for name, value in case.fields.items():
        text = "\n".join(value) if isinstance(value, list) else value if isinstance(value, str) else ""
        out[plain_name(name)] = text.strip()
    return out
