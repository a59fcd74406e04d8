"""Review forms and rules of venues as data: load, check, render, and parse the values that fill them."""

from referee.venues.registry import list_venues, load_venue, user_venue_dir, venue_digest
from referee.venues.render import describe_venue, render_form, render_guidelines, render_policy
from referee.venues.values import check_field, empty_required, openreview_object, parse_score, wire_value

__all__ = [
    "check_field",
    "describe_venue",
    "empty_required",
    "list_venues",
    "load_venue",
    "openreview_object",
    "parse_score",
    "render_form",
    "render_guidelines",
    "render_policy",
    "user_venue_dir",
    "venue_digest",
    "wire_value",
]
