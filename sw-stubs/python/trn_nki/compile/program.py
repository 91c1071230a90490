# SPDX-License-Identifier: Apache-2.0
"""Instructions and their operands before they have addresses, semaphores and text."""
from __future__ import annotations

import dataclasses
from typing import Any, Iterable, Iterator

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
    """Bytes of some partitions of SBUF or PSUM. `first` and `offset` are fixed, or set by the allocation."""

    def __init__(
        self,
        memory: str,
        partitions: int,
        size: int,
        name: str = "",
        place: Any = None,
        *,
        first: int | None = None,
        offset: int | None = None,
        alignment: int = 64,
        core: int = 0,
        loop: Any = None,
    ):
        self.memory, self.partitions, self.size = memory, partitions, size
        self.loop = loop  # whose body allocates it
        self.name, self.place, self.alignment, self.core = name, place, alignment, core
        self.is_fixed = offset is not None
        self.first, self.offset = first or 0, offset

    def __repr__(self) -> str:
        where = "" if self.offset is None else f" at [{self.first}, {self.offset}]"
        return f"{self.memory} {self.partitions} x {self.size} {self.name}{where}"


class Array:
    """A tensor in HBM."""

    def __init__(self, name: str, dtype: Any, shape: Iterable[int], role: str, *, core: int = 0, place: Any = None):
        self.name, self.dtype, self.shape, self.role = name, dtype, tuple(shape), role
        self.core, self.place = core, place

    @property
    def size(self) -> int:
        count = self.dtype.itemsize
        for extent in self.shape:
            count *= extent
        return count

    def __repr__(self) -> str:
        return f"{self.name} {self.dtype} {list(self.shape)} {self.role}"


class Register:
    """An integer of the program. Each engine that needs it keeps it in one of its own registers."""

    def __init__(self, place: Any = None, factor: int = 1, bounds: tuple[int, int] | None = None):
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
        self.register, self.engine, self.number = register, engine, None

    def text(self) -> str:
        return f"R{self.number}"


@dataclasses.dataclass(frozen=True)
class Access:
    """A rectangle of bytes of a memory: rows [first, end) of on-chip partitions, or of an array's bytes.

    For an array `first` and `end` are 0 and 1, and runs of `width` bytes repeat every `pitch` bytes, unless it is 0.
    """

    memory: Any
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
        for one in (self, other):
            begin = one.low % pitch
            width = one.width if one.pitch else one.high - one.low
            if begin + width > pitch:
                return True
            ranges.append((begin, begin + width))
        return ranges[0][0] < ranges[1][1] and ranges[1][0] < ranges[0][1]

    def covers(self, other: "Access") -> bool:
        return not self.pitch and self.first <= other.first and other.end <= self.end and self.low <= other.low and other.high <= self.high


@dataclasses.dataclass(frozen=True)
class Tile:
    """An operand in SBUF or PSUM: partitions and bytes from those of its buffer on, (count, stride) fastest first."""

    buffer: Buffer
    dtype: Any
    partitions: int
    dims: tuple[tuple[int, int], ...]
    partition: int = 0
    offset: int = 0
    register: Held | None = None  # added to the offset, in elements
    index: "Tile | None" = None  # free-dimension offsets of an indirect operand

    @property
    def elements(self) -> int:
        count = 1
        for extent, _ in self.dims:
            count *= extent
        return count

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
        found: list[tuple[int, int]] = []
        for count, stride in self.dims:
            if count == 1:
                continue
            if found and found[-1][0] * found[-1][1] == stride:
                found[-1] = (found[-1][0] * count, found[-1][1])
            else:
                found.append((count, stride))
        return tuple(found) or ((1, 1),)

    def access(self) -> Access:
        if self.register is not None or self.index is not None:
            low, high = 0, self.buffer.size  # anywhere in the buffer
        else:
            low, high = self.span()
        base = self.buffer.offset
        return Access((self.buffer.core, self.memory), self.start, self.start + self.partitions, base + low, base + high)

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
class Integer:
    """A register as a scalar operand."""

    held: Held

    def text(self) -> str:
        return f"i32({self.held.text()})"


@dataclasses.dataclass(frozen=True)
class Number:
    """A register by its number."""

    held: Held

    def text(self) -> str:
        return str(self.held.number)


class Instruction:
    """One line of a stream. Fields are words, or pairs of a key and a text, a tile, a column or a register."""

    def __init__(
        self,
        engine: str,
        name: str,
        fields: Iterable[Any],
        reads: Iterable[Any] = (),
        writes: Iterable[Any] = (),
        place: Any = None,
        core: int = 0,
    ):
        self.engine, self.name, self.fields = engine, name, list(fields)
        self.reads, self.writes, self.place, self.core = list(reads), list(writes), place, core
        self.waits: list[tuple[int, int, int]] = []  # core, semaphore, value
        self.update: tuple[int, int] | None = None  # core and semaphore that are incremented at its end
        self.label: str | None = None  # of its stream, before its waits

    def held(self) -> Iterator[tuple[Held, bool]]:
        """Registers that it reads (False) and writes (True)."""
        for field in self.fields:
            if isinstance(field, tuple):
                key, value = field
                if isinstance(value, Held):
                    yield value, key == "rd"
                    if self.name == "loop" and key == "rd":
                        yield value, False
                elif isinstance(value, (Integer, Number)):
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

    of: Array | Buffer
    offset: int  # in the array, or in the buffer's partition
    partition: int  # in the buffer; 0 of an array
    row: int  # bytes between rows of an array; a buffer's rows are partitions
    block: int  # bytes between blocks

    def access(self, rows: int, blocks: int, size: int) -> Access:
        if isinstance(self.of, Buffer):
            base = self.of.offset + self.offset
            return Access(
                (self.of.core, self.of.memory),
                self.of.first + self.partition,
                self.of.first + self.partition + rows,
                base,
                base + (blocks - 1) * self.block + size,
            )
        spans = sorted((abs(stride), count) for stride, count in ((self.row, rows), (self.block, blocks)) if count > 1)
        low = self.offset + min(0, self.row * (rows - 1)) + min(0, self.block * (blocks - 1))
        high = self.offset + max(0, self.row * (rows - 1)) + max(0, self.block * (blocks - 1)) + size
        pitch, width = 0, 0
        if spans:
            pitch = spans[-1][0]
            width = size + (spans[0][0] * (spans[0][1] - 1) if len(spans) == 2 else 0)
            if width >= pitch:
                pitch, width = 0, 0
        return Access(self.of, 0, 1, low, high, pitch, width)


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

    of: Array | Buffer
    offset: int
    partition: int
    dims: tuple[tuple[int, int, bool], ...]  # the third: over partitions
    register: Held | None = None
    unit: int = 0
    limit: int = 0

    def access(self, size: int) -> Access:
        partitions = 1 + sum((count - 1) * stride for count, stride, over in self.dims if over)
        spans = [(count - 1) * stride for count, stride, over in self.dims if not over]
        low, high = sum(min(0, span) for span in spans), sum(max(0, span) for span in spans) + size
        if self.register is not None:
            if isinstance(self.of, Buffer):
                whole = self.of
                return Access(
                    (whole.core, whole.memory), whole.first, whole.first + whole.partitions, whole.offset, whole.offset + whole.size
                )
            return Access(self.of, 0, 1, 0, self.of.size)
        if isinstance(self.of, Buffer):
            first, base = self.of.first + self.partition, self.of.offset + self.offset
            return Access((self.of.core, self.of.memory), first, first + partitions, base + low, base + high)
        return Access(self.of, 0, 1, self.offset + low, self.offset + high)


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

    def __init__(self, engine: str, parts: list[Part | Generated], place: Any = None, core: int = 0):
        super().__init__(engine, "dma_start", (), place=place, core=core)
        self.parts = parts
        self.semaphore: int | None = None
        self.posts = 0  # semaphore value at the copy's end

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
                if isinstance(side.of, Buffer):
                    yield side.of


@dataclasses.dataclass(eq=False)
class Step:
    """A change of a register, which every engine that needs the register does. `sources` are registers and integers."""

    target: Register
    name: str  # reg_move, reg_alu, reg_load
    sources: tuple[Any, ...]
    place: Any
    core: int
    operator: str = ""  # of reg_alu
    fields: tuple[Any, ...] = ()  # of reg_load: where the element lies
    reads: tuple[Any, ...] = ()


@dataclasses.dataclass(eq=False)
class LoopStart:
    """The instructions up to its LoopEnd are the body. Either a counter runs from `lower` to below `upper`, or the
    body runs while `condition` is not 0."""

    core: int
    place: Any
    parent: "LoopStart | None"
    counter: Register | None = None
    lower: Any = None  # an integer or a register
    upper: Any = None
    step: int = 1
    condition: Register | None = None


@dataclasses.dataclass(eq=False)
class LoopEnd:
    start: LoopStart

    @property
    def core(self) -> int:
        return self.start.core


@dataclasses.dataclass(eq=False)
class Fence:
    """Synchronises the engines: all earlier instructions and copies have ended, and semaphores are 0 again."""

    core: int
    engines: tuple[str, ...]
    place: Any = None

    def buffers(self) -> Iterator[Buffer]:
        return iter(())

    def held(self) -> Iterator[tuple[Held, bool]]:
        return iter(())


class Program:
    """The instructions of a kernel's cores, in the order of its trace. `instructions` holds Step, LoopStart and LoopEnd, too,
    until expand() has replaced them, and Fence until the scheduler has."""

    def __init__(self, generation: Any, cores: int = 1):
        self.generation, self.cores = generation, cores
        self.arrays: list[Array] = []
        self.instructions: list[Any] = []
        self.loops: list[tuple[LoopStart, int, int]] = []  # first and last of the loop's instructions
