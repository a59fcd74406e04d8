"""``referee detect`` with the real embedded model, on short texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.needs import needs_model

from .command import Referee
from .detect_sets import reviews, saved

SMOLLM = "smollm2-135m"

pytestmark = [
    pytest.mark.local_model,
    needs_model(SMOLLM),
]


def test_from_reviews_to_a_verdict(referee: Referee, workplace: Path) -> None:
    saved(workplace / "cal.jsonl", reviews(5, 1, people=1))
    saved(workplace / "test.jsonl", reviews(2, 2, people=1))
    for name in ("cal", "test"):
        done = referee("detect", "score", f"{name}.jsonl", "--detectors", "loglik,llr,s5", "--out", name)
        assert done.code == 0, done.err
    first = json.loads((workplace / "cal" / "results.jsonl").read_text(encoding="utf-8").splitlines()[0])
    provider = first["details"]["models"]["provider"]
    assert (provider["name"], len(provider["sha256"]), provider["max_tokens"]) == (SMOLLM, 64, 512)
    assert provider["quantisation"].startswith("q4")
    assert provider["tokenizer"].startswith("gpt2/smollm")
    assert referee("detect", "calibrate", "cal", "--out", "cal.json", "--target-fpr", "0.2").code == 0
    done = referee("detect", "evaluate", "test", "--calibration", "cal.json", "--resamples", 20)
    assert done.code == 0, done.err
    assert "| s5" in done.out
    (workplace / "r.txt").write_text(str(reviews(1, 9)[0]["review"]), encoding="utf-8")
    done = referee("detect", "check", "r.txt", "--calibration", "cal.json", "--target-fpr", "0.2")
    assert done.code == 0, done.err
    assert "loglik: " in done.out
    assert "they add up to score less threshold" in done.out
