from __future__ import annotations

import csv
import io
import re

import pytest

from referee.evals.agreement import RatedPaper, TextPair, compare_scales, free_scale, score_predictions, text_similarity
from referee.evals.agreement.floors import constant_predictions
from referee.reports.arena_files import arena_csv, arena_json, write_arena
from referee.reports.arena_plots import arena_plots, plot_names
from referee.reports.arena_result import (
    CHANCE,
    CONSTANT,
    FLOORS,
    HUMAN,
    ArenaResult,
    ModelScore,
    RankComparison,
    floor_by_conference,
    numbers,
    pooled_floor,
)
from referee.reports.arena_tables import TABLES, decisions_table, left_out_table, lines_of, ratings_table
from referee.reports.page import plotted_data
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
    ranks = (RankComparison("iclr-2024", "other", 3, 0.5, None, bins),)
    models = [
        ModelScore("good", score_predictions(papers(0), FORMS), text_similarity(pairs), no_human=2),
        ModelScore(LONG, score_predictions(papers(2), FORMS), ranks=ranks, repeated=1),
    ]
    floors = score_predictions(constant_predictions(papers(0), 5), FORMS)
    return ArenaResult(tuple(models), floors, {"seed": "0"}, ("1 row | cannot be <b>used</b>",))


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def written(result: ArenaResult) -> dict[str, str]:
    files: dict[str, str] = {}
    write_arena(result, files.__setitem__)
    return files


def test_what_is_plotted_on_the_page_stands_in_the_csv(result: ArenaResult) -> None:
    files = written(result)
    values = {
        (plot_names(result).get(r["model"], r["model"]), r["form"], r["axis"]): r for r in rows(files["arena.csv"])
    }
    plotted = plotted_data(files["arena.html"])
    assert set(plotted) == {
        *("mae", "bias", "sub-scores", "calibration-iclr-2024", "ratings-iclr-2024"),
        *("calibration-neurips-2025", "ratings-neurips-2025"),
    }

    def same(key: tuple[str, str, str], shown: object, column: str = "value") -> None:
        assert float(values[key][column]) == shown, key

    for bar in plotted["mae"]:
        same((str(bar["series"]), str(bar["category"]), "mae"), bar["value"])
    for item in plotted["bias"]:
        model, form = str(item["label"]).split(" (n = ")[0].rsplit(", ", 1)
        for column, shown in (("value", "difference"), ("low", "low"), ("high", "high")):
            same((model, form, "bias"), item[shown], column)
    assert len(plotted["sub-scores"]) == 4
    for item in plotted["sub-scores"]:
        model, form, axis = str(item["label"]).split(" (n = ")[0].rsplit(", ", 2)
        same((model, form, f"{axis} bias"), item["difference"])
        bounds = [values[model, form, f"{axis} bias"][name] for name in ("low", "high")]
        assert bounds == ["" if item[name] is None else str(item[name]) for name in ("low", "high")]
        assert (bounds == ["", ""]) == (axis == "clarity"), "one paper has no interval"
    for form in ("iclr-2024", "neurips-2025"):
        for point in plotted[f"calibration-{form}"]:
            own = [k for k in values if k[:2] == (point["series"], form) and k[2].endswith(" human")]
            (at,) = [k for k in own if float(values[k]["value"]) == point["true"]]
            same((at[0], form, at[2].replace(" human", " predicted")), point["predicted"])
            same(at, point["papers"], "n")
        for bar in plotted[f"ratings-{form}"]:
            series = HUMAN if bar["series"] == "people" else str(bar["series"])
            same((series, form, f"share of {bar['category']}"), bar["value"])
    assert sum(map(len, plotted.values())) > 60


def test_the_page_is_whole_and_fetches_nothing(result: ArenaResult) -> None:
    page = written(result)["arena.html"]
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
    _, head, body = ratings_table(result)
    assert head[3:5] == ["iclr", "neurips"]
    assert [row[0] for row in body] == ["good", LONG, *FLOORS]
    assert [row[2] for row in body[:2]] == ["1", "1"]
    for floor in (CONSTANT, HUMAN, CHANCE):
        by_conference = [value for value in floor_by_conference(result, floor).values() if value is not None]
        assert pooled_floor(result, floor) == pytest.approx(sum(by_conference) / len(by_conference))


def test_decisions_are_iclr_s_and_what_is_left_out_is_listed(result: ArenaResult) -> None:
    table, left = decisions_table(result), left_out_table(result)
    assert table is not None
    assert {row[1] for row in table[2]} == {"59"}
    assert left is not None
    assert ["good", "no human review of the paper", "2"] in left[2]
    assert [LONG, "a further prediction for a paper", "1"] in left[2]


def test_markdown_keeps_foreign_names_in_their_cells(result: ArenaResult) -> None:
    lines = lines_of(("T", ["model"], [["a | b"], ["# c"]]))
    assert lines[2].count("|") == 3
    assert "1 row \\| cannot be \\<b>used" in written(result)["arena.md"]


def test_nothing_scored_draws_nothing() -> None:
    empty = ArenaResult((ModelScore("m", score_predictions([], FORMS)),), score_predictions([], FORMS), {})
    assert arena_plots(empty) == ()
    files = written(empty)
    assert "floor: chance" in files["arena.md"]
    assert plotted_data(files["arena.html"]) == {}
