"""The command line: flags in, the public functions, readable text out. No logic lives here."""

from __future__ import annotations

import sys

from referee.cli.exits import EXIT_BAD_INPUT, EXIT_INTERRUPTED, EXIT_STOPPED


def main() -> None:
    """Run the command line; every error of ours becomes a message with a next step and an exit code."""
    from referee.cli.app import app
    from referee.cli.devices import refuse_devices
    from referee.cli.interrupt import Interrupted
    from referee.errors import RefereeError, RunStopped

    try:
        refuse_devices(sys.argv[1:])
        app(standalone_mode=True)
    except Interrupted as error:
        _complain("\ninterrupted", error)
        sys.exit(EXIT_INTERRUPTED)
    except RunStopped as error:
        _complain("stopped", error)
        sys.exit(EXIT_STOPPED)
    except RefereeError as error:
        _complain("error", error)
        sys.exit(EXIT_BAD_INPUT)
    except KeyboardInterrupt:
        print("\ninterrupted.", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)


def _complain(word: str, error: Exception) -> None:
    from referee.cli.output import error_lines

    for line in error_lines(word, error):
        print(line, file=sys.stderr)
