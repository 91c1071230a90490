# SPDX-License-Identifier: Apache-2.0
"""The exception for kernels that cannot be traced, compiled or run."""
from __future__ import annotations

import warnings
from typing import Any, Iterable

from trn_nki.diagnostics import places
from trn_nki.diagnostics.tracebacks import ReportedError

EXIT_STATUS = 2  # of a command that ends with a KernelError


class KernelError(ReportedError):
    """A kernel breaks a rule. `str` gives FILE:LINE:COLUMN, the message, the line and a caret, and the calls that led to it.

    `rule` is the section of doc/spec/neuron-core.md with the rule; None for rules of Python or of this package.
    """

    def __init__(self, message: str, rule: str | None = None, place: places.Place | None = None):
        self.message, self.rule = message, rule
        self.place = place or places.caller(2)
        super().__init__(message)

    def __str__(self) -> str:
        rule = f" (neuron-core.md, {self.rule})" if self.rule else ""
        return f"{self.place}: {self.message}{rule}{self.place.excerpt()}"


class KernelWarning(UserWarning):
    """A kernel does something that is allowed and rarely meant."""


_shown: dict[str, dict[Any, Any]] = {}  # by file: a line is reported once, as Python's own warnings are


def warn(message: str, rule: str, place: places.Place) -> None:
    """Prints FILE:LINE: KernelWarning: MESSAGE, unless a filter of Python's module warnings says otherwise. Raises KernelError
    where a filter makes the warning an error."""
    callers = "".join(f", called at {caller.short}" for caller in place.callers)
    try:
        warnings.warn_explicit(
            f"{message} (neuron-core.md, {rule}){callers}",
            KernelWarning,
            places.shown(place.file),
            place.line,
            registry=_shown.setdefault(place.file, {}),
        )
    except KernelWarning:
        raise KernelError(f"KernelWarning: {message}", rule, place) from None


def closest(name: str, known: Iterable[str]) -> str:
    """The text ", did you mean 'x'?" or nothing."""
    import difflib  # needed for mistakes only

    found = difflib.get_close_matches(name, list(known), 1)
    return f", did you mean '{found[0]}'?" if found else ""
