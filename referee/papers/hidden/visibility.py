"""Whether a reader sees text: what styles say of it, contrast of colours, and what was hidden."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from referee.papers.hidden.css import SIDES, Colour, colour, points
from referee.papers.pieces import number
from referee.schemas.paper import Certainty, Finding

_SMALLEST = 2.0
LEAST_CONTRAST = 1.2
_MOST = 50
_WORD = re.compile(r"[^\W\d_]{3,}")
_CLIPPED = re.compile(
    r"(?:circle|ellipse)\(\s*0(?![.\d])|inset\(\s*(?:[5-9]\d|100)%|polygon\(\s*(?P<point>[^,()]+?)\s*(?:,\s*(?P=point)\s*)*\)"
)
_FLAT = re.compile(
    r"scale(?:3d|[xy])?\((?:[^()]*,)?\s*0(?:\.0+)?%?\s*[,)]|rotate[xy]\(\s*-?(?:90deg|270deg|0?\.25turn|100grad)\s*\)"
)
_NO_MASK = re.compile(r"[\w-]*gradient\((?:\s*transparent\s*,?)+\)")
_FADED = re.compile(r"opacity\(\s*([\d.]+%?)\s*\)")
HIDES_BY = frozenset(
    [
        "display",
        "visibility",
        "opacity",
        "filter",
        "content-visibility",
        "color",
        "-webkit-text-fill-color",
        "font-size",
        "position",
        "left",
        "top",
        "right",
        "bottom",
        "margin-left",
        "margin-top",
        "text-indent",
        "transform",
        "translate",
        "scale",
        "clip",
        "clip-path",
        "overflow",
        "overflow-x",
        "overflow-y",
        "width",
        "height",
        "max-width",
        "max-height",
        "line-height",
        "mask",
        "mask-image",
        "-webkit-mask",
        "-webkit-mask-image",
        "background",
        "background-color",
        "background-image",
    ]
)
"""The properties that can hide text."""


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
    variables: Mapping[str, str] = field(default_factory=dict)

    def with_variables(self, values: Mapping[str, str]) -> Look:
        """The look with the variables that an element's declarations set."""
        own = {name: value for name, value in values.items() if name.startswith("--")}
        return replace(self, variables={**self.variables, **own}) if own else self

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
        alike = self.colour and self.background and contrast(self.colour, self.background) < LEAST_CONTRAST
        return (
            ("visibility is hidden" if self.invisible else "")
            or (f"font size {self.size:.1f} pt" if self.size < _SMALLEST else "")
            or ("transparent colour" if self.colour is not None and self.colour[3] < 0.1 else "")
            or ("colour of its background" if alike else "")
        )


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
    faded = _FADED.search(values.get("filter", ""))
    least = min(_number(values.get("opacity")), _number(faded[1] if faded else None))
    reason = (
        ("display is none" if values.get("display") == "none" else "")
        or ("content-visibility is hidden" if values.get("content-visibility") == "hidden" else "")
        or ("opacity zero" if least < 0.1 else "")
        or ("placed outside the page" if _off_screen(values, outside_pt) else "")
    )
    return ("clipped to nothing", "medium") if not reason and _clipped(values) else (reason, "high")


def _number(value: str | None) -> float:
    value = re.sub(r"^calc\(\s*([\d.]+%?)\s*\)$", r"\1", value or "")
    return number(value[:-1], 100) / 100 if value.endswith("%") else number(value, 1.0)


def _off_screen(values: Mapping[str, str], outside_pt: float) -> bool:
    placed = values.get("position", "static") != "static"
    names = ("text-indent", "margin-left", "margin-top", *(SIDES if placed else ()))
    moved = [values[name] for name in names if name in values]
    moved += values.get("translate", "").split()
    for call in re.findall(r"translate[xy3d]*\(([^()]*)\)", values.get("transform", "")):
        moved += call.split(",")
    lengths = (points(value.strip(), 12.0) for value in moved)
    return any(length is not None and length <= outside_pt for length in lengths)


def _clipped(values: Mapping[str, str]) -> bool:
    sides = [points(side, 12.0) for side in re.findall(r"[\w.%+-]+", values.get("clip", "").removeprefix("rect"))]
    if len(sides) == 4 and None not in sides:
        top, right, bottom, left = (side or 0.0 for side in sides)
        if right - left <= 1 or bottom - top <= 1:
            return True
    masks = (f"{prefix}mask{kind}" for prefix in ("", "-webkit-") for kind in ("", "-image"))
    cut = {values.get("overflow"), values.get("overflow-x"), values.get("overflow-y")} & {"hidden", "clip"}
    names = ("width", "height", "max-width", "max-height", "line-height") if cut else ()
    sizes = (points(values[name], 12.0) for name in names if name in values)
    return bool(
        _CLIPPED.search(values.get("clip-path", ""))
        or _FLAT.search(values.get("transform", ""))
        or any(re.fullmatch(r"0*\.?0*%?", part) for part in values.get("scale", "").split())
        or any(_NO_MASK.search(values.get(name, "")) for name in masks)
        or any(size is not None and size <= 1 for size in sizes)
    )


@dataclass
class HiddenWords:
    """Text that a reader cannot see, as it is met in reading order; neighbours hidden for one reason are one piece."""

    holder: str
    between: str
    _pieces: list[tuple[str, str, Certainty]] = field(default_factory=list)
    _open: bool = False

    def add(self, text: str, reason: str, certainty: Certainty = "high") -> None:
        """Keep hidden text."""
        if not text.strip():
            return
        if self._open and self._pieces[-1][1:] == (reason, certainty):
            text = f"{self._pieces.pop()[0]}{self.between}{text}"
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
                message=f"The {self.holder} holds text that a reader cannot see ({why}); it is kept out of the "
                "sections.",
                certainty=certainty,
                text=text,
            )
            for text, why, certainty in told[:_MOST]
        ]
        if more := told[_MOST:]:
            message = f"The {self.holder} holds {len(more)} more pieces of text that a reader cannot see."
            rest = "\n".join(text for text, _, _ in more)
            findings.append(Finding(kind="hidden_text", message=message, certainty="high", text=rest))
        return tuple(findings)
