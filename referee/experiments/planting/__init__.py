"""Papers with errors planted on purpose, each with the passage that proves it wrong."""
