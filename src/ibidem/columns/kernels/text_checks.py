"""Kernels of the checks: polynomials over a field, evaluated at secret points.

The polynomials of any two different strings of n blocks agree at no more than n of the 2**61 - 1 points (Carter and Wegman). So
two checks, at two points, are equal for different strings with a probability below (n / 2**61)**2, even for strings crafted by
someone who knows this code but not the points.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ibidem.columns.kernels.machine_words import load_bytes, load_word
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel

FIELD_BITS = 61
BLOCK_BYTES = 7  # as many as always fit a number of the field
_FIELD = np.uint64((1 << FIELD_BITS) - 1)
_BITS = np.uint64(FIELD_BITS)
_BLOCK = np.uint64((1 << (8 * BLOCK_BYTES)) - 1)


@intrinsic
def _multiply(typing_context, a, b):
    """Return a number below 2**63 that is a * b in the field; both are below 2**62."""

    def generate(context, builder, signature, arguments):
        wide = ir.IntType(128)
        return _to_word(builder, builder.mul(*(builder.zext(argument, wide) for argument in arguments)))

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic
def _append_four(typing_context, value, p, q, r, s, x, x2, x3, x4):
    """Return a number below 2**64 that is value * x4 + p * x3 + q * x2 + r * x + s in the field; all are below 2**61 + 8.

    Four steps of Horner's rule at once: the products are independent, and their sum is reduced once.
    """

    def generate(context, builder, signature, arguments):
        value, p, q, r, s, x, x2, x3, x4 = (builder.zext(argument, ir.IntType(128)) for argument in arguments)
        total = s
        for factors in ((value, x4), (p, x3), (q, x2), (r, x)):
            total = builder.add(total, builder.mul(*factors))
        return _to_word(builder, total)

    return types.uint64(*[types.uint64] * 9), generate


def _to_word(builder, number):
    """Return the sum of the low 61 bits of a number of 128 bits and of its other bits: the same in the field."""
    word = ir.IntType(64)
    low = builder.and_(builder.trunc(number, word), ir.Constant(word, int(_FIELD)))
    return builder.add(low, builder.trunc(builder.lshr(number, ir.Constant(number.type, FIELD_BITS)), word))


@inlined_kernel
def folded(x):
    """Return a number below 2**61 + 8 that is x in the field."""
    return (x & _FIELD) + (x >> _BITS)


@inlined_kernel
def reduced(x):
    """Return x in the field, as the number below 2**61 - 1."""
    x = folded(x)
    return x - _FIELD if x >= _FIELD else x


@inlined_kernel
def product(x, y):
    """Return the product of two numbers of the field, as the number below 2**61 - 1."""
    return reduced(_multiply(x, y))


@outer_kernel
def check_spans(data, starts, ends, places, checks):
    """Write both checks of every span of bytes, from its length and its bytes. The data has at least eight bytes."""
    x, y = places[0], places[1]
    x2, y2 = product(x, x), product(y, y)
    x3, y3 = product(x, x2), product(y, y2)
    x4, y4 = product(x2, x2), product(y2, y2)
    for span in range(len(starts)):
        i, end = starts[span], ends[span]
        a = b = np.uint64(end - i)
        while i + 3 * BLOCK_BYTES + 8 <= end:
            p = load_word(data, i) & _BLOCK
            q = load_word(data, i + BLOCK_BYTES) & _BLOCK
            r = load_word(data, i + 2 * BLOCK_BYTES) & _BLOCK
            s = load_word(data, i + 3 * BLOCK_BYTES) & _BLOCK
            a = folded(_append_four(a, p, q, r, s, x, x2, x3, x4))
            b = folded(_append_four(b, p, q, r, s, y, y2, y3, y4))
            i += 4 * BLOCK_BYTES
        while i < end:
            block = load_bytes(data, i, end) & _BLOCK
            a = folded(_multiply(a, x)) + block
            b = folded(_multiply(b, y)) + block
            i += BLOCK_BYTES
        checks[span, 0] = reduced(a)
        checks[span, 1] = reduced(b)


@inner_kernel
def check_list(tokens, begin, end, places, checks, span):
    """Write both checks of `tokens[begin:end]`, from their number and the tokens, to `checks[span]`."""
    a = b = np.uint64(end - begin)
    for k in range(begin, end):
        # Eight hashes map to one number of the field, so words are distinguished by 61 bits of their secret hashes.
        block = folded(tokens[k])
        a = folded(_multiply(a, places[0])) + block
        b = folded(_multiply(b, places[1])) + block
    checks[span, 0] = reduced(a)
    checks[span, 1] = reduced(b)


@outer_kernel
def check_tokens(tokens, first, places, checks):
    """Write both checks of every list of tokens, as `check_list` does, four tokens at a time: documents are long."""
    x, y = places[0], places[1]
    x2, y2 = product(x, x), product(y, y)
    x3, y3 = product(x, x2), product(y, y2)
    x4, y4 = product(x2, x2), product(y2, y2)
    for span in range(len(first) - 1):
        k, end = first[span], first[span + 1]
        a = b = np.uint64(end - k)
        # Eight hashes map to one number of the field, so words are distinguished by 61 bits of their secret hashes.
        while k + 4 <= end:
            p, q, r, s = folded(tokens[k]), folded(tokens[k + 1]), folded(tokens[k + 2]), folded(tokens[k + 3])
            a = folded(_append_four(a, p, q, r, s, x, x2, x3, x4))
            b = folded(_append_four(b, p, q, r, s, y, y2, y3, y4))
            k += 4
        while k < end:
            block = folded(tokens[k])
            a = folded(_multiply(a, x)) + block
            b = folded(_multiply(b, y)) + block
            k += 1
        checks[span, 0] = reduced(a)
        checks[span, 1] = reduced(b)


@outer_kernel
def find_unlike(checks, place, ones, others, unlike):
    """Write the pairs whose checks differ, by number, and return how many; text i has the check `place[i]`."""
    n = 0
    for pair in range(len(ones)):
        one, other = place[ones[pair]], place[others[pair]]
        if checks[one, 0] != checks[other, 0] or checks[one, 1] != checks[other, 1]:
            unlike[n] = pair
            n += 1
    return n
