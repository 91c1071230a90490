# SPDX-License-Identifier: Apache-2.0
"""The exception for kernels that cannot be traced, compiled or run."""
from __future__ import annotations

import difflib
from typing import Iterable

from trn_nki.diagnostics import places

EXIT_STATUS = 2  # of a command that ends with a KernelError


class KernelError(Exception):
    """A kernel breaks a rule. `str` gives FILE:LINE:COLUMN, the message, the line and a caret.

    `rule` is the section of doc/spec/neuron-core.md with the rule; None for rules of Python or of this package.
    """

    def __init__(self, message: str, rule: str | None = None, place: places.Place | None = None):
        self.message, self.rule = message, rule
        self.place = place or places.caller(2)
        super().__init__(message)

    def __str__(self) -> str:
        rule = f" (neuron-core.md, {self.rule})" if self.rule else ""
        source = self.place.caret()
        return f"{self.place}: {self.message}{rule}" + "".join(f"\n    {line}" for line in source.splitlines())


def closest(name: str, known: Iterable[str]) -> str:
    """", did you mean 'x'?" or nothing."""
    found = difflib.get_close_matches(name, list(known), 1)
    return f", did you mean '{found[0]}'?" if found else ""
