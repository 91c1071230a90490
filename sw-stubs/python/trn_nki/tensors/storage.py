# SPDX-License-Identifier: Apache-2.0
"""A piece of memory that a kernel allocated or was given."""
from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

from trn_nki.diagnostics.places import Place
from trn_nki.values.data_types import DataType
from trn_nki.values.memory_regions import MemoryRegion

if TYPE_CHECKING:
    import numpy.typing as npt

ROLES = ("local", "input", "output", "constant")


@dataclasses.dataclass(eq=False, slots=True)
class Storage:
    """On chip, dimension 0 of `shape` is the partitions and the rest lies in each partition, row-major."""

    index: int  # in the order of allocation; the same in every core for shared_hbm
    region: MemoryRegion
    shape: tuple[int, ...]
    dtype: DataType
    name: str
    place: Place
    role: str = "local"  # one of ROLES; a result of the kernel is an output
    address: tuple[int, int] | None = None  # (start partition, byte in the partition) if the kernel sets it
    data: npt.NDArray[Any] | None = None  # the elements of a constant or an input
    loop: object = None  # loop of the device whose body allocated it
    bytes_per_partition: int = dataclasses.field(init=False)  # on chip only

    def __post_init__(self) -> None:
        self.bytes_per_partition = math.prod(self.shape[1:]) * self.dtype.itemsize

    @property
    def is_on_chip(self) -> bool:
        return self.region.is_on_chip

    @property
    def size_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def partitions(self) -> int:
        """On chip only."""
        return self.shape[0]

    def __repr__(self) -> str:
        return f"{self.name}:{self.dtype}{list(self.shape)}@{self.region.value}"
