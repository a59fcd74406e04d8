"""The package's version, which every run records."""

from __future__ import annotations

VERSION = "0.3.0"
