"""``evaluate`` and ``rescore``: every metric of every review of a set."""
