"""The refinement of a venue's prompts: its machine, and what it is inside a run."""
