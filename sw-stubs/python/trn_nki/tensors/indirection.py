# SPDX-License-Identifier: Apache-2.0
"""Offsets that are known only when the instruction runs."""
from __future__ import annotations

import dataclasses
from typing import Any, Callable, Generic, TypeAlias, TypeVar, cast

T = TypeVar("T")  # NkiTensor, which contains an Indirection


class DeviceInteger:
    """An integer of the device, known only when the program runs. The one subclass is trace.registers.VirtualRegister."""

    factor: int  # divides every value
    bounds: tuple[int, int] | None  # smallest and largest value, if known

    def __add__(self, other: RegisterOrInteger) -> DeviceInteger:
        raise NotImplementedError

    def __mul__(self, other: RegisterOrInteger) -> DeviceInteger:
        raise NotImplementedError


RegisterOrInteger: TypeAlias = DeviceInteger | int
_load: Callable[[Any], DeviceInteger]  # of loads_registers; takes a tensor, whose module imports this one


@dataclasses.dataclass(frozen=True, slots=True)
class Indirection(Generic[T]):
    """An index that is added to a view's offset, in elements of the view's type.

    scalar   index * stride, one index for the whole view: a VirtualRegister or a [1,1] tile
    vector   index[i] * stride for entry i of dimension 0, whose own stride does not count (DMA only)
    column   .indirect(): element i of partition p is at index[...] (doc/spec/neuron-core.md, 2.4)
    """

    kind: str  # scalar, vector, column
    index: DeviceInteger | T
    stride: int  # elements for each unit of the index; 1 for column
    limit: int  # the index must be below; 0: not limited
    over_partitions: bool = False  # a scalar that selects partitions of a tile

    @property
    def tile(self) -> T:
        """The index tile of a vector or column index."""
        return cast(T, self.index)

    def displacement(self) -> DeviceInteger:
        """A register with the number of elements that a scalar index adds to its view's offset."""
        register = self.index if isinstance(self.index, DeviceInteger) else _load(self.index)
        return register if self.stride == 1 else register * self.stride


def loads_registers(function: Callable[[Any], DeviceInteger]) -> None:
    """Declares the function that records the load of a [1,1] tile into a new register, which it returns."""
    global _load
    _load = function
