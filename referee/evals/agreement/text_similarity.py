"""Predicted texts beside people's, field by field: which field answers which, and how alike they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from referee.data.prose import plain_name
from referee.evals.agreement.nested_means import nested_interval
from referee.evals.agreement.text_scores import (
    ABSENT,
    BertScore,
    Bleu,
    Counts,
    Rouge,
    RougeMeans,
    bert_score,
    bert_score_installed,
    best_rouge,
    corpus_bleu,
    hash_cosines,
    mean_bleu,
    mean_rouge,
    rouge,
    rouge_means,
)
from referee.schemas.case import ReviewCase
from referee.stats import Interval, bootstrap_interval

JOINED = ("strengths_and_weaknesses", "strength_and_weaknesses")
SIDES = "strengths_weaknesses"
WHOLE = "review"
# By predicted field: the human fields that may answer it, in the order in which they are looked for.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "summary": (
        *("summary", "summary_of_paper", "summary_of_the_paper", "paper_topic_and_main_contributions"),
        "summary_of_contributions",
    ),
    "strengths": ("strengths", "reasons_to_accept", *JOINED),
    "weaknesses": ("weaknesses", "reasons_to_reject"),
    "reasons_to_accept": ("reasons_to_accept", "strengths"),
    "reasons_to_reject": ("reasons_to_reject", "weaknesses"),
}
_LOOSE = ("questions", "rebuttal_questions", "questions_for_rebuttal")
# A summary is one whatever its form calls it; the other fields keep their names, so that none is compared twice.
_CANDIDATES = {"summary": ALIASES["summary"]}


@dataclass(frozen=True, slots=True)
class TextPair:
    """What a model wrote in a field of a paper's form, and what each person wrote there, in the order of reviews.

    Empty texts are left out of ``references``.
    """

    paper_id: str
    field: str
    candidate: str
    references: tuple[str, ...]

    @property
    def reference(self) -> str:
        """All references, one below the other."""
        return "\n".join(self.references)


def text_pairs(predicted: ReviewCase, human: Sequence[ReviewCase], *, loose: bool = False) -> list[TextPair]:
    """The fields of one paper to compare, empty sides included, so that they can be counted.

    ``strengths_weaknesses`` sets a human review's joined box against the predicted strengths and weaknesses (or joined
    box): the table of ReviewArena sends it to the strengths alone, and leaves such forms' weaknesses without a
    reference. Where no named field has both sides, the whole reviews are compared as ``review``.

    Args:
        predicted: The model's review.
        human: People's reviews of the same paper, in order.
        loose: Let questions answer weaknesses.

    Source: "ReviewArena: A Large-Scale Cross-Conference Dataset and Benchmark for LLM Peer Review" (the table).
    """
    ours = _texts(predicted)
    theirs = [_texts(case) for case in human]
    pairs = []
    for field, aliases in ALIASES.items():
        names = (*aliases, *_LOOSE) if loose and field == "weaknesses" else aliases
        candidate = _first(ours, _CANDIDATES.get(field, (field,)))
        pairs.append(_pair(predicted.paper_id, field, candidate, [_first(texts, names) for texts in theirs]))
    pairs.append(_pair(predicted.paper_id, SIDES, _both_sides(ours), [_first(texts, JOINED) for texts in theirs]))
    if not any(pair.candidate and pair.references for pair in pairs):
        pairs.append(_pair(predicted.paper_id, WHOLE, predicted.text.strip(), [case.text.strip() for case in human]))
    return [pair for pair in pairs if pair.candidate or pair.references]


def _pair(paper_id: str, field: str, candidate: str, references: Sequence[str]) -> TextPair:
    return TextPair(paper_id, field, candidate, tuple(text for text in references if text))


def _both_sides(texts: Mapping[str, str]) -> str:
    """The joined box, or the two boxes together; nothing where only one of the two is filled."""
    sides = [
        _first(texts, names) for names in (("strengths", "reasons_to_accept"), ("weaknesses", "reasons_to_reject"))
    ]
    return _first(texts, JOINED) or ("\n".join(sides) if all(sides) else "")


def _first(texts: Mapping[str, str], names: Sequence[str]) -> str:
    return next((texts[name] for name in names if texts.get(name)), "")


def _texts(case: ReviewCase) -> dict[str, str]:
    out = {}
    for name, value in case.fields.items():
        text = "\n".join(value) if isinstance(value, list) else value if isinstance(value, str) else ""
        out[plain_name(name)] = text.strip()
    return out


T = TypeVar("T")
Told = Callable[[str, int, int], None]
_TELL_EVERY = 20
"""Papers, of some 50 ms each."""
NO_CANDIDATE = "the model wrote nothing"
NO_REFERENCE = "no person wrote anything"


@dataclass(frozen=True, slots=True)
class FieldSimilarity:
    """One field over ``n`` papers; ``skipped`` counts papers with an empty side, by reason. None without papers.

    ``rouge`` and ``hash_cosine`` are means over papers against all human texts joined, which caps what one text can
    recall; ``bleu`` is of the corpus. ``max_over_reviews`` is against the nearest single review. ``ceiling`` is one
    human review against the joined others, over the ``ceiling_n`` papers with two or more. All of these have 95%
    intervals by paper. ``bert`` is None with ``bert_reason``. ``rouge_of`` and ``bleu_counts`` hold each paper's.
    """

    field: str
    n: int
    skipped: Mapping[str, int]
    rouge: RougeMeans | None
    max_over_reviews: RougeMeans | None
    ceiling: RougeMeans | None
    ceiling_n: int
    bleu: Bleu | None
    hash_cosine: Interval
    bert: BertScore | None
    bert_reason: str
    rouge_of: Mapping[str, Rouge]
    bleu_counts: Mapping[str, Counts]


@dataclass(frozen=True, slots=True)
class TextMeans:
    """The unweighted means over fields of what each field scores, with 95% intervals that draw papers whole.

    ``bert`` is None where a field has none.
    """

    rouge: RougeMeans
    bleu: Interval
    bert: float | None


def text_similarity(
    pairs: Iterable[TextPair], *, with_bert: bool = False, seed: int = 0, told: Told = lambda *_: None
) -> dict[str, FieldSimilarity]:
    """Similarity by field, in the order in which fields come.

    Args:
        pairs: The fields of all papers, from ``text_pairs``; a paper has each field once.
        with_bert: Compute BERTScore too, where its package is installed.
        seed: For the intervals.
        told: Told now and then which field it is, how many of its papers are done, and of how many.

    Raises:
        MissingExtra: A package of the extra ``arena`` is not installed.

    Source: "ReviewArena: A Large-Scale Cross-Conference Dataset and Benchmark for LLM Peer Review";
    ``max_over_reviews``, ``ceiling`` and ``hash_cosine`` are ours.
    """
    by_field: dict[str, list[TextPair]] = defaultdict(list)
    for pair in pairs:
        by_field[pair.field].append(pair)
    return {field: _field(field, rows, with_bert, seed, told) for field, rows in by_field.items()}


def mean_over_fields(fields: Iterable[FieldSimilarity], *, seed: int = 0) -> TextMeans | None:
    """What the texts of all fields come to; None where no field has a paper."""
    known = [found for found in fields if found.n]
    if not known:
        return None
    papers = sorted({key for found in known for key in found.rouge_of})

    def mean(column: str) -> Interval:
        by_paper = {
            key: {f.field: float(getattr(f.rouge_of[key], column)) for f in known if key in f.rouge_of}
            for key in papers
        }
        return nested_interval([[by_paper]], seed=seed)

    bert = [found.bert.f1 for found in known if found.bert is not None]
    return TextMeans(
        RougeMeans(mean("rouge1"), mean("rouge2"), mean("rouge_l")),
        mean_bleu([found.bleu_counts for found in known], seed=seed),
        sum(bert) / len(bert) if len(bert) == len(known) else None,
    )


def human_ceiling(references: Sequence[str]) -> Rouge | None:
    """Each text against the others joined, averaged; None for fewer than two."""
    if len(references) < 2:
        return None
    return mean_rouge(
        [
            rouge(text, "\n".join(other for j, other in enumerate(references) if j != i))
            for i, text in enumerate(references)
        ]
    )


def _field(field: str, rows: Sequence[TextPair], with_bert: bool, seed: int, told: Told) -> FieldSimilarity:
    kept = [row for row in rows if row.candidate and row.references]
    skipped = {
        NO_CANDIDATE: sum(not row.candidate for row in rows),
        NO_REFERENCE: sum(bool(row.candidate) and not row.references for row in rows),
    }
    names = [row.paper_id for row in kept]
    ours, theirs = [row.candidate for row in kept], [row.reference for row in kept]
    found, best, ceilings = dict[str, Rouge](), dict[str, Rouge | None](), dict[str, Rouge | None]()
    for done, row in enumerate(kept):
        if done % _TELL_EVERY == 0:
            told(field, done, len(kept))
        found[row.paper_id] = rouge(row.candidate, row.reference)
        best[row.paper_id] = best_rouge([rouge(row.candidate, text) for text in row.references])
        ceilings[row.paper_id] = human_ceiling(row.references)
    cosines = dict(zip(names, hash_cosines(ours, theirs), strict=True))
    bleu = corpus_bleu(ours, theirs, seed=seed)
    bert, bert_reason = _bert(ours, theirs, with_bert)
    return FieldSimilarity(
        field=field,
        n=len(kept),
        skipped={reason: count for reason, count in skipped.items() if count},
        rouge=rouge_means(found, seed=seed),
        max_over_reviews=rouge_means(_known(best), seed=seed),
        ceiling=rouge_means(_known(ceilings), seed=seed),
        ceiling_n=len(_known(ceilings)),
        bleu=bleu,
        hash_cosine=bootstrap_interval({key: [value] for key, value in _known(cosines).items()}, seed=seed),
        bert=bert,
        bert_reason=bert_reason,
        rouge_of=found,
        bleu_counts=dict(zip(names, bleu.counts, strict=True)) if bleu else {},
    )


def _known(values: Mapping[str, T | None]) -> dict[str, T]:
    return {key: value for key, value in values.items() if value is not None}


def _bert(ours: Sequence[str], theirs: Sequence[str], wanted: bool) -> tuple[BertScore | None, str]:
    if not wanted:
        return None, "not asked for"
    if not bert_score_installed():
        return None, ABSENT
    found = bert_score(ours, theirs)
    return found, "" if found else "no paper has both texts"
