# SPDX-License-Identifier: Apache-2.0
"""One sentence: what bounds an execution, where, and what to try."""
from __future__ import annotations

import os

from trn_nki.profile import analysis
from trn_nki.profile.critical_path import COPIES, LATENCY, REST, SIGNALS, Path, critical_path
from trn_nki.profile.records import Profile, kept

LARGE_ROW = 512  # bytes of a packet from which its fixed cost matters little
SIGNAL_BYTES = 4  # of the packet with which each DMA engine posts a semaphore
BUSY_HBM_PERCENT = 80.0  # of the peak bandwidth

_WORK = {
    "tensor": "fewer or larger matmuls, or a narrower type",
    "vector": "another engine for a part, or fewer passes over the data",
    "scalar": "another engine for a part, or fewer passes over the data",
    "gpsimd": "Vector or Scalar where they have the operation",
    "sync": "fewer instructions of Sync",
}


@kept
def verdict_of(profile: Profile) -> str:
    path = critical_path(profile)
    whole = sum(path.kinds.values())
    if not whole:
        return "Nothing ran."
    kind, time = max(path.kinds.items(), key=lambda part: part[1])
    share = f"{100 * time / whole:.0f} % of its critical path"
    if kind == COPIES:
        return _copies(profile, path, share)
    place = _place(path, kind)
    if kind == SIGNALS:
        return (
            f"Waits between engines bound this execution: {share}{place}; try larger tiles, so that each wait is followed by more "
            "work, or work that does not depend on it."
        )
    if kind == LATENCY:
        return (
            f"The latency of dependent instructions bounds this execution: {share}{place}; try larger tiles, or independent "
            "instructions between dependent ones."
        )
    if kind == REST:
        return (
            f"Starting instructions bounds this execution: {share} is neither computation nor copies{place}; try fewer and "
            "larger instructions."
        )
    return f"The {kind.capitalize()} engine bounds this execution: {share} is its computation{place}; try {_WORK[kind]}."


@kept
def mean_packet(profile: Profile) -> float:
    """Bytes of the DMA packets that are no semaphore posts; 0 without any."""
    sizes = [transfer.bytes for transfer in profile.transfers if transfer.bytes > SIGNAL_BYTES]
    return sum(sizes) / len(sizes) if sizes else 0.0


def _place(path: Path, kind: str) -> str:
    """The line with the largest part."""
    source, time = max(path.lines[kind].items(), key=lambda part: part[1])
    if not source:
        return ""
    return f", {100 * time / path.kinds[kind]:.0f} % of that at {os.path.basename(source)}"


def _copies(profile: Profile, path: Path, share: str) -> str:
    place = _place(path, COPIES)
    size = mean_packet(profile)
    roof = analysis.roofline_of(profile)
    used = 100 * roof.hbm_bytes / (roof.peak_bandwidth * roof.seconds) if roof.peak_bandwidth else 0.0
    if used >= BUSY_HBM_PERCENT:
        return (
            f"HBM bandwidth bounds this execution: {share} are copies{place}, and HBM is used to {used:.0f} %; try to load each "
            "element once, into blocks that stay in SBUF."
        )
    advice = f"rows of {LARGE_ROW} bytes and more" if size < LARGE_ROW else "to start copies earlier, into tiles that are not in use,"
    return (
        f"Copies bound this execution: {share}{place}; their packets have {size:.0f} bytes on average and HBM is used to "
        f"{used:.0f} %; try {advice} or to load each element once."
    )
