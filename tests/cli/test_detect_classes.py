"""Which reviews ``referee detect calibrate`` and ``evaluate`` count as people's and as models'."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

import pytest

from referee.data.generated import Pair, write_tree
from referee.schemas.case import ReviewCase

from .command import Referee
from .detect_sets import HUMAN, MACHINE, Toys, reviews, saved, text


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> Toys:
    return Toys(monkeypatch)


def done(referee: Referee, *asked: object) -> str:
    found = referee("detect", *asked)
    assert found.code == 0, found.err
    return found.out + found.err


def judged(referee: Referee, *more: object, runs: tuple[str, ...] = ("test",)) -> dict[str, Any]:
    out = Path(f"ev{len(list(Path().glob('ev*')))}")
    done(referee, "evaluate", *runs, "--calibration", "c.json", "--resamples", 20, "--out", out, *more)
    markdown = (out / "detection.md").read_text(encoding="utf-8")
    return {**json.loads((out / "detection.json").read_text(encoding="utf-8")), "markdown": markdown}


def classes(found: dict[str, Any], detector: str = "loglik") -> tuple[int, int]:
    """Human and AI reviews that a detector was tried on."""
    at = next(report for report in found["reports"] if report["detector"] == detector)["at"][0]
    return at["false_positive_rate"]["n"], at["true_positive_rate"]["n"]


def tree(root: Path, with_ids: bool) -> None:
    """The benchmark's layout: human rows repeated beside each LLM's, an odd tag, -999, a one-word review."""
    rnd = random.Random(3)
    for split, papers in (("calibration", 15), ("test", 5)):
        people = {f"{split}{at}-{one}": text(rnd, HUMAN) for at in range(papers) for one in range(2)}
        people["calibration0-0" if split == "calibration" else "test0-0"] = "Reject."
        for llm, tag in (("gpt4o", "gpt-4o"), ("claude", "Claude.3-5")):
            file = root / split / llm / f"ICLR2021.{split}.{tag}.csv"
            file.parent.mkdir(parents=True)
            with file.open("w", newline="", encoding="utf-8") as out:
                writer = csv.writer(out)
                writer.writerow(["paper_id", "author_type", "review", "rating", "novelty", *["review_id"] * with_ids])
                for name, said in people.items():
                    paper = name.split("-")[0]
                    writer.writerow([paper, "human", said, 6, -999, *[name] * with_ids])
                    writer.writerow([paper, "ai", text(rnd, MACHINE), 6, -999, *[name] * with_ids])


@pytest.mark.slow
@pytest.mark.parametrize("with_ids", [True, False])
def test_a_person_s_review_beside_every_model_s_counts_once(referee: Referee, workplace: Path, with_ids: bool) -> None:
    tree(workplace / "tree", with_ids)
    for split in ("calibration", "test"):
        said = done(referee, "score", f"tree/{split}", "--detectors", "loglik,s5", "--out", split)
        assert "human rows hold" in said
        assert "scores of -999" in said
    done(referee, "calibrate", "calibration", "--out", "c.json")
    held = json.loads(Path("c.json").read_text(encoding="utf-8"))
    assert held["humans"] == 30
    assert {one["detector"]: one["thresholds"][0]["n"] for one in held["detectors"]} == {
        **{"loglik": 29, "s5": 29, "length": 30},
    }
    assert held["detectors"][0]["excluded"] == {"too_short": 1}
    found = judged(referee)
    assert (found["humans"], classes(found)) == (10, (10, 20))
    assert {report["llm"] for report in found["reports"]} == {"all", "gpt-4o", "Claude.3-5"}


@pytest.fixture
def generated(referee: Referee, workplace: Path) -> Path:
    """People's and a model's reviews, and for each person what ``detect generate`` makes: two edits, one expansion."""
    saved(workplace / "cal.jsonl", reviews(20, 1))
    given = reviews(8, 2)
    saved(workplace / "test.jsonl", given)
    rnd, pairs = random.Random(5), []
    for row in (row for row in given if row["kind"] == "human"):
        for task, level in (("edit", "minimum"), ("edit", "maximum"), ("bullets", "")):
            extra = {"task": task, "level": level, "source_review": row["review_id"], "split": "test", "prompt": task}
            about = {"paper_id": row["paper_id"], "venue": "iclr-2021", "year": 2021, "rating": 6}
            name = f"{row['review_id']}-{task}-{level}"
            own = ReviewCase(case_id=row["review_id"], source="human", kind="human", text=row["review"], **about)
            made = ReviewCase(case_id=name, source="gpt", kind="ai", text=text(rnd, MACHINE), extra=extra, **about)
            pairs.append(Pair(own, made, on_form=False))
    (workplace / "generated.jsonl").write_text("".join(f"{pair.made.model_dump_json()}\n" for pair in pairs))
    write_tree(workplace / "tree", pairs, "gpt")
    for name in ("cal.jsonl", "test.jsonl", "generated.jsonl", "tree"):
        done(referee, "score", name, "--detectors", "loglik,s5", "--out", f"{name.split('.')[0]}-scores")
    return workplace


@pytest.mark.slow
def test_what_was_edited_or_expanded_is_in_neither_class_whatever_is_asked(referee: Referee, generated: Path) -> None:
    said = done(referee, "calibrate", "cal-scores", "generated-scores", "--out", "c.json")
    held = json.loads(Path("c.json").read_text(encoding="utf-8"))
    assert (held["humans"], held["detectors"][1]["features"]["ais"]) == (40, 20)
    assert "32 edited review(s) are in neither class" in said
    assert "16 review(s) that were expanded from a person's points are in neither class" in said
    done(referee, "calibrate", "cal-scores", "--out", "c.json")
    for more in ((), ("--edit-levels", "level"), ("--assisted", "task=bullets"), ("--polished", "task=edit")):
        found = judged(referee, *more, runs=("test-scores", "generated-scores"))
        assert (found["humans"], classes(found), found["marks"]) == (16, (16, 8), []), more
    assert {one["what"]: one["rate"]["n"] for one in found["assisted"]} == {
        "a person's points, expanded by a model": 16,
    }
    assert {one["what"]: one["rate"]["n"] for one in found["levels"]} == {"original": 16, "minimum": 16, "maximum": 16}
    assert found["orders"]["loglik"]["n"] == 16
    assert 0 < found["orders"]["loglik"]["by_chance"] < 1
    assert "## AI-assisted reviews\n\nA person made the points" in found["markdown"]
    done(referee, "calibrate", "tree-scores", "--out", "tree.json")
    held = json.loads(Path("tree.json").read_text(encoding="utf-8"))
    assert held["humans"] == 16, "human rows of the written tree name themselves as source"


@pytest.mark.slow
def test_anchors_themselves_count_for_nothing_and_fewer_anchors_have_thresholds_of_their_own(
    referee: Referee, workplace: Path
) -> None:
    saved(workplace / "cal.jsonl", reviews(30, 1, models=()))
    given = reviews(12, 2, models=("gpt", "qwen"))
    others = [*reviews(30, 1, people=0, models=("gpt", "claude")), *reviews(12, 2, people=0, models=("claude",))]
    few = {f"p1-{at}" for at in range(15)} | {"p2-0", "p2-1"}
    anchors = [row for row in others if row["source"] == "gpt" or row["paper_id"] not in few]
    saved(workplace / "ai.jsonl", [*anchors, *(row for row in given if row["source"] == "gpt")])
    short = {**given[-1], "review_id": "short", "review": "?!"}
    saved(workplace / "test.jsonl", [*given, short])
    for name in ("cal", "test"):
        done(referee, "score", f"{name}.jsonl", "--detectors", "anchor", "--anchors", "ai.jsonl", "--out", name)
    done(referee, "calibrate", "cal", "--out", "c.json", "--target-fpr", "0.05")
    held = json.loads(Path("c.json").read_text(encoding="utf-8"))
    assert {one["detector"]: one["thresholds"][0]["n"] for one in held["detectors"]} == {
        **{"anchor": 30, "anchor (1 of 2 anchors)": 30, "length": 60},
    }
    assert set(held["detectors"][0]["per_anchor"][0]["shared"]) == {"claude", "gpt"}
    found = judged(referee)
    of_anchor = {one["llm"]: one for one in found["reports"] if one["detector"] == "anchor"}
    assert set(of_anchor) == {"all", "qwen"}
    assert (of_anchor["all"]["anchors"], of_anchor["all"]["unscored"]["ai"]) == (10, 1)
    assert classes(found, "anchor") == (20, 11), "of qwen, the short one included as not flagged"
    assert classes(found, "anchor (1 of 2 anchors)") == (4, 2)
    assert [one["how"] for one in found["votes"]] == ["the target shared among anchors"] * 2 + [
        "the target for each anchor"
    ] * 2
    assert "the anchor itself" in found["markdown"]
    assert "## A threshold for each anchor" in found["markdown"]
    Path("r.txt").write_text(given[0]["review"], encoding="utf-8")
    said = done(referee, "check", "r.txt", "--paper", "p2-0", "--calibration", "c.json", "--anchors", "ai.jsonl")
    assert "anchor (1 of 2 anchors): " in said
    assert "do not hold here" not in said
