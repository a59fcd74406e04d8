"""A scripted panel for the machine ``factuality`` that decides by what it is shown, and a paper with a few numbers."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from referee.evals.judging import Panel
from referee.evals.metric import Context
from referee.evals.quality.factual_correctness import FactualCorrectness
from referee.evidence import split_sentences
from referee.evidence.stems import stems
from referee.graphs.factuality.records import Bounds
from referee.papers import load_paper
from referee.retrieval import Passage, Retriever, open_retriever
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult
from referee.schemas.paper import Paper
from referee.testing import Asked, HashEmbedder, ScriptedModel

MEASURED = {
    "whale survey": "412 animals",
    "bridge inspection": "37 cracks",
    "volcano station": "9 eruptions",
    "orchestra rehearsal": "85 decibels",
    "glacier camp": "1400 metres",
    "beehive trial": "66 colonies",
    "library audit": "230 shelves",
    "desert march": "51 dunes",
}
# 6 points: 1 not checkable, 1 undecided, 3 valid, 1 invalid.
REVIEW = """The paper is a pleasure to read.
The whale survey measured 412 animals.
The bridge inspection measured 37 cracks.
The volcano station measured 19 eruptions.
The glacier camp measured 1400 metres.
The orchestra rehearsal was held by tired people."""
NARROW = Bounds(sub_questions=2, top_k=1)

_NUMBERED = re.compile(r"^\[(s\d+)\] (.*)$", re.MULTILINE)
_TAGGED = r'<{0}(?: id="([^"]*)")?>\n(.*?)\n</{0}>'
_NUMBER = re.compile(r"\d+")
_LACKS = re.compile(r"\b(?:lacks?|no) (?:an? )?(\w+)")


class WordEmbedder(HashEmbedder):
    """Texts that share words are near."""

    id = "words"


def paper_text(measured: dict[str, str] | None = None, end: str = "") -> str:
    """A paper with one section a measurement, and a last one."""
    parts = [
        f"## {subject.capitalize()}\n\nThe {subject} measured {found} in total. Nothing else of it matters here.\n"
        for subject, found in (measured or MEASURED).items()
    ]
    return "\n".join(["# Counting Things\n", *parts, f"## Outlook\n\n{end or 'We hope for better weather.'}\n"])


def write_paper(folder: Path, text: str = "", name: str = "001.md") -> Paper:
    """The paper as a file, read."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(text or paper_text(), encoding="utf-8")
    return load_paper(file)


def case(text: str = REVIEW, case_id: str = "r1", paper_id: str = "001") -> ReviewCase:
    """A review."""
    return ReviewCase(case_id=case_id, paper_id=paper_id, source="human", kind="human", text=text)


def tagged(tag: str, text: str) -> dict[str, str]:
    """Delimited texts by id; the last of those without."""
    return {name or "": body for name, body in re.findall(_TAGGED.format(tag), text, re.DOTALL)}


def split(asked: Asked) -> dict[str, Any]:
    """Each sentence is a point; pleasure is praise."""
    sentences = _NUMBERED.findall(tagged("review", asked.user)[""])
    return {
        "points": [
            {"sentences": [name], "statement": words[:250], "kind": "praise" if "pleasure" in words else "claim"}
            for name, words in sentences
        ]
    }


def question(asked: Asked) -> dict[str, Any]:
    """The point itself is the question; a lack is searched for."""
    point = tagged("point", asked.user)[""]
    return {"question": f"Is it so: {point}", "sub_questions": [point], "absent": _LACKS.findall(point)}


def answer(asked: Asked) -> dict[str, Any]:
    """The shown sentence that has most words with the question; nothing where it has fewer than two."""
    wanted = set(stems(tagged("question", asked.user)[""]))
    shown = [
        (len(wanted & set(stems(sentence))), name, sentence)
        for name, text in tagged("passage", asked.user).items()
        for sentence in split_sentences(text.partition("\n")[2])
    ]
    shared, name, sentence = max(shown)
    if shared < 2:
        return {"quotes": [], "found": False, "answer": ""}
    return {"quotes": [{"passage": name, "quote": sentence}], "found": True, "answer": f"It says: {sentence}"}


def verdict(asked: Asked) -> dict[str, Any]:
    """Numbers decide; for a lack, what the search found."""
    point, search = tagged("point", asked.user)[""], tagged("search", asked.user)[""]
    quotations = tagged("quotation", asked.user)
    said: tuple[str, str] = ("undecided", "none")
    hits = [name for name in quotations if name.startswith("h")]
    if hits:
        said = ("invalid", hits[0])
    elif "They stand nowhere" in search:
        said = ("valid", "none")
    elif numbers := set(_NUMBER.findall(point)):
        for name, words in quotations.items():
            if found := set(_NUMBER.findall(words)):
                said = ("valid" if numbers & found else "invalid", name)
    return {"rebuttal": "by its numbers", "quotation": said[1], "verdict": said[0], "reason": "its numbers"}


def script(**more: Any) -> dict[str, Any]:
    """Who answers what; ``points``, ``questions``, ``answers`` and ``rebuttal`` replace the usual."""
    usual = {"points": split, "questions": question, "answers": answer, "rebuttal": verdict} | more
    return {f"eval/{name}": said for name, said in usual.items()}


class Blind(Retriever):
    """Gives passages by chance, whatever is asked."""

    def __init__(self, real: Retriever, seed: int = 0) -> None:
        super().__init__(real.paper_id, real.chunks, WordEmbedder(), real._store, real._name)
        self._rng = random.Random(seed)

    async def search_many(self, queries: Sequence[str], *, top_k: int = 6, **more: Any) -> list[list[Passage]]:
        """As many passages as asked for, any."""
        return [[self._passage(child, 0.0) for child in self._rng.sample(self.chunks.children, top_k)] for _ in queries]


async def measured(
    paper: Paper,
    *,
    text: str = REVIEW,
    bounds: Bounds = NARROW,
    blind: bool = False,
    judges: tuple[str, ...] = ("judge",),
    repeats: int = 1,
    replies: dict[str, Any] | ScriptedModel | None = None,
) -> tuple[MetricResult, ScriptedModel]:
    """One review measured against one paper; and the model's history."""
    model = replies if isinstance(replies, ScriptedModel) else ScriptedModel(replies or script())
    async with await open_retriever(paper, WordEmbedder()) as retriever:
        context = Context(
            paper=paper,
            retriever=Blind(retriever) if blind else retriever,
            panel=Panel(model, judges, repeats),
        )
        return await FactualCorrectness(bounds).measure(case(text), context), model


def outcome(result: MetricResult, word: str) -> str:
    """The outcome of the one point whose statement holds a word."""
    (point,) = (p for p in result.details["points"] if word in p["statement"])
    return str(result.details["outcomes"][point["id"]])
