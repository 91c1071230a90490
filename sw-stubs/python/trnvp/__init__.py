# SPDX-License-Identifier: Apache-2.0
"""Virtual platforms of AWS Trainium boards, in a script, a notebook or a test (doc/python.md).

    import trnvp

    with trnvp.start("trn3-chip") as board:
        board.poke("chip0.udma0.M2S_PREFETCH_CFG_3", 3)
        board.copy(b"some bytes", "hbm0@16MiB")
        board.run("1 ms")
        print(board.peek("chip0.udma0.M2S_PREFETCH_CFG_3"), board.statistics("chip0.h2t0"))

trnvp.Machine("trn3-chip") is a board inside of this process (doc/library.md).

Requires only Python 3.11 and the programs trnvp and trnctl. Every exception is a trnvp.Error.
"""
from trnvp_control import ControlError, Disconnected, Error

from trnvp.board import Board, Copied, start
from trnvp.errors import CommandError, Ended, InvalidArgument, LimitReached, MissingProgram, Stalled, StartError, Unavailable
from trnvp.machine import Function, HostMemory, Machine, on_log
from trnvp.methods import Stop

__all__ = [
    "Board",
    "CommandError",
    "ControlError",
    "Copied",
    "Disconnected",
    "Ended",
    "Error",
    "Function",
    "HostMemory",
    "InvalidArgument",
    "LimitReached",
    "Machine",
    "MissingProgram",
    "Stalled",
    "StartError",
    "Stop",
    "Unavailable",
    "on_log",
    "start",
]
