# SPDX-License-Identifier: Apache-2.0
"""The tables of a profile, with the names of Neuron Explorer's published profile schema.

Names that start with `trn_` or `Trn` are extensions; required fields without a value on the platform are null. Times are
relative to the start of the execution.
"""
from __future__ import annotations

import collections
from typing import Any, Callable, Iterable

from trn_nki.profile import analysis, intervals
from trn_nki.profile.events import Kind
from trn_nki.profile.records import Cause, Engine, Profile, Transfer
from trn_nki.profile.verdict import verdict_of

SCHEMA_VERSION = "7.4.0"  # published with release 2.31.0 of the Neuron SDK
SAMPLES = 500  # of the tables of bandwidth over time
MAX_ROWS = 200_000  # of a table; omitted rows are reported in Warning
MAX_PACKETS = 20_000  # rows of DmaPacket; DmaPacketAggregated has all packets
OUR_TABLES = ("TrnEngine", "TrnWait", "TrnSourceLine", "TrnMatmulType")

Row = dict[str, Any]


def tables_of(profile: Profile, names: Iterable[str] = ()) -> dict[str, list[Row]]:
    """All tables, or some of them without their limits. Each is computed once."""
    accounts = analysis.accounts_of(profile)
    makers: dict[str, Callable[[], list[Row]]] = {
        "Metadata": lambda: [_metadata(profile)],
        "Summary": lambda: [_summary(profile, accounts)],
        "ExecutionInfo": lambda: [_execution(profile, number) for number in range(len(profile.executions))],
        "Instruction": lambda: _instructions(profile),
        "ActiveTime": lambda: _active_times(profile),
        "OpcodeSummary": lambda: _opcodes(profile),
        "DmaPacket": lambda: _packets(profile),
        "DmaPacketAggregated": lambda: _aggregated(profile),
        "DmaQueuesInfo": lambda: _queues(profile),
        "DmaUsage": lambda: _usage(profile, [(transfer.begin, transfer.end, transfer.bytes) for transfer in profile.transfers]),
        "HbmUsage": lambda: _usage(
            profile, [(access.begin, access.end, access.bytes) for access in profile.accesses if access.place.kind is Kind.MEMORY]
        ),
        "SemaphoreUpdate": lambda: _semaphores(profile),
        "CcInstruction": lambda: _collectives(profile),
        "Error": lambda: _errors(profile),
        "Flow": lambda: _flows(profile),
        "TrnEngine": lambda: [_engine(profile, account) for account in accounts],
        "TrnWait": lambda: _waits(profile),
        "TrnSourceLine": lambda: [_line(line) for line in analysis.lines_of(profile)],
        "TrnMatmulType": lambda: _matmul_types(profile),
    }
    tables = profile.kept.setdefault("tables", {})
    for name in names or makers:
        if name not in tables:
            tables[name] = makers[name]()
    found = {name: tables[name] for name in names or makers}
    if names:
        return found
    warnings = [{"message": text, "category": "Missing Data"} for text in profile.warnings]
    for name, rows in found.items():
        count, limit = (len(profile.transfers), MAX_PACKETS) if name == "DmaPacket" else (len(rows), MAX_ROWS)
        if count > limit:
            warnings.append({"message": f"{name} has the first {limit} of {count} rows", "category": "Missing Data"})
            found[name] = rows[:limit]
    found["Warning"] = warnings
    found["SchemaFields"] = _schema(found)
    return found


# -- Helpers


def _ns(profile: Profile, time: int) -> int:
    return (time - profile.first) // 1000


def _percent(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole else 0.0


def _span(profile: Profile, begin: int, end: int) -> Row:
    return {"start_ts": _ns(profile, begin), "end_ts": _ns(profile, end), "duration_ns": (end - begin) // 1000}


def _core_of(profile: Profile, engine: Engine) -> Row:
    return {"pcore_idx": profile.core_numbers[engine.core], "trn_chip": engine.place.chip, "trn_core": engine.place.index}


# -- Tables of the whole


def _metadata(profile: Profile) -> Row:
    def clock(name: str) -> float | None:
        return next((engine.clock_hz / 1e9 for engine in profile.engines if engine.name == name), None)

    chips = {chip for chip, _ in profile.cores}
    cores_of_chip = max(sum(name == chip for name, _ in profile.cores) for chip in chips)
    return {
        "profile_schema_version": SCHEMA_VERSION,
        "ntff_version": None,
        "num_physical_cores": cores_of_chip,
        "vnc_enabled": cores_of_chip > 1,
        "first_hw_timestamp": profile.first // 1000,
        "last_hw_timestamp": profile.last // 1000,
        "first_ts": None,
        "last_ts": None,
        "dma_ddr_bandwidth": None,
        "num_dma_engines_per_neuroncore": 16,
        "hbm_ddr_bandwidth": analysis.stack_rate(profile) or None,
        "tensor_engine_num_rows": analysis.ARRAY,
        "tensor_engine_num_cols": analysis.ARRAY,
        "tensor_engine_clock_freq": clock("tensor"),
        "vector_engine_clock_freq": clock("vector"),
        "vector_engine_num_channels": 128,
        "scalar_engine_clock_freq": clock("scalar"),
        "scalar_engine_num_channels": 128,
        "gpsimd_engine_clock_freq": clock("gpsimd"),
        "gpsimd_engine_num_channels": None,
        "neuroncore_clock_freq": None,
        "ticks_per_nanosec": 1000,
        "neuroncore_idx": profile.cores[0][1],
        "profile_name": profile.name,
        "is_simulation": True,
        "trn_generation": profile.engines[0].generation,
        "trn_chips": len(chips),
        "trn_peak_bf16_flops": analysis.peak_bf16_flops(profile),
    }


def _summary(profile: Profile, accounts: list[analysis.Account]) -> Row:
    duration, roof = profile.duration, analysis.roofline_of(profile)
    seconds = duration / analysis.PS
    tensor = [instruction for engine in profile.engines if engine.name == "tensor" for instruction in engine.instructions]
    turned = [instruction for instruction in tensor if analysis.is_transpose(instruction)]
    flops, moved = sum(instruction.flops for instruction in tensor), sum(instruction.flops for instruction in turned)
    adjusted, adjusted_moved = sum(instruction.bf16_flops for instruction in tensor), sum(instruction.bf16_flops for instruction in turned)
    reads, writes = analysis.hbm_bytes(profile, False), analysis.hbm_bytes(profile, True)
    peak, bandwidth = roof.peak_flops, roof.peak_bandwidth
    to_core = [access for access in profile.accesses if access.place.kind is Kind.CORE]
    dma = intervals.clipped(intervals.union((transfer.begin, transfer.end) for transfer in profile.transfers), profile.first, profile.last)
    row: Row = {
        "trn_verdict": verdict_of(profile),
        "total_time": seconds,
        "hardware_flops": flops,
        "transpose_flops": moved,
        "adjusted_hardware_flops": adjusted,
        "adjusted_transpose_flops": adjusted_moved,
        "mm_arithmetic_intensity": (flops - moved) / (reads + writes) if reads + writes else None,
        "peak_flops_bandwidth_ratio": peak / bandwidth if bandwidth else None,
        "hfu_estimated_percent": _percent(adjusted, peak * seconds),
        "mfu_inst_estimated_percent": _percent(adjusted - adjusted_moved, peak * seconds),
        "mbu_estimated_percent": _percent(reads + writes, bandwidth * seconds),
        "hbm_read_bytes": reads,
        "hbm_write_bytes": writes,
        "sbuf_read_bytes": sum(a.bytes_read - a.psum_bytes_read for a in accounts)
        + sum(access.bytes for access in to_core if not access.writes),
        "sbuf_write_bytes": sum(a.bytes_written - a.psum_bytes_written for a in accounts)
        + sum(access.bytes for access in to_core if access.writes),
        "psum_read_bytes": sum(a.psum_bytes_read for a in accounts),
        "psum_write_bytes": sum(a.psum_bytes_written for a in accounts),
        "dma_active_time": intervals.length(dma) / analysis.PS,
        "dma_active_time_percent": _percent(intervals.length(dma), duration),
        "dma_packet_time": sum(transfer.end - transfer.begin for transfer in profile.transfers) / analysis.PS,
        "dma_transfer_total_bytes": sum(transfer.bytes for transfer in profile.transfers),
        "dma_transfer_count": len({transfer.operation for transfer in profile.transfers}),
        "trn_dma_packet_count": len(profile.transfers),
        "matmul_instruction_count": sum(instruction.opcode == "multiply" for instruction in tensor),
        "activate_instruction_count": sum(
            instruction.opcode in ("activate", "activate2") for engine in profile.engines for instruction in engine.instructions
        ),
    }
    types = {operation: analysis.queue_type(profile, operation) for operation in {transfer.operation for transfer in profile.transfers}}
    for prefix, kind in (
        ("static_dma", "data"),
        ("hardware_dynamic_dma", "hardware_dynamic"),
        ("software_dynamic_dma", "software_dynamic"),
    ):
        some = [transfer for transfer in profile.transfers if types[transfer.operation] == kind]
        row[f"{prefix}_packet_count"], row[f"{prefix}_size"] = len(some), sum(transfer.bytes for transfer in some)
    for name in ("tensor", "vector", "scalar", "gpsimd", "sync"):
        mine = [a for a in accounts if a.engine.name == name]
        active = sum(a.busy + a.control for a in mine)
        row[f"{name}_engine_instruction_count"] = sum(a.retired for a in mine)
        row[f"{name}_engine_instruction_time"] = (
            sum(instruction.end - instruction.begin for a in mine for instruction in a.engine.instructions) / analysis.PS
        )
        row[f"{name}_engine_active_time"] = active / analysis.PS
        row[f"{name}_engine_active_time_percent"] = _percent(active, duration * len(mine))
    services = intervals.union((service.begin, service.end) for service in profile.services)
    row["cc_cores_instruction_count"] = len(profile.services)
    row["cc_cores_instruction_active_time"] = intervals.length(intervals.clipped(services, profile.first, profile.last)) / analysis.PS
    return row


def _execution(profile: Profile, number: int) -> Row:
    begin, end = profile.executions[number]
    return {
        "execution_index": number,
        "neff_name": profile.name if number + 1 == profile.number else None,
        "execution_start_ts": _ns(profile, begin),
        "execution_end_ts": _ns(profile, end),
        "trn_profiled": number + 1 == profile.number,
    }


# -- Engines


def _instructions(profile: Profile) -> list[Row]:
    hbm: dict[int, list[int]] = collections.defaultdict(lambda: [0, 0])
    for access in profile.accesses:
        if access.place.kind is Kind.MEMORY and access.operation in profile.posters:
            hbm[access.operation][access.writes] += access.bytes
    moved: dict[int, list[int]] = {}
    for transfer in profile.transfers:
        if transfer.operation in profile.posters:
            span = moved.setdefault(transfer.operation, [transfer.begin, transfer.end])
            span[0], span[1] = min(span[0], transfer.begin), max(span[1], transfer.end)
    rows = []
    for engine in profile.engines:
        core = _core_of(profile, engine)
        lost = analysis.lost_by_instruction(engine)
        for instruction in engine.instructions:
            waited = sum(w.end - w.begin for w in instruction.waits if w.cause in (Cause.SEMAPHORE, Cause.DMA))
            row = _span(profile, instruction.begin, instruction.end) | {
                "engine": engine.name,
                **core,
                "opcode": instruction.opcode.upper(),
                "operands": instruction.operands,
                "id": instruction.id,
                "pc": instruction.pc,
                "bir_id": None,
                "evt_wait_time_ns": waited // 1000,
                "nki_source_location": [instruction.source] if instruction.source else [],
                "trn_complete_ts": _ns(profile, instruction.complete),
                "trn_cycles": instruction.cycles,
                "trn_lost_ns": {cause.value: time // 1000 for cause, time in lost.get(instruction.id, {}).items()},
            }
            if instruction.computes or instruction.bytes_read or instruction.bytes_written:
                row |= {
                    "sbuf_read_bytes": instruction.bytes_read - instruction.psum_bytes_read,
                    "sbuf_write_bytes": instruction.bytes_written - instruction.psum_bytes_written,
                    "psum_read_bytes": instruction.psum_bytes_read,
                    "psum_write_bytes": instruction.psum_bytes_written,
                    "performance_mode": instruction.mode if instruction.mode in ("2x", "4x") and engine.name != "tensor" else None,
                    "trn_flops": instruction.flops,
                }
                if engine.name == "tensor":
                    row |= {"raw_flops": instruction.flops, "adjusted_flops": instruction.bf16_flops}
                    if analysis.is_transpose(instruction):
                        row |= {
                            "tensor_instruction_type": "TRANSPOSE",
                            "flops_transpose": instruction.flops,
                            "adjusted_flops_transpose": instruction.bf16_flops,
                        }
            if instruction.operation in hbm:
                row["hbm_read_bytes"], row["hbm_write_bytes"] = hbm[instruction.operation]
            if instruction.operation in moved:
                begin, end = moved[instruction.operation]
                row |= {
                    "dma_trigger_start_ts": _ns(profile, begin),
                    "dma_trigger_end_ts": _ns(profile, end),
                    "dma_wait_time_ns": max(0, begin - instruction.end) // 1000,
                }
            rows.append(row)
    return rows


def _active_times(profile: Profile) -> list[Row]:
    return [
        _span(profile, begin, end) | {"engine": engine.name, **_core_of(profile, engine)}
        for engine in profile.engines
        for begin, end in intervals.union((instruction.begin, instruction.end) for instruction in engine.instructions)
    ]


def _opcodes(profile: Profile) -> list[Row]:
    groups: dict[tuple[str, str], list[Any]] = collections.defaultdict(list)
    for engine in profile.engines:
        for instruction in engine.instructions:
            groups[engine.name, instruction.opcode.upper()].append(instruction)
    rows = []
    for (engine_name, opcode), some in sorted(groups.items()):
        active = intervals.length(intervals.union((transfer.begin, transfer.end) for transfer in some))
        rows.append(
            {
                "engine": engine_name,
                "opcode": opcode,
                "instruction_count": sum(transfer.count for transfer in some),
                "instruction_time_ns": sum(transfer.end - transfer.begin for transfer in some) // 1000,
                "active_time_ns": active // 1000,
                "active_time_percent": _percent(active, profile.duration),
            }
        )
    return rows


def _engine(profile: Profile, a: analysis.Account) -> Row:
    return {
        "engine": a.engine.name,
        **_core_of(profile, a.engine),
        "clock_hz": a.engine.clock_hz,
        "busy_ps": a.busy,
        **{f"lost_{cause.value}_ps": time for cause, time in a.lost.items()},
        "control_ps": a.control,
        "outside_ps": a.outside,
        "other_ps": a.other,
        "busy_percent": _percent(a.busy, profile.duration),
        "busy_cycles": a.busy_cycles,
        "wait_cycles": a.wait_cycles[Cause.SEMAPHORE] + a.wait_cycles[Cause.DMA],
        "dma_wait_cycles": a.wait_cycles[Cause.DMA],
        "overlap_cycles": a.wait_cycles[Cause.DEPENDENCY],
        "port_cycles": a.wait_cycles[Cause.PORT],
        "fetch_cycles": a.wait_cycles[Cause.FETCH],
        "retired": a.retired,
        "flops": a.flops,
        "bf16_flops": a.bf16_flops,
        "bytes_read": a.bytes_read,
        "bytes_written": a.bytes_written,
        "psum_bytes_read": a.psum_bytes_read,
        "psum_bytes_written": a.psum_bytes_written,
        "instructions_by_mode": a.by_mode,
    }


def _waits(profile: Profile) -> list[Row]:
    rows = []
    for engine in profile.engines:
        core = _core_of(profile, engine)
        followed = [(wait, instruction.id) for instruction in engine.instructions for wait in instruction.waits]
        for wait, number in followed + [(wait, None) for wait in engine.unmet]:
            poster = profile.posters.get(wait.poster)
            rows.append(
                _span(profile, wait.begin, wait.end)
                | {
                    "engine": engine.name,
                    **core,
                    "cause": wait.cause.value,
                    "reason": wait.reason,
                    "cycles": wait.cycles,
                    "instruction_id": number,
                    "poster_id": poster.id if poster else None,
                }
            )
    return rows


def _line(line: analysis.Line) -> Row:
    return {
        "nki_source_location": line.source,
        "instruction_count": line.instructions,
        "busy_ns": {name: time // 1000 for name, time in line.busy.items()},
        "lost_ns": {cause.value: time // 1000 for cause, time in line.lost.items()},
        "flops": line.flops,
        "hbm_bytes": line.hbm_bytes,
        "dma_packet_count": line.transfers,
        "dma_bytes": line.transfer_bytes,
        "dma_active_ns": line.transfer_time // 1000,
    }


def _matmul_types(profile: Profile) -> list[Row]:
    seconds, peak = profile.duration / analysis.PS, analysis.peak_bf16_flops(profile)
    return [
        {
            "type": use.type,
            "instruction_count": use.instructions,
            "flops": use.flops,
            "adjusted_flops": use.bf16_flops,
            "busy_ns": use.busy // 1000,
            "peak_flops": peak * use.flops / use.bf16_flops if use.bf16_flops else None,
            "achieved_flops": use.flops / seconds,
            "utilisation_percent": _percent(use.bf16_flops, peak * seconds),
        }
        for use in analysis.types_of(profile)
    ]


# -- DMA and memory


def _dma_index(transfer: Transfer) -> int:
    return int(transfer.place.part.rpartition("engine")[2])


def _packets(profile: Profile) -> list[Row]:
    numbers: dict[tuple[int, int], int] = {}
    order: collections.Counter[tuple[int, int]] = collections.Counter()
    rows = []
    for number, transfer in enumerate(profile.transfers[:MAX_PACKETS], 1):
        key = transfer.operation, transfer.queue
        rows.append(
            _span(profile, transfer.begin, transfer.end)
            | {
                "id": number,
                "packet_idx": order[key],
                "packet_aggregation_id": numbers.setdefault(key, len(numbers) + 1),
                "engine_idx": _dma_index(transfer),
                "read_bytes": transfer.bytes,
                "write_bytes": transfer.bytes,
                "transfer_bytes": transfer.bytes,
                "throughput": transfer.bytes * analysis.PS / (transfer.end - transfer.begin) if transfer.end > transfer.begin else None,
                "queue_type": analysis.queue_type(profile, transfer.operation),
                "queue_name": f"q{transfer.queue}",
                "queue_idx": transfer.queue,
                "crc": None,
                "trn_chip": transfer.place.chip,
                "trn_source": f"{transfer.source:#x}",
                "trn_destination": f"{transfer.destination:#x}",
                "trn_op": transfer.kind,
                "trn_completed": transfer.completed,
            }
        )
        order[key] += 1
    return rows


def _aggregated(profile: Profile) -> list[Row]:
    groups: dict[tuple[int, int], list[Transfer]] = {}
    for transfer in profile.transfers:
        groups.setdefault((transfer.operation, transfer.queue), []).append(transfer)
    rows = []
    for number, ((operation, queue), some) in enumerate(groups.items(), 1):
        poster = profile.posters.get(operation)
        begin, end = min(transfer.begin for transfer in some), max(transfer.end for transfer in some)
        size = sum(transfer.bytes for transfer in some)
        row = _span(profile, begin, end) | {
            "id": number,
            "block_id": operation,
            "queue_idx": queue,
            "queue_name": f"q{queue}",
            "queue_type": analysis.queue_type(profile, operation),
            "op": some[0].kind,
            "variable": None,
            "read_bytes": size,
            "write_bytes": size,
            "transfer_bytes": size,
            "throughput": size * analysis.PS / (end - begin) if end > begin else None,
            "source": None,
            "dest": None,
            "semaphore_id": None,
            "read_sbuf_partitions": None,
            "read_num_sbuf_partitions": None,
            "read_shape": None,
            "read_offset": None,
            "read_steps": None,
            "write_sbuf_partitions": None,
            "write_num_sbuf_partitions": None,
            "write_shape": None,
            "write_offset": None,
            "write_steps": None,
            "trn_packet_count": len(some),
        }
        if poster is not None:
            row |= {
                "trigger": _ns(profile, poster.begin),
                "completion": _ns(profile, poster.end),
                "pcore_idx": profile.core_numbers[poster.engine.core],
                "trn_trigger_id": poster.id,
            }
        rows.append(row)
    return rows


def _queues(profile: Profile) -> list[Row]:
    groups: dict[tuple[str, int, int], list[Transfer]] = collections.defaultdict(list)
    for transfer in profile.transfers:
        groups[transfer.place.chip, _dma_index(transfer), transfer.queue].append(transfer)
    rows = []
    for (chip, engine, queue), some in sorted(groups.items()):
        active = intervals.length(intervals.union((transfer.begin, transfer.end) for transfer in some))
        rows.append(
            {
                "name": f"q{queue}",
                "type": analysis.queue_type(profile, some[0].operation),
                "pcore_idx": None,
                "idx": queue,
                "engine_idx": engine,
                "axi_port": None,
                "dram_channel": None,
                "trn_chip": chip,
                "trn_packet_count": len(some),
                "trn_bytes": sum(transfer.bytes for transfer in some),
                "trn_active_ns": active // 1000,
                "trn_active_percent": _percent(active, profile.duration),
            }
        )
    return rows


def _usage(profile: Profile, spans: list[tuple[int, int, int]]) -> list[Row]:
    # The bytes of a last signal have moved before they arrive: their transfer ends after the execution.
    ended = [(begin, min(end, profile.last), amount) for begin, end, amount in spans]
    parts = intervals.sampled(ended, profile.first, profile.last, SAMPLES)
    width, total, rows = profile.duration / SAMPLES, 0.0, []
    for number, amount in enumerate(parts):
        total += amount
        rows.append(
            {
                "timestamp": int(number * width) // 1000,
                "current_throughput": amount * analysis.PS / width,
                "total_transfer_bytes": round(total),
            }
        )
    return rows


# -- Signals


def _semaphores(profile: Profile) -> list[Row]:
    rows = []
    for change in profile.semaphores:
        poster = profile.posters.get(change.operation)
        source = {"engine": poster.engine.name if poster else None, "dma": "AXI"}.get(change.initiator, change.initiator)
        core = change.place.chip, change.place.index
        rows.append(
            {
                "timestamp": _ns(profile, change.time),
                "id": f"{'E' if change.is_event else 'S'}[{change.index}]",
                "value": change.value,
                "update_source": source,
                "double_set_or_clear": None,
                "pcore_idx": profile.core_numbers.get(core),
                "trn_chip": change.place.chip,
                "trn_core": change.place.index,
                "trn_poster_id": poster.id if poster else None,
            }
        )
    return rows


def _collectives(profile: Profile) -> list[Row]:
    rows = []
    for service in profile.services:
        poster = profile.posters.get(service.operation)
        row = _span(profile, service.begin, service.end) | {
            "core_idx": service.place.index,
            "description": "SERVES",
            "trn_chip": service.place.chip,
            "trn_operation": service.operation,
        }
        if poster is not None:
            row |= {"trigger_engine": poster.engine.name, "trigger_start_ts": _ns(profile, poster.begin)}
        rows.append(row)
    return rows


def _errors(profile: Profile) -> list[Row]:
    return [
        {
            "description": failure.error,
            "error_type_id": None,
            "metadata": f"pc {failure.pc}, detail {failure.detail:#x}",
            "metadata_hex": f"{failure.detail:x}",
            "timestamp": _ns(profile, failure.time),
            "type": "Errors",
            "trn_engine": failure.engine.name,
            **_core_of(profile, failure.engine),
        }
        for failure in profile.failures
    ]


def _flows(profile: Profile) -> list[Row]:
    rows = []
    for engine in profile.engines:
        for instruction in engine.instructions:
            for wait in instruction.waits:
                poster = profile.posters.get(wait.poster)
                if poster is not None:
                    rows.append(
                        {
                            "in_id": poster.id,
                            "out_id": instruction.id,
                            "in_table": "instruction",
                            "out_table": "instruction",
                            "dependency_type": f"trn_{wait.cause.value}",
                            "gap_time": max(0, instruction.begin - poster.end) // 1000,
                        }
                    )
    seen: set[tuple[int, int]] = set()
    for transfer in profile.transfers:
        key = transfer.operation, transfer.queue
        if key in seen:
            continue
        seen.add(key)
        poster = profile.posters.get(transfer.operation)
        if poster is not None:
            rows.append(
                {
                    "in_id": poster.id,
                    "out_id": len(seen),
                    "in_table": "instruction",
                    "out_table": "dma_packet_aggregated",
                    "dependency_type": "trn_trigger",
                    "gap_time": max(0, transfer.begin - poster.end) // 1000,
                }
            )
    return rows


# -- The schema

_UNITS = (
    ("_ts", "nanoseconds"),
    ("_ns", "nanoseconds"),
    ("timestamp", "nanoseconds"),
    ("gap_time", "nanoseconds"),
    ("_ps", "picoseconds"),
    ("_bytes", "bytes"),
    ("_percent", "percent"),
    ("_cycles", "cycles"),
    ("flops", "flops"),
)
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}


def _schema(found: dict[str, list[Row]]) -> list[Row]:
    """One row per field in use; `trn_known_by`: the source of its name."""
    rows = []
    for table, some in found.items():
        names: dict[str, Any] = {}
        for row in some[:1000]:
            for key, value in row.items():
                if names.get(key) is None:
                    names[key] = value
        for name, value in names.items():
            ours = table in OUR_TABLES or name.startswith("trn_")
            rows.append(
                {
                    "table_name": table,
                    "table_description": None,
                    "field_name": name,
                    "field_description": None,
                    "field_type": _TYPES.get(type(value)),
                    "field_required": None,
                    "field_unit": next((unit for end, unit in _UNITS if name.endswith(end)), None),
                    "trn_known_by": "invented" if ours else "document",
                }
            )
    return rows
