"""Hidden characters joined to readable runs, and runs told as findings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pypdfium2.raw as pdfium
from pypdfium2 import PdfTextPage

from referee.papers.hidden.addresses import addresses_a_model, beginning
from referee.papers.pdf.hidden.judging import Verdict, judge
from referee.papers.pdf.hidden.objects import Bounds, Char, Frame, PageObjects, TextObject, bounds_of
from referee.papers.pdf.pages import printable
from referee.schemas.paper import Box, Certainty, Finding

TAKEN_OUT = "It was taken out before the paper was read."
_SHORT_WORDS, _SHORT_LETTERS = 3, 12
_PROSE_WORDS = 5
_FIGURE_SHARE, _INKED_SHARE = 0.5, 0.7


@dataclass
class Run:
    """Neighbouring characters that a reader cannot see; ``text`` is what a program reads there."""

    chars: list[Char]
    verdicts: list[Verdict]
    text: str = ""
    certainty: Certainty = "low"
    in_figure: bool = False
    cut_off: bool = False
    objects: list[TextObject] = field(default_factory=list)

    @property
    def reason(self) -> str:
        """What hides most of it."""
        return Counter(verdict.reason for verdict in self.verdicts).most_common(1)[0][0]

    @property
    def removed(self) -> bool:
        """Whether it is taken out.

        Short signs inside figures, at the end of a visible line or drawn very small, and faint text that can be made
        out, stay.
        """
        if not all(verdict.unreadable for verdict in self.verdicts):
            return False
        label = self.in_figure or self.cut_off or all(verdict.speck for verdict in self.verdicts)
        return self.certainty != "low" or not label


def find_runs(chars: Sequence[Char], text_page: PdfTextPage, objects: PageObjects, page_box: Bounds) -> list[Run]:
    """The page's hidden runs, in content order; runs without a letter or digit are none."""
    runs: list[Run] = []
    verdicts = {char.index: verdict for char in chars if (verdict := judge(char, objects.areas, page_box))}
    if not verdicts:
        return []
    in_part = {char.object.address for char in chars if char.index not in verdicts}
    codes = [pdfium.FPDFText_GetUnicode(text_page.raw, index) for index in range(text_page.count_chars())]
    for char in chars:
        if not (verdict := verdicts.get(char.index)):
            continue
        last = runs[-1] if runs and runs[-1].verdicts[-1].unreadable == verdict.unreadable else None
        between = codes[last.chars[-1].index + 1 : char.index] if last else ()
        if last and all(code <= 32 or chr(code).isspace() for code in between):
            last.chars.append(char)
            last.verdicts.append(verdict)
        else:
            runs.append(Run([char], [verdict]))
    for run in runs:
        units = codes[run.chars[0].index : run.chars[-1].index + 1]
        run.text = " ".join(printable([32 if code in (9, 10, 13) else code for code in units]).split())
        run.objects = list({char.object.address: char.object for char in run.chars}.values())
        run.in_figure = all(char.object.form is not None and _is_part(char.object.form, page_box) for char in run.chars)
        run.cut_off = any(one.address in in_part for one in run.objects)
        run.certainty = _certainty(run)
    return [run for run in runs if any(sign.isalnum() for sign in run.text)]


def tell(run: Run, page: int, frame: Frame) -> Finding:
    """The finding for a run."""
    fate = TAKEN_OUT if run.removed else "It stays in the text."
    places = [frame.place(char.bounds) for char in run.chars]
    return unseen(page, run.text, f"it {run.reason}. {fate}", run.certainty, places)


def unseen(page: int, text: str, why: str, certainty: Certainty, places: Sequence[Bounds]) -> Finding:
    """A finding for text of a page that a reader cannot see, at boxes given as left, top, right, bottom."""
    return Finding(
        kind="hidden_text",
        message=f"Page {page} holds text that a reader cannot see ({len(text.split())} words): {why}",
        certainty=certainty,
        page=page,
        box=Box(
            x0=round(min(p[0] for p in places), 2),
            y0=round(min(p[1] for p in places), 2),
            x1=round(max(p[2] for p in places), 2),
            y1=round(max(p[3] for p in places), 2),
        ),
        text=beginning(text),
    )


def _certainty(run: Run) -> Certainty:
    level = Counter(verdict.certainty for verdict in run.verdicts).most_common(1)[0][0]
    if addresses_a_model(run.text):
        return "high"
    words = re.findall(r"[^\W\d_]{2,}", run.text)
    letters = sum(sign.isalnum() for sign in run.text)
    if not words or (len(words) < _SHORT_WORDS and letters < _SHORT_LETTERS):
        return "low"
    # Where something else is printed, as a picture of the same words, the reader does see something there.
    if sum(char.inked for char in run.chars) >= _INKED_SHARE * len(run.chars):
        return "low"
    is_prose = len(words) >= _PROSE_WORDS and sum(map(len, words)) > 0.7 * letters
    return "low" if (run.in_figure or run.cut_off) and not is_prose else level


def _is_part(form: Any, page_box: Bounds) -> bool:
    """Whether a form takes up less than half of the page, as a figure does; some writers put the whole page in one."""
    left, bottom, right, top = bounds_of(form)
    return (right - left) * (top - bottom) < _FIGURE_SHARE * (page_box[2] - page_box[0]) * (page_box[3] - page_box[1])
