# SPDX-License-Identifier: Apache-2.0
"""The kernel that tests of command lines compile."""
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def double(x):
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=tile)
    return result
