# SPDX-License-Identifier: Apache-2.0
"""Causal attention of one head, block by block: no matrix of all scores is ever in memory."""
import nki
import nki.isa as nisa
import nki.language as nl

ROWS = 128
LOWEST = -3.0e38


@nki.jit
def flash_attention(q, k, v):
    """softmax(q @ k.T / sqrt(d) + causal mask) @ v; q, k and v are [length, d], in blocks of 128 x 512."""
    length, depth = q.shape
    columns = min(512, length)
    result = nl.ndarray((length, depth), dtype=q.dtype, buffer=nl.shared_hbm)
    queries, keys = _transposed(q), _transposed(k)
    values = nl.ndarray((ROWS, length // ROWS, depth), dtype=v.dtype, buffer=nl.sbuf)
    for row in nl.affine_range(length // ROWS):
        nisa.dma_copy(dst=values[:, row, :], src=v[nl.ds(row * ROWS, ROWS), :])
    for row in nl.affine_range(length // ROWS):
        first = row * ROWS
        state = None
        for begin in range(0, first + ROWS, columns):
            end = min(begin + columns, first + ROWS)
            state = _block(queries[:, nl.ds(first, ROWS)], keys[:, begin:end], values, begin, first, depth, state)
        _, total, mixed = state
        nisa.reciprocal(dst=total, data=total)
        scaled = nl.ndarray((ROWS, depth), dtype=q.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=scaled, data=mixed, op0=nl.multiply, operand0=total)
        nisa.dma_copy(dst=result[nl.ds(first, ROWS), :], src=scaled)
    return result


def _transposed(x):
    """x [length, depth] as a tile [depth, length]."""
    length, depth = x.shape
    turned = nl.ndarray((depth, length), dtype=x.dtype, buffer=nl.sbuf)
    for row in range(0, length, ROWS):
        tile = nl.load(x[row : row + ROWS])
        between = nl.ndarray((depth, ROWS), dtype=x.dtype, buffer=nl.psum)
        nisa.nc_transpose(dst=between, data=tile, engine=nisa.engine.tensor)
        nisa.tensor_copy(dst=turned[:, row : row + ROWS], src=between)
    return turned


def _column():
    return nl.ndarray((ROWS, 1), dtype=nl.float32, buffer=nl.sbuf)


def _block(queries, keys, values, begin, first, depth, state):
    """The negative maximum, the sum of the powers and their mix of values, of the columns up to this block's last."""
    columns = keys.shape[1]
    product = nl.ndarray((ROWS, columns), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=product, stationary=queries, moving=keys)
    scores = nl.ndarray((ROWS, columns), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=scores, data=product, op0=nl.multiply, operand0=depth**-0.5)
    if begin + columns > first:  # the diagonal
        nisa.affine_select(
            dst=scores,
            pattern=[[-1, columns]],
            channel_multiplier=1,
            offset=first - begin,
            on_true_tile=scores,
            on_false_value=LOWEST,
            cmp_op=nl.greater_equal,
        )
    lowest = _column()
    nisa.tensor_reduce(dst=lowest, op=nl.maximum, data=scores, axis=1, negate=True)
    if state is not None:
        nisa.tensor_tensor(dst=lowest, data1=lowest, data2=state[0], op=nl.minimum)
    powers, total = nl.ndarray((ROWS, columns), dtype=values.dtype, buffer=nl.sbuf), _column()
    nisa.activation_reduce(dst=powers, op=nl.exp, data=scores, bias=lowest, reduce_op=nl.add, reduce_res=total)
    product = nl.ndarray((ROWS, depth), dtype=nl.float32, buffer=nl.psum)
    for part in range(0, columns, ROWS):
        between = nl.ndarray((ROWS, ROWS), dtype=values.dtype, buffer=nl.psum)
        nisa.nc_transpose(dst=between, data=powers[:, part : part + ROWS], engine=nisa.engine.tensor)
        weights = nl.ndarray((ROWS, ROWS), dtype=values.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=weights, src=between)
        nisa.nc_matmul(dst=product, stationary=weights, moving=values[:, (begin + part) // ROWS, :], accumulate=part > 0)
    mixed = nl.ndarray((ROWS, depth), dtype=nl.float32, buffer=nl.sbuf)
    if state is None:
        nisa.tensor_copy(dst=mixed, src=product)
        return lowest, total, mixed
    shrink = _column()  # exp(old maximum - new maximum)
    nisa.activation(dst=shrink, op=nl.exp, data=state[0], bias=lowest, scale=-1.0)
    nisa.scalar_tensor_tensor(dst=total, data=state[1], op0=nl.multiply, operand0=shrink, op1=nl.add, operand1=total)
    nisa.scalar_tensor_tensor(dst=mixed, data=state[2], op0=nl.multiply, operand0=shrink, op1=nl.add, operand1=product)
    return lowest, total, mixed
