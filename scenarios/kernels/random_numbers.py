# SPDX-License-Identifier: Apache-2.0
"""Kernels with random numbers: the engines' generators give the numbers of the specification (3.8)."""
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def integers(seed, columns):
    """Random integers of Vector, from the seed in a tensor of one element, as one instruction and as two."""
    nisa.set_rng_seed(nl.load(seed))
    result = nl.ndarray((128, 2 * columns), dtype=nl.uint32, buffer=nl.shared_hbm)
    for part in range(2):
        tile = nl.ndarray((128, columns), dtype=nl.uint32, buffer=nl.sbuf)
        nisa.rng(tile)
        nisa.dma_copy(dst=result[:, part * columns : (part + 1) * columns], src=tile)
    return result


@nki.jit
def dropped(x, rate):
    """x with elements set to 0 at the given rate, by the generators as they are after a reset."""
    tile = nl.load(x)
    nisa.dropout(dst=tile, data=tile, prob=rate)
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=tile)
    return result


@nki.jit
def uniform(low, columns):
    """Random numbers between the elements of a column and 8 (NeuronCore-v4)."""
    bound, tile = nl.load(low), nl.ndarray((low.shape[0], columns), dtype=nl.float32, buffer=nl.sbuf)
    nisa.rand2(tile, bound, 8.0)
    result = nl.ndarray(tile.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=tile)
    return result


@nki.jit
def continued(states, columns):
    """Numbers of GPSIMD's generators from the given states, and the states after them (from NeuronCore-v3)."""
    nisa.rand_set_state(nl.load(states))
    tile = nl.ndarray((states.shape[0], columns), dtype=nl.uint32, buffer=nl.sbuf)
    nisa.rng(tile, engine=nisa.engine.gpsimd)
    after = nl.ndarray(states.shape, dtype=nl.uint32, buffer=nl.sbuf)
    nisa.rand_get_state(after)
    result = nl.ndarray(tile.shape, dtype=nl.uint32, buffer=nl.shared_hbm)
    left = nl.ndarray(states.shape, dtype=nl.uint32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=tile)
    nisa.dma_copy(dst=left, src=after)
    return result, left
