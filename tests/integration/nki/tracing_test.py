# SPDX-License-Identifier: Apache-2.0
"""Views, and recordings of kernels."""
import dataclasses
import time
import unittest

import nki
import nki.isa as nisa
import nki.language as nl
import numpy
from trn_nki.diagnostics.errors import KernelError
from trn_nki.trace import Loop, WhileLoop, record_kernel

MIN_INSTRUCTIONS_PER_SECOND = 20_000  # of processor time


def elements(view, size):
    """The storage elements of a view, computed by iterating over its pattern."""
    index = numpy.full(view.shape, view.offset)
    for dimension, (stride, count) in enumerate(zip(view.strides, view.shape)):
        shape = [1] * view.ndim
        shape[dimension] = count
        index = index + (numpy.arange(count) * stride).reshape(shape)
    return numpy.arange(size)[index]


class Views(unittest.TestCase):
    def check(self, make, expected):
        """Checks that `make` gives the same view of a tensor and of a NumPy array."""
        found = []

        def kernel(x):
            found.append(make(x))

        array = numpy.arange(6 * 8 * 10).reshape(6, 8, 10)
        record_kernel(nki.jit(kernel), [array.astype(numpy.float32)])
        numpy.testing.assert_array_equal(elements(found[0], array.size), expected(array))

    def test_views_name_the_elements_that_numpy_names(self):
        self.check(lambda x: x[1:5:2, :, 3], lambda a: a[1:5:2, :, 3])
        self.check(lambda x: x[..., -1], lambda a: a[..., -1])
        self.check(lambda x: x[nl.ds(2, 3), 4], lambda a: a[2:5, 4])
        self.check(lambda x: x.slice(1, 2, 8, 3).permute((2, 0, 1)), lambda a: a[:, 2:8:3].transpose(2, 0, 1))
        self.check(lambda x: x.reshape((48, 10))[7:9], lambda a: a.reshape(48, 10)[7:9])
        self.check(lambda x: x.reshape_dim(1, (2, -1)).select(2, 1), lambda a: a.reshape(6, 2, 4, 10)[:, :, 1])
        self.check(lambda x: x.flatten_dims(1, 2), lambda a: a.reshape(6, 80))
        self.check(lambda x: x[0:1].broadcast(0, 4), lambda a: numpy.broadcast_to(a[0:1], (4, 8, 10)))
        self.check(lambda x: x.expand_dim(1).squeeze_dim(1), lambda a: a)
        self.check(
            lambda x: x.rearrange(("a", ("b", "c"), "d"), ("c", "b", ("a",), "d"), {"b": 2}),
            lambda a: a.reshape(6, 2, 4, 10).transpose(2, 1, 0, 3),
        )
        self.check(lambda x: x.ap([[80, 3], [-10, 8], [2, 5]], offset=70), lambda a: a[0:3, ::-1, 0:10:2])

    def test_a_type_of_another_size_scales_the_last_dimension(self):
        def kernel(x):
            tile = nl.ndarray((128, 4, 6), dtype=nl.float32, buffer=nl.sbuf)
            view = tile[:, 2, :].view(nl.uint8)
            self.assertEqual((view.shape, view.strides, view.element), ((128, 24), (96, 1), 48))
            self.assertEqual(view.view(nl.float32).shape, (128, 6))

        record_kernel(nki.jit(kernel), [numpy.zeros((2, 2), numpy.float32)])


class Objects(unittest.TestCase):
    def test_class_attributes_are_fields_with_and_without_dataclass(self):
        class Plain(nl.NKIObject):
            size: int
            width = 3
            names = []

        @dataclasses.dataclass
        class Annotated(nl.NKIObject):
            _hidden: int
            size: int
            left_out: int
            tiles: list = dataclasses.field(default_factory=list)

        first, second = Plain(size=1), Plain(2, width=4)
        first.names.append("a")
        self.assertEqual((first.size, first.width, second.size, second.width, second.names), (1, 3, 2, 4, []))
        made = Annotated(1, size=2)
        self.assertEqual((made._hidden, made.size, made.tiles), (1, 2, []))
        self.assertFalse(hasattr(made, "left_out"))
        with self.assertRaisesRegex(TypeError, "has no field 'sice'"):
            Plain(sice=1)


class Recordings(unittest.TestCase):
    def test_matmuls_overwrite_first_and_then_accumulate(self):
        def kernel(x):
            total = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.psum)
            for _ in range(3):
                nisa.nc_matmul(total, nl.zeros((64, 128), nl.bfloat16), nl.zeros((64, 64), nl.bfloat16))

        body = record_kernel(nki.jit(kernel), [numpy.zeros((2, 2), numpy.float32)]).cores[0].body
        self.assertEqual([item.arguments["accumulate"] for item in body if item.operation == "nc_matmul"], [False, True, True])

    def test_engines_follow_the_rules_where_the_call_leaves_them_open(self):
        def kernel(x):
            wide = nl.ndarray((32, 8), dtype=nl.int32, buffer=nl.sbuf)
            nisa.tensor_tensor(wide, wide, wide, nl.add)
            nisa.iota(wide, [[1, 8]])
            real = nl.ndarray((32, 8), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_copy(real, wide)
            nisa.activation(real, nl.exp, real)
            nisa.nc_transpose(nl.ndarray((8, 32), dtype=nl.float32, buffer=nl.sbuf), real)

        body = record_kernel(nki.jit(kernel), [numpy.zeros((2, 2), numpy.float32)]).cores[0].body
        self.assertEqual([item.engine.name for item in body], ["gpsimd", "gpsimd", "vector", "scalar", "vector"])

    def test_a_loop_of_the_device_is_recorded_once(self):
        def kernel(x):
            tile = nl.ndarray((1, 2), dtype=nl.float32, buffer=nl.sbuf)
            for i in nl.dynamic_range(nisa.register_alloc(5)):
                nisa.dma_copy(tile, x[i])

        body = record_kernel(nki.jit(kernel), [numpy.zeros((8, 2), numpy.float32)]).cores[0].body
        self.assertIsInstance(body[1], Loop)
        self.assertEqual([item.operation for item in body[1].body], ["dma_copy"])

    def test_a_while_statement_is_a_loop_of_the_device_each_time_python_arrives_at_it(self):
        def kernel(x):
            again, left = nisa.register_alloc(1), nisa.register_alloc(2)
            tile = nl.load(x)
            for last in (False, True):
                while again:
                    while left:
                        tile = nl.add(tile, 1.0)
                        if last:
                            continue
                        tile = nl.add(tile, 2.0)

        def loops(body):
            return [item for item in body if isinstance(item, WhileLoop)]

        first, second = loops(record_kernel(nki.jit(kernel), [numpy.zeros((2, 2), numpy.float32)]).cores[0].body)
        for outer, additions in ((first, 2), (second, 1)):
            self.assertEqual([len(inner.body) for inner in loops(outer.body)], [additions])

    def test_a_while_statement_that_is_left_is_not_ended_by_another_execution(self):
        def kernel(x):
            again = nisa.register_alloc(1)
            for _ in range(2):
                while again:
                    if x.shape:
                        break

        with self.assertRaisesRegex(KernelError, "is left by break or return"):
            record_kernel(nki.jit(kernel), [numpy.zeros((2, 2), numpy.float32)])

    def test_places_are_those_of_the_kernel(self):
        def kernel(x):
            nl.zeros((128, 8), nl.float32)

        item = record_kernel(nki.jit(kernel), [numpy.zeros((2, 2), numpy.float32)]).cores[0].body[0]
        self.assertEqual((item.place.file, item.place.line), (__file__, kernel.__code__.co_firstlineno + 1))

    def test_tracing_keeps_its_pace(self):
        def kernel(x):
            a = nl.ndarray((128, 1024), dtype=nl.float32, buffer=nl.sbuf)
            for i in nl.affine_range(4000):
                part = nl.ds(i % 8 * 64, 64)
                nisa.tensor_tensor(a[:, part], a[:, part], a[:, 512:576], nl.add)

        started = time.process_time()
        recording = record_kernel(nki.jit(kernel), [numpy.zeros((2, 2), numpy.float32)])
        pace = recording.cores[0].instructions / (time.process_time() - started)
        print(f"tracing: {pace:,.0f} instructions/s")
        self.assertGreater(pace, MIN_INSTRUCTIONS_PER_SECOND / 2, "half, for a machine that does other things as well")


if __name__ == "__main__":
    unittest.main()
