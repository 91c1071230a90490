# SPDX-License-Identifier: Apache-2.0
"""From the first to the last use of tiles, in programs with loops."""
from __future__ import annotations

from typing import Callable, Iterable, TypeVar

Tile = TypeVar("Tile")
Loop = TypeVar("Loop")


def extend_through_loops(
    lives: dict[Tile, list[int]], loops: Iterable[tuple[Loop, int, int]], is_inside: Callable[[Tile, Loop], bool]
) -> None:
    """Changes `lives`, the first and last use of each tile: one that a loop uses and that was allocated outside of it, lives
    throughout the loop. `loops`: with their first and last instruction; `is_inside(tile, loop)`: whether the loop, or one inside
    it, allocates the tile."""
    ranges = list(loops)
    for tile, life in lives.items():
        for loop, first, last in ranges:
            if life[0] <= last and first <= life[1] and not is_inside(tile, loop):
                life[:] = [min(first, life[0]), max(last, life[1])]
