"""``experiment``: a plan run by its arms, measured and compared."""
