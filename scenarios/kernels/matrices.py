# SPDX-License-Identifier: Apache-2.0
"""Matrix products."""
import nki
import nki.isa as nisa
import nki.language as nl

P = nl.tile_size.pmax


@nki.jit
def matmul(at, b):
    """at.T @ b; rows a multiple of 128, columns of b a multiple of 512 or less than it."""
    depth, rows = at.shape
    _, columns = b.shape
    width = min(columns, nl.tile_size.gemm_moving_fmax)
    result = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.shared_hbm)
    for row in nl.affine_range(rows // P):
        for column in nl.affine_range(columns // width):
            total = nl.ndarray((P, width), dtype=nl.float32, buffer=nl.psum)
            for step in nl.affine_range(depth // P):
                left = nl.ndarray((P, P), dtype=at.dtype, buffer=nl.sbuf)
                right = nl.ndarray((P, width), dtype=b.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=left, src=at[nl.ds(step * P, P), nl.ds(row * P, P)])
                nisa.dma_copy(dst=right, src=b[nl.ds(step * P, P), nl.ds(column * width, width)])
                nisa.nc_matmul(dst=total, stationary=left, moving=right)
            copied = nl.ndarray((P, width), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_copy(dst=copied, src=total)
            nisa.dma_copy(dst=result[nl.ds(row * P, P), nl.ds(column * width, width)], src=copied)
    return result


@nki.jit
def matmul_mx(a, b):
    """Quantises [128, 4 M] and [128, 4 N] in BF16 to MX and multiplies: [M, N] in FP32. v4 only."""
    factors = []
    for source in (a, b):
        tile = nl.load(source)
        columns = source.shape[1] // 4
        packed = nl.ndarray((P, columns), dtype=nl.float8_e4m3fn_x4, buffer=nl.sbuf)
        scale = nl.ndarray((P, columns), dtype=nl.float8_e8m0fnu, buffer=nl.sbuf)
        nisa.quantize_mx(dst=packed, src=tile, dst_scale=scale)
        factors.append((packed, scale))
    total = nl.ndarray((a.shape[1] // 4, b.shape[1] // 4), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul_mx(dst=total, stationary=factors[0][0], moving=factors[1][0], stationary_scale=factors[0][1], moving_scale=factors[1][1])
    copied = nl.ndarray(total.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=copied, src=total)
    result = nl.ndarray(total.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=copied)
    return result
