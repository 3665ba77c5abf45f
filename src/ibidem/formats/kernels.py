"""The kernel that reads lines of JSON: the values of four fields, unescaped, straight from the bytes of a block.

It reads what nearly all files consist of, and gives up on everything else: other readers decide what that means.
"""

# ruff: noqa: SIM109 (tests against a tuple compile slowly)
from __future__ import annotations

import numpy as np

from ibidem.columns.kernels.machine_words import count_low_bytes, load_word, mark_below_space, mark_byte, store_word
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel

TEXT, ID, TIME, GROUP = range(4)  # the fields, as in `Wanted.names`
ROOM_BYTES = 8  # beyond what is written: a word is stored at a time
_UNUSUAL = np.int64(-1)
_MOST_DIGITS = 18
_MOST_DEPTH = 60
_QUOTE, _BACKSLASH = 34, 92
_OBJECT, _LIST = 123, 91
_VALUE, _AFTER_VALUE, _KEY = 0, 1, 2  # what comes next in a nested value
_MEANT = np.zeros(256, np.uint8)  # by a letter after a backslash; 0 for all others
_MEANT[list(b'"\\/bfnrt')] = list(b'"\\/\b\f\n\r\t')


@inlined_kernel
def _skip_spaces(data, i, end):
    """Return the first place from `i` on that is no space; a line break is none."""
    while i < end and (data[i] == 32 or data[i] == 9 or data[i] == 13):
        i += 1
    return i


@inner_kernel
def _hexadecimal(data, i, end):
    """Return the number that four hexadecimal digits mean, or -1."""
    if i + 4 > end:
        return _UNUSUAL
    number = np.int64(0)
    for k in range(i, i + 4):
        byte = np.int64(data[k])
        if 48 <= byte <= 57:
            digit = byte - 48
        elif 97 <= byte | 32 <= 102:
            digit = (byte | 32) - 87
        else:
            return _UNUSUAL
        number = number << 4 | digit
    return number


@inner_kernel
def _unescape(data, i, end, out, at):
    """Write the character of the escape of digits at `i`; return where both go on, the place in `data` -1 if it is unusual."""
    if i + 1 < end and data[i + 1] == 117:
        code_point = _hexadecimal(data, i + 2, end)
        i += 6
        if 0xD800 <= code_point < 0xDC00 and i + 1 < end and data[i] == _BACKSLASH and data[i + 1] == 117:
            low = _hexadecimal(data, i + 2, end)
            i += 6
            if not 0xDC00 <= low < 0xE000:
                return _UNUSUAL, at
            code_point = 0x10000 + ((code_point - 0xD800) << 10) + (low - 0xDC00)
        if code_point < 0 or 0xD800 <= code_point < 0xE000:
            return _UNUSUAL, at
        if code_point < 0x80:
            out[at] = code_point
            return i, at + 1
        if code_point < 0x800:
            out[at] = 0xC0 | code_point >> 6
            out[at + 1] = 0x80 | code_point & 63
            return i, at + 2
        if code_point < 0x10000:
            out[at] = 0xE0 | code_point >> 12
            out[at + 1] = 0x80 | code_point >> 6 & 63
            out[at + 2] = 0x80 | code_point & 63
            return i, at + 3
        out[at] = 0xF0 | code_point >> 18
        out[at + 1] = 0x80 | code_point >> 12 & 63
        out[at + 2] = 0x80 | code_point >> 6 & 63
        out[at + 3] = 0x80 | code_point & 63
        return i, at + 4
    return _UNUSUAL, at


@inner_kernel
def _copy_string(data, i, end, out, at):
    """Write what the string means that begins at `i`, behind its quotation mark; return where both go on.

    That is behind its other quotation mark, or -1 if the string is unusual.
    """
    while i < end:
        if i + 8 <= end:
            word = load_word(data, i)
            store_word(out, at, word)
            stops = mark_byte(word, _QUOTE) | mark_byte(word, _BACKSLASH) | mark_below_space(word)
            n_bytes = count_low_bytes(stops)
            i += n_bytes
            at += n_bytes
            if n_bytes == 8:
                continue
        byte = data[i]
        if byte == _QUOTE:
            return i + 1, at
        if byte == _BACKSLASH and i + 1 < end and _MEANT[data[i + 1]] != 0:
            out[at] = _MEANT[data[i + 1]]
            i += 2
            at += 1
        elif byte == _BACKSLASH:
            i, at = _unescape(data, i, end, out, at)
            if i < 0:
                break
        elif byte < 32:
            break
        else:
            out[at] = byte
            i += 1
            at += 1
    return _UNUSUAL, at


@inner_kernel
def _number_end(data, i, end, most_digits):
    """Return the end of the whole number at `i`, or -1 if it is none, or not written as the number is printed."""
    i += data[i] == 45
    begin = i
    while i < end and 48 <= data[i] <= 57:
        i += 1
    n_digits = i - begin
    if n_digits == 0 or n_digits > most_digits or (data[begin] == 48 and (n_digits > 1 or data[begin - 1] == 45)):
        return _UNUSUAL
    if i < end and (data[i] == 46 or data[i] | 32 == 101):
        return _UNUSUAL
    return i


@inner_kernel
def _digits_end(data, i, end):
    """Return the end of the digits at `i`, at least one; -1 if there is none."""
    begin = i
    while i < end and 48 <= data[i] <= 57:
        i += 1
    return i if i > begin else _UNUSUAL


@inner_kernel
def _skip_number(data, i, end):
    """Return the end of any number at `i`, or -1."""
    i += data[i] == 45
    begin = i
    i = _digits_end(data, i, end)
    if i < 0 or (data[begin] == 48 and i > begin + 1) or i - begin > _MOST_DIGITS:
        return _UNUSUAL
    if i < end and data[i] == 46:
        i = _digits_end(data, i + 1, end)
        if i < 0:
            return _UNUSUAL
    if i < end and data[i] | 32 == 101:
        i += 1
        if i < end and (data[i] == 43 or data[i] == 45):
            i += 1
        i = _digits_end(data, i, end)
    return i


@inner_kernel
def _skip_plain(data, i, end, out, at):
    """Return the end of a value that is no object and no list, or -1. What is beyond `at` may be overwritten."""
    byte = data[i]
    if byte == _QUOTE:
        return _copy_string(data, i + 1, end, out, at)[0]
    if byte == 45 or 48 <= byte <= 57:
        return _skip_number(data, i, end)
    if i + 4 <= end:
        is_true = byte == 116 and data[i + 1] == 114 and data[i + 2] == 117 and data[i + 3] == 101
        is_null = byte == 110 and data[i + 1] == 117 and data[i + 2] == 108 and data[i + 3] == 108
        if is_true or is_null:
            return i + 4
        if byte == 102 and i + 5 <= end:
            if data[i + 1] == 97 and data[i + 2] == 108 and data[i + 3] == 115 and data[i + 4] == 101:
                return i + 5
    return _UNUSUAL


@inner_kernel
def _skip_value(data, i, end, out, at):
    """Return the end of a value, or -1 if it is unusual. What is beyond `at` may be overwritten."""
    depth = np.int64(0)
    are_objects = np.int64(0)  # what it is inside of, the innermost in the lowest bit
    state = _VALUE
    while i >= 0:
        i = _skip_spaces(data, i, end)
        if i >= end:
            break
        byte = data[i]
        if state == _VALUE and (byte == _OBJECT or byte == _LIST):
            if depth == _MOST_DEPTH:
                break
            depth += 1
            are_objects = are_objects << 1 | (byte == _OBJECT)
            i = _skip_spaces(data, i + 1, end)
            state = _KEY if byte == _OBJECT else _VALUE
            if i < end and data[i] == byte + 2:
                state = _AFTER_VALUE
                depth -= 1
                are_objects >>= 1
                i += 1
        elif state == _VALUE:
            i = _skip_plain(data, i, end, out, at)
            state = _AFTER_VALUE
        elif state == _KEY:
            if byte != _QUOTE:
                break
            i = _copy_string(data, i + 1, end, out, at)[0]
            if i < 0:
                break
            i = _skip_spaces(data, i, end)
            if i >= end or data[i] != 58:
                break
            i += 1
            state = _VALUE
        elif byte == 44:
            i += 1
            state = _KEY if are_objects & 1 else _VALUE
        elif byte == (_OBJECT if are_objects & 1 else _LIST) + 2:
            i += 1
            depth -= 1
            are_objects >>= 1
        else:
            break
        if state == _AFTER_VALUE and depth == 0:
            return i
    return _UNUSUAL


@inlined_kernel
def _field_of(data, begin, end, names, name_ends):
    """Return which of the fields a name is that of, or -1."""
    first = np.int64(0)
    for field in range(len(name_ends)):
        n = name_ends[field] - first
        if n == end - begin:
            k = np.int64(0)
            while k < n and data[begin + k] == names[first + k]:
                k += 1
            if k == n:
                return np.int64(field)
        first = name_ends[field]
    return _UNUSUAL


@outer_kernel
def read_objects(data, names, name_ends, texts, others, first, is_known, lines, starts):
    """Write the values of four fields for each object of a block of lines; return the number of objects, -1 if it is unusual.

    `names` are their names, in the order of the constants above, each up to one of `name_ends`. Texts go to `texts`, those of
    field f to `others` from `(f - 1) * len(data)` on. `first[f, row]` is where the value of a row begins, counted from there,
    `is_known[f, row]` whether it is there at all. `lines` are the numbers of lines from 0 on, `starts` where they begin.
    """
    end = len(data)
    n = line = i = np.int64(0)
    for field in range(4):
        first[field, 0] = 0
    while i < end:
        if data[i] == 10 or (data[i] == 13 and i + 1 < end and data[i + 1] == 10):
            i += 1 + (data[i] == 13)
            line += 1
            continue
        if data[i] != _OBJECT:
            return _UNUSUAL
        lines[n], starts[n] = line, i
        for field in range(4):
            is_known[field, n] = False
            first[field, n + 1] = first[field, n]
        seen = np.int64(0)
        i = _skip_spaces(data, i + 1, end)
        is_open = i >= end or data[i] != _OBJECT + 2
        while is_open:
            if i >= end or data[i] != _QUOTE:
                return _UNUSUAL
            key = i + 1
            i = key
            while i < end and data[i] != _QUOTE:
                if data[i] == _BACKSLASH or data[i] < 32:
                    return _UNUSUAL
                i += 1
            field = _field_of(data, key, i, names, name_ends)
            i = _skip_spaces(data, i + 1, end)
            if i >= end or data[i] != 58:
                return _UNUSUAL
            i = _skip_spaces(data, i + 1, end)
            if i >= end:
                return _UNUSUAL
            if field < 0:
                i = _skip_value(data, i, end, others, first[ID, n + 1])
            elif seen >> field & 1:  # of repeated fields the last one counts
                return _UNUSUAL
            else:
                seen |= 1 << field
                begin = (field - 1) * end
                if data[i] == _QUOTE:
                    is_known[field, n] = True
                    if field == TEXT:
                        i, first[field, n + 1] = _copy_string(data, i + 1, end, texts, first[field, n])
                    else:
                        i, at = _copy_string(data, i + 1, end, others, begin + first[field, n])
                        first[field, n + 1] = at - begin
                elif data[i] == 110:
                    i = _skip_plain(data, i, end, others, first[ID, n + 1])
                elif field == ID or field == GROUP:
                    value = i
                    i = _number_end(data, value, end, _MOST_DIGITS)
                    is_known[field, n] = True
                    for k in range(value, i):
                        others[begin + first[field, n] + k - value] = data[k]
                    first[field, n + 1] = first[field, n] + i - value
                else:
                    return _UNUSUAL
            if i < 0:
                return _UNUSUAL
            i = _skip_spaces(data, i, end)
            if i >= end:
                return _UNUSUAL
            if data[i] == 44:
                i = _skip_spaces(data, i + 1, end)
            elif data[i] == _OBJECT + 2:
                is_open = False
            else:
                return _UNUSUAL
        i += 1
        if i < end and data[i] == 13:
            i += 1
        if i < end and data[i] != 10:
            return _UNUSUAL
        i += 1
        line += 1
        n += 1
    return n
