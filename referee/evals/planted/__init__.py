"""Errors that a paper is known to have, planted or real: which of them a review names."""
