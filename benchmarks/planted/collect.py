"""Keep what a run of an arm left: its review, its calls, and every answer by its question's digest.

    python benchmarks/planted/collect.py PAPER ARM RUN BOX

RUN is the run folder, BOX the folder of ``answers:BOX`` (``NNNN.key`` with a question's digest beside
``NNNN.answer.txt``). Written are ``reviews/PAPER-ARM.json``, ``calls/PAPER-ARM.json`` and lines of
``answers/PAPER.jsonl``; an answer that is there stays.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from referee.llm.tokens import count_tokens

HERE = Path(__file__).parent


def calls(run: Path, box: Path) -> list[dict[str, Any]]:
    """Each answered call: prompt, tokens that all calls of the run begin with, other tokens in (its reply's schema
    among them), tokens out.
    """
    asked = [path.read_text(encoding="utf-8") for path in sorted(box.glob("*.ask.md"))]
    records = [json.loads(line) for line in (run / "trace.jsonl").read_text(encoding="utf-8").splitlines()]
    # A run that was started again writes calls that were under way once more, under their old ids.
    answered = list({record["call_id"]: record for record in records if record["status"] == "answered"}.values())
    texts = ["".join(text for _, text in record["messages"]) for record in answered]
    shared = len(os.path.commonprefix(texts)) if len(texts) > 1 else 0  # noqa: RUF071 (characters are meant)
    rows = []
    for record, text in zip(answered, texts, strict=True):
        rows.append(
            {
                "prompt": record["prompt"],
                "role": record["role"],
                "repair": record.get("repair_round", 0),
                "shared_tokens": count_tokens(text[:shared]),
                "own_tokens": count_tokens(text[shared:]) + _schema_tokens(record["messages"][-1][1], asked),
                "output_tokens": count_tokens(record["reply"] or ""),
            }
        )
    return rows


def answers(box: Path) -> dict[str, str]:
    """Question's digest to answer."""
    return {
        key.read_text(encoding="utf-8").split()[0]: key.with_name(f"{key.stem}.answer.txt").read_text(encoding="utf-8")
        for key in sorted(box.glob("*.key"))
        if key.with_name(f"{key.stem}.answer.txt").is_file()
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paper")
    parser.add_argument("arm")
    parser.add_argument("run", type=Path)
    parser.add_argument("box", type=Path)
    args = parser.parse_args()
    for name in ("reviews", "calls", "answers"):
        (HERE / name).mkdir(exist_ok=True)
    review = json.loads((args.run / "review.json").read_text(encoding="utf-8"))
    _write(HERE / "reviews" / f"{args.paper}-{args.arm}.json", review)
    _write(HERE / "calls" / f"{args.paper}-{args.arm}.json", calls(args.run, args.box))
    kept = HERE / "answers" / f"{args.paper}.jsonl"
    known = (
        {json.loads(line)["question"] for line in kept.read_text(encoding="utf-8").splitlines()}
        if kept.is_file()
        else set()
    )
    with kept.open("a", encoding="utf-8") as out:
        for question, answer in answers(args.box).items():
            if question not in known:
                out.write(json.dumps({"question": question, "answer": answer}, ensure_ascii=False) + "\n")
    return 0


def _schema_tokens(message: str, asked: list[str]) -> int:
    """Tokens of the schema that stands below a message in the request that held it."""
    held = next((text for text in asked if message.rstrip() in text), "")
    schema = held.rpartition("```json\n")[2].partition("\n```")[0]
    return count_tokens(json.dumps(json.loads(schema), separators=(",", ":"))) if schema else 0


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
