# SPDX-License-Identifier: Apache-2.0
"""NkiTensor.rearrange: named dimensions are split, ordered and merged."""
from __future__ import annotations

import math
from typing import Protocol, TypeAlias, TypeVar

from trn_nki.diagnostics.errors import KernelError


Part: TypeAlias = str | tuple[str, ...] | list[str]  # the name of a dimension, or those that one is split into
Pattern: TypeAlias = tuple[Part, ...]
V = TypeVar("V", bound="View")


class View(Protocol):
    """What this module calls of NkiTensor."""

    shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        """Number of dimensions."""

    def reshape_dim(self: V, dim: int, shape: tuple[int, ...]) -> V:
        """Splits a dimension."""

    def permute(self: V, dims: tuple[int, ...]) -> V:
        """Orders the dimensions."""

    def flatten_dims(self: V, start_dim: int, end_dim: int) -> V:
        """Merges dimensions."""

    def expand_dim(self: V, dim: int) -> V:
        """Adds a dimension of one element."""


def rearrange(tensor: V, source: Pattern, target: Pattern, sizes: dict[str, int]) -> V:
    """The view with the dimensions of `target`, which `source` names. Raises KernelError."""
    groups = [_group(part) for part in source]
    if len(groups) != tensor.ndim:
        raise KernelError(f"pattern {source} names {len(groups)} dimensions; {tensor!r} has {tensor.ndim}")
    view = tensor
    names: list[str] = []
    for group, size in zip(groups, tensor.shape):
        if len(group) > 1:
            view = view.reshape_dim(len(names), _split(group, size, sizes))
        names += group
    wanted = [name for part in target for name in _group(part)]
    if sorted(wanted) != sorted(names):
        raise KernelError(f"patterns {source} and {target} do not name the same dimensions")
    view = view.permute(tuple(names.index(name) for name in wanted))
    for position, part in enumerate(target):
        count = len(_group(part))
        if count > 1:
            view = view.flatten_dims(position, position + count - 1)
        elif count == 0:
            view = view.expand_dim(position)
    return view


def _group(part: Part) -> list[str]:
    return [part] if isinstance(part, str) else list(part)


def _split(group: list[str], size: int, sizes: dict[str, int]) -> tuple[int, ...]:
    unknown = [name for name in group if name not in sizes]
    known = math.prod(sizes[name] for name in group if name in sizes)
    if len(unknown) > 1 or known == 0 or size % known:
        raise KernelError(f"a dimension of {size} cannot be split into {group} with sizes {sizes}")
    return tuple(sizes.get(name, size // known) for name in group)
