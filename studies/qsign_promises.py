"""What section 2.1.2 of the paper on qSign promises: a bound on false positives, l from the vocabulary. Used by qsign.py."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
from evidence import Study
from numpy.typing import NDArray
from qsign_search import MASKS, DataSet, Outcome, Truth, asked, pair_keys
from qsign_times import by_radius

from ibidem.index import bits
from ibidem.index.arrivals import QueryTypes
from ibidem.index.comparison import Request
from ibidem.index.search import radius_by_query, search

FLEXIBLE = (1, 2)  # k
BOUNDS = (0.1, 0.25)  # ρ
MORE = (1, 2, 4)  # words beyond k
N_DRAWS = 20
NO_HASHES = np.empty(0, np.uint64)


def promised(k: int, bound: float) -> Request:
    """Return a request whose radius follows from the bound."""
    like = asked("bits")
    return Request(like.method, like.score, like.min_score, -1, bound, k, like.min_contained_words)


def distances(queries: QueryTypes, mask: tuple[int, int], n_more: int, seed: int) -> NDArray[np.int64]:
    """Return by how many bits each query's signature changes when words of other queries are added to it."""
    chance = random.Random(seed)
    masks = [int(one) for one in bits.word_masks(queries.word_hashes, *mask)]
    pool = queries.words.tolist()
    changed = []
    for q in range(len(queries)):
        words = set(queries.words[queries.first[q] : queries.first[q + 1]].tolist())
        added: set[int] = set()
        while len(added) < n_more:
            word = pool[chance.randrange(len(pool))]
            if word not in words:
                added.add(word)
        before = after = 0
        for word in words:
            before |= masks[word]
        for word in added:
            after |= masks[word]
        changed.append((after & ~before).bit_count())
    return np.array(changed)


def real_share(data: DataSet, truth: Truth, mask: tuple[int, int], k: int, bound: float) -> tuple[int, int]:
    """Return how many real sentences contain all words of a query and more than k others, and how many of these are found."""
    settings, segment, queries = data.segment(*mask)
    request = promised(k, bound)
    found = np.isin(truth.pairs, pair_keys(search(segment, queries, request, settings, NO_HASHES).hits))
    longest = bits.longest_with_radius(*mask, k, bound)
    longer = (truth.n_missing == 0) & (truth.n_extra > k) & (queries.n_counted <= longest)[truth.pairs >> 32]
    return int(longer.sum()), int((longer & found).sum())


def show_bound(study: Study, data: DataSet, truth: Truth) -> None:
    """Among sentences with more than k further words, at most a share of ρ is found?"""
    rows: list[tuple[Any, ...]] = []
    kept: list[bool] = []
    kept_really: list[bool] = []
    n_planted = n_real = 0
    for mask in MASKS:
        settings, _, queries = data.segment(*mask)
        drawn = {
            n: [distances(queries, mask, n, seed) for seed in range(N_DRAWS)] for n in {k + j for k in FLEXIBLE for j in MORE}
        }
        for k in FLEXIBLE:
            for bound in BOUNDS:
                radius = radius_by_query(queries, promised(k, bound), settings)
                able = queries.n_counted <= bits.longest_with_radius(*mask, k, bound)
                name = f"{mask[0]} / {mask[1]}"
                if not able.any():
                    rows.append((name, k, bound, 0, *([""] * (len(MORE) + 2))))
                    continue
                shares = [float(np.mean([(changed <= radius)[able].mean() for changed in drawn[k + j]])) for j in MORE]
                n_longer, n_found = real_share(data, truth, mask, k, bound)
                kept.append(shares[0] <= bound)
                n_planted += int(able.sum()) * N_DRAWS
                real = ""
                if n_longer >= 1 / bound:
                    kept_really.append(n_found <= bound * n_longer)
                    n_real, real = max(n_real, n_longer), f"{n_found / n_longer:.3f}"
                rows.append((name, k, bound, int(able.sum()), *shares, n_longer, real))
    columns = ("m / l", "k", "ρ", "queries with a radius", *(f"k + {j}" for j in MORE), "real ones", "share of these")
    note = f"Share that is found of sentences with so many more words than the query; planted, {N_DRAWS} draws for each query, "
    note += "and real ones, which contain all words of a query and more than k others."
    study.table("bound", "False positives with the radius that the bound ρ allows (section 2.1.2)", columns, rows, note)
    words = f"The share found with k + 1 more words stays within ρ in {sum(kept)} of {len(kept)} cases with planted words, and "
    words += f"in {sum(kept_really)} of {len(kept_really)} with real sentences. For {sum(row[3] == 0 for row in rows)} of "
    words += f"{len(rows)} choices of m, l, k and ρ no query has a radius at all: ibidem says so and searches with radius 0."
    told = f"Queries of newsgroups20 with words of other queries planted ({n_planted:,} pairs), and up to {n_real} real pairs; "
    study.judge("qSign, 2.1.2: false positives stay within ρ", [all(kept), all(kept_really)], words, told + "nothing fitted.")


def vocabulary_masks(vocabulary: int) -> tuple[tuple[int, int], ...]:
    """Return the widths with the least l that gives every word its own mask."""
    found = ((m, bits.bits_per_word_for(m, vocabulary)) for m, _ in MASKS)
    return tuple((m, l_least) for m, l_least in found if l_least is not None)


def show_vocabulary(study: Study, data: DataSet, outcomes: Mapping[str, Outcome], vocabulary: int, told: str) -> None:
    """Is the least l that gives every word its own mask a good choice?"""
    rows = []
    for mask in sorted({*MASKS, *vocabulary_masks(vocabulary)}):
        ways = by_radius(outcomes, mask)
        for what in ("overall", "precision"):
            cells = [getattr(one, what) for one in ways]
            rows.append((f"{mask[0]} / {mask[1]}", "recall" if what == "overall" else what, *(f"{cell:.3f}" for cell in cells)))
    columns = ("m / l", "", *(f"d = {d}" for d in range(len(rows[0]) - 2)))
    title = f"Recall and precision of candidates by l, {data.name} sentences (section 2.1.2)"
    study.table("vocabulary", title, columns, rows)
    better, cells = [], []
    for m, l_least in vocabulary_masks(vocabulary):
        of_paper = next(mask for mask in MASKS if mask[0] == m)
        mine, other = by_radius(outcomes, (m, l_least)), by_radius(outcomes, of_paper)
        recall = min(mine[-1].overall, other[-1].overall)
        precisions = [
            float(np.interp(recall, [one.overall for one in ways], [one.precision or 0.0 for one in ways]))
            for ways in (mine, other)
        ]
        better.append(precisions[0] >= precisions[1])
        both = f"{precisions[0]:.2g} with {m}/{l_least} and {precisions[1]:.2g} with {m}/{of_paper[1]}"
        cells.append(f"At a recall of {recall:.3f} the precision is {both}.")
    needed = ", ".join(f"{l_least} ({m} bits)" for m, l_least in vocabulary_masks(vocabulary))
    words = f"{vocabulary:,} words need l = {needed}; 16 bits cannot do it. {' '.join(cells)} The paper's experiments do not "
    words += "follow its rule (32/2 has 496 masks, 16/1 has 16)."
    study.judge("qSign, 2.1.2: l is the least that tells all words apart", better, words, told)
