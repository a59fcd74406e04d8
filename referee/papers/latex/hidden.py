"""Text that a reader cannot see: in the colour of its background, far too small, transparent, or set and never shown.

It is taken out of the source before the paper is read, and kept in findings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from referee.papers.hidden.markup import colour_by_model
from referee.papers.latex.inline import key_text
from referee.papers.latex.nodes import SIZES, arguments, children, printed_arguments
from referee.papers.latex.scan import NUMBER, POINTS, names
from referee.papers.pieces import number
from referee.schemas.paper import Finding

Colour = tuple[float, float, float]
WHITE: Colour = (1.0, 1.0, 1.0)
_NAMES: dict[str, Colour] = {
    "white": WHITE, "black": (0, 0, 0), "red": (1, 0, 0), "green": (0, 1, 0), "blue": (0, 0, 1), "cyan": (0, 1, 1),
    "magenta": (1, 0, 1), "yellow": (1, 1, 0), "gray": (0.5, 0.5, 0.5), "grey": (0.5, 0.5, 0.5),
    "lightgray": (0.75, 0.75, 0.75), "darkgray": (0.25, 0.25, 0.25), "snow": (1, 0.98, 0.98),
    "ghostwhite": (0.97, 0.97, 1), "ivory": (1, 1, 0.94), "floralwhite": (1, 0.98, 0.94),
}  # fmt: skip
_DEFINED = re.compile(
    r"\\(?:definecolor|providecolor)\s*\{([^{}]+)\}\s*\{([^{}]+)\}\s*\{([^{}]+)\}|\\colorlet\s*\{([^{}]+)\}\s*\{([^{}]+)\}"
)


def defined_colours(source: str) -> dict[str, Colour]:
    """Named colours, with those that the source defines."""
    known = dict(_NAMES)
    for name, model, values, let, mixture in _DEFINED.findall(source):
        colour = colour_by_model(model, values) if name else mixed(mixture, known)
        if colour is not None:
            known[(name or let).strip()] = colour
    return known


def mixed(expression: str, known: dict[str, Colour]) -> Colour | None:
    """A colour from ``red!10!white``-like mixtures; a share without a second colour is mixed with white."""
    parts = expression.strip().lstrip("-").split("!")
    colour = known.get(parts[0].strip())
    for index in range(1, min(len(parts), 12), 2):
        other = known.get(parts[index + 1].strip()) if index + 1 < len(parts) else WHITE
        try:
            share = float(parts[index]) / 100
        except ValueError:
            return None
        if colour is None or other is None:
            return None
        colour = tuple(share * a + (1 - share) * b for a, b in zip(colour, other, strict=True))  # type: ignore[assignment]
    return colour


def alike(first: Colour | None, second: Colour | None) -> bool:
    """Whether two colours differ by at most a tenth in every part; false where one is not known."""
    if first is None or second is None:
        return False
    return max(abs(a - b) for a, b in zip(first, second, strict=True)) <= 0.1


_MAY_HIDE = re.compile(
    r"\\(?:color|textcolor|fontsize|scalebox|resizebox|transparent|texttransparent|[hv]?phantom|pdfliteral|special|"
    r"sbox|savebox|pagecolor|colorbox)(?![a-zA-Z])|\{lrbox\}"
)
_LENGTH = re.compile(rf"^\s*({NUMBER})\s*([a-z]{{0,2}})\s*$")
_SMALLEST_PT, _BODY_PT = 2.0, 10.0
_BOXES = frozenset(names("tcolorbox mdframed shaded tikzpicture beamercolorbox"))
_MOST_FINDINGS = 20
_SAID = {
    "colour": "set in the colour of its background",
    "size": "set in letters of 2 points or smaller",
    "transparent": "set fully transparent",
    "phantom": "set as blank space (\\phantom)",
    "unused": "put into a box that is never shown",
}


@dataclass(frozen=True)
class _State:
    """How text is set at one place; ``background`` None: not known."""

    colour: Colour | None = (0.0, 0.0, 0.0)
    background: Colour | None = WHITE
    size_pt: float = _BODY_PT
    scale: float = 1.0
    transparent: bool = False
    boxed: str = ""

    @property
    def why(self) -> str:
        """Why nothing is seen; empty where it is."""
        tiny = self.size_pt * self.scale <= _SMALLEST_PT
        seen = "colour" if alike(self.colour, self.background) else ""
        return self.boxed or ("transparent" if self.transparent else "size" if tiny else seen)


@dataclass
class Hidden:
    """Places of hidden text in the source and, run by run, why and what."""

    spans: list[tuple[int, int]] = field(default_factory=list)
    runs: list[tuple[str, list[str]]] = field(default_factory=list)

    def findings(self) -> list[Finding]:
        """One finding a run with words in it; alignment digits and single signs are none."""
        found: list[Finding] = []
        for why, parts in self.runs:
            text = " ".join(" ".join(parts).split())
            words = re.findall(r"[^\W\d_]{2,}", text)
            if not words or (why == "phantom" and len(words) < 3):
                continue
            found.append(
                Finding(
                    kind="hidden_text",
                    message=f"Text that a reader cannot see, {_SAID[why]} ({len(words)} words), is left out.",
                    certainty="high" if len(words) >= 4 else "medium",
                    text=text[:2000],
                )
            )
        return with_rest(found)


def with_rest(found: list[Finding]) -> list[Finding]:
    """The findings, of which those beyond twenty are told in one."""
    rest = found[_MOST_FINDINGS:]
    if not rest:
        return found
    message = f"Text that a reader cannot see stands at {len(rest)} more places and is left out."
    text = " … ".join(finding.text for finding in rest)[:4000]
    return [*found[:_MOST_FINDINGS], Finding(kind="hidden_text", message=message, certainty="high", text=text)]


def find_hidden(nodes: list[Any], source: str, whole: str) -> Hidden:
    """Hidden text among the nodes.

    Args:
        nodes: Of ``source``.
        source: The body that was parsed.
        whole: All of the paper's source, for colour definitions and the page's colour.
    """
    hidden = Hidden()
    if _MAY_HIDE.search(source):
        colours = defined_colours(whole)
        page = re.search(r"\\pagecolor\s*\{([^{}]*)\}", whole)
        background = mixed(page[1], colours) if page else WHITE
        reader = _Reader(hidden, colours, "\\usebox" in source)
        reader.walk(nodes, _State(background=background))
    return hidden


@dataclass
class _Reader:
    hidden: Hidden
    colours: dict[str, Colour]
    boxes_used: bool
    open: str = ""

    def walk(self, nodes: list[Any], state: _State) -> None:
        """One level: switches hold until its end."""
        outer = state
        row = cell = state.background
        for node in nodes:
            name = getattr(node, "macroname", "")
            if name == "\\" or getattr(node, "specials_chars", "") == "&":
                row = outer.background if name == "\\" else row
                cell = row
                state = replace(state if name else outer, background=cell)
            elif name in ("rowcolor", "cellcolor"):
                cell = self._colour(arguments(node))
                row = cell if name == "rowcolor" else row
                state = replace(state, background=cell)
            elif switched := self._changed(_SWITCHES, name, arguments(node) if name else [], state):
                state = switched
            else:
                self._node(node, name, state)

    def _changed(self, table: Mapping[str, _Change], name: str, given: list[Any], state: _State) -> _State | None:
        """The state after a command of the table that has its arguments; None for any other."""
        least, change = table.get(name, (0, None))
        return None if change is None or len(given) < least else replace(state, **change(self, given, state))

    def _node(self, node: Any, name: str, state: _State) -> None:
        environment = getattr(node, "environmentname", "")
        if environment:
            inner = replace(state, background=None) if environment in _BOXES else state
            if environment == "lrbox" and not self.boxes_used:
                inner = replace(state, boxed="unused")
            self.walk(children(node), inner)
        elif name:
            self._macro(node, name, state)
        elif hasattr(node, "delimiters"):
            self.walk(children(node), state)
        elif state.why:
            self._hide(node, state.why, str(node.latex_verbatim()))
        elif getattr(node, "chars", "").strip() or getattr(node, "specials_chars", ""):
            self.open = ""

    def _macro(self, node: Any, name: str, state: _State) -> None:
        given = arguments(node)
        inner = self._changed(_AROUND, name, given, state) or state
        shown = printed_arguments(node) if name not in ("phantom", "hphantom", "vphantom") else given
        for argument in shown:
            self.walk(children(argument) if hasattr(argument, "delimiters") else [argument], inner)
        if not shown and not given and state.why:
            self._hide(node, state.why, "")

    def _hide(self, node: Any, why: str, text: str) -> None:
        if not text.strip() and not getattr(node, "macroname", ""):
            return
        self.hidden.spans.append((node.pos, node.pos + node.len))
        if self.open == why and self.hidden.runs:
            self.hidden.runs[-1][1].append(text)
        else:
            self.hidden.runs.append((why, [text]))
        self.open = why

    def _colour(self, given: list[Any]) -> Colour | None:
        """A colour from ``[model]{values}`` or ``{name}``."""
        model = key_text(given[0]) if given and given[0] is not None else ""
        values = key_text(given[1]) if len(given) > 1 else ""
        return colour_by_model(model, values) if model else mixed(values, self.colours)


def _length(text: str) -> float:
    """A length in points; the body's size where it is relative or unknown."""
    match = _LENGTH.match(text)
    unit = POINTS.get(match[2] or "pt") if match else None
    return float(match[1]) * unit if match and unit is not None else _BODY_PT


_Change = tuple[int, Callable[[Any, list[Any], _State], dict[str, Any]] | None]
# What a command changes for all that follows, or for its own text argument, and how many arguments it needs for that.
_SWITCHES: Mapping[str, _Change] = {
    "color": (1, lambda walk, given, _: {"colour": walk._colour(given)}),
    "normalcolor": (0, lambda *_: {"colour": (0.0, 0.0, 0.0)}),
    "fontsize": (1, lambda _, given, __: {"size_pt": _length(key_text(given[0]))}),
    "transparent": (1, lambda _, given, __: {"transparent": number(key_text(given[0]), 1.0) <= 0.1}),
    **dict.fromkeys(SIZES, (0, lambda *_: {"size_pt": _BODY_PT})),
    **dict.fromkeys(
        ("pdfliteral", "special"),
        (1, lambda _, given, __: {"transparent": bool(re.search(r"\b3\s+Tr\b", key_text(given[-1])))}),
    ),
}
_AROUND: Mapping[str, _Change] = {
    "textcolor": (2, lambda walk, given, _: {"colour": walk._colour(given[:2])}),
    "scalebox": (1, lambda _, given, state: {"scale": state.scale * abs(number(key_text(given[0]), 1.0))}),
    "resizebox": (3, lambda _, given, state: {"size_pt": _resized(given, state)}),
    "texttransparent": (1, lambda _, given, __: {"transparent": number(key_text(given[0]), 1.0) <= 0.1}),
    **dict.fromkeys(("colorbox", "fcolorbox"), (3, lambda walk, given, _: {"background": walk._colour(given[-3:-1])})),
    **dict.fromkeys(("phantom", "hphantom", "vphantom"), (0, lambda *_: {"boxed": "phantom"})),
    **dict.fromkeys(
        ("sbox", "savebox"), (0, lambda walk, _, state: {"boxed": state.boxed if walk.boxes_used else "unused"})
    ),
}


def _resized(given: list[Any], state: _State) -> float:
    return _SMALLEST_PT if min(_length(key_text(a)) for a in given[1:3]) <= _SMALLEST_PT else state.size_pt
