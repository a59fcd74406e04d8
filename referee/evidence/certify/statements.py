"""A review cut into statements: claims about the paper, or advice, questions, opinions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from referee.evidence.certify.figures import Figure, figures_in, numbers_in, words_of
from referee.evidence.certify.reading import Reading
from referee.evidence.sentences import sentence_units
from referee.evidence.verify import quoted_spans

_MARKUP = re.compile(r"^\s{0,3}(?:#{1,6}\s+.*|[-*_]{3,}\s*|```.*|\|.*\|\s*)$")
_BEFORE_LABEL = re.compile(r"\b([A-Z][a-z]{2,})\s+$")
_LIST_MARK = re.compile(r"^\s*(?:[-*+•–]|\(?\d{1,3}[.)])\s+")
_ASKED = re.compile(
    r"\?[\"”')\]]*$|^(?:please|could|can|would|will|how|why|what|which|is|are|do|does|did|has|have|was|"
    r"were|should)\b.*\?"
    r"|^(?:please|consider|add|report|explain|clarify|discuss|provide|include|state|give|show|compare|"
    r"justify|test|run|"
    r"use|repeat|remove|rephrase|correct|check|cite|move|make|define|specify|replace|release|list|let)\b"
    r"|\b(?:should|would|could|might|ought to|must|recommend|suggest that|i suggest|we suggest|i ask|we ask|i urge|"
    r"i encourage|i would|i'd|please|needs? to|it remains|i wonder|want to know|would like|better to|had better|"
    r"i request|we request|advise)\b",
    re.I,
)


_ASKS_THEN = re.compile(
    r"[:;]\s+(?:please|give|explain|reword|read|report|say|state|add|restrict|drop|move|use|name|show|print|define|mend|"
    r"correct|replace|check|compare|cite|discuss|list|mark|put|remove|run|test|make|specify|clarify|justify|consider)\b",
    re.I,
)
_FORM_LINE = re.compile(
    r"^\W*(?:overall|rating|scores?|confidence|soundness|presentation|contribution|excitement|reproducibility|ethic\w*|"
    r"recommendation|originality|quality|clarity|significance|reviewer \w+)\b[^.]{0,40}\d",
    re.I,
)
_OWN_WORK = re.compile(
    r"\bI (?:get|recover|recompute|find|obtain|compute|computed|counted|calculate)\b|\b[Rr]erun|\b[Rr]ecomput|"
    r"\b[Mm]y (?:own )?(?:run|calculation|computation|count|estimate|reanalysis)"
)


@dataclass(frozen=True)
class Statement:
    """One sentence of a review, as it stands there; ``bare`` has blanks for what is quoted in it."""

    text: str
    reading: Reading

    @cached_property
    def quotes(self) -> tuple[str, ...]:
        """What stands in quotation marks."""
        return tuple(self.text[start + 1 : end] for start, end in quoted_spans(self.text))

    @cached_property
    def bare(self) -> str:
        """The text with blanks for quotations of four words or more."""
        shown = self.text
        for start, end in quoted_spans(self.text):
            if len(shown[start + 1 : end].split()) > 3:
                shown = shown[:start] + " " * (end + 1 - start) + shown[end + 1 :]
        return shown

    @cached_property
    def asks(self) -> bool:
        """Whether it is advice, a demand, a question or work of the reviewer, which no paper can refute."""
        return any(one.search(self.bare.strip()) for one in (_ASKED, _ASKS_THEN, _OWN_WORK, _FORM_LINE))

    @cached_property
    def figures(self) -> list[Figure]:
        """Its numbers with their words."""
        names = self.reading.names
        numbers = [n for n in numbers_in(self.bare) if not self._is_name(n.start, n.end, names)]
        return figures_in(self.bare, numbers)

    def _is_name(self, start: int, end: int, names: frozenset[str]) -> bool:
        """Whether a number is part of a name: ``8B`` of a model, or ``Week 1`` as the paper has it."""
        shown = self.bare[start:end].strip().casefold()
        word = _BEFORE_LABEL.search(self.bare[:start])
        label = word is not None and shown.isdigit() and f"{word[1]} {shown}".casefold() in self.reading.text
        return shown in names or label

    @cached_property
    def words(self) -> frozenset[str]:
        """The stems of its words that carry meaning."""
        return frozenset(word.stem for word in words_of(self.bare))


def statements_of(text: str) -> list[str]:
    """The sentences of a review in plain text or Markdown, without headings, rules, tables and list marks."""
    lines = [_LIST_MARK.sub("", line) for line in text.splitlines() if not _MARKUP.match(line)]
    return [
        unit for paragraph in _paragraphs(lines) for unit in sentence_units(paragraph) if any(map(str.isalpha, unit))
    ]


def _paragraphs(lines: list[str]) -> list[str]:
    """Lines that a paragraph was broken into become one; a line that ends a sentence or is empty ends it."""
    paragraphs: list[str] = []
    whole = True
    for line in map(str.strip, lines):
        if line and not whole:
            paragraphs[-1] += f" {line}"
        elif line:
            paragraphs.append(line)
        whole = not line or line.endswith((".", "!", "?", ":", '"', "”", ")"))
    return paragraphs


MOST_STATEMENTS = 2_000
# Of the words of reviews of a paper of their own, 45% to 82% stood in it; of those of other papers, 16% to 72%.
_FOREIGN, _DOUBTFUL = 0.38, 0.58
_NAME = re.compile(r"(?<![\w-])(?=\w*[A-Z\d]\w*[A-Z]|\w*[a-z][A-Z])[A-Za-z][\w-]{2,}")
_ENGLISH = frozenset(
    re.findall(r"\w+", "the of and in to is a that for are not on with as it this be by or from which")
)


def unfit(sentences: Sequence[str], reading: Reading) -> str:
    """Why statements cannot be checked against a paper, in a sentence: none, too many, another language or paper."""
    words = [word.casefold() for sentence in sentences for word in re.findall(r"[^\W\d_]+", sentence)]
    if not words:
        return "The review holds no statement."
    if len(sentences) > MOST_STATEMENTS:
        return f"The review holds {len(sentences):,} statements; at most {MOST_STATEMENTS:,} are checked."
    if len(words) > 30 and sum(word in _ENGLISH for word in words) * 10 < len(words):
        return "The review is not in English, and only English is checked."
    stems = {word.stem for sentence in sentences for word in words_of(sentence) if not word.stem[0].isdigit()}
    names = {name.casefold() for sentence in sentences for name in _NAME.findall(sentence)}
    text = reading.text
    known = sum(name in text for name in names)
    share = sum(map(reading.knows, stems)) / max(1, len(stems))
    if len(stems) > 40 and (share < _FOREIGN or (share < _DOUBTFUL and len(names) > 3 and known * 5 < 2 * len(names))):
        return f"The review seems to be of another paper: {share:.0%} of its words stand in this one."
    return ""
