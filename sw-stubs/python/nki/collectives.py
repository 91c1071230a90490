# SPDX-License-Identifier: Apache-2.0
"""Collectives inside kernels, between tensors in HBM and over all chips: all-reduce, all-gather, reduce-scatter. They run
while the kernel computes; instructions that read a result wait for it. Other collectives are refused (15.4)."""
from __future__ import annotations

from typing import Any

from trn_nki.diagnostics.errors import KernelError
from trn_nki.trace.recording import record
from trn_nki.values import engines
from trn_nki.values.objects import NKIObject


class ReplicaGroup(NKIObject):
    """The participating ranks: lists of ranks."""

    def __init__(self, groups: Any = None):
        self.groups = groups


def all_reduce(srcs: Any, dsts: Any, replica_group: Any, op: Any, priority: Any = None, name: Any = None) -> None:
    """Each tensor of dsts = op over the ranks' tensors of srcs."""
    for src, dst in _pairs("all_reduce", srcs, dsts):
        record(
            "all_reduce",
            engines.engine.unknown,
            name,
            {"dst": dst, "src": src, "replica_group": replica_group, "op": op, "priority": priority},
        )


def all_gather(srcs: Any, dsts: Any, replica_group: Any, collective_dim: Any = 0, priority: Any = None, name: Any = None) -> None:
    """Each tensor of dsts = the ranks' tensors of srcs, concatenated along the first dimension."""
    for src, dst in _pairs("all_gather", srcs, dsts):
        record(
            "all_gather",
            engines.engine.unknown,
            name,
            {"dst": dst, "src": src, "replica_group": replica_group, "collective_dim": collective_dim, "priority": priority},
        )


def reduce_scatter(
    srcs: Any, dsts: Any, replica_group: Any, collective_dim: Any = 0, op: Any = None, priority: Any = None, name: Any = None
) -> None:
    """Each tensor of dsts = the rank's part, along the first dimension, of op over the ranks' tensors of srcs."""
    for src, dst in _pairs("reduce_scatter", srcs, dsts):
        record(
            "reduce_scatter",
            engines.engine.unknown,
            name,
            {"dst": dst, "src": src, "replica_group": replica_group, "collective_dim": collective_dim, "op": op, "priority": priority},
        )


def _pairs(operation: str, srcs: Any, dsts: Any) -> Any:
    srcs, dsts = list(srcs), list(dsts)
    if len(srcs) != len(dsts):
        raise KernelError(f"nki.collectives.{operation}: {len(srcs)} srcs and {len(dsts)} dsts", "15.4")
    return zip(srcs, dsts)


def _refused(name: str) -> Any:
    def refuse(*_: Any, **__: Any) -> None:
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
