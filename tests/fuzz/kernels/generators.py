# SPDX-License-Identifier: Apache-2.0
"""Random calls of nki.isa and nki.language: a generator for each function."""
import nki.isa as nisa
import nki.language as nl
import numpy
from trn_nki.trace.host_arrays import HostArray, raw_type
from trn_nki.values import data_types, operators
from trn_nki.values.operations import OPERATIONS

F = numpy.float32
FLOATS = (nl.float32, nl.bfloat16, nl.float16, nl.tfloat32, data_types.float8_e3m4, nl.float8_e4m3, nl.float8_e5m2, nl.float8_e4m3fn)
INTEGERS = (nl.int32, nl.uint32, nl.int16, nl.uint16, nl.int8, nl.uint8)
OTHERS = (nl.float8_e8m0fnu, nl.float8_e4m3fn_x4, nl.float8_e5m2_x4, nl.float4_e2m1fn_x4)
ARITHMETIC = tuple(one for one in operators.ALL.values() if one.code is not None and not one.is_bitvec)
BITS = tuple(one for one in operators.ALL.values() if one.is_bitvec)
FUNCTIONS = tuple(one for one in operators.ALL.values() if one.activation is not None)
ACTUAL = nisa.engine.vector, nisa.engine.scalar, nisa.engine.gpsimd, nisa.engine.tensor
SPECIAL = numpy.array(
    [
        0,
        -0.0,
        1,
        -1,
        numpy.inf,
        -numpy.inf,
        numpy.nan,
        1e-45,
        -1e-45,
        1e-38,
        -1e-38,
        3.4e38,
        -3.4e38,
        0.5,
        1.5,
        2.5,
        240,
        448,
        65504,
        65520,
        2**24,
        2**31,
        -(2**31),
        2**32,
        127.5,
        255.5,
        -0.5,
        88.8,
        -103.9,
        -200,
    ],
    F,
)


class Calls:
    """Random numbers, arrays and views of the generators. `keep` collects tiles that become results."""

    def __init__(self, choices, generation):
        self.choices, self.generation = choices, generation
        self.keep = []
        self.expected = {}  # number of a kept tile: its value by a rule of NumPy

    # Numbers and arrays.

    def shape(self):
        return self.choices.one_of((4, 1, 32, 33, 64, 96, 128, 16)), self.choices.one_of((8, 1, 3, 16, 32, 33, 64, 130, 512))

    def dtype(self, *first):
        """Mostly one of the first, else any type."""
        if first and not self.choices.chance(4):
            return self.choices.one_of(first)
        return self.choices.one_of(FLOATS[:3] + INTEGERS + FLOATS[3:] + OTHERS)

    def raw(self, shape, dtype):
        """Raw elements: small integers, normal numbers, special values or any bits."""
        numbers = numpy.random.default_rng(self.choices.below(1 << 16))
        kind = self.choices.below(4)
        target = raw_type(dtype)
        if kind == 3 or not data_types.is_computed(dtype):
            return numbers.integers(0, 256, (*shape, dtype.itemsize), dtype=numpy.uint8).view(target)[..., 0]
        if kind == 0:
            values = numbers.integers(-4, 12, shape).astype(F)
        elif kind == 1:
            values = (numbers.standard_normal(shape) * 10.0 ** numbers.integers(-2, 3)).astype(F)
        else:
            values = SPECIAL[numbers.integers(0, len(SPECIAL), shape)]
        return _converted(values, dtype)

    def array(self, shape, dtype, raw=None):
        """A tensor in HBM."""
        return nl.shared_constant(HostArray(self.raw(shape, dtype) if raw is None else raw, dtype))

    def base(self, partitions, elements, dtype, region):
        """A whole tile with known elements."""
        tile = nl.load(self.array((partitions, elements), dtype))
        if region is nl.sbuf:
            return tile
        made = nl.ndarray((partitions, elements), dtype, nl.psum)
        nisa.tensor_copy(made, tile, nisa.engine.vector)
        return made

    def indices(self, shape, limit, dtype=nl.uint32, unique=False):
        """Indices below the limit, rarely one of them out of range."""
        numbers = numpy.random.default_rng(self.choices.below(1 << 16))
        found = numbers.permutation(limit)[: numpy.prod(shape)].reshape(shape) if unique else numbers.integers(0, limit, shape)
        if self.choices.chance(8):
            found.reshape(-1)[numbers.integers(found.size)] = self.choices.one_of((limit, limit + 1, -1 % 2**16))
        return nl.load(self.array(shape, dtype, found.astype(raw_type(dtype))))

    def register(self, highest):
        """A register with a value up to `highest`, rarely out of range."""
        value = self.choices.below(highest + 1)
        if self.choices.chance(8):
            value = self.choices.one_of((highest + 1, -1, highest + 40, 1 << 29))
        return nisa.register_alloc(nl.load(self.array((1, 1), nl.int32, numpy.array([[value]], numpy.int32))))

    # Tiles.

    def region(self):
        return nl.psum if self.choices.chance(5) else nl.sbuf

    def view(self, partitions, elements, dtype, writes):
        """A view with `elements` in each of `partitions`, and its whole tile."""
        kind = self.choices.below(9) if self.choices.chance(2) else 0
        start = self.choices.one_of((0, 32, 64, 96, 16)) if self.choices.chance(4) else 0
        region = self.region()
        rows = start + partitions if start + partitions <= 128 else partitions
        part = slice(rows - partitions, rows)
        if kind == 1:
            whole = self.base(rows, elements + 5, dtype, region)
            return whole[part, 2 : 2 + elements], whole
        if kind == 2:
            whole = self.base(rows, 2 * elements, dtype, region)
            return whole[part, 0 : 2 * elements : 2], whole
        if kind == 3 and elements % 4 == 0:
            whole = self.base(rows, elements, dtype, region)
            return whole.reshape((rows, 4, elements // 4)).permute((0, 2, 1))[part], whole
        if kind == 4:
            whole = self.base(rows, elements, dtype, region)
            return whole.ap([[elements, rows], [-1, elements]], offset=elements - 1)[part], whole
        if kind == 5 and not writes:
            whole = self.base(rows, 1, dtype, region)
            return whole[part].broadcast(1, elements), whole
        if kind == 6:
            whole = self.base(rows, elements + 6, dtype, region)
            return whole[part, nl.ds(self.register(6), elements)], whole
        if kind == 7 and elements % 2 == 0:
            whole = self.base(rows, elements + 4, dtype, region)
            return whole[part, 0:elements].reshape((partitions, 2, elements // 2)), whole
        if kind == 8 and self.generation >= 4:
            whole = self.base(rows, elements, dtype, region)
            index = self.indices((min(128, -(-rows // 32) * 32), -(-elements // 16)), elements)
            return whole[part].indirect(index[part.start :], elements), whole
        whole = self.base(rows, elements, dtype, region)
        return whole[part], whole

    def source(self, partitions, elements, *types):
        return self.view(partitions, elements, self.dtype(*types), False)[0]

    def target(self, partitions, elements, *types):
        """A destination; its whole tile becomes a result, so that writes beside the view show."""
        view, whole = self.view(partitions, elements, self.dtype(*types), True)
        self.keep.append(whole)
        return view

    def wrong(self, value):
        """The value, rarely another number."""
        return value + self.choices.one_of((1, -1, 8)) if self.choices.chance(16) else value

    def column(self, partitions, *types):
        """A tile of one element in each partition."""
        return self.view(partitions, 1, self.dtype(*types or (nl.float32,)), True)[0]

    def result(self, partitions):
        view = self.column(partitions)
        self.keep.append(view.base_tensor)
        return view

    def number(self):
        return self.choices.one_of((1.5, 0.0, -1.0, 2, 0.1, -0.0, float("inf"), float("nan"), 3e38, 1e-40, -7, 1e39))

    def scalar(self, partitions):
        return self.number() if self.choices.below(3) else self.column(partitions)

    def flag(self):
        return self.choices.chance(3)

    def engine(self, operation):
        """Mostly left open, else one of the operation's, rarely any other."""
        if self.choices.chance(2):
            return self.choices.one_of(OPERATIONS[operation].engines if not self.choices.chance(6) else ACTUAL)
        return nisa.engine.unknown

    def arithmetic(self):
        return self.choices.one_of(ARITHMETIC)

    def command(self):
        return self.choices.one_of(
            (nisa.reduce_cmd.reset_reduce, nisa.reduce_cmd.idle, nisa.reduce_cmd.reset_reduce, nisa.reduce_cmd.load_reduce)
        )


def _converted(values, dtype):
    """Shares no code with the package's conversions, whose errors would otherwise show in no difference."""
    if dtype is nl.float32:
        return values
    if dtype is nl.float16:
        return values.astype(numpy.float16)
    if dtype is nl.bfloat16:
        return (values.view(numpy.uint32) >> 16).astype(numpy.uint16)
    if dtype is nl.tfloat32:
        return values.view(numpy.uint32)
    if dtype in INTEGERS or dtype is nl.bool:
        limits = numpy.iinfo(raw_type(dtype))
        return numpy.clip(numpy.nan_to_num(values.astype(numpy.float64)), limits.min, limits.max).astype(raw_type(dtype))
    return (values.astype(numpy.float16).view(numpy.uint16) >> 8).astype(numpy.uint8)


# ---- nki.isa


def tensor_copy(c):
    p, n = c.shape()
    kind = c.dtype()
    nisa.tensor_copy(c.target(p, n, kind, nl.float32), c.source(p, c.wrong(n), kind, nl.float32), c.engine("tensor_copy"))


def memset(c):
    p, n = c.shape()
    nisa.memset(
        c.target(p, n), c.choices.one_of((0, 1, -1, 2.5, 3e9, -3e9, 1e19, float("nan"), float("inf"), 300, -0.0)), c.engine("memset")
    )


def tensor_copy_predicated(c):
    p, n = c.shape()
    kind = c.dtype()
    source = c.number() if c.choices.chance(4) else c.source(p, c.choices.one_of((n, n, n, 1)), kind)
    nisa.tensor_copy_predicated(c.target(p, n, kind), source, c.source(p, n, nl.uint8, nl.uint16, nl.uint32), c.flag())


def tensor_tensor(c):
    p, n = c.shape()
    if c.choices.chance(3):
        op, types = c.choices.one_of(BITS), (c.choices.one_of(INTEGERS),)
    else:
        op, types = c.arithmetic(), (nl.float32, nl.bfloat16, nl.int32, nl.uint32)
    nisa.tensor_tensor(c.target(p, n, *types), c.source(p, n, *types), c.source(p, c.wrong(n), *types), op, c.engine("tensor_tensor"))


def tensor_scalar(c):
    p, n = c.shape()
    if c.choices.chance(3):
        kind = c.choices.one_of(INTEGERS)
        operands = [
            c.choices.one_of((3, 1, -1, 31, 40, 1 << 31, 0xFFFFFFFF, 2.5)) if c.choices.below(3) else c.column(p, kind, nl.int32)
            for _ in range(2)
        ]
        first, second = c.choices.one_of(BITS), c.choices.one_of((None, nl.bypass) + BITS)
        nisa.tensor_scalar(
            c.target(p, n, kind),
            c.source(p, n, kind),
            first,
            operands[0],
            c.flag(),
            second,
            operands[1],
            c.flag(),
            c.engine("tensor_scalar"),
        )
        return
    second = c.choices.one_of((None,) + ARITHMETIC)
    nisa.tensor_scalar(
        c.target(p, n, nl.float32),
        c.source(p, n, nl.float32, nl.bfloat16),
        c.arithmetic(),
        c.scalar(p),
        c.flag(),
        second,
        c.scalar(p) if second else None,
        c.flag(),
        c.engine("tensor_scalar"),
    )


def scalar_tensor_tensor(c):
    p, n = c.shape()
    nisa.scalar_tensor_tensor(
        c.target(p, n, nl.float32),
        c.source(p, n, nl.float32),
        c.arithmetic(),
        c.scalar(p),
        c.arithmetic(),
        c.source(p, n, nl.float32),
        c.flag(),
        c.flag(),
    )


def tensor_tensor_scan(c):
    p, n = c.shape()
    nisa.tensor_tensor_scan(
        c.target(p, n, nl.float32),
        c.source(p, n, nl.float32),
        c.source(p, n, nl.float32),
        c.scalar(p),
        c.arithmetic(),
        c.arithmetic(),
        c.flag(),
        c.flag(),
    )


def tensor_scalar_cumulative(c):
    p, n = c.shape()
    nisa.tensor_scalar_cumulative(
        c.target(p, n, nl.float32),
        c.source(p, n, nl.float32),
        c.arithmetic(),
        c.choices.one_of(ARITHMETIC[1:7]),
        c.scalar(p),
        c.scalar(p),
        c.command(),
    )


def reciprocal(c):
    p, n = c.shape()
    nisa.reciprocal(c.target(p, n, nl.float32), c.source(p, n, nl.float32))


def dropout(c):
    p, n = c.shape()
    nisa.dropout(c.target(p, n, nl.float32), c.source(p, n, nl.float32), c.choices.one_of((0.5, 0.0, 1.0, c.column(p))))


def select_reduce(c):
    p, n = c.shape()
    nisa.select_reduce(
        c.target(p, n, nl.float32),
        c.source(p, n, nl.uint8, nl.int16),
        c.source(p, n, nl.float32),
        c.scalar(p),
        c.result(p) if c.flag() else None,
        c.command(),
        reverse_pred=c.flag(),
    )


def range_select(c):
    p, n = c.shape()
    compare = (nl.greater_equal, nl.less, nl.equal, nl.less_equal, nl.greater, nl.not_equal)
    nisa.range_select(
        c.target(p, n, nl.float32),
        c.source(p, n, nl.float32),
        c.choices.one_of(compare),
        c.choices.one_of(compare),
        c.column(p),
        c.column(p),
        c.command(),
        c.result(p) if c.flag() else None,
        range_start=c.choices.one_of((0, 3, -2)),
    )


def _pattern(c, n):
    counts = [[n], [2, n // 2], [n, 1], [n + 1]][c.choices.below(4 if c.choices.chance(8) else 3)] if n % 2 == 0 else [n]
    return [[c.choices.one_of((1, 0, -3, 1000, 1 << 30)), count] for count in counts]


def affine_select(c):
    p, n = c.shape()
    nisa.affine_select(
        c.target(p, n, nl.float32),
        _pattern(c, n),
        c.choices.one_of((0, 1, -2)),
        c.source(p, n, nl.float32),
        c.scalar(p),
        c.choices.one_of(ARITHMETIC[6:12]),
        c.choices.one_of((0, 2, -5)),
    )


def iota(c):
    p, n = c.shape()
    nisa.iota(
        c.target(p, n, nl.int32, nl.float32, nl.uint32),
        _pattern(c, n),
        c.choices.one_of((0, 7, -9, 2**31 - 1)),
        c.choices.one_of((0, 1, -4, 1 << 28)),
    )


def local_gather(c):
    p, n = c.choices.one_of((16, 32, 128)), c.choices.one_of((8, 16, 40))
    columns, size = c.choices.one_of((1, 2, 5)), c.choices.one_of((1, 2, 4))
    count = c.choices.one_of((None, 16 * columns, 16 * columns - 3, 1, 0))
    kind = c.dtype(nl.float32)
    wide = c.wrong((16 * columns if count is None else max(count, 1)) * size)
    nisa.local_gather(c.target(p, wide, kind), c.source(p, n, kind), c.indices((p, columns), n - size + 1, nl.uint16), size, count)


def nc_n_gather(c):
    p, n = c.shape()
    kind, count = c.dtype(nl.float32), c.choices.one_of((4, 1, 20))
    nisa.nc_n_gather(c.target(p, count, kind), c.source(p, n, kind), c.indices((p, count), n))


def nc_stream_shuffle(c):
    p, n = c.shape()
    kind = c.dtype(nl.float32)
    mask = [c.choices.one_of((min(i, p - 1), 0, 255, (i + 1) % min(p, 32))) for i in range(32)]
    nisa.nc_stream_shuffle(c.target(p, n, kind), c.source(c.choices.one_of((p, p, 32, 1)), n, kind), mask)


def tensor_reduce(c):
    p, n = c.shape()
    bits = c.choices.chance(4)
    types = (c.choices.one_of(INTEGERS),) if bits else (nl.float32, nl.bfloat16)
    op = c.choices.one_of(BITS if bits else ARITHMETIC)
    source = c.source(p, n, *types)
    axes = tuple(range(c.choices.between(1, source.ndim - 1), source.ndim))
    kept = source.free_size // numpy.prod([source.shape[one] for one in axes], dtype=int)
    nisa.tensor_reduce(c.target(p, int(kept), *types), op, source, axes, c.flag())


def tensor_partition_reduce(c):
    p, n = c.shape()
    op = c.choices.one_of((nl.add, nl.maximum, nl.average, nl.bitwise_and, nl.bitwise_or, nl.minimum))
    types = (nl.int32,) if op.is_bitvec else (nl.float32, nl.int32)
    nisa.tensor_partition_reduce(c.target(1, n, *types), op, c.source(p, n, *types))


def tensor_scalar_reduce(c):
    p, n = c.shape()
    nisa.tensor_scalar_reduce(
        c.target(p, n, nl.float32),
        c.source(p, n, nl.float32),
        c.arithmetic(),
        c.scalar(p),
        c.choices.one_of(ARITHMETIC[1:7]),
        c.result(p) if c.flag() else None,
        c.flag(),
        c.command(),
        c.scalar(p) if c.flag() else None,
        c.flag(),
    )


def bn_stats(c):
    p, n = c.shape()
    nisa.bn_stats(c.target(p, 6, nl.float32), c.source(p, n, nl.float32))


def bn_aggr(c):
    p, n = c.shape()
    nisa.bn_aggr(c.target(p, 2, nl.float32), c.source(p, 3 * n, nl.float32))


def max8(c):
    p, n = c.shape()
    nisa.max8(c.target(p, 8, nl.float32), c.source(p, n, nl.float32))


def nc_find_index8(c):
    p, n = c.shape()
    kind = c.dtype(nl.float32)
    nisa.nc_find_index8(c.target(p, 8, nl.uint32, nl.uint16), c.source(p, n, kind), c.source(p, 8, kind))


def nc_match_replace8(c):
    p, n = c.shape()
    kind = c.dtype(nl.float32)
    nisa.nc_match_replace8(
        c.target(p, n, kind),
        c.source(p, n, kind),
        c.source(p, 8, kind),
        c.number(),
        c.target(p, 8, nl.uint32, nl.uint16) if c.flag() else None,
    )


def topk(c):
    p, n = c.choices.one_of((16, 32, 128)), c.choices.one_of((4, 1, 20))
    count = c.choices.one_of((8, 16 * n, 16 * n - 3, 16 * n + 1))
    k = c.choices.one_of((1, 8, count))
    nisa.topk(c.target(p, k, nl.bfloat16), c.target(p, k, nl.uint32), c.source(p, n, nl.bfloat16), count)


def sequence_bounds(c):
    n = c.choices.one_of((8, 1, 30))
    kind = c.choices.one_of((nl.float32, nl.int32))
    ids = numpy.repeat(numpy.random.default_rng(c.choices.below(99)).integers(0, 3, n), 2)[:n]
    if kind is nl.int32 and c.flag():
        ids[ids > 0] += 1 << 24  # equal in FP32
    raw = ids.astype(raw_type(kind))[None]
    nisa.sequence_bounds(c.target(1, 2 * n, nl.float32, nl.int32), nl.load(c.array((1, n), kind, raw)))


def nonzero_with_count(c):
    p, n = c.shape()
    nisa.nonzero_with_count(
        c.target(p, n + 1, nl.int32), c.source(p, n, nl.float32, nl.int32), c.choices.one_of((0, 5, -1)), c.choices.one_of((-1, 0))
    )


def activation(c):
    p, n = c.shape()
    nisa.activation(
        c.target(p, n, nl.float32),
        c.choices.one_of(FUNCTIONS),
        c.source(p, n, nl.float32, nl.bfloat16),
        c.choices.one_of((None, None, 0.0, 0.5, c.column(p))),
        c.choices.one_of((1.0, 2.0, 1.0, c.column(p))),
        c.choices.one_of((None, nl.add)),
        c.result(p) if c.flag() else None,
        c.command(),
    )


def activation_reduce(c):
    p, n = c.shape()
    nisa.activation_reduce(c.target(p, n, nl.float32), c.choices.one_of(FUNCTIONS), c.source(p, n, nl.float32), nl.add, c.result(p))


def activate2(c):
    p, n = c.shape()
    nisa.activate2(
        c.target(p, n, nl.float32),
        c.choices.one_of(FUNCTIONS),
        c.source(p, n, nl.float32),
        c.scalar(p),
        c.scalar(p),
        c.choices.one_of((nl.multiply, nl.add, nl.subtract, nl.bypass)),
        c.choices.one_of((nl.bypass, nl.add, nl.subtract)),
        c.choices.one_of((0.0, 0.5, c.column(p))),
        c.flag(),
        c.flag(),
        c.choices.one_of((None, nl.add, nl.maximum, nl.minimum, nl.abs_max, nl.abs_min)),
        c.result(p) if c.flag() else None,
        c.command(),
    )


def exponential(c):
    p, n = c.shape()
    nisa.exponential(
        c.target(p, n, nl.float32), c.source(p, n, nl.float32), c.scalar(p), c.result(p) if c.flag() else None, c.command(), c.scalar(p)
    )


def _product(c, rows, columns, count, kind, other):
    # Uneven sums are exact in no format, so the order of the additions shows.
    return nl.load(c.array((rows, columns), kind)), nl.load(c.array((rows, count), other))


def nc_matmul(c):
    rows, columns, count = (c.choices.one_of((4, 1, 32, 33, 128)) for _ in range(3))
    kind = c.dtype(nl.float32, nl.bfloat16)
    other = c.dtype(kind)
    stationary, moving = _product(c, rows, columns, count, kind, other)
    mode = c.choices.below(8)
    if mode in (1, 2):
        return _in_a_mode(c, mode)
    transposes = c.choices.chance(6)
    made = nl.ndarray((columns, rows if transposes else count), kind if transposes else c.dtype(nl.float32), nl.psum)
    words = dict(is_stationary_onezero=c.flag(), is_moving_onezero=c.flag())
    if transposes:
        nisa.nc_matmul(made, stationary, stationary.broadcast(1, rows) if columns == 1 else _identity(rows, kind), is_transpose=True)
    else:
        for number in range(c.choices.between(1, 3)):
            nisa.nc_matmul(made, stationary, moving, accumulate=None if number else c.choices.one_of((None, False)), **words)
    c.keep.append(made)


def _in_a_mode(c, mode):
    """Tiles of the array, and double rows."""
    if mode == 1:
        row, column = c.choices.one_of((0, 32, 64)), c.choices.one_of((0, 32, 64, 96))
        rows, columns = c.choices.one_of((32, 4, 64)), c.choices.one_of((32, 8, 64))
        size = tuple(32 if one <= 32 else 64 for one in (rows, columns))
        kind = c.dtype(nl.bfloat16, nl.float32)
        stationary, moving = _product(c, min(128, row + rows), columns, 16, kind, kind)
        whole = c.base(min(128, column + columns), 16, nl.float32, nl.psum)
        nisa.nc_matmul(
            whole[column : column + columns],
            stationary[row : row + rows],
            moving[row : row + rows],
            accumulate=False,
            tile_position=(row, column),
            tile_size=size,
        )
    else:
        rows, kind = c.choices.one_of((32, 4, 128)), c.choices.one_of((nl.float8_e4m3, nl.float8_e5m2, nl.float8_e4m3fn))
        stationary, moving = _product(c, rows, 2 * 16, 2 * 40, kind, c.choices.one_of((kind, nl.float8_e5m2)))
        whole = nl.ndarray((16, 40), nl.float32, nl.psum)
        nisa.nc_matmul(whole, stationary.reshape((rows, 2, 16)), moving.reshape((rows, 2, 40)), perf_mode=nisa.matmul_perf_mode.double_row)
    c.keep.append(whole)


def _identity(rows, kind):
    made = nl.ndarray((rows, rows), kind)
    nisa.memset(made, 0)
    return made


def nc_matmul_mx(c):
    rows, columns, count = c.choices.one_of((32, 64, 128)), c.choices.one_of((2, 32, 128)), c.choices.one_of((4, 33))
    kinds = [c.choices.one_of(OTHERS[1:]) for _ in range(2)]
    stationary, moving = _product(c, rows, columns, count, *kinds)
    partitions = 32 * (rows // 32 - 1) + 4
    scales = [
        nl.load(
            c.array(
                (partitions, width),
                nl.uint8,
                numpy.random.default_rng(c.choices.below(99)).integers(120, 134, (partitions, width)).astype(numpy.uint8),
            )
        )
        for width in (columns, count)
    ]
    made = nl.ndarray((columns, count), nl.float32, nl.psum)
    nisa.nc_matmul_mx(made, stationary, moving, *scales)
    c.keep.append(made)


def nc_transpose(c):
    p, n = c.choices.one_of((4, 32, 33, 128, 1)), c.choices.one_of((4, 32, 33, 128, 1))
    kind = c.dtype(nl.float32, nl.bfloat16, nl.float8_e4m3)
    source, chosen = c.source(p, n, kind), c.engine("nc_transpose")
    region = c.choices.one_of((nl.psum, nl.sbuf))
    whole = c.base(n, p + 2, kind, region)
    c.keep.append(whole)
    nisa.nc_transpose(whole[:, 0:p], source, chosen)


def quantize_mx(c):
    p, n = c.choices.one_of((32, 64, 128)), c.choices.one_of((1, 4, 32))
    partitions = 32 * (p // 32 - 1) + 4
    scale = nl.load(c.array((partitions, n), nl.uint8))
    nisa.quantize_mx(c.target(p, n, nl.float8_e4m3fn_x4, nl.float8_e5m2_x4), c.source(p, 4 * n, nl.bfloat16, nl.float16), scale)
    c.keep.append(scale)


def rng(c):
    p, n = c.shape()
    nisa.rng(c.target(p, n, *INTEGERS), c.choices.one_of((nisa.engine.vector, nisa.engine.gpsimd)))


def rand2(c):
    p, n = c.shape()
    nisa.rand2(c.target(p, n, nl.float32), c.scalar(p), c.scalar(p))


def set_rng_seed(c):
    nisa.set_rng_seed(nl.load(c.array((1, 1), nl.uint32)))
    rng(c)


def rand_set_state(c):
    p, words = c.choices.one_of((4, 128)), c.choices.one_of((6, 24))
    engine = nisa.engine.gpsimd if words == 6 else nisa.engine.vector
    nisa.rand_set_state(nl.load(c.array((p, words), nl.uint32)), engine)
    nisa.rng(c.target(p, 8, nl.uint32), engine)


def rand_get_state(c):
    p, words = c.choices.one_of((4, 128)), c.choices.one_of((6, 24))
    nisa.rand_get_state(c.target(p, words, nl.uint32), nisa.engine.gpsimd if words == 6 else nisa.engine.vector)


def _hbm(c, shape, dtype):
    """A copy in HBM that the kernel may write."""
    made = nl.ndarray(shape, dtype, nl.shared_hbm)
    nisa.dma_copy(made, c.array(shape, dtype))
    c.keep.append(made)
    return made


def dma_copy(c):
    p, n = c.shape()
    kind = c.dtype(nl.float32, nl.bfloat16)
    other = kind if c.choices.below(3) else c.dtype(nl.float32)
    oob = c.choices.one_of((nisa.oob_mode.error, nisa.oob_mode.error, nisa.oob_mode.skip))

    def side(dtype, writes):
        where = c.choices.below(6)
        if where == 0:
            return c.target(p, n, dtype) if writes else c.source(p, n, dtype)
        make = (lambda shape: _hbm(c, shape, dtype)) if writes else (lambda shape: c.array(shape, dtype))
        if where == 1:
            return make((p + 3, n + 2))[1 : p + 1, 2 : n + 2]
        if where == 2:
            return make((n, p)).permute((1, 0))
        if where == 3:
            return make((p, n)).ap([[n, p], [-1, n]], offset=n - 1)
        if where == 4:
            return make((p + 4, n))[nl.ds(c.register(4), p), :]
        return make((p + 4, n)).ap(
            [[n, p], [1, n]], vector_offset=c.indices((p, 1), p + 4, c.choices.one_of((nl.uint32, nl.int32)), writes)
        )

    dst = side(other, True)
    nisa.dma_copy(dst, side(kind, False), oob_mode=oob)


def dma_transpose(c):
    p, n = c.choices.one_of((4, 16, 33, 128)), c.choices.one_of((8, 1, 33, 128))
    kind = c.dtype(nl.float32, nl.bfloat16)
    source = c.array((p, n), kind) if c.choices.below(2) else c.source(p, n, kind)
    target = _hbm(c, (n, p), source.dtype) if c.choices.below(2) else c.target(n, p, source.dtype)
    nisa.dma_transpose(target, source)


def dma_compute(c):
    p, n = c.shape()
    sources = [
        c.array((p, n), c.dtype(nl.float32)) if c.choices.below(2) else c.source(p, n, nl.float32) for _ in range(c.choices.between(1, 4))
    ]
    target = _hbm(c, (p, n), c.dtype(nl.float32)) if c.choices.below(2) else c.target(p, n, nl.float32)
    nisa.dma_compute(target, sources, nl.add)


def register_load(c):
    register = nisa.register_alloc()
    nisa.register_load(register, nl.load(c.array((1, 1), c.dtype(*INTEGERS))))
    nisa.register_store(c.target(1, 1, nl.int32), register * c.choices.one_of((1, 3, -1)) + c.choices.one_of((0, 5, 1 << 30)))


def register_move(c):
    register = nisa.register_alloc(c.choices.one_of((1, -1, 1 << 31, 0x3FC00000)))
    nisa.register_move(register, c.choices.one_of((2, -5, register + 1, 5 - register)))
    nisa.register_store(c.target(1, 1, *INTEGERS, nl.float32), register)


register_store = register_alloc = register_move


def sendrecv(c):
    """On two cores."""
    p, n = c.shape()
    me, kind = nl.program_id(0), c.dtype(nl.float32)
    tile = nl.load(c.array((p, n + 8), kind))
    if me:
        nisa.tensor_copy(tile[:, 0:n], tile[:, 8 : n + 8])
    step = c.choices.one_of((n + 8, 0, 4))
    got = tile if step <= 8 else nl.load(c.array((p, n + 8), kind))
    nisa.sendrecv(tile[:, 0:n], got[:, min(step, 8) : min(step, 8) + n], 1 - me, 1 - me, 0)
    c.keep.append(got)


def core_barrier(c):
    """On two cores: what one core writes to shared HBM before, the other reads after it."""
    p, n = c.shape()
    me, kind = nl.program_id(0), c.dtype(nl.float32)
    shared = nl.ndarray((2, p, n), kind, nl.shared_hbm)
    nisa.dma_copy(shared[me], c.array((p, n), kind))
    nisa.core_barrier(shared, (0, 1), c.choices.one_of((nisa.engine.gpsimd, nisa.engine.vector, nisa.engine.sync)))
    c.keep.append(nl.load(shared[1 - me]))


def loop(c):
    """A loop of the device over columns, of a tile or of HBM."""
    p, width, passes = c.choices.one_of((4, 33, 128)), c.choices.one_of((4, 1, 32)), c.choices.one_of((3, 1, 5))
    kind = c.dtype(nl.float32, nl.bfloat16)
    x = c.array((p, width * passes), kind)
    x = nl.load(x) if c.choices.below(2) else x
    out = c.base(p, width * passes, kind, nl.sbuf) if c.choices.below(2) else _hbm(c, (p, width * passes), kind)
    if out.is_on_chip:
        c.keep.append(out)
    for i in nl.dynamic_range(c.choices.one_of((0, 1)), passes):
        part = nl.ndarray((p, width), kind)
        nisa.dma_copy(part, x[:, nl.ds(i * width, width)])
        nisa.tensor_scalar(part, part, c.choices.one_of((nl.add, nl.multiply)), 2.0)
        nisa.dma_copy(out[:, nl.ds(i * width, width)], part)


# ---- nki.language: functions on tiles


def language(c):
    p, n = c.shape()
    x, y = c.source(p, n, nl.float32), c.source(p, c.choices.one_of((n, n, 1)), nl.float32)
    names = [
        "add",
        "subtract",
        "multiply",
        "maximum",
        "minimum",
        "equal",
        "greater",
        "divide",
        "logical_and",
        "exp",
        "copy",
        "relu",
        "negative",
        "sum",
        "max",
        "min",
        "mean",
        "var",
        "prod",
        "all",
        "softmax",
        "transpose",
        "matmul",
        "where",
        "rms_norm",
        "power",
        "square",
        "abs",
        "tan",
        "cos",
        "reciprocal",
        "broadcast_to",
        "expand_dims",
    ]
    name = c.choices.one_of(names)
    function = getattr(nl, name)
    if name in ("sum", "max", "min", "mean", "var", "prod", "all"):
        made = function(x, tuple(range(1, x.ndim)))
    elif name in ("softmax", "negative", "transpose", "exp", "copy", "relu", "square", "abs", "tan", "cos", "reciprocal"):
        made = function(x)
    elif name == "where":
        made = nl.where(nl.greater(x, 0.0), x, c.choices.one_of((y, 2.0)))
    elif name == "matmul":
        made = nl.matmul(x, y, c.flag())
    elif name == "rms_norm":
        made = nl.rms_norm(x, y, 1, n)
    elif name == "broadcast_to":
        made = nl.broadcast_to(x, (c.choices.one_of((p, 64)), n))
    elif name == "expand_dims":
        made = nl.copy(nl.expand_dims(x, 1))
    else:
        made = function(*c.choices.one_of(((x, y), (y, x), (x, 1.5), (1.5, x))))
    c.keep.append(made)


# ---- Rules of NumPy


def numpy_rules(c):
    """Calls whose results NumPy gives, bit for bit, for numbers that are no NaN."""
    p, n = c.choices.one_of((4, 32, 128)), 4 * c.choices.one_of((4, 1, 33))
    x, y = (c.raw((p, n), nl.float32) for _ in range(2))
    x, y = (numpy.where(numpy.isfinite(one) & (one != 0), one, F(1)) for one in (x, y))
    binary = {
        "add": numpy.add,
        "subtract": numpy.subtract,
        "multiply": numpy.multiply,
        "maximum": numpy.maximum,
        "minimum": numpy.minimum,
        "greater": numpy.greater,
        "less_equal": numpy.less_equal,
        "equal": numpy.equal,
        "not_equal": numpy.not_equal,
        "logical_and": numpy.logical_and,
    }
    a, b = nl.load(c.array((p, n), nl.float32, x)), nl.load(c.array((p, n), nl.float32, y))
    kind = c.choices.below(6)
    with numpy.errstate(all="ignore"):
        if kind == 0:
            name = c.choices.one_of(tuple(binary))
            made, expected = getattr(nl, name)(a, b), binary[name](x, y).astype(F)
        elif kind == 1:
            name = c.choices.one_of(("max", "min"))
            made, expected = getattr(nl, name)(a, 1), getattr(x, name)(axis=1, keepdims=True)
        elif kind == 2:
            made = nl.ndarray((n, p), nl.float32) if n <= 128 else None
            made = made if made is not None else nl.ndarray((n, p), nl.float32, nl.shared_hbm)
            nisa.dma_transpose(made, a)
            expected = x.T
        elif kind == 3:
            made = nl.ndarray((p, n // 4, 4), nl.float32)
            nisa.tensor_copy(made, a.reshape((p, 4, n // 4)).permute((0, 2, 1)))
            expected = x.reshape(p, 4, n // 4).transpose(0, 2, 1)
        elif kind == 4:
            made = nl.ndarray((p, n), nl.float32)
            nisa.dma_copy(made[:, 0 : n // 2], a[:, 1:n:2])
            nisa.tensor_copy(made[:, n // 2 : n], a[:, 0:n:2])
            expected = numpy.concatenate([x[:, 1::2], x[:, 0::2]], axis=1)
        else:
            made = nl.ndarray((p, n), nl.float32)
            nisa.scalar_tensor_tensor(made, a, nl.multiply, -2.5, nl.subtract, b, reverse1=c.flag())
            expected = x * F(-2.5) - y
            expected = -expected if c.choices.made[-1] == 2 else expected
    c.expected[len(c.keep)] = expected
    c.keep.append(made)


def addresses(c):
    """Tiles at addresses of the kernel's choice, which overlap in part, and views as other types."""
    p, n, kind = c.choices.one_of((4, 32, 128)), c.choices.one_of((16, 8, 40)), c.dtype(nl.float32, nl.bfloat16)
    start = c.choices.one_of((0, 64, 2, 32)) if p <= 32 else 0
    x = nl.load(c.array((p, n), kind))
    first = nl.ndarray((p, n), kind, nl.sbuf, address=(start, c.choices.one_of((0, 64, 100, 1))))
    nisa.tensor_copy(first, x)
    other = c.choices.one_of((nl.uint8, nl.uint16, nl.uint32, nl.float32))
    c.keep.append(nl.copy(first.view(other)))
    second = nl.ndarray((p, n), other, nl.sbuf, address=(start, c.choices.one_of((4096, 0, 32))))
    nisa.memset(second, 3)
    c.keep += [nl.copy(second), nl.copy(first)] if c.flag() else [nl.copy(second)]


def chain(c):
    """Instructions of all engines and copies on parts of a few tiles, which the compiler must keep in order."""
    p, n = c.choices.one_of((32, 8, 64)), 64
    tiles = [c.base(p, n, nl.float32, region) for region in (nl.sbuf, nl.psum, nl.sbuf)]
    memory = _hbm(c, (p, n), nl.float32)

    def on_chip():
        return c.choices.one_of(tiles)

    def part(tile, width):
        start = c.choices.one_of((0, 16, 32, n - width))
        return tile[:, start : start + width]

    def steps():
        for _ in range(c.choices.between(3, 14)):
            width, kind = c.choices.one_of((16, 32, 8)), c.choices.below(8)
            if kind == 0:
                nisa.tensor_scalar(part(on_chip(), width), part(on_chip(), width), nl.add, 1.5)
            elif kind == 1:
                nisa.activation(part(on_chip(), width), nl.relu, part(on_chip(), width), scale=0.5)
            elif kind == 2:
                nisa.tensor_tensor(part(tiles[0], width), part(tiles[2], width), part(tiles[0], width), nl.subtract, nisa.engine.gpsimd)
            elif kind == 3:
                source = c.choices.one_of((tiles[0], tiles[2]))
                nisa.nc_matmul(part(tiles[1], width), source[:, 0:p] if p <= n else source, part(tiles[0], width), accumulate=c.flag())
            elif kind == 4:
                nisa.dma_copy(part(memory, width), part(c.choices.one_of((tiles[0], tiles[2])), width))
            elif kind == 5:
                nisa.dma_copy(part(c.choices.one_of((tiles[0], tiles[2])), width), part(memory, width))
            elif kind == 6:
                nisa.memset(part(on_chip(), width), 2.0, c.choices.one_of((nisa.engine.vector, nisa.engine.gpsimd)))
            else:
                register = c.register(n - width)
                nisa.tensor_copy(
                    part(tiles[0], width), tiles[2][:, nl.ds(register, width)], c.choices.one_of((nisa.engine.vector, nisa.engine.gpsimd))
                )

    if c.choices.chance(3):
        for _ in nl.dynamic_range(0, c.choices.one_of((2, 3, 0))):
            steps()
    else:
        steps()
    c.keep += tiles


def indices(c):
    """Several indices of one view, of HBM or of a tile."""
    p, n = c.choices.one_of((4, 32)), c.choices.one_of((8, 16))
    kind = c.dtype(nl.float32, nl.bfloat16)
    x = c.array((p + 3, 3, n + 4), kind)
    x = nl.load(x) if c.choices.below(2) else x
    made = nl.ndarray((p, n), kind)
    first = c.register(3) if not x.is_on_chip else 1
    view = x[first : first + p] if x.is_on_chip else x[nl.ds(first, p)]
    nisa.dma_copy(made, view[:, c.register(2), nl.ds(c.register(4), n)])
    c.keep.append(made)


ISA = {
    name: function
    for name, function in list(globals().items())
    if callable(function) and callable(getattr(nisa, name, None)) and name in dir(nisa)
}
ALL = (*ISA.values(), loop, language, addresses, chain, indices, numpy_rules)
OF_TWO_CORES = (sendrecv, core_barrier)
