"""Check the labels of the lies: each sentence once in its file, the counts, and the papers where they are at hand.

    python benchmarks/lies/check.py [FOLDER]

FOLDER holds the papers (default: ``../shared/data`` beside the checkout). Exits with 1 and a line for each fault.
"""

import hashlib
import json
import re
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
FIELDS = {"paper", "file", "sentence", "true", "kind", "refutable", "place"}


def words_outside(text: str, sentences: list[str]) -> str:
    """The text without its headings, list marks and these sentences."""
    text = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
    for sentence in sorted(sentences, key=len, reverse=True):
        text = text.replace(sentence, "", 1)
    return re.sub(r"^(?:\*|-|\d+\.)\s", "", text, flags=re.MULTILINE)


def faults(folder: Path) -> list[str]:
    """All faults of the labels, as lines; empty if there are none."""
    found: list[str] = []
    papers = {row["paper"]: row for row in json.loads((HERE / "papers.json").read_text(encoding="utf-8"))}
    rows = [json.loads(line) for line in (HERE / "key.jsonl").read_text(encoding="utf-8").splitlines()]
    for number, row in enumerate(rows, start=1):
        if missing := FIELDS - row.keys():
            found.append(f"key.jsonl:{number}: no {', '.join(sorted(missing))}")
            continue
        text = (HERE / row["file"]).read_text(encoding="utf-8")
        if (times := text.count(row["sentence"])) != 1:
            found.append(f"key.jsonl:{number}: the sentence stands {times} times in {row['file']}")
        if row["paper"] not in papers:
            found.append(f"key.jsonl:{number}: {row['paper']!r} is not in papers.json")
        if row["true"] != row["file"].endswith(".true.md"):
            found.append(f"key.jsonl:{number}: a sentence with true={row['true']} is labelled in {row['file']}")
        if row["refutable"] and (row["true"] or not row["place"] or not row.get("change")):
            found.append(f"key.jsonl:{number}: refutable needs a lie, its place and what was changed")
        if row["kind"] == "two_values" and row["true"] and len(row.get("values", [])) < 2:
            found.append(f"key.jsonl:{number}: two_values without two values")
    for name, paper in papers.items():
        here = [row for row in rows if row["paper"] == name]
        true = [row["sentence"] for row in here if row["true"]]
        lies = [row["sentence"] for row in here if not row["true"]]
        if len(lies) != 20:
            found.append(f"{name}: {len(lies)} lies, not 20")
        for file, sentences in ((f"reviews/{name}.true.md", true), (f"reviews/{name}.lies.md", lies + true)):
            left = words_outside((HERE / file).read_text(encoding="utf-8"), sentences)
            for line in left.splitlines():
                if re.search(r"\w", line) and not re.fullmatch(r"\s*(?:\*\*[^*]+\*\*\s*)+|[^.?!]+", line):
                    found.append(f"{file}: no label for {line.strip()!r}")
        pdf = folder / paper["path"]
        if pdf.exists() and hashlib.sha256(pdf.read_bytes()).hexdigest() != paper["sha256"]:
            found.append(f"papers.json: {pdf} is another file than the one labelled")
    return found


def main() -> int:
    """Print the counts and the faults."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parents[2] / "shared" / "data"
    found = faults(folder)
    rows = [json.loads(line) for line in (HERE / "key.jsonl").read_text(encoding="utf-8").splitlines()]
    for true in (True, False):
        kinds = Counter(row["kind"] for row in rows if row["true"] is true)
        print("true" if true else "lies", kinds.total(), dict(kinds.most_common()))
    print("refutable", sum(row["refutable"] for row in rows))
    print("true with two or more values", sum(row["true"] and len(row.get("values", [])) > 1 for row in rows))
    print("\n".join(found) or "no faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
