# SPDX-License-Identifier: Apache-2.0
"""Checks of one operand, and of operands against each other. All raise KernelError."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy

from trn_nki.checks.call import Call
from trn_nki.diagnostics.dialects import language_function
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.values import data_types
from trn_nki.values.memory_regions import MemoryRegion, psum, sbuf
from trn_nki.values.operators import Operator

if TYPE_CHECKING:
    from trn_nki.tensors.argument_types import Scalar

MAX_SBUF_ELEMENTS = 65_536  # per partition of one instruction (2.3)
MAX_PSUM_ELEMENTS = 4_096
MAX_STRIDE, MAX_COUNT = 32_767, 65_535  # of a dimension


def tensor(call: Call, name: str) -> NkiTensor:
    value = call.arguments[name]
    if not isinstance(value, NkiTensor):
        raise KernelError(f"nisa.{call.operation}: {name} must be a tensor, not {_kind(value)}")
    return value


def tile(call: Call, name: str, *regions: MemoryRegion) -> NkiTensor:
    """Checks for an on-chip tensor that a compute engine can address."""
    found = tensor(call, name)
    allowed = regions or (sbuf, psum)
    if found.buffer not in allowed:
        memories = " or ".join(region.value.upper() for region in allowed)
        advice = "" if found.is_on_chip else "; nl.store copies a tile to it" if name == "dst" else "; nl.load makes a tile of it"
        raise KernelError(f"nisa.{call.operation}: {name} must be in {memories}; {found!r} is in {found.buffer.value}{advice}", "4")
    partitions = found.shape[0]
    if partitions > 1 and found.strides[0] != found.pitch:
        raise KernelError(
            f"nisa.{call.operation}: {name} takes every {found.strides[0] // found.pitch}th partition; an "
            "operand is a run of partitions",
            "2.2",
        )
    start = found.start_partition
    if start and (partitions > 64 or start % (64 if partitions > 32 else 32)):
        steps = "0" if partitions > 64 else "0 or 64" if partitions > 32 else "0, 32, 64 or 96"
        raise KernelError(f"nisa.{call.operation}: {name} has {partitions} partitions from {start}; so many must start at {steps}", "2.2")
    _pattern(call, name, found)
    place(call, name, found)
    return found


def _pattern(call: Call, name: str, found: NkiTensor) -> None:
    """Checks the counts and strides of an operand (2.3). Elements that a stride of 0 repeats count once in PSUM."""
    dims = found.free_pattern()
    size = found.free_size
    limit = MAX_SBUF_ELEMENTS
    if found.buffer is psum and size <= limit:
        is_product = name == "dst" and call.operation.startswith("nc_matmul")
        size = math.prod(count for stride, count in dims if stride != 0 or is_product)
        limit = MAX_PSUM_ELEMENTS
        if is_product and found.dtype.itemsize == 2:  # before v4 a transpose only
            limit = call.generation.max_moving_bf16 or call.generation.max_moving_fp32
    if size > limit:
        raise KernelError(
            f"nisa.{call.operation}: {name} has {size} elements per partition; one "
            f"instruction takes {limit} in {found.buffer.value.upper()}",
            "2.3",
        )
    if len(dims) > 4:
        raise KernelError(f"nisa.{call.operation}: {name} needs {len(dims)} free dimensions; an operand has 4", "2.3")
    for stride, count in dims:
        if not -MAX_STRIDE - 1 <= stride <= MAX_STRIDE or count > MAX_COUNT:
            raise KernelError(
                f"nisa.{call.operation}: {name} has {count} elements with stride {stride}; an operand's strides "
                f"are -{MAX_STRIDE + 1} to {MAX_STRIDE} and its counts up to {MAX_COUNT}",
                "2.3",
            )


def place(call: Call, name: str, found: NkiTensor) -> None:
    """Checks the alignment of a start, as far as it is known before the run."""
    if found.start_byte % found.start_alignment:
        raise KernelError(
            f"nisa.{call.operation}: {name} starts at byte {found.start_byte} of a partition; elements of "
            f"{found.dtype} in {found.buffer.value.upper()} start at multiples of {found.start_alignment}",
            "2.1",
        )


def scalar(call: Call, name: str, partitions: int) -> Scalar | None:
    """A number, or a tile with one element per partition."""
    value = call.arguments[name]
    if isinstance(value, NkiTensor):
        tile(call, name)
        if value.indirection is not None:
            raise KernelError(f"nisa.{call.operation}: the place of {name}, {value!r}, must be known before the run", "7.4")
        if value.free_size != 1 or value.shape[0] != partitions:
            raise KernelError(f"nisa.{call.operation}: {name} must be a number or a tile [{partitions}, 1]; it is {value!r}", "7.4")
    elif value is not None:
        number(call, name)
    return value


def number(call: Call, name: str) -> None:
    value = call.arguments[name]
    try:
        if isinstance(value, (NkiTensor, str)):
            raise TypeError
        float(value)
    except TypeError:
        raise KernelError(f"nisa.{call.operation}: {name} must be a number, not {_kind(value)}", "7.4") from None
    except OverflowError:
        raise KernelError(f"nisa.{call.operation}: {name} has {len(str(value))} digits, which no type holds", "7.4") from None


def same_size(call: Call, first: str, *others: str) -> None:
    """Checks for equal numbers of partitions and of elements per partition."""
    a = call.arguments[first]
    for name in others:
        b = call.arguments[name]
        if a.shape[0] != b.shape[0] or a.free_size != b.free_size:
            small, large = sorted((a, b), key=lambda tensor: tensor.size)
            advice = (
                f"; one row becomes {large.shape[0]} by nl.broadcast_to(tile, {(large.shape[0], *small.shape[1:])})"
                if small.shape[0] == 1 and small.free_size == large.free_size
                else ""
            )
            raise KernelError(
                f"nisa.{call.operation}: {first} is {a!r} and {name} is {b!r}; partitions and elements "
                f"per partition must agree{advice}",
                "2.3",
            )


def same_type(call: Call, first: str, second: str) -> None:
    a, b = call.arguments[first].dtype, call.arguments[second].dtype
    if a is not b:
        raise KernelError(f"nisa.{call.operation}: {first} is {a} and {second} is {b}; the types must be equal", "8")


def one_column(call: Call, name: str, partitions: int) -> None:
    if call.arguments.get(name) is None:
        return
    value = tile(call, name)
    if value.shape[0] != partitions or value.free_size != 1:
        raise KernelError(f"nisa.{call.operation}: {name} must be a tile [{partitions}, 1]; it is {value!r}", "3.5")


def not_both_psum(call: Call, first: str, second: str) -> None:
    a, b = call.arguments[first], call.arguments[second]
    if isinstance(a, NkiTensor) and isinstance(b, NkiTensor) and a.buffer is psum and b.buffer is psum:
        raise KernelError(f"nisa.{call.operation}: {first} and {second} must not both be in PSUM", "2.5")


def operator(call: Call, name: str, *allowed: Operator) -> Operator:
    """Checks for an ALU operator, one of `allowed` if given."""
    value = call.arguments[name]
    if not isinstance(value, Operator):
        raise KernelError(f"nisa.{call.operation}: {name} must be an operator of nki.language, not {_kind(value)}{_meant(value)}")
    if value.code is None or (allowed and value not in allowed):
        these = f"; {name} is one of {', '.join(map(repr, allowed))}" if allowed else ""
        raise KernelError(f"nisa.{call.operation}: no engine has {value!r} here{these}", "3.4")
    if value.generation > call.generation.number:
        raise KernelError(
            f"nisa.{call.operation}: {value!r} exists from NeuronCore-v{value.generation}; the target is v{call.generation.number}",
            "3.4",
        )
    return value


def _meant(value: object) -> str:
    """The operator that a text or a function of NumPy names."""
    call = language_function(value if isinstance(value, str) else getattr(value, "__name__", ""))
    return f"; write {call}" if call else ""


def activation_function(call: Call, name: str) -> Operator:
    value = call.arguments[name]
    if not isinstance(value, Operator) or value.activation is None:
        raise KernelError(f"nisa.{call.operation}: {name} must be an activation function of nki.language, not {_kind(value)}", "3.6")
    return value


def integer(call: Call, name: str) -> int:
    """A number of 32 bits that the instruction holds."""
    value = call.arguments[name]
    if not hasattr(value, "__index__") or not -(2**31) <= value < 2**31:
        raise KernelError(f"nisa.{call.operation}: {name} must be a signed integer of 32 bits, not {_kind(value)}", "7.5")
    return int(value)


def one_of(call: Call, name: str, *types: data_types.DataType) -> None:
    value = call.arguments[name]
    if value.dtype not in types:
        raise KernelError(f"nisa.{call.operation}: {name} must be {' or '.join(types)}; it is {value.dtype}", "8")


def multiple(call: Call, quantity: str, value: int, factor: int, limit: int | None = None) -> None:
    if value % factor or (limit is not None and value > limit):
        bound = f", at most {limit}" if limit else ""
        raise KernelError(f"nisa.{call.operation}: {quantity} must be a multiple of {factor}{bound}; it is {value}", "8")


def _kind(value: object) -> str:
    if isinstance(value, numpy.ndarray) and value.ndim:
        return "an array of NumPy: pass it to the kernel as an argument, or write nl.shared_constant(array)"
    return repr(value) if isinstance(value, (int, float, str, Operator)) or value is None else type(value).__name__
