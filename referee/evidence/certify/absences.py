"""Claims that the paper lacks something, held against the passages that have it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from referee.evidence.certify.figures import Word, figures_in, words_of
from referee.evidence.certify.reading import Passage, Reading, place_of
from referee.evidence.certify.values import Verdict
from referee.evidence.stems import stem

_TELLS = (
    r"(?:report|state|say|mention|give|describe|discuss|define|specif(?:y|ie)|provide|name|list|explain|"
    r"disclose|present|"
    r"include|contain|indicate|document|note|address|offer|quantif(?:y|ie)|cite|tell|show|compare|"
    r"evaluate|test|release|"
    r"have|use|perform|conduct|analy[sz]e|consider|acknowledge|clarif(?:y|ie)|detail|plan|measure|run)"
)
_PASSIVE = (
    r"(?:ever |explicitly )?(?:reported|given|stated|mentioned|described|provided|discussed|listed|"
    r"specified|defined|explained|"
    r"presented|included|shown|cited|disclosed|offered|named|documented|found|planned|made available|"
    r"available|performed|conducted)"
)
_JUDGED = re.compile(
    r"\b(?:\w*adequate(?:ly)?|\w*sufficient(?:ly)?|thorough(?:ly)?|clear(?:ly)?|detailed|"
    r"in (?:\w+ )?(?:detail|depth)|proper(?:ly)?|enough|convincing(?:ly)?|"
    r"rigorous(?:ly)?|systematic(?:ally)?|fully|well|careful(?:ly)?|satisfactor\w+|beyond|further|really|"
    r"necessarily|always|only|such|other|"
    r"previously|direct(?:ly)?|formal(?:ly)?|meaningful\w*|real|strong|good|serious)\b|\bin passing\b",
    re.I,
)
_RESULT = re.compile(
    r"^(?:\w+ly )?(?:\w+ )?(?:significan\w*|differences?|effects?|changes?|evidence|correlations?|"
    r"associations?|reason|doubt|need|guarantee|way|"
    r"improvement|clear|agreement|increase|decrease|link|relation\w*|trend|such)\b",
    re.I,
)
_PRONOUN = re.compile(r"^\W*(?:this|it|that|they|these|those|we|i|which|until|what)\b", re.I)
_OTHERS = re.compile(
    r"\b(?:their|prior|previous|earlier|these) (?:work|study|studies|paper|papers|method|methods|approach)\b", re.I
)
_SAID = re.compile(
    r"\b(?:conclude|claim|show|find|found|argue|suggest|state|say|report|note|write|admit|acknowledge|"
    r"concede|assume)\w*,?\s+(?:that\s+)?$",
    re.I,
)
_NOT_TOLD = re.compile(
    rf"\b(?:papers?|authors?|manuscripts?|protocols?|study|article|text|section|they|abstract|methods|"
    rf"discussion|appendix|"
    rf"captions?|tables?|and)(?:\s+[\w.]+){{0,4}}?\s+(?:do(?:es)? not|don't|doesn't|did not|didn't|never|"
    rf"fails? to|neglects? to|omits? to|without ever)\s+(?:\w+ly\s+|ever\s+|even\s+|anywhere\s+)?"
    rf"(?P<verb>{_TELLS})(?:s|ed|ing)?\b(?P<what>.*)", re.I
)  # fmt: skip
_IS_NOT = re.compile(
    r"(?P<what>.*?)\b(?:is|are|was|were|has|have)\s+(?:not|never|nowhere)\s+(?P<how>been\s+|even\s+|\w+ly\s+)?"
    r"(?:reported|given|stated|mentioned|described|provided|discussed|listed|specified|defined|explained|"
    r"presented|shown|cited|"
    r"disclosed|named|documented|addressed|justified|released|to be found)\b(?P<rest>.*)", re.I
)  # fmt: skip
_NO_IS = re.compile(
    rf"\b[Tt]here (?:is|are) (?:no|not any|not a single|neither)\s+(?P<what>.*)|^\W*(?:no|neither|"
    rf"nowhere (?:is|are|does|do|in))\s+(?P<told>.*?)\s+"
    rf"(?:(?:is|are|was|were|has been|have been|seems?|could be|can be)\s+{_PASSIVE}|{_PASSIVE}|(?:in|"
    rf"anywhere in) the (?:paper|text|manuscript|article)).*", re.I
)  # fmt: skip
_GIVES_NO = re.compile(
    rf"\b(?:papers?|authors?|manuscripts?|protocols?|study|article|they|it|text|section|"
    rf"work)\s+(?:{_TELLS}(?:s|es)?|lacks?|omits?|contains?|had|ha[sd])\s+"
    r"(?:no|neither|not a single)\s+(?P<what>.*)|\b(?:papers?|authors?|manuscripts?|protocols?|study|"
    r"article|they|it)\s+(?:lacks?|omits?)\s+(?P<lacks>.*)", re.I
)  # fmt: skip
_END = re.compile(
    rf"\b(?:is|are|was|were|has been|have been|can be|could be)\s+(?:{_TELLS}|found|made|available|done|"
    rf"shown|seen)\w*|[.;:]|,?\s+(?:so|but|although|though|which (?:is|makes|means|would)|and (?:this|that|it|the)|"
    r"because|since|despite|even though|yet|whereas|while|anywhere|at all|at any point)\b|, (?!or\b|"
    r"and\b)", re.I)  # fmt: skip
_LEADING = re.compile(
    r"^\W*(?:(?:anywhere|explicitly|whether|how many|how much|how|which|what|where|when|why|who|whose|if|"
    r"that|the|a|an|any|its|their|"
    r"at|all|to|in|of|on)\b\s*)+", re.I
)  # fmt: skip
_SPLIT = re.compile(r"\b(?:or|nor|and)\b|,", re.I)
_INSIDE = re.compile(r"\b(?:of|for|in|on|behind|from|to|by|with|between|among|during|about|under|used|using)\b", re.I)
_VAGUE = frozenset(
    map(
        stem,
        [
            "used",
            "use",
            "using",
            "value",
            "values",
            "number",
            "numbers",
            "detail",
            "details",
            "information",
            "method",
            "methods",
            "way",
            "kind",
            "type",
            "types",
            "strategy",
            "size",
            "paper",
            "authors",
            "study",
            "were",
            "was",
            "given",
            "made",
            "done",
            "description",
            "discussion",
            "explanation",
            "mention",
            "statement",
            "report",
            "section",
            "reported",
            "chosen",
            "selected",
            "performed",
            "run",
            "kept",
            "taken",
            "set",
            "applied",
            "exact",
            "specific",
            "single",
            "clear",
            "any",
            "evidence",
            "account",
            "word",
            "text",
            "data",
            "result",
            "results",
            "analysis",
            "source",
            "work",
            "model",
            "models",
            "main",
        ],
    )
)
_DENIES = re.compile(
    r"\b(?:not|no|never|without|neither|nor|cannot|lack\w*|absen\w*|unavailable|unclear|future|omit\w*|"
    r"unknown|missing|beyond the scope|none)\b|n't\b",
    re.I,
)
_COUNTED = re.compile(r"\b(?:number of|how (?:many|much|long|often|large)|size of)\b", re.I)
_TOLD_OF = frozenset(map(stem, ("method", "methods", "procedure", "description", "details", "discussion", "section")))
_LONG = 100
_REACH = 3
_FEW = 8


@dataclass(frozen=True)
class Missing:
    """Something that is said to be missing: its phrase, what it is of or for, and whether it is a number."""

    phrase: tuple[str, ...]
    beside: tuple[str, ...]
    text: str
    counted: bool = False

    @property
    def printed(self) -> str:
        """The last word of the phrase that tells something, as the statement has it."""
        words = [w for w in words_of(self.text) if w.stem in self.phrase and w.stem not in _VAGUE]
        return self.text[words[-1].start : words[-1].end] if words else self.text


def claimed_missing(text: str) -> list[Missing]:
    """What a statement says is missing; empty where it claims no absence."""
    found = []
    parts = ((part, what) for what in _whats(text) if not _JUDGED.search(what) for part in _SPLIT.split(what))
    for part, what in parts:
        part = _LEADING.sub("", part)
        head, *rest = _INSIDE.split(part)
        phrase = _content(head)
        beside = [w for one in rest for w in _content(one)]
        if beside and _VAGUE.issuperset(phrase):  # ``the number of runs``
            phrase, beside = _content(rest[0]), [w for one in rest[1:] for w in _content(one)]
        if phrase and not any(map(str.isdigit, phrase[0])):
            counted = _COUNTED.search(what) is not None
            found.append(Missing(tuple(phrase), tuple(beside), part.strip(), counted))
    return found


def _whats(text: str) -> Iterator[str]:
    """What is said to be missing, as phrases; each claim of a statement once."""
    for pattern in (_NOT_TOLD, _GIVES_NO, _NO_IS, _IS_NOT):
        found = pattern.search(text)
        if found is None:
            continue
        if _OTHERS.search(text):
            return
        groups = found.groupdict()
        what = groups.get("what") or groups.get("lacks") or groups.get("told") or ""
        if pattern is _IS_NOT:
            what = re.split(r"[,;:]\s|\b(?:that|but|because|although|since|and yet|while)\b", what)[-1]
            if not _JUDGED.search(f"{groups['how'] or ''} {groups['rest'][:30]}") and not _PRONOUN.match(what):
                yield what
            return
        if pattern is _NO_IS and (_RESULT.match(what) or _SAID.search(text[: found.start()])):
            return
        end = _END.search(what)
        yield what[: end.start()] if end and end.start() else what
        if pattern is not _GIVES_NO:
            return


def _content(text: str) -> list[str]:
    return [word.stem for word in words_of(text)]


def absence_verdict(text: str, reading: Reading) -> Verdict | None:
    """Denied where a passage that denies nothing holds the phrase, found where none does; None without a claim."""
    missing = claimed_missing(text)
    if not missing:
        return None
    for one in missing:
        headed = re.match(r"([\w -]+?)\s+sections?$", one.text)
        for section in reading.paper.content if headed else ():
            if headed and headed[1].casefold() in section.heading.casefold():
                return Verdict("denied", "the paper has such a section", place_of(section), section.heading, 1.0)
        about = {w for w in one.phrase if w not in _TOLD_OF}
        for section in reading.paper.content:
            heading = {w.stem for w in words_of(section.heading)}
            if about and not one.beside and about <= heading and len(section.text) > _LONG:
                return Verdict("denied", "the paper has a section on it", place_of(section), section.heading, 1.0)
        for passage in _holding(one, reading):
            return Verdict("denied", f"the paper has “{one.text}”", passage.place, passage.text, 1.0)
    terms = [one.text for one in missing if one.text]
    result = reading.terms.search(terms)
    if result.supports_absence:
        return Verdict("found", f"not found by these words: {', '.join(result.terms)}", "the whole paper")
    return Verdict("unknown", "its words stand in the paper, and no passage settles it")


def _holding(missing: Missing, reading: Reading) -> Iterator[Passage]:
    """Passages that hold the phrase, its words side by side, and the words that say of what."""
    telling = tuple(w for w in missing.phrase if w not in _VAGUE)
    beside = tuple(w for w in missing.beside if w not in _VAGUE and reading.knows(w))
    unknown = [w for w in (*missing.phrase, *missing.beside) if w not in _VAGUE and not reading.knows(w)]
    alone = len(telling) + len(beside) == 1
    if unknown or not telling or (alone and not 0 < reading.printed(missing.printed) <= _FEW):
        return
    for passage in reading.passages:
        held = passage.stems | {w for short in passage.stems for w in reading.short.get(short, ())}
        if not held.issuperset((*telling, *beside)) or _DENIES.search(passage.text):
            continue
        if alone and missing.printed.casefold().removesuffix("s") not in passage.text.casefold():
            continue
        if missing.counted and not _numbered(missing, passage):
            continue
        if len(telling) == 1 or _side_by_side(telling, words_of(passage.text)):
            yield passage


def _numbered(missing: Missing, passage: Passage) -> bool:
    """Whether a number stands beside the words of the phrase."""
    return any(figure.close.intersection(missing.phrase) for figure in figures_in(passage.text))


def _side_by_side(phrase: tuple[str, ...], words: list[Word]) -> bool:
    """Whether the words of a phrase stand within a few words of one another."""
    places = [[i for i, word in enumerate(words) if word.stem == one] for one in phrase]
    reach = len(phrase) - 1 + _REACH
    return any(
        all(any(abs(place - first) <= reach for place in others) for others in places[1:]) for first in places[0]
    )
