# SPDX-License-Identifier: Apache-2.0
"""What kernels of this folder compute, by NumPy in binary64. Parameters are the kernels' arguments."""
import numpy


def softmax(x):
    powers = numpy.exp(x.astype(float) - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def matmul(at, b):
    return at.T.astype(float) @ b.astype(float)


def attention(q, k, v, causal):
    scores = q.astype(float) @ k.T / numpy.sqrt(q.shape[1])
    if causal:
        scores = numpy.where(numpy.tri(len(q), dtype=bool), scores, -numpy.inf)
    return softmax(scores) @ v


def per_core(core):
    """An input that differs on each core."""
    return numpy.full((128, 512), core + 1, numpy.float32)


def twice_per_core(core):
    return 2 * per_core(core)


def many_tiles(x, count):
    return x + numpy.float32(count * (count + 1) // 2)
