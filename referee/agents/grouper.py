"""Which of the points that several readers raised are the same, by ids; nothing is rewritten."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import list_of, one_of
from referee.agents.focus import shortened
from referee.agents.paper_text import PaperRun
from referee.agents.point_texts import correction_head
from referee.prompts import delimit
from referee.schemas.point import ReviewPoint


def neutral_ids(points: Iterable[ReviewPoint]) -> dict[str, ReviewPoint]:
    """``a1``, ``a2``, ... in an order that mixes the readers: by the place a point speaks of, then by its words."""
    ordered = sorted(points, key=lambda point: (_place(point), point.claim, point.id))
    return {f"a{number}": point for number, point in enumerate(ordered, start=1)}


def _place(point: ReviewPoint) -> tuple[int, str]:
    """The first place that it quotes, sections in the order of their ids."""
    name = next((evidence.section_id for evidence in point.evidence), point.section_id or "")
    digits = "".join(filter(str.isdigit, name))
    return int(digits) if digits else 10**6, name


PROMPT = "review/group"
ROLE = "checker"
_TOKENS_AN_ITEM, _TOKENS_AROUND = 16, 512
# Which items are the same shows in how they begin.
_CLAIM_CHARS = 200


@lru_cache(maxsize=64)
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
