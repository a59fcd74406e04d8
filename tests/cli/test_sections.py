"""``referee review --strategy sections`` on papers and replies that go wrong, and on every paper there is."""

from __future__ import annotations

import asyncio
import json
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from referee import RunOptions
from referee.agents.parts import content_parts
from referee.api import load_paper, review
from referee.evidence import split_sentences
from referee.schemas.paper import Paper
from tests.options import with_options
from tests.support import ChatRequest, FakeServer

from .command import Referee
from .section_runs import comparable, one_line, part_by_part, quoting, reviewed, ruling, sections_sent, sound

SENTENCES = (
    "We train model {n} on {n} groups of items and report its mean error.",
    "The baseline of group {n} was tuned on the same {n} documents as ours.",
    "In setting {n} the interval is wider than in the one before it.",
)


def prose(words: int, start: int = 0) -> str:
    """Paragraphs of three sentences, no two alike."""
    paragraphs, count, n = [], 0, start
    while count < words:
        n += 1
        paragraphs.append(" ".join(sentence.format(n=n) for sentence in SENTENCES))
        count += len(paragraphs[-1].split())
    return "\n\n".join(paragraphs)


def written(text: str, name: str = "paper.md") -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def server_(server: FakeServer) -> FakeServer:
    server.script.entries |= {"writer": quoting, "checker": ruling(refuted=False)}
    return server


def all_was_sent(paper: Paper, sent: str, parts: int | None = None) -> None:
    """Every sentence of every content part stood in a prompt of a reader."""
    whole = content_parts(paper)
    assert parts is None or len(whole) == parts
    for part in whole:
        for block in part.blocks:
            for sentence in split_sentences(block.text):
                lines = (comparable(line) for line in sentence.split("\n"))
                assert all(line in sent for line in lines), (part.heading, sentence)


def calls(server: FakeServer, prompt: str) -> int:
    return sum(entry.prompt_id.startswith(prompt) for entry in server.log.calls(endpoint="chat"))


def test_a_paper_without_headings_is_cut_into_parts_and_it_is_said(referee: Referee, server_: FakeServer) -> None:
    paper = written(prose(4000), "plain.txt")
    done = reviewed(referee, server_, paper, "neurips-2025", Path("run"))
    assert done.code == 0, done.err
    made = sound(Path("run"))
    assert any(finding.kind == "no_headings" for finding in made.findings)
    assert "heading" in done.out, done.out
    assert calls(server_, "review/section") == 3
    assert "the paper has no headings; cut at paragraph borders" in sections_sent(server_.log)
    all_was_sent(load_paper(paper), sections_sent(server_.log))


@pytest.mark.slow
def test_a_section_of_15000_words_is_read_whole_in_pieces(referee: Referee, server_: FakeServer) -> None:
    sections = f"## 1 Method\n\n{prose(15_000)}\n\n## 2 Results\n\n{prose(300, 9000)}\n"
    text = f"# A long one\n\n## Abstract\n\n{prose(60)}\n\n{sections}"
    paper = written(text)
    done = reviewed(referee, server_, paper, "neurips-2025", Path("run"))
    assert done.code == 0, done.err
    made = sound(Path("run"))
    assert made.provenance is not None
    assert made.provenance.cuts == ()
    assert "piece 3 of" in sections_sent(server_.log)
    all_was_sent(load_paper(paper), sections_sent(server_.log), parts=2)


@pytest.mark.slow
def test_200_tiny_sections_are_joined(referee: Referee, server_: FakeServer) -> None:
    text = "# Many\n\n" + "\n\n".join(f"## {n} Part number {n}\n\n{prose(20, 10 * n)}" for n in range(1, 201))
    paper = written(text)
    done = reviewed(referee, server_, paper, "arr", Path("run"))
    assert done.code == 0, done.err
    sound(Path("run"))
    assert calls(server_, "review/section") <= 30
    all_was_sent(load_paper(paper), sections_sent(server_.log))


def test_a_paper_of_only_references_gets_a_review_that_says_so(referee: Referee, server_: FakeServer) -> None:
    entries = "\n\n".join(
        f"[{n}] A. Author and B. Author. On the topic {n}. Journal {n}, 20{n:02}." for n in range(1, 30)
    )
    done = reviewed(referee, server_, written(f"# Only\n\n## References\n\n{entries}\n"), "neurips-2025", Path("run"))
    assert calls(server_, "review/section") == 0
    assert done.code == 0, done.err
    made = sound(Path("run"))
    assert made.provenance is not None
    assert "the paper has no section to read" in made.provenance.notes
    assert "the paper has no section to read" in Path("run/review.md").read_text()
    assert made.rating is None


def test_two_papers_of_one_name_at_once_do_not_mix(workplace: Path, server_: FakeServer) -> None:
    papers = [
        written(f"# Of {w}\n\n## 1 {w.title()}\n\n{prose(300, n)}\n", f"{w}/paper.md")
        for w, n in (("one", 0), ("two", 5000))
    ]

    part_by_part()

    async def both() -> Any:
        jobs = (
            review(
                paper,
                venue="arr",
                strategy="sections",
                model="fake",
                embedder="fake",
                options=RunOptions(base_url=server_.base_url, cache=False),
            )
            for paper in papers
        )
        return await asyncio.gather(*jobs)

    first, second = asyncio.run(both())
    assert first.paper_id != second.paper_id
    folders = sorted(Path("referee-runs").iterdir())
    assert len(folders) == 2
    assert {sound(folder).paper_id for folder in folders} == {first.paper_id, second.paper_id}
    for done, paper in zip((first, second), papers, strict=True):
        text = one_line(paper.read_text())
        quotes = [e.quote for p in done.points for e in p.evidence if e.status != "not_found"]
        assert quotes
        assert all(one_line(quote) in text for quote in quotes)


def test_a_paper_in_another_language_is_reviewed(referee: Referee, server_: FakeServer) -> None:
    satz = "Wir prüfen im Versuch {n}, ob die Größe des Fehlers für {n} Gruppen unterschätzt wird."
    zh = "我们在第{n}组实验中比较两种方法的误差，并报告平均值。"
    german = "\n\n".join(satz.format(n=n) + " " + satz.format(n=n + 500) for n in range(1, 40))
    chinese = "\n\n".join(zh.format(n=n) * 3 for n in range(1, 60))
    paper = written(
        f"# Über Fehler\n\n## Zusammenfassung\n\n{satz}\n\n## 1 Einleitung\n\n{german}\n\n## 2 方法\n\n{chinese}\n"
    )
    done = reviewed(referee, server_, paper, "neurips-2025", Path("run"))
    assert done.code == 0, done.err
    made = sound(Path("run"))
    assert any(p.verified_quotes for p in made.points)
    all_was_sent(load_paper(paper), sections_sent(server_.log))


def test_a_form_without_scores_gets_texts(referee: Referee, server_: FakeServer, paper: Path) -> None:
    done = reviewed(referee, server_, paper, "tmlr", Path("run"))
    assert done.code == 0, done.err
    made = sound(Path("run"))
    assert made.rating is None
    assert not [record for record in made.scores if record.value is not None]
    assert any(point.outcome == "printed" for point in made.points)


def test_without_a_point_a_form_without_scores_gets_no_judgement_either(referee: Referee, server_: FakeServer) -> None:
    only = written("# Only\n\n## References\n\n[1] A. Author. On the topic. Journal, 2020.\n")
    assert reviewed(referee, server_, only, "tmlr", Path("run")).code == 0
    made = sound(Path("run"))
    assert (made.fields["claims_and_evidence"], made.fields["audience"]) == (None, None)
    assert "nothing was found" in made.nulls["claims_and_evidence"]
    assert {forced.field for forced in made.forced} == {"claims_and_evidence", "audience"}
    sent = json.loads(Path("run/review.openreview.json").read_text())
    assert sent["claims_and_evidence"] in ("Yes", "No")


def unknown_ids(request: ChatRequest) -> Any:
    """A mapping that names parts and guidelines which do not exist."""

    def spoiled(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: spoiled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [spoiled(item) for item in value] or ["nowhere"]
        return "nowhere" if isinstance(value, str) else value

    return spoiled(request.instance())


def test_a_map_reply_with_unknown_ids_leaves_every_part_read(
    referee: Referee, server_: FakeServer, paper: Path
) -> None:
    server_.script.entries["mapper"] = unknown_ids
    form = Path("form.json")
    form.write_text(json.dumps(_with_own_guideline()), encoding="utf-8")
    done = reviewed(referee, server_, paper, str(form), Path("run"), "--preset", "quick")
    assert done.code == 0, done.err
    assert calls(server_, "review/map") >= 1
    all_was_sent(load_paper(paper), sections_sent(server_.log))


def _with_own_guideline() -> dict[str, Any]:
    from referee.venues import load_venue

    form = load_venue("arr").model_dump(mode="json")
    form["id"] = "own-2025"
    form["guidelines"] = [{**form["guidelines"][0], "id": f"own-{n}"} for n in (1, 2)]
    return form


@pytest.mark.slow
def test_a_check_that_strikes_everything_is_warned_of(
    referee: Referee, server_: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How many points the server's random replies raise depends on the order in which its calls come."""
    monkeypatch.setattr("referee.graphs.sections.by_part._TELLING_POINTS", 10)
    server_.script.entries["checker"] = ruling(refuted=True)
    sections = "\n\n".join(f"## {n} Study of group {n}\n\n{prose(200, 400 * n)}" for n in range(1, 25))
    done = reviewed(referee, server_, written(f"# All\n\n{sections}\n"), "neurips-2025", Path("run"))
    assert done.code == 0, done.err
    made = sound(Path("run"))
    struck = [point for point in made.points if point.outcome == "struck"]
    assert len(struck) >= 10
    assert all(point.check and point.check.passages for point in struck)
    assert all("refuted by" in point.reason for point in struck)
    assert made.provenance is not None
    assert any("struck" in note for note in made.provenance.notes), made.provenance.notes


@pytest.mark.slow
def test_appendices_are_read_where_asked_and_a_run_is_resumed_as_it_was_begun(
    referee: Referee, server_: FakeServer
) -> None:
    paper = written(f"# Both\n\n## 1 Method\n\n{prose(300)}\n\n## Appendix A Proofs\n\n{prose(300, 7000)}\n")
    assert reviewed(referee, server_, paper, "arr", Path("without")).code == 0
    assert "We train model 7001 " not in sections_sent(server_.log)
    done = reviewed(referee, server_, paper, "arr", Path("with"), "--appendices")
    assert done.code == 0, done.err
    assert "We train model 7001 " in sections_sent(server_.log)
    sound(Path("with"))
    on = ("--model", "fake", "--embedder", "fake", "--base-url", server_.base_url, "--strategy", "sections")
    changed = referee("review", paper, "--venue", "arr", "--resume", "with", *on)
    assert changed.code == 2
    assert "another choice of appendices" in changed.err


FORMS = ("neurips-2025", "arr", "tmlr")
FULL_TEXTS = ("elife_fulltext_reviews.jsonl", "ai_scientist_generated_fulltext.jsonl")


def markdown(record: dict[str, Any]) -> str:
    parts = [f"# {record['title']}"]
    if record.get("abstract"):
        parts.append(f"## Abstract\n\n{record['abstract']}")
    parts += [f"## {section['heading']}\n\n{section['text']}" for section in record["sections"]]
    return "\n\n".join(parts)


def full_texts(shared_data: Path) -> list[Path]:
    """The shared papers: PDFs as they are, full texts as Markdown files in the working folder."""
    papers = sorted((shared_data / "pdfs").glob("*.pdf"))
    for name in FULL_TEXTS:
        for number, line in enumerate((shared_data / "papers" / name).read_text(encoding="utf-8").splitlines()):
            papers.append(written(markdown(json.loads(line)), f"texts/{name[:5]}-{number}.md"))
    return papers


def brief(request: ChatRequest) -> Any:
    """Two points a part, claims of absence in the first part alone: each is a search of the whole paper."""
    points = quoting(request)["points"][:2]
    if 'part="P1"' not in request.user:
        points = [point | {"absence": None, "kind": "clarity"} for point in points]
    return {"points": points}


@pytest.mark.slow
@pytest.mark.shared_data
async def test_shared_papers_are_read_whole_and_no_point_is_lost(
    shared_data: Path, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(workplace / "cache"))
    part_by_part()
    papers = {path.stem: load_paper(path) for path in full_texts(shared_data)[::5]}
    assert len(papers) == 4
    with FakeServer({"writer": brief, "checker": ruling(refuted=False)}, context_tokens=64_000) as server:
        for venue, (name, paper) in zip(cycle(FORMS), papers.items(), strict=False):
            before, out = len(server.log), workplace / venue / name
            settings = {"model": "fake", "embedder": "fake", "base_url": server.base_url, "cache": False}
            await review(paper, venue=venue, strategy="sections", **with_options(out=out, **settings))
            assert sound(out).points, (venue, name)
            all_was_sent(paper, sections_sent(server.log.entries[before:]))
