"""Measurements of peer reviews, AI or human: metrics, judges, and the run over a review set."""
