"""What of a guideline page went where: each of its lines beside what was made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from referee.evidence.normalise import normalise
from referee.schemas.venue import FormField, VenueForm
from referee.venues.page import GuidelinePage
from referee.venues.page.blocks import Block, read_blocks
from referee.venues.page.options import option_groups

LEFT_OUT = "left out"
_SHORTEST = 3


@dataclass(frozen=True)
class PageLine:
    """A line of the page and what became of it: ids of guidelines, names of boxes, the rule, or ``left out``."""

    words: str
    went_to: tuple[str, ...]


def page_lines(form: VenueForm, page: GuidelinePage) -> tuple[PageLine, ...]:
    """Each line of the page with everything of the form that holds words of it; headings only where they name a box."""
    held = [(text, place) for words, place in _places(form) if len(text := normalise(words).text) >= _SHORTEST]
    return tuple(
        PageLine(block.text.strip(), tuple(dict.fromkeys(place for text, place in held if _shares(line, text, place))))
        for block in read_blocks(page.text)
        if block.text.strip() and (line := normalise(" ".join(block.text.split())).text)
    )


def place_counts(lines: Sequence[PageLine]) -> Counter[str]:
    """Lines by what they became: criterion, box, rule, left out. A line may count several times."""
    return Counter(kind for line in lines for kind in {went.split(" ")[0] for went in line.went_to} or {LEFT_OUT})


def diff_text(lines: Sequence[PageLine]) -> str:
    """The page line by line: ``+`` what was taken, with where it went below; ``-`` what was left out."""
    shown = (
        f"+ {line.words}\n" + "".join(f"    -> {went}\n" for went in line.went_to)
        if line.went_to
        else f"- {line.words}\n"
        for line in lines
    )
    return "".join(shown)


def unused_scales(page: GuidelinePage, fields: Sequence[FormField]) -> Iterator[str]:
    """Scales that code sees on the page and no box has, in words: what the page announces and the form lacks."""
    blocks = read_blocks(page.text)
    held = [{str(option.value).casefold() for option in field.options} for field in fields]
    for group in option_groups(blocks):
        values = [str(option.value) for option in group.options]
        if group.is_score and not any({value.casefold() for value in values} <= one for one in held):
            yield f"a scale that no box has: the page says “{_short(blocks[group.start : group.end])}”"


def _places(form: VenueForm) -> Iterator[tuple[str, str]]:
    for rule in form.guidelines:
        yield rule.words or rule.text, f"criterion {rule.id}"
    for field in form.fields:
        if field.fact.confidence == "memory":
            continue
        yield field.title, f"box {field.name}"
        yield field.asks, f"box {field.name}"
        for option in field.options:
            yield f"{option.value}: {option.label}" if option.label else "", f"box {field.name}"
            yield option.label, f"box {field.name}"
    yield form.llm_policy.sentence.partition("“")[2].strip("”"), "rule on language models"


def _shares(line: str, text: str, place: str) -> bool:
    """Whether a line holds the words, or is a part of them. A box's short title or label must begin the line's text."""
    if len(line) >= _SHORTEST and line in text:
        return True
    if place.startswith("box ") and len(text.split()) < 4:
        return f" {text} " in f" {' '.join(line.replace(':', ' ').replace('.', ' ').replace('(', ' ').split()[:10])} "
    return text in line


def _short(blocks: Sequence[Block]) -> str:
    words = " / ".join(" ".join(block.text.split()) for block in blocks)
    return words if len(words) <= 120 else f"{words[:117]}..."
