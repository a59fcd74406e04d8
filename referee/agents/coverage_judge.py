"""Which items of one review hold what the items of another say: all pairs of both polarities in one call.

Source: PRAIB, whose judge answers yes or no for one ordered pair of items a call; the one call is ours. The reply names
pairs by ids that exist, in a list for each polarity, so that none is invented and none crosses polarities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import list_of, one_of
from referee.prompts import RenderedPrompt, delimit, load_prompt

PROMPT = "eval/covers"

Side = Literal["wanted", "given"]
Cells = tuple[tuple[bool, ...], ...]

_LETTERS: Mapping[str, str] = {"strengths": "s", "weaknesses": "w"}
_PAIRS_AN_ITEM = 4
_TOKENS_A_PAIR, _TOKENS_AROUND = 26, 64
_CLOSED = ConfigDict(extra="ignore")


@dataclass(frozen=True)
class Items:
    """The strengths and weaknesses of one review, in order."""

    strengths: Sequence[str]
    weaknesses: Sequence[str]

    def of(self, polarity: str) -> Sequence[str]:
        """The items of one polarity."""
        return self.strengths if polarity == "strengths" else self.weaknesses


@dataclass(frozen=True)
class Sizes:
    """How many items of either polarity both reviews have."""

    wanted: tuple[int, int]
    given: tuple[int, int]

    @classmethod
    def of(cls, wanted: Items, given: Items) -> Sizes:
        """The sizes of these lists."""
        return cls(
            (len(wanted.strengths), len(wanted.weaknesses)),
            (len(given.strengths), len(given.weaknesses)),
        )

    def pairs(self) -> dict[str, tuple[int, int]]:
        """Wanted and given items by polarity, where there are both."""
        both = dict(zip(_LETTERS, zip(self.wanted, self.given, strict=True), strict=True))
        return {polarity: sizes for polarity, sizes in both.items() if all(sizes)}


def most_pairs(wanted: int, given: int) -> int:
    """How many pairs of one polarity a reply may name."""
    return min(wanted * given, _PAIRS_AN_ITEM * max(wanted, given))


def covers_tokens(sizes: Sizes) -> int:
    """The longest reply, in tokens."""
    return _TOKENS_AROUND + _TOKENS_A_PAIR * sum(most_pairs(*pair) for pair in sizes.pairs().values())


@lru_cache(maxsize=64)
def covers_model(sizes: Sizes) -> type[BaseModel]:
    """The reply's shape: for each polarity that both reviews have, a list of pairs of their ids."""
    shape: dict[str, Any] = {}
    for polarity, (wanted, given) in sizes.pairs().items():
        pair = create_model(
            f"{polarity.capitalize()}Pair",
            __config__=_CLOSED,
            wanted=(one_of(_ids("wanted", polarity, wanted)), Field(description="id of an item in <wanted>")),
            given=(one_of(_ids("given", polarity, given)), Field(description="id of an item in <given> that holds it")),
        )
        shape[polarity] = (list_of(pair), Field(max_length=most_pairs(wanted, given)))
    return create_model("Covers", __config__=_CLOSED, **shape)


def render_covers(wanted: Items, given: Items) -> RenderedPrompt:
    """The question about two reviews; which of them a person wrote is not told."""
    return load_prompt(PROMPT).render(
        wanted=delimit("wanted", _listed("wanted", wanted)), given=delimit("given", _listed("given", given))
    )


def read_covers(reply: BaseModel, sizes: Sizes) -> dict[str, Cells]:
    """The matrices of a reply by polarity: a row for each wanted item, a cell for each given one."""
    said = reply.model_dump()
    both = dict(zip(_LETTERS, zip(sizes.wanted, sizes.given, strict=True), strict=True))
    found: dict[str, Cells] = {}
    for polarity, (wanted, given) in both.items():
        named = {(pair["wanted"], pair["given"]) for pair in said.get(polarity, ())}
        columns = _ids("given", polarity, given)
        found[polarity] = tuple(
            tuple((row, column) in named for column in columns) for row in _ids("wanted", polarity, wanted)
        )
    return found


def _ids(side: Side, polarity: str, number: int) -> tuple[str, ...]:
    """``as1`` is the first strength of the wanted items, ``bw2`` the second weakness of the given ones."""
    letters = ("a" if side == "wanted" else "b") + _LETTERS[polarity]
    return tuple(f"{letters}{place}" for place in range(1, number + 1))


def _listed(side: Side, items: Items) -> str:
    lines: list[str] = []
    for polarity in _LETTERS:
        own = items.of(polarity)
        lines += [f"{polarity}:"] if own else []
        named = zip(_ids(side, polarity, len(own)), own, strict=True)
        lines += [f"{name}: {' '.join(item.split())}" for name, item in named]
    return "\n".join(lines)
