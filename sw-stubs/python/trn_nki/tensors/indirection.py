# SPDX-License-Identifier: Apache-2.0
"""Offsets that are known only when the instruction runs."""
from __future__ import annotations

import dataclasses
from typing import Any, Callable


_load: Callable[[Any], Any]  # of loads_registers


@dataclasses.dataclass(frozen=True, slots=True)
class Indirection:
    """An index that is added to a view's offset, in elements of the view's type.

    scalar   index * stride, one index for the whole view: a VirtualRegister or a [1,1] tile
    vector   index[i] * stride for entry i of dimension 0, whose own stride does not count (DMA only)
    column   .indirect(): element i of partition p is at index[...] (doc/spec/neuron-core.md, 2.4)
    """

    kind: str  # scalar, vector, column
    index: Any  # VirtualRegister or tensor
    stride: int  # elements for each unit of the index; 1 for column
    limit: int  # the index must be below; 0: not limited
    over_partitions: bool = False  # a scalar that selects partitions of a tile

    def displacement(self) -> Any:
        """A register with the number of elements that a scalar index adds to its view's offset."""
        register = self.index if getattr(self.index, "is_register", False) else _load(self.index)
        return register if self.stride == 1 else register * self.stride


def loads_registers(function: Callable[[Any], Any]) -> None:
    """Declares the function that records the load of a [1,1] tile into a new register, which it returns."""
    global _load
    _load = function
