"""What earlier works say to a paper's claims, by their abstracts' own sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import Asks, list_of, one_of
from referee.evidence.normalise import normalise
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.literature import Bearing, FoundWork, PaperClaim, WorkBearing

PROMPT = "literature/read"
ROLE = "writer"
MOST_BEARINGS = 24
REPLY_TOKENS = 3_000
ABSTRACT_CHARS = 2_500


@dataclass(frozen=True)
class Bearings:
    """What stands in the works' own words, and what was left out."""

    found: tuple[WorkBearing, ...]
    notes: tuple[str, ...] = ()


@lru_cache(maxsize=64)
def bearings_model(works: tuple[str, ...], claims: tuple[str, ...]) -> type[BaseModel]:
    """The reply's shape: works and claims by their ids."""
    bearing = create_model(
        "Bearing",
        __config__=ConfigDict(extra="ignore"),
        work=(one_of(works), Field()),
        claim=(one_of(claims), Field()),
        bearing=(one_of(get_args(Bearing)), Field()),
        sentence=(str, Field(max_length=800, description="of the abstract, word for word")),
        covers=(str, Field(max_length=400, description="words of the claim, word for word")),
    )
    return create_model(
        "Bearings", __config__=ConfigDict(extra="ignore"), bearings=(list_of(bearing), Field(max_length=MOST_BEARINGS))
    )


def reading_prompt(claims: Sequence[PaperClaim], works: Sequence[FoundWork]) -> RenderedPrompt:
    """Claims and abstracts, each with its id."""
    prompt = load_prompt(PROMPT)
    shown = "\n\n".join(f"[{work.id}] {work.title}\n{work.abstract[:ABSTRACT_CHARS]}" for work in works)
    return prompt.render(
        claims=delimit("claims", "\n".join(f"[{claim.id}] {claim.quote}" for claim in claims)),
        works=delimit("works", shown),
    )


async def read_abstracts(claims: Sequence[PaperClaim], works: Sequence[FoundWork], *, door: Asks) -> Bearings:
    """Ask once; what is not in the abstract's own words is left out.

    Raises:
        ModelError: The model did not answer validly.
    """
    reply = bearings_model(tuple(w.id for w in works), tuple(c.id for c in claims))
    prompt = reading_prompt(claims, works)
    answer = await door.ask(prompt, reply, role=ROLE, max_output_tokens=REPLY_TOKENS)
    raised = answer.value.model_dump()["bearings"]
    found = list(_standing(raised, {w.id: w for w in works}, {c.id: c for c in claims}))
    lost = len(raised) - len(found)
    told = [f"{lost} remarks on works did not quote their abstracts and were left out"] if lost else []
    if long := sum(len(work.abstract) > ABSTRACT_CHARS for work in works):
        told.append(f"of {long} abstracts the first {ABSTRACT_CHARS:,} characters were read")
    once = {(bearing.work, bearing.claim): bearing for bearing in reversed(found)}
    return Bearings(tuple(once.values())[::-1], (*answer.notes, *told))


def _standing(
    raised: Sequence[Mapping[str, Any]], works: Mapping[str, FoundWork], claims: Mapping[str, PaperClaim]
) -> Iterator[WorkBearing]:
    for item in raised:
        sentence, covers = " ".join(item["sentence"].split()), " ".join(item["covers"].split())
        if not holds(works[item["work"]].abstract, sentence):
            continue
        part = covers if holds(claims[item["claim"]].quote, covers, fewest=1) else ""
        yield WorkBearing(
            work=item["work"], claim=item["claim"], bearing=item["bearing"], sentence=sentence, covers=part
        )


def holds(text: str, words: str, *, fewest: int = 4) -> bool:
    """Whether so many words at least stand in a text, but for case, signs and white space."""
    wanted = normalise(words).text
    return len(words.split()) >= fewest and bool(wanted) and wanted in normalise(text).text
