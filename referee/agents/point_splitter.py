"""A review cut into atomic points: one statement each, tied to numbered sentences of the review.

The model names sentences by number, so a point's words are the review's own by construction. A restatement that adds a
number or turns a "not" around gives way to those words.

Source: ReviewEval, section 3.2; the split and the kinds that a paper cannot settle are ours.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, computed_field, create_model

from referee.agents.asking import AsksOnce, list_of, one_of
from referee.evidence import split_sentences
from referee.evidence.stems import stems
from referee.llm.door import Answer
from referee.llm.tokens import count_tokens
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.retrieval.splitting import split_spans
from referee.schemas.base import Stored
from referee.schemas.usage import Usage

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NOT = re.compile(
    r"\b(?:not|no|never|none|nor|neither|avoid\w*|refrain\w*|cannot|forbid\w*|prohibit\w*|rather than|\w+n['’]t"
    r"|abstain\w*|discourag\w*)\b",
    re.IGNORECASE,
)
_LACK = re.compile(r"\b(?:without|instead|lack|unless|ignor|exclud|free of|stop)", re.IGNORECASE)
_FEWEST_CHARS = 8
_SHARE = 0.2


def why_not(says: str, words: str) -> str:
    """Why a paraphrase cannot stand for the words; empty where nothing speaks against it.

    It must be more than a word, share a fifth of its stems with the words, hold no number that they do not hold, and be
    negated only if they are, and if they are.

    Args:
        says: The paraphrase.
        words: What it was made from.
    """
    if len(says) < _FEWEST_CHARS:
        return "the model gave no paraphrase"
    invented = sorted(set(_NUMBER.findall(says)) - set(_NUMBER.findall(words)))
    if invented:
        return f"its paraphrase holds {invented[0]}, which the page does not say"
    own = set(stems(says))
    if len(own & set(stems(words))) < max(1, _SHARE * len(own)):
        return "its paraphrase shares no words with the page's"
    if _negated(says, words) != _negated(words, says):
        return "its paraphrase turned a 'not' around"
    return ""


def negated(text: str) -> bool:
    """Whether a text holds a word that says not."""
    return bool(_NOT.search(text))


def _negated(text: str, other: str) -> bool:
    """Whether a text says not, or lacks what the other has: a "lacks" on both sides is part of what they speak of."""
    lacks, others = ({found.lower() for found in _LACK.findall(side)} for side in (text, other))
    return bool(_NOT.search(text) or lacks - others)


PROMPT = "eval/points"
LEAN_PROMPT = "eval/points-lean"

PointKind = Literal["claim", "praise", "summary", "opinion", "literature", "question", "other"]

WHY_NOT_CHECKABLE: dict[str, str] = {
    "praise": "it praises and states nothing that the paper could contradict",
    "summary": "it retells what the paper says of itself",
    "opinion": "it is a matter of opinion or taste",
    "literature": "it is about other papers, which this paper's text cannot settle",
    "question": "it asks something and claims nothing",
    "other": "the paper's text cannot settle it",
}

_LONGEST_SENTENCE = 1_200
_STATEMENT_CHARS = 260
_SENTENCES_A_WINDOW = 30
# A sentence may hold two points; more make up what is not there.
_POINTS_A_SENTENCE = 2
_TOKENS_A_POINT, _TOKENS_A_KIND, _TOKENS_AROUND = 110, 48, 64
_BEGINS_CHARS = 40
_SPACE = re.compile(r"\s+")


class SplitPoint(Stored):
    """One point of a review.

    ``sentences`` are the ids of the review's sentences that make it, ``words`` those sentences. ``statement`` says it
    so that it can be read alone. ``note`` says where code replaced the model's wording.
    """

    id: str
    statement: str = ""
    words: str = ""
    sentences: tuple[str, ...] = ()
    kind: PointKind
    note: str = ""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def checkable(self) -> bool:
        """Whether the paper's text can settle it."""
        return self.kind == "claim"

    @computed_field  # type: ignore[prop-decorator]
    @property
    def why(self) -> str:
        """Why it cannot be checked; empty where it can."""
        return WHY_NOT_CHECKABLE.get(self.kind, "")


class SplitSummary(Stored):
    """How a review was cut: its number of sentences, those that no point is made of, calls, notes and cost."""

    sentences: int = 0
    unused: tuple[str, ...] = ()
    call_ids: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    usage: Usage = Usage()


class SplitReview(SplitSummary):
    """The same with the points."""

    points: tuple[SplitPoint, ...]


async def split_review(text: str, *, panel: AsksOnce, window_tokens: int, unit: str, lean: bool = False) -> SplitReview:
    """Cut a review into points; one call, or one a window where the review is long.

    Args:
        text: The review's prose; blank text gives no points and no call.
        panel: Its first judge answers.
        window_tokens: Most tokens of the review in one call.
        unit: What the call is for, in progress and logs.
        lean: Take each sentence for one point, and ask for its kind alone.

    Raises:
        ModelError: A call failed; the others have ended by then.
    """
    sentences = number_sentences(text)
    asked = [_ask(window, panel, unit, lean=lean) for window in _windows(sentences, window_tokens)]
    said = await asyncio.gather(*asked, return_exceptions=True)
    answers: list[Answer[BaseModel]] = []
    for one in said:
        if isinstance(one, BaseException):
            raise one
        answers.append(one)
    points, repeated = _points(answers, sentences)
    used = {name for point in points for name in point.sentences}
    notes = [note for answer in answers for note in answer.notes]
    notes += [f"{repeated} repeated points were left out"] if repeated else []
    return SplitReview(
        points=tuple(points),
        sentences=len(sentences),
        unused=tuple(name for name in sentences if name not in used),
        call_ids=tuple(answer.call_id for answer in answers),
        usage=sum((answer.usage for answer in answers), Usage()),
        notes=tuple(notes),
    )


def number_sentences(text: str) -> dict[str, str]:
    """The sentences of a review by id (``s1``), in order; one without an end is cut after some 1,200 characters."""
    lines = (_SPACE.sub(" ", line).strip() for line in text.splitlines())
    whole = (sentence for line in lines if line for sentence in split_sentences(line))
    parts = (s[start:end] for s in whole for start, end in split_spans(s, _LONGEST_SENTENCE, len))
    return {f"s{number}": part for number, part in enumerate(parts, start=1)}


def count_windows(text: str, window_tokens: int) -> int:
    """How many calls it takes to cut a review."""
    return sum(1 for _ in _windows(number_sentences(text), window_tokens))


def most_points(*, lean: bool = False) -> int:
    """How many points a sentence can be cut into."""
    return 1 if lean else _POINTS_A_SENTENCE


def points_model(sentence_ids: Sequence[str]) -> type[BaseModel]:
    """The reply's shape: points that name sentences by the ids there are."""
    closed = ConfigDict(extra="ignore")
    most = max(1, len(sentence_ids))
    point = create_model(
        "SplitOff",
        __config__=closed,
        sentences=(list_of(one_of(tuple(sentence_ids))), Field(min_length=1, max_length=min(4, most))),
        statement=(str, Field(max_length=_STATEMENT_CHARS, description="the point alone, readable by itself")),
        kind=(PointKind, ...),
    )
    return create_model(
        "Points", __config__=closed, points=(list_of(point), Field(max_length=_POINTS_A_SENTENCE * most))
    )


def kinds_model(sentence_ids: Sequence[str]) -> type[BaseModel]:
    """The lean reply's shape: a kind for each sentence, after its first words.

    Without those words small models give kinds by position, whatever the sentence says.
    """
    closed = ConfigDict(extra="ignore")
    begins = (str, Field(max_length=_BEGINS_CHARS, description="the sentence's first words"))
    kind = create_model("Kind", __config__=closed, begins=begins, kind=(PointKind, ...))
    fields: dict[str, Any] = dict.fromkeys(sentence_ids, (kind, ...))
    return create_model("Kinds", __config__=closed, **fields)


async def _ask(window: dict[str, str], panel: AsksOnce, unit: str, *, lean: bool) -> Answer[BaseModel]:
    reply = kinds_model(tuple(window)) if lean else points_model(tuple(window))
    most_out = _TOKENS_AROUND + (_TOKENS_A_KIND if lean else _TOKENS_A_POINT) * len(window)
    return await panel.ask_once(_render(window, lean=lean), reply, max_output_tokens=most_out, unit=unit)


def _render(window: dict[str, str], *, lean: bool) -> RenderedPrompt:
    numbered = "\n".join(f"[{name}] {sentence}" for name, sentence in window.items())
    return load_prompt(LEAN_PROMPT if lean else PROMPT).render(review=delimit("review", numbered))


def _items(reply: BaseModel, sentences: dict[str, str]) -> list[dict[str, Any]]:
    """The points of a reply; those of a lean one are the sentences themselves."""
    said = reply.model_dump()
    if "points" in said:
        return list(said["points"])
    return [{"sentences": [name], "statement": sentences[name], "kind": one["kind"]} for name, one in said.items()]


def _windows(sentences: dict[str, str], most_tokens: int) -> Iterator[dict[str, str]]:
    window: dict[str, str] = {}
    size = 0
    for name, sentence in sentences.items():
        tokens = count_tokens(sentence)
        if window and (size + tokens > most_tokens or len(window) >= _SENTENCES_A_WINDOW):
            yield window
            window, size = {}, 0
        window[name] = sentence
        size += tokens
    if window:
        yield window


def _points(answers: Sequence[Answer[BaseModel]], sentences: dict[str, str]) -> tuple[list[SplitPoint], int]:
    """The points in the review's order, numbered; and how many said again what another says of the same sentences."""
    order = {name: place for place, name in enumerate(sentences)}
    found: dict[tuple[tuple[str, ...], str], SplitPoint] = {}
    given = [item for answer in answers for item in _items(answer.value, sentences)]
    for item in given:
        point = _point(item, sentences, order)
        found.setdefault((point.sentences, point.statement.casefold()), point)
    ordered = sorted(found.values(), key=lambda point: order[point.sentences[0]])
    numbered = [point.model_copy(update={"id": f"p{number}"}) for number, point in enumerate(ordered, start=1)]
    return numbered, len(given) - len(found)


def _point(item: dict[str, Any], sentences: dict[str, str], order: dict[str, int]) -> SplitPoint:
    named = tuple(sorted(set(item["sentences"]), key=order.__getitem__))
    words = " ".join(sentences[name] for name in named)
    said, problem = restated(item["statement"], words)
    return SplitPoint(id="", statement=said, words=words, sentences=named, kind=item["kind"], note=problem)


def restated(statement: str, words: str) -> tuple[str, str]:
    """A model's wording of what some sentences say, or those sentences and why they replace it."""
    statement = _SPACE.sub(" ", statement).strip()
    problem = why_not(statement, words)
    return (words if problem else statement), problem
