from __future__ import annotations

import re

import numpy as np
import pytest

from referee.errors import EvaluationError
from referee.evals.detection.classifiers import CLASSIFIERS, check_labels, classify, margin
from referee.evals.detection.dna_gpt import black_box, ending_log_p, halves, white_box, words_of
from referee.evals.detection.mage_text import mage_text
from referee.evals.detection.perturbation import detect_gpt, filled, masked, npr, perturbed, spans_of
from referee.evals.detection.token_statistics import mean_log_rank, statistic, token_pass
from tests.processor_time import within
from tests.unit.evals.detection.fakes import BigramLogits, Filler, Labels

CLOSE = 1e-6
CORPUS = "the authors show that the method works well on all of the data and that the results are sound " * 4


def test_detect_gpt_divides_by_the_population_s_deviation() -> None:
    found = detect_gpt(-2.0, [-2.4, -2.6, -2.2])
    assert found.score == pytest.approx(2.449490, abs=CLOSE)
    assert detect_gpt(-2.0, [-2.4]).score == pytest.approx(0.4)
    assert detect_gpt(-2.0, [-2.4, -2.4]).score == pytest.approx(0.4)
    assert detect_gpt(-2.0, []).status == "too_short"
    assert detect_gpt(float("nan"), [-2.4]).status == "nonfinite"


def test_npr_is_not_divided_by_a_deviation() -> None:
    assert npr(1.2, [1.5, 1.8, 1.5]).score == pytest.approx(1.333333, abs=CLOSE)
    assert npr(0.0, [1.5]).status == "undefined"
    assert npr(1.0, []).status == "too_short"


@pytest.mark.parametrize("words", [14, 40, 113, 512])
def test_about_15_percent_of_words_are_masked_and_no_span_touches_another(words: int) -> None:
    own = [f"w{number}" for number in range(words)]
    gaps, count = masked(own, np.random.default_rng(1))
    assert count == spans_of(words) == int(0.3 * words / 4)
    assert re.search(r"<extra_id_\d+> <extra_id_\d+>", gaps) is None
    assert len(gaps.split()) == words - count
    assert filled(gaps, ["a b"] * count).split().count("b") == count


async def test_the_same_review_is_always_perturbed_alike() -> None:
    text = " ".join(f"w{number}" for number in range(60))
    first, again = [await perturbed(text, "r1", Filler(), 3) for _ in range(2)]
    other = await perturbed(text, "r2", Filler(), 3)
    assert first == again
    assert len(set(first.copies)) == 3
    assert set(first.copies).isdisjoint(other.copies)


async def test_gaps_that_stay_empty_are_tried_anew_and_then_dropped() -> None:
    text = " ".join(f"w{number}" for number in range(60))
    filler = Filler(silent=3)
    assert (await perturbed(text, "r", filler, 1)).dropped == 0
    assert len({gaps for gaps, _ in filler.asked}) == 4
    lost = await perturbed(text, "r", Filler(silent=10), 2)
    assert (len(lost.copies), lost.dropped) == (1, 1)


@pytest.mark.parametrize("text", ["", "one", "one two", "a review of only ten words is not long enough"])
async def test_a_text_too_short_to_mask_is_not_looked_at(text: str) -> None:
    filler = Filler()
    assert (await perturbed(text, "r", filler, 3)).copies == ()
    assert not filler.asked


async def test_a_text_known_by_heart_suffers_more_from_other_words() -> None:
    model = BigramLogits(CORPUS + " the method the method zebra")
    scores = {}
    for name, text in (("known", CORPUS.strip()), ("shuffled", " ".join(sorted(CORPUS.split())[::-1]))):
        copies = (await perturbed(text, "r", Filler(), 5)).copies
        own, passes = token_pass(model, text), [token_pass(model, copy) for copy in copies]
        likelihood = [statistic("loglik", seen).raw[0] for seen in (own, *passes)]
        ranks = [mean_log_rank(seen) for seen in (own, *passes)]
        scores[name] = (likelihood[0] - np.mean(likelihood[1:]), npr(ranks[0], ranks[1:]).score)
    assert scores["known"][0] > scores["shuffled"][0]
    assert scores["known"][1] > scores["shuffled"][1]


@pytest.mark.parametrize(("variant", "score"), [("paper", 1.286730), ("released", 0.228799)])
def test_dna_gpt_in_both_readings(variant: str, score: float) -> None:
    found = black_box(["a", "b", "c", "d", "e", "f"], [["x", "a", "b", "c", "d", "e"]], variant)  # type: ignore[arg-type]
    assert found.score == pytest.approx(score, abs=CLOSE)


def test_continuations_without_words_count_for_nothing() -> None:
    own, other = ["a", "b", "c", "d", "e", "f"], ["x", "a", "b", "c", "d", "e"]
    assert black_box(own, [other, []]).score == pytest.approx(1.286730, abs=CLOSE)
    assert black_box(own, [[], []]).status == "too_short"
    assert black_box(["a", "b"], [other]).status == "too_short"
    assert black_box(own, [["p", "q", "r", "s", "t", "u"]]).score == 0


def test_words_are_stemmed_and_stop_words_go() -> None:
    assert words_of("The Authors' models are working, on 3 data-sets.") == [
        "author",
        "model",
        "work",
        "3",
        "data",
        "set",
    ]


def test_a_text_is_cut_between_words() -> None:
    assert halves("one two three four five") == ("one two", " three four five")
    assert halves("one") is None
    assert halves("") is None
    cut = halves("w " * 1000)
    assert cut is not None
    assert len((cut[0] + cut[1]).split()) == 350


def test_the_white_box_prefers_the_ending_that_the_model_would_write() -> None:
    model = BigramLogits(CORPUS)
    prefix, known = "the authors show that", " the method works well"
    own = ending_log_p(model, prefix, known)
    strange = ending_log_p(model, prefix, " well method zebra the")
    assert own is not None
    assert strange is not None
    assert own > strange
    assert own == pytest.approx(float(token_pass(model, prefix + known).log_p[-4:].mean()))
    assert white_box(own, [strange]).score == pytest.approx(own - strange)
    assert white_box(own, []).status == "too_short"
    assert ending_log_p(BigramLogits(CORPUS, max_tokens=4), prefix, known) is None


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("openai_d", {0: "Fake", 1: "Real"}),
        ("chatgpt_d", {0: "Human", 1: "ChatGPT"}),
        ("ntnu_d", {0: "human-produced", 1: "machine-generated"}),
        ("radar_d", {0: "LABEL_0", 1: "LABEL_1"}),
    ],
)
def test_the_margin_rises_with_the_ai_label(name: str, labels: dict[int, str]) -> None:
    entry = CLASSIFIERS[name]
    logits = [0.0, 0.0]
    logits[entry.ai_index] = 3.0
    found = classify(entry, Labels(labels, logits), "A review.")
    assert found.score == pytest.approx(3.0)
    assert classify(entry, Labels(labels, logits), "  ").status == "too_short"


def test_labels_the_other_way_round_are_refused() -> None:
    with pytest.raises(EvaluationError, match="wrong way"):
        check_labels(CLASSIFIERS["chatgpt_d"], {0: "ChatGPT", 1: "Human"})
    with pytest.raises(EvaluationError, match="not two"):
        check_labels(CLASSIFIERS["openai_d"], {0: "a", 1: "b", 2: "c"})


def test_margins_do_not_saturate() -> None:
    entry = CLASSIFIERS["openai_d"]
    assert margin(entry, [60.0, 0.0]).score > margin(entry, [50.0, 0.0]).score  # type: ignore[operator]
    assert margin(entry, [float("nan"), 0.0]).status == "nonfinite"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("The proof\n\nof Lemma 2 is\nfine.", "The proof of Lemma 2 is fine."),
        ("A:\nThe text after a short first line.", "The text after a short first line."),
        ("It\u2019s \u201cnovel\u201d \u2014 though na\u00efve \u2026", 'It\'s "novel" - though naive...'),
        ("We do n't know ; do you ?", "We don't know; do you?"),
        ("See https://a.example/b?c=1 or www.a.example, mail me@a.example today.", "See or mail today."),
        ("Call 555-123-4567 or (555) 123-4567 now; 12 of 1,000 at 0.5 %.", "Call or now; 12 of 1,000 at 0.5."),
        ("a <s>b</s> [[c]] $x$ ~ {d}", "a b c x {d}"),
        ("\u6f22\u5b57", ""),
        ("", ""),
    ],
)
def test_mage_reads_one_plain_line(text: str, read: str) -> None:
    assert mage_text(text) == read


def test_only_mage_s_classifier_is_shown_the_cleaned_text_and_its_rule_is_no_threshold() -> None:
    for name in ("mage_d", "radar_d"):
        asked: list[str] = []

        class Listening(Labels):
            def logits(self, text: str, asked: list[str] = asked) -> list[float]:
                asked.append(text)
                return [4.0, 1.0]

        found = classify(CLASSIFIERS[name], Listening({0: "LABEL_0", 1: "LABEL_1"}, []), "A text,\nof two lines.")
        assert asked == ["A text, of two lines." if name == "mage_d" else "A text,\nof two lines."]
        assert found.score == 3.0
    assert "3.0858" in CLASSIFIERS["mage_d"].published_rule
    assert classify(CLASSIFIERS["mage_d"], Labels({0: "LABEL_0", 1: "LABEL_1"}, []), "\u6f22").status == "too_short"


def test_a_hostile_text_is_cleaned_in_a_moment() -> None:
    for text in ("(" * 50_000, " " * 50_000, "a@" * 25_000, "1-" * 25_000, '"' * 50_000, "a." * 25_000):
        with within(10):
            mage_text(text)
