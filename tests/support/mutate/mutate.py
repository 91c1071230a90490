#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes the sources in small ways, and counts for how many of the changes a test fails: doc/mutation.md.

Draws N mutations of models/, platform/, sw-stubs/ and firmware/, compiles all of them at once into a copy of the project in
build-mutate/, each behind a switch, and runs for each the tests that reach it until one fails. Tests of Linux guests and nightly
tests are left out."""
import argparse
import json
import pathlib
import sys
import time

import build
import campaign
import draw
import report
import tree

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIMIT = 2000


def count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= LIMIT:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of mutations from 1 to {LIMIT}")
    return int(text)


def seed(text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise argparse.ArgumentTypeError(f"'{text}' is not a seed: a number from 0 of at most 18 digits")
    return int(text)


def jobs(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 64:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of tests at a time from 1 to 64")
    return int(text)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", metavar="N", nargs="?", type=count, default=60, help="mutations (default 60)")
    parser.add_argument("--seed", type=seed, default=1, help="of the draw (default 1)")
    parser.add_argument("--only", action="append", default=[], metavar="PATH", help="draw from files whose path starts so only")
    parser.add_argument("--unit-tests", action="store_true", help="build and run unit tests only")
    parser.add_argument("--jobs", type=jobs, default=2, help="compilers or tests at a time (default 2)")
    parser.add_argument("--list", action="store_true", help="print the draw; build and run nothing")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="also write the results here")
    return parser.parse_args()


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def drawn_from(copy: tree.tree, wanted: argparse.Namespace, refused: build.refusals) -> draw.draw:
    names = [name for name in copy.sources() if not wanted.only or name.startswith(tuple(wanted.only))]
    candidates = copy.candidates(names)
    if not candidates:
        sys.exit(f"dev: nothing to mutate in {', '.join(wanted.only)}: name files or folders of {', '.join(tree.PARTS)}")
    say(f"{len(candidates)} candidates in {len(names)} files")
    return draw.draw(candidates, min(wanted.count, len(candidates)), wanted.seed, refused.keys)


def run(root: pathlib.Path, wanted: argparse.Namespace) -> list[dict]:
    """The results of all mutations; also written to build-mutate/mutations.json."""
    folder = root / "build-mutate"
    copy = tree.tree(root, folder)
    refused = build.refusals(folder)
    built = build.build(copy, wanted.jobs)
    drawn = drawn_from(copy, wanted, refused)
    say(f"building build-mutate/tree with {len(drawn.chosen)} mutations")
    built.make(drawn, refused, wanted.unit_tests, say)
    ran = campaign.campaign(built, drawn, folder, wanted.jobs, say)
    try:
        results = ran.judge(wanted.unit_tests)
    finally:
        ran.close()
    text = json.dumps({"seed": wanted.seed, "mutations": results}, indent=1) + "\n"
    for file in (folder / "mutations.json", *([wanted.json] if wanted.json else [])):
        file.write_text(text)
    return results


def main() -> int:
    wanted = arguments()
    if wanted.list:
        copy = tree.tree(ROOT, ROOT / "build-mutate")
        for one in drawn_from(copy, wanted, build.refusals(ROOT / "build-mutate")).chosen:
            print(f"{one.file}:{one.line}: {one.what}" if one else "none left")
        return 0
    try:
        print(report.table(run(ROOT, wanted)))
    except build.build_error as why:
        sys.exit(f"dev: {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
