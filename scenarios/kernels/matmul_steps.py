# SPDX-License-Identifier: Apache-2.0
"""One product in five steps from naive to fully optimised (doc/guide-kernel.md): at [K, M] transposed times b [K, N], in the type of at.

K and M are multiples of 128, N of 512; the later steps need the multiples that they name.
"""
import nki
import nki.isa as nisa
import nki.language as nl

P, WIDTH = nl.tile_size.pmax, nl.tile_size.gemm_moving_fmax


def _load(source, row, column, width):
    """The [128, width] part of a matrix, in SBUF."""
    tile = nl.ndarray((P, width), dtype=source.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=source[nl.ds(row, P), nl.ds(column, width)])
    return tile


def _store(result, row, column, total):
    """Rounds a [128, 512] sum of PSUM to the type of the result."""
    rounded = nl.ndarray((P, WIDTH), dtype=result.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=rounded, src=total, engine=nisa.engine.vector)
    nisa.dma_copy(dst=result[nl.ds(row, P), nl.ds(column, WIDTH)], src=rounded)


def _new_total():
    return nl.ndarray((P, WIDTH), dtype=nl.float32, buffer=nl.psum)


@nki.jit
def tiled(at, b):
    """Step 1: each product loads both of its tiles."""
    (depth, rows), columns = at.shape, b.shape[1]
    result = nl.ndarray((rows, columns), dtype=at.dtype, buffer=nl.shared_hbm)
    for m in nl.affine_range(rows // P):
        for n in nl.affine_range(columns // WIDTH):
            total = _new_total()
            for k in nl.affine_range(depth // P):
                nisa.nc_matmul(dst=total, stationary=_load(at, k * P, m * P, P), moving=_load(b, k * P, n * WIDTH, WIDTH))
            _store(result, m * P, n * WIDTH, total)
    return result


@nki.jit
def hoisted(at, b):
    """Step 2: the tiles of `at` for 128 rows are loaded once, not once for each 512 columns."""
    (depth, rows), columns = at.shape, b.shape[1]
    result = nl.ndarray((rows, columns), dtype=at.dtype, buffer=nl.shared_hbm)
    for m in nl.affine_range(rows // P):
        stationary = [_load(at, k * P, m * P, P) for k in range(depth // P)]
        for n in nl.affine_range(columns // WIDTH):
            total = _new_total()
            for k in nl.affine_range(depth // P):
                nisa.nc_matmul(dst=total, stationary=stationary[k], moving=_load(b, k * P, n * WIDTH, WIDTH))
            _store(result, m * P, n * WIDTH, total)
    return result


@nki.jit
def blocked(at, b):
    """Step 3: tiles serve a block of 256 x 1,024 of the result: half of the loads of `at`, an eighth of those of `b`."""
    (depth, rows), columns = at.shape, b.shape[1]
    result = nl.ndarray((rows, columns), dtype=at.dtype, buffer=nl.shared_hbm)
    for block_m in nl.affine_range(rows // (2 * P)):
        stationary = [_load(at, k * P, block_m * 2 * P, 2 * P) for k in range(depth // P)]
        for block_n in nl.affine_range(columns // (2 * WIDTH)):
            moving = [_load(b, k * P, block_n * 2 * WIDTH, 2 * WIDTH) for k in range(depth // P)]
            for m in nl.affine_range(2):
                for n in nl.affine_range(2):
                    total = _new_total()
                    for k in nl.affine_range(depth // P):
                        nisa.nc_matmul(
                            dst=total, stationary=stationary[k][:, nl.ds(m * P, P)], moving=moving[k][:, nl.ds(n * WIDTH, WIDTH)]
                        )
                    _store(result, (block_m * 2 + m) * P, (block_n * 2 + n) * WIDTH, total)
    return result


@nki.jit
def resident(at, b):
    """Step 4: both matrices are loaded once and stay in SBUF, in blocks in the order of their use."""
    (depth, rows), columns = at.shape, b.shape[1]
    result = nl.ndarray((rows, columns), dtype=at.dtype, buffer=nl.shared_hbm)
    moving = []
    for block_m in nl.affine_range(rows // (2 * P)):
        stationary = [_load(at, k * P, block_m * 2 * P, 2 * P) for k in range(depth // P)]
        for n in nl.affine_range(columns // WIDTH):
            if block_m == 0:
                moving.append([_load(b, k * P, n * WIDTH, WIDTH) for k in range(depth // P)])
            for m in nl.affine_range(2):
                total = _new_total()
                for k in nl.affine_range(depth // P):
                    nisa.nc_matmul(dst=total, stationary=stationary[k][:, nl.ds(m * P, P)], moving=moving[n][k])
                _store(result, (block_m * 2 + m) * P, n * WIDTH, total)
    return result


@nki.jit
def optimised(at, b):
    """Step 5: the products begin with the first tiles that arrive, eight sums at a time, and whole rows are stored.

    The first 256 x 2,048 of the result use all banks of PSUM and take each tile once, in the order of its arrival, so Tensor
    multiplies while the rest is loaded. N is a multiple of 2,048, M of 256.
    """
    (depth, rows), columns = at.shape, b.shape[1]
    result = nl.ndarray((rows, columns), dtype=at.dtype, buffer=nl.shared_hbm)
    parts = columns // WIDTH
    stationary, moving = [], []
    for k in range(depth // P):
        stationary.append([_load(at, k * P, 0, 2 * P)])
        moving.append(_load(b, k * P, 0, columns))
    for k in range(depth // P):
        if rows > 2 * P:
            stationary[k].append(_load(at, k * P, 2 * P, rows - 2 * P))
    for pair in range(rows // (2 * P)):
        totals = [[_new_total() for _ in range(parts)] for _ in range(2)]
        first = pair == 0
        order = (
            [(k, half) for k in range(depth // P) for half in range(2)]
            if first
            else [(k, half) for half in range(2) for k in range(depth // P)]
        )
        for k, half in order:
            tile = stationary[k][0 if first else 1]
            column = half * P + (0 if first else (pair - 1) * 2 * P)
            for n in range(parts):
                nisa.nc_matmul(dst=totals[half][n], stationary=tile[:, nl.ds(column, P)], moving=moving[k][:, nl.ds(n * WIDTH, WIDTH)])
        for half in range(2):
            line = nl.ndarray((P, columns), dtype=result.dtype, buffer=nl.sbuf)
            for n in range(parts):
                engine = nisa.engine.scalar if n % 2 else nisa.engine.vector
                nisa.tensor_copy(dst=line[:, nl.ds(n * WIDTH, WIDTH)], src=totals[half][n], engine=engine)
            nisa.dma_copy(dst=result[nl.ds((pair * 2 + half) * P, P), :], src=line)
    return result
