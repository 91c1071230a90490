# SPDX-License-Identifier: Apache-2.0
"""nki.isa: Moves of elements and partitions by index."""
from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from trn_nki.trace.recording import record

if TYPE_CHECKING:
    from trn_nki.tensors.tensor import NkiTensor
    from trn_nki.trace.instructions import Instruction

__all__ = ["local_gather", "nc_n_gather", "nc_stream_shuffle"]


def local_gather(
    dst: NkiTensor,
    src_buffer: NkiTensor,
    index: NkiTensor,
    num_elem_per_idx: int = 1,
    num_valid_indices: int | None = None,
    name: str | None = None,
) -> Instruction:
    """dst = elements of src_buffer at the indices of each group of 16 partitions.

    Tiles in SBUF whose P partitions are a multiple of 16: `src_buffer` and `dst` of one type, `index` [P, K] of type uint16, whose
    first `num_valid_indices` of 16 K each group takes, at most 4,096. Each index selects `num_elem_per_idx` (1, 2, 4, 8, 16 or 32)
    elements; `dst` has the product of both in each partition. Specification: 8.6, row 57.
    """
    return record("local_gather", locals())


def nc_n_gather(dst: NkiTensor, data: NkiTensor, indices: NkiTensor, name: str | None = None) -> Instruction:
    """dst[i] = data[indices[i]] in each partition.

    Tiles in SBUF: `dst` and `indices` [P, N], `data` [P, F] of the type of `dst`, `indices` of type uint32.
    Specification: 8.6, row 58.
    """
    return record("nc_n_gather", locals())


def nc_stream_shuffle(dst: NkiTensor, src: NkiTensor, shuffle_mask: Sequence[int], name: str | None = None) -> Instruction:
    """Partition i of each quadrant of dst = partition shuffle_mask[i] of src's.

    Tiles of one type with as many elements per partition; `shuffle_mask`: 32 numbers 0 to 31, or 255, which leaves the
    partition. Specification: 8.4, row 35.
    """
    return record("nc_stream_shuffle", locals())
