"""The numbers of an evaluation from its stored results: with the run that made them, or anew without a call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.api.evaluations.review_set import REJECTED
from referee.errors import EvaluationError, RunError, SettingsError
from referee.evals.case_store import CASES, read_stored
from referee.evals.comparison import Comparison, compare
from referee.evals.correlations import Correlations, correlate_metric
from referee.evals.grouping import Rows
from referee.evals.metric import Metric
from referee.evals.registry import better_of, find_metrics, judged_ranges, variants_of
from referee.evals.results import RESULTS, append_result, damaged_lines, read_results
from referee.evals.table import Table, build_table
from referee.reports.correlation_tables import correlation_files
from referee.reports.eval_summary import About, render_summary, silence_lines, summary_csv, summary_json
from referee.reports.html import PAGE
from referee.reports.page import summary_page
from referee.reports.paper_table import published_table
from referee.runs import RunFolder
from referee.runs.files import write_atomically
from referee.runs.folder import RECORD, read_record
from referee.runs.joining import join_lines, read_part
from referee.runs.lines import JsonLines, records
from referee.schemas.base import Frozen, Stored
from referee.schemas.metric import MetricResult
from referee.schemas.run import RunRecord

RESCORED = "rescored"


@dataclass(frozen=True)
class Rescoring:
    """What came out: where it lies, and how many units got another value or status than the run gave them."""

    folder: Path
    summary: Summary
    about: About
    units: int
    changed: int


def rescore(
    run: str | Path,
    *,
    group_by: str = "source",
    compare: tuple[str, str] | None = None,
    paper_table: bool = False,
    correlate: str | None = None,
) -> Rescoring:
    """Compute all numbers of an evaluation anew from its stored judgements; nothing is asked or sent.

    The run's own files stay as they are: results and summaries go into its folder ``rescored``, in place of those of
    an earlier rescoring.

    Args:
        run: The run folder of an evaluation.
        group_by: The table's rows: ``source``, ``kind``, and within which other keys of ``Grouping``: ``venue,year``.
        compare: Labels of two rows that are compared, paired by paper.
        paper_table: Whether the published table stands beside ours.
        correlate: A metric of the run, which is correlated with all others.

    Raises:
        RunError: The folder holds no evaluation, or its files are damaged.
        SettingsError: A metric of the run is not installed, or a row to compare is not there.
    """
    folder = Path(run)
    record = _record(folder)
    metrics = find_metrics(_metric_names(record))
    require_others(correlate, metrics)
    rows = Rows(group_by, read_stored(folder / CASES))
    rows.require_columns()
    for label in compare or ():
        rows.find(label)
    target = folder / RESCORED
    target.mkdir(exist_ok=True)
    (target / RESULTS).unlink(missing_ok=True)
    units = changed = 0
    with JsonLines(target / RESULTS) as results:
        for before, after in _rescored(folder / RESULTS, metrics, rows):
            append_result(results, after)
            units += 1
            changed += (before.status, before.value, before.parts) != (after.status, after.value, after.parts)
    about = _about(folder, record, units, changed)
    summary = write_summary(
        target / RESULTS,
        lambda name, text: write_atomically(target / name, text),
        rows=rows,
        metrics=tuple(metric.name for metric in metrics),
        about=about,
        asked=SummaryOptions(compare, paper_table, correlate),
    )
    return Rescoring(target, summary, about, units, changed)


def _rescored(path: Path, metrics: Sequence[Metric], rows: Rows) -> Iterator[tuple[MetricResult, MetricResult]]:
    """Each unit as stored and as computed now; what is not scored has no number to compute."""
    by_name = {metric.name: metric for metric in metrics}
    require_own_results(path, rows)
    for stored in read_results(path):
        yield stored, by_name[stored.metric].rescore(stored) if stored.status == "scored" else stored


def require_own_results(path: Path, rows: Rows) -> None:
    """See that all results are of the run's reviews.

    Raises:
        RunError: One is of another review, as a line of another run; it is named.
    """
    for stored in read_results(path):
        if stored.case_id not in rows:
            raise RunError(
                f"{str(path)!r} holds a result of review {stored.case_id!r}, which is not in {CASES}.",
                hint="The run folder is damaged; start a new run.",
            )


def _record(folder: Path) -> RunRecord:
    if not (folder / RECORD).is_file():
        raise RunError(f"{str(folder)!r} holds no run: there is no {RECORD} in it.", hint="Name a run folder.")
    record = read_record(folder)
    if record.command != "eval" or not (folder / CASES).is_file():
        raise RunError(
            f"{str(folder)!r} holds a run of `referee {record.command}`, not one of `referee eval`.",
            hint="Name the folder of an evaluation.",
        )
    return record


def _metric_names(record: RunRecord) -> list[str]:
    return [named.partition("@")[0] for named in record.inputs["set of metrics"].split(", ")]


def _shipped(record: RunRecord) -> set[str]:
    """The run's prompts that were not chosen for it."""
    return {name for name in record.prompts if name.partition("@")[0] not in record.settings.get("prompts", {})}


class _Rejected(Stored):
    """What is read of a row that could not be used."""

    source: str = ""


def _rejected_by(file: Path) -> Counter[str]:
    """Rows that could not be used, by who wrote them."""
    return Counter(row.source for _, row in records(file, _Rejected))


def _about(folder: Path, record: RunRecord, units: int, changed: int) -> About:
    """What the summary says of the run, from its record."""
    papers = Counter(case.paper_id for case in read_stored(folder / CASES))
    rejected = _rejected_by(folder / REJECTED)
    notes = [f"computed anew from the stored judgements: of {units:,} units {changed:,} changed"]
    if own := sorted(set(record.prompts) - _shipped(record)):
        notes.append(f"judged with prompts in place of those that ship: {', '.join(own)}")
    if record.status != "finished":
        notes.append(f"the run is not finished ({record.status}): numbers are of a part of the units")
    if damaged := damaged_lines(folder / RESULTS):
        notes.append(f"{damaged} damaged line(s) in {RESULTS} were left out")
    return About(
        reviews=papers.total(),
        papers=len(papers),
        rejected=rejected.total(),
        rejected_by=dict(rejected),
        judges=tuple(model.id for role, model in record.models.items() if role.startswith("judge")),
        repeats=int(record.inputs.get("number of repeats", "1")),
        embedder=record.inputs["embedder"] if record.inputs["embedder"] != "none" else "",
        notes=tuple(notes),
    )


SUMMARY = "summary"


@dataclass(frozen=True)
class SummaryOptions:
    """What the summary shall hold beside the table."""

    compare: tuple[str, str] | None = None
    paper_table: bool = False
    correlate: str | None = None


class EvalPart(Frozen):
    """What a shard of an evaluation says of the whole, for the summary of all parts."""

    group_by: str
    asked: SummaryOptions
    about: About


@dataclass(frozen=True)
class Summary:
    """What was computed, as it was written."""

    table: Table
    comparison: Comparison | None
    markdown: str


def write_summary(
    results: Path,
    write: Callable[[str, str], object],
    *,
    rows: Rows,
    metrics: tuple[str, ...],
    about: About,
    asked: SummaryOptions,
) -> Summary:
    """Compute the table, and write ``summary.md``, ``.csv``, ``.json``, ``report.html``, and what else was asked for.

    Args:
        results: The results file.
        write: Writes a file of that name and text whole.
        rows: The row of each review.
        metrics: The columns.
        about: What was evaluated.
        asked: What else is wanted.

    Raises:
        SettingsError: A row to compare is not there.
    """
    pair = [rows.find(label) for label in asked.compare] if asked.compare else []
    table = build_table(read_results(results), rows, metrics, better=better_of(metrics), judged=judged_ranges(metrics))
    variants = variants_of(metrics)
    comparison = compare(read_results(results), rows, metrics, *pair, variants=variants) if pair else None
    published = published_table() if asked.paper_table else None
    found = _correlated(results, rows, metrics, asked.correlate) if asked.correlate else None
    markdown = render_summary(table, about, comparison=comparison, published=published, correlations=found)
    for name, text in correlation_files(found).items() if found else ():
        write(name, text)
    write(f"{SUMMARY}.json", summary_json(table, about, comparison=comparison, published=published))
    write(f"{SUMMARY}.csv", summary_csv(table))
    write(f"{SUMMARY}.md", markdown)
    write(PAGE, summary_page("Evaluation of peer reviews", markdown))
    return Summary(table, comparison, markdown)


def require_value(summary: Summary, run: Path) -> None:
    """A run in which everything went wrong must not look like one that went well.

    Raises:
        EvaluationError: Units failed and none was scored.
    """
    table = summary.table
    if table.failed and not table.scored:
        reasons = [reason for totals in table.totals.values() for status, reason, _ in totals.reasons]
        raise EvaluationError(
            f"all {table.failed:,} units that could be measured failed; the most frequent reason: {reasons[0]}.",
            hint=f"See {RESULTS}; --resume {run} tries them again.",
        )


def remark(summary: Summary) -> str:
    """What ``run.json`` says beside ``finished``: how many units failed, and which judges never answered."""
    failed = summary.table.failed
    troubles = [f"{failed} unit(s) failed; --resume tries them again"] if failed else []
    return "; ".join([*troubles, *silence_lines(summary.table)])


def join_evaluations(parts: Sequence[Path], folder: RunFolder) -> str:
    """Join the shards of an evaluation, and compute its summary.

    Args:
        parts: The shards' folders, in the order of their numbers.
        folder: The whole run's.

    Returns:
        The remark of the run.

    Raises:
        EvaluationError: Units failed and none was scored, over all parts.
        RunError: A shard's results are not those of its reviews; the shard is named.
    """
    part = read_part(parts[0], EvalPart)
    join_lines([one / CASES for one in parts], folder.path / CASES)
    if (rejected := parts[0] / REJECTED).is_file():
        folder.write(REJECTED, rejected.read_text(encoding="utf-8"))
    metrics = tuple(_metric_names(folder.record))
    for one in parts:
        _require_own_units(one, metrics)
    results, aside = folder.path / RESULTS, folder.path / f".{RESULTS}.part"
    aside.unlink(missing_ok=True)
    with JsonLines(aside) as file:
        for one in parts:
            for result in read_results(one / RESULTS):
                append_result(file, result)
    aside.replace(results)
    summary = write_summary(
        results,
        folder.write,
        rows=Rows(part.group_by, read_stored(folder.path / CASES)),
        metrics=metrics,
        about=part.about,
        asked=part.asked,
    )
    require_value(summary, folder.path)
    return remark(summary)


def _require_own_units(shard: Path, metrics: Sequence[str]) -> None:
    """See that a finished shard has one result for each of its reviews and metrics, and no others.

    Raises:
        RunError: Its results were cut, emptied or deleted, or are of other reviews.
    """
    cases = {case.case_id for case in read_stored(shard / CASES)} if (shard / CASES).is_file() else set()
    found, foreign = 0, 0
    for result in read_results(shard / RESULTS):
        if result.case_id in cases and result.metric in metrics:
            found += 1
        else:
            foreign += 1
    wanted = len(cases) * len(metrics)
    damaged = damaged_lines(shard / RESULTS)
    if found == wanted and not foreign:
        return
    other = f", and {foreign:,} results of other reviews" if foreign else ""
    cut = f" ({damaged:,} damaged lines)" if damaged else ""
    raise RunError(
        f"shard {str(shard)!r} is not whole: {RESULTS} holds {found:,} of its {wanted:,} results{cut}{other}.",
        hint="Copy the shard's folder again, or make the shard again with --shard.",
    )


def require_others(correlate: str | None, metrics: Sequence[Metric]) -> None:
    """See that a metric that is to be correlated is measured, beside others.

    Raises:
        SettingsError: It is not, or is alone.
    """
    names = [metric.name for metric in metrics]
    if correlate is not None and (correlate not in names or len(names) == 1):
        why = f"not among {', '.join(names)}" if correlate not in names else "measured alone"
        raise SettingsError(
            f"there is nothing to correlate: {correlate!r} is {why}.",
            hint="Name the metric and others with --metrics, as usefulness,xref,words.",
        )


def _correlated(results: Path, rows: Rows, metrics: Sequence[str], metric: str) -> Correlations:
    return correlate_metric(read_results(results), rows, metric, [name for name in metrics if name != metric])
