"""What is said after Ctrl-C."""

from __future__ import annotations

from referee.errors import RefereeError


class Interrupted(RefereeError):
    """Ctrl-C during a command; ``ids["run"]`` is the folder it can be continued from, if there is one."""

    @classmethod
    def during(cls, run_folder: str) -> Interrupted:
        """Say what is kept."""
        if run_folder:
            return cls("what was answered so far is kept; a call in progress is asked again.", ids={"run": run_folder})
        return cls("nothing was sent or written.")
