"""Strategies that read a paper in chunks of even length: experts with workers, and passages in order."""
