"""The example papers: results that reproduce, tables that the script wrote, and flaws that are where the list says."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pypdfium2
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DATA = EXAMPLES / "experiment" / "data"
LISTED = json.loads((EXAMPLES / "flaws.json").read_text(encoding="utf-8"))
SOURCES = {"paper": EXAMPLES / "paper" / "paper.tex", "short": EXAMPLES / "short.md"}


@pytest.fixture(scope="module")
def experiment() -> Iterator[ModuleType]:
    """The experiment's ``run`` module; its siblings are plain scripts and leave the module table afterwards."""
    folder = str(EXAMPLES / "experiment")
    before = set(sys.modules)
    sys.path.insert(0, folder)
    import run

    yield run
    sys.path.remove(folder)
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(folder):
            del sys.modules[name]


def one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def stored(name: str, cell: int) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as stream:
        return [row for row in csv.DictReader(stream) if int(row["cell"]) == cell]


def as_text(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [{key: str(value) for key, value in row.items()} for row in rows]


def coverage(study: str, method: str, **where: str) -> float:
    with (DATA / "results.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["study"] == study and row["method"] == method]
    (row,) = [row for row in rows if all(row[key] == value for key, value in where.items())]
    return round(100 * float(row["coverage"]), 1)


def test_closed_form_rows_of_a_table_column_reproduce_to_the_digit(experiment: ModuleType) -> None:
    cell = experiment.simulated_cells()[1]
    rows, _ = experiment.rows_of(cell, experiment.REPLICATES, bootstrap=False)
    expected = [row for row in stored("results.csv", cell.number) if "boot" not in row["method"]]
    assert as_text(rows) == expected


def test_first_evaluation_sets_reproduce_with_all_six_intervals(experiment: ModuleType) -> None:
    cell = experiment.simulated_cells()[0]
    _, kept = experiment.rows_of(cell, experiment.KEPT)
    assert as_text(kept) == stored("replicates.csv", cell.number)


def test_trained_pair_reproduces(experiment: ModuleType) -> None:
    pool = experiment.build_pool(0)
    cell = experiment.trained(100, 5, 0, pool)
    recorded = json.loads((DATA / "meta.json").read_text(encoding="utf-8"))["trained_pairs"]["0"]
    assert round(pool.accuracy_mlp, 6) == recorded["accuracy_mlp"]
    _, kept = experiment.rows_of(cell, experiment.KEPT)
    assert as_text(kept) == stored("replicates.csv", 100)


def test_simulated_truth_agrees_with_a_large_sample(experiment: ModuleType) -> None:
    import numpy as np

    truth, _ = experiment.moments(1.5)
    crowd = experiment.draw(experiment.Design(20_000, 1.5, 0.0), np.random.default_rng(1))
    assert crowd.estimate == pytest.approx(truth, abs=0.006)


@pytest.mark.parametrize(("degrees", "value"), [(4, 2.776445), (9, 2.262157), (79, 1.990450)])
def test_t_quantiles_are_the_tabulated_ones(experiment: ModuleType, degrees: int, value: float) -> None:
    assert experiment.t_quantile(degrees) == pytest.approx(value, abs=1e-6)


def test_tables_are_what_the_script_writes_and_the_paper_includes_them(experiment: ModuleType) -> None:
    import report

    rows = report.results()
    source = SOURCES["paper"].read_text(encoding="utf-8")
    for name, make in (("main", report.main_table), ("trained", report.trained_table), ("seeds", report.seeds_table)):
        assert (EXAMPLES / "paper" / "tables" / f"{name}.tex").read_text(encoding="utf-8") == make(rows)
        assert rf"\input{{tables/{name}}}" in source
    for name in re.findall(r"\\includegraphics\{(.+?)\}", source):
        assert (EXAMPLES / "paper" / f"{name}.pdf").is_file()


def test_short_paper_table_is_true() -> None:
    lines = SOURCES["short"].read_text(encoding="utf-8").splitlines()
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines if re.match(r"\| (item|cluster)", line)
    ]
    assert len(rows) == 4
    for method, *cells in rows:
        for spread, cell in zip(("0.0", "0.5", "1.0", "1.5"), cells[:4], strict=True):
            assert float(cell) == coverage("sizes", method, clusters="10", size_spread=spread)


def test_planted_numbers_are_really_wrong() -> None:
    first = stored("replicates.csv", 100)[0]
    assert coverage("trained", "cluster-t", clusters="20", training_seed="0") == 92.3
    assert round(100 * (18.9 - 1.5) / 18.9) == 92
    assert coverage("clusters", "cluster-boot", clusters="10") == 89.1
    assert (first["items"], first["estimate"]) == ("59", f"{12 / 59:.6f}")
    assert all(round(k / 59, 3) != 0.210 for k in range(60))
    assert coverage("sizes", "item-normal", clusters="10", size_spread="0.0") == 78.7


@pytest.mark.parametrize("flaw", LISTED["flaws"], ids=lambda flaw: flaw["id"])
def test_planted_flaw_stands_once_in_its_document_and_in_the_readme(flaw: dict[str, str]) -> None:
    readme = one_line((EXAMPLES / "README.md").read_text(encoding="utf-8"))
    document = one_line(SOURCES[flaw["document"]].read_text(encoding="utf-8"))
    assert document.count(one_line(flaw["source"])) == 1
    for part in (f"**{flaw['id']}. ", flaw["truth"], flaw["reviewer_should_say"]):
        assert part in readme


@pytest.mark.parametrize("trap", LISTED["traps"], ids=lambda trap: trap["id"])
def test_trap_is_answered_in_the_paper(trap: dict[str, str]) -> None:
    assert one_line(trap["answered_by"]) in one_line(SOURCES["paper"].read_text(encoding="utf-8"))


def test_undefined_symbol_occurs_once() -> None:
    assert SOURCES["paper"].read_text(encoding="utf-8").count(r"\kappa") == 1


def test_pdf_is_small_has_six_pages_and_holds_the_planted_words() -> None:
    path = EXAMPLES / "paper.pdf"
    assert path.stat().st_size < 1_000_000
    document = pypdfium2.PdfDocument(path)
    pages = [document[index].get_textpage() for index in range(len(document))]
    words = re.sub(r"[\W_]+", "", " ".join(page.get_text_bounded() for page in pages))
    for page in pages:
        page.close()
    document.close()
    assert len(pages) == 6
    for flaw in LISTED["flaws"]:
        if flaw["document"] == "paper":
            assert re.sub(r"[\W_]+", "", flaw["text"]).lower() in words.lower(), flaw["id"]


def test_pdf_names_no_folder_of_the_machine_that_built_it() -> None:
    raw = (EXAMPLES / "paper.pdf").read_bytes()
    assert str(EXAMPLES.parent).encode() not in raw
    assert not re.search(rb"/(home|tmp|Users)/", raw)
