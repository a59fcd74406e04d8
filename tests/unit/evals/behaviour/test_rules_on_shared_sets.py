"""Atomic items and coverage by rules, on every shared set of reviews."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest

from referee.data import read_cases
from referee.evals.behaviour.atomic import atomic_items, matched_pairs
from referee.evals.behaviour.coverage_matrix import chance_pairs, rule_matrices
from referee.evals.behaviour.fidelity import fidelity

NOT_REVIEWS = {"disapere_sentence_labels.jsonl", "revutil_points.jsonl", "marg_iclr_comments_aligned.jsonl"}
MAPPED = {
    "substanreview_spans.jsonl": (
        '[case]\ncase_id = "id"\npaper_id = "id"\ntext = "review"\n[constants]\nsource = "human"\nkind = "human"\n'
    )
}
PAIRED = {"agents4science2025_reviews.jsonl", "marg_iclr_comment_lists.jsonl", "api_v2_agents4science2025"}
FOLDERS = ("papers", "paired", "ai_only", "human_only", "labelled", "openreview_raw")


def sets_of(data: Path) -> list[Path]:
    return sorted(
        path
        for folder in FOLDERS
        for path in (data / folder).iterdir()
        if (path.is_dir() or path.suffix == ".jsonl") and path.name not in NOT_REVIEWS
    )


@pytest.mark.slow
@pytest.mark.shared_data
def test_every_set_has_items_by_rules_in_the_reviews_own_words_and_coverage_where_both_sides_are(
    shared_data: Path, tmp_path: Path
) -> None:
    covered = set()
    for path in sets_of(shared_data):
        mapping = tmp_path / f"{path.stem}.toml"
        if path.name in MAPPED:
            mapping.write_text(MAPPED[path.name], encoding="utf-8")
        cases = list(read_cases(path, mapping=mapping if path.name in MAPPED else None))
        items = {case.case_id: atomic_items(case) for case in cases}
        with_items = sum(bool(one.all) for one in items.values())
        assert with_items >= 0.97 * len(cases), path.name
        assert all(fidelity(one).rouge_l == 1 for one in list(items.values())[::25] if one.all), path.name
        ordered = sorted(cases, key=lambda case: case.paper_id)
        pairs = [
            pair
            for _, of_paper in groupby(ordered, key=lambda case: case.paper_id)
            for pair in matched_pairs([(case, items[case.case_id]) for case in of_paper])
        ]
        own = [rule_matrices(pair) for pair in pairs]
        chance = [rule_matrices(pair) for pair in chance_pairs(pairs, seed=0).pairs]
        if own:
            covered.add(path.name)
            recall, by_chance = (
                [c.recall for one in side if (c := one.coverage("weaknesses")) is not None and c.recall is not None]
                for side in (own, chance)
            )
            assert sum(recall) / len(recall) > sum(by_chance) / len(by_chance), path.name
    assert covered == PAIRED
