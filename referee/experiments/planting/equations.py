"""Displayed equations that no longer say what the words beside them say: kind ``equation``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from referee.experiments.planting.candidate import Anchor, Candidate, Edit, Rejection, Site, edited, span
from referee.experiments.planting.source import Passage, Source

_INLINE = re.compile(r"\$(?P<body>[^$\n]{4,400})\$")
_SYMBOL = re.compile(r"\\[A-Za-z]+|[A-Za-z]")
_LAYOUT = frozenset(
    [
        r"\frac",
        r"\sum",
        r"\prod",
        r"\int",
        r"\left",
        r"\right",
        r"\bigl",
        r"\bigr",
        r"\Bigl",
        r"\Bigr",
        r"\big",
        r"\Big",
        r"\sqrt",
        r"\mathrm",
        r"\mathbf",
        r"\mathcal",
        r"\text",
        r"\hat",
        r"\bar",
        r"\tilde",
        r"\tag",
        r"\quad",
        r"\qquad",
        r"\cdot",
        r"\times",
        r"\leq",
        r"\geq",
        r"\le",
        r"\ge",
        r"\ell",
        r"\log",
        r"\exp",
        r"\max",
        r"\min",
        r"\in",
        r"\mid",
        r"\dots",
        r"\ldots",
        r"\cdots",
    ]
)


@dataclass(frozen=True)
class _Form:
    """One way to spoil an equation: what is looked for in it, what comes there, and the words that say otherwise."""

    subtype: str
    pattern: re.Pattern[str]
    after: str
    words: re.Pattern[str]
    says: str


_FORMS = (
    _Form("sign", re.compile(r"\+(?=\s*\\?(?:lambda|beta|gamma|alpha|mu|eta)\b)"), "-",
          re.compile(r"\bpenali[sz]\w*|\bregulari[sz]\w*|\bweight decay\b"), "the term is a penalty that is added"),
    _Form("sign", re.compile(r"(?<=1)\s*-(?=\s*\\?(?:alpha|lambda|gamma|beta|tau|eta)\b)"), " +",
          re.compile(r"\bconvex combination\b|\bweighted (?:average|sum)\b|\binterpolat\w+|\bmoving average\b"
                     r"|\bsum(?:s)? to (?:one|1)\b"),
          "the weights sum to one"),
    _Form("relation", re.compile(r"\\leq?\b|≤"), r"\geq",
          re.compile(r"\bat most\b|\bupper bound\b|\bno more than\b|\bbounded (?:from )?above\b"),
          "the right side is an upper bound"),
    _Form("relation", re.compile(r"\\geq?\b|≥"), r"\leq",
          re.compile(r"\bnon-?negative\b|\bat least\b|\blower bound\b|\bno less than\b"),
          "the right side is a lower bound"),
    _Form("index", re.compile(r"(?<=[a-z])\s?-\s?1(?=\s*\})"), "+1",
          re.compile(r"\bprevious (?:step|time|state|layer|iteration)\b|\bpreceding\b"),
          "the index is that of the step before"),
    _Form("limit", re.compile(r"(?<==)\s*1(?=\s*\}\s*\^)"), "0",
          re.compile(r"\b(?:[ijkgnt])\s*=\s*1\s*,\s*\\?(?:dots|ldots|cdots|\.\.\.|…)"), "the index runs from 1"),
    _Form("square", re.compile(r"(?<=[)\]|])\s*\^\s*(?:2|\{2\})"), "",
          re.compile(r"\bsquar(?:es?|ed|ing)\b|\bvariance\b|\bEuclidean distance\b|\bleast[- ]squares\b"),
          "the term is squared"),
)  # fmt: skip


def equation_sites(source: Source) -> Iterator[Site | Rejection]:
    """Parts of equations, displayed or in a sentence, that words of the same or a neighbouring paragraph fix."""
    for passage in (*source.equations, *_inline(source)):
        if _is_mixed(passage.text):
            yield Rejection("equation", "a mixed chain of relations", passage.text)
            continue
        yield from _of(source, passage)


def _inline(source: Source) -> Iterator[Passage]:
    """Equations inside sentences: with a sign of equality and an operator."""
    for passage in source.edited:
        for found in _INLINE.finditer(passage.text):
            if re.search(r"=|\\leq?\b|\\geq?\b", found["body"]) and re.search(r"\\sum|\\frac|\+|\^", found["body"]):
                at = passage.start + found.start("body")
                yield Passage(found["body"], at, passage.section, passage.block, "equation")


def _of(source: Source, passage: Passage) -> Iterator[Site | Rejection]:
    fixed = False
    for form in _FORMS:
        found = list(form.pattern.finditer(passage.text))
        if len(found) != 1:
            continue
        anchor = _words(source, passage, form, found[0])
        if anchor is not None:
            fixed = True
            place = (span(passage, *found[0].span()),)
            yield Site("equation", place, ((form.after,),), partial(_examine, place, anchor, form), (anchor,))
    if not fixed:
        yield Rejection("equation", "no words fix a sign, relation, index or power of it", passage.text)


def _words(source: Source, passage: Passage, form: _Form, found: re.Match[str]) -> Anchor | None:
    """The sentence beside an equation that fixes this part of it."""
    near = [p for p in source.passages if p.section.id == passage.section.id and _distance(p, passage) <= _REACH]
    symbol = _SYMBOL.search(passage.text[found.end() :])
    for other in sorted(near, key=lambda p: _distance(p, passage)):
        outside = other.text.replace(passage.text, " ") if passage.block.id == other.block.id else other.text
        if form.words.search(outside) is None:
            continue
        # What follows a displayed equation may lead to the next one.
        if other.start > passage.end and other.block.id != passage.block.id and not _EXPLAINS.match(other.text):
            continue
        if form.subtype == "sign" and (symbol is None or symbol.group() not in outside):
            continue
        return Anchor(other, form.says)
    return None


_REACH = 400
_EXPLAINS = re.compile(r"(?:where|with|here|which)\b", re.IGNORECASE)


def _distance(p: Passage, equation: Passage) -> int:
    return max(equation.start - p.end, p.start - equation.end, 0)


def _is_mixed(text: str) -> bool:
    return bool(re.search(r"<|\\leq?\b|≤", text)) and bool(re.search(r">|\\geq?\b|≥", text))


def _examine(place: tuple[Edit, ...], anchor: Anchor, form: _Form, after: tuple[str, ...]) -> Candidate | str:
    edit = edited(place, after)[0]
    new = _symbols(edit.sentence_after) - _symbols(edit.passage.text)
    if new:
        return "unbound symbol"
    if after[0].strip() != form.after.strip():
        return f"nothing contradicts it: the words fix only the {form.subtype}"
    spoiled = len(form.pattern.findall(edit.passage.text))

    def conflict(passages: tuple[str, ...], anchors: tuple[str, ...]) -> bool:
        return len(form.pattern.findall(passages[0])) < spoiled and form.words.search(anchors[0]) is not None

    label = f" {edit.passage.block.label}" if edit.passage.block.label else ""
    return Candidate(
        kind="equation",
        subtype=form.subtype,
        severity="M",
        anchor_class="A4",
        edits=(edit,),
        anchors=(anchor,),
        conflict=conflict,
        expected=f"{edit.before.strip() or 'nothing'} in {edit.passage.text!r}",
        statement=(
            f"The equation{label} has {after[0].strip() or 'no power'} for {edit.before.strip()}, but by the text "
            f"{form.says}."
        ),
    )


def symbol_site(source: Source, symbol: str) -> Site | None:
    """A symbol of an equation that words define: what a planter may ask for and is refused."""
    for passage in (*source.equations, *_inline(source)):
        at = passage.text.find(symbol)
        if at >= 0:
            place = (span(passage, at, at + len(symbol)),)
            anchor = Anchor(passage, "the equation")
            form = _FORMS[0]
            return Site("equation", place, (), partial(_examine, place, anchor, form), ())
    return None


def _symbols(text: str) -> set[str]:
    return {found for found in _SYMBOL.findall(text) if found not in _LAYOUT}
