from __future__ import annotations

import math
import random
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from referee.errors import EvaluationError, MissingExtra
from referee.evals.agreement import text_scores
from referee.evals.agreement.text_scores import (
    ABSENT,
    BertScore,
    bert_score,
    best_rouge,
    corpus_bleu,
    hash_cosines,
    mean_rouge,
    rouge,
)
from referee.evals.agreement.text_similarity import (
    NO_CANDIDATE,
    NO_REFERENCE,
    TextPair,
    human_ceiling,
    mean_over_fields,
    text_pairs,
    text_similarity,
)
from referee.schemas.case import ReviewCase


def case(text: str = "", **fields: Any) -> ReviewCase:
    return ReviewCase(case_id="c", paper_id="p", source="s", kind="unknown", text=text, fields=fields)


def pairs(predicted: ReviewCase, *human: ReviewCase, loose: bool = False) -> dict[str, TextPair]:
    return {pair.field: pair for pair in text_pairs(predicted, human, loose=loose)}


@pytest.mark.parametrize(
    ("field", "alias"),
    [
        ("summary", "summary"),
        ("summary", "summary_of_paper"),
        ("summary", "summary_of_the_paper"),
        ("summary", "Paper_Topic_And_Main_Contributions"),
        ("summary", "summary_of_contributions"),
        ("strengths", "Strengths"),
        ("strengths", "Reasons_To_Accept"),
        ("strengths", "strengths_and_weaknesses"),
        ("strengths", "strength_and_weaknesses"),
        ("weaknesses", "weaknesses"),
        ("weaknesses", "Reasons_To_Reject"),
        ("reasons_to_accept", "strengths"),
        ("reasons_to_reject", "weaknesses"),
    ],
)
def test_each_alias_answers_its_field(field: str, alias: str) -> None:
    found = pairs(case(**{field: "ours"}), case(**{alias: "theirs"}))
    assert found[field] == TextPair("p", field, "ours", ("theirs",))


def test_the_first_filled_alias_counts_review_by_review_in_order() -> None:
    human = [case(summary=" ", summary_of_the_paper="one"), case(summary="two", summary_of_the_paper="no"), case()]
    assert pairs(case(summary="ours"), *human)["summary"].reference == "one\ntwo"


def test_questions_answer_weaknesses_only_when_loose() -> None:
    human = case(questions="why?")
    assert pairs(case(weaknesses="w"), human)["weaknesses"].references == ()
    assert pairs(case(weaknesses="w"), human, loose=True)["weaknesses"].references == ("why?",)


def test_a_joined_box_is_compared_with_both_sides_together() -> None:
    human = case(strengths_and_weaknesses="both")
    found = pairs(case(strengths="s", weaknesses="w"), human)
    assert found["strengths_weaknesses"] == TextPair("p", "strengths_weaknesses", "s\nw", ("both",))
    assert found["weaknesses"].references == ()
    assert pairs(case(strength_and_weaknesses="j"), human)["strengths_weaknesses"].candidate == "j"
    assert pairs(case(strengths="s"), human)["strengths_weaknesses"].candidate == ""


def test_forms_without_named_fields_are_compared_as_whole_reviews() -> None:
    predicted, human = case("whole ours", review="whole ours"), case("whole theirs", review="whole theirs")
    assert pairs(predicted, human) == {"review": TextPair("p", "review", "whole ours", ("whole theirs",))}
    assert "review" not in pairs(case("x", summary="a"), case("y", summary="b"))


def test_lists_are_lines_and_numbers_no_text() -> None:
    found = pairs(case(strengths=["a", "b"], summary=3), case(strengths="c"))
    assert found["strengths"].candidate == "a\nb"
    assert "summary" not in found


REFERENCE = "The method is novel and the experiments are convincing."
CANDIDATE = "The experiments were convincing but the methods are not novel."
HYPOTHESES = ["The method is novel and simple .", "Results are weak ."]
REFERENCES = ["The method is novel and clear .", "The results are weak ."]
_TEXT = "the method is novel and experiments are weak but convincing results were unclear baselines missing"
WORDS = _TEXT.split()


def sentences(n: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(3, 40))) + "." for _ in range(n)]


def test_the_specification_s_rouge() -> None:
    found = rouge(CANDIDATE, REFERENCE)
    assert found.rouge1 == pytest.approx(0.736842, abs=1e-6)
    assert found.rouge2 == pytest.approx(0.235294, abs=1e-6)
    assert found.rouge_l == pytest.approx(0.315789, abs=1e-6)


def test_rouge_is_the_package_s_with_porter_stemming() -> None:
    package = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    for candidate, reference in zip(sentences(20, 1), sentences(20, 2), strict=True):
        ours, theirs = rouge(candidate, reference), package.score(reference, candidate)
        assert ours.rouge1 == theirs["rouge1"].fmeasure
        assert ours.rouge2 == theirs["rouge2"].fmeasure
        assert ours.rouge_l == theirs["rougeL"].fmeasure


def test_rouge_l_is_over_the_whole_string_not_by_lines() -> None:
    assert rouge("b c\na", "a\nb c").rouge_l == pytest.approx(2 / 3)


def test_means_and_bests_of_nothing_are_none() -> None:
    assert mean_rouge([]) is None
    assert best_rouge([]) is None
    assert rouge("", "words").rouge1 == 0


def test_the_specification_s_bleu_with_its_signature() -> None:
    found = corpus_bleu(HYPOTHESES, REFERENCES)
    assert found is not None
    assert found.score.mean == pytest.approx(54.26, abs=1e-2)
    assert found.brevity_penalty == pytest.approx(0.913, abs=1e-3)
    assert found.signature.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")


def test_bleu_is_the_package_s_default_over_the_corpus() -> None:
    ours, theirs = sentences(30, 3), sentences(30, 4)
    found = corpus_bleu(ours, theirs)
    assert found is not None
    assert found.score.mean == sacrebleu.corpus_bleu(ours, [theirs]).score
    each = [sacrebleu.sentence_bleu(a, [b]).score for a, b in zip(ours, theirs, strict=True)]
    assert found.score.mean != pytest.approx(sum(each) / len(each), abs=0.1)


def test_bleu_of_nothing_is_none_and_of_unlike_lists_refused() -> None:
    assert corpus_bleu([], []) is None
    with pytest.raises(EvaluationError):
        corpus_bleu(["a"], [])


@pytest.mark.parametrize(
    ("module", "call"), [("rouge_score.rouge_scorer", "rouge"), ("sacrebleu.metrics.bleu", "bleu")]
)
def test_a_missing_package_is_named_with_the_command(module: str, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    text_scores._scorer.cache_clear()
    with pytest.raises(MissingExtra) as missing:
        rouge("a", "b") if call == "rouge" else corpus_bleu(["a"], ["b"])
    assert "pip install 'referee[arena]'" in missing.value.hint
    text_scores._scorer.cache_clear()


def test_the_cosine_by_hand() -> None:
    (found,) = hash_cosines(["good paper"], ["good work"])
    shared, alone = (math.log(3 / 3) + 1) ** 2, (math.log(3 / 2) + 1) ** 2
    assert found == pytest.approx(shared / (shared + 2 * alone))


def test_the_cosine_is_one_for_equal_texts_nought_for_unlike_ones_and_none_without_words() -> None:
    found = hash_cosines(["A Good paper", "one", "", "?!"], ["a good Paper", "two", "x", "x"])
    assert found[0] == pytest.approx(1)
    assert found[1:] == [0, None, None]
    assert hash_cosines(["good paper"], ["paper good"]) != [1]


@pytest.mark.slow
@given(st.lists(st.tuples(st.text(st.characters(), max_size=60), st.text(st.characters(), max_size=60)), max_size=3))
def test_any_text_has_scores_within_their_range(texts: list[tuple[str, str]]) -> None:
    ours, theirs = [a for a, _ in texts], [b for _, b in texts]
    assert all(value is None or 0 <= value <= 1 for value in hash_cosines(ours, theirs))
    assert all(0 <= rouge(a, b).rouge_l <= 1 for a, b in texts)
    found = corpus_bleu(ours, theirs)
    assert (found is None) == (not texts)
    assert found is None or 0 <= (found.score.mean or 0) <= 100 + 1e-9


def pair(candidate: str, *references: str, field: str = "summary") -> TextPair:
    return TextPair("p", field, candidate, references)


def test_fields_are_scored_apart_and_empty_sides_counted() -> None:
    found = text_similarity(
        [pair(CANDIDATE, REFERENCE), pair("", REFERENCE), pair("text"), pair("weak", "weak", field="weaknesses")]
    )
    assert list(found) == ["summary", "weaknesses"]
    summary = found["summary"]
    assert (summary.n, summary.skipped) == (1, {NO_CANDIDATE: 1, NO_REFERENCE: 1})
    assert summary.rouge == summary.max_over_reviews
    assert summary.rouge is not None
    one = rouge(CANDIDATE, REFERENCE)
    assert [summary.rouge.rouge1.mean, summary.rouge.rouge2.mean] == [one.rouge1, one.rouge2]
    assert (summary.ceiling, summary.ceiling_n) == (None, 0)
    assert (summary.bert, summary.bert_reason) == (None, "not asked for")


def test_how_far_a_field_is_is_told() -> None:
    papers = [TextPair(str(number), "summary", "a b", ("a c",)) for number in range(45)]
    seen: list[tuple[str, int, int]] = []
    text_similarity([*papers, pair("weak", "weak", field="weaknesses")], told=lambda *at: seen.append(at))
    assert seen == [("summary", 0, 45), ("summary", 20, 45), ("summary", 40, 45), ("weaknesses", 0, 1)]


def test_joined_reviews_cap_recall_the_nearest_one_does_not() -> None:
    found = text_similarity([pair("a b c", "a b c", "d e f")])["summary"]
    assert found.rouge is not None
    assert found.max_over_reviews is not None
    assert found.rouge.rouge1.mean == pytest.approx(2 / 3)
    assert found.max_over_reviews.rouge1.mean == 1
    assert found.ceiling is not None
    assert (found.ceiling.rouge1.mean, found.ceiling_n) == (0, 1)


def test_the_ceiling_is_each_person_against_the_others_joined() -> None:
    texts = ("a b", "a c", "a d")
    found = human_ceiling(texts)
    assert found is not None
    assert found.rouge1 == pytest.approx(2 * 0.5 * 0.25 / 0.75)
    assert human_ceiling(texts[:1]) is None


def test_no_paper_has_no_numbers() -> None:
    found = text_similarity([pair("", REFERENCE)])["summary"]
    assert (found.n, found.rouge, found.bleu, found.hash_cosine.mean) == (0, None, None, None)
    assert text_similarity([]) == {}


def test_texts_have_intervals_by_paper_and_a_mean_over_fields() -> None:
    ours, theirs = sentences(40, 5), sentences(40, 6)
    texts = [(f"p{n}", a, b) for n, (a, b) in enumerate(zip(ours, theirs, strict=True))]
    rows = [TextPair(key, "summary", a, (b,)) for key, a, b in texts]
    rows += [TextPair(key, "strengths", a, (a,)) for key, a, _ in texts[:10]]
    found = text_similarity(rows)
    summary = found["summary"]
    assert summary.rouge is not None
    assert summary.bleu is not None
    for one in (
        summary.rouge.rouge1,
        summary.rouge.rouge2,
        summary.rouge.rouge_l,
        summary.bleu.score,
        summary.hash_cosine,
    ):
        assert one.low is not None
        assert one.high is not None
        assert one.low < (one.mean or 0) < one.high
        assert one.clusters == 40
    means = mean_over_fields(found.values())
    assert means is not None
    assert means.rouge.rouge_l.mean == pytest.approx(((summary.rouge.rouge_l.mean or 0) + 1) / 2)
    assert means.bleu.mean == pytest.approx(((summary.bleu.score.mean or 0) + 100) / 2)
    assert means.bleu.low is not None
    assert means.bleu.clusters == 40
    assert mean_over_fields([]) is None


def test_bertscore_is_absent_with_its_reason_where_the_package_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bert_score", None)
    monkeypatch.setattr(text_scores.importlib.util, "find_spec", lambda name: None)
    found = text_similarity([pair(CANDIDATE, REFERENCE)], with_bert=True)["summary"]
    assert (found.bert, found.bert_reason) == (None, ABSENT)
    with pytest.raises(MissingExtra, match="bert-score"):
        bert_score(["a"], ["b"])


def test_bertscore_is_asked_for_unrescaled_and_says_how_much_was_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    class Scorer:
        def __init__(self, **options: Any) -> None:
            asked.update(options)
            self._tokenizer = SimpleNamespace(encode=lambda text: text.split())

        def score(self, ours: list[str], theirs: list[str]) -> tuple[Any, Any, Any]:
            return None, None, SimpleNamespace(mean=lambda: 0.83)

    package = ModuleType("bert_score")
    package.BERTScorer = Scorer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "bert_score", package)
    found = bert_score(["a", "b"], ["x " * 600, "y"])
    assert found is not None
    assert (found.f1, found.truncated) == (0.83, 0.5)
    assert asked == {"model_type": "roberta-large", "num_layers": 17, "idf": False, "rescale_with_baseline": False}
    assert bert_score([], []) is None
    package.__spec__ = ModuleSpec("bert_score", None)
    similar = text_similarity([pair(CANDIDATE, REFERENCE), pair("", "x", field="strengths")], with_bert=True)
    assert (similar["summary"].bert, similar["summary"].bert_reason) == (BertScore(0.83, 0.0), "")
    assert (similar["strengths"].bert, similar["strengths"].bert_reason) == (None, "no paper has both texts")
    with pytest.raises(EvaluationError):
        bert_score(["a"], [])
