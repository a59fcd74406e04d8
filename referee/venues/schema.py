"""The JSON Schema of a venue form, generated from the model; ``python -m referee.venues.schema`` writes it anew.

It describes the form with shared scales already filled in.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from referee.schemas.venue import VenueForm

SCHEMA_FILE = Path(__file__).parent / "venue.schema.json"


def venue_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of ``VenueForm``, as it is read and as it is stored."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **VenueForm.model_json_schema()}


def main() -> None:
    """Write the schema file beside this module and name it."""
    SCHEMA_FILE.write_text(json.dumps(venue_schema(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"{SCHEMA_FILE}\n")


if __name__ == "__main__":
    main()
