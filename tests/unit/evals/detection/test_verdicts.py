from __future__ import annotations

import pytest

from referee.evals.detection.sentences import BY_LIKELIHOOD, EXACT, anchor_pushes, sentences_of, token_pushes
from referee.evals.detection.token_statistics import STATISTICS, token_pass
from referee.evals.detection.verdicts import outside, verdict, warnings
from tests.unit.evals.detection.fakes import BigramLogits, WordEmbedder
from tests.unit.evals.detection.scored import calibration, row
from tests.unit.evals.runs_of import case

KNOWN = "The authors show that the method works well on all of the data."
STRANGE = "Zebra quilts hum violet algebra beneath seven lanterns."
TEXT = f"{STRANGE} {KNOWN}\n\n{KNOWN}"


@pytest.mark.parametrize(("score", "said"), [(2.0, "flagged"), (0.94, "not flagged"), (0.1, "not flagged")])
def test_a_claimed_threshold_gives_a_verdict_with_what_it_is_worth(score: float, said: str) -> None:
    entry = calibration().detectors[0]
    found = verdict(entry, row(case("new", "new"), score), entry.threshold(0.05))
    assert (found.verdict, found.why) == (said, "")
    assert found.note.startswith("A flag is not proof. If people wrote all 1000 reviews, about 59.4 would be flagged")


@pytest.mark.parametrize(
    ("of", "given", "why"),
    [
        ((20, (0.001, 0.1)), {"score": 2.0}, "no rate is claimed"),
        ((5, (0.001, 0.1)), {"score": 2.0}, "not resolvable"),
        ((100, (0.1,)), {"score": None}, "too short"),
        ((100, (0.1,)), {"score": 2.0, "made_by": "another"}, "not by 'another'"),
    ],
)
def test_where_anything_is_missing_nothing_is_said(of: tuple[int, tuple[float, ...]], given: dict, why: str) -> None:
    entry = calibration(*of).detectors[0]
    found = verdict(entry, row(case("new", "new"), **given), entry.threshold(), reason="the text is too short")
    assert (found.verdict, found.note) == ("cannot say", "")
    assert why in found.why


def test_without_a_target_the_smallest_that_is_claimed_is_taken() -> None:
    assert calibration(100, (0.01, 0.05, 0.1)).detectors[0].threshold().target == 0.05
    assert calibration(20, (0.01, 0.05, 0.1)).detectors[0].threshold().target == 0.05, "none is claimed"


def test_a_review_unlike_those_of_the_calibration_is_outside() -> None:
    thresholds = calibration()
    assert "has 1 word(s) and the shortest of the calibration 10" in outside(thresholds, "Reject.")
    assert "not seem to be in English" in outside(thresholds, "Der Aufsatz ist klar und richtig geschrieben. " * 5)
    assert outside(thresholds, f"{KNOWN} {KNOWN}") == ""
    said = list(warnings(thresholds, "word " * 500, "c-paper0"))
    assert "has 500 word(s) and the longest of the calibration 400" in said[0]
    assert "taken from reviews of this paper, 'c-paper0', too" in said[1]


@pytest.mark.parametrize("name", ["loglik", "rank", "logrank", "entropy", "llmdev"])
def test_pushes_of_sentences_add_up_to_the_score_less_the_threshold(name: str) -> None:
    provider = BigramLogits(KNOWN * 3)
    seen = token_pass(provider, TEXT)
    of, sign = STATISTICS[name]
    found = token_pushes(name, TEXT, provider, seen, theta=-1.5)
    assert found.how == EXACT
    assert sum(value for _, value in found.sentences) == pytest.approx(sign * of(seen) + 1.5)


def test_the_sentence_that_a_model_knows_is_told_first() -> None:
    provider = BigramLogits(KNOWN * 3)
    seen = token_pass(provider, TEXT)
    for name, theta, how in (("loglik", -1.0, EXACT), ("llr", 1.0, BY_LIKELIHOOD), ("loglik", None, BY_LIKELIHOOD)):
        found = token_pushes(name, TEXT, provider, seen, theta)
        assert (found.how, found.sentences[0][0], found.sentences[-1][0]) == (how, KNOWN, STRANGE)


def test_sentences_that_the_model_did_not_read_are_counted() -> None:
    provider = BigramLogits(KNOWN * 3, max_tokens=8)
    found = token_pushes("loglik", TEXT, provider, token_pass(provider, TEXT), -1.0)
    assert ([text for text, _ in found.sentences], found.unread) == ([STRANGE], 2)


async def test_anchors_are_compared_sentence_by_sentence() -> None:
    found = await anchor_pushes(TEXT, {"gpt": KNOWN, "none": "?!"}, WordEmbedder())  # type: ignore[arg-type]
    assert [text for text, _ in found.sentences] == [KNOWN, KNOWN, STRANGE]
    assert found.sentences[0][1] == pytest.approx(1.0)
    assert sentences_of("") == []
