"""The tables of an evaluation of detectors. Rates are in percent, each with its 95% interval over resamples."""

from __future__ import annotations

from collections.abc import Sequence

from referee.evals.detection.evaluation import LARGE_TARGET, DetectorReport, Rate
from referee.evals.detection.result import ALL, AnchorVote, DetectionResult, Flagged
from referee.evals.detection.scores import LENGTH
from referee.evals.detection.thresholds import Threshold
from referee.reports.page import Section
from referee.reports.tables import Table, dashed, estimate, number, pvalue

TITLE = "Detectors of AI-written reviews"
DETECTION = "Detection"
FALSE_POSITIVES = "Human reviews that are flagged"
NOT_RESOLVABLE = "not resolvable"
_READING = (
    "A review is flagged if its score lies above a threshold that was taken from other papers' human reviews. True "
    "positives (TPR) are AI reviews that are flagged, in percent, at a target rate of false positives (FPR); what "
    "became of the target on these human reviews stands below. With a * the calibration has too few human reviews for "
    f"any claim on that rate. {LENGTH} is the number of words alone: what a detector has to beat. A review without a "
    "score counts as not flagged; one that is itself an anchor is left out. A flag is no proof that a model wrote a "
    "review."
)
_FALSE_POSITIVES = (
    "What became of each target on the human reviews of this set: the share of them that is flagged, in percent, with "
    "its interval, and in brackets how many people that are."
)
_THRESHOLDS = (
    "k of n human reviews of the calibration may lie above the threshold. How often other people are flagged is not "
    "the target: it follows Beta(k + 1, n - k), whose mean and 95% interval stand here. Below 1/n nothing is "
    "resolvable and nobody is flagged; below 3/n no rate is claimed."
)
_AREAS = (
    "AUC is the share of pairs in which the AI review has the higher score, with its interval, least and most over "
    "resamples. The partial area is below a false-positive rate of 1%, standardised: 0.5 is chance. AI reviews without "
    "a score count as not flagged; those that are the anchor itself, to which others are compared, are in no class."
)
_LEVELS = "Shares of edited versions that are flagged, by how much a model changed a person's review."
_ORDERS = (
    "Whether scores rise with the level of editing: NDCG beside what orders by chance reach, and the skill, (NDCG - "
    "chance) / (1 - chance). NDCG alone says nothing."
)
_POLISHED = (
    "People wrote these reviews and a model polished the wording. Each flag here accuses a person of what they did not "
    "do; they are in neither class above."
)
_ASSISTED = (
    "A person made the points of these reviews and a model wrote them out. A flag here is no caught fraud, and a "
    "review that is not flagged is no missed one; they are in neither class above."
)
_VOTES = (
    "Any anchor's vote flags, by a threshold of its own for each anchor, instead of one for the largest cosine. "
    "With the target shared among anchors (target / number, Bonferroni) the whole keeps the target; with the target "
    "for each anchor false positives add up, which is what this table warns of."
)
_PROMPTS = "What another prompt of AI reviews changes at the same thresholds, in percentage points, and in AUC."
_INFLATION = (
    "AI score less human score, of reviews of one paper with the same overall rating. r is the matched rank-biserial "
    "correlation, from -1 to 1; p is of the two-sided signed-rank test, corrected over all rows (Holm)."
)


def lead(result: DetectionResult) -> str:
    """What was compared, and how well the best detector does where the data can tell."""
    if not result.overall:
        return "No detector could be judged."
    best = result.overall[0]
    counted = f"{result.humans:,} human reviews and {best.at[0].true_positive_rate.n:,} by models"
    known = [at for at in best.at if at.threshold.flags_anyone]
    smallest = f"{known[0].threshold.n:,}" if known else f"{best.at[0].threshold.n:,}"
    if not is_resolved(result):
        return (
            f"{counted}. {smallest} human reviews of the calibration resolve no rate of false positives that was asked "
            "for; AUC and the true positives at 10% are what can be said."
        )
    return f"{counted}; thresholds from {smallest} human reviews of other papers."


def is_resolved(result: DetectionResult) -> bool:
    """Whether any target below 10% may flag anyone."""
    return any(at.threshold.flags_anyone and at.threshold.target < LARGE_TARGET for r in result.overall for at in r.at)


def main_table(result: DetectionResult) -> Table:
    """True positives at each target and AUC, over all models; AUC and 10% first where no smaller rate is resolved."""
    return _rates(result, result.overall, "detector")


def sections(result: DetectionResult) -> list[Section]:
    """All parts in their order, without pictures; what was forced stands in the title of every table."""
    parts = (
        (DETECTION, _READING, main_table(result)),
        ("By model", "", _by_model(result)),
        (FALSE_POSITIVES, _FALSE_POSITIVES, _false_positives(result)),
        ("Human reviews polished by a model", _POLISHED, _shares(result.polished, result)),
        ("AI-assisted reviews", _ASSISTED, _shares(result.assisted, result)),
        ("A threshold for each anchor", _VOTES, _votes(result)),
        ("Thresholds", _THRESHOLDS, _thresholds(result)),
        ("Areas", _AREAS, _areas(result)),
        ("Levels of editing", _LEVELS, _shares(result.levels, result)),
        ("Order of edited versions", _ORDERS, _orders(result)),
        ("Other prompts", _PROMPTS, _prompts(result)),
        ("Scores that reviews give", _INFLATION, _inflation(result)),
    )
    return [Section(heading, (*filter(None, [said]), table)) for heading, said, table in parts if table.rows]


def _rates(result: DetectionResult, reports: Sequence[DetectorReport], first: str) -> Table:
    targets = [at.threshold.target for at in reports[0].at] if reports else []
    last = [target for target in targets if target >= LARGE_TARGET]
    ordered = targets if is_resolved(result) else [*last, *(target for target in targets if target not in last)]
    heads = [f"TPR at {_target(target)} FPR" for target in ordered]
    head = [first, *heads, "AUC"] if is_resolved(result) else [first, "AUC", *heads]
    rows = []
    for report in reports:
        found = {at.threshold.target: at for at in report.at}
        cells = [_cell(found[t].true_positive_rate, found[t].threshold) if t in found else "" for t in ordered]
        named = report.detector if first == "detector" else f"{report.detector}, {report.llm}"
        rows.append([named, *cells, _auc(report)] if is_resolved(result) else [named, _auc(report), *cells])
    return _marked(result, head, rows)


def _by_model(result: DetectionResult) -> Table:
    single = [report for report in result.reports if report.llm != ALL]
    order = {report.detector: at for at, report in enumerate(result.overall)}
    several = len(result.reports) > len(result.overall)
    ranked = sorted(single, key=lambda report: (order[report.detector], report.llm)) if several else []
    return _rates(result, ranked, "detector, reviews by")


def _false_positives(result: DetectionResult) -> Table:
    targets = [at.threshold.target for at in result.overall[0].at] if result.overall else []
    head = ["detector", *(f"at a target of {_target(target)}" for target in targets), "human reviews", "without score"]
    rows = [
        [
            report.detector,
            *(_counted(at.false_positive_rate, at.threshold) for at in report.at),
            f"{report.at[0].false_positive_rate.n:,}",
            f"{report.unscored['human']:,}",
        ]
        for report in result.overall
    ]
    return _marked(result, head, rows)


def _thresholds(result: DetectionResult) -> Table:
    head = ["detector", "target", "threshold", "n", "k", "expected FPR, %", "what is claimed"]
    rows = []
    for report in result.overall:
        for one in (at.threshold for at in report.at):
            rate = estimate(100 * one.mean, 100 * one.low, 100 * one.high, 2)
            theta = number(one.theta, 4) if one.flags_anyone else ""
            said = one.resolution.replace("_", " ")
            rows.append([report.detector, _target(one.target), theta, f"{one.n:,}", f"{one.k:,}", rate, said])
    return _marked(result, head, rows)


def _areas(result: DetectionResult) -> Table:
    head = ["detector", "AUC", "least to most", "partial area", "precision-recall", "AI reviews", "without score"]
    with_anchors = any(report.anchors for report in result.overall)
    head += ["the anchor itself"] if with_anchors else []
    rows = []
    for report in result.overall:
        spread = report.auc_spread
        ends = "" if spread is None else f"{number(spread.smallest, 3)} to {number(spread.largest, 3)}"
        areas = [number(report.partial, 3), number(report.precision_recall, 3)]
        counts = [f"{report.at[0].true_positive_rate.n:,}", f"{report.unscored['ai']:,}"]
        counts += [f"{report.anchors:,}"] if with_anchors else []
        rows.append([report.detector, _auc(report), ends, *areas, *counts])
    return _marked(result, head, rows)


def _shares(flagged: Sequence[Flagged], result: DetectionResult) -> Table:
    by_row: dict[tuple[str, str], list[Flagged]] = {}
    for one in flagged:
        by_row.setdefault((one.detector, one.what), []).append(one)
    targets = [one.threshold.target for one in next(iter(by_row.values()))] if by_row else []
    head = ["detector", "reviews", "n", *(f"flagged at {_target(target)} FPR" for target in targets)]
    rows = [
        [detector, what, f"{own[0].rate.n:,}", *(_counted(one.rate, one.threshold) for one in own)]
        for (detector, what), own in by_row.items()
    ]
    return _marked(result, head, rows)


def _votes(result: DetectionResult) -> Table:
    rows = [[one.detector, one.how, _target(one.target), *_vote(one)] for one in result.votes]
    return _marked(result, ["detector", "thresholds", "target", "TPR", "FPR"], rows)


def _vote(one: AnchorVote) -> tuple[str, str]:
    if not one.resolved:
        return NOT_RESOLVABLE, NOT_RESOLVABLE
    star = "" if one.claimed else " *"
    return f"{_share(one.true_positive_rate)}{star}", f"{_share(one.false_positive_rate)}{star}"


def _orders(result: DetectionResult) -> Table:
    rows = [
        [name, number(one.ndcg, 3), number(one.by_chance, 3), number(one.skill, 3), number(one.tau_b, 3), f"{one.n:,}"]
        for name, one in result.orders.items()
    ]
    return _marked(result, ["detector", "NDCG", "by chance", "skill", "tau-b", "source reviews"], rows)


def _prompts(result: DetectionResult) -> Table:
    targets = [change.target for change in result.prompts[0].changes] if result.prompts else []
    head = ["detector", "prompt", "n", *(f"TPR at {_target(target)} FPR" for target in targets), "AUC"]
    rows = [
        [
            one.detector,
            one.prompt,
            f"{one.n:,}",
            *(number(_hundredfold(change.true_positive_rate), 1, signed=True) for change in one.changes),
            number(one.changes[0].auc, 3, signed=True),
        ]
        for one in result.prompts
    ]
    return _marked(result, head, rows)


def _inflation(result: DetectionResult) -> Table:
    rows = [
        [
            one.llm,
            one.axis,
            f"{one.found.n:,}",
            f"{one.found.zeros:,}",
            number(one.found.mean, 2, signed=True),
            number(one.found.rank_biserial, 2, signed=True),
            pvalue(one.p),
        ]
        for one in result.inflation
    ]
    return _marked(result, ["reviews by", "axis", "pairs", "equal", "mean difference", "r", "p"], rows)


def _marked(result: DetectionResult, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    return dashed(f"FORCED: {'; '.join(result.marks)}" if result.marks else "", columns, rows)


def _target(target: float) -> str:
    return f"{100 * target:g}%"


def _auc(report: DetectorReport) -> str:
    low, high = (report.auc_spread.low, report.auc_spread.high) if report.auc_spread else (None, None)
    return estimate(report.auc, low, high, 3)


def _cell(rate: Rate, threshold: Threshold) -> str:
    if not threshold.flags_anyone:
        return NOT_RESOLVABLE
    return f"{_share(rate)}{'' if threshold.resolution == 'claimed' else ' *'}"


def _share(rate: Rate) -> str:
    value, low, high = map(_hundredfold, (rate.value, rate.low, rate.high))
    return estimate(value, low, high, 1)


def _counted(rate: Rate, threshold: Threshold) -> str:
    said = _cell(rate, threshold)
    return said if said == NOT_RESOLVABLE else f"{said} ({rate.flagged:,})"


def _hundredfold(value: float | None) -> float | None:
    return None if value is None else 100 * value
