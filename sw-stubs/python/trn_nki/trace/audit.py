# SPDX-License-Identifier: Apache-2.0
"""Checks of a whole recording, before it is simulated or compiled."""
from __future__ import annotations

from trn_nki.trace.capacity import check_capacity
from trn_nki.trace.products import warn_products
from trn_nki.trace.recording import Recording
from trn_nki.trace.written import check_tiles, warn_lost


def audit(recording: Recording) -> None:
    """Raises KernelError, and warns, once for each recording."""
    if not recording.is_audited:
        check_tiles(recording)
        check_capacity(recording)
        warn_products(recording)
        warn_lost(recording)
        recording.is_audited = True
