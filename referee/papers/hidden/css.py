"""Style sheets as browsers read them: declarations, colours, lengths, and which rules name which element.

tinycss2 takes sheets apart (escapes, comments, blocks in blocks) and knows the colours of CSS Color 4; cssselect says
in XPath which elements a selector names. What is left here is the cascade's order and the conditions of blocks, for a
screen of 1280 by 900 pixels with light colours.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import tinycss2
import tinycss2.color5
from cssselect import HTMLTranslator, SelectorError
from cssselect import parse as parse_selectors

Colour = tuple[float, float, float, float]
_SYSTEM = {"canvas": 255.0, "field": 255.0, "window": 255.0, "canvastext": 0.0, "fieldtext": 0.0, "windowtext": 0.0}
_LENGTH = re.compile(r"(?P<value>[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?P<unit>[a-z]*|%)")
_POINTS = {
    **{"px": 0.75, "pt": 1.0, "in": 72.0, "cm": 28.35, "mm": 2.835, "pc": 12.0, "rem": 12.0, "q": 0.709},
    **dict.fromkeys(("vw", "vh", "vmin", "vmax", "dvw", "dvh", "svw", "svh", "lvw", "lvh", "vi", "vb"), 6.0),
}
_RELATIVE = {"em": 1.0, "%": 0.01, "ex": 0.5, "ch": 0.5, "lh": 1.2}
_SIZE_WORDS = {"xx-small": 7.0, "x-small": 7.5, "small": 10.0, "medium": 12.0, "large": 13.5, "x-large": 18.0}
SIDES = ("top", "right", "bottom", "left")
_SCREEN = {"width": 960.0, "height": 675.0}
_CONDITION = re.compile(r"\((?P<name>[\w-]+)(?:\s*:\s*(?P<value>[^()]*))?\)")
_HOLDS = {"orientation": ("landscape",), "prefers-color-scheme": ("light",), "color": (""), "min-color": ("1",)}
_FONT_SIZE = re.compile(r"(?<![-\w])(?:calc\((?:[^()]|\([^()]*\))*\)|[\d.]+[\w%]*(?!\d*\s+[\d.]))")
_VAR = re.compile(r"var\(\s*(--[^\s,()]+)\s*(?:,((?:[^()]|\([^()]*\))*))?\)")
_SIGNS: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_MOST_STEPS, _LONGEST, _DEEPEST = 12, 2000, 12


@dataclass(frozen=True)
class Rule:
    """What one selector sets. ``weight`` orders rules as the cascade does; ``path`` finds its elements."""

    path: str
    weight: tuple[int, int, int, int]
    values: tuple[tuple[str, str, bool], ...]


def parse_rules(sheets: Iterable[str], wanted: frozenset[str]) -> tuple[Rule, ...]:
    """The rules that set a wanted property or a variable, lightest first; selectors that no XPath can say are left out.

    Blocks count where their condition holds on a screen: ``@media`` by type, width, height, orientation and colour
    scheme, ``@supports`` unless it says ``not``, ``@layer`` always. A condition that is not known here does not hold.
    """
    rules: list[Rule] = []
    for sheet in sheets:
        nodes = tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True)
        for selectors, values in _blocks(nodes, "", 0):
            kept = tuple(one for one in values if one[0] in wanted or one[0].startswith("--"))
            if kept:
                rules.extend(_rules(selectors, kept, len(rules)))
    return tuple(sorted(rules, key=lambda rule: rule.weight))


def _blocks(nodes: Sequence[Any], above: str, depth: int) -> Iterator[tuple[str, list[tuple[str, str, bool]]]]:
    """Selectors and declarations, blocks in blocks taken apart."""
    own = [one for node in nodes if node.type == "declaration" for one in _declared(node)]
    if own and above:
        yield above, own
    for node in nodes:
        if depth > _DEEPEST or node.type not in ("qualified-rule", "at-rule") or node.content is None:
            continue
        inner = tinycss2.parse_blocks_contents(node.content, skip_comments=True, skip_whitespace=True)
        if node.type == "qualified-rule":
            yield from _blocks(inner, _nested(tinycss2.serialize(node.prelude).strip(), above), depth + 1)
        elif applies(node.lower_at_keyword, tinycss2.serialize(node.prelude)):
            yield from _blocks(inner, above, depth + 1)


def _nested(selector: str, above: str) -> str:
    """A selector inside another one's block."""
    if not above:
        return selector
    return selector.replace("&", f":is({above})") if "&" in selector else f":is({above}) :is({selector})"


def _rules(selectors: str, values: tuple[tuple[str, str, bool], ...], order: int) -> Iterator[Rule]:
    try:
        parsed = parse_selectors(selectors)
    except (SelectorError, RecursionError):
        return
    for selector in parsed:
        if selector.pseudo_element is None:
            try:
                path = HTMLTranslator().selector_to_xpath(selector, prefix="descendant-or-self::")
            except SelectorError:
                continue
            yield Rule(path, (*selector.specificity(), order), values)


def applies(keyword: str, condition: str) -> bool:
    """Whether a conditional block counts on a screen."""
    condition = condition.strip().lower()
    if keyword in ("layer", "supports"):
        return keyword == "layer" or not condition.startswith("not")
    return keyword in ("media", "container") and (
        not condition or any(_query(query.strip()) for query in condition.split(","))
    )


def _query(query: str) -> bool:
    negated, query = query.startswith("not "), query.removeprefix("not ").removeprefix("only ")
    kind = re.match(r"[a-z-]*", query)
    fits = (kind[0] if kind else "") in ("", "all", "screen")
    parts = list(_CONDITION.finditer(query))
    fits = fits and len(parts) == query.count("(") and all(_holds(part["name"], part["value"]) for part in parts)
    return fits != negated


def _holds(name: str, value: str | None) -> bool:
    value = (value or "").strip()
    side, _, measure = name.partition("-")
    if side in ("min", "max") and measure in _SCREEN:
        length = points(value, 12.0)
        return length is not None and (length <= _SCREEN[measure]) == (side == "min")
    return value in _HOLDS.get(name, ())


@lru_cache(maxsize=4096)
def declared(style: str) -> tuple[tuple[str, str, bool], ...]:
    """Property, value and whether it is important, in order; shorthands are taken apart."""
    nodes = tinycss2.parse_blocks_contents(style, skip_comments=True, skip_whitespace=True)
    return tuple(one for node in nodes if node.type == "declaration" for one in _declared(node))


def declarations(style: str) -> dict[str, str]:
    """Property to value, variables put in, lower case; an important one wins."""
    found: dict[str, str] = {}
    for important in (False, True):
        found.update({name: value for name, value, weighs in declared(style) if weighs == important})
    return settled(found, {})


def _declared(node: Any) -> Iterator[tuple[str, str, bool]]:
    value = tinycss2.serialize([part for part in node.value if part.type != "comment"]).strip()
    name = node.name if node.name.startswith("--") else node.lower_name
    for part, own in _parts(name, value):
        yield part, own, node.important


def _parts(name: str, value: str) -> Iterator[tuple[str, str]]:
    """The properties a shorthand sets, as far as they can hide text."""
    yield name, value
    words = value.split()
    if name == "font" and (size := _FONT_SIZE.search(value)):
        yield "font-size", size[0]
    elif name in ("inset", "margin") and 1 <= len(words) <= 4:
        sides = (words * 4)[:4] if len(words) != 3 else [*words, words[1]]
        prefix = "" if name == "inset" else "margin-"
        yield from ((f"{prefix}{side}", word) for side, word in zip(SIDES, sides, strict=True))


def settled(values: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """The values with variables put in, lower case."""
    own = {**variables, **{name: value for name, value in values.items() if name.startswith("--")}}
    return {name: _put_in(value, own).lower() for name, value in values.items() if not name.startswith("--")}


def _put_in(value: str, variables: Mapping[str, str]) -> str:
    for _ in range(_MOST_STEPS):
        if "var(" not in value or len(value) > _LONGEST:
            break
        value = _VAR.sub(lambda match: variables.get(match[1], match[2] or "").strip(), value)
    return value.strip()


def points(value: str, parent: float) -> float | None:
    """A length in points; ``em`` and ``%`` are relative to ``parent``; null for what is no plain length or sum."""
    if value in _SIZE_WORDS:
        return _SIZE_WORDS[value]
    if value.startswith("calc(") and len(value) < 200:
        terms = _LENGTH.sub(lambda match: repr(_in_points(match, parent)), value.removeprefix("calc"))
        try:
            return _value(ast.parse(terms, mode="eval").body)
        except (SyntaxError, ValueError, ArithmeticError, RecursionError):
            return None
    match = _LENGTH.fullmatch(value)
    if not match or (not match["unit"] and float(match["value"])):
        return None
    return _in_points(match, parent)


def _in_points(match: re.Match[str], parent: float) -> float:
    number, unit = float(match["value"]), match["unit"]
    return number * (parent * _RELATIVE[unit] if unit in _RELATIVE else _POINTS.get(unit, 1.0))


def _value(node: ast.AST) -> float:
    match node:
        case ast.Constant(value=float() | int() as number):
            return float(number)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() as sign, right=right):
            first, second = _value(left), _value(right)
            return _SIGNS[type(sign)](first, second)
    raise ValueError(type(node).__name__)


@lru_cache(maxsize=4096)
def colour(value: str) -> Colour | None:
    """Red, green, blue (0 to 255) and opacity (0 to 1); null for a value that is not understood.

    A mixture of colours that are all alike is that colour; of others it is null.
    """
    value = value.strip().lower()
    if value in _SYSTEM:
        return (_SYSTEM[value],) * 3 + (1.0,)
    token = tinycss2.parse_one_component_value(value, skip_comments=True)
    if token.type == "error":
        return None
    try:
        found = tinycss2.color5.parse_color(token)
    except (ValueError, TypeError, IndexError, AttributeError):
        found = None
    if isinstance(found, tinycss2.color4.Color):
        return _in_rgb(found)
    return _mixture(token) if token.type == "function" and found is None else None


def _mixture(function: Any) -> Colour | None:
    inner = [
        colour(tinycss2.serialize([token]))
        for token in function.arguments
        if token.type in ("ident", "hash", "function")
    ]
    known = [one for one in inner if one is not None]
    is_one = function.lower_name == "light-dark" or all(one == known[0] for one in known)
    return known[0] if known and is_one else None


def _in_rgb(found: Any) -> Colour | None:
    alpha = float(found.alpha)
    space = found.space.removeprefix("--")
    if space in ("lab", "lch", "oklab", "oklch", "xyz-d50", "xyz-d65", "xyz"):
        lab = found.to("lab").coordinates
        # A grey of the same lightness: contrast is a matter of lightness alone.
        y = ((float(lab[0]) + 16) / 116) ** 3 if lab[0] > 8 else float(lab[0]) / 903.3
        grey = 255 * (12.92 * y if y <= 0.0031308 else 1.055 * y ** (1 / 2.4) - 0.055)
        return (grey, grey, grey, alpha)
    shown = found.to("srgb") if space in ("hsl", "hwb") else found
    red, green, blue = (255 * float(part or 0) for part in shown.coordinates)
    return (red, green, blue, alpha)
