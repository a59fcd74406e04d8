"""Detectors that are trained classifiers: which they are, which of their labels is AI, and their margin.

The score is the difference of the two logits, not the softmax: probabilities saturate at 1, and the ties this makes
wreck thresholds at a low false-positive rate. Which index is AI stands in the table and is checked against the model's
own labels when it is used: frameworks that guess have two of these six the wrong way round.

Source: the specification's section 5, after the model cards.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from referee.errors import EvaluationError
from referee.evals.detection.mage_text import MAGE_CLEANING, mage_text
from referee.evals.detection.protocols import Classifier, Statistic, missing, oriented


@dataclass(frozen=True, slots=True)
class ClassifierEntry:
    """A published classifier.

    Attributes:
        name: As it is asked for.
        model: Its id on huggingface.co.
        ai_index: The index of its label for machine text.
        ai_label: That label, in small letters; labels that say nothing (``LABEL_0``) are taken by index.
        licence: What is known of its terms; read it before use.
        about: Whose text it was trained on, and what to know.
        max_tokens: What it reads.
        cleaning: The rule by which its own code cleans a text first; empty where it does not.
        published_rule: Where its authors draw the line. It stands beside the score and is never a threshold.
    """

    name: str
    model: str
    ai_index: int
    ai_label: str
    licence: str
    about: str
    max_tokens: int = 512
    cleaning: str = ""
    published_rule: str = ""


CLASSIFIERS: Mapping[str, ClassifierEntry] = {
    entry.name: entry
    for entry in (
        ClassifierEntry(
            "openai_d", "openai-community/roberta-base-openai-detector", 0, "fake", "MIT", "RoBERTa, GPT-2's text"
        ),
        ClassifierEntry(
            *("openai_d_large", "openai-community/roberta-large-openai-detector", 0, "fake", "MIT"),
            "RoBERTa large, GPT-2's text",
        ),
        ClassifierEntry(
            *("chatgpt_d", "Hello-SimpleAI/chatgpt-detector-roberta", 1, "chatgpt", "see the model card"),
            "RoBERTa, ChatGPT's answers; for single texts",
        ),
        ClassifierEntry(
            *("ntnu_d", "andreas122001/roberta-mixed-detector", 1, "machine-generated", "see the model card"),
            "RoBERTa, text of several models",
        ),
        ClassifierEntry(
            *("radar_d", "TrustSafeAI/RADAR-Vicuna-7B", 0, "ai", "not for commercial use"),
            "RoBERTa large, trained against a paraphraser of Vicuna's text",
        ),
        ClassifierEntry(
            *("mage_d", "yaful/MAGE", 0, "machine-generated", "see the model card"),
            "Longformer, text of 27 models; the text is cleaned first, as its paper does",
            4096,
            MAGE_CLEANING,
            "its authors call a text machine-generated where the logit of label 0 is above 3.08583984375",
        ),
    )
}

_SAYS_NOTHING = re.compile(r"label[_ ]?\d+|\d+")


def check_labels(entry: ClassifierEntry, labels: Mapping[int, str]) -> None:
    """See that the model's own labels agree with the table.

    Raises:
        EvaluationError: There are not two labels, or the AI's stands elsewhere: scores would point the wrong way.
    """
    said = {index: label.strip().lower().replace("_", "-") for index, label in labels.items()}
    if sorted(said) != [0, 1]:
        raise EvaluationError(
            f"the classifier {entry.model!r} has the labels {dict(labels)!r}, not two.",
            hint="Load the published model; its id is in the message.",
        )
    if all(_SAYS_NOTHING.fullmatch(label.replace("-", "_")) for label in said.values()):
        return
    if entry.ai_label not in said[entry.ai_index]:
        raise EvaluationError(
            f"the classifier {entry.model!r} calls its label {entry.ai_index} {labels[entry.ai_index]!r}, where "
            f"{entry.ai_label!r} was expected: its scores would point the wrong way.",
            hint="Load the published model, or compare the table with its card.",
        )


def margin(entry: ClassifierEntry, logits: Sequence[float]) -> Statistic:
    """The AI label's logit less the human one's; higher is AI."""
    if len(logits) != 2:
        return missing("undefined")
    return oriented(float(logits[entry.ai_index]) - float(logits[1 - entry.ai_index]), 1)


def classify(entry: ClassifierEntry, classifier: Classifier, text: str) -> Statistic:
    """The margin of a text; ``too_short`` for a blank one.

    Raises:
        EvaluationError: The classifier's labels do not agree with the table.
    """
    check_labels(entry, classifier.labels)
    shown = mage_text(text) if entry.cleaning == MAGE_CLEANING else text
    return margin(entry, classifier.logits(shown)) if shown.strip() else missing("too_short")
