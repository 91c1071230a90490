# SPDX-License-Identifier: Apache-2.0
"""Types of arguments that are neither tensors nor registers, for annotations."""
from __future__ import annotations

from typing import Any, Sequence, TypeAlias

import numpy

from trn_nki.values.data_types import DataType
from trn_nki.values.engines import engine
from trn_nki.values.memory_regions import MemoryRegion

Number: TypeAlias = int | float | numpy.number[Any]
Engine: TypeAlias = engine | None  # None, like engine.unknown: the tracer chooses (15.3)
ElementType: TypeAlias = DataType | str | numpy.dtype[Any] | type[numpy.generic]
Buffer: TypeAlias = MemoryRegion | str
Shape: TypeAlias = int | Sequence[int]
Axes: TypeAlias = int | Sequence[int]
DataPattern: TypeAlias = Sequence[Sequence[int]]  # one to four [step, count], slowest first (7.5)
