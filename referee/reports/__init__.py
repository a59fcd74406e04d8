"""A review as people and platforms read it: Markdown, the venue's OpenReview object, lines for a terminal."""

from referee.reports.disclosure import disclosure
from referee.reports.openreview_json import openreview_object, to_json
from referee.reports.review_markdown import render_review
from referee.reports.terminal import summary_lines

__all__ = ["disclosure", "openreview_object", "render_review", "summary_lines", "to_json"]
