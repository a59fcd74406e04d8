"""``arena_score``: predictions and people's reviews in, models by axes beside the floors out."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.api.arena.inputs import SOURCE, ArenaInput, Joined, joined, read_arena, require_same_scale
from referee.api.options import RunOptions
from referee.api.session import Session, offline_session
from referee.errors import SettingsError
from referee.evals.agreement import (
    FieldSimilarity,
    RatedPaper,
    compare_scales,
    free_scale,
    mean_over_fields,
    scale_of,
    score_predictions,
    text_pairs,
    text_similarity,
)
from referee.evals.agreement.decisions import decisions
from referee.evals.agreement.rating_error import FEWEST_REVIEWS, Impute
from referee.evals.agreement.result import ArenaResult, ModelScore, RankComparison
from referee.evals.agreement.scales import Scale
from referee.reports.arena_files import write_arena
from referee.reports.page import PLOTS
from referee.reports.plots import write_plots
from referee.runs import Event, Progress, silent
from referee.schemas.usage import Usage
from referee.stats.ranks import rank_correlation
from referee.venues import load_venue
from referee.version import VERSION

REJECTED = "rejected.jsonl"


@dataclass(frozen=True)
class ArenaScoring:
    """A finished scoring: its folder and what came out."""

    run: Path
    result: ArenaResult


@dataclass(frozen=True)
class ScoreRules:
    """How predictions are scored; the defaults are ReviewArena's rules.

    ``fewest_reviews``: human ratings a paper needs. ``impute``: ``midpoint`` takes the middle of the scale for an
    invalid prediction. ``include_confidence`` counts it among the sub-scores. ``compare_scales`` lets models rate on
    another form than people: such papers are compared by rank alone. ``rated_on`` is the form the models rated on,
    where it is another than the data say. ``loose``: questions may answer weaknesses. ``with_texts`` and ``with_bert``:
    whether texts are compared, and with BERTScore too.
    """

    fewest_reviews: int = FEWEST_REVIEWS
    impute: Impute = "none"
    include_confidence: bool = False
    compare_scales: bool = False
    rated_on: str = ""
    loose: bool = False
    with_texts: bool = True
    with_bert: bool = False
    seed: int = 0


def arena_score(
    predictions: str | Path | Sequence[str | Path],
    *,
    human: str | Path | None = None,
    by: str = SOURCE,
    mapping: str | Path | None = None,
    rules: ScoreRules = ScoreRules(),
    options: RunOptions = RunOptions(),
) -> ArenaScoring:
    """Score predicted reviews against people's, beside the floors; nothing is asked or sent.

    Args:
        predictions: Runs of ``referee arena run``, or review sets: their AI reviews count, by model.
        human: The set of human reviews; by default those of the predictions' own sets, or the ratings that their
            records list (``human_ratings``).
        by: What tells models apart: ``source``, or a column of the records.
        mapping: A file that says which key of a row is what, for sets in no known layout; where all are in one, for
            all sets but runs of ``referee arena run``.
        rules: How it is scored.
        options: How it runs: ``out``, ``settings`` and ``progress`` matter here.

    Returns:
        The result. It lies in the folder as arena.md, report.html, arena.csv and arena.json.

    Raises:
        DataError: A set cannot be read, no prediction has human ratings, or these are on another form than they say.
        EvaluationError: People and a model rated on different scales, without ``compare_scales``.
        SettingsError: An option cannot be used.
        MissingExtra: Texts are compared without the packages of the extra ``arena``.
        RunError: The folder is in use, unwritable or not empty.
    """
    paths = [Path(one) for one in ([predictions] if isinstance(predictions, str | Path) else predictions)]
    if rules.fewest_reviews < 1:
        raise SettingsError(f"a paper cannot need {rules.fewest_reviews} human ratings.", hint="Give 1 or more.")
    if rules.rated_on:
        load_venue(rules.rated_on)
    names = "arena-score", paths[0].stem if paths else ""
    with offline_session("arena score", *names, options=options, settings=options.settled()) as run:
        aside = Path(run.enter(tempfile.TemporaryDirectory(prefix="referee-")))
        given = read_arena(
            paths,
            Path(human) if human else None,
            by=by,
            aside=aside,
            progress=run.progress,
            mapping=Path(mapping) if mapping else None,
        )
        result = scored(given, rules, run.progress)
        run.check_inputs({"sets": ", ".join(given.digests.values()), "options": str(rules), "models by": by})
        run.open_folder()
        run.record()
        _keep(run, result, aside / REJECTED)
        return ArenaScoring(run.path, result)


def scored(given: ArenaInput, rules: ScoreRules, progress: Progress = silent) -> ArenaResult:
    """Score every model of what was read.

    Raises:
        DataError: The human ratings of a form are on another form's values.
        EvaluationError: People and a model rated on different scales, without ``compare_scales``.
        MissingExtra: A package of the extra ``arena`` is not installed.
    """
    models = []
    for name in sorted(given.models):
        progress(Event("stage", f"scoring {name}"))
        found = joined(given, name, rated_on=rules.rated_on)
        if not rules.compare_scales:
            require_same_scale(found)
        models.append(_model(name, given, found, rules, progress))
    ordered = sorted(models, key=lambda one: (not one.score.pooled_mae.n, one.score.pooled_mae.mean or 0.0, one.model))
    notes = (*given.notes, *_unknown(ordered), *_unscored(ordered))
    return ArenaResult(tuple(ordered), _facts(given, rules), notes)


def _model(name: str, given: ArenaInput, found: Joined, rules: ScoreRules, progress: Progress) -> ModelScore:
    # Where a model rated on another form, its unrated papers say nothing about people's form.
    texts, usages = _texts(name, given, rules, progress), given.usage.get(name, ())
    same = [] if found.apart and all(paper.predicted is None for paper in found.same) else found.same
    return ModelScore(
        model=name,
        score=score_predictions(
            same,
            given.forms,
            impute=rules.impute,
            include_confidence=rules.include_confidence,
            fewest_reviews=rules.fewest_reviews,
            seed=rules.seed,
        ),
        texts=texts,
        ranks=tuple(_ranks(found, given, rules)),
        no_human=len(found.gathered.predicted_only),
        repeated=found.gathered.repeated,
        skipped=given.skipped.get(name, 0),
        no_venue=len(found.gathered.no_venue),
        text_means=mean_over_fields(texts.values(), seed=rules.seed),
        usage=sum(usages, Usage()) if usages else None,
        priced=len(usages),
    )


def _texts(name: str, given: ArenaInput, rules: ScoreRules, progress: Progress) -> dict[str, FieldSimilarity]:
    def told(field: str, done: int, total: int) -> None:
        progress(Event("stage", f"scoring {name}: {field}, {done:,} of {total:,} papers", done=done, total=total))

    if not rules.with_texts or given.listed:
        return {}
    first = {case.paper_id: case for case in reversed(given.models[name]) if case.text or case.fields}
    pairs = [
        pair
        for paper_id in sorted(first.keys() & given.human.keys())
        for pair in text_pairs(first[paper_id], given.human[paper_id], loose=rules.loose)
    ]
    return text_similarity(pairs, with_bert=rules.with_bert, seed=rules.seed, told=told)


def _ranks(found: Joined, given: ArenaInput, rules: ScoreRules) -> Iterator[RankComparison]:
    groups: dict[tuple[str, str], list[RatedPaper]] = defaultdict(list)
    for paper in found.apart:
        if len(paper.human) >= rules.fewest_reviews and paper.predicted is not None:
            groups[paper.form, paper.other_form].append(paper)
    for (form, other), papers in sorted(groups.items()):
        predicted = [paper.predicted for paper in papers if paper.predicted is not None]
        single = [value for paper in papers for value in paper.human]
        means = [sum(paper.human) / len(paper.human) for paper in papers]
        decided = [(p.predicted, p.accepted) for p in papers if p.predicted is not None and p.accepted is not None]
        auc = decisions([value for value, _ in decided], [bool(is_in) for _, is_in in decided], 0, seed=rules.seed).auc
        order = rank_correlation(predicted, means, seed=rules.seed)
        sides = (_scale(form, given, single), single), (_scale(other, given, predicted), predicted)
        yield RankComparison(form, other, len(papers), order, auc, compare_scales(*sides))


def _scale(name: str, given: ArenaInput, values: Sequence[float]) -> Scale:
    known = given.forms.get(name)
    scale = (scale_of(known) if known is not None else None) or free_scale(name, values)
    assert scale is not None, "papers that are compared have ratings"
    return scale


def _unknown(models: Sequence[ModelScore]) -> Iterator[str]:
    for name in dict.fromkeys(f.form for one in models for f in one.score.forms if not f.scale.known):
        yield f"the form {name!r} is unknown: its scale is the values that were seen, and nMAE leaves it out"


def _unscored(models: Sequence[ModelScore]) -> Iterator[str]:
    """Said where no rating of any model could be scored: dashes alone look like a result."""
    if not any(one.score.scored or one.ranks for one in models):
        few = sum(one.score.few_reviews for one in models)
        why = f"{few:,} papers have too few human ratings (--min-reviews)" if few else 'see "Left out"'
        yield f"no rating was scored: {why}"


def _facts(given: ArenaInput, rules: ScoreRules) -> dict[str, str]:
    facts = {f"SHA-256 of {Path(path).name}": digest for path, digest in given.digests.items()}
    return {
        **facts,
        "human ratings a paper needs": str(rules.fewest_reviews),
        "invalid predictions": "left out and counted" if rules.impute == "none" else "the middle of the scale",
        "form the models rated on": rules.rated_on or "as the data say",
        "confidence among the sub-scores": "yes" if rules.include_confidence else "no",
        "seed of the intervals": str(rules.seed),
        "referee": VERSION,
    }


def _keep(run: Session, result: ArenaResult, rejected: Path) -> None:
    plots = write_arena(result, run.write)
    write_plots(plots, run.path / PLOTS)
    if rejected.is_file() and rejected.stat().st_size:
        run.write(REJECTED, rejected.read_text(encoding="utf-8"))
