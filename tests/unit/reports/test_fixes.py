"""The list that an author works off."""

from __future__ import annotations

from referee.reports.fixes import render_fixes
from referee.schemas.point import Correction, Fix

from .example import form, review
from .one_list import point, quote


def test_a_point_says_where_it_is_and_what_settles_it() -> None:
    slip = Correction(place="Section 3", printed="$x_{1}$", should_be="$x_{2}$")
    claim = "Section 3: “$x_{1}$” should be “$x_{2}$”"
    points = (
        point("p-1", "It is off.", fix=Fix(kind="analysis", what="Vary $n$."), evidence=(quote("so $n$ is"),)),
        point("p-2", claim, severity="minor", correction=slip),
    )
    shown = render_fixes(review(points=points, evidence=(), rating=3), form())
    assert "It is off.\n  - “so n is” (Results, p. 1)\n  - Would settle it: Vary n." in shown
    assert "Section 3: “x₁” should be “x₂”" in shown
    assert "## Should (0)\n\nNothing." in shown


def test_a_review_that_wrote_its_form_has_its_weaknesses_in_the_list() -> None:
    shown = render_fixes(review(), form())
    assert "- [ ] 1\\. [Weakness] One seed only." in shown
    assert "The paper aligns two views" not in shown


def test_hostile_statements_open_nothing() -> None:
    hostile = point("p-1", "x\n\n# Rating <b>y</b>\n- [ ] z", argument="# Rating\n\n- [ ] again")
    shown = render_fixes(review(points=(hostile,), evidence=(), rating=3), form())
    assert [line for line in shown.splitlines() if line.startswith("#")][1:] == [
        "## Must (1)",
        "## Should (0)",
        "## Could (0)",
    ]
    assert shown.count("\n- [ ]") == 1
    assert "\\<b>" in shown
