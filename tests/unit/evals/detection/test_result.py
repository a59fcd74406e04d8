from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from referee.errors import EvaluationError
from referee.evals.detection.calibration import Calibration
from referee.evals.detection.parts import EvaluationAsked
from referee.evals.detection.result import ALL, DetectionResult, detection_result
from referee.reports.detection_files import write_detection
from referee.reports.detection_tables import NOT_RESOLVABLE, is_resolved, lead, main_table, sections
from referee.schemas.case import ReviewCase
from tests.unit.evals.detection.scored import calibration, humans, row, scores_by, scores_of
from tests.unit.evals.runs_of import case

ASKED = EvaluationAsked(resamples=20)


def machine(count: int, source: str = "gpt", **more: object) -> list[ReviewCase]:
    return [case(f"{source}{at}", f"t-paper{at // 2}", source=source, **more) for at in range(count)]


def judged(
    extra: list[tuple[ReviewCase, float | None]] | None = None,
    asked: EvaluationAsked = ASKED,
    of: Calibration | None = None,
) -> DetectionResult:
    """Ten people's reviews of which one is above the thresholds, ten of a model of which eight are, and others."""
    people, models = humans(10, "t"), machine(10)
    values: list[float | None] = [0.5] * 9 + [2.0] + [2.0] * 8 + [0.2, None]
    for one, value in extra or []:
        models, values = [*models, one], [*values, value]
    return detection_result(scores_of([*people, *models], values), of or calibration(), asked)


def test_rates_at_each_target_and_a_missing_score_counts_as_not_flagged() -> None:
    (report,) = judged().overall
    assert [at.true_positive_rate.value for at in report.at] == [0.8, 0.8, 0.8]
    assert [at.false_positive_rate.value for at in report.at] == [0.1, 0.1, 0.1]
    assert report.unscored == {"human": 0, "ai": 1}
    assert report.auc == pytest.approx((8 * 9.5 + 0) / 90)


def test_several_models_stand_apart_and_together() -> None:
    found = judged([(one, 0.1) for one in machine(10, "qwen")])
    assert [(report.llm, report.at[0].true_positive_rate.value) for report in found.reports] == [
        ("gpt", 0.8),
        (ALL, 0.4),
        ("qwen", 0.0),
    ]
    assert [report.llm for report in found.overall] == [ALL]
    assert list(found.scores["loglik"]) == ["human", "gpt", "qwen"]


@pytest.mark.parametrize("column", ["polished", "polished=yes"])
def test_polished_human_text_is_in_neither_class_whatever_its_label(column: str) -> None:
    extra = [
        (case("pol1", extra={"polished": "yes"}), 2.0),
        (case("pol2", source="gpt", extra={"polished": "yes"}), 0.1),
    ]
    found = judged(extra, replace(ASKED, polished=column))
    assert [(one.rate.n, one.rate.flagged) for one in found.polished] == [(2, 1)] * 3
    (report,) = found.overall
    assert (report.at[0].false_positive_rate.n, report.at[0].true_positive_rate.n) == (10, 10)
    assert any("do not do" in str(part.body) or "did not" in str(part.body) for part in sections(found))


def test_a_human_label_on_what_was_made_from_another_review_is_not_believed() -> None:
    found = judged([(case("edited", extra={"source_review": "t0"}), 2.0)])
    assert found.humans == 10
    assert "1 review(s) labelled human were made from another one (source_review): left out" in found.notes


def test_edit_levels_are_told_with_ndcg_beside_chance() -> None:
    scores = {"original": 0.42, "minimum": 0.40, "moderate": 0.55, "extensive": 0.51, "maximum": 2.0}
    versions = []
    for level, value in scores.items():
        held = {"level": level} | ({} if level == "original" else {"source_review": "v-original"})
        versions.append((case(f"v-{level}", "v", source="human" if level == "original" else "gpt", extra=held), value))
    found = judged(versions, replace(ASKED, edit_levels="level"))
    order = found.orders["loglik"]
    assert (order.n, order.ndcg, order.by_chance) == (
        1,
        pytest.approx(0.976138, abs=1e-6),
        pytest.approx(0.8052, abs=1e-4),
    )
    assert {one.what: one.rate.flagged for one in found.levels if one.threshold.target == 0.01}["maximum"] == 1
    assert found.overall[0].at[0].true_positive_rate.n == 10, "edited versions are no AI reviews"
    assert found.humans == 11, "the original is a person's"


def test_the_review_that_versions_were_made_from_is_the_original() -> None:
    made = [
        (case(f"t0-{level}", "t-paper0", source="gpt", extra={"level": level, "source_review": "t0"}), score)
        for level, score in (("minimum", 0.6), ("maximum", 2.0))
    ]
    found = judged(made, replace(ASKED, edit_levels="level"))
    assert {one.what: one.rate.n for one in found.levels} == {"original": 1, "minimum": 1, "maximum": 1}
    assert found.humans == 10, "the original stays a person's review"
    assert found.overall[0].at[0].true_positive_rate.n == 10


def test_another_prompt_is_shown_as_a_difference() -> None:
    people = humans(4, "t")
    usual = machine(4, extra={"prompt": "aligned"})
    other = [case(f"x{at}", "t-paper0", source="gpt", extra={"prompt": "archetype"}) for at in range(2)]
    scores = scores_of([*people, *usual, *other], [0.5] * 4 + [2.0] * 4 + [2.0, 0.1])
    found = detection_result(scores, calibration(), replace(ASKED, prompts="prompt"))
    (effect,) = found.prompts
    assert (effect.prompt, effect.n) == ("archetype", 2)
    assert [change.true_positive_rate for change in effect.changes] == [-0.5] * 3
    assert effect.changes[0].auc == -0.5
    assert found.overall[0].at[0].true_positive_rate.n == 4


def test_score_inflation_is_corrected_over_axes_and_models() -> None:
    people = [case(f"h{at}", f"q{at}", rating=6, fields={"soundness": "2 fair"}, confidence=3) for at in range(8)]
    models = [
        case(f"g{at}", f"q{at}", source="gpt", rating=6, fields={"soundness": "3 good"}, confidence=4)
        for at in range(8)
    ]
    found = detection_result(scores_of([*people, *models], [0.1] * 8 + [2.0] * 8), calibration(), ASKED)
    assert [(one.axis, one.found.n, one.found.mean, one.found.rank_biserial) for one in found.inflation] == [
        ("soundness", 8, 1.0, 1.0),
        ("confidence", 8, 1.0, 1.0),
    ]
    assert found.inflation[0].p == pytest.approx(2 * (found.inflation[0].found.p or 0))


def test_papers_in_both_sets_are_refused_and_forced_they_are_marked_in_every_table() -> None:
    thresholds = calibration()
    people, models = humans(10), machine(10)
    scores = scores_of([*people, *models], [0.5] * 10 + [2.0] * 10)
    with pytest.raises(EvaluationError, match="papers are in the calibration too"):
        detection_result(scores, thresholds, ASKED)
    found = detection_result(scores, thresholds, replace(ASKED, forced=True))
    tables = [part for section in sections(found) for part in section.body if not isinstance(part, str)]
    assert tables
    assert all("FORCED: 5 papers are in the calibration too" in table.title for table in tables)
    written: dict[str, str] = {}
    write_detection(found, lambda name, text: written.update({name: text}))
    assert written["detection.md"].count("FORCED") == len(tables)
    assert "5 papers are in the calibration" in written["detection.csv"].splitlines()[1]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (case("t9", source="gpt-4", kind="human"), "'t9' cannot count as human: its source is 'gpt-4'"),
        (case("gpt0", "t-paper9"), "'gpt0' cannot count as human: it has the text of the AI review 'gpt0'"),
    ],
)
def test_an_ai_review_that_is_labelled_human_is_refused(wrong: ReviewCase, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        judged([(wrong, 0.5)])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"edit_levels": "level"}, "no review has 'level'"),
        ({"polished": "by=llm"}, "no review has 'by=llm'"),
        ({"prompts": "prompt"}, "no review has 'prompt'"),
    ],
)
def test_a_column_that_no_review_has_is_an_error(asked: dict[str, str], message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        judged(asked=replace(ASKED, **asked))


def test_one_class_alone_and_scores_of_another_model_are_refused() -> None:
    people = humans(3, "t")
    with pytest.raises(EvaluationError, match="'loglik' has 3 human and 0 AI reviews"):
        detection_result(scores_of(people, [0.1] * 3), calibration(), ASKED)
    both = scores_of([*people, *machine(3)], [0.1] * 6, "loglik 1 free-text/1 bbbb")
    with pytest.raises(EvaluationError, match="not by 'loglik 1 free-text/1 bbbb'"):
        detection_result(both, calibration(), ASKED)
    with pytest.raises(EvaluationError, match="no detector is in both"):
        detection_result(replace(both, rows={"rank": both.rows["loglik"]}), calibration(), ASKED)


LATE = [(case(f"late{at}", f"late-paper{at}", venue="iclr-2024"), 2.0) for at in range(3)]


@pytest.mark.slow
def test_human_reviews_from_after_models_were_offered_to_all_are_left_out_and_named() -> None:
    found = judged([*LATE, (case("later", venue="tmlr", date="2023-02-01"), 2.0), *[LATE[0]]])
    (report,) = found.overall
    assert [(at.false_positive_rate.n, at.false_positive_rate.value) for at in report.at] == [(10, 0.1)] * 3
    assert (found.humans, found.late, found.marks) == (10, {"iclr-2024": 3, "tmlr 2023": 1}, ())
    said = "4 human review(s) are later than 2022-11-29 (iclr-2024: 3, tmlr 2023: 1), and nobody knows that people"
    files: dict[str, str] = {}
    write_detection(found, lambda name, text: files.update({name: text}))
    for text in (*found.notes, files["detection.md"], files["report.html"], files["detection.json"]):
        assert said in text
    (row_, *_) = csv.DictReader(io.StringIO(files["detection.csv"]))
    assert (row_["human_reviews"], row_["late_human"]) == ("10", "4")


def test_late_human_reviews_count_where_it_is_forced_and_every_table_says_so() -> None:
    found = judged(LATE, replace(ASKED, forced=True))
    (report,) = found.overall
    assert report.at[0].false_positive_rate.n == 13
    assert found.marks == (
        "3 human reviews tested on (iclr-2024: 3) are later than 2022-11-29: nobody knows that people wrote them",
    )


def test_a_test_set_whose_people_all_wrote_too_late_is_an_error() -> None:
    both = scores_of([*(one for one, _ in LATE), *machine(3)], [0.1] * 6)
    with pytest.raises(EvaluationError, match=r"all 3 human reviews .* later than 2022-11-29 \(iclr-2024: 3\)"):
        detection_result(both, calibration(), ASKED)


def test_with_twenty_reviews_auc_comes_first_and_small_targets_are_not_resolvable() -> None:
    found = judged(of=calibration(20, (0.001, 0.005, 0.01, 0.1)))
    assert not is_resolved(found)
    table = main_table(found)
    assert list(table.columns) == [
        *("detector", "AUC", "TPR at 10% FPR", "TPR at 0.1% FPR", "TPR at 0.5% FPR", "TPR at 1% FPR"),
    ]
    assert list(table.rows[0][3:]) == [NOT_RESOLVABLE] * 3
    assert table.rows[0][2].endswith("*"), "two of twenty are too few for a claim"
    assert "resolve no rate" in lead(found)
    written: dict[str, str] = {}
    write_detection(found, lambda name, text: written.update({name: text}))
    smallest = dict(zip(*(line.split(",") for line in written["detection.csv"].splitlines()[:2]), strict=True))
    assert (smallest["target"], smallest["tpr"], smallest["fpr"], smallest["resolution"]) == (
        *("0.001", "", "", "not_resolvable"),
    )


def test_nan_is_refused() -> None:
    with pytest.raises(EvaluationError, match="of review 'gpt99' is nan, which is no finite number"):
        judged([(case("gpt99", source="gpt"), float("nan"))])


def test_detectors_are_ranked_by_all_models_together() -> None:
    people, models = humans(4, "t"), [*machine(4), *machine(4, "qwen")]
    made = [row(one, value) for one, value in zip([*people, *models], [0.5] * 4 + [2.0] * 4 + [0.1] * 4, strict=True)]
    thresholds = calibration()
    other = thresholds.detectors[0].model_copy(update={"detector": "rank"})
    ranks = [row(one, value) for one, value in zip(models, [2.0] * 3 + [0.1] + [2.0] * 3 + [0.1], strict=True)]
    both = scores_by({"loglik": made, "rank": [*(row(one, 0.5) for one in people), *ranks]}, [*people, *models])
    found = detection_result(both, thresholds.model_copy(update={"detectors": (*thresholds.detectors, other)}), ASKED)
    assert [(one.detector, one.llm, one.at[0].true_positive_rate.value) for one in found.overall] == [
        ("rank", ALL, 0.75),
        ("loglik", ALL, 0.5),
    ]


def test_length_is_a_baseline_row() -> None:
    people, models = humans(4, "t"), machine(4)
    reviews = [*people, *models]
    made = [row(one, value) for one, value in zip(reviews, [0.5] * 4 + [2.0] * 4, strict=True)]
    thresholds = calibration()
    entry = thresholds.detectors[0].model_copy(update={"detector": "length"})
    both = scores_by({"loglik": made, "length": [row(one, 5.0) for one in reviews]}, reviews)
    found = detection_result(both, thresholds.model_copy(update={"detectors": (*thresholds.detectors, entry)}), ASKED)
    assert [report.detector for report in found.overall] == ["loglik", "length"]
