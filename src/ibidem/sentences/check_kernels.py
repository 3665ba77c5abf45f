"""Kernels of the checks: polynomials over a field, at places that nobody but the run knows.

Whatever two strings of n blocks are, their polynomials agree at n of the 2**61 - 1 places at most (Carter and Wegman). So
two checks, at two places, are equal for different strings with a probability below (n / 2**61)**2, also for strings that
were made by somebody who knows this code, but not the places.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ibidem.compiling import inlined_kernel, inner_kernel, outer_kernel
from ibidem.sentences.word_kernels import load_bytes

FIELD_BITS = 61
BLOCK_BYTES = 7  # as many as surely are a number of the field
_FIELD = np.uint64((1 << FIELD_BITS) - 1)
_BITS = np.uint64(FIELD_BITS)
_BLOCK = np.uint64((1 << (8 * BLOCK_BYTES)) - 1)


@intrinsic
def _multiply(typing_context, a, b):
    """Return a number below 2**63 that is a * b in the field; both are below 2**62."""

    def generate(context, builder, signature, arguments):
        wide, word = ir.IntType(128), ir.IntType(64)
        product = builder.mul(*(builder.zext(argument, wide) for argument in arguments))
        low = builder.and_(builder.trunc(product, word), ir.Constant(word, int(_FIELD)))
        return builder.add(low, builder.trunc(builder.lshr(product, ir.Constant(wide, FIELD_BITS)), word))

    return types.uint64(types.uint64, types.uint64), generate


@inlined_kernel
def _folded(x):
    """Return a number below 2**61 + 8 that is x in the field."""
    return (x & _FIELD) + (x >> _BITS)


@inlined_kernel
def _reduced(x):
    """Return x in the field, as the one number that is below 2**61 - 1."""
    x = _folded(x)
    return x - _FIELD if x >= _FIELD else x


@outer_kernel
def check_spans(data, starts, ends, places, checks):
    """Write both checks of every span of bytes, made of its length and its bytes. The data has eight bytes at least."""
    for span in range(len(starts)):
        a = b = np.uint64(ends[span] - starts[span])
        i = starts[span]
        while i < ends[span]:
            block = load_bytes(data, i, ends[span]) & _BLOCK
            a = _folded(_multiply(a, places[0])) + block
            b = _folded(_multiply(b, places[1])) + block
            i += BLOCK_BYTES
        checks[span, 0] = _reduced(a)
        checks[span, 1] = _reduced(b)


@inner_kernel
def check_list(tokens, begin, end, places, checks, span):
    """Write both checks of `tokens[begin:end]`, made of their number and of the tokens, to `checks[span]`."""
    a = b = np.uint64(end - begin)
    for k in range(begin, end):
        # Eight hashes are one number of the field, so words are told apart by 61 bits of their secret hashes.
        block = _folded(tokens[k])
        a = _folded(_multiply(a, places[0])) + block
        b = _folded(_multiply(b, places[1])) + block
    checks[span, 0] = _reduced(a)
    checks[span, 1] = _reduced(b)


@outer_kernel
def check_tokens(tokens, first, places, checks):
    """Write both checks of every list of tokens."""
    for span in range(len(first) - 1):
        check_list(tokens, first[span], first[span + 1], places, checks, span)
