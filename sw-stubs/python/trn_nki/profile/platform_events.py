# SPDX-License-Identifier: Apache-2.0
"""Events of a running platform, by the control method `trace` (doc/control-socket.md)."""
from __future__ import annotations

import contextlib
import os
import pathlib
from typing import Iterator

import trnvp_control


class PlatformError(Exception):
    """The platform cannot be reached, or refuses."""


@contextlib.contextmanager
def connected(address: str, token_file: str | None = None) -> Iterator[trnvp_control.Platform]:
    """A session on the platform of a folder of sockets, or of a control address. Raises PlatformError, OSError."""
    token = pathlib.Path(token_file).read_text().partition("\n")[0] if token_file else None
    if token == "":
        raise PlatformError(f"{token_file}: its first line has no token")
    try:
        platform = trnvp_control.connect(address, token)
    except (trnvp_control.ControlError, trnvp_control.Disconnected) as error:
        raise PlatformError(f"{address}: {error}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise PlatformError(f"no platform answers at {os.fspath(address)}: {reason}") from None
    try:
        yield platform
    except (trnvp_control.ControlError, trnvp_control.Disconnected, TimeoutError) as error:
        raise PlatformError(f"{address}: {error}") from None
    finally:
        platform.close()


def start(platform: trnvp_control.Platform) -> None:
    platform.trace(command="start")


def stop(platform: trnvp_control.Platform) -> None:
    """Raises PlatformError when the record is incomplete."""
    state = platform.trace(command="stop")
    if state["failure"]:
        raise PlatformError(state["failure"])


def lines(platform: trnvp_control.Platform) -> Iterator[str]:
    """The recorded lines, also while recording continues."""
    offset = 0
    while True:
        part = platform.trace(command="read", offset=offset)
        if not part["text"]:
            return
        offset = part["next"]
        yield from part["text"].splitlines(keepends=True)
