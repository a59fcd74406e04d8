"""The programs of a review, run where they can do no harm, and their results against what the review expects.

A program runs in pydantic-monty, an interpreter of a part of Python in a worker process of its own, without files,
environment or network. It can call the functions that ``described`` lists; they run here, on checked arguments.

What a program writes is never shown: a value is a number, True or False, and a reason is a sentence of ours.

Ties agree with both neighbours (11.85 with 11.8 and 11.9), because papers round either way. A unit after the expected
value is passed over: program and expectation are on one scale.
"""

from __future__ import annotations

import asyncio
import builtins
import inspect
import io
import math
import os
import re
import shlex
import shutil
import sys
import sysconfig
import textwrap
import threading
import time
import tokenize
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from referee.evidence.numerals import Numeral, find_numerals
from referee.schemas.computation import Program, ProgramOutcome, ProgramStatus, TableRows

if TYPE_CHECKING:
    from pydantic_monty import Monty, MontyError

INSTALL = (
    "Computations are not run, because the package pydantic-monty is missing: "
    "install it with pip install pydantic-monty"
)


def can_compute() -> bool:
    """Whether the package that runs programs is installed."""
    return find_spec("pydantic_monty") is not None


@dataclass(frozen=True)
class Limits:
    """What a program may use. ``seconds`` holds for the interpreter and again for the functions that it calls."""

    programs: int = 5
    lines: int = 60
    characters: int = 4_000
    seconds: float = 2.0
    memory: int = 100_000_000  # bytes
    output: int = 2_000  # bytes
    recursion: int = 200
    calls: int = 2_000


class _Failure(ValueError):
    """Why a program gives no value, in one sentence."""


class _Refused(Exception):
    """Why a program is not allowed to run, in one sentence."""


# What the programs can call.

_Rows = list[list[str]]
_Group = tuple[str, Mapping[str, Callable[..., Any]]]


def described() -> str:
    """The functions that programs can call, as ten lines for a prompt."""
    lines = []
    for text, functions in _groups(_Calls({}, math.inf).table):
        calls = (f"{name}({', '.join(_parameters(function))})" for name, function in functions.items())
        lines.append(f"{', '.join(calls)}: {text}")
    return "\n".join(lines)


def _parameters(function: Callable[..., Any]) -> Iterator[str]:
    for one in inspect.signature(function).parameters.values():
        yield one.name if one.default is one.empty else f"{one.name}={one.default}"


def _groups(table: Callable[[Any], _Rows]) -> tuple[_Group, ...]:
    """The functions by name, in groups that one line describes; parameters' names say what is checked of them."""
    return (
        (
            "the normal distribution",
            {
                "normal_cdf": lambda x, mean=0, sd=1: _special().ndtr((x - mean) / sd),
                "normal_sf": lambda x, mean=0, sd=1: _special().ndtr((mean - x) / sd),
                "normal_ppf": lambda q, mean=0, sd=1: mean + sd * _special().ndtri(q),
            },
        ),
        (
            "Student's t distribution",
            {
                "t_cdf": lambda x, df: _special().stdtr(df, x),
                "t_sf": lambda x, df: _special().stdtr(df, -x),
                "t_ppf": lambda q, df: _special().stdtrit(df, q),
            },
        ),
        (
            "the chi-square distribution",
            {
                "chi2_cdf": lambda x, df: _special().chdtr(df, max(x, 0)),
                "chi2_sf": lambda x, df: _special().chdtrc(df, max(x, 0)),
                "chi2_ppf": lambda q, df: 2 * _special().gammaincinv(df / 2, q),
            },
        ),
        (
            "the F distribution",
            {
                "f_cdf": lambda x, df1, df2: _special().fdtr(df1, df2, max(x, 0)),
                "f_sf": lambda x, df1, df2: _special().fdtrc(df1, df2, max(x, 0)),
                "f_ppf": lambda q, df1, df2: _special().fdtri(df1, df2, q),
            },
        ),
        (
            "the number of successes k in n trials",
            {
                "binomial_cdf": lambda k, n, p: float(k >= n) if not 0 <= k < n else _special().bdtr(k, n, p),
                "binomial_sf": lambda k, n, p: float(k < 0) if not 0 <= k < n else _special().bdtrc(k, n, p),
                "binomial_ppf": _binomial_ppf,
            },
        ),
        (
            "(statistic, two-sided p) of a correlation against 0, and of two independent ones (Fisher's z)",
            {"correlation_test": _correlation, "compare_correlations": _correlations},
        ),
        (
            "(t, two-sided p) from the mean and standard deviation of the differences, or of two groups (Welch's test, "
            "or with equal variances)",
            {"paired_t": _paired_t, "unpaired_t": _unpaired_t},
        ),
        ("(z, two-sided p) of the pooled test that k1 of n1 and k2 of n2 differ", {"two_proportions": _proportions}),
        (
            "printed is a number as the paper prints it, in quotation marks: whether n whole numbers (n people with so "
            "many items each) can have that mean (GRIM); whether a computed number is the printed one at its digits",
            {"grim": _grim, "same": lambda printed, computed: _agrees(_printed(printed), computed)},
        ),
        (
            'table("2") is Table 2 as a list of rows of strings, its heads among them; number("0.78 ± 0.02") is 0.78',
            {"table": table, "number": _number},
        ),
    )


def _special() -> Any:
    from scipy import special  # up to a second of imports, and most programs need none

    return special


def _binomial_ppf(q: float, n: int, p: float) -> int:
    """The least k whose cdf is q or more."""
    if p in (0, 1):
        return int(n * p)
    k: int = math.ceil(_special().bdtrik(q, n, p))
    return k - 1 if k and _special().bdtr(k - 1, n, p) >= q else k


def _two_sided(z: float, df: float = math.inf) -> tuple[float, float]:
    return z, 2 * (_special().ndtr(-abs(z)) if df == math.inf else _special().stdtr(df, -abs(z)))


def _correlation(r: float, n: int) -> tuple[float, float]:
    return _two_sided(r * math.sqrt((n - 2) / (1 - r * r)), n - 2)


def _correlations(r1: float, n1: int, r2: float, n2: int) -> tuple[float, float]:
    return _two_sided((math.atanh(r1) - math.atanh(r2)) / math.sqrt(1 / (n1 - 3) + 1 / (n2 - 3)))


def _paired_t(mean: float, sd: float, n: int) -> tuple[float, float]:
    return _two_sided(mean / (sd / math.sqrt(n)), n - 1)


def _unpaired_t(
    mean1: float, sd1: float, n1: int, mean2: float, sd2: float, n2: int, equal_variances: bool = False
) -> tuple[float, float]:
    first, second = sd1**2 / n1, sd2**2 / n2
    df = (first + second) ** 2 / (first**2 / (n1 - 1) + second**2 / (n2 - 1))
    if equal_variances:
        df = n1 + n2 - 2
        pooled = ((n1 - 1) * sd1**2 + (n2 - 1) * sd2**2) / df
        first, second = pooled / n1, pooled / n2
    return _two_sided((mean1 - mean2) / math.sqrt(first + second), df)


def _proportions(k1: int, n1: int, k2: int, n2: int) -> tuple[float, float]:
    pooled = (k1 + k2) / (n1 + n2)
    if not (0 <= k1 <= n1 and 0 <= k2 <= n2):
        raise _Failure("two_proportions takes counts of at most n1 and n2")
    return _two_sided((k1 / n1 - k2 / n2) / math.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2)))


def _grim(printed: str, n: int, items: int = 1) -> bool:
    from referee.evidence.rules.statistics import possible_mean

    if not re.fullmatch(r"[-+]?\d{0,12}\.?\d{1,12}", printed.strip(), re.ASCII):
        raise _Failure("grim takes the mean as the paper prints it")
    return possible_mean(printed.strip(), n * items)


def _number(cell: str) -> float:
    found = next(find_numerals(cell), None)
    if found is None:
        raise _Failure("The cell given to number holds no number")
    return float(found.value)


def _printed(text: str) -> Numeral:
    """The one number that a text is, with or without a unit."""
    text = text.strip()
    found = next(find_numerals(text), None) if len(text) <= _LONGEST_TEXT else None
    if found is None or found.start or text[found.end :].strip():
        raise _Failure("A printed number is needed that can be read as one number")
    return found


def _agrees(printed: Numeral, value: float) -> bool:
    """Whether a value is the printed number, at the digits that are printed."""
    return abs(Decimal(str(value)) - printed.value) <= printed.step / 2 * Decimal("1.000000001")


_MOST = 10**9
# By a parameter's name without its number: what is asked of it, and in words.
_DOMAINS: Mapping[str, tuple[Callable[[float], bool], str]] = {
    "sd": (lambda x: x > 0, "a number above 0"),
    "df": (lambda x: x > 0, "a number above 0"),
    "q": (lambda x: 0 < x < 1, "a number between 0 and 1"),
    "p": (lambda x: 0 <= x <= 1, "a number from 0 to 1"),
    "r": (lambda x: -1 < x < 1, "a number between -1 and 1"),
    "n": (lambda x: 1 <= x <= _MOST and x == int(x), "a whole number from 1 to a billion"),
    "items": (lambda x: 1 <= x <= _MOST and x == int(x), "a whole number from 1 to a billion"),
    "k": (lambda x: abs(x) <= _MOST and x == int(x), "a whole number of at most a billion"),
}
_COUNTS = frozenset({"n", "items", "k"})
_TEXTS = frozenset({"printed", "cell", "label"})
_LONGEST_TEXT = 200
_LARGEST = 10**40


class _Calls:
    """The functions as one program calls them: checked arguments, a time limit, and what was asked for."""

    def __init__(self, tables: Mapping[str, TableRows], deadline: float) -> None:
        self.tables, self.deadline = tables, deadline
        self.doubtful: dict[str, None] = {}
        self.refused: list[str] = []

    def functions(self) -> dict[str, Callable[..., Any]]:
        """The functions by name."""
        return {
            name: partial(self._call, name, function)
            for _, functions in _groups(self.table)
            for name, function in functions.items()
        }

    def table(self, label: str) -> _Rows:
        """The rows of the table with that label: ``2``, ``Table 2`` or ``Tab. 2``."""
        key = re.sub(r"^(?:table|tab\.?)\s*", "", label.strip(), flags=re.IGNORECASE)
        if key not in self.tables:
            known = ", ".join(list(self.tables)[:20])
            raise _Failure(f"The paper has no table {key[:20]} that was read; it has {known or 'none'}")
        if self.tables[key].doubtful:
            self.doubtful[key] = None
        return [list(row) for row in self.tables[key].rows]

    def _call(self, name: str, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
        try:
            if time.perf_counter() > self.deadline:
                raise _Failure("It did not end in time")
            given = inspect.signature(function).bind(*args, **named).arguments
            return _result(function(**{key: _argument(name, key, value) for key, value in given.items()}))
        except _Failure as error:
            self.refused.append(str(error))
            raise
        except (TypeError, ValueError, ArithmeticError):
            self.refused.append(f"{name} cannot be computed from the arguments that it was given")
            raise _Failure(self.refused[-1]) from None


def _argument(function: str, name: str, value: object) -> Any:
    """An argument as its function needs it."""
    if name == "equal_variances":
        return value is True
    if name in _TEXTS:
        if isinstance(value, str) and len(value) <= _LONGEST_TEXT:
            return value
        return str(_numeric(value))
    number, kind = _numeric(value), name.rstrip("12")
    if kind in _DOMAINS and not _DOMAINS[kind][0](number):
        raise _Failure(f"{function} needs {_DOMAINS[kind][1]} as {name}")
    return int(number) if kind in _COUNTS else number if name == "computed" else float(number)


def _numeric(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise TypeError
    number = value if isinstance(value, int) else float(value)
    if not abs(number) <= _LARGEST:
        raise OverflowError
    return number


def _result(value: Any) -> Any:
    """What a function gives, as plain Python; NaN and infinity are no results."""
    if isinstance(value, bool | int | list):
        return value
    if isinstance(value, tuple):
        return tuple(map(_result, value))
    if not math.isfinite(value):
        raise ArithmeticError
    return float(value)


# What a program is and what it expects.

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*\n(.*?)(?:^[ \t]*(?:```|~~~)|\Z)", re.DOTALL | re.MULTILINE)
_COPIED = 80
_KEYWORDS = "in|is|if|and|or|not|return|for|while|elif|else|lambda|yield|await"
_ACTS = re.compile(rf"(?:\b(?!(?:{_KEYWORDS})\b)\w+|[\])])\s*\(|\bimport\b|(?<![=!<>])=(?!=)")
_ALIKE = str.maketrans("‘’“”−–‐", "''\"\"---")
_RELATION = re.compile(r"(<=|>=|≤|≥|<|>|==?|!=|≠|~|≈)?\s*(.*)", re.DOTALL)
_RELATIONS = {"≤": "<=", "≥": ">=", "≠": "!=", "==": "", "=": "", "~": "", "≈": ""}
_WORDS = {"": "", "<": "less than ", "<=": "at most ", ">": "more than ", ">=": "at least ", "!=": "other than "}


@dataclass(frozen=True)
class _Expected:
    """What a point expects of its program: True, False, or a number and how the value stands to it."""

    number: Numeral | bool
    relation: str = ""

    @property
    def words(self) -> str:
        return str(self.number) if isinstance(self.number, bool) else f"{_WORDS[self.relation]}{self.number.text}"

    def holds(self, value: float | bool) -> bool:
        if isinstance(value, bool) is not isinstance(self.number, bool):
            raise _Failure(f"It gives {_shown(value)}, and the point expects {self.words}")
        if isinstance(self.number, bool):
            return value is self.number
        limit = float(self.number.value)
        near = math.isclose(value, limit, rel_tol=1e-9)
        return {
            "": lambda: _agrees(self.number, value),
            "!=": lambda: not _agrees(self.number, value),
            "<": lambda: value < limit and not near,
            "<=": lambda: value < limit or near,
            ">": lambda: value > limit and not near,
            ">=": lambda: value > limit or near,
        }[self.relation]()


def _expected(text: str) -> _Expected:
    said = text.strip()
    if said.casefold() in ("true", "false"):
        return _Expected(said.casefold() == "true")
    relation, number = _RELATION.fullmatch(said).groups()  # type: ignore[union-attr]  # it takes any text
    try:
        return _Expected(_printed(number), _RELATIONS.get(relation or "", relation or ""))
    except _Failure:
        raise _Refused("What it expects is neither one number, nor a comparison with one, nor True or False") from None


def _code_of(written: str, paper: str, limits: Limits) -> str:
    """The code to run, out of its fence; ``paper`` is squeezed."""
    fenced = _FENCE.search(written)
    code = textwrap.dedent(fenced[1] if fenced else written).strip("\n")
    if not code.strip():
        raise _Refused("It holds no code")
    if len(code) > limits.characters or len(code.splitlines()) > limits.lines:
        raise _Refused(f"It is longer than {limits.lines} lines or {limits.characters:,} characters")
    if _is_copied(code, paper):
        raise _Refused("It is copied from the paper")
    return code


def _is_copied(code: str, paper: str) -> bool:
    """Whether a run of 80 characters that does something stands in the paper, whatever the white space of both."""
    runs, active = (" ".join(text.split()) for text in (code, _without_comments(code)))
    return any(
        _squeezed(runs[at : at + _COPIED]) in paper and _ACTS.search(active[at : at + _COPIED])
        for at in range(len(runs) - _COPIED + 1)
    )


def _squeezed(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).translate(_ALIKE).split())


def _without_comments(code: str) -> str:
    """The code at the same length, with the letters of comments made one: a sentence of the paper may be quoted."""
    lines = io.StringIO(code).readlines()
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.COMMENT:
                (row, start), line = token.start, lines[token.start[0] - 1]
                lines[row - 1] = line[:start] + re.sub(r"\S", "c", line[start:])
    except (tokenize.TokenError, SyntaxError):
        return code
    return "".join(lines)


# Running.

NO_WORKER = (
    "Computations are not run, because the worker of pydantic-monty cannot be started: see that programs may be "
    "started from the folder for temporary files (set TMPDIR), or install pydantic-monty again"
)
_PAUSES = (0.01, 0.1, 0.4, None)
_GRACE = 0.5  # seconds that a worker has to end a program by itself
_NEED_SCIPY = ("normal_", "t_", "chi2_", "f_", "binomial_", "correlation", "paired_t", "two_proportions")
_PLAIN_NUMBER = re.compile(r"[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,3})?", re.ASCII)
_BITS = 132
_MISSING = re.compile(r"(?:No module named|name|cannot import name) '(\w+)")
_LIBRARIES = "np numpy pandas pd plt matplotlib scipy seaborn sklearn sns stats statsmodels sympy torch"
_NAMES = sys.stdlib_module_names.union(dir(builtins), _LIBRARIES.split())
_SIGNS = str.maketrans("−–×·", "--xx")
_UNSAFE = re.compile(r"[^\w .,;:'()%+=/^-]", re.ASCII)
_LONGEST_REASON = 300


async def run_computations(
    programs: Sequence[Program], tables: Mapping[str, TableRows], paper_text: str, *, limits: Limits | None = None
) -> list[ProgramOutcome]:
    """Run the programs of one reply and compare each result with what its point expects.

    They run one after the other, off the event loop, each in a fresh worker. Nothing is raised for any program.

    Args:
        programs: In the reply's order; those beyond the fifth are not run.
        tables: The paper's tables by label (``2``), as ``papers.captions.table_rows`` gives them.
        paper_text: All text of the paper: code that is copied from it is not run.
        limits: Other limits than the usual ones.

    Returns:
        One outcome a program, in the same order. Without pydantic-monty each is ``not_run`` and says how to install it.
    """
    stop = threading.Event()
    try:
        return await asyncio.to_thread(_run_all, programs, tables, paper_text, limits or Limits(), stop)
    finally:
        stop.set()


def _run_all(
    programs: Sequence[Program],
    tables: Mapping[str, TableRows],
    paper_text: str,
    limits: Limits,
    stop: threading.Event,
) -> list[ProgramOutcome]:
    outcomes: dict[int, ProgramOutcome] = {}
    ready: dict[int, tuple[str, _Expected]] = {}
    paper = _squeezed(paper_text) if programs else ""
    for at, program in enumerate(programs):
        try:
            if at >= limits.programs:
                outcomes[at] = _outcome(program, "not_run", f"At most {limits.programs} programs of a reply are run")
            else:
                ready[at] = _code_of(program.code, paper, limits), _expected(program.expects)
        except _Refused as refusal:
            outcomes[at] = _outcome(program, "refused", str(refusal))
    try:
        if ready:
            with _pool(limits) as pool:
                for at, (code, expected) in ready.items():
                    if not stop.is_set():
                        outcomes[at] = _run(pool, programs[at], code, expected, tables, limits)
    except ImportError:
        lost = INSTALL
    except OSError:
        lost = NO_WORKER
    return [outcomes.get(at) or _outcome(program, "not_run", lost) for at, program in enumerate(programs)]


@contextmanager
def _pool(limits: Limits) -> Iterator[Monty]:
    """A pool of one worker, replaced after each program.

    The pool starts workers with an empty environment, but on this process's stderr, where they write when they run out
    of memory: a script starts them without it. Raises ``ImportError`` without the package, and ``OSError`` where no
    worker can be started.
    """
    from pydantic_monty import Monty, MontyError

    places = os.pathsep.join((sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)))
    binary = shutil.which("monty", path=places)
    if binary is None:
        raise ImportError("monty")
    with TemporaryDirectory(prefix="referee-") as folder:
        script = Path(folder, "monty")
        script.write_text(f'#!/bin/sh\nulimit -c 0\nexec {shlex.quote(binary)} "$@" 2>/dev/null\n')
        script.chmod(0o700)
        with ExitStack() as started:
            for pause in _PAUSES:
                pool = Monty(
                    binary_path=script,
                    max_processes=1,
                    max_checkouts_per_worker=1,
                    request_timeout=limits.seconds + 2 * _GRACE,
                    feed_duration_limit_grace=_GRACE,
                )
                try:
                    started.enter_context(pool)
                    with pool.checkout() as session:
                        session.feed_run("1")
                    break
                except (RuntimeError, MontyError) as error:
                    # A new script is busy while a process that another thread has just begun still holds it open.
                    if pause is None:
                        raise OSError(str(error)) from error
                    time.sleep(pause)
            yield pool


def _run(
    pool: Monty, program: Program, code: str, expected: _Expected, tables: Mapping[str, TableRows], limits: Limits
) -> ProgramOutcome:
    from pydantic_monty import CollectString, MontyError

    if any(name in code for name in _NEED_SCIPY):
        _special()  # so that its imports do not count
    begun = time.perf_counter()
    calls = _Calls(tables, begun + 2 * limits.seconds)
    output = CollectString(max_bytes=limits.output)
    shown = None
    try:
        with pool.checkout(
            limits={
                "max_feed_duration_secs": limits.seconds,
                "max_memory": limits.memory,
                "max_recursion_depth": limits.recursion,
                "max_suspensions": limits.calls,
            },
            os_policy={"random_start": {"seed": 1}, "sleep": "zero", "datetime": datetime(2000, 1, 1)},
        ) as session:
            session.feed_run("import math")
            result = session.feed_run(code, external_lookup=calls.functions(), print_callback=output)
        value = _value(result, output.output)
        shown = _shown(value)
        status: ProgramStatus = "agrees" if expected.holds(value) else "differs"
        reason = f"It gives {shown}, and the point expects {expected.words}"
    except _Failure as failure:
        status, reason = "failed", str(failure)
    except MontyError as error:
        status, reason = "failed", _reason(error, calls, limits)
    except RuntimeError:
        status, reason = "not_run", NO_WORKER
    if calls.doubtful:
        reason += f"; Table {' and Table '.join(calls.doubtful)} may have been read wrongly"
    return _outcome(program, status, reason, shown, time.perf_counter() - begun, tuple(calls.doubtful))


def _value(result: object, output: str) -> float | bool:
    """The number, True or False that a program ends with or, where it ends with nothing, prints last."""
    if result is None:
        last = output.strip().rpartition("\n")[2].strip()
        if last in ("True", "False"):
            return last == "True"
        if not _PLAIN_NUMBER.fullmatch(last):
            raise _Failure("It ends without one number: the last line must be the number, or print it alone")
        result = int(last) if last.lstrip("+-").isdecimal() else float(last)
    if isinstance(result, bool):
        return result
    if not isinstance(result, int | float | Decimal):
        kinds = {"str": "text", "list": "a list", "tuple": "several values", "dict": "a dictionary", "set": "a set"}
        raise _Failure(f"It ends with {kinds.get(type(result).__name__, 'something else')} instead of one number")
    if isinstance(result, int):
        if result.bit_length() > _BITS:
            raise _Failure("It ends with a whole number of more than 40 digits")
        return result
    if result.is_nan() if isinstance(result, Decimal) else math.isnan(result):
        raise _Failure("It ends with NaN, which is no number")
    if math.isinf(float(result)):
        raise _Failure("It ends with infinity, or a number too large to compare")
    return float(result)


def _shown(value: float | bool) -> str:
    return str(value) if isinstance(value, int) else f"{value:.10g}"


_ENDS: Mapping[str, str] = {
    "TimeoutError": "It did not end within {seconds:g} seconds",
    "MemoryError": "It needs more than {megabytes:g} MB of memory",
    "RecursionError": "It calls itself more than {recursion} levels deep",
    "PermissionError": "It asks for a file, which is not there for it",
    "SyntaxError": "It is not Python that the sandbox can read",
    "NotImplementedError": "It uses a part of Python that the sandbox does not have",
}


def _reason(error: MontyError, calls: _Calls, limits: Limits) -> str:
    """Why a program failed, in words of ours: an exception can hold anything that the program puts into it."""
    from pydantic_monty import MontyCrashedError, MontyRuntimeError, MontySyntaxError

    if isinstance(error, MontyCrashedError):
        return _ENDS["TimeoutError"].format(seconds=limits.seconds) if error.timed_out else "Its worker crashed"
    if not isinstance(error, MontyRuntimeError | MontySyntaxError):
        return "The sandbox could not run it"
    kind, _, message = error.display("type-msg")[:_LONGEST_TEXT].partition(": ")
    line = next((frame.line for frame in error.traceback()), 0)
    if message and calls.refused[-1:] and calls.refused[-1].startswith(message):
        return calls.refused[-1]
    if kind == "MemoryError" and message.endswith(f"> {limits.output} bytes"):
        return f"It prints more than {limits.output:,} characters"
    if message.startswith("suspension limit"):
        return f"It calls the given functions more than {limits.calls:,} times"
    if missing := _MISSING.match(message):
        name = missing[1] if missing[1] in _NAMES else "a name"
        return f"It uses {name}, which is not there, in line {line}"
    if "not supported in this environment" in message:
        return "It asks for the environment or the machine, which are not there for it"
    if kind in _ENDS:
        megabytes = limits.memory / 1e6
        return _ENDS[kind].format(seconds=limits.seconds, megabytes=megabytes, recursion=limits.recursion)
    return f"It stops with {kind if kind in _NAMES else 'an error'} in line {line}"


def _outcome(
    program: Program,
    status: ProgramStatus,
    reason: str,
    value: str | None = None,
    seconds: float = 0.0,
    doubtful: tuple[str, ...] = (),
) -> ProgramOutcome:
    """An outcome whose reason is one bounded line without marks that a page, a terminal or a prompt would follow."""
    line = _UNSAFE.sub("", " ".join(reason.split()).translate(_SIGNS))[:_LONGEST_REASON]
    return ProgramOutcome(
        id=program.id, status=status, value=value, reason=f"{line}.", seconds=round(seconds, 3), doubtful=doubtful
    )
