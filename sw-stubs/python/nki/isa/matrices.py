# SPDX-License-Identifier: Apache-2.0
"""nki.isa: The Tensor engine, and what prepares its operands."""
from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from trn_nki.trace.recording import record
from trn_nki.values import engines

if TYPE_CHECKING:
    from trn_nki.tensors.tensor import NkiTensor
    from trn_nki.tensors.argument_types import Engine
    from trn_nki.trace.instructions import Instruction

__all__ = ["nc_matmul", "nc_matmul_mx", "nc_transpose", "quantize_mx"]


def nc_matmul(
    dst: NkiTensor,
    stationary: NkiTensor,
    moving: NkiTensor,
    is_stationary_onezero: bool = False,
    is_moving_onezero: bool = False,
    is_transpose: bool = False,
    accumulate: bool | None = None,
    tile_position: Sequence[int] = (),
    tile_size: Sequence[int] = (),
    perf_mode: engines.matmul_perf_mode = engines.matmul_perf_mode.none,
    name: str | None = None,
) -> Instruction:
    """dst = stationary.T @ moving, overwriting or accumulating in PSUM.

    `stationary` [K, M], M at most 128, and `moving` [K, N] in SBUF, of types that 4.1 combines; `dst` [M, N] in PSUM, of type
    float32, from NeuronCore-v4 also bfloat16. N is at most 512, on v4 4,096, with a bfloat16 `dst` 8,192. `accumulate`: None
    overwrites what no product has written before, and adds otherwise (15.3). `is_transpose`: `dst` = stationary.T, with a
    `moving` of K columns (20.48). `tile_position` and `tile_size`: (row, column) and (rows, columns) of the array, both or none
    (4.1). double_row, from v3: operands [K, 2, M] and [K, 2, N] of FP8 types. `is_stationary_onezero` and
    `is_moving_onezero`: the numbers are unchanged, FP32 takes half of the time. Specification: 8.3, rows 21 and 22; 3.7.
    """
    return record("nc_matmul", locals())


def nc_matmul_mx(
    dst: NkiTensor,
    stationary: NkiTensor,
    moving: NkiTensor,
    stationary_scale: NkiTensor,
    moving_scale: NkiTensor,
    tile_position: Sequence[int] | None = None,
    tile_size: Sequence[int] | None = None,
    accumulate: bool | None = None,
    name: str | None = None,
) -> Instruction:
    """dst = stationary.T @ moving of MX operands with their scales.

    `stationary` [K, M] and `moving` [K, N] in SBUF, of types with four values in an element; K is a multiple of 32, M is even and
    at most 128. Scales: type float8_e8m0fnu or uint8, laid out as 3.9 says. `dst` [M, N] in PSUM; `accumulate`, `tile_position`
    and `tile_size` as in `nc_matmul`, without column tiles. From NeuronCore-v4. Specification: 8.3, rows 21 and 22; 3.9.
    """
    return record("nc_matmul_mx", locals())


def nc_transpose(dst: NkiTensor, data: NkiTensor, engine: Engine = engines.engine.unknown, name: str | None = None) -> Instruction:
    """dst = data with partitions and elements exchanged.

    `data` [P, F], `dst` [F, P] of its type (on NeuronCore-v2 Tensor also writes float32). Tensor takes up to [128, 128] from SBUF
    to PSUM, Vector up to [32, 32]. Specification: 8.3; 8.4, row 34.
    """
    return record("nc_transpose", locals())


def quantize_mx(dst: NkiTensor, src: NkiTensor, dst_scale: NkiTensor, name: str | None = None) -> Instruction:
    """dst, dst_scale = src in MX format.

    Tiles in SBUF: `src` [P, 4 F] of type float16 or bfloat16, P a multiple of 32; `dst` [P, F] of type float8_e4m3fn_x4 or
    float8_e5m2_x4; `dst_scale` of type float8_e8m0fnu or uint8, laid out as 3.9 says. From NeuronCore-v4.
    Specification: 8.4, row 51; 3.9.
    """
    return record("quantize_mx", locals())
