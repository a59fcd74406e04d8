from __future__ import annotations

from pathlib import Path

import pytest

from referee.errors import EvaluationError, RunError
from referee.evals.case_store import CASES
from referee.evals.detection.scores import is_english, read_scores
from referee.evals.results import RESULTS
from tests.unit.evals.runs_of import case, result

ENGLISH = "The paper is clear and the proofs are sound, but it is not compared with the baseline that the field takes. "
GERMAN = (
    "Der Aufsatz ist klar geschrieben und die Beweise sind richtig, aber der Vergleich mit dem Stand der "
    "Technik fehlt. "
)


def run(folder: Path, *lines: str, text: str = ENGLISH) -> Path:
    folder.mkdir()
    (folder / CASES).write_text(case("a", text=text).model_dump_json() + "\n", encoding="utf-8")
    (folder / RESULTS).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def line(value: float = 0.5, **more: object) -> str:
    return result("a", value=value, metric="loglik", **more).model_dump_json()


def test_scores_of_several_runs_are_read_with_the_length_beside_them(tmp_path: Path) -> None:
    first, second = (
        run(tmp_path / "1", line(details={"models": {"provider": {"name": "m"}}})),
        run(tmp_path / "2", line()),
    )
    found = read_scores([first, second])
    assert {name: rows.score.tolist() for name, rows in found.rows.items()} == {
        "loglik": [0.5, 0.5],
        "length": [21.0, 21.0],
    }
    assert found.models == {"loglik": {"provider": {"name": "m"}}}


@pytest.mark.parametrize("value", ["NaN", "Infinity", '"high"'])
def test_a_score_that_is_no_number_is_refused_with_its_line(tmp_path: Path, value: str) -> None:
    folder = run(tmp_path / "run", line(), line(0.25).replace("0.25", value))
    with pytest.raises(EvaluationError, match=r"line 2 of .*results.jsonl', of review 'a', is no result: value"):
        read_scores([folder])


def test_other_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"holds no scores: it has no cases\.jsonl or no results\.jsonl"):
        read_scores([tmp_path])
    with pytest.raises(RunError, match="holds no scores of detectors"):
        read_scores([run(tmp_path / "run", result("a", metric="words").model_dump_json())])
    with pytest.raises(RunError, match="holds no scores of detectors"):
        read_scores([run(tmp_path / "empty")])


def test_another_language_is_noted(tmp_path: Path) -> None:
    found = read_scores([run(tmp_path / "run", line(), text=GERMAN * 2)])
    assert found.foreign.tolist() == [True]
    assert found.notes[0].startswith("1 review(s) do not seem to be in English, the first 'a'")


@pytest.mark.parametrize(
    ("text", "english"),
    [
        (ENGLISH, True),
        (GERMAN * 2, False),
        ("这篇论文提出了一种新方法 " * 30, False),
        (
            "L'article est clair et les preuves sont justes, mais la comparaison avec les travaux antérieurs manque. "
            * 2,
            False,
        ),
        (
            "El artículo es claro y las pruebas son correctas, pero falta una comparación con los trabajos previos. "
            * 2,
            False,
        ),
        ("Gut.", True),
        ("", True),
    ],
)
def test_english_is_told_by_its_small_words(text: str, english: bool) -> None:
    assert is_english(text) is english
