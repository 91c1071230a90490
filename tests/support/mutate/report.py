# SPDX-License-Identifier: Apache-2.0
"""The table of a run, and its rates with their intervals."""
import math


def wilson(hits: int, count: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of a rate (E. B. Wilson, 1927)."""
    if count == 0:
        return 0.0, 1.0
    rate = hits / count
    centre = (rate + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(rate * (1 - rate) / count + z * z / (4 * count * count))
    return max(0.0, centre - half), min(1.0, centre + half)


def rate(name: str, hits: int, count: int) -> str:
    low, high = wilson(hits, count)
    percent = 100 * hits / count if count else 0.0
    return f"{name}: {hits} of {count}, {percent:.0f} % (95 % interval {100 * low:.0f} to {100 * high:.0f} %)"


def rates(results: list[dict]) -> list[str]:
    killed = [one for one in results if one["verdict"] == "killed"]
    return [rate("killed", len(killed), len(results)), rate("killed by unit tests", sum(one["unit"] for one in killed), len(results))]


def table(results: list[dict]) -> str:
    """Survivors and unreached places first: they are what one reads."""
    order = ["unreached", "survived", "killed"]
    lines = []
    for one in sorted(results, key=lambda one: (order.index(one["verdict"]), one["file"], one["line"])):
        by = f"{one['test']}{' (unit)' if one['unit'] else ''}" if one["test"] else f"{one['reached_by']} tests reach it"
        why = f", {one['why']}" if "limit" in one["why"] else ""
        lines.append(f"{one['verdict']:<9} {one['file']}:{one['line']}: {one['what']}\n{'':<9} {by}{why}")
    return "\n".join(lines + [""] + rates(results))
