"""``referee profile``: what it writes, what it refuses, and that the page shows the numbers of the tables."""

from __future__ import annotations

import csv
import gzip
import json
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from referee.reports.page import plotted_data
from referee.runs.folder import read_record
from tests.support import FakeServer

from .command import Referee
from .refusals import assert_refused

CLEAR = "The paper is well written and easy to follow, and the figures help the reader a lot."
WEAK = "The comparison in Table 2 lacks the strongest baseline, and Section 4.1 gives no variance."
LATEX = "Eq. (3) bounds $\\mathcal{L}(\\theta) = \\sum_i x_i^2$ only if \\(x > 0\\); the proof of Lemma 2 skips this."
HTML = "<script>alert('x')</script><p>The method of <b>Algorithm 1</b> is &lt; clear &gt; to me.</p>"


def row(number: int, text: str, rating: object, **given: object) -> dict[str, Any]:
    paper = f"p{(number + 1) // 2}"
    about = {"review_id": f"r{number}", "paper_id": paper, "venue": "iclr-2024", "year": 2024, "kind": "human"}
    return {**about, "source": "human", "review": text, "rating": rating, "confidence": 3, **given}


def saved(folder: Path, rows: Iterable[dict[str, Any]], name: str = "reviews.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return path


def usual() -> list[dict[str, Any]]:
    """Three papers with two human reviews each and one of a system; ratings as data write them."""
    people = ["6: marginally above", "6", 8, "3 good", "5: marginally below", 6.0]
    texts = [f"{CLEAR} {WEAK}", LATEX, f"{HTML} {WEAK}", f"Strengths:\n- {CLEAR}\nWeaknesses:\n- {WEAK}", WEAK, CLEAR]
    rows = [row(n, text, rating) for n, (text, rating) in enumerate(zip(texts, people, strict=True), start=1)]
    machine = {"source": "system-x", "kind": "ai"}
    return rows + [
        row(n, f"{CLEAR} {WEAK} {WEAK}", 8, **machine, paper_id=f"p{n - 20}", year=2024) for n in range(21, 24)
    ]


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def run(referee: Referee, workplace: Path) -> Path:
    done = referee("profile", saved(workplace, usual()), "--out", "out")
    assert done.code == 0, done.err
    assert "| human / iclr-2024" in done.out
    return workplace / "out"


@pytest.mark.slow
@pytest.mark.drawn
def test_what_a_profile_writes(run: Path) -> None:
    """One test for one run: drawing takes the longest."""
    lines = [json.loads(line) for line in (run / "profile.jsonl").read_text(encoding="utf-8").splitlines()]
    _every_review_has_its_line(lines)
    _the_page_holds_the_plotted_numbers_of_the_csv(run)
    _the_forest_is_that_of_the_comparisons(run)
    _the_page_is_alone_and_runs_no_foreign_text(run)
    _ratings_are_beside_people(run)
    assert read_record(run).status == "finished"


def _every_review_has_its_line(lines: list[dict[str, Any]]) -> None:
    assert len(lines) == 9
    by_id = {line["case_id"]: line for line in lines}
    assert [by_id[f"r{n}"]["values"]["rating"] for n in range(1, 7)] == [6, 6, 8, 3, 5, 6]
    assert by_id["r1"]["values"]["xref"] == 2
    assert by_id["r2"]["values"]["mathematics"] == 1.0
    assert set(by_id["r2"]["targets"]) == {"equation 3", "lemma 2"}
    assert by_id["r4"]["values"]["weaknesses_per_strength"] == 1.0
    for line in lines:
        assert all(line["reasons"].get(name) for name, value in line["values"].items() if value is None)


def _the_page_holds_the_plotted_numbers_of_the_csv(run: Path) -> None:
    shown = plotted_data((run / "report.html").read_text(encoding="utf-8"))
    kept: dict[str, dict[int, dict[str, str]]] = {}
    for cell in table(run / "plots.csv"):
        kept.setdefault(cell["plot"], {}).setdefault(int(cell["row"]), {})[cell["column"]] = cell["value"]
    assert {"distribution-words", "rating-iclr-2024", "differences-1", "coverage-weaknesses"} <= set(shown)
    assert set(shown) == set(kept)
    for name, rows in shown.items():
        assert [{key: "" if v is None else str(v) for key, v in one.items()} for one in rows] == list(
            kept[name].values()
        )
        assert (run / "plots" / f"{name}.svg").is_file()
        assert (run / "plots" / f"{name}.png").is_file()


def _the_forest_is_that_of_the_comparisons(run: Path) -> None:
    shown = plotted_data((run / "report.html").read_text(encoding="utf-8"))["differences-1"]
    rows = table(run / "comparisons.csv")
    compared = {one["measure"].replace("_", " "): one for one in rows if one["standardised"] and not one["reason"]}
    assert [one["label"] for one in shown] == list(compared)
    for one in shown:
        assert one["difference"] == float(compared[str(one["label"])]["standardised"])


def _the_page_is_alone_and_runs_no_foreign_text(run: Path) -> None:
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "prefers-color-scheme" in page
    assert not any(mark in page for mark in ('src="http', 'href="http', "@import", "url(http"))


def _ratings_are_beside_people(run: Path) -> None:
    (rating,) = [one for one in table(run / "agreement.csv") if one["what"] == "rating"]
    assert float(rating["difference"]) == pytest.approx(((8 - 6) + (8 - 5.5) + (8 - 5.5)) / 3)
    eight = next(
        one for one in table(run / "ratings.csv") if (one["group"], one["value"]) == ("system-x / iclr-2024", "8.0")
    )
    assert float(eight["points_from_people"]) == pytest.approx(100 * (1 - 1 / 6))
    (decided,) = table(run / "decisions.csv")
    assert (decided["papers"], decided["human_reviews"], decided["ai_reviews"]) == ("3", "6", "3")
    (alpha,) = table(run / "alpha.csv")
    assert alpha["papers"] == "3"
    assert math.isfinite(float(alpha["human"]))


def test_decisions_are_grouped_by_class_and_unusable_rows_counted_by_system(referee: Referee, workplace: Path) -> None:
    words = ("Accept (oral)", "Accept (poster)", "Invite to Workshop", "Reject")
    rows = [row(2 * n - 1, CLEAR, 6, decision=said) for n, said in enumerate(words, start=1)]
    rows += [row(9, CLEAR, 6, source="gpt", kind="ai", paper_id="p1", decision=words[0])]
    bad = row(11, CLEAR, 6, source="ai:gpt", kind="human")
    done = referee("profile", saved(workplace, [*rows, bad]), "--by", "decision", "--no-atomic", "--out", "out")
    assert done.code == 0, done.err
    assert "1 row(s) could not be used (of gpt: 1)" in done.out
    assert "1 review(s) have a decision that is no acceptance" in done.err
    assert "'Invite to Workshop' (1)" in done.err
    summary = json.loads((workplace / "out" / "summary.json").read_text(encoding="utf-8"))
    assert {one["group"]: one["reviews"] for one in summary["groups"]} == {
        "accept": 3,
        "decision unclear": 1,
        "reject": 1,
    }
    assert summary["rejected_by"] == {"gpt": 1}
    decided = {one["decision"]: one["words"] for one in table(workplace / "out" / "decisions.csv")}
    assert decided["accept"] == "Accept (oral): 1; Accept (poster): 1"
    lost = saved(workplace, [*rows[:4], bad], "lost.jsonl")
    assert_refused(referee("profile", lost, "--out", "lost"), "no row of 'gpt' can be used", "line 5")


def test_nulls_everywhere_single_reviews_and_unknown_forms_are_profiled(referee: Referee, workplace: Path) -> None:
    nothing = {"confidence": None, "venue": None, "year": None}
    rows = [
        row(1, "?", None, **nothing),
        row(3, "Well done.", "no idea", venue="my-workshop"),
        row(5, WEAK, 4, venue="my-workshop"),
        row(7, "", None, **nothing),
    ]
    done = referee("profile", saved(workplace, rows), "--out", "out", "--no-atomic")
    assert done.code == 0, done.err
    assert "'my-workshop' is unknown" in done.err
    cells = table(workplace / "out" / "summary.csv")
    assert not any(cell[name] in ("nan", "inf") for cell in cells for name in cell)
    empty = [cell for cell in cells if cell["group"] == "human / no venue / no year" and cell["measure"] == "rating"]
    assert [(one["mean"], one["n"]) for one in empty] == [("", "0")]
    assert "states no number" in empty[0]["reasons"]
    shares = [one for one in table(workplace / "out" / "ratings.csv") if one["what"] == "rating"]
    assert [(one["form"], one["value"], one["known"]) for one in shares] == [("my-workshop", "4.0", "False")]


def test_two_scales_in_one_group_leave_its_rating_empty_and_the_rest_measured(
    referee: Referee, workplace: Path
) -> None:
    rows = [row(1, WEAK, 6), row(3, WEAK, 6, venue="iclr-2026", year=2026)]
    done = referee("profile", saved(workplace, rows), "--by", "source", "--out", "out")
    assert done.code == 0, done.err
    cells = {one["measure"]: one for one in table(workplace / "out" / "summary.csv")}
    assert (cells["rating"]["mean"], cells["rating"]["reasons"]) == ("", "several scales: 2")
    assert float(cells["words"]["mean"]) > 0


def test_eras_of_each_conference_in_one_run(referee: Referee, workplace: Path) -> None:
    rows = [
        row(2 * at + n, WEAK, None, venue=f"{venue}-{year}", year=year, paper_id=f"{venue}{year}{n}")
        for at, (venue, year) in enumerate((v, y) for v in ("iclr", "neurips") for y in (2019, 2020, 2024, 2025))
        for n in (1, 2)
    ]
    options = ("--by", "source,conference,era", "--era", "praib", "--no-atomic", "--out", "out")
    done = referee("profile", saved(workplace, rows), *options)
    assert done.code == 0, done.err
    pairs = {(one["first"], one["second"]) for one in table(workplace / "out" / "comparisons.csv")}
    assert {("human / iclr / post", "human / iclr / pre"), ("human / neurips / post", "human / neurips / pre")} <= pairs


def test_ratings_of_another_form_are_left_out_and_said(referee: Referee, workplace: Path) -> None:
    rows = [row(n, WEAK, 7) for n in (1, 3, 5)]
    done = referee("profile", saved(workplace, rows), "--no-atomic", "--out", "out")
    assert done.code == 0, done.err
    assert "3 of 3 of people's ratings are no values of 'iclr-2024'" in done.err
    cells = {one["measure"]: one for one in table(workplace / "out" / "summary.csv")}
    assert cells["rating"]["mean"] == ""
    assert float(cells["words"]["mean"]) > 0


def test_one_rating_off_the_form_is_a_slip(referee: Referee, workplace: Path) -> None:
    rows = [row(n, WEAK, 7 if n == 1 else 6) for n in (1, 3, 5)]
    done = referee("profile", saved(workplace, rows), "--no-atomic", "--out", "out")
    assert done.code == 0, done.err
    shares = [one for one in table(workplace / "out" / "ratings.csv") if one["value"] == "7.0"]
    assert [(one["what"], one["count"], one["on_form"]) for one in shares] == [("rating", "1", "False")]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--by", "cofnig"), "'cofnig'"),
        (("--by", "venue,venue"), "venue"),
        (("--era", "soon"), "'soon'"),
        (("--by", "era"), "--era"),
        (("--rated-on", "nowhere-1999"), "nowhere-1999"),
        (("--citations", "online"), "--contact"),
        (("--citation-records", "missing.jsonl"), "missing.jsonl"),
        (("--papers", "missing"), "missing"),
    ],
)
def test_what_cannot_be_done_is_refused(referee: Referee, workplace: Path, options: tuple[str, ...], said: str) -> None:
    assert_refused(referee("profile", saved(workplace, usual()), "--no-atomic", *options), said)


def test_an_empty_set_is_refused(referee: Referee, workplace: Path) -> None:
    assert_refused(referee("profile", saved(workplace, [])), "reviews.jsonl")


def test_citations_are_checked_against_records(referee: Referee, workplace: Path) -> None:
    cited = 'Vaswani, Ashish, et al. "Attention is all you need." Advances in Neural Information 30 (2017).'
    made_up = 'Nobody, Ann, et al. "A work that nobody ever wrote." Proceedings of Nothing 1 (2018).'
    record = {"title": "Attention is All you Need", "year": 2017, "authors": ["Ashish Vaswani", "Noam Shazeer"]}
    records = saved(workplace, [record], "records.jsonl")
    reviews = saved(workplace, [row(1, f"{WEAK}\n{cited}\n{made_up}", 6), row(2, WEAK, 6)])
    done = referee("profile", reviews, "--citation-records", records, "--no-atomic", "--era", "praib", "--out", "out")
    assert done.code == 0, done.err
    lines = [json.loads(line) for line in (workplace / "out" / "profile.jsonl").read_text().splitlines()]
    assert [one["status"] for one in lines[0]["citations"]] == ["verified", "not_found"]
    assert lines[0]["values"]["citations_verified"] == 0.5
    assert lines[1]["values"]["citations_verified"] is None
    assert {line["group"] for line in lines} == {"human / iclr-2024 / post"}


def test_a_judge_reads_items_coverage_and_mathematics(referee: Referee, workplace: Path, server: FakeServer) -> None:
    """The stand-in makes its items up, which fidelity shows."""
    reviews = saved(workplace, usual())
    done = referee(
        *("profile", reviews, "--judge", "fake", "--base-url", server.base_url, "--no-cache", "--yes", "--out", "out")
    )
    assert done.code == 0, done.err
    assert "Estimate: about" in done.err
    kept = json.loads((workplace / "out" / "summary.json").read_text(encoding="utf-8"))
    assert kept["backends"]["items and coverage"].startswith("judge:fake")
    assert kept["backends"]["mathematics"].startswith("judge:fake")
    record = read_record(workplace / "out")
    assert record.usage.calls >= 18
    assert {name.split("@")[0] for name in record.prompts} == {"eval/atomic", "eval/covers", "eval/mathematics"}
    contained = [cell for cell in kept["cells"] if cell["measure"] == "fidelity_contained" and cell["n"]]
    assert contained
    assert all(cell["mean"] < 1 for cell in contained)


@pytest.mark.slow
def test_a_budget_stops_the_judge_and_the_run_says_so(referee: Referee, workplace: Path, server: FakeServer) -> None:
    reviews = saved(workplace, usual())
    judge = ("--judge", "fake", "--base-url", server.base_url, "--no-cache", "--yes", "--max-tokens", "500")
    done = referee("profile", reviews, *judge, "--out", "out")
    assert done.code != 0
    assert "Traceback" not in done.err
    assert read_record(workplace / "out").status == "stopped"
    assert not (workplace / "out" / "summary.md").exists()
    again = referee("profile", reviews, *judge[:-2], "--resume", "out")
    assert again.code == 0, again.err
    assert read_record(workplace / "out").status == "finished"


def test_reviews_without_a_venue_are_placed_on_the_one_that_is_given(referee: Referee, workplace: Path) -> None:
    rows = [row(n, WEAK, "6: marginally above", venue=None, year=None) for n in (1, 3)]
    rows += [row(5, WEAK, 8, venue="Some Workshop", year=None), row(7, WEAK, 6, venue="iclr-2020", year=2020)]
    options = ("--no-atomic", "--venue", "iclr-2024", "--out", "out")
    done = referee("profile", saved(workplace, rows), *options)
    assert done.code == 0, done.err
    assert "| human / iclr-2024 | 3 " in done.out
    assert "unknown" not in done.err
    shares = [one for one in table(workplace / "out" / "ratings.csv") if one["what"] == "rating"]
    assert {(one["form"], one["known"]) for one in shares} == {("iclr-2024", "True"), ("iclr-2020", "True")}
    assert_refused(referee("profile", workplace / "reviews.jsonl", "--venue", "nowhere-1999"), "nowhere-1999")


def test_ratings_that_are_no_numbers_are_counted_and_the_rest_is_measured(referee: Referee, workplace: Path) -> None:
    rows = [row(1, WEAK, 6), row(3, CLEAR, True), row(5, LATEX, float("nan")), row(7, HTML, float("inf"))]
    done = referee("profile", saved(workplace, rows), "--no-atomic", "--out", "out")
    assert done.code == 0, done.err
    for said in ("true", "NaN", "Infinity"):
        assert f"1 rating(s) cannot be read and count as missing: {said} is no number" in done.err
    lines = (workplace / "out" / "profile.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["values"]["rating"] for line in lines] == [6, None, None, None]


def test_scores_within_texts_are_counted_by_system(referee: Referee, workplace: Path) -> None:
    texts = [f"{WEAK}\n\nRating: 6", f"{WEAK}\n\nRating: 11\nSoundness: 3 poor", f"{WEAK}\n\nRating: 6\nScore: 8"]
    rows = [{**row(n, text, None), "source": "ai:m", "kind": "ai"} for n, text in enumerate(texts)]
    rows.append(row(9, f"{WEAK}\n\nOverall: 3/10", None))
    done = referee("profile", saved(workplace, rows), "--no-atomic", "--venue", "iclr-2024", "--out", "out")
    assert done.code == 0, done.err
    said = (
        "m: scores of 1 review(s) are read from lines of their texts",
        "m: 4 line(s) of the texts look like scores and are not used: two different values in one review (2); ",
        "the number is not on the scale (1)",
        "number and label disagree (1)",
        "human: scores of 1 review(s) are read from lines of their texts",
    )
    record = (workplace / "out" / "summary.md").read_text(encoding="utf-8")
    for words in said:
        assert words in " ".join(done.err.split())
        assert words in record
    lines = (workplace / "out" / "profile.jsonl").read_text(encoding="utf-8").splitlines()
    assert sorted(str(json.loads(line)["values"]["rating"]) for line in lines) == ["3.0", "6.0", "None", "None"]


def test_a_mapping_is_written_on_request_and_read_again(referee: Referee, workplace: Path) -> None:
    rows = [{"paper": f"p{n}", "reviewer": "human", "comments": f"{WEAK} {n}."} for n in range(3)]
    odd = saved(workplace, rows, "odd.jsonl")
    assert_refused(referee("profile", odd, "--out", "out"), "has comments, paper, reviewer", 'text = "comments"')
    done = referee("profile", odd, "--write-mapping", "map.toml")
    assert done.code == 0, done.err
    assert "--mapping map.toml" in done.out
    assert not (workplace / "referee-runs").exists()
    assert_refused(referee("eval", odd, "--write-mapping", "map.toml"), "there already")
    done = referee("profile", odd, "--mapping", "map.toml", "--no-atomic", "--out", "out")
    assert done.code == 0, done.err
    assert "| human / no venue / no year | 3 " in done.out


@pytest.mark.slow
def test_packed_lines_and_parquet_are_profiled_and_pipes_and_spreadsheets_refused(
    referee: Referee, workplace: Path
) -> None:
    saved(workplace, usual())
    (workplace / "packed.jsonl.gz").write_bytes(gzip.compress((workplace / "reviews.jsonl").read_bytes()))
    same = [{**one, "rating": str(one["rating"])} for one in usual()]
    pq.write_table(pa.Table.from_pylist(same), workplace / "table.parquet")
    printed = {
        referee("profile", name, "--no-atomic", "--out", f"{name}-out").out.rsplit("Written", 1)[0]
        for name in ("reviews.jsonl", "packed.jsonl.gz", "table.parquet")
    }
    assert len(printed) == 1
    os.mkfifo(workplace / "pipe.jsonl")
    (workplace / "table.xlsx").write_bytes(b"PK\x03\x04")
    for command in (("profile",), ("eval",), ("arena", "score")):
        assert_refused(referee(*command, "pipe.jsonl"), "'pipe.jsonl' is a named pipe")
        assert_refused(referee(*command, "table.xlsx"), "'table.xlsx' is a spreadsheet", "as CSV")
