# SPDX-License-Identifier: Apache-2.0
"""trn-nki profile."""
from __future__ import annotations

import argparse
import contextlib
import gc
import os
import pathlib
import tempfile
from typing import Any, Callable, Iterable, Iterator

from trn_nki.compile import Compiled
from trn_nki.profile import platform_events
from trn_nki.profile.collect import ProfileError, collect
from trn_nki.profile.events import EventError, read_events
from trn_nki.profile.output import FORMATS, files_of, write
from trn_nki.profile.records import Profile
from trn_nki.profile.verdict import verdict_of
from trn_nki.run import Options, RunError, execute

ERRORS = (EventError, ProfileError, platform_events.PlatformError)  # errors of user input


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that `run` does not have."""
    parser.add_argument("--events", metavar="FILE", help="a text trace that was recorded before, instead of a kernel")
    parser.add_argument("--recorded", metavar="DIR", help="what a running platform has recorded since `trnctl profile start`")
    parser.add_argument("--token-file", metavar="FILE", help="token for a remote control address of --recorded")
    parser.add_argument("--execution", type=int, metavar="N", help="of several in the record, from 1 (the last)")
    parser.add_argument(
        "--out",
        dest="profiles",
        action="append",
        default=[],
        metavar="TARGET",
        help=f"a folder, or a file that ends in {', '.join(FORMATS)}; without, only the verdict is printed",
    )


def run(options: Any, compile_kernel: Callable[[], tuple[Compiled, Options]]) -> int:
    """Records and writes a profile. Raises RunError, ProfileError, EventError, PlatformError, ValueError, OSError."""
    for target in options.profiles:
        files_of(target)  # detect errors before the run
    given = [name for name in ("kernel", "events", "recorded") if getattr(options, name)]
    if len(given) != 1:
        raise ValueError("give one of FILE.py:FUNCTION, --events FILE and --recorded DIR")
    with _collector_paused():
        if given[0] == "kernel":
            return _run_kernel(options, compile_kernel)
        with _recorded_lines(options) as lines:
            name = pathlib.Path(options.events).name if options.events else "recorded programs"
            return _write(options, collect(read_events(lines, name), options.execution, name, options.chip))


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """The records are many, without cycles, and needed to the end: looking for cycles takes longer than reading them."""
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()


@contextlib.contextmanager
def _recorded_lines(options: Any) -> Iterator[Iterable[str]]:
    if options.events:
        with open(options.events, encoding="utf-8", errors="replace") as lines:
            yield lines
    else:
        with platform_events.connected(options.recorded, options.token_file) as platform:
            yield platform_events.lines(platform)


def _run_kernel(options: Any, compile_kernel: Callable[[], tuple[Compiled, Options]]) -> int:
    compiled, destination = compile_kernel()
    name = os.path.basename(options.kernel)
    failed: RunError | None = None
    with tempfile.TemporaryDirectory(prefix="trn-nki-") as folder, contextlib.ExitStack() as stack:
        record = pathlib.Path(folder) / "events.txt"
        platform = None
        if destination.connect is not None:
            platform = stack.enter_context(platform_events.connected(destination.connect))
            platform_events.start(platform)
            stack.callback(platform_events.stop, platform)
        else:
            destination.trace = str(record)
        try:
            outcome = execute(compiled, destination)
            print(f"ran {outcome.simulated_us:.3f} us of simulated time")
        except RunError as error:
            failed = error
        if platform is not None:
            platform_events.stop(platform)
            profile = _collected(platform_events.lines(platform), options, name, failed)
        elif record.exists():
            with open(record, encoding="utf-8", errors="replace") as lines:
                profile = _collected(lines, options, name, failed)
        else:
            profile = None
    if profile is not None:
        if failed is not None:
            profile.warnings.append(f"the kernel did not run to its end: {failed.reason}")
        _write(options, profile)
    if failed is not None:
        raise failed
    return 0


def _collected(lines: Iterable[str], options: Any, name: str, failed: RunError | None) -> Profile | None:
    """None when the kernel failed before an engine was started."""
    try:
        return collect(read_events(lines), options.execution, name, options.chip)
    except ProfileError:
        if failed is None:
            raise
        return None


def _write(options: Any, profile: Profile) -> int:
    for warning in profile.warnings:
        print(f"note: {warning}")
    print(verdict_of(profile))
    for target in options.profiles:
        for file in write(profile, target):
            print(f"wrote {file}")
    return 0
