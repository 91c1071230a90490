# SPDX-License-Identifier: Apache-2.0
"""Exceptions. Their texts are what the platform printed, where it printed something."""
from __future__ import annotations

from trnvp_control import Error


class MissingProgram(Error, FileNotFoundError):
    """trnvp or trnctl is not found."""

    def __str__(self) -> str:
        return str(self.args[0])


class StartError(Error):
    """The board did not start: there is no such board, a parameter or a firmware is wrong."""

    def __init__(self, message: str, status: int | None = None):
        super().__init__(message)
        self.status = status  #: exit status of trnvp; None: it still ran


class Ended(Error):
    """The platform has ended, or the board is closed."""


class CommandError(Error):
    """trnctl refused a command, or failed."""

    def __init__(self, message: str, status: int):
        super().__init__(message)
        self.status = status  #: 1: a failure; 2: a mistake in the call

    def __reduce__(self) -> tuple[type[CommandError], tuple[object, ...]]:
        return type(self), (*self.args, self.status)


class Stalled(Error):
    """Simulated time cannot advance: no event is pending. The text names what waits."""


class InvalidArgument(Error, ValueError):
    """A number out of range, or a machine that is closed."""


class Unavailable(Error):
    """Not in this process, thread or callback: a second Machine, for example."""


class LimitReached(Error, TimeoutError):
    """The limit of wall time was reached first."""
