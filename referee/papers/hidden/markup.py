"""Parts of Markdown that no renderer prints: definitions and titles of links, alternative texts, white TeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from referee.papers.hidden.addresses import addresses_a_model
from referee.papers.hidden.css import Colour, colour
from referee.papers.hidden.visibility import LEAST_CONTRAST, contrast
from referee.schemas.paper import Certainty, FindingKind

_TITLE = r"(?:\"(?P<{0}double>[^\"\n]*)\"|'(?P<{0}single>[^'\n]*)'|\((?P<{0}round>[^()\n]*)\))"
_DEFINITION = re.compile(
    r"^ {0,3}\[(?!\^)(?P<label>[^\]\n]+)\]:[ \t]*\n?[ \t]*(?P<target><[^<>\n]*>|[^\s<]\S*)"
    rf"(?:[ \t]*\n?[ \t]+{_TITLE.format('')}|[ \t]*(?<=>)[ \t]*{_TITLE.format('close_')})?[ \t]*$",
    re.MULTILINE,
)
_LINK = re.compile(
    r"(?P<image>!?)\[(?P<text>[^\[\]\n]*)\]\([ \t]*(?P<target><[^<>\n]*>|[^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*)"
    rf"(?:[ \t]+{_TITLE.format('')})?[ \t]*\)"
)
_IMAGE = re.compile(r"!\[(?P<text>[^\[\]\n]+)\]\[[^\[\]\n]*\]")
_TEX = re.compile(
    r"\\(?P<name>textcolor|color|colorbox|[hv]?phantom)\s*(?:\[(?P<model>[^\]\n]*)\])?\s*\{(?P<value>[^{}\n]*)"
)
_TEX_WORDS = re.compile(r"\\(?:text|mathrm|textrm|mbox|textbf|mathbf)\b|[{}$]")
_LEAST_BLANK = 12
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True)
class Span:
    """A piece of the source that no reader sees, from ``start`` to ``end``; ``keep`` is put in its place."""

    start: int
    end: int
    text: str
    reason: str
    certainty: Certainty = "high"
    keep: str = ""
    kind: FindingKind = "hidden_text"


def link_spans(text: str) -> Iterator[Span]:
    """Definitions of links with words in them, titles of links and images, and alternative texts of images.

    An image that is alone in its paragraph keeps its alternative text, which many programs print below it as its
    caption, unless it speaks to a model.
    """
    for match in _DEFINITION.finditer(text):
        words = _title(match) or match["target"].strip("<>").replace("_", " ")
        if " " in words.strip():
            yield unprinted(*match.span(), words, "the definition of a link")
    for match in _LINK.finditer(text):
        start, end = match.span()
        shown, title = match["text"], _title(match)
        hides = match["image"] and _is_hidden(text, match)
        words = " ".join(part for part in (shown if hides else "", title) if part)
        if len(_WORD.findall(words)) >= 2 and (hides or title):
            kept = "" if hides else shown
            what = "an image's alternative text or title" if match["image"] else "the title of a link"
            yield unprinted(start, end, words, what, f"{match['image']}[{kept}]({match['target']})")
    for match in _IMAGE.finditer(text):
        if _is_hidden(text, match):
            yield unprinted(match.start("text"), match.end("text"), match["text"], "an image's alternative text")


def _title(match: re.Match[str]) -> str:
    groups = match.groupdict()
    return next((groups[name] for name in groups if re.search(r"double|single|round", name) and groups[name]), "")


def _is_hidden(text: str, image: re.Match[str]) -> bool:
    """Whether an alternative text is no caption: its image stands in a line of text, or it speaks to a model."""
    line = text[text.rfind("\n", 0, image.start()) + 1 : (text + "\n").find("\n", image.end())]
    return len(_WORD.findall(image["text"])) >= 2 and (line.strip() != image[0] or addresses_a_model(image["text"]))


def unprinted(start: int, end: int, words: str, reason: str, keep: str = "") -> Span:
    """What is ordinary and not printed; hidden text where it speaks to a model."""
    speaks = addresses_a_model(words)
    kind: FindingKind = "hidden_text" if speaks else "not_printed"
    return Span(start, end, " ".join(words.split()), reason, "high" if speaks else "low", keep, kind)


def tex_spans(text: str) -> Iterator[Span]:
    r"""TeX that is white or blank: ``\\textcolor{white}{...}``, ``{\\color{white} ...}``, ``\\phantom{...}``."""
    for match in _TEX.finditer(text):
        start = match.start("value") - 1
        inside = _group_end(text, start)
        found = _colour((match["model"] or "").strip(), match["value"].strip())
        if match["name"].endswith("phantom"):
            first, end = start, inside
        elif found is None or contrast(found, (255, 255, 255, 1)) >= LEAST_CONTRAST:
            continue
        elif match["name"] == "color":
            first, end = inside, _group_end(text, inside, depth=1)
        else:
            first = inside + len(text[inside:]) - len(text[inside:].lstrip(" "))
            end = _group_end(text, first) if text[first : first + 1] == "{" else first
        words = " ".join(_TEX_WORDS.sub(" ", text[first:end]).split())
        if len(_WORD.findall(words)) >= 2 and (len(words) >= _LEAST_BLANK or "phantom" not in match["name"]):
            yield Span(match.start(), end, words, "set in white or as a blank")


def _group_end(text: str, start: int, depth: int = 0) -> int:
    """Behind the brace that closes the one at a place; the paragraph's end where none does.

    With a depth of 1 the place is inside a group, and the end is before what ends a switch of colour there: the brace
    that closes the group, or the end of the formula.
    """
    is_switch, last = depth == 1, min(len(text), start + 20_000)
    for at in range(start, last):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0 or text.startswith("\n\n", at) or (is_switch and depth == 1 and text[at] == "$"):
            return at + (depth == 0 and not is_switch)
    return last


_MODELS: dict[str, Callable[..., tuple[float, float, float]]] = {
    "rgb": lambda red, green, blue: (red, green, blue),
    "RGB": lambda red, green, blue: (red / 255, green / 255, blue / 255),
    "gray": lambda grey: (grey, grey, grey),
    "cmyk": lambda c, m, y, key: ((1 - c) * (1 - key), (1 - m) * (1 - key), (1 - y) * (1 - key)),
}


def colour_by_model(model: str, values: str) -> tuple[float, float, float] | None:
    """A colour from xcolor's models, its parts from 0 to 1; None for a model or value that is not known."""
    if model.strip() == "HTML":
        model, values = "RGB", ",".join(str(int(pair, 16)) for pair in re.findall(r"[0-9a-fA-F]{2}", values))
    try:
        return _MODELS[model.strip()](*map(float, values.split(",")))
    except (KeyError, TypeError, ValueError):
        return None


def _colour(model: str, value: str) -> Colour | None:
    if not model:
        return colour(value)
    parts = colour_by_model(model, value)
    return (255 * parts[0], 255 * parts[1], 255 * parts[2], 1.0) if parts else None
