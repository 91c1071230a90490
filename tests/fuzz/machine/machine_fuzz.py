#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs random scenarios of whole machines: workloads beside faults, then repair, then verification.

Each input is a scenario: a board, workloads in parallel branches, faults at random simulated times,
the repair of every fault, a boot, and steps that must all succeed. An input fails when trnvp ends
with a signal or a wrong status, when a workload fails otherwise than a fault allows, when the
repaired machine does not work, or when a second run (interpreted instead of translated harts, not
shared) has another trace. The smallest failing scenario is written to a file.

Needs the programs of the build only; everything else is Python's standard library.
"""

import argparse
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3]
PROGRAM = (SOURCE / "scenarios/programs/add.trn").read_text()

# Statuses of device calls that a fault may cause.
INTERRUPTED = [
    "unknown_device",
    "not_ready",
    "timed_out",
    "aborted",
    "refused",
    "busy",
    "device_gone",
    "not_supported",
    "protocol_error",
    "transport_error",
]
NETWORK_ERRORS = [
    "ok",
    "flushed",
    "remote_abort",
    "remote_bad_status",
    "unresponsive",
    "unknown_peer",
    "unreachable",
    "local_qp_internal",
    "remote_bad_address",
]


def us(n):
    return f"{n} us"


@dataclass
class Board:
    name: str
    weight: int
    chips: int = 1
    generation: int = 3
    cards: int = 0  # joined by an Ethernet fabric
    seconds: int = 60  # processor time of a run, which other work on this machine does not use up


BOARDS = [
    Board("trn3-chip", 6),
    Board("trn2-chip", 2, generation=2),
    Board("trn1-chip", 2, generation=1),
    Board("inf2-chip", 1, generation=1),
    Board("trn3-sled", 8, chips=4),
    Board("trn3e-4", 2, chips=4),
    Board("trn1-2xl", 2, generation=1),
    Board("trn2-48xl", 4, chips=16, generation=2),
    Board("trn1-32xl", 2, chips=16, generation=1),
    Board("inf2-48xl", 1, chips=12, generation=1),
    Board("trn3-gen1", 1, chips=64, cards=32, seconds=240),
    Board("trn2-ultraserver", 1, chips=64, generation=2, cards=64, seconds=240),
]


@dataclass
class Fault:
    """One fault of the board: how it is injected, and the steps that repair it."""

    module: str
    name: str
    arguments: dict = field(default_factory=dict)
    repair: list = field(default_factory=list)
    lasts: str = ""  # until the repair beside the workloads; "": the repair follows them

    def inject(self):
        return inject(self.module, self.name, self.arguments)

    def brief_repair(self):
        return [{"wait": self.lasts}, *self.repair] if self.lasts else []


def inject(module, name, arguments=None):
    step = {"module": module, "fault": name}
    if arguments:
        step["with"] = arguments
    return {"inject": step}


def fault_of(rng, module, name):
    """A fault with random arguments and its repair; None for a repair itself."""
    undo = lambda other, **arguments: [inject(module, other, arguments)]
    make = lambda arguments=None, repair=(): Fault(module, name, arguments or {}, list(repair))
    match name:
        case "link_down" if module.endswith("die_to_die"):
            return make()  # firmware trains it again
        case "link_down":
            return make(repair=undo("link_up"))
        case "flap":
            return make({"for": us(rng.choice([1, 10, 100, 1000, 5000]))})
        case "lane_loss":
            return make({"lanes": rng.choice([1, 1, 2, 6, 8])}, undo("lane_repair"))
        case "speed_limit":
            return make({"generation": rng.randint(1, 3)}, [inject(module, "speed_limit")])
        case "crc":
            return make({"count": rng.randint(1, 50), "times": rng.choice([1, 1, 2, 4])})
        case "crc_rate":
            return make({"rate": rng.choice([0.0001, 0.001, 0.01, 0.1])}, undo("crc_rate", rate=0))
        case "mute" | "garbage":
            return make(repair=undo("talk"))
        case "surprise_down":
            return make(repair=undo("link_up"))
        case "card_removed":
            return make(repair=undo("card_inserted"))
        case "port_fail":
            port = rng.randrange(4)
            return make({"port": port}, undo("port_repair", port=port))
        case "port_down":
            return make({"port": 0}, undo("port_up", port=0))
        case "loss":
            return make({"ppm": rng.choice([100, 10000, 100000])}, undo("loss", ppm=0))
        case "lose":
            return make({"count": rng.randint(1, 5)})
        case "lost_completion" | "lost_interrupt":
            return make()  # of one access, which settle() makes if no workload does
        case "power_loss" if not module.startswith("disk"):
            return make(repair=undo("power_return"))
        case "supply_loss" | "cooling_loss":
            return make({"permille": rng.choice([100, 500, 900])}, undo(name, permille=1000))
        case "temperature" if module.endswith("sensors"):
            diode = rng.randrange(6)
            heat = make({"diode": diode, "kelvin": rng.choice([30, 60, 200])}, undo("temperature", diode=diode, kelvin=0))
            if heat.arguments["kelvin"] == 200:
                # The chip trips and starts again every millisecond, and a driver waits for 600 s of
                # simulated time: minutes of processor time.
                heat.lasts = us(rng.choice([100, 1000, 20000]))
            return heat
        case "hbm_corrected" | "hbm_uncorrected" | "hbm_repairable":
            return make({"offset": 64 * 2**20 + 4096 * rng.randrange(256)})
        case "hbm_repair_fails":
            return make()
        case "sram_corrected" | "sram_parity":
            return make({"offset": 64 * rng.randrange(16)})
        case "dma_abort":
            return make({"engine": 0 if "h2t" in module else rng.randrange(16), "queue": rng.randrange(4)})
        case "hang" if "top_sp" in module:
            return make()  # the reset of a collective restarts it
        case "link_crc":
            return make()
    return None


class Catalogue:
    """The faults of each board, by trnctl."""

    def __init__(self, build):
        self.build = build
        self.known = {}

    def of(self, board):
        if board not in self.known:
            out = subprocess.run(
                [self.build / "trnctl", "--board", board, "--json", "list", "faults"], capture_output=True, text=True, check=True
            ).stdout
            kinds = {}  # by fault and kind of module, so that many equal modules do not prevail
            for group in map(json.loads, out.splitlines()):
                for fault in group["faults"]:
                    for module in group["modules"]:
                        kinds.setdefault((fault["fault"], re.sub(r"\d+", "", module)), []).append(module)
            self.known[board] = kinds
        return self.known[board]

    def draw(self, rng, board):
        kinds = self.of(board)
        while True:
            name, kind = rng.choice(sorted(kinds))
            found = fault_of(rng, rng.choice(kinds[name, kind]), name)
            if found is not None:
                return found


SIZES = ["1 B", "4 KiB", "65537 B", "1 MiB", "4 MiB"]


def workload(rng, board):
    """A list of steps that faults may interrupt."""
    beside = lambda step: dict(step, may_fail=INTERRUPTED)
    place = lambda: f"hbm{rng.randrange(2)}@{rng.choice([64, 96, 128])} MiB"
    cores = 8 if board.generation != 1 else 2
    match rng.randrange(7):
        case 0:
            return [beside({"copy": {"from": "host", "to": place(), "size": rng.choice(SIZES)}})]
        case 1:
            return [beside({"copy": {"from": place(), "to": "hbm1@160 MiB", "size": rng.choice(SIZES), "core": rng.randrange(cores)}})]
        case 2:
            return [beside({"memset": {"at": place(), "size": rng.choice(SIZES), "value": 0x5A}})]
        case 3:
            return [beside(program(rng.randrange(cores)))]
        case 4 if board.chips > 1:
            return [beside({"collective": collective(rng)})]
        case 5 if board.cards:
            return [beside({"efa": dict(network(rng), status=NETWORK_ERRORS)})]
        case 6:
            return [beside({"reset": {}})]
    return [{"wait": us(rng.randrange(1, 1000))}]


def program(core):
    return {"program": {"file": "add.trn", "core": core, "in": {"x": 0.75}, "check": {"y": 1.5}}}


def collective(rng):
    op = rng.choice(["all_reduce", "all_gather", "reduce_scatter", "broadcast", "barrier"])
    size = {} if op == "barrier" else {"size": rng.choice(["64 KiB", "1 MiB"])}
    return {"op": op, **size, "limit": "20 ms"}


def network(rng):
    return {"pattern": rng.choice(["next", "half"]), "operation": rng.choice(["write", "read"]), "size": rng.choice(["4 KiB", "256 KiB"])}


def repair(faults):
    return [
        *(step for one in faults for step in one.repair),
        {"wait": "300 ms"},
        {"boot": {"within": "2 s"}, "may_fail": INTERRUPTED},
        {"wait": "20 ms"},
    ]


def overwrite(faults):
    """Writes to memory with errors, of the chip that the verification uses."""
    steps = []
    for one in faults:
        found = re.match(r"(?:(?:rack0\.)?server0\.(?:sled0\.)?)?chip0\.(hbm|nc)(\d)$", one.module)
        if found and found.group(1) == "hbm":
            steps.append({"memset": {"at": f"hbm{found.group(2)}@64 MiB", "size": "1 MiB", "value": 0, "verify": False}})
        elif found:
            steps.append({"copy": {"from": "host", "to": f"sbuf{found.group(2)}@0", "size": "4 KiB", "verify": False}})
    return steps


def settle(checks):
    """The checks, which may still meet faults that wait for the next access of a kind."""
    steps = []
    for step in checks:
        if "efa" in step:
            step = {"efa": dict(step["efa"], status=NETWORK_ERRORS)}
        if "verify" not in step:
            steps.append(dict(step, may_fail=INTERRUPTED))
    return steps + [{"boot": {"within": "2 s"}}, {"wait": "20 ms"}]


def verification(board):
    steps = [
        {"copy": {"from": "host", "to": "hbm0@256 MiB", "size": "1 MiB", "pattern": "v"}},
        {"copy": {"from": "hbm0@256 MiB", "to": "hbm1@256 MiB", "size": "1 MiB"}},
        {"verify": {"at": "hbm1@256 MiB", "size": "1 MiB", "pattern": "v"}},
        program(0),
    ]
    if board.chips > 1:
        steps.append({"collective": {"op": "all_reduce", "size": "64 KiB"}})
        steps.append({"collective": {"op": "barrier"}})
    if board.cards:
        steps.append({"efa": {"pattern": "next", "operation": "write", "size": "64 KiB"}})
        steps.append({"efa": {"pattern": "half", "operation": "read", "size": "64 KiB"}})
    return steps


def compose(board, seed, branches, faults, checks):
    """The scenario: `branches` are lists of steps, `faults` pairs of a delay and a fault."""
    together = {f"work{n}": steps for n, steps in enumerate(branches)}
    if faults:
        together["faults"] = [
            step for delay, one in faults for step in (*([{"wait": us(delay)}] if delay else []), one.inject(), *one.brief_repair())
        ]
    injected = [one for _, one in faults]
    steps = [{"boot": {"within": "1 s"}}]
    if together:
        steps.append({"together": together})
    return {
        "scenario": f"machine {seed}",
        "board": board.name,
        "seed": seed % 1000 + 1,
        "time_limit": "200 s",
        "wall_limit": "3600 s",
        "steps": steps + repair(injected) + settle(checks) + overwrite(injected),
        "expectations": checks,
    }


def generate(seed, catalogue, only=None):
    rng = random.Random(seed)
    boards = [b for b in BOARDS if only is None or b.name == only]
    board = rng.choices(boards, [b.weight for b in boards])[0]
    branches = [[step for _ in range(rng.randint(1, 3)) for step in workload(rng, board)] for _ in range(rng.randint(1, 3))]
    faults = [
        (rng.choice([0, 1, 10, 50, 100, 300, 1000, 5000]), catalogue.draw(rng, board.name))
        for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 5]))
    ]
    if any(one.name == "lost_completion" for _, one in faults):
        for step in (step for steps in branches for step in steps):
            for kind in step.keys() & {"copy", "memset"}:
                step[kind]["verify"] = False  # a lost read of the comparison returns ones
    return board, branches, faults, verification(board)


def limit_processor_time(seconds):
    """Of this process and each of its children, below a limit that is set already."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard != resource.RLIM_INFINITY:
        seconds = min(seconds, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, hard))


class Runner:
    def __init__(self, build, folder):
        self.trnvp, self.folder = build / "trnvp", folder

    def run(self, scenario, *options):
        """None when it passes, else the failure; and the digest of its trace."""
        file = self.folder / "machine.yaml"
        file.write_text(text_of(scenario))
        board = next(b for b in BOARDS if b.name == scenario["board"])
        (self.folder / "add.trn").write_text(PROGRAM.replace("v4", f"v{board.generation + 1}", 1))
        limit = lambda: limit_processor_time(board.seconds)
        done = subprocess.run(
            [self.trnvp, "test", file, "--json", "--digest", *options], capture_output=True, text=True, errors="replace", preexec_fn=limit
        )
        if done.returncode not in (0, 1):
            return f"status {done.returncode}: {done.stderr[-2000:]}", None
        try:
            result = json.loads(done.stdout)[0]
        except (ValueError, IndexError):
            return f"no report: {done.stdout[-500:]} {done.stderr[-2000:]}", None
        if result["status"] != "passed":
            return f"{result.get('step')}: {result.get('message')}", None
        return None, result["trace_digest"]

    def check(self, scenario, twice):
        failure, digest = self.run(scenario)
        if failure is None and twice:
            failure, other = self.run(scenario, "--no-share", "--hart", "interpret")
            if failure is None and other != digest:
                failure = f"trace {digest}, interpreted {other}"
        return failure


def text_of(scenario):
    head = {key: value for key, value in scenario.items() if not isinstance(value, list)}
    lines = [f"{key}: {json.dumps(value)}" for key, value in head.items()]
    for key in ("steps", "expectations"):
        if scenario[key]:
            lines.append(f"{key}:")
            lines += [f"  - {json.dumps(step)}" for step in scenario[key]]
    return "\n".join(lines) + "\n"


def kind(failure):
    """A failure without its numbers: two runs that fail alike have the same kind."""
    return failure and re.sub(r"[0-9a-f]{16}|[0-9]+", "", failure)


def shrink(fails, branches, faults, checks):
    """Removes faults, steps and checks one by one while `fails(branches, faults, checks)`."""
    parts = lambda: [branches, faults, checks, *branches]
    changed = True
    while changed:
        changed = False
        for which in range(len(parts())):
            at = 0
            while which < len(parts()) and at < len(parts()[which]):
                removed = parts()[which].pop(at)
                if fails(branches, faults, checks):
                    changed = True
                else:
                    parts()[which].insert(at, removed)
                    at += 1
    return branches, faults, checks


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--build", type=Path, default=SOURCE / "build", help="the build folder")
    words.add_argument("--seconds", type=float, default=3600, help="wall-clock limit")
    words.add_argument("--enough", type=int, default=10**9, help="number of inputs")
    words.add_argument("--seed", type=int, default=1, help="of the first input; then seed + 1, ...")
    words.add_argument("--board", help="this board only")
    words.add_argument("--keep-going", action="store_true", help="after a failure")
    words.add_argument("--print", action="store_true", help="print the first scenario, do not run")
    words.add_argument("--output", type=Path, default=Path(), help="folder of failed scenarios")
    words.add_argument("--no-shrink", action="store_true", help="report failures as generated")
    given = words.parse_args()

    catalogue = Catalogue(given.build)
    end, failures, seed = time.monotonic() + given.seconds, 0, given.seed
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(given.build, Path(folder))
        while seed < given.seed + given.enough and time.monotonic() < end:
            board, branches, faults, checks = generate(seed, catalogue, given.board)
            make = lambda b, f, c: compose(board, seed, [x for x in b if x], f, c)
            scenario = make(branches, faults, checks)
            if given.print:
                print(text_of(scenario), end="")
                return 0
            failure = runner.check(scenario, twice=seed % 4 == 0)
            if failure is not None:
                failures += 1
                print(f"seed {seed}, {board.name}: {failure}", flush=True)
                if not given.no_shrink:
                    twice = "interpreted" in failure
                    fails = lambda *parts: kind(runner.check(make(*parts), twice)) == kind(failure)
                    scenario = make(*shrink(fails, branches, faults, checks))
                file = given.output / f"machine-{seed}.yaml"
                file.write_text(text_of(scenario))
                print(f"  written to {file}", flush=True)
                if not given.keep_going:
                    break
            seed += 1
    print(f"{seed - given.seed} inputs, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
