"""Strategy ``audited``: one reader's review, tested by two others and read once more."""
