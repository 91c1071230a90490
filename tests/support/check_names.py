#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks names: a variable, member or parameter of C++ and C is named by a noun that can be searched, not by a preposition or
pronoun. Prints file:line and the declaration; status 1 on violations.
"""
import pathlib
import re
import sys

from project_files import listed

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("platform", "models", "firmware", "sw-stubs", "tests/support")
WORDS = "as at by from how into it of on one that to what when where which who whose with".split()
SWITCH = re.compile(r"\bbool\b")  # `on` says a state
# Programs of users name these.
PUBLIC = {
    "sw-stubs/collectives/include/trn_coll.h: trn_coll_operator with",
    "sw-stubs/driver/include/trn_compute.h: trn_element from",
    "sw-stubs/host/collectives/collective.h: trn_coll_operator with",
}
NO_CODE = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.S)
NO_TYPE = "return|else|case|goto|delete|throw|and|or|not|if|operator"
DECLARATION = re.compile(
    rf"(?<![:.>\w])(?!(?:{NO_TYPE})\b)(?:const[ ])?([A-Za-z_][\w:<>]*(?:[ ]const)?[\s&*]+)({'|'.join(WORDS)})\b\s*(?=[;,)=\[{{:]|$)", re.M
)


def declarations(source: str) -> list[tuple[int, str]]:
    """Line and text of each declaration that is named by one of the words."""
    code = NO_CODE.sub(lambda part: re.sub(r"[^\n]", " ", part[0]), source)
    found = []
    for match in DECLARATION.finditer(code):
        if match[2] == "on" and SWITCH.search(match[1]):
            continue
        found.append((code.count("\n", 0, match.start(1)) + 1, " ".join(match[0].split())))
    return found


def main() -> int:
    wrong = []
    files = listed(ROOT, *(f"{folder}/*{suffix}" for folder in FOLDERS for suffix in (".h", ".cpp", ".c")))
    for name in files:
        for line, text in declarations((ROOT / name).read_text(encoding="utf-8", errors="replace")):
            if f"{name}: {text}" not in PUBLIC:
                wrong.append(f"{name}:{line}: '{text}': name what it is by a noun")
    print("\n".join(wrong) if wrong else f"names in {len(files)} files are nouns")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
