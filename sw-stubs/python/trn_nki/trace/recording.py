# SPDX-License-Identifier: Apache-2.0
"""The recording of a traced kernel, and the recorder that fills it."""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from trn_nki.checks import check
from trn_nki.diagnostics import places
from trn_nki.diagnostics.errors import KernelError, closest
from trn_nki.tensors.storage import Storage
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace.accumulation import Accumulation
from trn_nki.trace.engine_choice import EngineChoice
from trn_nki.trace.instructions import Instruction, Item, Loop, WhileLoop
from trn_nki.trace.tenancy import Tenancy
from trn_nki.values.operations import OPERATIONS
from trn_nki.values import data_types
from trn_nki.values.choices import Choice
from trn_nki.values.engines import engine
from trn_nki.values.generations import PARTITIONS, PSUM_BYTES, Generation
from trn_nki.values.memory_regions import MemoryRegion

if TYPE_CHECKING:
    import numpy.typing as npt

    from trn_nki.values.argument_types import Buffer, ElementType, Shape

MAX_INSTRUCTIONS = 1_000_000  # per core; a longer kernel is assumed not to end


@dataclasses.dataclass(eq=False)
class Recording:
    """A traced kernel. Inputs, outputs and shared_hbm storages are the same objects in all cores."""

    kernel: str
    file: str
    generation: Generation
    cores: list["Core"] = dataclasses.field(default_factory=list)
    inputs: list[tuple[str, NkiTensor]] = dataclasses.field(default_factory=list)  # (argument, tensor)
    outputs: list[NkiTensor] = dataclasses.field(default_factory=list)  # results, in order
    result: Any = None  # what the kernel returned, tensors inside
    shared: list[Storage] = dataclasses.field(default_factory=list)  # shared_hbm storages, in order of allocation
    is_audited: bool = False  # by trace.audit


class Core:
    """The list of one core (one program of the launch grid)."""

    def __init__(self, recording: Recording, program_id: int, num_programs: int):
        self.recording, self.program_id, self.num_programs = recording, program_id, num_programs
        self.body: list[Item] = []
        self.storages: list[Storage] = []  # all that the core uses
        self.registers = 0  # VirtualRegisters made
        self.instructions = 0
        self._open = [self.body]  # bodies of open loops, innermost last
        self._loops: list[Loop | WhileLoop] = []  # those loops
        self._choice = EngineChoice()
        self._accumulation = Accumulation()
        self._tenancy = Tenancy(recording.generation)
        self._shared = 0

    @property
    def generation(self) -> Generation:
        return self.recording.generation

    def append(self, operation: str, chosen: engine | None, name: str | None, arguments: dict[str, Any]) -> Instruction:
        """Checks a call and records it. Raises KernelError."""
        place = places.caller(3)
        if self.instructions >= MAX_INSTRUCTIONS:
            raise KernelError(f"the kernel makes more than {MAX_INSTRUCTIONS} instructions")
        instruction = Instruction(self.instructions, operation, chosen or engine.unknown, arguments, name, place)
        self._choice.resolve(instruction, OPERATIONS[operation], self.generation)
        if "accumulate" in arguments:
            self._accumulation.resolve(arguments, self.innermost_loop)
        check(instruction, self.generation)
        self._tenancy.note(instruction)
        self.instructions += 1
        self._open[-1].append(instruction)
        return instruction

    def open_loop(self, loop: Loop | WhileLoop) -> None:
        self._open[-1].append(loop)
        self._open.append(loop.body)
        self._loops.append(loop)

    def close_loop(self) -> None:
        self._open.pop()
        self._loops.pop()

    @property
    def innermost_loop(self) -> Loop | WhileLoop | None:
        """The innermost open loop."""
        return self._loops[-1] if self._loops else None

    @property
    def has_open_loop(self) -> bool:
        return len(self._open) > 1

    def allocate(
        self,
        shape: Shape,
        dtype: ElementType,
        region: Buffer,
        name: str = "",
        address: tuple[int, int] | None = None,
        data: npt.NDArray[Any] | None = None,
    ) -> NkiTensor:
        """A new tensor, of a constant with its elements in `data`. Raises KernelError."""
        shape = _shape(shape)
        try:
            dtype = data_types.named(dtype)
        except KeyError:
            name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", repr(dtype))
            raise KernelError(f"'{name}' is no data type of nki.language{closest(name, data_types.ALL)}", "3.1") from None
        if not isinstance(region, MemoryRegion):
            raise KernelError(f"{region!r} is no memory; buffer= is nl.sbuf, nl.psum, nl.private_hbm or nl.shared_hbm")
        if region.is_on_chip:
            self._check_size(shape, dtype, region, address)
        if region is MemoryRegion.shared_hbm and data is None:
            storage = self._shared_storage(shape, dtype, name)
        else:
            name = name or f"t{len(self.storages)}"
            role = "local" if data is None else "constant"
            loop = self._loops[-1] if self._loops else None
            storage = Storage(len(self.storages), region, shape, dtype, name, places.caller(2), role, address, data, loop)
        self.storages.append(storage)
        if address is not None and region.is_on_chip:
            self._tenancy.add(storage)
        return NkiTensor(shape, dtype, storage)

    def _shared_storage(self, shape: tuple[int, ...], dtype: data_types.DataType, name: str) -> Storage:
        """The n-th shared tensor of one core is the n-th of the others."""
        known, number = self.recording.shared, self._shared
        self._shared += 1
        if number < len(known):
            storage = known[number]
            if (storage.shape, storage.dtype) != (shape, dtype):
                raise KernelError(
                    f"shared tensor {number} is {storage!r} in program 0 and {list(shape)} of {dtype} here; "
                    "every program of a launch must allocate the same shared tensors in the same order"
                )
            return storage
        storage = Storage(number, MemoryRegion.shared_hbm, shape, dtype, name or f"shared{number}", places.caller(3))
        known.append(storage)
        return storage

    def _check_size(
        self, shape: tuple[int, ...], dtype: data_types.DataType, region: MemoryRegion, address: tuple[int, int] | None
    ) -> None:
        if shape[0] > PARTITIONS:
            raise KernelError(f"a tile has at most {PARTITIONS} partitions; this has {shape[0]}: loop over slices of {PARTITIONS}", "2.2")
        limit = PSUM_BYTES if region is MemoryRegion.psum else self.generation.usable_sbuf_bytes
        size = dtype.itemsize
        for count in shape[1:]:
            size *= count
        partition, byte = address or (0, 0)
        if byte + size > limit or partition + shape[0] > PARTITIONS or min(partition, byte) < 0:
            raise KernelError(
                f"a tile of {size} bytes per partition at byte {byte} does not fit into the {limit} of {region.value.upper()}", "2.1"
            )
        if region is MemoryRegion.psum and byte % 4:
            raise KernelError(f"a PSUM tile starts at a multiple of 4 bytes, not at {byte}", "2.1")


def _shape(shape: Shape) -> tuple[int, ...]:
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    try:
        shape = tuple(size.__index__() for size in shape)
    except AttributeError:
        raise KernelError(f"shape {shape} has a dimension that is not an integer") from None
    if not shape:
        raise KernelError("shape () has no dimension; one element is (1, 1)")
    if min(shape) < 1:
        raise KernelError(f"shape {shape} has a dimension without elements")
    return shape


_current: Choice[Core] = Choice("core")


def current(subject: str) -> Core:
    """The core that is being traced. Raises KernelError outside of a kernel."""
    core = _current.get()
    if core is None:
        raise KernelError(f"{subject} works inside a kernel: a function with @nki.jit that was called")
    return core


def is_tracing() -> bool:
    return _current.get() is not None


class tracing:
    """Makes a core the one that records while its block runs."""

    def __init__(self, core: Core):
        self.core = core

    def __enter__(self) -> Core:
        _current.enter(self.core)
        return self.core

    def __exit__(self, *_: object) -> None:
        _current.leave()


def record(operation: str, arguments: dict[str, Any]) -> Instruction:
    """For functions of nki.isa only: the kernel is two frames above. `arguments`: by the function's names, which it loses
    `name` and `engine` of."""
    core = _current.get()
    if core is None:
        raise KernelError(f"nisa.{operation} works inside a kernel: a function with @nki.jit that was called")
    return core.append(operation, arguments.pop("engine", None), arguments.pop("name", None), arguments)
