# SPDX-License-Identifier: Apache-2.0
"""Boards and the generation of their cores."""
from __future__ import annotations

import re

from trn_nki.values import generations

DEFAULT_BOARDS = {2: "trn1-chip", 3: "trn2-chip", 4: "trn3-chip"}


def generation_of(board: str) -> int | None:
    """2, 3 or 4 of a board whose name begins with its generation, such as trn2-server; None of others."""
    found = re.match(r"(?:.*/)?(?:trn|inf)(\d)", board)
    return {"1": 2, "2": 3, "3": 4}.get(found.group(1)) if found else None


def check(board: str) -> None:
    """Raises ValueError for the name of a generation, which is no board."""
    if number := generations.NAMES.get(board.lower()):
        raise ValueError(f"'{board}' is a generation and no board; a chip of it is the board '{DEFAULT_BOARDS[number]}'")
