"""Scales and choices on a page: runs of lines that each show a value and its label."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from referee.venues.page.blocks import Block
from referee.venues.page.page_types import OptionDraft

_NUMBER = r"-?\d{1,2}(?:\.\d{1,2})?"
_VALUED = re.compile(
    rf"^[(\[]?(?P<value>{_NUMBER}|N/?A)[)\]]?(?:\s*(?:=|:|→|\|)\s*|\s+[-–—]+\s*|[.)]\s+)(?P<label>\S.*)$", re.I
)
_BARE = re.compile(rf"^[(\[]?(?P<value>{_NUMBER})[)\].]?(?:\s*[=:])?$")
_SPACED = re.compile(r"^(?P<value>\d{1,2}(?:\.\d{1,2})?)\s+(?P<label>[A-Za-z][^.?!]{0,60})$")
_LABEL_FIRST = re.compile(
    rf"^(?P<label>[A-Za-z][^()|.?!]{{0,60}}?)\s*(?:\((?P<value>{_NUMBER})\)|\|\s*(?P<last>{_NUMBER})|"
    rf"=\s*(?P<equal>{_NUMBER}))$"
)
_YES_NO = re.compile(
    r"^(?:yes|no|maybe|unsure|not sure|n/?a|not applicable|partially|true|false)\b[^.?!]{0,60}[.!]?$", re.IGNORECASE
)
_VERDICT = re.compile(
    r"^(?:(?:strong(?:ly)?|weak(?:ly)?|clear(?:ly)?|borderline|probabl[ey]|lean(?:ing)?|"
    r"marginal(?:ly)?|conditional(?:ly)?|"
    r"definite(?:ly)?)\s+)?(?:accept(?:ance)?|reject(?:ion)?|borderline|neutral|revise|(?:major|minor) revisions?|"
    r"excellent|very good|good|fair|poor|average|high|medium|moderate|low|very (?:high|low)|"
    r"(?:strongly )?(?:dis)?agree)"
    r"(?:\s+(?:accept|reject|(?:and|with|after) [\w ]{1,40}))?[.]?$",
    re.IGNORECASE,
)
_INLINE = re.compile(
    rf"(?<![\w.])\(?(?P<value>{_NUMBER})\)?\s*[=:]\s*(?P<label>[^,;=\d][^,;=]{{1,80}}?)(?=[,;]\s*(?:and |"
    rf"or )?\(?-?\d|[.;,]?\s*$)"
)
_BRACKETED = re.compile(rf"(?<![\w.])(?P<value>{_NUMBER})\s*\((?P<label>[^()\d][^()]{{1,60}})\)[,;.]?")
_BETWEEN = re.compile(
    r"\b(?:between|from)\s+(?P<low>\d{1,2})\s*\((?P<first>[^()\d][^()]{1,60})\)\s+(?:and|to)\s+"
    r"(?P<high>\d{1,2})\s*\((?P<last>[^()\d][^()]{1,60})\)",
    re.IGNORECASE,
)
_RATES = re.compile(
    r"\b(?:rat(?:e|ing)|scor(?:e|ing)|scale|recommendation|confidence|overall|soundness|novelty|originality|clarity|"
    r"significance|quality|excitement|expertise|presentation|contribution|reproducib\w+|assessment|evaluation)\b",
    re.IGNORECASE,
)
_GRADE = re.compile(
    r"\b(?:excellent|outstanding|very|good|fair|poor|weak|strong|accept|reject|borderline|certain|confident|high|low|"
    r"medium|moderate|average|expert|top|none|not|marginal|major|minor|below|above|best|worst|clear|satisfactory)\b",
    re.IGNORECASE,
)
_MOST = 101


@dataclass(frozen=True, slots=True)
class OptionGroup:
    """A scale or choice: the blocks ``start`` to ``end`` (excluded) and what they offer."""

    start: int
    end: int
    options: tuple[OptionDraft, ...]

    @property
    def is_score(self) -> bool:
        """Whether every value is a number."""
        return all(not isinstance(option.value, str) for option in self.options)


def option_groups(blocks: Sequence[Block]) -> list[OptionGroup]:
    """All runs of option lines, in page order; a run needs two values that rise or fall, or two choices."""
    groups: list[OptionGroup] = []
    at = 0
    while at < len(blocks):
        group = next((found for read in (_valued_run, _choice_run, _inline_scale) if (found := read(blocks, at))), None)
        if group:
            groups.append(group)
        at = group.end if group else at + 1
    return groups


def _valued_run(blocks: Sequence[Block], at: int) -> OptionGroup | None:
    """Lines with a value and a label, of one kind and depth, from ``at``."""
    options: list[OptionDraft] = []
    end = at
    for block in _run(blocks, at):
        option = _option(block, rated=_is_rated(blocks, at))
        if option is None or len(options) == _MOST:
            break
        options.append(option)
        end += 1
    numbers = [option.value for option in options if not isinstance(option.value, str)]
    steps = {left < right for left, right in pairwise(numbers)}
    if len(numbers) < 2 or len(steps) != 1 or len({option.value for option in options}) != len(options):
        return None
    if not any(option.label for option in options) and not _is_rated(blocks, at):
        return None
    if _is_loose(blocks[at]) and 2 * sum(bool(_GRADE.search(option.label)) for option in options) < len(options):
        return None
    return OptionGroup(at, end, tuple(options))


def _choice_run(blocks: Sequence[Block], at: int) -> OptionGroup | None:
    """Items that are nothing but an answer: yes and no, or accept and reject."""
    if blocks[at].kind != "bullet":
        return None
    for shape in (_YES_NO, _VERDICT):
        run: list[OptionDraft] = []
        for block in _run(blocks, at):
            if not shape.match(block.text) or len(run) == _MOST:
                break
            run.append(OptionDraft(block.text.rstrip("."), "", block.text))
        if len(run) >= 2 and len({option.value for option in run}) == len(run):
            return OptionGroup(at, at + len(run), tuple(run))
    return None


def _inline_scale(blocks: Sequence[Block], at: int) -> OptionGroup | None:
    """A line that holds a whole scale: "4: excellent, 3: good", "1 (reject), 2 (accept)", "between 1 (x) and 5 (y)"."""
    block = blocks[at]
    if block.kind not in ("paragraph", "bullet") or len(block.text) > 1500:
        return None
    if between := _between(block.text):
        return OptionGroup(at, at + 1, between)
    shapes = (
        [OptionDraft(_value(m["value"]), _closed(m["label"]), m[0]) for m in shape.finditer(block.text)]
        for shape in (_INLINE, _BRACKETED)
    )
    return next((OptionGroup(at, at + 1, tuple(options)) for options in shapes if _is_whole(options, block.text)), None)


def _between(text: str) -> tuple[OptionDraft, ...]:
    """The values of a range whose ends are labelled."""
    found = _BETWEEN.search(text)
    if found is None or not 2 <= int(found["high"]) - int(found["low"]) + 1 <= _MOST:
        return ()
    low, high = int(found["low"]), int(found["high"])
    labels = {low: found["first"].strip(), high: found["last"].strip()}
    return tuple(OptionDraft(value, labels.get(value, ""), found[0]) for value in range(low, high + 1))


def _closed(label: str) -> str:
    """A label without the bracket that closed the whole scale."""
    return label.strip() if "(" in label else label.strip().rstrip(")")


def _is_whole(options: Sequence[OptionDraft], text: str) -> bool:
    """Whether a line's options are a scale: three numbers or more that rise or fall, and little else behind them."""
    numbers = [option.value for option in options if not isinstance(option.value, str)]
    steps = {left < right for left, right in pairwise(numbers)}
    covered = sum(len(option.words) for option in options)
    tail = text[text.find(options[0].words) :] if options else ""
    return len(numbers) >= 3 and len(steps) == 1 and covered >= 0.7 * len(tail)


def _run(blocks: Sequence[Block], at: int) -> Iterator[Block]:
    """The blocks from ``at`` that are of its kind and depth, under its heading."""
    first = blocks[at]
    for block in blocks[at:]:
        if block.kind not in ("bullet", "row", "paragraph") or (block.kind, block.level) != (first.kind, first.level):
            return
        yield block


def _option(block: Block, *, rated: bool) -> OptionDraft | None:
    """The option that a line shows, or none.

    A list's own number is a value only under words that ask for a rating, since steps are numbered too; so is a number
    that only a blank or a full stop parts from its label.
    """
    text = block.text
    if block.number is not None:
        short = len(text.split()) <= 12 and not text.endswith("?")
        return OptionDraft(block.number, text, text) if rated and short and block.number > 0 else None
    if match := _BARE.match(text):
        return OptionDraft(_value(match["value"]), "", text)
    if (match := _VALUED.match(text)) and (rated or not re.match(r"^-?[\d.]+[.)]\s", text)):
        return OptionDraft(_value(match["value"]), match["label"].strip(), text)
    if rated and (match := _SPACED.match(text)):
        return OptionDraft(_value(match["value"]), match["label"].strip(), text)
    if match := _LABEL_FIRST.match(text):
        return OptionDraft(_value(match["value"] or match["last"] or match["equal"]), match["label"].strip(), text)
    return None


def _is_loose(block: Block) -> bool:
    """Whether a line could as well be a step of a list: its number stands as "1." or with no mark at all."""
    return block.number is not None or bool(_SPACED.match(block.text) or re.match(r"^-?[\d.]+[.)]\s", block.text))


def _is_rated(blocks: Sequence[Block], at: int) -> bool:
    """Whether the heading above a line, or the paragraph before it, speaks of rating."""
    before = blocks[at - 1] if at and blocks[at - 1].kind in ("paragraph", "bullet", "heading") else None
    above = blocks[at].path[-1:] + ((before.text,) if before else ())
    return any(_RATES.search(text) for text in above)


def _value(text: str) -> int | float | str:
    if not re.fullmatch(_NUMBER, text):
        return text
    return float(text) if "." in text else int(text)
