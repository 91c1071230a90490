# SPDX-License-Identifier: Apache-2.0
"""Instructions that both cores of a logical core must reach: sendrecv and core_barrier (doc/spec/neuron-core.md, 6)."""
from __future__ import annotations

from typing import Sequence

from trn_nki.diagnostics.errors import KernelError
from trn_nki.trace.instructions import Instruction

MEETINGS = ("sendrecv", "core_barrier")


def meeting_of(reached: Sequence[Instruction | None]) -> list[Instruction]:
    """The instructions that the cores have reached, None for a core that has ended. Raises KernelError unless both have reached
    the same one."""
    items = [item for item in reached if item is not None]
    operation, place = items[0].operation, items[0].place
    if len(reached) == 1:
        raise KernelError(f"nisa.{operation} needs two cores; call kernel[2]", "6", place)
    if len(items) < 2 or items[1].operation != operation:
        raise KernelError(f"one core waits in nisa.{operation} and the other never comes there", "6", place)
    return items
