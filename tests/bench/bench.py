#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every bench_* program of a build folder, then benchmarks of whole platforms, and prints one
table.

Each program accepts `--json FILE` and writes a list of rows:
    {"name", "value", "unit", "peer", "peer_value", "ratio", "goal", "met"}
`ratio` is value / peer_value measured in the same run; `goal` is text; `met` is true, false or
null.
"""
import argparse
import ctypes
import json
import mmap
import os
import pathlib
import pty
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import history
import regression


def number(value):
    return "" if value is None else f"{value:,.4g}" if isinstance(value, (int, float)) else str(value)


def table(rows):
    head = ["what", "value", "unit", "peer", "peer value", "ratio", "goal", "met"]
    lines = [
        [
            r["name"],
            number(r["value"]),
            r["unit"],
            r.get("peer") or "",
            number(r.get("peer_value")),
            number(r.get("ratio")),
            r.get("goal") or "",
            {True: "yes", False: "NO", None: ""}[r.get("met")],
        ]
        for r in rows
    ]
    widths = [max(len(line[i]) for line in [head] + lines) for i in range(len(head))]
    for line in [head, ["-" * w for w in widths]] + lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def row(name, value, unit, goal, met):
    return {"name": name, "value": value, "unit": unit, "peer": None, "peer_value": None, "ratio": None, "goal": goal, "met": met}


def beside(measured, peer, peer_value, most):
    """A row with its peer; met if the ratio is at most `most`."""
    ratio = measured["value"] / peer_value
    return measured | {"peer": peer, "peer_value": peer_value, "ratio": ratio, "met": ratio <= most}


def spent():
    """Processor time of all children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cold_boot(trnvp):
    def once():
        start = time.monotonic()
        subprocess.run([trnvp, "run", "trn3-chip", "--until", "ready", "--uart", "none"], check=True, stdout=subprocess.DEVNULL)
        return time.monotonic() - start

    seconds = statistics.median(once() for _ in range(5))
    return [row("cold boot of one chip to ready, whole process", seconds, "s", "< 0.2 s", seconds < 0.2)]


def idle(trnvp):
    """Cost of a booted chip that serves its sockets, without a client."""
    with tempfile.TemporaryDirectory() as sockets:
        with subprocess.Popen([trnvp, "run", "trn3-chip", "--listen", sockets, "--uart", "none"], stdout=subprocess.DEVNULL) as chip:
            try:
                time.sleep(2)
                before = cpu_seconds(chip.pid)
                time.sleep(5)
                cpu = 100 * (cpu_seconds(chip.pid) - before) / 5
                resident = resident_mib(chip.pid)
            finally:
                chip.terminate()
    return [
        row("idle booted chip, resident", resident, "MiB", "< 60 MiB", resident < 60),
        row("idle booted chip, processor", cpu, "%", "0 % (below 0.5)", cpu < 0.5),
    ]


def seconds_to_elaborated(trnvp):
    """Seconds from the process start until 144 chips are elaborated (first line of output)."""
    start = time.monotonic()
    with subprocess.Popen(
        [trnvp, "run", "trn3-gen2", "--json", "--paused", "--uart", "none"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as running:
        running.stdout.readline()
        elaborated = time.monotonic() - start
        running.terminate()
    return elaborated


def seconds_to_booted(trnvp):
    start = time.monotonic()
    subprocess.run(
        [trnvp, "run", "trn3-gen2", "--until", "ready", "--uart", "none"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    return time.monotonic() - start


def rack(trnvp):
    """144 chips: time from the process start to elaboration and to boot, and the cost while idle."""
    turns = [(seconds_to_elaborated(trnvp), seconds_to_booted(trnvp)) for _ in range(3)]
    elaborated, booted = (statistics.median(column) for column in zip(*turns))
    with tempfile.TemporaryDirectory() as sockets:
        with subprocess.Popen(
            [trnvp, "run", "trn3-gen2", "--listen", sockets], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as running:
            try:
                time.sleep(20)  # boot and link training have ended
                before = cpu_seconds(running.pid)
                time.sleep(5)
                cpu = 100 * (cpu_seconds(running.pid) - before) / 5
                resident = resident_mib(running.pid)
                rack_copy, chip_copy = copies_beside_one_chip(trnvp, sockets, "rack0.sled0.chip0")
            finally:
                running.terminate()
    return [
        row("144 chips: start to elaborated", elaborated, "s", "< 1.5 s", elaborated < 1.5),
        row("144 chips: start to all booted", booted, "s", "< 10 s", booted < 10),
        row("144 chips idle, resident", resident, "MiB", "< 2048 MiB", resident < 2048),
        row("144 chips idle, processor", cpu, "%", "0 % (below 0.5)", cpu < 0.5),
        {
            "name": "one of 144 chips copies HBM to HBM",
            "value": rack_copy,
            "unit": "s",
            "peer": "the only chip",
            "peer_value": chip_copy,
            "ratio": rack_copy / chip_copy,
            "goal": "< 1.1 x",
            "met": rack_copy < 1.1 * chip_copy,
        },
    ]


def telemetry(trnvp):
    """Tools over 144 booted chips: a list, a page of metrics, and a live screen at 4 updates a second."""

    def seconds_of(action):
        def once():
            start = time.monotonic()
            action()
            return time.monotonic() - start

        return statistics.median(once() for _ in range(9))

    with tempfile.TemporaryDirectory() as sockets:
        with subprocess.Popen(
            [trnvp, "run", "trn3-gen2", "--listen", sockets, "--uart", "none", "--metrics", "0", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as running:
            try:
                started = json.loads(running.stdout.readline())
                page = next(one["address"] for one in started["sockets"] if one["purpose"] == "metrics")
                time.sleep(20)  # boot and link training have ended
                listed = seconds_of(
                    lambda: subprocess.run([trnvp.with_name("trn-ls"), "--connect", sockets], check=True, stdout=subprocess.DEVNULL)
                )
                scraped = seconds_of(lambda: urllib.request.urlopen(page, timeout=60).read())
                share = top_share(trnvp.with_name("trn-top"), sockets)
            finally:
                running.terminate()
    return [
        row("trn-ls of 144 chips", 1000 * listed, "ms", "< 60 ms", listed < 0.060),
        row("/metrics of 144 chips", 1000 * scraped, "ms", "< 50 ms", scraped < 0.050),
        row("trn-top of 144 chips, 4 updates a second", share, "%", "< 3 % of a core", share < 3),
    ]


def top_share(program, sockets):
    """Percent of a core that trn-top takes on a terminal."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(program, [program, "--connect", sockets, "--interval", "0.25"])
    try:
        read = threading.Thread(target=drain, args=(terminal,), daemon=True)
        read.start()
        time.sleep(2)
        before = cpu_seconds(child)
        time.sleep(5)
        return 100 * (cpu_seconds(child) - before) / 5
    finally:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
        read.join()
        os.close(terminal)


def drain(terminal):
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass  # the program has ended


def listening_chip(trnvp, sockets, *options):
    """Starts a platform of one chip, whose sockets listen when this returns."""
    chip = subprocess.Popen(
        [trnvp, "run", "trn3-chip", "--listen", sockets, "--uart", "none", "--json", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    chip.stdout.readline()
    return chip


def copies_beside_one_chip(trnvp, rack_sockets, chip):
    """Seconds of the fastest copy inside a chip of the rack, and inside the only chip of another
    process. The measurements alternate, so that the load of the machine affects both."""
    with tempfile.TemporaryDirectory() as alone:
        with listening_chip(trnvp, alone) as running:
            try:
                ctl = [
                    [trnvp.with_name("trnctl"), "--connect", sockets, "--chip", name, "--json"]
                    for sockets, name in ((rack_sockets, chip), (alone, "chip0"))
                ]
                for one in ctl:  # touches the memory before the copies are timed
                    subprocess.run([*one, "memset", "hbm0@16MiB", "64MiB", "1"], check=True, stdout=subprocess.DEVNULL)
                turns = [
                    [
                        json.loads(
                            subprocess.run([*one, "copy", "hbm0@16MiB", "hbm1@16MiB", "64MiB"], check=True, stdout=subprocess.PIPE).stdout
                        )["wall_s"]
                        for one in ctl
                    ]
                    for _ in range(15)
                ]
            finally:
                running.terminate()
    return (min(column) for column in zip(*turns))


def memcpy_rate(buffers, rounds):
    """GB/s of memcpy between `buffers` pairs of buffers of 1 MiB, in rotation."""
    length = 2**20
    pairs = [
        (ctypes.create_string_buffer(b"1" * length, length), ctypes.create_string_buffer(b"2" * length, length)) for _ in range(buffers)
    ]
    start = time.monotonic()
    for step in range(1, rounds + 1):
        for n in range(buffers):
            ctypes.memmove(pairs[(n + step) % buffers][1], pairs[n][0], length)
    return rounds * buffers * length / (time.monotonic() - start) / 1e9


def memcpy_rate_into_new_memory(size):
    """GB/s of memcpy in steps of 1 MiB into `size` bytes that the host has to provide first."""
    length = 2**20
    source = ctypes.create_string_buffer(b"1" * length, length)
    new = mmap.mmap(-1, size)
    at = ctypes.addressof(ctypes.c_char.from_buffer(new))
    start = time.monotonic()
    for offset in range(0, size, length):
        ctypes.memmove(at + offset, source, length)
    return size / (time.monotonic() - start) / 1e9


def beside_memcpy(name, rate, plain, least, peer="memcpy"):
    return {
        "name": name,
        "value": rate,
        "unit": "GB/s",
        "peer": peer,
        "peer_value": plain,
        "ratio": rate / plain,
        "goal": f"at least {least}",
        "met": rate >= least * plain,
    }


def all_pairs(trnvp):
    """Each of 144 chips copies 1 MiB to each other chip at the same time, compared with memcpy
    between as many buffers."""
    run = subprocess.run(
        [
            trnvp.with_name("trnctl"),
            "--board",
            "trn3-gen2",
            "--json",
            "bench",
            "--matrix",
            "--pattern",
            "all-to-all",
            "--engines",
            "1",
            "--bytes",
            "1MiB",
        ],
        check=True,
        stdout=subprocess.PIPE,
    )
    result = json.loads(run.stdout)
    rate = result["bytes"] / result["wall_s"] / 1e9
    return [beside_memcpy("20,592 copies of 1 MiB between 144 chips, contended", rate, memcpy_rate(result["chips"], 32), 0.25)]


def collectives(trnvp):
    """Collectives over 144 chips: bytes sent by all ranks in an all-reduce, alternating with
    memcpy; the memory of both has been used before, or that of neither. Also a barrier."""

    def last_of(iterations, *options):
        run = subprocess.run(
            [trnvp.with_name("trnctl"), "--board", "trn3-gen2", "--json", "coll", "--iterations", str(iterations), *options],
            check=True,
            stdout=subprocess.PIPE,
        )
        return json.loads(run.stdout)

    def rate(result):
        sent = result["bytes"] * result["busbw_gb_per_s"] / result["algbw_gb_per_s"] * result["ranks"]
        return sent / result["wall_s"] / 1e9

    sum_of_16_mib = ("--op", "all-reduce", "--bytes", "16MiB")
    turns = [
        (
            rate(last_of(2, *sum_of_16_mib)),
            memcpy_rate(144, 32),
            rate(last_of(1, *sum_of_16_mib)),
            memcpy_rate_into_new_memory(144 * 2**24),
        )
        for _ in range(3)
    ]
    used, plain, new, plain_new = (statistics.median(column) for column in zip(*turns))
    barrier = last_of(20, "--op", "barrier")["wall_s"]
    return [
        beside_memcpy("all-reduce of 16 MiB over 144 chips, contended", used, plain, 0.4),
        beside_memcpy("the same in memory that the host has to provide first", new, plain_new, 0.2, "memcpy into such memory"),
        row("barrier over 144 chips", 1000 * barrier, "ms", "< 50 ms", barrier < 0.050),
    ]


def rack_scenarios(trnvp, head, steps):
    """Runs a scenario file on 144 chips with `head` before its steps and `steps` after the boot.
    Returns the report and the resource usage of its processes (os.wait4())."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(f"scenario: rack\nboard: trn3-gen2\n{head}time_limit: 20 s\nsteps:\n  - boot: {{within: 10 s}}\n")
        file.writelines(f"  - {step}\n" for step in steps)
        file.flush()
        run = subprocess.Popen([trnvp, "test", file.name, "-j", "1", "--json"], stdout=subprocess.PIPE)
        report = run.stdout.read()
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode != 0:
        raise subprocess.CalledProcessError(run.returncode, run.args)
    return json.loads(report), usage


def scenarios(trnvp):
    """Scenarios on a rack that boots once: seconds from the fork to a scenario's first step."""
    report, _ = rack_scenarios(trnvp, "matrix: {time: [1 us, 2 us, 3 us, 4 us, 5 us]}\n", ["wait: '${time}'"])
    seconds = statistics.median(one["first_step_s"] for one in report)
    return [row("scenario forked from 144 booted chips, to its first step", 1000 * seconds, "ms", "< 20 ms", seconds < 0.020)]


def nested_forks(kib, count):
    """Processor seconds per fork of `count` nested forks of a process that uses `kib` KiB: each
    child forks the next and waits for it, as the processes of snapshots do."""

    def fork(left):
        if left == 0:
            return
        copy = os.fork()
        if copy == 0:
            fork(left - 1)
            os._exit(0)
        os.waitpid(copy, 0)

    with mmap.mmap(-1, kib << 10, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        for page in range(0, len(memory), mmap.PAGESIZE):
            memory[page] = 1
        before = sum(os.times()[:4])
        fork(count)
        return (sum(os.times()[:4]) - before) / count


def snapshots(trnvp):
    """Cost of a snapshot of a booted rack, from a scenario with thirty additional ones. The peer
    forks as often with as much resident memory; the measurements alternate."""

    def turn(more=30):
        steps = ["snapshot: first", *(f"snapshot: s{n}" for n in range(more))]
        (few, booted), (many, taken) = (rack_scenarios(trnvp, "", of) for of in (steps[:1], steps))
        wall = many[0]["wall_s"] - few[0]["wall_s"]
        cpu = taken.ru_utime + taken.ru_stime - booted.ru_utime - booted.ru_stime
        return 1000 * wall / more, 1000 * cpu / more, 1000 * nested_forks(taken.ru_maxrss, more)

    wall, cpu, plain = (statistics.median(column) for column in zip(*(turn() for _ in range(5))))
    return [
        row("snapshot of 144 booted chips", wall, "ms", "< 30 ms", wall < 30),
        {
            "name": "snapshot of 144 booted chips, processor time",
            "value": cpu,
            "unit": "ms",
            "peer": "fork() with as much memory resident",
            "peer_value": plain,
            "ratio": cpu / plain,
            "goal": "< 1.5 x",
            "met": cpu < 1.5 * plain,
        },
    ]


def recording(trnvp):
    """The same copy over the socket with and without --record, alternating."""

    def megabytes_per_second(*options):
        with tempfile.TemporaryDirectory() as folder:
            sockets = os.path.join(folder, "sockets")
            record = [word if word != "DIR" else os.path.join(folder, "recording") for word in options]
            with listening_chip(trnvp, sockets, *record) as chip:
                try:
                    copy = [trnvp.with_name("trnctl"), "--connect", sockets, "--json", "copy", "host", "hbm0@16MiB", "64MiB"]
                    rates = []
                    for _ in range(3):
                        result = json.loads(subprocess.run(copy, check=True, stdout=subprocess.PIPE).stdout)
                        rates.append(result["bytes"] / result["wall_s"] / 1e6)
                    return max(rates)
                finally:
                    chip.terminate()

    turns = [(megabytes_per_second("--record", "DIR"), megabytes_per_second()) for _ in range(3)]
    recorded, plain = (statistics.median(column) for column in zip(*turns))
    return [
        {
            "name": "copy from a client, recorded",
            "value": recorded,
            "unit": "MB/s",
            "peer": "not recorded",
            "peer_value": plain,
            "ratio": recorded / plain,
            "goal": "",
            "met": None,
        }
    ]


def tracing(trnvp):
    """Collectives and a copy on a sled with and without a timeline, alternating."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "scenario.yaml")
        file.write_text(
            """scenario: sled
board: trn3-sled
steps:
  - boot: {within: 1 s}
  - collective: {op: all_reduce, size: 1 MiB}
  - collective: {op: all_gather, size: 1 MiB}
  - copy: {from: hbm0@64 MiB, to: hbm1@64 MiB, size: 64 MiB}
""",
            encoding="utf-8",
        )

        def seconds(*options):
            run = subprocess.run([trnvp, "test", file, "--json", *options], check=True, stdout=subprocess.PIPE)
            return json.loads(run.stdout)[0]["wall_s"]

        trace = os.path.join(folder, "run.perfetto-trace")
        traced, plain = (min(column) for column in zip(*((seconds("--trace", trace), seconds()) for _ in range(5))))
    return [
        {
            "name": "collectives of a sled with --trace F.perfetto-trace",
            "value": traced,
            "unit": "s",
            "peer": "not traced",
            "peer_value": plain,
            "ratio": traced / plain,
            "goal": "< 2 x",
            "met": traced < 2 * plain,
        }
    ]


def waveforms(trnvp):
    """A boot whose hart, interrupts and registers are recorded, in both formats, alternating."""
    signals = ["cpu.*", "irqs.source[*]", "misc_ram.*", "uart.*", "resets.*"]
    with tempfile.TemporaryDirectory() as folder:

        def seconds(name):
            begin = time.monotonic()
            options = ["--vcd", os.path.join(folder, name)] if name else []
            words = [word for signal in signals for word in ("--vcd-signal", f"chip0.management.{signal}")] if name else []
            run = [trnvp, "run", "trn3-chip", "--until", "ready", "--uart", "none", *options, *words]
            if subprocess.run(run, stderr=subprocess.DEVNULL, check=False).returncode != 0:
                return None  # built without FST
            return time.monotonic() - begin

        names = ("a.fst", "a.vcd", "")
        turns = [[seconds(name) for name in names] for _ in range(5)]
        if turns[0][0] is None:
            return []
        fst, vcd, plain = (min(column) for column in zip(*turns))
        small, large = (os.path.getsize(os.path.join(folder, name)) for name in names[:2])

    def compared(name, value, unit, peer, peer_value):
        return row(name, value, unit, "", None) | {"peer": peer, "peer_value": peer_value, "ratio": value / peer_value}

    return [
        compared("boot of a chip with --vcd F.fst", fst, "s", "F.vcd", vcd),
        compared("boot of a chip with --vcd F.vcd", vcd, "s", "without", plain),
        compared("F.fst of this boot", small / 1024, "KiB", "F.vcd", large / 1024),
    ]


def matmuls(trnvp):
    """Processor time of matmuls of 2048 x 2048 x 2048 by a program with loads and stores, including
    the boot of the chip."""
    programs = pathlib.Path(__file__).parents[2] / "scenarios/programs"

    def seconds(board, name):
        before = spent()
        subprocess.run(
            [trnvp.with_name("trnctl"), "--board", board, "program", "run", programs / name], check=True, stdout=subprocess.DEVNULL
        )
        return spent() - before

    rows = []
    for board, name, types in (("trn2-chip", "matmul_bf16.trn", "BF16"), ("trn3-chip", "matmul_mxfp8.trn", "MXFP8")):
        took = min(seconds(board, name) for _ in range(3))
        rows.append(row(f"program of a {types} matmul of 2048 x 2048 x 2048, whole process", took, "s", "< 1 s", took < 1))
    return rows


def kernel_calls(trnvp):
    """Time of a call of a small NKI kernel with arrays: trace, compile, assemble, boot a chip, run,
    read the results."""
    root = pathlib.Path(__file__).resolve().parents[2]
    code = """
import statistics, time
import numpy, nki, tiles
from trn_nki.run import platform
x = numpy.ones((128, 128), numpy.float32)
def call():
    start = time.monotonic()
    with platform("trn3-chip"): tiles.softmax(x)
    return time.monotonic() - start
print(call(), statistics.median(call() for _ in range(7)))
"""
    places = {"PYTHONPATH": f"{root}/sw-stubs/python:{root}/scenarios/kernels", "TRNVP_BUILD": str(trnvp.resolve().parent)}
    done = subprocess.run(["/usr/bin/python3", "-c", code], env=os.environ | places, check=True, capture_output=True, text=True)
    first, others = map(float, done.stdout.split())
    return [
        row("call of an NKI kernel from Python on a chip that boots for it, first", first, "s", "< 0.5 s", first < 0.5),
        row("call of an NKI kernel from Python on a chip that boots for it, median of 7", others, "s", "< 0.5 s", others < 0.5),
    ]


def kernels(trnvp):
    """Benchmarks of the NKI compiler; runs the distribution's Python, which has NumPy."""
    script = pathlib.Path(__file__).with_name("kernels.py")
    done = subprocess.run(["/usr/bin/python3", script, trnvp.parent], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def rtl(trnvp):
    """Verilated RTL of 10,000 gates beside a chip that boots: working in each cycle, idle, and absent."""
    board = trnvp.parent / "tests" / "rtl_bench" / "board.yaml"
    if not board.exists():
        print("rtl: verilator is not installed", file=sys.stderr)
        return []
    clock = 10_000_000

    def once(*options):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.run(
            [trnvp, "run", board, "--until", "5 ms", "--uart", "none", "--json", *options], check=True, stdout=subprocess.PIPE
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert run.stdout
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    cycles = clock * 5e-3
    turns = [(once("--set", "runs=true"), once(), once("--set", "blocks=0")) for _ in range(5)]
    working, idle_one, absent = (statistics.median(column) for column in zip(*turns))
    rate = cycles / working / 1000
    idle_row = row("RTL of 10,000 gates, idle, beside a booting chip", idle_one, "s", "at most 1.05 x", idle_one <= 1.05 * absent)
    return [
        row("RTL of 10,000 gates, working, beside a booting chip", rate, "kHz", "at least 100 kHz", rate >= 100),
        idle_row | {"peer": "no RTL", "peer_value": absent, "ratio": idle_one / absent},
    ]


READY = 'until [ "$(cat /sys/class/neuron_device/neuron0/reset)" = 1 ]; do sleep 0.01; done'


def in_qemu(trnvp, script, *options):
    """Processor time of a guest of QEMU that runs a script, and what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        run.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
        run.chmod(0o755)
        before = spent()
        words = [trnvp, "guest", "trn3-chip", *options, "--run", run]
        printed = subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        return spent() - before, printed


def driver_in_qemu(trnvp, tools):
    """Processor time of a guest of QEMU that loads the public driver and looks at a file of its, and seconds of its insmod."""
    look = f"{READY}\ncat /sys/class/neuron_device/neuron0/core_count\ndmesg | grep -i neuron"
    took, printed = in_qemu(trnvp, look, "--module", f"{tools / 'neuron.ko'} dup_helper_enable=0")
    begin, end = (float(re.search(rf"\[ *([0-9.]+)\] {what}", printed)[1]) for what in ("neuron: loading", "neuron:nmetric_thread_fn"))
    return took, end - begin


def stub_in_qemu(trnvp):
    """Seconds of `trn-guest check` in a guest of QEMU."""
    uptime = "$(cut -d' ' -f1 /proc/uptime)"
    _, printed = in_qemu(trnvp, f"begin={uptime}; trn-guest check; echo took $begin {uptime}", "--devices", "1")
    begin, end = re.search(r"took ([0-9.]+) ([0-9.]+)", printed).groups()
    return float(end) - float(begin)


def host_inside(trnvp):
    """A Linux inside with the public Neuron driver on one chip: from power-on, and from its shared states."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    tools = pathlib.Path(os.environ.get("TRNVP_GUEST_TOOLS") or cache / "trnvp" / "guest")
    driver = tools / "riscv64" / "neuron.ko"
    if not driver.exists():
        print(f"host_inside: no {driver}", file=sys.stderr)
        return []

    def once(setup, step, runs=1):
        head = f"scenario: inside\nboard: trn3-chip\nset: {{host: linux}}\nmatrix: {{n: {list(range(runs))}}}\n"
        text = f"{head}time_limit: 30 s\nwall_limit: 300 s\nmemory_limit: 2 GiB\nsetup:\n"
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text + "".join(f"  - {one}\n" for one in ["boot: {host: linux}", *setup]) + f"steps:\n  - {step}\n")
            file.flush()
            before = spent()
            run = subprocess.Popen([trnvp, "test", file.name, "-j", "1", "--json"], stdout=subprocess.PIPE)
            report = json.loads(run.stdout.read())
            _, status, usage = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
        if run.returncode != 0:
            raise subprocess.CalledProcessError(run.returncode, run.args)
        return report, spent() - before, usage.ru_maxrss / 1024

    load = [f"host: {{copy_in: '{driver}', to: /root/neuron.ko}}", "host: {run: insmod neuron.ko dup_helper_enable=0 && ls /dev/neuron0}"]
    wait = "wait: '1${n} us'"
    _, alone, _ = once([], wait)
    _, whole, memory = once(load, wait)
    report, _, _ = once([], wait, 5)
    first = 1000 * statistics.median(one["first_step_s"] for one in report)
    look = "host: {run: 'cat /sys/class/neuron_device/neuron0/core_count; echo ${n}', text: '8'}"
    _, hundred, _ = once([*load, f"host: {{run: '{READY}'}}"], look, 100)
    stub = ["host: {copy_in: trn-guest-riscv64, to: /bin/trn-guest}", "host: {run: 'echo 16 >/proc/sys/vm/nr_hugepages'}"]
    _, prepared, _ = once(stub, wait)
    _, checked, _ = once([*stub, "host: {run: trn-guest check, text: all is well}"], wait)
    check = row("driver stub inside checks a chip: reset, requests, copies, processor time", checked - prepared, "s", "at most 1 x", None)
    insmod = row("Linux inside loads the Neuron driver, processor time", whole - alone, "s", "at most 1.5 x", None)
    many = row("100 scenarios of the Neuron driver inside, one load, processor time", hundred, "s", "at most 1/20", None)
    if (tools / "vmlinuz").exists():
        guest_check = stub_in_qemu(trnvp)
        check = beside(check, "guest of QEMU", guest_check, 1)
    if (tools / "neuron.ko").exists():
        guest, guest_insmod = driver_in_qemu(trnvp, tools)
        insmod = beside(insmod, "guest of QEMU", guest_insmod, 1.5)
        many = beside(many, "100 guests of QEMU", 100 * guest, 1 / 20)
    return [
        row("Linux inside boots and loads the Neuron driver, processor time", whole, "s", "at most 15 s", whole <= 15),
        row("Linux inside with the Neuron driver, resident", memory, "MiB", "at most 400 MiB", memory <= 400),
        row("scenario forked from a booted Linux inside, to its first step", first, "ms", "at most 30 ms", first <= 30),
        insmod,
        check,
        many,
    ]


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid):
    pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


WHOLE_RUNS = {
    "cold_boot": cold_boot,
    "idle": idle,
    "rack": rack,
    "telemetry": telemetry,
    "all_pairs": all_pairs,
    "collectives": collectives,
    "scenarios": scenarios,
    "snapshots": snapshots,
    "recording": recording,
    "tracing": tracing,
    "waveforms": waveforms,
    "matmuls": matmuls,
    "kernel_calls": kernel_calls,
    "kernels": kernels,
    "merge": regression.merge,
    "slurm": regression.slurm,
    "rtl": rtl,
    "host_inside": host_inside,
}


def run_all(build, only):
    """Returns the rows, and the names of failed programs, which run in the environment of tests: with
    their heap in huge pages, as trnvp and trnctl ask for it."""
    rows, failed = [], []
    presets = json.loads(pathlib.Path(__file__).resolve().parents[2].joinpath("CMakePresets.json").read_text(encoding="utf-8"))
    environment = os.environ | presets["testPresets"][0]["environment"]
    for program in sorted((build / "tests").glob("bench_*")):
        if only not in program.name:
            continue
        print(f"==> {program.name}", file=sys.stderr)
        with tempfile.NamedTemporaryFile(suffix=".json") as out:
            done = subprocess.run([program, "--json", out.name], stdout=sys.stderr, check=False, env=environment)
            if done.returncode != 0:
                failed.append(program.name)
                continue
            rows += json.load(open(out.name, encoding="utf-8"))
    for name, measure in WHOLE_RUNS.items():
        if only in name:
            print(f"==> {name}", file=sys.stderr)
            rows += measure(build / "trnvp")
    return rows, failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="build folder")
    parser.add_argument("--json", type=pathlib.Path, help="also write the rows to this file")
    parser.add_argument("--only", default="", help="run what has this text in its name")
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="run all so often; records have the medians")
    parser.add_argument("--record", metavar="NAME", help=f"write the record {history.FOLDER.name}/NAME.txt")
    parser.add_argument(
        "--compare",
        type=pathlib.Path,
        metavar="FILE",
        help="print what became slower or faster than in this record; status 1 when something is slower",
    )
    args = parser.parse_args()
    if args.runs < 1:
        parser.error("--runs: at least 1")
    try:
        old = history.read(args.compare) if args.compare else None
    except history.RecordError as why:
        parser.error(str(why))

    # `with` blocks remove their folders and end their programs.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench.py: terminated"))
    runs, failed = [], []
    for _ in range(args.runs):
        rows, failures = run_all(args.build, args.only)
        runs.append(rows)
        failed += failures
    table(runs[-1])
    if args.json:
        args.json.write_text(json.dumps(runs[-1], indent=1) + "\n", encoding="utf-8")
    new = history.of_runs(runs, history.this_machine())
    if args.record:
        history.FOLDER.mkdir(exist_ok=True)
        (history.FOLDER / f"{args.record}.txt").write_text(history.text_of(new), encoding="utf-8")
    changes = history.compare(old, new) if old else []
    for one in changes:
        print(one.text())
    if old and not changes:
        print(f"nothing changed beyond noise since {args.compare}")
    for name in failed:
        print(f"bench: {name} failed", file=sys.stderr)
    return 1 if failed or any(one.is_slower for one in changes) else 0


if __name__ == "__main__":
    sys.exit(main())
