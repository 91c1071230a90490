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


def without(first: Intervals, second: Intervals) -> Intervals:
    """The times of `first` that are not in `second`."""
    found: Intervals = []
    position = 0
    for begin, end in first:
        while position < len(second) and second[position][1] <= begin:
            position += 1
        step = position
        while step < len(second) and second[step][0] < end:
            if second[step][0] > begin:
                found.append((begin, second[step][0]))
            begin = max(begin, second[step][1])
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
