# SPDX-License-Identifier: Apache-2.0
"""Compiles the kernel of a scenario's step `kernel`, and makes its inputs and expected results.

`trnvp test` calls it while it reads the scenario, as `trn-nki prepare FOLDER`. Input: FOLDER/request.json. Output:
FOLDER/answer.json, and the program sets and files of arrays that it names.
"""
from __future__ import annotations

import ast
import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import pickle
import time
import warnings
from typing import TYPE_CHECKING, Any, Iterator

import numpy

from trn_nki import simulate
from trn_nki.compile import Compiled, compile_recording
from trn_nki.diagnostics.errors import KernelError, KernelWarning, closest
from trn_nki.run import made_arrays
from trn_nki.run.boards import generation_of
from trn_nki.run.execution import RunError, assemble
from trn_nki.run.functions import function_of
from trn_nki.run.input_files import InputFiles
from trn_nki.trace import Recording, host_arrays, record_kernel
from trn_nki.values import data_types

if TYPE_CHECKING:
    import numpy.typing as npt

LAST_NUMBER = data_types.uint32.code  # last type that trnvp handles as numbers


MAX_SECONDS, MAX_BYTES = 30.0, 256 << 20  # of all seeds together; the runs of further seeds prepare their own
ERRORS = (KernelError, ValueError, OSError, RunError)  # in the kernel and in the step


def prepare(folder: str | os.PathLike[str]) -> None:
    """Raises `ERRORS` for an error that does not depend on the seed."""
    target = pathlib.Path(folder)
    request = json.loads((target / "request.json").read_text())
    read = InputFiles(folder)
    function_of(request["kernel"], request["folder"])
    seeds = request["seeds"]
    programs: dict[str, _Program] = {}
    if len(seeds) == 1:
        answer = [_prepared(request, seeds[0], target, programs, read)]
    else:
        answer = _prepared_seeds(request, target, programs, read)
    (target / "answer.json").write_text(json.dumps(answer))


def _prepared_seeds(request: dict[str, Any], target: pathlib.Path, programs: dict[str, "_Program"], read: InputFiles) -> list[Any]:
    """Each seed in a process of its own, so that no seed's functions find what those of another seed left in their modules."""
    answers: list[Any] = []
    end = time.monotonic() + MAX_SECONDS
    for seed in request["seeds"]:
        end_file = target / f"{seed}.end"
        if (process := os.fork()) == 0:
            status = 1
            try:
                answer = _prepared(request, seed, target, programs, read)
                end_file.write_bytes(pickle.dumps((answer, programs)))
                status = 0
            finally:
                os._exit(status)  # pylint: disable=protected-access
        if os.waitpid(process, 0)[1] == 0:
            answer, programs = pickle.loads(end_file.read_bytes())
            answers.append(answer)
        if time.monotonic() > end or sum(file.stat().st_size for file in target.glob("*.bin")) > MAX_BYTES:
            break
    return answers


def _prepared(
    request: dict[str, Any], seed: int, target: pathlib.Path, programs: dict[str, "_Program"], read: InputFiles
) -> dict[str, Any]:
    """The answer for one seed, its arrays in `target`. Adds the programs that it compiles to `programs`."""
    answer: dict[str, Any] = {"seed": seed}
    try:
        answer |= _instances(request, seed, target, programs, read)
    except ERRORS as error:
        answer["error"] = str(error)
        if isinstance(error, OSError) and error.filename:
            answer["error"] = f"{error.filename}: {error.strerror}"
    return answer


def _instances(
    request: dict[str, Any], seed: int, target: pathlib.Path, programs: dict[str, "_Program"], read: InputFiles
) -> dict[str, Any]:
    step = _Step(request, seed)
    written = _Files(target)
    used: dict[str, tuple[int, _Program]] = {}  # with the first chip that runs it
    answer = []
    for chip, core in request["instances"]:
        instance = step.instance(chip, core)
        key = step.program_key(instance)
        if key not in programs:
            programs[key] = _compiled(step, instance, target / f"{seed}.{len(used)}.set", written)
            programs[key].files = read.files()
        program = used.setdefault(key, (chip, programs[key]))[1]
        step.check_names(program.results)
        inputs, checks = _inputs(instance, program, written), _expected(step, instance, program, written)
        answer.append({"set": program.set.name, "in": inputs, "check": checks})
    files = {file for _, program in used.values() for file in program.files}
    warned = dict.fromkeys(line for _, program in used.values() for line in program.warnings)
    return {
        "instances": answer,
        "collectives": _collectives(list(used.values())),
        "files": sorted(files.union(read.files())),
        "warnings": list(warned),
    }


@contextlib.contextmanager
def _of_key(key: str) -> Iterator[None]:
    """Adds the key of the step to the messages of mistakes in its value; KernelErrors have a place."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None


@dataclasses.dataclass
class _Result:
    """A tensor of the step's key `check`."""

    array: str  # its name in the program
    shape: tuple[int, ...]
    dtype: str


@dataclasses.dataclass
class _Program:
    """The kernel, compiled for instances and seeds with equal arguments."""

    set: pathlib.Path
    collectives: list[str]
    arguments: list[tuple[str, str]]  # name, array of the program
    constants: list[tuple[str, str]]  # array of the program, file with its content
    results: dict[str, _Result]
    warnings: list[str] = dataclasses.field(default_factory=list)  # of the compiler, with their places
    files: list[str] = dataclasses.field(default_factory=list)  # read until it was compiled


def _compiled(step: "_Step", instance: "_Instance", target: pathlib.Path, written: "_Files") -> _Program:
    with warnings.catch_warnings(record=True) as found:
        recording = step.record(instance)
        compiled = compile_recording(recording)
    if compiled.collectives and compiled.ranks != len(step.instances):
        ranks = compiled.ranks
        raise ValueError(
            f"the kernel's collectives are over {ranks} ranks and the step runs it {len(step.instances)} times: write "
            f"'chips: {ranks}', on one core of each chip"
        )
    assemble(compiled, target)
    names = {storage: array.name for storage, array in compiled.arrays}
    arguments = [(name, names[tensor.storage]) for name, tensor in recording.inputs if tensor.storage in names and name in instance.arrays]
    given = {array for _, array in arguments}
    constants = [
        (name, written.name_of(storage.data))
        for storage, name in names.items()
        if name not in given and storage.role == "constant" and storage.data is not None
    ]
    return _Program(
        target,
        compiled.collectives,
        arguments,
        constants,
        _results(compiled),
        [
            f"{step.name_of(warning.filename)}:{warning.lineno}: KernelWarning: {warning.message}"
            for warning in found
            if warning.category is KernelWarning
        ],
    )


def _collectives(programs: list[tuple[int, _Program]]) -> list[str]:
    """All ranks take part in each collective, so all programs must start the same ones."""
    (first_chip, first), *others = programs
    for chip, other in others:
        if other.collectives != first.collectives:
            raise ValueError(f"with the arguments of chip {chip} the kernel starts other collectives than with those of chip {first_chip}")
    return first.collectives


@dataclasses.dataclass
class _Input:
    """An argument that is an array."""

    array: host_arrays.HostArray
    numbers: Any  # for users' functions (made_arrays.numbers)


@dataclasses.dataclass
class _Instance:
    """A run of the kernel on one core."""

    arrays: dict[str, host_arrays.HostArray]  # by argument
    known: dict[str, Any]  # values for parameters of users' functions: chip, core, chips, seed, and the kernel's arguments


class _Step:
    """The step's fields, with {chip} and {core} replaced."""

    def __init__(self, request: dict[str, Any], seed: int):
        self.folder, self.seed, self.lnc = request["folder"], seed, request["lnc"]
        self.instances = request["instances"]
        self.chips = 1 + max(chip for chip, _ in self.instances)
        self.inputs, self.values, self.check = request["in"], request["arg"], request["check"]
        self.is_exact = request["exact"]
        self.function = function_of(request["kernel"], self.folder)
        self.generation = request["generation"] or generation_of(request["board"])
        if self.generation is None:
            raise ValueError(f"the name of board '{request['board']}' does not say its generation: add the key 'generation'")
        self._made: dict[tuple[Any, ...], _Input] = {}
        self._called: dict[tuple[Any, ...], Any] = {}
        self._simulated: dict[str, dict[str, host_arrays.HostArray]] = {}

    def instance(self, chip: int, core: int) -> _Instance:
        known: dict[str, Any] = {"chip": chip, "core": core, "chips": self.chips, "seed": self.seed}
        inputs = {}
        for name, text in self.inputs.items():
            with _of_key(f"in: {name}"):
                inputs[name] = self._input(text, name, known)
        arrays = known["arrays"] = {name: argument.array for name, argument in inputs.items()}
        for name, argument in inputs.items():
            known.setdefault(name, argument.numbers)
        for name, text in self.values.items():
            try:
                known[name] = ast.literal_eval(self.replaced(text, known))
            except (ValueError, SyntaxError, TypeError):
                raise ValueError(f"arg: {name}: {text}: expected a value as Python writes it") from None
        return _Instance(arrays, known)

    def _input(self, text: str, name: str, known: dict[str, Any]) -> _Input:
        """The array of an input, and its numbers for users' functions. A function is called once for equal parameters."""
        text = self.replaced(text, known)
        key = (name, text) + tuple(made_arrays.parameters(text, self.folder, known).values())
        if key not in self._made:
            array = made_arrays.made(text, name, self.folder, known)
            self._made[key] = _Input(array, made_arrays.numbers(array))
        return self._made[key]

    def called(self, text: str, known: dict[str, Any]) -> Any:
        """The result of a user's function, called once for equal parameters: arrays that instances share are equal. The function
        may change its arrays."""
        values = made_arrays.parameters(text, self.folder, known)
        literals = {*self.values, "chip", "core", "chips", "seed"}
        key = (text, *((name, repr(value) if name in literals else id(value)) for name, value in values.items()))
        if key not in self._called:  # with the values, whose ids must not be used again
            mine = {name: value.copy() if isinstance(value, numpy.ndarray) else value for name, value in values.items()}
            self._called[key] = values, made_arrays.called(text, self.folder, mine)
        return self._called[key][1]

    def name_of(self, file: str) -> str:
        """The name of a file in reports, which do not depend on where the scenario's folder is."""
        folder, path = pathlib.Path(self.folder).resolve(), pathlib.Path(file)
        return os.fspath(path.relative_to(folder)) if path.is_relative_to(folder) else file

    @staticmethod
    def replaced(text: str, known: dict[str, Any]) -> str:
        return text.replace("{chip}", str(known["chip"])).replace("{core}", str(known["core"]))

    def record(self, instance: _Instance) -> Recording:
        values = instance.arrays | {name: instance.known[name] for name in self.values}
        return record_kernel(self.function, (), values, generation=self.generation, lnc=self.lnc)

    def program_key(self, instance: _Instance) -> str:
        """Equal for instances that run the same program: it depends on the values and on the arrays' types and shapes."""
        arrays = [(name, str(array.dtype), array.shape) for name, array in instance.arrays.items()]
        return repr((arrays, [(name, instance.known[name]) for name in self.values]))

    def check_names(self, results: dict[str, _Result]) -> None:
        for name in self.check:
            if name not in results:
                raise ValueError(f"check: the kernel has no result '{name}'{closest(name, results)}; it has {', '.join(results) or 'none'}")

    def simulated(self, instance: _Instance, name: str) -> host_arrays.HostArray:
        """A result, or an argument after the run."""
        key = self.program_key(instance) + str([id(array) for array in instance.arrays.values()])
        if key not in self._simulated:
            recording = self.record(instance)
            tensors = {f"result{number}": tensor for number, tensor in enumerate(recording.outputs)}
            tensors = dict(recording.inputs) | tensors
            self._simulated[key] = dict(zip(tensors, simulate.execute(recording, list(tensors.values()))))
        return self._simulated[key][name]


def _results(compiled: Compiled) -> dict[str, _Result]:
    """The results: result0, result1, ..., and each argument that the kernel uses."""
    found: dict[str, _Result] = {}
    names = {storage: array.name for storage, array in compiled.arrays}
    for number, tensor in enumerate(compiled.recording.outputs):
        if not tensor.is_whole():
            raise ValueError(f"result {number} is a view of a tensor; the kernel must return the tensor")
        found[f"result{number}"] = _Result(names[tensor.storage], tuple(tensor.shape), str(tensor.dtype))
    for name, tensor in compiled.recording.inputs:
        if tensor.storage in names:
            found.setdefault(name, _Result(names[tensor.storage], tuple(tensor.shape), str(tensor.dtype)))
    return found


def _inputs(instance: _Instance, program: _Program, written: "_Files") -> list[dict[str, str]]:
    given = [{"tensor": array, "file": written.name_of(instance.arrays[name].raw)} for name, array in program.arguments]
    return given + [{"tensor": array, "file": file} for array, file in program.constants]


def _expected(step: _Step, instance: _Instance, program: _Program, written: "_Files") -> list[dict[str, Any]]:
    entries = []
    for name, text in step.check.items():
        result = program.results[name]
        entry: dict[str, Any] = {"result": name, "tensor": result.array}
        text = step.replaced(text, instance.known)
        if text.startswith("digest(") and text.endswith(")"):
            entry["digest"] = text[len("digest(") : -1]
        elif text == "simulate":
            entry["file"] = written.name_of(step.simulated(instance, name).raw)
        else:
            with _of_key(f"check: {name}"):
                entry |= _given(step, instance.known, name, text, result, written)
        entries.append(entry)
    return entries


def _given(step: _Step, known: dict[str, Any], name: str, text: str, result: _Result, written: "_Files") -> dict[str, Any]:
    """Values of a file, of a function, or of a text without its type and shape. Exact numbers stay FP64."""
    shape, dtype = result.shape, data_types.named(result.dtype)
    if made_arrays.is_function(text):
        value = step.called(text, known)
        if isinstance(value, (tuple, list)):
            index = int(name[len("result") :]) if name.startswith("result") else 0
            if index >= len(value):
                raise ValueError(f"{text} returned {len(value)} arrays: none for {name}")
            value = value[index]
        is_real = isinstance(value, numpy.ndarray) and value.dtype.kind == "f" and dtype.code <= LAST_NUMBER
        if is_real and not step.is_exact:
            _check_shape(value.shape, shape, text, name)
            return {"file": written.name_of(value.astype(numpy.float64)), "numbers": True}
        array = made_arrays.array_of(value, text)
    elif text.split(":")[0].endswith(".npy"):
        array = made_arrays.made(text, name, step.folder, {"seed": step.seed})
    else:
        values = made_arrays.content(text, int(numpy.prod(shape)), name, step.seed)
        array = made_arrays.of_numbers(values.reshape(shape), dtype)
    _check_shape(array.shape, shape, text, name)
    if array.dtype != dtype:
        if not array.dtype.is_float or dtype.is_packed:
            raise ValueError(f"{text} has elements of {array.dtype}, {name} has {dtype}")
        array = made_arrays.of_numbers(made_arrays.numbers(array), dtype)
    return {"file": written.name_of(array.raw)}


def _check_shape(found: tuple[int, ...], shape: tuple[int, ...], text: str, name: str) -> None:
    if found != shape:
        raise ValueError(f"{text} has the shape {list(found)}, {name} has {list(shape)}")


class _Files:
    """Files of arrays; equal arrays, also of several seeds, share one."""

    def __init__(self, folder: pathlib.Path):
        self._folder = folder

    def name_of(self, raw: npt.NDArray[Any]) -> str:
        data = numpy.ascontiguousarray(raw).tobytes()
        path = self._folder / f"{hashlib.sha256(data).hexdigest()}.bin"
        if not path.exists():
            part = path.with_suffix(".part")
            part.write_bytes(data)
            part.replace(path)
        return path.name
