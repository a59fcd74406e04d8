"""The embedded model end to end: no key, no server, a real small model on a paper of two short sections.

What it takes is what it writes: the form has four fields.
"""

from pathlib import Path

import pytest

from referee.evidence import QuotationIndex, check_conservation
from referee.papers import load_paper
from referee.schemas.review import Review
from tests.needs import require_model

from .command import Referee
from .test_eval_embedded import PAPER

pytestmark = pytest.mark.local_model


@pytest.fixture(autouse=True)
def _embedded_model() -> None:
    require_model("qwen-0.5b")


def test_a_whole_review_without_key_or_server(referee: Referee, workplace: Path) -> None:
    paper = workplace / "paper.md"
    paper.write_text(PAPER, encoding="utf-8")
    given = ("--venue", "iclr-2018", "--strategy", "sections", "--model", "local:qwen-0.5b")
    done = referee("review", paper, *given, "--no-cache", "--out", "run")

    assert done.code == 0, done.err
    assert "trial of the pipeline" in done.out
    review = Review.model_validate_json((workplace / "run" / "review.json").read_text())
    for name, value in review.fields.items():
        assert value is not None or review.nulls[name]
    index = QuotationIndex(load_paper(paper))
    quotes = [e.quote for e in review.evidence] + [
        e.quote for point in review.points for e in point.evidence if e.status != "not_found"
    ]
    assert quotes
    assert all(hasattr(index.find(quote), "similarity") for quote in quotes), "every printed quotation is real"
    check_conservation([point.id for point in review.points], review.points)
