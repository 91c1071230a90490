# SPDX-License-Identifier: Apache-2.0
"""Element types: doc/spec/neuron-core.md, 3.1."""
from __future__ import annotations


class DataType(str):
    """An element type. It is a string, its name, so that it equals strings that kernels use."""

    code: int  # TYPE of an operand
    itemsize: int  # bytes
    kind: str  # float, signed, unsigned, scale, packed
    lanes: int  # values in one element: 4 for packed types

    def __new__(cls, name: str, code: int, itemsize: int, kind: str, lanes: int = 1) -> "DataType":
        self = super().__new__(cls, name)
        self.code, self.itemsize, self.kind, self.lanes = code, itemsize, kind, lanes
        ALL[name] = self
        return self

    @property
    def name(self) -> str:
        return str(self)

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        return self.kind in ("signed", "unsigned")

    @property
    def is_packed(self) -> bool:
        return self.kind == "packed"

    @property
    def is_fp8(self) -> bool:
        return self.kind == "float" and self.itemsize == 1

    def __repr__(self) -> str:
        return str(self)

    def __reduce__(self) -> tuple[object, ...]:
        return (named, (str(self),))


ALL: dict[str, DataType] = {}

float32 = DataType("float32", 0, 4, "float")
tfloat32 = DataType("tfloat32", 1, 4, "float")
bfloat16 = DataType("bfloat16", 2, 2, "float")
float16 = DataType("float16", 3, 2, "float")
float8_e3m4 = DataType("float8_e3m4", 4, 1, "float")
float8_e4m3 = DataType("float8_e4m3", 5, 1, "float")
float8_e4m3fn = DataType("float8_e4m3fn", 6, 1, "float")
float8_e5m2 = DataType("float8_e5m2", 7, 1, "float")
int8 = DataType("int8", 8, 1, "signed")
uint8 = DataType("uint8", 9, 1, "unsigned")
int16 = DataType("int16", 10, 2, "signed")
uint16 = DataType("uint16", 11, 2, "unsigned")
int32 = DataType("int32", 12, 4, "signed")
uint32 = DataType("uint32", 13, 4, "unsigned")
float8_e8m0fnu = DataType("float8_e8m0fnu", 14, 1, "scale")
float8_e4m3fn_x4 = DataType("float8_e4m3fn_x4", 15, 4, "packed", 4)
float8_e5m2_x4 = DataType("float8_e5m2_x4", 16, 4, "packed", 4)
float4_e2m1fn_x4 = DataType("float4_e2m1fn_x4", 17, 2, "packed", 4)
int64 = DataType("int64", 18, 8, "signed")
uint64 = DataType("uint64", 19, 8, "unsigned")
bool_ = DataType("bool", 9, 1, "unsigned")  # a byte


_ONLY_V4 = (float8_e4m3fn, float8_e8m0fnu, float8_e4m3fn_x4, float8_e5m2_x4, float4_e2m1fn_x4)
OF_BITS = {1: uint8, 2: uint16, 4: uint32}  # of a size, in all generations and engines


def is_computed(dtype: DataType) -> bool:
    """Whether engines convert the type to FP32 and back (3.1)."""
    return dtype.code <= uint32.code


def exists(dtype: DataType, generation: int) -> bool:
    """Whether engines of NeuronCore-v`generation` have the type (3.1)."""
    return generation >= (4 if dtype in _ONLY_V4 else 3 if dtype.itemsize == 8 else 2)


def keep_bits(first: DataType, second: DataType) -> bool:
    """Whether a copy by DMA between the types moves bits: equal types, and types of one size that are not computed."""
    return first.code == second.code or (first.itemsize == second.itemsize and not (is_computed(first) and is_computed(second)))


def named(name: object) -> DataType:
    """The type called `name`: a DataType, a string, or anything NumPy takes for a type. Raises KeyError."""
    if isinstance(name, DataType):
        return name
    text = name if isinstance(name, str) else str(getattr(name, "name", None) or getattr(name, "__name__", ""))
    return ALL[{"bool_": "bool"}.get(text, text)]
