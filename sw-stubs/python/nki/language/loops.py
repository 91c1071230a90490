# SPDX-License-Identifier: Apache-2.0
"""nki.language: loops and the launch grid."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Callable, Iterator, NoReturn

from trn_nki.diagnostics import places
from trn_nki.diagnostics.errors import KernelError
from trn_nki.trace import recording
from trn_nki.trace.instructions import Loop, WhileLoop
from trn_nki.trace.registers import VirtualRegister

if TYPE_CHECKING:
    from trn_nki.tensors.tensor import NkiTensor
    from trn_nki.tensors.argument_types import RegisterOrInteger

__all__ = [
    "affine_range",
    "sequential_range",
    "static_range",
    "dynamic_range",
    "fori_loop",
    "while_loop",
    "program_id",
    "num_programs",
    "program_ndim",
    "no_reorder",
    "device_print",
]


def affine_range(start: int, stop: int | None = None, step: int = 1) -> range:
    """range: the loop is unrolled while the kernel is traced. Raises KernelError for a register."""
    return range(start) if stop is None else range(start, stop, step)


sequential_range = static_range = affine_range


def dynamic_range(start: RegisterOrInteger, stop: RegisterOrInteger | None = None, step: int = 1) -> Iterator[VirtualRegister]:
    """A loop of the device whose bounds may be registers; its body is traced once.

    Yields the counter. Raises KernelError for a step that is no positive integer, and at the end of the kernel for a loop that
    is left by break or return (15.3).
    """
    lower, upper = (0, start) if stop is None else (start, stop)
    core = recording.current("nl.dynamic_range")
    counter = _open_loop(core, lower, upper, step)
    yield counter
    core.close_loop()


def fori_loop(lower: RegisterOrInteger, upper: RegisterOrInteger, body_fun: Callable[[VirtualRegister], object], step: int = 1) -> None:
    """A loop of the device: body_fun(i) for i from lower to below upper; `step` and errors: those of `dynamic_range`."""
    core = recording.current("nl.fori_loop")
    body_fun(_open_loop(core, lower, upper, step))
    core.close_loop()


def while_loop(init: VirtualRegister, body_fun: Callable[[VirtualRegister], VirtualRegister]) -> None:
    """A loop of the device: r = body_fun(r) while r is not 0. Raises KernelError for a body that returns no register."""
    core = recording.current("nl.while_loop")
    condition = VirtualRegister()
    recording.record("register_move", {"dst": condition, "src": init})
    core.open_loop(WhileLoop(condition, places.caller(1)))
    following = body_fun(condition)
    if not isinstance(following, VirtualRegister):
        raise KernelError("the body of nl.while_loop must return the register of the next test")
    if following is not condition:
        recording.record("register_move", {"dst": condition, "src": following})
    core.close_loop()


def _open_loop(core: recording.Core, lower: RegisterOrInteger, upper: RegisterOrInteger, step: int) -> VirtualRegister:
    if not isinstance(step, int) or step < 1:
        raise KernelError(f"the step of a loop of the device must be a positive integer, not {step!r}")
    factor, bounds = 1, None
    if isinstance(lower, int):
        factor = math.gcd(lower, step)
        if isinstance(upper, int) and upper > lower:
            bounds = (lower, lower + (upper - 1 - lower) // step * step)
    counter = VirtualRegister(frozen=True, factor=factor, bounds=bounds)
    core.open_loop(Loop(counter, lower, upper, step, places.caller(1)))
    return counter


def _check_axis(name: str, axis: int | tuple[int] | list[int]) -> None:
    if axis not in (0, (0,), [0]):
        raise KernelError(f"nl.{name}: axis {axis} of a launch grid of one dimension")


def program_id(axis: int = 0) -> int:
    """The number of this core in the launch. Raises KernelError for another axis than 0, and outside of a kernel."""
    _check_axis("program_id", axis)
    return recording.current("nl.program_id").program_id


def num_programs(axes: int | tuple[int] | list[int] = 0) -> int:
    """Number of cores of the launch; errors: those of `program_id`."""
    _check_axis("num_programs", axes)
    return recording.current("nl.num_programs").num_programs


def program_ndim() -> int:
    """Dimensions of the launch grid: 0 for one core."""
    return 1 if recording.current("nl.program_ndim").num_programs > 1 else 0


class no_reorder:
    """A block whose instructions stay in order; no effect: they always do."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


def device_print(print_prefix: str, tensor: NkiTensor) -> NoReturn:
    """Refused by a KernelError: the platform does not support prints of the device (15.4)."""
    raise KernelError("nl.device_print cannot work on this platform; return the tensor from the kernel", "15.4")
