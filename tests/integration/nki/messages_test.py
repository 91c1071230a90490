# SPDX-License-Identifier: Apache-2.0
"""What a kernel's writer reads after a mistake: the call to write, both halves' refusals and warnings, tracebacks."""
import importlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import warnings

import nki
import nki.collectives as ncc
import nki.isa as nisa
import nki.language as nl
import numpy
from trn_nki import simulate
from trn_nki.compile import compile_recording
from trn_nki.diagnostics.errors import KernelError, KernelWarning, warn
from trn_nki.diagnostics.places import Place
from trn_nki.run import Options, execute, platform
from trn_nki.trace import record_kernel
from trn_nki.trace.capacity import check_capacity
from trn_nki.values import generations

X = numpy.ones((128, 512), numpy.float32)
SHARED = nl.shared_hbm
PYTHON = pathlib.Path(nki.__file__).parents[1]
HALVES = {"simulate": simulate.execute, "compile": compile_recording}


def tile(*shape, dtype=nl.float32, buffer=nl.sbuf):
    return nl.ndarray(shape, dtype=dtype, buffer=buffer)


def stored(made):
    result = nl.ndarray(made.shape, dtype=made.dtype, buffer=SHARED)
    nl.store(result, made)
    return result


class Refusals(unittest.TestCase):
    def refusal(self, kernel, *arrays, generation=4):
        with self.assertRaises(KernelError) as caught:
            record_kernel(kernel, arrays or [X], generation=generation)
        self.assertEqual(caught.exception.place.file, __file__)
        return caught.exception.message

    def test_operators_of_python_name_the_call_to_write(self):
        for body, call in (
            (lambda a: a + a, "nl.add(a, b)"),
            (lambda a: 2 - a, "nl.subtract(a, b)"),
            (lambda a: a * 2.0, "nl.multiply"),
            (lambda a: a / a, "nl.divide(a, b)"),
            (lambda a: a**2, "nl.power"),
            (lambda a: a // 2, "no engine has"),
            (lambda a: a @ a, "nl.matmul(a, b)"),
            (lambda a: a[0, 0] > 0, "nl.greater(a, b)"),
            (lambda a: a <= a, "nl.less_equal"),
            (lambda a: a == 0, "nl.equal"),
            (lambda a: a != 0.5, "nl.not_equal"),
            (lambda a: -a, "nl.negative(a)"),
            (abs, "nl.abs(a)"),
            (lambda a: ~a, "nl.invert(a)"),
            (lambda a: a == numpy.ones(512), "nl.equal"),
            (lambda a: numpy.ones(512) != a, "nl.not_equal"),
            (lambda a: numpy.float32(2) * a, "nl.multiply"),
            (lambda a: numpy.ones(512) + a, "nl.add"),
            (lambda a: a & a, "nl.bitwise_and"),
            (lambda a: 1 << a, "nl.left_shift"),
        ):
            with self.subTest(call=call):
                self.assertIn(call, self.refusal(lambda x, body=body: body(nl.load(x))))
        self.assertIn("on tiles that nl.load makes", self.refusal(lambda x: x + x))

    def test_tensors_stay_members_of_lists_and_comparable_with_none(self):
        def kernel(x):
            a, b = nl.load(x), nl.load(x)
            self.assertTrue(a == a and a != b and a != None and b in [a, b] and len({a: 1, b: 2}) == 2)  # noqa: E711

        record_kernel(kernel, [X])

    def test_a_tile_is_neither_true_nor_false(self):
        def tests(x):
            if nl.load(x):
                pass

        self.assertIn("`is not None` tests whether a tile was given", self.refusal(tests))
        record_kernel(lambda x, bias=None: stored(nl.load(x)) if x and not bias else None, [X])

    def test_a_store_keeps_the_shape(self):
        def turned(x):
            result = nl.ndarray((64, 128), nl.float32, SHARED)
            nl.store(result, nl.load(x[:, 0:64]))

        self.assertIn(
            "dst is shared0[64, 128]:float32@shared_hbm and value is t2[128, 64]:float32@sbuf; the shapes must agree. Store a "
            "transpose by nisa.dma_transpose",
            self.refusal(turned),
        )
        self.assertIn("Slice the larger of them", self.refusal(lambda x: nl.store(x, nl.load(x[:, 0:64]))))
        self.assertIn(
            "the tile's shape: dst.reshape((128, 512))",
            self.refusal(lambda x: nl.store(nl.ndarray((128, 8, 64), nl.float32, SHARED), nl.load(x))),
        )
        self.assertIn("the second argument is float", self.refusal(lambda x: nl.store(x, 1.0)))

        def vector(x):
            result = nl.ndarray((512,), nl.float32, SHARED)
            nl.store(result, nl.load(x[0:1]))
            return result

        numpy.testing.assert_array_equal(nki.simulate(vector)(X), X[0])

    def test_arrays_of_other_libraries_are_refused_with_the_conversion(self):
        tensor = type("Tensor", (), {"__module__": "torch", "__array__": lambda self: X, "shape": (128, 512)})
        self.assertIn(
            "argument x is a torch.Tensor; kernels take and return arrays of NumPy: pass x.detach().cpu().numpy()",
            self.refusal(lambda x: nl.load(x), tensor()),
        )
        array = type("Array", (), {"__module__": "jaxlib.xla", "__array__": lambda self: X})
        self.assertIn("pass numpy.asarray(x[0])", self.refusal(lambda x: nl.load(x[0]), [array()]))
        record_kernel(lambda x, count: stored(nl.load(x)), [X, numpy.int64(3)])

    def test_calls_of_numpy_pytorch_and_other_dialects_name_the_call_to_write(self):
        row = numpy.ones((1, 512), numpy.float32)
        for kernel, words in (
            (lambda x: numpy.exp(nl.load(x)), "write the function of nki.language: nl.exp(tile)"),
            (lambda x: numpy.sum(nl.load(x)), "write the function of nki.language"),
            (lambda x: nisa.tensor_copy(tile(128, 512), x), "is in private_hbm; nl.load makes a tile of it"),
            (lambda x: nisa.memset(x, 0.0), "is in private_hbm; nl.store copies a tile to it"),
            (lambda x: nl.load(x).sum(axis=1), "a tensor has no 'sum'; write nl.sum(tile)"),
            (lambda x: nl.load(x).astype(nl.bfloat16), "no 'astype'; write nisa.tensor_copy to a tile of the type"),
            (lambda x: nl.load(x).reshap((128, 512)), "a tensor has no 'reshap', did you mean 'reshape'?"),
            (lambda x: float(nl.load(x)[0, 0]), "is no number: values are not known while the kernel is traced"),
            (lambda x: x[0 : 512 / 4], "slice must be an integer, not float (// divides integers)"),
            (lambda x: nl.load(x, mask=x), "slice the tensor instead"),
            (lambda x: nisa.tensor_copy(nl.load(x)), "functions of nki.isa write to a tile that nl.ndarray makes: dst="),
            (lambda x: nisa.memset(tile(128, 8), 0).x, "'Instruction' object has no attribute 'x'"),
            (lambda x: x.__setitem__(0, nl.load(x)), "copy a tile to it: nl.store(tensor[...], tile)"),
            (lambda x: nisa.tensor_scalar(nl.load(x), nl.load(x), "add", 1.0), "not 'add'; write nl.add"),
            (lambda x: nl.load(X), "not an array of NumPy: pass it to the kernel as an argument, or write nl.shared_"),
            (lambda x: nl.add(nl.load(x), X), "operand0 must be a number, not an array of NumPy: pass it"),
            (lambda x: nl.sum(nl.load(x), axis=0), "over partitions: nisa.tensor_partition_reduce"),
            (lambda x: tile(256, 8), "this has 256: loop over slices of 128"),
            (lambda x: nl.store(x, tile(128, 512, buffer=nl.psum)), "through a tile in SBUF by nisa.tensor_copy"),
            (lambda x: tile(128, 8, dtype="float33"), "'float33' is no data type of nki.language, did you mean 'float32'?"),
            (lambda x: nl.load(x), "a result lies in nl.shared_hbm: copy the tile to it by nl.store"),
        ):
            with self.subTest(words=words):
                self.assertIn(words, self.refusal(kernel))
        self.assertIn(
            "one row becomes 128 by nl.broadcast_to(tile, (128, 512))",
            self.refusal(lambda x, row: nl.add(nl.load(x), nl.load(row)), X, row),
        )

    def test_names_of_other_dialects_are_answered_with_the_call(self):
        for kernel, words in (
            (lambda x: nl.mgrid[0:128, 0:512], "slice tensors, as in x[0:128, nl.ds(start, size)]"),
            (lambda x: nl.arange(128), "slice tensors"),
            (lambda x: nki.simulate_kernel(x), "nki.simulate(kernel)(x, y)"),
            (lambda x: nisa.tensor_copy_dynamic_src(x), "begins at a register: x[:, nl.ds(register, size)]"),
            (lambda x: nki.simulat(x), "nki has no 'simulat', did you mean 'simulate'?"),
            (lambda x: nisa.activation(op=nl.exp, data=x), "write to a tile that nl.ndarray makes: dst="),
        ):
            self.assertIn(words, self.refusal(kernel))
        with self.assertRaisesRegex(ImportError, "nki has no 'benchmark', which is of another dialect.*`trn-nki run` prints its time"):
            from nki import benchmark  # noqa: F401
        with self.assertRaisesRegex(ImportError, "nki.isa has no 'activatio', did you mean 'activation'?"):
            from nki.isa import activatio  # noqa: F401
        self.assertFalse(hasattr(nki, "benchmark"))
        with self.assertRaisesRegex(ModuleNotFoundError, "write `import nki`, `import nki.language as nl`"):
            importlib.import_module("neuronxcc.nki.language")

    def test_an_installed_neuronxcc_is_not_hidden(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "neuronxcc").mkdir()
            pathlib.Path(folder, "neuronxcc/__init__.py").write_text("VERSION = 2\n")
            pathlib.Path(folder, "neuronxcc/part.py").write_text("NUMBER = 3\n")
            program = "import neuronxcc, neuronxcc.part; print(neuronxcc.VERSION, neuronxcc.part.NUMBER)"
            done = subprocess.run(
                [sys.executable, "-c", program],
                env=os.environ | {"PYTHONPATH": f"{PYTHON}:{folder}"},
                capture_output=True,
                text=True,
                check=True,
            )
            self.assertEqual(done.stdout, "2 3\n")

    def test_a_collective_on_one_chip_names_the_scenario(self):
        def reduced(x):
            part, total = (nl.ndarray(x.shape, x.dtype, nl.private_hbm) for _ in range(2))
            nisa.dma_copy(part, x)
            ncc.all_reduce([part], [total], ncc.ReplicaGroup([[0, 1, 2, 3]]), nl.add)
            result = nl.ndarray(x.shape, x.dtype, SHARED)
            nisa.dma_copy(result, total)
            return result

        recording = record_kernel(reduced, [X])
        for half in (simulate.execute, lambda one: execute(compile_recording(one), Options())):
            with self.assertRaisesRegex(
                KernelError, r"messages_test\.py:\d+:13: .*step `kernel` of a scenario with `chips: 4` " r".*nki-running"
            ):
                half(recording)

    def test_the_board_of_a_call_is_a_chip_of_the_target_generation(self):
        self.assertEqual((Options().board, Options(board=None, connect="run").board), ("trn3-chip", "trn3-chip"))
        with generations.targeting("trn2"):
            self.assertEqual((Options().board, platform(core=1).options.board), ("trn2-chip", "trn2-chip"))

    def test_what_is_no_kernel_and_no_generation_is_refused(self):
        with self.assertRaisesRegex(KernelError, r"a kernel is a function, not ndarray; nki.simulate\(kernel\)\(x, y\) calls one"):
            nki.simulate(X)
        with self.assertRaisesRegex(KernelError, "'trn4' is no generation, did you mean 'trn3'?"):
            record_kernel(lambda x: x, [X], generation="trn4")
        with unittest.mock.patch.dict(os.environ, NEURON_PLATFORM_TARGET_OVERRIDE="trn9"), self.assertRaisesRegex(
            KernelError, r"NEURON_PLATFORM_TARGET_OVERRIDE=trn9: no generation, .*\(known: gen2, trn1, "
        ):
            nki.simulate(lambda x: x)(X)
        with self.assertRaisesRegex(KernelError, r"<lambda>\(x\): too many positional arguments; given: 2 without names"):
            record_kernel(lambda x: x, [X, X])

    def test_a_generation_is_no_board(self):
        with self.assertRaisesRegex(ValueError, "'trn2' is a generation and no board; a chip of it is the board 'trn2-chip'"):
            platform("trn2")


class Selections(unittest.TestCase):
    def test_where_takes_comparisons_and_numbers(self):
        numbers = numpy.arange(-256, 256, dtype=numpy.int32).reshape(4, 128)
        x = numbers.astype(numpy.float32)
        for kernel, values, expected in (
            (lambda a: nl.where(nl.greater(a, 0.0), a, 0.0), x, numpy.maximum(x, 0)),
            (lambda a: nl.where(nl.greater(a, 0), a, 0), numbers, numpy.maximum(numbers, 0)),
            (lambda a: nl.where(nl.greater(a, 0.0), 1.0, a), x, numpy.where(x > 0, 1, x)),
            (lambda a: nl.where(a, 1.0, 2.0), x, numpy.where(x != 0, 1, 2)),
        ):
            found = nki.simulate(lambda a, kernel=kernel: stored(kernel(nl.load(a))))(values)
            numpy.testing.assert_array_equal(found, expected)


class BothHalves(unittest.TestCase):
    def refusals(self, kernel, *arrays, generation=4):
        """The message of each half, which must be equal."""
        found = set()
        for half in HALVES.values():
            with self.assertRaises(KernelError) as caught:
                half(record_kernel(kernel, arrays or [X], generation=generation))
            found.add(str(caught.exception))
        self.assertEqual(len(found), 1, found)
        return found.pop()

    def warned(self, kernel, generation=4):
        """The warnings of each half, which must be equal."""
        found = []
        for half in HALVES.values():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                half(record_kernel(kernel, [X], generation=generation))
            found.append([(one.category, one.filename, one.lineno - kernel.__code__.co_firstlineno, str(one.message)) for one in caught])
        self.assertEqual(found[0], found[1])
        self.assertTrue(all(one[:2] == (KernelWarning, __file__) for one in found[0]), found)
        return [one[2:] for one in found[0]]

    def test_tiles_that_do_not_fit_together_are_refused_at_the_call_of_the_helper(self):
        for generation, limit in ((2, 180_224), (3, 212_992), (4, 245_760)):

            def kernel(x):
                made = [tile(128, 16_384) for _ in range(4)]
                for one in made:
                    nisa.memset(one, 0.0)
                return [stored(one) for one in made]

            message = self.refusals(kernel, generation=generation)
            count = limit // 65_536
            self.assertRegex(message, rf"needs 65536 bytes of each partition of SBUF: {count * 65_536} of {limit} are in use here, by t1:")
            first, *_, caller, line, carets = message.splitlines()
            self.assertIn(f"messages_test.py:{tile.__code__.co_firstlineno + 1}:", first)
            self.assertIn("called at ", caller)
            self.assertIn("made = [tile(128, 16_384)", line)
            self.assertIn("^", carets)

    def test_tiles_share_memory_after_their_last_use_in_both_halves(self):
        def kernel(x):
            for number in range(4):
                one = tile(128, 32_768)
                nisa.memset(one, number)
            return stored(one)

        for half in HALVES.values():
            half(record_kernel(kernel, [X]))

    def test_one_limit_holds_for_a_tile_for_an_address_and_for_all_tiles(self):
        for made in (lambda x: tile(128, 61_441), lambda x: nl.ndarray((128, 8), nl.float32, nl.sbuf, address=(0, 245_732))):
            with self.assertRaisesRegex(KernelError, "does not fit into the 245760 of SBUF"):
                record_kernel(made, [X])

        def whole(x):
            one = tile(128, 61_440)
            nisa.memset(one, 1.0)
            return stored(one)

        for half in HALVES.values():
            half(record_kernel(whole, [X]))

    def test_sums_take_whole_banks_of_psum(self):
        def kernel(x):
            made = [tile(128, 8, buffer=nl.psum) for _ in range(9)]
            for one in made:
                nisa.memset(one, 0.0)
            total = tile(128, 8)
            for one in made:
                nisa.tensor_copy(total, one)
            return stored(total)

        self.assertRegex(self.refusals(kernel), r"needs 2048 bytes of each partition of PSUM: 16384 of 16384 are in use here")

    def test_bytes_that_tiles_at_addresses_share_count_once(self):
        def kernel(x, free):
            halves = [nl.ndarray((64, 8192), nl.uint8, address=(first, 0)) for first in (0, 64)]
            for one in 2 * [*halves, tile(128, free // 4)]:
                nisa.memset(one, 0)

        check_capacity(record_kernel(kernel, [X, 245_760 - 8192]))
        with self.assertRaisesRegex(KernelError, r"needs 237572 bytes .* 8192 of 245760 are in use here, by .*, so 4 are missing"):
            check_capacity(record_kernel(kernel, [X, 245_760 - 8188]))

    def test_thousands_of_tiles_at_addresses_are_counted_within_a_second(self):
        def kernel(x):
            for one in 2 * [nl.ndarray((128, 1), nl.float32, address=(0, 4 * number)) for number in range(4000)]:
                nisa.memset(one, 0)

        recording = record_kernel(kernel, [X])
        begin = time.process_time()
        check_capacity(recording)
        self.assertLess(time.process_time() - begin, 1)

    def test_a_tile_from_outside_lives_throughout_a_loop_of_the_device(self):
        def kernel(x):
            kept = tile(128, 32_768)
            nisa.memset(kept, 0.0)
            result = nl.ndarray((128, 32_768), nl.float32, SHARED)
            for _ in nl.dynamic_range(nisa.register_alloc(3)):
                nisa.tensor_copy(kept, kept)
                other = tile(128, 32_768)
                nisa.memset(other, 1.0)
                nisa.dma_copy(result, other)
            return result

        self.assertRegex(self.refusals(kernel), "needs 131072 bytes of each partition of SBUF: 131072 of 245760 are in use here")

    def test_a_missing_store_names_the_result(self):
        with self.assertRaisesRegex(KernelError, r"result 0, shared0\[128, 512\].* is not written at \[0, 0\]"):
            record_kernel(lambda x: nl.ndarray(x.shape, x.dtype, SHARED), [X])

        def unwritten(x):
            return stored(tile(128, 512))

        self.assertRegex(self.refusals(unwritten), r"reads t1\[.* nothing has written .*for result shared0\[128, 512\]")

    def test_an_integer_of_64_bits_is_refused_at_the_kernels_line(self):
        for generation in (2, 3, 4):
            self.assertRegex(
                self.refusals(lambda x: stored(nl.softmax(nl.load(x))), X.astype(numpy.int64), generation=generation),
                r"messages_test\.py:.*int64",
            )

    def test_products_that_nothing_reads_are_warned_of(self):
        def forgets(x):
            out = tile(128, 128)
            for _ in range(4):
                total, operand = tile(128, 128, buffer=nl.psum), nl.zeros((128, 128), nl.bfloat16)
                nisa.nc_matmul(total, operand, operand, accumulate=False)
            nisa.tensor_copy(out, total)
            return stored(out)

        def overwrites(x):
            out, total, operand = tile(128, 128), tile(128, 128, buffer=nl.psum), nl.zeros((128, 128), nl.bfloat16)
            for _ in range(4):
                nisa.nc_matmul(total, operand, operand, accumulate=False)
            nisa.tensor_copy(out, total)
            return stored(out)

        def adds(x):
            out, total, operand = tile(128, 128), tile(128, 128, buffer=nl.psum), nl.zeros((128, 128), nl.bfloat16)
            for _ in range(4):
                nisa.nc_matmul(total, operand, operand)
            nisa.tensor_copy(out, total)
            return stored(out)

        for kernel, line in ((forgets, 4), (overwrites, 3)):
            (found,) = self.warned(kernel)
            self.assertEqual(found[0], line)
            self.assertIn("nothing reads 3 of the 4 results of this line", found[1])
            self.assertIn("allocated before the loop, with accumulate=None", found[1])
        self.assertEqual(self.warned(adds), [])

        def scales(x):
            out, total, operand = tile(128, 128), tile(128, 128, buffer=nl.psum), nl.zeros((128, 128), nl.bfloat16)
            nisa.nc_matmul(total, operand, operand)
            nisa.tensor_scalar(total, total, nl.multiply, 2.0)
            nisa.tensor_copy(out, total)
            return stored(out)

        self.assertEqual(self.warned(scales), [])

    def test_a_filter_of_python_makes_a_warning_an_error_at_the_kernels_line(self):
        def unread(x):
            nisa.nc_matmul(tile(128, 128, buffer=nl.psum), x, x)

        with warnings.catch_warnings():
            warnings.simplefilter("error", KernelWarning)
            found = self.refusals(lambda x: unread(nl.zeros((128, 128), nl.bfloat16)))
        self.assertRegex(found, r"messages_test\.py:\d+:13: KernelWarning: nisa.nc_matmul: nothing reads 1 of the 1 results")

    def test_results_that_are_not_returned_are_warned_of(self):
        def forgets(x):
            stored(nl.load(x))

        def changes(x):
            nl.store(x, nl.load(x))

        ((line, message),) = self.warned(forgets)
        self.assertRegex(message, r"the kernel writes shared0.*, and neither reads nor returns it .*called at messages_test.py:\d+")
        self.assertEqual(self.warned(changes), [])

    def test_equal_lines_of_two_files_are_both_warned_of(self):
        with warnings.catch_warnings(record=True) as caught:
            for name in ("one.py", "two.py"):
                code = compile("def function(): pass", name, "exec").co_consts[0]
                for _ in range(2):
                    warn("lost", "15.3", Place(code, 0))
        self.assertEqual([one.filename for one in caught], ["one.py", "two.py"])

    def test_a_sum_that_begins_with_what_psum_held_is_refused_or_warned_of(self):
        def unwritten(x):
            out, total, operand = tile(128, 128), tile(128, 128, buffer=nl.psum), nl.zeros((128, 128), nl.bfloat16)
            nisa.nc_matmul(total, operand, operand, accumulate=True)
            nisa.tensor_copy(out, total)
            return stored(out)

        self.assertRegex(self.refusals(unwritten), "nisa.nc_matmul accumulates in t2.*, to which nothing has written")

        def written_by_vector(x):
            out, total, operand = tile(128, 128), tile(128, 128, buffer=nl.psum), nl.zeros((128, 128), nl.bfloat16)
            nisa.memset(total, 0.0)
            nisa.nc_matmul(total, operand, operand, accumulate=True)
            nisa.tensor_copy(out, total)
            return stored(out)

        for generation in (2, 3):
            ((line, message),) = self.warned(written_by_vector, generation)
            self.assertEqual(line, 3)
            self.assertIn(f"undefined on NeuronCore-v{generation} (TRN-NC-004)", message)
        self.assertEqual(self.warned(written_by_vector, 4), [])

    def test_a_product_at_a_place_from_the_device_may_begin_any_sum_of_its_tile(self):
        def begun_in_a_loop(x):
            out, total, operand = tile(128, 512), tile(128, 512, buffer=nl.psum), nl.zeros((128, 128), nl.bfloat16)
            for i in nl.dynamic_range(0, 4):
                nisa.nc_matmul(total[:, nl.ds(i * 128, 128)], operand, operand, accumulate=False)
            for j in range(4):
                nisa.nc_matmul(total[:, nl.ds(j * 128, 128)], operand, operand, accumulate=True)
            nisa.tensor_copy(out, total)
            return stored(out)

        self.assertEqual(self.warned(begun_in_a_loop, 3), [])


SCRIPT = """
import nki
import nki.isa as nisa
import nki.language as nl
import numpy


def helper(a):
    nisa.tensor_copy(a[0:64], a)


@nki.jit
def kernel(x, quits):
    a = nl.load(x)
    if quits:
        breakpoint()
    helper(a)


def test_kernel(quits=False):
    nki.simulate(kernel)(numpy.ones((128, 8), numpy.float32), quits)
"""


class Tracebacks(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="messages-")))
        (self.folder / "test_k.py").write_text(SCRIPT)

    def run_script(self, call, given="", **variables):
        (self.folder / "main.py").write_text(f"import test_k\n{call}\n")
        return subprocess.run(
            [sys.executable, self.folder / "main.py"],
            input=given,
            capture_output=True,
            text=True,
            timeout=60,
            start_new_session=True,  # pdb reads no terminal
            env=os.environ | {"PYTHONPATH": str(PYTHON)} | variables,
            check=False,
        )

    def test_a_script_shows_frames_of_the_user_only(self):
        done = self.run_script("test_k.test_kernel()")
        self.assertEqual(done.returncode, 1)
        frames = [line.strip().split(", ") for line in done.stderr.splitlines() if line.startswith("  File ")]
        self.assertEqual([frame[2] for frame in frames], ["in <module>", "in test_kernel", "in kernel", "in helper"], done.stderr)
        self.assertIn(f"{self.folder}/test_k.py:9:5: nisa.tensor_copy", done.stderr)
        self.assertIn(f"called at {self.folder}/test_k.py:17:5", done.stderr)
        whole = self.run_script("test_k.test_kernel()", TRN_NKI_TRACEBACK="full")
        self.assertIn("trn_nki/trace/kernels.py", whole.stderr)

    def test_pytest_hides_the_modules_of_the_package(self):
        done = self.run_script(
            "import sys, trn_nki.trace.kernels as ours\ntry:\n    test_k.test_kernel()\nexcept Exception:\n"
            "    print(ours.__tracebackhide__, hasattr(test_k, '__tracebackhide__'))"
        )
        self.assertEqual(done.stdout, "True False\n")

    def test_leaving_pdb_is_quiet(self):
        done = self.run_script("test_k.test_kernel(True)", given="q\n")
        self.assertEqual((done.returncode, done.stderr), (1, ""), done)

    def test_other_exceptions_of_a_script_are_printed_as_before(self):
        done = self.run_script("raise ValueError('mine')")
        self.assertRegex(done.stderr, r"(?s)^Traceback .*main\.py\", line 2.*ValueError: mine\n$")


if __name__ == "__main__":
    unittest.main()
