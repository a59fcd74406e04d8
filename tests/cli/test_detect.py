"""``referee detect``: scores, thresholds, an evaluation, one review; what is refused, and what is said."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from referee.api.detection import opening
from referee.reports.page import plotted_data
from referee.runs.folder import read_record
from tests.needs import require
from tests.support import FakeServer

from .command import Outcome, Referee
from .detect_sets import HUMAN, MACHINE, Toy, Toys, reviews, saved
from .refusals import assert_refused

ENGLISH = f"{HUMAN[0]} {HUMAN[1]}"


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> Toys:
    return Toys(monkeypatch)


@pytest.fixture
def scored(referee: Referee, workplace: Path, toys: Toys) -> Path:
    """Scores of a calibration set (40 papers) and of a test set, and thresholds."""
    saved(workplace / "cal.jsonl", reviews(40, 1))
    saved(workplace / "test.jsonl", reviews(8, 2, models=("gpt", "qwen")))
    for name in ("cal", "test"):
        done = referee("detect", "score", f"{name}.jsonl", "--detectors", "loglik,s5", "--out", name)
        assert done.code == 0, done.err
    done = referee("detect", "calibrate", "cal", "--out", "cal.json", "--target-fpr", "0.01,0.05")
    assert done.code == 0, done.err
    return workplace


def refused(done: Outcome, *words: str) -> None:
    assert_refused(done, *words)


def rows(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "results.jsonl").read_text(encoding="utf-8").splitlines()]


def test_scores_name_what_made_them_and_models_are_closed(scored: Path, toys: Toys) -> None:
    found = rows(scored / "test")
    assert len(found) == 8 * 4 * 2
    provider = found[0]["details"]["models"]["provider"]
    assert {"name", "sha256", "quantisation", "tokenizer", "runtime", "max_tokens"} == set(provider)
    assert read_record(scored / "test").command == "detect score"
    assert [(toy.model.name, toy.closed) for toy in toys.opened] == [("smollm2-135m", 1)] * 2


def test_only_the_models_that_are_needed_are_opened(referee: Referee, workplace: Path, toys: Toys) -> None:
    reviews_file = saved(workplace / "r.jsonl", reviews(1, 3))
    done = referee("detect", "score", reviews_file, "--detectors", "binoculars", "--out", "one")
    assert done.code == 0, done.err
    assert [toy.model.name for toy in toys.opened] == ["qwen-0.5b", "qwen-1.5b"]
    anchors = saved(workplace / "ai.jsonl", reviews(1, 3, people=0, models=("other",)))
    done = referee("detect", "score", reviews_file, "--detectors", "anchor", "--anchors", anchors, "--out", "two")
    assert done.code == 0, done.err
    assert len(toys.opened) == 2
    assert "anchor: 3 scored" in done.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "names"),
    [
        ([], {"loglik", "s5", "llr"}),
        (["--pair", "a,b"], {"loglik", "binoculars", "fast_detect_gpt"}),
        (["--anchors", "ai.jsonl"], {"loglik", "anchor", "claim_match"}),
    ],
)
def test_by_default_what_can_run_is_run(
    referee: Referee, workplace: Path, toys: Toys, given: list[str], names: set[str]
) -> None:
    saved(workplace / "ai.jsonl", reviews(1, 3, people=0, models=("other",)))
    done = referee("detect", "score", saved(workplace / "r.jsonl", reviews(1, 3)), *given, "--out", "out")
    assert done.code == 0, done.err
    run = {row["metric"] for row in rows(workplace / "out")}
    assert names <= run
    assert not run & {"dna_gpt", "openai_d", "detect_gpt"}
    assert ("binoculars" in run, "anchor" in run) == ("--pair" in given, "--anchors" in given)


def test_a_finished_run_is_resumed_without_scoring_again(referee: Referee, scored: Path, toys: Toys) -> None:
    before = (scored / "test" / "results.jsonl").read_bytes()
    done = referee("detect", "score", "test.jsonl", "--detectors", "loglik,s5", "--resume", "test")
    assert done.code == 0, done.err
    assert (scored / "test" / "results.jsonl").read_bytes() == before
    assert toys.opened[-1].passes == 0
    refused(referee("detect", "score", "test.jsonl", "--detectors", "loglik", "--resume", "test"), "set of metrics")


@pytest.mark.slow
@pytest.mark.drawn
def test_an_evaluation_writes_what_it_prints(referee: Referee, scored: Path) -> None:
    done = referee("detect", "evaluate", "test", "--calibration", "cal.json", "--resamples", 50, "--out", "ev")
    assert done.code == 0, done.err
    assert "| detector | TPR at 1% FPR  | TPR at 5% FPR" in done.out
    assert "16 human reviews and 16 by models; thresholds from 80 human reviews of other papers." in done.out
    page = (scored / "ev" / "report.html").read_text(encoding="utf-8")
    assert {"roc", "scores-s5", "scores-loglik"} == set(plotted_data(page))
    assert "prefers-color-scheme" in page
    assert (scored / "ev" / "plots" / "roc.png").stat().st_size > 1_000
    held = json.loads((scored / "ev" / "detection.json").read_text(encoding="utf-8"))
    assert {report["detector"] for report in held["reports"]} == {"loglik", "s5", "length"}
    markdown = (scored / "ev" / "detection.md").read_text(encoding="utf-8")
    for said in ("not resolvable", "what a detector has to beat", "Scores that reviews give", "SHA-256"):
        assert said in markdown


def test_a_calibration_names_what_it_was_taken_from(scored: Path) -> None:
    held = json.loads((scored / "cal.json").read_text(encoding="utf-8"))
    assert held["calibrated_on"][0]["run"] == "cal"
    assert held["calibrated_on"][0]["reviews"] == read_record(scored / "cal").inputs["set of reviews"]
    assert (held["humans"], held["venues"]) == (80, {"iclr-2021": 80})
    assert held["detectors"][0]["models"]["provider"]["name"] == "smollm2-135m"
    assert [one["target"] for one in held["detectors"][0]["thresholds"]] == [0.01, 0.05, 0.1]


def test_twenty_reviews_resolve_nothing_small_and_it_is_said(referee: Referee, workplace: Path, toys: Toys) -> None:
    saved(workplace / "few.jsonl", reviews(10, 4))
    referee("detect", "score", "few.jsonl", "--detectors", "loglik", "--out", "few")
    done = referee("detect", "calibrate", "few", "--out", "few.json")
    assert done.code == 0, done.err
    assert done.out.count("not resolvable: ") == 2 * 3, "three targets of loglik and of length"
    assert "at least 1000 are needed. Nobody is flagged." in done.out
    conservative = referee("detect", "calibrate", "few", "--out", "c.json", "--conservative", "--target-fpr", "0.01")
    assert "too few human reviews for the conservative threshold" in conservative.out
    (workplace / "r.txt").write_text(ENGLISH, encoding="utf-8")
    done = referee("detect", "check", "r.txt", "--calibration", "few.json")
    assert "loglik: CANNOT SAY" in done.out
    assert "no rate is claimed" in done.out


def test_one_review_is_judged_with_its_doubts(referee: Referee, scored: Path) -> None:
    (scored / "ai.md").write_text(f"{MACHINE[0]} {MACHINE[1]} {MACHINE[0]}", encoding="utf-8")
    (scored / "person.md").write_text(f"{ENGLISH} {HUMAN[2]}", encoding="utf-8")
    done = referee("detect", "check", "ai.md", "--calibration", "cal.json", "--detectors", "loglik", "--out", "ck")
    assert done.code == 0, done.err
    assert "loglik: FLAGGED (score " in done.out
    assert f"{MACHINE[0]}" in done.out
    assert "A flag is not proof. If people wrote all 1000 reviews, about " in done.out
    assert "taken to be for 'iclr-2021'" in done.out
    held = json.loads((scored / "ck" / "check.json").read_text(encoding="utf-8"))
    assert held["no_proof"].startswith("A flag is not proof.")
    assert len(held["verdicts"][0]["pushes"]["sentences"]) == 3
    assert "A flag is not proof" in (scored / "ck" / "check.md").read_text(encoding="utf-8")
    done = referee("detect", "check", "person.md", "--calibration", "cal.json", "--detectors", "loglik")
    assert "loglik: NOT FLAGGED" in done.out


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Reject.", "the text is too short for this detector"),
        (HUMAN[0], "has 21 word(s) and the shortest of the calibration"),
        (
            "Der Aufsatz ist klar geschrieben und richtig, aber es fehlt ein Vergleich. " * 8,
            "not seem to be in English",
        ),
    ],
)
def test_a_review_unlike_all_others_gets_no_verdict(referee: Referee, scored: Path, text: str, why: str) -> None:
    (scored / "odd.txt").write_text(text, encoding="utf-8")
    done = referee("detect", "check", "odd.txt", "--calibration", "cal.json", "--detectors", "loglik")
    assert done.code == 0, done.err
    assert "loglik: CANNOT SAY" in done.out
    assert why in done.out


def test_anchors_of_a_run_and_a_paper_without_any(referee: Referee, workplace: Path, toys: Toys) -> None:
    """Four papers with human reviews, of which one has no anchor; a set of thirty to calibrate on."""
    people = reviews(30, 5, models=())
    (workplace / "run").mkdir()
    anchors = [
        {"paper_id": f"p5-{at}", "model": "gpt", "review": MACHINE[at % 2], "decision": "Accept", "prompt_digest": "d"}
        for at in range(29)
    ]
    saved(workplace / "run" / "anchors.jsonl", anchors)
    saved(workplace / "r.jsonl", people)
    done = referee("detect", "score", "r.jsonl", "--detectors", "anchor", "--anchors", "run", "--out", "s")
    assert done.code == 0, done.err
    assert "anchor: 58 scored" in done.out
    assert "without a score, 2: there is no AI review of paper 'p5-29' to compare with" in done.out
    assert referee("detect", "calibrate", "s", "--out", "c.json", "--target-fpr", "0.05").code == 0
    assert json.loads((workplace / "c.json").read_text(encoding="utf-8"))["detectors"][0]["excluded"] == {
        "unavailable": 2
    }
    (workplace / "new.txt").write_text(f"{MACHINE[0]} {HUMAN[0]}", encoding="utf-8")
    (workplace / "p5-3.pdf").write_bytes(b"any")
    asked = ("detect", "check", "new.txt", "--calibration", "c.json", "--anchors", "run")
    done = referee(*asked, "--paper", "p5-3.pdf")
    assert "anchor: FLAGGED" in done.out or "anchor: NOT FLAGGED" in done.out
    assert "cosine of the sentence with the nearest AI review" in done.out
    done = referee(*asked, "--paper", "p5-29")
    assert "anchor: CANNOT SAY (no score" in done.out
    assert "no AI review of paper 'p5-29'" in done.out
    refused(referee(*asked[:5]), "no detector of the calibration (anchor)", "--anchors")


def test_what_cannot_be_asked_is_refused_before_anything_is_written(
    referee: Referee, workplace: Path, toys: Toys
) -> None:
    saved(workplace / "r.jsonl", reviews(1, 3))
    (workplace / "bad.json").write_text("{}", encoding="utf-8")
    (workplace / "cut.json").write_text('{"schema_version": 1, "canonical_rule": "free-', encoding="utf-8")
    (workplace / "none").mkdir()
    (workplace / "none" / "anchors.jsonl").write_text('{"paper_id": "p"}\n', encoding="utf-8")
    score = ("detect", "score", "r.jsonl")
    for asked, words in (
        ((*score, "--detectors", "anchor"), ("compares a review with AI reviews of its paper", "--anchors")),
        ((*score, "--detectors", "detect_gpt,npr"), ("detect_gpt: a model that fills gaps", "--filler")),
        ((*score, "--lm", "tiiuae/falcon-7b"), ("is no embedded model", "torch:tiiuae/falcon-7b")),
        ((*score, "--pair", "a,torch:"), ("'torch:' names no model", "torch:FOLDER")),
        ((*score, "--classifier", "radar_d"), ("are no classifier and its folder", "--classifier radar_d=FOLDER")),
        ((*score, "--classifier", "gptzero=x"), ("no classifier 'gptzero'", "radar_d")),
        ((*score, "--detectors", "depth"), ("'depth' is no detector", "loglik")),
        ((*score, "--detectors", "loglick"), ("no metric 'loglick'", "loglik")),
        ((*score, "--pair", "one"), ("'one' is no pair", "OBSERVER,PERFORMER")),
        ((*score, "--anchors", "r2.jsonl"), ("r2.jsonl",)),
        ((*score, "--anchors", "none"), ("line 1 of", "is no anchor")),
        (("detect", "calibrate", "none", "--out", "c.json"), ("holds no scores", "referee detect score")),
        (("detect", "calibrate", "none", "--out", "c.json", "--target-fpr", "high"), ("are no rates",)),
        (("detect", "calibrate", "none", "--out", "c.json", "--target-fpr", "2"), ("2.0 is no rate",)),
        (("detect", "evaluate", "none", "--calibration", "bad.json"), ("is no calibration of detectors",)),
        (("detect", "evaluate", "none", "--calibration", "cut.json"), ("is no calibration of detectors",)),
        (("detect", "check", "x.txt", "--calibration", "absent.json"), ("cannot be read", "detect calibrate")),
    ):
        refused(referee(*asked), *words)
    assert not (workplace / "referee-runs").exists()
    assert toys.opened == []


def test_calibration_and_test_that_share_papers_have_to_be_forced(referee: Referee, scored: Path) -> None:
    asked = ("detect", "evaluate", "cal", "--calibration", "cal.json", "--resamples", 20)
    refused(referee(*asked), "40 papers are in the calibration too", "force")
    done = referee(*asked, "--force", "--out", "forced")
    assert done.code == 0, done.err
    assert "FORCED, and marked in every table: 40 papers are in the calibration too" in done.out
    markdown = (scored / "forced" / "detection.md").read_text(encoding="utf-8")
    assert markdown.count("**FORCED: ") == markdown.count("\n| ---") > 3


def test_scores_of_two_models_are_not_mixed(referee: Referee, scored: Path) -> None:
    referee("detect", "score", "test.jsonl", "--detectors", "loglik", "--lm", "other", "--out", "other")
    refused(referee("detect", "calibrate", "cal", "other", "--out", "x.json"), "2 different set-ups", "one model")
    asked = ("detect", "evaluate", "other", "--calibration", "cal.json")
    refused(referee(*asked), "do not hold here", "they were taken from scores by")


def test_ai_reviews_labelled_human_and_late_reviews_are_refused(referee: Referee, workplace: Path, toys: Toys) -> None:
    given = reviews(6, 6)
    given[0]["review"] = given[2]["review"]
    late = [{**row, "date": "2024-01-01"} for row in reviews(6, 7)]
    for name, rows_ in (("mixed", given), ("late", late)):
        saved(workplace / f"{name}.jsonl", rows_)
        referee("detect", "score", f"{name}.jsonl", "--detectors", "loglik", "--out", name)
    refused(
        referee("detect", "calibrate", "mixed", "--out", "c.json"), "it has the text of the AI review 'p6-0-gpt/gpt'"
    )
    refused(referee("detect", "calibrate", "late", "--out", "c.json"), "later than 2022-11-29")
    done = referee("detect", "calibrate", "late", "--out", "c.json", "--force")
    assert "FORCED: 12 human reviews are later" in done.out


def test_evaluate_leaves_out_the_late_human_reviews_that_calibrate_refuses(
    referee: Referee, scored: Path, workplace: Path
) -> None:
    late = [{**row, "date": "2024-01-01"} for row in reviews(6, 7)]
    for name, rows_ in (("late", late), ("both", [*late, *reviews(6, 8)])):
        saved(workplace / f"{name}.jsonl", rows_)
        referee("detect", "score", f"{name}.jsonl", "--detectors", "loglik", "--out", name)
    asked = ("--calibration", "cal.json", "--resamples", "20")
    done = referee("detect", "evaluate", "both", *asked, "--out", "found")
    assert "12 human reviews and 12 by models" in done.out
    assert "Note: 12 human review(s) are later than 2022-11-29 (iclr-2021 2024: 12)" in done.out
    numbers = json.loads((workplace / "found" / "detection.json").read_text(encoding="utf-8"))
    assert (numbers["humans"], numbers["late"]) == (12, {"iclr-2021 2024": 12})
    refused(referee("detect", "evaluate", "late", *asked), "all 12 human reviews", "iclr-2021 2024", "--force")
    assert "FORCED" in referee("detect", "evaluate", "both", *asked, "--out", "forced", "--force").out


def test_nan_in_a_file_of_scores_is_refused(referee: Referee, scored: Path) -> None:
    file = scored / "test" / "results.jsonl"
    line = json.loads(file.read_text(encoding="utf-8").splitlines()[0])
    with file.open("a", encoding="utf-8") as results:
        results.write(json.dumps({**line, "value": float("nan")}) + "\n")
    refused(referee("detect", "evaluate", "test", "--calibration", "cal.json"), "is no result", "value")


def test_a_detector_without_its_package_says_so_in_its_rows(
    referee: Referee, workplace: Path, toys: Toys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    saved(workplace / "r.jsonl", reviews(1, 3))
    asked = ("detect", "score", "r.jsonl", "--detectors")
    done = referee(*asked, "loglik,radar_d,detect_gpt", "--filler", "t5-large", "--out", "out")
    assert done.code == 0, done.err
    assert "radar_d is absent: models in torch's format need" in done.err
    assert "the mask filler is absent" in done.err
    found = {(row["metric"], row["status"]): row for row in rows(workplace / "out")}
    assert set(found) == {("loglik", "scored"), ("radar_d", "not_applicable"), ("detect_gpt", "not_applicable")}
    for name in ("radar_d", "detect_gpt"):
        row = found[name, "not_applicable"]
        assert (row["value"], row["details"]["status"]) == (None, "unavailable")
        assert "pip install 'referee[detect]'" in row["reason"]
    reason = found["radar_d", "not_applicable"]["reason"]
    assert "not for commercial use" in reason
    assert "--classifier radar_d=FOLDER" in reason
    refused(referee(*asked, "radar_d,chatgpt_d"), "'torch' and 'transformers'", "pip install 'referee[detect]'")
    refused(referee(*asked, "binoculars", "--pair", "torch:a/b,torch:c/d"), "pip install 'referee[detect]'")


def test_offline_nothing_is_downloaded(referee: Referee, workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the toys: the embedded model is not in the empty cache, and no source is asked for it."""
    require("xllamacpp", "local")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(workplace / "cache"))
    monkeypatch.setattr("referee.llm.logits.fetch_model", None)
    saved(workplace / "r.jsonl", reviews(1, 3))
    asked = ("detect", "score", "r.jsonl", "--detectors")
    refused(referee(*asked, "loglik"), "'smollm2-135m' is not here", "referee models fetch smollm2-135m")
    refused(referee(*asked, "dna_gpt"), "is not here, and nothing is downloaded now")


def test_a_model_writes_on_through_the_door(
    referee: Referee, workplace: Path, toys: Toys, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(workplace / "cache"))
    saved(workplace / "r.jsonl", reviews(1, 3, people=1, models=()))
    on = ("--generator", "m", "--base-url", server.base_url)
    asked = ("detect", "score", "r.jsonl", "--detectors", "dna_gpt,dna_gpt_white", *on)
    shown = referee(*asked, "--dry-run")
    assert shown.code == 0, shown.err
    assert "dna_gpt: 1 review, about 10 calls" in shown.out
    assert "dna_gpt_white: 1 review, no call; smollm2-135m: 11 passes" in shown.out
    assert not (workplace / "referee-runs").exists()
    stopped = referee(*asked, "--max-tokens", 2_000, "--out", "short")
    assert stopped.code != 0
    assert "it was not sent" in stopped.err
    assert server.log.calls(endpoint="chat") == []
    done = referee(*asked, "--out", "out")
    assert done.code == 0, done.err
    assert "Estimate: about 10 calls" in done.err
    assert len(server.log.calls(endpoint="chat")) == 10
    record = read_record(workplace / "out")
    assert record.models["generator"].parameters == {"temperature": 0.7}
    assert record.usage.calls == 10
    assert {(row["metric"], row["status"]) for row in rows(workplace / "out")} == {
        ("dna_gpt", "scored"),
        ("dna_gpt_white", "scored"),
    }
    (white,) = [row for row in rows(workplace / "out") if row["metric"] == "dna_gpt_white"]
    assert {"generator", "provider"} < set(white["details"]["models"])
    again = referee(*asked, "--out", "again")
    assert again.code == 0, again.err
    assert len(server.log.calls(endpoint="chat")) == 10, "the cache has them"


def test_check_opens_the_models_of_the_calibration(
    referee: Referee, workplace: Path, toys: Toys, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(workplace / "cache"))
    saved(workplace / "r.jsonl", reviews(2, 3, people=1, models=()))
    on = ("--base-url", server.base_url)
    names = "loglik,fast_detect_gpt,fast_detect_gpt_sampled,dna_gpt"
    models = ("--lm", "one", "--pair", "two,three", "--generator", "m")
    assert referee("detect", "score", "r.jsonl", "--detectors", names, *models, *on, "--out", "s").code == 0
    assert referee("detect", "calibrate", "s", "--out", "c.json", "--target-fpr", "0.1").code == 0
    (workplace / "r.txt").write_text(f"{ENGLISH} {HUMAN[2]}", encoding="utf-8")
    toys.opened.clear()
    done = referee("detect", "check", "r.txt", "--calibration", "c.json", *on, "--out", "ck")
    assert done.code == 0, done.err
    assert [toy.model.name for toy in toys.opened] == ["one", "two", "three"]
    assert "Estimate: about 10 calls" in done.err
    held = json.loads((workplace / "ck" / "check.json").read_text(encoding="utf-8"))
    verdicts = {one["detector"]: one for one in held["verdicts"]}
    assert set(verdicts) == set(names.split(","))
    assert all(one["score"] is not None and "do not hold" not in one["why"] for one in verdicts.values())
    assert verdicts["dna_gpt"]["pushes"] is None, "what another model finds likely says nothing of it"
    assert verdicts["fast_detect_gpt"]["aside"] == ""


def test_the_falcon_pair_s_probability_is_shown_as_what_it_is(
    referee: Referee, workplace: Path, toys: Toys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "TorchLogits", lambda name, **_: Toy(name))
    saved(workplace / "r.jsonl", reviews(2, 3, people=1, models=()))
    pair = "torch:tiiuae/falcon-7b,torch:tiiuae/falcon-7b-instruct"
    done = referee("detect", "score", "r.jsonl", "--detectors", "fast_detect_gpt", "--pair", pair, "--out", "s")
    assert done.code == 0, done.err
    assert referee("detect", "calibrate", "s", "--out", "c.json", "--target-fpr", "0.1").code == 0
    made = (workplace / "c.json").read_text(encoding="utf-8")
    (workplace / "c.json").write_text(made.replace('"runtime": ""', '"runtime": "torch 2"'), encoding="utf-8")
    (workplace / "r.txt").write_text(f"{ENGLISH} {HUMAN[2]}", encoding="utf-8")
    done = referee("detect", "check", "r.txt", "--calibration", "c.json")
    assert "For display only, of this pair of models alone: Fast-DetectGPT's demo would show a probability" in done.out
