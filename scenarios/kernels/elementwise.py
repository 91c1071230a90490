# SPDX-License-Identifier: Apache-2.0
"""Kernels that work element by element."""
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def add(a, b):
    """a + b for matrices whose rows are a multiple of 128."""
    rows, columns = a.shape
    result = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    for first in nl.affine_range(rows // nl.tile_size.pmax):
        part = nl.ds(first * nl.tile_size.pmax, nl.tile_size.pmax)
        left = nl.ndarray((nl.tile_size.pmax, columns), dtype=a.dtype, buffer=nl.sbuf)
        right = nl.ndarray(left.shape, dtype=b.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=left, src=a[part, :])
        nisa.dma_copy(dst=right, src=b[part, :])
        nisa.tensor_tensor(dst=left, data1=left, data2=right, op=nl.add)
        nisa.dma_copy(dst=result[part, :], src=left)
    return result


@nki.jit
def transpose(a):
    """The transpose of a matrix of at most 128 x 128, on the Tensor engine."""
    rows, columns = a.shape
    tile = nl.load(a)
    turned = nl.ndarray((columns, rows), dtype=a.dtype, buffer=nl.psum)
    nisa.nc_transpose(dst=turned, data=tile, engine=nisa.engine.tensor)
    copied = nl.ndarray((columns, rows), dtype=a.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=copied, src=turned)
    result = nl.ndarray((columns, rows), dtype=a.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=copied)
    return result


@nki.jit
def average_pool(a, size):
    """The mean of each size x size window of [channels, height, width], windows side by side."""
    channels, height, width = a.shape
    tile = nl.load(a)
    windows = tile.reshape((channels, height // size, size, width // size, size)).permute((0, 1, 3, 2, 4))
    pooled = nl.ndarray((channels, height // size, width // size), dtype=a.dtype, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=pooled, op=nl.add, data=windows, axis=(3, 4))
    nisa.tensor_scalar(dst=pooled, data=pooled, op0=nl.multiply, operand0=1.0 / (size * size))
    result = nl.ndarray(pooled.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=pooled)
    return result


@nki.jit
def cumulative_sum(a):
    """The running sum along the rows of a matrix with at most 128 rows."""
    tile = nl.load(a)
    ones = nl.ndarray(tile.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=ones, value=1.0)
    nisa.tensor_tensor_scan(dst=tile, data0=ones, data1=tile, initial=0.0, op0=nl.multiply, op1=nl.add)
    result = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=tile)
    return result


@nki.jit
def largest(a):
    """The eight largest elements of each row, and their indices."""
    tile = nl.load(a)
    values = nl.ndarray((a.shape[0], 8), dtype=nl.float32, buffer=nl.sbuf)
    indices = nl.ndarray((a.shape[0], 8), dtype=nl.uint32, buffer=nl.sbuf)
    nisa.max8(dst=values, src=tile)
    nisa.nc_find_index8(dst=indices, data=tile, vals=values)
    results = nl.ndarray(values.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    positions = nl.ndarray(values.shape, dtype=nl.uint32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=results, src=values)
    nisa.dma_copy(dst=positions, src=indices)
    return results, positions
