#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every program and subcommand has two examples in --help, and they run.

usage: examples_test.py BUILD PROGRAM.elf
"""
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
sys.dont_write_bytecode = True
from command_help import commands_in  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = ("trnvp", "trnctl", "trn-asm", "trn-nki")
# Their options are compared with --help: guests need QEMU and a kernel, and blocks of users their libraries, as the test `installed` has.
NOT_RUN = ("trnvp guest", "trnvp contract scaler --kinds", "trnvp contract timer --kinds")
# Commands that need the state which others leave; the others run before.
IN_ORDER = (
    "snapshot booted",
    "sockets profile start",
    "program run",
    "profile stop --out profile.html",
    "chip0 profile start",
    "program run program.trn --core 1",
    "profile stop --out profile --execution 1",
    " reset",
    "restore booted",
)
KERNEL = ROOT / "tests/data/kernels/double.py"
# Files and folders that the examples name.
PREPARED = """\
python3 -c "import numpy; numpy.save('x.npy', numpy.ones((2, 4), numpy.float32))"
trn-nki compile kernel.py:double --in x=x.npy -o program.trn
trnvp test scenarios/latency_figures.yaml --report old --history history
trnvp test scenarios/latency_figures.yaml --report new --history history
trnvp test scenarios/copy_sizes.yaml -k '4096 or 4097' --shard 1/2 --report shard1
trnvp test scenarios/copy_sizes.yaml -k '4096 or 4097' --shard 2/2 --report shard2
trnvp test scenarios/copy_sizes.yaml --where size=4096B --report again
"""


class Examples:
    def __init__(self, build: pathlib.Path, folder: pathlib.Path, program: str):
        self.folder, self.background, self.wrong = folder, [], []
        self.environment = {
            **os.environ,
            "PATH": f"{build}:/usr/bin:/bin",
            "HOME": str(folder),
            "COLUMNS": "80",
            "XDG_STATE_HOME": str(folder / "state"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        shutil.copy(program, folder / "program.elf")
        (folder / "scenarios").symlink_to(ROOT / "scenarios")
        (folder / "tests").symlink_to(ROOT / "tests")
        shutil.copy(KERNEL, folder / "kernel.py")

    def do(self, line: str) -> tuple[int, str]:
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout

    def complain(self, line: str, why: str) -> None:
        self.wrong.append(f"{line}: {why}")

    def of(self, *words: str) -> list[str]:
        """The examples of a command and of its subcommands, those of the innermost last."""
        status, text = self.do(" ".join([*words, "--help"]))
        if status != 0:
            self.complain(" ".join(words), text)
        part = re.search(r"^Examples:\n((?:  .*\n)*)", text, re.M | re.I)
        lines = re.findall(r"^  (\S.*)$", part[1], re.M) if part else []
        if len(lines) < 2:
            self.complain(" ".join([*words, "--help"]), f"{len(lines)} examples")
        for line in lines:
            left = iter(shlex.split(line))
            if not all(word in left for word in words):
                self.complain(line, f"no example of {' '.join(words)}")
        commands = commands_in(text)
        if words in (("trnvp",), ("trnctl",), ("trn-nki",)) and not commands:
            self.complain(" ".join([*words, "--help"]), "no subcommand found")
        for command in commands:
            lines += self.of(*words, command)
        return lines

    def compare_options(self, line: str) -> None:
        words = shlex.split(line)
        known = self.do(" ".join([*words[:2], "--help"]))[1]
        for option in re.findall(r"(?<=\s)--[a-z-]+", line):
            if not re.search(rf"(?m)^\s+(-\w,)?{option}\b", known):
                self.complain(line, f"no option {option}")

    def run(self, line: str) -> None:
        if line.startswith(NOT_RUN):
            return self.compare_options(line)
        if line.endswith(" &"):
            self.background.append(
                subprocess.Popen(  # pylint: disable=consider-using-with
                    shlex.split(line[:-2]),
                    cwd=self.folder,
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
            end = time.monotonic() + 60
            while not (self.folder / "sockets/control.sock").exists() and time.monotonic() < end:
                time.sleep(0.02)
            return None
        status, text = self.do(line)
        if status != 0:
            self.complain(line, f"status {status}\n{text[-600:]}")
        return None

    def run_all(self) -> int:
        lines = [line for program in PROGRAMS for line in self.of(program)]
        lines = list(dict.fromkeys(lines))
        in_order = [word for word in IN_ORDER if any(word in line for line in lines)]
        first = [line for line in lines if not any(word in line for word in in_order)]
        first.sort(key=lambda line: not line.startswith("trnvp"))  # one of them serves the others
        last = [line for word in in_order for line in lines if word in line]
        try:
            for line in [*PREPARED.splitlines(), *first, *last]:
                self.run(line)
        finally:
            for one in self.background:
                one.send_signal(signal.SIGTERM)
            for one in self.background:
                one.wait(60)
        for problem in self.wrong:
            print(problem)
        print(f"{len(lines)} examples, {len(self.wrong)} wrong")
        return 1 if self.wrong else 0


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="trnvp-examples-") as folder:
        return Examples(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder), sys.argv[2]).run_all()


if __name__ == "__main__":
    sys.exit(main())
