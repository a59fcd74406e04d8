"""Whether a remark says what is wrong with a planted error: one rule a kind, over what is said together.

Numbers are compared at half a unit of the last digit printed. What stands in the paper's own words is no allegation by
itself: a rule needs both sides, or one side with a word that says the two do not fit.

Source: the specification's section 6, "Content rule". Deviation: the other side may also be a value of an anchor, so
that "71.2 + 3.7 is not 79.4" names both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from referee.evals.behaviour.cross_references import Target, cross_references
from referee.evals.planted.places import Twin
from referee.evals.planted.points import Point
from referee.evidence.numerals import Numeral, find_numerals
from referee.evidence.stems import STOPWORDS, WORD, stem, stems
from referee.schemas.planted import PlantedRecord

Content = Literal["both", "named", "open", "vague", "other"]
"""``both`` sides; ``named`` wrong with one of them; ``open`` on the matter, not plainly on the error; ``vague``: only
that something does not fit; ``other``: plainly another matter."""

_CONFLICT = re.compile(
    r"\b(?:differ\w*|inconsisten\w*|contradict\w*|disagree\w*|mismatch\w*|conflict\w*|incompatib\w*|refut\w*|den(?:y|ies)"
    r"|(?:do|does|did|can|could) ?n[o']t (?:match|agree|fit|follow|hold|equal|support|give|be|show|contain)|cannot"
    r"|wrong\w*|incorrect\w*|errone\w*|errors?|typos?|slips?|should (?:be|read|say)|must be|false|impossible"
    r"|implausib\w*|is not|are not|was not|isn't|aren't|not the|opposite|revers\w+|invert\w*|swapp\w*|exchanged"
    r"|backwards|other way|overstat\w*|overclaim\w*|overreach\w*|unsupported|not supported|too (?:strong|broad|wide)"
    r"|beyond|instead of|rather than|correct(?:ed)? to|contrary)\b|≠|!=",
    re.IGNORECASE,
)
_CONTRAST = re.compile(
    r"\b(?:but|whereas|while|although|though|however|yet|only|against|not|no|never|none|where|than|versus|vs|elsewhere"
    r"|alone|merely|concedes?|limits?|so)\b|;",
    re.IGNORECASE,
)
_REVERSED = re.compile(
    r"\b(?:revers\w+|opposite|other way (?:a)?round|wrong (?:direction|way|order)|backwards|invert\w*|swapp\w*"
    r"|exchanged|interchanged|contrary)\b",
    re.IGNORECASE,
)
_LACKS = re.compile(
    r"\b(?:no|not|never|nor|without|missing|absent|absence|lack\w*|omit\w*|omission|nowhere|unreported|undisclosed"
    r"|drop(?:s|ped)|fails? to|where (?:is|are)|does not appear)\b",
    re.IGNORECASE,
)
_STATISTIC = re.compile(
    r"(?<![\w])(?:[tFzrp]\s*[(=<>,]|chi|χ|p[- ]?values?|intervals?|CIs?\b|statistics?\b|degrees of freedom|bounds?\b"
    r"|[tFz][- ]tests?|significan\w+)"
)
_FORMULA = re.compile(
    r"\b(?:sign|signs|minus|plus|negative|term|terms|ind(?:ex|ices|exed)|subscripts?|squared?|squares|factors?|exponents?"
    r"|inequalit\w+|limits?|equations?|eq|formula\w*|loss|sum|numerator|denominator|constant|coefficient)\b|[−+≤≥-]\s?\\?\w",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\b(?:abstract|conclusions?|introduction|limitations?|tables?|figures?|text|caption)\b", re.IGNORECASE
)
_NUMBERS = re.compile(r"\b(?:numbers?|values?|figures?|results?|counts?|sizes?|statistics?|claims?)\b", re.IGNORECASE)
_MISSING: Mapping[str, re.Pattern[str]] = {
    "missing-variance": re.compile(
        r"standard (?:deviation|error)s?|varianc\w*|error bars?|spread|±|seeds?|confidence|uncertaint\w*|deviation",
        re.IGNORECASE,
    ),
    "missing-control": re.compile(r"control\w*|ablat\w*|sham|placebo|isolat\w*", re.IGNORECASE),
    "missing-baseline": re.compile(r"baselines?|compar\w*|competitors?|methods?", re.IGNORECASE),
}
_QUANTIFIERS = frozenset(
    stem(word)
    for word in (
        *("all", "any", "both", "each", "every", "none", "no", "not", "only", "more", "most", "less", "least"),
        *("same", "other", "before", "after", "above", "below", "under", "over", "up", "down"),
    )
)
_VAGUE_KINDS = frozenset({"number", "size", "direction", "contradiction", "stats", "inserted"})
_LONGEST_VAGUE = 25
_VAGUE_WINDOWS = 3
_SURE: tuple[Content, ...] = ("both", "named")
_FEWEST_SHARED = 3
_FEWEST_DIGITS = 2


@dataclass(frozen=True)
class Side:
    """What names one side of a record: values, words as stems, and labels."""

    values: tuple[Numeral, ...] = ()
    words: frozenset[str] = frozenset()
    labels: frozenset[Target] = frozenset()

    def valued(self, said: Window) -> bool:
        """Whether one of its values is said."""
        return any(_same(own, other) for own in self.values for other in said.values)

    def worded(self, said: Window, share: float = 0.0) -> bool:
        """Whether one of its words is said, or the given share of them."""
        return bool(self.words) and len(self.words & said.words) >= max(1.0, share * len(self.words))

    def named(self, said: Window) -> bool:
        """Whether anything of it is said."""
        return self.valued(said) or self.worded(said) or bool(self.labels & said.labels)


@dataclass(frozen=True)
class Window:
    """Words that are said together, read once."""

    text: str
    values: tuple[Numeral, ...]
    words: frozenset[str]
    labels: frozenset[Target]

    @classmethod
    def of(cls, text: str) -> Window:
        """Read a text."""
        return cls(text, tuple(find_numerals(text)), _words(text), _labels(text))

    @property
    def conflict(self) -> bool:
        """Whether it says that something does not fit."""
        return _CONFLICT.search(self.text) is not None

    @property
    def contrast(self) -> bool:
        """Whether it at least sets something against another."""
        return self.conflict or _CONTRAST.search(self.text) is not None


@dataclass(frozen=True)
class Sides:
    """A record as the rules read it.

    Attributes:
        wrong: What stands in this copy and is (in the clean twin: would be) the error.
        right: What it replaced; empty in the clean twin.
        proof: What the anchors and the broken consequences say.
        telling: Stems of all that is known of the record.
    """

    record: PlantedRecord
    wrong: Side
    right: Side
    proof: Side
    telling: frozenset[str]


def sides_of(record: PlantedRecord, twin: Twin = "planted", common: frozenset[str] = frozenset()) -> Sides:
    """The sides of a record; in the clean twin what the copy says stands where the error stood.

    ``common`` are stems that stand all over the paper: sharing them shows nothing.
    """
    after = " \n ".join((record.sentence_after, *(edit.after for edit in record.edits)))
    before = " \n ".join((record.sentence_before, *(edit.before for edit in record.edits)))
    own, other = (after, before) if twin == "planted" else (before, after)
    wrong, right = _only_in(own, other), _only_in(other, own)
    known = Side((*wrong.values, *right.values), wrong.words | right.words, wrong.labels | right.labels)
    said = " \n ".join((*(a.text for a in record.anchors), *(a.says for a in record.anchors), *record.also_breaks))
    proof = Side(
        tuple(
            v
            for v in find_numerals(said)
            if _digits(v) >= _FEWEST_DIGITS and not any(_same(v, k) for k in known.values)
        ),
        _words(said) - STOPWORDS - known.words,
        _labels(said) - known.labels,
    )
    told = " ".join((record.statement, record.expected, after, before, said))
    return Sides(record, wrong, right if twin == "planted" else Side(), proof, frozenset(stems(told)) - common)


@dataclass(frozen=True)
class Said:
    """A remark, read once for all records: what it says together, and the same without what it quotes."""

    windows: tuple[Window, ...]
    own: tuple[Window, ...]

    @classmethod
    def by(cls, point: Point) -> Said:
        """Read a remark."""
        return cls(tuple(map(Window.of, point.windows)), tuple(map(Window.of, point.own_windows)))


def content(said: Said, sides: Sides, *, points_at_end: bool) -> tuple[Content, str]:
    """What a remark says of a record.

    Args:
        said: The remark.
        sides: The record.
        points_at_end: The remark quotes or names a place of the record.

    Returns:
        What it says, and the words that say it; empty for another matter.
    """
    rule = _RULES[sides.record.kind]
    found = [(rule(window, sides), window.text) for window in said.windows]
    for level in _SURE:
        if words := next((text for own, text in found if own == level), ""):
            return level, words
    if sides.record.kind in _VAGUE_KINDS and not points_at_end and _is_vague(said):
        return "vague", said.own[-1].text
    words = next((own.text for own in said.own if _on_the_matter(own, sides)), "")
    return ("open", words) if words else ("other", "")


Rule = Callable[[Window, Sides], Content]


def _value(said: Window, sides: Sides) -> Content:
    """Number, size: the wrong value and the right one, or one of them and that it does not fit what else is named."""
    wrong, right = sides.wrong.valued(said), sides.right.valued(said)
    if wrong and (right or (sides.proof.valued(said) and said.contrast)):
        return "both"
    if (wrong or right) and said.conflict and (said.labels or _PART.search(said.text)):
        return "named"
    return "other"


def _order(said: Window, sides: Sides) -> Content:
    """Direction: the order is the other way round, or both words, or both values against the word."""
    wrong, right = sides.wrong.worded(said), sides.right.worded(said)
    values = sum(any(_same(one, value) for value in said.values) for one in _all_values(sides))
    if (wrong and right and said.contrast) or (said.contrast and (wrong or said.conflict) and values > 1):
        return "both"
    if (wrong or right) and (_REVERSED.search(said.text) or (said.conflict and sides.proof.named(said))):
        return "named"
    return "other"


def _claim(said: Window, sides: Sides) -> Content:
    """Contradiction, inserted: both claims, or the wrong one and that the results say otherwise."""
    wrong = sides.wrong.worded(said, 0.5) or sides.wrong.valued(said)
    proven = sides.proof.valued(said) or len(sides.proof.words & said.words) > 1
    if wrong and said.contrast and (sides.right.named(said) or sides.proof.valued(said)):
        return "both"
    if said.conflict and ((wrong and proven) or (sides.right.named(said) and proven)):
        return "named"
    return "other"


def _equation(said: Window, sides: Sides) -> Content:
    """Equation: a term, a sign or an index is named as wrong."""
    shared = _shared(said, sides)
    if not (said.conflict and _FORMULA.search(said.text)) or shared < _FEWEST_SHARED:
        return "other"
    return "both" if shared >= 2 * _FEWEST_SHARED else "named"


def _stats(said: Window, sides: Sides) -> Content:
    """Test statistics: p, the statistic or the interval do not fit."""
    wrong, right = sides.wrong.valued(said), sides.right.valued(said)
    if wrong and (right or (said.contrast and sides.proof.valued(said))):
        return "both"
    known = wrong or right or sides.proof.valued(said)
    return "named" if known and said.conflict and _STATISTIC.search(said.text) else "other"


def _scope(said: Window, sides: Sides) -> Content:
    """Overclaim: the claim, and a narrower scope or what denies it."""
    wrong = sides.wrong.worded(said, 0.5) or sides.wrong.valued(said)
    narrower = sides.right.named(said) or sides.proof.valued(said) or len(sides.proof.words & said.words) > 1
    if wrong and narrower and said.contrast:
        return "both"
    return "named" if wrong and said.conflict else "other"


def _pointer(said: Window, sides: Sides) -> Content:
    """Reference, citation: the pointer does not lead to the content."""
    wrong, right = (bool(side.labels & said.labels) or side.worded(said) for side in (sides.wrong, sides.right))
    if wrong and right:
        return "both"
    return "named" if (wrong or right) and said.conflict else "other"


def _missing(said: Window, sides: Sides) -> Content:
    """Missing: what lacks, and where it was promised (which the place says, or the promise's words)."""
    lacks = _LACKS.search(said.text) and _MISSING[sides.record.kind].search(said.text)
    if not lacks or _shared(said, sides) < _FEWEST_SHARED - 1:
        return "other"
    return "both" if len(sides.proof.words & said.words) > 1 else "named"


def _never(said: Window, sides: Sides) -> Content:
    return "other"


_RULES: Mapping[str, Rule] = {
    **{"number": _value, "size": _value, "direction": _order, "contradiction": _claim, "inserted": _claim},
    **{"equation": _equation, "stats": _stats, "overclaim": _scope, "reference": _pointer, "citation": _pointer},
    **dict.fromkeys(_MISSING, _missing),
    "neutral": _never,
}


def _is_vague(said: Said) -> bool:
    """One or two short sentences that say no more than that some numbers or claims do not fit."""
    if len(said.windows) > _VAGUE_WINDOWS or not said.own:
        return False
    own = said.own[-1]
    short = len(own.text.split()) <= _LONGEST_VAGUE
    return short and own.conflict and bool(_NUMBERS.search(own.text)) and not own.values


def _on_the_matter(own: Window, sides: Sides) -> bool:
    if sides.wrong.valued(own) or sides.right.valued(own):
        return True
    shared = _shared(own, sides)
    return shared >= _FEWEST_SHARED or (shared == _FEWEST_SHARED - 1 and own.conflict)


def _shared(said: Window, sides: Sides) -> int:
    return len(sides.telling & (said.words - STOPWORDS))


def _all_values(sides: Sides) -> Iterable[Numeral]:
    own = find_numerals(sides.record.sentence_after)
    return (*(one for one in own if not any(_same(one, v) for v in sides.proof.values)), *sides.proof.values)


def _same(one: Numeral, other: Numeral) -> bool:
    """Whether two printed numbers can be one: equal at the coarser printing, which still has two digits."""
    if one.value == other.value and one.unit == other.unit:
        return True
    coarse, fine = (one, other) if one.step > other.step else (other, one)
    if one.unit != other.unit and not coarse.decimals:
        return False
    return _digits(coarse) >= _FEWEST_DIGITS and abs(coarse.value - fine.value) <= coarse.step / Decimal(2)


def _digits(number: Numeral) -> int:
    return len(str(int(abs(number.value / number.step))))


def _only_in(text: str, other: str) -> Side:
    away = tuple(find_numerals(other))
    return Side(
        tuple(value for value in find_numerals(text) if not any(value.value == one.value for one in away)),
        _telling(_words(text) - _words(other)),
        _labels(text) - _labels(other),
    )


def _telling(words: frozenset[str]) -> frozenset[str]:
    """The words that carry meaning; where there is none, those that say how many, which way or when."""
    return frozenset(word for word in words - STOPWORDS if len(word) > 1) or words & _QUANTIFIERS


def _words(text: str) -> frozenset[str]:
    """All words as stems, function words too: "above" and "all" are what some edits change."""
    return frozenset(stem(found.group()) for found in WORD.finditer(text) if found.group().isalpha())


def _labels(text: str) -> frozenset[Target]:
    found = cross_references(text)
    return frozenset((*found.core, *found.extra))
