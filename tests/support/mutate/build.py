# SPDX-License-Identifier: Apache-2.0
"""Compiles the mutated copy, and drops the places whose mutation does not compile."""
import json
import os
import pathlib
import re
import subprocess

import draw
import places
from tree import HERE, tree

PLACE = re.compile(r"(?:^|[\s,])([\w./+-]+\.(?:c|cpp|h)):(\d+)(?::\d+)?[:,]( error:)?")
LINKED = re.compile(r"^(tests/\w+): C(?:XX)?_EXECUTABLE_LINKER", re.M)
OBJECTS = re.compile(r"^(\S+)/CMakeFiles/\S+$", re.M)
COLOUR = re.compile(r"\x1b\[[\d;]*[mK]")


class build_error(Exception):
    pass


class refusals:
    """Places that did not compile in this or an earlier run."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.file = folder / "refused.json"
        self.keys = set(json.loads(self.file.read_text())) if self.file.exists() else set()

    def add(self, one: places.place) -> None:
        self.keys.add(one.key)
        self.file.parent.mkdir(exist_ok=True)
        self.file.write_text(json.dumps(sorted(self.keys)))


class build:
    def __init__(self, copy: tree, jobs: int) -> None:
        self.copy = copy
        self.path = copy.path / "build"
        self.jobs = jobs
        self.environment = dict(
            os.environ, CCACHE_BASEDIR=str(copy.path), CCACHE_NOHASHDIR="1", CCACHE_SLOPPINESS="pch_defines,time_macros"
        )

    def run(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            words,
            cwd=self.copy.path,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )

    def configure(self) -> None:
        """Each program is linked with the switch; commands that compile do not change."""
        folder = self.copy.switch.parent
        folder.mkdir(parents=True, exist_ok=True)
        self.select_firmware(0)
        library = folder / "libswitch.a"
        changed = [replace(folder / name, (HERE / name).read_text()) for name in ("switch.h", "switch.c")]
        if any(changed) or not library.exists():
            self.need(self.run("cc", "-O2", "-fPIC", "-c", str(folder / "switch.c"), "-o", str(folder / "switch.o")))
            self.need(self.run("ar", "rcs", str(library), str(folder / "switch.o")))
        injected = folder / "switch.cmake"
        replace(injected, f"link_libraries({library})\n")
        self.need(self.run("cmake", "--preset", "default", "-DBUILD_TESTING=ON", f"-DCMAKE_PROJECT_trnvp_INCLUDE={injected}"))

    def need(self, done: subprocess.CompletedProcess) -> None:
        if done.returncode != 0:
            raise build_error(done.stdout[-4000:])

    def ninja(self, *targets: str) -> str:
        """The output of a failed build, empty after a successful one."""
        done = self.run("ninja", "-C", "build", f"-j{self.jobs}", "-k0", *targets)
        return COLOUR.sub("", done.stdout) if done.returncode != 0 else ""

    def unit_programs(self, drawn: draw.draw) -> list[str]:
        """Programs of unit tests that link the folder of a mutated file."""
        folders = {}
        for program in LINKED.findall(self.run("ninja", "-C", "build", "-t", "targets", "all").stdout):
            inputs = self.run("ninja", "-C", "build", "-t", "inputs", program).stdout
            found = {
                str(pathlib.Path(one).relative_to(self.path) if one.startswith("/") else one)
                for one in OBJECTS.findall(inputs)
                if not one.startswith("/") or one.startswith(str(self.path))
            }
            if any(folder.startswith("tests/unit/") for folder in found):
                folders[program] = found
        every = set().union(*folders.values())
        mutated = set()
        for name in drawn.by_file():
            above = (str(folder) for folder in pathlib.Path(name).parents)
            mutated |= {next((folder for folder in above if folder in every), "")}
        return [program for program, linked in folders.items() if linked & mutated]

    def make(self, drawn: draw.draw, refused: "refusals", units_only: bool, say) -> None:
        """Writes and compiles a draw until all of it compiles."""
        self.copy.sync(drawn)
        self.configure()
        targets = self.unit_programs(drawn) if units_only else []
        while True:
            output = self.ninja(*targets)
            if not output:
                return
            numbers = self.refused(drawn, output)
            if not numbers:
                raise build_error("the mutated copy does not build:\n" + output[-6000:])
            for number in numbers:
                one = drawn.chosen[number - 1]
                say(f"{one.file}:{one.line}: {one.what}: does not compile, replaced")
                refused.add(one)
                drawn.replace(number - 1)
            self.copy.sync(drawn)

    def refused(self, drawn: draw.draw, output: str) -> set[int]:
        """Numbers of places that a compiler's output names: by lines of errors, else by any line, else the nearest."""
        by_file = drawn.by_file()
        lines: dict[bool, set[tuple[str, int]]] = {True: set(), False: set()}
        for name, line, error in PLACE.findall(output):
            full = pathlib.Path(os.path.normpath(self.path / name))
            if full.is_relative_to(self.copy.path):
                lines[bool(error)].add((str(full.relative_to(self.copy.path)), int(line)))

        def at(wanted: set[tuple[str, int]]) -> set[int]:
            return {
                number
                for file, numbered in by_file.items()
                for number, one in numbered.items()
                if any(file == name and line in lines_of(self.copy, one) for name, line in wanted)
            }

        def nearest() -> set[int]:
            """Of each file in which an error is, for example after a deleted declaration."""
            found = set()
            for name, line in lines[True] or lines[False]:
                if name in by_file:
                    found.add(min(by_file[name], key=lambda number: (abs(by_file[name][number].line - line), number)))
            return found

        return at(lines[True]) or at(lines[False]) or nearest()

    # ---- Firmware: built once for each of its mutations, with the same build id

    def select_firmware(self, number: int) -> None:
        replace(self.copy.switch.with_name("mutation_of_firmware.h"), f"#define TRN_MUTATION_OF_FIRMWARE {number}u\n")

    def make_firmware(self, number: int) -> None:
        self.select_firmware(number)
        output = self.ninja("firmware")
        if output:
            raise build_error("the mutated firmware does not build:\n" + output[-6000:])


def lines_of(copy: tree, one: places.place) -> range:
    source = copy.source(one.file)
    first = source.count("\n", 0, one.start) + 1
    return range(first, first + source.count("\n", one.start, one.end) + 1)


def replace(file: pathlib.Path, text: str) -> bool:
    """Writes a file if its text differs; returns whether it did."""
    if file.exists() and file.read_text() == text:
        return False
    file.write_text(text)
    return True
