"""Information about an index, and whether it is sound."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from ibidem.config import Config
from ibidem.config.surface import named
from ibidem.errors import IndexLockedError, IndexStoreError
from ibidem.execution.progress import Progress
from ibidem.index import bits
from ibidem.index.array_files import check_arrays
from ibidem.index.catalog import Catalog
from ibidem.index.catalog_state import State
from ibidem.index.elements import are_fixed
from ibidem.index.folder import OpenFolder
from ibidem.index.settings import fixed_settings, to_store
from ibidem.index.snapshot import Snapshot, kept_in, read_counts, read_segment
from ibidem.index.sweep import later_files

_TYPICAL_WORDS = 10
_TRIES = 20


def describe(folder: OpenFolder, snapshot: Snapshot, config: Config) -> dict[str, Any]:
    """Return settings, counts and sizes, and the predictions for the bits search."""
    state, stored = snapshot.state, to_store(config)
    fixed = {name: stored[name] for name in fixed_settings(config.signatures.signature) if name in stored}
    n_sentences = sum(entry.n_sentences for entry in state.segments)
    n_bytes = 0
    for name in folder.names():
        with suppress(FileNotFoundError):  # a writer may be deleting journals and merged files
            n_bytes += (folder / name).status().st_size
    return {
        "path": str(folder),
        "generation": state.generation,
        "documents": state.n_documents,
        "sentences": n_sentences,
        "types": sum(entry.n_types for entry in state.segments),
        "removed_documents": len(state.removed),
        "segments": len(state.segments),
        "engine": config.index.search_engine,
        "bytes": n_bytes,
        "text_bytes": sum(part.segment.n_text_bytes for part in snapshot.parts),
        "bytes_per_sentence": round(n_bytes / n_sentences, 1) if n_sentences else 0.0,
        "word_counts": {
            "version": snapshot.counts.version,
            "documents": snapshot.counts.n_documents,
            "words": len(snapshot.counts.hashes),
            "fixed": are_fixed(snapshot.counts, config.signatures),
        },
        "settings": fixed | {"min_similarity": float(config.matches.min_similarity)},
        "bits": predict(config, _mean_words(snapshot), _vocabulary_size(snapshot)),
    }


def predict(config: Config, n_words: int, vocabulary_size: int) -> dict[str, Any]:
    """Return the predicted recall and false positives of the bits search for sentences of `n_words` distinct words.

    `bits_per_word` that is auto is what a vocabulary of that size asks for.
    """
    index = config.index
    per_word = index.bits_per_word or bits.bits_per_word_for(index.signature_bits, vocabulary_size)
    prediction: dict[str, Any] = {
        "signature_bits": index.signature_bits,
        "bits_per_word": per_word,
        "words_per_sentence": n_words,
        "vocabulary": vocabulary_size,
        "words_flexible": index.words_flexible,
    }
    nothing = {"predicted_recall": None, "predicted_false_positive": None}
    if per_word is None:
        reason = f"{index.signature_bits} bits give no mask of its own to each of {vocabulary_size:,} words; "
        reason += f"raise {named('signature_bits')}"
        return prediction | {"radius": None, "longest_sentence": None, **nothing, "reason": reason}
    given = (index.signature_bits, per_word, n_words)
    derived = bits.radius_for(*given, index.words_flexible, index.max_false_positive)
    radius = index.radius if index.radius >= 0 else derived
    longest = bits.longest_with_radius(*given[:2], index.words_flexible, index.max_false_positive)
    prediction |= {"radius": radius, "longest_sentence": longest if index.radius < 0 else None}
    if radius is None:
        reason = f"no radius satisfies the limit; raise {named('signature_bits')} or {named('max_false_positive')}"
        return prediction | nothing | {"reason": reason}
    return prediction | {
        "predicted_recall": bits.predicted_recall(*given, index.words_flexible, radius),
        "predicted_false_positive": bits.predicted_false_positive(*given, index.words_flexible, radius),
        "lossless_radius": bits.lossless_radius(per_word, index.words_flexible),
    }


def _vocabulary_size(snapshot: Snapshot) -> int:
    """Return the number of words of the segment that has most: few words are in another one only."""
    return max((len(part.segment.word_hashes) for part in snapshot.parts), default=0)


def _mean_words(snapshot: Snapshot) -> int:
    """Return the mean number of words of a sample of types."""
    lengths = []
    for part in snapshot.parts:
        sample = np.linspace(0, part.segment.n_types - 1, min(part.segment.n_types, 1000)).astype(np.int64)
        lengths.append(part.segment.word_counts(sample))
    return max(1, round(float(np.concatenate(lengths).mean()))) if sum(map(len, lengths)) else _TYPICAL_WORDS


def find_damage(catalog: Catalog, progress: Progress) -> list[str]:
    """Read the catalog and every file; describe what is wrong."""
    problems = catalog.check_integrity()
    if problems:
        return problems
    for _ in range(_TRIES):
        state = catalog.state()
        try:
            problems = _damage_of(catalog, state, progress)
        except IndexStoreError as error:
            problems = [error.message]
        if not problems or catalog.mark() == state.mark:
            return problems
        # A writer was active in the meantime: files may have been merged away, ids may belong to a later commit.
    raise IndexLockedError("the index is changing faster than it can be read", "Run it again when nothing is being written.")


def _damage_of(catalog: Catalog, state: State, progress: Progress) -> list[str]:
    problems: list[str] = []
    folder = catalog.opened
    names = [entry.name for entry in state.segments] + ([state.vocabulary] if state.vocabulary else [])
    with progress.stage("verify", sum(entry.n_bytes for entry in state.segments)):
        for name in names:
            try:
                check_arrays(folder / name)
            except IndexStoreError as error:
                problems.append(error.message)
            with suppress(FileNotFoundError):
                progress.add_bytes((folder / name).status().st_size)
    for name in later_files(folder, state.identity, state.named, state.dropped):
        problems.append(f"{folder / name} is part of a commit that the catalog does not know: was the catalog restored?")
    if problems:
        return problems
    if state.vocabulary is not None:
        read_counts(folder / state.vocabulary, state.identity)
    serials: dict[str, int] = {}
    n_removed = 0
    for entry in state.segments:
        segment = read_segment(folder / entry.name, state.identity)
        kept = kept_in(segment, state.removed)
        n_removed += int((~kept).sum())
        names_here = segment.ids(np.flatnonzero(kept)).to_pylist()
        for name, serial in zip(names_here, segment.serials[kept].tolist(), strict=True):
            if name in serials:
                problems.append(f"{entry.name}: the document {name!r} occurs twice")
            serials[name] = serial
    listed = catalog.serials_of(list(serials))
    if listed != serials or len(listed) != state.n_documents:
        problems.append("the catalog and the segments list different documents")
    if n_removed != len(state.removed):
        problems.append("the catalog and the segments list different removed documents")
    return problems
