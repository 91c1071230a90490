# SPDX-License-Identifier: Apache-2.0
"""Kernels with copies that take more than one instruction: conversions, and rows of tables by index."""
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def converted(x):
    """x in FP16, from HBM to HBM; and its second row in FP32, by way of partition 1 of a tile."""
    result = nl.ndarray(x.shape, dtype=nl.float16, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=x)
    tile = nl.zeros((4, x.shape[1]), dtype=nl.float16)
    nisa.dma_copy(dst=tile[1], src=x[1:2])
    row = nl.ndarray((1, x.shape[1]), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=row, src=tile[1])
    return result, row


@nki.jit
def columns_of_rows(table, indices, first, count):
    """table[indices, first:first + count] in FP32: parts of rows, of another type than the tile; and their sum with the
    rows that follow in the index."""
    rows, pitch = indices.shape[0], table.shape[1]
    index = nl.load(indices)
    view = table.ap([[pitch, rows], [1, count]], offset=first, vector_offset=index, indirect_dim=0)
    tile = nl.ndarray((rows, count), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=view)
    result = nl.ndarray((rows, count), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=tile)
    following = nl.ndarray((rows, 1), dtype=indices.dtype, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=following, data=index, op0=nl.add, operand0=1)
    others = table.ap([[pitch, rows], [1, count]], offset=first, vector_offset=following, indirect_dim=0)
    sums = nl.ndarray((rows, count), dtype=table.dtype, buffer=nl.shared_hbm)
    nisa.dma_compute(dst=sums, srcs=[view, others], reduce_op=nl.add)
    return result, sums


@nki.jit
def scattered_halves(x, indices):
    """Row indices[n] of the result is row n of x, written in two halves of its columns, the second in FP16 first."""
    rows, columns = x.shape
    index, half = nl.load(indices), columns // 2
    result = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    left, right = nl.load(x[:, 0:half]), nl.load(x[:, half:], dtype=nl.float16)
    for offset, tile in ((0, left), (half, right)):
        target = result.ap([[columns, rows], [1, half]], offset=offset, vector_offset=index, indirect_dim=0)
        nisa.dma_copy(dst=target, src=tile)
    return result


@nki.jit
def reversed_operands(x, y):
    """y - (2 - x): both operators of scalar_tensor_tensor take their operands in the other order."""
    left, right = nl.load(x), nl.load(y)
    nisa.scalar_tensor_tensor(
        dst=left, data=left, op0=nl.subtract, operand0=2.0, op1=nl.subtract, operand1=right, reverse0=True, reverse1=True
    )
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=left)
    return result


@nki.jit
def moved_rows(x, places, rows):
    """Zeros of `rows` rows, with row places[0, 0] of x in row places[0, 1]: both ends of the copy come from the device."""
    chosen = nl.load(places)
    result = nl.ndarray((rows, x.shape[1]), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=nl.zeros((rows, x.shape[1]), dtype=x.dtype))
    first, second = nisa.register_alloc(chosen[0:1, 0:1]), nisa.register_alloc(chosen[0:1, 1:2])
    nisa.dma_copy(dst=result[nl.ds(second, 1), :], src=x[nl.ds(first, 1), :])
    return result


@nki.jit
def scaled_rows(x, factors):
    """x * factors * factors, where the factors of a row are repeated along the last dimension of x; in place."""
    rows, parts, columns = x.shape
    tile, factor = nl.load(x), nl.load(factors)
    repeated = factor.ap([[parts, rows], [1, parts], [0, columns]])
    nisa.tensor_tensor(dst=tile, data1=tile, data2=repeated, op=nl.multiply)
    tile = nl.multiply(tile, repeated)
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=tile)
    return result


@nki.jit
def sums_and_maxima(x, y):
    """Sums of x and maxima of y along the last dimension: two arguments and two results, each copied in slices."""
    parts, rows, columns = x.shape
    left, right = (nl.ndarray((rows, parts, columns), dtype=x.dtype, buffer=nl.sbuf) for _ in range(2))
    for part in nl.affine_range(parts):
        nisa.dma_copy(dst=left[:, part, :], src=x[part, :, :])
        nisa.dma_copy(dst=right[:, part, :], src=y[part, :, :])
    results = []
    for tile, operator in ((left, nl.add), (right, nl.maximum)):
        reduced = nl.ndarray((rows, parts), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=reduced, op=operator, data=tile, axis=2)
        result = nl.ndarray((parts, rows), dtype=nl.float32, buffer=nl.shared_hbm)
        for part in nl.affine_range(parts):
            nisa.dma_copy(dst=result[part, :], src=reduced[:, part : part + 1])
        results.append(result)
    return tuple(results)


@nki.jit
def rows_that_exist(table, indices):
    """table[indices], and -1 in the rows whose index is outside of the table."""
    rows, columns = indices.shape[0], table.shape[1]
    tile = nl.ndarray((rows, columns), dtype=table.dtype, buffer=nl.sbuf)
    nisa.memset(dst=tile, value=-1.0)
    view = table.ap([[columns, rows], [1, columns]], vector_offset=nl.load(indices), indirect_dim=0)
    nisa.dma_copy(dst=tile, src=view, oob_mode=nisa.oob_mode.skip)
    result = nl.ndarray((rows, columns), dtype=table.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=tile)
    return result
