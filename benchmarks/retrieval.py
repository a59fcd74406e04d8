"""Whether the passage that answers a question is among the first six: the numbers behind docs/retrieval.md.

    python benchmarks/retrieval.py [FOLDER] [--top-k 6] [--misses]

Twenty questions over three papers, as a reviewer would ask them. A language model wrote them from reading the papers,
before the retriever was run for the first time, and they were not changed after. A question counts as answered when a
passage holds one of the answer's words, verbatim. The lexical baseline is BM25 (k1 = 1.2, b = 0.75) over the same
passages, headings included; the random one is the expected value of drawing passages without replacement.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.llm.catalogue import model_path
from referee.llm.embeddings import Embedder
from referee.papers import load_paper
from referee.retrieval import Child, Retriever, open_embedder, open_retriever

DEFAULT = Path(__file__).parents[2] / "shared" / "data" / "pdfs"
K1, B = 1.2, 0.75
S2ORC, OPENREVIEWER, DUAL_SCALE = (
    "acl2020_s2orc_two_column.pdf",
    "naacl2025_openreviewer_two_column.pdf",
    "ai_scientist_adaptive_dual_scale_denoising.pdf",
)


@dataclass(frozen=True)
class Question:
    """What a reviewer asks of a paper, and words of the passages that answer it, each of which suffices."""

    paper: str
    text: str
    answers: tuple[str, ...]


QUESTIONS = (
    Question(
        S2ORC,
        "How was the accuracy of matching bibliography entries to the works they cite checked, and on how many papers?",
        ("500 GROBID PDF parses and 100 LATEX parses",),
    ),
    Question(
        S2ORC,
        "Which files are thrown out before parsing because they are probably theses or slide decks?",
        ("have greater than 50 pages (more likely to be a dissertation or report)",),
    ),
    Question(
        S2ORC,
        "Why do articles in physics get so few of their citations resolved?",
        (
            "bibliography entries are formatted without paper titles",
            "math and physics venues (where bibliography entries do not include paper titles",
        ),
    ),
    Question(
        S2ORC,
        "What cut-off decides that a cited work has been identified, and what happens below it?",
        ("highest similarity score above 0.8 is output as the correct link",),
    ),
    Question(
        S2ORC,
        "Is the new language model compared with the earlier one over several random initialisations?",
        ("mean ± standard deviation of 5 runs with different random seeds",),
    ),
    Question(
        S2ORC,
        "How do the authors determine that the full text of a document may be distributed?",
        ("Open access status is assigned if a paper is derived from arXiv",),
    ),
    Question(S2ORC, "By what tool is the language of a document recognised?", ("cld2 tool for language detection",)),
    Question(
        OPENREVIEWER,
        "Could feedback from reviewers already be contained in the manuscripts the model was trained on?",
        ("downloading the earliest revision possible",),
    ),
    Question(
        OPENREVIEWER,
        "How much compute did fine-tuning take?",
        ("34 hours using 64 NVIDIA A100 80GB GPUs",),
    ),
    Question(
        OPENREVIEWER,
        "Why did no people judge the quality of the output?",
        ("expensive to obtain as, in our case, they would require annotators",),
    ),
    Question(
        OPENREVIEWER,
        "Is closeness to what people write a valid yardstick of how good a review is?",
        ("assumes that similarity to human reviews equals quality",),
    ),
    Question(
        OPENREVIEWER,
        "Does the system see a submission's supplementary material?",
        ("discard any appendix content",),
    ),
    Question(
        OPENREVIEWER,
        "How lenient are off-the-shelf chat models when they score papers?",
        (
            "average recommendations of 6.9 and higher",
            "average recommendations between 6.9 and 8.1",
            "Llama-3.1-8B-Instruct | 8.1 ± 1.4",
        ),
    ),
    Question(
        OPENREVIEWER,
        "Would it work for papers from biology or the humanities?",
        (
            "training data comes primarily from ML/AI venues, potentially limiting",
            "the limited domain focus on machine learning and AI",
        ),
    ),
    Question(
        DUAL_SCALE,
        "How much slower is training than with the plain model?",
        (
            "from an average of 36.97 seconds for the baseline to 75.19 seconds",
            "with training times approximately doubling",
            "Baseline | Circle | 0.354 | 37.42",
        ),
    ),
    Question(
        DUAL_SCALE,
        "Were learning rate and batch size searched fairly for all variants?",
        ("these hyperparameters were not extensively tuned",),
    ),
    Question(
        DUAL_SCALE,
        "How is the distance between the generated and the true distribution estimated?",
        ("Estimated using k-nearest neighbor method",),
    ),
    Question(
        DUAL_SCALE,
        "On which data does the proposed model do worse than what it is compared with?",
        ("Moons: 3.3% improvement (from 0.090 to 0.093)", "Improved Weight Network | Moons | 0.093"),
    ),
    Question(
        DUAL_SCALE,
        "Over how many random seeds are the results averaged?",
        ("single NVIDIA V100 GPU with a fixed random seed",),
    ),
    Question(
        DUAL_SCALE,
        "How does the second branch get an input with more dimensions than the data have?",
        ("is implemented as a learnable linear transformation", "Upscaling operation: Learnable linear transformation"),
    ),
)


class Bm25:
    """Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", over lower-cased words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._counts = [Counter(_words(text)) for text in texts]
        self._mean = statistics.fmean(counts.total() for counts in self._counts)
        self._document_counts = Counter(word for counts in self._counts for word in counts)

    def rank(self, query: str) -> list[int]:
        """All texts, the best first; equal scores in reading order."""
        scores = [sum(self._score(word, counts) for word in _words(query)) for counts in self._counts]
        return sorted(range(len(scores)), key=lambda index: -scores[index])

    def _score(self, word: str, counts: Counter[str]) -> float:
        holding = self._document_counts[word]
        weight = math.log(1 + (len(self._counts) - holding + 0.5) / (holding + 0.5))
        length = K1 * (1 - B + B * counts.total() / self._mean)
        return weight * counts[word] * (K1 + 1) / (counts[word] + length)


@dataclass
class Found:
    """Ranks of the first passage that answers (from 1, or None) per method, and how many passages answer."""

    question: Question
    passages: int
    embedder: int | None
    lexical: int | None
    right: int


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--top-k", type=int, default=6)
    parser.add_argument("--misses", action="store_true", help="print the questions whose passage was not found")
    args = parser.parse_args()
    if model_path("minilm") is None:
        sys.stderr.write("the embedding model is not here: referee models fetch minilm\n")
        return 2
    embedder = await open_embedder("local")
    start = time.perf_counter()
    await embedder.embed(["warm up"])
    print(f"loading the embedder: {time.perf_counter() - start:.2f} s\n")
    print("| paper | passages | parents | indexing s | reopening s | query ms (median) |\n| --- " + "| ---: " * 5 + "|")
    found = [one for name in (S2ORC, OPENREVIEWER, DUAL_SCALE) for one in await _paper(args.folder / name, embedder)]
    _report(found, args.top_k, args.misses)
    return 0


async def _paper(path: Path, embedder: Embedder) -> list[Found]:
    paper = load_paper(path)
    questions = [question for question in QUESTIONS if question.paper == path.name]
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        _share_models(cache)
        start = time.perf_counter()
        await (await open_retriever(paper, embedder, cache_dir=cache)).close()
        indexed = time.perf_counter() - start
        start = time.perf_counter()
        async with await open_retriever(paper, embedder, cache_dir=cache) as retriever:
            reopened = time.perf_counter() - start
            found, times = await _ask(retriever, questions)
            sizes = f"{len(retriever.chunks.children)} | {len(retriever.chunks.parents)}"
    print(f"| {path.stem} | {sizes} | {indexed:.2f} | {reopened:.2f} | {1000 * statistics.median(times):.1f} |")
    return found


def _share_models(cache: Path) -> None:
    """The index is made in a folder of its own, the model stays where it is."""
    fetched = model_path("minilm")
    assert fetched is not None
    (cache / "models").symlink_to(fetched.parent, target_is_directory=True)


async def _ask(retriever: Retriever, questions: Sequence[Question]) -> tuple[list[Found], list[float]]:
    children = retriever.chunks.children
    lexical = Bm25([child.embedded for child in children])
    found, times = [], []
    for question in questions:
        right = {child.id for child in children if _answers(child, question)}
        if not right:
            raise SystemExit(f"no passage of {question.paper} holds any of {question.answers}")
        start = time.perf_counter()
        await retriever.search(question.text)
        times.append(time.perf_counter() - start)
        ranked = await retriever.search(question.text, top_k=len(children))
        found.append(
            Found(
                question,
                len(children),
                _first_rank([passage.id for passage in ranked], right),
                _first_rank([children[index].id for index in lexical.rank(question.text)], right),
                len(right),
            )
        )
    return found, times


def _answers(child: Child, question: Question) -> bool:
    text = " ".join(child.text.split())
    return any(answer in text for answer in question.answers)


def _first_rank(ranked: Sequence[str], right: set[str]) -> int | None:
    return next((rank for rank, key in enumerate(ranked, start=1) if key in right), None)


def _report(found: Sequence[Found], top_k: int, misses: bool) -> None:
    random = statistics.fmean(
        1 - math.comb(one.passages - one.right, top_k) / math.comb(one.passages, top_k) for one in found
    )
    print(f"\n{len(found)} questions\n\n| | recall@1 | recall@{top_k} | mean reciprocal rank |")
    print("| --- | ---: | ---: | ---: |")
    for label, ranks in (("embedder", [o.embedder for o in found]), ("lexical", [o.lexical for o in found])):
        known = [rank if rank is not None else math.inf for rank in ranks]
        print(
            f"| {label} | {statistics.fmean(rank <= 1 for rank in known):.2f} "
            f"| {statistics.fmean(rank <= top_k for rank in known):.2f} "
            f"| {statistics.fmean(1 / rank for rank in known):.2f} |"
        )
    print(f"| random | | {random:.2f} | |")
    for one in found if misses else ():
        if (one.embedder or math.inf) > top_k or (one.lexical or math.inf) > top_k:
            print(f"\nembedder {one.embedder}, lexical {one.lexical} of {one.passages}: {one.question.text}", end="")
    print()


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
