"""Kernel of the cuts: rows that are left after the rounds are decided one after the other."""

from __future__ import annotations

from ibidem.execution.compiler import outer_kernel


@outer_kernel
def decide_rows(rows, first, slots, document, row_number, same_document, size, held, source):
    """Write the source of every row that goes; those that stay keep -1.

    Rows and places that stay are numbered together in the order in which they are decided; `document` and `row_number` go by
    that number. `rows` rise; row i has the slots `slots[first[i]:first[i + 1]]`. `held` is the first place of each slot that
    is known to stay, or -1; it may come after the rows in question, and then gives them nothing.
    """
    for i in range(len(rows)):
        row = rows[i]
        best = row
        for k in range(first[i], first[i + 1]):
            other = held[slots[k]]
            if other < 0 or other >= best:
                continue
            if document[other] == document[row] and not (same_document and row_number[other] <= row_number[row] - size):
                continue
            best = other
        if best < row:
            source[i] = best
            continue
        for k in range(first[i], first[i + 1]):
            if held[slots[k]] < 0 or held[slots[k]] > row:
                held[slots[k]] = row
