# SPDX-License-Identifier: Apache-2.0
"""Kernels that the compiler's tests run on boards: tiles, lifetimes, conversions, products, transposes."""
import nki
import nki.isa as nisa
import nki.language as nl

ROWS, COLUMNS = 128, 512


@nki.jit
def add(a, b):
    """a + b, tile by tile."""
    result = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    for row in nl.affine_range(a.shape[0] // ROWS):
        for column in nl.affine_range(a.shape[1] // COLUMNS):
            rows, columns = nl.ds(row * ROWS, ROWS), nl.ds(column * COLUMNS, COLUMNS)
            left = nl.ndarray((ROWS, COLUMNS), dtype=a.dtype, buffer=nl.sbuf)
            right = nl.ndarray((ROWS, COLUMNS), dtype=b.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=left, src=a[rows, columns])
            nisa.dma_copy(dst=right, src=b[rows, columns])
            total = nl.ndarray((ROWS, COLUMNS), dtype=a.dtype, buffer=nl.sbuf)
            nisa.tensor_tensor(dst=total, data1=left, data2=right, op=nl.add)
            nisa.dma_copy(dst=result[rows, columns], src=total)
    return result


@nki.jit
def softmax(x):
    """exp(x - max) / sum of each row."""
    rows, columns = x.shape
    tile = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    negative_max = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=negative_max, op=nl.maximum, data=tile, axis=1, negate=True)
    power = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)
    total = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation_reduce(dst=power, op=nl.exp, data=tile, bias=negative_max, reduce_op=nl.add, reduce_res=total)
    nisa.reciprocal(dst=total, data=total)
    nisa.tensor_scalar(dst=power, data=power, op0=nl.multiply, operand0=total)
    result = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=power)
    return result


@nki.jit
def triangle(x):
    """The lower triangle of x in FP32; x is converted by the copy."""
    rows, columns = x.shape
    tile = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.affine_select(
        dst=tile, pattern=[[-1, columns]], channel_multiplier=1, on_true_tile=tile, on_false_value=0.0, cmp_op=nl.greater_equal
    )
    result = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=tile)
    return result


@nki.jit
def many_tiles(x, count):
    """x + 1 + ... + count, each sum in a tile of its own: more tiles than fit into SBUF at once."""
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    for number in range(count):
        following = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
        engine = nisa.engine.gpsimd if number % 2 else nisa.engine.vector
        nisa.tensor_scalar(dst=following, data=tile, op0=nl.add, operand0=float(number + 1), engine=nisa.engine.vector)
        tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=tile, src=following, engine=engine)
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=tile)
    return result


@nki.jit
def too_large(x):
    """Two tiles that are in use together and do not fit."""
    first = nl.ndarray((128, 40_000), dtype=nl.float32, buffer=nl.sbuf)
    second = nl.ndarray((128, 20_000), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=first, value=1.0)
    nisa.memset(dst=second, value=1.0)
    nisa.tensor_tensor(dst=first[0:128, 0:20_000], data1=first[0:128, 0:20_000], data2=second, op=nl.add)
    result = nl.ndarray((128, 40_000), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=first)
    return result


@nki.jit
def matmul(at, b):
    """at transposed times b: at [K, M], b [K, N]; K and M are multiples of 128, N of 512."""
    (depth, rows), columns = at.shape, b.shape[1]
    result = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.shared_hbm)
    for m in nl.affine_range(rows // 128):
        for n in nl.affine_range(columns // 512):
            total = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(depth // 128):
                stationary = nl.ndarray((128, 128), dtype=at.dtype, buffer=nl.sbuf)
                moving = nl.ndarray((128, 512), dtype=b.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=stationary, src=at[nl.ds(k * 128, 128), nl.ds(m * 128, 128)])
                nisa.dma_copy(dst=moving, src=b[nl.ds(k * 128, 128), nl.ds(n * 512, 512)])
                nisa.nc_matmul(dst=total, stationary=stationary, moving=moving)
            copied = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_copy(dst=copied, src=total)
            nisa.dma_copy(dst=result[nl.ds(m * 128, 128), nl.ds(n * 512, 512)], src=copied)
    return result


@nki.jit
def transpose(x):
    """x transposed, by the Tensor engine; at most 128 x 128."""
    rows, columns = x.shape
    tile = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    turned = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.psum)
    nisa.nc_transpose(dst=turned, data=tile)
    copied = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=copied, src=turned)
    result = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=copied)
    return result


@nki.jit
def transpose_by_dma(x):
    """x transposed on its way from HBM to SBUF."""
    rows, columns = x.shape
    turned = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_transpose(dst=turned, src=x)
    result = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=turned)
    return result


@nki.jit
def pick(x, indices):
    """x[row, indices[row]] of each row; the copies read their addresses on the device."""
    rows, columns = x.shape
    chosen = nl.ndarray((1, rows), dtype=indices.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=chosen, src=indices)
    tile = nl.ndarray((rows, 1), dtype=x.dtype, buffer=nl.sbuf)
    for row in range(rows):
        index = chosen.ap([[rows, 1], [1, 1]], offset=row)
        element = x.ap([[columns, 1], [1, 1]], offset=row * columns, scalar_offset=index, indirect_dim=1)
        nisa.dma_copy(dst=tile[row : row + 1, :], src=element)
    result = nl.ndarray((rows, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=tile)
    return result


@nki.jit
def squashed(x):
    """tanh(x * 0.5 + 0.25) by activate2, and the largest of each row."""
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    highest = nl.ndarray((x.shape[0], 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activate2(
        dst=tile,
        op=nl.tanh,
        data=tile,
        imm0=0.5,
        imm1=0.25,
        op0=nl.multiply,
        op1=nl.add,
        reduce_op=nl.maximum,
        reduce_res=highest,
        reduce_cmd=nisa.reduce_cmd.reset_reduce,
    )
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    largest = nl.ndarray((x.shape[0], 1), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=tile)
    nisa.dma_copy(dst=largest, src=highest)
    return result, largest


@nki.jit
def highest(x, count):
    """The `count` largest of all elements of x [16, columns], ascending."""
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    values = nl.ndarray((16, count), dtype=x.dtype, buffer=nl.sbuf)
    places = nl.ndarray((16, count), dtype=nl.uint32, buffer=nl.sbuf)
    nisa.topk(val_dst=values, idx_dst=places, src=tile, n=16 * x.shape[1])
    result = nl.ndarray((16, count), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=values)
    return result


@nki.jit
def many_products(x, count):
    """The sum of `count` products of x transposed and x, which are all in PSUM before the first is read."""
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    products = []
    for _ in range(count):
        products.append(nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum))
        nisa.nc_matmul(dst=products[-1], stationary=tile, moving=tile)
    total = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=total, value=0.0)
    for product in products:
        nisa.tensor_tensor(dst=total, data1=total, data2=product, op=nl.add)
    result = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=total)
    return result


@nki.jit
def scatter(x, indices):
    """Row indices[n] of the result is row n of x; indices [rows, 1] is a permutation."""
    rows, columns = x.shape
    tile, index = nl.load(x), nl.load(indices)
    result = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result.ap([[columns, rows], [1, columns]], vector_offset=index, indirect_dim=0), src=tile)
    return result


@nki.jit
def summed(x, y):
    """x + y + x by dma_compute, in the type of x."""
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_compute(dst=result, srcs=[x, nl.load(y), x], reduce_op=nl.add)
    return result
