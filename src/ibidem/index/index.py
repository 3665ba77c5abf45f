"""`ibidem.Index`: a growing collection of documents on disk, and what new documents share with it."""

from __future__ import annotations

import os
import weakref
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, overload

import pyarrow as pa

from ibidem.columns.collection import Collection
from ibidem.config import Config
from ibidem.config.keywords import carried_out_by
from ibidem.config.papers import check_paper
from ibidem.config.word_source import GivenPath, GivenWords
from ibidem.errors import IndexStoreError, NoDocumentsError
from ibidem.execution.memory import allowed_memory
from ibidem.execution.progress import Progress
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.execution.threads import Threads
from ibidem.execution.unique_ids import check_unique_ids
from ibidem.formats import read_batches
from ibidem.formats.inputs import given_names
from ibidem.formats.jobs import ReadingRemark, SkippedRecords, reading_notices
from ibidem.formats.python_inputs import refuse_texts_without_ids, settle, with_prefix
from ibidem.formats.reader import as_stream
from ibidem.index.answers import QueryResult, answer, answer_parts
from ibidem.index.arrivals import Arrivals, gather_batches, in_chunks
from ibidem.index.catalog import Catalog
from ibidem.index.catalog_state import refuse_other_settings
from ibidem.index.commits import WriterLock
from ibidem.index.elements import needs_counts
from ibidem.index.inspection import describe, find_damage
from ibidem.index.joined_answers import parts_of
from ibidem.index.quotations import VerifiedQuotation, verify_quotations
from ibidem.index.segment import Segment
from ibidem.index.settings import (
    CheckedSettings,
    as_decided,
    check_made_by,
    given_counts,
    segment_settings,
    to_store,
    with_engine,
    with_own_seed,
    with_seed_of,
    with_stored,
)
from ibidem.index.snapshot import Snapshot, SnapshotReader
from ibidem.index.watcher import Arrival, Watcher
from ibidem.index.writer import Writer
from ibidem.model import Document

_CHUNK_BYTES = 24 << 20  # of text: about 200,000 sentences, which make one segment
_CHUNKS_IN_MEMORY = 60  # several are built at a time, and each takes several times its text
_MERGING_BYTES_A_SENTENCE, _WITH_TEXTS = 600, 800
_FEWEST_SENTENCES, _MOST_SENTENCES = 100_000, 16_000_000


class Index:
    """Documents on disk, and what new ones share with them.

    The folder is created if it does not exist (with `create=False` that is a `NoIndexError`). Settings are those of the command
    line; some of them (`signature`, `min_similarity`, `lang`, …) are fixed when the index is created; opening it with
    others is an `IndexSettingsError`. Any number of threads and processes may query; each query sees the last whole commit. One
    writer at a time: `add`, `remove`, `compact` and `watch` raise `IndexLockedError` while another writer is active.

    An open index is the folder that its path led to; a link may be switched afterwards. When that folder or its catalog is
    moved or replaced, every call raises `IndexChangedError`, and the index has to be opened again.

    >>> import ibidem, tempfile
    >>> text = "The harbour was closed on Monday. Two ferries stayed in port over night. The mayor asked all to stay at home."
    >>> with ibidem.Index(tempfile.mkdtemp()) as index:
    ...     added = index.add([{"id": "a", "text": text}])
    ...     verdict = index.check({"id": "b", "text": "It was loud. " + text})
    >>> added, verdict.duplicated, verdict.n_known, verdict.sources[0].id
    (1, True, 3, 'a')
    """

    def _open(
        self, path: str | Path, *, create: bool = True, config: Config | None = None, progress: Progress | None = None,
        **settings: Any,
    ) -> None:  # fmt: skip
        self.path = Path(path)
        self.progress = progress or Progress()
        base = config or Config()
        self._asked = Config.of(base, **settings)
        check_paper(self._asked, "index")
        made_with = to_store(with_own_seed(self._asked.with_signature("words"))) if create else {}
        self._catalog = Catalog.create(self.path, made_with) if create else Catalog.open(self.path)
        try:
            self._is_new = self._catalog.generation() == 0  # then the first commit, whoever makes it, fixes the settings
            self._stored = self._catalog.settings
            if create and self._is_new:
                self._stored = with_seed_of(self._catalog.settings, made_with, Config.of(base, **settings))
            check_made_by(self._stored)
            self.config = with_stored(self._stored, base, with_engine(self._stored, base, settings))
        except BaseException:
            self._catalog.close()
            raise
        self._reader = SnapshotReader(self._catalog, self._threads.run_tasks)
        self._settings = segment_settings(self.config)
        self._checked = CheckedSettings(self._stored, self.config)
        self.skipped = SkippedRecords(self.config.output.strict)
        self.same_texts: dict[str, str] = {}
        self.notices: list[str] = []
        self._process = os.getpid()
        self._streams: weakref.WeakSet[Generator[Arrival, None, None]] = weakref.WeakSet()

    @carried_out_by(_open)
    def __init__(
        self, path: str | Path, *, create: bool = True, config: Config | None = None, progress: Progress | None = None,
        # settings of Index
        text_field: str = "text", id_field: str = "id", time_field: str = "time", group_field: str = "group",
        date_format: str = "auto", metadata: GivenPath = "none", metadata_key: str = "auto", time_from: str = "none",
        group_from: str = "none", query: str = "none", html: bool = False, main_content: bool = False, text_path: str = "auto",
        encoding: str = "utf-8", lang: str = "auto", max_sentence_words: int = 120, hash_seed: int = -1,
        ignore: str | Sequence[str] = "none",
        signature: Literal["auto", "exact", "words", "shingles", "imatch", "spotsigs", "fingerprint"] = "auto",
        shingle_size: int = 0, min_idf: float = 0.1, max_idf: float = 1.0, antecedents: str | int | Sequence[str] = "auto",
        spot_stop_words: str | int | Sequence[str] = "auto", spot_short_chains: bool = False, spot_distance: int = 1,
        spot_chain: int = 2, max_document_share: float = 0.6, word_counts: GivenWords = "none", stop_words: GivenWords = "none",
        as_paper: Literal["none", "pdc-mr", "swlr", "qsign", "yoon", "ye"] = "none", paper: bool = False,
        min_similarity: float | Fraction = 0.8, min_sentences: int = 3, min_words: int = 1, min_quote_words: int = 10,
        max_gap_sentences: int = 4, extend_ends: bool = True, max_places: int = 100, same_document: bool = False,
        skip_same_group: bool = False, align: bool | None = None, min_evidence: float = 25.0, min_aligned_words: int = 25,
        difference_kinds: bool = False, only_differences: str = "all", signature_bits: int = 64,
        bits_per_word: int | Literal["auto"] = 3, texts: bool = True,
        search_engine: Literal["overlap", "fingerprint", "exact", "signature", "bits", "inverted", "scan"] = "overlap",
        score: Literal["idf", "fraction", "product"] = "idf", min_score: float | Fraction = 0.8, min_contained_words: int = 8,
        radius: int = -1, max_false_positive: float = 0.1, words_flexible: int = 2, min_hits: int = 3, min_hit_words: int = 4,
        commit_every: str = "1000,10s", workers: int = 0, memory: str = "auto", strict: bool = False,
        # end of settings
    ) -> None:  # fmt: skip
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<Index {str(self.path)!r}: {len(self):,} documents>"

    def __enter__(self) -> Index:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the index and the streams being watched; it can no longer be used, even if a stream raises."""
        with ExitStack() as stack:
            stack.callback(self._catalog.close)
            if "_threads" in self.__dict__:
                stack.callback(self._threads.close)
            for stream in list(self._streams):
                stack.callback(stream.close)

    def __len__(self) -> int:
        """Number of documents."""
        return self._current().state.n_documents

    def __contains__(self, doc_id: str) -> bool:
        self._check_usable()
        return bool(self._catalog.serials_of([doc_id]))

    @property
    def commit(self) -> str:
        """The name of the last commit; it changes whenever documents are added, removed or merged."""
        return "-".join(map(str, self._current().state.mark))

    def _query(self, documents: Any, *, passages: bool = True, **settings: Any) -> QueryResult:
        self._check_usable()
        config = self._checked.with_given(settings)
        skipped = SkippedRecords(config.output.strict)
        unread: list[ReadingRemark] = []
        inputs = with_prefix(settle(documents), "query:")
        batches = list(read_batches(inputs, config.documents, skipped.add, self.progress.add_bytes, unread.append))
        parts = parts_of(batches)
        if not parts:
            names = given_names(inputs)
            raise NoDocumentsError(f"the inputs contain no documents to look up{names and ': '}{names}", skipped.explain())
        self.notices = reading_notices(unread)
        check_unique_ids(batches)
        snapshot, known = self._now(_ids(batches))
        segments = [(part.segment, part.kept) for part in snapshot.parts]

        def answer_to(part: list[pa.RecordBatch], run_tasks: RunTasks = in_turn) -> QueryResult:
            given = (known, snapshot.counts, self._settings, config, skipped.records, run_tasks)
            return answer(Arrivals(gather_batches(part, config, run_tasks), run_tasks), segments, None, *given)

        result = answer_parts(parts, answer_to, self._threads.run_tasks)
        if passages:
            _ = result.passages
        return result

    @carried_out_by(_query)
    def query(
        self, documents: Any, *, passages: bool = True,
        # settings of Index.query
        text_field: str = "text", id_field: str = "id", time_field: str = "time", group_field: str = "group",
        date_format: str = "auto", metadata: GivenPath = "none", metadata_key: str = "auto", time_from: str = "none",
        group_from: str = "none", query: str = "none", html: bool = False, main_content: bool = False, text_path: str = "auto",
        encoding: str = "utf-8", ignore: str | Sequence[str] = "none",
        as_paper: Literal["none", "pdc-mr", "swlr", "qsign", "yoon", "ye"] = "none", paper: bool = False,
        min_sentences: int = 3, min_words: int = 1, min_quote_words: int = 10, max_gap_sentences: int = 4,
        extend_ends: bool = True, max_places: int = 100, skip_same_group: bool = False, align: bool | None = None,
        min_evidence: float = 25.0, min_aligned_words: int = 25, difference_kinds: bool = False, only_differences: str = "all",
        search_engine: Literal["overlap", "fingerprint", "exact", "signature", "bits", "inverted", "scan"] = "overlap",
        score: Literal["idf", "fraction", "product"] = "idf", min_score: float | Fraction = 0.8, min_contained_words: int = 8,
        radius: int = -1, max_false_positive: float = 0.1, words_flexible: int = 2, min_hits: int = 3, min_hit_words: int = 4,
        workers: int = 0, strict: bool = False,
        # end of settings
    ) -> QueryResult:  # fmt: skip
        """Return what documents share with the index: hits sentence by sentence, and passages. The index does not change.

        `documents` is one `Document` or dict, or anything that `find` accepts; the ids of texts without ids are `query:0`,
        `query:1` and so on. A document is not compared with one of the same id. With `passages=False`, passages are found only
        when they are asked for, while the index is open.
        """
        raise NotImplementedError

    def _check_usable(self) -> None:
        if os.getpid() != self._process:
            raise IndexStoreError("the index was opened in another process", "Open it again in this process.")
        if self._is_new and self._catalog.generation() > 0:
            stored = self._catalog.reread_settings()
            mine = as_decided(self._stored, stored)
            refuse_other_settings(stored, mine)
            self._is_new, self._stored = False, mine
            self.config = Config.of(self.config, bits_per_word=mine["bits_per_word"])
            self._settings = segment_settings(self.config)
            self._checked = CheckedSettings(self._stored, self.config)

    def _current(self) -> Snapshot:
        self._check_usable()
        return self._reader.current()

    def _now(self, ids: Sequence[str]) -> tuple[Snapshot, dict[str, int]]:
        """Return the last commit, and the serials of those of the ids that it has."""
        self._check_usable()
        return self._reader.with_serials(ids)

    def _check(self, documents: Any, **settings: Any) -> Any:
        verdicts = self.query(documents, passages=False, **settings).verdicts
        return verdicts[0] if isinstance(documents, (Document, Mapping)) and len(verdicts) == 1 else list(verdicts)

    @carried_out_by(_check)
    def check(
        self, documents: Any, *,
        # settings of Index.check
        text_field: str = "text", id_field: str = "id", time_field: str = "time", group_field: str = "group",
        date_format: str = "auto", metadata: GivenPath = "none", metadata_key: str = "auto", time_from: str = "none",
        group_from: str = "none", query: str = "none", html: bool = False, main_content: bool = False, text_path: str = "auto",
        encoding: str = "utf-8", ignore: str | Sequence[str] = "none",
        as_paper: Literal["none", "pdc-mr", "swlr", "qsign", "yoon", "ye"] = "none", paper: bool = False,
        min_sentences: int = 3, min_words: int = 1, min_quote_words: int = 10, max_gap_sentences: int = 4,
        extend_ends: bool = True, max_places: int = 100, skip_same_group: bool = False, align: bool | None = None,
        min_evidence: float = 25.0, min_aligned_words: int = 25, difference_kinds: bool = False, only_differences: str = "all",
        search_engine: Literal["overlap", "fingerprint", "exact", "signature", "bits", "inverted", "scan"] = "overlap",
        score: Literal["idf", "fraction", "product"] = "idf", min_score: float | Fraction = 0.8, min_contained_words: int = 8,
        radius: int = -1, max_false_positive: float = 0.1, words_flexible: int = 2, min_hits: int = 3, min_hit_words: int = 4,
        workers: int = 0, strict: bool = False,
        # end of settings
    ) -> Any:  # fmt: skip
        """Return the verdict on a document, or a list of verdicts on several: whether it is a duplicate, and of what."""
        raise NotImplementedError

    def _add(self, documents: Any, *, replace: bool = False, **settings: Any) -> int:
        documents = settle(documents)
        refuse_texts_without_ids(documents)
        config = self._checked.with_given(settings)
        self.skipped = SkippedRecords(config.output.strict)
        self.same_texts = {}
        unread: list[ReadingRemark] = []
        with self._writer(config) as writer:
            observers = self.skipped.add, self.progress.add_bytes, unread.append
            batches = read_batches(documents, config.documents, *observers)

            def build(chunk: tuple[list[pa.RecordBatch], Any]) -> Segment:
                own_batches, serials = chunk
                return writer.build(Arrivals(gather_batches(own_batches, config, in_turn)), serials)

            def write(segment: Segment) -> None:
                self.same_texts |= writer.same_texts(segment)
                writer.write(segment)
                self.progress.add_documents(segment.n_documents, segment.n_sentences)

            n_chunk_bytes = min(_CHUNK_BYTES, allowed_memory(config.engine.memory) // _CHUNKS_IN_MEMORY)
            # The first chunk may determine what sentences are known by: it does not depend on the memory.
            n_first_bytes = _CHUNK_BYTES if needs_counts(self._settings.elements) else n_chunk_bytes
            pieces = in_chunks(batches, n_first_bytes, n_chunk_bytes)
            chunks = ((chunk, writer.claim(_ids(chunk), replace)) for chunk in pieces)
            for first in chunks:  # before the others: it may determine how words are counted
                write(build(first))
                break
            for segment in self._threads.run_tasks(build, chunks):
                write(segment)
            self.notices = reading_notices(unread)
            return writer.commit()

    @carried_out_by(_add)
    def add(
        self, documents: Any, *, replace: bool = False,
        # settings of Index.add
        text_field: str = "text", id_field: str = "id", time_field: str = "time", group_field: str = "group",
        date_format: str = "auto", metadata: GivenPath = "none", metadata_key: str = "auto", time_from: str = "none",
        group_from: str = "none", query: str = "none", html: bool = False, main_content: bool = False, text_path: str = "auto",
        encoding: str = "utf-8", as_paper: Literal["none", "pdc-mr", "swlr", "qsign", "yoon", "ye"] = "none", workers: int = 0,
        memory: str = "auto", strict: bool = False,
        # end of settings
    ) -> int:  # fmt: skip
        """Add documents, all of them or none; return how many. They are safe on disk when this returns.

        `documents` is one `Document` or dict, or anything that `find` accepts; texts need ids. An id that is already in the
        index is a `KnownIdError`, unless `replace` is set: then the new document replaces the old. Afterwards, `same_texts`
        has the ids of documents whose text is also in the index under another id, or earlier in these inputs, each with the id
        of the first such document. `notices` lists problems with the inputs, such as timestamps that could not be parsed.
        """
        raise NotImplementedError

    def _start_watch(
        self, documents: Iterable[Any], *, replace: bool = False, **settings: Any
    ) -> Generator[Arrival, None, None]:
        config = self._checked.with_given(settings)
        stream = self._watch(as_stream(documents, config.documents), replace, config)
        self._streams.add(stream)
        return stream

    @carried_out_by(_start_watch)
    def watch(
        self, documents: Iterable[Any], *, replace: bool = False,
        # settings of Index.watch
        text_field: str = "text", id_field: str = "id", time_field: str = "time", group_field: str = "group",
        html: bool = False, main_content: bool = False, text_path: str = "auto", encoding: str = "utf-8",
        ignore: str | Sequence[str] = "none", as_paper: Literal["none", "pdc-mr", "swlr", "qsign", "yoon", "ye"] = "none",
        paper: bool = False, min_sentences: int = 3, min_words: int = 1, min_quote_words: int = 10, max_gap_sentences: int = 4,
        extend_ends: bool = True, max_places: int = 100, same_document: bool = False, skip_same_group: bool = False,
        align: bool | None = None, min_evidence: float = 25.0, min_aligned_words: int = 25, difference_kinds: bool = False,
        only_differences: str = "all", signature_bits: int = 64, bits_per_word: int | Literal["auto"] = 3, texts: bool = True,
        search_engine: Literal["overlap", "fingerprint", "exact", "signature", "bits", "inverted", "scan"] = "overlap",
        score: Literal["idf", "fraction", "product"] = "idf", min_score: float | Fraction = 0.8, min_contained_words: int = 8,
        radius: int = -1, max_false_positive: float = 0.1, words_flexible: int = 2, min_hits: int = 3, min_hit_words: int = 4,
        commit_every: str = "1000,10s", workers: int = 0, memory: str = "auto", strict: bool = False,
        # end of settings
    ) -> Generator[Arrival, None, None]:  # fmt: skip
        """Add documents one by one; yield for each what it shares with all documents before it.

        `documents` are records in a list or generator, or anything else that `find` accepts; texts need ids. Documents are
        answered as soon as they arrive and are safe on disk from the next commit on (`commit_every`), at the latest when the
        iterator ends or is closed. Unless `documents` is a list, another thread reads some ahead; what was read but not
        answered is not added.
        """
        raise NotImplementedError

    def _watch(self, documents: Iterable[Any], replace: bool, config: Config) -> Generator[Arrival, None, None]:
        with self._writer(config) as writer:
            writer.check_counts()

            def collect(batch: list[Any], skipped: SkippedRecords) -> Collection:
                return gather_batches(list(read_batches(batch, config.documents, skipped.add)), config, self._threads.run_tasks)

            watcher = Watcher(writer, collect, self._settings, config, replace, self._threads.run_tasks)
            yield from watcher.watch(documents)

    def remove(self, ids: str | Iterable[str]) -> int:
        """Remove documents; return how many were removed. Unknown ids are ignored."""
        with self._writer(self.config) as writer:
            return len(writer.remove([ids] if isinstance(ids, str) else list(ids)))

    def compact(self, *, recount: bool = False) -> None:
        """Merge all segments and free the space of removed documents. Queries continue meanwhile.

        With `recount`, words are counted again, so scores and fingerprints change.
        """
        with self._writer(self.config) as writer:
            if recount:
                writer.check_recount()
            writer.compact()
            if recount:
                writer.recount()

    @overload
    def verify(self) -> list[str]: ...
    @overload
    def verify(  # type: ignore[overload-overlap]
        self, quotations: str, *, source: str | None = None, ignore: str | Sequence[str] | None = None
    ) -> VerifiedQuotation: ...
    @overload
    def verify(
        self, quotations: Iterable[str | tuple[str, str | None]], *, ignore: str | Sequence[str] | None = None
    ) -> list[VerifiedQuotation]: ...
    def verify(self, quotations: Any = None, *, source: str | None = None, ignore: str | Sequence[str] | None = None) -> Any:
        """Check whether quotations are in the index word for word, altered, in another document than `source`, or absent.

        Several are strings, or pairs of a quotation and its source. `ignore` names files with text to ignore; the
        default is what the index was opened with. Without a quotation, return each damage to the index.
        """
        if quotations is None:
            return find_damage(self._catalog, self.progress)
        is_one = isinstance(quotations, str)
        asked = [(each, source) if isinstance(each, str) else each for each in ([quotations] if is_one else quotations)]
        snapshot, serials = self._now([name for _, name in asked if name is not None])
        config = self._checked.with_given({} if ignore is None else {"ignore": ignore})
        answers = verify_quotations(asked, [(p.segment, p.kept) for p in snapshot.parts], snapshot.counts, config, serials)
        return answers[0] if is_one else answers

    def _info(self, **settings: Any) -> dict[str, Any]:
        return describe(self._catalog.opened, self._current(), self._checked.with_given(settings))

    @carried_out_by(_info)
    def info(
        self, *,
        # settings of Index.info
        signature_bits: int = 64, bits_per_word: int | Literal["auto"] = 3, texts: bool = True,
        search_engine: Literal["overlap", "fingerprint", "exact", "signature", "bits", "inverted", "scan"] = "overlap",
        score: Literal["idf", "fraction", "product"] = "idf", min_score: float | Fraction = 0.8, min_contained_words: int = 8,
        radius: int = -1, max_false_positive: float = 0.1, words_flexible: int = 2, min_hits: int = 3, min_hit_words: int = 4,
        commit_every: str = "1000,10s",
        # end of settings
    ) -> dict[str, Any]:  # fmt: skip
        """Return settings, counts and sizes, and how much a bits search is predicted to find."""
        raise NotImplementedError

    @contextmanager
    def _writer(self, config: Config) -> Iterator[Writer]:
        n_bytes = _WITH_TEXTS if self._settings.texts else _MERGING_BYTES_A_SENTENCE
        most = min(max(allowed_memory(config.engine.memory) // n_bytes, _FEWEST_SENTENCES), _MOST_SENTENCES)
        with WriterLock(self._catalog.opened) as lock:
            self._check_usable()
            given = given_counts(self._asked, self._stored) if self._catalog.generation() == 0 else None
            writer = Writer(lock, self._catalog, self._reader, self._settings, self._stored, most, given)
            try:
                yield writer
            except BaseException:
                with suppress(OSError, IndexStoreError):  # the original error matters more
                    writer.sweep()
                raise

    @cached_property
    def _threads(self) -> Threads:
        return Threads(self.config.engine.workers)


def _ids(batches: Sequence[pa.RecordBatch]) -> list[str]:
    return [name for batch in batches for name in batch.column("id").to_pylist()]
