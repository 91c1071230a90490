# SPDX-License-Identifier: Apache-2.0
"""Numbers of the engines' registers."""
from __future__ import annotations

import bisect

from trn_nki.compile.program import Held, Program
from trn_nki.diagnostics.errors import KernelError

REGISTERS = 64  # of each engine


def assign(program: Program) -> None:
    """Gives each register of an engine a number. Raises KernelError where a kernel needs too many."""
    accesses: dict[tuple[int, str], dict[Held, list[tuple[int, bool]]]] = {}
    for number, item in enumerate(program.instructions):
        for held, writes in item.held():
            accesses.setdefault((item.core, held.engine), {}).setdefault(held, []).append((number, writes))
    for (core, _), of_engine in accesses.items():
        loops = sorted((first, last) for loop, first, last in program.loops if loop.core == core)
        lives = sorted((*_life(found, loops), order, held) for order, (held, found) in enumerate(of_engine.items()))
        free = list(range(REGISTERS))
        active: list[tuple[int, int]] = []  # last instruction, number
        for first, last, _, held in lives:
            for last_use, number in active:
                if last_use < first:
                    bisect.insort(free, number)
            active = [living for living in active if living[0] >= first]
            if not free:
                raise KernelError(f"more than {REGISTERS} registers of the {held.engine} engine are in use here", "1", held.register.place)
            held.number = free.pop(0)
            active.append((last, held.number))


def _life(found: list[tuple[int, bool]], loops: list[tuple[int, int]]) -> tuple[int, int]:
    """First and last instruction of the register's lifetime. A value that a pass of a loop passes on to the next one is
    live throughout the loop."""
    first, last = found[0][0], found[-1][0]
    around = [loop for loop in loops if loop[0] <= first and last <= loop[1]]
    scope = max(around, default=None)  # the innermost that holds all accesses
    within = [loop for loop in loops if scope is None or (loop != scope and scope[0] <= loop[0] and loop[1] <= scope[1])]
    touched = [loop for loop in within if any(loop[0] <= number <= loop[1] for number, _ in found)]
    if scope is not None and (not found[0][1] or any(loop[0] <= first <= loop[1] for loop in touched)):
        return scope
    return (min([first, *(loop[0] for loop in touched)]), max([last, *(loop[1] for loop in touched)]))
