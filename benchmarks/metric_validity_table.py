"""The figures of the checks as Markdown tables: shares with Wilson's interval, F1 with its bootstrap interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from referee.stats import bootstrap_interval, wilson

_SEED = 0
_OTHERS = ("valid", "undecided", "not_checkable", "lost")


def report(figures: Mapping[str, Any]) -> str:
    """Everything that ``metric_validity.py`` prints."""
    parts: Mapping[str, Callable[[Any], Iterator[str]]] = {
        "order": order_lines,
        "labels": label_lines,
        "falsehoods": planted_lines,
    }
    head = f"referee {figures['version']}, judge {figures['judge']}, embedder {figures['embedder']}"
    lines = [head]
    for name, lines_of in parts.items():
        if name in figures:
            lines += ["", f"## {name}", "", *lines_of(figures[name])]
    return "\n".join(lines)


def share(k: int, n: int) -> str:
    """``k of n`` with Wilson's interval for 95%."""
    interval = wilson(k, n)
    if interval.low is None or interval.high is None:
        return "0 of 0"
    return f"{k} of {n} ({100 * interval.low:.0f}% to {100 * interval.high:.0f}%)"


def order_lines(records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """How often each relation holds, then the ranking of every review, with what does not hold."""
    rows, totals = list[Sequence[str]](), dict[str, list[bool]]()
    for metric in dict.fromkeys(record["metric"] for record in records):
        own = [record["holds"] for record in records if record["metric"] == metric]
        for relation in own[0]:
            said = [holds[relation] for holds in own]
            known = [one for one in said if one is not None]
            totals.setdefault(metric, []).extend(known)
            rows.append((metric, relation, share(sum(known), len(known)), str(len(said) - len(known))))
    for metric, known in totals.items():
        rows.append((metric, "all relations", share(sum(known), len(known)), ""))
    yield from table(("metric", "declared", "holds", "not measured"), rows)
    yield ""
    ranks = [
        (
            record["metric"],
            record["paper"],
            record["ranking"],
            "; ".join(name for name, holds in record["holds"].items() if holds is False),
        )
        for record in records
    ]
    yield from table(("metric", "paper", "ranking", "FAILS"), ranks)


def label_lines(figures: Mapping[str, Any]) -> Iterator[str]:
    """A row a correspondence, and the smoke check in a line."""
    rows = [
        (
            row["corpus"],
            row["row"] + (f" (within {row['within']})" if row["within"] else ""),
            f"{row['labelled']:,} of {row['sentences']:,}",
            _two(row["precision"][0]),
            _two(row["recall"][0]),
            f"{_two(row['f1'][0])} ({_two(row['f1'][1])} to {_two(row['f1'][2])})",
            _two(row["all_f1"]),
            f"{row['reviews']}" + (f", {row['unread']} without a reply" if row["unread"] else ""),
        )
        for row in figures["rows"]
    ]
    head = ("corpus", "step: found = labels", "labelled", "precision", "recall", "F1", "F1 of all", "reviews")
    yield from table(head, rows)
    smoke = figures["smoke"]
    means = {level: f"{_two(mean)} (n {n})" for level, (mean, n) in smoke["mean_sum"].items()}
    yield ""
    yield (
        f"RevUtil, smoke check: an insight in {smoke['with_insight']} of {smoke['points']} points, {smoke['failed']} "
        f"failed; mean S of points that humans call actionable: {means['high']}, not actionable: {means['low']}"
    )


def planted_lines(records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Per kind of statements and of passages: what became of false and of true ones; then by rule; then the loss."""
    groups = dict.fromkeys((r["origin"], r["shown"], r["passages"]) for r in records)
    rows = [
        (*group, *_outcomes([r for r in records if (r["origin"], r["shown"], r["passages"]) == group]))
        for group in groups
    ]
    yield from table(("statements", "shown", "passages", *_HEAD), rows)
    yield ""
    rules = dict.fromkeys((r["rule"], r["shown"]) for r in records)
    by_rule = [
        (
            *key,
            *_outcomes([r for r in records if (r["rule"], r["shown"]) == key and r["passages"] == "found"])[:3],
        )
        for key in rules
    ]
    yield from table(("edit", "shown", *_HEAD[:3]), by_rule)
    yield ""
    yield from (_loss(records, shown) for shown in dict.fromkeys(r["shown"] for r in records))


_HEAD = ("false, invalid", "true, invalid", "proof shown", "other outcomes of false", "other outcomes of true")


def _outcomes(records: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    n = len(records)
    false, true = ([r[key] for r in records] for key in ("outcome_false", "outcome_true"))
    return (
        share(false.count("invalid"), n),
        share(true.count("invalid"), n),
        f"{sum(r['proof_shown'] for r in records)} of {n}",
        _others(false),
        _others(true),
    )


def _others(outcomes: Sequence[str]) -> str:
    kinds = (*_OTHERS, *sorted(set(outcomes) - {*_OTHERS, "invalid"}))
    return ", ".join(f"{outcomes.count(kind)} {kind}" for kind in kinds if kind in outcomes)


def _loss(records: Sequence[Mapping[str, Any]], shown: str) -> str:
    """What random passages cost: the difference in falsehoods found, statement by statement, papers drawn whole."""
    caught = {
        (r["passages"], r["paper"], r["origin"], r["false"]): r["outcome_false"] == "invalid"
        for r in records
        if r["shown"] == shown
    }
    differences = dict[str, list[float]]()
    for (passages, *key), was in caught.items():
        if passages == "found":
            differences.setdefault(key[0], []).append(float(was) - float(caught["random", *key]))
    interval = bootstrap_interval(differences, seed=_SEED)
    if interval.mean is None:
        return f"{shown}: nothing was measured"
    bounds = "" if interval.low is None else f" ({interval.low:+.2f} to {interval.high:+.2f} over papers)"
    verdict = "worse, as it must" if interval.low is not None and interval.low > 0 else "NOT shown to be worse"
    return (
        f"{shown}: falsehoods found with the search minus with random passages {interval.mean:+.2f}{bounds}: {verdict}"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A Markdown table."""
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    yield from (f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows)


def _two(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}"
