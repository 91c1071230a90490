# SPDX-License-Identifier: Apache-2.0
"""A random input as a list of choices: the same list makes the same input, a smaller list a simpler one."""
import random


class Choices:
    """Numbers below limits that the caller names. Those of `given` come first, then random ones, or 0 without a seed."""

    def __init__(self, given=(), seed=None):
        self._given, self._random = list(given), None if seed is None else random.Random(seed)
        self.made = []

    def below(self, limit):
        at = len(self.made)
        if at < len(self._given):
            value = min(self._given[at], limit - 1)
        else:
            value = self._random.randrange(limit) if self._random else 0
        self.made.append(value)
        return value

    def one_of(self, values):
        """The first is the simplest."""
        return values[self.below(len(values))]

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def chance(self, parts):
        """True for one number of `parts`."""
        return self.below(parts) == parts - 1


def smallest(choices, fails, tries=300):
    """A smaller list for which `fails` holds, after at most `tries` calls of it."""
    best = list(choices)

    def attempt(candidate):
        nonlocal best, tries
        if tries <= 0 or candidate == best:
            return False
        tries -= 1
        if not fails(candidate):
            return False
        best = candidate
        return True

    size = len(best) // 2
    while size >= 1:
        at = 0
        while at < len(best):
            if not attempt(best[:at] + best[at + size :]):
                at += size
        size //= 2
    for at in range(len(best)):
        if at < len(best) and best[at] and not attempt(best[:at] + [0] + best[at + 1 :]):
            attempt(best[:at] + [best[at] // 2] + best[at + 1 :])
    return best
