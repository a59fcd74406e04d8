from __future__ import annotations

import re
from typing import Any

import pytest

from referee.agents.verifier import BATCH, MOST_AMENDED, MOST_BATCHES, check_corrections, check_statements
from referee.errors import BudgetExceeded, ContextTooLong, ModelRefused, ReplyInvalid
from referee.evidence import apply_check
from referee.schemas.point import Correction
from referee.testing import Asked

from .whole_run import INVENTED, LOSS, SEED, TIE, Recording, quoted, raised, run_on

POINT = raised("p-F1-1", "A tie is sold as a gain.", evidence=(quoted(TIE),), argument="WHY", severity="fatal")


def verdict(name: str = "a1", **changes: Any) -> dict[str, Any]:
    given = {
        "id": name,
        "words": "",
        "place": "",
        "shown": "yes",
        "true_if_narrowed": "",
        "conceded": False,
        "in_scope": True,
        "effect": "claim",
    }
    return given | changes


def asked_ids(asked: Asked) -> list[str]:
    return re.findall(r"^\[(a\d+)\]", asked.user, re.MULTILINE)


def standing(asked: Asked) -> dict[str, Any]:
    return {"verdicts": [verdict(name) for name in asked_ids(asked)]}


async def checked(**changes: Any) -> Any:
    model = Recording({"review/verify": {"verdicts": [verdict(**changes)]}}, model="judge")
    return (await check_statements(run_on(model), [POINT])).by_id["p-F1-1"]


@pytest.mark.parametrize(
    ("shown", "expected"), [("yes", "stands"), ("partly", "weakened"), ("undecidable", "undecidable")]
)
async def test_code_maps_the_answers_to_a_verdict(shown: str, expected: str) -> None:
    done = await checked(shown=shown, words=TIE, place="s3")
    assert (done.check.verdict, done.check.by) == (expected, "judge")
    assert [p.role for p in done.check.passages] == ["shows"]


@pytest.mark.parametrize(
    ("effect", "severity"), [("headline", "fatal"), ("claim", "major"), ("sentence", "minor"), ("style", "note")]
)
async def test_severity_is_what_mending_it_would_change(effect: str, severity: str) -> None:
    assert (await checked(effect=effect)).severity == severity


@pytest.mark.parametrize(
    ("words", "verdict_"),
    [(SEED, "refuted"), ("equation (4)", "refuted"), (INVENTED, "undecidable"), ("", "undecidable")],
)
async def test_a_refutation_needs_words_that_are_in_the_paper(words: str, verdict_: str) -> None:
    done = await checked(shown="no", words=words, place="s2")
    assert done.check.verdict == verdict_
    after = apply_check(POINT, done.check, done.severity)
    assert after.outcome == ("struck" if verdict_ == "refuted" else "listed")
    if verdict_ == "refuted":
        (passage,) = done.check.passages
        assert (passage.role, passage.section_id, passage.section) == ("contradicts", "s2", "Method")
        assert passage.quote in (SEED, SEED.rstrip("."), LOSS)
    else:
        assert done.check.passages == ()
        assert after.polarity == "question"


async def test_what_remains_true_is_printed_and_only_where_a_part_is_shown() -> None:
    narrowed = "On the harbour  set\nit is a tie."
    done = await checked(shown="partly", true_if_narrowed=narrowed, words=TIE)
    assert apply_check(POINT, done.check, done.severity).statement == "On the harbour set it is a tie."
    assert (await checked(shown="yes", true_if_narrowed=narrowed)).check.narrowed == ""


async def test_conceded_and_out_of_scope_are_kept() -> None:
    done = await checked(conceded=True, in_scope=False)
    assert (done.check.conceded, done.check.out_of_scope) == (True, True)


async def test_the_check_sees_the_claim_and_what_it_quotes_and_nothing_of_its_author() -> None:
    lost = quoted(INVENTED, status="not_found")
    model = Recording({"review/verify": standing})
    await check_statements(run_on(model), [POINT.model_copy(update={"evidence": (*POINT.evidence, lost)})])
    (asked,) = model.history
    shown = asked.user.partition("<statements>")[2]
    assert f"[a1] A tie is sold as a gain.\n  shows (s3): “{TIE}”" in shown
    for told in (INVENTED, "WHY", "fatal", "p-F1", "F1"):
        assert told not in shown
    assert asked.role == "checker"


@pytest.mark.parametrize(("points", "batches"), [(0, 0), (1, 1), (BATCH, 1), (BATCH + 1, 2), (40, 3), (64, 4)])
async def test_batches_are_few_and_of_about_equal_length(points: int, batches: int) -> None:
    model = Recording({"review/verify": standing})
    done = await check_statements(run_on(model), [raised(f"p-{n}") for n in range(points)])
    sizes = [len(asked_ids(asked)) for asked in model.history]
    assert len(sizes) == batches
    assert all(size <= BATCH for size in sizes)
    assert not sizes or max(sizes) - min(sizes) <= batches
    assert len(done.by_id) == points == sum(sizes)
    assert done.notes == ()


async def test_what_the_checks_do_not_hold_is_said_and_not_tested() -> None:
    model = Recording({"review/verify": standing})
    points = [raised(f"p-{n}") for n in range(MOST_BATCHES * BATCH + 6)]
    done = await check_statements(run_on(model), points)
    assert len(model.history) == MOST_BATCHES
    assert list(done.notes) == ["6 points stand unchecked: 64 are as many as the checks hold"]
    assert set(done.by_id) == {point.id for point in points[: MOST_BATCHES * BATCH]}


@pytest.mark.parametrize("error", [ReplyInvalid("no JSON"), ModelRefused("no"), ContextTooLong("long")])
async def test_a_batch_that_fails_leaves_the_others_alone(error: Exception) -> None:
    def answer(asked: Asked) -> Any:
        return error if "[a1]" in asked.user else standing(asked)

    done = await check_statements(run_on(Recording({"review/verify": answer})), [raised(f"p-{n}") for n in range(20)])
    assert len(done.by_id) == 10
    (note,) = done.notes
    assert note.startswith("10 points stand unchecked: ")


async def test_a_budget_that_is_used_up_is_no_note() -> None:
    with pytest.raises(BudgetExceeded):
        await check_statements(run_on(Recording({"review/verify": BudgetExceeded("spent")})), [POINT])


def slips(number: int) -> list[Any]:
    slip = Correction(place="Table 2", printed="0.78", should_be="0.87")
    return [raised(f"c-F1-{n}", f"Line {n}.", correction=slip, severity="minor") for n in range(number)]


def amended(verdict_: str, wording: str = "", bears_on: str = "detail") -> dict[str, Any]:
    return {"amendments": [{"id": "a1", "verdict": verdict_, "wording": wording, "bears_on": bears_on}]}


@pytest.mark.parametrize(
    ("answer", "outcome", "severity", "statement"),
    [
        (amended("shown"), "listed", "minor", "Line 0."),
        (amended("shown", "another line", "correctness"), "listed", "major", "Line 0."),
        (amended("changed", "Table  3: so.", "style"), "listed", "note", "Table 3: so."),
        (amended("not_shown"), "struck", "minor", "Line 0."),
    ],
)
async def test_corrections_are_tested_in_a_line_each(
    answer: dict[str, Any], outcome: str, severity: str, statement: str
) -> None:
    (slip,) = slips(1)
    done = await check_corrections(run_on(Recording({"review/amend": answer})), [slip])
    after = apply_check(slip, done.by_id[slip.id].check, done.by_id[slip.id].severity)
    assert (after.outcome, after.severity, after.statement) == (outcome, severity, statement)


async def test_corrections_take_one_call_of_at_most_some_and_none_without_any() -> None:
    def answer(asked: Asked) -> Any:
        return {"amendments": [amended("shown")["amendments"][0] | {"id": name} for name in asked_ids(asked)]}

    model = Recording({"review/amend": answer})
    done = await check_corrections(run_on(model), slips(MOST_AMENDED + 5))
    assert len(model.history) == 1
    assert len(done.by_id) == MOST_AMENDED
    assert (await check_corrections(run_on(model), [])).by_id == {}
    assert len(model.history) == 1


async def test_corrections_whose_check_fails_are_said_to_be_unchecked() -> None:
    done = await check_corrections(run_on(Recording({"review/amend": ReplyInvalid("no JSON")})), slips(2))
    assert done.by_id == {}
    assert done.notes[0].startswith("the corrections stand unchecked: ")


async def test_the_check_sees_both_rows_of_a_table() -> None:
    rows = (quoted("Ours | 70.1 | 68.9", "s4"), quoted("Theirs | 70.0 | 69.2", "s4"))
    model = Recording({"review/verify": standing})
    await check_statements(run_on(model), [POINT.model_copy(update={"evidence": rows})])
    assert "Ours | 70.1 | 68.9" in model.history[0].user
    assert "Theirs | 70.0 | 69.2" in model.history[0].user
