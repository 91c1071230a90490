# SPDX-License-Identifier: Apache-2.0
"""Kernels of the Tensor engine: products and transposes."""
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def matmul(at, b):
    """at transposed times b: at [K, M], b [K, N]; K and M are multiples of 128, N of 512."""
    (depth, rows), columns = at.shape, b.shape[1]
    result = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.shared_hbm)
    for m in nl.affine_range(rows // 128):
        for n in nl.affine_range(columns // 512):
            total = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(depth // 128):
                stationary = nl.ndarray((128, 128), dtype=at.dtype, buffer=nl.sbuf)
                moving = nl.ndarray((128, 512), dtype=b.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=stationary, src=at[nl.ds(k * 128, 128), nl.ds(m * 128, 128)])
                nisa.dma_copy(dst=moving, src=b[nl.ds(k * 128, 128), nl.ds(n * 512, 512)])
                nisa.nc_matmul(dst=total, stationary=stationary, moving=moving)
            copied = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_copy(dst=copied, src=total)
            nisa.dma_copy(dst=result[nl.ds(m * 128, 128), nl.ds(n * 512, 512)], src=copied)
    return result


@nki.jit
def transpose(x):
    """x transposed, by the Tensor engine; at most 128 x 128."""
    rows, columns = x.shape
    tile = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    turned = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.psum)
    nisa.nc_transpose(dst=turned, data=tile)
    copied = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=copied, src=turned)
    result = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=copied)
    return result


@nki.jit
def transpose_by_dma(x):
    """x transposed on its way from HBM to SBUF."""
    rows, columns = x.shape
    turned = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_transpose(dst=turned, src=x)
    result = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=turned)
    return result
