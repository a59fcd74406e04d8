"""The papers of a plan: found by file, named by their stem, each in one split, with the human reviews of it.

A planted paper is a pair: the copy with errors in it and its clean twin, under one name.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from pathlib import Path
from typing import Literal

from referee.data import ReadingNotes, RejectedSink, read_cases, rejected_text
from referee.data.papers import file_name
from referee.data.planted import CLEAN, KEYS, MAKE_COPIES, PLANTED, read_key, twin_path
from referee.errors import DataError, SettingsError
from referee.experiments.plan import Splits
from referee.experiments.plan_file import LoadedPlan, nearest
from referee.papers import SUPPORTED
from referee.schemas.case import ReviewCase
from referee.schemas.paper import Paper

Split = Literal["development", "test"]
SPLITS: tuple[Split, ...] = ("development", "test")
SAME_SHARE = 0.6
"""Of the shorter paper's runs of words, from which on two papers are the same."""
_MOST_LOOKED_AT = 100_000
_FILES_HINT = f"Give files, folders or patterns of files that can be read: {', '.join(SUPPORTED)}."


@dataclass(frozen=True)
class PlanPaper:
    """A file of the plan. ``name`` is its stem and stands in every table; ``digest`` is that of its bytes.

    ``clean`` is the twin of a planted copy, with its digest.
    """

    name: str
    path: Path
    digest: str
    split: Split = "development"
    clean: Path | None = None
    clean_digest: str = ""

    @property
    def copies(self) -> dict[str, Path]:
        """The files to be reviewed: by ``planted`` and ``clean``, or the one paper under no name."""
        return {PLANTED: self.path, CLEAN: self.clean} if self.clean else {"": self.path}

    @property
    def digests(self) -> dict[str, str]:
        """The digests of all its files, by a name for each."""
        return {self.name: self.digest} | ({f"{self.name} ({CLEAN})": self.clean_digest} if self.clean else {})


def find_papers(loaded: LoadedPlan) -> tuple[PlanPaper, ...]:
    """The papers by name, each with its split.

    Raises:
        DataError: A file or pattern finds nothing, two files have one name, two hold the same paper, or a planted
            paper lacks its twin or its key, or does not fit it.
        SettingsError: The plan names no file, or files beside planted papers, or its splits contradict it.
    """
    if loaded.plan.papers.planted:
        return _planted_papers(loaded, loaded.path(loaded.plan.papers.planted))
    if not loaded.plan.papers.files:
        raise SettingsError("the plan names no paper.", hint="List them under [papers] files, or give --papers.")
    files = {path.absolute(): path for text in loaded.plan.papers.files for path in _files(loaded, text)}
    by_name: dict[str, PlanPaper] = {}
    by_digest: dict[str, PlanPaper] = {}
    for path in files.values():
        paper = PlanPaper(file_name(_stem(path) or path.name), path, _digest(path))
        for taken in (by_name.get(paper.name), by_digest.get(paper.digest)):
            if taken is not None:
                what = "have one name" if taken.name == paper.name else "hold the same paper"
                raise DataError(f"{str(taken.path)!r} and {str(path)!r} {what}.", hint="Keep one, or rename one.")
        by_name[paper.name] = by_digest[paper.digest] = paper
    return tuple(_split(sorted(by_name.values(), key=lambda paper: paper.name), loaded.plan.splits))


def halved(papers: Sequence[PlanPaper]) -> tuple[PlanPaper, ...]:
    """The papers of a plan that names no split, in two halves by their digests; an odd one is for development.

    Neither names nor scores decide. A paper that is added later can move one other to the other half.
    """
    in_order = sorted(papers, key=lambda paper: hashlib.sha256(f"split {paper.digest}".encode()).hexdigest())
    test = {paper.name for paper in in_order[(len(papers) + 1) // 2 :]}
    return tuple(replace(paper, split="test" if paper.name in test else "development") for paper in papers)


def _planted_papers(loaded: LoadedPlan, folder: Path) -> tuple[PlanPaper, ...]:
    if loaded.plan.papers.files:
        raise SettingsError(
            "the plan names files beside a folder of planted papers.",
            hint="Leave [papers] files (or --paper) away, or planted (or --planted).",
        )
    copies = sorted((folder / PLANTED).glob("*.md")) if (folder / PLANTED).is_dir() else []
    if not copies:
        raise DataError(f"{str(folder)!r} holds no planted paper ({PLANTED}/*.md).", hint=MAKE_COPIES)
    return tuple(_split([_pair(folder, path) for path in copies], loaded.plan.splits))


def _pair(folder: Path, path: Path) -> PlanPaper:
    """A planted copy with its twin, held to its key."""
    clean = twin_path(folder, path.stem, CLEAN)
    read_key(folder / KEYS / f"{path.stem}.json", folder)
    return PlanPaper(path.stem, path, _digest(path), clean=clean, clean_digest=_digest(clean))


def link_papers(folder: Path, papers: Iterable[PlanPaper]) -> None:
    """Fill a folder with links to papers, named as reviews name them: by name, copies of planted ones by digest."""
    for paper in papers:
        names = {paper.digest: paper.path, paper.clean_digest: paper.clean} if paper.clean else {paper.name: paper.path}
        for name, path in names.items():
            if path is not None:
                (folder / f"{name}{''.join(path.suffixes[-2:])}").symlink_to(path.absolute())


def read_references(
    path: Path | None, papers: Sequence[PlanPaper]
) -> tuple[dict[str, tuple[ReviewCase, ...]], tuple[str, ...]]:
    """The human reviews of each paper, under the paper's name, and what of the file was left out, in sentences.

    Reviews of other papers and of systems are left out. A review names its paper by the file's stem or by the digest of
    its bytes.

    Raises:
        DataError: The file cannot be read.
    """
    if path is None:
        return {}, ()
    sink, reading, others = RejectedSink(), ReadingNotes(), Counter[str]()
    names = {key: paper.name for paper in papers for key in (paper.name, paper.digest)}
    found: dict[str, list[ReviewCase]] = defaultdict(list)
    for case in read_cases(path, rejected=sink, notes=reading):
        name = names.get(case.paper_id) or names.get(file_name(case.paper_id))
        if name is None:
            others["of papers that are not in the plan"] += 1
        elif case.kind != "human":
            others["not said to be a human's"] += 1
        else:
            reading.add(case)
            found[name].append(case.model_copy(update={"paper_id": name, "origin": None}))
    notes = [f"{rejected_text(sink.by_source)}; the log names each"] if sink.count else []
    notes += [f"{count:,} review(s) are {what} and are left out" for what, count in others.items()]
    told = tuple(f"of the human reviews in {path.name!r}: {note}" for note in (*notes, *reading.notes()))
    return {name: tuple(cases) for name, cases in found.items()}, told


def of_split(papers: Iterable[PlanPaper], split: Split) -> tuple[PlanPaper, ...]:
    """The papers of one split.

    Raises:
        SettingsError: There are none.
    """
    chosen = tuple(paper for paper in papers if paper.split == split)
    if not chosen:
        hint = (
            "Add papers (without [splits] half of them are for it), or name some under [splits] test."
            if split == "test"
            else "Keep some for it."
        )
        raise SettingsError(f"the plan has no paper in its {split} split.", hint=hint)
    return chosen


def same_content(papers: Mapping[str, Paper]) -> tuple[str, str] | None:
    """The first two papers of which one holds most of the other, whatever their names, formats and bytes.

    Compared are runs of eight words of all that a reviewer reads: a copy with some sentences changed is the same paper,
    two papers of one group that share a paragraph are not.

    Source: Broder, "On the Resemblance and Containment of Documents", 1997.
    """
    runs = {name: _runs(paper) for name, paper in papers.items()}
    for first, second in combinations(runs, 2):
        least = min(len(runs[first]), len(runs[second]))
        if len(runs[first] & runs[second]) >= SAME_SHARE * least:
            return first, second
    return None


def _runs(paper: Paper) -> frozenset[int]:
    words = re.findall(r"\w+", " ".join(section.text for section in paper.content).casefold())
    return frozenset(zlib.crc32(" ".join(words[at : at + 8]).encode()) for at in range(max(1, len(words) - 7)))


def _files(loaded: LoadedPlan, text: str) -> Iterator[Path]:
    path = loaded.path(text)
    try:
        if path.is_file():
            yield path
            return
        looked_at = list(islice(_entries(loaded, path, text), _MOST_LOOKED_AT))
        found = [inner for inner in looked_at if _is_paper(inner)]
    except (OSError, ValueError, NotImplementedError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"the papers {text!r} of the plan cannot be looked for: {reason}.", hint=_FILES_HINT) from error
    if len(looked_at) == _MOST_LOOKED_AT:
        raise DataError(f"{text!r} of the plan leads to {_MOST_LOOKED_AT:,} files or more.", hint=_FILES_HINT)
    if not found:
        raise DataError(
            f"no paper is found by {text!r} beside {str(loaded.folder)!r}.",
            hint=_FILES_HINT,
        )
    yield from sorted(found)


def _entries(loaded: LoadedPlan, path: Path, text: str) -> Iterator[Path]:
    """What lies in a folder, or fits a pattern."""
    if path.is_dir():
        yield from path.iterdir()
        return
    parts = Path(text).parts
    fixed = next((n for n, part in enumerate(parts) if any(c in part for c in "*?[")), len(parts))
    root = loaded.folder.joinpath(*parts[:fixed])
    pattern = "/".join(parts[fixed:])
    if pattern and root.is_dir():
        yield from root.glob(pattern)


def _is_paper(path: Path) -> bool:
    return path.is_file() and not path.name.startswith(".") and bool(_stem(path)) and _stem(path).lower() != "readme"


def _stem(path: Path) -> str:
    suffix = max((s for s in SUPPORTED if path.name.lower().endswith(s)), key=len, default="")
    return path.name[: -len(suffix)] if suffix else ""


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be read: {error.strerror or error}.", hint="Mend its rights.") from error


def _split(papers: Sequence[PlanPaper], splits: Splits) -> Iterator[PlanPaper]:
    names = [paper.name for paper in papers]
    for name in (*splits.development, *splits.test):
        if name not in names:
            raise SettingsError(f"the splits name {name!r}, which is no paper of the plan.", hint=nearest(name, names))
    listed = bool(splits.development or splits.test)
    if listed and splits.test_share is not None:
        raise SettingsError("papers are split by lists or by test_share, not both.", hint="Remove one of the two.")
    if both := sorted(set(splits.development) & set(splits.test)):
        raise SettingsError(f"paper {both[0]!r} is in both splits.", hint="Keep it in one.")
    for paper in papers:
        yield replace(paper, split="test" if _is_test(paper, splits) else "development")


def _is_test(paper: PlanPaper, splits: Splits) -> bool:
    if splits.test_share is not None:
        place = int(hashlib.sha256(f"split {paper.digest}".encode()).hexdigest()[:12], 16) / 16**12
        return place < splits.test_share
    if splits.development and splits.test and paper.name not in (*splits.development, *splits.test):
        raise SettingsError(f"paper {paper.name!r} is in neither split.", hint="Name it in one, or give one list.")
    if splits.test:
        return paper.name in splits.test
    return bool(splits.development) and paper.name not in splits.development
