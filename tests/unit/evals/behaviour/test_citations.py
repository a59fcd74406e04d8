import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.evals.behaviour import citations as module
from referee.evals.behaviour import formal_citations, informal_citations

FORMAL = [
    ("apa", "Vaswani", 2017, "Vaswani, A., Shazeer, N., & Parmar, N. (2017). Attention is all you need. NeurIPS, 30."),
    ("apa", "Müller", 2019, "Müller, K.-R. (2019a). When does label smoothing help? NeurIPS."),
    ("apa", "Devlin", 2018, "Devlin, J., et al. (2018). BERT: Pre-training of deep bidirectional transformers. arXiv."),
    ("mla", "Vaswani", 2017, 'Vaswani, Ashish, et al. "Attention is all you need." Advances in ... 30 (2017).'),
    (
        "mla",
        "He",
        2016,
        "He, Kaiming, Xiangyu Zhang, and Jian Sun. “Deep Residual Learning for Image Recognition.” "
        "CVPR, 2016, pp. 770-778.",
    ),
    (
        "ieee",
        "Vaswani",
        2017,
        '[12] A. Vaswani, N. Shazeer, and N. Parmar, "Attention is all you need," '
        "in Proc. NeurIPS, 2017, pp. 5998-6008.",
    ),
    ("ieee", "He", 2016, "[3] K. He et al., “Deep residual learning for image recognition,” in CVPR, 2016."),
]
INFORMAL = [
    ("As shown in Vaswani et al. (2017), attention works.", (1, 0, 0)),
    ("(Devlin et al., 2018; Brown et al., 2020)", (2, 0, 0)),
    ("[1] https://arxiv.org/abs/1706.03762", (0, 1, 0)),
    ("[1] Attention is all you need, NeurIPS 2017", (0, 0, 0)),
    ('Smith et al. 2020 "good paper" claims', (1, 0, 0)),
    ("(Kingma, 2015) and Kingma and Ba (2015), not ICLR 2024, in 2020 or June 2021", (2, 0, 0)),
    ("doi:10.1000/xyz.1, 10.5 points, arXiv:2401.01234v2 and arxiv 2401.01234", (0, 1, 1)),
]


@pytest.mark.parametrize(("style", "surname", "year", "text"), FORMAL)
def test_a_formal_citation(style: str, surname: str, year: int, text: str) -> None:
    (found,) = formal_citations(f"See:\n{text}")
    assert (found.style, found.surname, found.year) == (style, surname, year)
    assert informal_citations(f"See:\n{text}", [found]).total == 0


@pytest.mark.parametrize(("text", "counts"), INFORMAL)
def test_an_informal_mention_is_no_formal_citation(text: str, counts: tuple[int, int, int]) -> None:
    assert formal_citations(text) == ()
    assert tuple(informal_citations(text)) == counts


def test_all_at_once_with_each_title_counted_once() -> None:
    found = formal_citations("\n".join(text for *_, text in FORMAL))
    assert [(one.style, one.surname) for one in found] == [
        ("apa", "Vaswani"),
        ("apa", "Müller"),
        ("apa", "Devlin"),
        ("mla", "He"),
    ]


def test_ids_on_the_rest_of_the_line_belong_to_the_citation() -> None:
    text = "Vaswani, A. (2017). Attention is all you need. arXiv:1706.03762, doi 10.1000/ABC.\nOther 10.2000/d"
    (found,) = formal_citations(text)
    assert (found.arxiv, found.doi) == ("1706.03762", "10.1000/abc")


PATHOLOGICAL = [
    "A. " * 3000,
    " ".join(["Word"] * 4000),
    " ".join(["Aa Bb,"] * 4000) + ' x. "A title that is long enough" V, 2017',
    "(2017). " * 3000,
    '. "abcdefghij" ' * 1500 + "2017",
    '[1] A. "' * 3000 + " 2017",
    "Aa, B. " * 3000 + "(2017). Title of it all.",
    "2017 " * 3000,
    "Aa, " * 3000 + "2017",
]


@pytest.mark.parametrize("text", PATHOLOGICAL)
def test_pathological_input_finishes(text: str) -> None:
    start = time.process_time()
    formal_citations(text)
    assert time.process_time() - start < 0.1


S, I, F, Y = module._S, module._I, module._F, module._Y  # noqa: E741
WHOLE = {
    "apa": rf"(?P<authors>{S},\s{I}(?:(?:,\s(?:&\s)?|\s&\s){S},\s{I})*(?:,?\s?et\sal\.)?)\s*\((?P<year>{Y})[a-z]?\)\.\s"
    r"(?P<title>[^.?!\n]{8,300}[.?!])",
    "mla": rf"(?P<authors>{S},\s{F}(?:\s{F})*(?:,\s(?:and\s)?{F}(?:\s{F})+)*(?:,\set\sal)?)\."
    rf'\s["“](?P<title>[^"”\n]{{8,300}}?)[.,?!]?["”]\s*(?P<venue>[^\n]{{2,200}}?)[,\s(]+(?P<year>{Y})\b',
}
PIECES = st.sampled_from(
    [
        "Aa",
        "Bb",
        "A.",
        "B. ",
        ", ",
        " ",
        "& ",
        "and ",
        "et al",
        ".",
        ". ",
        '"',
        "“",
        "”",
        "(2017). ",
        "2017",
        "x",
        "\n",
        "A long title here",
        "Aa, B. (2018). ",
        'Cc, Dd. "',
        "? ",
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join))
@settings(derandomize=True, max_examples=400, deadline=None)
def test_matching_in_two_parts_finds_what_the_whole_expression_finds(text: str) -> None:
    for grammar in (module._APA, module._MLA):
        whole = [(m.start(), m.end(), m["title"]) for m in re.finditer(WHOLE[grammar.style], text)]
        assert [(one.start, one.end, one.title) for one in module._split(text, grammar)] == whole
