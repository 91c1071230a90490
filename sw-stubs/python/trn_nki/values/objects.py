# SPDX-License-Identifier: Apache-2.0
"""NKIObject, the base of kernels' configuration classes."""
from __future__ import annotations

import copy
import dataclasses
import types
from typing import Any


class NKIObject:
    """Class attributes are fields, with or without annotation and with or without @dataclass.

    The initialiser takes fields by position or keyword. A field's default is copied, so that two
    objects do not share a list. A field without default may be left out, as public kernels do: it
    is then no attribute of the object.
    """

    def __init_subclass__(cls, **more: Any) -> None:
        """Annotates the class's fields and keeps this initialiser, which @dataclass would replace."""
        super().__init_subclass__(**more)
        own = dict(cls.__dict__.get("__annotations__", {}))
        hidden = (types.FunctionType, types.MemberDescriptorType, classmethod, staticmethod, property, type, list, dict, set)
        for name, value in cls.__dict__.items():
            if not name.startswith("_") and name not in own and not isinstance(value, hidden):
                own[name] = Any
        cls.__annotations__ = own
        if cls.__init__ is NKIObject.__init__:
            setattr(cls, "__init__", NKIObject.__init__)

    def __init__(self, *values: Any, **fields: Any) -> None:
        known = _fields(type(self))
        if len(values) > len(known):
            raise TypeError(f"{type(self).__name__} has {len(known)} fields; {len(values)} values are given")
        for name, value in zip(known, values):
            if name in fields:
                raise TypeError(f"{type(self).__name__} gets field '{name}' twice")
            fields[name] = value
        for name in fields:
            if name not in known:
                raise TypeError(f"{type(self).__name__} has no field '{name}'")
        for name, default in known.items():
            if name in fields:
                object.__setattr__(self, name, fields[name])
            elif default is not _absent:
                object.__setattr__(self, name, copy.copy(default) if isinstance(default, (list, dict, set)) else default)
        after = getattr(self, "__post_init__", None)
        if after is not None:
            after()


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
            if (not name.startswith("_") or name in found) and not isinstance(value, callables):
                found[name] = value
    for name, field in getattr(kind, "__dataclass_fields__", {}).items():
        if field.default_factory is not dataclasses.MISSING:
            found[name] = field.default_factory()
    return {name: value for name, value in found.items() if not isinstance(value, types.MemberDescriptorType)}
