# SPDX-License-Identifier: Apache-2.0
"""Kernels with errors: the message names the kernel's file, line and column, and the rule."""
import unittest

import nki
import nki.isa as nisa
import nki.language as nl
import numpy
from trn_nki import simulate
from trn_nki.compile import compile_recording
from trn_nki.diagnostics.errors import KernelError
from trn_nki.trace import record_kernel
from trn_nki.values.generations import targeting

X = numpy.zeros((128, 512), numpy.float32)
COUNTER = 0


def tile(*shape, dtype=nl.float32, buffer=nl.sbuf):
    return nl.ndarray(shape, dtype=dtype, buffer=buffer)


def adds_tiles_of_unlike_shape(x):
    nisa.tensor_tensor(tile(128, 512), tile(128, 512), tile(128, 256), nl.add)


def slices_out_of_range(x):
    return x[:, 500:600]


def indexes_out_of_range(x):
    return x[128]


def reads_hbm_from_an_engine(x):
    nisa.tensor_copy(tile(128, 512), x)


def starts_at_a_wrong_partition(x):
    nisa.tensor_copy(tile(128, 8)[16:32, :], tile(16, 8))


def multiplies_into_sbuf(x):
    nisa.nc_matmul(tile(128, 512), tile(128, 128), tile(128, 512))


def multiplies_too_many_columns(x):
    nisa.nc_matmul(tile(128, 1024, buffer=nl.psum), tile(128, 128), tile(128, 1024))


def mixes_matmul_types(x):
    nisa.nc_matmul(tile(128, 512, buffer=nl.psum), tile(128, 128, dtype=nl.bfloat16), tile(128, 512))


def reads_two_operands_from_psum(x):
    nisa.tensor_tensor(tile(128, 8), tile(128, 8, buffer=nl.psum), tile(128, 8, buffer=nl.psum), nl.add)


def gives_psum_to_gpsimd(x):
    nisa.tensor_copy(tile(128, 8), tile(128, 8, buffer=nl.psum), engine=nisa.engine.gpsimd)


def divides_on_an_engine(x):
    nisa.tensor_tensor(tile(128, 8), tile(128, 8), tile(128, 8), nl.divide)


def permutes_partitions(x):
    return tile(128, 8).permute((1, 0))


def tests_a_tile(x):
    if tile(1, 1):
        pass


def recurses(x):
    return recurses(x)


def assigns_a_global(x):
    global COUNTER
    COUNTER = 1


def fails_in_python(x):
    return {}["missing"]


def returns_a_tile(x):
    return tile(128, 8)


def asks_for_too_much_psum(x):
    nl.ndarray((128, 5000), dtype=nl.float32, buffer=nl.psum)


def prints_on_the_device(x):
    nl.device_print("x", x)


def reads_a_tile_whose_memory_another_took(x):
    first = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf, address=(0, 64))
    nisa.memset(first, 0.0)
    nisa.memset(nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf, address=(0, 80)), 1.0)
    nisa.tensor_copy(tile(128, 8), first)


def decides_by_a_register(x):
    if nisa.register_alloc(1):
        pass


REFUSED = {
    adds_tiles_of_unlike_shape: ("partitions and elements per partition must agree", "2.3"),
    slices_out_of_range: ("slice 500:600 is empty or outside dimension 1", None),
    indexes_out_of_range: ("index 128 is outside dimension 0", None),
    reads_hbm_from_an_engine: ("src must be in SBUF or PSUM", "4"),
    starts_at_a_wrong_partition: ("16 partitions from 16; so many must start at 0, 32, 64 or 96", "2.2"),
    multiplies_into_sbuf: ("dst must be in PSUM", "4"),
    mixes_matmul_types: ("bfloat16 meets float32", "4.1"),
    reads_two_operands_from_psum: ("must not both be in PSUM", "2.5"),
    gives_psum_to_gpsimd: ("GPSIMD cannot reach PSUM", "2.5"),
    divides_on_an_engine: ("no engine has nl.divide", "3.4"),
    permutes_partitions: ("cannot change the partition dimension", None),
    tests_a_tile: ("the value of a tensor is not known", None),
    recurses: ("recursion", "15.2"),
    assigns_a_global: ("side effect: the kernel assigns to 'COUNTER'", "15.2"),
    fails_in_python: ("KeyError: 'missing'", None),
    returns_a_tile: ("a result lies in nl.shared_hbm", "15.3"),
    asks_for_too_much_psum: ("does not fit into the 16384 of PSUM", "2.1"),
    reads_a_tile_whose_memory_another_took: ("is used after its memory went to", "15.3"),
    decides_by_a_register: ("only `while register:` may test it", None),
    prints_on_the_device: ("nl.device_print cannot work", "15.4"),
}


class KernelsWithMistakes(unittest.TestCase):
    def refusal(self, kernel, generation=4):
        with self.assertRaises(KernelError) as caught:
            record_kernel(nki.jit(kernel), [X], generation=generation)
        return caught.exception

    def test_messages_name_the_line_and_the_rule(self):
        for kernel, (words, rule) in REFUSED.items():
            with self.subTest(kernel.__name__):
                error = self.refusal(kernel)
                self.assertIn(words, error.message)
                self.assertEqual(error.rule, rule)
                self.assertEqual(error.place.file, __file__)
                first = kernel.__code__.co_firstlineno
                self.assertTrue(first <= error.place.line < first + 5, str(error))
                self.assertRegex(str(error), r"refusals_test\.py:\d+:\d+: ")
                self.assertIn("^", str(error).splitlines()[-1])

    def test_limits_depend_on_the_generation(self):
        record_kernel(nki.jit(multiplies_too_many_columns), [X], generation=4)
        self.assertIn("moving has 1024 columns; NeuronCore-v3 takes 512", self.refusal(multiplies_too_many_columns, 3).message)

    def test_quantisation_exists_from_v4(self):
        def quantises(x):
            nisa.quantize_mx(tile(128, 8, dtype=nl.float8_e4m3fn_x4), tile(128, 32, dtype=nl.bfloat16), tile(128, 8, dtype=nl.uint8))

        record_kernel(nki.jit(quantises), [X], generation=4)
        self.assertIn("nisa.quantize_mx exists from NeuronCore-v4", self.refusal(quantises, 3).message)

    def test_loops_of_the_device_are_not_left_by_break(self):
        def breaks(x):
            for _ in nl.dynamic_range(nisa.register_alloc(3)):
                break

        self.assertIn("is left by break or return", self.refusal(breaks).message)

    def test_unknown_names_are_answered_with_a_similar_one(self):
        def misspells_a_function(x):
            nl.multipy(nl.load(x), 2.0)

        def misspells_an_instruction(x):
            nisa.tensor_tensr(x, x)

        self.assertIn("nki.language has no 'multipy', did you mean 'multiply'?", self.refusal(misspells_a_function).message)
        self.assertIn("nki.isa has no 'tensor_tensr', did you mean 'tensor_tensor'?", self.refusal(misspells_an_instruction).message)

    def test_sums_over_passes_say_whether_they_accumulate(self):
        def sums_in_psum(x):
            total, operand = tile(8, 8, buffer=nl.psum), tile(8, 8)
            for _ in nl.dynamic_range(2):
                nisa.nc_matmul(dst=total, stationary=operand, moving=operand)

        self.assertIn("say accumulate=True or False", self.refusal(sums_in_psum).message)

    def test_instructions_work_in_kernels_only(self):
        with self.assertRaisesRegex(KernelError, "works inside a kernel"):
            nisa.core_barrier(None, (0, 1))

    def test_target_ends_with_its_block(self):
        with targeting("trn2"):
            self.assertEqual(nisa.get_nc_version(), nisa.nc_version.gen3)
        self.assertEqual(nisa.get_nc_version(), nisa.nc_version.gen4)


class HalvesAgree(unittest.TestCase):
    """Calls that no engine executes are refused while they are traced, at their line, on the generations that lack them."""

    def check(self, body, message, *generations):
        for generation in generations or (2, 3, 4):
            with self.subTest(generation=generation), targeting(generation), self.assertRaisesRegex(
                KernelError, rf"refusals_test.py:\d+:\d+: .*{message}"
            ):
                record_kernel(body, [X])

    def test_operators_of_engines(self):
        f, u = (lambda: tile(32, 8)), (lambda: tile(32, 8, dtype=nl.uint32))
        self.check(lambda x: nisa.tensor_scalar(f(), f(), nl.rsqrt, 0.0, engine=nisa.engine.vector), "nl.rsqrt runs on GPSIMD")
        self.check(lambda x: nisa.tensor_scalar(f(), f(), nl.add, 1.0, engine=nisa.engine.gpsimd), "for nl.rsqrt and nl.power")
        self.check(lambda x: nisa.tensor_scalar(f(), f(), nl.subtract, 1.0, engine=nisa.engine.scalar), "no pair of operators", 3, 4)
        self.check(lambda x: nisa.tensor_tensor(f(), f(), f(), nl.abs_max), "nl.abs_max", 2, 3, 4)
        self.check(lambda x: nisa.tensor_tensor(f(), f(), f(), nl.square), "exists from NeuronCore-v4", 2, 3)
        self.check(lambda x: nisa.tensor_reduce(tile(32, 1), nl.abs_min, f(), 1), "nl.abs_min")
        self.check(lambda x: nisa.tensor_scalar_reduce(f(), f(), nl.add, 1.0, nl.subtract), "no engine has nl.subtract here")
        self.check(lambda x: nisa.activate2(f(), nl.exp, f(), 1.0, 1.0, nl.add, nl.add), "no pair of operators", 4)
        self.check(lambda x: nisa.tensor_reduce(tile(32, 1, dtype=nl.uint32), nl.bitwise_or, u(), 1, negate=True), "negate")
        self.check(lambda x: nisa.tensor_tensor(u(), u(), tile(32, 8, dtype=nl.uint8), nl.bitwise_or), "integers of one size")
        self.check(
            lambda x: nisa.tensor_scalar_cumulative(f(), f(), nl.add, nl.add, 1.0, reduce_cmd=nisa.reduce_cmd.idle),
            "reduce_cmd must not be idle",
        )

    def test_types_of_operands(self):
        for kind in (nl.bfloat16, nl.int32):
            self.check(
                lambda x, kind=kind: nisa.activation(tile(32, 8), nl.exp, tile(32, 8), scale=tile(32, 1, dtype=kind)),
                "scale must be float32",
            )
        b = lambda *shape: tile(*shape, dtype=nl.bfloat16)
        i = lambda *shape: tile(*shape, dtype=nl.uint32)
        self.check(lambda x: nisa.topk(tile(16, 8), i(16, 8), tile(16, 8), 8), "val_dst must be bfloat16")
        self.check(lambda x: nisa.topk(b(16, 8), i(16, 8), b(16, 8), 200), "n is 200")
        self.check(lambda x: nisa.sequence_bounds(b(1, 16), b(1, 8)), "must be float32 or int32")
        self.check(
            lambda x: nisa.nc_transpose(tile(8, 32, dtype=nl.int32, buffer=nl.psum), tile(32, 8, dtype=nl.int32), nisa.engine.tensor),
            "data must be float32",
        )
        self.check(lambda x: nisa.local_gather(tile(16, 80), tile(16, 8), tile(16, 4, dtype=nl.uint16), 1, 8), r"the result is \[16, 8\]")
        self.check(lambda x: nisa.tensor_copy(tile(8, 8, dtype=nl.float8_e4m3fn), tile(8, 8)), "has no float8_e4m3fn", 2, 3)

    def test_places_of_operands(self):
        half = lambda: tile(32, 16, dtype=nl.bfloat16, buffer=nl.psum)[:, 1:9]
        self.check(lambda x: nisa.tensor_copy(half(), tile(32, 8, dtype=nl.bfloat16)), "start at multiples of 4")
        self.check(lambda x: nisa.dma_compute(tile(32, 8), [tile(32, 8), half()], nl.add), "srcs starts at byte 2 .*multiples of 4")
        self.check(lambda x: nisa.dma_compute(half(), [tile(32, 8)], nl.add), "dst starts at byte 2 .*multiples of 4")
        self.check(
            lambda x: nisa.nc_transpose(tile(64, 32, buffer=nl.psum)[32:64], tile(32, 32), nisa.engine.tensor),
            "starts at partition 32; its tile of the array at 0",
        )
        for kind in (nl.uint16, nl.uint8):
            self.check(
                lambda x, kind=kind: nisa.dma_copy(tile(8, 512), x.ap([[512, 8], [1, 512]], vector_offset=tile(8, 1, dtype=kind))),
                "must be of type int32 or uint32",
            )
        self.check(
            lambda x: nisa.tensor_scalar(tile(8, 4), tile(8, 4), nl.add, tile(8, 4)[:, nl.ds(nisa.register_alloc(1), 1)]),
            "must be known before the run",
        )
        self.check(lambda x: nisa.dma_transpose(tile(8, 4), x[nl.ds(nisa.register_alloc(1), 4), 0:8]), "must be known before")

    def test_operands_of_a_transpose(self):
        def of(columns=16, rows=16, kind=nl.bfloat16, other=nl.bfloat16, made=None, **words):
            return lambda x: nisa.nc_matmul(
                tile(columns, rows, dtype=made or kind, buffer=nl.psum),
                tile(16, columns, dtype=kind),
                tile(16, rows, dtype=other),
                is_transpose=True,
                **words,
            )

        for generation in (3, 4):
            record_kernel(of(8), [X], generation=generation)
        self.check(of(kind=nl.float32, other=nl.bfloat16), "float32 meets bfloat16")
        self.check(of(made=nl.float16), "a transpose of bfloat16 writes bfloat16, not float16", 3, 4)
        self.check(of(kind=nl.float8_e4m3, made=nl.bfloat16), "a transpose of float8_e4m3 writes uint16, not bfloat16", 3, 4)
        self.check(of(8, 12), "moving must have as many columns to transpose it, not 12", 3, 4)
        self.check(of(accumulate=True), "a transpose does not accumulate", 3, 4)
        self.check(of(kind=nl.float32, other=nl.float32, accumulate=True), "a transpose does not accumulate")

        def twice(x):
            made = tile(16, 16, dtype=nl.bfloat16, buffer=nl.psum)
            for _ in range(2):
                nisa.nc_matmul(made, tile(16, 16, dtype=nl.bfloat16), tile(16, 16, dtype=nl.bfloat16), is_transpose=True)

        self.assertFalse(any(one.arguments.get("accumulate") for one in record_kernel(twice, [X]).cores[0].body))

    def test_elements_of_psum_that_are_repeated_count_once(self):
        def copied(count, times):
            def kernel(x):
                small = tile(8, count, dtype=nl.bfloat16, buffer=nl.psum)
                nisa.tensor_copy(tile(8, count * times, dtype=nl.bfloat16), small.ap([[count, 8], [0, times], [1, count]]))

            return kernel

        for count, times in ((4096, 1), (4096, 15), (1, 6144)):
            record_kernel(copied(count, times), [X], generation=3)
        self.check(copied(4097, 1), "4097 elements per partition; one instruction takes 4096 in PSUM")
        self.check(copied(4097, 15), "4097 elements per partition; one instruction takes 4096 in PSUM")
        self.check(copied(2, 32769), "65538 elements per partition; one instruction takes 65536")

    def test_axes_and_shapes_that_a_function_does_not_take(self):
        def filled(*shape):
            made = tile(*shape)
            nisa.memset(made, 1.0)
            return made

        self.check(lambda x: nl.softmax(filled(8, 4, 4)), "works over all free dimensions")
        self.check(lambda x: nl.rms_norm(filled(8, 4, 4), filled(8, 1), 2, 4), "works over all free dimensions")
        self.check(lambda x: nl.broadcast_to(filled(5, 4), (64, 4)), "dimensions of one element are repeated")
        self.check(lambda x: nl.broadcast_to(filled(1, 4), (64, 4, 2)), "dimensions of one element are repeated")
        self.check(lambda x: nl.program_id(1), "a launch grid of one dimension")

        def accumulates(x):
            made, register = tile(16, 64, buffer=nl.psum), nisa.register_alloc(1)
            nisa.nc_matmul(made[:, nl.ds(register, 8)], filled(16, 16), filled(16, 8))

        self.check(accumulates, "say accumulate=True or False")

    def test_a_tile_is_read_after_something_was_written_to_it(self):
        def kernel(x):
            result = nl.ndarray((8, 4), nl.float32, nl.shared_hbm)
            nisa.dma_copy(result, tile(8, 4))
            return result

        def part(x):
            made, result = tile(8, 4), nl.ndarray((8, 4), nl.float32, nl.shared_hbm)
            nisa.memset(made[:, 0:3], 1.0)
            nisa.tensor_copy(made[:, 0:2], made[:, 1:3])
            nisa.dma_copy(result, made)
            return result

        for body, where in ((kernel, ""), (part, r" at \[0, 3\]")):
            recording = record_kernel(body, [X])
            for half in (compile_recording, simulate.execute):
                with self.assertRaisesRegex(KernelError, rf"refusals_test.py:\d+:\d+: .*nothing has written{where} "):
                    half(recording)


if __name__ == "__main__":
    unittest.main()
