"""Detection of AI-written reviews as commands: scores, thresholds, an evaluation, one review."""
