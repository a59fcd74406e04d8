"""Whether a review was written by a model: detectors, their thresholds, and how good they are.

A score means nothing without a threshold from human reviews, and a flag is no proof.
"""

from __future__ import annotations

from collections.abc import Mapping

DETECTORS: Mapping[str, tuple[str, ...]] = {
    "detection.detectors.by_logits": (
        *("loglik", "rank", "logrank", "entropy", "llmdev", "llr", "gltr", "mfd", "s5"),
        *("fast_detect_gpt", "binoculars", "binoculars_paper", "fast_detect_gpt_sampled"),
    ),
    "detection.detectors.by_sampling": ("detect_gpt", "npr", "dna_gpt", "dna_gpt_white"),
    "detection.detectors.by_classifier": (*("openai_d", "openai_d_large", "chatgpt_d", "ntnu_d", "radar_d", "mage_d"),),
    "detection.detectors.by_comparison": ("anchor", "claim_match"),
}
"""Module to the detectors in it, as the registry of metrics has them."""
