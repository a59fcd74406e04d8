"""What follows from the computations of a review: for its points, for what it says of itself, and for its numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from referee.evidence.numerals import find_numerals
from referee.evidence.points import is_live, noted, removed
from referee.evidence.sentences import split_sentences
from referee.schemas.computation import Computation, Program, ProgramOutcome
from referee.schemas.point import PointCheck, ReviewPoint

COMPUTED = "a computation"
"""Who checked a point whose program gave what the point expects, or something else."""
RAN = frozenset({"agrees", "differs"})
_ONLY_SAID = "it says that something was computed, and no computation shows it"


def with_computations(
    points: Sequence[ReviewPoint], programs: Sequence[Program], outcomes: Sequence[ProgramOutcome]
) -> list[ReviewPoint]:
    """The points with their programs, and what those say of them.

    A point whose program gives what it expects stands. One whose program gives something else says what its author
    wanted it to say then, or is struck where that is nothing. A program that gave no value changes nothing, nor one
    that differs on a table that may have been read wrongly. A point without a program that ran loses what it says of
    computing, and is dropped where it says nothing else.

    Args:
        points: Those of one reply.
        programs: Each with the id of its point.
        outcomes: What became of the programs, in their order.
    """
    own: dict[str, list[Computation]] = {}
    for program, outcome in zip(programs, outcomes, strict=True):
        own.setdefault(program.id, []).append(Computation(program=program, outcome=outcome))
    return [_settled(point, own.get(point.id, [])) for point in points]


def _settled(point: ReviewPoint, computations: Sequence[Computation]) -> ReviewPoint:
    point = point.model_copy(update={"computations": tuple(computations)})
    if not is_live(point):
        return point
    if not any(one.outcome.status in RAN for one in computations):
        return _without_boasts(point)
    differs = next((one for one in computations if one.outcome.status == "differs" and not one.outcome.doubtful), None)
    if differs is not None:
        check = PointCheck(
            verdict="weakened" if differs.program.otherwise else "refuted",
            narrowed=differs.program.otherwise,
            by=COMPUTED,
            reason=differs.outcome.reason,
        )
        point = point.model_copy(update={"check": check})
        return noted(point, differs.outcome.reason) if check.narrowed else removed(point, "struck", check.reason)
    if agrees := [one for one in computations if one.outcome.status == "agrees"]:
        check = PointCheck(verdict="stands", by=COMPUTED, reason=agrees[0].outcome.reason)
        return point.model_copy(update={"check": check})
    return point


def _without_boasts(point: ReviewPoint) -> ReviewPoint:
    claim, argument = without_boasts(point.claim), without_boasts(point.argument)
    if not claim:
        return removed(point, "dropped", _ONLY_SAID)
    return point.model_copy(update={"claim": claim, "argument": argument})


_WHO = r"(?:I|[Ww]e|[Tt]his reviewer|[Tt]he reviewer)"
_HOW = r"(?:(?:have|had|also|then|even|myself|independently|quickly|separately|briefly|numerically|actually|just)\s+)*"
_DID = (
    r"(?:(?:re-?)?(?:comput|calculat|simulat|implement|execut|estimat|deriv|count|analy[sz]|fitt)ed|re-?ran|ran|"
    r"re-?did|replicated|reproduced|re-?fit(?:ted)?|(?:checked|verified|confirmed|tested)\s+(?:\w+\s+){0,3}"
    r"(?:numerically|computationally|by (?:simulation|computation|code)|in (?:code|Python|R|a script)))"
)
_DOES = r"(?:re-?(?:compute|calculate|count|run|simulate|fit|analy[sz]e)|compute|calculate|simulate)"
_DOING = r"[Rr]e-?(?:comput|calculat|count|runn|simulat|fitt)ing"
_WORK = r"(?:re-?)?(?:computations?|calculations?|simulations?|counts?|runs?|analys[ie]s|implementations?|scripts?)"
_FOUND = r"(?:find|found|see|saw|get|got|obtain(?:ed)?|confirm(?:ed)?|show(?:ed)?|learn(?:ed|t)?)"
_SAID = rf"{_WHO}\s+{_HOW}(?:{_DID}|{_DOES})\b"
_REST = r"(?:[^,;:]|(?<=\d),(?=\d))*"
_START = r"(?:the|an?|it|its|this|these|that|their|there|only|no|one|two|both|all|each|neither|none|Table|\d)"
# What introduces a statement that stands without it, then what is added to one.
_BEFORE = (
    re.compile(rf"^(?:When|If|As|Once|After|Where)\s+{_SAID}{_REST}[,:]\s+"),
    re.compile(rf"^(?:(?:On|Upon|By|After) )?{_DOING}\b{_REST}[,:]\s+(?={_START}\b)"),
    re.compile(rf"^(?:[Bb]y|[Ii]n|[Ff]rom|[Oo]n|[Aa]ccording to)\s+my\s+(?:own\s+)?{_WORK}\b{_REST}[,:]\s+"),
    re.compile(rf"^[Mm]y\s+(?:own\s+)?{_WORK}\b[^,;:]*?\s+(?:{_FOUND}|gives?|shows|yields?)s?\s+that\s+"),
    re.compile(rf"^{_SAID}.*?\band\s+{_FOUND}\s+that\s+"),
)
_BESIDE = (
    re.compile(rf"\s*\((?:which\s+|as\s+)?{_SAID}[^()]*\)"),
    re.compile(rf"\s*\((?:by|in|from)?\s*my\s+(?:own\s+)?{_WORK}\b[^()]*\)"),
    re.compile(rf",\s+(?:as|which|and)\s+{_SAID}[^,.;]*(?=[,.;]|$)"),
    re.compile(rf",\s+(?:by|in|according to)\s+my\s+(?:own\s+)?{_WORK}\b[^,.;]*(?=[,.;]|$)"),
)
_ALONE = re.compile(rf"\b{_SAID}|^[Mm]y\s+(?:own\s+)?{_WORK}\s+(?:gives?|shows?|yields?|confirms?)\b")


def without_boasts(text: str) -> str:
    """A text without what its author says to have computed, simulated or run.

    A clause that only introduces or follows a statement goes, and the statement stays; a sentence that says nothing
    else goes as a whole. What somebody should compute, could not compute or would compute stays.
    """
    sentences = split_sentences(text)
    kept = [_plain(sentence) for sentence in sentences]
    return text if kept == sentences else " ".join(filter(None, kept))


def _plain(sentence: str) -> str:
    before = sentence
    for pattern in _BESIDE:
        sentence = pattern.sub("", sentence)
    for pattern in _BEFORE:
        if found := pattern.match(sentence):
            sentence = sentence[found.end() :]
            sentence = sentence[:1].upper() + sentence[1:]
            break
    if sentence == before and not _ALONE.search(sentence):
        return sentence
    return "" if _ALONE.search(sentence) else sentence.strip()


def uncovered_numbers(points: Iterable[ReviewPoint]) -> int:
    """How many numbers of the points stand in no quotation that was found and in no computation that agrees.

    Numbers that name a place or a year are not counted.
    """
    return sum(len(_uncovered(point)) for point in points)


def _uncovered(point: ReviewPoint) -> list[Decimal]:
    said = _values(f"{point.statement} {point.argument}")
    shown = [e.quote for e in point.evidence if e.status != "not_found"]
    for one in point.computations:
        if one.outcome.status == "agrees":
            shown += [one.program.code, one.program.expects, one.outcome.value or ""]
    covered = {abs(value) for text in shown for value in _values(text)}
    return [value for value in said if abs(value) not in covered]


def _values(text: str) -> list[Decimal]:
    return [found.value for found in find_numerals(text)]


def code_lines(program: Program) -> list[str]:
    """The lines of a program, without marks that a terminal or a page would follow."""
    return ["".join(c for c in line if c.isprintable()).rstrip() for line in program.code.expandtabs(4).splitlines()]


def computation_line(computation: Computation) -> str:
    """What a computation gave, in one sentence that every output prints."""
    outcome = computation.outcome
    if outcome.status == "agrees" and outcome.value in ("True", "False"):
        return f"A program confirms it{_doubt(outcome)}."
    if outcome.status in RAN:
        return f"Computed by a program: {_rounded(computation)}{_beside(computation)}."
    return f"Its program gave no value: {outcome.reason[:1].lower()}{outcome.reason[1:]}"


def _rounded(computation: Computation) -> str:
    """The value with one digit more than the point expects behind the point; as it is where that is no number."""
    value, expected = computation.outcome.value or "", next(find_numerals(computation.program.expects), None)
    try:
        number = Decimal(value)
    except ArithmeticError:
        return value
    digits = (expected.decimals if expected is not None else 3) + 1
    return value if -number.as_tuple().exponent <= digits else f"{number:.{digits}f}"  # type: ignore[operator]


def _beside(computation: Computation) -> str:
    outcome, expects = computation.outcome, computation.program.expects
    differs = f", where the point expected {expects}" if outcome.status == "differs" else ""
    return f"{differs}{_doubt(outcome)}"


def _doubt(outcome: ProgramOutcome) -> str:
    return f"; Table {' and Table '.join(outcome.doubtful)} may have been read wrongly" if outcome.doubtful else ""


def computations_told(points: Iterable[ReviewPoint]) -> str:
    """How many programs a review holds, how many ran, and how many gave what their points expect; empty for none."""
    statuses = [one.outcome.status for point in points for one in point.computations]
    if not statuses:
        return ""
    ran, agree = sum(status in RAN for status in statuses), statuses.count("agrees")
    return f"Computations: {ran} of {len(statuses)} ran; {agree} gave what the point expects, {ran - agree} did not."
