# SPDX-License-Identifier: Apache-2.0
"""Virtual platforms of AWS Trainium boards, in a script, a notebook or a test (doc/python.md).

    import trnvp

    with trnvp.start("trn3-chip") as board:
        board.poke("chip0.udma0.M2S_PREFETCH_CFG_3", 3)
        board.copy(b"some bytes", "hbm0@16MiB")
        board.run("1 ms")
        print(board.peek("chip0.udma0.M2S_PREFETCH_CFG_3"), board.statistics("chip0.h2t0"))

Requires only Python 3.11 and the programs trnvp and trnctl. Every exception is a trnvp.Error.
"""
from trnvp_control import ControlError, Disconnected, Error

from trnvp.board import Board, Copied, Stop, start
from trnvp.errors import CommandError, Ended, LimitReached, MissingProgram, Stalled, StartError

__all__ = [
    "Board",
    "CommandError",
    "ControlError",
    "Copied",
    "Disconnected",
    "Ended",
    "Error",
    "LimitReached",
    "MissingProgram",
    "Stalled",
    "StartError",
    "Stop",
    "start",
]
