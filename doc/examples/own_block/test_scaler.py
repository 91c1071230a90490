# SPDX-License-Identifier: Apache-2.0
"""In the build folder: ctest, or python3 -m pytest ../test_scaler.py"""
import struct

import pytest

SOURCE, TARGET, WORDS = 0x1000, 0x8000, 300
DONE, FAILED, BUSY = 1, 2, 4


def start(board, source):
    board.poke("ram", struct.pack(f"<{WORDS}I", *range(WORDS)), SOURCE)
    for register, value in [("SOURCE_LO", source), ("TARGET_LO", TARGET), ("WORDS", WORDS), ("FACTOR", 3)]:
        board.poke(f"scaler.{register}", value)
    board.poke("scaler.CONTROL.START", 1)


@pytest.mark.board("bare.yaml", ready=False)
def test_scales_in_its_time(board):
    start(board, SOURCE)
    board.run("299 ns")
    assert board.peek("scaler.STATUS") == BUSY
    board.run("2 us")
    assert board.peek("scaler.STATUS") == DONE
    assert board.peek("ram", TARGET, 4 * WORDS) == struct.pack(f"<{WORDS}I", *range(0, 3 * WORDS, 3))


@pytest.mark.board("bare.yaml", ready=False)
def test_fails_where_no_memory_is(board):
    start(board, 0x2000_0000)
    board.run("2 us")
    assert board.peek("scaler.STATUS") == FAILED
    board.poke("scaler.STATUS", FAILED)
    assert board.peek("scaler.STATUS") == 0


@pytest.mark.board("bare.yaml", ready=False)
def test_starts_once(board):
    start(board, SOURCE)
    board.poke("scaler.CONTROL", 1)  # no effect while BUSY
    board.run("2 us")
    assert board.peek("scaler.STATUS") == DONE
