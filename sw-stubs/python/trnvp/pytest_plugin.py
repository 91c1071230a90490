# SPDX-License-Identifier: Apache-2.0
"""The fixture `board` of pytest: a board for each test, which ends with the test.

    @pytest.mark.board("trn2-chip", seed=3)     # arguments of trnvp.start(); without: the option --trnvp-board
    def test_doorbell(board):
        board.poke(...)

    @pytest.mark.parametrize("board", ["trn2-chip", "trn3-chip"], indirect=True)

pytest finds this plug-in by itself in an installation. In a source tree: `pytest -p trnvp.pytest_plugin`.
"""
from __future__ import annotations

from typing import Any, Generator, Iterator

import pytest

import trnvp

_LAST_LINES = 40  # of a console, in the report of a failed test


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("trnvp").addoption("--trnvp-board", default="trn3-chip", metavar="BOARD", help="board of the fixture `board`")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "board(name, **arguments): arguments of trnvp.start() for the fixture `board`")


@pytest.fixture
def board(request: pytest.FixtureRequest) -> Iterator[trnvp.Board]:
    """A started trnvp.Board, of the marker `board`, of an indirect parameter, or of the option --trnvp-board."""
    mark = request.node.get_closest_marker("board")
    arguments: dict[str, Any] = dict(mark.kwargs) if mark else {}
    names: tuple[Any, ...] = mark.args if mark else ()
    if hasattr(request, "param"):
        names = (request.param,)
        arguments.pop("board", None)
    elif not names and "board" not in arguments:
        names = (request.config.getoption("--trnvp-board"),)
    with trnvp.start(*names, **arguments) as started:
        yield started


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Adds the consoles of the board to the report of a failed test."""
    outcome = yield
    report = outcome.get_result()
    started = getattr(item, "funcargs", {}).get("board")
    if not report.failed or report.when != "call" or not isinstance(started, trnvp.Board):
        return
    try:
        for name in started.consoles():
            lines = started.console(name).splitlines()[-_LAST_LINES:]
            report.sections.append((f"console {name}", "\n".join(lines)))
    except trnvp.Error as error:
        report.sections.append(("trnvp", str(error)))
