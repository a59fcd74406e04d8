"""Tiny sets of known errors in the shapes in which the five public ones are published; the contents are ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PAPER = "# A bound\n\nLemma 3 holds for all n.\n\nTable 2 lists 48 runs.\n"


def rows(path: Path, *held: Any) -> Path:
    """Lines of JSON; a text stands there as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [one if isinstance(one, str) else json.dumps(one) for one in held]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def spot_row(paper: str = "10.1/a", where: str = "Lemma 3", **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": PAPER, "image_url": None}, {"type": "image_url", "text": None, "image_url": {}}]
    return {
        "doi/arxiv_id": paper,
        "title": f"On {paper}",
        "error_category": "Equation / proof",
        "error_location": where,
        "error_severity": "errata",
        "error_annotation": f"The claim of {where} fails for n = 1.",
        "paper_content": content,
        **more,
    }


def spot(root: Path) -> Path:
    """Two errors in one paper, and one in a paper of which only the title is there."""
    bare = {name: value for name, value in spot_row("b").items() if name not in ("doi/arxiv_id", "paper_content")}
    return rows(root / "data" / "train-00000.jsonl", spot_row(), spot_row(where="Table 2"), bare).parents[1]


def specs(root: Path) -> Path:
    """Two errors in two papers' sources, of which the list of papers knows one; a review of the first."""
    folder = root / "datasets" / "2_papers"
    rows(folder / "papers" / "metadata.json", [{"paper_id": "P1", "title": "On one"}])
    for paper in ("P1", "P2"):
        change = {
            "perturbation_type": "correctness",
            "perturbation_subtype": "sign",
            "location": "main.tex",
            "original_text": "we add",
            "modified_text": "we subtract",
        }
        rows(folder / "perturbations" / paper / "c1.json", change)
    review = folder / "reviews" / "P1" / "c1" / "sys__P1__c1.md"
    review.parent.mkdir(parents=True)
    review.write_text("Weaknesses:\n- Section 2 subtracts where it should add.\n", encoding="utf-8")
    return root


def flaws(root: Path) -> Path:
    """Two altered papers, one without its PDF, and a claim that is listed and not there; the third is not listed."""
    folder = root / "ALL_GEMINI"
    rows(folder / "gemini_all.json", {"Alpha_Net": "0", "Beta": ["1", "2"]})
    said = (
        ":claim: It is fast.\n:modified_text: We train for two epochs only.\n:original_text: x\n:explanation: Too few."
    )
    for name in ("Alpha_Net_0", "Beta_1", "Gamma_4"):
        rows(folder / "inserted_error" / f"{name}_gemini-2.5-pro.txt", said)
    rows(folder / "location_error" / "Alpha_Net_0_gemini-2.5-pro.txt", "error: The schedule of two epochs is enough.")
    pdf = folder / "altered_papers" / "Alpha_Net" / "altered_0_small.pdf"
    pdf.parent.mkdir(parents=True)
    pdf.write_bytes(b"%PDF-1.4 not looked into")
    return root


def judged(reviewer: str, number: int, text: str, *labels: str, by: str = "primary") -> dict[str, Any]:
    correctness, significance, evidence = (*labels, None, None, None)[:3]
    return {
        "paper_id": 7,
        "paper_title": "On seven",
        "paper_content": PAPER,
        "annotator_source": by,
        "reviewer_id": reviewer,
        "reviewer_type": "Human" if reviewer.startswith("H") else "AI",
        "review_item_number": number,
        "review_item": text,
        "correctness": correctness,
        "significance": significance,
        "evidence": evidence,
        "annotator_comments": "",
    }


def peerreview(root: Path) -> Path:
    """A person's review with one point that both experts let stand, and a model's with one that they differ on."""
    good = ("Correct", "Significant", "Sufficient")
    held = [
        judged("H1", 1, "Lemma 3 is not proven for n = 1.", *good),
        judged("H1", 1, "Lemma 3 is not proven for n = 1.", *good, by="secondary"),
        judged("H1", 2, "The title is long.", "Correct", "Not Significant"),
        judged("gpt", 1, "Table 2 counts a run twice.", *good),
        judged("gpt", 1, "Table 2 counts a run twice.", "Not Correct", by="secondary"),
    ]
    return rows(root / "expert_annotation" / "eval-0.jsonl", *held).parents[1]


def segment(text: str, topic: str = "Weakness", reliable: str = "Yes", **more: str) -> dict[str, str]:
    return {"segment_text": text, "topic_class_1": topic, "reliability": reliable, **more}


def critique(root: Path) -> Path:
    """A paper with a person's review of four labelled sentences, and a model's of the same paper in a second file."""
    said = [
        segment("The paper bounds the error.", "Summary"),
        segment("Lemma 3 is not proven for n = 1."),
        segment("There is no code.", reliable="No", error_type="Neglect", explanation="It is in the appendix."),
        segment("It is well written.", "Strength"),
    ]
    score = {"Recommendation": " 6", "Confidence": "4: sure"}
    about = {"decision": "Accept", "title": "On Labels", "body_text": PAPER}
    rows(root / "ReviewCritique.jsonl", {**about, "review#1": {"review": said, "score": score}})
    rows(root / "ReviewCritique_LLM.jsonl", {**about, "gpt4": {"review": [segment("Table 2 counts a run twice.")]}})
    return root


SETS = {
    "spot": spot,
    "specs": specs,
    "flaws": flaws,
    "peerreview-bench": peerreview,
    "reviewcritique": critique,
}
