"""``compile_venue`` and ``refine_prompts``: a venue of the user's own, and what its reviewers are told."""
