# SPDX-License-Identifier: Apache-2.0
"""The rules of doc/spec/neuron-core.md for each operation, applied while it is recorded."""
from trn_nki.checks.table import check

__all__ = ["check"]
