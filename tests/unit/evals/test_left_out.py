"""What a limit kept from being measured is counted in a result, in the table and where the table is printed."""

from __future__ import annotations

from typing import Any

from referee.evals.metric import LEFT_OUT, Context
from referee.evals.quality.assertions import METRIC as ASSERTIONS
from referee.evals.quality.assertions import MOST_SENTENCES
from referee.evals.quality.usefulness import METRIC as USEFULNESS
from referee.evals.quality.usefulness import MOST_POINTS
from referee.evals.table import OTHER_REASONS, build_table
from referee.reports.eval_summary import left_out_lines

from .judges_on_tests import panel_of, review
from .runs_of import result
from .test_assertions import paper_of
from .test_runner_table import rows_of
from .test_usefulness import reply

POINTS = [f"- Table {n} rests on a single seed, so its gain of 0.{n} points may be noise." for n in range(1, 46)]


async def test_weaknesses_and_sentences_beyond_what_is_judged_are_counted() -> None:
    panel = panel_of(lambda _: reply(*[(3, 3, 3, 3)] * MOST_POINTS))
    useful = await USEFULNESS.measure(review("Weaknesses:\n" + "\n".join(POINTS)), Context(panel=panel))
    assert useful.details[LEFT_OUT] == {"weaknesses beyond those that one call holds": 45 - MOST_POINTS}

    sentences = [f"Claim {n} rests on one seed." for n in range(MOST_SENTENCES + 20)]
    said: dict[str, Any] = {
        "sentences": ["S1"], "statement": "x", "repeats": "", "words": "", "reason": "So.", "label": "material"
    }  # fmt: skip
    panel = panel_of(lambda _: {"assertions": [said]})
    judged = await ASSERTIONS.measure(review(" ".join(sentences)), Context(panel=panel, paper=paper_of("Body.")))
    assert judged.details[LEFT_OUT] == {f"sentences beyond the first {MOST_SENTENCES}": 20}
    assert judged.details["words"] == 6 * MOST_SENTENCES, "the rate is over what was judged"


def test_the_table_adds_them_up_and_prints_them() -> None:
    left = [result(f"c{n}", metric="usefulness", details={LEFT_OUT: {"weaknesses beyond": n}}) for n in range(3)]
    cut = result("c3", metric="usefulness", details={"cut": {"tokens": 9, "tokens_read": 4}})
    table = build_table([*left, cut], rows_of([(f"c{n}", "p1", "s") for n in range(4)]), ["usefulness"])
    assert left_out_lines(table) == [
        "usefulness: 1 review(s) of which a judge saw only the beginning (1 review)",
        "usefulness: 3 weaknesses beyond (2 reviews)",
    ]


def test_reasons_that_are_not_listed_are_counted_together() -> None:
    results = [
        result(f"c{n}", metric="depth", value=None, status="failed", reason=f"reason {'x' * n}") for n in range(12)
    ]
    totals = build_table(results, rows_of([(f"c{n}", "p1", "s") for n in range(12)]), ["depth"]).totals["depth"]
    assert sum(count for _, _, count in totals.reasons) == totals.units == 12
    assert totals.reasons[-1] == ("failed", OTHER_REASONS, 4)
