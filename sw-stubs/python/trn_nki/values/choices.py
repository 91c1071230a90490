# SPDX-License-Identifier: Apache-2.0
"""Values that `with` statements choose."""
from __future__ import annotations

import contextvars
from typing import Generic, TypeVar

T = TypeVar("T")


class Choice(Generic[T]):
    """The value of the innermost `with` statement of this thread (contextvars): other threads do not have it."""

    def __init__(self, name: str):
        self._values: contextvars.ContextVar[tuple[T, ...]] = contextvars.ContextVar(name, default=())

    def get(self) -> T | None:
        values = self._values.get()
        return values[-1] if values else None

    def enter(self, value: T) -> None:
        self._values.set((*self._values.get(), value))

    def leave(self) -> None:
        self._values.set(self._values.get()[:-1])
