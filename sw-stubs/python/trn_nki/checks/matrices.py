# SPDX-License-Identifier: Apache-2.0
"""Rules of the Tensor engine (doc/spec/neuron-core.md, 3.7, 3.9 and 4.1)."""
from __future__ import annotations

from trn_nki.checks import operands
from trn_nki.checks.call import Call
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.values import data_types as types
from trn_nki.values.engines import engine, matmul_perf_mode
from trn_nki.values.generations import PSUM_BANK_BYTES
from trn_nki.values.memory_regions import psum, sbuf

_FP32 = (types.float32, types.tfloat32)
_INPUTS = _FP32 + (types.bfloat16, types.float16, types.float8_e3m4, types.float8_e4m3, types.float8_e5m2, types.float8_e4m3fn)
_DOUBLE_ROW = (types.float8_e4m3, types.float8_e5m2, types.float8_e4m3fn)
_MX = (types.float8_e4m3fn_x4, types.float8_e5m2_x4, types.float4_e2m1fn_x4)
_SCALES = (types.float8_e8m0fnu, types.uint8)


def _nc_matmul(call: Call) -> None:
    dst = operands.tile(call, "dst", psum)
    stationary, moving = operands.tile(call, "stationary", sbuf), operands.tile(call, "moving", sbuf)
    double_row = call.arguments["perf_mode"] is matmul_perf_mode.double_row
    _types(call, stationary.dtype, moving.dtype, double_row)
    columns, count = stationary.free_size, moving.free_size
    if double_row:
        if call.generation.number < 3:
            raise KernelError("nisa.nc_matmul: double_row exists from NeuronCore-v3", "13")
        for name, operand in (("stationary", stationary), ("moving", moving)):
            if operand.ndim < 3 or operand.shape[1] != 2:
                raise KernelError(f"nisa.nc_matmul: with double_row {name} is [partitions, 2, elements], not {operand!r}", "4.1")
        columns, count = columns // 2, count // 2
    if stationary.shape[0] != moving.shape[0]:
        raise KernelError(
            f"nisa.nc_matmul: stationary has {stationary.shape[0]} partitions and moving "
            f"{moving.shape[0]}; they are contracted and must agree",
            "4.1",
        )
    _result(call, dst, columns, count)
    if call.arguments["is_transpose"]:
        _transposes(call, stationary, count, double_row)
    if call.arguments["is_transpose"] and call.generation.number >= 3:
        wanted = types.uint16 if stationary.dtype.is_fp8 else stationary.dtype
        if dst.dtype is not wanted:
            raise KernelError(f"nisa.nc_matmul: a transpose of {stationary.dtype} writes {wanted}, not {dst.dtype}", "3.7")
    else:
        _destination_type(call, dst)
    _array_tile(call, stationary.shape[0], columns, column_tiles=not double_row)
    _rows_and_columns(call)


def _transposes(call: Call, stationary: NkiTensor, count: int, double_row: bool) -> None:
    """The moving operand is as wide as the stationary is high, and nothing is added up (20.48)."""
    if double_row:
        raise KernelError("nisa.nc_matmul: double_row does not transpose", "4.1")
    if call.arguments["accumulate"]:
        raise KernelError("nisa.nc_matmul: a transpose does not accumulate", "20.48")
    if count != stationary.shape[0]:
        raise KernelError(
            f"nisa.nc_matmul: stationary has {stationary.shape[0]} partitions, so moving must have as many "
            f"columns to transpose it, not {count}",
            "20.48",
        )


def _types(call: Call, a: types.DataType, b: types.DataType, double_row: bool) -> None:
    for name, dtype in (("stationary", a), ("moving", b)):
        if dtype not in (_DOUBLE_ROW if double_row else _INPUTS):
            raise KernelError(
                f"nisa.nc_matmul: {name} is {dtype}, which the Tensor engine does not multiply"
                + (" with double_row" if double_row else ""),
                "4.1",
            )
        if dtype is types.float8_e4m3fn and call.generation.number < 4:
            raise KernelError("nisa.nc_matmul: float8_e4m3fn exists from NeuronCore-v4", "13")
    if (a in _FP32) != (b in _FP32):
        raise KernelError(f"nisa.nc_matmul: {a} meets {b}; float32 and tfloat32 multiply only each other", "4.1")
    if {a, b} == {types.float8_e4m3, types.float8_e4m3fn}:
        raise KernelError("nisa.nc_matmul: float8_e4m3 must not meet float8_e4m3fn", "4.1")


def _result(call: Call, dst: NkiTensor, columns: int, count: int) -> None:
    if columns > 128:
        raise KernelError(f"nisa.{call.operation}: stationary has {columns} columns; the array has 128", "4.1")
    narrow = dst.dtype is types.bfloat16 and call.generation.max_moving_bf16
    limit = call.generation.max_moving_bf16 if narrow else call.generation.max_moving_fp32
    if count > limit:
        raise KernelError(f"nisa.{call.operation}: moving has {count} columns; NeuronCore-v{call.generation.number} takes {limit}", "4.1")
    if dst.shape[0] != columns or dst.free_size != count:
        raise KernelError(f"nisa.{call.operation}: the result is [{columns}, {count}]; dst is {dst!r}", "4.1")
    if call.generation.number < 4 and dst.storage.address is not None:
        start = dst.start_byte
        if start // PSUM_BANK_BYTES != (start + count * dst.dtype.itemsize - 1) // PSUM_BANK_BYTES:
            raise KernelError(f"nisa.{call.operation}: dst crosses PSUM banks", "2.1")


def _destination_type(call: Call, dst: NkiTensor) -> None:
    allowed = (types.float32, types.bfloat16) if call.generation.number >= 4 else (types.float32,)
    if dst.dtype not in allowed:
        raise KernelError(
            f"nisa.{call.operation}: dst is {dst.dtype}; NeuronCore-v{call.generation.number} writes {' or '.join(allowed)}", "4.1"
        )


def _array_tile(call: Call, rows: int, columns: int, column_tiles: bool) -> None:
    position, size = call.arguments["tile_position"], call.arguments["tile_size"]
    if not position and not size:
        return
    if not position or not size:
        raise KernelError(f"nisa.{call.operation}: tile_position and tile_size come together", "4.1")
    smallest = 32 if call.generation.number >= 3 else 64
    for axis, (start, extent, used) in enumerate(zip(position, size, (rows, columns))):
        if extent not in (32, 64, 128) or extent < smallest or start % extent or not 0 <= start < 128:
            raise KernelError(f"nisa.{call.operation}: no tile of the array starts at {tuple(position)} with size {tuple(size)}", "4.1")
        if used > extent:
            raise KernelError(
                f"nisa.{call.operation}: stationary has {used} {('rows', 'columns')[axis]}; its tile of the array has {extent}", "4.1"
            )
    if not column_tiles and size[1] != 128:
        raise KernelError(f"nisa.{call.operation}: this mode has no column tiles", "4.1")


def _rows_and_columns(call: Call) -> None:
    """Rows of a tile of the array use the SBUF partitions of their numbers, columns write those of PSUM (4.1, 20.29)."""
    position, size = call.arguments["tile_position"] or (0, 0), call.arguments["tile_size"] or (128, 128)
    names = (("dst", 1),) if size[0] == 128 else (("dst", 1), ("stationary", 0), ("moving", 0))
    for name, axis in names:
        _starts_at(call, name, position[axis])


def _starts_at(call: Call, name: str, wanted: int) -> None:
    found = call.arguments[name]
    if found.start_partition != wanted:
        raise KernelError(
            f"nisa.{call.operation}: {name} starts at partition {found.start_partition}; its tile of the array at {wanted}", "4.1"
        )


def _nc_matmul_mx(call: Call) -> None:
    dst = operands.tile(call, "dst", psum)
    stationary, moving = operands.tile(call, "stationary", sbuf), operands.tile(call, "moving", sbuf)
    for name in ("stationary", "moving"):
        operands.one_of(call, name, *_MX)
        operands.tensor(call, name + "_scale")
        operands.one_of(call, name + "_scale", *_SCALES)
        _scale(call, call.arguments[name], call.arguments[name + "_scale"], name + "_scale")
    if stationary.shape[0] != moving.shape[0]:
        raise KernelError(
            f"nisa.nc_matmul_mx: stationary has {stationary.shape[0]} partitions and moving "
            f"{moving.shape[0]}; they are contracted and must agree",
            "4.1",
        )
    operands.multiple(call, "number of partitions", stationary.shape[0], 32, 128)
    operands.multiple(call, "number of stationary columns", stationary.free_size, 2, 128)
    _result(call, dst, stationary.free_size, moving.free_size)
    _destination_type(call, dst)
    _array_tile(call, stationary.shape[0], stationary.free_size, column_tiles=False)
    _rows_and_columns(call)


def _scale(call: Call, data: NkiTensor, scale: NkiTensor, name: str) -> None:
    """Quadrant q of the data has its scales in partitions 32q + s .. 32q + s + 3 (3.9)."""
    start = scale.partition % 32
    needed = 32 * (data.shape[0] // 32 - 1) + 4
    if scale.buffer is not sbuf or start not in (0, 4, 8, 12):
        raise KernelError(
            f"nisa.{call.operation}: {name} starts at partition {start} of its quadrant; possible are 0, 4, 8 and 12 in SBUF", "3.9"
        )
    if scale.partition + needed > scale.storage.partitions or scale.free_size != data.free_size:
        raise KernelError(
            f"nisa.{call.operation}: {name} is {scale!r}; {data!r} needs {needed} partitions and {data.free_size} columns", "3.9"
        )


def _nc_transpose(call: Call) -> None:
    if call.engine is engine.tensor:
        dst, data = operands.tile(call, "dst", psum), operands.tile(call, "data", sbuf)
        limit = 128
        operands.one_of(call, "data", *_INPUTS)
        _starts_at(call, "dst", 0)
    else:
        dst, data = operands.tile(call, "dst"), operands.tile(call, "data")
        limit = 32
    if data.shape[0] > limit or data.free_size > limit:
        raise KernelError(f"nisa.nc_transpose: data is {data!r}; the {call.engine.name} engine transposes up to [{limit}, {limit}]", "8.3")
    if dst.shape[0] != data.free_size or dst.free_size != data.shape[0]:
        raise KernelError(f"nisa.nc_transpose: the result is [{data.free_size}, {data.shape[0]}]; dst is {dst!r}", "8.3")
    if dst.dtype is not data.dtype and not (call.generation.number == 2 and call.engine is engine.tensor and dst.dtype is types.float32):
        raise KernelError(f"nisa.nc_transpose: dst is {dst.dtype} and data is {data.dtype}; the types must be equal", "8.3")


def _quantize_mx(call: Call) -> None:
    dst, src = operands.tile(call, "dst", sbuf), operands.tile(call, "src", sbuf)
    scale = operands.tensor(call, "dst_scale")
    operands.one_of(call, "src", types.float16, types.bfloat16)
    operands.one_of(call, "dst", *_MX[:2])
    operands.one_of(call, "dst_scale", *_SCALES)
    operands.multiple(call, "number of partitions", src.shape[0], 32, 128)
    operands.multiple(call, "number of elements", src.free_size, 4)
    if dst.shape[0] != src.shape[0] or dst.free_size * 4 != src.free_size:
        raise KernelError(f"nisa.quantize_mx: src is {src!r}; dst must have a quarter of its elements and is {dst!r}", "3.9")
    _scale(call, dst, scale, "dst_scale")


RULES = {"nc_matmul": _nc_matmul, "nc_matmul_mx": _nc_matmul_mx, "nc_transpose": _nc_transpose, "quantize_mx": _quantize_mx}
