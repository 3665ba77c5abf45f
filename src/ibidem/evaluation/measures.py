"""What can be measured besides characters of passages: sentences, pairs of sentences and of documents, clusters, verdicts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ibidem.config.surface import named
from ibidem.errors import InputError
from ibidem.evaluation.confidence import Figures
from ibidem.evaluation.counts import CountEvaluation, CountGroup, Things, count_group, evaluate_things
from ibidem.evaluation.document_numbers import MAX_CHARS, NONE, Numbers, category_numbers, number_pairs


class Sentences(NamedTuple):
    """Where sentences are: ids of documents and their sizes, and of each sentence the number of its document, its start and its
    end; all in characters.
    """

    ids: pa.LargeStringArray
    n_chars: Numbers
    document: Numbers
    start: Numbers
    end: Numbers


def evaluate_sentences(
    truth: pa.Table, found: pa.Table, sentences: Sentences, pairs: pa.Table | None = None, n_samples: int = 0
) -> CountEvaluation:
    """Measure passages by sentences: a thing is a sentence that is in a certain other document, too.

    A passage contains a sentence if it covers at least half of its characters. Each sentence counts once for a pair of
    documents.
    """
    _, of_row, listed, n_pairs = number_pairs(truth, found, pairs)
    counted = np.full(n_pairs, listed is None)
    if listed is not None:
        counted[listed] = True
    things, n_ignored, n_empty = [], [], []
    owner = np.empty(0, np.int64)
    for number, table in enumerate((truth, found)):
        rows = np.flatnonzero(counted[of_row[number]])
        chosen = table.take(pa.array(rows))
        by_side = [_held(chosen, side, sentences) for side in "ab"]
        passage, sentence = (np.concatenate(column) for column in zip(*by_side, strict=True))
        unit = of_row[number][rows[passage]]
        things.append(Things(np.stack([unit, sentence], axis=-1), unit))
        n_ignored.append(table.num_rows - len(rows))
        n_empty.append(len(rows) - len(np.unique(passage)))
        owner = owner if number else rows[passage]
    column = "category" if "category" in truth.column_names else "a_start"
    categories = truth.select([column]).take(pa.array(owner))
    outcome = evaluate_things(things, categories, n_pairs, listed, pairs, n_samples)
    return outcome._replace(
        n_ignored_truth=n_ignored[0], n_ignored_found=n_ignored[1], n_empty_truth=n_empty[0], n_empty_found=n_empty[1]
    )


def evaluate_sentence_pairs(
    truth: pa.Table, found: pa.Table, pairs: pa.Table | None = None, n_samples: int = 0
) -> CountEvaluation:
    """Measure pairs of sentences: the columns are a_id a_sentence b_id b_sentence, sentences numbered from 0."""
    sides, of_row, listed, n_pairs = number_pairs(truth, found, pairs)
    things = []
    for number, table in enumerate((truth, found)):
        a, b = (np.asarray(table[f"{side}_sentence"].to_numpy(), np.int64) for side in "ab")
        is_swapped = (sides[2 * number] > sides[2 * number + 1]) | ((sides[2 * number] == sides[2 * number + 1]) & (a > b))
        unit = of_row[number]
        things.append(Things(np.stack([unit, np.where(is_swapped, b, a), np.where(is_swapped, a, b)], axis=-1), unit))
    return evaluate_things(things, truth, n_pairs, listed, pairs, n_samples)


def evaluate_pairs(truth: pa.Table, found: pa.Table, pairs: pa.Table | None = None, n_samples: int = 0) -> CountEvaluation:
    """Measure pairs of documents: the columns are a_id b_id. A document with itself is no pair."""
    truth, found = (table.filter(pc.not_equal(table["a_id"], table["b_id"])) for table in (truth, found))
    _, of_row, listed, n_pairs = number_pairs(truth, found, pairs)
    things = [Things(unit[:, np.newaxis], unit) for unit in of_row]
    return evaluate_things(things, truth, n_pairs, listed, pairs, n_samples)


def evaluate_verdicts(truth: pa.Table, found: pa.Table, n_samples: int = 0) -> CountEvaluation:
    """Measure verdicts on documents (columns id duplicated), of those documents that the truth has; no verdict is a no."""
    ids = _distinct_ids(truth, "the truth")
    _distinct_ids(found, "the result")
    of_found = pc.index_in(found["id"].combine_chunks(), ids).fill_null(NONE).to_numpy(zero_copy_only=False).astype(np.int64)
    things = []
    for table, of_row in ((truth, np.arange(len(ids))), (found, of_found)):
        unit = of_row[table["duplicated"].to_numpy() & (of_row != NONE)]
        things.append(Things(unit[:, np.newaxis], unit))
    listed = truth.select(["category"]) if "category" in truth.column_names else None
    outcome = evaluate_things(
        things, truth.filter(truth["duplicated"]), len(ids), np.arange(len(ids)), listed, n_samples, is_verdict=True
    )
    return outcome._replace(n_ignored_found=int((of_found == NONE).sum()))


def evaluate_clusters(truth: pa.Table, found: pa.Table, n_samples: int = 0) -> CountEvaluation:
    """Measure clusters (columns cluster id) by the pairs of documents that they put together.

    A document that a table does not list is a cluster by itself there. A category has the pairs of which both documents belong
    to it. The bootstrap draws documents, each with half of every pair that it is in.
    """
    truth_ids, found_ids = _distinct_ids(truth, "the truth"), _distinct_ids(found, "the result")
    ids = pa.chunked_array([truth_ids, found_ids]).unique()
    labels = []
    for table, own in ((truth, truth_ids), (found, found_ids)):
        clusters = table["cluster"].combine_chunks().dictionary_encode().indices.to_numpy(zero_copy_only=False)
        label = np.arange(len(ids), dtype=np.int64) + len(table)  # of its own
        label[pc.index_in(own, ids).to_numpy(zero_copy_only=False)] = clusters
        labels.append(label)
    names, of_row = category_numbers(truth)
    of_document = np.full(len(ids), NONE, np.int64)
    of_document[pc.index_in(truth_ids, ids).to_numpy(zero_copy_only=False)] = of_row
    order = np.argsort(of_document, kind="stable")
    bounds = np.searchsorted(of_document[order], np.arange(len(names) + 1))

    def score(chosen: Numbers) -> CountGroup:
        return count_group(_cluster_tallies(*(label[chosen] for label in labels)), n_samples, {"adjusted_rand"})

    groups = {name: score(order[bounds[k] : bounds[k + 1]]) for k, name in enumerate(names)}
    return CountEvaluation(score(np.arange(len(ids))), groups)


def _cluster_tallies(truth: Numbers, found: Numbers) -> Figures:
    """Return half of the pairs that each document is in: of one true cluster, of one found, of both, and all."""
    sizes = []
    (_, of_truth), (n_found, of_found) = (_numbered(label) for label in (truth, found))
    for label in (of_truth, of_found, of_truth * max(1, n_found) + of_found):
        _, number, counts = np.unique(label, return_inverse=True, return_counts=True)
        sizes.append(counts[number.reshape(-1)])
    sizes.append(np.full(len(truth), len(truth)))
    return (np.stack(sizes, axis=-1).astype(np.float64) - 1) / 2


def _numbered(label: Numbers) -> tuple[int, Numbers]:
    distinct, number = np.unique(label, return_inverse=True)
    return len(distinct), np.asarray(number, np.int64).reshape(-1)


def _held(table: pa.Table, side: str, sentences: Sentences) -> tuple[Numbers, Numbers]:
    """Return passages and the sentences they contain on one side, by pair."""
    names = table[f"{side}_id"].combine_chunks().cast(pa.large_string())
    document = pc.index_in(names, sentences.ids)
    if document.null_count:
        name = names[document.is_null().to_pylist().index(True)].as_py()
        raise InputError(
            f"no such document: {name}", f"With {named('documents')}, give all documents of the ground truth and of the result."
        )
    number = document.to_numpy(zero_copy_only=False).astype(np.int64)
    beyond = np.flatnonzero(np.asarray(table[f"{side}_end"].to_numpy(), np.int64) > sentences.n_chars[number])
    if len(beyond):
        name, n_chars = names[int(beyond[0])].as_py(), int(sentences.n_chars[number[beyond[0]]])
        message = f"a passage ends at {table[f'{side}_end'][int(beyond[0])]} in {name}, which has {n_chars} characters"
        raise InputError(message, "Give the documents as they were read in that run: the same fields, HTML as HTML.")
    offset = number * MAX_CHARS
    start, end = (offset + np.asarray(table[f"{side}_{what}"].to_numpy(), np.int64) for what in ("start", "end"))
    place = sentences.document * MAX_CHARS
    low = np.searchsorted(place + sentences.end, start, side="right")
    high = np.searchsorted(place + sentences.start, end, side="left")
    counts = np.maximum(high - low, 0)
    passage = np.repeat(np.arange(len(counts)), counts)
    sentence = np.arange(len(passage)) + np.repeat(low - (np.cumsum(counts) - counts), counts)
    begin, stop = (place + sentences.start)[sentence], (place + sentences.end)[sentence]
    covered = np.minimum(stop, end[passage]) - np.maximum(begin, start[passage])
    held = (2 * covered >= stop - begin) & (covered > 0)
    return passage[held], sentence[held]


def _distinct_ids(table: pa.Table, name: str) -> pa.LargeStringArray:
    ids = table["id"].combine_chunks().cast(pa.large_string())
    counts = ids.value_counts()
    repeated = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    if len(repeated):
        raise InputError(f"{name} lists the document {repeated[0].as_py()} twice", "Give each document one row.")
    return ids
