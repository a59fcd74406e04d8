"""A made-up paper under review on the scripted model, with every prompt that was asked."""

from __future__ import annotations

from typing import Any

from referee.agents.paper_text import PaperRun, share_paper
from referee.agents.point_reply import Origin
from referee.evidence import QuotationIndex
from referee.llm.door import Answer
from referee.prompts import RenderedPrompt
from referee.schemas.paper import Block, Paper, Section
from referee.schemas.point import PointEvidence, ReviewPoint
from referee.schemas.venue import VenueForm
from referee.testing import ScriptedModel
from referee.venues import load_venue

from .paper_on_tests import small_paper, words

FORM = load_venue("neurips-2025")
GAIN = "The model reaches 71.3 points on the harbour set and beats all of its rivals."
TIE = "On the harbour set the model and its strongest rival are tied at 71.3 points each."
SEED = "All trials were run with one fixed seed on the same machine."
LOSS = "L = a + b c - d, where a is the loss of the lamp and b its weight"
INVENTED = "The authors removed every third document by hand because they disliked it."


def prose(number: int, heading: str, *texts: str, role: str = "content", level: int = 1) -> Section:
    blocks = tuple(Block(id=f"b{number}.{i}", kind="paragraph", text=text, page=number) for i, text in enumerate(texts))
    return Section.model_validate(
        {"id": f"s{number}", "heading": heading, "level": level, "number": str(number), "role": role, "blocks": blocks}
    )


def lantern_paper() -> Paper:
    """Abstract, method with a numbered equation, results, and a section of the authors' names that nobody sees."""
    equation = Block(id="b2.9", kind="equation", text=LOSS, page=2, label="(4)")
    method = prose(2, "Method", SEED)
    return small_paper(
        prose(1, "Abstract", GAIN, role="abstract"),
        method.model_copy(update={"blocks": (*method.blocks, equation)}),
        prose(3, "Results", TIE),
    )


class Recording(ScriptedModel):
    """The scripted model, which also keeps the prompts with their prefixes and the lengths that were asked for."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.prompts: list[RenderedPrompt] = []

    async def ask(self, prompt: Any, reply: Any, **more: Any) -> Answer[Any]:
        self.prompts.append(prompt)
        return await super().ask(prompt, reply, **more)


def run_on(model: ScriptedModel, paper: Paper | None = None, form: VenueForm = FORM) -> PaperRun:
    """The paper under review."""
    paper = paper or lantern_paper()
    return PaperRun(
        shared=share_paper(paper, words),
        form=form,
        sections={section.id: section.heading for section in paper.content},
        index=QuotationIndex(paper),
        door=model,
    )


def origin(part: str = "F1", call_id: str = "k1") -> Origin:
    return Origin("section", part, None, call_id, "m", "digest")


def raised(point_id: str, claim: str = "", **changes: Any) -> ReviewPoint:
    """A weakness as a reader raised it, quoting nothing."""
    severity = changes.get("severity", "major")
    given: dict[str, Any] = {
        "id": point_id,
        "claim": claim or f"Claim {point_id}.",
        "polarity": "weakness",
        "kind": "unsupported",
        "severity": severity,
        "raised_severity": severity,
        "source": "section",
        "call_id": f"k-{point_id}",
    }
    return ReviewPoint.model_validate(given | changes)


def quoted(quote: str, section_id: str = "s3", status: str = "exact") -> PointEvidence:
    return PointEvidence.model_validate(
        {"section_id": section_id, "section": section_id, "quote": quote, "status": status}
    )
