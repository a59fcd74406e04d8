"""Untrusted files are read in a child process with limits: what kills the converter kills no review.

``load`` is what others use. Nothing is imported here, because the child imports this package first.
"""
