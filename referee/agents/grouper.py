"""Which of the points that several readers raised are the same, by ids; nothing is rewritten."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.choices import list_of, one_of
from referee.agents.focus import shortened
from referee.agents.neutral import neutral_ids
from referee.agents.paper_run import PaperRun
from referee.agents.point_texts import correction_head
from referee.prompts import delimit
from referee.schemas.point import ReviewPoint

PROMPT = "review/group"
ROLE = "checker"
_TOKENS_AN_ITEM, _TOKENS_AROUND = 16, 512
# Which items are the same shows in how they begin.
_CLAIM_CHARS = 200


def groups_model(ids: tuple[str, ...]) -> type[BaseModel]:
    """The reply's shape: groups of two or more ids."""
    group = create_model(
        "Same",
        __config__=ConfigDict(extra="ignore"),
        ids=(list_of(one_of(ids)), Field(min_length=2, description="the clearest and most complete first")),
    )
    most = max(1, len(ids) // 2)
    return create_model(
        "Groups", __config__=ConfigDict(extra="ignore"), groups=(list_of(group), Field(max_length=most))
    )


def sample_groups_model() -> type[BaseModel]:
    """The reply model for two items, by which the prompt's header is checked."""
    return groups_model(("a1", "a2"))


async def group_points(run: PaperRun, points: Sequence[ReviewPoint]) -> list[tuple[str, ...]]:
    """Groups of ids of points that are the same, the clearest first; an id stands in one group at most.

    Raises:
        ModelError: The model did not answer validly.
    """
    names = neutral_ids(points)
    lines = "\n".join(f"[{name}] {_line(point)}" for name, point in names.items())
    answer = await run.ask(
        run.task(PROMPT, points=delimit("points", lines)),
        groups_model(tuple(names)),
        role=ROLE,
        tokens=_TOKENS_AROUND + _TOKENS_AN_ITEM * len(names),
    )
    taken: set[str] = set()
    groups: list[tuple[str, ...]] = []
    for group in answer.value.model_dump()["groups"]:
        ids = [name for name in dict.fromkeys(group["ids"]) if name not in taken]
        taken |= set(ids)
        if len(ids) > 1:
            groups.append(tuple(names[name].id for name in ids))
    return groups


def _line(point: ReviewPoint) -> str:
    kind = "correction" if point.correction else "merit" if point.polarity == "strength" else point.polarity
    places = ", ".join(dict.fromkeys(e.section_id for e in point.evidence))
    said = correction_head(point) if point.correction else " ".join(point.claim.split())
    return f"{kind}{f' ({places})' if places else ''}: {shortened(said, _CLAIM_CHARS)}"
