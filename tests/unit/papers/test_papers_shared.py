"""The shared PDFs and the example paper: exact sections, reference counts, and the numbers of tables."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from referee.papers import load_paper
from referee.schemas.paper import Paper

S2ORC = "acl2020_s2orc_two_column.pdf"
REVIEWER = "naacl2025_openreviewer_two_column.pdf"
DUAL_SCALE = "ai_scientist_adaptive_dual_scale_denoising.pdf"
GROKKING = "ai_scientist_mdl_grokking_correlation.pdf"
Q_LEARNING = "ai_scientist_rl_lr_adaptation.pdf"

SECTIONS = {
    S2ORC: """front Front matter|abstract Abstract|1 Introduction|2 Constructing the corpus|2.1 Processing PDFs
        |2.2 Processing LATEX source|2.3 Selecting canonical metadata|2.4 Assembling the corpus
        |2.5 Filtering paper clusters|2.6 Linking bibliographies to papers|3 The S2ORC dataset|4 Evaluation
        |5 Pretraining BERT on S2ORC|6 Applications of S2ORC|7 Related work|8 Conclusion
        |acknowledgements Acknowledgements|references References|A Background & Terminology|B PDF filters
        |C The paper clustering problem|D S2ORC evaluation criteria
        |E Training corpus sizes for other language models|F Numeric representations in S2ORC-SCIBERT""",
    REVIEWER: """front Front matter|abstract Abstract|1 Introduction|2 Motivation|3 OpenReviewer|3.1 Demo Interface
        |3.2 Llama-OpenReviewer-8B|3.2.1 Training Data|3.3 Prompt Design|3.4 Training|4 Evaluation
        |4.1 Matching Recommendations|4.2 Review Arena|5 Discussion|6 Related Work|6.1 AI-Assisted Peer Review
        |6.2 Review Generation with Large Language Models|6.3 Datasets and Resources|6.4 Evaluation of Review Quality
        |6.5 Ethics and Bias in Peer Review|7 Conclusion|content Limitations
        |content Ethics and Broader Impact Statement|acknowledgements Acknowledgments|references References|A Appendix
        |A.1 Prompts|A.2 Example Outputs|A.3 Training Hyperparameters""",
    DUAL_SCALE: """front Front matter|abstract ABSTRACT|1 INTRODUCTION|2 RELATED WORK
        |2.1 MULTI-SCALE APPROACHES IN DIFFUSION MODELS|2.2 ADAPTIVE MECHANISMS IN GENERATIVE MODELS
        |2.3 LOW-DIMENSIONAL DIFFUSION MODELS|3 BACKGROUND|3.1 PROBLEM SETTING|4 METHOD|4.1 DUAL-SCALE ARCHITECTURE
        |4.2 ADAPTIVE WEIGHTING MECHANISM|4.3 COMBINED DENOISING PROCESS|4.4 TRAINING PROCESS|5 EXPERIMENTAL SETUP
        |6 RESULTS|6.1 QUANTITATIVE ANALYSIS|6.2 QUALITATIVE ANALYSIS|6.3 WEIGHT EVOLUTION ANALYSIS
        |6.4 ABLATION STUDY|6.5 LIMITATIONS|6.6 HYPERPARAMETERS AND FAIRNESS CONSIDERATIONS
        |7 CONCLUSIONS AND FUTURE WORK|references REFERENCES""",
    GROKKING: """front Front matter|abstract ABSTRACT|1 INTRODUCTION|2 RELATED WORK|3 BACKGROUND|3.1 PROBLEM SETTING
        |4 METHOD|4.1 MDL ESTIMATION TECHNIQUE|4.2 EXPERIMENTAL SETUP|4.3 ANALYSIS OF MDL AND GROKKING RELATIONSHIP
        |4.4 VISUALIZATION AND COMPARATIVE ANALYSIS|5 EXPERIMENTAL SETUP|6 RESULTS|7 CONCLUSION|8 RELATED WORK
        |references REFERENCES""",
    Q_LEARNING: """front Front matter|abstract ABSTRACT|1 INTRODUCTION|2 RELATED WORK|3 BACKGROUND|3.1 PROBLEM SETTING
        |3.2 FORMALISM|3.3 ASSUMPTIONS|4 METHOD|5 EXPERIMENTAL SETUP|6 RESULTS|6.1 BASELINE COMPARISON
        |6.2 ABLATION STUDIES|6.3 TRAINING AND VALIDATION LOSS|6.4 LIMITATIONS|7 CONCLUSIONS AND FUTURE WORK
        |references REFERENCES""",
}
TITLES = {
    S2ORC: "S2ORC: The Semantic Scholar Open Research Corpus",
    REVIEWER: "OpenReviewer: A Specialized Large Language Model for Generating Critical Scientific Paper Reviews",
    DUAL_SCALE: "DUALSCALE DIFFUSION: ADAPTIVE FEATURE BALANCING FOR LOW-DIMENSIONAL GENERATIVE MODELS",
    GROKKING: "GROKKING THROUGH COMPRESSION: UNVEILING SUDDEN GENERALIZATION VIA MINIMAL DESCRIPTION LENGTH",
    Q_LEARNING: "ADAPTIVE LEARNING RATES FOR TRANSFORMERS VIA Q-LEARNING",
}
REFERENCES = {S2ORC: 55, REVIEWER: 37, DUAL_SCALE: 9, GROKKING: 9, Q_LEARNING: 6}
EQUATIONS = {S2ORC: 3, REVIEWER: 0, DUAL_SCALE: 9, GROKKING: 3, Q_LEARNING: 1}
# Checked by eye against enlarged page images, row by row.
TABLES = {
    (S2ORC, "Table 6"): "0.93 0.89 1.00 0.96 1.00 0.92",
    (S2ORC, "Table 4"): "1.1 9.9 93.3 0.7 45.2 46.8 27.6 21.9 19.3 6.8",
    (S2ORC, "Table 8"): "0.54 2.27 0.28 0.21",
    (REVIEWER, "Table 1"): "14.0 2.95 1.19 11.5 3.03 1.34 15.5 2.77 1.27 23.8 2.34 1.17 55.5 0.96 0.85",
    (REVIEWER, "Table 2"): "8.1 1.4 6.9 2.8 7.6 1.7 7.7 0.8 5.4 1.1 5.4 1.2",
    (DUAL_SCALE, "Table 1"): """0.354 37.42 0.172 0.989 36.68 0.171 0.161 37.15 0.160 0.090 36.61 0.168
        0.369 73.07 0.293 0.820 74.28 0.286 0.172 76.55 0.275 0.100 74.56 0.272
        0.347 89.83 0.302 0.871 88.43 0.290 0.155 81.64 0.357 0.096 83.32 0.263
        0.361 76.73 0.299 1.034 81.05 0.281 0.148 86.87 0.294 0.100 82.37 0.279
        0.345 79.91 0.293 0.862 73.94 0.278 0.153 72.15 0.274 0.093 74.75 0.265""",
    (GROKKING, "Table 1"): """0.0054 0.0064 1.0000 1.0000 0.0146 0.0157 1.0000 0.9998 0.0054 0.0059 1.0000 1.0000
        0.0076 5.4155 0.9999 0.3393""",
    (GROKKING, "Table 2"): "95 99 3983 4173 4403 4610 2350 2573 7347 7390",
    (Q_LEARNING, "Table 1"): """0.8186 1.4655 77.27 0.8113 1.4665 76.34 0.9302 1.0055 819.46 0.9325 1.0051 799.20
        1.0013 0.9800 801.22 0.9926 0.9796 796.11""",
    (Q_LEARNING, "Table 2"): """0.8048 1.4603 76.26 0.9224 0.9934 806.19 0.9798 0.9613 807.77 0.8062 1.4620 75.80
        0.9246 0.9944 796.96 0.9843 0.9614 791.61 0.7985 1.4636 79.25 0.9260 0.9918 852.15 0.9828 0.9615 846.45""",
}

pytestmark = pytest.mark.shared_data


@cache
def load(path: Path) -> Paper:
    return load_paper(path)


def outline(paper: Paper) -> list[str]:
    return [f"{section.number or section.role} {section.heading}" for section in paper.sections]


@pytest.mark.slow
@pytest.mark.parametrize("name", SECTIONS)
def test_sections_and_title(shared_data: Path, name: str) -> None:
    paper = load(shared_data / "pdfs" / name)
    assert outline(paper) == re.sub(r"\n\s+", "", SECTIONS[name]).split("|")
    assert paper.title == TITLES[name]
    assert all(section.level == section.number.count(".") + 1 for section in paper.sections if section.number)


@pytest.mark.parametrize("name", REFERENCES)
def test_every_printed_reference_is_there(shared_data: Path, name: str) -> None:
    references = load(shared_data / "pdfs" / name).references
    assert len(references) == REFERENCES[name]
    assert all(reference.year for reference in references)


@pytest.mark.parametrize("name", EQUATIONS)
def test_equations(shared_data: Path, name: str) -> None:
    blocks = [block for _, block in load(shared_data / "pdfs" / name).blocks() if block.kind == "equation"]
    assert len(blocks) == EQUATIONS[name]


@pytest.mark.parametrize(("name", "label"), TABLES)
def test_numbers_of_tables_stand_in_cells(shared_data: Path, name: str, label: str) -> None:
    (table,) = [b for _, b in load(shared_data / "pdfs" / name).blocks() if b.kind == "table" and b.label == label]
    held = [number for row in table.cells for cell in row for number in re.findall(r"\d+(?:\.\d+)?", cell)]
    printed = iter(held)
    assert [number for number in TABLES[name, label].split() if number not in printed] == []


@pytest.mark.parametrize("name", SECTIONS)
def test_no_text_is_lost_and_repairs_carry_a_proof(shared_data: Path, name: str) -> None:
    paper = load(shared_data / "pdfs" / name)
    assert paper.findings == ()
    assert paper.repairs
    assert all(repair.proof and repair.page for repair in paper.repairs)
    assert all(block.text.strip() and block.page and block.box for _, block in paper.blocks())


def test_labels_over_several_rows_stand_in_each_row(shared_data: Path) -> None:
    (table,) = [b for _, b in load(shared_data / "pdfs" / DUAL_SCALE).blocks() if b.kind == "table"]
    assert table.cells[0][:2] == ("Run", "Dataset")
    assert table.cells[1] == ("Baseline", "Circle", "0.354", "37.42", "0.172")
    assert table.cells[-1] == ("Improved Weight Network", "Moons", "0.093", "74.75", "0.265")


def test_authors_are_hidden_from_content(shared_data: Path) -> None:
    paper = load(shared_data / "pdfs" / S2ORC)
    assert "Rodney Kinney" in re.sub(r"\W+", " ", paper.sections[0].text)
    assert all("Allen Institute" not in section.text for section in paper.content)
