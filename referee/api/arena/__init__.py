"""``referee arena``: a model fills papers' own forms, is scored against people, and gets a rating map."""
