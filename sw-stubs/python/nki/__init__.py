# SPDX-License-Identifier: Apache-2.0
"""NKI kernels on virtual NeuronCores: the package that public kernels import (doc/nki.md)."""
from __future__ import annotations as _annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any, Callable as _Callable

from nki import dtype as dtype  # kernels name nki.dtype without importing it
from trn_nki.diagnostics import tracebacks as _tracebacks
from trn_nki.diagnostics.errors import KernelError as _KernelError
from trn_nki.diagnostics.dialects import raise_missing as _raise_missing
from trn_nki.trace.kernels import Kernel

if _TYPE_CHECKING:
    from trn_nki.simulate import Simulated as _Simulated

_tracebacks.install()


def _run_kernel(kernel: Kernel, arguments: tuple[_Any, ...], named: dict[str, _Any]) -> _Any:
    """Imports the compiler at the first call: `import nki` takes half of the time without it."""
    from trn_nki.run import run_kernel

    return run_kernel(kernel, arguments, named)


def jit(fn: _Callable[..., _Any] | None = None, **options: object) -> _Any:
    """Marks a kernel. Calling it with NumPy arrays runs it; inside a kernel it is an ordinary function.

    Returns a `Kernel` of a function, and itself without one: `@nki.jit` and `@nki.jit(mode=...)`. `options` of other dialects
    have no effect. A call returns what the function returns, with an array for each tensor. Raises KernelError for what is no
    function, and in a call for errors in the kernel (doc/spec/neuron-core.md, 15.2).
    """
    if fn is None:
        return jit
    if not callable(fn):
        raise _KernelError(f"a kernel is a function, not {type(fn).__name__}; nki.simulate(kernel)(x, y) calls one with arrays")
    return fn if isinstance(fn, Kernel) else Kernel(fn, _run_kernel)


def simulate(kernel: _Callable[..., _Any]) -> _Simulated:
    """A callable that executes the kernel in this process with NumPy and returns its results.

    A call takes arrays and returns them as a call of the kernel does, and raises KernelError.
    """
    from trn_nki.simulate import Simulated  # at the first call, as the compiler

    return Simulated(jit(kernel))


def __getattr__(name: str) -> object:
    _raise_missing("nki", name, globals())
