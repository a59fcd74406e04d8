"""How close a model's text is to people's, field by field, beside how close people are to each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from referee.evals.agreement.bert_score import ABSENT, BertScore, bert_score, bert_score_installed
from referee.evals.agreement.bleu import Bleu, corpus_bleu
from referee.evals.agreement.hash_cosine import hash_cosines
from referee.evals.agreement.rouge import Rouge, best_rouge, mean_rouge, rouge
from referee.evals.agreement.text_fields import TextPair

NO_CANDIDATE = "the model wrote nothing"
NO_REFERENCE = "no person wrote anything"


@dataclass(frozen=True, slots=True)
class FieldSimilarity:
    """One field over ``n`` papers; ``skipped`` counts papers with an empty side, by reason. None without papers.

    ``rouge`` and ``hash_cosine`` are means over papers against all human texts joined, which caps what one text can
    recall; ``bleu`` is of the corpus. ``max_over_reviews`` is against the nearest single review. ``ceiling`` is one
    human review against the joined others, over the ``ceiling_n`` papers with two or more. ``bert`` is None with
    ``bert_reason``.
    """

    field: str
    n: int
    skipped: Mapping[str, int]
    rouge: Rouge | None
    max_over_reviews: Rouge | None
    ceiling: Rouge | None
    ceiling_n: int
    bleu: Bleu | None
    hash_cosine: float | None
    bert: BertScore | None
    bert_reason: str


def text_similarity(pairs: Iterable[TextPair], *, with_bert: bool = False) -> dict[str, FieldSimilarity]:
    """Similarity by field, in the order in which fields come.

    Args:
        pairs: The fields of all papers, from ``text_pairs``.
        with_bert: Compute BERTScore too, where its package is installed.

    Raises:
        MissingExtra: A package of the extra ``arena`` is not installed.

    Source: "ReviewArena: A Large-Scale Cross-Conference Dataset and Benchmark for LLM Peer Review";
    ``max_over_reviews``, ``ceiling`` and ``hash_cosine`` are ours.
    """
    by_field: dict[str, list[TextPair]] = defaultdict(list)
    for pair in pairs:
        by_field[pair.field].append(pair)
    return {field: _field(field, rows, with_bert) for field, rows in by_field.items()}


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


def _field(field: str, rows: Sequence[TextPair], with_bert: bool) -> FieldSimilarity:
    kept = [row for row in rows if row.candidate and row.references]
    skipped = {
        NO_CANDIDATE: sum(not row.candidate for row in rows),
        NO_REFERENCE: sum(bool(row.candidate) and not row.references for row in rows),
    }
    ours, theirs = [row.candidate for row in kept], [row.reference for row in kept]
    best = [best_rouge([rouge(row.candidate, text) for text in row.references]) for row in kept]
    ceilings = [found for row in kept if (found := human_ceiling(row.references)) is not None]
    cosines = [value for value in hash_cosines(ours, theirs) if value is not None]
    bert, bert_reason = _bert(ours, theirs, with_bert)
    return FieldSimilarity(
        field=field,
        n=len(kept),
        skipped={reason: count for reason, count in skipped.items() if count},
        rouge=mean_rouge([rouge(a, b) for a, b in zip(ours, theirs, strict=True)]),
        max_over_reviews=mean_rouge([found for found in best if found is not None]),
        ceiling=mean_rouge(ceilings),
        ceiling_n=len(ceilings),
        bleu=corpus_bleu(ours, theirs),
        hash_cosine=sum(cosines) / len(cosines) if cosines else None,
        bert=bert,
        bert_reason=bert_reason,
    )


def _bert(ours: Sequence[str], theirs: Sequence[str], wanted: bool) -> tuple[BertScore | None, str]:
    if not wanted:
        return None, "not asked for"
    if not bert_score_installed():
        return None, ABSENT
    found = bert_score(ours, theirs)
    return found, "" if found else "no paper has both texts"
