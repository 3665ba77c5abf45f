"""Digests of eight bits: code that takes equal digests for equal texts is exposed at once.

`python -m tests.weak_digests --runs 5000` compares as many runs by chance with those of whole digests.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

import ibidem
from ibidem.resemblance import shingled_texts
from ibidem.sentences import splitter
from tests.execution.parity import removed_apart, rows_of

_BITS = np.uint64(0xFF)
_STARTS, _ENDS = ("bal", "cor", "dun", "fel", "gri", "hol", "jas", "kem"), ("an", "et", "ig", "os")
_WORDS = [start + end for start in _STARTS for end in _ENDS]
FIND: list[dict[str, Any]] = [
    {"signature": "exact", "same_document": True},
    {"signature": "words"},
    {"signature": "shingles", "min_similarity": 0.5},
    {"signature": "imatch"},
    {"signature": "fingerprint"},
    {"signature": "spotsigs", "antecedents": "balan,coret,dunig", "min_similarity": 0.5},
]
CLUSTER: list[dict[str, Any]] = [{}, {"measure": "order"}, {"min_containment": 0.9}, {"method": "pairs"}]
DEDUP: list[dict[str, Any]] = [
    {"level": level, "signature": signature, "min_sentences": 2}
    for level in ("document", "passage", "sentence")
    for signature in ("exact", "words", "imatch")
]
RUNS = [
    # A seed that may be known; under a secret one, sentences that `find` reports are distinguished by 64 bits.
    *(("find", {"hash_seed": 1, **each}, ("passages", "documents", "repeats")) for each in FIND),
    *(("cluster", {"shingle_size": 2, "min_similarity": 0.5, **each}, ("duplicates", "clusters")) for each in CLUSTER),
    *(("dedup", {"shingle_size": 2, **each}, ("removed",)) for each in DEDUP),
]
# On disk, sentences that `find` reports as equal word for word are distinguished by 64 bits; pairs are all in memory.
IN_PARTS = [run for run in RUNS if "pairs" not in run[1].values() and run[1].get("same_document") is None]


@contextmanager
def weak_digests() -> Iterator[None]:
    """Leave eight bits of the digests of sentences and documents."""
    whole_sentences, whole_texts = splitter._count_and_digest, shingled_texts.digests_of

    def of_sentences(*arguments: Any) -> Any:
        counts, digests, *checks = whole_sentences(*arguments)
        return counts, digests & _BITS, *checks

    def of_texts(*arguments: Any) -> Any:
        return np.maximum(whole_texts(*arguments) & _BITS, np.uint64(1))

    with patch.object(splitter, "_count_and_digest", of_sentences), patch.object(shingled_texts, "digests_of", of_texts):
        yield


def chance_documents(chance: random.Random, n_sentences: int = 400) -> list[dict[str, str]]:
    """Return documents of so many sentences together, some of them more than once: most share their digest with others."""
    sentences: list[str] = []
    documents: list[dict[str, str]] = []
    while n_sentences > 0:
        own = [
            chance.choice(sentences)
            if sentences and chance.random() < 0.3
            else " ".join(chance.choices(_WORDS, k=chance.randint(6, 14))).capitalize() + "."
            for _ in range(chance.randint(1, 8))
        ]
        if documents and chance.random() < 0.1:
            own = [documents[chance.randrange(len(documents))]["text"].upper()]
        sentences += own
        n_sentences -= len(own)
        documents.append({"id": f"d{len(documents)}", "text": " ".join(own)})
    return documents


def tables(verb: str, documents: Any, chosen: dict[str, Any], names: tuple[str, ...], **engine: Any) -> list[Any]:
    """Return the tables of a run."""
    with getattr(ibidem, verb)(documents, **chosen, **engine) as result:
        return [rows_of(getattr(result, name)) for name in names]


def compare_run(verb: str, chosen: dict[str, Any], names: tuple[str, ...], documents: Any, **engine: Any) -> None:
    """Raise unless a run over weak digests finds what one over whole digests finds in memory."""
    expected = tables(verb, documents, chosen, names)
    with weak_digests():
        assert tables(verb, documents, chosen, names, **engine) == expected, (verb, chosen, engine)


def compare_parts(chosen: dict[str, Any], documents: Any, n_partitions: int, seed: int = 0) -> None:
    """Raise unless `dedup` over weak digests and partitions in memory removes what it removes over whole digests."""
    (expected,) = tables("dedup", documents, chosen, ("removed",))
    with weak_digests():
        assert removed_apart(documents, None, n_partitions, seed=seed, **chosen) == expected, (chosen, n_partitions)


def main(arguments: Any = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    for number in range(options.runs):
        chance = random.Random(f"{options.seed}-{number}")
        run, documents = chance.choice(RUNS), chance_documents(chance, chance.randint(20, 1500))
        compare_run(*run, documents)
        if run in IN_PARTS:
            compare_run(*run, documents, partitions=chance.randint(1, 5))
        if run[0] == "dedup" and run[1]["level"] != "document":
            compare_parts(run[1], documents, chance.randint(1, 7), number)
    print(f"{options.runs} runs over digests of eight bits: all tables as with 64")


if __name__ == "__main__":
    main()
