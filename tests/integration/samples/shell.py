# SPDX-License-Identifier: Apache-2.0
"""The shell of a page: a clean folder that looks like a built checkout, and a home folder."""
import contextlib
import dataclasses
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time

from tree import Tree

SOCKET_LIMIT, END_LIMIT = 60.0, 5.0  # seconds, wall
ENDED = {128 + number for number in (signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM)}  # by a command of the page

# What differs between two runs or two machines.
NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?"
MASKS = [
    (re.compile(pattern), to)
    for pattern, to in (
        (r"\b\d+\.\d+\.\d+(?:\+[0-9a-f]{8})?(?![.\d])", "<version>"),
        (rf"\b{NUMBER} ?(?:ps|ns|us|ms|s|min)\b", "<time>"),
        (rf"\b{NUMBER} ?(?:[kMGT]i?B/s|[kMG]bit/s|[kMG]?FLOPS|%)", "<rate>"),
        (r"\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{16,}\b", "<digest>"),
        (r"\b\d+\.\d+\b", "<number>"),  # of a table
        (r"\b\d+ bytes at 4", "<image> at 4"),
        (r"\s+", " "),
    )
]


def masked(line: str) -> str:
    for pattern, to in MASKS:
        line = pattern.sub(to, line)
    return line.strip()


def differs(expected: list[str], printed: list[str]) -> int:
    """1-based number of the first expected line that was not printed, 0 if there is none. A line `...`
    stands for any lines, `...` in a line for any text."""
    patterns = [
        None if line.strip() == "..." else re.compile(".*".join(re.escape(part) for part in masked(line).split("..."))) for line in expected
    ]
    lines = [masked(line) for line in printed]
    reached = {0}
    for number, pattern in enumerate(patterns, 1):
        if pattern is None:
            reached = set(range(min(reached), len(lines) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(lines) and pattern.fullmatch(lines[at])}
        if not reached:
            return number
    return 0 if len(lines) in reached else len(expected)


@dataclasses.dataclass
class Job:
    """A command in the background."""

    line: int
    command: str
    process: int
    log: pathlib.Path


class Shell:
    """`end`: when the time of all pages is over; `text`: the samples of the page, which name what they need of the tree."""

    def __init__(self, tree: Tree, end: float, text: str) -> None:
        self.tree, self.end = tree, end
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sample_", dir="/tmp")).resolve()
        tree.copy_into(self.folder, text)
        for name in ("home", "tmp"):
            (self.folder / name).mkdir()
        build = tree.build
        path = f"{build}:/usr/local/bin:/usr/bin:/bin"
        environment = {
            "PATH": path,
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "tmp"),
            "LC_ALL": "C.UTF-8",
            "TRNVP_BUILD": str(build),
            "PYTHONDONTWRITEBYTECODE": "1",
            "USER": os.environ.get("USER", ""),
        }
        environment |= {name: os.environ[name] for name in ("PYTHONPYCACHEPREFIX",) if name in os.environ}
        if "PYTHONPYCACHEPREFIX" in environment:
            del environment["PYTHONDONTWRITEBYTECODE"]
        self.process = subprocess.Popen(
            ["bash", "--norc"],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.jobs: list[Job] = []
        self.has_ended = self.is_late = False

    def __enter__(self) -> "Shell":
        return self

    def __exit__(self, *_: object) -> None:
        for name in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, name)
                self.process.wait(END_LIMIT)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass
        for process in self.own_processes():  # that left the group; they hold the pipe
            with contextlib.suppress(ProcessLookupError):  # it ended meanwhile
                os.kill(process, signal.SIGKILL)
        for pipe in (self.process.stdin, self.process.stdout):
            pipe.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def own_processes(self) -> list[int]:
        """Processes with the home folder of this page."""
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                if f"HOME={self.folder}/home".encode() in entry.read_bytes().split(b"\0"):
                    found.append(int(entry.parent.name))
            except OSError:  # of another user, or ended
                pass
        return found

    def own(self, text: str) -> str:
        """The text with files of /tmp in this shell's folder."""
        return re.sub(rf"(?<![\w/])/tmp/(?!{self.folder.name})", f"{self.folder}/tmp/", text)

    def place(self, name: str) -> pathlib.Path:
        return pathlib.Path(f"/proc/{self.process.pid}/cwd").resolve() / self.own(name)

    def exists(self, name: str) -> bool:
        return self.place(name).exists()

    def write(self, name: str, text: str) -> None:
        place = self.place(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(self.own(text), encoding="utf-8")
        if text.startswith("#!"):
            place.chmod(0o755)

    def syntax(self, command: str) -> str:
        done = subprocess.run(["bash", "-n", "-c", command], capture_output=True, text=True, check=False)
        return done.stderr.strip()

    def run(self, command: str, line: int = 0) -> tuple[int | None, list[str]]:
        """Status and printed lines; no status when the shell ended or the time is over. A job in the background prints into a
        file; its sockets exist afterwards."""
        own = self.own(command)
        log = None
        if own.rstrip().endswith("&"):
            log = self.folder / "tmp" / f"job{len(self.jobs) + 1}.log"
            own = f"{own.rstrip()[:-1]} > {log} 2>&1 &"
        script = self.folder / "tmp" / "command"
        script.write_text(own + "\n", encoding="utf-8")
        status, printed = self.answer(f". {script} </dev/null")
        if log and status is not None:
            job = Job(line, command, int(self.answer("echo $!")[1][0]), log)
            self.jobs.append(job)
            for option, folder in re.findall(r"--(listen|gdb)[ =](\S+)", own):
                self.wait_for(self.place(folder + ("/control.sock" if option == "listen" else "")), job)
        return status, [self.as_read(line) for line in printed]

    def answer(self, command: str) -> tuple[int | None, list[str]]:
        """Status and printed lines of a command of the shell."""
        try:
            self.process.stdin.write(f"{command}; printf '\\n===status %s\\n' $?\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            self.has_ended = True
            return None, []
        printed, status = self.read()
        return status, printed

    def failed_jobs(self) -> list[tuple[Job, str]]:
        """Jobs that ended with a status other than 0, except by a signal of the page, with what is wrong."""
        found = []
        for job in self.jobs if not self.has_ended else ():
            if is_running(job.process):
                continue
            status, printed = self.answer(f"wait {job.process} 2>&1")
            if status and status not in ENDED and "not a child" not in "".join(printed):  # that the page waited for
                text = job.log.read_text(errors="replace").splitlines()[-20:]
                found.append((job, f"'{job.command}' ended with status {status}:\n" + "\n".join(map(self.as_read, text))))
        return found

    def as_read(self, line: str) -> str:
        """The line with the names of files that the reader has."""
        for name, to in (
            (f"{self.folder}/tmp/", "/tmp/"),
            (f"{self.folder}/home", "~"),
            (f"{self.tree.build.parent}/", ""),
        ):
            line = line.replace(name, to)
        return line

    def read(self) -> tuple[list[str], int | None]:
        """Lines up to the status of the command, and the status; None when the shell ended or the time is over."""
        output = self.process.stdout
        data = b""
        while (left := self.end - time.monotonic()) > 0 and select.select([output], [], [], left)[0]:
            more = os.read(output.fileno(), 65536)
            data += more
            ended = re.search(rb"\n===status (\d+)\n$", data)
            if ended or not more:
                self.has_ended = not ended
                lines = data[: ended.start() if ended else None].decode(errors="replace").rstrip("\n").split("\n")
                return ([] if lines == [""] else lines), int(ended[1]) if ended else None
        self.has_ended = self.is_late = True
        return data.decode(errors="replace").split("\n"), None

    def wait_for(self, file: pathlib.Path, job: Job) -> None:
        """Waits for a socket that a job makes."""
        if file.suffix != ".sock":  # a port
            return
        end = time.monotonic() + SOCKET_LIMIT
        while not file.exists() and is_running(job.process) and time.monotonic() < end:
            time.sleep(0.01)


def is_running(process: int) -> bool:
    """Whether a child of the shell runs; the shell collects those that ended."""
    return pathlib.Path(f"/proc/{process}").exists()
