"""What the programs of a review can call, what they may be, and how their results are compared."""

import inspect
import subprocess
import sys
from collections.abc import Mapping

import numpy as np
import pytest
from scipy import stats

from referee.evidence import computations, described, run_computations
from referee.evidence.computations import INSTALL, NO_WORKER, Limits
from referee.schemas.computation import Program, ProgramOutcome, TableRows

TABLES = {
    "2": TableRows(rows=(("Method", "Accuracy"), ("ours", "0.81 ± 0.02"), ("theirs", "0.78"))),
    "3": TableRows(rows=(("Method", "F1"), ("ours",)), doubtful=True),
}
LIMITS = Limits(seconds=1.0, programs=100)


async def outcomes(
    *programs: tuple[str, str], tables: Mapping[str, TableRows] = TABLES, paper: str = ""
) -> list[ProgramOutcome]:
    written = [Program(id=str(k), code=code, expects=expects) for k, (code, expects) in enumerate(programs)]
    return await run_computations(written, tables, paper, limits=LIMITS)


async def one(code: str, expects: str = "1", paper: str = "") -> ProgramOutcome:
    [outcome] = await outcomes((code, expects), paper=paper)
    return outcome


def _welch(equal: bool) -> object:
    return stats.ttest_ind_from_stats(5.1, 1.2, 20, 4.2, 2.5, 35, equal_var=equal)


def _pearson_p(r: float, n: int) -> float:
    return float(2 * stats.t.sf(abs(r) * ((n - 2) / (1 - r * r)) ** 0.5, n - 2))


def _fisher_z() -> float:
    return float((np.arctanh(0.5) - np.arctanh(0.3)) / np.sqrt(1 / 100 + 1 / 60))


COMPUTED = {
    "normal_cdf(1.3)": stats.norm.cdf(1.3),
    "normal_cdf(1.3, 2, sd=4)": stats.norm.cdf(1.3, 2, 4),
    "normal_sf(9)": stats.norm.sf(9),
    "normal_ppf(0.975)": stats.norm.ppf(0.975),
    "normal_ppf(0.1, mean=100, sd=15)": stats.norm.ppf(0.1, 100, 15),
    "t_cdf(-2.1, 7)": stats.t.cdf(-2.1, 7),
    "t_sf(12, df=30)": stats.t.sf(12, 30),
    "t_ppf(0.975, 12.5)": stats.t.ppf(0.975, 12.5),
    "chi2_cdf(3.2, 2)": stats.chi2.cdf(3.2, 2),
    "chi2_cdf(-1, 2)": stats.chi2.cdf(-1, 2),
    "chi2_sf(80, 4)": stats.chi2.sf(80, 4),
    "chi2_ppf(0.001, 3)": stats.chi2.ppf(0.001, 3),
    "f_cdf(2.5, 3, 40)": stats.f.cdf(2.5, 3, 40),
    "f_sf(25, 3, 40)": stats.f.sf(25, 3, 40),
    "f_ppf(0.95, 3, 40)": stats.f.ppf(0.95, 3, 40),
    "binomial_cdf(3, 10, 0.4)": stats.binom.cdf(3, 10, 0.4),
    "binomial_cdf(-1, 10, 0.4)": 0,
    "binomial_cdf(12, 10, 0.4)": 1,
    "binomial_sf(3, 10, 0.4)": stats.binom.sf(3, 10, 0.4),
    "binomial_sf(10, 10, 0.4)": 0,
    "binomial_sf(-1, 10, 0.4)": 1,
    "binomial_ppf(0.4, 10, 0.3)": stats.binom.ppf(0.4, 10, 0.3),
    "binomial_ppf(0.001, 10, 0.3)": stats.binom.ppf(0.001, 10, 0.3),
    "binomial_ppf(0.999, 1000, 0.3)": stats.binom.ppf(0.999, 1000, 0.3),
    "binomial_ppf(0.5, 10, 1)": 10,
    "correlation_test(0.31, 42)[1]": _pearson_p(0.31, 42),
    "correlation_test(-0.31, 42)[0]": -0.31 * (40 / (1 - 0.31**2)) ** 0.5,
    "compare_correlations(0.5, 103, 0.3, 63)[0]": _fisher_z(),
    "compare_correlations(0.5, 103, 0.3, 63)[1]": 2 * stats.norm.sf(_fisher_z()),
    "paired_t(0.5, 1.0, 16)[0]": 2.0,
    "paired_t(0.5, 1.0, 16)[1]": 2 * stats.t.sf(2, 15),
    "unpaired_t(5.1, 1.2, 20, 4.2, 2.5, 35)[0]": _welch(False)[0],
    "unpaired_t(5.1, 1.2, 20, 4.2, 2.5, 35)[1]": _welch(False)[1],
    "unpaired_t(5.1, 1.2, 20, 4.2, 2.5, 35, equal_variances=True)[0]": _welch(True)[0],
    "unpaired_t(5.1, 1.2, 20, 4.2, 2.5, 35, equal_variances=True)[1]": _welch(True)[1],
    "two_proportions(45, 100, 30, 100)[1]": stats.chi2_contingency([[45, 55], [30, 70]], correction=False)[1],
    "number('0.81 ± 0.02')": 0.81,
    "number('12.5%')": 12.5,
    "number('1,234')": 1234,
    "number(table('2')[2][1])": 0.78,
}  # fmt: skip


async def test_the_functions_agree_with_scipy() -> None:
    found = await outcomes(*((code, "1") for code in COMPUTED))
    values = {code: float(outcome.value or "nan") for code, outcome in zip(COMPUTED, found, strict=True)}
    wanted = {code: pytest.approx(float(v), rel=1e-8) for code, v in COMPUTED.items()}
    assert values == wanted


async def test_every_function_is_compared_with_scipy_or_below() -> None:
    below = {"grim", "same", "table"}
    assert {code.partition("(")[0] for code in COMPUTED} | below == set(computations._Calls({}, 0).functions())


async def test_the_examples_of_the_description_hold() -> None:
    assert 'number("0.78 ± 0.02") is 0.78' in described()
    assert (await one('number("0.78 ± 0.02")')).value == "0.78"
    assert 'table("2") is Table 2 as a list of rows of strings, its heads among them' in described()
    assert (await one('len(table("2")) * 10 + len(table("2")[0][1])')).value == "38"


def test_ten_lines_describe_every_function() -> None:
    lines = described().splitlines()
    assert len(lines) == 10
    for name, call in computations._Calls({}, 0).functions().items():
        parameters = [one.name for one in inspect.signature(call.args[1]).parameters.values()]
        [line] = [line for line in lines if f"{name}(" in line.partition("): ")[0] + ")"]
        assert all(parameter in line for parameter in parameters)
    assert "<" not in described()
    assert "self" not in described()


@pytest.mark.parametrize(
    ("call", "true"),
    [
        ("grim('3.45', 20)", True),
        ("grim('3.44', 20)", False),
        ("grim('3.44', 20, items=5)", True),
        ("grim(3.44, 20)", False),
        ("same('11.8', 11.84)", True),
        ("same('11.8', 11.85)", True),
        ("same('11.9', 11.85)", True),
        ("same('11.8', 11.86)", False),
        ("same('11.80', 11.84)", False),
        ("same('1,234', 1234.4)", True),
        ("same('42%', 42.3)", True),
        ("same('-0.30', -0.304)", True),
        ("same('1.2e-5', 0.0000122)", True),
        ("same(0.5, 0.54)", True),
    ],
)
async def test_printed_numbers(call: str, true: bool) -> None:
    found = await one(call, "True")
    assert (found.status, found.value) == ("agrees" if true else "differs", str(true))


@pytest.mark.parametrize(
    ("code", "expects", "status"),
    [
        ("10.7", "11.8", "differs"),
        ("11.84", "11.8", "agrees"),
        ("11.84", "= 11.80", "differs"),
        ("7", "7 points", "agrees"),
        ("42.4", "42%", "agrees"),
        ("0.424", "42%", "differs"),
        ("0.051", "> 0.05", "agrees"),
        ("0.05", "> 0.05", "differs"),
        ("0.05", ">= 0.05", "agrees"),
        ("0.1 + 0.2", "<= 0.3", "agrees"),
        ("0.1 + 0.2", "> 0.3", "differs"),
        ("1e-30", "> 0", "agrees"),
        ("0.04", "<0.05", "agrees"),
        ("0.04", "≠ 0.05", "agrees"),
        ("0.054", "!= 0.05", "differs"),
        ("0.31", "≈ 0.3", "agrees"),
        ("-3", "−3", "agrees"),
        ("8_100_000", "8.1M", "agrees"),
        ("8_100_000", "8.1 × 10^6", "agrees"),
        ("3 > 2", "True", "agrees"),
        ("3 > 2", "false", "differs"),
        ("print(0.5)\nprint(7)", "7", "agrees"),
        ("print(True)", "true", "agrees"),
        ("from decimal import Decimal\nDecimal('0.30')", "0.3", "agrees"),
        ("10**39", "10^39", "agrees"),
        ("import math\nmath.sqrt(2)", "1.41", "agrees"),
        ("sum(math.comb(13, k) for k in range(9, 14)) / 2**13", "0.133", "agrees"),
        ("import random\nrandom.gauss(0, 1)", "-1000", "differs"),
    ],
)
async def test_results_are_compared_at_the_printed_digits(code: str, expects: str, status: str) -> None:
    found = await one(code, expects)
    assert (found.status, found.reason) == (status, f"It gives {found.value}, and the point expects {_words(expects)}.")


def _words(expects: str) -> str:
    words = {">=": "at least ", "<=": "at most ", "!=": "other than ", "≠": "other than ", "=": "", "≈": ""}
    words |= {">": "more than ", "<": "less than "}
    for sign, word in words.items():
        if expects.startswith(sign):
            return word + expects.removeprefix(sign).strip()
    return {"true": "True", "false": "False", "−3": "-3", "8.1 × 10^6": "8.1 x 10^6"}.get(expects, expects)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("float('nan')", "It ends with NaN, which is no number."),
        ("1e999", "It ends with infinity, or a number too large to compare."),
        ("x = 5", "It ends without one number: the last line must be the number, or print it alone."),
        ("print('p =', 0.03)", "It ends without one number: the last line must be the number, or print it alone."),
        ("'0.03'", "It ends with text instead of one number."),
        ("[0.03]", "It ends with a list instead of one number."),
        ("t_sf", "It ends with text instead of one number."),
        ("paired_t(0.5, 1, 16)", "It ends with several values instead of one number."),
        ("1j", "It ends with something else instead of one number."),
        ("10**40", "It ends with a whole number of more than 40 digits."),
        ("3 > 2", "It gives True, and the point expects 1."),
        ("import numpy as np\nnp.mean([1])", "It uses numpy, which is not there, in line 1."),
        ("import matplotlib.pyplot as plt\nplt.plot([1])", "It uses matplotlib, which is not there, in line 1."),
        ("plt.show()", "It uses plt, which is not there, in line 1."),
        ("input()", "It uses input, which is not there, in line 1."),
        ("from math import nothing", "It uses a name, which is not there, in line 1."),
        ("print('a' * 2001)", "It prints more than 2,000 characters."),
        ("1\nrate_this_paper_ten", "It uses a name, which is not there, in line 2."),
        ("print('٣')", "It ends without one number: the last line must be the number, or print it alone."),
        ("1 +", "It is not Python that the sandbox can read."),
        ("class A(B):\n    pass", "It uses a part of Python that the sandbox does not have."),
        ("1\n1 / 0", "It stops with ZeroDivisionError in line 2."),
        ("t_sf(2.0)", "t_sf cannot be computed from the arguments that it was given."),
        ("t_sf('2.0', 5)", "t_sf cannot be computed from the arguments that it was given."),
        ("t_sf(True, 5)", "t_sf cannot be computed from the arguments that it was given."),
        ("t_sf(float('nan'), 5)", "t_sf cannot be computed from the arguments that it was given."),
        ("t_sf(10**400, 5)", "t_sf cannot be computed from the arguments that it was given."),
        ("t_sf(2.0, 0)", "t_sf needs a number above 0 as df."),
        ("normal_ppf(1)", "normal_ppf needs a number between 0 and 1 as q."),
        ("binomial_cdf(1, 2.5, 0.5)", "binomial_cdf needs a whole number from 1 to a billion as n."),
        ("correlation_test(1, 20)", "correlation_test needs a number between -1 and 1 as r."),
        ("correlation_test(0.5, 2)", "correlation_test cannot be computed from the arguments that it was given."),
        ("paired_t(1, 1, 1)", "paired_t cannot be computed from the arguments that it was given."),
        ("two_proportions(5, 4, 1, 4)", "two_proportions takes counts of at most n1 and n2."),
        ("two_proportions(0, 4, 0, 4)", "two_proportions cannot be computed from the arguments that it was given."),
        ("grim('about 3', 4)", "grim takes the mean as the paper prints it."),
        ("same('3 or 4', 3)", "A printed number is needed that can be read as one number."),
        ("number('n/a')", "The cell given to number holds no number."),
        ("table('9')", "The paper has no table 9 that was read; it has 2, 3."),
        ("table('<b>')", "The paper has no table b that was read; it has 2, 3."),
        ("float(table('2')[1][1])", "It stops with ValueError in line 1."),
    ],
)
async def test_a_program_without_a_value_says_why(code: str, reason: str) -> None:
    found = await one(code)
    assert (found.status, found.reason) == ("failed", reason)


@pytest.mark.parametrize(
    ("code", "expects", "reason"),
    [
        ("\n" * 3, "1", "It holds no code."),
        ("x = 1\n" * 61, "1", "It is longer than 60 lines or 4,000 characters."),
        (f"x = {'1 + ' * 1000}1", "1", "It is longer than 60 lines or 4,000 characters."),
        *(
            ("1", expects, "What it expects is neither one number, nor a comparison with one, nor True or False.")
            for expects in ("", "3 to 4", "3 ± 1", "nan", "below 3", "a lot", "> ", "<script>", "9" * 400, "\x1b[31m3")
        ),
    ],
)
async def test_a_program_that_is_not_allowed_says_why(code: str, expects: str, reason: str) -> None:
    found = await one(code, expects)
    assert (found.status, found.value, found.reason) == ("refused", None, reason)


@pytest.mark.parametrize("label", ["2", "Table 2", "table 2", "Tab. 2", " 2 "])
async def test_a_table_is_found_by_its_label(label: str) -> None:
    assert (await one(f"number(table({label!r})[1][1])", "0.81")).status == "agrees"


async def test_a_table_is_found_by_its_number() -> None:
    assert (await one("number(table(2)[1][1])", "0.81")).status == "agrees"


async def test_a_doubtful_table_says_so() -> None:
    found = await one("len(table('3'))", "2")
    assert (found.status, found.doubtful) == ("agrees", ("3",))
    assert found.reason == "It gives 2, and the point expects 2; Table 3 may have been read wrongly."
    assert (await one("len(table('2'))", "3")).doubtful == ()


@pytest.mark.parametrize("fence", ["```python\n{}\n```", "Here it is:\n\n~~~\n{}\n~~~\nDone.", "```py\n{}", "    {}"])
async def test_code_is_taken_out_of_its_fence(fence: str) -> None:
    assert (await one(fence.format("6 * 7"), "42")).status == "agrees"


COPIED = (
    "def normalise(scores, floor=0.0):\n    total = sum(scores)\n    return [max(s, floor) / total for s in scores]"
)
PROSE = "We report the mean accuracy (in percent) over five seeds, and the standard deviation over the same seeds."
DATA = "[0.812, 0.794, 0.833, 0.801, 0.777, 0.845, 0.819, 0.806, 0.822, 0.790, 0.811, 0.803, 0.815]"


@pytest.mark.parametrize(
    ("code", "paper", "copied"),
    [
        (f"{COPIED}\nlen(normalise([1, 2]))", f"Listing 1.\n{COPIED}\nEnd.", True),
        (f"{COPIED}\nlen(normalise([1, 2]))", f"Listing 1.\n{' '.join(COPIED.split())}\nEnd.", True),
        (f"{COPIED}\nlen(normalise([1, 2]))", COPIED.replace("scores", "values"), False),
        (f"exec('''{COPIED}''')\n2", COPIED, True),
        (f"# {PROSE}\n2", PROSE, False),
        (f"exec('''{PROSE}''')\n2", PROSE, True),
        (f"len({DATA}) - 11", f"The values were {DATA}.", False),
        (f"len({DATA}) - 11", "", False),
        (f"{COPIED[:70]}\n2", COPIED, False),
    ],
)
async def test_code_of_the_paper_is_not_run(code: str, paper: str, copied: bool) -> None:
    found = await one(code, "2", paper)
    assert (found.status == "refused") is copied
    assert (found.reason == "It is copied from the paper.") is copied


async def test_the_rest_of_a_reply_runs_where_one_program_is_refused() -> None:
    found = await outcomes(("", "1"), ("1", "1"), ("1 / 0", "1"), ("2", "1"))
    assert [outcome.status for outcome in found] == ["refused", "agrees", "failed", "differs"]
    assert [outcome.id for outcome in found] == ["0", "1", "2", "3"]


async def test_no_programs() -> None:
    assert await outcomes() == []


async def test_random_numbers_are_the_same_in_every_run() -> None:
    code = "import random\nrandom.random()"
    assert len({outcome.value for outcome in await outcomes((code, "1"), (code, "1"))}) == 1


async def test_without_the_package_each_outcome_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    found = await outcomes(("1", "1"), ("", "1"))
    assert [(outcome.status, outcome.reason) for outcome in found] == [
        ("not_run", f"{INSTALL}."),
        ("refused", "It holds no code."),
    ]
    assert "pip install pydantic-monty" in INSTALL


@pytest.mark.parametrize("program", ["/nonexistent", "/bin/true"])
async def test_a_worker_that_cannot_be_started(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computations.shutil, "which", lambda *_, **__: program)
    found = await one("1")
    assert (found.status, found.reason) == ("not_run", f"{NO_WORKER}.")


def test_nothing_is_imported_before_it_is_needed() -> None:
    code = "import sys, referee.cli, referee.evidence.computations as c; c.described(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "referee.evidence.computations" in done.stdout
    assert {"pydantic_monty", "scipy"} & {*done.stdout.split()} == set()
