# SPDX-License-Identifier: Apache-2.0
"""Kernels whose times on hardware AWS publishes (doc/spec/neuron-core.md, 16.3): the state space model Mamba, and single instructions."""
import nki
import nki.isa as nisa
import nki.language as nl
import numpy

P, STEPS = nl.tile_size.pmax, 512  # channels of a tile, and steps of the sequence


def _sbuf(rows, columns):
    return nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)


def _load(source):
    tile = _sbuf(*source.shape)
    nisa.dma_copy(dst=tile, src=source)
    return tile


def _over_channels(row, ones):
    """A row of STEPS numbers in every partition of PSUM, by a matmul with ones."""
    wide = nl.ndarray((P, STEPS), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=wide, stationary=ones, moving=row, is_stationary_onezero=True)
    return wide


def _rows(matrix):
    """The rows of B or C [states, steps], each in partition 0."""
    return [_load(matrix[nl.ds(state, 1), :]) for state in range(matrix.shape[0])]


def _ones():
    ones = _sbuf(1, P)
    nisa.memset(dst=ones, value=1.0)
    return ones


def _round(product, delta, rate, b, c, ones, total, before):
    """One state of a tile of channels: total += scan(exp(delta rate), product b) c. Returns the states."""
    decay, injected, states, read = (_sbuf(P, STEPS) for _ in range(4))
    nisa.activation(dst=decay, op=nl.exp, data=delta, scale=rate)
    nisa.tensor_tensor(dst=injected, data1=product, data2=_over_channels(b, ones), op=nl.multiply)
    nisa.tensor_tensor_scan(dst=states, data0=decay, data1=injected, initial=before, op0=nl.multiply, op1=nl.add)
    nisa.tensor_tensor(dst=read, data1=states, data2=_over_channels(c, ones), op=nl.multiply)
    nisa.tensor_tensor(dst=total, data1=total, data2=read, op=nl.add)
    return states


def _product(delta, u):
    product = _sbuf(P, STEPS)
    nisa.tensor_tensor(dst=product, data1=delta, data2=u, op=nl.multiply)
    return product


@nki.jit
def mamba_v1(delta, u, a, b, c):
    """delta, u [channels, 512], a [channels, states], b, c [states, 512]: for each state all channels; all rounds load."""
    channels, states = a.shape
    result = nl.ndarray(delta.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    ones, rows_b, rows_c = _ones(), _rows(b), _rows(c)
    totals = []
    for tile in range(channels // P):
        totals.append(_sbuf(P, STEPS))
        nisa.memset(dst=totals[tile], value=0.0, engine=nisa.engine.gpsimd)
    for state in range(states):
        for tile in range(channels // P):
            part = nl.ds(tile * P, P)
            step = _load(delta[part, :])
            _round(
                _product(step, _load(u[part, :])),
                step,
                _load(a[part, nl.ds(state, 1)]),
                rows_b[state],
                rows_c[state],
                ones,
                totals[tile],
                0.0,
            )
    for tile in range(channels // P):
        nisa.dma_copy(dst=result[nl.ds(tile * P, P), :], src=totals[tile])
    return result


@nki.jit
def mamba_v2(delta, u, a, b, c):
    """The same, for each tile of channels all states: loads and the product of delta and u are outside of the rounds."""
    result = nl.ndarray(delta.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    ones, rows_b, rows_c = _ones(), _rows(b), _rows(c)
    for tile in range(a.shape[0] // P):
        part = nl.ds(tile * P, P)
        step, rates, total = _load(delta[part, :]), _load(a[part, :]), _sbuf(P, STEPS)
        product = _product(step, _load(u[part, :]))
        nisa.memset(dst=total, value=0.0, engine=nisa.engine.gpsimd)
        for state in range(a.shape[1]):
            _round(product, step, rates[:, nl.ds(state, 1)], rows_b[state], rows_c[state], ones, total, 0.0)
        nisa.dma_copy(dst=result[part, :], src=total)
    return result


@nki.jit
def mamba_v3(delta, u, a, b, c):
    """The same for longer sequences, in pieces of 512 steps that hand their last states on."""
    result = nl.ndarray(delta.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    ones, pieces, states = _ones(), delta.shape[1] // STEPS, a.shape[1]
    columns = [nl.ds(piece * STEPS, STEPS) for piece in range(pieces)]
    for tile in range(a.shape[0] // P):
        part = nl.ds(tile * P, P)
        rates, last = _load(a[part, :]), _sbuf(P, states)
        nisa.memset(dst=last, value=0.0, engine=nisa.engine.gpsimd)
        for piece in range(pieces):
            step, total = _load(delta[part, columns[piece]]), _sbuf(P, STEPS)
            product = _product(step, _load(u[part, columns[piece]]))
            nisa.memset(dst=total, value=0.0, engine=nisa.engine.gpsimd)
            rows_b, rows_c = _rows(b[:, columns[piece]]), _rows(c[:, columns[piece]])
            for state in range(states):
                column = last[:, nl.ds(state, 1)]
                found = _round(product, step, rates[:, nl.ds(state, 1)], rows_b[state], rows_c[state], ones, total, column)
                nisa.tensor_copy(dst=column, src=found[:, nl.ds(STEPS - 1, 1)], engine=nisa.engine.vector)
            nisa.dma_copy(dst=result[part, columns[piece]], src=total)
    return result


def mamba(delta, u, a, b, c):
    """By NumPy in binary64."""
    state, result = numpy.zeros(a.shape), numpy.zeros(delta.shape)
    for step in range(delta.shape[1]):
        now = delta[:, step : step + 1].astype(float)
        state = numpy.exp(now * a) * state + now * u[:, step : step + 1] * b[:, step]
        result[:, step] = state @ c[:, step]
    return result


@nki.jit
def scalar_chain(x, count):
    """x through `count` Scalar instructions of one element in each partition, each of which needs the one before."""
    tile = _load(x)
    for _ in range(count):
        nisa.activation(dst=tile, op=nl.copy, data=tile)
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=tile)
    return result


@nki.jit
def chained_copies(x, rows, count, generated):
    """Row rows[0, n] of x, or row n, for each n below count: copies one after the other into the same place. The descriptor
    generators make those by `rows`; the others are in rings."""
    number = nl.ndarray(rows.shape, dtype=rows.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=number, src=rows)
    tile = nl.ndarray((1, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    for n in range(count):
        at = number.ap([[rows.shape[1], 1], [1, 1]], offset=n)
        row = x.ap([[x.shape[1], 1], [1, x.shape[1]]], scalar_offset=at, indirect_dim=0) if generated else x[n : n + 1, :]
        nisa.dma_copy(dst=tile, src=row)
    result = nl.ndarray(tile.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=tile)
    return result
