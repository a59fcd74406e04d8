"""Experiments: reviewers x prompts x models x papers, compared in pairs on the same papers."""
