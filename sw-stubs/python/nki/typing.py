# SPDX-License-Identifier: Apache-2.0
"""Names for annotations; they have no effect."""
from trn_nki.tensors.tensor import NkiTensor as tensor

__all__ = ["tensor"]
