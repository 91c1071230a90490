# SPDX-License-Identifier: Apache-2.0
"""accumulate=None of a matmul: overwrites if no matmul has written the destination, else accumulates (15.3)."""
from __future__ import annotations

from typing import Any, TypeAlias

from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.storage import Storage
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace.instructions import Loop, WhileLoop


class Accumulation:
    """Keeps the PSUM rectangles that matmuls wrote, by storage."""

    def __init__(self) -> None:
        self._written: dict[Storage, set[Rectangle]] = {}

    def resolve(self, arguments: dict[str, Any], loop: Loop | WhileLoop | None) -> None:
        """Sets arguments["accumulate"] to True or False and records the destination. `loop`: the device's loop of the
        call. Raises KernelError if the value would differ between passes."""
        dst = arguments["dst"]
        if not isinstance(dst, NkiTensor) or not dst.is_on_chip:
            return
        found = self._written.setdefault(dst.storage, set())
        mine = rectangle(dst)
        if arguments["accumulate"] is None and arguments.get("is_transpose"):
            arguments["accumulate"] = False  # 20.48
        if arguments["accumulate"] is None and dst.indirection is not None:
            raise KernelError(f"the place of {dst!r} is known on the device only: say accumulate=True or False", "15.3")
        if arguments["accumulate"] is None:
            arguments["accumulate"] = mine in found or any(overlap(mine, other) for other in found)
            if loop is not None and not arguments["accumulate"] and dst.storage.loop is not loop:
                raise KernelError(
                    f"the first pass of the loop would overwrite {dst!r} and the others add to it: say "
                    "accumulate=True or False, or allocate the tile in the loop",
                    "15.3",
                )
        else:
            arguments["accumulate"] = bool(arguments["accumulate"])
        found.add(mine)


Rectangle: TypeAlias = tuple[int, int, int, int]  # first and last partition, first and last byte


def rectangle(view: NkiTensor) -> Rectangle:
    reaches = [stride * (count - 1) for stride, count in zip(view.strides[1:], view.shape[1:])]
    first = view.element + sum(reach for reach in reaches if reach < 0)
    last = view.element + sum(reach for reach in reaches if reach > 0)
    size = view.dtype.itemsize
    return view.partition, view.partition + view.shape[0] - 1, first * size, last * size + size - 1


def overlap(a: Rectangle, b: Rectangle) -> bool:
    return a[0] <= b[1] and b[0] <= a[1] and a[2] <= b[3] and b[2] <= a[3]


def covers(a: Rectangle, b: Rectangle) -> bool:
    """Whether a holds all of b."""
    return a[0] <= b[0] and b[1] <= a[1] and a[2] <= b[2] and b[3] <= a[3]
