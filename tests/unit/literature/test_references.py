"""Verdicts on references of papers: those that are right, those with one wrong field, and those that nobody lists."""

from __future__ import annotations

import pytest

from referee.literature.checking import Record, Unresolved
from referee.literature.index import WorkIndex
from referee.literature.references import Verdict, check_reference, cited_of
from referee.papers.bibliography import parse_entry
from referee.schemas.paper import Reference

LISTED = WorkIndex(
    [
        Record("Attention is All you Need", 2017, ("Ashish Vaswani", "Noam Shazeer"), "10.5555/3295222", "crossref"),
        Record("Adam: A Method for Stochastic Optimization", 2015, ("Diederik P. Kingma", "Jimmy Ba"), "", "dblp"),
        Record("Decoupled Weight Decay Regularization", 2019, ("Ilya Loshchilov", "Frank Hutter"), "", "dblp"),
        Record("Deep Learning", 2016, ("Ian Goodfellow", "Yoshua Bengio", "Aaron Courville"), "", "crossref"),
        Record("Deep Learning", 2015, ("Yann LeCun", "Yoshua Bengio", "Geoffrey Hinton"), "10.1038/nature14539"),
        Record(
            "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
            2019,
            ("Jacob Devlin", "Ming-Wei Chang"),
            "10.18653/v1/n19-1423",
        ),
        Record(
            "Sequential convergence of AdaGrad algorithm", 2021, ("Cheik Traoré", "Edouard Pauwels"), "", "crossref"
        ),
        Record("Observation of a new particle in the search", 2012, ("G. Aad", "T. Abajyan"), "10.1016/j.x.2012", "cr"),
        Record("NCBI disease corpus: a resource for disease names", 2014, ("Rezarta Islamaj Doğan",), "10.1/ncbi"),
        Record("Visualizing Data using t-SNE", 2008, ("Laurens van der Maaten", "Geoffrey Hinton"), "", "dblp"),
        Record("Layer Normalization", 2016, ("Jimmy Lei Ba", "Jamie Kiros"), "", "openalex", "1607.06450"),
    ]
)


def reference(text: str, *, authors: tuple[str, ...] | None = None) -> Reference:
    entry = parse_entry(text)
    return Reference(
        id="r1",
        text=text,
        authors=authors if authors is not None else entry.authors,
        title=entry.title,
        year=entry.year,
        doi=entry.doi,
    )


RIGHT = [
    "Ashish Vaswani, Noam Shazeer, et al. 2017. Attention is all you need. In NeurIPS.",
    "A. Vaswani and N. Shazeer. 2018. Attention is all you need. In NIPS 30.",
    "Diederik Kingma and Jimmy Ba. 2014. Adam: A method for stochastic optimization. arXiv:1412.6980.",
    "Ilya Loshchilov and Frank Hutter. 2017. Decoupled weight decay regularization. arXiv preprint arXiv:1711.05101.",
    "Ian Goodfellow, Yoshua Bengio, and Aaron Courville. 2016. Deep learning. MIT Press.",
    "Yann LeCun, Yoshua Bengio, and Geoffrey Hinton. 2015. Deep learning. Nature 521.",
    "Jacob Devlin et al. 2019. BERT: Pre-training of deep bidirectional transformers for language understanding. N.",
    "Jacob Devlin. 2018. BERT: Pre-training of deep bidirectional transformers. CoRR.",
    "Cheik Traor'e and Edouard Pauwels. 2020. Sequential convergence of adagrad algorithm. Oper. Res. Lett.",
    "ATLAS Collaboration. 2012. Observation of a new particle in the search. Phys. Lett. B.",
    "Rezarta Islamaj Dogan. 2014. Ncbi disease corpus: a resource for disease names. J. Biomed. Inform.",
    "Laurens van der Maaten and Geoffrey E. Hinton. 2008. Visualizing data using t-sne. JMLR.",
    "Jimmy Lei Ba and Jamie Kiros. 2018. Layer normalization. In Proceedings of Something.",
]
WRONG = [
    ("Ashish Vaswani. 2011. Attention is all you need. In NeurIPS.", ("year",)),
    ("Ada Lovelace. 2017. Attention is all you need. In NeurIPS.", ("first author",)),
    ("Ian Goodfellow. 2009. Deep learning. MIT Press.", ("year",)),
    ("Rezarta Islamaj Dogan. 2004. Ncbi disease corpus: a resource for disease names. J.", ("year",)),
    ("Grace Hopper. 2008. Visualizing data using t-sne. JMLR.", ("first author",)),
    ("Yann LeCun. 2015. A gentle history of everything else. Nature. doi:10.1038/nature14539", ("title",)),
    ("Ilya Loshchilov. 2009. Decoupled weight decay regularization. arXiv.", ("year",)),
]
ABSENT = [
    "Ada Lo. 2020. Counting lanterns in a harbour with two clerks. In Harbour Days.",
    "Ashish Vaswani. 2018. Attention was never what you needed at all. In NeurIPS.",
    "Jacob Devlin. 2020. BERT revisited: Post-training of shallow unidirectional networks. NAACL.",
    "Diederik Kingma. 2016. Eve: A method for stochastic maximisation of regret. ICLR.",
]


@pytest.mark.parametrize("text", RIGHT)
def test_right_ones_are_verified(text: str) -> None:
    found = check_reference(reference(text), LISTED)
    assert (found.verdict, found.differs) == ("verified", ()), found


@pytest.mark.parametrize(("text", "differs"), WRONG)
def test_one_wrong_field_is_named(text: str, differs: tuple[str, ...]) -> None:
    found = check_reference(reference(text), LISTED)
    assert (found.verdict, found.differs) == ("mismatch", differs), found
    assert found.record is not None


@pytest.mark.parametrize("text", ABSENT)
def test_what_nobody_lists_is_not_found(text: str) -> None:
    assert check_reference(reference(text), LISTED).verdict == "not found"


ACCUSED = WorkIndex(
    [
        Record(
            "BillSum: A Corpus for Automatic Summarization of US Legislation", 2019, ("Anastassia Kornilova",), "", "x"
        ),
        Record(
            "An Image is Worth 16x16 Words: Transformers for Image Recognition", 2021, ("Alexey Dosovitskiy",), "", "x"
        ),
        Record("Observation of a new particle in the search for the boson", 2012, ("G. Aad",), "", "x", "1207.7214"),
        Record("Statistical Power Analysis for the Behavioral Sciences", 1969, ("Jacob Cohen",), "", "x"),
        Record("Random Forests", 2001, ("Leo Breiman",), "", "x"),
        Record("An efficient filter for the flow of fluids in fields", 2010, ("Ada Lo",), "", "x"),
        Record("Ego depletion: Is the active self a limited resource", 1998, ("Roy F. Baumeister",), "", "x"),
        Record("Slow mixing of deep water in narrow fjords", 2003, ("Bo Hart",), "", "x"),
        Record("The tides of the northern seas and their causes", 2004, ("Cara Nils",), "", "x"),
    ]
)
STILL_RIGHT = [
    # The year is that of the entry, and no part of an arXiv number.
    "[8] A. Kornilova and V. Eidelman. BillSum: A corpus for automatic summarization of US legislation. "
    "arXiv:1910.00523 [cs], December 2019. arXiv: 1910.00523.",
    "Alexey Dosovitskiy et al. 2021. An image is worth 16×16 words: Transformers for image recognition. In ICLR.",
    # No title is printed; the id is that of the work.
    "[1] G. Aad et al. [ATLAS], Phys. Lett. B 716, 1 (2012), arXiv:1207.7214",
    "Cohen, J. (1988). Statistical power analysis for the behavioral sciences (2nd ed.). Erlbaum.",
    # Letters of ligatures are lost in the text of some files.
    "Ada Lo. 2010. An ecient filter for the ow of fluids in fields. Fluids 3.",
    "Baumeister, R. F., Bratslavsky, E., Muraven, M. & Tice, D. M. Ego depletion: Is the active self a limited "
    "resource? J. Pers. Soc. Psychol. 74, 1252–1265 (1998).",
    "Hart B, Oduya C. Slow mixing of deep water in narrow fjords. Tides. 2003;75(1):101-5.",
]


@pytest.mark.parametrize("text", STILL_RIGHT)
def test_no_right_reference_is_called_wrong(text: str) -> None:
    found = check_reference(reference(text), ACCUSED)
    assert (found.verdict, found.differs) == ("verified", ()), found


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Leo Breiman. Random forests II. Machine Learning, 49(2):101–118, 2002.", "not found"),
        ("N. Cara; E. Oduya; the tides of the northern seas and their causes; 2004; Nils", "verified"),
        ("N. Cara; E. Oduya; the tides of the northern seas and their causes; 1984; Nils", "not checked"),
        ("N. Cara; E. Oduya; the tides of the southern seas and their causes; 2004; Nils", "not checked"),
    ],
)
def test_a_sequel_is_another_work_and_an_entry_without_a_title_is_looked_up_whole(text: str, verdict: Verdict) -> None:
    one = reference(text)
    one = one if "Random" in text else one.model_copy(update={"title": None})
    found = check_reference(one, ACCUSED)
    assert found.verdict == verdict, found


def test_an_author_who_was_not_read_is_no_proof_of_another_work() -> None:
    text = "Slow mixing of deep water in narrow fjords. By the group of Bo Hart. 2003."
    one = reference(text, authors=("Group",)).model_copy(update={"title": "Slow mixing of deep water in narrow fjords"})
    assert check_reference(one, ACCUSED).verdict == "not found"


@pytest.mark.parametrize(
    ("author", "surname"),
    [("Baumeister, R. F.", "baumeister"), ("Hart BA", "hart"), ("R. F. van Baum", "baum"), ("Ada Lo et al", "lo")],
)
def test_the_surname_that_is_searched_for_is_no_initial(author: str, surname: str) -> None:
    assert cited_of(reference("Some text of 2003.", authors=(author,))).surname == surname


def test_a_preprint_listed_with_a_later_year_says_so() -> None:
    found = check_reference(reference(RIGHT[3]), LISTED)
    assert found.reason == "listed with the year 2019"


@pytest.mark.parametrize(
    ("text", "resolver", "verdict", "reason"),
    [
        (RIGHT[0], None, "not checked", "nobody was asked"),
        ("[7]", LISTED, "not checked", "its title could not be read"),
    ],
)
def test_what_is_not_checked_says_why(text: str, resolver: WorkIndex | None, verdict: Verdict, reason: str) -> None:
    found = check_reference(reference(text), resolver)
    assert (found.verdict, found.reason) == (verdict, reason)


def test_a_source_that_fails_has_not_said_that_there_is_no_such_work() -> None:
    class Failing:
        id = "failing"

        def candidates(self, citation: object) -> list[Record]:
            raise Unresolved("crossref did not answer in JSON")

    found = check_reference(reference(ABSENT[0]), Failing())
    assert (found.verdict, found.reason) == ("not checked", "crossref did not answer in JSON")


def test_ids_are_read_from_the_text() -> None:
    assert cited_of(reference(RIGHT[2])).arxiv == "1412.6980"
    assert cited_of(reference("Ada Lo. 2019. Wild models. CoRR, abs/1906.02569.")).arxiv == "1906.02569"
    assert cited_of(reference(WRONG[5][0])).doi == "10.1038/nature14539"
    assert cited_of(reference(RIGHT[9])).names == (), "a collaboration's authors are listed one by one"
