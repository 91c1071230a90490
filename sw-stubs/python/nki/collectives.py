# SPDX-License-Identifier: Apache-2.0
"""Collectives inside kernels: refused, because the platform starts collectives from the host (15.4)."""
from __future__ import annotations

from typing import Any

from trn_nki.diagnostics.errors import KernelError
from trn_nki.values.objects import NKIObject


class ReplicaGroup(NKIObject):
    """Ranks that take part."""

    def __init__(self, groups: Any = None):
        self.groups = groups


def _refused(name: str) -> Any:
    def refuse(*_: Any, **__: Any) -> None:
        raise KernelError(f"nki.collectives.{name} cannot work inside a kernel on this platform", "15.4")
    refuse.__name__ = name
    return refuse


for _name in ("all_reduce", "all_gather", "all_gather_v", "reduce_scatter", "all_to_all", "all_to_all_v",
              "collective_permute", "collective_permute_implicit", "collective_permute_implicit_reduce",
              "collective_permute_implicit_current_processing_rank_id", "rank_id"):
    globals()[_name] = _refused(_name)
