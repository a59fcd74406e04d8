"""Whether a cited work says what the citing sentence claims of it, by its abstract's own words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import get_args

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.abstract_reader import ABSTRACT_CHARS, holds
from referee.agents.asking import Asks, list_of, one_of
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.literature import CitationSupport, SupportVerdict

PROMPT = "literature/support"
ROLE = "writer"
BATCH = 20
_TOKENS_AN_ITEM, _TOKENS_AROUND = 120, 300


@dataclass(frozen=True)
class CitedAbstract:
    """A sentence that cites a work, where it stands, and the work's abstract; ``number`` is that of the reference."""

    number: int
    sentence: str
    section: str
    page: int | None
    abstract: str


@lru_cache(maxsize=64)
def support_model(ids: tuple[str, ...]) -> type[BaseModel]:
    """The reply's shape: one verdict an item."""
    verdict = create_model(
        "Citation",
        __config__=ConfigDict(extra="ignore"),
        id=(one_of(ids), Field()),
        verdict=(one_of(get_args(SupportVerdict)), Field()),
        quotation=(str, Field(max_length=800, description="of the abstract, word for word; empty for cannot tell")),
    )
    return create_model(
        "Citations", __config__=ConfigDict(extra="ignore"), citations=(list_of(verdict), Field(max_length=len(ids)))
    )


def support_prompt(items: Mapping[str, CitedAbstract]) -> RenderedPrompt:
    """Each item with its sentence and its abstract."""
    shown = "\n\n".join(
        f"[{name}]\nsentence: {item.sentence}\nabstract: {item.abstract[:ABSTRACT_CHARS]}"
        for name, item in items.items()
    )
    return load_prompt(PROMPT).render(citations=delimit("citations", shown))


async def judge_support(cited: Sequence[CitedAbstract], *, door: Asks) -> list[CitationSupport]:
    """One call for twenty citations; a verdict without a quotation that is in the abstract comes to ``cannot tell``.

    Raises:
        ModelError: The model did not answer validly.
    """
    settled: list[CitationSupport] = []
    for start in range(0, len(cited), BATCH):
        items = {f"q{n}": item for n, item in enumerate(cited[start : start + BATCH], start=1)}
        answer = await door.ask(
            support_prompt(items),
            support_model(tuple(items)),
            role=ROLE,
            max_output_tokens=_TOKENS_AROUND + _TOKENS_AN_ITEM * len(items),
        )
        said = {one["id"]: one for one in answer.value.model_dump()["citations"]}
        settled += [_settled(item, said.get(name)) for name, item in items.items()]
    return settled


def _settled(item: CitedAbstract, said: Mapping[str, str] | None) -> CitationSupport:
    quotation = " ".join(said["quotation"].split()) if said else ""
    shown = said is not None and said["verdict"] != "cannot tell" and holds(item.abstract, quotation)
    return CitationSupport.model_validate(
        {
            "number": item.number,
            "sentence": item.sentence,
            "section": item.section,
            "page": item.page,
            "verdict": said["verdict"] if said and shown else "cannot tell",
            "quotation": quotation if shown else "",
        }
    )
