# SPDX-License-Identifier: Apache-2.0
"""trn-nki: compiles, simulates and runs kernels (doc/nki.md)."""
from __future__ import annotations

import argparse
import ast
import os
import pathlib
import re
import signal
import sys
from typing import Any, Callable, NoReturn

import numpy

from trn_nki.compile import Compiled, compile_recording
from trn_nki.diagnostics.errors import EXIT_STATUS, KernelError, closest
from trn_nki.diagnostics.tracebacks import is_end
from trn_nki import manuals, simulate
from trn_nki.profile import command as profile_command
from trn_nki.profile import files_of
from trn_nki.run import Options, RunError, assemble, execute
from trn_nki.run import arrays
from trn_nki.run.execution import Outcome
from trn_nki.run.boards import DEFAULT_BOARDS, generation_of
from trn_nki.run.functions import function_of
from trn_nki.run.input_files import InputFiles
from trn_nki.trace import Recording, host_arrays, record_kernel
from trn_nki.values import generations


_PREPARE = "prepare"
_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


class UserError(Exception):
    """A wrong command line."""


def _end(number: int, _frame: object) -> NoReturn:
    """Ends the program as an exception, so that temporary folders are removed and child processes end."""
    sys.exit(128 + number)


class _Parser(argparse.ArgumentParser):
    """Prints a mistake in one line, with the nearest choice."""

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_STATUS, f"{self.prog}: {message}; see {self.prog} --help\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        known = [choice for choice in action.choices or () if choice != _PREPARE]
        if action.choices is not None and value not in action.choices:
            raise argparse.ArgumentError(
                action, f"no '{value}'{closest(str(value), map(str, known))}  (known: {', '.join(map(str, known))})"
            )


def nanoseconds(text: str) -> int:
    """A number of ns, or a time such as 2.5 us."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *(ns|us|ms|s)", text.strip())
    if found is None and not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is no time: write a number of ns, or '100 us' with ns, us, ms or s")
    time = round(float(found[1]) * _NS[found[2]]) if found else int(text)
    if not 1 <= time < 1 << 64:
        raise argparse.ArgumentTypeError(f"'{text}' is no limit: it is 1 ns to 2^64 - 1 ns")
    return time


def main(words: list[str] | None = None) -> int:
    words = sys.argv[1:] if words is None else words
    if words[:1] == ["--complete"] and len(words) == 2:
        for word, about in manuals.completions(_parser(), words[1]):
            print(f"{word}\t{about}")
        return 0
    if words[:1] == ["--write-manuals"] and len(words) == 3:  # FOLDER VERSION
        try:
            manuals.write(_parser(), pathlib.Path(words[1]), words[2])
        except OSError as error:
            print(f"trn-nki: {error.filename}: {error.strerror}", file=sys.stderr)
            return EXIT_STATUS
        return 0
    options, rest = _parser().parse_known_args(words)
    if rest:
        options.parser.error(f"takes no {' '.join(rest)}")
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:  # under nohup SIGHUP stays ignored
            signal.signal(number, _end)
    try:
        status: int = options.work(options)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:  # the reader has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:
        print(f"trn-nki: {error.filename}: {error.strerror}" if error.filename else f"trn-nki: {error}", file=sys.stderr)
        return EXIT_STATUS
    except (KernelError, UserError, ValueError, *profile_command.ERRORS) as error:
        print(f"trn-nki: {error}", file=sys.stderr)
        return EXIT_STATUS
    except RunError as error:
        print(str(error), file=sys.stderr)
        return error.status
    except Exception as error:
        if is_end(error):  # the user left a debugger
            return 1
        raise


# Lines of --help and what they do; a test runs them.
EXAMPLES = {
    "run": (
        ("trn-nki run kernel.py:double --in x=x.npy --check simulate", "on a board, compared with NumPy"),
        ("trn-nki run kernel.py:double --in x=x.npy --out y=y.npy --generation gen3", "keeps the result"),
    ),
    "profile": (
        ("trn-nki profile kernel.py:double --in x=x.npy --out profile", "a page, and what bounds the kernel"),
        ("trn-nki profile kernel.py:double --in x=x.npy --out profile.json", "the same as JSON"),
    ),
    "compile": (
        ("trn-nki compile kernel.py:double --in x=x.npy -o kernel.trn", "instructions as text"),
        ("trn-nki compile kernel.py:double --in x=x.npy -o kernel.bin", "a program set"),
    ),
    "simulate": (
        ("trn-nki simulate kernel.py:double --in x=x.npy", "runs NumPy only"),
        ("trn-nki simulate kernel.py:double --in x=x.npy --out y=y.npy", "keeps the result"),
    ),
}


def _examples(*lines: tuple[str, str]) -> str:
    return "examples:" + "".join(f"\n  {line}\n      {about}" for line, about in lines)


class _Help(argparse.RawDescriptionHelpFormatter):
    """Names a value once, behind all names of its option; Python before 3.13 repeats it."""

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="trn-nki",
        description="compiles and runs NKI kernels on the virtual platform",
        formatter_class=_Help,
        epilog=_examples(*EXAMPLES["run"][:1], *EXAMPLES["profile"][:1]),
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, work, text in (
        ("run", _run, "compile a kernel, run it on a platform"),
        ("profile", _profile, "compile and run a kernel, write where its time went"),
        ("compile", _compile, "write a program set, or its text (.trn)"),
        ("simulate", _simulate, "compute the kernel by NumPy, without a platform"),
    ):
        optional: dict[str, Any] = {"nargs": "?"} if name == "profile" else {}
        command = commands.add_parser(name, help=text, epilog=_examples(*EXAMPLES[name]), formatter_class=_Help)
        command.set_defaults(work=work, parser=command)
        command.add_argument("kernel", metavar="FILE.py:FUNCTION", **optional)
        command.add_argument(
            "--in",
            dest="inputs",
            action="append",
            default=[],
            metavar="NAME=FILE.npy[:TYPE]",
            help="an array; with TYPE the elements hold its bits (bfloat16 also from float32)",
        )
        command.add_argument(
            "--arg",
            dest="values",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="an argument that is no array, as Python writes it",
        )
        command.add_argument("--lnc", type=int, choices=(1, 2), default=1, help="cores of the logical core (1)")
        command.add_argument("--generation", choices=sorted(generations.NAMES), help="default: the board's, else gen4")
        if name in ("run", "simulate"):
            command.add_argument(
                "--out",
                dest="outputs",
                action="append",
                default=[],
                metavar="NAME=FILE.npy",
                help="where a result goes, in the order of the results",
            )
        if name == "compile":
            command.add_argument("-o", "--output", required=True, metavar="FILE")
        if name in ("run", "profile"):
            command.add_argument("--board", help="the board that lives for the run (a chip of the generation)")
            command.add_argument("--connect", metavar="DIR", help="a running platform, by the folder of its sockets")
            command.add_argument("--chip", help="its function (the only one)")
            command.add_argument("--core", type=int, default=0)
            command.add_argument(
                "--limit", type=nanoseconds, default=100_000_000, metavar="TIME", help="of simulated time: ns, or with a unit (100 ms)"
            )
            command.add_argument("--timing", choices=("contended", "functional"))
        if name == "profile":
            profile_command.add_options(command)
        if name == "run":
            command.add_argument("--trace", metavar="FILE", help="write the platform's event trace; .perfetto-trace for Perfetto")
            command.add_argument(
                "--check", choices=("simulate",), help="compare results and changed arguments with those of simulate; integers exactly"
            )
            command.add_argument("--atol", type=float, default=1e-5)
            command.add_argument("--rtol", type=float, default=1e-5)
    # For `trnvp test`, which reads steps of kernels.
    command = commands.add_parser(_PREPARE)
    command.set_defaults(work=_prepare, parser=command)
    command.add_argument("folder")
    return parser


def _prepare(options: argparse.Namespace) -> int:
    from trn_nki.run.preparation import prepare  # no other command needs it

    prepare(options.folder)
    return 0


def _compiled(options: argparse.Namespace) -> tuple[Compiled, Options]:
    """The kernel for the board, and where it runs."""
    kernel, values = _kernel(options)
    board = options.board or DEFAULT_BOARDS[generations.generation(options.generation or "gen4").number]
    generation = options.generation or generation_of(board) or "gen4"
    recording = _recorded(options, kernel, values, generation)
    return compile_recording(recording), Options(board, options.connect, options.chip, options.core, options.limit, options.timing)


def _profile(options: argparse.Namespace) -> int:
    return profile_command.run(options, lambda: _compiled(options))


def _run(options: argparse.Namespace) -> int:
    if options.connect and options.trace:
        raise UserError("--trace is for a board of its own; the running platform has its own trace")
    compiled, platform = _compiled(options)
    platform.trace = options.trace
    outcome = execute(compiled, platform)
    _write(options, outcome.outputs)
    print(f"ran {outcome.simulated_us:.3f} us of simulated time")
    if options.check:
        return _compare(compiled.recording, outcome, options)
    return 0


def _compile(options: argparse.Namespace) -> int:
    kernel, values = _kernel(options)
    compiled = compile_recording(_recorded(options, kernel, values, options.generation))
    if options.output.endswith(".trn"):
        pathlib.Path(options.output).write_text(compiled.text)
    else:
        assemble(compiled, options.output)
    return 0


def _simulate(options: argparse.Namespace) -> int:
    kernel, values = _kernel(options)
    _write(options, simulate.execute(_recorded(options, kernel, values, options.generation)))
    return 0


def _compare(recording: Recording, outcome: Outcome, options: argparse.Namespace) -> int:
    changed = [(name, tensor) for name, tensor in recording.inputs if name in outcome.inputs]
    found = {f"result {number}": array for number, array in enumerate(outcome.outputs)}
    found |= {f"argument {name}": outcome.inputs[name] for name, _ in changed}
    expected = simulate.execute(recording, [*recording.outputs, *(tensor for _, tensor in changed)])
    status = 0
    for (name, mine), other in zip(found.items(), expected, strict=True):
        a, b = arrays.as_float(mine), arrays.as_float(other)
        if mine.dtype.is_float:
            equal = numpy.isclose(a, b, rtol=options.rtol, atol=options.atol, equal_nan=True)
        else:
            equal = numpy.asarray(mine.raw == other.raw)
        with numpy.errstate(invalid="ignore"):  # Inf - Inf
            difference = float(numpy.nanmax(numpy.abs(a - b), initial=0.0))
        print(f"{name}: largest difference from simulate {difference:g}")
        if not equal.all():
            place = tuple(int(index) for index in numpy.argwhere(~equal)[0])
            print(
                f"trn-nki: {name} differs at {list(place)}: {a[place]!r}, simulate has {b[place]!r}; "
                f"{int((~equal).sum())} of {equal.size} elements",
                file=sys.stderr,
            )
            status = 1
    return status


def _recorded(options: argparse.Namespace, kernel: Callable[..., Any], values: dict[str, Any], generation: str | int | None) -> Recording:
    """Refuses, before anything runs, to write a file that the kernel or the command has read."""
    recording = record_kernel(kernel, (), values, generation=generation, lnc=options.lnc)
    files = [_pair(text)[1] for text in getattr(options, "outputs", ())]
    files += [file for name in ("output", "trace") if (file := getattr(options, name, None))]
    files += [os.fspath(page) for target in getattr(options, "profiles", ()) for page in files_of(target)]
    for file in files:
        options.read.check_output(file)
    return recording


def _kernel(options: argparse.Namespace) -> tuple[Callable[..., Any], dict[str, Any]]:
    """The function, and its arguments by name."""
    for text in getattr(options, "outputs", ()):
        _pair(text)  # a mistake ends the command before the run
    options.read = InputFiles()
    found = function_of(options.kernel)
    values = {key: arrays.read(text) for key, text in map(_pair, options.inputs)}
    for key, text in map(_pair, options.values):
        try:
            values[key] = ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError):
            raise UserError(f"--arg {key}={text}: expected a value as Python writes it") from None
    return found, values


def _pair(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign or not key:
        raise UserError(f"{text}: expected NAME=VALUE")
    return key, value


def _write(options: argparse.Namespace, outputs: list[host_arrays.HostArray]) -> None:
    if len(options.outputs) > len(outputs):
        raise UserError(f"the kernel returns {len(outputs)} tensors, --out is given {len(options.outputs)} times")
    for text, array in zip(options.outputs, outputs):
        arrays.write(_pair(text)[1], array)


__all__ = ["main"]
