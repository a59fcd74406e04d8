"""Whether a review was written by a model: detectors, their thresholds, and how good they are.

A score means nothing without a threshold from human reviews, and a flag is no proof. ``DETECTORS`` has the module of
each detector by its name, as the registry of metrics does.
"""

from __future__ import annotations

from collections.abc import Mapping

_DETECTORS: Mapping[str, tuple[str, ...]] = {
    "by_logits": (
        *("loglik", "rank", "logrank", "entropy", "llmdev", "llr", "gltr", "mfd", "s5"),
        *("fast_detect_gpt", "binoculars", "binoculars_paper"),
    ),
    "by_sampling": ("detect_gpt", "npr", "dna_gpt", "dna_gpt_white"),
    "by_classifier": ("openai_d", "openai_d_large", "chatgpt_d", "ntnu_d", "radar_d", "mage_d"),
    "by_comparison": ("anchor", "claim_match"),
}
DETECTORS: Mapping[str, str] = {
    name: f"referee.evals.detection.detectors.{module}" for module, names in _DETECTORS.items() for name in names
}
"""The module of each detector by name; its ``METRICS`` hold it."""
