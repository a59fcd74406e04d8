"""Gold lists of what pages ask for, where the pages lie, and how kept criteria are compared with them."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rapidfuzz import fuzz

GOLD = Path(__file__).parent / "gold"
SHARED = Path(__file__).parents[2] / "shared" / "data"
ELSEWHERE = "GUIDELINE_PAGES"
LEAST_OVERLAP, LEAST_LIKENESS = 0.5, 85.0
# A set of fewer words is part of nearly any sentence's.
_FEWEST_WORDS = 4
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True)
class GoldCriterion:
    """One criterion with all spans of the page that state it; ``borderline`` ones count neither way."""

    id: str
    kind: str
    spans: tuple[str, ...]
    borderline: bool


@dataclass(frozen=True)
class GoldField:
    """One box that a language model read from a page with care.

    ``values`` are those of its scale or choice in the page's order, ``labels`` how the label of each begins, ``titles``
    what it may be called, ``length`` the page's words on how long its text may be; ``borderline`` as above.
    """

    titles: tuple[str, ...]
    kind: str
    values: tuple[int | float | str, ...] = ()
    labels: tuple[str, ...] = ()
    aspect: str = ""
    length: str = ""
    borderline: bool = False


@dataclass(frozen=True)
class GoldPage:
    """A page, and what it asks for; ``page`` says where it lies, ``letters`` is the digest of one kept elsewhere."""

    id: str
    page: str
    criteria: tuple[GoldCriterion, ...]
    fields: tuple[GoldField, ...] = ()
    policy: str = "unknown"
    address: str = ""
    letters: str = ""


@dataclass(frozen=True)
class Comparison:
    """Counts of one page: statements ``kept`` (``right``, ``neutral`` or else wrong), and criteria ``found`` of
    ``wanted``. ``same_kind`` are right ones whose kind is that of a criterion they match.
    """

    kept: int
    right: int
    neutral: int
    same_kind: int
    wanted: int
    found: int
    wrong: tuple[str, ...]
    missed: tuple[str, ...]

    @property
    def precision(self) -> float | None:
        """Right among those that count; null where nothing does."""
        return self.right / (self.kept - self.neutral) if self.kept > self.neutral else None

    @property
    def recall(self) -> float | None:
        """Found among the wanted."""
        return self.found / self.wanted if self.wanted else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of both; 0 where both are."""
        if self.precision is None or self.recall is None:
            return None
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def load_gold(folder: Path = GOLD) -> list[GoldPage]:
    """All gold lists, by name."""
    return [_page(path) for path in sorted(folder.glob("*.toml"))]


def locate(page: GoldPage) -> Path | str:
    """The page's file, or why there is none here.

    ``guidelines/`` lies in the shared data, ``pages/`` beside the lists, and ``elsewhere/`` in the folder that the
    environment's ``GUIDELINE_PAGES`` names: text that may not be passed on, known by the digest of its letters.
    """
    place, _, name = page.page.partition("/")
    folder = os.environ.get(ELSEWHERE, "")
    if place == "elsewhere" and not folder:
        return f"may not be passed on: save the text of {page.address}, and name its folder in {ELSEWHERE}"
    path = {"pages": GOLD / page.page, "elsewhere": Path(folder) / name}.get(place, SHARED / page.page)
    if not path.is_file():
        return f"{path} is not there"
    if page.letters and hashlib.sha256(_letters(page_text(path)).encode()).hexdigest() != page.letters:
        return f"{path} is not the text that the list was made from"
    return path


def page_text(path: Path) -> str:
    """The text of a page, without markup, scripts, navigation and footer."""
    if path.suffix == ".pdf":
        from referee.papers import load_paper

        read = load_paper(path)
        return "\n".join([read.title, *(f"{part.heading}\n{part.text}" for part in read.sections)])
    raw = path.read_text(encoding="utf-8")
    if path.suffix != ".html":
        return raw
    from lxml import html

    tree = html.fromstring(raw)
    for element in tree.xpath("//script|//style|//nav|//footer"):
        element.drop_tree()
    return str(tree.text_content())


def same_statement(one: str, other: str, text: str) -> bool:
    """Whether two texts are the same statement of a page.

    They overlap on the page by at least half of the shorter, letters and digits counted, wherever both stand; or the
    sets of their words are alike by at least 85 of 100 (``token_set_ratio``) and both have at least four.

    Args:
        one: Words of the page.
        other: Words of the page.
        text: The page's text.
    """
    page, shorter = _letters(text), min(len(_letters(one)), len(_letters(other)))
    for start, end in _places(_letters(one), page):
        for begin, stop in _places(_letters(other), page):
            if min(end, stop) - max(start, begin) >= LEAST_OVERLAP * shorter:
                return True
    a, b = _WORD.findall(one.casefold()), _WORD.findall(other.casefold())
    return min(len(a), len(b)) >= _FEWEST_WORDS and fuzz.token_set_ratio(" ".join(a), " ".join(b)) >= LEAST_LIKENESS


def compare(kept: Sequence[tuple[str, str]], criteria: Iterable[GoldCriterion], text: str) -> Comparison:
    """Compare kept statements, as words and kind, with the gold list of their page, whose text is given.

    A statement that only matches borderline criteria is neutral. A statement may match several criteria and a
    criterion several statements.
    """
    gold = list(criteria)
    matches = [[g for g in gold if any(same_statement(words, span, text) for span in g.spans)] for words, _ in kept]
    firm = [[g for g in found if not g.borderline] for found in matches]
    found_ids = {g.id for found in firm for g in found}
    wanted = [g for g in gold if not g.borderline]
    return Comparison(
        kept=len(kept),
        right=sum(bool(found) for found in firm),
        neutral=sum(bool(every) and not some for every, some in zip(matches, firm, strict=True)),
        same_kind=sum(any(g.kind == kind for g in some) for (_, kind), some in zip(kept, firm, strict=True)),
        wanted=len(wanted),
        found=len(found_ids),
        wrong=tuple(words for (words, _), every in zip(kept, matches, strict=True) if not every),
        missed=tuple(g.id for g in wanted if g.id not in found_ids),
    )


def _page(path: Path) -> GoldPage:
    held = tomllib.loads(path.read_text(encoding="utf-8"))
    criteria = tuple(
        GoldCriterion(raw["id"], raw["kind"], (raw["text"], *raw.get("also", ())), raw.get("borderline", False))
        for raw in held["criterion"]
    )
    fields = tuple(
        GoldField(
            titles=(raw["title"], *raw.get("also", ())),
            kind=raw["kind"],
            values=tuple(raw.get("values", ())),
            labels=tuple(raw.get("labels", ())),
            aspect=raw.get("aspect", ""),
            length=raw.get("length", ""),
            borderline=raw.get("borderline", False),
        )
        for raw in held.get("field", ())
    )
    policy = held.get("policy", {}).get("status", "unknown")
    return GoldPage(
        path.stem, held["page"], criteria, fields, policy, held.get("address", ""), held.get("letters_sha256", "")
    )


@lru_cache(maxsize=1024)
def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _places(words: str, page: str) -> Iterator[tuple[int, int]]:
    at = page.find(words) if words else -1
    while at >= 0:
        yield at, at + len(words)
        at = page.find(words, at + 1)
