"""Public reviews fetched from OpenReview into a folder that the readers of review sets take as it is."""
