# SPDX-License-Identifier: Apache-2.0
"""Values, tensors, functions and loops that kernels use (doc/spec/neuron-core.md, 14)."""
import builtins as _builtins

from trn_nki.diagnostics import dialects as _dialects
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace.registers import VirtualRegister
from trn_nki.values.data_types import DataType as _DataType
from trn_nki.values.data_types import (
    bfloat16,
    bool_,
    float4_e2m1fn_x4,
    float8_e4m3,
    float8_e4m3fn,
    float8_e4m3fn_x4,
    float8_e5m2,
    float8_e5m2_x4,
    float8_e8m0fnu,
    float16,
    float32,
    int8,
    int16,
    int32,
    tfloat32,
    uint8,
    uint16,
    uint32,
)
from trn_nki.values.generations import tile_sizes as _tile_sizes
from trn_nki.values.memory_regions import MemoryRegion, hbm, private_hbm, psum, sbuf, shared_hbm
from trn_nki.values.objects import NKIObject
from trn_nki.values.operators import *  # noqa: F401,F403  operators; functions.py implements them on tiles
from nki.language.creation import *  # noqa: F401,F403,E402
from nki.language.functions import *  # noqa: F401,F403,E402
from nki.language.loops import *  # noqa: F401,F403,E402

tile_size = _tile_sizes()


def is_hbm(buffer: object) -> _builtins.bool:
    """Whether a buffer is one of HBM."""
    return buffer in (private_hbm, shared_hbm)


def is_on_chip(buffer: object) -> _builtins.bool:
    """Whether a buffer is SBUF or PSUM."""
    return buffer in (sbuf, psum)


def is_psum(buffer: object) -> _builtins.bool:
    """Whether a buffer is PSUM."""
    return buffer is psum


def is_sbuf(buffer: object) -> _builtins.bool:
    """Whether a buffer is SBUF."""
    return buffer is sbuf


DType, bool, range = _DataType, bool_, affine_range  # last: they shadow Python's names

_dialects.names_of_language(globals())


def __getattr__(name: str) -> object:
    _dialects.raise_missing("nki.language", name, globals())
