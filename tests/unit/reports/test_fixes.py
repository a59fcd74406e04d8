"""The list that an author works off."""

from __future__ import annotations

from referee.reports.deciding import deciding
from referee.reports.fixes import render_fixes
from referee.schemas.point import Correction, Fix

from .example import form, review
from .test_report_points import ALL, aside, point


def groups(text: str) -> dict[str, list[str]]:
    """The points of each group, by id."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("## "):
            name = line.removeprefix("## ").split(" (")[0]
        elif line.startswith("- [ ]"):
            found.setdefault(name, []).append(line.rsplit("`", 2)[1])
    return found


def test_what_stands_is_there_by_weight_and_nothing_else() -> None:
    assert groups(render_fixes(review(points=ALL), form())) == {
        "Must": ["p-P1-2"],
        "Should": ["p-P1-1", "p-P2-2"],
        "Could": ["p-P3-1"],
    }


def test_a_point_says_where_it_is_and_what_settles_it() -> None:
    slip = Correction(place="Section 3", printed="$x_{1}$", should_be="$x_{2}$")
    points = (point("p-1", fix=Fix(kind="analysis", what="Vary $n$.")), aside("p-2", "listed", correction=slip))
    shown = render_fixes(review(points=points), form())
    assert "  - Where: 3 Method, p. 4\n  - Would settle it: Vary n." in shown
    assert "  - “x₁” should be “x₂”" in shown
    assert "## Should (0)\n\nNothing." in shown


def test_a_review_without_points_shows_what_its_form_says_against_the_paper() -> None:
    shown = render_fixes(review(), form())
    assert "- [ ]" not in shown
    assert "## Weaknesses" in shown
    assert "## Summary" not in shown


def test_a_remark_on_a_figure_does_not_hide_what_the_form_says_against_the_paper() -> None:
    shown = render_fixes(review(points=(point("p-1"),), evidence=()), form())
    assert "`p-1`" in shown
    assert "## Weaknesses" in shown
    assert "## Summary" not in shown


def test_hostile_statements_open_nothing() -> None:
    shown = render_fixes(review(points=(point("p-1", claim="x\n\n# Rating <b>y</b>\n- [ ] z"),)), form())
    assert [line for line in shown.splitlines() if line.startswith("#")][1:] == [
        "## Must (1)",
        "## Should (0)",
        "## Could (0)",
        "## Weaknesses",
    ]
    assert shown.count("\n- [ ]") == 1
    assert "\\<b>" in shown


def test_five_decide_at_most() -> None:
    many = [*(point(f"p-{n}") for n in range(7)), point("p-9", severity="fatal")]
    assert [one.id for one in deciding(many)] == ["p-9", "p-0", "p-1", "p-2", "p-3"]
    assert [one.id for one in deciding(ALL)] == ["p-P1-2"], "minor ones decide nothing"
