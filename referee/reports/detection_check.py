"""The verdicts on one review in words, for a terminal and as ``check.md`` and ``check.json``."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pydantic import TypeAdapter

from referee.evals.detection.verdicts import CheckedReview, DetectorVerdict
from referee.reports.html import PAGE
from referee.reports.markdown_text import inline
from referee.reports.page import about, render_markdown, summary_page
from referee.reports.plain import one_line, shortened
from referee.reports.tables import json_text

NO_PROOF = (
    "A flag is not proof. It says that the score lies above a threshold which some human reviews pass too; it does not "
    "say who wrote the review. Ask the person before anything follows from it."
)
_MOST_SENTENCES = 3
_SENTENCE_CHARS = 160


def write_check(checked: CheckedReview, write: Callable[[str, str], object]) -> None:
    """Write ``check.md``, ``check.json`` and ``report.html``.

    Args:
        checked: The verdicts.
        write: Writes a text file of that name whole.
    """
    found = TypeAdapter(CheckedReview).dump_python(checked, mode="json")
    write("check.json", json_text({"schema_version": 1, "no_proof": NO_PROOF, **found}))
    lines = [inline(line) for line in check_lines(checked)]
    shown = render_markdown("A review checked", ["\n\n".join(lines)], [about(checked.facts)])
    write("check.md", shown)
    write(PAGE, summary_page("A review checked", shown))


def check_lines(checked: CheckedReview, most: int = _MOST_SENTENCES) -> Iterator[str]:
    """The verdicts, the sentences that moved each score most, what to know, and that a flag is no proof."""
    yield f"{checked.review}: {checked.words:,} words"
    for one in checked.verdicts:
        yield from _verdict_lines(one, most)
    for warning in checked.warnings:
        yield f"Note: {one_line(warning)}."
    yield NO_PROOF


def _verdict_lines(one: DetectorVerdict, most: int) -> Iterator[str]:
    score = "no score" if one.score is None else f"score {one.score:.4f}"
    theta = "" if one.threshold.theta is None else f", threshold {one.threshold.theta:.4f}"
    yield f"{one.detector}: {one.verdict.upper()} ({score}{theta}, target {100 * one.threshold.target:g}%)"
    if said := one.why or one.note:
        yield f"  {one_line(said)}"
    if one.aside:
        yield f"  {one_line(one.aside)}"
    if one.pushes is not None and one.pushes.sentences:
        yield f"  Sentences that moved it most ({one.pushes.how}):"
        for sentence, value in one.pushes.sentences[:most]:
            yield f"  {value:+.4f} {shortened(one_line(sentence), _SENTENCE_CHARS)}"
        if one.pushes.unread:
            yield f"  {one.pushes.unread:,} sentence(s) lie beyond what the model reads, or have no direction."
