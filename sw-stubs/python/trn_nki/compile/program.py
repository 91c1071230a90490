# SPDX-License-Identifier: Apache-2.0
"""Instructions and their operands before they have addresses, semaphores and text."""
from __future__ import annotations

import dataclasses
import math
from typing import Iterable, Iterator, TypeAlias

from trn_nki.diagnostics.places import Place
from trn_nki.values.data_types import DataType
from trn_nki.values.generations import Generation

LIST_ENTRIES = 6  # conditions and updates of an event_semaphore
ENGINES = ("tensor", "scalar", "gpsimd", "vector", "sync")
ELEMENT_WORDS = {
    "float32": "fp32",
    "tfloat32": "tf32",
    "bfloat16": "bf16",
    "float16": "fp16",
    "float8_e3m4": "fp8_e3m4",
    "float8_e4m3": "fp8_e4m3",
    "float8_e4m3fn": "fp8_e4m3fn",
    "float8_e5m2": "fp8_e5m2",
    "int8": "int8",
    "uint8": "uint8",
    "int16": "int16",
    "uint16": "uint16",
    "int32": "int32",
    "uint32": "uint32",
    "float8_e8m0fnu": "e8m0",
    "float8_e4m3fn_x4": "fp8_e4m3fn_x4",
    "float8_e5m2_x4": "fp8_e5m2_x4",
    "float4_e2m1fn_x4": "fp4_e2m1_x4",
    "int64": "int64",
    "uint64": "uint64",
    "bool": "uint8",
}


class Buffer:
    """Bytes of some partitions of SBUF or PSUM. `first` and `offset` are fixed, or set by the allocation and 0 before."""

    def __init__(
        self,
        memory: str,
        partitions: int,
        size: int,
        name: str = "",
        place: Place | None = None,
        *,
        address: tuple[int, int] | None = None,
        core: int = 0,
        loop: "LoopStart | None" = None,
    ):
        self.memory, self.partitions, self.size = memory, partitions, size
        self.loop = loop  # whose body allocates it
        self.name, self.place, self.core = name, place, core
        self.is_fixed = address is not None
        self.first, self.offset = address or (0, 0)

    def access(self, partition: int = 0, partitions: int | None = None, low: int = 0, high: int | None = None) -> "Access":
        """Partitions from `partition` on, in each the bytes from `low` to before `high`; all by default."""
        first = self.first + partition
        end = first + (self.partitions if partitions is None else partitions)
        return Access((self.core, self.memory), first, end, self.offset + low, self.offset + (self.size if high is None else high))


class Array:
    """A tensor in HBM."""

    def __init__(self, name: str, dtype: DataType, shape: Iterable[int], role: str, core: int):
        self.name, self.dtype, self.shape, self.role, self.core = name, dtype, tuple(shape), role, core

    @property
    def size(self) -> int:
        """In bytes."""
        return math.prod(self.shape) * self.dtype.itemsize

    def access(self) -> "Access":
        """All bytes."""
        return Access(self, 0, 1, 0, self.size)

    def note_write(self) -> None:
        """An input that the kernel writes is also an output."""
        if self.role == "in":
            self.role = "inout"


Base: TypeAlias = Array | Buffer  # what an operand or an end of a copy is a part of


class Register:
    """An integer of the program. Each engine that needs it keeps it in one of its own registers."""

    def __init__(self, place: Place | None, factor: int = 1, bounds: tuple[int, int] | None = None):
        self.place, self.factor = place, factor  # factor divides every value
        self.bounds = bounds  # smallest and largest value, if known
        self._held: dict[str, Held] = {}

    def held(self, engine: str) -> "Held":
        """The engine's copy."""
        found = self._held.get(engine)
        if found is None:
            found = self._held[engine] = Held(self, engine)
        return found

    @property
    def holders(self) -> list[str]:
        """Engines that hold a copy so far."""
        return list(self._held)


class Held:
    """A register of one engine. `number` is known after the assignment of registers."""

    def __init__(self, register: Register, engine: str):
        self.register, self.engine = register, engine
        self.number: int | None = None

    def text(self) -> str:
        return f"R{self.number}"


@dataclasses.dataclass(frozen=True)
class Access:
    """A rectangle of bytes of a memory: rows [first, end) of on-chip partitions, or of an array's bytes.

    For an array `first` and `end` are 0 and 1, and runs of `width` bytes repeat every `pitch` bytes, unless it is 0.
    """

    memory: Array | tuple[int, str | Array]  # of a core: a memory on chip, or an array as the core accesses it
    first: int
    end: int
    low: int
    high: int
    pitch: int = 0
    width: int = 0

    def overlaps(self, other: "Access") -> bool:
        if not (self.first < other.end and other.first < self.end and self.low < other.high and other.low < self.high):
            return False
        pitch = self.pitch or other.pitch
        if not pitch or (self.pitch and other.pitch and self.pitch != other.pitch):
            return True
        ranges = []
        for access in (self, other):
            begin = access.low % pitch
            width = access.width if access.pitch else access.high - access.low
            if begin + width > pitch:
                return True
            ranges.append((begin, begin + width))
        return ranges[0][0] < ranges[1][1] and ranges[1][0] < ranges[0][1]

    def covers(self, other: "Access") -> bool:
        return not self.pitch and self.first <= other.first and other.end <= self.end and self.low <= other.low and other.high <= self.high


def grouped(dims: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """(count, stride), fastest first, with contiguous dimensions merged. Never empty."""
    found: list[tuple[int, int]] = []
    for count, stride in dims:
        if count == 1:
            continue
        if found and found[-1][0] * found[-1][1] == stride:
            found[-1] = (found[-1][0] * count, found[-1][1])
        else:
            found.append((count, stride))
    return tuple(found) or ((1, 1),)


@dataclasses.dataclass(frozen=True)
class Tile:
    """An operand in SBUF or PSUM: partitions and bytes from those of its buffer on, (count, stride) fastest first."""

    buffer: Buffer
    dtype: DataType
    partitions: int
    dims: tuple[tuple[int, int], ...]
    partition: int = 0
    offset: int = 0
    register: Held | None = None  # added to the offset, in elements
    index: "Tile | None" = None  # free-dimension offsets of an indirect operand

    @property
    def elements(self) -> int:
        return math.prod(count for count, _ in self.dims)

    @property
    def memory(self) -> str:
        return self.buffer.memory

    @property
    def start(self) -> int:
        return self.buffer.first + self.partition

    @property
    def byte(self) -> int:
        return self.buffer.offset + self.offset

    def span(self) -> tuple[int, int]:
        """First byte and end, from the buffer's first byte."""
        low = high = 0
        for count, stride in self.dims:
            low += min(0, (count - 1) * stride)
            high += max(0, (count - 1) * stride)
        size = self.dtype.itemsize
        return self.offset + low * size, self.offset + (high + 1) * size

    def merged(self) -> tuple[tuple[int, int], ...]:
        """The same elements in the same order with as few dimensions as possible."""
        return grouped(self.dims)

    def access(self) -> Access:
        is_known = self.register is None and self.index is None
        low, high = self.span() if is_known else (0, self.buffer.size)
        return self.buffer.access(self.partition, self.partitions, low, high)

    def text(self, dims: tuple[tuple[int, int], ...] | None = None) -> str:
        pattern = ", ".join(f"{count}:{stride}" for count, stride in (dims or self.merged()))
        register = f" + {self.register.text()}" if self.register else ""
        index = f" index {self.index.memory}[{self.index.start}, {self.index.byte}]" if self.index else ""
        return (
            f"{self.memory}[{self.start}:{self.start + self.partitions}, {self.byte}{register}] "
            f"{ELEMENT_WORDS[self.dtype.name]} [{pattern}]{index}"
        )

    def scalar_text(self) -> str:
        return f"{self.memory}[{self.start}, {self.byte}] {ELEMENT_WORDS[self.dtype.name]}"


@dataclasses.dataclass(frozen=True)
class Exact:
    """A tile whose dimensions are not merged, because the instruction uses each of them."""

    tile: Tile

    def text(self) -> str:
        return self.tile.text(self.tile.dims)


@dataclasses.dataclass(frozen=True)
class Column:
    """A tile of one element in each partition, as a scalar operand."""

    tile: Tile

    def text(self) -> str:
        return self.tile.scalar_text()


@dataclasses.dataclass(frozen=True)
class Location:
    """A tile of one element by its place, for registers."""

    tile: Tile

    def text(self) -> str:
        return f"{self.tile.memory}[{self.tile.start}, {self.tile.byte}]"


@dataclasses.dataclass(frozen=True)
class Number:
    """A register by its number."""

    held: Held

    def text(self) -> str:
        return str(self.held.number)


Operand: TypeAlias = Tile | Access
Field: TypeAlias = str | tuple[str, str | int | Tile | Exact | Column | Location | Held | Number]


class Item:
    """What the list of a program holds."""

    core: int

    def buffers(self) -> Iterator[Buffer]:
        """Buffers that it uses."""
        return iter(())

    def held(self) -> Iterator[tuple[Held, bool]]:
        """Registers that it reads (False) and writes (True)."""
        return iter(())


class Instruction(Item):
    """One line of a stream. Fields are words, or pairs of a key and a value."""

    def __init__(
        self,
        engine: str,
        name: str,
        fields: Iterable[Field],
        reads: Iterable[Operand] = (),
        writes: Iterable[Operand] = (),
        place: Place | None = None,
        core: int = 0,
    ):
        self.engine, self.name, self.place, self.core = engine, name, place, core
        self.fields: list[Field] = list(fields)
        self.reads: list[Operand] = list(reads)
        self.writes: list[Operand] = list(writes)
        self.waits: list[tuple[int, int, int]] = []  # core, semaphore, value
        self.update: tuple[int, int] | None = None  # core and semaphore that are incremented at its end
        self.label: str | None = None  # of its stream, before its waits

    def held(self) -> Iterator[tuple[Held, bool]]:
        for field in self.fields:
            if isinstance(field, tuple):
                key, value = field
                if isinstance(value, Held):
                    yield value, key == "rd"
                    if self.name == "loop" and key == "rd":
                        yield value, False
                elif isinstance(value, Number):
                    yield value.held, False
        for tile in self.tiles():
            if tile.register is not None:
                yield tile.register, False

    def buffers(self) -> Iterator[Buffer]:
        for tile in self.tiles():
            yield tile.buffer

    def tiles(self) -> Iterator[Tile]:
        for operand in (*self.reads, *self.writes):
            if isinstance(operand, Tile):
                yield operand
                if operand.index is not None:
                    yield operand.index

    def text(self) -> str:
        parts = [self.name]
        for field in self.fields:
            if isinstance(field, str):
                parts.append(field)
            else:
                key, value = field
                parts.append(f"{key}={value if isinstance(value, (str, int)) else value.text()}")
        return " ".join(parts)


@dataclasses.dataclass
class Side:
    """One end of a part of a copy: of an array (bytes) or of a buffer (partition and bytes)."""

    base: Base
    offset: int  # in the array, or in the buffer's partition
    partition: int  # in the buffer; 0 of an array
    row: int  # bytes between rows of an array; a buffer's rows are partitions
    block: int  # bytes between blocks

    def access(self, rows: int, blocks: int, size: int) -> Access:
        if isinstance(self.base, Buffer):
            return self.base.access(self.partition, rows, self.offset, self.offset + (blocks - 1) * self.block + size)
        spans = sorted((abs(stride), count) for stride, count in ((self.row, rows), (self.block, blocks)) if count > 1)
        low = self.offset + min(0, self.row * (rows - 1)) + min(0, self.block * (blocks - 1))
        high = self.offset + max(0, self.row * (rows - 1)) + max(0, self.block * (blocks - 1)) + size
        pitch, width = 0, 0
        if spans:
            pitch = spans[-1][0]
            width = size + (spans[0][0] * (spans[0][1] - 1) if len(spans) == 2 else 0)
            if width >= pitch:
                pitch, width = 0, 0
        return Access(self.base, 0, 1, low, high, pitch, width)


@dataclasses.dataclass
class Part:
    """Rows of blocks of contiguous bytes, which one descriptor list moves."""

    source: Side
    destination: Side
    rows: int
    blocks: int
    size: int
    engines: int = 0xFFFF

    def accesses(self) -> tuple[Access, Access]:
        """Accesses to the source and to the destination."""
        return (self.source.access(self.rows, self.blocks, self.size), self.destination.access(self.rows, self.blocks, self.size))


@dataclasses.dataclass
class Corner:
    """One end of a generated copy: its first byte, and (count, stride) of the pieces' dimensions. On chip a stride goes
    over partitions or over bytes. A register, times `unit` bytes, is added to the address of a dynamic end; every byte
    then lies below `limit` from the first; 0: not checked."""

    base: Base
    offset: int
    partition: int
    dims: tuple[tuple[int, int, bool], ...]  # the third: over partitions
    register: Held | None = None
    unit: int = 0
    limit: int = 0

    def access(self, size: int) -> Access:
        if self.register is not None:
            return self.base.access()
        spans = [(count - 1) * stride for count, stride, over in self.dims if not over]
        low = self.offset + sum(min(0, span) for span in spans)
        high = self.offset + sum(max(0, span) for span in spans) + size
        if isinstance(self.base, Array):
            return Access(self.base, 0, 1, low, high)
        partitions = 1 + sum((count - 1) * stride for count, stride, over in self.dims if over)
        return self.base.access(self.partition, partitions, low, high)


@dataclasses.dataclass
class Generated:
    """A copy whose descriptors the generators of DMA engines make: of pieces, or of square matrices of 2-byte elements
    that they transpose."""

    source: Corner
    destination: Corner
    size: int  # bytes of a piece, of a matrix's row
    engines: int
    is_transpose: bool = False
    skips: bool = False  # pieces out of range

    def accesses(self) -> tuple[Access, Access]:
        return self.source.access(self.size), self.destination.access(self.size)


class Copy(Instruction):
    """A DMA copy: parts that one semaphore counts. `engine` starts it."""

    def __init__(self, engine: str, parts: Iterable[Part | Generated], place: Place | None, core: int = 0):
        super().__init__(engine, "dma_start", (), place=place, core=core)
        self.parts: list[Part | Generated] = list(parts)
        self.semaphore = self.posts = 0  # the scheduler sets it, and its value at the end of the copy

    @property
    def increments(self) -> int:
        """Total increment of its semaphore."""
        return sum(part.engines.bit_count() for part in self.parts)

    def held(self) -> Iterator[tuple[Held, bool]]:
        yield from super().held()
        for part in self.parts:
            for side in (part.source, part.destination):
                if isinstance(side, Corner) and side.register is not None:
                    yield side.register, False

    def buffers(self) -> Iterator[Buffer]:
        yield from super().buffers()
        for part in self.parts:
            for side in (part.source, part.destination):
                if isinstance(side.base, Buffer):
                    yield side.base


@dataclasses.dataclass(eq=False)
class Step(Item):
    """A change of a register, which every engine that needs the register does. `sources` are registers and integers."""

    target: Register
    name: str  # reg_move, reg_alu, reg_load
    sources: tuple[Register | int, ...]
    place: Place | None
    core: int
    operator: str = ""  # of reg_alu
    fields: tuple[Field, ...] = ()  # of reg_load: where the element lies
    reads: tuple[Operand, ...] = ()


@dataclasses.dataclass(eq=False)
class LoopStart(Item):
    """The instructions up to its LoopEnd are the body. Either a counter runs from `lower` to below `upper`, or the
    body runs while `condition` is not 0."""

    core: int
    place: Place | None
    parent: "LoopStart | None"
    counter: Register | None = None
    lower: Register | int = 0
    upper: Register | int = 0
    step: int = 1
    condition: Register | None = None


@dataclasses.dataclass(eq=False)
class LoopEnd(Item):
    core: int
    start: LoopStart


@dataclasses.dataclass(eq=False)
class Fence(Item):
    """Synchronises the engines: all earlier instructions and copies have ended, and semaphores are 0 again."""

    core: int
    engines: tuple[str, ...]
    place: Place | None


class Program:
    """The instructions of a kernel's cores, in the order of its trace. `instructions` holds Step, LoopStart and LoopEnd, too,
    until expand() has replaced them, and Fence until the scheduler has."""

    def __init__(self, generation: Generation, cores: int):
        self.generation, self.cores = generation, cores
        self.arrays: list[Array] = []
        self.instructions: list[Item] = []
        self.loops: list[tuple[LoopStart, int, int]] = []  # first and last of the loop's instructions
