from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import pytest

from referee.evals.agreement import (
    RatedPaper,
    TextPair,
    compare_scales,
    free_scale,
    mean_over_fields,
    score_predictions,
    text_similarity,
)
from referee.evals.agreement.result import (
    CHANCE,
    CONSTANT,
    FLOORS,
    HUMAN,
    NONE,
    ArenaResult,
    ModelScore,
    RankComparison,
    floor_by_conference,
    numbers,
    pooled_floor,
)
from referee.reports.arena_files import arena_csv, arena_json, write_arena
from referee.reports.arena_plots import arena_plots, plot_names
from referee.reports.arena_tables import TABLES, cost_table, decisions_table, left_out_table, ratings_table
from referee.reports.page import plotted_data
from referee.reports.tables import Table, aligned
from referee.schemas.usage import Usage
from referee.stats.ranks import rank_correlation
from referee.venues.registry import list_venues

FORMS = {form.id: form for form in list_venues()}
LONG = "a-model-with-a-name-that-leaves-a-drawing-no-room-at-all"


def rated(n: int, predicted: float | None, form: str = "iclr-2024") -> RatedPaper:
    allowed = (1, 3, 5, 6, 8, 10) if form == "iclr-2024" else (1, 2, 3, 4, 5, 6)
    human = (float(allowed[n % 6]), float(allowed[(n + 1) % 6]))
    reason = "" if predicted is not None else "the reply was no JSON"
    conference, _, year = form.rpartition("-")
    about = {"accepted": n % 2 == 0}
    if form == "neurips-2025":
        one = {"clarity": (2.0,)} if n == 1 else {}
        about |= {
            "scores": {"quality": (float(n % 4 + 1),), **one},
            "predicted_scores": {"quality": 3.0, "clarity": 4.0},
        }
    return RatedPaper(f"{form}-{n}", form, human, predicted, reason, conference, int(year), **about)  # type: ignore[arg-type]


def papers(shift: int) -> list[RatedPaper]:
    iclr = [rated(n, float((1, 3, 5, 6, 8, 10)[(n + shift) % 6]) if n else None) for n in range(60)]
    neurips = [rated(n, float((1, 2, 3, 4, 5, 6)[(n + shift) % 6]), "neurips-2025") for n in range(30)]
    return [*iclr, *neurips]


@pytest.fixture(scope="module")
def result() -> ArenaResult:
    pairs = [TextPair("p", "summary", "It counts lanterns.", ("It counts boats.", "Lanterns are counted."))]
    scale = free_scale("iclr-2024", (1, 3, 5)), free_scale("other", (1, 2))
    assert scale[0] is not None
    assert scale[1] is not None
    bins = compare_scales((scale[0], [1, 3, 5]), (scale[1], [1, 2]))
    order = rank_correlation([1, 2, 2], [1, 3, 5], seed=0)
    ranks = (RankComparison("iclr-2024", "other", 3, order, NONE, bins),)
    models = [
        ModelScore(
            "good",
            score_predictions(papers(0), FORMS),
            texts := text_similarity(pairs),
            no_human=2,
            text_means=mean_over_fields(texts.values()),
            usage=Usage(calls=90, input_tokens=18_000, output_tokens=900, cost_usd=0.45),
            priced=90,
        ),
        ModelScore(LONG, score_predictions(papers(2), FORMS), ranks=ranks, repeated=1),
    ]
    return ArenaResult(tuple(models), {"seed": "0"}, ("1 row | cannot be <b>used</b>",))


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def written(result: ArenaResult) -> dict[str, str]:
    files: dict[str, str] = {}
    write_arena(result, files.__setitem__)
    return files


@pytest.mark.slow
def test_what_is_plotted_on_the_page_stands_in_the_csv(result: ArenaResult) -> None:
    files = written(result)
    values = {
        (plot_names(result).get(r["model"], r["model"]), r["form"], r["axis"]): r for r in rows(files["arena.csv"])
    }
    plotted = plotted_data(files["report.html"])
    assert set(plotted) == {
        *("mae", "bias", "sub-scores", "calibration-iclr-2024", "ratings-iclr-2024"),
        *("calibration-neurips-2025", "ratings-neurips-2025"),
    }

    def same(key: tuple[str, str, str], shown: object, column: str = "value") -> None:
        assert float(values[key][column]) == shown, key

    said = {FORMS[form].name: form for form in ("iclr-2024", "neurips-2025")}
    floors = {"one human reviewer": HUMAN, "one constant a form": CONSTANT, "chance": CHANCE}
    for plot, axis, value in (("mae", "mae", "value"), ("bias", "bias", "difference")):
        for item in plotted[plot]:
            model, form = str(item["label"]).rsplit(" (n = ", 1)[0].rsplit(", ", 1)
            for column, shown in (("value", value), ("low", "low"), ("high", "high")):
                same((model, said[form], axis), item[shown], column)
            for name in floors if plot == "mae" else ():
                same((floors[name], said[form], "mae"), item[name])
    assert len(plotted["sub-scores"]) == 4
    for item in plotted["sub-scores"]:
        model, name, axis = str(item["label"]).rsplit(" (n = ", 1)[0].rsplit(", ", 2)
        form = said[name]
        same((model, form, f"{axis} bias"), item["difference"])
        bounds = [values[model, form, f"{axis} bias"][name] for name in ("low", "high")]
        assert bounds == ["" if item[name] is None else str(item[name]) for name in ("low", "high")]
        assert (bounds == ["", ""]) == (axis == "clarity"), "one paper has no interval"
    for form in ("iclr-2024", "neurips-2025"):
        for point in plotted[f"calibration-{form}"]:
            own = [k for k in values if k[:2] == (point["series"], form) and k[2].endswith(" human")]
            (at,) = [k for k in own if float(values[k]["value"]) == point["true"]]
            for column, shown in (("value", "predicted"), ("low", "low"), ("high", "high")):
                same((at[0], form, at[2].replace(" human", " predicted")), point[shown], column)
            same(at, point["papers"], "n")
        for bar in plotted[f"ratings-{form}"]:
            series = HUMAN if bar["series"] == "people" else str(bar["series"])
            same((series, form, f"share of {bar['category']}"), bar["value"])
    assert sum(map(len, plotted.values())) > 60


@pytest.mark.slow
def test_the_page_is_whole_and_fetches_nothing(result: ArenaResult) -> None:
    page = written(result)["report.html"]
    assert not re.search(r'(?:src|href)="(?!#)', page)
    assert "<b>used</b>" not in page
    for table in (make(result) for make in TABLES):
        if table is not None:
            assert f"<h2>{table[0]}</h2>" in page
    assert plot_names(result)[LONG] in page


def test_json_and_csv_hold_the_same_numbers(result: ArenaResult) -> None:
    found = list(numbers(result))
    assert len({(one.model, one.form, one.axis) for one in found}) == len(found)
    assert len(rows(arena_csv(result))) == len(found)
    assert arena_json(result).count('"axis"') == len(found)
    assert {one.n for one in found if one.axis == "invalid: the reply was no JSON"} == {None}
    assert [one.value for one in found if one.axis == "invalid: the reply was no JSON"] == [1, 1]


def test_floors_stand_below_the_models_with_the_weights_of_papers(result: ArenaResult) -> None:
    table = ratings_table(result)
    assert table is not None
    _, head, body = table
    assert head[3:7] == ["iclr", "iclr bias", "neurips", "neurips bias"]
    assert [row[0] for row in body] == ["good", LONG, *FLOORS]
    assert [row[2] for row in body[:2]] == ["1", "1"]
    for floor in (CONSTANT, HUMAN, CHANCE):
        (own,) = result.floor_sets
        by_conference = [value for value in floor_by_conference(own.score, floor).values() if value is not None]
        assert pooled_floor(own.score, floor) == pytest.approx(sum(by_conference) / len(by_conference))


def test_models_on_different_papers_stand_each_above_the_floors_of_their_own(result: ArenaResult) -> None:
    fewer = [replace(row, predicted=None) if row.human[0] > 8 else row for row in papers(0)]
    other = ModelScore("fails on hard papers", score_predictions(fewer, FORMS))
    both = replace(result, models=(result.models[0], other))
    table = ratings_table(both)
    assert table is not None
    _, _, body = table
    assert [row[0] for row in body] == [
        *("good", *(f"{floor} (papers of good)" for floor in FLOORS)),
        *("fails on hard papers", *(f"{floor} (papers of fails on hard papers)" for floor in FLOORS)),
    ]
    assert body[5][1] == body[4][1] != body[1][1]
    found = {(one.model, one.form, one.axis): one for one in numbers(both)}
    own = found[f"{CONSTANT} (papers of fails on hard papers)", "iclr-2024", "mae"]
    assert (own.value, own.n) == (other.score.forms[0].floors.constant_mae, other.score.forms[0].error.mae.n)
    drawn = {plot.name: plot for plot in arena_plots(both)}
    assert {str(row[0]) for row in drawn["ratings-iclr-2024"].rows} == {
        *("good", "people (papers of good)"),
        *("fails on hard papers", "people (papers of fails on hard papers)"),
    }


def test_models_by_axes_are_one_table_in_markdown_and_csv(result: ArenaResult) -> None:
    files = written(result)
    axes = ["pooled MAE", "nMAE", "sub-scores MAE", "accuracy", "macro-F1", "gap", "AUC"]
    axes += ["ROUGE-1", "ROUGE-2", "ROUGE-L", "BLEU"]
    lines = files["models.md"].splitlines()
    assert [cell.strip() for cell in lines[0].split("|")[1:-1]] == ["model", *axes]
    assert len(lines) == 2 + 2
    assert "\n".join(lines) in files["arena.md"]
    good, long = rows(files["models.csv"])
    assert float(good["pooled MAE"]) == result.models[0].score.pooled_mae.mean
    assert float(good["AUC low"]) < float(good["AUC"]) < float(good["AUC high"])
    assert (long["model"], long["BLEU"]) == (LONG, "")


def test_tokens_and_cost_are_those_that_predictions_record(result: ArenaResult) -> None:
    table = cost_table(result)
    assert table is not None
    assert table[2] == [["good", "90", "90", "18,000", "900", "0.4500", "210", "0.0050"]]
    found = {one.axis: one for one in numbers(result) if one.model == "good" and one.form == "all"}
    assert (found["cost in US dollars"].value, found["output tokens"].value, found["calls"].n) == (0.45, 900, 90)


def test_decisions_are_iclr_s_and_what_is_left_out_is_listed(result: ArenaResult) -> None:
    table, left = decisions_table(result), left_out_table(result)
    assert table is not None
    assert {row[1] for row in table[2]} == {"59"}
    assert left is not None
    assert ["good", "no human review of the paper", "2"] in left[2]
    assert [LONG, "a further prediction for a paper", "1"] in left[2]


@pytest.mark.slow
def test_markdown_keeps_foreign_names_in_their_cells(result: ArenaResult) -> None:
    lines = aligned(Table("T", ["model"], [["a | b"], ["# c"]]))
    assert lines[2].count("|") == 3
    assert "1 row \\| cannot be \\<b>used" in written(result)["arena.md"]


def test_nothing_scored_draws_nothing() -> None:
    empty = ArenaResult((ModelScore("m", score_predictions([], FORMS)),), {})
    assert arena_plots(empty) == ()
    files = written(empty)
    assert "models.csv" not in files
    assert ratings_table(empty) is None
    assert plotted_data(files["report.html"]) == {}
