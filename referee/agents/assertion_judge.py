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

from referee.agents.asking import CountTokens, list_of, one_of
from referee.agents.paper_text import SharedPaper, share_paper
from referee.agents.questions import ShownPassage
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.paper import Paper

PROMPT, PAPER_PROMPT = "eval/assertions", "eval/submission"
SENTENCES = 40
"""Most sentences of a review that one call judges."""

Label = Literal["decides", "material", "small", "false"]

_STATEMENT_CHARS, _WORDS_CHARS, _REASON_CHARS = 300, 600, 300
# A sentence of a dense review lists up to five faults; on average it holds one and a half.
_MOST_A_SENTENCE, _TOKENS_A_SENTENCE, _TOKENS_AROUND = 4, 330, 128
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


def share_judged_paper(paper: Paper, count: CountTokens) -> SharedPaper:
    """The whole paper as the beginning of every call about it."""
    return share_paper(paper, count, prompt_id=PAPER_PROMPT)


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
