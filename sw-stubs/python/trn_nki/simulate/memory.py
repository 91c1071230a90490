# SPDX-License-Identifier: Apache-2.0
"""Bytes of storages, and views of them as NumPy arrays of raw elements."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator

import numpy

from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.storage import Storage
from trn_nki.tensors.indirection import DeviceInteger, RegisterOrInteger
from trn_nki.tensors.tensor import NkiTensor, has_kind, indirection_of
from trn_nki.trace.host_arrays import raw_type
from trn_nki.values.generations import PARTITIONS, PSUM_BYTES, Generation
from trn_nki.values.memory_regions import MemoryRegion

if TYPE_CHECKING:
    import numpy.typing as npt

    from trn_nki.diagnostics.places import Place
    from trn_nki.simulate.formats import Raw

    Bytes = npt.NDArray[numpy.uint8]

POISON = 0xFF  # of bytes that were never written: NaN in every float type


class Memory:
    """Storages of one core. HBM is in `shared`, common to the cores of a launch."""

    def __init__(self, generation: Generation, shared: dict[Storage, Bytes]):
        self._generation, self._hbm = generation, shared
        self._tiles: dict[Storage, Bytes] = {}
        self._chip: dict[MemoryRegion, Bytes] = {}  # all of SBUF or PSUM, for tiles with an address
        self.place: Place | None = None  # of the instruction

    def _bytes(self, storage: Storage) -> tuple[Bytes, int, int]:
        """The array, the bytes from one partition to the next, and the first byte."""
        if storage.address is not None and storage.is_on_chip:
            size = PSUM_BYTES if storage.region is MemoryRegion.psum else self._generation.sbuf_bytes
            if storage.region not in self._chip:
                self._chip[storage.region] = numpy.full(PARTITIONS * size, POISON, numpy.uint8)
            return self._chip[storage.region], size, storage.address[0] * size + storage.address[1]
        held = self._tiles if storage.is_on_chip else self._hbm
        if storage not in held:
            if storage.data is None:
                held[storage] = numpy.full(storage.size_bytes, POISON, numpy.uint8)
            else:
                held[storage] = numpy.frombuffer(storage.data.tobytes(), numpy.uint8).copy()
        return held[storage], storage.bytes_per_partition if storage.is_on_chip else 0, 0

    def array(self, view: NkiTensor, extra: int = 0) -> Raw:
        """The elements of a view, `extra` elements further: writable, in the view's shape."""
        buffer, pitch, first = self._bytes(view.storage)
        size = view.dtype.itemsize
        offset = view.offset + extra
        strides = [stride * size for stride in view.strides]
        if view.storage.is_on_chip:
            first += offset // view.pitch * pitch + offset % view.pitch * size
            if strides:
                strides[0] = view.strides[0] // view.pitch * pitch
        else:
            first += offset * size
        try:
            return numpy.ndarray(view.shape, raw_type(view.dtype), buffer, first, strides)
        except ValueError:
            raise KernelError(f"{view!r} with {extra} elements added to its offset leaves its tensor", "10.1", self.place) from None


class DynamicMemory(Memory):
    """Resolves dynamic indices of views."""

    def __init__(self, generation: Generation, shared: dict[Storage, Bytes]):
        super().__init__(generation, shared)
        self.registers: dict[DeviceInteger, int] = {}
        self.group = 16  # of the engine that reads an index tile
        self.skip_out_of_range = False

    def read(self, view: NkiTensor) -> Raw:
        """A copy of the raw elements, in the view's shape."""
        kind = view.indirection.kind if view.indirection else None
        if kind is None:
            return self.array(view).copy()
        if kind == "scalar":
            offset = self._scalar(view)
            return numpy.zeros(view.shape, raw_type(view.dtype)) if offset is None else self.array(view, offset).copy()
        if kind == "column":
            whole, columns = self._columns(view)
            return numpy.take_along_axis(whole, columns, axis=1)
        found: Raw = numpy.zeros(view.shape, raw_type(view.dtype))
        for i, row in self._rows(view):
            found[i] = row
        return found

    def write(self, view: NkiTensor, raw: Raw, skipped: NkiTensor | None = None) -> None:
        """Stores raw elements, in the view's shape. `skipped` is the source view, whose rows may be out of range."""
        raw = raw.reshape(view.shape)
        kind = view.indirection.kind if view.indirection else None
        if kind is None:
            if skipped is not None and skipped.indirection is not None and self.skip_out_of_range:
                self._write_kept(view, raw, skipped)
            else:
                self.array(view)[...] = raw
        elif kind == "scalar":
            offset = self._scalar(view)
            if offset is not None:
                self.array(view, offset)[...] = raw
        elif kind == "column":
            whole, columns = self._columns(view)
            numpy.put_along_axis(whole, columns, raw, axis=1)
        else:
            self._write_rows(view, raw)

    def _write_rows(self, view: NkiTensor, raw: Raw) -> None:
        held: dict[int, int] = {}  # position of the elements that a row of the table receives, by the row's address
        for i, row in self._rows(view):
            first = held.setdefault(row.__array_interface__["data"][0], i)
            if raw[first].tobytes() != raw[i].tobytes():
                raise KernelError(
                    f"rows {first} and {i} of the source go to one row of {view!r}; which of them stays is not defined",
                    "8.2",
                    self.place,
                )
            row[...] = raw[i]

    def _write_kept(self, view: NkiTensor, raw: Raw, source: NkiTensor) -> None:
        if has_kind(source, "scalar"):
            if self._scalar(source) is not None:
                self.array(view)[...] = raw
            return
        target = self.array(view)
        for i, _ in self._rows(source):
            target[i] = raw[i]

    def value(self, index: NkiTensor | RegisterOrInteger) -> int:
        """The integer in a register or in a tile of one element."""
        if isinstance(index, NkiTensor):
            return int(self.read(index).reshape(-1)[0])
        return self.registers[index] if isinstance(index, DeviceInteger) else int(index)

    def _scalar(self, view: NkiTensor) -> int | None:
        """Elements to add to the offset; None when the index is out of range and is skipped."""
        dynamic = indirection_of(view)
        index = self.value(dynamic.index)
        if not self._in_range(index, view.max_index() + 1, view):
            return None
        self._check_start(view, index * dynamic.stride)
        return index * dynamic.stride

    def _check_start(self, view: NkiTensor, extra: int) -> None:
        """The start of a PSUM operand with its index (20.45)."""
        if view.buffer is MemoryRegion.psum:
            byte = view.start_byte + extra * view.dtype.itemsize
            if byte % view.start_alignment:
                raise KernelError(
                    f"{view!r} starts at byte {byte} of a partition with its index; PSUM operands start at "
                    f"multiples of {view.start_alignment}",
                    "2.1",
                    self.place,
                )

    def _rows(self, view: NkiTensor) -> Iterator[tuple[int, Raw]]:
        """(position, elements) of each selected entry of dimension 0 that is in range."""
        dynamic = indirection_of(view)
        indices = self.read(dynamic.tile).T.reshape(-1)[: view.shape[0]]
        row = view.static_view(0, (1,) + view.shape[1:])
        for i, index in enumerate(indices):
            if self._in_range(int(index), dynamic.limit, view):
                yield i, self.array(row, int(index) * dynamic.stride)[0]

    def _columns(self, view: NkiTensor) -> tuple[Raw, npt.NDArray[numpy.int64]]:
        dynamic = indirection_of(view)
        index = self.read(dynamic.tile).astype(numpy.int64)
        partitions, count = view.shape
        columns = numpy.empty(view.shape, numpy.int64)
        positions = numpy.arange(count)
        for partition in range(partitions):
            first = partition // self.group * self.group
            columns[partition] = index[first + positions % self.group, positions // self.group]
        self.check_indices(columns, dynamic.limit, view)
        whole = view.static_view(0, (partitions, dynamic.limit), (view.strides[0], 1))
        return self.array(whole), columns

    def check_indices(self, indices: npt.NDArray[Any], limit: int, view: NkiTensor) -> None:
        """Raises KernelError with the first index that is not in the view's `limit` elements, unless these are skipped."""
        for index in indices[(indices < 0) | (indices >= limit)]:
            self._in_range(int(index), limit, view)

    def _in_range(self, index: int, limit: int, view: NkiTensor) -> bool:
        if 0 <= index < limit:
            return True
        if self.skip_out_of_range:
            return False
        raise KernelError(f"index {index} of {view!r} is out of range; it must be below {limit}", "10.1", self.place)
