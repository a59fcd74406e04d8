"""What the agents of one review share: the paper that every call begins with, the venue's form, and who answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from referee.agents.asks import Asks, T
from referee.agents.paper_text import SharedPaper
from referee.evidence import QuotationIndex
from referee.llm.door import Answer
from referee.prompts import RenderedPrompt, load_prompt
from referee.schemas.venue import VenueForm


@dataclass(frozen=True)
class PaperRun:
    """One paper under review.

    ``shared`` is what every call begins with, ``sections`` (id to heading) are all places that a quotation may come
    from, ``index`` looks quotations up, ``versions`` are prompt id to version (the newest by default).
    """

    shared: SharedPaper
    form: VenueForm
    sections: Mapping[str, str]
    index: QuotationIndex
    door: Asks
    versions: Mapping[str, str] = field(default_factory=dict)

    def task(self, prompt_id: str, **inputs: str) -> RenderedPrompt:
        """A task behind the paper."""
        return load_prompt(prompt_id, self.versions.get(prompt_id)).render(**inputs).after(self.shared.prompt)

    async def ask(self, prompt: RenderedPrompt, reply: type[T], *, role: str, tokens: int) -> Answer[T]:
        """Ask a role's model for a reply of at most so many tokens.

        Raises:
            ModelError: The model did not answer validly.
        """
        return await self.door.ask(prompt, reply, role=role, max_output_tokens=tokens)
