import json
from pathlib import Path

import pytest

from referee.errors import DataError
from referee.evals.behaviour import Citation
from referee.literature.checking import Record, Status, Unresolved, check_citation, compared, counted
from referee.literature.index import WorkIndex
from referee.literature.titles import is_short_form, normalised_title, title_similarity


def cited(title: str, year: int = 2017, surname: str = "Vaswani", **ids: str) -> Citation:
    return Citation("apa", title, surname, surname, title, year, 0, **ids)


ATTENTION = Record("Attention Is All You Need", 2017, ("Ashish Vaswani", "Noam Shazeer"), source="fixture")
BERT = "BERT: Pre-training of deep bidirectional transformers"
BERT_WHOLE = "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding"
GANS = "GANs trained by a two time-scale update rule converge"
GANS_WHOLE = "GANs Trained by a Two Time-Scale Update Rule Converge to a Local Nash Equilibrium"
SEGMENTATION = "Deep residual learning for image segmentation"


@pytest.mark.parametrize(
    ("first", "second", "similarity", "short_form"),
    [
        ("Attention is all you need", "Attention Is All You Need", 1.0, True),
        (BERT, BERT_WHOLE, 0.794, True),
        (GANS, GANS_WHOLE, 0.791, True),
        ("Attention is what you need", "Attention Is All You Need", 0.902, False),
        (SEGMENTATION, "Deep Residual Learning for Image Recognition", 0.899, False),
    ],
)
def test_titles_compare_as_in_the_specification(first: str, second: str, similarity: float, short_form: bool) -> None:
    one, other = normalised_title(first), normalised_title(second)
    assert title_similarity(one, other) == pytest.approx(similarity, abs=5e-4)
    assert is_short_form(one, other) is short_form


def test_titles_are_normalised() -> None:
    assert normalised_title(r"  {\textbf{Über}} $x^2$-Netze: A \emph{Straße}!") == "uber netze a strasse"
    assert normalised_title("...") == ""


@pytest.mark.parametrize(
    ("citation", "record", "status"),
    [
        (cited("Attention is all you need"), ATTENTION, "verified"),
        (cited("Attention is all you need", 2018), ATTENTION, "verified"),
        (cited("Attention is all you need", 2019), ATTENTION, "year_mismatch"),
        (cited("Attention is all you need", surname="Shazeer"), ATTENTION, "verified"),
        (cited("Attention is all you need", surname="Vas"), ATTENTION, "author_mismatch"),
        (cited("Attention is what you need"), ATTENTION, "ambiguous"),
        (cited(BERT, 2018, "Devlin"), Record(BERT_WHOLE, 2019, ("Jacob Devlin",)), "verified"),
        (cited(GANS, 2017, "Heusel"), Record(GANS_WHOLE, 2017, ("Heusel",)), "verified"),
        (cited(SEGMENTATION, 2016, "He"), Record("Deep Residual Learning for Image Recognition", 2016), "not_found"),
        (
            cited("Whole new title here", 2016, "Müller-Ott"),
            Record("Whole New Title Here", 2016, ("A. Muller-Ott",)),
            "verified",
        ),
        (cited("???????? ", 2016), ATTENTION, "not_found"),
    ],
)
def test_the_rule(citation: Citation, record: Record, status: Status) -> None:
    assert compared(citation, record).status == status


def test_a_record_without_authors_or_year_verifies_weakly() -> None:
    assert compared(cited("Attention is all you need"), ATTENTION._replace(authors=())).weak
    assert compared(cited("Attention is all you need"), ATTENTION._replace(year=None)).weak
    assert not compared(cited("Attention is all you need"), ATTENTION).weak


class Failing:
    id = "failing"

    def __init__(self, *records: Record) -> None:
        self.records = records

    def candidates(self, citation: Citation):  # type: ignore[no-untyped-def]
        yield from self.records
        raise Unresolved("no network")


def test_a_source_that_fails_leaves_a_citation_unresolved() -> None:
    lost = check_citation(cited("Attention is all you need"), Failing())
    assert (lost.status, lost.reason) == ("unresolved", "no network")
    assert check_citation(cited("Attention is all you need"), Failing(ATTENTION)).status == "verified"
    near = check_citation(cited("Attention is all you need", 2000), Failing(ATTENTION))
    assert (near.status, near.record, near.reason) == ("unresolved", ATTENTION, "no network")


def test_the_rate_leaves_out_what_could_not_be_asked_about() -> None:
    resolver = WorkIndex([ATTENTION])
    some = [
        cited("Attention is all you need"),
        cited("A title that nobody wrote"),
        cited("Attention is all you need", 1990),
    ]
    checked = [check_citation(one, resolver) for one in some] + [check_citation(some[0], Failing())]
    counts = counted(checked)
    assert (counts.total, counts.unresolved, counts.rate) == (4, 1, pytest.approx(1 / 3))
    assert counts.by_status["not_found"] == counts.by_status["year_mismatch"] == 1
    assert counted([]).rate is None
    assert counted(checked[3:]).rate is None


def test_records_of_a_file_are_found_by_title_or_id(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    rows = [
        {"title": "Something Else Entirely", "year": 2001, "authors": ["A. Other"], "doi": "10.1/X"},
        {"title": BERT_WHOLE, "year": 2019, "authors": ["Jacob Devlin"], "source": "file", "arxiv": "1810.04805"},
        {"title": ATTENTION.title, "year": 2017, "authors": None},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n", encoding="utf-8")
    resolver = WorkIndex.load(path)
    assert [record.title for record in resolver.candidates(cited(BERT))] == [BERT_WHOLE]
    assert next(iter(resolver.candidates(cited("Unlike", doi="10.1/x")))).year == 2001
    found = check_citation(cited("attention is all you need"), resolver)
    assert (found.status, found.weak) == ("verified", True)
    assert check_citation(cited("An unknown work of nobody"), resolver).status == "not_found"


@pytest.mark.parametrize(
    "line", ["[1]", "{", '{"title": ""}', '{"title": "T", "year": "2019"}', '{"title": "T", "authors": "A"}']
)
def test_a_line_that_is_no_record_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text('{"title": "T"}\n' + line, encoding="utf-8")
    with pytest.raises(DataError, match="line 2"):
        WorkIndex.load(path)
    with pytest.raises(DataError, match="cannot be read"):
        WorkIndex.load(tmp_path / "none")
