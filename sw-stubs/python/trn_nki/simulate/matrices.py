# SPDX-License-Identifier: Apache-2.0
"""The Tensor engine and MX quantisation (doc/spec/neuron-core.md, 3.7 and 3.9)."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy

from trn_nki.simulate import formats
from trn_nki.simulate.core import SimulatedCore
from trn_nki.values import data_types as types
from trn_nki.values.engines import engine, matmul_perf_mode

if TYPE_CHECKING:
    import numpy.typing as npt

    from trn_nki.simulate.formats import Floats
    from trn_nki.tensors.tensor import NkiTensor

_SMALLEST_NORMAL, _LARGEST = 2.0**-126, float(numpy.finfo(numpy.float32).max)
_MAX_EXPONENT = {types.float8_e4m3fn_x4: 8, types.float8_e5m2_x4: 15}
_INNER = {types.float8_e4m3fn_x4: types.float8_e4m3fn, types.float8_e5m2_x4: types.float8_e5m2}


def multiply(stationary: Floats, moving: Floats, wide: bool) -> Floats:
    """Sum over rows k of stationary[k, m] * moving[k, n], in order, rounded to FP32 after each row."""
    acc = numpy.zeros((stationary.shape[1], moving.shape[1]), numpy.float32)
    if wide or not _is_exact(stationary, moving):
        a, b = stationary.astype(numpy.float64), moving.astype(numpy.float64)
        for k in range(len(a)):
            acc = (acc + a[k][:, None] * b[k]).astype(numpy.float32)
        return acc
    product = numpy.empty_like(acc)
    for k in range(len(stationary)):  # the product of two narrow types is exact in FP32
        numpy.multiply(stationary[k][:, None], moving[k], out=product)
        acc += product
    return acc


def _is_exact(a: Floats, b: Floats) -> bool:
    """Whether all products of finite numbers are 0 or normal in FP32."""
    smallest = largest = 1.0
    for values in (a, b):
        sizes = numpy.abs(values[numpy.isfinite(values) & (values != 0)])
        if sizes.size:
            smallest, largest = smallest * float(sizes.min()), largest * float(sizes.max())
    return _SMALLEST_NORMAL <= smallest and largest <= _LARGEST


def multiply_groups(stationary: Floats, moving: Floats, scale: Sequence[npt.NDArray[numpy.float64]] | None = None) -> Floats:
    """[K, M, q] and [K, N, q]: the q products of a row are summed exactly, scaled, added to FP32."""
    a, b = stationary.astype(numpy.float64), moving.astype(numpy.float64)
    acc = numpy.zeros((a.shape[1], b.shape[1]), numpy.float32)
    for k in range(len(a)):
        row = a[k][:, None, 0] * b[k][None, :, 0]
        for q in range(1, a.shape[2]):
            row = row + a[k][:, None, q] * b[k][None, :, q]
        if scale is not None:
            row = row * (scale[0][k][:, None] * scale[1][k][None, :])
        acc = (acc + row).astype(numpy.float32)
    return acc


def nc_matmul(core: SimulatedCore, arguments: dict[str, Any]) -> None:
    stationary, moving, dst = (arguments[name] for name in ("stationary", "moving", "dst"))
    if arguments["is_transpose"] and core.generation.number >= 3:
        raw = core.raw(stationary).T
        kind = numpy.dtype(f"u{raw.dtype.itemsize}")
        core.store_raw(dst, raw.view(kind) if raw.flags.c_contiguous else numpy.ascontiguousarray(raw).view(kind))
        return
    if arguments["perf_mode"] is matmul_perf_mode.double_row:
        a, b = (core.values(view).reshape(view.shape[0], 2, -1).transpose(0, 2, 1) for view in (stationary, moving))
        result = multiply_groups(a, b)
    else:
        wide = types.float32 in (stationary.dtype, moving.dtype)
        result = multiply(core.values(stationary), core.values(moving), wide)
    _to_psum(core, arguments, result)


def _to_psum(core: SimulatedCore, arguments: dict[str, Any], result: Floats) -> None:
    if arguments["accumulate"]:
        result = core.values(arguments["dst"]) + result
    core.store(arguments["dst"], result)


def nc_matmul_mx(core: SimulatedCore, arguments: dict[str, Any]) -> None:
    factors, scales = [], []
    for name in ("stationary", "moving"):
        view = arguments[name]
        factors.append(formats.unpack(core.raw(view), view.dtype))
        codes = _scales(core, view, arguments[name + "_scale"])
        scale = numpy.ldexp(1.0, codes.astype(numpy.int64) - 127)
        scales.append(numpy.where(codes == 0xFF, numpy.nan, scale))
    _to_psum(core, arguments, multiply_groups(factors[0], factors[1], scales))


def _scale_window(view: NkiTensor, scale: NkiTensor) -> tuple[NkiTensor, npt.NDArray[Any]]:
    """All partitions that hold scales, and which of them belongs to each data partition."""
    partitions = numpy.arange(view.shape[0])
    rows = 32 * (partitions // 32) + partitions % 32 // 8
    window = scale._derive((32 * (view.shape[0] // 32 - 1) + 4,) + scale.shape[1:], scale.strides, scale.offset)
    return window, rows


def _scales(core: SimulatedCore, view: NkiTensor, scale: NkiTensor) -> npt.NDArray[numpy.uint8]:
    window, rows = _scale_window(view, scale)
    return core.raw(window)[rows]


def quantize_mx(core: SimulatedCore, arguments: dict[str, Any]) -> None:
    dst, scale = arguments["dst"], arguments["dst_scale"]
    values = core.values(arguments["src"]).astype(numpy.float64)
    partitions, columns = values.shape[0], values.shape[1] // 4
    groups = values.reshape(partitions // 8, 8, columns, 4)
    largest = numpy.abs(groups).max(axis=(1, 3))
    bad = ~numpy.isfinite(groups).all(axis=(1, 3))
    _, exponent = numpy.frexp(numpy.where(bad, 0, largest))
    power = numpy.clip(exponent - 1 - (_MAX_EXPONENT[dst.dtype] - 1), -127, 127)
    power = numpy.where(largest == 0, -127, power)
    scaled = numpy.ldexp(groups, -power[:, None, :, None])
    scaled = numpy.where(bad[:, None, :, None], numpy.nan, scaled).reshape(partitions, columns, 4)
    codes = formats.from_float32(scaled.astype(numpy.float32), _INNER[dst.dtype])
    core.store_raw(dst, numpy.ascontiguousarray(codes).view(numpy.uint32)[..., 0])
    window, _ = _scale_window(dst, scale)
    written = numpy.where(bad, 0xFF, power + 127).astype(numpy.uint8)
    target = core.memory.array(window).reshape(window.shape[0], -1) if window.ndim > 2 else core.memory.array(window)
    for group in range(partitions // 8):
        target[32 * (group // 4) + group % 4] = written[group]


def nc_transpose(core: SimulatedCore, arguments: dict[str, Any]) -> None:
    dst, data = arguments["dst"], arguments["data"]
    if core.generation.number == 2 and core.engine is engine.tensor:
        values = core.values(data)
        core.store(dst, multiply(values, numpy.eye(len(values), dtype=numpy.float32), True))
    else:
        core.store_raw(dst, core.raw(data).T)


OPERATIONS = {"nc_matmul": nc_matmul, "nc_matmul_mx": nc_matmul_mx, "quantize_mx": quantize_mx, "nc_transpose": nc_transpose}
