"""Word's formulas (OMML) written out as linear text in LaTeX's notation."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any

from referee.papers.docx.styles import M, W, is_on, local, value
from referee.papers.pieces import joined_tex, tex_group

_NARY = {
    "∑": "\\sum", "∏": "\\prod", "∐": "\\coprod", "∫": "\\int", "∬": "\\iint", "∭": "\\iiint", "∮": "\\oint",
    "⋃": "\\bigcup", "⋂": "\\bigcap", "⨁": "\\bigoplus", "⨂": "\\bigotimes", "⋁": "\\bigvee", "⋀": "\\bigwedge",
}  # fmt: skip
_ACCENTS = {
    "\u0302": "\\hat", "^": "\\hat", "\u0303": "\\tilde", "~": "\\tilde", "\u0304": "\\bar", "\u0305": "\\bar",
    "¯": "\\bar", "\u20d7": "\\vec", "→": "\\vec", "\u0307": "\\dot", "\u0308": "\\ddot", "\u030c": "\\check",
}  # fmt: skip
_SIGNS = {
    "≤": "\\leq", "≥": "\\geq", "≠": "\\neq", "±": "\\pm", "×": "\\times", "⋅": "\\cdot", "·": "\\cdot",
    "∈": "\\in", "∉": "\\notin", "→": "\\to", "∞": "\\infty", "∂": "\\partial", "∇": "\\nabla", "∼": "\\sim",
    "≈": "\\approx", "∀": "\\forall", "∃": "\\exists", "⊂": "\\subset", "⊆": "\\subseteq", "∪": "\\cup",
    "∩": "\\cap", "…": "\\ldots", "⋯": "\\cdots", "−": "-", "∝": "\\propto", "≡": "\\equiv", "ℓ": "\\ell",
    "{": "\\{", "}": "\\}", **_NARY,
}  # fmt: skip
_SPACES = dict.fromkeys(map(ord, "\u2061\u2062\u2063\u2064\u200a\u200b\u2009\u2005"), None)
_GREEK = re.compile(r"GREEK (?P<case>SMALL|CAPITAL) LETTER (?P<name>[A-Z]+)")
_RENAMED = {"LAMDA": "lambda", "OMICRON": "o"}
_NO_TEXT = frozenset({"del", "moveFrom", "ctrlPr", "instrText", "delText"})


def tex_of(element: Any) -> str:
    """One ``m:oMath`` (or any element inside one) as LaTeX-like text; unknown structures as their children in a row."""
    return " ".join(_row(element).replace("\u2003", " \\quad ").split())


def _row(element: Any | None) -> str:
    if element is None:
        return ""
    named = ((child, local(child.tag)) for child in element)
    kept = ((child, name) for child, name in named if name not in _NO_TEXT and not name.endswith("Pr"))
    return joined_tex(_WRITERS.get(name, _row)(child) for child, name in kept)


def _run(run: Any) -> str:
    properties = run.find(f"{W}rPr")
    if properties is not None and is_on(properties.find(f"{W}vanish")):
        return ""
    shown = (node for node in run.iter() if local(node.tag) == "t")
    text = "".join(t.text or "" for t in shown if not any(local(above.tag) in _NO_TEXT for above in t.iterancestors()))
    look = run.find(f"{M}rPr")
    normal = look is not None and is_on(look.find(f"{M}nor"))
    if normal and text.strip():
        return f"\\text{{{text}}}"
    upright = look is not None and value(look.find(f"{M}sty")) == "p"
    text = text.translate(_SPACES)
    if upright and len(text) > 1 and text.isalpha() and text.isascii():
        return f"\\mathrm{{{text}}}"
    return joined_tex(map(_named, text))


def _named(char: str) -> str:
    """Greek letters and signs by their names; the letters of mathematical alphabets as plain ones."""
    plain = unicodedata.normalize("NFKC", char) if 0x1D400 <= ord(char) <= 0x1D7FF else char
    return _SIGNS.get(char) or _greek(char) or _greek(plain) or plain


def _greek(char: str) -> str | None:
    match = _GREEK.fullmatch(unicodedata.name(char, ""))
    if not match:
        return None
    name = _RENAMED.get(match["name"], match["name"].lower())
    return f"\\{name if match['case'] == 'SMALL' else name.capitalize()}"


def _part(element: Any, name: str) -> str:
    return _row(element.find(f"{M}{name}")).strip()


def _property(element: Any, name: str) -> str | None:
    """The value of a property; an empty string where it is there without a value."""
    properties = next((child for child in element if local(child.tag).endswith("Pr")), None)
    found = None if properties is None else properties.find(f"{M}{name}")
    return None if found is None else (value(found) or "")


def _fraction(element: Any) -> str:
    over, under = _part(element, "num"), _part(element, "den")
    if _property(element, "type") in ("lin", "skw"):
        return f"{over}/{under}"
    if _property(element, "type") == "noBar":
        return f"\\binom{{{over}}}{{{under}}}"
    return f"\\frac{{{over}}}{{{under}}}"


def _root(element: Any) -> str:
    degree = _part(element, "deg")
    return f"\\sqrt[{degree}]{{{_part(element, 'e')}}}" if degree else f"\\sqrt{{{_part(element, 'e')}}}"


def _low_and_high(element: Any) -> str:
    low, high = _part(element, "sub"), _part(element, "sup")
    return (f"_{tex_group(low)}" if low else "") + (f"^{tex_group(high)}" if high else "")


def _scripts(element: Any) -> str:
    base, scripts = _part(element, "e"), _low_and_high(element)
    return f"{{}}{scripts}{base}" if local(element.tag) == "sPre" else f"{base}{scripts}"


def _nary(element: Any) -> str:
    sign, body = _property(element, "chr") or "∫", _part(element, "e")
    return f"{_NARY.get(sign, sign)}{_low_and_high(element)}{' ' if body else ''}{body}"


def _delimited(element: Any) -> str:
    opening, closing = _property(element, "begChr"), _property(element, "endChr")
    divider = _property(element, "sepChr") or "|"
    inside = divider.join(_row(part).strip() for part in element.findall(f"{M}e"))
    opening = "(" if opening is None else {"{": "\\{", "‖": "\\|"}.get(opening, opening)
    closing = ")" if closing is None else {"}": "\\}", "‖": "\\|"}.get(closing, closing)
    return f"{opening}{inside}{closing}"


def _accent(element: Any) -> str:
    sign = _property(element, "chr")
    named = "\\hat" if sign is None else _ACCENTS.get(sign, "\\overset{" + sign + "}")
    return f"{named}{{{_part(element, 'e')}}}"


def _function_name(text: str) -> str:
    return re.sub(r"^\\mathrm\{(\w+)\}$", r"\\\1", text)


def _limit(element: Any) -> str:
    sign = "_" if local(element.tag) == "limLow" else "^"
    return f"{_function_name(_part(element, 'e'))}{sign}{tex_group(_part(element, 'lim'))}"


def _matrix(element: Any) -> str:
    rows = (" & ".join(_row(cell).strip() for cell in row.findall(f"{M}e")) for row in element.findall(f"{M}mr"))
    return "\\begin{matrix}" + " \\\\ ".join(rows) + "\\end{matrix}"


_WRITERS: dict[str, Callable[[Any], str]] = {
    "r": _run, "f": _fraction, "rad": _root, "sSub": _scripts, "sSup": _scripts, "sSubSup": _scripts, "sPre": _scripts,
    "nary": _nary, "d": _delimited, "acc": _accent, "limLow": _limit,
    "limUpp": _limit, "m": _matrix,
    "bar": lambda e: f"\\{'overline' if _property(e, 'pos') == 'top' else 'underline'}{{{_part(e, 'e')}}}",
    "func": lambda e: f"{_function_name(_part(e, 'fName'))} {_part(e, 'e')}",
    "eqArr": lambda e: " \\\\ ".join(_row(part).strip() for part in e.findall(f"{M}e")),
    "phant": lambda e: "" if _property(e, "show") in ("0", "false", "off") else _part(e, "e"),
}  # fmt: skip
