"""Rules that need no model: what arithmetic and counting show about a paper."""

from __future__ import annotations

from referee.evidence.rules.hits import RuleEvidence, RuleHit
from referee.evidence.rules.registry import RULES, Rule, run_rules

__all__ = ["RULES", "Rule", "RuleEvidence", "RuleHit", "run_rules"]
