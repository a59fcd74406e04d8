"""Detectors as metrics of the measuring machine."""
