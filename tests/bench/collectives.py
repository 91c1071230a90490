#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures collectives over the large boards against their closed-form bounds (doc/performance.md).

usage: tests/bench/collectives.py BUILD [BOARD...] [--page]

Prints a row for each board, operation and algorithm. Times are simulated, so they are the same on
every machine.
    latency  the same collective of a minimal size: the cost of its steps, its start and its end
    links    bytes over the busiest link, divided by the rate of that link
    engines  larger of bytes read and written, divided by the rate of 16 DMA engines
    HBM      sum of bytes read and written, divided by the rate of the one stack with all buffers
    cards    several domains: bytes from a rank to other domains, divided by its share of a card
    bound    latency + largest of links, engines and HBM; + cards, unless bytes are forwarded as
             they arrive. Halving adds the last addition to links: it starts after the last bytes
             arrive. An algorithm with overlapping steps can be faster.
    bytes    links, engines, HBM or cards alone: a lower limit for every algorithm

With --page the rows of the boards also replace those in doc/performance.md.

Exit status 1: a share of the bound is below 80 %, or a share of the bytes is above 100 %.
"""
import json
import pathlib
import subprocess
import sys

MIB = 1 << 20
PAGE = pathlib.Path(__file__).resolve().parents[2] / "doc/performance.md"
# Sizes for the latency: a whole number of elements for each rank.
LITTLE = {"ultracluster-2": "18KiB"}  # others use 9KiB
LANES = 16

# GB/s of a DMA engine and of an HBM stack.
TRAINIUM1 = {"engine": 27.2, "hbm": 409.6}
TRAINIUM2 = {"engine": 27.2, "hbm": 729.6}
TRAINIUM3 = {"engine": 38.4, "hbm": 1228.8}
# Payload of a link in GB/s per direction (doc/fidelity.md). Levels: (ranks, links); a torus has
# rings of four. With several domains the values are per domain; `card` is the rate of an EFA card
# that serves `chips` chips.
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
RUNS = [
    ("all-reduce", "ring"),
    ("all-reduce", "halving"),
    ("all-gather", "ring"),
    ("all-gather", "mesh"),
    ("all-gather", "doubling"),
    ("reduce-scatter", "ring"),
    ("reduce-scatter", "halving"),
    ("all-to-all", "mesh"),
    ("broadcast", "ring"),
]

COLUMNS = [
    "Board",
    "Operation",
    "Algorithm",
    "Time (us)",
    "busbw (GB/s)",
    "Latency",
    "Links",
    "Engines",
    "HBM",
    "Cards",
    "of the bound",
    "of the bytes",
]


def ranks_of(board):
    """Ranks of one domain."""
    count = 4 ** len(board.get("torus", []))
    for ranks, _ in board.get("levels", []):
        count *= ranks
    return count


def sides_of(board):
    """Sides of the grid of doubling and halving: (ranks of the side, link, GB/s of the link)."""
    if "torus" in board:  # each ring of four is two sides of two ranks with separate links
        return [(2, (level, half), rate) for level, rate in enumerate(board["torus"]) for half in (0, 1)]
    sides = []
    for level, (count, rate) in enumerate(board["levels"]):
        while count > 1:
            side = next(n for n in range(6, 0, -1) if count % n == 0)
            sides.append((side, level, rate))
            count //= side
    return sides


def grid_share(board):
    """Seconds per GB of the buffer for a reduce-scatter: the larger of the time of the busiest link
    over all channels (each starts with a different side) and the sum of link times of one channel.
    """
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
    """Each rank sends one block to each other rank. In a ring of four a block takes one hop on
    average, over two links."""
    if "torus" in board:
        return max(1 / (2 * rate) for rate in board["torus"])
    return max((count - 1) / count / rate for count, rate in board["levels"])


def link_share(board, op, algorithm):
    """Link time in seconds per GB of the buffer."""
    if algorithm == "mesh":
        return mesh_share(board)
    if algorithm in ("halving", "doubling"):
        return grid_share(board) * (2 if op == "all-reduce" else 1)
    ranks, rings = ranks_of(board), board["rings"]
    if op == "broadcast":  # one core for each ring
        rings = min(rings, board.get("channels", 4))
    sent = {"all-reduce": 2 * (ranks - 1) / ranks, "broadcast": 1}.get(op, (ranks - 1) / ranks)
    return sent / (rings * board["narrowest"])


def halving_work(board, writes=0):
    """Bytes read and written, relative to the buffer. Each part sent or kept is the sum of all
    received parts: reads its operands, and writes each result `writes` times."""
    work, left, operands = 0, 1, 1
    for count, _, _ in sides_of(board):
        work += left * (count - 1) / count * (operands + writes)
        left, operands = left / count, operands + count - 1
    return work, left * (operands + writes)


def last_addition(board, algorithm):
    """Time of the last addition in seconds per GB of the buffer."""
    return halving_work(board)[1] / (LANES * board["engine"]) if algorithm == "halving" else 0


def engine_share(board, op, algorithm):
    """DMA engine time in seconds per GB of the buffer."""
    ranks = ranks_of(board)
    copies = (ranks - 1) / ranks
    if op == "broadcast":
        work = 1
    elif op in ("all-gather", "all-to-all"):
        work = copies
    elif algorithm == "ring":  # the first block is copied; an all-reduce writes the last sum twice
        work = 3 * copies if op == "all-reduce" else 2 - 1 / ranks
    else:
        work = sum(halving_work(board)) + (copies if op == "all-reduce" else 0)
    return work / (LANES * board["engine"])


def memory_share(board, op, algorithm):
    """HBM time in seconds per GB of the buffer. A rank sends as much as it receives, so reads and
    writes are equal."""
    ranks = ranks_of(board)
    copies = (ranks - 1) / ranks
    if op == "broadcast":
        work = 2
    elif op in ("all-gather", "all-to-all"):  # a rank also writes its own block
        work = 1 + copies
    elif algorithm == "ring":
        work = 5 - 4 / ranks if op == "all-reduce" else 3 - 1 / ranks
    else:
        work = sum(halving_work(board, writes=1))
        if op == "all-reduce":  # the last addition also writes the data of the first following step
            work += 2 * copies - (sides_of(board)[-1][0] - 1) / ranks
    return work / board["hbm"]


def card_share(board, op):
    """Card time in seconds per GB of the buffer. Each rank exchanges the sum of its part with other
    domains; a broadcast uses only the root rank's share of a card."""
    domains, ranks = board.get("domains", 1), ranks_of(board)
    if domains == 1:
        return 0
    if op == "broadcast":
        return (domains - 1) / board["card"]
    sent = {"all-reduce": 1 / ranks, "all-to-all": 1 / domains}.get(op, 1 / (domains * ranks))
    return (domains - 1) * sent / (board["card"] / board["chips"])


def bound_of(board, op, latency, links, engines, memory, last, cards):
    """In an all-to-all and an all-gather, transfers inside the domain overlap with those of the
    cards."""
    within = max(links + last, engines, memory)
    if op == "broadcast":
        return latency + max(within, cards)
    meanwhile = within / board.get("domains", 1) if op in ("all-to-all", "all-gather") else 0
    return latency + within + cards - min(meanwhile, cards)


def measure(trnctl, board, op, algorithm, size):
    out = subprocess.run(
        [trnctl, "coll", "--board", board, "--op", op, "--algo", algorithm, "--bytes", size, "--check", "--json"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    return json.loads(out.splitlines()[0])


def replace_rows(board, rows):
    """Replaces a board's rows; only the first row of a board names it in the page's table."""
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
    kept[place:place] = [f"| {' | '.join(row if n == 0 else ['', *row[1:]])} |".replace("|  |", "| |") for n, row in enumerate(rows)]
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
            size = board["mib"] * MIB / 1e3  # times are in us
            latency = measure(trnctl, name, op, algorithm, LITTLE.get(name, "9KiB"))["time_us"]
            found = measure(trnctl, name, op, algorithm, f"{board['mib']}MiB")
            took = found["time_us"]
            links, engines, memory = (size * of(board, op, algorithm) for of in (link_share, engine_share, memory_share))
            last = size * last_addition(board, algorithm)
            cards = size * card_share(board, op)
            bytes_ = max(links, engines, memory, cards)
            bound = bound_of(board, op, latency, links, engines, memory, last, cards)
            good &= bound >= 0.8 * took and bytes_ <= took
            row = [
                name,
                op,
                algorithm,
                f"{took:.2f}",
                f"{found['busbw_gb_per_s']:.1f}",
                *(f"{us:.1f}" for us in [latency, links, engines, memory, cards][: len(columns) - 7]),
                f"{100 * bound / took:.0f} %",
                f"{100 * bytes_ / took:.0f} %",
            ]
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
