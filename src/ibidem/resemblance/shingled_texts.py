"""From texts to shingles, which represent whole documents (Broder et al.)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.alignment.facts import digest_of_facts
from ibidem.columns.collection import MOST_SENTENCES
from ibidem.columns.hashes import is_secret
from ibidem.columns.ragged import starts_of
from ibidem.columns.sets import HashSets
from ibidem.columns.shingled import ShingledDocuments
from ibidem.columns.text_checks import CheckKey, Checks, settle_digests, text_key
from ibidem.columns.texts import texts_of
from ibidem.config import METHODS_BY_WORDS, Config, document_shingle_size
from ibidem.config.quantities import listed_kinds
from ibidem.config.settings import IDENTICAL
from ibidem.errors import ResourceError
from ibidem.execution.disk_limit import DiskBudget
from ibidem.execution.memory import allowed_memory, release_unused
from ibidem.execution.spill import SpillingColumn
from ibidem.execution.tasks import RunTasks
from ibidem.resemblance.kernels import shingles as shingle_kernels
from ibidem.sentences import join_contractions, tokenise_texts
from ibidem.sentences.ignored_text import IgnoredText, load_ignored
from ibidem.signatures import TypeTokens

_LINE_ENDS = r"\r\n|[\n\r\x{85}\x{2028}\x{2029}]"
_KEPT_COLUMNS = ["id", "time", "group", "source", "position"]


def shingle_tokens(texts: TypeTokens, size: int, distinct: bool) -> HashSets:
    """Return the hashes of every `size` consecutive tokens, per text; in reading order with repeats unless `distinct`.

    In scripts without spaces a token is a pair of characters, so a shingle is `size` + 1 characters. A text of fewer tokens
    is one shingle.
    """
    longest = int(np.diff(texts.first).max(initial=1))
    slots = np.zeros(1 << max(1, (2 * longest - 1).bit_length()) if distinct else 1, np.uint64)
    hashes = np.empty(len(texts.tokens), np.uint64)
    first = np.empty(len(texts) + 1, np.int64)
    sums = np.empty(longest if size > shingle_kernels.BLOCK_TOKENS else 0, np.uint64)
    n = shingle_kernels.shingle_documents(texts.tokens, texts.first, size, distinct, slots, sums, hashes, first)
    return HashSets(hashes[:n], first)


def hash_lines(texts: pa.LargeStringArray, hash_seed: int) -> TypeTokens:
    """Return one hash for every line of each text, made of its words; lines without words have none."""
    lines = pc.split_pattern_regex(texts, _LINE_ENDS)
    words = TypeTokens(*tokenise_texts(lines.flatten(), hash_seed))
    longest = int(np.diff(words.first).max(initial=1))
    whole = shingle_tokens(words, longest, distinct=False)  # no line is longer, so that each is one shingle
    return TypeTokens(whole.hashes, whole.first[lines.offsets.to_numpy()])


def what_to_keep(config: Config) -> str:
    """Return what the chosen method and measure need of documents: sets, sequences, words or, beside their digests, nothing."""
    if config.resemblance.method == IDENTICAL:
        return "nothing"
    if config.resemblance.method in METHODS_BY_WORDS:
        return "words"
    return "sequences" if config.resemblance.measure == "order" else "sets"


@dataclass(frozen=True)
class WordsKey:
    """The key for checking whole texts before they are called equal. `is_of_hashes`: the hashes of words are already secret."""

    key: CheckKey
    is_of_hashes: bool

    @classmethod
    def drawn(cls, config: Config) -> WordsKey:
        """Return a new key for all texts of a run. Words are hashed again only if the seed may be known."""
        return cls(CheckKey.drawn(), is_secret(config.sentences.hash_seed))


@dataclass(frozen=True)
class ShingledTexts:
    """The shingles or words of some texts (see `ShingledDocuments`), their digests, and their lengths.

    Different texts may share a digest; `settle_digests` separates them by the `checks` of their words. `of_texts` are checks of
    the exact texts.
    """

    n_chars: NDArray[np.int64]
    known_by: HashSets
    digests: NDArray[np.uint64]
    checks: Checks
    of_texts: Checks


def digests_of(checks: Checks) -> NDArray[np.uint64]:
    """Return one number above 0 per text: half of its check."""
    return np.maximum(checks[:, 0], np.uint64(1))


def shingle_texts(
    texts: pa.LargeStringArray, config: Config, words_key: WordsKey, removing: bool = True, ignored: IgnoredText | None = None
) -> ShingledTexts:
    """Return the shingles or words of texts, without those that are ignored.

    Unless documents may be removed, `of_texts` are all 0.
    """
    kind = what_to_keep(config)
    counted = texts if ignored is None else ignored.blanked(texts)
    read = join_contractions(counted) if config.resemblance.contractions else counted
    key = words_key.key
    seed = key.hash_seed if kind == "nothing" else config.sentences.hash_seed
    tokens = marked(TypeTokens(*tokenise_texts(read, seed)), marks := fact_marks(counted, config))
    checked = tokens
    if not words_key.is_of_hashes and kind != "nothing":
        checked = marked(TypeTokens(*tokenise_texts(read, key.hash_seed)), marks)
    checks = key.of_tokens(checked.tokens, checked.first)
    digests = digests_of(checks)
    digests[tokens.first[1:] == tokens.first[:-1]] = 0
    of_texts = text_key(config.sentences.hash_seed).of_texts(texts) if removing else np.zeros((len(texts), 2), np.uint64)
    shingles = HashSets(tokens.tokens, tokens.first)
    if kind == "nothing":
        shingles = HashSets(np.empty(0, np.uint64), np.zeros(len(texts) + 1, np.int64))
    elif kind != "words":
        by_lines = config.resemblance.shingle_unit == "line"
        units = marked(hash_lines(counted, config.sentences.hash_seed), marks) if by_lines else tokens
        shingles = shingle_tokens(units, document_shingle_size(config), distinct=kind == "sets")
    return ShingledTexts(pc.utf8_length(texts).to_numpy(zero_copy_only=False), shingles, digests, checks, of_texts)


def fact_marks(texts: pa.LargeStringArray, config: Config) -> NDArray[np.uint64] | None:
    """Return a number for the facts of each text that a copy must have, too; None if they do not matter."""
    kinds = listed_kinds(config.cleaning.keep_if_differs)
    if not kinds:
        return None
    key = max(config.sentences.hash_seed, 0).to_bytes(8, "little")
    return np.array([digest_of_facts(text, kinds, key) for text in texts.to_pylist()], np.uint64)


def marked(words: TypeTokens, marks: NDArray[np.uint64] | None) -> TypeTokens:
    """Return words that carry the mark of their text: texts with different marks have no word in common, and no shingle."""
    return words if marks is None else TypeTokens(words.tokens ^ np.repeat(marks, np.diff(words.first)), words.first)


def shingle_texts_as_sets(texts: pa.LargeStringArray, config: Config) -> HashSets:
    """Return the distinct shingles of texts, and nothing else."""
    if config.resemblance.shingle_unit == "line":
        units = hash_lines(texts, config.sentences.hash_seed)
    else:
        units = TypeTokens(*tokenise_texts(texts, config.sentences.hash_seed))
    return shingle_tokens(units, document_shingle_size(config), distinct=True)


def gather_shingles(
    batches: Iterable[pa.RecordBatch],
    reference_batches: Iterable[pa.RecordBatch],
    config: Config,
    run_tasks: RunTasks,
    on_batch: Callable[[int], None],
    disk: DiskBudget | None = None,
    removing: bool = True,
) -> ShingledDocuments:
    """Shingle the texts of all batches as they arrive; `on_batch` gets the number of new documents.

    What does not fit into the allowed memory goes to a temporary file, counted by `disk`.
    """
    kind = what_to_keep(config)

    words_key, ignored = WordsKey.drawn(config), load_ignored(config.sentences.ignore)

    def shingle(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, ShingledTexts]:
        return batch.select(_KEPT_COLUMNS), shingle_texts(texts_of(batch), config, words_key, removing, ignored)

    kept: list[pa.RecordBatch] = []
    lengths: list[NDArray[np.int64]] = []
    sizes: list[NDArray[np.int64]] = []
    digests: list[NDArray[np.uint64]] = []
    checks: list[Checks] = []
    of_texts: list[Checks] = []
    max_bytes = allowed_memory(config.engine.memory) // 2  # comparing them needs as much again
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
