# SPDX-License-Identifier: Apache-2.0
"""Checks from the texts of compiled programs that they order all accesses to SBUF and PSUM. A wait
for a copy orders accesses of the copy and earlier ones of the engine that started it, but not of
other engines. (The platform's checker is less strict.)"""
import collections
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "sw-stubs/python"), str(ROOT / "scenarios/kernels")]

import numpy  # noqa: E402 - after the path

import copies  # noqa: E402
import flash_attention  # noqa: E402
import loops  # noqa: E402
import tiles  # noqa: E402
import transformer  # noqa: E402
from trn_nki.compile import compile_recording  # noqa: E402
from trn_nki.trace import record_kernel  # noqa: E402
from trn_nki.values import generations  # noqa: E402

SIZES = {"fp32": 4, "tf32": 4, "int32": 4, "uint32": 4, "bf16": 2, "fp16": 2, "int16": 2, "uint16": 2}
TILE = re.compile(r"\b(dst|a|b)=(sbuf|psum)\[(\d+):(\d+), (\d+)(?: \+ (R\d+))?\] (\w+) \[([^\]]*)\]")
COLUMN = re.compile(r"\b(?:s0|s1|where)=(sbuf|psum)\[(\d+), (\d+)\]")
ON_CHIP = re.compile(r"core0\.(sbuf|psum)\[(\d+):(\d+), (\d+)(?:, (\d+))?\]")
GENERATED = re.compile(r"(source|destination)=@core0\.sbuf \+ (\d+)(?: \+ (R\d+) \* (\d+))? \[([^\]]*)\]")
ALSO_WRITE_B = ("topk", "quantize_mx", "match_replace8")
Access = collections.namedtuple("Access", "memory first end low high writes")


ARITHMETIC = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "mult": lambda a, b: a * b,
    "max": max,
    "shift_right": lambda a, b: a >> b,
    "is_lt": lambda a, b: a < b,
    "is_gt": lambda a, b: a > b,
}


class Program:
    """The streams and transfers of a program for one core."""

    def __init__(self, text, pitch):
        self.pitch, self.streams, self.transfers, self.labels = pitch, {}, {}, {}
        for line in text.splitlines():
            if line.startswith(".transfer"):
                _, name, rest = line.split(" ", 2)
                self.transfers[name] = rest
            elif line.startswith(".engine"):
                stream = self.streams[line.split()[1]] = []
            elif line.endswith(":"):
                self.labels[line[:-1]] = len(stream)
            elif not line.startswith("."):
                stream.append(line)


class Run:
    """Executes control instructions and semaphores of the streams, and finds unordered accesses. A
    register loaded from memory is 2 twice, then 0."""

    def __init__(self, program):
        self.program, self.found, self.history = program, [], []
        self.pc = dict.fromkeys(program.streams, 0)
        self.known = {engine: (collections.Counter(), set()) for engine in program.streams}
        self.posts = collections.defaultdict(list)  # by semaphore: (increment, instructions, copies)
        self.registers = collections.defaultdict(int)
        self.loaded, self.copies = collections.Counter(), 0
        while any([self.step(engine) for engine in program.streams]):
            pass
        self.is_complete = all(self.pc[engine] == len(stream) for engine, stream in program.streams.items())

    def step(self, engine):
        """Executes up to the next unsatisfied wait. Returns whether it executed anything."""
        begin, stream = self.pc[engine], self.program.streams[engine]
        moved = False
        while self.pc[engine] < len(stream):
            line = stream[self.pc[engine]]
            waits = re.findall(r"wait S\[(\d+)\]>=(\d+)(:subtract)?", line)
            if any(sum(post[0] for post in self.posts[int(s)]) < int(value) for s, value, _ in waits):
                break
            for semaphore, value, subtracts in waits:
                self.wait(engine, int(semaphore), int(value), bool(subtracts))
            self.pc[engine] += 1
            self.execute(engine, line)
            moved = True
        return moved or self.pc[engine] != begin

    def wait(self, engine, semaphore, value, subtracts):
        total = 0
        for number, (increment, instructions, ended) in enumerate(self.posts[semaphore]):
            total += increment
            self.known[engine][0].update(instructions - self.known[engine][0])
            self.known[engine][1].update(ended)
            if total >= value:
                break
        if subtracts:
            del self.posts[semaphore][: number + 1]

    def execute(self, engine, line):
        instructions, ended = self.known[engine]
        name = re.sub(r"(wait|update) \S+ ", "", line + " ").split(" ", 1)[0]
        if name == "dma_start":
            self.copy(engine, self.transfer(self.program.transfers[line.split()[-1]]))
        elif name == "dge_copy":
            semaphore, engines = (int(re.search(rf"{key}=(\w+)", line)[1], 0) for key in ("semaphore", "engines"))
            self.copy(engine, (semaphore, engines.bit_count(), self.generated(engine, line)))
        elif name in ("reg_move", "reg_alu", "reg_load", "branch", "loop"):
            self.control(engine, name, line)
        if name not in ("dma_start", "dge_copy"):
            instructions[engine] += 1
            self.check([(access, (engine, instructions[engine])) for access in self.accesses(engine, name, line)], engine)
        for semaphore, sign, value in re.findall(r"update S\[(\d+)\](\+?)=(\d+)", line):
            if sign:
                self.posts[int(semaphore)].append((int(value), instructions.copy(), set(ended)))
            else:
                self.posts[int(semaphore)] = []

    def copy(self, engine, described):
        semaphore, engines, accesses = described
        self.copies += 1
        self.check([(access, self.copies) for access in accesses], engine)
        instructions, ended = self.known[engine]
        self.posts[semaphore].append((engines, instructions.copy(), {*ended, self.copies}))

    def check(self, mine, engine):
        instructions, ended = self.known[engine]
        for access, actor in mine:
            for other, by in self.history:
                if not (access.writes or other.writes) or other.memory != access.memory or by == actor:
                    continue
                if min(access.end, other.end) <= max(access.first, other.first) or min(access.high, other.high) <= max(
                    access.low, other.low
                ):
                    continue
                is_known = by in ended if isinstance(by, int) else by[0] == engine or instructions[by[0]] >= by[1]
                if not is_known:
                    self.found.append((access, actor, other, by))
        self.history += mine

    def control(self, engine, name, line):
        fields = dict(re.findall(r"(\w+)=(\S+)", line))

        def value(key):
            return self.registers[engine, fields[key]] if key in fields else int(fields["imm"], 0)

        if name == "reg_load":
            place = (engine, line)
            self.loaded[place] += 1
            self.registers[engine, fields["rd"]] = 2 if self.loaded[place] <= 2 else 0
        elif name == "reg_move":
            self.registers[engine, fields["rd"]] = value("ra")
        elif name == "reg_alu":
            a, b = value("ra"), value("rb")
            self.registers[engine, fields["rd"]] = ARITHMETIC[fields["op"]](a, b)
        elif name == "loop":
            self.registers[engine, fields["rd"]] += int(fields["step"])
            if self.registers[engine, fields["rd"]] < value("rb"):
                self.pc[engine] = self.program.labels[fields["target"]]
        elif {"eq": lambda a, b: a == b, "ge": lambda a, b: a >= b, None: lambda a, b: True}[fields.get("if")](
            *((value("ra"), value("rb")) if "if" in fields else (0, 0))
        ):
            self.pc[engine] = self.program.labels[fields["target"]]

    def accesses(self, engine, name, line):
        found, partitions = [], 1
        for key, memory, first, end, byte, register, kind, dims in TILE.findall(line):
            size = SIZES.get(kind, 1)
            spans = [(int(count) - 1) * int(stride) * size for count, stride in re.findall(r"(-?\d+):(-?\d+)", dims)]
            begin = int(byte) + size * (self.registers[engine, register] if register else 0)
            partitions = int(end) - int(first) if key == "dst" else partitions
            found.append(
                Access(
                    memory,
                    int(first),
                    int(end),
                    begin + sum(min(0, s) for s in spans),
                    begin + sum(max(0, s) for s in spans) + size,
                    key == "dst" or (key == "b" and name in ALSO_WRITE_B),
                )
            )
        for memory, first, byte in COLUMN.findall(line):
            found.append(Access(memory, int(first), int(first) + partitions, int(byte), int(byte) + 1, name == "reg_store"))
        return found

    def transfer(self, text):
        (_, blocks, size), found = re.search(r"shape=\((\d+), (\d+), (\d+)\)", text).groups(), []
        for number, side in enumerate(re.split(" -> | shape=", text)[:2]):
            if on_chip := ON_CHIP.match(side):
                memory, first, end, byte, step = on_chip.groups()
                high = int(byte) + (int(blocks) - 1) * int(step or 0) + int(size)
                found.append(Access(memory, int(first), int(end), int(byte), high, number == 1))
        return int(re.search(r" S\[(\d+)\]", text)[1]), int(re.search(r"engines=(\w+)", text)[1], 16).bit_count(), found

    def generated(self, engine, line):
        found, piece = [], int(re.search(r"piece=(\d+)", line)[1])
        for side, at, register, unit, dims in GENERATED.findall(line):
            at = int(at) + (self.registers[engine, register] * int(unit) if register else 0)
            pairs = [(int(count), int(stride)) for count, stride in re.findall(r"(\d+):(-?\d+)", dims)]
            over = sum((count - 1) * stride for count, stride in pairs if stride and stride % self.program.pitch == 0)
            along = sum((count - 1) * stride for count, stride in pairs if stride % self.program.pitch)
            first, low = divmod(at, self.program.pitch)
            found.append(Access("sbuf", first, first + over // self.program.pitch + 1, low, low + along + piece, side == "destination"))
        return found


def whole(*shape):
    return numpy.ones(shape, numpy.float32)


def number(value):
    return numpy.array([[value]], numpy.int32)


KERNELS = (
    (tiles.add, (whole(256, 1024),) * 2),
    (tiles.many_tiles, (whole(128, 4096), 20)),
    (tiles.matmul, (whole(256, 256), whole(256, 512))),
    (tiles.softmax, (whole(128, 512),)),
    (tiles.summed, (whole(100, 60),) * 2),
    (transformer.attention, (whole(128, 64),) * 3 + (True,)),
    (flash_attention.flash_attention, (whole(640, 64),) * 3),
    (copies.converted, (whole(200, 96),)),
    (loops.doubled_rows, (whole(512, 64), number(2))),
    (loops.matmul, (whole(256, 256), whole(256, 512), number(2))),
    (loops.triangular_sums, (whole(1, 5, 40),)),
    (loops.halved_until_small, (whole(1, 50), 0.3)),
)


def text_of(kernel, arguments, generation):
    return compile_recording(record_kernel(kernel, arguments, generation=generation)).text


def run(text, generation):
    return Run(Program(text, generations.generation(generation).sbuf_bytes))


class Order(unittest.TestCase):
    def test_all_accesses_on_the_chip_have_an_order(self):
        for kernel, arguments in KERNELS:
            for generation in ("gen2", "gen3", "gen4"):
                with self.subTest(kernel=kernel.__name__, generation=generation):
                    done = run(text_of(kernel, arguments, generation), generation)
                    self.assertTrue(done.is_complete, "an engine waits for ever")
                    self.assertEqual(done.found[:1], [])

    def test_every_wait_of_an_engine_for_another_is_needed(self):
        """Without any one of these waits, an access is unordered or an engine waits forever."""
        text = text_of(tiles.many_tiles, (whole(128, 4096), 6), "gen3")
        lines = text.splitlines()
        for at, line in enumerate(lines):
            if re.match(r"wait S\[[0-4]\]>=\d+ ", line):
                without = [*lines[:at], line.split(" ", 2)[2], *lines[at + 1 :]]
                self.assertNotEqual(run("\n".join(without), "gen3").found, [], line)


if __name__ == "__main__":
    unittest.main()
