r"""Text that TeX sets nowhere a reader can look: arguments that are thrown away, boxes that are never used, shifts off
the page. It is found in the source itself, since a parser takes these commands for ordinary ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from referee.papers.latex.hidden import with_rest
from referee.papers.latex.scan import NUMBER, POINTS, Braces, spliced
from referee.schemas.paper import Finding

# Which arguments of a command are not printed, counted from 0, and how many it takes.
_THROWN: Mapping[str, tuple[frozenset[int], int]] = {
    "@gobble": (frozenset({0}), 1),
    "@gobbletwo": (frozenset({0, 1}), 2),
    "@gobblethree": (frozenset({0, 1, 2}), 3),
    "@firstoftwo": (frozenset({1}), 2),
    "@secondoftwo": (frozenset({0}), 2),
    "discretionary": (frozenset({0, 1}), 3),
    "pdftooltip": (frozenset({1}), 2),
    "invisible": (frozenset({0}), 1),
    "mathchoice": (frozenset({0, 2, 3}), 4),
}
_COMMAND = re.compile(
    r"\\(?P<thrown>" + "|".join(_THROWN) + r")(?![a-zA-Z@])(?:<[^<>\n]*>)?"
    r"|\\(?P<slides>only|uncover|onslide|visible)<0>"
    r"|\\begin\{(?P<veiled>invisibleenv)\}"
    r"|\\setbox\s*(?P<box>\d+|\\[a-zA-Z@]+)\s*=?\s*\\[hv](?:box|top)(?:\s*(?:to|spread)\s*[\d.]+\s*[a-z]{2})?"
    r"|\\(?:hspace\*?\s*\{(?P<space>-?[\d.]+\s*[a-z]{2})\}"
    r"|(?:hskip|kern|moveright|moveleft)\s*(?P<skip>-?[\d.]+\s*[a-z]{2}))"
    r"|\\vbox\s*to\s*0(?:\.0*)?\s*pt\s*(?=\{\s*\\vskip\s*(?P<down>-?[\d.]+\s*[a-z]{2}))"
    r"|\\raisebox\s*\{(?P<raised>-?[\d.]+\s*[a-z]{2})\}\s*\[0pt\]\s*(?:\[0pt\])?"
    r"|\\(?:clipbox|trimbox)\*?\s*\{(?P<clip>[^{}]+)\}"
    r"|\\node\s*\[[^\]]*(?<![a-z])opacity\s*=\s*0(?:\.0*)?\s*[,\]](?:[^\]{;]*\])?"
    r"|\\pdfliteral\s*(?:direct|page)\s*\{\s*3\s+Tr\s*\}(?P<mode>)"
)
_LENGTH = re.compile(rf"(?<![\d.-])({NUMBER})\s*(pt|bp|mm|cm|in|em|ex)")
# Farther than the longest side of any page: 35 cm.
_OFF_PAGE_PT = 35 * POINTS["cm"]
_USED = r"\\(?:box|copy|unhbox|unvbox|unhcopy|unvcopy|usebox|wd|ht)\s*\{{?{}(?![a-zA-Z@\d])"
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n|\\par(?![a-zA-Z])|\\end\{")
_MODE_END = re.compile(r"\\pdfliteral\s*(?:direct|page)?\s*\{\s*0\s+Tr\s*\}")
_WORD = re.compile(r"[^\W\d_]{2,}")
_TEXT = re.compile(r"\\[a-zA-Z@]+\*?|[{}$]")
_FEWEST_WORDS = 3
_SAID = {
    "thrown": "given to a command that prints nothing of it",
    "unused": "put into a box that is never shown",
    "moved": "moved off the page",
    "transparent": "set fully transparent",
}


# From, to, and why it is not printed.
_Place = tuple[int, int, str]


def without_unprinted(body: str) -> tuple[str, list[Finding]]:
    """The body without text that no page shows, and a finding for each place that held words."""
    if not _COMMAND.search(body):
        return body, []
    braces = Braces(body)
    gone: list[tuple[int, int, str]] = []
    findings: list[Finding] = []
    at = 0
    for match in _COMMAND.finditer(body):
        if match.start() < at:
            continue
        for start, end, why in sorted(_places(match, braces)):
            text = " ".join(_TEXT.sub(" ", body[start:end]).split())
            words = len(_WORD.findall(text))
            if words < _FEWEST_WORDS or start < at:
                continue
            gone.append((start, end, ""))
            at = end
            message = f"Text that a reader cannot see, {_SAID[why]} ({words} words), is left out."
            findings.append(Finding(kind="hidden_text", message=message, certainty="high", text=text[:2000]))
    return spliced(body, gone), with_rest(findings)


def _places(match: re.Match[str], braces: Braces) -> Iterator[_Place]:
    """What of the text behind a command is not printed, inside of its braces."""
    end = match.end()
    if match["thrown"]:
        yield from _arguments(braces, end, *_THROWN[match["thrown"]])
    elif match["slides"]:
        yield from _arguments(braces, end, frozenset({0}), 1)
    elif match["veiled"]:
        close = braces.text.find("\\end{invisibleenv}", end)
        yield end, close if close >= 0 else end, "thrown"
    elif match["box"]:
        if not re.search(_USED.format(re.escape(match["box"])), braces.text):
            yield from _arguments(braces, end, frozenset({0}), 1, "unused")
    elif match["mode"] is not None:
        yield end, _until(_MODE_END, braces, end), "transparent"
    elif length := match["space"] or match["skip"]:
        if _is_off_page(length):
            yield end, _until(_PARAGRAPH_END, braces, end), "moved"
    elif length := match["down"] or match["raised"] or match["clip"]:
        if _is_off_page(length):
            yield from _arguments(braces, end, frozenset({0}), 1, "moved")
    else:
        yield from _arguments(braces, end, frozenset({0}), 1, "transparent")


def _arguments(braces: Braces, at: int, unprinted: frozenset[int], count: int, why: str = "thrown") -> Iterator[_Place]:
    for number in range(count):
        at = braces.skip_blanks(at)
        found = braces.argument(at)
        if found is None:
            return
        inside, after = found
        if number in unprinted and braces.text[at : at + 1] == "{":
            yield at + 1, at + 1 + len(inside), why
        at = after


def _until(end: re.Pattern[str], braces: Braces, at: int) -> int:
    """Up to an end, or that of the paragraph or of the group around it."""
    text = braces.text
    stops = [found.start() for found in (end.search(text, at), _PARAGRAPH_END.search(text, at)) if found]
    stops += [closed for opened, closed in braces.closing.items() if opened < at <= closed]
    return min(stops, default=len(text))


def _is_off_page(lengths: str) -> bool:
    """Whether one of the lengths in a text moves what follows off any page."""
    return any(abs(float(number)) * POINTS[unit] >= _OFF_PAGE_PT for number, unit in _LENGTH.findall(lengths))
