# SPDX-License-Identifier: Apache-2.0
"""Draws mutations at random, as many of each folder as its share of all candidates."""
import random

from places import place


class draw:
    """`chosen[n]` has number n + 1. A place that does not compile is replaced by another of its stratum: a stretch of the
    candidates in the order of their files."""

    def __init__(self, candidates: list[place], count: int, seed: int, refused: set[str] = frozenset()) -> None:
        candidates = sorted(candidates, key=lambda one: (one.file, one.start, one.end, one.what))
        chance = random.Random(seed)
        self.strata = [candidates[len(candidates) * n // count : len(candidates) * (n + 1) // count] for n in range(count)]
        for stratum in self.strata:
            chance.shuffle(stratum)
        self.refused = refused
        self.chosen: list[place | None] = [None] * count
        for number in range(count):
            self.choose(number)

    def choose(self, number: int) -> None:
        stratum = self.strata[number]
        self.chosen[number] = None
        while stratum and self.chosen[number] is None:
            one = stratum.pop()
            if one.key not in self.refused and not any(other and overlap(one, other) for other in self.chosen):
                self.chosen[number] = one

    def replace(self, number: int) -> None:
        self.choose(number)

    def by_file(self) -> dict[str, dict[int, place]]:
        found: dict[str, dict[int, place]] = {}
        for number, one in enumerate(self.chosen, 1):
            if one is not None:
                found.setdefault(one.file, {})[number] = one
        return found


def overlap(one: place, other: place) -> bool:
    return one.file == other.file and one.start < other.end and other.start < one.end


def mutated(source: str, places: dict[int, place], switch: str) -> str:
    """A source with the mutations `places`: number -> place; lines keep their numbers."""
    for number, one in sorted(places.items(), key=lambda item: -item[1].start):
        source = source[: one.start] + one.text.replace("TRN_MUTATED", f"TRN_MUTATION({number}u)") + source[one.end :]
    first = min(places)
    numbers = ", ".join(str(number) for number in sorted(places))
    return (
        f'#ifndef TRN_MUTATED_{first}\n#define TRN_MUTATED_{first}\n#include "{switch}"\n'
        f'#ifndef __riscv\n__attribute__((used, section("trn_mutated"))) static const unsigned short trn_mutated_{first}[] = '
        f"{{{numbers}}};\n#endif\n#endif\n#line 1\n" + source
    )
