# SPDX-License-Identifier: Apache-2.0
"""NkiTensor: a view of storage."""
from __future__ import annotations

import math
import types
from typing import TYPE_CHECKING, Any, NoReturn, Sequence, TypeAlias, TypeGuard

from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors import layout
from trn_nki.tensors.indirection import Indirection, DeviceInteger
from trn_nki.tensors.python_operators import PythonOperators
from trn_nki.tensors.rearrange import Pattern
from trn_nki.tensors.rearrange import rearrange as rearranged
from trn_nki.tensors.storage import Storage
from trn_nki.values import data_types
from trn_nki.values.data_types import DataType
from trn_nki.values.memory_regions import MemoryRegion
from trn_nki.values.objects import NKIObject

if TYPE_CHECKING:
    from trn_nki.values.argument_types import ElementType


class DynamicSlice:
    """nl.ds(start, size): `size` elements from `start`, which may be a register."""

    __slots__ = ("start", "size", "step")

    def __init__(self, start: "int | DynamicIndex", size: int, step: int = 1):
        self.start, self.size, self.step = start, size, step


class NkiTensor(PythonOperators, NKIObject):
    """`offset` and `strides` count elements of `dtype` from the storage's start, partitions first.

    On chip, one partition further is `pitch` elements, so offset = partition * pitch + element.
    """

    __slots__ = ("storage", "dtype", "shape", "strides", "offset", "indirection")

    def __init__(self, shape: Sequence[int], dtype: ElementType, storage: Storage, buffer: object = None, name: str = ""):
        self.storage, self.dtype, self.shape = storage, data_types.named(dtype), tuple(shape)
        self.strides, self.offset = layout.row_major(self.shape), 0
        self.indirection: ViewIndex | None = None

    def _derive(
        self,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        offset: int,
        dtype: DataType | None = None,
        indirection: ViewIndex | None = None,
    ) -> "NkiTensor":
        made = NkiTensor.__new__(NkiTensor)
        made.storage, made.dtype = self.storage, dtype or self.dtype
        made.shape, made.strides, made.offset = shape, strides, offset
        made.indirection = indirection or self.indirection
        return made

    def static_view(self, elements: int, shape: tuple[int, ...] | None = None, strides: tuple[int, ...] | None = None) -> "NkiTensor":
        """The view without its index of the device, so many elements further, with other shape and strides if given."""
        made = self._derive(shape or self.shape, strides or self.strides, self.offset + elements)
        made.indirection = None
        return made

    # Properties.

    @property
    def buffer(self) -> MemoryRegion:
        return self.storage.region

    @property
    def name(self) -> str:
        return self.storage.name

    @property
    def base_tensor(self) -> "NkiTensor":
        """The view's whole storage, with its original type."""
        return NkiTensor(self.storage.shape, self.storage.dtype, self.storage)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def is_on_chip(self) -> bool:
        return self.storage.region.is_on_chip

    @property
    def pitch(self) -> int:
        """Elements of one partition of the storage (on chip)."""
        return self.storage.bytes_per_partition // self.dtype.itemsize

    @property
    def partition(self) -> int:
        """First partition, counted in the storage (on chip)."""
        return self.offset // self.pitch

    @property
    def partitions(self) -> int:
        return self.shape[0]

    @property
    def element(self) -> int:
        """Element offset in the partition (on chip)."""
        return self.offset % self.pitch

    @property
    def start_partition(self) -> int:
        """First partition in SBUF or PSUM; that of the storage is 0 while the storage has no address."""
        return self.partition + (self.storage.address[0] if self.storage.address else 0)

    @property
    def start_byte(self) -> int:
        """First byte in a partition of SBUF or PSUM; that of the storage is 0 while the storage has no address."""
        return self.element * self.dtype.itemsize + (self.storage.address[1] if self.storage.address else 0)

    @property
    def start_alignment(self) -> int:
        """Bytes that start_byte of an operand must be a multiple of (2.1, 20.16)."""
        return max(4, self.dtype.itemsize) if self.buffer is MemoryRegion.psum else self.dtype.itemsize

    @property
    def free_size(self) -> int:
        """Elements of each partition."""
        return math.prod(self.shape[1:])

    def free_pattern(self) -> list[tuple[int, int]]:
        """(stride, count) of the dimensions after the first, slowest first, contiguous ones merged."""
        return layout.merged(self.strides[1:], self.shape[1:])

    def is_indirect(self) -> bool:
        return self.indirection is not None

    def is_whole(self) -> bool:
        """Whether the view is its whole storage, in its order and type."""
        storage = self.storage
        return (
            self.shape == tuple(storage.shape)
            and self.strides == layout.row_major(self.shape)
            and self.dtype == storage.dtype
            and self.offset == 0
        )

    def is_contiguous(self) -> bool:
        first = 1 if self.is_on_chip else 0
        return layout.is_contiguous(self.shape[first:], self.strides[first:])

    def get_pattern(self) -> list[list[int]]:
        return [[stride, count] for stride, count in zip(self.strides, self.shape)]

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        dynamic = f", {self.indirection.kind} index" if self.indirection else ""
        return f"{self.storage.name}{list(self.shape)}:{self.dtype}@{self.buffer.value}{dynamic}"

    # Views by index.

    def __getitem__(self, key: Index | tuple[Index, ...]) -> "NkiTensor":
        keys = key if isinstance(key, tuple) else (key,)
        shape, strides, offset = self.shape, self.strides, self.offset
        if len(keys) != len(shape) or Ellipsis in keys:
            keys = _expanded(keys, len(shape))
        new_shape, new_strides = [], []
        indirection: ViewIndex | None = None
        for dimension, part in enumerate(keys):
            size, stride = shape[dimension], strides[dimension]
            if type(part) is slice:
                if part.start is None and part.stop is None and part.step is None:
                    new_shape.append(size)
                    new_strides.append(stride)
                    continue
                start = 0 if part.start is None else part.start
                stop = size if part.stop is None else part.stop
                step = 1 if part.step is None else part.step
                if type(start) is not int or type(stop) is not int or type(step) is not int:
                    start, stop, step = (_integer(value, "slice") for value in (start, stop, step))
                if start < 0:
                    start += size
                if stop < 0:
                    stop += size
                if not (0 <= start < stop <= size and step >= 1):
                    raise KernelError(_bad_slice(self, dimension, part))
                new_shape.append((stop - start + step - 1) // step)
                new_strides.append(stride * step)
                offset += start * stride
            elif isinstance(part, DynamicSlice):
                count = _integer(part.size, "size of a slice")
                if count < 1 or not isinstance(part.step, int) or part.step < 1:
                    raise KernelError(f"nl.ds has a size and a step of 1 or more, not {count} and {part.step}")
                if is_dynamic(part.start):
                    indirection = self._one_indirection(
                        indirection,
                        Indirection("scalar", part.start, stride, size - (count - 1) * part.step, self._is_partition(dimension)),
                    )
                else:
                    start = _integer(part.start, "slice")
                    if not (count >= 1 and 0 <= start and start + (count - 1) * part.step < size):
                        raise KernelError(_bad_slice(self, dimension, f"nl.ds({start}, {count})"))
                    offset += start * stride
                new_shape.append(count)
                new_strides.append(stride * part.step)
            else:
                if is_dynamic(part):
                    indirection = self._one_indirection(
                        indirection, Indirection("scalar", part, stride, size, self._is_partition(dimension))
                    )
                else:
                    index = _integer(part, "index")
                    if index < 0:
                        index += size
                    if not 0 <= index < size:
                        raise KernelError(f"index {part} is outside dimension {dimension} of {self!r}, which has {size}")
                    offset += index * stride
                if dimension == 0 and self.is_on_chip:
                    new_shape.append(1)
                    new_strides.append(stride)
        if self.indirection is not None:
            self._check_kept(new_shape, new_strides, offset)
        if self.is_on_chip and len(new_shape) == 1:
            new_shape.append(1)
            new_strides.append(1)
        elif not new_shape:
            new_shape, new_strides = [1], [1]
        return self._derive(tuple(new_shape), tuple(new_strides), offset, None, indirection)

    def __setitem__(self, key: object, value: object) -> NoReturn:
        advice = "write it with dst= of an nki.isa function" if self.is_on_chip else "copy a tile to it: nl.store(tensor[...], tile)"
        raise KernelError(f"{self!r} cannot be assigned to; {advice}")

    def __iter__(self) -> NoReturn:
        raise KernelError("a tensor cannot be iterated over; loop over nl.affine_range and slice it")

    def __bool__(self) -> bool:
        """Kernels test optional arguments in HBM by `if tensor:`; the test of a tile is refused."""
        if not self.is_on_chip:
            return True
        raise KernelError(
            f"the value of a tensor is not known while the kernel is traced, and {self!r} is neither true nor false: "
            "nl.where and nisa.select_reduce choose elements, nl.while_loop and `while register:` passes of a "
            "loop; `is not None` tests whether a tile was given"
        )

    def slice(self, dim: int, start: int, end: int, step: int = 1) -> "NkiTensor":
        dim = self._dimension(dim)
        return self[tuple([slice(None)] * dim + [slice(start, end, step)])]

    def select(self, dim: int, index: int | DynamicIndex) -> "NkiTensor":
        dim = self._dimension(dim)
        if dim == 0 and self.is_on_chip and is_dynamic(index):
            raise KernelError("the partition of a tile cannot be selected by a value of the device", "2.2")
        return self[tuple([slice(None)] * dim + [index])]

    # Views by shape.

    def permute(self, dims: tuple[int, ...]) -> "NkiTensor":
        dims = tuple(dims)
        if sorted(dims) != list(range(self.ndim)):
            raise KernelError(f"{dims} is no permutation of the {self.ndim} dimensions of {self!r}")
        if dims and dims[0] != 0:
            self._keep_first("permute")
        return self._derive(tuple(self.shape[d] for d in dims), tuple(self.strides[d] for d in dims), self.offset)

    def broadcast(self, dim: int, size: int) -> "NkiTensor":
        dim = self._dimension(dim)
        if self.shape[dim] != 1:
            raise KernelError(f"dimension {dim} of {self!r} has {self.shape[dim]} elements; only one can be broadcast")
        if dim == 0 and self.is_on_chip:
            raise KernelError("the partition dimension cannot be broadcast", "2.3")
        return self._derive(_replaced(self.shape, dim, size), _replaced(self.strides, dim, 0), self.offset)

    def expand_dim(self, dim: int) -> "NkiTensor":
        if dim < 0:
            dim += self.ndim + 1
        if not 0 <= dim <= self.ndim:
            raise KernelError(f"{self!r} cannot get a new dimension {dim}")
        if dim == 0:
            self._keep_first("expand_dim")
        return self._derive(self.shape[:dim] + (1,) + self.shape[dim:], self.strides[:dim] + (1,) + self.strides[dim:], self.offset)

    def squeeze_dim(self, dim: int) -> "NkiTensor":
        dim = self._dimension(dim)
        if self.shape[dim] != 1:
            raise KernelError(f"dimension {dim} of {self!r} has {self.shape[dim]} elements, not one")
        if dim == 0:
            self._keep_first("squeeze_dim")
        return self._derive(self.shape[:dim] + self.shape[dim + 1 :], self.strides[:dim] + self.strides[dim + 1 :], self.offset)

    def reshape_dim(self, dim: int, shape: tuple[int, ...]) -> "NkiTensor":
        dim = self._dimension(dim)
        shape = layout.inferred(tuple(shape), self.shape[dim], self)
        if dim == 0 and shape != (self.shape[0],):
            self._keep_first("reshape_dim")
        strides = tuple(self.strides[dim] * inner for inner in layout.row_major(shape))
        return self._derive(
            self.shape[:dim] + shape + self.shape[dim + 1 :], self.strides[:dim] + strides + self.strides[dim + 1 :], self.offset
        )

    def flatten_dims(self, start_dim: int, end_dim: int) -> "NkiTensor":
        start, end = self._dimension(start_dim), self._dimension(end_dim)
        if start == 0 and end > 0:
            self._keep_first("flatten_dims")
        merged = layout.merged(self.strides[start : end + 1], self.shape[start : end + 1])
        if len(merged) != 1:
            raise KernelError(f"dimensions {start} to {end} of {self!r} do not lie behind each other in memory")
        return self._derive(
            self.shape[:start] + (math.prod(self.shape[start : end + 1]),) + self.shape[end + 1 :],
            self.strides[:start] + (merged[0][0],) + self.strides[end + 1 :],
            self.offset,
        )

    def reshape(self, shape: tuple[int, ...]) -> "NkiTensor":
        shape = layout.inferred(tuple(shape), self.size, self)
        if self.is_on_chip and (not shape or shape[0] != self.shape[0]):
            self._keep_first("reshape")
        strides = layout.reshaped(self.shape, self.strides, shape)
        if strides is None:
            raise KernelError(f"{self!r} with strides {self.strides} cannot become {shape} without a copy")
        return self._derive(shape, strides, self.offset)

    def rearrange(self, src_pattern: Pattern, dst_pattern: Pattern, fixed_sizes: dict[str, int] | None = None) -> "NkiTensor":
        return rearranged(self, src_pattern, dst_pattern, fixed_sizes or {})

    def view(self, dtype: ElementType) -> "NkiTensor":
        dtype = data_types.named(dtype)
        if self.indirection is not None:
            raise KernelError("a view with a dynamic index cannot take another type")
        old, new = self.dtype.itemsize, dtype.itemsize
        if old == new:
            return self._derive(self.shape, self.strides, self.offset, dtype)
        if self.shape[-1] > 1 and self.strides[-1] != 1:
            raise KernelError(
                f"the last dimension of {self!r} has stride {self.strides[-1]}; only contiguous elements can take a type of another size"
            )
        outer = self.strides[:-1] + (self.offset,)
        if self.shape[-1] * old % new or any(stride * old % new for stride in outer):
            raise KernelError(f"{self!r} cannot be seen as {dtype}: sizes or strides are no multiples of {new} bytes")
        return self._derive(
            self.shape[:-1] + (self.shape[-1] * old // new,),
            tuple(stride * old // new for stride in self.strides[:-1]) + (1,),
            self.offset * old // new,
            dtype,
        )

    reinterpret_cast = view

    # Views by address and by index tiles.

    def ap(
        self,
        pattern: Sequence[Sequence[int]],
        offset: int | None = None,
        scalar_offset: DynamicIndex | None = None,
        vector_offset: NkiTensor | None = None,
        indirect_dim: int = 0,
        dtype: ElementType | None = None,
    ) -> "NkiTensor":
        if scalar_offset is not None and vector_offset is not None:
            raise KernelError("ap takes scalar_offset or vector_offset, not both")
        kind = self.dtype if dtype is None else data_types.named(dtype)
        base = self.offset * self.dtype.itemsize // kind.itemsize + (offset or 0)
        strides = tuple(_integer(stride, "stride") for stride, _ in pattern)
        shape = tuple(_integer(count, "count") for _, count in pattern)
        if not shape or min(shape) < 1:
            raise KernelError(f"pattern {pattern} has a dimension without elements", "2.3")
        indirection: ViewIndex | None = None
        if scalar_offset is not None or vector_offset is not None:
            of_base = layout.row_major(self.storage.shape) if self.shape == self.storage.shape else self.strides
            dim = self._dimension(indirect_dim)
            stride = of_base[dim] * self.dtype.itemsize // kind.itemsize
            limit = self.shape[dim]
            if scalar_offset is not None:
                indirection = Indirection("scalar", scalar_offset, stride, limit, self._is_partition(dim))
            elif vector_offset is not None:
                indirection = Indirection("vector", vector_offset, stride, limit)
        made = self._derive(shape, strides, base, kind, self._one_indirection(None, indirection))
        layout.check_inside(made, strides, pattern)
        return made

    def vector_select(self, dim: int, vector_offset: "NkiTensor") -> "NkiTensor":
        if dim != 0 or self.is_on_chip:
            raise KernelError("vector_select works on dimension 0 of a tensor in HBM")
        indirection: ViewIndex = Indirection("vector", vector_offset, self.strides[0], self.shape[0])
        return self._derive(
            (vector_offset.shape[0],) + self.shape[1:], self.strides, self.offset, None, self._one_indirection(None, indirection)
        )

    def indirect(self, index: "NkiTensor", num_elem: int | None = None) -> "NkiTensor":
        if not self.is_on_chip or self.ndim != 2:
            raise KernelError("indirect works on tiles [partitions, elements] in SBUF or PSUM", "2.4")
        indirection: ViewIndex = Indirection("column", index, 1, self.shape[1])
        return self._derive(
            (self.shape[0], num_elem or index.size), (self.strides[0], 0), self.offset, None, self._one_indirection(None, indirection)
        )

    # Helpers.

    def _dimension(self, dim: int) -> int:
        found = dim + self.ndim if dim < 0 else dim
        if not 0 <= found < self.ndim:
            raise KernelError(f"{self!r} has no dimension {dim}")
        return found

    def _keep_first(self, function: str) -> None:
        if self.is_on_chip:
            raise KernelError(f"{function} cannot change the partition dimension of {self!r}")
        if self.indirection is not None and self.indirection.kind == "vector":
            raise KernelError(f"{function} cannot change the dimension that an index tile selects")

    def max_index(self) -> int:
        """Largest value of the dynamic index with which all elements lie in the tensor, on chip in their partitions. The
        smallest is 0; the largest is negative if there is none."""
        index, first = self.indirection, 1 if self.is_on_chip else 0
        assert index is not None
        if index.kind != "scalar":
            return index.limit - 1
        if index.over_partitions:
            return min(index.limit - 1, (self.storage.partitions - self.partition - self.shape[0]) // (index.stride // self.pitch))
        reach = sum(stride * (count - 1) for stride, count in zip(self.strides[first:], self.shape[first:]) if stride > 0)
        end = self.pitch if first else self.storage.size_bytes // self.dtype.itemsize
        highest = (end - 1 - (self.element if first else self.offset) - reach) // index.stride
        return min(highest, index.limit - 1) if index.limit else highest

    def _is_partition(self, dim: int) -> bool:
        return dim == 0 and self.is_on_chip

    def _one_indirection(self, found: ViewIndex | None, new: ViewIndex | None) -> ViewIndex | None:
        held = found or self.indirection
        if new is not None and new.kind == "scalar" and new.stride < 1:
            raise KernelError(f"a dimension of {self!r} whose stride is {new.stride} cannot be indexed by a value of the device", "2.3")
        if new is None or held is None:
            return new
        if held.kind != "scalar" or new.kind != "scalar":
            raise KernelError(f"{self!r} already has a dynamic index; one view takes one index tile, or scalars")
        if held.over_partitions or new.over_partitions:
            raise KernelError(f"{self!r}: one view of a tile takes an index of its partitions or of its elements, not both", "2.2")
        return Indirection("scalar", held.displacement() + new.displacement(), 1, 0)

    def _check_kept(self, shape: list[int], strides: list[int], offset: int) -> None:
        assert self.indirection is not None
        kind = self.indirection.kind
        if kind == "scalar":
            return
        first = not shape or shape[0] != self.shape[0]
        moved = offset != self.offset and not (kind == "vector" and shape and shape[0] == self.shape[0])
        if first or (kind == "column" and (moved or shape != list(self.shape))):
            raise KernelError("the dimension that an index tile selects cannot be sliced again")


DynamicIndex: TypeAlias = DeviceInteger | NkiTensor
ViewIndex: TypeAlias = Indirection[NkiTensor]
Index: TypeAlias = int | slice | DynamicSlice | DeviceInteger | NkiTensor | types.EllipsisType


def is_dynamic(value: object) -> TypeGuard[DynamicIndex]:
    """Whether a value is known only on the device: a register or a tile."""
    return isinstance(value, (DeviceInteger, NkiTensor))


def has_kind(view: NkiTensor, kind: str) -> bool:
    """Whether the view has an index of the device of this kind."""
    return view.indirection is not None and view.indirection.kind == kind


def indirection_of(view: NkiTensor) -> ViewIndex:
    """Precondition: the view has an index of the device."""
    assert view.indirection is not None
    return view.indirection


def _expanded(keys: tuple[Index, ...], dimensions: int) -> tuple[Index, ...]:
    given = sum(1 for key in keys if key is not Ellipsis)
    if given > dimensions or len(keys) - given > 1:
        raise KernelError(f"{len(keys)} indices for a tensor of {dimensions} dimensions")
    if given == len(keys):
        return keys + (slice(None),) * (dimensions - given)
    position = next(i for i, key in enumerate(keys) if key is Ellipsis)
    return keys[:position] + (slice(None),) * (dimensions - given) + keys[position + 1 :]


def _integer(value: Any, role: str) -> int:
    """The integer of a value of a kernel, of any type. Raises KernelError."""
    try:
        return value.__index__()
    except AttributeError:
        hint = " (// divides integers)" if isinstance(value, float) else ""
        raise KernelError(f"{role} must be an integer, not {type(value).__name__}{hint}") from None


def _replaced(values: tuple[int, ...], position: int, value: int) -> tuple[int, ...]:
    return values[:position] + (value,) + values[position + 1 :]


def _bad_slice(tensor: NkiTensor, dimension: int, part: slice | str) -> str:
    if isinstance(part, slice):
        part = ":".join("" if value is None else str(value) for value in (part.start, part.stop, part.step)).rstrip(":")
    return f"slice {part} is empty or outside dimension {dimension} of {tensor!r}, which has {tensor.shape[dimension]}"
