# SPDX-License-Identifier: Apache-2.0
"""Runs the tests: once without a mutation to learn what each reaches, then for each mutation those that reach it until one
fails."""
import concurrent.futures
import hashlib
import json
import pathlib
import queue
import shutil
import threading

import binaries
import suite
from build import build
from draw import draw
from suite import outcome, runner, test

UNMUTATED_SECONDS = 600.0
SPARE_SECONDS = 3.0  # beside four times what a test takes without a mutation


class campaign:
    def __init__(self, built: build, drawn: draw, folder: pathlib.Path, workers: int, say) -> None:
        self.built = built
        self.drawn = drawn
        self.say = say
        self.tests = suite.listed(built.path)
        self.programs = binaries.programs(built.path)
        self.keys = {one.name: self.programs.digest(one) for one in self.tests}
        self.known = memory(folder, drawn)
        self.runners: queue.Queue[runner] = queue.Queue()
        self.workers = workers
        for _ in range(workers):
            self.runners.put(runner())
        self.locks: dict[str, threading.Lock] = {}
        self.locks_lock = threading.Lock()
        self.flaky: set[str] = set()

    def close(self) -> None:
        while not self.runners.empty():
            self.runners.get().close()

    def lock(self, name: str) -> threading.Lock:
        with self.locks_lock:
            return self.locks.setdefault(name, threading.Lock())

    def run(self, one: test, mutation: int, limit: float, wall: float) -> outcome:
        """A test does not run beside itself, or beside one with a common lock."""
        locks = [self.lock(name) for name in sorted({"test " + one.name} | one.locks)]
        for each in locks:
            each.acquire()
        free = self.runners.get()
        try:
            return free.run(one, mutation, limit, wall)
        finally:
            self.runners.put(free)
            for each in locks:
                each.release()

    def all_workers(self) -> concurrent.futures.ThreadPoolExecutor:
        return concurrent.futures.ThreadPoolExecutor(self.workers)

    # ---- Without a mutation

    def record(self, units: bool) -> None:
        """Runs each test that may reach a place, unless its files are those of an earlier record: unit tests, or the others."""
        numbers = {number for number, one in enumerate(self.drawn.chosen, 1) if one} | {self.built.copy.probe}
        tests = [one for one in self.tests if one.is_unit == units]
        wanted = []
        for one in tests:
            may_reach = self.programs.may_reach(one)
            if may_reach is not None and not may_reach & numbers:
                self.known.unmutated[self.keys[one.name]] = outcome(True, "", 0, 0, [])
            elif self.keys[one.name] not in self.known.unmutated:
                wanted.append(one)
        self.say(f"{len(wanted)} of {len(tests)} {'unit' if units else 'other'} tests run once without a mutation")
        with self.all_workers() as pool:
            for one, result in zip(wanted, pool.map(lambda one: self.run(one, 0, UNMUTATED_SECONDS, 600), wanted)):
                if not result.passed:
                    self.say(f"{one.name} fails without a mutation ({result.why}) and is left out")
                self.known.add_unmutated(self.keys[one.name], result)
        self.known.save()

    # ---- With one

    def reaching(self, number: int, units: bool) -> list[test]:
        """The cheapest first."""
        place = self.built.copy.probe if self.is_firmware(number) else number
        found = [(one, self.known.unmutated.get(self.keys[one.name])) for one in self.tests if one.is_unit == units]
        return [
            one
            for one, result in sorted(found, key=lambda item: (item[1].seconds if item[1] else 0, item[0].name))
            if result and result.passed and place in result.reached
        ]

    def is_firmware(self, number: int) -> bool:
        return self.drawn.chosen[number - 1].file.startswith("firmware/")

    def passes(self, one: test, number: int) -> bool:
        key = f"{number} {self.keys[one.name]}"
        if key not in self.known.mutated:
            usual = self.known.unmutated[self.keys[one.name]]
            result = self.run(one, number, *limits(usual))
            if not result.passed and not self.is_reliable(one, usual):
                return True
            self.known.mutated[key] = "" if result.passed else result.why
        return not self.known.mutated[key]

    def is_reliable(self, one: test, usual: outcome) -> bool:
        """Whether a test that has just failed passes without the mutation."""
        if one.name not in self.flaky and self.run(one, 0, *limits(usual)).passed:
            return True
        self.flaky.add(one.name)
        self.say(f"{one.name} fails sometimes without a mutation: its result is ignored")
        return False

    def killer(self, number: int, tests: list[test]) -> test | None:
        """The first test that fails; one that failed in an earlier run comes first."""
        tests.sort(key=lambda one: not self.known.mutated.get(f"{number} {self.keys[one.name]}"))
        return next((one for one in tests if not self.passes(one, number)), None)

    def judge(self, units_only: bool) -> list[dict]:
        """Unit tests try all mutations before the first other test is run. Firmware has one mutation at a time: tests find its
        images in the build folder."""
        numbers = [number for number, one in enumerate(self.drawn.chosen, 1) if one]
        firmware = [number for number in numbers if self.is_firmware(number)]
        killers: dict[int, test] = {}
        for units in (True,) if units_only else (True, False):
            self.record(units)
            left = [number for number in numbers if number not in killers]
            with self.all_workers() as pool:
                first = [number for number in left if number not in firmware]
                for number, killed in zip(first, pool.map(lambda number: self.killer(number, self.reaching(number, units)), first)):
                    self.note(killers, number, killed)
            for number in [number for number in left if number in firmware]:
                tests = self.reaching(number, units)
                if tests:
                    self.built.make_firmware(number)
                    self.note(killers, number, self.killer(number, tests))
            if firmware:
                self.built.make_firmware(0)
        return [self.verdict(number, killers.get(number)) for number in numbers]

    def note(self, killers: dict[int, test], number: int, killed: test | None) -> None:
        if killed:
            killers[number] = killed
            self.say(describe(self.verdict(number, killed)))
        self.known.save()

    def verdict(self, number: int, killed: test | None) -> dict:
        place = self.drawn.chosen[number - 1]
        reached_by = len(self.reaching(number, True)) + len(self.reaching(number, False))
        why = self.known.mutated.get(f"{number} {self.keys[killed.name]}", "") if killed else ""
        return {
            "number": number,
            "file": place.file,
            "line": place.line,
            "kind": place.kind,
            "what": place.what,
            "verdict": "killed" if killed else "survived" if reached_by else "unreached",
            "test": killed.name if killed else None,
            "unit": bool(killed and killed.is_unit),
            "why": why,
            "reached_by": reached_by,
        }


def limits(usual: outcome) -> tuple[float, float]:
    """Of processor time, and of time for what waits."""
    return SPARE_SECONDS + 4 * usual.seconds, 10 + 10 * usual.wall


def describe(one: dict) -> str:
    by = f" by {one['test']}{' (unit)' if one['unit'] else ''}" if one["test"] else f", {one['reached_by']} tests reach it"
    why = f", {one['why']}" if "limit" in one["why"] else ""
    return f"{one['number']:>4} {one['file']}:{one['line']}: {one['what']}: {one['verdict']}{by}{why}"


class memory:
    """Results of earlier runs of the same draw. A test whose files have changed has another key, and runs again."""

    def __init__(self, folder: pathlib.Path, drawn: draw) -> None:
        keys = "\0".join(one.key if one else "" for one in drawn.chosen)
        self.file = folder / f"results-{hashlib.sha256(keys.encode()).hexdigest()[:16]}.json"
        self.lock = threading.Lock()
        read = json.loads(self.file.read_text()) if self.file.exists() else {"unmutated": {}, "mutated": {}}
        self.unmutated = {key: outcome(*values) for key, values in read["unmutated"].items()}
        self.mutated: dict[str, str] = read["mutated"]
        self.unsaved = 0

    def add_unmutated(self, key: str, result: outcome) -> None:
        self.unmutated[key] = result
        self.unsaved += 1
        if self.unsaved >= 100:
            self.save()

    def save(self) -> None:
        with self.lock:
            self.unsaved = 0
            kept = {key: [one.passed, one.why, one.seconds, one.wall, one.reached] for key, one in list(self.unmutated.items())}
            new = self.file.with_suffix(".new")
            new.write_text(json.dumps({"unmutated": kept, "mutated": dict(self.mutated)}))
            shutil.move(new, self.file)
