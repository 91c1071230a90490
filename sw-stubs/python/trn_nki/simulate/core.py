# SPDX-License-Identifier: Apache-2.0
"""A core that instructions change."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from trn_nki.simulate import formats
from trn_nki.simulate.arithmetic import reduce
from trn_nki.simulate.generators import generators_of
from trn_nki.simulate.memory import DynamicMemory
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace import host_arrays
from trn_nki.trace.recording import Core
from trn_nki.values.engines import engine, reduce_cmd

if TYPE_CHECKING:
    import numpy.typing as npt

    from trn_nki.simulate.formats import Floats
    from trn_nki.tensors.argument_types import Scalar
    from trn_nki.tensors.storage import Storage
    from trn_nki.values.operators import Operator


class SimulatedCore:
    """State of one core, and access to it for instructions."""

    def __init__(self, recorded: Core, shared: dict[Storage, npt.NDArray[numpy.uint8]]):
        self.generation, self.recorded = recorded.generation, recorded
        self.memory = DynamicMemory(recorded.generation, shared)
        self.accumulators = {owner: numpy.zeros(128, numpy.float32) for owner in (engine.scalar, engine.vector)}
        self.generators = generators_of(recorded.generation.number)
        self.engine = engine.vector

    # Operands, as [partitions, elements].

    def raw(self, view: NkiTensor) -> npt.NDArray[Any]:
        return self.memory.read(view).reshape(view.shape[0], -1)

    def values(self, view: NkiTensor) -> Floats:
        return formats.to_float32(self.raw(view), view.dtype)

    def scalar(self, value: Scalar | None) -> Floats | numpy.float32:
        """None, of an operand that the operator ignores, is NaN."""
        return self.values(value) if isinstance(value, NkiTensor) else numpy.float32(value)

    def integer(self, value: Scalar | None) -> npt.NDArray[Any] | int:
        return self.raw(value) if isinstance(value, NkiTensor) else 0 if value is None else int(value)

    def store(self, view: NkiTensor, values: Floats) -> None:
        self.memory.write(view, formats.from_float32(values, view.dtype))

    def store_raw(self, view: NkiTensor, raw: npt.NDArray[Any]) -> None:
        target = host_arrays.raw_type(view.dtype)
        if raw.dtype != target and raw.dtype.itemsize == numpy.dtype(target).itemsize:
            raw = numpy.ascontiguousarray(raw).view(target)
        self.memory.write(view, raw)

    # Accumulators (3.5).

    def accumulator(self, command: reduce_cmd, operator: Operator, lanes_used: int, initial: Scalar | None = None) -> Floats:
        held = self.accumulators[self.engine][:lanes_used]
        if command in (reduce_cmd.reset, reduce_cmd.reset_reduce):
            held[:] = operator.start
        elif command is reduce_cmd.load_reduce:
            held[:] = numpy.broadcast_to(self.scalar(initial), (lanes_used, 1))[:, 0]
        return held

    def accumulate(
        self,
        command: reduce_cmd,
        operator: Operator,
        values: Floats,
        result: NkiTensor | None,
        initial: Scalar | None = None,
        negate: bool = False,
    ) -> None:
        held = self.accumulator(command, operator, len(values), initial)
        if command not in (reduce_cmd.idle, reduce_cmd.reset):
            held[:] = reduce(operator, values, held)
        if result is not None:
            self.store(result, (held * numpy.float32(-1) if negate else held)[:, None])
