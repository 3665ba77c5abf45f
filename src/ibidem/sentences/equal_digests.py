"""Comparing sentences with equal digests, and correcting digests so that equal ones mean equal sentences."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.kernels.text_checks import find_unlike
from ibidem.columns.postings import postings_of
from ibidem.columns.text_checks import CheckKey, Checks, settle_digests
from ibidem.columns.texts import Bytes, Offsets, text_buffers
from ibidem.execution.tasks import RunTasks
from ibidem.sentences.splitter import tokenise_spans

Numbers = NDArray[np.int32]


def settle_sentences(collection: Collection, run_tasks: RunTasks) -> Collection:
    """Return the collection with digests that only sentences with equal words share.

    Digests of sentences crafted to collide are replaced.
    """
    groups = postings_of(collection.digest)
    rows = groups.rows
    heads = np.repeat(rows[groups.first[:-1]], np.diff(groups.first))
    key = CheckKey.drawn()
    if _are_equal(collection, rows, heads, key, run_tasks):
        return collection
    checks = _checks(collection, rows, key, run_tasks, by_words=True)
    digest = collection.digest.copy()
    digest[rows] = settle_digests(collection.digest[rows], checks.of[checks.place[rows]], collection.digest)
    return dataclasses.replace(collection, digest=digest)


def checks_of_words(key: CheckKey, data: Bytes, starts: Offsets, ends: Offsets) -> Checks:
    """Return the checks of the folded words of byte spans in UTF-8."""
    return key.of_tokens(*tokenise_spans(data, starts, ends, key.hash_seed))


def are_equal(collection: Collection, sentences: Numbers, others: Numbers, run_tasks: RunTasks) -> bool:
    """Return whether all sentences have the same words as the others, pair by pair.

    They are compared byte by byte, and where that differs, word by word. Both use checks of 122 bits with a key drawn for this
    purpose.
    """
    return _are_equal(collection, sentences, others, CheckKey.drawn(), run_tasks)


def _are_equal(collection: Collection, sentences: Numbers, others: Numbers, key: CheckKey, run_tasks: RunTasks) -> bool:
    for by_words in (False, True):
        checks = _checks(collection, np.concatenate([sentences, others]), key, run_tasks, by_words)
        unlike = np.empty(len(sentences), np.int64)
        unlike = unlike[: find_unlike(checks.of, checks.place, sentences, others, unlike)]
        sentences, others = sentences[unlike], others[unlike]
    return len(sentences) == 0


class _SomeChecks(NamedTuple):
    """Checks of some sentences; the check of sentence s is `of[place[s]]`."""

    of: Checks
    place: Numbers


def _checks(collection: Collection, sentences: Numbers, key: CheckKey, run_tasks: RunTasks, by_words: bool) -> _SomeChecks:
    """Return the checks of some sentences, each made once."""
    is_wanted = np.zeros(len(collection.digest), np.bool_)
    is_wanted[sentences] = True
    wanted = np.flatnonzero(is_wanted)
    bounds = np.searchsorted(collection.document[wanted], collection.batch_first)

    def check(number: int) -> Checks:
        chosen = wanted[bounds[number] : bounds[number + 1]]
        data, offsets = text_buffers(collection.batches[number].column("text"))
        begins = offsets[collection.document[chosen] - collection.batch_first[number]]
        spans = begins + collection.start_byte[chosen], begins + collection.end_byte[chosen]
        return checks_of_words(key, data, *spans) if by_words else key.of_bytes(data, *spans)

    place = np.empty(len(is_wanted), np.int32)
    place[wanted] = np.arange(len(wanted), dtype=np.int32)
    return _SomeChecks(np.concatenate([np.empty((0, 2), np.uint64), *run_tasks(check, range(len(collection.batches)))]), place)
