"""The kernel that decides, passage by passage, which words of edited copies are cut."""

from __future__ import annotations

import numpy as np

from ibidem.execution.compiler import outer_kernel

CUT, GIVES = np.uint8(1), np.uint8(2)  # of a word: it is removed; it is the kept copy of a sentence that is removed


@outer_kernel
def cut_copies(spans, states, pieces):
    """Cut the words of each passage that are still there, if its other side is kept; return the number of `pieces`.

    `spans` are start and end of the copy, start and end of what stays, flat, in the order of decision. A piece is a stretch of
    words cut together: the passage, its first word and its end. Pieces are at most as many as `pieces` has room for; then -1.
    """
    n = 0
    for i in range(len(spans) // 4):
        is_kept = True
        for word in range(spans[4 * i + 2], spans[4 * i + 3]):
            if states[word] & CUT:
                is_kept = False
                break
        if not is_kept:
            continue
        is_inside = False
        for word in range(spans[4 * i], spans[4 * i + 1]):
            if states[word]:
                is_inside = False
                continue
            states[word] = CUT
            if not is_inside:
                if 3 * n + 3 > len(pieces):
                    return -1
                pieces[3 * n], pieces[3 * n + 1] = i, word
                n += 1
                is_inside = True
            pieces[3 * n - 1] = word + 1
    return n
