"""Review sets and stand-in metrics for ``referee eval`` on the command line."""

from __future__ import annotations

import json
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from referee.evals import registry
from referee.evals.judging import silence, total_usage
from referee.evals.metric import Context, Need, Quantity, failed, not_applicable, scored
from referee.prompts import RenderedPrompt
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult


class Verdict(BaseModel):
    """What a judge says of a review."""

    reason: str
    score: int


class Tone(Quantity):
    """One question a judge and repeat; the value is the mean score."""

    name, better = "tone", "higher"
    prompts: tuple[str, ...] = ()
    needs: frozenset[Need] = frozenset({"judge"})

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        if not case.text.strip():
            return not_applicable(self, case, "the review is empty")
        assert context.panel is not None
        prompt = RenderedPrompt("my/tone", "v1", "0", "Judge the tone.", f"<review>\n{case.text}\n</review>")
        said = await context.panel.ask(prompt, Verdict, max_output_tokens=60, unit=case.case_id)
        judges = [one.score(one.value.score if one.value else None) for one in said]
        if why := silence(said):
            return failed(self, case, why, judges=judges, usage=total_usage(said))
        return scored(self, case, _mean(judges), judges=judges, usage=total_usage(said))

    def rescore(self, stored: MetricResult) -> MetricResult:
        return stored.model_copy(update={"value": _mean(stored.judges)})


class NeedsPaper(Tone):
    """Counts the sections of the paper."""

    name = "sections"
    needs: frozenset[Need] = frozenset({"paper"})

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        assert context.paper is not None
        return scored(self, case, float(len(list(context.paper.content))))

    def rescore(self, stored: MetricResult) -> MetricResult:
        return stored


def _mean(judges: Any) -> float:
    values = [one.value for one in judges if one.value is not None]
    return sum(values) / len(values)


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the metrics as those of another package."""
    points = [EntryPoint("tone", "eval_sets_metrics:Tone", registry.GROUP)]
    points.append(EntryPoint("sections", "eval_sets_metrics:NeedsPaper", registry.GROUP))
    monkeypatch.setitem(sys.modules, "eval_sets_metrics", SimpleNamespace(Tone=Tone, NeedsPaper=NeedsPaper))
    monkeypatch.setattr(registry, "_others", lambda: {point.name: point for point in points})


def review(case_id: str, paper_id: str, source: str, text: str, **more: Any) -> dict[str, Any]:
    kind = "human" if source == "human" else "ai"
    return {"case_id": case_id, "paper_id": paper_id, "source": source, "kind": kind, "text": text} | more


def write_set(path: Path, papers: int = 4, *extra: object) -> Path:
    """Two systems and two humans on each paper, then further lines as they are."""
    rows: list[object] = []
    for number in range(papers):
        paper = f"p{number}"
        rows += [review(f"{paper}-{who}", paper, who, f"{who} finds {paper} sound.") for who in ("gpt", "marg")]
        rows += [review(f"{paper}-h{n}", paper, "human", f"Reviewer {n} finds {paper} sound.") for n in (1, 2)]
    lines = [row if isinstance(row, str) else json.dumps(row) for row in (*rows, *extra)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
