# SPDX-License-Identifier: Apache-2.0
"""ALU operators that the engines' instructions take (doc/spec/neuron-core.md, 3.4 and 8.4 to 8.6)."""
from __future__ import annotations

from trn_nki.checks import operands
from trn_nki.checks.call import Call
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.values import operators as op
from trn_nki.values.engines import engine
from trn_nki.values.operators import Operator

SUMS = (op.add, op.subtract, op.multiply, op.maximum, op.minimum)
LOGICAL = (op.logical_and, op.logical_or, op.logical_xor)
REDUCTIONS = (*SUMS, *LOGICAL, op.bitwise_and, op.bitwise_or, op.bitwise_xor)
_ARITHMETIC = frozenset((*SUMS, *op.COMPARISONS, *LOGICAL, op.bypass, op.abs, op.square, op.relu, op.reciprocal))
_GPSIMD = frozenset((op.power, op.rsqrt))
_OF_SCALAR = ((op.multiply, op.bypass), (op.multiply, op.add), (op.add, op.bypass))
_OF_ACTIVATE2 = (
    (op.multiply, op.add),
    (op.multiply, op.subtract),
    (op.multiply, op.bypass),
    (op.add, op.bypass),
    (op.subtract, op.bypass),
    (op.bypass, op.bypass),
)


def lane(call: Call, name: str, *, arithmetic: bool = False) -> Operator:
    """Checks for an operator of the engine's lanes."""
    found = operands.operator(call, name)
    known = found in _ARITHMETIC or (found in _GPSIMD and call.engine is engine.gpsimd)
    if not known and not (found.is_bitvec and call.engine is engine.vector and not arithmetic):
        reason = (
            f"runs on {_engines(found)}" if found in _GPSIMD or found.is_bitvec and not arithmetic else "is no operator of this instruction"
        )
        raise KernelError(f"nisa.{call.operation}: {name}={found!r} {reason}, not on the {call.engine.name} engine", "3.4")
    return found


def _engines(found: Operator) -> str:
    return "GPSIMD" if found in _GPSIMD else "Vector"


def pair(call: Call, first: str, second: str) -> tuple[Operator, Operator]:
    """Checks for two operators of a tensor_scalar; the second may be None."""
    given = lane(call, first), op.bypass if call.arguments[second] is None else lane(call, second)
    if call.engine is engine.scalar:
        _one_of(call, given, _OF_SCALAR)
    elif call.engine is engine.gpsimd and not _GPSIMD.intersection(given):
        raise KernelError(
            f"nisa.{call.operation}: GPSIMD has it for nl.rsqrt and nl.power only, not for {given[0]!r} and {given[1]!r}", "8.4"
        )
    return given


def of_activate2(call: Call) -> tuple[Operator, Operator]:
    """Checks the two operators of an activate2; None becomes bypass."""
    for name in ("op0", "op1"):
        if call.arguments[name] is None:
            call.arguments[name] = op.bypass
    given = operands.operator(call, "op0"), operands.operator(call, "op1")
    _one_of(call, given, _OF_ACTIVATE2)
    return given


def _one_of(call: Call, given: tuple[Operator, Operator], allowed: tuple[tuple[Operator, Operator], ...]) -> None:
    if given not in allowed:
        these = ", ".join(f"({first.name}, {second.name})" for first, second in allowed)
        raise KernelError(
            f"nisa.{call.operation}: ({given[0].name}, {given[1].name}) is no pair of operators of the "
            f"{call.engine.name} engine; it has {these}",
            "8.4",
        )


def bitvec(call: Call, given: tuple[Operator, ...], tiles: tuple[str, ...], scalars: tuple[str, ...] = ()) -> None:
    """Both operators are of one kind; bitvec operators take integers, tiles of one size (3.2, 3.4)."""
    kinds = [operator for operator in given if operator.kind != "both"]
    if not any(operator.is_bitvec for operator in kinds):
        return
    if not all(operator.is_bitvec for operator in kinds):
        raise KernelError(
            f"nisa.{call.operation}: {' and '.join(map(repr, kinds))} are of different kinds; bitvec and "
            "arithmetic operators do not mix",
            "3.4",
        )
    for name in tiles + scalars:
        value = call.arguments.get(name)
        if isinstance(value, NkiTensor):
            if not value.dtype.is_integer:
                raise KernelError(f"nisa.{call.operation}: {name} is {value.dtype}; bitvec operators take integers", "3.2")
            size = call.arguments["dst"].dtype.itemsize
            if name in tiles and value.dtype.itemsize != size:
                raise KernelError(
                    f"nisa.{call.operation}: {name} is {value.dtype} and dst {call.arguments['dst'].dtype}; "
                    "bitvec operators take integers of one size",
                    "3.2",
                )
        elif value is not None and not (-(2**31) <= value < 2**32 and value == int(value)):
            raise KernelError(f"nisa.{call.operation}: {name} is {value}; bitvec operators take integers of 32 bits", "3.2")
