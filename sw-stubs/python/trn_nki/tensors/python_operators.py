# SPDX-License-Identifier: Apache-2.0
"""Python's operators on tensors: refused with the call to write."""
from __future__ import annotations

import numbers
from typing import Any, Callable, NoReturn

import numpy

from trn_nki.diagnostics.dialects import no_attribute_of_tensor
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.indirection import DeviceInteger

_NO_ENGINE = "no engine has this operator"


class PythonOperators:
    """Base of NkiTensor. Equality of two tensors is identity, because kernels keep tensors in lists and compare them with None."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy leaves operators of an array and a tensor to the tensor

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name if name.startswith("__") else no_attribute_of_tensor(name, dir(self)))

    def __float__(self) -> float:
        raise KernelError(f"{self!r} is no number: values are not known while the kernel is traced")

    __int__ = __float__

    def __eq__(self, other: object) -> bool:
        if _is_value(other):
            raise _refusal(self, "==", "nl.equal(a, b)")
        return self is other

    def __ne__(self, other: object) -> bool:
        if _is_value(other):
            raise _refusal(self, "!=", "nl.not_equal(a, b)")
        return self is not other

    __hash__ = object.__hash__


def _is_value(other: object) -> bool:
    """Whether a comparison with it means the tensor's elements: numbers, arrays and registers."""
    return isinstance(other, (numbers.Number, numpy.ndarray, DeviceInteger))


def _refusal(tensor: PythonOperators, sign: str, call: str) -> KernelError:
    advice = call if call is _NO_ENGINE else f"write {call}"
    load = "" if tensor.is_on_chip else ", on tiles that nl.load makes"
    return KernelError(f"Python's {sign} does not work on {tensor!r}: {advice}{load}")


def _refused(sign: str, call: str) -> Callable[..., NoReturn]:
    def refuse(self: PythonOperators, *_: object) -> NoReturn:
        raise _refusal(self, sign, call)

    return refuse


_BINARY = {
    "add": ("+", "nl.add(a, b)"),
    "sub": ("-", "nl.subtract(a, b)"),
    "mul": ("*", "nl.multiply(a, b)"),
    "truediv": ("/", "nl.divide(a, b)"),
    "pow": ("**", "nl.power(a, b)"),
    "floordiv": ("//", _NO_ENGINE),
    "mod": ("%", _NO_ENGINE),
    "matmul": ("@", "nl.matmul(a, b) or nisa.nc_matmul(dst, stationary, moving)"),
    "and": ("&", "nl.bitwise_and(a, b)"),
    "or": ("|", "nl.bitwise_or(a, b)"),
    "xor": ("^", "nl.bitwise_xor(a, b)"),
    "lshift": ("<<", "nl.left_shift(a, b)"),
    "rshift": (">>", "nl.right_shift(a, b)"),
}
_COMPARISONS = {
    "lt": ("<", "nl.less(a, b)"),
    "le": ("<=", "nl.less_equal(a, b)"),
    "gt": (">", "nl.greater(a, b)"),
    "ge": (">=", "nl.greater_equal(a, b)"),
}
_UNARY = {"neg": ("-", "nl.negative(a)"), "invert": ("~", "nl.invert(a)"), "abs": ("abs()", "nl.abs(a)")}

for _name, (_sign, _call) in (_BINARY | _COMPARISONS | _UNARY).items():
    setattr(PythonOperators, f"__{_name}__", _refused(_sign, _call))
for _name, (_sign, _call) in _BINARY.items():
    setattr(PythonOperators, f"__r{_name}__", _refused(_sign, _call))
