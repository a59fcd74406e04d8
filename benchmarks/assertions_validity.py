"""Whether the metric ``assertions`` tells strong reviews apart: docs/metric_validity.md.

    python benchmarks/assertions_validity.py                                      the tables, from what is kept
    python benchmarks/assertions_validity.py --measure MODEL [--base-url URL]     measure, keep, and print them

Measured are reviews of ``benchmarks/planted`` on their papers, whose statements and pairs language models labelled, and
texts made of one of them by code, for which what must happen is declared here (``EXPECTED``). Results are kept, a file
a review, in ``benchmarks/planted/assertions``. Needs the shared papers beside the repository only to measure. Ends with
0, or with 2 where it could not be run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "planted"))

import texts  # noqa: E402
from assertions_validity_table import report  # noqa: E402
from metric_validity_edits import numbers_in  # noqa: E402
from metric_validity_facts import ABSENT  # noqa: E402
from metric_validity_means import Means, gathered, note, opened_means  # noqa: E402
from metric_validity_order import GENERIC  # noqa: E402

from referee.agents.asking import T  # noqa: E402
from referee.agents.point_splitter import number_sentences  # noqa: E402
from referee.data import read_cases  # noqa: E402
from referee.errors import RefereeError  # noqa: E402
from referee.evals.judging import JudgeDoor  # noqa: E402
from referee.evals.metric import Context  # noqa: E402
from referee.evals.quality.assertions import METRIC  # noqa: E402
from referee.llm.door import Answer  # noqa: E402
from referee.llm.models import Models  # noqa: E402
from referee.papers import load_paper  # noqa: E402
from referee.prompts import RenderedPrompt  # noqa: E402
from referee.schemas.case import ReviewCase  # noqa: E402
from referee.schemas.paper import Paper  # noqa: E402

KEPT = HERE / "planted" / "assertions"
PAPERS, ARMS = ("p3", "p4", "p6"), ("single", "core", "whole")
BASE = "p6-single"
"""The review of which the other texts are made: its paper is the shipped example."""
DOUBLED, EDITS, SHIFT = 20, 10, 4
CRITICISM = 17
"""Where the criticism of that review begins: before it stand a summary, merits and the recommendation."""
_DECIMAL = re.compile(r"\d+\.\d+")
_AGAIN = ("To say it once more: ", "It bears repeating: ", "As was said: ", "Again: ")


@dataclass(frozen=True)
class Job:
    """One text to measure; ``known`` is what the tables need of how it was made."""

    name: str
    case: ReviewCase
    paper: Paper
    known: Mapping[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", metavar="MODEL", help="as for referee eval --judge")
    parser.add_argument("--base-url", help="as for referee eval")
    given = parser.parse_args()
    if given.measure:
        try:
            asyncio.run(_measured(given.measure, given.base_url))
        except RefereeError as error:
            print(error, file=sys.stderr)
            return 2
    kept = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(KEPT.glob("*.json"))}
    print(report(kept, BASE))
    return 0


async def _measured(model: str, base_url: str | None) -> None:
    KEPT.mkdir(exist_ok=True)
    async with opened_means(model, base_url=base_url, embedder="hash") as means:
        made = list(jobs())
        await gathered((_keep(job, means) for job in made), at_once=len(made), what="reviews")


@dataclass(frozen=True)
class _AtOnce:
    """A door at which no call waits for another one's beginning to be in a cache: whoever answers sees all of them."""

    door: JudgeDoor

    @property
    def models(self) -> Models:
        return self.door.models

    async def ask(
        self, prompt: RenderedPrompt, reply: type[T], *, role: str, max_output_tokens: int, sample: int = 0
    ) -> Answer[T]:
        joined = replace(prompt, user=prompt.prefix + prompt.user, prefix="")
        return await self.door.ask(joined, reply, role=role, max_output_tokens=max_output_tokens, sample=sample)


async def _keep(job: Job, means: Means) -> None:
    panel = replace(means.panel, door=_AtOnce(means.panel.door))
    result = await METRIC.measure(job.case, Context(paper=job.paper, panel=panel))
    note(f"{job.name}: {result.status} {result.value} {result.reason}")
    if result.status == "scored":
        kept = {"judge": means.judge, "known": job.known, "parts": result.parts, "value": result.value}
        kept["details"] = result.details
        (KEPT / f"{job.name}.json").write_text(json.dumps(kept, ensure_ascii=False) + "\n", encoding="utf-8")


def jobs() -> Iterable[Job]:
    """The reviews of two arms, then the texts made of one of them, then those of the third arm."""
    papers = {name: _paper(name) for name in PAPERS}
    cases = {f"{name}-{arm}": _case(name, arm) for name in PAPERS for arm in ARMS}
    whole = {name: case for name, case in cases.items() if name.endswith("-whole")}
    for name, case in cases.items():
        if name not in whole:
            yield Job(name, case, papers[name.partition("-")[0]], {})
    paper = papers[BASE.partition("-")[0]]
    for variant, (text, known) in variants_of(cases[BASE].text, paper).items():
        name = f"{BASE}-{variant}"
        yield Job(name, cases[BASE].model_copy(update={"case_id": name, "text": text}), paper, known)
    for name, case in whole.items():
        yield Job(name, case, papers[name.partition("-")[0]], {})


def variants_of(review: str, paper: Paper) -> dict[str, tuple[str, dict[str, Any]]]:
    """Texts that try to earn what they are not worth, one that is made wrong, and two that say nothing.

    Each with what is known of it: which sentences were doubled, which statements were made false.
    """
    sentences = list(number_sentences(review).values())
    middle = [one for one in sentences if len(one.split()) > DOUBLED // 2][DOUBLED // 4 :][:DOUBLED]
    again = [f"{_AGAIN[n % len(_AGAIN)]}{one.lstrip('- ')}" for n, one in enumerate(middle)]
    absences = [f"The paper does not discuss {what}." for what in ABSENT]
    abstract = "\n".join(section.text for section in paper.sections if section.role == "abstract") or paper.abstract
    wrong = _made_wrong(review, sentences, paper)
    return {
        "padded": (f"{review}\n{GENERIC}", {}),
        "copied": (f"{review}\n{abstract}", {}),
        "absences": ("\n".join([review, *absences]), {}),
        "doubled": ("\n".join([review, *again]), {"doubled": len(again)}),
        "wrong": wrong,
        "generic": (GENERIC, {}),
        "abstract": (f"{GENERIC}\n{abstract}", {}),
    }


def _made_wrong(review: str, sentences: Sequence[str], paper: Paper) -> tuple[str, dict[str, Any]]:
    """The review with the paper's numbers changed in some sentences of its criticism, and which these are."""
    held = {match.group() for _, block in paper.blocks() for match in _DECIMAL.finditer(block.text)}
    places = []
    for place, sentence in enumerate(sentences, start=1):
        edited = _shifted(sentence, held)
        if place >= CRITICISM and edited != sentence and sentence in review and len(places) < EDITS:
            review = review.replace(sentence, edited, 1)
            places.append(f"s{place}")
    return review, {"made_wrong": places}


def _shifted(sentence: str, held: Collection[str]) -> str:
    """A sentence in which every decimal number that the paper holds gives way to one that it does not."""
    for number in reversed(numbers_in(sentence)):
        start, end = number.span()
        other = f"{float(number.group()) + SHIFT:.{len(number.group().partition('.')[2])}f}"
        if "." in number.group() and number.group() in held and other not in held:
            sentence = f"{sentence[:start]}{other}{sentence[end:]}"
    return sentence


def _paper(name: str) -> Paper:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.md"
        file.write_text(texts.planted(name), encoding="utf-8")
        return load_paper(file)


def _case(name: str, arm: str) -> ReviewCase:
    return next(iter(read_cases(HERE / "planted" / "reviews" / f"{name}-{arm}.json")))


if __name__ == "__main__":
    sys.exit(main())
