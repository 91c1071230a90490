# SPDX-License-Identifier: Apache-2.0
"""From recorded calls to instructions: the table of doc/spec/neuron-core.md, 14."""
from __future__ import annotations

import dataclasses
from typing import Any, Callable, Iterator

from trn_nki.checks.collectives import COLLECTIVES
from trn_nki.compile.collectives import append_collective
from trn_nki.compile.control import Control
from trn_nki.compile.meetings import MEETINGS, Meetings
from trn_nki.compile.moves import Moves
from trn_nki.compile.operands import Operands, alu, fp32, function, grouped
from trn_nki.compile.program import Buffer, Exact, Instruction, Program, Tile
from trn_nki.diagnostics.errors import KernelError
from trn_nki.values import data_types
from trn_nki.values.engines import matmul_perf_mode, reduce_cmd


def lower(recording: Any) -> tuple[Program, Operands]:
    """Raises KernelError for unsupported calls."""
    program = Program(recording.generation, len(recording.cores))
    operands = Operands(program)
    moves = Moves(program, operands)
    for _, tensor in recording.inputs:
        operands.object(tensor.storage)
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
        operands.object(tensor.storage)
    _set_roles(program)
    return program, operands


def _set_roles(program: Program) -> None:
    """Inputs that the kernel writes are also outputs."""
    for one in program.instructions:
        for part in getattr(one, "parts", ()):
            if getattr(part.destination.of, "role", "") == "in":
                part.destination.of.role = "inout"


class Lowering:
    """Appends the instructions of one core, call by call."""

    def __init__(self, program: Program, operands: Operands, moves: Moves, generation: int):
        self.program, self.operands, self.generation = program, operands, generation
        self.moves = moves
        self._identities: dict[Any, Tile] = {}
        self.control = Control(operands, generation)

    def until_meeting(self, items: Iterator[Any]) -> Any:
        """Appends instructions up to one that both cores must reach, and returns it; None at the end."""
        for item in items:
            if getattr(item, "operation", None) in MEETINGS:
                return item
            self.one(item)
        return None

    def one(self, item: Any) -> None:
        self.operands.place = item.place
        arguments = self.operands.steps.resolved(getattr(item, "arguments", {}))
        operation = getattr(item, "operation", None)
        handler: Callable[..., None] | None = getattr(self, f"_{operation}", None) if operation else None
        if operation is None:
            self.control.loop(item)
        elif operation.startswith("register_"):
            getattr(self.control, operation)(**arguments)
        elif operation in ("dma_copy", "dma_transpose", "dma_compute"):
            getattr(self.moves, operation)(arguments)
        elif operation in COLLECTIVES:
            append_collective(self.program, self.operands, operation, arguments)
        elif handler is None:
            raise KernelError(f"nisa.{operation} is not compiled yet; nki.simulate runs it", "14", item.place)
        else:
            self.engine = item.engine.name
            handler(**arguments)

    # Parts of instructions.

    def _tile(self, view: Any, what: str = "the operand") -> Tile:
        return self.operands.tile(view, what, self.engine)

    def _add(self, name: str, fields: list[Any], reads: list[Any] = (), writes: list[Any] = (), engine: str | None = None) -> Instruction:
        made = Instruction(engine or self.engine, name, fields, reads, writes, self.operands.place, self.operands.core)
        self.program.instructions.append(made)
        return made

    def _lanes(self, name: str, dst: Any, fields: list[Any] = (), reads: list[Tile] = (), engine: str | None = None, **tiles: Any) -> None:
        """An instruction with DST and tiles a and b."""
        to = self._tile(dst, "dst")
        sources = {key: self._tile(view) for key, view in tiles.items() if view is not None}
        self._add(name, [*fields, ("dst", to), *sources.items()], [*sources.values(), *reads], [to], engine)

    def _scalars(self, bitvec: bool = False, **values: Any) -> tuple[list[Any], list[Tile]]:
        fields, reads = [], []
        for key, value in values.items():
            if value is None:
                continue
            field, read = self.operands.scalar(value, bitvec, self.engine)
            fields.append((key, field))
            reads += read
        return fields, reads

    def _alu(self, operator: Any) -> str:
        return alu(operator, self.operands.place)

    def _accumulators(self, command: Any, operator: Any, default: str) -> list[Any]:
        if command is None or command is reduce_cmd.idle:
            return []
        return [("reduce", self._alu(operator) if operator is not None else default), ("cmd", command.name)]

    def _read_accumulators(self, result: Any, negate: bool = False) -> None:
        if result is not None:
            self._lanes("read_accumulator", result, ["negate"] if negate else [])

    # Lanes.

    def _tensor_copy(self, dst: Any, src: Any, engine: Any = None) -> None:
        self._lanes("copy", dst, a=src)

    def _memset(self, dst: Any, value: Any, engine: Any = None) -> None:
        to = self._tile(dst, "dst")
        text = str(int(value)) if dst.dtype.is_integer or dst.dtype.is_packed else fp32(value)
        self._add("memset", [("imm", text), ("dst", to)], [], [to])

    def _tensor_tensor(self, dst: Any, data1: Any, data2: Any, op: Any, engine: Any = None) -> None:
        self._lanes("tensor_tensor", dst, [("op0", self._alu(op))], a=data1, b=data2)

    def _tensor_scalar(
        self, dst: Any, data: Any, op0: Any, operand0: Any, reverse0: Any, op1: Any, operand1: Any, reverse1: Any, engine: Any = None
    ) -> None:
        fields = [("op0", self._alu(op0))]
        if op1 is not None:
            fields.append(("op1", self._alu(op1)))
        bitvec = op0.is_bitvec or (op1 is not None and op1.is_bitvec)
        scalars, reads = self._scalars(bitvec, s0=operand0, s1=operand1)
        fields += [word for word, chosen in (("reverse0", reverse0), ("reverse1", reverse1)) if chosen]
        self._lanes("tensor_scalar", dst, fields + scalars, reads, a=data)

    def _scalar_tensor_tensor(
        self, dst: Any, data: Any, op0: Any, operand0: Any, op1: Any, operand1: Any, reverse0: Any, reverse1: Any
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
            to = self._tile(dst, "dst")
            self._add("tensor_tensor", [("op0", self._alu(op1)), ("dst", to), ("a", a), ("b", b)], sources, [to])
            return
        self._lanes("scalar_tensor_tensor", dst, [("op0", self._alu(op0)), ("op1", self._alu(op1)), *scalars], reads, a=data, b=operand1)

    def _tensor_tensor_scan(self, dst: Any, data0: Any, data1: Any, initial: Any, op0: Any, op1: Any, reverse0: Any, reverse1: Any) -> None:
        scalars, reads = self._scalars(s0=initial)
        fields = [("op0", self._alu(op0)), ("op1", self._alu(op1)), *scalars]
        fields += [word for word, chosen in (("reverse0", reverse0), ("reverse1", reverse1)) if chosen]
        self._lanes("tensor_tensor_scan", dst, fields, reads, a=data0, b=data1)

    def _tensor_scalar_cumulative(self, dst: Any, src: Any, op0: Any, op1: Any, imm0: Any, imm1: Any, reduce_cmd: Any) -> None:
        scalars, reads = self._scalars(s0=imm0, s1=imm1 if reduce_cmd.name == "load_reduce" else None)
        self._lanes(
            "tensor_scalar_cumulative",
            dst,
            [("op0", self._alu(op0)), ("op1", self._alu(op1)), ("cmd", reduce_cmd.name), *scalars],
            reads,
            a=src,
        )

    def _reciprocal(self, dst: Any, data: Any) -> None:
        self._lanes("reciprocal", dst, a=data)

    def _tensor_copy_predicated(self, dst: Any, src: Any, predicate: Any, reverse_pred: Any) -> None:
        fields: list[Any] = ["predicate_reversed"] if reverse_pred else []
        kept = self._tile(dst)
        if hasattr(src, "storage"):
            if src.free_size == 1 != dst.free_size:  # one element for each partition
                src = src._derive((src.shape[0], dst.free_size), (src.strides[0], 0), src.offset)
            self._lanes("copy_predicated", dst, fields, [kept], a=src, b=predicate)
        else:
            scalars, reads = self._scalars(s0=src)
            self._lanes("copy_predicated", dst, fields + scalars, [*reads, kept], b=predicate)

    def _select_reduce(
        self, dst: Any, predicate: Any, on_true: Any, on_false: Any, reduce_res: Any, reduce_cmd: Any, reduce_op: Any, reverse_pred: Any
    ) -> None:
        scalars, reads = self._scalars(s0=on_false)
        fields = (["predicate_reversed"] if reverse_pred else []) + self._accumulators(reduce_cmd, reduce_op, "max")
        self._lanes("select_reduce", dst, fields + scalars, reads, a=on_true, b=predicate)
        self._read_accumulators(reduce_res)

    def _range_select(
        self,
        dst: Any,
        on_true_tile: Any,
        comp_op0: Any,
        comp_op1: Any,
        bound0: Any,
        bound1: Any,
        reduce_cmd: Any,
        reduce_res: Any,
        reduce_op: Any,
        range_start: Any,
        on_false_value: Any,
    ) -> None:
        scalars, reads = self._scalars(s0=bound0, s1=bound1)
        fields: list[Any] = [
            ("op0", self._alu(comp_op0)),
            ("op1", self._alu(comp_op1)),
            ("imm", int(range_start)),
            *self._accumulators(reduce_cmd, reduce_op, "max"),
        ]
        self._lanes("range_select", dst, fields + scalars, reads, a=on_true_tile)
        self._read_accumulators(reduce_res)

    def _dropout(self, dst: Any, data: Any, prob: Any) -> None:
        scalars, reads = self._scalars(s0=prob)
        self._lanes("dropout", dst, scalars, reads, a=data)

    # Patterns.

    def _data_pattern(self, pattern: Any, offset: Any, multiplier: Any) -> tuple[str, str]:
        dims = [(count, step) for step, count in reversed([tuple(part) for part in pattern])]
        text = ", ".join(f"{count}:{step}" for count, step in dims)
        return "pattern", f"({int(offset)}, {int(multiplier)}) [{text}]"

    def _iota(self, dst: Any, pattern: Any, offset: Any, channel_multiplier: Any) -> None:
        self._lanes("iota", dst, [self._data_pattern(pattern, offset, channel_multiplier)])

    def _affine_select(
        self, dst: Any, pattern: Any, channel_multiplier: Any, on_true_tile: Any, on_false_value: Any, cmp_op: Any, offset: Any
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

    def _tensor_reduce(self, dst: Any, op: Any, data: Any, axis: Any, negate: Any, keepdims: Any) -> None:
        rank = len(data.shape)
        axes = {one % rank for one in (axis if isinstance(axis, (list, tuple)) else (axis,))}
        source = self._tile(data)
        by_axis = {rank - 1 - number: dim for number, dim in enumerate(source.dims)}
        reduced = grouped(tuple(by_axis[one] for one in sorted(axes, reverse=True)))
        kept = grouped(tuple(by_axis[one] for one in sorted(by_axis, reverse=True) if one not in axes))
        dims = reduced if kept == ((1, 1),) else reduced + kept
        if len(dims) > 4:
            raise KernelError(f"tensor_reduce over a pattern of {len(dims)} dimensions, at most 4 are possible", "2.3", self.operands.place)
        ordered = Exact(dataclasses.replace(source, dims=dims))
        to = self._tile(dst, "dst")
        self._add(
            "tensor_reduce",
            [("op0", self._alu(op)), ("subdim", len(reduced)), *(["negate"] if negate else []), ("dst", to), ("a", ordered)],
            [source],
            [to],
        )

    def _tensor_scalar_reduce(
        self,
        dst: Any,
        data: Any,
        op0: Any,
        operand0: Any,
        reduce_op: Any,
        reduce_res: Any,
        reverse0: Any,
        reduce_cmd: Any,
        reduce_init: Any,
        reduce_res_negate: Any,
    ) -> None:
        scalars, reads = self._scalars(s0=operand0, s1=reduce_init if reduce_cmd.name == "load_reduce" else None)
        fields = [("op0", self._alu(op0)), *self._accumulators(reduce_cmd, reduce_op, "add"), *scalars]
        self._lanes("tensor_scalar_reduce", dst, fields + (["reverse0"] if reverse0 else []), reads, a=data)
        self._read_accumulators(reduce_res, bool(reduce_res_negate))

    def _tensor_partition_reduce(self, dst: Any, op: Any, data: Any) -> None:
        self._lanes("partition_reduce", dst, [("op0", self._alu(op))], a=data)

    def _bn_stats(self, dst: Any, data: Any) -> None:
        self._lanes("bn_stats", dst, a=data)

    def _bn_aggr(self, dst: Any, data: Any) -> None:
        self._lanes("bn_aggr", dst, a=data)

    def _max8(self, dst: Any, src: Any) -> None:
        self._lanes("max8", dst, a=src)

    def _match_load(self, values: Any) -> None:
        source = self._tile(values)
        self._add("match_load", [("a", source)], [source])

    def _nc_find_index8(self, dst: Any, data: Any, vals: Any) -> None:
        self._match_load(vals)
        self._lanes("find_index8", dst, a=data)

    def _nc_match_replace8(self, dst: Any, data: Any, vals: Any, imm: Any, dst_idx: Any) -> None:
        self._match_load(vals)
        to, source = self._tile(dst, "dst"), self._tile(data)
        fields, writes = [("imm", fp32(imm)), ("dst", to), ("a", source)], [to]
        if dst_idx is not None:
            writes.append(self._tile(dst_idx))
            fields.append(("b", writes[-1]))
        self._add("match_replace8", fields, [source], writes)

    # Gathers and random numbers.

    def _nc_stream_shuffle(self, dst: Any, src: Any, shuffle_mask: Any) -> None:
        mask = ", ".join(str(255 if int(one) == 255 else int(one)) for one in shuffle_mask)
        to, source = self._tile(dst, "dst"), self._tile(src)
        kept = [to] if 255 in shuffle_mask else []
        # The mask selects among a quadrant's partitions, even if the source is only one of them.
        whole = dataclasses.replace(source, partitions=to.partitions)
        self._add("shuffle", [("mask", f"[{mask}]"), ("dst", to), ("a", whole)], [source, *kept], [to])

    def _nc_n_gather(self, dst: Any, data: Any, indices: Any) -> None:
        self._lanes("gather_n", dst, a=data, b=indices)

    def _local_gather(self, dst: Any, src_buffer: Any, index: Any, num_elem_per_idx: Any, num_valid_indices: Any) -> None:
        count = index.free_size * 16 if num_valid_indices is None else int(num_valid_indices)
        self._lanes("local_gather", dst, [("imm", int(num_elem_per_idx)), ("s0", f"i32({count})")], a=src_buffer, b=index)

    def _topk(self, val_dst: Any, idx_dst: Any, src: Any, n: Any) -> None:
        values, indices, source = (self._tile(one) for one in (val_dst, idx_dst, src))
        self._add("topk", [("imm", int(n)), ("dst", values), ("a", source), ("b", indices)], [source], [values, indices])

    def _sequence_bounds(self, dst: Any, segment_ids: Any) -> None:
        self._lanes("sequence_bounds", dst, a=segment_ids)

    def _nonzero_with_count(self, dst: Any, src: Any, index_offset: Any, padding_val: Any) -> None:
        self._lanes("nonzero_count", dst, [("imm", int(index_offset)), ("s0", f"i32({int(padding_val)})")], a=src)

    def _rng(self, dst: Any, engine: Any = None) -> None:
        self._lanes("rng", dst)

    def _rand2(self, dst: Any, min: Any, max: Any) -> None:  # noqa: A002 - AWS's names
        scalars, reads = self._scalars(s0=min, s1=max)
        self._lanes("rand2", dst, scalars, reads)

    def _set_rng_seed(self, src_seeds: Any) -> None:
        source = self._tile(src_seeds)
        self._add("set_rng_seed", [("a", source)], [source])

    def _rand_set_state(self, src_seeds: Any, engine: Any = None) -> None:
        source = self._tile(src_seeds)
        self._add("rand_set_state", [("a", source)], [source])

    def _rand_get_state(self, dst: Any, engine: Any = None) -> None:
        self._lanes("rand_get_state", dst)

    # Scalar engine.

    def _activation(self, dst: Any, op: Any, data: Any, bias: Any, scale: Any, reduce_op: Any, reduce_res: Any, reduce_cmd: Any) -> None:
        scalars, reads = self._scalars(s0=None if isinstance(scale, (int, float)) and scale == 1 else scale, s1=bias)
        fields = [("op0", function(op, self.operands.place)), *self._accumulators(reduce_cmd, reduce_op, "add")]
        self._lanes("activate", dst, fields + scalars, reads, a=data)
        self._read_accumulators(reduce_res)

    _activation_reduce = _activation

    def _activate2(
        self,
        dst: Any,
        op: Any,
        data: Any,
        imm0: Any,
        imm1: Any,
        op0: Any,
        op1: Any,
        relu_param: Any,
        reverse0: Any,
        reverse1: Any,
        reduce_op: Any,
        reduce_res: Any,
        reduce_cmd: Any,
    ) -> None:
        scalars, reads = self._scalars(s0=imm0, s1=imm1)
        fields = [
            ("op0", function(op, self.operands.place)),
            ("imm", op0.code | op1.code << 8),
            *self._accumulators(reduce_cmd, reduce_op, "add"),
            *scalars,
        ]
        fields += [word for word, chosen in (("reverse0", reverse0), ("reverse1", reverse1)) if chosen]
        self._lanes("activate2", dst, fields, reads, a=data, b=relu_param if hasattr(relu_param, "storage") else None)
        self._read_accumulators(reduce_res)

    def _exponential(self, dst: Any, src: Any, max_value: Any, reduce_res: Any, reduce_cmd: Any, reduce_init: Any) -> None:
        scalars, reads = self._scalars(s0=max_value, s1=reduce_init if reduce_cmd.name == "load_reduce" else None)
        self._lanes("exponential", dst, self._accumulators(reduce_cmd, None, "add") + scalars, reads, a=src)
        self._read_accumulators(reduce_res)

    # Tensor engine.

    def _nc_matmul(
        self,
        dst: Any,
        stationary: Any,
        moving: Any,
        is_stationary_onezero: Any,
        is_moving_onezero: Any,
        is_transpose: Any,
        accumulate: Any,
        tile_position: Any,
        tile_size: Any,
        perf_mode: Any,
    ) -> None:
        # Trainium1 has no transpose mode: it transposes by a product with an identity.
        words: list[Any] = ["transpose"] if is_transpose and self.generation > 2 else []
        exact = perf_mode is matmul_perf_mode.double_row
        if exact:
            words.append("double_row")
        place = _array_place(tile_position, tile_size)
        is_narrow = is_transpose and self.generation == 2 and dst.dtype is not data_types.float32
        loads = [*words, *(["onezero_stationary"] if is_stationary_onezero else []), *place]
        self._pair(
            dst,
            stationary,
            moving,
            loads,
            [*loads, *(["onezero_moving"] if is_moving_onezero else [])],
            exact,
            bool(accumulate),
            is_narrow=is_narrow,
        )

    def _nc_matmul_mx(
        self,
        dst: Any,
        stationary: Any,
        moving: Any,
        stationary_scale: Any,
        moving_scale: Any,
        tile_position: Any,
        tile_size: Any,
        accumulate: Any,
    ) -> None:
        words = ["mx", *_array_place(tile_position, tile_size)]
        self._pair(dst, stationary, moving, words, words, False, bool(accumulate), stationary_scale, moving_scale)

    def _pair(
        self,
        dst: Any,
        stationary: Any,
        moving: Any,
        loads: list[Any],
        multiplies: list[Any],
        exact: bool,
        accumulate: bool,
        stationary_scale: Any = None,
        moving_scale: Any = None,
        is_narrow: bool = False,
    ) -> None:
        """LOAD_STATIONARY and MULTIPLY."""
        result, left, right = (self._tile(view) for view in (dst, stationary, moving))
        to = self._product(result) if is_narrow else result
        kept, moved = (Exact(left), Exact(right)) if exact else (left, right)
        scales = [None if one is None else self._scale(one, data) for one, data in ((stationary_scale, stationary), (moving_scale, moving))]
        load: list[Any] = [*loads, ("a", kept)]
        multiply: list[Any] = [*multiplies, *(["accumulate"] if accumulate else []), ("dst", to), ("a", moved)]
        for fields, scale in ((load, scales[0]), (multiply, scales[1])):
            if scale is not None:
                fields.append(("b", scale))
        self._add("load_stationary", load, [left, *(scales[:1] if scales[0] else [])], [], "tensor")
        self._add("multiply", multiply, [right, *([to] if accumulate else []), *(scales[1:] if scales[1] else [])], [to], "tensor")
        if is_narrow:
            self._convert_product(result)

    def _scale(self, scale: Any, data: Any) -> Tile:
        """Partitions are numbered by 3.9, not by the kernel's view."""
        found = self._tile(scale)
        partitions = 32 * (data.shape[0] // 32 - 1) + 4
        return dataclasses.replace(found, partitions=partitions)

    def _nc_transpose(self, dst: Any, data: Any, engine: Any = None) -> None:
        if self.engine == "vector":
            self._lanes("transpose_32", dst, a=data)
            return
        to, source = self._tile(dst, "dst"), self._tile(data)
        rows = data.shape[0]
        if self.generation == 2:
            self._pair_tiles(self._product(to), source, self._identity(rows, data.dtype), [])
            self._convert_product(to)
            return
        # The values of the moving operand have no effect.
        moving = dataclasses.replace(source, partitions=rows, dims=((rows, 0),))
        if not data.dtype.is_fp8:
            self._pair_tiles(to, source, moving, ["transpose"])
            return
        # A transpose of FP8 writes 16-bit elements with a zero upper byte (3.7).
        wide = self._wide_tile(to, data_types.uint16)
        self._pair_tiles(wide, source, moving, ["transpose"])
        bits = dataclasses.replace(wide, dtype=data_types.uint8, dims=((wide.elements, 2),))
        self._add("copy", [("dst", dataclasses.replace(to, dtype=data_types.uint8)), ("a", bits)], [wide], [to], "vector")

    def _wide_tile(self, to: Tile, dtype: Any) -> Tile:
        """A new tile in PSUM with the elements of another one, of a larger type."""
        buffer = Buffer(
            "psum",
            to.partitions,
            to.elements * dtype.itemsize,
            "a transpose",
            self.operands.place,
            core=self.operands.core,
            loop=self.operands.steps.loop,
            alignment=64,
        )
        return Tile(buffer, dtype, to.partitions, ((to.elements, 1),))

    def _product(self, to: Tile) -> Tile:
        """Destination of Trainium1's product with an identity, which is always FP32."""
        if to.dtype is data_types.float32:
            return to
        self._wide = self._wide_tile(to, data_types.float32)
        return self._wide

    def _convert_product(self, to: Tile) -> None:
        if to.dtype is not data_types.float32:
            self._add("copy", [("dst", to), ("a", self._wide)], [self._wide], [to], "vector")

    def _pair_tiles(self, to: Tile, left: Tile, right: Tile, words: list[Any]) -> None:
        self._add("load_stationary", [*words, ("a", left)], [left], [], "tensor")
        self._add("multiply", [*words, ("dst", to), ("a", right)], [right], [to], "tensor")

    def _identity(self, rows: int, dtype: Any) -> Tile:
        """The identity of Trainium1's transposes."""
        if dtype is data_types.float8_e3m4:  # which GPSIMD, the maker of the identity, does not have
            dtype = data_types.bfloat16
        loop = self.operands.steps.loop  # a loop may have no pass, so each has its own
        found = self._identities.get((dtype, loop))
        if found is None:
            buffer = Buffer("sbuf", 128, 128 * dtype.itemsize, "identity", self.operands.place, core=self.operands.core, loop=loop)
            found = self._identities[dtype, loop] = Tile(buffer, dtype, 128, ((128, 1),))
            self._add("memset", [("imm", "1.0"), ("dst", found)], [], [found], "gpsimd")
            self._add(
                "affine_select",
                [("op0", "is_equal"), ("s0", "fp32(0.0)"), ("pattern", "(0, 1) [128:-1]"), ("dst", found), ("a", found)],
                [found],
                [found],
                "gpsimd",
            )
        return Tile(found.buffer, dtype, rows, ((rows, 1),))

    def _quantize_mx(self, dst: Any, src: Any, dst_scale: Any) -> None:
        to, source, scale = self._tile(dst), self._tile(src), self._scale(dst_scale, src)
        self._add("quantize_mx", [("dst", to), ("a", source), ("b", scale)], [source], [to, scale])


def _array_place(position: Any, size: Any) -> list[Any]:
    if not size:
        return []
    row, column = position or (0, 0)
    return [("tile", f"({row}, {column}, {size[0]}, {size[1]})")]


__all__ = ["Lowering", "lower"]
