# SPDX-License-Identifier: Apache-2.0
"""Compiles the kernel of a scenario's step `kernel`, and makes its inputs and expected results.

`trnvp test` calls it while it reads the scenario, as `trn-nki prepare FOLDER`. Input: FOLDER/request.json. Output:
the program set FOLDER/set, FOLDER/answer.json, and the files of arrays that it names.
"""
from __future__ import annotations

import ast
import json
import os
import pathlib
from typing import Any

import numpy

from trn_nki import simulate
from trn_nki.compile import compile_recording
from trn_nki.diagnostics.errors import closest
from trn_nki.run import made_arrays
from trn_nki.run.boards import generation_of
from trn_nki.run.execution import assemble
from trn_nki.run.functions import function_of
from trn_nki.trace import host_arrays, record_kernel
from trn_nki.values import data_types

LAST_NUMBER = data_types.uint32.code  # last type that trnvp handles as numbers


def prepare(folder: str | os.PathLike[str]) -> None:
    """Raises KernelError, ValueError, OSError, RunError for errors in the kernel and in the step."""
    target = pathlib.Path(folder)
    request = json.loads((target / "request.json").read_text())
    step = _Step(request)
    written = _Files(target)
    programs: dict[str, _Program] = {}
    answer = []
    for chip, core in request["instances"]:
        known = step.instance(chip, core)
        key = step.program_key(known)
        if key not in programs:
            programs[key] = _Program(step, known, target / f"set{len(programs)}")
        program = programs[key]
        answer.append({"set": program.set.name, "in": _inputs(known, program, written),
                       "check": _expected(step, known, program, written)})
    (target / "answer.json").write_text(json.dumps({"instances": answer, "collectives": _collectives(step, programs)}))


class _Program:
    """The kernel, compiled for instances with equal arguments. Its results are checked by the step's names."""

    def __init__(self, step: "_Step", known: dict[str, Any], target: pathlib.Path):
        self.set = target
        self.recording = step.record(known)
        self.compiled = compile_recording(self.recording)
        self.core, self.chip = known["core"], known["chip"]
        if self.compiled.collectives and self.compiled.ranks != len(step.instances):
            ranks = self.compiled.ranks
            raise ValueError(f"the kernel's collectives are over {ranks} ranks: add the key 'chips: {ranks}'")
        assemble(self.compiled, target)
        self.names = {storage: array.name for storage, array in self.compiled.arrays}
        self.results = _results(self.recording, self.names)
        step.check_names(self.results)


def _collectives(step: "_Step", programs: dict[str, _Program]) -> list[str]:
    """All ranks take part in each collective, so all programs must start the same ones."""
    first, *others = programs.values()
    for other in others:
        if other.compiled.collectives != first.compiled.collectives:
            raise ValueError(f"with the arguments of chip {other.chip} the kernel starts other collectives than with those of chip "
                             f"{first.chip}")
    return first.compiled.collectives


class _Step:
    """The step's fields, with {chip} and {core} replaced."""

    def __init__(self, request: dict[str, Any]):
        self.folder, self.seed, self.lnc = request["folder"], request["seed"], request["lnc"]
        self.instances = request["instances"]
        self.chips = 1 + max(chip for chip, _ in self.instances)
        self.inputs, self.values, self.check = request["in"], request["arg"], request["check"]
        self.is_exact = request["exact"]
        self.function = function_of(request["kernel"], self.folder)
        self.generation = request["generation"] or generation_of(request["board"])
        if self.generation is None:
            raise ValueError(f"the name of board '{request['board']}' does not say its generation: add the key 'generation'")
        self._made: dict[tuple[str, str], dict[str, Any]] = {}
        self._simulated: dict[str, dict[str, host_arrays.HostArray]] = {}

    def instance(self, chip: int, core: int) -> dict[str, Any]:
        """Values for parameters of users' functions: chip, core, chips, seed, and the kernel's arguments as arrays and values."""
        known: dict[str, Any] = {"chip": chip, "core": core, "chips": self.chips, "seed": self.seed}
        known["arrays"] = {name: self._array(text, name, known) for name, text in self.inputs.items()}
        for name, array in known["arrays"].items():
            known.setdefault(name, made_arrays.numbers(array))
        for name, text in self.values.items():
            try:
                known[name] = ast.literal_eval(self.replaced(text, known))
            except (ValueError, SyntaxError, TypeError):
                raise ValueError(f"arg: {name}: {text}: expected a value as Python writes it") from None
        return known

    def _array(self, text: str, name: str, known: dict[str, Any]) -> host_arrays.HostArray:
        key = self.replaced(text, known) + (str((known["chip"], known["core"])) if made_arrays.is_function(text) else "")
        made = self._made.setdefault((name, key), {})
        if "array" not in made:
            plain = {one: known[one] for one in ("chip", "core", "chips", "seed")}
            made["array"] = made_arrays.made(self.replaced(text, known), name, self.folder, plain)
        return made["array"]

    @staticmethod
    def replaced(text: str, known: dict[str, Any]) -> str:
        return text.replace("{chip}", str(known["chip"])).replace("{core}", str(known["core"]))

    def record(self, known: dict[str, Any]) -> Any:
        values = known["arrays"] | {name: known[name] for name in self.values}
        return record_kernel(self.function, (), values, generation=self.generation, lnc=self.lnc)

    def program_key(self, known: dict[str, Any]) -> str:
        """Equal for instances that run the same program: it depends on the values and on the arrays' types and shapes."""
        arrays = [(name, str(array.dtype), array.shape) for name, array in known["arrays"].items()]
        return repr((arrays, [(name, known[name]) for name in self.values]))

    def check_names(self, results: dict[str, Any]) -> None:
        for name in self.check:
            if name not in results:
                raise ValueError(f"check: the kernel has no result '{name}'{closest(name, results)}; "
                                 f"it has {', '.join(results) or 'none'}")

    def simulated(self, known: dict[str, Any], name: str) -> host_arrays.HostArray:
        """A result, or an argument after the run."""
        key = self.program_key(known) + str([id(array) for array in known["arrays"].values()])
        if key not in self._simulated:
            recording = self.record(known)
            tensors = {f"result{number}": tensor for number, tensor in enumerate(recording.outputs)}
            tensors = dict(recording.inputs) | tensors
            self._simulated[key] = dict(zip(tensors, simulate.execute(recording, list(tensors.values()))))
        return self._simulated[key][name]


def _results(recording: Any, names: dict[Any, str]) -> dict[str, tuple[Any, str]]:
    """Tensor and array of each result: result0, result1, ..., and of each argument that the kernel uses."""
    found: dict[str, tuple[Any, str]] = {}
    for number, tensor in enumerate(recording.outputs):
        storage = tensor.storage
        if not tensor.is_whole():
            raise ValueError(f"result {number} is a view of a tensor; the kernel must return the tensor")
        found[f"result{number}"] = (tensor, names[storage])
    for name, tensor in recording.inputs:
        if tensor.storage in names:
            found.setdefault(name, (tensor, names[tensor.storage]))
    return found


def _inputs(known: dict[str, Any], program: _Program, written: "_Files") -> list[Any]:
    given, names = dict(known["arrays"]), program.names
    entries = [{"tensor": names[tensor.storage], "file": written.of(given[name].raw)}
               for name, tensor in program.recording.inputs if tensor.storage in names and name in given]
    mine = {entry["tensor"] for entry in entries}
    for storage, name in names.items():  # constants of the kernel
        if name not in mine and storage.role == "constant":
            entries.append({"tensor": name, "file": written.of(getattr(storage.data, "raw", storage.data))})
    return entries


def _expected(step: _Step, known: dict[str, Any], program: _Program, written: "_Files") -> list[Any]:
    entries = []
    for name, text in step.check.items():
        tensor, array = program.results[name]
        entry = {"result": name, "tensor": array}
        text = step.replaced(text, known)
        if text.startswith("digest(") and text.endswith(")"):
            entry["digest"] = text[len("digest("):-1]
        elif text == "simulate":
            entry["file"] = written.of(step.simulated(known, name).raw)
        else:
            entry |= _given(step, known, name, text, tensor, written)
        entries.append(entry)
    return entries


def _given(step: _Step, known: dict[str, Any], name: str, text: str, tensor: Any, written: "_Files") -> dict[str, Any]:
    """Values of a file, of a function, or of a text without its type and shape. Exact numbers stay FP64."""
    shape, dtype = tuple(tensor.shape), tensor.dtype
    if made_arrays.is_function(text):
        value = made_arrays.called(text, step.folder, known)
        if isinstance(value, (tuple, list)):
            index = int(name[len("result"):]) if name.startswith("result") else 0
            if index >= len(value):
                raise ValueError(f"{text} returned {len(value)} arrays: none for {name}")
            value = value[index]
        is_real = isinstance(value, numpy.ndarray) and value.dtype.kind == "f" and dtype.code <= LAST_NUMBER
        if is_real and not step.is_exact:
            _check_shape(value.shape, shape, text, name)
            return {"file": written.of(value.astype(numpy.float64)), "numbers": True}
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
    return {"file": written.of(array.raw)}


def _check_shape(found: Any, shape: tuple[int, ...], text: str, name: str) -> None:
    if tuple(found) != shape:
        raise ValueError(f"{text} has the shape {list(found)}, {name} has {list(shape)}")


class _Files:
    """Files of arrays; equal arrays share one."""

    def __init__(self, folder: pathlib.Path):
        self._folder, self._known = folder, {}

    def of(self, raw: numpy.ndarray) -> str:
        data = numpy.ascontiguousarray(raw).tobytes()
        name = self._known.setdefault(data, f"{len(self._known)}.bin")
        path = self._folder / name
        if not path.exists():
            path.write_bytes(data)
        return name
