"""The whole submission as the beginning of every prompt of a run: ids of sections, tables and equations, and the works
it cites. What differs between calls comes after it, so that a provider's prompt cache can serve it.
The agents of one review share it, with the venue's form and who answers.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from referee.agents.asking import AsksWithPictures, CountTokens, T
from referee.agents.briefing import block_text, how_read
from referee.evidence import QuotationIndex
from referee.llm.door import Answer
from referee.llm.images import PromptImage
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.paper import Block, Paper, Section
from referee.schemas.venue import VenueForm

PROMPT = "review/paper"

# What a call needs beside the paper: its task with a venue's form and all points, and a long reply.
TASK_TOKENS, REPLY_TOKENS = 9_000, 12_000
_MOST_REFERENCE = 160
_SECTION_ID = re.compile(r"\[(s\d+)\]")


@dataclass(frozen=True)
class SharedPaper:
    """What all calls of a run begin with. ``tokens`` counts system text and paper together."""

    prompt: RenderedPrompt
    tokens: int

    def fits(self, context_tokens: int) -> bool:
        """Whether a model's window holds the paper with room to work."""
        return self.tokens + TASK_TOKENS + REPLY_TOKENS <= context_tokens


def share_paper(paper: Paper, count: CountTokens, *, prompt_id: str = PROMPT) -> SharedPaper:
    """The paper as the beginning of every prompt: ids of sections, tables and equations in brackets.

    Args:
        paper: The submission; author lines, acknowledgements and the text of references are never part of it.
        count: Counts tokens as the model does.
        prompt_id: What the calls are for; it takes ``how_read`` and ``paper``.
    """
    prompt = load_prompt(prompt_id).render(
        how_read=how_read(paper, (), titles=True), paper=delimit("submission", render_paper(paper))
    )
    return SharedPaper(prompt, count(prompt.system) + count(prompt.user))


def render_paper(paper: Paper) -> str:
    """Title, sections with their ids, and the titles of the works that the paper cites."""
    parts = [f"Title: {paper.title}", *(_section(section) for section in paper.content)]
    cited = [f"- {_cited(reference.title or reference.text)}" for reference in paper.references]
    if cited:
        parts.append("\n".join(["## Works that the paper cites (titles only)", *cited]))
    return "\n\n".join(parts)


def places_named(text: str, paper: Paper) -> str:
    """A text that a review prints, with the ids that only prompts use put into the paper's own words.

    ``[s6]`` becomes the section as a reader finds it, by its number or its heading.
    """
    known = {section.id: _found_as(section) for section in paper.sections}
    return _SECTION_ID.sub(lambda id_: known.get(id_[1], id_[0]), text)


def _found_as(section: Section) -> str:
    if section.number:
        return f"{'Appendix' if section.role == 'appendix' else 'Section'} {section.number}"
    return f"“{section.heading}”"


def equation_name(block: Block) -> str:
    """How prompts call an equation: by its printed number, or by its place in the file."""
    return f"equation {block.label}" if block.label else f"equation {block.id}"


def _section(section: Section) -> str:
    number = f"{section.number} " if section.number else ""
    place = f" (page {section.pages[0]})" if section.pages else ""
    lines = [f"{'#' * min(section.level + 1, 4)} [{section.id}] {number}{section.heading}{place}"]
    return "\n".join([*lines, *(_block(block) for block in section.blocks)])


def _block(block: Block) -> str:
    if block.kind == "equation":
        return f"[{equation_name(block)}] {block.text}"
    return block_text(block)


def _cited(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MOST_REFERENCE else f"{text[:_MOST_REFERENCE]} …"


@dataclass(frozen=True)
class PaperRun:
    """One paper under review.

    ``shared`` is what every call begins with, ``sections`` (id to heading) are all places that a quotation may come
    from, ``index`` looks quotations up.
    ``context_tokens`` and ``count`` are those of the model that reads.
    """

    shared: SharedPaper
    form: VenueForm
    sections: Mapping[str, str]
    index: QuotationIndex
    door: AsksWithPictures
    context_tokens: int = sys.maxsize
    count: CountTokens = len

    def task(self, prompt_id: str, **inputs: str) -> RenderedPrompt:
        """A task behind the paper."""
        return load_prompt(prompt_id).render(**inputs).after(self.shared.prompt)

    async def ask(
        self,
        prompt: RenderedPrompt,
        reply: type[T],
        *,
        role: str,
        tokens: int,
        images: Sequence[PromptImage] = (),
    ) -> Answer[T]:
        """Ask a role's model for a reply of at most so many tokens, about pictures where there are any.

        Raises:
            ModelError: The model did not answer validly.
        """
        return await self.door.ask(prompt, reply, role=role, max_output_tokens=tokens, images=images)
