#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program of this folder by trnctl and compares its results with reference.py: check.py NAME [--set CONSTANT=VALUE] [trnctl arguments]

Example: check.py softmax --board trn3-chip. Inputs are random, from a fixed seed.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy
import reference
from reference import F32, F64, decode, encode, rounded

HERE = pathlib.Path(__file__).parent


class Softmax:
    def __init__(self, random, constants):
        self.x = (random.standard_normal((128, 512)) * 4).astype(F32)
        self.inputs = {"x": encode(self.x, "fp32")}
        self.outputs = {"y": ("fp32", (128, 512))}

    def check(self, y):
        """All bits: a maximum, exp rounded once, a sum in order, one reciprocal, one product."""
        differences = self.x - self.x.max(axis=1, keepdims=True)
        exponentials = numpy.exp(differences.astype(F64)).astype(F32)
        sums = numpy.add.accumulate(exponentials, axis=1, dtype=F32)[:, -1:]
        expect_equal(y, exponentials * (F32(1) / sums))
        expect_near(y.sum(axis=1, dtype=F64), numpy.ones(128), 2e-6)  # a sum of 512 FP32 terms, one after the other


class MatmulBf16:
    """One tile row in 16 is compared in all bits, the whole result by random combinations of its columns."""

    def __init__(self, random, constants):
        self.at, self.b = (rounded(random.standard_normal((2048, 2048)), "bf16") for _ in range(2))
        self.inputs = {"at": encode(self.at, "bf16"), "b": encode(self.b, "bf16")}
        self.outputs = {"c": ("bf16", (2048, 2048))}
        self.rows = random.choice(2048, 64, replace=False)
        self.mix = random.integers(-8, 8, (2048, 4)).astype(F64)

    def check(self, c):
        expect_equal(c[self.rows], rounded(reference.matmul(self.at[:, self.rows], self.b), "bf16"))
        expected = self.at.T.astype(F64) @ (self.b.astype(F64) @ self.mix)
        # A row has 2,048 results of about 45, each rounded to 9 bits, times up to 8.
        expect_near(c.astype(F64) @ self.mix, expected, 8 * 45 * 2.0**-9 * 45 * 4)


class MatmulMxfp8:
    def __init__(self, random, constants):
        self.a, self.a_scale, at, at_scale = self.operand(random)
        self.b, self.b_scale, b, b_scale = self.operand(random)
        self.inputs = {"at": at, "at_scale": at_scale, "b": b, "b_scale": b_scale}
        self.outputs = {"c": ("bf16", (2048, 2048))}
        self.rows = random.choice(2048, 64, replace=False)
        self.mix = random.integers(-8, 8, (2048, 4)).astype(F64)

    @staticmethod
    def operand(random):
        """Values [512, 4, 2048] and scales [64, 2048], and both as bytes of the program's tensors."""
        codes = random.integers(0, 256, (512, 4, 2048)).astype(numpy.uint8)
        codes[codes & 0x7F == 0x7F] = 0  # NaN
        scales = random.integers(120, 134, (64, 2048)).astype(numpy.uint8)
        # Pass k, quadrant q, 8 partitions j: row 4 k + j of quadrant q.
        placed = scales.reshape(4, 4, 4, 2048).transpose(1, 0, 2, 3)
        return (
            reference.E4M3FN[codes],
            (2.0 ** (scales.astype(F64) - 127)),
            codes.transpose(0, 2, 1).tobytes(),
            numpy.ascontiguousarray(placed).tobytes(),
        )

    def check(self, c):
        expected = reference.mx_matmul(self.a[:, :, self.rows], self.a_scale[:, self.rows], self.b, self.b_scale)
        expect_equal(c[self.rows], rounded(expected, "bf16"))
        a, b = (
            values.astype(F64) * numpy.repeat(scales, 8, axis=0)[:, None, :]
            for values, scales in ((self.a, self.a_scale), (self.b, self.b_scale))
        )
        a, b = a.reshape(2048, 2048), b.reshape(2048, 2048)
        wanted, bound = a.T @ (b @ self.mix), abs(a.T) @ (abs(b) @ abs(self.mix))
        expect_near(c.astype(F64) @ self.mix, wanted, bound * 2.0**-9)


class LayerNorm:
    def __init__(self, random, constants):
        shape = (constants["tiles"], 128, 1024)
        self.x = (random.standard_normal(shape) * 3 + random.standard_normal(shape[:2] + (1,))).astype(F32)
        self.gamma, self.beta = (random.standard_normal(1024).astype(F32) for _ in range(2))
        self.inputs = {"x": encode(self.x, "fp32"), "gamma": encode(self.gamma, "fp32"), "beta": encode(self.beta, "fp32")}
        self.outputs = {"y": ("fp32", shape)}

    def check(self, y):
        x = self.x.astype(F64)
        normal = (x - x.mean(axis=2, keepdims=True)) / numpy.sqrt(x.var(axis=2, keepdims=True) + 1e-5)
        expect_near(y, normal * self.gamma + self.beta, 3e-5)


class FlashAttention:
    def __init__(self, random, constants):
        self.tiles, self.causal = constants["tiles"], constants["causal"]
        self.q, self.k, self.v = (rounded(random.standard_normal((128 * self.tiles, 128)), "bf16") for _ in range(3))
        self.inputs = {"qt": encode(self.q.T, "bf16"), "kt": encode(self.k.T, "bf16"), "v": encode(self.v, "bf16")}
        self.outputs = {"o": ("fp32", (128 * self.tiles, 128))}

    def check(self, o):
        scores = self.q.astype(F64) @ self.k.astype(F64).T / numpy.sqrt(128)
        if self.causal:
            scores[numpy.triu_indices(len(scores), 1)] = -numpy.inf
        weights = numpy.exp(scores - scores.max(axis=1, keepdims=True))
        # The weights of a block are BF16, of 8 bits.
        expect_near(o, weights @ self.v.astype(F64) / weights.sum(axis=1, keepdims=True), 4 * 2.0**-9)


class Lookup:
    def __init__(self, random, constants):
        self.index = random.integers(0, 1000, (128, 2))
        self.table = random.standard_normal((1000, 64)).astype(F32)
        self.inputs = {"index": self.index.astype("<u4").tobytes(), "table": encode(self.table, "fp32")}
        self.outputs = {"rows": ("fp32", (256, 64)), "sums": ("fp32", (128, 64))}

    def check(self, rows, sums):
        """All bits: copies, and one sum of two rows each."""
        expect_equal(rows, self.table[self.index.T.reshape(-1)])
        expect_equal(sums, self.table[self.index[:, 0]] + self.table[self.index[:, 1]])


PROGRAMS = {
    "softmax": Softmax,
    "matmul_bf16": MatmulBf16,
    "matmul_mxfp8": MatmulMxfp8,
    "layer_norm": LayerNorm,
    "flash_attention": FlashAttention,
    "lookup": Lookup,
}


def expect_equal(found, expected):
    same = found == expected
    if not same.all():
        at = tuple(int(n) for n in numpy.argwhere(~same)[0])
        sys.exit(f"{numpy.sum(~same)} of {same.size} values differ, the first at {at}: {found[at]!r}, expected {expected[at]!r}")


def expect_near(found, expected, tolerance):
    distance = abs(found - expected) - tolerance
    if not (distance <= 0).all():  # NaN is not near
        at = numpy.unravel_index(int(numpy.argmax(numpy.nan_to_num(distance, nan=numpy.inf))), distance.shape)
        sys.exit(f"{numpy.sum(~(distance <= 0))} of {distance.size} values differ, at {at}: {found[at]!r}, expected {expected[at]!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=PROGRAMS)
    parser.add_argument("--set", action="append", default=[], metavar="CONSTANT=VALUE", help="another value for a .set of the program")
    arguments, trnctl = parser.parse_known_args()
    if shutil.which("trnctl") is None:
        sys.exit("check.py: trnctl is not in PATH; export PATH=$PWD/build:$PATH in the project's folder")
    file = HERE / f"{arguments.name}.trn"
    source = file.read_text()
    for change in arguments.set:
        name, value = change.split("=")
        source, count = re.subn(rf"(?m)^\.set {name} .*$", f".set {name} {value}", source)
        if count != 1:
            sys.exit(f"{arguments.name}.trn has no constant {name}")
    constants = {name: int(value) for name, value in re.findall(r"(?m)^\.set (\w+) (\d+)$", source)}
    program = PROGRAMS[arguments.name](numpy.random.default_rng(1), constants)
    with tempfile.TemporaryDirectory() as folder:

        def path(name):
            return os.path.join(folder, name)

        command = ["trnctl", *trnctl, "program", "run", os.path.relpath(file)]
        for change in arguments.set:
            command += ["--define", change]
        for name, data in program.inputs.items():
            pathlib.Path(path(name)).write_bytes(data)
            command += ["--in", f"{name}={path(name)}"]
        for name in program.outputs:
            command += ["--out", f"{name}={path(name)}"]
        if subprocess.run(command).returncode != 0:
            sys.exit("trnctl failed")
        program.check(*(decode(pathlib.Path(path(name)).read_bytes(), *kind) for name, kind in program.outputs.items()))
    print(f"{arguments.name}: as the reference")


if __name__ == "__main__":
    main()
