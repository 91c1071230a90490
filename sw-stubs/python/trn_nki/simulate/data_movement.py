# SPDX-License-Identifier: Apache-2.0
"""DMA and registers."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy

from trn_nki.simulate import formats
from trn_nki.simulate.core import SimulatedCore
from trn_nki.trace.host_arrays import raw_type
from trn_nki.values import operators as op
from trn_nki.values.data_types import DataType, keep_bits
from trn_nki.values.engines import oob_mode
from trn_nki.values.operators import Operator

if TYPE_CHECKING:
    from trn_nki.simulate.formats import Floats, Raw

_AXES = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}


def _moved(raw: Raw, source: DataType, target: DataType) -> Raw:
    """Raw elements of another type; packed and scale types move as bits."""
    if keep_bits(source, target):
        return raw.view(raw_type(target))
    return formats.from_float32(formats.to_float32(raw, source), target)


def dma_copy(core: SimulatedCore, arguments: dict[str, Any]) -> None:
    dst, src = arguments["dst"], arguments["src"]
    core.memory.skip_out_of_range = arguments["oob_mode"] is oob_mode.skip
    raw = _moved(core.memory.read(src), src.dtype, dst.dtype)
    if dst.indirection is None and src.indirection is not None and dst.shape != src.shape and arguments["oob_mode"] is oob_mode.skip:
        dst = dst.reshape(src.shape)
    core.memory.write(dst, raw, src)
    core.memory.skip_out_of_range = False


def dma_transpose(core: SimulatedCore, arguments: dict[str, Any]) -> None:
    dst, src = arguments["dst"], arguments["src"]
    core.memory.skip_out_of_range = arguments["oob_mode"] is oob_mode.skip
    core.memory.write(dst, core.memory.read(src).transpose(_AXES[src.ndim]))
    core.memory.skip_out_of_range = False


def dma_compute(core: SimulatedCore, arguments: dict[str, Any]) -> None:
    dst = arguments["dst"]
    core.memory.skip_out_of_range = arguments["oob_mode"] is oob_mode.skip
    total: Floats | None = None
    for view in arguments["srcs"]:
        values = formats.to_float32(core.memory.read(view), view.dtype).reshape(-1)
        total = values if total is None else total + values
    assert total is not None
    core.memory.write(dst, formats.from_float32(total, dst.dtype))
    core.memory.skip_out_of_range = False


def _integer(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


_REGISTER_ALU: dict[Operator, Callable[[int, int], int]] = {
    op.add: lambda a, b: a + b,
    op.subtract: lambda a, b: a - b,
    op.multiply: lambda a, b: a * b,
}


def register_move(core: SimulatedCore, arguments: dict[str, Any]) -> None:
    core.memory.registers[arguments["dst"]] = _integer(core.memory.value(arguments["src"]))


def register_alu(core: SimulatedCore, arguments: dict[str, Any]) -> None:
    a, b = core.memory.value(arguments["a"]), core.memory.value(arguments["b"])
    core.memory.registers[arguments["dst"]] = _integer(_REGISTER_ALU[arguments["op"]](a, b))


def register_store(core: SimulatedCore, arguments: dict[str, Any]) -> None:
    dst = arguments["dst"]
    bits = numpy.array([core.memory.value(arguments["src"]) % 2**32], numpy.uint32)
    if dst.dtype.is_integer:  # the low bits
        core.memory.array(dst)[...] = bits.astype(raw_type(dst.dtype))
    else:
        core.memory.array(dst)[...] = formats.from_float32(bits.view(numpy.float32), dst.dtype)


OPERATIONS = {
    "dma_copy": dma_copy,
    "dma_transpose": dma_transpose,
    "dma_compute": dma_compute,
    "register_move": register_move,
    "register_alu": register_alu,
    "register_load": register_move,
    "register_store": register_store,
}
