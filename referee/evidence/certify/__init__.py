"""Certificates: whether the paper holds what a review states. Code alone, no model.

``refuted`` needs a passage that says the opposite, or a sum that is wrong: everything unclear stays an opinion.
"""

from referee.evidence.certify.check import check_statement, verify_text
from referee.evidence.certify.points import certify_points
from referee.evidence.certify.reading import Reading
from referee.evidence.certify.statements import statements_of, unfit

__all__ = ["Reading", "certify_points", "check_statement", "statements_of", "unfit", "verify_text"]
