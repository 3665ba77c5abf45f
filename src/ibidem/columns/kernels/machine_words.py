"""Eight bytes at a time: loading and storing 64-bit words, and testing their bytes."""

from __future__ import annotations

import sys

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ibidem.execution.compiler import inlined_kernel

WORD_BYTES = 8
EACH_BYTE = np.uint64(0x0101010101010101)
HIGH_BITS = np.uint64(0x8080808080808080)
_LOW_BITS = np.uint64(0x7F7F7F7F7F7F7F7F)
_CASE_BITS = np.uint64(0x2020202020202020)
_SPACES = EACH_BYTE * np.uint64(32)
# Added to a seven-bit byte, these carry into the eighth bit from this character on.
_FROM_A, _PAST_Z = EACH_BYTE * np.uint64(0x80 - 97), EACH_BYTE * np.uint64(0x80 - 123)
_FROM_0, _PAST_9 = EACH_BYTE * np.uint64(0x80 - 48), EACH_BYTE * np.uint64(0x80 - 58)
_FROM_E3, _PAST_ED = EACH_BYTE * np.uint64(0x80 - 0x63), EACH_BYTE * np.uint64(0x80 - 0x6E)
_FROM_EF, _PAST_EF = EACH_BYTE * np.uint64(0x80 - 0x6F), EACH_BYTE * np.uint64(0x80 - 0x70)
_ONE, _SIX, _SEVEN, _TOP_BYTE = np.uint64(1), np.uint64(6), np.uint64(7), np.uint64(56)


@intrinsic
def load_word(typing_context, array, i):
    """Return bytes i to i + 7 as one number, the first byte lowest on every machine; all eight must exist."""

    def generate(context, builder, signature, arguments):
        values = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(values.data, [context.cast(builder, arguments[1], signature.args[1], types.intp)])
        word = builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()), align=1)
        return word if sys.byteorder == "little" else builder.bswap(word)

    return types.uint64(array, i), generate


@intrinsic
def store_word(typing_context, array, i, word):
    """Write a number to bytes i to i + 7, the lowest byte first on every machine; all eight must exist."""

    def generate(context, builder, signature, arguments):
        values = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(values.data, [context.cast(builder, arguments[1], signature.args[1], types.intp)])
        stored = arguments[2] if sys.byteorder == "little" else builder.bswap(arguments[2])
        builder.store(stored, builder.bitcast(place, ir.IntType(64).as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(array, i, types.uint64), generate


@intrinsic
def fetch_ahead(typing_context, array, i):
    """Have the processor fetch element i, which must exist, from memory: it will soon be needed."""

    def generate(context, builder, signature, arguments):
        values = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(values.data, [context.cast(builder, arguments[1], signature.args[1], types.intp)])
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kind)
        to_read, for_long, of_data = (ir.Constant(number, value) for value in (0, 3, 1))
        builder.call(prefetch, [builder.bitcast(place, byte), to_read, for_long, of_data])
        return context.get_dummy_value()

    return types.void(array, i), generate


@intrinsic
def count_low_bytes(typing_context, word):
    """Return the number of bytes below the one with the lowest bit of the word; 8 for a word without a bit."""

    def generate(context, builder, signature, arguments):
        zeros = builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))
        return builder.lshr(zeros, ir.Constant(ir.IntType(64), 3))

    return types.int64(types.uint64), generate


@inlined_kernel
def load_bytes(data, i, end):
    """Return the word at `i`, before `end`, with zeros for bytes from `end` on. The data must have at least eight bytes."""
    if i + 8 <= end:
        return load_word(data, i)
    # Nothing past the data is read.
    surplus = i + 8 - len(data) if i + 8 > len(data) else 0
    word = load_word(data, i - surplus) >> np.uint64(surplus * 8)
    return word & ((_ONE << np.uint64((end - i) * 8)) - _ONE)


@inlined_kernel
def mark_others(word):
    """Return the high bit of every byte that is not a letter or a digit of ASCII."""
    low = word & _LOW_BITS
    folded = low | _CASE_BITS
    letters = (folded + _FROM_A) & ~(folded + _PAST_Z)
    digits = (low + _FROM_0) & ~(low + _PAST_9)
    return ~((letters | digits) & ~word) & HIGH_BITS


@inlined_kernel
def mark_byte(word, byte):
    """Return a word whose lowest set bit is in the first byte that equals `byte`; higher bits mean nothing."""
    differences = word ^ (EACH_BYTE * np.uint64(byte))
    return (differences - EACH_BYTE) & ~differences & HIGH_BITS


@inlined_kernel
def mark_below_space(word):
    """Return a word whose lowest set bit is in the first byte below 32; higher bits mean nothing."""
    return (word - _SPACES) & ~word & HIGH_BITS


@inlined_kernel
def count_bits(word):
    """Return the number of bytes in a word whose lowest bit is set."""
    return np.int64(((word & EACH_BYTE) * EACH_BYTE) >> _TOP_BYTE)


@inlined_kernel
def count_continuations(word):
    """Return the number of bytes in a word that are not the first of their character."""
    return count_bits((word >> _SEVEN) & ~(word >> _SIX))


@inlined_kernel
def count_wide(word):
    """Return the number of bytes in a word that start a wide character of East Asia: 0xE3 to 0xED and 0xEF."""
    low = word & _LOW_BITS
    wide = ((low + _FROM_E3) & ~(low + _PAST_ED)) | ((low + _FROM_EF) & ~(low + _PAST_EF))
    return count_bits((wide & word) >> _SEVEN)
