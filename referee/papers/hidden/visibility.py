"""Whether a reader sees text: the little CSS that decides it, colours and their contrast, and what was hidden."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from referee.schemas.paper import Certainty, Finding

Colour = tuple[float, float, float, float]
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SIMPLE = re.compile(r"^(?P<tag>[a-z][a-z0-9]*)?(?P<rest>(?:[.#][\w-]+)*)$", re.IGNORECASE)
_LENGTH = re.compile(r"^(?P<value>[+-]?(?:\d+\.?\d*|\.\d+))(?P<unit>px|pt|em|rem|ex|ch|%|in|cm|mm|pc|vw|vh|)$")
_POINTS = {"px": 0.75, "pt": 1.0, "in": 72.0, "cm": 28.35, "mm": 2.835, "pc": 12.0, "rem": 12.0, "vw": 6.0, "vh": 6.0}
_SIZE_WORDS = {"xx-small": 7.0, "x-small": 7.5, "small": 10.0, "medium": 12.0, "large": 13.5, "x-large": 18.0}
_SMALLEST = 2.0
LEAST_CONTRAST = 1.2
_MOST = 50
_HIDES = "holds text that a reader cannot see"
_WORD = re.compile(r"[^\W\d_]{3,}")
_NAMES = {
    "white": (255, 255, 255), "snow": (255, 250, 250), "ivory": (255, 255, 240), "ghostwhite": (248, 248, 255),
    "mintcream": (245, 255, 250), "azure": (240, 255, 255), "floralwhite": (255, 250, 240),
    "whitesmoke": (245, 245, 245), "aliceblue": (240, 248, 255), "black": (0, 0, 0), "red": (255, 0, 0),
    "green": (0, 128, 0), "blue": (0, 0, 255), "yellow": (255, 255, 0), "gray": (128, 128, 128),
    "grey": (128, 128, 128), "silver": (192, 192, 192), "lightgray": (211, 211, 211), "lightgrey": (211, 211, 211),
    "orange": (255, 165, 0), "purple": (128, 0, 128), "navy": (0, 0, 128), "maroon": (128, 0, 0),
}  # fmt: skip
_FUNCTION = re.compile(r"^rgba?\((?P<parts>[^)]*)\)$")


@dataclass(frozen=True)
class Rule:
    """One simple selector with its declarations; ``weight`` orders rules as CSS does."""

    tag: str
    classes: frozenset[str]
    identity: str
    weight: tuple[int, int, int, int]
    values: Mapping[str, str]

    def fits(self, tag: str, classes: frozenset[str], identity: str) -> bool:
        """Whether an element with this tag, these classes and this id is meant."""
        return self.tag in ("", tag) and self.classes <= classes and self.identity in ("", identity)


def parse_rules(sheets: Iterable[str]) -> tuple[Rule, ...]:
    """The rules whose selector is one tag, class or id, or a conjunction of them; all others are passed over.

    Blocks of ``@media`` count only for ``screen`` and ``all``: what hides text in print says nothing about the page.
    """
    rules: list[Rule] = []
    for sheet in sheets:
        for selectors, body in _blocks(_COMMENT.sub(" ", sheet)):
            values = declarations(body)
            rules.extend(rule for s in selectors.split(",") if (rule := _rule(s.strip(), values, len(rules))))
    return tuple(sorted(rules, key=lambda rule: rule.weight))


def _blocks(sheet: str) -> Iterable[tuple[str, str]]:
    at = 0
    while (brace := sheet.find("{", at)) >= 0:
        head = sheet[at:brace].split(";")[-1].strip()
        end, depth = brace + 1, 1
        while end < len(sheet) and depth:
            depth += {"{": 1, "}": -1}.get(sheet[end], 0)
            end += 1
        body = sheet[brace + 1 : end - 1]
        if not head.startswith("@"):
            yield head, body
        elif re.match(r"@media\s+(?:only\s+)?(?:screen|all)\s*$", head, re.IGNORECASE):
            yield from _blocks(body)
        at = end


def _rule(selector: str, values: Mapping[str, str], order: int) -> Rule | None:
    match = _SIMPLE.match(selector)
    if not match or not selector or not values:
        return None
    parts = re.findall(r"[.#][\w-]+", match["rest"])
    classes = frozenset(part[1:] for part in parts if part[0] == ".")
    identities = [part[1:] for part in parts if part[0] == "#"]
    tag = (match["tag"] or "").lower()
    weight = (len(identities), len(classes), int(bool(tag)), order)
    return Rule(tag, classes, identities[0] if identities else "", weight, values)


def declarations(style: str) -> dict[str, str]:
    """Property to value, both lower case; ``!important`` is dropped."""
    found: dict[str, str] = {}
    for part in _COMMENT.sub(" ", style).split(";"):
        name, colon, value = part.partition(":")
        if colon and value.strip():
            found[name.strip().lower()] = value.lower().replace("!important", "").strip()
    return found


def points(value: str, parent: float) -> float | None:
    """A length in points; ``em`` and ``%`` are relative to ``parent``; null for what is no plain length."""
    if value in _SIZE_WORDS:
        return _SIZE_WORDS[value]
    match = _LENGTH.match(value)
    if not match:
        return None
    number, unit = float(match["value"]), match["unit"]
    if unit == "":
        return 0.0 if number == 0 else None
    if unit in ("em", "%", "ex", "ch"):
        return number * parent * {"em": 1.0, "%": 0.01, "ex": 0.5, "ch": 0.5}[unit]
    return number * _POINTS[unit]


def colour(value: str) -> Colour | None:
    """Red, green, blue (0 to 255) and opacity (0 to 1); null for a value that is not understood."""
    value = value.strip().lower()
    if value == "transparent":
        return (0, 0, 0, 0)
    if value in _NAMES:
        return (*_NAMES[value], 1.0)
    if re.fullmatch(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})", value):
        digits = value[1:] if len(value) > 5 else "".join(2 * digit for digit in value[1:])
        numbers = [int(digits[i : i + 2], 16) for i in range(0, len(digits), 2)]
        return (numbers[0], numbers[1], numbers[2], numbers[3] / 255 if len(numbers) == 4 else 1.0)
    if match := _FUNCTION.match(value):
        return _from_function(re.split(r"[\s,/]+", match["parts"].strip()))
    return None


def _from_function(parts: list[str]) -> Colour | None:
    try:
        numbers = [float(p.rstrip("%")) * (2.55 if p.endswith("%") else 1) for p in parts[:3]]
        alpha = 1.0 if len(parts) < 4 else float(parts[3].rstrip("%")) / (100 if parts[3].endswith("%") else 1)
    except ValueError:
        return None
    return (numbers[0], numbers[1], numbers[2], alpha) if len(numbers) == 3 else None


def contrast(first: Colour, second: Colour) -> float:
    """The contrast ratio of two colours, 1 (the same) to 21 (black on white), as WCAG 2 defines it."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(value: Colour) -> float:
    parts = [min(max(part / 255, 0.0), 1.0) for part in value[:3]]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@dataclass(frozen=True)
class Look:
    """How text is set: what an element hands down to its children."""

    colour: Colour | None = (0, 0, 0, 1)
    background: Colour | None = (255, 255, 255, 1)
    size: float = 12.0
    invisible: bool = False

    def inside(self, values: Mapping[str, str]) -> Look:
        """The look of an element with these declarations, inside one that looks so."""
        look = self
        if size := values.get("font-size"):
            found = points(size, self.size)
            look = replace(look, size=self.size if found is None else found)
        if shown := values.get("visibility"):
            look = replace(look, invisible=shown in ("hidden", "collapse"))
        ink = values.get("-webkit-text-fill-color") or values.get("color")
        if ink and ink not in ("inherit", "currentcolor"):
            look = replace(look, colour=colour(ink))
        return replace(look, background=_background(values, look.background))

    def reason(self) -> str:
        """Why text that looks so cannot be seen, or nothing."""
        if self.invisible:
            return "visibility is hidden"
        if self.size < _SMALLEST:
            return f"font size {self.size:.1f} pt"
        if self.colour is not None and self.colour[3] < 0.1:
            return "transparent colour"
        if self.colour and self.background and contrast(self.colour, self.background) < LEAST_CONTRAST:
            return "colour of its background"
        return ""


def _background(values: Mapping[str, str], above: Colour | None) -> Colour | None:
    """The colour behind the text; null where it is a picture, a gradient or not understood."""
    if values.get("background-image", "none") != "none":
        return None
    value = values.get("background-color") or values.get("background")
    if not value or value in ("inherit", "none", "initial"):
        return above
    found = colour(value)
    return above if found is not None and found[3] < 0.1 else found


def switched_off(values: Mapping[str, str], outside_pt: float = -300.0) -> tuple[str, Certainty]:
    """Why an element with these declarations is not shown with all that it holds, or nothing.

    Args:
        values: Its declarations.
        outside_pt: How far left or up text has to be moved, in points, to lie outside the page.
    """
    if values.get("display") == "none":
        return "display is none", "high"
    if _number(values.get("opacity")) < 0.1:
        return "opacity zero", "high"
    if _off_screen(values, outside_pt):
        return "placed outside the page", "high"
    return ("clipped to nothing", "medium") if _clipped(values) else ("", "high")


def _number(value: str | None) -> float:
    try:
        return float(value.rstrip("%")) if value else 1.0
    except ValueError:
        return 1.0


def _off_screen(values: Mapping[str, str], outside_pt: float) -> bool:
    placed = values.get("position") in ("absolute", "fixed")
    names = ("text-indent", "margin-left", *(("left", "top", "right", "bottom") if placed else ()))
    lengths = [points(values[name], 12.0) for name in names if name in values]
    moved = re.search(r"translate[xy]?\(\s*-\d{4,}", values.get("transform", ""))
    return any(length is not None and length <= outside_pt for length in lengths) or bool(moved)


def _clipped(values: Mapping[str, str]) -> bool:
    sides = [points(side, 12.0) for side in re.findall(r"[\w.%+-]+", values.get("clip", "").removeprefix("rect"))]
    if len(sides) == 4 and None not in sides:
        top, right, bottom, left = (side or 0.0 for side in sides)
        if right - left <= 1 or bottom - top <= 1:
            return True
    if re.search(r"inset\(\s*(?:50|100)%", values.get("clip-path", "")) or "scale(0)" in values.get("transform", ""):
        return True
    if "hidden" not in (values.get("overflow"), values.get("overflow-x"), values.get("overflow-y")):
        return False
    sizes = [points(values[n], 12.0) for n in ("width", "height", "max-width", "max-height") if n in values]
    return any(size is not None and size <= 1 for size in sizes)


class HiddenWords:
    """Text that a reader cannot see, as it is met in reading order; neighbours hidden for one reason are one piece."""

    def __init__(self, holder: str, between: str) -> None:
        self._holder = holder
        self._between = between
        self._pieces: list[tuple[str, str, Certainty]] = []
        self._open = False

    def add(self, text: str, reason: str, certainty: Certainty = "high") -> None:
        """Keep hidden text."""
        if not text.strip():
            return
        if self._open and self._pieces[-1][1:] == (reason, certainty):
            text = f"{self._pieces.pop()[0]}{self._between}{text}"
        self._pieces.append((text, reason, certainty))
        self._open = True

    def end(self) -> None:
        """Text that is seen stands here: what is hidden after it is another piece."""
        self._open = False

    def findings(self) -> tuple[Finding, ...]:
        """One finding for each piece with a word in it, at most 50; a last one counts the rest."""
        told = [(" ".join(text.split()), why, certainty) for text, why, certainty in self._pieces if _WORD.search(text)]
        findings = [
            Finding(
                kind="hidden_text",
                message=f"The {self._holder} {_HIDES} ({why}); it is kept out of the sections.",
                certainty=certainty,
                text=text,
            )
            for text, why, certainty in told[:_MOST]
        ]
        if more := told[_MOST:]:
            message = f"The {self._holder} holds {len(more)} more pieces of text that a reader cannot see."
            rest = "\n".join(text for text, _, _ in more)
            findings.append(Finding(kind="hidden_text", message=message, certainty="high", text=rest))
        return tuple(findings)
