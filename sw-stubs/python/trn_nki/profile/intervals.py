# SPDX-License-Identifier: Apache-2.0
"""Sets of times: sorted lists of disjoint (begin, end)."""
from __future__ import annotations

from typing import Iterable

Intervals = list[tuple[int, int]]


def union(spans: Iterable[tuple[int, int]]) -> Intervals:
    found: Intervals = []
    for begin, end in sorted(spans):
        if end <= begin:
            continue
        if found and begin <= found[-1][1]:
            if end > found[-1][1]:
                found[-1] = (found[-1][0], end)
        else:
            found.append((begin, end))
    return found


def without(one: Intervals, other: Intervals) -> Intervals:
    """The times of `one` that are not in `other`."""
    found: Intervals = []
    at = 0
    for begin, end in one:
        while at < len(other) and other[at][1] <= begin:
            at += 1
        step = at
        while step < len(other) and other[step][0] < end:
            if other[step][0] > begin:
                found.append((begin, other[step][0]))
            begin = max(begin, other[step][1])
            step += 1
        if begin < end:
            found.append((begin, end))
    return found


def length(spans: Iterable[tuple[int, int]]) -> int:
    return sum(end - begin for begin, end in spans)


def clipped(spans: Intervals, first: int, last: int) -> Intervals:
    return [(max(begin, first), min(end, last)) for begin, end in spans if begin < last and end > first]


def sampled(spans: Iterable[tuple[int, int, float]], first: int, last: int, count: int) -> list[float]:
    """What spans (begin, end, amount) contribute to each of `count` equal parts of the time from first to last."""
    parts = [0.0] * count
    width = max(1, last - first) / count
    for begin, end, amount in spans:
        if end < first or begin > last:
            continue
        rate = amount / (end - begin) if end > begin else 0.0
        begin, end = max(begin, first), min(end, last)
        low = min(count - 1, int((begin - first) / width))
        high = min(count - 1, int((end - first) / width))
        if low == high:
            parts[low] += rate * (end - begin) if rate else amount
            continue
        parts[low] += rate * (first + (low + 1) * width - begin)
        for part in range(low + 1, high):
            parts[part] += rate * width
        parts[high] += rate * (end - first - high * width)
    return parts
