"""The documents of a run and their shingles, as columns over the whole collection. Texts are not kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.columns.collection import MOST_SENTENCES, Documents, text_key, texts_of
from ibidem.columns.hashes import is_secret
from ibidem.columns.ragged import starts_of
from ibidem.config import Config
from ibidem.errors import ResourceError
from ibidem.execution.disk_limit import DiskBudget
from ibidem.execution.memory import allowed_memory, release_unused
from ibidem.execution.spill import SpillingColumn
from ibidem.execution.tasks import RunTasks
from ibidem.resemblance import Comparer, Corpus, SamplingPlan, occurrence_hashes, shingle_tokens
from ibidem.sentences import CheckKey, Checks, settle_digests, tokenise_texts
from ibidem.signatures import HashSets, TypeTokens

_METHODS_BY_WORDS = ("imatch", "spotsigs")
_KEPT_COLUMNS = ["id", "time", "group", "source", "position"]


@dataclass(frozen=True)
class ShingledDocuments(Documents):
    """Documents, what they are known by, and their digests: equal ones are equal words, 0 has no words.

    `known_by` are distinct shingles, or shingles in reading order (`kind` sequences), or words in reading order (words).
    """

    kind: str
    known_by: HashSets
    digests: NDArray[np.uint64]
    checks_of_texts: Checks
    hash_seed: int

    def text_checks(self, documents: NDArray[np.int64]) -> tuple[CheckKey, Checks]:
        """Return the checks of the texts of some documents, to the byte as they were read, and their key."""
        return text_key(self.hash_seed), self.checks_of_texts[documents]

    def corpus(
        self, representative: NDArray[np.int32], config: Config, plan: SamplingPlan | None, run_tasks: RunTasks
    ) -> tuple[Corpus, Comparer]:
        """Return what is compared, one document for each that is identical to it, and how pairs are compared in full."""
        words = None
        if self.kind == "words":
            words = TypeTokens(self.known_by.hashes, self.known_by.first, config.sentences.hash_seed)
        size = config.signatures.shingle_words("document")
        sets, sequences = self.known_by, None
        if words is not None:
            sets = shingle_tokens(words, size, distinct=True)
        if config.resemblance.measure == "order":
            sequences = self.known_by if words is None else shingle_tokens(words, size, distinct=False)
            sets = occurrence_hashes(sequences, run_tasks)
        wanted = (representative == np.arange(self.n_documents)) & (self.digests != 0)
        sizes = np.diff(sets.first)
        every = np.full(self.n_documents, config.resemblance.sample_every, np.int64) if plan is None else plan.every_of(sizes)
        return Corpus(sets, words, wanted, self.side, every), Comparer(sets, sequences, config, run_tasks)


def what_to_keep(config: Config) -> str:
    """Return what documents must be known by for the chosen method and measure: sets, sequences or words."""
    if config.resemblance.method in _METHODS_BY_WORDS:
        return "words"
    return "sequences" if config.resemblance.measure == "order" else "sets"


@dataclass(frozen=True)
class WordsKey:
    """What whole texts are checked with before they are called equal. `is_of_hashes`: hashes of words are secret already."""

    key: CheckKey
    is_of_hashes: bool

    @classmethod
    def drawn(cls, config: Config) -> WordsKey:
        """Return a new one for all texts of a run. Only if somebody may know the seed, words are hashed once more."""
        return cls(CheckKey.drawn(), is_secret(config.sentences.hash_seed))


@dataclass(frozen=True)
class ShingledTexts:
    """What some texts are known by (see `ShingledDocuments`), their digests, and their lengths.

    Different texts may share a digest; `settle_digests` tells them apart by the `checks` of their words. `of_texts` are checks
    of the texts as they are.
    """

    n_chars: NDArray[np.int64]
    known_by: HashSets
    digests: NDArray[np.uint64]
    checks: Checks
    of_texts: Checks


def digests_of(checks: Checks) -> NDArray[np.uint64]:
    """Return one number a text, above 0: half of its check."""
    return np.maximum(checks[:, 0], np.uint64(1))


def shingle_texts(texts: pa.LargeStringArray, config: Config, words_key: WordsKey, removing: bool = True) -> ShingledTexts:
    """Return what texts are known by as wholes; unless documents may be removed, `of_texts` are all 0."""
    kind = what_to_keep(config)
    tokens = TypeTokens(*tokenise_texts(texts, config.sentences.hash_seed))
    key, hashes = words_key.key, (tokens.tokens, tokens.first)
    checks = key.of_tokens(*(hashes if words_key.is_of_hashes else tokenise_texts(texts, key.hash_seed)))
    digests = digests_of(checks)
    digests[tokens.first[1:] == tokens.first[:-1]] = 0
    of_texts = text_key(config.sentences.hash_seed).of_texts(texts) if removing else np.zeros((len(texts), 2), np.uint64)
    shingles = HashSets(tokens.tokens, tokens.first)
    if kind != "words":
        shingles = shingle_tokens(tokens, config.signatures.shingle_words("document"), distinct=kind == "sets")
    return ShingledTexts(pc.utf8_length(texts).to_numpy(zero_copy_only=False), shingles, digests, checks, of_texts)


def gather_shingles(
    batches: Iterable[pa.RecordBatch],
    reference_batches: Iterable[pa.RecordBatch],
    config: Config,
    run_tasks: RunTasks,
    on_batch: Callable[[int], None],
    disk: DiskBudget | None = None,
    removing: bool = True,
) -> ShingledDocuments:
    """Shingle the texts of all batches as they arrive; `on_batch` is told of new documents.

    What does not fit into the memory that the settings allow is put into a temporary file, which counts on `disk`.
    """
    kind = what_to_keep(config)

    words_key = WordsKey.drawn(config)

    def shingle(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, ShingledTexts]:
        return batch.select(_KEPT_COLUMNS), shingle_texts(texts_of(batch), config, words_key, removing)

    kept: list[pa.RecordBatch] = []
    lengths: list[NDArray[np.int64]] = []
    sizes: list[NDArray[np.int64]] = []
    digests: list[NDArray[np.uint64]] = []
    checks: list[Checks] = []
    of_texts: list[Checks] = []
    max_bytes = allowed_memory(config.engine.memory) // 2  # as much again is needed to compare them
    hashes = SpillingColumn(np.uint64, max_bytes, config.engine.tmp_folder, disk, "shingles")
    n_documents = n_input = 0
    for stream in (batches, reference_batches):
        for batch, texts in run_tasks(shingle, stream):
            kept.append(batch)
            lengths.append(texts.n_chars)
            sizes.append(np.diff(texts.known_by.first))
            digests.append(texts.digests)
            checks.append(texts.checks)
            of_texts.append(texts.of_texts)
            hashes.append(texts.known_by.hashes)
            n_documents += batch.num_rows
            if n_documents >= MOST_SENTENCES:
                raise ResourceError(f"more than {MOST_SENTENCES:,} documents", "Split the collection.")
            on_batch(batch.num_rows)
        if stream is batches:
            n_input = n_documents
    release_unused()
    first = starts_of(np.concatenate([np.empty(0, np.int64), *sizes]))
    whole = np.concatenate([np.empty(0, np.uint64), *digests]), np.concatenate([np.empty((0, 2), np.uint64), *checks])
    return ShingledDocuments(
        kept,
        np.concatenate([np.empty(0, np.int64), *lengths], dtype=np.int64),
        n_input,
        kind,
        HashSets(hashes.finish(), first),
        settle_digests(*whole),
        np.concatenate([np.empty((0, 2), np.uint64), *of_texts]),
        config.sentences.hash_seed,
    )
