"""Exit codes of the command line beside 0."""

EXIT_REFUTED = 1
EXIT_BAD_INPUT = 2
EXIT_STOPPED = 3
EXIT_INTERRUPTED = 130
