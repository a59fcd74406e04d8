"""A review's separate assertions, each judged with the paper before the judge: false, small, material, or deciding.

The whole paper stands before every call, the same for all reviews of it; a window too small for it gets passages. The
model names sentences by number and quotes the paper; code looks the quotations up and decides what repeats what.

Source: how the statements of `benchmarks/planted` were labelled by language models; the restatement of a point is
``point_splitter``'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import list_of, one_of
from referee.agents.briefing import block_text, how_read
from referee.agents.questions import ShownPassage
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.paper import Block, Paper, Section

PROMPT, PAPER_PROMPT = "eval/assertions", "eval/submission"
SENTENCES = 40
"""Most sentences of a review that one call judges."""

Label = Literal["decides", "material", "small", "false"]

_STATEMENT_CHARS, _WORDS_CHARS, _REASON_CHARS = 300, 600, 300
# A sentence of a dense review lists up to five faults; on average it holds one and a half.
_MOST_A_SENTENCE, _TOKENS_A_SENTENCE, _TOKENS_AROUND = 4, 330, 128
_MOST_REFERENCE = 160
_PASSAGES = (
    "only these passages of it are shown, those that the review speaks of. The rest of it was not lost: nothing is "
    "missing from the submission because it is not shown here."
)


def assertions_model(judged: Sequence[str], before: Sequence[str] = ()) -> type[BaseModel]:
    """The reply's shape: assertions that name the judged sentences, and for repeats these or those before."""
    closed = ConfigDict(extra="ignore")
    one = create_model(
        "Assertion",
        __config__=closed,
        sentences=(list_of(one_of(tuple(judged))), Field(min_length=1, max_length=min(8, len(judged)))),
        statement=(str, Field(max_length=_STATEMENT_CHARS)),
        repeats=(one_of(("", *before, *judged)), Field()),
        words=(str, Field(max_length=_WORDS_CHARS)),
        reason=(str, Field(max_length=_REASON_CHARS)),
        label=(Label, Field()),
    )
    most = _MOST_A_SENTENCE * len(judged)
    return create_model("Assertions", __config__=closed, assertions=(list_of(one), Field(max_length=most)))


def assertion_tokens(sentences: int) -> int:
    """The longest reply for so many judged sentences, in tokens."""
    return _TOKENS_AROUND + _TOKENS_A_SENTENCE * sentences


def sentences_in(tokens: int) -> int:
    """How many sentences can be judged in a reply of so many tokens."""
    return max(0, (tokens - _TOKENS_AROUND) // _TOKENS_A_SENTENCE)


def share_judged_paper(paper: Paper) -> RenderedPrompt:
    """The whole paper as the beginning of every call about it.

    Author lines, acknowledgements and the text of references are never part of it.
    """
    return load_prompt(PAPER_PROMPT).render(
        how_read=how_read(paper, (), titles=True), paper=delimit("submission", render_paper(paper))
    )


def render_paper(paper: Paper) -> str:
    """Title, sections with the ids of sections, tables and equations in brackets, and the titles of the works cited."""
    parts = [f"Title: {paper.title}", *(_section(section) for section in paper.content)]
    cited = [f"- {_cited(reference.title or reference.text)}" for reference in paper.references]
    if cited:
        parts.append("\n".join(["## Works that the paper cites (titles only)", *cited]))
    return "\n\n".join(parts)


def _section(section: Section) -> str:
    number = f"{section.number} " if section.number else ""
    place = f" (page {section.pages[0]})" if section.pages else ""
    lines = [f"{'#' * min(section.level + 1, 4)} [{section.id}] {number}{section.heading}{place}"]
    return "\n".join([*lines, *(_block(block) for block in section.blocks)])


def _block(block: Block) -> str:
    """An equation under its printed number, or under its place in the file; anything else as it is shown elsewhere."""
    return f"[equation {block.label or block.id}] {block.text}" if block.kind == "equation" else block_text(block)


def _cited(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MOST_REFERENCE else f"{text[:_MOST_REFERENCE]} …"


def share_passages(paper: Paper, passages: Sequence[ShownPassage]) -> RenderedPrompt:
    """Passages of a paper in its place."""
    texts = [f"Title: {paper.title}", *(f"## [{one.id}] {one.heading}\n{one.text}" for one in passages)]
    return load_prompt(PAPER_PROMPT).render(how_read=_PASSAGES, paper=delimit("submission", "\n\n".join(texts)))


def render_assertions(
    judged: Mapping[str, str], before: Mapping[str, str], beginning: RenderedPrompt
) -> RenderedPrompt:
    """The task for some of a review's sentences, by number, behind the paper.

    Args:
        judged: At least one.
        before: Earlier ones, of which only is asked whether they are repeated.
        beginning: The paper, or passages of it.
    """
    numbered = "\n".join(f"[{name}] {sentence}" for name, sentence in {**before, **judged}.items())
    names = list(judged)
    task = load_prompt(PROMPT).render(review=delimit("review", numbered), first=names[0], last=names[-1])
    return task.after(beginning)
