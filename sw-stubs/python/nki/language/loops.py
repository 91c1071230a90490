# SPDX-License-Identifier: Apache-2.0
"""nki.language: loops and the launch grid."""
from __future__ import annotations

import math
from typing import Any, Callable, Iterator

from trn_nki.diagnostics import places
from trn_nki.diagnostics.errors import KernelError
from trn_nki.trace import recording
from trn_nki.trace.instructions import Loop, WhileLoop
from trn_nki.trace.registers import VirtualRegister
from trn_nki.values.engines import engine

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


def affine_range(start: Any, stop: Any = None, step: int = 1) -> range:
    """range: the loop is unrolled while the kernel is traced."""
    return range(start) if stop is None else range(start, stop, step)


sequential_range = static_range = affine_range


def dynamic_range(start: Any, stop: Any = None, step: int = 1) -> Iterator[VirtualRegister]:
    """A loop of the device whose bounds may be registers; its body is traced once."""
    lower, upper = (0, start) if stop is None else (start, stop)
    core = recording.current("nl.dynamic_range")
    counter = _open_loop(core, lower, upper, step)
    yield counter
    core.close_loop()


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[VirtualRegister], Any], step: int = 1) -> None:
    """A loop of the device: body_fun(i) for i from lower to below upper."""
    core = recording.current("nl.fori_loop")
    body_fun(_open_loop(core, lower, upper, step))
    core.close_loop()


def while_loop(init: VirtualRegister, body_fun: Callable[[VirtualRegister], VirtualRegister]) -> None:
    """A loop of the device: r = body_fun(r) while r is not 0."""
    core = recording.current("nl.while_loop")
    condition = VirtualRegister()
    recording.record("register_move", engine.unknown, None, {"dst": condition, "src": init})
    core.open_loop(WhileLoop(condition, places.caller(1)))
    following = body_fun(condition)
    if not isinstance(following, VirtualRegister):
        raise KernelError("the body of nl.while_loop must return the register of the next test")
    if following is not condition:
        recording.record("register_move", engine.unknown, None, {"dst": condition, "src": following})
    core.close_loop()


def _open_loop(core: recording.Core, lower: Any, upper: Any, step: Any) -> VirtualRegister:
    if not isinstance(step, int) or step < 1:
        raise KernelError(f"the step of a loop of the device must be a positive integer, not {step!r}")
    known = isinstance(lower, int) and isinstance(upper, int) and upper > lower
    counter = VirtualRegister(
        frozen=True,
        factor=math.gcd(lower, step) if isinstance(lower, int) else 1,
        bounds=(lower, lower + (upper - 1 - lower) // step * step) if known else None,
    )
    core.open_loop(Loop(counter, lower, upper, step, places.caller(1)))
    return counter


def _check_axis(name: str, axis: Any) -> None:
    if axis not in (0, (0,), [0]):
        raise KernelError(f"nl.{name}: axis {axis} of a launch grid of one dimension")


def program_id(axis: int = 0) -> int:
    """The number of this core in the launch."""
    _check_axis("program_id", axis)
    return recording.current("nl.program_id").program_id


def num_programs(axes: Any = 0) -> int:
    """Number of cores of the launch."""
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


def device_print(print_prefix: str, tensor: Any) -> None:
    """Refused: the platform does not support prints of the device."""
    raise KernelError("nl.device_print cannot work on this platform; return the tensor from the kernel", "15.4")
