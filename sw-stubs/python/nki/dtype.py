# SPDX-License-Identifier: Apache-2.0
"""Data types by name."""
from trn_nki.values.data_types import *  # noqa: F401,F403
