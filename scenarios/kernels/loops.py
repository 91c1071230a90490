# SPDX-License-Identifier: Apache-2.0
"""Kernels with loops of the device: bounds, conditions and indices that are known only when the kernel runs."""
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def doubled_rows(x, count):
    """Twice the first count[0] blocks of 128 rows of x; the others are 0."""
    rows, columns = x.shape
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    zeros = nl.zeros((128, columns), dtype=x.dtype)
    for block in nl.affine_range(rows // 128):
        nisa.dma_copy(dst=result[nl.ds(block * 128, 128), :], src=zeros)
    blocks = nisa.register_alloc(nl.load(count))
    for block in nl.dynamic_range(blocks):
        tile = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[nl.ds(block * 128, 128), :])
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
        nisa.dma_copy(dst=result[nl.ds(block * 128, 128), :], src=tile)
    return result


@nki.jit
def matmul(at, b, depth):
    """at[0:128 depth] transposed times b[0:128 depth]: loops over both dimensions of the result and over the depth, which
    a tensor holds. Every engine takes part; the sums stay in SBUF."""
    rows, columns = at.shape[1], b.shape[1]
    result = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.shared_hbm)
    blocks = nisa.register_alloc(nl.load(depth))

    def row_block(m):
        def column_block(n):
            total = nl.zeros((128, 256), dtype=nl.float32)

            def depth_block(k):
                stationary = nl.ndarray((128, 128), dtype=at.dtype, buffer=nl.sbuf)
                moving = nl.ndarray((128, 256), dtype=b.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=stationary, src=at[nl.ds(k * 128, 128), nl.ds(m * 128, 128)])
                nisa.dma_copy(dst=moving, src=b[nl.ds(k * 128, 128), nl.ds(n * 256, 256)])
                product = nl.ndarray((128, 256), dtype=nl.float32, buffer=nl.psum)
                nisa.nc_matmul(dst=product, stationary=stationary, moving=moving)
                nisa.tensor_tensor(dst=total, data1=total, data2=product, op=nl.add)

            nl.fori_loop(0, blocks, depth_block)
            scaled = nl.ndarray((128, 256), dtype=nl.float32, buffer=nl.sbuf)
            nisa.activation(dst=scaled, op=nl.copy, data=total, scale=0.5)
            nisa.dma_copy(dst=result[nl.ds(m * 128, 128), nl.ds(n * 256, 256)], src=scaled)

        nl.fori_loop(0, columns // 256, column_block)

    nl.fori_loop(0, rows // 128, row_block)
    return result


@nki.jit
def halved_until_small(x, limit):
    """x divided by 2 until its largest element is not above `limit`, and how often: a loop with a condition."""
    tile = nl.load(x)
    passes = nl.zeros((1, 1), dtype=nl.int32)
    highest = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
    condition = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)

    def compare():
        nisa.tensor_reduce(dst=highest, op=nl.maximum, data=tile, axis=1)
        nisa.tensor_scalar(dst=condition, data=highest, op0=nl.greater, operand0=limit)

    compare()
    again = nisa.register_alloc(condition)
    while again:
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=0.5)
        nisa.tensor_scalar(dst=passes, data=passes, op0=nl.add, operand0=1)
        compare()
        nisa.register_load(again, condition)
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    count = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=tile)
    nisa.dma_copy(dst=count, src=passes)
    return result, count


@nki.jit
def triangular_sums(x):
    """Row n of the result is the sum of rows 0 to n of x [1, rows, columns]: the inner bound is the outer counter, tiles
    are indexed by counters, and a register carries a value from pass to pass."""
    _, rows, columns = x.shape
    source = nl.ndarray((1, rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=source, src=x)
    sums = nl.ndarray((1, rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    steps = nisa.register_alloc(0)
    for row in nl.dynamic_range(rows):
        total = nl.zeros((1, columns), dtype=x.dtype)
        for part in nl.dynamic_range(row + 1):
            nisa.tensor_tensor(dst=total, data1=total, data2=source[:, part, :], op=nl.add)
            nisa.register_move(steps, steps + 1)
        nisa.activation(dst=sums[:, row, :], op=nl.copy, data=total)
    counted = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.register_store(counted, steps)
    result = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    count = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=sums)
    nisa.dma_copy(dst=count, src=counted)
    return result, count


@nki.jit
def exchanged(x, count):
    """x[core] plus count[0] times what the other core has; both cores meet in every pass."""
    core = nl.program_id(0)
    mine, total = nl.load(x[core]), nl.load(x[core])
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    passes = nisa.register_alloc(nl.load(count))
    for _ in nl.dynamic_range(passes):
        other = nl.ndarray(mine.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.sendrecv(src=mine, dst=other, send_to_rank=1 - core, recv_from_rank=1 - core, pipe_id=0)
        nisa.tensor_tensor(dst=total, data1=total, data2=other, op=nl.add)
        nisa.core_barrier(total, (0, 1))
    nisa.dma_copy(dst=result[core], src=total)
    return result
