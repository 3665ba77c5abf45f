"""Kernels of the repeats: the places of hot grams, which of them are one text, and which windows always follow which."""

from __future__ import annotations

import numpy as np

from ibidem.execution.compiler import outer_kernel
from ibidem.passages.kernels.chains import similarity_of
from ibidem.passages.kernels.windows import (
    HOT_SENTENCE,
    HOT_WINDOW,
    REPEATED_WINDOW,
    key_of_kind,
    sentence_key,
    text_key,
    window_key,
)

_UNSEEN = -2
_NONE = -1
_MOST_LEADERS = 200


@outer_kernel
def list_hot_places(kind, flags, rows, size, n, places):
    """Write the places of the hot grams of one kind from number n on.

    A place alone causes its text to be reported unless a repeated window covers the sentence, or the text has a hot sentence.
    """
    last = -2
    covered = 0
    for row in range(len(flags)):
        covered = size if flags[row] & REPEATED_WINDOW else covered - 1
        if not flags[row] & kind:
            continue
        d = rows.document[row]
        if kind == HOT_WINDOW:
            key = window_key(rows.classes, row, size)
            length = size
            is_reported = True
        elif kind == HOT_SENTENCE:
            key = sentence_key(rows.classes, row)
            length = 1
            is_reported = covered <= 0
        else:
            key = text_key(rows.classes, rows.document_first[d], rows.document_first[d + 1])
            length = rows.document_first[d + 1] - rows.document_first[d]
            is_reported = flags[row] & HOT_SENTENCE == 0
        places.key[n] = key_of_kind(key, np.uint64(kind))
        places.row[n] = row
        places.length[n] = length
        places.is_reported[n] = is_reported
        places.following[n] = 0
        places.preceding[n] = 0
        if kind == HOT_WINDOW and last == row - 1 and rows.document[last] == d:
            places.following[n - 1] = places.key[n]
            places.preceding[n] = places.key[n - 1]
        last = row
        n += 1


@outer_kernel
def keep_apart(first, length, row, document, keep):
    """Drop the places that overlap the kept place of the same text before them in their document.

    (A line repeated many times overlaps itself.)
    """
    for text in range(len(first) - 1):
        last = first[text]
        keep[last] = True
        for i in range(last + 1, first[text + 1]):
            keep[i] = row[i] - row[last] >= length[text] or document[row[i]] != document[row[last]]
            if keep[i]:
                last = i


@outer_kernel
def lead_places(first, length, row, cells, leader):
    """Write for each place the first one of its text that it matches, sentence by sentence, or -1 if it matches none.

    Those of text t are [first[t], first[t + 1]). Texts whose places have the leader -1 are left unchanged.
    """
    for text in range(len(first) - 1):
        begin = first[text]
        end = first[text + 1]
        if leader[begin] < 0:
            continue
        n_left = end - begin
        for i in range(begin, end):
            leader[i] = _UNSEEN
        head = begin
        for _ in range(_MOST_LEADERS):
            if n_left < 2:
                break
            while leader[head] != _UNSEEN:
                head += 1
            n_alike = 0
            for i in range(head, end):
                if leader[i] != _UNSEEN:
                    continue
                is_alike = True
                for k in range(length[text]):
                    if similarity_of(row[head] + k, row[i] + k, cells) < 0.0:
                        is_alike = False
                        break
                if is_alike:
                    leader[i] = head
                    n_alike += 1
            if n_alike == 1:
                leader[head] = _NONE
            n_left -= max(1, n_alike)
            head += 1
        for i in range(head, end):
            if leader[i] == _UNSEEN:
                leader[i] = _NONE
