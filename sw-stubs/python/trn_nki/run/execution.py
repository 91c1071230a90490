# SPDX-License-Identifier: Apache-2.0
"""Assembles a compiled kernel and runs it by trnctl, which loads it through the driver stub."""
from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
from typing import Any

import numpy

from trn_nki.checks.collectives import COLLECTIVES, refusal
from trn_nki.compile import Compiled
from trn_nki.diagnostics.places import shown
from trn_nki.diagnostics.tracebacks import ReportedError
from trn_nki.run import boards
from trn_nki.run.tools import tool
from trn_nki.trace import host_arrays
from trn_nki.trace.instructions import instructions_of
from trn_nki.values import generations

USER_ERROR = 2  # exit status of trnctl and trn-asm for invalid input
_GATHERED = {"nc_n_gather": "data", "local_gather": "src_buffer"}  # argument whose elements an index tile names
_INDEX_ERRORS = ("INDIRECT_OOB", "OUT_OF_BOUNDS")  # of engines (doc/spec/neuron-core.md, 10.1)
ORDER_RULES = ("TRN-SEM-001", "TRN-NC-002", "TRN-NC-003")  # doc/rules.md: wraps, races, PSUM collisions


_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


class RunError(ReportedError):
    """A kernel did not run to its end. The message is trnctl's; `status`: exit status for a command.

    `reason`: one line, without lines of the log that precede it in the message.
    """

    def __init__(self, message: str, status: int = 1, reason: str | None = None):
        super().__init__(message)
        self.status = status
        self.reason = reason or message.partition("\n")[0]


@dataclasses.dataclass
class Options:
    """Where a kernel runs: a board that lives for the call, or a running platform."""

    board: str | None = None  # None: a chip of the target generation
    connect: str | None = None
    chip: str | None = None
    core: int = 0
    limit_ns: int = 100_000_000
    timing: str | None = None
    trace: str | None = None  # file of the platform's event trace
    wall_seconds: float = 600.0
    find_races: bool = True  # only on a board started for the call; a running platform has its own policy

    def __post_init__(self) -> None:
        self.board = self.board or boards.DEFAULT_BOARDS[generations.target().number]
        boards.check(self.board)


@dataclasses.dataclass
class Outcome:
    outputs: list[host_arrays.HostArray]  # results in the kernel's order
    inputs: dict[str, host_arrays.HostArray]  # arguments that the kernel wrote
    simulated_us: float


def assemble(compiled: Compiled, target: str | os.PathLike[str], text: str | os.PathLike[str] | None = None) -> None:
    """Writes the program set, and its text if requested. Raises RunError when trn-asm refuses the text."""
    with tempfile.TemporaryDirectory(prefix="trn-nki-") as folder:
        source = pathlib.Path(text or pathlib.Path(folder) / "kernel.trn")
        source.write_text(compiled.text)
        errors = pathlib.Path(folder) / "errors.json"
        try:
            _call([tool("trn-asm"), str(source), "-o", os.fspath(target), "--diagnostics", str(errors)], 300.0)
        except RunError as error:
            raise RunError(_refusal(errors) or str(error), error.status) from None


def execute(compiled: Compiled, options: Options) -> Outcome:
    """Raises RunError, and KernelError for a kernel that needs several chips."""
    if compiled.collectives:
        first = next(call for call in instructions_of(compiled.recording.cores[0].body) if call.operation in COLLECTIVES)
        raise refusal(first, "needs the other chips, and this call runs on one")
    arrays = {array.name: (storage, array) for storage, array in compiled.arrays}
    with tempfile.TemporaryDirectory(prefix="trn-nki-") as name:
        folder = pathlib.Path(name)
        assemble(compiled, folder / "set")
        command = [tool("trnctl"), *_platform(options), "--json"]
        if options.chip is not None:
            command += ["--chip", options.chip]
        command += ["program", "run", str(folder / "set"), "--core", str(options.core), "--limit", str(options.limit_ns)]
        command += ["--report", str(folder / "report.json")]
        for key, (storage, array) in arrays.items():
            if array.role in ("in", "inout"):
                (folder / f"{key}.in").write_bytes(numpy.ascontiguousarray(_data(storage)).tobytes())
                command += ["--in", f"{key}={folder / key}.in"]
            if array.role in ("out", "inout"):
                command += ["--out", f"{key}={folder / key}.out"]
        try:
            result = _call(command, options.wall_seconds)
        except RunError as error:
            report = _report(folder / "report.json")
            reason = f"trnctl: {report['error']}".partition("\n")[0] if "error" in report else None
            raise RunError(str(error) + _indices_of(report.get("failure"), compiled.recording), error.status, reason) from None
        _check_rules(_report(folder / "report.json")["misuse"])
        found = {}
        for key, (storage, array) in arrays.items():
            if array.role in ("out", "inout"):
                raw: numpy.ndarray = numpy.frombuffer((folder / f"{key}.out").read_bytes(), host_arrays.raw_type(storage.dtype))
                found[storage] = host_arrays.HostArray(raw.reshape(storage.shape), storage.dtype)
    written = {name: found[tensor.storage] for name, tensor in compiled.recording.inputs if tensor.storage in found}
    for tensor in compiled.recording.outputs:  # arguments and constants that the kernel returns unchanged
        if tensor.storage not in found:
            found[tensor.storage] = host_arrays.HostArray(_data(tensor.storage), tensor.storage.dtype)
    outputs = [_viewed(found[tensor.storage], tensor) for tensor in compiled.recording.outputs]
    return Outcome(outputs, written, _simulated(result))


def _refusal(errors: pathlib.Path) -> str:
    """The first error of trn-asm, with the line of the kernel that the refused line comes from; "" without such a line."""
    lines = errors.read_text().splitlines() if errors.exists() else []
    if not lines:
        return ""
    first = json.loads(lines[0])
    if "line" not in first:
        return first["message"]
    if "origin" not in first:
        return ""
    origin = first["origin"]
    return f"{shown(origin['file'])}:{origin['line']}: {first['code']} {first['message']}\n    {first['excerpt'].strip()}"


def _report(file: pathlib.Path) -> dict[str, Any]:
    """What trnctl wrote; empty when it ended before the run."""
    return json.loads(file.read_text()) if file.exists() else {}


def _indices_of(failure: dict[str, Any] | None, recording: Any) -> str:
    """For an instruction that failed by an index: the tensors of its line with their ranges of the index."""
    if failure is None or failure["error"] not in _INDEX_ERRORS:
        return ""
    ranges: dict[str, None] = {}
    for core in recording.cores:
        for call in instructions_of(core.body):
            if (call.place.file, call.place.line) != (failure.get("file"), failure.get("line")):
                continue
            limits = [(view, view.max_index()) for view in call.reads + call.writes if view.indirection is not None]
            if call.operation in _GATHERED:
                table = call.arguments[_GATHERED[call.operation]]
                limits.append((table, table.free_size - call.arguments.get("num_elem_per_idx", 1)))
            ranges |= {f"\n    the index of {view!r} must be 0 to {highest}": None for view, highest in limits}
    return "".join(ranges)


def _platform(options: Options) -> list[str]:
    if options.connect is not None:
        return ["--connect", options.connect]
    rules = ["--misuse", "log:tile-race,psum-collision"] if options.find_races else []
    assert options.board is not None
    named = [("--timing", options.timing), ("--trace", options.trace)]
    return ["--board", options.board, *rules, *(word for name, value in named if value for word in (name, value))]


def _data(storage: Any) -> Any:
    return getattr(storage.data, "raw", storage.data)


def _viewed(array: host_arrays.HostArray, tensor: Any) -> host_arrays.HostArray:
    """The elements of a result, which may be a view of its storage."""
    if tensor.is_whole():
        return array
    flat: numpy.ndarray = array.raw.reshape(-1).view(host_arrays.raw_type(tensor.dtype))
    size = flat.itemsize
    made = numpy.lib.stride_tricks.as_strided(flat[tensor.offset :], tensor.shape, [step * size for step in tensor.strides])
    return host_arrays.HostArray(made.copy(), tensor.dtype)


def _simulated(output: str) -> float:
    for line in output.splitlines():
        try:
            values = json.loads(line)
        except ValueError:
            continue
        if "simulated_us" in values:
            return float(values["simulated_us"])
    raise RunError(f"trnctl did not say how long the kernel ran: {output.strip()}")


def _call(command: list[str], seconds: float) -> str:
    parent = os.getpid()

    def end_with_parent() -> None:  # in the child: the kernel kills it when this process ends for any reason
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False, preexec_fn=end_with_parent)
    except subprocess.TimeoutExpired:
        raise RunError(f"{pathlib.Path(command[0]).name} took longer than {seconds:g} s and was ended") from None
    if done.returncode != 0:
        text = done.stderr.strip() or done.stdout.strip() or f"{command[0]} ended with status {done.returncode}"
        raise RunError(shown(text), USER_ERROR if done.returncode == USER_ERROR else 1)
    return done.stdout


def _check_rules(broken: list[dict[str, Any]]) -> None:
    """Races are errors of the compiler and fail the run; other broken rules are the kernel's and are printed."""
    lines = [violation["line"] for violation in broken]
    if any(violation["rule"] in ORDER_RULES for violation in broken):
        raise RunError("the compiled program lacks an order between engines:\n" + "\n".join(map(shown, lines)))
    for line in lines:
        print(shown(line), file=sys.stderr)
