# SPDX-License-Identifier: Apache-2.0
"""The tests as CTest lists them, each started directly: CTest itself reads its whole list at each start."""
import dataclasses
import json
import math
import os
import pathlib
import re
import resource
import signal
import subprocess
import tempfile
import threading
import time

LEFT_OUT = {"guest", "nightly"}
KNOWN = {
    "ENVIRONMENT",
    "WORKING_DIRECTORY",
    "TIMEOUT",
    "LABELS",
    "RESOURCE_LOCK",
    "COST",
    "PASS_REGULAR_EXPRESSION",
    "SKIP_RETURN_CODE",
    "SKIP_REGULAR_EXPRESSION",
    "DEPENDS",
    "RUN_SERIAL",
    "REQUIRED_FILES",
    "PROCESSORS",
}
PLACES = 4096
MEMORY = 6 << 30  # of all processes of a test
OUTPUT = 256 << 20


@dataclasses.dataclass
class test:
    name: str
    command: list[str]
    folder: str
    environment: dict[str, str]
    labels: set[str]
    locks: set[str]
    passes: list[str]
    skip_status: int | None

    @property
    def is_unit(self) -> bool:
        return any(label.split(".")[0] == "unit" for label in self.labels)


@dataclasses.dataclass
class outcome:
    passed: bool
    why: str  # of a failure
    seconds: float  # of processor time
    wall: float
    reached: list[int]


def listed(build: pathlib.Path) -> list[test]:
    """Tests of the build without those of labels LEFT_OUT and without disabled ones."""
    printed = subprocess.run(
        ["ctest", "--preset", "default", "--show-only=json-v1"], cwd=build.parent, capture_output=True, text=True, check=True
    ).stdout
    environment = preset_environment(build.parent / "CMakePresets.json")
    return [one for one in (read(entry, environment) for entry in json.loads(printed)["tests"]) if one]


def preset_environment(presets: pathlib.Path) -> dict[str, str]:
    found = {}
    for one in json.loads(presets.read_text())["testPresets"]:
        if one["name"] in ("base", "default"):
            found |= one.get("environment", {})
    return found


def read(entry: dict, environment: dict[str, str]) -> test | None:
    values = {one["name"]: one["value"] for one in entry.get("properties", [])}
    labels = set(values.get("LABELS", []))
    if entry["name"].endswith("_NOT_BUILT") or labels & LEFT_OUT or values.get("DISABLED") or "command" not in entry:
        return None
    unknown = set(values) - KNOWN
    if unknown:
        raise ValueError(f"test {entry['name']} has the property {', '.join(sorted(unknown))}, which ./dev mutate does not know")
    own = dict(word.split("=", 1) for word in values.get("ENVIRONMENT", []))
    return test(
        entry["name"],
        entry["command"],
        values.get("WORKING_DIRECTORY", "."),
        environment | own,
        labels,
        set(values.get("RESOURCE_LOCK", [])),
        values.get("PASS_REGULAR_EXPRESSION", []),
        values.get("SKIP_RETURN_CODE"),
    )


class runner:
    """Runs one test at a time, in a session and a folder for temporary files of its own."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="trn-mutate-", ignore_cleanup_errors=True)
        self.places = pathlib.Path(self.folder.name) / "places"
        self.places.write_bytes(bytes(PLACES))

    def close(self) -> None:
        self.folder.cleanup()

    def run(self, one: test, mutation: int, limit: float, wall: float) -> outcome:
        """`limit`: seconds of processor time of each process, at most those that this process may set."""
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        if most != resource.RLIM_INFINITY:
            limit = min(limit, most)
        with tempfile.TemporaryDirectory(dir=self.folder.name, ignore_cleanup_errors=True) as scratch:
            self.places.write_bytes(bytes(PLACES))
            seconds = str(math.ceil(limit))
            environment = dict(
                os.environ, **one.environment, TMPDIR=scratch, TRN_MUTATION=str(mutation), TRN_MUTATION_PLACES=str(self.places)
            )
            if "TRNVP_TEST_SECONDS" in one.environment:
                environment["TRNVP_TEST_SECONDS"] = seconds
            command = [f"--cpu={seconds}" if word.startswith("--cpu=") else word for word in one.command]
            with open(pathlib.Path(scratch) / "output", "w+b") as output:
                started = time.monotonic()
                process = subprocess.Popen(
                    command,
                    cwd=one.folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                watch = watchdog(process.pid, wall, output.fileno())
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                stopped = watch.end()
                output.seek(0)
                why = stopped or failure(one, process.returncode, output.read(1 << 20))
                if why:
                    kill_session(process.pid)  # what the test left
            reached = [number for number, byte in enumerate(self.places.read_bytes()) if byte]
            return outcome(not why, why, used.ru_utime + used.ru_stime, time.monotonic() - started, reached)


def failure(one: test, status: int, output: bytes) -> str:
    """Why a test that ended has failed, empty if it passed."""
    if one.skip_status is not None and status == one.skip_status:
        return ""
    if one.passes:
        found = any(re.search(wanted, output.decode(errors="replace"), re.S) for wanted in one.passes)
        return "" if found else "output"
    if status == 0:
        return ""
    if status in (-signal.SIGXCPU, -signal.SIGKILL, 128 + signal.SIGXCPU):
        return "time limit"
    return f"status {status}"


class watchdog:
    """Kills a session after a time, or when it uses too much memory or prints too much."""

    def __init__(self, session: int, wall: float, output: int) -> None:
        self.session = session
        self.output = output
        self.deadline = time.monotonic() + wall
        self.stopped = ""
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self) -> None:
        while not self.ended.wait(0.25):
            if time.monotonic() > self.deadline:
                self.stop("time limit")
            elif memory_of(self.session) > MEMORY:
                self.stop("memory limit")
            elif os.fstat(self.output).st_size > OUTPUT:
                self.stop("output limit")

    def stop(self, why: str) -> None:
        self.stopped = why
        kill_session(self.session)

    def end(self) -> str:
        self.ended.set()
        self.thread.join()
        return self.stopped


def members(session: int) -> list[int]:
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                fields = pathlib.Path(entry.path, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session:
                found.append(int(entry.name))
    return found


def memory_of(session: int) -> int:
    """Resident bytes of all processes of a session; memory that they share counts for each."""
    total = 0
    for process in members(session):
        try:
            total += int(pathlib.Path("/proc", str(process), "statm").read_text().split()[1])
        except OSError:
            continue
    return total * resource.getpagesize()


def kill_session(session: int) -> None:
    for process in members(session):
        try:
            os.kill(process, signal.SIGKILL)
        except OSError:
            continue
