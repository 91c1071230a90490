#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints correctly rounded FP32 values of the activation functions: lines "code argument result",
bits in hexadecimal.

The functions are those of doc/spec/neuron-core.md 3.6, computed with 130 decimal digits and rounded
once.
"""
import random
import struct
from decimal import Decimal as D, getcontext
from fractions import Fraction

getcontext().prec = 130
PI = D(
    "3.141592653589793238462643383279502884197169399375105820974944592307816406286208998628034825342117067982148086513282306"
    "647093844609550582231725359408128481117450284102701938521105559644622948954930381964428810975665933446128475648233786"
    "78316527120190914564856692346034861045432664821339360726024914127"
)


def rounded(value: D) -> int:
    """Bits of the nearest FP32 value, ties to even."""
    sign = 0x80000000 if value.is_signed() else 0
    exact = abs(Fraction(value))
    if exact == 0:
        return sign
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    if Fraction(2) ** exponent > exact:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, -126) - 23)
    mantissa = round(exact / unit)  # Fractions round ties to even
    bits = mantissa if exponent < -126 else mantissa + ((exponent + 126) << 23)
    return sign | min(bits, 0x7F800000)


def series(first: D, factor) -> D:
    """first + first factor(1) + first factor(1) factor(2) + ..."""
    term = total = first
    n = 0
    while term and abs(term) > abs(total) * D(10) ** -135:
        n += 1
        term *= factor(n)
        total += term
    return total


def exp(x):
    return x.exp()


def sigmoid(x):
    return 1 / (1 + exp(-x))


def tanh(x):
    return (1 - exp(-2 * x)) / (1 + exp(-2 * x))


def erf(x):
    return 2 / PI.sqrt() * exp(-x * x) * series(x, lambda n: 2 * x * x / (2 * n + 1))


def erfc(x):
    """Complementary error function for x > 0."""
    if x < 6:
        return 1 - erf(x)
    fraction = D(0)
    for n in range(400, 0, -1):
        fraction = D(n) / 2 / (x + fraction)
    return exp(-x * x) / PI.sqrt() / (x + fraction)


def cdf(x):
    z = x / D(2).sqrt()
    return erfc(-z) / 2 if z < 0 else 1 - erfc(z) / 2 if z else D("0.5")


def sin(x):
    x %= 2 * PI
    return series(x, lambda n: -x * x / (2 * n * (2 * n + 1)))


def arctan(x):
    for _ in range(8):  # atan x = 2 atan(x / (1 + sqrt(1 + x^2)))
        x = x / (1 + (1 + x * x).sqrt())
    total, power, n = D(0), x, 1
    while abs(power) > abs(x) * D(10) ** -132:
        total += power / n if n % 4 == 1 else -power / n
        power *= x * x
        n += 2
    return 256 * total


def slope(z):
    s = sigmoid(z)
    return s + z * s * (1 - s)


def softplus(x):
    return (1 + exp(x)).ln()


C, SQRT = D("1.702"), (2 / PI).sqrt()
FUNCTIONS = {
    6: sigmoid,
    7: tanh,
    8: exp,
    9: lambda x: x * cdf(x),
    10: lambda x: cdf(x) + x * exp(-x * x / 2) / (2 * PI).sqrt(),
    11: lambda x: x * sigmoid(2 * SQRT * (x + D("0.044715") * x**3)),
    12: lambda x: x * sigmoid(C * x),
    13: lambda x: slope(C * x),
    14: lambda x: x * sigmoid(x),
    15: slope,
    16: softplus,
    17: lambda x: x * tanh(softplus(x)),
    18: lambda x: erf(x) if abs(x) < 6 else (1 - erfc(abs(x))).copy_sign(x),
    19: lambda x: 2 / PI.sqrt() * exp(-x * x),
    20: lambda x: x.ln(),
    21: sin,
    22: arctan,
    23: lambda x: x.sqrt(),
    24: lambda x: 1 / x.sqrt(),
    25: lambda x: 1 / x,
}
POSITIVE = (20, 23, 24)  # defined above zero only


def arguments(code):
    """Arguments near difficult roundings, followed by random ones."""
    rng = random.Random(code)
    bits = [1, 3, 0x7FFFFF, 0x800001, 0x1000001]  # odd: half of a subnormal is a tie
    for exponent in range(-30, 8):
        bits += [struct.unpack("<I", struct.pack("<f", m * 2.0**exponent))[0] for m in (1, 1.5, 125 / 64, 1.25)]
    for _ in range(150):
        bits.append(struct.unpack("<I", struct.pack("<f", rng.uniform(0, 16)))[0])
        bits.append(rng.randrange(1, 0x43000000))  # up to 128
    for b in bits:
        yield b
        if code not in POSITIVE:
            yield b | 0x80000000


for code, function in FUNCTIONS.items():
    for b in arguments(code):
        x = D(struct.unpack("<f", struct.pack("<I", b))[0])
        print(code, f"{b:08x}", f"{rounded(function(x)):08x}")
