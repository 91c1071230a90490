# SPDX-License-Identifier: Apache-2.0
"""Pieces of a transformer layer."""
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def rms_norm(x, weight, epsilon):
    """x / sqrt(mean(x * x) + epsilon) * weight over rows; weight is [rows, columns]."""
    rows, columns = x.shape
    tile, factors = nl.load(x), nl.load(weight)
    squares = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)
    scale = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation_reduce(dst=squares, op=nl.square, data=tile, reduce_op=nl.add, reduce_res=scale)
    nisa.tensor_scalar(dst=scale, data=scale, op0=nl.multiply, operand0=1.0 / columns, op1=nl.add, operand1=epsilon)
    nisa.activation(dst=scale, op=nl.rsqrt, data=scale)
    nisa.scalar_tensor_tensor(dst=tile, data=tile, op0=nl.multiply, operand0=scale, op1=nl.multiply, operand1=factors)
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=tile)
    return result


@nki.jit
def attention(q, k, v, causal):
    """softmax(q @ k.T / sqrt(d)) @ v for one head: q, k and v are [128, d]."""
    length, depth = q.shape
    turned = []
    for source in (q, k):
        between = nl.ndarray((depth, length), dtype=source.dtype, buffer=nl.psum)
        nisa.nc_transpose(dst=between, data=nl.load(source), engine=nisa.engine.tensor)
        tile = nl.ndarray((depth, length), dtype=source.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=tile, src=between)
        turned.append(tile)
    scores = nl.ndarray((length, length), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=scores, stationary=turned[0], moving=turned[1])
    masked = nl.ndarray((length, length), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=masked, data=scores, op0=nl.multiply, operand0=depth**-0.5)
    if causal:
        nisa.affine_select(
            dst=masked,
            pattern=[[-1, length]],
            channel_multiplier=1,
            on_true_tile=masked,
            on_false_value=-3.4028234663852886e38,
            cmp_op=nl.greater_equal,
        )
    highest = nl.ndarray((length, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=highest, op=nl.maximum, data=masked, axis=1, negate=True)
    powers = nl.ndarray((length, length), dtype=nl.float32, buffer=nl.sbuf)
    total = nl.ndarray((length, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation_reduce(dst=powers, op=nl.exp, data=masked, bias=highest, reduce_op=nl.add, reduce_res=total)
    nisa.reciprocal(dst=total, data=total)
    turned_powers = nl.ndarray((length, length), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_transpose(dst=turned_powers, data=powers, engine=nisa.engine.tensor)
    weights = nl.ndarray((length, length), dtype=v.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=weights, src=turned_powers)
    mixed = nl.ndarray((length, depth), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=mixed, stationary=weights, moving=nl.load(v))
    scaled = nl.ndarray((length, depth), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=scaled, data=mixed, op0=nl.multiply, operand0=total)
    result = nl.ndarray((length, depth), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=scaled)
    return result


@nki.jit
def embedding(table, indices):
    """Rows of a table, selected by indices [128, 1]."""
    count, columns = indices.shape[0], table.shape[1]
    index = nl.load(indices)
    rows = nl.ndarray((count, columns), dtype=table.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=rows, src=table.ap([[columns, count], [1, columns]], vector_offset=index, indirect_dim=0))
    result = nl.ndarray((count, columns), dtype=table.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=rows)
    return result


@nki.jit
def masked_add(x, count):
    """Adds 1 to the first `count` rows of x, where count is read on the device: a loop of the device."""
    tile = nl.ndarray((1, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    number = nl.load(count)
    rows = nisa.register_alloc()
    nisa.register_load(rows, number)
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=x)

    def body(i):
        nisa.dma_copy(dst=tile, src=x[nl.ds(i, 1), :])
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
        nisa.dma_copy(dst=result[nl.ds(i, 1), :], src=tile)

    nl.fori_loop(0, rows, body)
    return result


@nki.jit
def halve_until_zero(x, count):
    """x * 2 ** -n, where n is the number in count: a while loop of the device."""
    tile, number = nl.load(x), nl.load(count)
    left = nisa.register_alloc()
    nisa.register_load(left, number)
    while left:
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=0.5)
        nisa.tensor_scalar(dst=number, data=number, op0=nl.subtract, operand0=1)
        nisa.register_load(left, number)
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=tile)
    return result


@nki.jit
def exchange_sum(x):
    """The sum of the two cores' halves of x [2, 128, columns]: kernel[2] only."""
    core = nl.program_id(0)
    mine = nl.load(x[core])
    other = nl.ndarray(mine.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.sendrecv(src=mine, dst=other, send_to_rank=1 - core, recv_from_rank=1 - core, pipe_id=0)
    nisa.tensor_tensor(dst=mine, data1=mine, data2=other, op=nl.add)
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result[core], src=mine)
    nisa.core_barrier(data=result, cores=(0, 1))
    return result
