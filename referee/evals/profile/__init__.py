"""Profiles of reviewers: each review's numbers, by group, compared, and beside people on the same papers."""
