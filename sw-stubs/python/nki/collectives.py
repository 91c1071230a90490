# SPDX-License-Identifier: Apache-2.0
"""Collectives inside kernels, between tensors in HBM and over all chips: all-reduce, all-gather, reduce-scatter. They run
while the kernel computes; instructions that read a result wait for it. Other collectives are refused
(doc/spec/neuron-core.md, 15.4).

Sources and destinations are lists of whole tensors in HBM, of type float32, bfloat16 or float16, equal in type and apart in
memory; the groups are one list of all ranks. Functions raise KernelError for others.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NoReturn, Sequence

from trn_nki.diagnostics.errors import KernelError
from trn_nki.trace.recording import record
from trn_nki.values.objects import NKIObject

if TYPE_CHECKING:
    from trn_nki.tensors.tensor import NkiTensor
    from trn_nki.values.operators import Operator


class ReplicaGroup(NKIObject):
    """The participating ranks: lists of ranks."""

    def __init__(self, groups: Sequence[Sequence[int]] | None = None):
        self.groups = groups


def all_reduce(
    srcs: Sequence[NkiTensor],
    dsts: Sequence[NkiTensor],
    replica_group: ReplicaGroup,
    op: Operator,
    priority: int | None = None,
    name: str | None = None,
) -> None:
    """Each tensor of dsts = op over the ranks' tensors of srcs.

    Tensors of a pair have one size; `op`: nl.add, nl.minimum or nl.maximum. `priority` has no effect.
    """
    _record("all_reduce", locals())


def all_gather(
    srcs: Sequence[NkiTensor],
    dsts: Sequence[NkiTensor],
    replica_group: ReplicaGroup,
    collective_dim: int = 0,
    priority: int | None = None,
    name: str | None = None,
) -> None:
    """Each tensor of dsts = the ranks' tensors of srcs, concatenated along the first dimension.

    A destination has the elements of its source times the number of ranks; `collective_dim`: 0. `priority` has no effect.
    """
    _record("all_gather", locals())


def reduce_scatter(
    srcs: Sequence[NkiTensor],
    dsts: Sequence[NkiTensor],
    replica_group: ReplicaGroup,
    collective_dim: int = 0,
    op: Operator | None = None,
    priority: int | None = None,
    name: str | None = None,
) -> None:
    """Each tensor of dsts = the rank's part, along the first dimension, of op over the ranks' tensors of srcs.

    A source has the elements of its destination times the number of ranks; `collective_dim`: 0; `op`: nl.add, nl.minimum or
    nl.maximum. `priority` has no effect.
    """
    _record("reduce_scatter", locals())


def _record(operation: str, arguments: dict[str, Any]) -> None:
    """Records an instruction for each pair of tensors."""
    srcs, dsts = list(arguments.pop("srcs")), list(arguments.pop("dsts"))
    if len(srcs) != len(dsts):
        raise KernelError(f"nki.collectives.{operation}: {len(srcs)} srcs and {len(dsts)} dsts", "15.4")
    for src, dst in zip(srcs, dsts):
        record(operation, {"dst": dst, "src": src} | arguments)


def _refused(name: str) -> Callable[..., NoReturn]:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise KernelError(f"nki.collectives.{name} cannot work inside a kernel on this platform", "15.4")

    refuse.__name__ = name
    return refuse


for _name in (
    "all_gather_v",
    "all_to_all",
    "all_to_all_v",
    "collective_permute",
    "collective_permute_implicit",
    "collective_permute_implicit_reduce",
    "collective_permute_implicit_current_processing_rank_id",
    "rank_id",
):
    globals()[_name] = _refused(_name)
