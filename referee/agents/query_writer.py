"""What a paper claims, in its own words, and by which words earlier work on it would be found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import Asks, CountTokens, list_of
from referee.agents.briefing import block_text
from referee.evidence import NotFound, QuotationIndex
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.literature import PaperClaim
from referee.schemas.paper import Paper

PROMPT = "literature/queries"
ROLE = "writer"
MOST_CLAIMS = 6
MOST_WORDS = 12
REPLY_TOKENS = 1_200
# A paper's claims stand in its abstract and its introduction.
READ_TOKENS = 3_000


@dataclass(frozen=True)
class Queries:
    """The claims that were found in the paper, and what was left out."""

    claims: tuple[PaperClaim, ...]
    notes: tuple[str, ...] = ()


@lru_cache(maxsize=64)
def queries_model() -> type[BaseModel]:
    """The reply's shape."""
    claim = create_model(
        "Claim",
        __config__=ConfigDict(extra="ignore"),
        sentence=(str, Field(max_length=600, description="word for word")),
        words=(str, Field(max_length=120, description="three to eight words to search by")),
    )
    return create_model(
        "Claims", __config__=ConfigDict(extra="ignore"), claims=(list_of(claim), Field(max_length=MOST_CLAIMS))
    )


def query_prompt(paper: Paper, count: CountTokens, *, room: int = READ_TOKENS) -> RenderedPrompt:
    """Title, abstract and what follows, up to so many tokens."""
    prompt = load_prompt(PROMPT)
    return prompt.render(paper=delimit("submission", _beginning(paper, count, room)), most=str(MOST_CLAIMS))


async def write_queries(paper: Paper, index: QuotationIndex, prompt: RenderedPrompt, *, door: Asks) -> Queries:
    """Ask once; a claim that is not in the paper's own words is left out.

    Raises:
        ModelError: The model did not answer validly.
    """
    answer = await door.ask(prompt, queries_model(), role=ROLE, max_output_tokens=REPLY_TOKENS)
    claims: list[PaperClaim] = []
    lost = 0
    for item in answer.value.model_dump()["claims"]:
        found = index.find(item["sentence"])
        query = " ".join(item["words"].split()[:MOST_WORDS])
        if isinstance(found, NotFound) or not query:
            lost += 1
            continue
        place = dict(found)
        claims.append(
            PaperClaim(
                id=f"k{len(claims) + 1}",
                quote=place["quote"],
                section_id=place["section_id"],
                section=place["section"],
                page=place["page"],
                query=query,
            )
        )
    told = (f"{lost} claims were not in the paper's own words and were not searched for",) if lost else ()
    return Queries(tuple(claims), (*answer.notes, *told))


def _beginning(paper: Paper, count: CountTokens, room: int) -> str:
    parts = [f"Title: {paper.title}"]
    left = room - count(parts[0])
    for section in paper.content:
        for block in section.blocks:
            text = block_text(block)
            left -= count(text)
            if left < 0:
                return "\n\n".join(parts)
            parts.append(text)
    return "\n\n".join(parts)
