# SPDX-License-Identifier: Apache-2.0
"""NKIObject, the base of kernels' configuration classes."""
from __future__ import annotations

import copy
import types
from typing import Any


class NKIObject:
    """Class attributes are fields, with or without annotation and with or without @dataclass.

    The default initialiser takes fields by keyword. A field's default is copied, so that two
    objects do not share a list.
    """

    def __init_subclass__(cls, **more: Any) -> None:
        """Annotates the class's fields: @dataclass makes an initialiser of annotated ones only."""
        super().__init_subclass__(**more)
        own = dict(cls.__dict__.get("__annotations__", {}))
        hidden = (types.FunctionType, types.MemberDescriptorType, classmethod, staticmethod, property, type, list, dict, set)
        for name, value in cls.__dict__.items():
            if not name.startswith("_") and name not in own and not isinstance(value, hidden):
                own[name] = Any
        cls.__annotations__ = own

    def __init__(self, **fields: Any) -> None:
        known = _fields(type(self))
        for name in fields:
            if name not in known:
                raise TypeError(f"{type(self).__name__} has no field '{name}'")
        for name, default in known.items():
            if name in fields:
                setattr(self, name, fields[name])
            elif default is not _absent:
                setattr(self, name, copy.copy(default) if isinstance(default, (list, dict, set)) else default)


_absent = object()


def _fields(kind: type) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if base in (object, NKIObject):
            continue
        for name in base.__dict__.get("__annotations__", {}):
            found.setdefault(name, _absent)
        for name, value in base.__dict__.items():
            callables = (types.FunctionType, classmethod, staticmethod, property, type)
            if not name.startswith("_") and not isinstance(value, callables):
                found[name] = value
    return found
