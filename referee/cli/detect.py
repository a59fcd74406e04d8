"""``referee detect``: how like a model's a review is, how far that can be trusted, and one review judged."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from referee.cli.detect_data import add as add_data_commands
from referee.cli.mapping import WRITE_MAPPING, write_suggestion
from referee.cli.running import Attended, CorpusFlags, RunFlags, with_run_flags

if TYPE_CHECKING:
    from referee.api.detection.calibrating import DetectCalibration
    from referee.api.detection.scoring import DetectScoring

app = typer.Typer(
    help="Whether reviews were written by models: scores, thresholds, their errors, one review judged.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

_SCORES = "Runs of `referee detect score`."
_CALIBRATION = "The thresholds, of `referee detect calibrate`."
_ANCHORS = "AI reviews of the same papers: a run of `referee detect anchors`, or a review set."
_DETECTORS = "Their names. [default: those that can run with what is given]"
_LM = "The model whose surprise is measured: an embedded one, torch:FOLDER or torch:ID of huggingface.co."
_PAIR = "Two such models with one tokenizer. [default: qwen-0.5b,qwen-1.5b]"
_FILLER = "T5 in torch's format, a folder or an id, for detect_gpt and npr."
_GENERATOR = "The chat model that writes on, for dna_gpt. [default: the role generator of the settings]"
_CLASSIFIER = "A folder or an id that holds this classifier, in place of the published one; may be repeated."
_DTYPE = "Number format of models in torch's format."
_DRY_RUN = "Print what would run here and what would be asked, and end; nothing is downloaded."
_FORCE = "Go on where thresholds do not hold, and take late human reviews; every table is then marked."
_EDIT_LEVELS = "A column with levels of editing: original, minimum, moderate, extensive, maximum."
_ASSISTED = "A column (or COLUMN=VALUE) that says that a model expanded a person's points."
_POLISHED = "A column (or COLUMN=VALUE) that says that a model polished a person's review."


@app.command()
@with_run_flags(CorpusFlags)
def score(
    reviews: Annotated[Path, typer.Argument(help="The reviews: a file or a folder, AI or human.", show_default=False)],
    detectors: Annotated[str | None, typer.Option(metavar="A,B,C", help=_DETECTORS)] = None,
    anchors: Annotated[Path | None, typer.Option(help=_ANCHORS)] = None,
    embedder: Annotated[str | None, typer.Option(help="The embedding model. [default: local]")] = None,
    lm: Annotated[str, typer.Option(metavar="M", help=_LM)] = "smollm2-135m",
    pair: Annotated[str | None, typer.Option(metavar="OBSERVER,PERFORMER", help=_PAIR)] = None,
    filler: Annotated[str | None, typer.Option(metavar="M", help=_FILLER)] = None,
    generator: Annotated[str | None, typer.Option(metavar="M", help=_GENERATOR)] = None,
    classifier: Annotated[list[str] | None, typer.Option(metavar="NAME=FOLDER", help=_CLASSIFIER)] = None,
    dtype: Annotated[Literal["float32", "bfloat16", "float16"], typer.Option(help=_DTYPE)] = "float32",
    venue: Annotated[str | None, typer.Option(help="The form of reviews that name no known venue.")] = None,
    mapping: Annotated[Path | None, typer.Option(help="A file that says which key of a row is what.")] = None,
    write_mapping: Annotated[Path | None, typer.Option(metavar="FILE", help=WRITE_MAPPING)] = None,
    layout: Annotated[str | None, typer.Option(help="The layout of the reviews. [default: by their content]")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help=_DRY_RUN)] = False,
    flags: CorpusFlags = CorpusFlags(),
) -> None:
    """Score each review by detectors of AI-written text; higher is likelier AI.

    A score is no probability and accuses nobody: it needs a threshold from human reviews (`detect calibrate`). Writes a
    run folder with results.jsonl (each score with its model and settings) and cases.jsonl (the reviews).
    """
    if write_mapping is not None:
        write_suggestion(reviews, write_mapping)
        return
    from referee import api
    from referee.cli.progress import RarerStages
    from referee.reports.estimates import set_estimate_lines

    attended = Attended(flags, set_estimate_lines, RarerStages)
    given: dict[str, Any] = {
        "detectors": detectors.split(",") if detectors is not None else None,
        "anchors": anchors,
        "embedder": embedder,
        "lm": lm,
        "pair": pair,
        "filler": filler,
        "generator": generator,
        "classifiers": _classifiers(classifier or []),
        "dtype": dtype,
        "venue": venue,
        "mapping": mapping,
        "layout": layout,
        "options": attended.options,
    }
    if dry_run:
        _print_lines(set_estimate_lines(attended.run(api.estimate_detect_score(reviews, **given))))
        return
    done = attended.run(api.detect_score(reviews, **given))
    _print_counts(done)
    typer.echo(f"Written to {done.run}: results.jsonl; next: `referee detect calibrate {done.run} --out FILE`.")


@app.command()
def calibrate(
    scores: Annotated[list[Path], typer.Argument(help=_SCORES, show_default=False)],
    out: Annotated[Path, typer.Option(help="The file of thresholds.")],
    target_fpr: Annotated[
        str, typer.Option(metavar="A,B,C", help="Accepted rates of false positives; 0.1 is added.")
    ] = "0.001,0.005,0.01",
    conservative: Annotated[
        bool, typer.Option("--conservative", help="Keep the rate to expect at the target, not that of these reviews.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Take human reviews of after November 2022 too; the file says so.")
    ] = False,
    edit_levels: Annotated[str | None, typer.Option(metavar="COLUMN", help=_EDIT_LEVELS)] = None,
    polished: Annotated[str | None, typer.Option(metavar="COLUMN", help=_POLISHED)] = None,
    assisted: Annotated[str | None, typer.Option(metavar="COLUMN", help=_ASSISTED)] = None,
) -> None:
    """Take thresholds from the scores of human reviews; of gltr, mfd and s5 fit the weights on both classes.

    Reviews that were edited, polished or expanded from a person's points are in neither class and are left out.
    """
    from referee import api
    from referee.cli.progress import ProgressLine

    with ProgressLine():
        done = api.detect_calibrate(
            scores,
            out=out,
            target_fpr=_rates(target_fpr),
            conservative=conservative,
            force=force,
            edit_levels=edit_levels,
            polished=polished,
            assisted=assisted,
        )
    _print_thresholds(done)


@app.command()
def evaluate(
    scores: Annotated[list[Path], typer.Argument(help=_SCORES, show_default=False)],
    calibration: Annotated[Path, typer.Option(help=_CALIBRATION)],
    cluster: Annotated[
        Literal["paper", "review"], typer.Option(help="What resamples draw; the benchmark draws reviews.")
    ] = "paper",
    edit_levels: Annotated[str | None, typer.Option(metavar="COLUMN", help=_EDIT_LEVELS)] = None,
    polished: Annotated[str | None, typer.Option(metavar="COLUMN", help=_POLISHED)] = None,
    assisted: Annotated[str | None, typer.Option(metavar="COLUMN", help=_ASSISTED)] = None,
    prompts: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="A column that names the prompt of an AI review.")
    ] = None,
    resamples: Annotated[int, typer.Option(min=10, help="How many resamples.")] = 1000,
    seed: Annotated[int, typer.Option(help="For resamples.")] = 0,
    force: Annotated[bool, typer.Option("--force", help=_FORCE)] = False,
    out: Annotated[Path | None, typer.Option(help="The folder. [default: a new one in referee-runs]")] = None,
) -> None:
    """How good detectors are on a test set, at thresholds from other papers; no model is asked.

    Writes a folder with report.html and detection.md (to read), detection.csv and detection.json (every number),
    and plots.
    """
    from referee import api
    from referee.cli.progress import ProgressLine
    from referee.reports.detection_tables import lead, main_table
    from referee.reports.tables import console

    with ProgressLine() as progress:
        done = api.detect_evaluate(
            scores,
            calibration=calibration,
            cluster=cluster,
            edit_levels=edit_levels,
            polished=polished,
            assisted=assisted,
            prompts=prompts,
            resamples=resamples,
            seed=seed,
            force=force,
            options=api.RunOptions(out=out, progress=progress),
        )
    _print_lines([lead(done.result)])
    for line in console(main_table(done.result)):
        typer.echo(line)
    _print_lines([f"FORCED, and marked in every table: {mark}." for mark in done.result.marks])
    _print_lines([f"Note: {note}." for note in done.result.notes])
    typer.echo(f"Written to {done.run}: report.html and detection.md (to read), detection.csv (every number).")


@app.command()
@with_run_flags()
def check(
    review: Annotated[Path, typer.Argument(help="One review: text, Markdown or JSON.", show_default=False)],
    calibration: Annotated[Path, typer.Option(help=_CALIBRATION)],
    paper: Annotated[str | None, typer.Option(help="The paper, as the anchors name it: its file or its id.")] = None,
    detectors: Annotated[str | None, typer.Option(metavar="A,B,C", help=_DETECTORS)] = None,
    anchors: Annotated[Path | None, typer.Option(help=_ANCHORS)] = None,
    target_fpr: Annotated[
        float | None, typer.Option(help="The rate to judge by. [default: the smallest that is claimed]")
    ] = None,
    embedder: Annotated[str | None, typer.Option(help="The embedding model. [default: local]")] = None,
    venue: Annotated[str | None, typer.Option(help="The form it was written for.")] = None,
    flags: RunFlags = RunFlags(),
) -> None:
    """Judge one review: flagged, not flagged, or cannot say. A flag is no proof."""
    from referee import api
    from referee.reports.detection_check import check_lines
    from referee.reports.estimates import set_estimate_lines

    attended = Attended(flags, set_estimate_lines)
    done = attended.run(
        api.detect_check(
            review,
            calibration=calibration,
            paper=paper,
            detectors=detectors.split(",") if detectors is not None else None,
            anchors=anchors,
            target_fpr=target_fpr,
            embedder=embedder,
            venue=venue,
            options=attended.options,
        )
    )
    _print_lines(check_lines(done.checked))
    typer.echo(f"Written to {done.run}: report.html and check.md (to read), check.json.")


def _classifiers(given: list[str]) -> dict[str, str]:
    from referee.errors import SettingsError

    named = dict(one.partition("=")[::2] for one in given)
    for name, folder in named.items():
        if not name.strip() or not folder.strip():
            raise SettingsError(
                f"{name!r} and {folder!r} are no classifier and its folder.",
                hint="Give it as --classifier radar_d=FOLDER.",
            )
    return {name.strip(): folder.strip() for name, folder in named.items()}


def _rates(text: str) -> list[float]:
    from referee.errors import SettingsError

    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise SettingsError(f"{text!r} are no rates.", hint="Give them as --target-fpr 0.001,0.01.") from error


def _print_counts(done: DetectScoring) -> None:
    for name, counts in done.counts.items():
        said = [f"{counts.scored:,} scored"] if counts.scored or not counts.features else []
        if counts.features:
            said.append(f"{counts.features:,} with features that wait for weights (`detect calibrate`)")
        _print_lines([f"{name}: {', '.join(said)}"])
        _print_lines([f"  without a score, {count:,}: {why}" for why, count in list(counts.without.items())[:3]])


def _print_thresholds(done: DetectCalibration) -> None:
    found = done.calibration
    venues = ", ".join(f"{venue} ({count:,})" for venue, count in list(found.venues.items())[:6])
    _print_lines([f"{found.humans:,} human reviews: {venues}"])
    for entry in found.detectors:
        _print_lines([f"{entry.detector}:"])
        for one in entry.thresholds:
            theta = "" if one.theta is None or not one.flags_anyone else f" above {one.theta:.4f}:"
            _print_lines([f"  {100 * one.target:g}%:{theta} {one.claim}"])
    _print_lines([f"{name} is left out: {why}." for name, why in done.left_out.items()])
    _print_lines([f"Note: {note}." for note in done.notes])
    _print_lines([f"FORCED: {mark}." for mark in dict.fromkeys(m for e in found.detectors for m in e.forced)])
    typer.echo(f"Written to {done.path}.")


def _print_lines(lines: Iterable[str]) -> None:
    from referee.cli.output import printable

    for line in lines:
        typer.echo(printable(line))


add_data_commands(app)
