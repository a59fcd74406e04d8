"""Whatever macro a formula holds, with or without its arguments, the text is shown and the review is written."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest
from pylatexenc.latex2text import get_default_latex_context_db

from referee.reports import openreview_object, render_review, to_json
from referee.reports.fixes import render_fixes
from referee.reports.formulas import in_signs, readable
from referee.reports.terminal import summary_lines

from . import example

SHAPES = (r"\{}", r"\{}{{}}", r"x\{}", r"\{}{{a}}{{b}}", r"\{}[a]", r"\{}_{{1}}")


def macros() -> list[str]:
    """All macros that pylatexenc knows."""
    known: Any = get_default_latex_context_db()
    return sorted({spec.macroname for spec in known.iter_macro_specs() if spec.macroname})


FORMS = [shape.format(name) for name in macros() for shape in SHAPES]
ONCE_FATAL = [r"\sqrt", r"\title", r"\date", r"\author", r"x\footnote", r"\href{u}{x}", r"\fcolorbox", r"\exercise"]


@pytest.mark.slow
def test_every_macro_in_every_shape_is_shown() -> None:
    assert len(FORMS) > 2_000
    for form in FORMS:
        text = f"the value ${form}$ of it"
        assert readable(text).startswith("the value ")
        assert readable(text).endswith(" of it")


@pytest.mark.parametrize("form", ONCE_FATAL)
def test_a_formula_that_cannot_be_drawn_stays_as_it_stands(form: str) -> None:
    assert readable(f"a ${form}$ b") in (f"a ${form}$ b", f"a {in_signs(form)} b")


def some(most: int) -> list[str]:
    return [*ONCE_FATAL, *islice(FORMS, 0, None, max(1, len(FORMS) // most))]


def test_every_writer_shows_them() -> None:
    """The title, a box and a quotation hold them; no writer ends in an error, and each keeps the words around."""
    said = " ".join(f"${form}$" for form in some(200))
    own = example.review().model_copy(
        update={
            "paper_title": f"Lanterns {said}",
            "fields": {**example.review().fields, "summary": f"Beacons {said} end."},
        }
    )
    texts = [
        render_review(own, example.form()),
        render_fixes(own, example.form()),
        "\n".join(summary_lines(own, example.form())),
        to_json(openreview_object(own, example.form())),
    ]
    for text in (texts[0], texts[2], texts[3]):
        assert "Beacons" in text
    assert "Lanterns" in texts[0]
    assert all(texts)


@pytest.mark.parametrize("form", [r"\maketitle", r"\today", r"\widetilde{x}"])
def test_no_formula_shows_what_it_does_not_hold(form: str) -> None:
    """The library keeps the title of one formula for the next, and knows today's date."""
    readable(r"a $\title{Another paper}$ b")
    assert readable(f"a ${form}$ b") == f"a ${form}$ b"
