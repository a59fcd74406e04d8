"""Planted falsehoods: true statements about a paper and their contradictions through ``factual_correctness``.

Both versions of a statement go through the metric, once with the passages its search finds and once with passages of
the same paper drawn at random. What it says of false ones it should; what it condemns of true ones it should not; and
with random passages it must get worse, or the search adds nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from metric_validity_edits import Edit, PaperSentences, retold_edits, review_edits
from metric_validity_means import DATA, SCRIPTED, Means, gathered, note

from referee.data import read_cases, read_papers
from referee.evals.metric import Context
from referee.evals.paper_context import open_index
from referee.evals.quality.factual_correctness import FactualCorrectness, bounds_for
from referee.graphs.factuality.records import LEAN, Bounds, Searches
from referee.papers import load_paper
from referee.retrieval import Chunks, Parent, Passage, Retriever
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult
from referee.schemas.paper import Paper

FULL_TEXTS = DATA / "papers" / "elife_fulltext_reviews.jsonl"
EXAMPLE = Path(__file__).parents[1] / "examples" / "paper.pdf"
A_TEXT = 8
"""Statements in one text: as many as the lean bounds examine."""
_ORDER = ("invalid", "valid", "undecided", "failed", "not_examined", "not_checkable")


@dataclass(frozen=True)
class Statement:
    """A statement with its edit; ``origin`` is ``reviewer`` for a real review's sentence, else ``retold``."""

    paper: str
    origin: str
    edit: Edit


@dataclass(frozen=True)
class Source:
    """A paper with the statements about it."""

    name: str
    paper: Paper
    statements: tuple[Statement, ...]


@dataclass(frozen=True)
class Arm:
    """Which passages, and how much is shown of them."""

    passages: str
    shown: str
    bounds: Bounds


class RandomPassages:
    """The search of one paper with every found passage replaced by one drawn at random; the same for a question."""

    def __init__(self, retriever: Retriever, seed: int = 0) -> None:
        self._retriever, self._seed = retriever, seed

    @property
    def paper_id(self) -> str:
        return self._retriever.paper_id

    @property
    def chunks(self) -> Chunks:
        return self._retriever.chunks

    async def search_many(self, queries: Sequence[str], *, top_k: int = 6) -> list[list[Passage]]:
        children = self._retriever.chunks.children
        drawn = (random.Random(f"{self._seed}:{q}").sample(children, min(top_k, len(children))) for q in queries)
        return [
            [
                Passage(
                    id=child.id,
                    paper_id=self.paper_id,
                    parent_id=child.parent_id,
                    section_id=child.section_id,
                    heading=child.heading,
                    text=child.text,
                    block_ids=child.block_ids,
                    pages=child.pages,
                    similarity=0.0,
                )
                for child in row
            ]
            for row in drawn
        ]

    def parent(self, passage: Passage) -> Parent:
        return self._retriever.parent(passage)


async def measure_planted(means: Means, model: str, papers: int | None, points: int) -> list[dict[str, Any]]:
    """A record for each statement and arm: what became of it as it was, and edited.

    Args:
        means: The judge and the embedder.
        model: As it was asked for; the overlap judge is measured under both bounds.
        papers: Most papers; all by default.
        points: Most statements of each origin a paper.
    """
    records = list[dict[str, Any]]()
    for source in list(sources(points))[:papers]:
        note(f"falsehoods: {source.name}, {len(source.statements)} statements")
        retriever = await open_index(source.paper, means.embedder)
        async with retriever:
            for arm in arms(means, model):
                records += await _through(source, arm, retriever, means)
    return records


def arms(means: Means, model: str) -> list[Arm]:
    shown = {"lean": LEAN, "full": Bounds()} if model == SCRIPTED else {"as measured": bounds_for(means.panel)}
    return [Arm(passages, name, bounds) for name, bounds in shown.items() for passages in ("found", "random")]


def sources(points: int) -> Iterator[Source]:
    """The example paper, then the papers of the full-text set with the statements of their reviews."""
    example = load_paper(EXAMPLE)
    yield _source("examples/paper.pdf", example, [], points)
    cases = [case for case in read_cases(FULL_TEXTS) if case.kind == "human"]
    shelf = read_papers(FULL_TEXTS)
    for name in dict.fromkeys(case.paper_id for case in cases):
        paper = shelf.get(name)
        if paper is not None:
            yield _source(name, paper, [case.text for case in cases if case.paper_id == name], points)


def _source(name: str, paper: Paper, reviews: Sequence[str], points: int) -> Source:
    sentences, rng = PaperSentences(paper), random.Random(name)
    real = [edit for text in reviews for edit in review_edits(text, sentences, rng)][:points]
    made = [("reviewer", edit) for edit in real] + [("retold", edit) for edit in retold_edits(sentences, rng, points)]
    return Source(name, paper, tuple(Statement(name, origin, edit) for origin, edit in made))


async def _through(source: Source, arm: Arm, retriever: Retriever, means: Means) -> list[dict[str, Any]]:
    search: Searches = retriever if arm.passages == "found" else RandomPassages(retriever)
    texts = texts_of(retriever)
    metric = FactualCorrectness(arm.bounds)
    context = Context(paper=source.paper, retriever=cast(Retriever, search), panel=means.panel)

    async def outcomes(group: Sequence[Statement], side: str) -> list[tuple[str, bool]]:
        said = [getattr(one.edit, side) for one in group]
        result = await metric.measure(_case(source.name, said), context)
        return list(judged(said, [one.edit.proof for one in group], result, texts))

    groups = [source.statements[start : start + A_TEXT] for start in range(0, len(source.statements), A_TEXT)]
    jobs = [outcomes(group, side) for side in ("true", "false") for group in groups]
    all_said = await gathered(jobs, at_once=means.at_once, what=f"{arm.passages} passages, {arm.shown}")
    flat = [one for group in all_said for one in group]
    half = len(source.statements)
    return [
        {
            "paper": source.name,
            "origin": one.origin,
            "passages": arm.passages,
            "shown": arm.shown,
            "outcome_true": true,
            "outcome_false": false,
            "proof_shown": proof,
            **asdict(one.edit),
        }
        for one, (true, _), (false, proof) in zip(source.statements, flat[:half], flat[half:], strict=True)
    ]


def texts_of(retriever: Retriever) -> dict[str, str]:
    """The texts of all passages and of the sections around them, by id."""
    chunks = retriever.chunks
    return {child.id: child.text for child in chunks.children} | {whole.id: whole.text for whole in chunks.parents}


def judged(
    statements: Sequence[str], proofs: Sequence[str], result: MetricResult, texts: Mapping[str, str]
) -> Iterator[tuple[str, bool]]:
    """For each statement what became of it, and whether its proof was among what was shown of the paper.

    Of several points made of one statement the gravest counts; ``lost`` where no point is made of it.
    """
    points = result.details.get("points", [])
    outcomes = result.details.get("outcomes", {})
    for statement, proof in zip(statements, proofs, strict=True):
        own = [point for point in points if _squeezed(point["words"]) and _shared(point["words"], statement)]
        kinds = {outcomes[point["id"]] for point in own}
        none = "failed" if result.status == "failed" and not points else "lost"
        shown = " ".join(texts[name] for point in own for name in _read_for(point))
        yield next((kind for kind in _ORDER if kind in kinds), none), _squeezed(proof) in _squeezed(shown)


def _read_for(point: Mapping[str, Any]) -> Iterable[str]:
    examined = point["examined"]
    return [name for answer in examined["answers"] for name in answer["shown"]] if examined else []


def _shared(words: str, statement: str) -> bool:
    one, other = _squeezed(words), _squeezed(statement)
    return one in other or other in one


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _case(paper: str, statements: Sequence[str]) -> ReviewCase:
    return ReviewCase(
        case_id=f"{paper}/planted", paper_id=paper, source="planted", kind="unknown", text="\n".join(statements)
    )
