# SPDX-License-Identifier: Apache-2.0
"""From recorded calls to instructions: the table of doc/spec/neuron-core.md, 14."""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Callable, Iterator, Sequence

from trn_nki.checks.collectives import COLLECTIVES
from trn_nki.compile.collectives import append_collective
from trn_nki.compile.control import Control, Flat
from trn_nki.compile.meetings import Meetings
from trn_nki.compile.moves import Moves
from trn_nki.compile.operands import Operands, alu, fp32, function
from trn_nki.compile.program import Array, Copy, Exact, Field, Operand, Program, Tile, grouped
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace.instructions import Instruction
from trn_nki.trace.meetings import MEETINGS
from trn_nki.trace.recording import Recording
from trn_nki.values import data_types
from trn_nki.values.data_types import DataType
from trn_nki.values.engines import matmul_perf_mode, reduce_cmd
from trn_nki.values.operators import Operator

if TYPE_CHECKING:
    from trn_nki.compile.program import LoopStart
    from trn_nki.tensors.argument_types import Axes, DataPattern, Number, Scalar


def lower(recording: Recording) -> tuple[Program, Operands]:
    """Raises KernelError for unsupported calls."""
    program = Program(recording.generation, len(recording.cores))
    operands = Operands(program)
    moves = Moves(program, operands)
    for _, tensor in recording.inputs:
        operands.array(tensor.storage)
    cores = [Lowering(program, operands, moves, recording.generation.number) for _ in recording.cores]
    bodies = [lowering.control.flat(core.body) for lowering, core in zip(cores, recording.cores)]
    meetings = Meetings(program, operands, moves)
    while True:
        met = []
        for core, (lowering, body) in enumerate(zip(cores, bodies)):
            operands.core = core
            met.append(lowering.until_meeting(body))
        if not any(met):
            break
        meetings.meet(met)
    operands.core = 0
    for tensor in recording.outputs:
        operands.array(tensor.storage)
    _set_roles(program)
    return program, operands


def _set_roles(program: Program) -> None:
    """Inputs that the kernel writes are also outputs."""
    for item in program.instructions:
        for part in item.parts if isinstance(item, Copy) else ():
            if isinstance(part.destination.base, Array):
                part.destination.base.note_write()


# Operation of nki.isa -> instruction that writes `dst`, and the arguments that are its tiles a and b.
_PLAIN: dict[str, tuple[str, ...]] = {
    "tensor_copy": ("copy", "src"),
    "reciprocal": ("reciprocal", "data"),
    "bn_stats": ("bn_stats", "data"),
    "bn_aggr": ("bn_aggr", "data"),
    "max8": ("max8", "src"),
    "nc_n_gather": ("gather_n", "data", "indices"),
    "sequence_bounds": ("sequence_bounds", "segment_ids"),
    "rng": ("rng",),
    "rand_get_state": ("rand_get_state",),
}


class Lowering:
    """Appends the instructions of one core, call by call."""

    def __init__(self, program: Program, operands: Operands, moves: Moves, generation: int):
        self.program, self.operands, self.generation = program, operands, generation
        self.moves = moves
        self._identities: dict[tuple[DataType, LoopStart | None], Tile] = {}
        self.engine = ""  # that executes the call
        self.control = Control(operands, generation)

    def until_meeting(self, items: Iterator[Flat]) -> Instruction | None:
        """Appends instructions up to one that both cores must reach, and returns it; None at the end."""
        for item in items:
            if not isinstance(item, Instruction):
                self.operands.place = item.place
                self.control.loop(item)
            elif item.operation in MEETINGS:
                return item
            else:
                self._call(item)
        return None

    def _call(self, item: Instruction) -> None:
        self.operands.place, self.engine = item.place, item.engine.name
        arguments = self.operands.steps.resolved(item.arguments)
        operation = item.operation
        handler: Callable[..., None] | None = getattr(self, f"_{operation}", None)
        if operation in _PLAIN:
            name, *sources = _PLAIN[operation]
            self._lanes(name, arguments["dst"], **{key: arguments[source] for key, source in zip("ab", sources)})
        elif operation in ("set_rng_seed", "rand_set_state"):
            self._read(operation, arguments["src_seeds"])
        elif operation.startswith("register_"):
            getattr(self.control, operation)(**arguments)
        elif operation in ("dma_copy", "dma_transpose", "dma_compute"):
            getattr(self.moves, operation)(arguments)
        elif operation in COLLECTIVES:
            append_collective(self.program, self.operands, operation, arguments)
        elif handler is None:
            raise KernelError(f"nisa.{operation} is not compiled yet; nki.simulate runs it", "14", item.place)
        else:
            handler(**arguments)

    # Parts of instructions.

    def _tile(self, view: NkiTensor, role: str = "the operand") -> Tile:
        return self.operands.tile(view, role, self.engine)

    def _add(
        self, name: str, fields: Sequence[Field], reads: Sequence[Operand] = (), writes: Sequence[Operand] = (), engine: str = ""
    ) -> None:
        self.operands.append(engine or self.engine, name, fields, reads, writes)

    def _lanes(
        self, name: str, dst: NkiTensor, fields: Sequence[Field] = (), reads: Sequence[Tile] = (), **views: NkiTensor | None
    ) -> None:
        """An instruction with DST and tiles a and b."""
        result = self._tile(dst, "dst")
        sources = {key: self._tile(view) for key, view in views.items() if view is not None}
        self._add(name, [*fields, ("dst", result), *sources.items()], [*sources.values(), *reads], [result])

    def _read(self, name: str, view: NkiTensor) -> None:
        """An instruction that only reads a tile."""
        source = self._tile(view)
        self._add(name, [("a", source)], [source])

    def _scalars(self, bitvec: bool = False, **values: Scalar | None) -> tuple[list[Field], list[Tile]]:
        fields: list[Field] = []
        reads: list[Tile] = []
        for key, value in values.items():
            if value is None:
                continue
            field, read = self.operands.scalar(value, bitvec)
            fields.append((key, field))
            reads += read
        return fields, reads

    @staticmethod
    def _reversed(reverse0: bool, reverse1: bool) -> list[Field]:
        return [word for word, is_chosen in (("reverse0", reverse0), ("reverse1", reverse1)) if is_chosen]

    def _alu(self, operator: Operator | None) -> str:
        return alu(operator, self.operands.place)

    def _accumulators(self, command: reduce_cmd, operator: Operator | None, default: str) -> list[Field]:
        if command is reduce_cmd.idle:
            return []
        return [("reduce", self._alu(operator) if operator is not None else default), ("cmd", command.name)]

    def _read_accumulators(self, result: NkiTensor | None, negate: bool = False) -> None:
        if result is not None:
            self._lanes("read_accumulator", result, ["negate"] if negate else [])

    # Lanes.

    def _memset(self, dst: NkiTensor, value: Number) -> None:
        result = self._tile(dst, "dst")
        text = str(int(value)) if dst.dtype.is_integer or dst.dtype.is_packed else fp32(value)
        self._add("memset", [("imm", text), ("dst", result)], [], [result])

    def _tensor_tensor(self, dst: NkiTensor, data1: NkiTensor, data2: NkiTensor, op: Operator) -> None:
        self._lanes("tensor_tensor", dst, [("op0", self._alu(op))], a=data1, b=data2)

    def _tensor_scalar(
        self,
        dst: NkiTensor,
        data: NkiTensor,
        op0: Operator,
        operand0: Scalar | None,
        reverse0: bool,
        op1: Operator | None,
        operand1: Scalar | None,
        reverse1: bool,
    ) -> None:
        fields: list[Field] = [("op0", self._alu(op0))]
        if op1 is not None:
            fields.append(("op1", self._alu(op1)))
        bitvec = op0.is_bitvec or (op1 is not None and op1.is_bitvec)
        scalars, reads = self._scalars(bitvec, s0=operand0, s1=operand1)
        fields += self._reversed(reverse0, reverse1)
        self._lanes("tensor_scalar", dst, fields + scalars, reads, a=data)

    def _scalar_tensor_tensor(
        self,
        dst: NkiTensor,
        data: NkiTensor,
        op0: Operator,
        operand0: Scalar | None,
        op1: Operator,
        operand1: NkiTensor,
        reverse0: bool,
        reverse1: bool,
    ) -> None:
        scalars, reads = self._scalars(s0=operand0)
        reverse0, reverse1 = reverse0 and not op0.ignores_b, reverse1 and not op1.ignores_b
        if reverse0 or reverse1:
            # The instruction has no reversed operands; the FP32 value between two instructions is
            # exact.
            between, source = self.operands.temporary(data, data_types.float32), self._tile(data)
            self._add(
                "tensor_scalar",
                [("op0", self._alu(op0)), *(["reverse0"] if reverse0 else []), *scalars, ("dst", between), ("a", source)],
                [source, *reads],
                [between],
            )
            sources = [between, self._tile(operand1)]
            a, b = reversed(sources) if reverse1 else sources
            result = self._tile(dst, "dst")
            self._add("tensor_tensor", [("op0", self._alu(op1)), ("dst", result), ("a", a), ("b", b)], sources, [result])
            return
        self._lanes("scalar_tensor_tensor", dst, [("op0", self._alu(op0)), ("op1", self._alu(op1)), *scalars], reads, a=data, b=operand1)

    def _tensor_tensor_scan(
        self,
        dst: NkiTensor,
        data0: NkiTensor,
        data1: NkiTensor,
        initial: Scalar,
        op0: Operator,
        op1: Operator,
        reverse0: bool,
        reverse1: bool,
    ) -> None:
        scalars, reads = self._scalars(s0=initial)
        fields = [("op0", self._alu(op0)), ("op1", self._alu(op1)), *scalars]
        fields += self._reversed(reverse0, reverse1)
        self._lanes("tensor_tensor_scan", dst, fields, reads, a=data0, b=data1)

    def _tensor_scalar_cumulative(
        self, dst: NkiTensor, src: NkiTensor, op0: Operator, op1: Operator, imm0: Scalar | None, imm1: Scalar | None, reduce_cmd: reduce_cmd
    ) -> None:
        scalars, reads = self._scalars(s0=imm0, s1=imm1 if reduce_cmd.name == "load_reduce" else None)
        self._lanes(
            "tensor_scalar_cumulative",
            dst,
            [("op0", self._alu(op0)), ("op1", self._alu(op1)), ("cmd", reduce_cmd.name), *scalars],
            reads,
            a=src,
        )

    def _tensor_copy_predicated(self, dst: NkiTensor, src: Scalar, predicate: NkiTensor, reverse_pred: bool) -> None:
        fields: list[Field] = ["predicate_reversed"] if reverse_pred else []
        kept = self._tile(dst)
        if isinstance(src, NkiTensor):
            if src.free_size == 1 != dst.free_size:  # one element for each partition
                src = src._derive((src.shape[0], dst.free_size), (src.strides[0], 0), src.offset)
            self._lanes("copy_predicated", dst, fields, [kept], a=src, b=predicate)
        else:
            scalars, reads = self._scalars(s0=src)
            self._lanes("copy_predicated", dst, fields + scalars, [*reads, kept], b=predicate)

    def _select_reduce(
        self,
        dst: NkiTensor,
        predicate: NkiTensor,
        on_true: NkiTensor,
        on_false: Scalar,
        reduce_res: NkiTensor | None,
        reduce_cmd: reduce_cmd,
        reduce_op: Operator | None,
        reverse_pred: bool,
    ) -> None:
        scalars, reads = self._scalars(s0=on_false)
        fields = (["predicate_reversed"] if reverse_pred else []) + self._accumulators(reduce_cmd, reduce_op, "max")
        self._lanes("select_reduce", dst, fields + scalars, reads, a=on_true, b=predicate)
        self._read_accumulators(reduce_res)

    def _range_select(
        self,
        dst: NkiTensor,
        on_true_tile: NkiTensor,
        comp_op0: Operator,
        comp_op1: Operator,
        bound0: NkiTensor,
        bound1: NkiTensor,
        reduce_cmd: reduce_cmd,
        reduce_res: NkiTensor | None,
        reduce_op: Operator | None,
        range_start: int,
        on_false_value: Scalar,
    ) -> None:
        scalars, reads = self._scalars(s0=bound0, s1=bound1)
        fields: list[Field] = [
            ("op0", self._alu(comp_op0)),
            ("op1", self._alu(comp_op1)),
            ("imm", int(range_start)),
            *self._accumulators(reduce_cmd, reduce_op, "max"),
        ]
        self._lanes("range_select", dst, fields + scalars, reads, a=on_true_tile)
        self._read_accumulators(reduce_res)

    def _dropout(self, dst: NkiTensor, data: NkiTensor, prob: Scalar) -> None:
        scalars, reads = self._scalars(s0=prob)
        self._lanes("dropout", dst, scalars, reads, a=data)

    # Patterns.

    def _data_pattern(self, pattern: DataPattern, offset: int, multiplier: int) -> tuple[str, str]:
        dims = [(count, step) for step, count in reversed([tuple(part) for part in pattern])]
        text = ", ".join(f"{count}:{step}" for count, step in dims)
        return "pattern", f"({int(offset)}, {int(multiplier)}) [{text}]"

    def _iota(self, dst: NkiTensor, pattern: DataPattern, offset: int, channel_multiplier: int) -> None:
        self._lanes("iota", dst, [self._data_pattern(pattern, offset, channel_multiplier)])

    def _affine_select(
        self,
        dst: NkiTensor,
        pattern: DataPattern,
        channel_multiplier: int,
        on_true_tile: NkiTensor,
        on_false_value: Scalar,
        cmp_op: Operator,
        offset: int,
    ) -> None:
        scalars, reads = self._scalars(s0=on_false_value)
        self._lanes(
            "affine_select",
            dst,
            [("op0", self._alu(cmp_op)), *scalars, self._data_pattern(pattern, offset, channel_multiplier)],
            reads,
            a=on_true_tile,
        )

    # Reductions and statistics.

    def _tensor_reduce(self, dst: NkiTensor, op: Operator, data: NkiTensor, axis: Axes, negate: bool, keepdims: bool) -> None:
        rank = len(data.shape)
        axes = {dimension % rank for dimension in (axis if isinstance(axis, (list, tuple)) else (axis,))}
        source = self._tile(data)
        by_axis = {rank - 1 - number: dim for number, dim in enumerate(source.dims)}
        reduced = grouped(tuple(by_axis[dimension] for dimension in sorted(axes, reverse=True)))
        kept = grouped(tuple(by_axis[dimension] for dimension in sorted(by_axis, reverse=True) if dimension not in axes))
        dims = reduced if kept == ((1, 1),) else reduced + kept
        if len(dims) > 4:
            raise KernelError(f"tensor_reduce over a pattern of {len(dims)} dimensions, at most 4 are possible", "2.3", self.operands.place)
        ordered = Exact(dataclasses.replace(source, dims=dims))
        result = self._tile(dst, "dst")
        self._add(
            "tensor_reduce",
            [("op0", self._alu(op)), ("subdim", len(reduced)), *(["negate"] if negate else []), ("dst", result), ("a", ordered)],
            [source],
            [result],
        )

    def _tensor_scalar_reduce(
        self,
        dst: NkiTensor,
        data: NkiTensor,
        op0: Operator,
        operand0: Scalar | None,
        reduce_op: Operator | None,
        reduce_res: NkiTensor | None,
        reverse0: bool,
        reduce_cmd: reduce_cmd,
        reduce_init: Scalar | None,
        reduce_res_negate: bool,
    ) -> None:
        scalars, reads = self._scalars(s0=operand0, s1=reduce_init if reduce_cmd.name == "load_reduce" else None)
        fields = [("op0", self._alu(op0)), *self._accumulators(reduce_cmd, reduce_op, "add"), *scalars]
        self._lanes("tensor_scalar_reduce", dst, fields + (["reverse0"] if reverse0 else []), reads, a=data)
        self._read_accumulators(reduce_res, bool(reduce_res_negate))

    def _tensor_partition_reduce(self, dst: NkiTensor, op: Operator, data: NkiTensor) -> None:
        self._lanes("partition_reduce", dst, [("op0", self._alu(op))], a=data)

    def _nc_find_index8(self, dst: NkiTensor, data: NkiTensor, vals: NkiTensor) -> None:
        self._read("match_load", vals)
        self._lanes("find_index8", dst, a=data)

    def _nc_match_replace8(self, dst: NkiTensor, data: NkiTensor, vals: NkiTensor, imm: Number, dst_idx: NkiTensor | None) -> None:
        self._read("match_load", vals)
        result, source = self._tile(dst, "dst"), self._tile(data)
        writes = [result]
        fields: list[Field] = [("imm", fp32(imm)), ("dst", result), ("a", source)]
        if dst_idx is not None:
            writes.append(self._tile(dst_idx))
            fields.append(("b", writes[-1]))
        self._add("match_replace8", fields, [source], writes)

    # Gathers and random numbers.

    def _nc_stream_shuffle(self, dst: NkiTensor, src: NkiTensor, shuffle_mask: Sequence[int]) -> None:
        mask = ", ".join(str(255 if int(entry) == 255 else int(entry)) for entry in shuffle_mask)
        result, source = self._tile(dst, "dst"), self._tile(src)
        kept = [result] if 255 in shuffle_mask else []
        # The mask selects among a quadrant's partitions, even if the source is only entry of them.
        whole = dataclasses.replace(source, partitions=result.partitions)
        self._add("shuffle", [("mask", f"[{mask}]"), ("dst", result), ("a", whole)], [source, *kept], [result])

    def _local_gather(
        self, dst: NkiTensor, src_buffer: NkiTensor, index: NkiTensor, num_elem_per_idx: int, num_valid_indices: int | None
    ) -> None:
        count = index.free_size * 16 if num_valid_indices is None else int(num_valid_indices)
        self._lanes("local_gather", dst, [("imm", int(num_elem_per_idx)), ("s0", f"i32({count})")], a=src_buffer, b=index)

    def _topk(self, val_dst: NkiTensor, idx_dst: NkiTensor, src: NkiTensor, n: int) -> None:
        values, indices, source = (self._tile(view) for view in (val_dst, idx_dst, src))
        self._add("topk", [("imm", int(n)), ("dst", values), ("a", source), ("b", indices)], [source], [values, indices])

    def _nonzero_with_count(self, dst: NkiTensor, src: NkiTensor, index_offset: int, padding_val: int) -> None:
        self._lanes("nonzero_count", dst, [("imm", int(index_offset)), ("s0", f"i32({int(padding_val)})")], a=src)

    def _rand2(self, dst: NkiTensor, min: Scalar, max: Scalar) -> None:  # noqa: A002 - AWS's names
        scalars, reads = self._scalars(s0=min, s1=max)
        self._lanes("rand2", dst, scalars, reads)

    # Scalar engine.

    def _activation(
        self,
        dst: NkiTensor,
        op: Operator,
        data: NkiTensor,
        bias: Scalar | None,
        scale: Scalar,
        reduce_op: Operator | None,
        reduce_res: NkiTensor | None,
        reduce_cmd: reduce_cmd,
    ) -> None:
        scalars, reads = self._scalars(s0=None if isinstance(scale, (int, float)) and scale == 1 else scale, s1=bias)
        fields = [("op0", function(op, self.operands.place)), *self._accumulators(reduce_cmd, reduce_op, "add")]
        self._lanes("activate", dst, fields + scalars, reads, a=data)
        self._read_accumulators(reduce_res)

    _activation_reduce = _activation

    def _activate2(
        self,
        dst: NkiTensor,
        op: Operator,
        data: NkiTensor,
        imm0: Scalar | None,
        imm1: Scalar | None,
        op0: Operator,
        op1: Operator,
        relu_param: Scalar,
        reverse0: bool,
        reverse1: bool,
        reduce_op: Operator | None,
        reduce_res: NkiTensor | None,
        reduce_cmd: reduce_cmd,
    ) -> None:
        scalars, reads = self._scalars(s0=imm0, s1=imm1)
        assert op0.code is not None and op1.code is not None
        fields: list[Field] = [
            ("op0", function(op, self.operands.place)),
            ("imm", op0.code | op1.code << 8),
            *self._accumulators(reduce_cmd, reduce_op, "add"),
            *scalars,
            *self._reversed(reverse0, reverse1),
        ]
        self._lanes("activate2", dst, fields, reads, a=data, b=relu_param if isinstance(relu_param, NkiTensor) else None)
        self._read_accumulators(reduce_res)

    def _exponential(
        self,
        dst: NkiTensor,
        src: NkiTensor,
        max_value: Scalar,
        reduce_res: NkiTensor | None,
        reduce_cmd: reduce_cmd,
        reduce_init: Scalar | None,
    ) -> None:
        scalars, reads = self._scalars(s0=max_value, s1=reduce_init if reduce_cmd.name == "load_reduce" else None)
        self._lanes("exponential", dst, self._accumulators(reduce_cmd, None, "add") + scalars, reads, a=src)
        self._read_accumulators(reduce_res)

    # Tensor engine.

    def _nc_matmul(
        self,
        dst: NkiTensor,
        stationary: NkiTensor,
        moving: NkiTensor,
        is_stationary_onezero: bool,
        is_moving_onezero: bool,
        is_transpose: bool,
        accumulate: bool,
        tile_position: Sequence[int] | None,
        tile_size: Sequence[int] | None,
        perf_mode: matmul_perf_mode,
    ) -> None:
        # Trainium1 has no transpose mode: it transposes by a product with an identity.
        words: list[Field] = ["transpose"] if is_transpose and self.generation > 2 else []
        exact = perf_mode is matmul_perf_mode.double_row
        if exact:
            words.append("double_row")
        place = _array_place(tile_position, tile_size)
        loads = [*words, *(["onezero_stationary"] if is_stationary_onezero else []), *place]
        multiplies = [*loads, *(["onezero_moving"] if is_moving_onezero else [])]
        result, left, right = (self._tile(view) for view in (dst, stationary, moving))
        product = self._product(result) if is_transpose and self.generation == 2 else result
        self._multiply(product, left, right, loads, multiplies, accumulate, exact)
        self._convert_product(result, product)

    def _nc_matmul_mx(
        self,
        dst: NkiTensor,
        stationary: NkiTensor,
        moving: NkiTensor,
        stationary_scale: NkiTensor,
        moving_scale: NkiTensor,
        tile_position: Sequence[int] | None,
        tile_size: Sequence[int] | None,
        accumulate: bool,
    ) -> None:
        words: list[Field] = ["mx", *_array_place(tile_position, tile_size)]
        result, left, right = (self._tile(view) for view in (dst, stationary, moving))
        scales = self._scale(stationary_scale, stationary), self._scale(moving_scale, moving)
        self._multiply(result, left, right, words, words, accumulate, scales=scales)

    def _multiply(
        self,
        result: Tile,
        left: Tile,
        right: Tile,
        loads: Sequence[Field],
        multiplies: Sequence[Field],
        accumulate: bool = False,
        exact: bool = False,
        scales: Sequence[Tile] = (),
    ) -> None:
        """LOAD_STATIONARY and MULTIPLY. `scales`: of left and right."""
        operands: list[Tile | Exact] = [Exact(left), Exact(right)] if exact else [left, right]
        fields: list[list[Field]] = [[("b", scale)] for scale in scales] or [[], []]
        self._add("load_stationary", [*loads, ("a", operands[0]), *fields[0]], [left, *scales[:1]])
        sums = [result] if accumulate else []
        words: list[Field] = ["accumulate"] if accumulate else []
        self._add("multiply", [*multiplies, *words, ("dst", result), ("a", operands[1]), *fields[1]], [right, *sums, *scales[1:]], [result])

    def _scale(self, scale: NkiTensor, data: NkiTensor) -> Tile:
        """Partitions are numbered by 3.9, not by the kernel's view."""
        found = self._tile(scale)
        partitions = 32 * (data.shape[0] // 32 - 1) + 4
        return dataclasses.replace(found, partitions=partitions)

    def _nc_transpose(self, dst: NkiTensor, data: NkiTensor) -> None:
        if self.engine == "vector":
            self._lanes("transpose_32", dst, a=data)
            return
        result, source = self._tile(dst, "dst"), self._tile(data)
        rows = data.shape[0]
        if self.generation == 2:
            product = self._product(result)
            self._multiply(product, source, self._identity(rows, data.dtype), [], [])
            self._convert_product(result, product)
            return
        # The values of the moving operand have no effect.
        moving = dataclasses.replace(source, partitions=rows, dims=((rows, 0),))
        if not data.dtype.is_fp8:
            self._multiply(result, source, moving, ["transpose"], ["transpose"])
            return
        # A transpose of FP8 writes 16-bit elements with a zero upper byte (3.7).
        wide = self._wide_tile(result, data_types.uint16)
        self._multiply(wide, source, moving, ["transpose"], ["transpose"])
        bits = dataclasses.replace(wide, dtype=data_types.uint8, dims=((wide.elements, 2),))
        self._add("copy", [("dst", dataclasses.replace(result, dtype=data_types.uint8)), ("a", bits)], [wide], [result], "vector")

    def _wide_tile(self, narrow: Tile, dtype: DataType) -> Tile:
        """A new tile in PSUM with the elements of another one, of a larger type."""
        return self.operands.made(narrow.partitions, narrow.elements, dtype, "a transpose", "psum")

    def _product(self, result: Tile) -> Tile:
        """Destination of Trainium1's product with an identity, which is always FP32."""
        return result if result.dtype is data_types.float32 else self._wide_tile(result, data_types.float32)

    def _convert_product(self, result: Tile, product: Tile) -> None:
        if product is not result:
            self._add("copy", [("dst", result), ("a", product)], [product], [result], "vector")

    def _identity(self, rows: int, dtype: DataType) -> Tile:
        """The identity of Trainium1's transposes."""
        if dtype is data_types.float8_e3m4:  # which GPSIMD, the maker of the identity, does not have
            dtype = data_types.bfloat16
        loop = self.operands.steps.loop  # a loop may have no pass, so each has its own
        found = self._identities.get((dtype, loop))
        if found is None:
            found = self._identities[dtype, loop] = self.operands.made(128, 128, dtype, "identity")
            self._add("memset", [("imm", "1.0"), ("dst", found)], [], [found], "gpsimd")
            self._add(
                "affine_select",
                [("op0", "is_equal"), ("s0", "fp32(0.0)"), ("pattern", "(0, 1) [128:-1]"), ("dst", found), ("a", found)],
                [found],
                [found],
                "gpsimd",
            )
        return Tile(found.buffer, dtype, rows, ((rows, 1),))

    def _quantize_mx(self, dst: NkiTensor, src: NkiTensor, dst_scale: NkiTensor) -> None:
        result, source, scale = self._tile(dst), self._tile(src), self._scale(dst_scale, src)
        self._add("quantize_mx", [("dst", result), ("a", source), ("b", scale)], [source], [result, scale])


def _array_place(position: Sequence[int] | None, size: Sequence[int] | None) -> list[Field]:
    if not size:
        return []
    row, column = position or (0, 0)
    return [("tile", f"({row}, {column}, {size[0]}, {size[1]})")]
