# SPDX-License-Identifier: Apache-2.0
"""Operators: ALU operators (doc/spec/neuron-core.md, 3.4) and activation functions (3.6).

An operator is an argument (`op=nl.add`) and a function on tiles (`nl.add(x, y)`); the package
nki.language sets `apply`, because the function makes instructions.
"""
from __future__ import annotations

from typing import Any, Callable


class Operator:
    """One operator; `code` and `activation` are its codes, None where it is not one of that kind."""

    __slots__ = ("name", "code", "activation", "kind", "operands", "start", "generation", "apply")

    def __init__(
        self,
        name: str,
        code: int | None,
        activation: int | None = None,
        kind: str = "arithmetic",
        operands: int = 2,
        start: float | None = None,
        generation: int = 2,
    ):
        self.name, self.code, self.activation, self.kind = name, code, activation, kind
        self.operands = operands  # 1: operand b is ignored
        self.start = start  # of a reduction; None: cannot reduce
        self.generation = generation  # the first that has it as an ALU operator
        self.apply: Callable[..., Any] | None = None
        ALL[name] = self

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if self.apply is None:
            raise TypeError(f"nl.{self.name} is an operator for op=, not a function on tiles")
        return self.apply(*arguments, **named)

    @property
    def ignores_b(self) -> bool:
        """Whether the second operand has no effect, reversed or not (3.4)."""
        return self.operands == 1 or self.kind == "both"

    @property
    def is_bitvec(self) -> bool:
        return self.kind == "bitvec"

    def __repr__(self) -> str:
        return f"nl.{self.name}"

    def __reduce__(self) -> tuple[object, ...]:
        return (ALL.__getitem__, (self.name,))


ALL: dict[str, Operator] = {}
_INFINITY = float("inf")


def _unary(name: str, code: int | None, activation: int | None = None, **more: Any) -> Operator:
    return Operator(name, code, activation, operands=1, **more)


# name, code of 3.4, start of a reduction
bypass = Operator("bypass", 0, kind="both")
add = Operator("add", 1, start=0.0)
subtract = Operator("subtract", 2, start=0.0)
multiply = Operator("multiply", 3, start=1.0)
maximum = Operator("maximum", 4, start=-_INFINITY)
minimum = Operator("minimum", 5, start=_INFINITY)
equal = Operator("equal", 6)
not_equal = Operator("not_equal", 7)
greater_equal = Operator("greater_equal", 8)
greater = Operator("greater", 9)
less_equal = Operator("less_equal", 10)
less = Operator("less", 11)
logical_and = Operator("logical_and", 12, start=1.0)
logical_or = Operator("logical_or", 13, start=0.0)
logical_xor = Operator("logical_xor", 14, start=0.0)
power = Operator("power", 15)
abs_max = Operator("abs_max", 16, start=0.0, generation=4)
abs_min = Operator("abs_min", 17, start=_INFINITY, generation=4)
average = Operator("average", 23, start=0.0)
bitwise_and = Operator("bitwise_and", 32, kind="bitvec", start=-1)
bitwise_or = Operator("bitwise_or", 33, kind="bitvec", start=0)
bitwise_xor = Operator("bitwise_xor", 34, kind="bitvec", start=0)
invert = Operator("invert", 35, kind="bitvec", operands=1)
left_shift = Operator("left_shift", 36, kind="bitvec")
right_shift = Operator("right_shift", 37, kind="bitvec")

# Operators of the language that no engine has.
divide = Operator("divide", None)
fmod = Operator("fmod", None)
mod = Operator("mod", None)
logical_not = _unary("logical_not", None)

# name, code of 3.4, code of 3.6
copy = _unary("copy", None, 0)
square = _unary("square", 19, 1, generation=4)
abs = _unary("abs", 18, 2)
sign = _unary("sign", None, 3)
relu = _unary("relu", 20, 4, generation=4)
prelu = _unary("prelu", None, 5)
sigmoid = _unary("sigmoid", None, 6)
tanh = _unary("tanh", None, 7)
exp = _unary("exp", None, 8)
gelu = _unary("gelu", None, 9)
gelu_dx = _unary("gelu_dx", None, 10)
gelu_apprx_tanh = _unary("gelu_apprx_tanh", None, 11)
gelu_apprx_sigmoid = _unary("gelu_apprx_sigmoid", None, 12)
gelu_apprx_sigmoid_dx = _unary("gelu_apprx_sigmoid_dx", None, 13)
silu = _unary("silu", None, 14)
silu_dx = _unary("silu_dx", None, 15)
softplus = _unary("softplus", None, 16)
mish = _unary("mish", None, 17)
erf = _unary("erf", None, 18)
erf_dx = _unary("erf_dx", None, 19)
log = _unary("log", None, 20)
sin = _unary("sin", None, 21)
arctan = _unary("arctan", None, 22)
sqrt = _unary("sqrt", None, 23)
rsqrt = _unary("rsqrt", 21, 24)
reciprocal = _unary("reciprocal", 22, 25)

COMPARISONS = frozenset((equal, not_equal, greater_equal, greater, less_equal, less))

__all__ = list(ALL)
