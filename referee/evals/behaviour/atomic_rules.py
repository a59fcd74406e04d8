"""What a review praises and criticises, by rules: boxes, headings, cue words, and the names of all these."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from referee.evidence import split_sentences

Polarity = Literal["strengths", "weaknesses"]
Announced = Literal["strengths", "weaknesses", "mixed", "aspect", "other"]
POLAR: tuple[Announced, ...] = ("strengths", "weaknesses", "mixed")
"""What the names of boxes with strengths or weaknesses announce."""

_GOOD = (
    r"(?:strengths?|stengths?|pros?|positives?|merits|advantages|strong points"
    r"|positive (?:points|aspects|sides?|comments)"
    r"|reasons (?:to|for) (?:accept\w*|publish\w*)|(?:things|what) (?:that )?i like[d]?)"
)
_BAD = (
    r"(?:weakness(?:es)?|cons?|negatives?|drawbacks?|shortcomings?|disadvantages|weak points"
    r"|negative (?:points|aspects|sides?|comments)|concerns?|issues|problems|critici?sms?|reasons (?:to|for) reject\w*"
    r"|(?:opportunities|areas) for improvement|(?:major|main|key) (?:limitations|points|comments))"
)
_BEFORE = (
    r"(?:(?:the|main|major|key|some|other|additional|paper|summary of|technical|methodological|quality|general|a few"
    r"|several|following|important|potential|critical|significant|clarity|on) )*"
)
_BEHIND = (
    r"(?: (?:of|in|with|for) (?:the|this) (?:paper|work|submission|approach|manuscript|method))?"
    r"(?: (?:the )?(?:most \w+|\w+est|worst|major|main) (?:ones? )?first"
    r"| (?:roughly |listed |sorted )*(?:in|by) (?:the )?(?:order of )?(?:decreasing |descending )?"
    r"(?:importance|severity|significance|gravity|priority))?"
)
_IS_GOOD = re.compile(f"{_BEFORE}(?:minor )?{_GOOD}{_BEHIND}")
_IS_BAD = re.compile(rf"(?:{_BEFORE}{_BAD}|(?:some )?minor (?:weakness(?:es)?|concerns)){_BEHIND}")
_IS_MIXED = re.compile(rf".*\b{_GOOD}\b.*\b{_BAD}\b.*|.*\b{_BAD}\b.*\b{_GOOD}\b.*")
_HAS_GOOD = re.compile(rf"\b{_GOOD}\b")
_HAS_BAD = re.compile(rf"\b{_BAD}\b")
_OTHER = re.compile(
    r"(?:(?:paper|quick|brief|review|short|executive) )*(?:summary|overview|synopsis|abstract)(?: (?:of|and) .*)?"
    r"|(?:.* )?(?:questions?|typos?|remarks|suggestions|nitpicks?|references?|feedback)(?: (?:to|for) .*)?"
    r"|(?:.* )?comments?|minors?(?: .*)?|misc\w*|details?|notes?|update|edit|revision(?: .*)?"
    r"|(?:after|post)[- ]rebuttal|(?:ethic\w*|limitations?)(?: .*)?"
    r"|(?:overall |final )?(?:assessment|recommendation|decision|verdict|rating|score|conclusions?|justification)"
    r"|(?:justification|reasons?|explanation) (?:of|for) (?:the |my )?(?:rating|score|decision|recommendation)"
)
_ASPECT = re.compile(
    r"(?:overall|quality|clarity|originality|significance|novelty|soundness|presentation|contributions?"
    r"|reproducibility|citations|evaluation|experiments?|methods?|results|related work|writing|impact)(?: and .*)?"
)
_PUNCTUATION = re.compile(r"[^\w' -]+|_+")
_LONGEST = 60


@lru_cache(maxsize=4096)
def announced(name: str) -> Announced | None:
    """What a heading or the name of a box announces; None where it is no name that reviews use.

    An ``aspect`` is what may be good or bad, as clarity; ``other`` is what is neither, as a summary.

    Args:
        name: As it stands: ``summary_of_strengths``, ``Reasons to reject``, ``Minor comments``.
    """
    key = _key(name)
    if not key or len(key) > _LONGEST:
        return None
    if _IS_GOOD.fullmatch(key):
        return "strengths"
    if _IS_BAD.fullmatch(key):
        return "weaknesses"
    if _IS_MIXED.fullmatch(key):
        return "mixed"
    if _OTHER.fullmatch(key):
        return "other"
    return "aspect" if _ASPECT.fullmatch(key) else None


@lru_cache(maxsize=4096)
def introduced(line: str) -> Announced | None:
    """What a short line that ends with a colon leads into, as "I have a few concerns:"; None for anything else."""
    key = _key(line)
    if not key or len(key) > _LONGEST:
        return None
    good, bad = _HAS_GOOD.search(key), _HAS_BAD.search(key)
    if good and bad:
        return "mixed"
    return "strengths" if good else "weaknesses" if bad else None


def _key(name: str) -> str:
    return " ".join(_PUNCTUATION.sub(" ", name.lower().replace("&", " and ")).split())


_GOOD_WORDS = (
    r"(?:well[- ](?:written|motivated|organi[sz]ed|structured|presented|executed|designed|explained|supported|done)"
    r"|clear(?:ly)?|novel|interesting|original|elegant|impressive|convincing(?:ly)?|compelling|thorough(?:ly)?"
    r"|comprehensive|extensive|solid|sound|strong|excellent|good|great|nice(?:ly)?|important|significant(?:ly)?"
    r"|valuable|useful|promising|innovative|rigorous|insightful|timely|effective(?:ly)?"
    r"|easy to (?:read|follow|understand)|enjoyed|i like|i liked|appreciate[ds]?|commendable|makes sense"
    r"|state[- ]of[- ]the[- ]art results?|outperforms?|strengths?|merits?|intuitive|simple (?:and|yet|but)"
    r"|reproducible|meaningful|competitive|reasonable|pleasure)"
)
_BAD_WORDS = (
    r"(?:unfortunately|lack(?:s|ed|ing)?|missing|unclear|unconvinc\w+|weak(?:ly|ness(?:es)?)?|limited|limits"
    r"|concern(?:s|ed)?|fail(?:s|ed)?|insufficient(?:ly)?|inadequate(?:ly)?|confus(?:ing|ed|es)"
    r"|(?:hard|difficult|impossible) to (?:\w+)|questionable|doubt(?:s|ful)?|incremental|marginal(?:ly)?|trivial"
    r"|vague(?:ly)?|wrong|incorrect|flaw(?:s|ed)?|misleading|overclaim\w*|problematic|unfair|outdated|poor(?:ly)?|superficial(?:ly)?"
    r"|inconsisten(?:t|cy|cies)|ambigu\w+|omit(?:s|ted)?|ignor(?:es|ed|ing)|neglect\w*|drawbacks?|shortcomings?"
    r"|(?:would|could|should|might|must|needs? to|ought to) (?:\w+ ){0,3}(?:better|help(?:ful)?|nice|interesting|useful"
    r"|good|great|beneficial|improved?|added?|includ(?:e|ed)|provid(?:e|ed)|compared?|discuss(?:ed)?|clarif(?:y|ied)|explain(?:ed)?"
    r"|shown?|report(?:ed)?|strengthen(?:ed)?|consider(?:ed)?|address(?:ed)?|cite[ds]?|be)"
    r"|please|it is not|is not|are not|does not|do not|did not|cannot|can not|has not|have not|was not|were not"
    r"|(?:is|are|does|do|did|has|have|was|were|ca|could|would|should)n['’]t"
    r"|no (?:\w+ )?(?:comparison|ablation|baselines?|evidence|experiments?|discussion|analysis|details?|explanation"
    r"|justification|theor\w+|code|results?|error bars|mention|guarantees?|proof)"
    r"|only (?:\w+ ){0,2}(?:one|two|small|toy|simple|a few|few|limited|marginal)|not (?:\w+ ){0,2}" + _GOOD_WORDS + r"|"
    r"(?:too|overly) \w+|without (?:\w+ ){0,2}(?:any|comparison|justification|explanation|evidence)|typos?"
    r"|reject(?:ed|ion)?|worse|suspicious|unsupported|unsubstantiated|unjustified|unrealistic|not)"
)
_PRAISES = re.compile(rf"\b{_GOOD_WORDS}\b")
_FAULTS = re.compile(rf"\b{_BAD_WORDS}(?!\w)")
_CONTRAST = re.compile(r"(?:[,;]\s+|\s+[-–—]+\s+|\s+)(?:but|however|although|though|yet|nevertheless|while)\b,?\s+")


def polarity_of(sentence: str) -> Polarity | None:
    """Praise, criticism (also where there is both), or neither."""
    lower = sentence.lower()
    if _FAULTS.search(lower):
        return "weaknesses"
    return "strengths" if _PRAISES.search(lower) else None


def by_cues(sentence: str) -> list[tuple[Polarity, str]]:
    """A sentence under its polarity; in two parts where it praises on one side of a "but" and criticises on the other.

    Nothing for a sentence that does neither.
    """
    found = polarity_of(sentence)
    if found is None:
        return []
    contrast = _CONTRAST.search(sentence)
    if contrast is not None:
        before, behind = sentence[: contrast.start()].strip(), sentence[contrast.end() :].strip()
        first, second = polarity_of(before), polarity_of(behind)
        if first is not None and second is not None and first != second:
            return [(first, before), (second, behind)]
    return [(found, sentence)]


SHORTEST = 50
"""Characters; shorter items are dropped."""

_MARK = re.compile(
    r"[ \t>]*(?:\*\*|__)?(?P<mark>[-*+•‣▪◦–—]|\(?\d{1,3}[.)]|\([a-zA-Z]\)|[a-zA-Z]\)|[SWPCRsw][ -]?\d{1,2}[:.)])"
    r"(?:\*\*|__)?[ \t]+"
)
_RULE = re.compile(r"[-–—=_*~#\s]*")
_LEVEL = re.compile(r"[ \t]*(#{1,6})[ \t]")
_BOLD = re.compile(r"[ \t]*(?P<bold>\*\*|__)[^*]{1,80}(?P=bold)[ \t:.]*")
_AROUND = " \t>#*_`"
_LONGEST_NAME = 80
_LONGEST_PASSAGE = 2_000
_DENSEST = 16
"""Characters a stop takes at least, on average, in prose."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What the rules found in a text; ``short`` counts items that were dropped for their length."""

    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]
    short: int


class Unit(NamedTuple):
    """A list item or a paragraph, and what the heading above it announces; ``mark`` is empty for a paragraph."""

    text: str
    mark: str
    under: Announced | None


class _Heading(NamedTuple):
    announces: Announced | None
    rest: str = ""
    mark: str = ""


def units(text: str, default: Announced | None = None) -> Iterator[Unit]:
    """The list items and paragraphs of a text in order, without marks and headings.

    Args:
        text: The text of a box, or a whole review.
        default: What the box announces; holds up to the first heading that announces something.
    """
    under, mark = default, ""
    lines: list[str] = []
    for line in text.splitlines():
        blank = not line.strip() or _RULE.fullmatch(line) is not None
        heading = None if blank else _heading(line)
        found = None if blank or heading else _MARK.match(line)
        if (blank or heading or found) and lines:
            yield Unit(" ".join(lines), mark, under)
        if blank or heading or found:
            lines, mark = [], found["mark"] if found else ""
        if heading is not None:
            under = _now_under(heading.announces, default, under)
            mark = heading.mark if heading.rest else ""
            line = heading.rest
        elif found:
            line = line[found.end() :]
        lines += [" ".join(line.split())] if line.strip() and not blank else []
    if lines:
        yield Unit(" ".join(lines), mark, under)


def has_headings(text: str) -> bool:
    """Whether a heading in the text announces strengths or weaknesses."""
    return any(unit.under in ("strengths", "weaknesses") for unit in units(text))


def cut_by_boxes(boxes: Sequence[tuple[Announced, str]]) -> Cut:
    """Items of boxes; a part that announces both polarities is cut by cue words, one that announces another left out.

    Args:
        boxes: What a box announces and its text, in the form's order.
    """
    return _kept([own for default, text in boxes for unit in units(text, default) for own in _under(unit)])


def cut_by_headings(text: str) -> Cut:
    """Items under the headings of a text; where these announce one polarity alone, the other is found by cue words.

    Only text above and outside of headings is searched so.
    """
    whole = list(units(text))
    told = {unit.under for unit in whole}
    found: list[tuple[Polarity, str]] = []
    for unit in whole:
        if unit.under is not None:
            found += _under(unit)
        elif "mixed" not in told:
            found += [own for piece in _pieces(unit) for own in by_cues(piece) if own[0] not in told]
    return _kept(found)


def cut_by_cues(text: str) -> Cut:
    """Items of a text without such headings: by the marks ``+`` and ``-`` where it has both, else by cue words."""
    whole = list(units(text))
    marks = {unit.mark for unit in whole}
    signed: dict[str, Polarity] = {"+": "strengths", "-": "weaknesses"} if marks >= {"+", "-"} else {}
    found: list[tuple[Polarity, str]] = []
    for unit in whole:
        polarity = signed.get(unit.mark)
        for piece in _pieces(unit):
            found += [(polarity, piece)] if polarity else by_cues(piece)
    return _kept(found)


def _now_under(told: Announced | None, default: Announced | None, before: Announced | None) -> Announced | None:
    """What holds below a heading: in a box for one polarity only a heading that announces the other changes that."""
    if told is None or told in POLAR:
        return told or before
    return default if told == "aspect" or default in ("strengths", "weaknesses") else told


def _under(unit: Unit) -> list[tuple[Polarity, str]]:
    """The items of a unit, as its heading or box announces."""
    if unit.under == "strengths" or unit.under == "weaknesses":
        return [(unit.under, piece) for piece in _pieces(unit)]
    return [own for piece in _pieces(unit) for own in by_cues(piece)] if unit.under == "mixed" else []


def _heading(line: str) -> _Heading | None:
    """The line as a heading: by its name, with text behind a colon or none, or by its marks alone.

    "Clarity: the proofs are hard to read" and "- Typos: many in Section 3" are points, not headings.
    """
    mark = _MARK.match(line)
    plain = (line[mark.end() :] if mark else line).strip(_AROUND)
    name, colon, rest = plain[: _LONGEST_NAME + 1].partition(":")
    known = announced(name)
    if known is not None:
        rest = plain[len(name) + 1 :].strip(_AROUND) if colon else ""
        point = (known == "aspect" and (mark or rest)) or (known == "other" and mark and rest)
        return None if point else _Heading(known, rest, mark["mark"] if mark else "")
    if len(plain) > _LONGEST_NAME:
        return None
    if colon and not rest.strip(_AROUND):
        led = introduced(name)
        return _Heading(led) if led else None
    marked = _LEVEL.match(line) or (mark is None and _BOLD.fullmatch(line))
    return _Heading(None) if marked else None


def _pieces(unit: Unit) -> list[str]:
    """A list item as it is, a paragraph as its sentences."""
    if unit.mark:
        return [unit.text]
    return [sentence for part in _bounded(unit.text) for sentence in _sentences(part)]


def _sentences(part: str) -> list[str]:
    """The sentences of a passage; one with a stop every few characters is no prose and stays whole."""
    return [part] if part.count(". ") * _DENSEST > len(part) else split_sentences(part)


def _bounded(text: str) -> Iterator[str]:
    """Passages of a bounded length, which end with a sentence where they can.

    Cutting sentences takes time that grows faster than the passage.
    """
    at = 0
    while len(text) - at > _LONGEST_PASSAGE:
        limit = at + _LONGEST_PASSAGE
        end = text.rfind(". ", at, limit) + 1 or text.rfind(" ", at + 1, limit)
        end = end if end > at else limit
        yield text[at:end].strip()
        at = end
    yield text[at:].strip()


def _kept(found: Sequence[tuple[Polarity, str]]) -> Cut:
    """Items of sufficient length, each once; one found under both polarities is a weakness."""
    stripped = [(polarity, text.strip(" \t*_`")) for polarity, text in found]
    long = [(polarity, text) for polarity, text in stripped if len(text) >= SHORTEST]
    bad = dict.fromkeys(text for polarity, text in long if polarity == "weaknesses")
    good = dict.fromkeys(text for polarity, text in long if polarity == "strengths" and text not in bad)
    return Cut(tuple(good), tuple(bad), len(found) - len(long))
