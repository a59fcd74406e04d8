"""What an experiment says first: one sentence on its first comparison, how the prompts differ, and paper by paper."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from referee.errors import SettingsError
from referee.evals.registry import better_of, unit_of
from referee.reports.estimates import several
from referee.reports.markdown_text import inline
from referee.reports.page import Section
from referee.reports.tables import Table, aligned, dashed, number, places
from referee.schemas.experiment import ArmComparison, ArmRecord, ExperimentResult, PaperValue, PromptChange

MOST_PAPERS, MOST_DIFF_LINES = 12, 40
"""How much a terminal is shown; the summary has all."""

_ONE_PROMPT = ("strategy", "venue", "rounds", "models", "settings", "ablate")


def lead_sentences(result: ExperimentResult) -> Iterator[str]:
    """What came out of the first comparison, of its first metric, in sentences; or why nothing did."""
    if not result.comparisons:
        yield (
            "Nothing is compared: there is one arm. Add a second prompt, strategy or model."
            if len(result.arms) == 1
            else "Nothing is compared: the plan compares none of these arms."
        )
        return
    one = result.comparisons[0]
    yield _sentence(result, one)
    if (one.first, one.second) in _both_ways(result.null_tests):
        yield "This is a null test: both arms have the same prompt, and every difference is chance."
    if one.low is not None and one.high is not None:
        yield _meaning(result, one, one.low, one.high)
    yield from _undecided(result, one)
    yield from _repeated(result, one)


def lead_sections(result: ExperimentResult) -> Iterator[Section]:
    """For the summary: how the prompts differ of arms that are compared, and the first comparison paper by paper."""
    if result.prompt_changes:
        yield Section("How the prompts differ", tuple(_fenced(change) for change in result.prompt_changes))
    table = paper_table(result)
    if table is not None:
        yield Section("Paper by paper", (_papers_text(result), table))
    errors = errors_table(result)
    if errors is not None:
        yield Section("Planted errors", (_ERRORS_TEXT, errors))


def lead_lines(result: ExperimentResult) -> Iterator[str]:
    """The same for a terminal, the sentences first; long texts and tables are cut, and that is said."""
    yield from lead_sentences(result)
    first = result.comparisons[0] if result.comparisons else None
    for change in result.prompt_changes:
        if first is not None and (change.first, change.second) == (first.first, first.second):
            yield ""
            lines = _diff_lines(change)
            yield from lines[:MOST_DIFF_LINES]
            if len(lines) > MOST_DIFF_LINES:
                yield f"({several(len(lines) - MOST_DIFF_LINES, 'more line')} in summary.md)"
    table = paper_table(result)
    if table is not None:
        yield ""
        yield from aligned(Table(table.title, table.columns, table.rows[:MOST_PAPERS]))
        if len(table.rows) > MOST_PAPERS:
            yield f"({several(len(table.rows) - MOST_PAPERS, 'more paper')} in summary.md)"


def paper_table(result: ExperimentResult) -> Table | None:
    """The first comparison, paper by paper, the largest difference first; None where nothing is compared."""
    if not result.comparisons:
        return None
    one = result.comparisons[0]
    rows = sorted(_pairs(result, one), key=lambda pair: -abs(_difference(pair) or 0.0))
    digits = places(one.metric)
    has_errors = any(value.errors for pair in rows for value in pair)
    columns = ["paper", one.second, one.first, "difference"]
    if has_errors:
        columns += [f"found by {one.second} alone", f"found by {one.first} alone"]
    table = []
    for theirs, ours in rows:
        cells = [theirs.paper, _value(theirs, digits), _value(ours, digits)]
        cells.append(number(_difference((theirs, ours)), digits, signed=True))
        if has_errors:
            cells += [", ".join(_only(theirs, ours)), ", ".join(_only(ours, theirs))]
        table.append(cells)
    return dashed("", columns, table)


def errors_table(result: ExperimentResult) -> Table | None:
    """Which arm found which planted error, those that the fewest found first; None where none are planted."""
    found = {(value.paper, value.arm): value for value in result.values if value.errors}
    arms = [arm.name for arm in result.arms if any(arm.name == named for _, named in found)]
    rows = []
    for paper in dict.fromkeys(paper for paper, _ in found):
        told = result.error_statements.get(paper, {})
        by_arm = {arm: found[paper, arm] for arm in arms if (paper, arm) in found}
        for name in dict.fromkeys(name for value in by_arm.values() for name in value.errors):
            cells = [_verdict(by_arm[arm], name) if arm in by_arm else "" for arm in arms]
            shares = sum(value.errors.get(name, 0.0) for value in by_arm.values())
            rows.append((shares, [paper, told.get(name, name), *cells]))
    rows.sort(key=lambda row: row[0])
    return dashed("", ["paper", "planted error", *arms], [cells for _, cells in rows]) if rows else None


_ERRORS_TEXT = (
    "Those that the fewest reviews found come first. Undecided: rules could not tell whether a remark names the error, "
    "and no judge was asked (`--judge`); it counts as not found."
)


def _verdict(value: PaperValue, name: str) -> str:
    """What became of a planted error: over several reviews, in how many of them."""
    reviews = len(value.by_seed)
    counts = {
        "found": round(value.errors.get(name, 0.0) * reviews),
        "undecided": round(value.undecided.get(name, 0.0) * reviews),
    }
    told = [what if reviews == 1 else f"{what} {count}" for what, count in counts.items() if count]
    return " ".join([*told, f"of {reviews}"]) if told and reviews > 1 else " ".join(told) or "missed"


def _undecided(result: ExperimentResult, one: ArmComparison) -> Iterator[str]:
    """How many planted errors only a judge could decide, where there are any."""
    counts: Counter[str] = Counter()
    for value in result.values:
        counts[value.arm] += len(value.undecided)
    told = [f"{counts[arm]} for {arm!r}" for arm in (one.first, one.second) if counts[arm]]
    if told and one.metric == "planted_recall":
        yield (
            f"Planted errors that only a judge can decide: {' and '.join(told)}. They count as not found; --judge MODEL"
            " asks one."
        )


def _sentence(result: ExperimentResult, one: ArmComparison) -> str:
    arms = {arm.name: arm for arm in result.arms}
    first, second = arms[one.first], arms[one.second]
    if one.mean_difference is None:
        return f"Nothing can be said of {one.first!r} against {one.second!r} in {one.metric}: {_why_not(result, one)}."
    who = f"prompt {one.first!r}" if _only_prompts_differ(first, second) else repr(one.first)
    scale, digits = _scale(result, one)
    said = _said(result, one, one.mean_difference * scale, digits)
    around = "no interval, as there is one paper"
    if one.low is not None and one.high is not None:
        ends = (number(end * scale, digits, signed=True) for end in (one.low, one.high))
        around = f"{one.level:.0%} interval {' to '.join(ends)}"
    tokens = _tokens(first, second)
    return f"{who} {said} {one.second!r}, {around}, on {several(one.n_pairs, 'paper')}{tokens}."


def _said(result: ExperimentResult, one: ArmComparison, difference: float, digits: int) -> str:
    """Verb, amount and metric, up to the arm it is compared with."""
    amount, is_same = number(abs(difference), digits), number(abs(difference), digits) == number(0.0, digits)
    more, higher = ("more", "higher") if difference > 0 else ("fewer", "lower")
    about = "" if difference == 0 else "about "
    errors = _errors_a_paper(result, one)
    if one.metric == "planted_recall":
        of = f"{errors} planted errors a paper" if errors else "the planted errors"
        percent = "" if errors else " percentage points"
        return f"finds {about}as many of {of} as" if is_same else f"finds {amount}{percent} {more} of {of} than"
    if one.metric == "false_alarms":
        of = "the planted errors in clean copies, where they are not,"
        return (
            f"alleges {about}as many of {of} as"
            if is_same
            else f"alleges {amount} percentage points {more} of {of} than"
        )
    if unit_of(one.metric) == one.metric:
        return (
            f"writes {about}as many {one.metric} a review as"
            if is_same
            else f"writes {amount} {more} {one.metric} a review than"
        )
    way = " (lower is better)" if _better(one.metric) == "lower" else ""
    return (
        f"scores {about}the same in {one.metric}{way} as"
        if is_same
        else f"scores {amount} {higher} in {one.metric}{way} than"
    )


def _scale(result: ExperimentResult, one: ArmComparison) -> tuple[float, int]:
    """By what a difference is multiplied to be said, and its digits: shares of errors become errors or points."""
    if one.metric == "planted_recall" and (errors := _errors_a_paper(result, one)):
        return float(errors), 1
    if one.metric in ("planted_recall", "false_alarms"):
        return 100.0, 1
    return 1.0, min(places(one.metric), 2)


def _errors_a_paper(result: ExperimentResult, one: ArmComparison) -> int:
    """How many errors are planted into each paper; 0 where papers differ in that."""
    counts = {len(ours.errors) for theirs, ours in _pairs(result, one) if _difference((theirs, ours)) is not None}
    return counts.pop() if len(counts) == 1 else 0


def _meaning(result: ExperimentResult, one: ArmComparison, low: float, high: float) -> str:
    if low <= 0 <= high:
        return "The interval holds 0: these papers do not show that the two differ."
    tested = sum(other.p is not None for other in result.comparisons)
    if tested > 1 and one.p_holm is not None:
        return f"The interval does not hold 0; corrected for {tested} comparisons, p is {number(one.p_holm, 3)}."
    return "The interval does not hold 0."


def _repeated(result: ExperimentResult, one: ArmComparison) -> Iterator[str]:
    """How much each arm differs from itself."""
    spread = {cell.arm: cell.self_difference for cell in result.cells if cell.metric == one.metric}
    ours, theirs = spread.get(one.first), spread.get(one.second)
    if ours is None or theirs is None or one.mean_difference is None:
        return
    scale, digits = _scale(result, one)
    beside = number(abs(one.mean_difference) * scale, digits)
    yield (
        f"Run twice, {one.second!r} differs from itself by {number(theirs * scale, digits)} and {one.first!r} by "
        f"{number(ours * scale, digits)} (root mean square, from {len(result.seeds)} repeats), beside {beside} between "
        "the two."
    )


def _why_not(result: ExperimentResult, one: ArmComparison) -> str:
    counts = {"failed": one.n_failed, "not applicable": one.n_not_applicable, "pending": one.n_pending}
    told = ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "no paper could be read"
    reasons = Counter(
        value.reason.rstrip(".") for pair in _pairs(result, one) for value in pair if value.status != "scored"
    )
    first = f"; {reasons.most_common(1)[0][0]}" if reasons else ""
    return f"no paper has a value in both arms ({told}{first})"


def _tokens(first: ArmRecord, second: ArmRecord) -> str:
    cached = first.usage.reused_calls + second.usage.reused_calls
    if cached:
        return f"; tokens are not compared, as {several(cached, 'answer')} came from a cache"
    each = [
        arm.usage.total_tokens / arm.units["finished"] if arm.units.get("finished") else 0.0 for arm in (first, second)
    ]
    return f"; {each[0] / each[1]:.1f} times the tokens" if all(each) else ""


def _only_prompts_differ(first: ArmRecord, second: ArmRecord) -> bool:
    return first.prompts != second.prompts and all(getattr(first, n) == getattr(second, n) for n in _ONE_PROMPT)


def _pairs(result: ExperimentResult, one: ArmComparison) -> list[tuple[PaperValue, PaperValue]]:
    """The second arm's value and the first's, for each paper that was not excluded."""
    found = {(value.arm, value.paper): value for value in result.values if value.metric == one.metric}
    papers = dict.fromkeys(value.paper for value in result.values)
    return [(found[one.second, paper], found[one.first, paper]) for paper in papers]


def _difference(pair: tuple[PaperValue, PaperValue]) -> float | None:
    theirs, ours = pair
    return None if theirs.value is None or ours.value is None else ours.value - theirs.value


def _value(value: PaperValue, digits: int) -> str:
    return value.status.replace("_", " ") if value.value is None else number(value.value, digits)


def _only(one: PaperValue, other: PaperValue) -> list[str]:
    """The planted errors that a review of the one names, and no review of the other."""
    return [name for name, share in one.errors.items() if share and not other.errors.get(name)]


def _papers_text(result: ExperimentResult) -> str:
    one = result.comparisons[0]
    over = "" if len(result.seeds) == 1 else f", each value the mean of {len(result.seeds)} repeats"
    return f"{inline(one.first)} less {inline(one.second)} in {inline(one.metric)}{over}; the largest difference first."


def _diff_lines(change: PromptChange) -> list[str]:
    if not change.diff:
        return [f"{change.prompt} is the same text in {change.second!r} and {change.first!r}."]
    return [f"{change.prompt}, from {change.second!r} to {change.first!r}:", *change.diff.splitlines()]


def _fenced(change: PromptChange) -> str:
    head, *lines = _diff_lines(change)
    if not lines:
        return inline(head)
    longest = max((len(run) for run in re.findall(r"`+", change.diff)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([inline(head), "", f"{fence}diff", *lines, fence])


def _both_ways(pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    return {*pairs, *((second, first) for first, second in pairs)}


def _better(metric: str) -> str | None:
    try:
        return better_of([metric])[metric]
    except SettingsError:
        return None
