# SPDX-License-Identifier: Apache-2.0
"""nki.isa: Moves of elements and partitions by index."""
from __future__ import annotations

from typing import Any

from trn_nki.trace.instructions import Instruction
from trn_nki.trace.recording import record
from trn_nki.values import engines

__all__ = ["local_gather", "nc_n_gather", "nc_stream_shuffle"]


def local_gather(
    dst: Any, src_buffer: Any, index: Any, num_elem_per_idx: Any = 1, num_valid_indices: Any = None, name: Any = None
) -> Instruction:
    """dst = elements of src_buffer at the indices of each group of 16 partitions."""
    return record(
        "local_gather",
        engines.engine.unknown,
        name,
        {
            "dst": dst,
            "src_buffer": src_buffer,
            "index": index,
            "num_elem_per_idx": num_elem_per_idx,
            "num_valid_indices": num_valid_indices,
        },
    )


def nc_n_gather(dst: Any, data: Any, indices: Any, name: Any = None) -> Instruction:
    """dst[i] = data[indices[i]] in each partition."""
    return record("nc_n_gather", engines.engine.unknown, name, {"dst": dst, "data": data, "indices": indices})


def nc_stream_shuffle(dst: Any, src: Any, shuffle_mask: Any, name: Any = None) -> Instruction:
    """Partition i of each quadrant of dst = partition shuffle_mask[i] of src's."""
    return record("nc_stream_shuffle", engines.engine.unknown, name, {"dst": dst, "src": src, "shuffle_mask": shuffle_mask})
