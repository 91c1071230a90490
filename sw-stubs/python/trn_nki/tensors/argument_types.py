# SPDX-License-Identifier: Apache-2.0
"""Types of the arguments of nki.isa, nki.language and nki.collectives, for annotations."""
from __future__ import annotations

from typing import TypeAlias

from trn_nki.tensors.indirection import RegisterOrInteger
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.values.argument_types import Axes, Buffer, DataPattern, ElementType, Engine, Number, Shape

__all__ = ["Axes", "Buffer", "DataPattern", "ElementType", "Engine", "Number", "RegisterOrInteger", "Scalar", "Shape"]

Scalar: TypeAlias = Number | NkiTensor  # one number, or a tile [P, 1] with one for each partition (7.4)
