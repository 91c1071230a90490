# SPDX-License-Identifier: Apache-2.0
"""What can be checked of samples without running them, or by a compiler or a parser."""
import functools
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from command_help import commands_in  # noqa: E402
from page import NOT_RUN, Sample  # noqa: E402
from shell import Shell  # noqa: E402

PROGRAMS = ("trnvp", "trnctl", "trn-nki", "trn-asm")
C_FOLDERS = (
    "sw-stubs/driver/include",
    "sw-stubs/library/include",
    "sw-stubs/transports",
    "sw-stubs/programs/include",
    "sw-stubs/collectives/include",
)
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
TREE = re.compile(r"(?<![\w./-])(?:doc|firmware|models|platform|scenarios|sw-stubs|tests)/[\w./-]*\w(?![\w./*{$<-])")
CODE = re.compile(r"\bE\d\d\b")
COMMAND_LIMIT = 60  # seconds, wall
SYNTAX = {f"E0{digit}" for digit in range(1, 8)}


class Checks:
    def __init__(self, root: pathlib.Path, build: pathlib.Path, folder: pathlib.Path) -> None:
        self.root, self.build, self.folder = root, build, folder

    def do(self, *command: str) -> tuple[int, str]:
        """Status and output; 127 of a program that is not installed, 124 of one that does not end."""
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=COMMAND_LIMIT,
                check=False,
            )
        except (FileNotFoundError, PermissionError):  # also where PATH has a folder of others
            return 127, f"{command[0]} is not installed"
        except subprocess.TimeoutExpired:
            return 124, f"{' '.join(command)} did not end within {COMMAND_LIMIT} s"
        return done.returncode, done.stdout

    @functools.cache
    def help_of(self, *words: str) -> str:
        """Help of a program or of one of its commands, empty when it has none."""
        status, text = self.do(str(self.build / words[0]), *words[1:], "--help")
        return text if status == 0 else ""

    @functools.cache
    def commands_of(self, *words: str) -> frozenset[str]:
        return frozenset(commands_in(self.help_of(*words)))

    def references(self, command: str) -> Iterator[str]:
        """Options, commands and files of the tree that do not exist."""
        for part in re.split(r"[;|&]|\s#\s|\$\(", command.replace("\\\n", " ")):
            words = re.sub(r"^(?:\s*(?:\w+=\S*|time|nice|exec|sudo))+\s", "", part).strip("() []").split()
            program = words[0].rsplit("/", 1)[-1] if words else ""
            if program in PROGRAMS and len(words) > 1 and words[1] not in ("...", "…"):
                yield from self.words_of(program, words[1:])
        for path in TREE.findall(command):
            if not re.search(r"\b[A-Z]{3,}\b", path) and not (self.root / path).exists() and not (self.folder / path).exists():
                yield f"{path} does not exist"

    def words_of(self, program: str, words: list[str]) -> Iterator[str]:
        if "--" in words:
            words = words[: words.index("--")]
        chain = [program]
        for word in words:
            if word in self.commands_of(*chain):
                chain.append(word)
        helps = "".join(self.help_of(*chain[:length]) for length in range(1, len(chain) + 1))
        after = words[len(chain) - 1] if len(words) >= len(chain) else ""
        takes_none = re.search(r"^Usage:.*(?:SUBCOMMANDS?|\[OPTIONS\])$", self.help_of(*chain), re.M)
        if takes_none and re.fullmatch(r"[a-z][a-z_-]*", after) and words[: len(chain) - 1] == chain[1:]:
            yield f"{' '.join(chain)} has no command or argument '{after}'"
        for option in OPTION.findall(re.sub(r"\"[^\"]*\"|'[^']*'", "", " ".join(words))):
            if not re.search(re.escape(option) + r"(?![\w-])", helps):
                yield f"{' '.join(chain)} has no option {option}"

    def sample(self, sample: Sample, shell: Shell) -> Iterator[str]:
        check = getattr(self, sample.language, None)
        if check:
            yield from check(sample, shell)

    def yaml(self, sample: Sample, shell: Shell) -> Iterator[str]:
        """A scenario, steps of one, or a board; of other text only that it parses. A line `...` leaves
        something out."""
        text = "".join(line + "\n" for line in sample.body if line.strip() != "...")
        has = functools.partial(re.search, string=text, flags=re.M)
        is_scenario = bool(has("^(?:scenario|steps|sequences|misuse):") or (has(r"^\s*- [a-z_]+:") and not has(r"^\w|bind:|->")))
        if not has("^(?:scenario|board|assembly|variant_of|steps|sequences|misuse):") and is_scenario:
            text = "steps:\n" + text
        if is_scenario and not has("^scenario:"):
            text = (
                "scenario: sample\nboard: trn3-chip\n"
                + text
                + ("" if has("^steps:") or "\nsteps:" in text or text.startswith("steps:") else "steps:\n  - probe: {}\n")
            )
        file = shell.place(sample.file) if sample.file else self.folder / "scenarios.tmp" / f"sample_{sample.line}.yaml"
        if not sample.file and not file.parent.exists():  # beside the scenarios of the tree, whose files it may name
            file.parent.mkdir()
            for beside in (self.root / "scenarios").iterdir():
                (file.parent / beside.name).symlink_to(beside)
        if not sample.file:
            file.write_text(text, encoding="utf-8")
        words = ("test", "--list") if is_scenario else ("inspect",)
        status, said = self.do(str(self.build / "trnvp"), *words, str(file))
        codes = set(CODE.findall(said))
        if not is_scenario:  # parts of boards are not bound
            codes -= {"E44"} if has("^board:") else codes - SYNTAX
        if sample.mark == NOT_RUN:
            codes &= SYNTAX - {"E01"}  # it may name files of the reader
        if codes or (status != 0 and not CODE.search(said)):
            yield said.strip()

    def c(self, sample: Sample, _: Shell) -> Iterator[str]:
        text = sample.text
        if not re.search(r"^\w.*\)\s*\{", text, re.M):
            lines = text.splitlines(keepends=True)
            code = next(i for i, line in enumerate(lines) if not line.startswith("#") and line.strip())
            text = (
                "".join(lines[:code])
                + f"void sample(void);\nvoid sample(void) {{\n#line {sample.line + code + 1}\n"
                + "".join(lines[code:])
                + "}\n"
            )
        file = self.folder / "tmp" / f"sample_{sample.line}.c"
        file.write_text(text, encoding="utf-8")
        generated = {f"-I{folder.parent}" for folder in (self.build / "generated").glob("**/trn")}
        includes = [f"-I{self.root / folder}" for folder in C_FOLDERS]
        compiler = ("cc",)
        if "csr" in text:  # firmware
            compiler = ("riscv64-unknown-elf-gcc", "-march=rv64imac_zicsr", "-mabi=lp64", "-ffreestanding")
        status, said = self.do(
            *compiler,
            "-std=gnu11",
            "-fsyntax-only",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unused",
            *includes,
            *generated,
            f"-I{self.root}",
            str(file),
        )
        if status != 0:
            yield said.strip()

    def python(self, sample: Sample, shell: Shell) -> Iterator[str]:
        try:
            compile(sample.text, f"line {sample.line}", "exec")
        except SyntaxError as error:
            yield str(error)
            return
        if sample.file or sample.mark == NOT_RUN:
            return
        name = f"sample_{sample.line}.py"
        shell.write(f"{self.folder}/tmp/{name}", sample.text)
        status, printed = shell.run(f"PYTHONPATH={self.root}/sw-stubs/python:. python3 {self.folder}/tmp/{name}")
        if status != 0:
            yield f"the sample ended with status {status}:\n" + "\n".join(printed)
