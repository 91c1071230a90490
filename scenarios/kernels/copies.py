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
    nisa.scalar_tensor_tensor(dst=left, data=left, op0=nl.subtract, operand0=2.0, op1=nl.subtract, operand1=right,
                              reverse0=True, reverse1=True)
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
