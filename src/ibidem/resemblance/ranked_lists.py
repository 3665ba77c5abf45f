"""Ranked lists, such as search results: a hit that is nearly the same as a higher one is folded under it.

Hits are taken in the order of their rank. One that resembles none of the hits kept so far is kept; any other is folded under
the highest one that it resembles. So every folded hit resembles the one it is folded under, and no two kept hits do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, groupby
from typing import Any, NamedTuple

import pyarrow as pa

from ibidem.columns.hashes import DRAWN, draw_seed
from ibidem.config import Config
from ibidem.resemblance.shingled_texts import shingle_texts_as_sets


class Hit(NamedTuple):
    """One entry of a list. Entries that follow one another with the same `query` are one list; `record` is the caller's."""

    query: Any
    id: Any
    text: str | None
    record: Any


class KeptHits:
    """The hits of one list that are kept, by the shingles of their texts."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._resembles = config.matches.min_similarity.as_integer_ratio()
        self._contains = config.resemblance.min_containment.as_integer_ratio()
        self._sizes: list[int] = []
        self._hits_of: dict[int, list[int]] = {}

    def place(self, text: str | None) -> int | None:
        """Return which of the kept hits, counted from 0, a text is folded under; None: it is kept, and counts from now on."""
        shingles = self._shingles(text) if text else []
        shared = Counter(chain.from_iterable(self._hits_of.get(shingle, ()) for shingle in shingles))
        for hit in sorted(shared):
            if self._is_duplicate(len(shingles), self._sizes[hit], shared[hit]):
                return hit
        for shingle in shingles:
            self._hits_of.setdefault(shingle, []).append(len(self._sizes))
        self._sizes.append(len(shingles))
        return None

    def _shingles(self, text: str) -> list[int]:
        whole = text.encode("utf-8", "replace").decode()  # without halves of characters, which Arrow refuses
        shingles: list[int] = shingle_texts_as_sets(pa.array([whole], pa.large_string()), self._config).hashes.tolist()
        return shingles

    def _is_duplicate(self, size: int, other: int, shared: int) -> bool:
        (p, q), (contained_p, contained_q) = self._resembles, self._contains
        is_contained = contained_p > 0 and contained_q * shared >= contained_p * min(size, other)
        return q * shared >= p * (size + other - shared) or is_contained


def fold_hits(hits: Iterable[Hit], config: Config) -> Iterator[tuple[Hit, list[Any]]]:
    """Yield the kept hits in the order of their rank, each with the ids of those folded under it, as soon as a list ends."""
    config = _with_seed(config)
    for _, of_list in groupby(hits, key=lambda hit: hit.query):
        kept: list[tuple[Hit, list[Any]]] = []
        known = KeptHits(config)
        for hit in of_list:
            place = known.place(hit.text)
            if place is None:
                kept.append((hit, []))
            else:
                kept[place][1].append(hit.id)
        yield from kept


def mark_hits(hits: Iterable[Hit], config: Config) -> Iterator[tuple[Hit, Any]]:
    """Yield every hit as soon as it is there, with the id of the hit that it is folded under; None if it is kept."""
    config = _with_seed(config)
    for _, of_list in groupby(hits, key=lambda hit: hit.query):
        ids: list[Any] = []
        known = KeptHits(config)
        for hit in of_list:
            place = known.place(hit.text)
            if place is None:
                ids.append(hit.id)
            yield hit, None if place is None else ids[place]


def collapse_records(
    hits: Iterable[Mapping[str, object]], query_field: str | None, config: Config
) -> Iterator[dict[str, object]]:
    """Yield hits that are dicts with their marks: all of them if they are only marked, otherwise those that are kept."""

    def read() -> Iterator[Hit]:
        for number, hit in enumerate(hits, 1):
            text, hit_id = hit.get(config.documents.text_field), hit.get(config.documents.id_field)
            query = None if query_field is None else hit.get(query_field)
            yield Hit(query, number if hit_id is None else hit_id, text if isinstance(text, str) else None, hit)

    if config.cleaning.mark_only:
        return ({**hit.record, "collapsed_into": above} for hit, above in mark_hits(read(), config))
    return ({**hit.record, "collapsed": folded} for hit, folded in fold_hits(read(), config))


def _with_seed(config: Config) -> Config:
    """Return the settings with a secret seed, which prevents texts crafted to hide another."""
    return Config.of(config, hash_seed=draw_seed()) if config.sentences.hash_seed == DRAWN else config
