# SPDX-License-Identifier: Apache-2.0
"""nki.jit, and running a kernel's Python to record it."""
from __future__ import annotations

import dataclasses
import dis
import functools
import inspect
import types
from typing import Any, Callable, Sequence

from trn_nki.diagnostics import places
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.storage import Storage
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace import host_arrays, recording, written
from trn_nki.trace.exceptions import report_exception
from trn_nki.values import generations
from trn_nki.values.memory_regions import hbm
from trn_nki.values.objects import NKIObject

MAX_LNC = 2


class Kernel:
    """A function with @nki.jit. kernel[2] runs it on the two cores of a logical core.

    `run(kernel, arguments, named)` is what a call outside of kernels does with it.
    """

    def __init__(self, function: Callable[..., Any], run: Callable[["Kernel", tuple[Any, ...], dict[str, Any]], Any], lnc: int = 1):
        self.function, self.run, self.lnc = function, run, lnc
        functools.update_wrapper(self, function)

    def __getitem__(self, lnc: int | tuple[int, ...] | list[int]) -> "Kernel":
        lnc = lnc[0] if isinstance(lnc, (tuple, list)) and len(lnc) == 1 else lnc
        if not isinstance(lnc, int) or not 1 <= lnc <= MAX_LNC:
            raise KernelError(f"kernel[{lnc}]: a kernel runs on 1 or {MAX_LNC} cores")
        return Kernel(self.function, self.run, lnc)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if recording.is_tracing():
            return self.function(*arguments, **named)
        return self.run(self, arguments, named)


def record_kernel(
    kernel: Callable[..., Any],
    arguments: Sequence[Any] = (),
    named: dict[str, Any] | None = None,
    *,
    generation: str | int | generations.Generation | None = None,
    lnc: int | None = None,
) -> recording.Recording:
    """Traces a kernel for each core. Arrays among the arguments become tensors in HBM.

    `generation` defaults to the variable NEURON_PLATFORM_TARGET_OVERRIDE, then to gen4.
    Raises KernelError for all errors in the kernel.
    """
    function = kernel.function if isinstance(kernel, Kernel) else kernel
    lnc = lnc or (kernel.lnc if isinstance(kernel, Kernel) else 1)
    while isinstance(function, Kernel):
        function = function.function
    _refuse_side_effects(function)
    with generations.targeting(generation or generations.target()) as target:
        made = recording.Recording(function.__name__, function.__code__.co_filename, target)
        bound = _bind(function, arguments, named or {})
        tensors = _Inputs(made)
        values = {name: tensors.convert(name, value) for name, value in bound.items()}
        for program in range(lnc):
            core = recording.Core(made, program, lnc)
            core.storages += [tensor.storage for _, tensor in made.inputs]
            made.cores.append(core)
            result = _run(function, values, core)
            if program == 0:
                made.result = result
                made.outputs = _outputs(function, result)
    written.check_results(made)
    return made


def _bind(function: Callable[..., Any], arguments: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
    try:
        bound = inspect.signature(function).bind(*arguments, **named)
    except TypeError as error:
        given = [*([f"{len(arguments)} without names"] if arguments else []), *named]
        message = f"{function.__name__}{inspect.signature(function)}: {error}; given: {', '.join(given) or 'nothing'}"
        raise KernelError(message, place=places.Place(function.__code__, 0)) from None
    bound.apply_defaults()
    return dict(bound.arguments)


def _run(function: Callable[..., Any], values: dict[str, Any], core: recording.Core) -> Any:
    positional, keywords = [], {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += list(values.get(name, ()))
        elif parameter.kind is parameter.VAR_KEYWORD:
            keywords.update(values.get(name, {}))
        elif parameter.kind is parameter.KEYWORD_ONLY:
            keywords[name] = values[name]
        else:
            positional.append(values[name])
    try:
        with recording.tracing(core):
            result = function(*positional, **keywords)
        if core.has_open_loop:
            raise KernelError(
                "a loop of the device is left by break or return; it ends when its bound or register says",
                place=places.Place(function.__code__, 0),
            )
        return result
    except KernelError:
        raise
    except RecursionError as error:
        place = places.of_exception(error)
        raise KernelError("recursion: a kernel's functions must not call themselves without end", "15.2", place) from None
    except Exception as error:
        report_exception(error, places.Place(function.__code__, 0))


places.starts_kernels(_run.__code__)


def _outputs(function: Callable[..., Any], result: Any) -> list[NkiTensor]:
    found: list[NkiTensor] = []
    _collect(result, found)
    for tensor in found:
        if tensor.is_on_chip:
            place = tensor.storage.place
            raise KernelError(
                f"the kernel returns {tensor!r}, which is on the chip; a result lies in nl.shared_hbm: copy the tile to it by nl.store",
                "15.3",
                (place.callers or (place,))[-1],
            )
        if tensor.is_indirect():
            place = places.Place(function.__code__, 0)
            raise KernelError(f"the kernel returns {tensor!r}, whose place is known on the device only", "15.3", place)
        if tensor.storage.role == "local":
            tensor.storage.role = "output"
    return found


def _collect(result: Any, found: list[NkiTensor]) -> None:
    if isinstance(result, NkiTensor):
        found.append(result)
    elif isinstance(result, (tuple, list)):
        for part in result:
            _collect(part, found)
    elif isinstance(result, dict):
        for part in result.values():
            _collect(part, found)


class _Inputs:
    """Makes tensors of the arrays among the arguments."""

    def __init__(self, made: recording.Recording):
        self._recording = made

    def convert(self, name: str, value: Any) -> Any:
        if host_arrays.is_array(value):
            array = host_arrays.as_host_array(value)
            storage = Storage(len(self._recording.inputs), hbm, array.shape, array.dtype, name, places.caller(2), "input", None, array.raw)
            tensor = NkiTensor(array.shape, array.dtype, storage)
            self._recording.inputs.append((name, tensor))
            return tensor
        host_arrays.check_other(name, value)
        if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
            return type(value)(self.convert(f"{name}[{i}]", part) for i, part in enumerate(value))
        if type(value) is dict:
            return {key: self.convert(f"{name}[{key!r}]", part) for key, part in value.items()}
        if isinstance(value, NKIObject) or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
            for field, part in list(getattr(value, "__dict__", {}).items()):
                if host_arrays.is_array(part):
                    raise KernelError(f"argument {name}.{field} is an array; pass arrays as arguments of their own")
        return value


_SIDE_EFFECTS = {"STORE_GLOBAL", "DELETE_GLOBAL"}


def _refuse_side_effects(function: Callable[..., Any]) -> None:
    """A kernel is traced once for each core and may be traced again: it must not keep state between runs."""
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType):
        raise KernelError(f"{function!r} is no Python function")
    for step in dis.get_instructions(code):
        if step.opname in _SIDE_EFFECTS or (step.opname == "STORE_DEREF" and step.argval in code.co_freevars):
            raise KernelError(
                f"side effect: the kernel assigns to '{step.argval}', which is not its own variable",
                "15.2",
                places.Place(code, step.offset),
            )
