# SPDX-License-Identifier: Apache-2.0
"""Client of trnvp's control socket: JSON-RPC 2.0, one message per line (doc/control-socket.md).

Requires only Python 3.11.

    import trnvp_control
    with trnvp_control.connect("/run/trnvp/control.sock") as platform:
        platform.wait(condition="ready", wall_limit=10)
        print(platform.peek("chip0.axi0", 0x80_0000, 16).hex())
        platform.subscribe("uart")
        for topic, event in platform.events(timeout=1.0):
            print(topic, event)
"""
from __future__ import annotations

import builtins
import collections
import errno
import itertools
import json
import operator
import os
import socket
import threading
import time
from typing import Any, Iterator

PROTOCOL = 1
LARGEST_MESSAGE = 8 << 20  # bytes; the platform sends less


class Error(Exception):
    """Every exception of this module but OSError, and of the package trnvp."""


class ControlError(Error):
    """The platform refused a call: its message and error code."""

    def __init__(self, message: str, code: int):
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self.args, self.code)


class Disconnected(Error):
    """The platform ended, or closed the connection."""


def connect(address: str | os.PathLike[str], token: str | None = None, *, timeout: float = 10.0, **expected: str) -> "Platform":
    """Opens a session. `address` is a Unix socket, the folder given to `trnvp run --listen`, or HOST:PORT.

    `expected` may have board, digest or version: other platforms are refused. Raises ControlError,
    Disconnected, OSError.
    """
    path = os.fspath(address)
    if os.path.isdir(path):
        path = os.path.join(path, "control.sock")
    if os.path.exists(path) or "/" in path:
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        link.settimeout(timeout)
        try:
            link.connect(path)
        except BaseException as error:
            link.close()
            if isinstance(error, OSError) and error.errno is not None:
                error.filename = path
            raise
    else:
        host, _, port = path.rpartition(":")
        if not port.isdecimal() or int(port) > 65_535:
            raise FileNotFoundError(errno.ENOENT, "no socket or folder of a platform, and not HOST:PORT", path)
        link = socket.create_connection((host.strip("[]"), int(port)), timeout)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    platform = Platform(link, timeout)
    try:
        parameters: dict[str, Any] = {"protocol": PROTOCOL, "client": "trnvp_control.py", **expected}
        if token is not None:
            parameters["token"] = token
        platform.about = platform.call("hello", **parameters)
    except BaseException:
        platform.close()
        raise
    return platform


class Platform:
    """A session. Calls are methods: `platform.status()` calls the control method `status`."""

    about: dict[str, Any]

    def __init__(self, link: socket.socket, timeout: float):
        self._link = link
        self._timeout = timeout
        self._buffer = bytearray()
        self._ids = itertools.count(1)
        self._turn = threading.RLock()
        self._events: collections.deque[tuple[str, Any]] = collections.deque(maxlen=100_000)

    def __enter__(self) -> "Platform":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._link.close()

    # -- Calls

    def call(self, method: str, /, **parameters: Any) -> Any:
        """Calls a control method and waits for its answer.

        A call with its own simulated-time or wall-clock limit waits without a timeout; others
        raise TimeoutError after the session's timeout. Threads take turns.
        """
        with self._turn:
            return self._call(method, parameters)

    def _call(self, method: str, parameters: dict[str, Any]) -> Any:
        number = next(self._ids)
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
        # Integers of NumPy are numbers; NaN is none.
        self._send(json.dumps(request, default=operator.index, allow_nan=False).encode() + b"\n")
        patient = method in ("run", "wait")
        deadline = None if patient else time.monotonic() + self._timeout
        while True:
            message = self._receive(deadline)
            if "method" in message:
                self._events.append((message["method"], message.get("params")))
            elif message.get("id") in (number, None):
                if "error" in message:
                    raise ControlError(message["error"]["message"], message["error"]["code"])
                return message["result"]

    def __getattr__(self, method: str) -> Any:
        if method.startswith("_"):
            raise AttributeError(method)
        return lambda **parameters: self.call(method, **parameters)

    def list(self, what: str = "modules") -> Any:
        return self.call("list", what=what)

    def peek(self, space: str | None = None, address: int | None = None, size: int = 4, **register: Any) -> Any:
        """Reads without side effects: at most 1 MiB as bytes; or, as peek(register=NAME, index=0, instance=0),
        the value of a register or a field."""
        if space is None:
            return self.call("peek", **register)["value"]
        return bytes.fromhex(self.call("peek", space=space, address=address, size=size)["data"])

    def poke(self, space: str | None = None, address: int | None = None, data: bytes | str | None = None, **value: Any) -> None:
        """Writes as software does: a doorbell rings. poke(space, address, data), with bytes or hexadecimal text;
        poke(space, address, value=7, width=4); poke(register=NAME, value=7, index=0, instance=0)."""
        self._write("poke", space, address, data, value)

    def deposit(self, space: str | None = None, address: int | None = None, data: bytes | str | None = None, **value: Any) -> None:
        """As poke(), without side effects, also what software cannot write."""
        self._write("deposit", space, address, data, value)

    def _write(self, method: str, space: str | None, address: int | None, data: bytes | str | None, value: dict[str, Any]) -> None:
        digits = data if data is None or isinstance(data, str) else data.hex()
        given = {"space": space, "address": address, "data": digits}
        self.call(method, **{key: part for key, part in given.items() if part is not None}, **value)

    def inject(self, module: str, fault: str, **arguments: Any) -> builtins.list[str]:
        """Injects a fault into a module, or all modules that match a pattern, and returns their names:
        inject("chip*.hbm0", "hbm_corrected", offset="16 MiB")."""
        return self.call("inject", module=module, fault=fault, arguments=arguments)["modules"]

    def quit(self) -> None:
        """Ends the platform."""
        self.call("quit")

    # -- Notifications

    def subscribe(self, *topics: str) -> None:
        """Topics: uart, log, state. Their events are read with events()."""
        self.call("subscribe", topics=list(topics))

    def events(self, timeout: float = 0.0) -> Iterator[tuple[str, Any]]:
        """Yields (topic, parameters) until none has come for `timeout` seconds."""
        while True:
            if self._events:
                yield self._events.popleft()
                continue
            try:
                message = self._receive(time.monotonic() + timeout)
            except TimeoutError:
                return
            if "method" in message:
                yield message["method"], message.get("params")

    # -- The socket

    def _send(self, data: bytes) -> None:
        self._link.settimeout(self._timeout)
        try:
            self._link.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the platform may have sent the reason before it closed; the reader reports it

    def _receive(self, deadline: float | None) -> dict[str, Any]:
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > LARGEST_MESSAGE:
                raise Disconnected("the platform sent an endless message")
            if deadline is None:
                self._link.settimeout(None)
            else:
                self._link.settimeout(max(deadline - time.monotonic(), 1e-6))
            try:
                piece = self._link.recv(65536)
            except ConnectionResetError as error:
                raise Disconnected("the platform has closed the connection") from error
            if not piece:
                raise Disconnected("the platform has closed the connection")
            self._buffer += piece
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        try:
            message = json.loads(line)
        except ValueError:  # the answer of another socket
            message = None
        if not isinstance(message, dict):
            raise Disconnected("the platform sent an invalid message: is this its control socket?")
        return message
