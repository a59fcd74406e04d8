"""``profile``: how the reviewers of a set write, rate and agree."""
