"""``referee arena score`` written down: Markdown, CSV, JSON, a page, and the predictions paper by paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, fields

from referee.evals.agreement.result import NONE, ArenaResult, Number, numbers, overall
from referee.reports.arena_plots import arena_plots, plot_names
from referee.reports.arena_tables import TABLES, overall_table
from referee.reports.page import Section, about, bullets, render_markdown, render_page
from referee.reports.plots import Plot, plots_csv
from referee.reports.tables import Table, aligned, csv_text, json_text

TITLE = "Predicted reviews against people's"
LEAD = (
    "How far each model's ratings and texts are from those of human reviewers of the same papers, on each form's own "
    "scale, beside what needs no model: one constant for all papers, a human reviewer against the others, and chance."
)
READING = (
    "MAE is the mean distance of a prediction from the paper's mean human rating, in points of the form; bias is the "
    "mean signed distance. The pooled MAE is the unweighted mean of conferences and mixes scales; nMAE is in shares of "
    "each form's span, the mean of forms. The constant is each form's mean human rating: it knows the answers. A human "
    "reviewer is compared with the mean of the paper's others, so with fewer ratings than a model is; neither has a "
    "bias. Floors are of the papers that the models above them were scored on. Intervals are at 95%, by paper."
)
TEXTS = (
    "Texts are compared with all human texts of the field joined, which caps what one text can recall: the nearest "
    "single review and the agreement of people among themselves stand beside. hash_cosine is a cosine of TF-IDF "
    "vectors and no BERTScore."
)
AXES = (
    "Ratings and sub-scores are mean absolute errors, texts the mean of the fields that can be compared; each "
    "as in its table below."
)
_ABOUT = {"Models by axis": AXES, "Mean absolute error by conference": READING, "Texts": TEXTS}


def write_arena(result: ArenaResult, write: Callable[[str, str], object]) -> tuple[Plot, ...]:
    """Write ``arena.md``, ``arena.csv``, ``arena.json``, ``report.html``, ``plots.csv`` and ``papers.csv``.

    ``models.md`` and ``models.csv`` hold the one table of models by axes, where a model was scored on any.

    Args:
        result: What came out.
        write: Writes a file of that name and text whole.

    Returns:
        The plots of the page.
    """
    plots = arena_plots(result)
    tables = [table for make in TABLES if (table := make(result)) is not None]
    write("arena.csv", arena_csv(result))
    write("arena.json", arena_json(result))
    write("papers.csv", _papers_csv(result))
    write("plots.csv", plots_csv(plots))
    if (models := overall_table(result)) is not None:
        write("models.md", "\n".join(aligned(models)) + "\n")
        write("models.csv", _models_csv(result, models.columns[1:]))
    write("arena.md", _markdown(result, tables))
    write("report.html", _page(result, tables, plots))
    return plots


def arena_csv(result: ArenaResult) -> str:
    """A line a number; what is undefined is empty, with its reason."""
    return csv_text([field.name for field in fields(Number)], (list(asdict(one).values()) for one in numbers(result)))


def arena_json(result: ArenaResult) -> str:
    """All numbers with the facts and notes."""
    data = {
        "schema_version": 1,
        "facts": dict(result.facts),
        "notes": list(result.notes),
        "models": [one.model for one in result.models],
        "numbers": [asdict(one) for one in numbers(result)],
    }
    return json_text(data)


def _papers_csv(result: ArenaResult) -> str:
    rows = [
        [one.model, form.form, row.paper.paper_id, row.target, len(row.paper.human), row.predicted, row.imputed]
        for one in result.models
        for form in one.score.forms
        for row in form.targets.scored
    ]
    return csv_text(["model", "form", "paper", "mean_human", "human_ratings", "predicted", "imputed"], rows)


def _models_csv(result: ArenaResult, axes: Sequence[str]) -> str:
    """Each axis in three columns: value, and both ends of its interval."""
    head = ["model", *(name for axis in axes for name in (axis, f"{axis} low", f"{axis} high"))]
    found = ((one.model, overall(one)) for one in result.models)
    bounds = ((model, [values.get(axis, NONE) for axis in axes]) for model, values in found)
    return csv_text(head, ([model, *(end for o in own for end in (o.mean, o.low, o.high))] for model, own in bounds))


def _markdown(result: ArenaResult, tables: Sequence[Table]) -> str:
    notes = [Section("Notes", (bullets(result.notes),))] if result.notes else []
    return render_markdown(TITLE, [LEAD], [*map(_part, tables), *notes, about(result.facts)])


def _part(table: Table, plots: Sequence[Plot] = ()) -> Section:
    """A table below what there is to say of it; its title is the heading."""
    return Section(table.title, (*filter(None, [_ABOUT.get(table.title)]), table._replace(title="")), tuple(plots))


def _page(result: ArenaResult, tables: Sequence[Table], plots: Sequence[Plot]) -> str:
    drawn = {plot.name: plot for plot in plots}
    by_table = {
        "Mean absolute error by conference": ("mae",),
        "By form": ("bias",),
        "Calibration and range": tuple(name for name in drawn if name not in ("mae", "bias", "sub-scores")),
        "Sub-scores": ("sub-scores",),
    }
    sections = [
        _part(table, [drawn[name] for name in by_table.get(table.title, ()) if name in drawn]) for table in tables
    ]
    if result.notes:
        sections.append(Section("Notes", result.notes))
    cut = {f"in the plots, {short}": name for name, short in plot_names(result).items() if short != name}
    return render_page(TITLE, LEAD, sections, {**result.facts, **cut})
