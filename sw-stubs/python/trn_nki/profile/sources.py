# SPDX-License-Identifier: Apache-2.0
"""Source files of kernels with the costs of their lines."""
from __future__ import annotations

import dataclasses
import os
from typing import Iterator

from trn_nki.profile.analysis import Line

MAX_FILES = 20
MAX_BYTES = 4 << 20  # of a file
CONTEXT = 4  # lines around a line with a cost
MAX_SHOWN = 3000  # lines of a file
KERNELS = (".py", ".trn")  # other files that a program names are not shown


@dataclasses.dataclass
class Source:
    file: str
    costs: dict[int, Line]
    text: list[str]

    @property
    def has_text(self) -> bool:
        return bool(self.text)

    def shown(self) -> Iterator[tuple[int | None, str]]:
        """Lines with a cost and the lines around them; None in place of omitted lines."""
        near = CONTEXT if self.has_text else 0
        chosen = sorted(
            {
                number
                for line in self.costs
                for number in range(line - near, line + near + 1)
                if number in self.costs or 1 <= number <= len(self.text)
            }
        )
        before = 0
        for number in chosen[:MAX_SHOWN]:
            if self.has_text and number != before + 1:
                yield None, ""
            yield number, self.text[number - 1] if 1 <= number <= len(self.text) else ""
            before = number
        if len(chosen) > MAX_SHOWN:
            yield None, ""


def sources_of(lines: list[Line]) -> list[Source]:
    """The files with the highest costs; `lines` are sorted by cost."""
    found: dict[str, Source] = {}
    for line in lines:
        file, _, number = line.source.rpartition(":")
        if not number.isdigit():
            file, number = line.source, "0"
        source = found.get(file)
        if source is None:
            source = found[file] = Source(file, {}, _read(file))
        source.costs[int(number)] = line
    return list(found.values())[:MAX_FILES]


def _read(file: str) -> list[str]:
    try:
        if not file.endswith(KERNELS) or not os.path.isfile(file) or os.path.getsize(file) > MAX_BYTES:
            return []
        with open(file, encoding="utf-8", errors="replace") as opened:
            return opened.read().splitlines()
    except OSError:
        return []
