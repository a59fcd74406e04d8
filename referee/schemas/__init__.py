"""The nouns that cross a room or reach the disk."""

from referee.schemas.paper import Block, Box, Converter, Finding, Paper, Reference, Repair, Section
from referee.schemas.review import (
    Cut,
    DroppedQuotation,
    Evidence,
    Forced,
    Provenance,
    Review,
    ScoreRecord,
)
from referee.schemas.run import CallRecord, ModelRecord, RunRecord
from referee.schemas.usage import Usage
from referee.schemas.venue import (
    Fact,
    FormField,
    FormProvenance,
    Guideline,
    LlmPolicy,
    Option,
    Source,
    VenueForm,
)

__all__ = [
    "Block",
    "Box",
    "CallRecord",
    "Converter",
    "Cut",
    "DroppedQuotation",
    "Evidence",
    "Fact",
    "Finding",
    "Forced",
    "FormField",
    "FormProvenance",
    "Guideline",
    "LlmPolicy",
    "ModelRecord",
    "Option",
    "Paper",
    "Provenance",
    "Reference",
    "Repair",
    "Review",
    "RunRecord",
    "ScoreRecord",
    "Section",
    "Source",
    "Usage",
    "VenueForm",
]
