"""Quotation matching on real papers: time, what is found, and what is accepted that should not be.

    python benchmarks/quotations.py [FOLDER] [--sentences 60] [--seed 0]

For every paper of the folder, sentences of it are looked up as they stand, with typing errors, with one digit changed
and with one sign or relation turned; and sentences of the next paper are looked up in it. Two papers may share a
sentence word for word, so what is accepted there is printed for reading.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from referee.errors import PaperParseError
from referee.evidence import NotFound, QuotationIndex, QuoteMatch
from referee.papers import load_paper
from referee.schemas import Paper

DEFAULT = Path(__file__).parents[2] / "shared" / "data" / "pdfs"
TURNED = str.maketrans("+-−<>≤≥=", "-++><≥≤≠")
Variant = Callable[[str, random.Random], str | None]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--sentences", type=int, default=60, help="sentences a paper, at random")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    papers = list(readable(args.folder))
    if len(papers) < 2:
        sys.stderr.write(f"fewer than two readable papers in {str(args.folder)!r}\n")
        return 2
    rng = random.Random(args.seed)
    indexes = [timed_index(name, paper) for name, paper in papers]
    quotes = [rng.sample(found, min(args.sentences, len(found))) for _, p in papers for found in [list(sentences(p))]]
    variants: list[tuple[str, Variant]] = [
        ("as it stands", lambda quote, _: quote),
        ("typing errors, 1 letter in 25", typing_errors),
        ("one digit changed", digit_changed),
        ("one sign turned", sign_turned),
    ]
    print(
        "\n| looked up | n | exact | similar | not found | median ms | p95 ms | max ms |\n"
        + "| --- "
        + "| ---: " * 7
        + "|"
    )
    for label, vary in variants:
        own = [(i, v) for i, s in enumerate(quotes) for q in s if (v := vary(q, rng)) is not None]
        report(label, indexes, own)
    foreign = [(i, quote) for i in range(len(papers)) for quote in quotes[(i + 1) % len(papers)]]
    for match in report("sentence of another paper", indexes, foreign):
        print(f"  accepted ({match.status}, {match.similarity:.2f}): {match.quote[:160]}")
    return 0


def readable(folder: Path) -> Iterator[tuple[str, Paper]]:
    for path in sorted(folder.glob("*")):
        try:
            yield path.name, load_paper(path)
        except PaperParseError as error:
            sys.stderr.write(f"left out: {error}\n")


def timed_index(name: str, paper: Paper) -> QuotationIndex:
    started = time.perf_counter()
    index = QuotationIndex(paper)
    seconds = time.perf_counter() - started
    print(
        f"{name}: {sum(len(block.text) for _, block in paper.blocks()):,} characters, index in {seconds * 1e3:.0f} ms"
    )
    return index


def sentences(paper: Paper) -> Iterator[str]:
    """Sentences of 8 to 60 words from the sections a reviewer reads."""
    for section in paper.content:
        for block in section.blocks:
            if block.kind in ("paragraph", "list"):
                yield from (s for s in re.split(r"(?<=[.!?])\s+(?=[A-Z])", block.text) if 8 <= len(s.split()) <= 60)


def typing_errors(quote: str, rng: random.Random) -> str | None:
    letters = [i for i, char in enumerate(quote) if char.islower()]
    characters = list(quote)
    for i in rng.sample(letters, len(letters) // 25 or 1):
        characters[i] = rng.choice("abcdefghijklmnopqrstuvwxyz")
    return "".join(characters)


def digit_changed(quote: str, rng: random.Random) -> str | None:
    digits = [match.start() for match in re.finditer("[0-9]", quote)]
    if not digits:
        return None
    at = rng.choice(digits)
    return f"{quote[:at]}{(int(quote[at]) + rng.randint(1, 9)) % 10}{quote[at + 1 :]}"


def sign_turned(quote: str, rng: random.Random) -> str | None:
    signs = [m.start() for m in re.finditer(r"[+<>≤≥=]|(?<![\w])[-−](?=\d)", quote)]
    if not signs:
        return None
    at = rng.choice(signs)
    return quote[:at] + quote[at].translate(TURNED) + quote[at + 1 :]


def report(label: str, indexes: list[QuotationIndex], quotes: list[tuple[int, str]]) -> list[QuoteMatch]:
    """Print one row; return what was accepted."""
    found: list[QuoteMatch | NotFound] = []
    times: list[float] = []
    for i, quote in quotes:
        started = time.perf_counter()
        found.append(indexes[i].find(quote))
        times.append((time.perf_counter() - started) * 1e3)
    kept = [match for match in found if isinstance(match, QuoteMatch)]
    exact = sum(match.status == "exact" for match in kept)
    if not times:
        print(f"| {label} | 0 | | | | | | |")
        return []
    p95 = sorted(times)[int(0.95 * (len(times) - 1))]
    print(
        f"| {label} | {len(found)} | {exact} | {len(kept) - exact} | {len(found) - len(kept)} "
        f"| {statistics.median(times):.2f} | {p95:.2f} | {max(times):.2f} |"
    )
    return list(islice(kept, 20))


if __name__ == "__main__":
    sys.exit(main())
