#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures collectives over the large boards against their closed-form bounds, as doc/performance.md has them.

usage: tests/bench/collectives.py BUILD [BOARD...] [--page]

Prints a row for each board, operation and algorithm. Times are simulated, so they are the same on every machine.

  latency  the same collective of next to nothing: all its steps, and what begins and ends it
  links    what the algorithm sends over its busiest link, divided by what that link carries
  engines  what it reads or writes, whatever is more, divided by what 16 DMA engines move
  HBM      what it reads and writes, together, divided by what the one stack that has all buffers moves
  cards    of several domains: what a rank sends to others, divided by its part of what an EFA card carries
  bound    latency + links, engines or HBM, whatever is more; of halving links wait for the addition that begins when the
           last bytes have come; + cards, unless bytes are passed on as they come; an algorithm whose steps overlap can
           beat it
  bytes    links, engines, HBM or cards alone: nothing can beat that

With --page the rows of the boards also replace those in doc/performance.md.

Exit status 1: some share of the bound is below 80 %, or some share of the bytes is beyond 100 %.
"""
import json
import pathlib
import subprocess
import sys

MIB = 1 << 20
PAGE = pathlib.Path(__file__).resolve().parents[2] / "doc/performance.md"
# A whole number of elements for each rank.
LITTLE = {"ultracluster-2": "18KiB"}  # else 9KiB
LANES = 16

# GB/s of a DMA engine and of a stack of HBM.
TRAINIUM1 = {"engine": 27.2, "hbm": 409.6}
TRAINIUM2 = {"engine": 27.2, "hbm": 729.6}
TRAINIUM3 = {"engine": 38.4, "hbm": 1228.8}
# Payload in GB/s of a link in each direction (doc/fidelity.md). Levels: (ranks, links); rings of four in a torus. Of
# several domains it is what one of them has; `card` is of an EFA card, which serves so many `chips`.
TRN3_GEN2 = {"levels": [(18, 277.5), (4, 222.0), (2, 110.9)], "rings": 1, "narrowest": 110.9, **TRAINIUM3}
BOARDS = {
    "trn3-sled": {"levels": [(4, 222.0)], "rings": 1, "narrowest": 222.0, **TRAINIUM3, "mib": 256},
    "trn2-48xl": {"torus": [114.8, 114.8], "rings": 4, "narrowest": 114.8, **TRAINIUM2, "mib": 16},
    "trn1-32xl": {"torus": [42.94, 42.94], "rings": 4, "channels": 2, "narrowest": 42.94, **TRAINIUM1, "mib": 16},
    "trn2-ultraserver": {"torus": [114.8, 114.8, 57.3], "rings": 4, "narrowest": 57.3, **TRAINIUM2, "mib": 16},
    "trn3-gen1": {"levels": [(16, 222.0), (2, 277.5), (2, 110.9)], "rings": 1, "narrowest": 110.9, **TRAINIUM3, "mib": 16},
    "trn3-gen2": {**TRN3_GEN2, "mib": 16},
    "ultracluster-2": {**TRN3_GEN2, "domains": 2, "card": 49.5, "chips": 2, "mib": 4},
}
RUNS = [("all-reduce", "ring"), ("all-reduce", "halving"),
        ("all-gather", "ring"), ("all-gather", "mesh"), ("all-gather", "doubling"),
        ("reduce-scatter", "ring"), ("reduce-scatter", "halving"),
        ("all-to-all", "mesh"), ("broadcast", "ring")]

COLUMNS = ["Board", "Operation", "Algorithm", "Time (us)", "busbw (GB/s)", "Latency", "Links", "Engines", "HBM",
           "Cards", "of the bound", "of the bytes"]


def ranks_of(board):
    """Of a domain."""
    count = 4 ** len(board.get("torus", []))
    for ranks, _ in board.get("levels", []):
        count *= ranks
    return count


def sides_of(board):
    """The grid of doubling and halving: (ranks of the side, which link it uses, GB/s of that)."""
    if "torus" in board:  # two sides of two for each ring of four, each with a link of its own
        return [(2, (level, half), rate) for level, rate in enumerate(board["torus"]) for half in (0, 1)]
    sides = []
    for level, (count, rate) in enumerate(board["levels"]):
        while count > 1:
            side = next(n for n in range(6, 0, -1) if count % n == 0)
            sides.append((side, level, rate))
            count //= side
    return sides


def grid_share(board):
    """Seconds per GB of the buffer for a reduce-scatter: what the busiest link needs for all channels, which begin with a
    side each, or what the links of a channel need one after the other."""
    sides, channels, busy, chains = sides_of(board), board.get("channels", 4), {}, []
    for channel in range(channels):
        left, chain = 1 / channels, 0
        for n in range(len(sides)):
            count, link, rate = sides[(channel + n) % len(sides)]
            needs = left * (count - 1) / count / rate
            busy[link] = busy.get(link, 0) + needs
            chain += needs
            left /= count
        chains.append(chain)
    return max([*busy.values(), *chains])


def mesh_share(board):
    """A block for each other rank. In a ring of four it takes one hop on average, and there are two links."""
    if "torus" in board:
        return max(1 / (2 * rate) for rate in board["torus"])
    return max((count - 1) / count / rate for count, rate in board["levels"])


def link_share(board, op, algorithm):
    """Seconds per GB of the buffer."""
    if algorithm == "mesh":
        return mesh_share(board)
    if algorithm in ("halving", "doubling"):
        return grid_share(board) * (2 if op == "all-reduce" else 1)
    ranks, rings = ranks_of(board), board["rings"]
    if op == "broadcast":  # a core for each ring
        rings = min(rings, board.get("channels", 4))
    sent = {"all-reduce": 2 * (ranks - 1) / ranks, "broadcast": 1}.get(op, (ranks - 1) / ranks)
    return sent / (rings * board["narrowest"])


def halving_work(board, writes=0):
    """Of the buffer: each part that is sent is a sum of everything that has come for it, and so is what is kept. Operands,
    and `writes` for each result."""
    work, left, operands = 0, 1, 1
    for count, _, _ in sides_of(board):
        work += left * (count - 1) / count * (operands + writes)
        left, operands = left / count, operands + count - 1
    return work, left * (operands + writes)


def last_addition(board, algorithm):
    """Seconds per GB of the buffer."""
    return halving_work(board)[1] / (LANES * board["engine"]) if algorithm == "halving" else 0


def engine_share(board, op, algorithm):
    """Seconds per GB of the buffer."""
    ranks = ranks_of(board)
    copies = (ranks - 1) / ranks
    if op == "broadcast":
        work = 1
    elif op in ("all-gather", "all-to-all"):
        work = copies
    elif algorithm == "ring":  # the first block is copied; the sum of the last is written twice in an all-reduce
        work = 3 * copies if op == "all-reduce" else 2 - 1 / ranks
    else:
        work = sum(halving_work(board)) + (copies if op == "all-reduce" else 0)
    return work / (LANES * board["engine"])


def memory_share(board, op, algorithm):
    """Seconds per GB of the buffer. What is sent is read here and written there, which for each rank is as much."""
    ranks = ranks_of(board)
    copies = (ranks - 1) / ranks
    if op == "broadcast":
        work = 2
    elif op in ("all-gather", "all-to-all"):  # the own block is written too
        work = 1 + copies
    elif algorithm == "ring":
        work = 5 - 4 / ranks if op == "all-reduce" else 3 - 1 / ranks
    else:
        work = sum(halving_work(board, writes=1))
        if op == "all-reduce":  # the last addition writes what the first step back sends
            work += 2 * copies - (sides_of(board)[-1][0] - 1) / ranks
    return work / board["hbm"]


def card_share(board, op):
    """Seconds per GB of the buffer. A sum is exchanged, of the part that each rank of a domain has; the bytes of a broadcast
    come from one rank, which has its card alone."""
    domains, ranks = board.get("domains", 1), ranks_of(board)
    if domains == 1:
        return 0
    if op == "broadcast":
        return (domains - 1) / board["card"]
    sent = {"all-reduce": 1 / ranks, "all-to-all": 1 / domains}.get(op, 1 / (domains * ranks))
    return (domains - 1) * sent / (board["card"] / board["chips"])


def bound_of(board, op, latency, links, engines, memory, last, cards):
    """Of an all-to-all and an all-gather, what the own domain has is moved while the cards are at work."""
    within = max(links + last, engines, memory)
    if op == "broadcast":
        return latency + max(within, cards)
    meanwhile = within / board.get("domains", 1) if op in ("all-to-all", "all-gather") else 0
    return latency + within + cards - min(meanwhile, cards)


def measure(trnctl, board, op, algorithm, size):
    out = subprocess.run([trnctl, "coll", "--board", board, "--op", op, "--algo", algorithm, "--bytes", size, "--check",
                          "--json"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(out.splitlines()[0])


def replace_rows(board, rows):
    """The page's table names a board in its first row only."""
    kept, place, inside = [], None, False
    for line in PAGE.read_text().splitlines():
        cell = line.split("|")[1].strip() if line.count("|") == len(rows[0]) + 1 else None
        inside = cell == board or (inside and cell == "")
        if not inside:
            kept.append(line)
        elif place is None:
            place = len(kept)
    if place is None:
        sys.exit(f"{PAGE}: no rows of {board}")
    kept[place:place] = [f"| {' | '.join(row if n == 0 else ['', *row[1:]])} |".replace("|  |", "| |")
                         for n, row in enumerate(rows)]
    PAGE.write_text("\n".join(kept) + "\n")


def main(build, names, page):
    trnctl, good, columns = pathlib.Path(build) / "trnctl", True, None
    for name in names or BOARDS:
        board, before = BOARDS[name], columns
        columns = COLUMNS if "domains" in board else [column for column in COLUMNS if column != "Cards"]
        if columns != before:
            print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
        rows = []
        for op, algorithm in RUNS:
            size = board["mib"] * MIB / 1e3  # so that times are in us
            latency = measure(trnctl, name, op, algorithm, LITTLE.get(name, "9KiB"))["time_us"]
            found = measure(trnctl, name, op, algorithm, f"{board['mib']}MiB")
            took = found["time_us"]
            links, engines, memory = (size * of(board, op, algorithm) for of in (link_share, engine_share, memory_share))
            last = size * last_addition(board, algorithm)
            cards = size * card_share(board, op)
            bytes_ = max(links, engines, memory, cards)
            bound = bound_of(board, op, latency, links, engines, memory, last, cards)
            good &= bound >= 0.8 * took and bytes_ <= took
            row = [name, op, algorithm, f"{took:.2f}", f"{found['busbw_gb_per_s']:.1f}",
                   *(f"{us:.1f}" for us in [latency, links, engines, memory, cards][:len(columns) - 7]),
                   f"{100 * bound / took:.0f} %", f"{100 * bytes_ / took:.0f} %"]
            rows.append(row)
            print(f"| {' | '.join(row)} |", flush=True)
        if page and "domains" not in board:
            replace_rows(name, rows)
    return 0 if good else 1


if __name__ == "__main__":
    arguments = [one for one in sys.argv[1:] if one != "--page"]
    if not arguments or any(name not in BOARDS for name in arguments[1:]):
        sys.exit(__doc__)
    sys.exit(main(arguments[0], arguments[1:], "--page" in sys.argv))
