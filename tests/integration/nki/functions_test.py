#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Calls the functions of nki.language on tiles, in simulate and on boards, bit for bit: functions_test.py BUILD [TEST...]"""
import collections
import concurrent.futures
import os
import pathlib
import sys
import unittest

BUILD = os.environ["TRNVP_BUILD"] = os.path.abspath(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "sw-stubs/python"), str(ROOT / "tests/fuzz/kernels")]

import generators  # noqa: E402 - after the path
import kernels_fuzz  # noqa: E402
import nki  # noqa: E402
import nki.isa as nisa  # noqa: E402
import nki.language as nl  # noqa: E402
import numpy  # noqa: E402
from trn_nki.diagnostics.errors import KernelError  # noqa: E402
from trn_nki.run import RunError, platform  # noqa: E402
from trn_nki.trace.host_arrays import HostArray  # noqa: E402
from trn_nki.values.operations import OPERATIONS  # noqa: E402
from trn_nki.values.operators import Operator  # noqa: E402

F = numpy.float32
GENERATOR = numpy.random.default_rng(7)
X, Y, COLUMN = (GENERATOR.standard_normal(shape).astype(F) for shape in ((32, 24), (32, 24), (32, 1)))
WHOLE = GENERATOR.integers(0, 200, (32, 24)).astype(numpy.uint32)
SHIFTS = GENERATOR.integers(0, 31, (32, 24)).astype(numpy.uint32)

TWO_TILES = [
    "add",
    "subtract",
    "multiply",
    "maximum",
    "minimum",
    "equal",
    "not_equal",
    "greater_equal",
    "greater",
    "less_equal",
    "less",
    "logical_and",
    "logical_or",
    "logical_xor",
    "divide",
]
BITS = ["bitwise_and", "bitwise_or", "bitwise_xor"]
ONE_TILE = [
    "copy",
    "square",
    "abs",
    "sign",
    "relu",
    "sigmoid",
    "tanh",
    "exp",
    "gelu",
    "gelu_dx",
    "gelu_apprx_tanh",
    "gelu_apprx_sigmoid",
    "gelu_apprx_sigmoid_dx",
    "silu",
    "silu_dx",
    "softplus",
    "mish",
    "erf",
    "erf_dx",
    "arctan",
    "reciprocal",
    "negative",
    "logical_not",
]
POSITIVE = ["log", "sqrt", "rsqrt"]
REDUCTIONS = ["sum", "max", "min", "prod", "mean", "var"]
# Functions that have tests of their own here or in operations_test.py, or that are no functions on tiles.
ELSEWHERE = """sin cos tan all softmax rms_norm where dropout gather_flattened transpose matmul left_shift right_shift invert
    power fmod mod prelu bypass average ceil floor trunc
    DType MemoryRegion NKIObject NkiTensor VirtualRegister affine_range broadcast_to device_print ds dynamic_range empty_like
    expand_dims fori_loop full is_hbm is_on_chip is_psum is_sbuf load load_transpose2d ndarray no_reorder num_programs ones
    program_id program_ndim rand random_seed range sequential_range shared_constant shared_identity_matrix static_range store
    while_loop zeros zeros_like""".split()
REFUSED = ["abs_max", "abs_min"]  # of an activate2's reduction only
# Of nki.isa: constants and classes.
NO_CALLS = set(
    """NkiInstruction NkiValidationError VirtualRegister dge_mode dma_engine engine get_nc_sub_version get_nc_version
    matmul_perf_mode nc_version oob_mode reduce_cmd""".split()
)


def stored(tile):
    made = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=made, src=tile)
    return made


def both(test, body, *arrays, board="trn3-chip"):
    """The results of simulate, after a comparison with those of a board."""

    @nki.jit
    def kernel(inputs):
        return [stored(tile) for tile in body(*[nl.load(array) for array in inputs])]

    with platform(board):
        expected, found = nki.simulate(kernel)(list(arrays)), kernel(list(arrays))
    for number, (one, other) in enumerate(zip(expected, found, strict=True)):
        with test.subTest(number=number):
            numpy.testing.assert_array_equal(getattr(one, "raw", one), getattr(other, "raw", other))
    return expected


class Functions(unittest.TestCase):
    def test_every_public_function_has_a_test(self):
        public = {
            name
            for name in dir(nl)
            if not name.startswith("_") and (callable(getattr(nl, name)) or isinstance(getattr(nl, name), Operator))
        }
        known = {*TWO_TILES, *BITS, *ONE_TILE, *POSITIVE, *REDUCTIONS, *REFUSED, *ELSEWHERE}
        self.assertEqual(public - known, set())
        public = {name for name in dir(nisa) if not name.startswith("_") and callable(getattr(nisa, name))}
        self.assertEqual(public - NO_CALLS - set(generators.ISA), set())

    def test_every_instruction_runs_in_both_halves(self):
        for board in ("trn3-chip", "trn2-chip", "trn1-chip"):
            runner, alone = kernels_fuzz.Runner(board), generators.OF_TWO_CORES
            missing = {name for name in generators.ISA if (name not in OPERATIONS or OPERATIONS[name].generation <= runner.generation)}
            calls = []
            for name in sorted(missing):
                for seed in range(200):
                    call = kernels_fuzz.Call(name, seed=f"{name} {seed}")
                    if runner.runs(call):
                        calls.append(call)
                        missing.discard(name)
                        break
            self.assertEqual(missing, set(), board)
            single = [call for call in calls if generators.ISA[call.name] not in alone]
            for group in (
                *(single[at : at + 8] for at in range(0, len(single), 8)),
                *([call] for call in calls if generators.ISA[call.name] in alone),
            ):
                with self.subTest(board=board, calls=[call.name for call in group]):
                    self.assertEqual(kernels_fuzz.find(runner, group), [])

    def test_tiles_made_by_functions(self):
        def body(x, row):
            made = [
                nl.zeros((32, 4), nl.float32),
                nl.ones((32, 4), nl.bfloat16),
                nl.full((32, 4), 2.5, nl.float32),
                nl.zeros_like(x),
                nl.shared_identity_matrix(32),
                nl.broadcast_to(row, (64, 24)),
                nl.copy(nl.expand_dims(x, 1)),
                nl.power(nl.abs(x), 1.5),
                nl.dropout(x, 0.5),
                nl.rand((32, 8), nl.float32),
            ]
            seed = nl.full((1, 1), 7, nl.uint32)
            nl.random_seed(seed)
            drawn, empty = nl.dropout(x, 0.25), nl.empty_like(x)
            nisa.tensor_copy(empty, x)
            return [*made, drawn, empty, nl.gather_flattened(x, nl.full((32, 3), 5, nl.uint32))]

        found = both(self, body, X, X[0:1])
        numpy.testing.assert_array_equal(found[4], numpy.eye(32))
        numpy.testing.assert_array_equal(found[5], numpy.broadcast_to(X[0:1], (64, 24)))
        numpy.testing.assert_array_equal(found[-2], X)
        numpy.testing.assert_array_equal(found[-1], numpy.repeat(X[:, 5:6], 3, axis=1))

    def test_loops_and_moves_by_functions(self):
        @nki.jit
        def kernel(x):
            turned = nl.load_transpose2d(x)
            total = nl.zeros((24, 32), nl.float32)

            def add(i):
                nisa.tensor_tensor(total, total, turned, nl.add)

            nl.fori_loop(0, 3, add)
            count = nisa.register_alloc(2)

            def again(register):
                nisa.tensor_tensor(total, total, turned, nl.add)
                return register - 1

            nl.while_loop(count, again)
            result = nl.ndarray((24, 32), nl.float32, nl.shared_hbm)
            with nl.no_reorder():
                nl.store(result, total)
            return result

        for board in ("trn3-chip", "trn2-chip"):
            with platform(board):
                for found in (nki.simulate(kernel)(X), kernel(X)):
                    numpy.testing.assert_array_equal(found, ((((X + X) + X) + X) + X).T)

    def test_functions_without_an_engine_are_refused(self):
        for name in (*REFUSED, "fmod", "mod", "ceil", "floor", "trunc"):
            with self.assertRaisesRegex(KernelError, "functions_test.py"):
                both(self, lambda x, name=name: [getattr(nl, name)(*(x, x)[: 1 if name in ("ceil", "floor", "trunc") else 2])], X)

    def test_two_tiles_and_broadcasts_in_both_orders(self):
        numbers = {
            "add": X + Y,
            "subtract": X - Y,
            "multiply": X * Y,
            "maximum": numpy.maximum(X, Y),
            "minimum": numpy.minimum(X, Y),
            "greater": (X > Y).astype(F),
            "less_equal": (X <= Y).astype(F),
        }

        def body(x, y, column):
            return [getattr(nl, name)(*pair) for name in TWO_TILES for pair in ((x, y), (x, column), (column, x), (x, 1.5))]

        found = both(self, body, X, Y, COLUMN)
        for name, expected in numbers.items():
            numpy.testing.assert_array_equal(found[4 * TWO_TILES.index(name)], expected, name)
        numpy.testing.assert_array_equal(found[4 * TWO_TILES.index("subtract") + 2], COLUMN - X)

    def test_bits(self):
        def body(x, y):
            return [getattr(nl, name)(x, y) for name in BITS] + [nl.left_shift(x, y), nl.right_shift(x, y), nl.invert(x)]

        found = both(self, body, WHOLE, SHIFTS)
        for one, expected in zip(
            found, (WHOLE & SHIFTS, WHOLE | SHIFTS, WHOLE ^ SHIFTS, WHOLE << SHIFTS, WHOLE >> SHIFTS, ~WHOLE), strict=True
        ):
            numpy.testing.assert_array_equal(one, expected)

    def test_one_tile(self):
        found = both(self, lambda x: [getattr(nl, name)(x) for name in ONE_TILE], X)
        numpy.testing.assert_array_equal(found[ONE_TILE.index("negative")], -X)
        positive = both(self, lambda x: [getattr(nl, name)(x) for name in POSITIVE], numpy.abs(X))
        numpy.testing.assert_array_equal(positive[POSITIVE.index("sqrt")], numpy.sqrt(numpy.abs(X)))
        angles = numpy.clip(X, -1.5, 1.5)
        circle = both(self, lambda x: [nl.sin(x), nl.cos(x), nl.tan(x)], angles)
        for one, expected in zip(circle, (numpy.sin(angles), numpy.cos(angles), numpy.tan(angles)), strict=True):
            numpy.testing.assert_allclose(one, expected, rtol=1e-4, atol=1e-6)

    def test_reductions(self):
        found = both(self, lambda x: [getattr(nl, name)(x, 1) for name in REDUCTIONS] + [nl.all(x, 1)], X)
        for name, expected in (("max", X.max(1)), ("min", X.min(1))):
            numpy.testing.assert_array_equal(found[REDUCTIONS.index(name)][:, 0], expected)
        numpy.testing.assert_allclose(found[REDUCTIONS.index("var")][:, 0], X.var(1), rtol=1e-5)
        numpy.testing.assert_allclose(found[REDUCTIONS.index("mean")][:, 0], X.mean(1), rtol=1e-5, atol=1e-6)

    def test_functions_of_several_instructions(self):
        def body(x, y, weights):
            chosen = nl.where(nl.greater(x, 0.0), x, y)
            return [nl.softmax(x), nl.rms_norm(x, weights, 1, 24), chosen, nl.where(nl.greater(x, 0.0), x, 7.0), nl.transpose(x)]

        weights = numpy.ones((32, 24), F)
        softmax, norm, chosen, fixed, turned = both(self, body, X, Y, weights)
        power = numpy.exp(X - X.max(1, keepdims=True))
        numpy.testing.assert_allclose(softmax, power / power.sum(1, keepdims=True), rtol=1e-5)
        numpy.testing.assert_allclose(norm, X / numpy.sqrt((X * X).mean(1, keepdims=True) + 1e-6), rtol=1e-5)
        numpy.testing.assert_array_equal(chosen, numpy.where(X > 0, X, Y))
        numpy.testing.assert_array_equal(fixed, numpy.where(X > 0, X, 7))
        numpy.testing.assert_array_equal(turned, X.T)

    def test_range_select_and_select_reduce_accumulate(self):
        def body(x, low, high):
            chosen, largest = nl.ndarray((32, 24), nl.float32, nl.sbuf), nl.ndarray((32, 1), nl.float32, nl.sbuf)
            nisa.range_select(
                dst=chosen, on_true_tile=x, comp_op0=nl.greater_equal, comp_op1=nl.less, bound0=low, bound1=high, reduce_res=largest
            )
            taken, most = nl.ndarray((32, 24), nl.float32, nl.sbuf), nl.ndarray((32, 1), nl.float32, nl.sbuf)
            nisa.select_reduce(
                dst=taken,
                predicate=nl.greater(x, 0.0, nl.uint8),
                on_true=x,
                on_false=-9.0,
                reduce_res=most,
                reduce_cmd=nisa.reduce_cmd.reset_reduce,
            )
            return [chosen, largest, taken, most]

        low = GENERATOR.integers(0, 9, (32, 1)).astype(F)
        place, lowest = numpy.arange(24)[None, :], numpy.finfo(F).min
        chosen, largest, taken, most = both(self, body, X, low, low + 5)
        expected = numpy.where((place >= low) & (place < low + 5), X, lowest)
        numpy.testing.assert_array_equal(chosen, expected)
        numpy.testing.assert_array_equal(largest, expected.max(1, keepdims=True))
        numpy.testing.assert_array_equal(taken, numpy.where(X > 0, X, -9))
        numpy.testing.assert_array_equal(most, numpy.where(X > 0, X, -9).max(1, keepdims=True))

    def test_memset_rounds_and_saturates_to_its_type(self):
        values = [
            (nl.int32, 2.7),
            (nl.int32, 3e9),
            (nl.int32, -3e9),
            (nl.uint32, -1),
            (nl.uint32, 3e9),
            (nl.int8, 300),
            (nl.uint8, -1),
            (nl.int16, 2.5),
            (nl.int32, float("nan")),
        ]

        def body(x):
            made = []
            for dtype, value in values:
                made.append(nl.ndarray((32, 4), dtype, nl.sbuf))
                nisa.memset(made[-1], value)
            return made

        found = both(self, body, X)
        self.assertEqual([int(one[0, 0]) for one in found], [3, 2**31 - 1, -(2**31), 2**32 - 1, 3_000_000_000, 127, 0, 2, 0])

    def test_register_store_converts_the_bits_of_the_register(self):
        def body(x):
            register, made = nisa.register_alloc(0x3FC00000), []  # 1.5 in FP32
            for dtype in (nl.float32, nl.bfloat16, nl.int32, nl.uint16):
                made.append(nl.ndarray((1, 1), dtype, nl.sbuf))
                nisa.register_store(made[-1], register)
            return made

        found = both(self, body, X)
        self.assertEqual(
            [int(getattr(one, "raw", one).view(f"u{one.dtype.itemsize}" if hasattr(one, "view") else "u2")[0, 0]) for one in found],
            [0x3FC00000, 0x3FC0, 0x3FC00000, 0],
        )

    def test_maxima_keep_the_order_of_equal_zeros(self):
        zeros = numpy.where(GENERATOR.integers(0, 2, (32, 64)) == 0, F(0.0), F(-0.0)).astype(F)

        def body(x):
            made = nl.ndarray((32, 8), nl.float32, nl.sbuf)
            nisa.max8(made, x)
            return [made]

        @nki.jit
        def kernel(x):
            return [stored(tile) for tile in body(nl.load(x))]

        with platform("trn3-chip"):
            one, other = nki.simulate(kernel)(zeros)[0], kernel(zeros)[0]
        numpy.testing.assert_array_equal(numpy.signbit(one), numpy.signbit(other))


class Results(unittest.TestCase):
    """What a kernel returns comes back in its structure, order and type from simulate and boards."""

    def check(self, kernel, *arguments):
        with platform("trn3-chip"):
            return nki.simulate(kernel)(*arguments), kernel(*arguments)

    def test_views_keep_their_strides(self):
        square = GENERATOR.standard_normal((24, 24)).astype(F)

        @nki.jit
        def kernel(x):
            out = stored(nl.load(x))
            return out.permute((1, 0)), out

        for turned, whole in self.check(kernel, square):
            numpy.testing.assert_array_equal(turned, square.T)
            numpy.testing.assert_array_equal(whole, square)

    def test_named_tuples_and_types(self):
        pair = collections.namedtuple("pair", "sum flags")

        @nki.jit
        def kernel(x):
            tile = nl.load(x)
            flags = nl.ndarray((32, 24), nl.bool, nl.shared_hbm)
            nisa.dma_copy(dst=flags, src=nl.greater(tile, 0.0, nl.uint8))
            return pair(stored(nl.add(tile, tile)), flags)

        for found in self.check(kernel, X):
            self.assertEqual(type(found).__name__, "pair")
            numpy.testing.assert_array_equal(found.sum, X + X)
            self.assertEqual(found.flags.dtype, numpy.uint8)
            numpy.testing.assert_array_equal(found.flags, (X > 0).astype(numpy.uint8))

    def test_byte_orders_are_converted_and_other_types_refused(self):
        @nki.jit
        def kernel(x):
            return stored(nl.load(x))

        for found in self.check(kernel, X.astype(">f4")):
            numpy.testing.assert_array_equal(found, X)
        for refused in (nki.simulate(kernel), kernel):
            with self.assertRaisesRegex(KernelError, "complex64 is no tensor"):
                refused(X.astype(numpy.complex64))

    def test_parts_that_are_never_written_are_named(self):
        @nki.jit
        def kernel(x):
            result = nl.ndarray((40, 24), dtype=x.dtype, buffer=nl.shared_hbm)
            nisa.dma_copy(dst=result[0:32, :], src=nl.load(x))
            return result

        for refused in (nki.simulate(kernel), kernel):
            with self.assertRaisesRegex(KernelError, r"functions_test.py:\d+.*result 0, .* is not written at \[32, 0\]"):
                refused(X)

    def test_returned_parts_need_no_others(self):
        @nki.jit
        def kernel(x):
            result = nl.ndarray((40, 24), dtype=x.dtype, buffer=nl.shared_hbm)
            nisa.dma_copy(dst=result[8:40, :], src=nl.load(x))
            return result[8:40, :], result[30:32, 0:3]

        for whole, part in self.check(kernel, X):
            numpy.testing.assert_array_equal(whole, X)
            numpy.testing.assert_array_equal(part, X[22:24, 0:3])

    def test_results_have_a_known_place(self):
        @nki.jit
        def kernel(x):
            result = stored(nl.load(x))
            for i in nl.dynamic_range(0, 32):
                row = result[nl.ds(i, 1), :]
            return row

        for refused in (nki.simulate(kernel), kernel):
            with self.assertRaisesRegex(KernelError, "whose place is known on the device only"):
                refused(X)

    def test_arguments_may_be_results(self):
        @nki.jit
        def kernel(x, y):
            nisa.dma_copy(y, nl.load(x))
            return x, y, x.permute((1, 0))

        @nki.jit
        def empty(x):
            return x

        for same, copied, turned in self.check(kernel, X, Y):
            numpy.testing.assert_array_equal(same, X)
            numpy.testing.assert_array_equal(copied, X)
            numpy.testing.assert_array_equal(turned, X.T)
        for found in self.check(empty, X):
            numpy.testing.assert_array_equal(found, X)

    def test_numbers_beyond_every_type_are_refused(self):
        with self.assertRaisesRegex(KernelError, "operand0 has 401 digits"):
            both(self, lambda x: [nl.multiply(x, 10**400)], X)

    def test_copies_go_backwards(self):
        @nki.jit
        def kernel(x):
            tile = nl.ndarray((32, 24), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x.ap([[24, 32], [-1, 24]], offset=23))
            return stored(tile)

        for found in self.check(kernel, X):
            numpy.testing.assert_array_equal(found, X[:, ::-1])

    def test_indices_beyond_a_tile_are_named(self):
        @nki.jit
        def kernel(x, indices):
            return stored(nl.gather_flattened(nl.load(x), nl.load(indices)))

        indices = numpy.full((32, 4), 24, numpy.uint32)
        with self.assertRaisesRegex(KernelError, r"index 24 of .*must be below 24"):
            nki.simulate(kernel)(X, indices)

    def test_arguments_of_moves_between_partitions_are_checked(self):
        def shuffle(x):
            made = nl.ndarray((32, 24), nl.float32, nl.sbuf)
            nisa.nc_stream_shuffle(made, x[0:16, :], [31] * 32)
            return [made]

        with self.assertRaisesRegex(KernelError, r"shuffle_mask\[0\] is 31: partition 31 of .*, which has 16"):
            both(self, shuffle, X)

    def test_kernels_of_several_threads_do_not_mix(self):
        def run(number):
            @nki.jit
            def kernel(x):
                return stored(nl.add(nl.load(x), float(number)))

            return [nki.simulate(kernel)(X) for _ in range(5)]

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for number, found in enumerate(pool.map(run, range(12))):
                for one in found:
                    numpy.testing.assert_array_equal(one, X + F(number))

    def test_one_platform_serves_nested_blocks_and_threads(self):
        @nki.jit
        def kernel(x):
            return stored(nl.load(x))

        shared = platform("trn2-chip")

        def run(number):
            with shared, shared:
                return kernel(X + F(number))

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for number, found in enumerate(pool.map(run, range(8))):
                numpy.testing.assert_array_equal(found, X + F(number))


class Numbers(unittest.TestCase):
    """Numbers at the limits of their types are equal in both halves, and as the specification says."""

    def test_reversed_unary_operators_and_bypass_ignore_their_operand(self):
        def body(x, y):
            made = []
            for op in (nl.abs, nl.reciprocal, nl.square, nl.relu, nl.bypass):
                made += [nl.ndarray((32, 24), nl.float32, nl.sbuf) for _ in range(2)]
                nisa.tensor_scalar(made[-2], x, op, 3.0, True)
                nisa.scalar_tensor_tensor(made[-1], x, op, 3.0, nl.add, y, reverse0=True, reverse1=True)
            return made

        found = both(self, body, X, Y)
        for number, expected in ((0, numpy.abs(X)), (1, Y + numpy.abs(X)), (8, X), (9, X + Y)):
            numpy.testing.assert_array_equal(found[number], expected)

    def test_an_activate2_without_operators_applies_its_function_only(self):
        def body(x):
            made = [nl.ndarray((32, 24), nl.float32, nl.sbuf) for _ in range(2)]
            nisa.activate2(made[0], nl.square, x, 3.0, 4.0, None, None)
            nisa.activate2(made[1], nl.square, x, 2.0, 4.0, nl.multiply, None)
            return made

        found = both(self, body, X)
        numpy.testing.assert_array_equal(found[0], X * X)
        numpy.testing.assert_array_equal(found[1], (2 * X) * (2 * X))

    def test_products_beyond_fp32_are_added_exactly(self):
        stationary = numpy.array([[-3e38, 1.0], [3e38, 2.0]], F).view(numpy.uint32) >> 16
        moving = numpy.array([[1.0, 1e-30], [2.0, numpy.nan]], F).view(numpy.uint32) >> 16
        stationary, moving = (HostArray(one.astype(numpy.uint16), nl.bfloat16) for one in (stationary, moving))

        def body(a, b):
            made = nl.ndarray((2, 2), nl.float32, nl.psum)
            nisa.nc_matmul(made, a, b)
            return [nl.copy(made)]

        found = both(self, body, stationary, moving)[0]
        self.assertGreater(float(found[0, 0]), 2.9e38)
        self.assertTrue(numpy.isfinite(found[0, 0]))

    def test_activations_at_infinities_and_subnormals(self):
        derivatives = ["gelu_dx", "silu_dx", "gelu_apprx_sigmoid_dx"]
        edges = numpy.array([[numpy.inf, -numpy.inf, 1e-45, -1e-45, -0.0, -200, -1e30, 3e38, 0.0, numpy.nan]], F)
        found = both(self, lambda x: [getattr(nl, name)(x) for name in [*derivatives, "gelu", "silu"]], edges)
        for one in found[:3]:
            numpy.testing.assert_array_equal(one[0, [0, 1, 5, 6]], [1, 0, 0, 0])
            numpy.testing.assert_array_equal(numpy.signbit(one[0, [1, 5, 6]]), [True] * 3)
        for one in found[3:]:  # x / 2 and a little more rounds up, -x / 2 and a little less to -0
            numpy.testing.assert_array_equal(one[0, [2, 3]], numpy.array([1e-45, -0.0], F))
            self.assertTrue(numpy.signbit(one[0, 3]))

    def test_transposes_of_fp8_on_tensor_leave_the_bytes_beside(self):
        x = HostArray(GENERATOR.integers(0, 127, (16, 8)).astype(numpy.uint8), nl.float8_e4m3)

        def body(tile):
            made = nl.ndarray((8, 24), nl.float8_e4m3, nl.psum)
            nisa.memset(made, 1.0)
            nisa.nc_transpose(made[:, 4:20], tile, nisa.engine.tensor)
            copied = nl.ndarray((8, 24), nl.float8_e4m3, nl.sbuf)
            nisa.tensor_copy(copied, made)
            return [copied]

        for board in ("trn3-chip", "trn2-chip"):
            found = both(self, body, x, board=board)[0].raw
            numpy.testing.assert_array_equal(found[:, 4:20], x.raw.T)
            self.assertEqual(len(numpy.unique(found[:, [0, 1, 2, 3, 20, 21, 22, 23]])), 1)

    def test_exponential_accumulates(self):
        def body(x):
            power, total = nl.ndarray((32, 24), nl.float32, nl.sbuf), nl.ndarray((32, 1), nl.float32, nl.sbuf)
            nisa.exponential(power, x, 1.0, total, nisa.reduce_cmd.reset_reduce)
            return [power, total]

        power, total = both(self, body, X)
        numpy.testing.assert_allclose(total[:, 0], power.sum(1), rtol=1e-6)


class Places(unittest.TestCase):
    """Places that are known on the device only, PSUM banks, and exchanges of two cores."""

    def test_columns_of_psum_are_repeated(self):
        x = GENERATOR.integers(-3, 4, (128, 6144)).astype(F)

        def body(tile, ones):
            mean = nl.ndarray((128, 1), nl.float32, nl.psum)
            nisa.nc_matmul(mean, tile[:, 0:128], ones)
            made = nl.ndarray((128, 6144), nl.float32, nl.sbuf)
            nisa.tensor_tensor(made, tile, mean.ap([[1, 128], [0, 6144]]), nl.subtract)
            return [made]

        found = both(self, body, x, numpy.ones((128, 1), F), board="trn2-chip")[0]
        numpy.testing.assert_array_equal(found, x - x[:, 0:128].sum(0)[:, None])

    def test_nans_of_activations_have_the_same_sign_in_both_halves(self):
        x = numpy.array([[numpy.nan, -numpy.nan, 1e6, -1e6, numpy.inf, -numpy.inf, 300, -300]] * 4, F)

        def body(tile):
            made = []
            for kind in (nl.float8_e4m3fn, nl.float8_e4m3, nl.float8_e5m2):
                made += [nl.ndarray((4, 8), kind, nl.sbuf) for _ in range(2)]
                nisa.activation(made[-2], nl.copy, tile)
                nisa.activate2(made[-1], nl.copy, tile, 1.0, 0.0, nl.multiply, nl.add)
            return made

        for found in both(self, body, x)[:2]:
            self.assertEqual(numpy.asarray(found.raw)[0].tolist(), [0x7F, 0x7F, 0x7F, 0xFF, 0x7F, 0xFF, 0x79, 0xF9])

    def test_offsets_outside_a_tile_are_refused_with_tensor_and_range(self):
        def kernel_of(part_of):
            @nki.jit
            def kernel(x, start):
                tile, register = nl.load(x), nisa.register_alloc(nl.load(start))
                return stored(part_of(tile, register))

            return kernel

        def copied(tile, register):
            part = nl.ndarray((32, 4), nl.float32, nl.sbuf)
            nisa.dma_copy(part, tile.ap([[24, 32], [1, 4]], scalar_offset=register, indirect_dim=1))
            return part

        def computed(tile, register):
            return nl.square(tile[:, nl.ds(register, 4)])

        def written(tile, register):
            nisa.memset(tile[:, nl.ds(register, 4)], 0.0)
            return tile

        def row(tile, register):
            part = nl.ndarray((1, 24), nl.float32, nl.sbuf)
            nisa.dma_copy(part, tile[register])
            return part

        for part_of, highest in ((copied, 20), (computed, 20), (written, 20), (row, 31)):
            kernel = kernel_of(part_of)
            for board in ("trn3-chip", "trn1-chip") if part_of is not row else ("trn3-chip",):
                with platform(board), self.subTest(part=part_of.__name__, board=board):
                    last = numpy.array([[highest]], numpy.int32)
                    numpy.testing.assert_array_equal(nki.simulate(kernel)(X, last), kernel(X, last))
                    for wrong in (highest + 1, -1, 1 << 30):
                        index = numpy.array([[wrong]], numpy.int32)
                        with self.assertRaisesRegex(KernelError, rf"index {wrong} of .*must be below {highest + 1}"):
                            nki.simulate(kernel)(X, index)
                        with self.assertRaisesRegex(RunError, rf"functions_test.py:\d+(.|\n)*index of .* must be 0 to {highest}"):
                            kernel(X, index)

    def test_a_gather_outside_of_its_tile_names_the_bound(self):
        @nki.jit
        def gathered(x, places):
            found = nl.ndarray((32, 24), nl.float32)
            nisa.nc_n_gather(found, nl.load(x), nl.load(places))
            return stored(found)

        places = numpy.full((32, 24), 24, numpy.uint32)
        with platform("trn3-chip"), self.assertRaisesRegex(
            RunError, r"functions_test.py:\d+(.|\n)*index of t\d+\[32, 24\].* must be 0 to 23"
        ):
            gathered(X, places)

    def test_copies_take_a_register_on_each_side(self):
        @nki.jit
        def kernel(x, start):
            tile, register = nl.load(x), nisa.register_alloc(nl.load(start))
            result = nl.ndarray((32, 24), nl.float32, nl.shared_hbm)
            nisa.dma_copy(result, x)
            nisa.dma_copy(result[:, nl.ds(register, 4)], tile[:, nl.ds(register + 2, 4)])
            return result

        with platform("trn3-chip"):
            for found in (nki.simulate(kernel)(X, numpy.array([[9]], numpy.int32)), kernel(X, numpy.array([[9]], numpy.int32))):
                numpy.testing.assert_array_equal(found[:, 9:13], X[:, 11:15])

    def test_a_matmul_and_a_memset_share_a_bank(self):
        def body(a, b):
            made = nl.ndarray((24, 64), nl.float32, nl.psum)
            nisa.memset(made[:, 24:64], 5.0)
            nisa.nc_matmul(made[:, 0:24], a, b)
            nisa.memset(made[:, 24:30], 6.0)
            copied = nl.ndarray((24, 64), nl.float32, nl.sbuf)
            nisa.tensor_copy(copied, made)
            return [copied]

        found = both(self, body, X, Y)[0]
        numpy.testing.assert_array_equal(found[0, 24:], [6] * 6 + [5] * 34)

    def test_an_exchange_sends_what_its_source_held_before(self):
        @nki.jit
        def kernel(x):
            me = nl.program_id(0)
            tile = nl.load(x)
            nisa.tensor_scalar(tile, tile, nl.add, float(me))
            nisa.sendrecv(tile[:, 0:16], tile[:, 8:24], 1 - me, 1 - me, 0)
            result = nl.ndarray((2, 32, 24), nl.float32, nl.shared_hbm)
            nisa.dma_copy(result[me], tile)
            return result

        with platform("trn3-chip"):
            for found in (nki.simulate(kernel[2])(X), kernel[2](X)):
                for me in range(2):
                    numpy.testing.assert_array_equal(found[me, :, 8:24], X[:, 0:16] + F(1 - me))

    def test_names_of_tensors_do_not_meet_names_of_transfers(self):
        @nki.jit
        def kernel(x):
            result = nl.ndarray((32, 24), nl.float32, nl.shared_hbm, name="move0_0")
            nisa.dma_copy(result, nl.load(x))
            return result

        with platform("trn3-chip"):
            numpy.testing.assert_array_equal(kernel(X), X)


if __name__ == "__main__":
    unittest.main()
