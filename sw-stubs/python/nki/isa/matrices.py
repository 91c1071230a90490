# SPDX-License-Identifier: Apache-2.0
"""nki.isa: The Tensor engine, and what prepares its operands."""
from __future__ import annotations

from typing import Any

from trn_nki.trace.instructions import Instruction
from trn_nki.trace.recording import record
from trn_nki.values import engines

__all__ = ["nc_matmul", "nc_matmul_mx", "nc_transpose", "quantize_mx"]


def nc_matmul(
    dst: Any,
    stationary: Any,
    moving: Any,
    is_stationary_onezero: Any = False,
    is_moving_onezero: Any = False,
    is_transpose: Any = False,
    accumulate: Any = None,
    tile_position: Any = (),
    tile_size: Any = (),
    perf_mode: Any = engines.matmul_perf_mode.none,
    name: Any = None,
) -> Instruction:
    """dst = stationary.T @ moving, overwriting or accumulating in PSUM."""
    return record(
        "nc_matmul",
        engines.engine.unknown,
        name,
        {
            "dst": dst,
            "stationary": stationary,
            "moving": moving,
            "is_stationary_onezero": is_stationary_onezero,
            "is_moving_onezero": is_moving_onezero,
            "is_transpose": is_transpose,
            "accumulate": accumulate,
            "tile_position": tile_position,
            "tile_size": tile_size,
            "perf_mode": perf_mode,
        },
    )


def nc_matmul_mx(
    dst: Any,
    stationary: Any,
    moving: Any,
    stationary_scale: Any,
    moving_scale: Any,
    tile_position: Any = None,
    tile_size: Any = None,
    accumulate: Any = None,
    name: Any = None,
) -> Instruction:
    """dst = stationary.T @ moving of MX operands with their scales."""
    return record(
        "nc_matmul_mx",
        engines.engine.unknown,
        name,
        {
            "dst": dst,
            "stationary": stationary,
            "moving": moving,
            "stationary_scale": stationary_scale,
            "moving_scale": moving_scale,
            "tile_position": tile_position,
            "tile_size": tile_size,
            "accumulate": accumulate,
        },
    )


def nc_transpose(dst: Any, data: Any, engine: Any = engines.engine.unknown, name: Any = None) -> Instruction:
    """dst = data with partitions and elements exchanged."""
    return record("nc_transpose", engine, name, {"dst": dst, "data": data})


def quantize_mx(dst: Any, src: Any, dst_scale: Any, name: Any = None) -> Instruction:
    """dst, dst_scale = src in MX format."""
    return record("quantize_mx", engines.engine.unknown, name, {"dst": dst, "src": src, "dst_scale": dst_scale})
