"""Whether a run of a Word document can be seen, and what could not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from referee.papers.docx.names import W14, W, local
from referee.papers.docx.styles import Styles, is_on, value
from referee.papers.html.css import Colour, colour, contrast
from referee.schemas.paper import Finding

_SMALLEST = 2.0
_LEAST_CONTRAST = 1.2
_NARROWEST = 10
_MOST = 50
_WORD = re.compile(r"[^\W\d_]{3,}")
_HIGHLIGHTS = {"darkBlue": "000080", "darkCyan": "008080", "darkGreen": "008000", "darkMagenta": "800080"}
_HIGHLIGHTS |= {"darkRed": "800000", "darkYellow": "808000", "darkGray": "808080", "lightGray": "c0c0c0"}
_HIGHLIGHTS |= {"black": "000000", "blue": "0000ff", "cyan": "00ffff", "green": "00ff00", "magenta": "ff00ff"}
_HIGHLIGHTS |= {"red": "ff0000", "yellow": "ffff00", "white": "ffffff"}


@dataclass
class Place:
    """What lies behind a run: the shade of its cell, or that a table style shades cells in a way not read here."""

    shade: Colour | None = (255, 255, 255, 1)


class HiddenRuns:
    """Decides for each run, and keeps what was hidden."""

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._seen: list[tuple[str, str]] = []
        self._open = False

    def reason(self, run: Any, paragraph: Any | None, place: Place) -> str:
        """Why a run cannot be seen ('marked as hidden', 'font size 1.0 pt', ...), or nothing."""

        def read(name: str) -> Any | None:
            return self._styles.run_property(run, paragraph, name)

        if is_on(read("vanish")):
            return "marked as hidden"
        size = value(read("sz")) or ""
        if size.isdigit() and int(size) / 2 < _SMALLEST:
            return f"font size {int(size) / 2:.1f} pt"
        width = (value(read("w")) or "").rstrip("%")
        if width.isdigit() and int(width) < _NARROWEST:
            return f"letters set {width}% wide"
        if self._is_unfilled(run):
            return "letters without a fill"
        ink = colour(f"#{value(read('color')) or 'auto'}")
        behind = self._behind(run, paragraph, place)
        if ink is not None and behind is not None and contrast(ink, behind) < _LEAST_CONTRAST:
            return "colour of its background"
        return ""

    @staticmethod
    def _is_unfilled(run: Any) -> bool:
        fill = run.find(f"{W}rPr/{W14}textFill")
        return fill is not None and any(local(child.tag) == "noFill" for child in fill)

    def _behind(self, run: Any, paragraph: Any | None, place: Place) -> Colour | None:
        marked = value(self._styles.run_property(run, paragraph, "highlight"))
        if marked and marked != "none":
            return colour(f"#{_HIGHLIGHTS.get(marked, 'ffff00')}")
        shades = [self._styles.run_property(run, paragraph, "shd")]
        if paragraph is not None:
            shades.append(self._styles.paragraph_property(paragraph, "shd"))
        for shade in shades:
            found = shade_of(shade)
            if found is not None:
                return found
        return place.shade

    def tell(self, text: str, reason: str) -> None:
        """Keep hidden text; runs next to each other that are hidden for one reason become one piece."""
        if self._open and self._seen and self._seen[-1][1] == reason:
            text = self._seen.pop()[0] + text
        self._seen.append((text, reason))
        self._open = True

    def pass_visible(self) -> None:
        """Text that is seen, or a paragraph's end: what is hidden after it is another piece."""
        self._open = False

    def findings(self) -> tuple[Finding, ...]:
        """One finding for each piece of hidden text with a word in it, at most 50; a last one counts the rest."""
        told = [(" ".join(text.split()), reason) for text, reason in self._seen if _WORD.search(text)]
        findings = [
            Finding(
                kind="hidden_text",
                message=f"The file holds text that a reader cannot see ({reason}); it is kept out of the sections.",
                certainty="high",
                text=text,
            )
            for text, reason in told[:_MOST]
        ]
        if len(told) > _MOST:
            message = f"The file holds {len(told) - _MOST} more pieces of text that a reader cannot see."
            rest = "\n".join(text for text, _ in told[_MOST:])
            findings.append(Finding(kind="hidden_text", message=message, certainty="high", text=rest))
        return tuple(findings)


def shade_of(shade: Any | None) -> Colour | None:
    """The colour of a ``w:shd``; null where there is none, or it is left to Word."""
    fill = None if shade is None else shade.get(f"{W}fill")
    return None if not fill or fill == "auto" else colour(f"#{fill}")
