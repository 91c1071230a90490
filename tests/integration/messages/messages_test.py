#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wrong inputs of all programs, scenarios, boards and of the Python client: each gets a status, a place where there is a
file, the words that lead on, and no traceback. The table is inputs.txt.

usage: messages_test.py BUILD PROGRAM.elf [--show]

With --show it prints each input with the whole message, to be judged: does the message alone let a newcomer go on?
"""
from __future__ import annotations

import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "sw-stubs/python"))
sys.dont_write_bytecode = True
import trnvp_control  # noqa: E402

KERNEL = ROOT / "tests/data/kernels/double.py"
FILES = {
    "empty.yaml": "",
    "kernel.py": KERNEL.read_text(),
    "wrong_kernel.py": "def go(x):\n    return x.nothing\n",
    "wrong_mnemonic.trn": ".engine tensor\nhlat\n",
    "wrong_operand.trn": ".engine tensor\nwait S[999]>=1 halt\n",
}
PREPARED = (
    "python3 -c \"import numpy; numpy.save('x.npy', numpy.ones((2, 4), numpy.float32))\"; "
    "trn-nki compile kernel.py:double --in x=x.npy -o program.trn"
)


@dataclasses.dataclass
class Input:
    """A line of the table: ARGUMENTS => PHRASE, or =1> for status 1 instead of 2."""

    section: str
    text: str
    status: int
    phrase: str
    number: int
    said: str = ""
    ended: int | None = None

    @property
    def file(self) -> str:
        return f"{self.number:03}.yaml"

    def place(self) -> str:
        """What the message must contain of the place."""
        return rf"{self.file}:\d+:\d+: " if self.section in ("step", "key", "board") else ""

    def wrong(self) -> str:
        if self.ended != self.status:
            return f"status {self.ended}, not {self.status}"
        if "Traceback" in self.said or not self.said:
            return "a traceback" if self.said else "no message"
        if not re.search(self.place(), self.said):
            return "no file:line:column"
        return "" if self.phrase in self.said else f"without {self.phrase!r}"


def read_table() -> list[Input]:
    section, table = "", []
    for line in (HERE / "inputs.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line[1:-1]
        elif line and not line.startswith("#"):
            text, status, phrase = re.fullmatch(r"(.*?) *=(\d*)> (.*)", line).groups()
            table.append(Input(section, text.replace("\\n", "\n"), int(status or 2), phrase, len(table)))
    return table


class Sweep:
    def __init__(self, build: pathlib.Path, program: str, folder: pathlib.Path):
        self.folder = folder
        self.environment = {
            **os.environ,
            "PATH": f"{build}:/usr/bin:/bin",
            "HOME": str(folder),
            "XDG_STATE_HOME": str(folder / "state"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.environment.pop("TRNVP_GUEST_TOOLS", None)
        shutil.copy(program, folder / "program.elf")
        (folder / "scenarios").symlink_to(ROOT / "scenarios")
        (folder / "empty").mkdir()
        for name, text in FILES.items():
            (folder / name).write_text(text)
        self.do(PREPARED)

    def do(self, line: str) -> tuple[int, str]:
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout

    def run_command(self, one: Input) -> None:
        one.ended, one.said = self.do(f"{one.section} {one.text}")

    def run_board(self, one: Input) -> None:
        (self.folder / one.file).write_text(one.text if one.text.startswith("board") else f"board: b\n{one.text}\n")
        one.ended, one.said = self.do(f"trnvp inspect ./{one.file}")

    def run_scenarios(self, inputs: list[Input]) -> None:
        """All in one process; the message of each is the block of its file."""
        for one in inputs:
            board = "" if re.match("bo?a?rd", one.text) else "board: trn3-chip\n"
            steps = "" if one.text.startswith("steps") else "steps: [{wait: 1 us}]\n"
            text = f"{board}steps:\n  - {one.text}\n" if one.section == "step" else board + one.text + "\n" + steps
            (self.folder / one.file).write_text(f"scenario: s{one.number:03}\n{text}")
        status, said = self.do("trnvp test -j 2 " + " ".join(one.file for one in inputs))
        blocks = re.split(r"(?m)^(?=FAIL |pass |failed:$)", said)
        for one in inputs:
            one.ended = status
            one.said = "".join(block for block in blocks if block.startswith("FAIL") and one.file in block)

    def run_client(self, inputs: list[Input]) -> None:
        with subprocess.Popen(
            ["trnvp", "run", "trn3-chip", "--listen", "sockets", "--paused", "--uart", "none"],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as served:
            try:
                where = self.folder / "sockets"
                end = time.monotonic() + 60
                while not (where / "control.sock").exists() and time.monotonic() < end:
                    time.sleep(0.02)
                with trnvp_control.connect(where) as platform:
                    for one in inputs:
                        one.ended = one.status
                        try:
                            eval(one.text, {"platform": platform, "connect": trnvp_control.connect})  # pylint: disable=eval-used
                        except (trnvp_control.ControlError, trnvp_control.Disconnected, OSError, ValueError, TypeError) as error:
                            one.said = f"{type(error).__name__}: {error}"
            finally:
                served.send_signal(signal.SIGTERM)

    def run(self, table: list[Input]) -> None:
        def some(*sections: str) -> list[Input]:
            return [one for one in table if one.section in sections]

        self.run_scenarios(some("step", "key"))
        self.run_client(some("python"))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(self.run_board, some("board")))
            list(pool.map(self.run_command, some("trnvp", "trnctl", "trn-asm", "trn-nki")))


def main() -> int:
    table = read_table()
    with tempfile.TemporaryDirectory(prefix="trnvp-messages-") as folder:
        Sweep(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], pathlib.Path(folder)).run(table)
    wrong = [one for one in table if one.wrong()]
    for one in table if "--show" in sys.argv else wrong:
        print(f"[{one.section}] {one.text}: {one.wrong() or 'as expected'}\n" + re.sub("(?m)^", "    ", one.said[:1500]))
    print(f"{len(table)} wrong inputs, {len(wrong)} with another message than expected")
    return 1 if wrong or len(table) < 300 else 0  # a table that was lost finds nothing


if __name__ == "__main__":
    sys.exit(main())
