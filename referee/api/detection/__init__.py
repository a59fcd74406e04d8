"""Detection of AI reviews: what it is studied on, and how reviews are scored."""
