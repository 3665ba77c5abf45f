"""The writer: adds, replaces and removes documents, merges segments, and counts words; every change is one commit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.config.surface import given, named
from ibidem.errors import IndexChangedError, IndexLockedError, IndexSettingsError, IndexWriteError, KnownIdError
from ibidem.index.arrivals import Arrivals
from ibidem.index.catalog import Catalog
from ibidem.index.catalog_state import Change, SegmentEntry
from ibidem.index.commits import Commits, WriterLock
from ibidem.index.elements import are_fixed, n_frequent_words, needs_counts
from ibidem.index.merge import due_merge, groups_to_compact, merge_segments
from ibidem.index.same_texts import NewTexts, TextList, first_with_same_text, is_not_in
from ibidem.index.segment import Segment, SegmentSettings, frozen
from ibidem.index.settings import decided, is_undecided
from ibidem.index.snapshot import OpenSegment, Snapshot, SnapshotReader, kept_in
from ibidem.index.vocabulary import ENOUGH_DOCUMENTS, WordCounts

_MOST_REMOVED_SHARE = 0.5  # a segment with a larger share of removed documents is rewritten
_IDS_SHOWN = 3
_NONE = np.empty(0, np.int64)


class Writer:
    """Changes an index; use it while it has its `lock`.

    Documents get serials (`claim`), become segments (`build`) that `wait` in memory or are written at once, and are visible to
    everyone once `commit` returns; `parts` shows them to their writer earlier. Committed data is never changed in place.
    """

    def __init__(
        self,
        lock: WriterLock,
        catalog: Catalog,
        reader: SnapshotReader,
        settings: SegmentSettings,
        stored: Mapping[str, Any],
        max_sentences: int,
        given: WordCounts | None = None,
    ) -> None:
        self._catalog, self._reader, self._stored, self._given = catalog, reader, stored, given
        self._settings, self._max_sentences = settings, max_sentences
        self._commits = Commits(lock, catalog)
        self.sweep()  # first: with a restored older catalog, files may be missing, which is a less clear error
        self._begin(reader.current())
        self._commits.refuse_shared()

    def _begin(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.counts = snapshot.counts if snapshot.state.vocabulary or self._given is None else self._given
        self.next_serial = snapshot.state.next_serial
        self._waiting: list[Segment] = []
        self._written: list[SegmentEntry] = []
        self._new: dict[str, int] = {}
        self._replaced: dict[str, int] = {}
        self._removed_serials: list[int] = []
        self._new_texts = NewTexts()

    @property
    def n_waiting_documents(self) -> int:
        """Number of documents added since the last commit."""
        return len(self._new)

    def parts(self) -> list[tuple[Segment, NDArray[np.bool_]]]:
        """Return everything in the index, including what waits for its commit."""
        removed = np.array(sorted(self._removed_serials), np.int64)
        disk = [(part.segment, frozen(part.kept & kept_in(part.segment, removed))) for part in self._snapshot.parts]
        return disk + [(segment, kept_in(segment, removed)) for segment in self._waiting]

    def serials_of(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the serials of the given ids that are in the index or waiting."""
        there = {name: serial for name, serial in self._catalog.serials_of(ids).items() if name not in self._replaced}
        return there | {name: self._new[name] for name in ids if name in self._new}

    def claim(self, ids: Sequence[str], replace: bool) -> NDArray[np.int64]:
        """Return serials for new documents. A known id is an error; with `replace`, the old document is removed instead.

        An id that occurs twice between two commits is always an error, unless the first one waits in memory.
        """
        known = self.serials_of(ids)
        if self._written or not replace:
            _refuse(sorted(name for name in known if name in self._new), "twice in the input")
        _refuse(sorted(name for name, times in Counter(ids).items() if times > 1), "twice in the input")
        if not replace:
            _refuse(sorted(known), "already in the index")
        serials = np.arange(self.next_serial, self.next_serial + len(ids))
        self.next_serial += len(ids)
        for name, serial in known.items():
            self._removed_serials.append(serial)
            if self._new.pop(name, None) is None:
                self._replaced[name] = serial
        self._new.update(zip(ids, serials.tolist(), strict=True))
        return serials

    def retract(self, ids: Iterable[str]) -> None:
        """Discard documents that wait in memory; what they would have replaced stays."""
        for name in ids:
            if name in self._new:
                self._removed_serials.append(self._new.pop(name))
                if name in self._replaced:
                    self._removed_serials.remove(self._replaced.pop(name))

    @property
    def n_before_counting(self) -> int:
        """Number of documents after which words will be counted again; a commit is then required, whatever the settings say.

        So the answer for a document does not depend on how many arrived together.
        """
        if self._is_counted:
            return 2**62
        n_documents = self._snapshot.state.n_documents + len(self._new) - len(self._replaced)
        return max(1, 2 * self.counts.n_documents) - n_documents

    @property
    def _is_counted(self) -> bool:
        """Whether the counts of words stay as they are, unless they are to be taken again."""
        return are_fixed(self.counts, self._settings.elements)

    def check_counts(self) -> None:
        """Raise where the first document would decide alone what all others are known by."""
        message = ""
        if needs_counts(self._settings.elements) and not (self.counts.n_documents or self.counts.is_given):
            message = "the index has no word counts yet, and its signature depends on them"
        elif is_undecided(self._stored):
            chosen = given("bits_per_word", "auto")
            message = f"the index has no words yet that decide how many bits each of them sets ({chosen})"
        if message:
            counts = named("word_counts")
            step = f"Add a first batch of documents with `ibidem index add`, then watch; or create it with {counts}."
            raise IndexSettingsError(message, step)

    def first_counts(self, segment: Segment) -> bool:
        """Count the words of the first documents of an empty index; return whether this was done."""
        if self._snapshot.parts or self.counts.n_documents or self.counts.is_given:
            return False
        n_frequent = n_frequent_words(self._settings.elements)
        self.counts = WordCounts.counted([(segment, kept_in(segment, _NONE))], self.counts.version + 1, n_frequent)
        return True

    def build(self, arrivals: Arrivals, serials: NDArray[np.int64]) -> Segment:
        """Return the segment of new documents. The first ones decide what was left to them."""
        if is_undecided(self._stored):
            self._stored = decided(self._stored, arrivals.n_words)
            self._settings = replace(self._settings, bits_per_word=int(self._stored["bits_per_word"]))
        segment = arrivals.segment(serials, self.counts, self._settings)
        if self.first_counts(segment):
            segment = arrivals.segment(serials, self.counts, self._settings)
        return segment

    def same_texts(self, segment: Segment) -> dict[str, str]:
        """Return which documents of a new segment have the same text as one that is there or came before it, and which one.

        To be asked when their serials are claimed, and before the segment waits or is written.
        """
        parts = [part.segment for part in self._snapshot.parts]
        same = first_with_same_text(TextList.of(segment), parts, self._new_texts, self._is_there)
        names = self._ids_of(sorted({*same, *same.values()}), [*parts, segment]) if same else {}
        return {names[new]: names[old] for new, old in same.items()}

    def _is_there(self, serials: NDArray[np.int64]) -> NDArray[np.bool_]:
        return is_not_in(serials, self._snapshot.state.removed) & ~np.isin(serials, self._removed_serials)

    def _ids_of(self, serials: Sequence[int], segments: Sequence[Segment]) -> dict[int, str]:
        """Return the ids of documents that are in these segments, or were added since the last commit."""
        wanted = np.array(serials, np.int64)
        names: dict[int, str] = {}
        for segment in segments:
            rows = np.searchsorted(segment.serials, wanted)
            rows = rows[~is_not_in(wanted, segment.serials)]
            names |= dict(zip(segment.serials[rows].tolist(), segment.ids(rows).to_pylist(), strict=True))
        missing = set(serials) - names.keys()
        return names | ({serial: name for name, serial in self._new.items() if serial in missing} if missing else {})

    def wait(self, segment: Segment) -> None:
        """Keep a segment in memory until the next commit."""
        self._new_texts.add(TextList.of(segment))
        self._waiting.append(segment)
        while run := due_merge([waiting.n_sentences for waiting in self._waiting], self._max_sentences):
            self._waiting[run] = [self._merge(self._waiting[run])]

    def write(self, segment: Segment) -> None:
        """Write a segment to disk at once; the next commit must name it."""
        self._new_texts.add(TextList.of(segment))
        self._written.append(self._commits.store_segment(segment, self.counts.version))

    def commit(self) -> int:
        """Make everything since the last commit part of the index; return the number of documents added.

        After an interruption (full disk, signal) it may be called again: nothing is added twice.
        """
        if (mark := self._catalog.mark()) != self._snapshot.state.mark and self._commits.is_own(mark):
            self._begin(self._reader.current())  # interrupted after everything was committed
        written = list(self._written)
        if self._waiting:
            whole = self._merge(self._waiting) if len(self._waiting) > 1 or self._removed_serials else self._waiting[0]
            if whole.n_documents:
                written.append(self._commits.store_segment(whole, self.counts.version))
        n_added = len(self._new)
        if not (written or self._replaced):
            return 0
        vocabulary = self._commits.store_counts(self.counts) if self.counts is not self._snapshot.counts else None
        self._commit(
            Change(
                add_segments=written,
                add_documents=list(self._new.items()),
                remove_ids=sorted(self._replaced),
                next_serial=self.next_serial,
                vocabulary=vocabulary,
                vocabulary_version=self.counts.version if vocabulary else None,
                settings=self._stored,
            )
        )
        self._begin(self._reader.current())
        self._tidy()
        return n_added

    def remove(self, ids: Iterable[str]) -> list[str]:
        """Remove documents; return the ids that were found. This is one commit."""
        there = sorted(self._catalog.serials_of(list(ids)))
        if there:
            self._commit(Change(remove_ids=there))
            self._begin(self._reader.current())
            self._tidy()
        return there

    def compact(self) -> None:
        """Merge everything into as few segments as memory allows, and drop what was removed."""
        self.free_removed()
        parts = self._snapshot.parts
        for run in groups_to_compact([part.segment.n_sentences for part in parts], self._max_sentences):
            if len(parts[run]) > 1 or not parts[run.start].kept.all():
                self._replace(parts[run])

    def free_removed(self) -> None:
        """Drop the segments whose documents are all removed. This needs hardly any space, so it comes first."""
        parts = [part for part in self._snapshot.parts if not part.kept.any()]
        if parts:
            self._drop(parts, [])

    def check_recount(self) -> None:
        """Raise where words cannot be counted again."""
        if self.counts.is_given:
            message = "the word counts of this index were given when it was created, and stay as they are"
            raise IndexSettingsError(message, f"Leave out {given('recount', True)}, or create another index.")
        if n_frequent_words(self._settings.elements):
            message = "spots cannot be made again: an index does not keep the order of words"
            raise IndexSettingsError(message, f"Leave out {given('recount', True)}, or create another index.")

    def recount(self, n_documents: int | None = None) -> None:
        """Count again how many documents (of the oldest `n_documents`, if given) a word occurs in, and update all segments."""
        self.check_recount()
        parts = self._snapshot.parts
        counted = [(part.segment, part.kept if n_documents is None else part.kept.copy()) for part in parts]
        if n_documents is not None:
            serials = np.sort(np.concatenate([segment.serials[kept] for segment, kept in counted]))
            for segment, kept in counted:
                kept &= segment.serials <= serials[n_documents - 1]
        counts = WordCounts.counted(counted, self.counts.version + 1)
        old = self._snapshot.state
        entries = []
        for part in parts:
            self._commits.check_file(part.name)
            segment = merge_segments([part.segment], [part.kept], counts, self._settings)
            if segment.n_documents:
                entries.append(self._commits.store_segment(segment, counts.version))
        self._commit(
            Change(
                add_segments=entries,
                drop_segments=[part.name for part in parts],
                settle=old.removed.tolist(),
                vocabulary=self._commits.store_counts(counts),
                vocabulary_version=counts.version,
            )
        )
        self._finish_replacing()

    def _tidy(self) -> None:
        """After a commit: merge what is due, rewrite what is mostly removed, count words again while there are few documents.

        If that cannot be written (full disk), the change itself has not failed and is on disk: a later commit tidies up.
        """
        with suppress(IndexWriteError, IndexLockedError, IndexChangedError):
            self.free_removed()
            self._merge_due()

    def _merge_due(self) -> None:
        n_counted = self.counts.n_documents
        if not self._is_counted and n_counted > 0:
            # The oldest documents only: scores must not depend on how many came with the one that doubled their number.
            while n_counted < ENOUGH_DOCUMENTS and 2 * n_counted <= self._snapshot.state.n_documents:
                n_counted *= 2
            if n_counted > self.counts.n_documents:
                self.recount(n_counted)
        for part in self._snapshot.parts:
            if (~part.kept).sum() > _MOST_REMOVED_SHARE * part.segment.n_documents:
                self._replace([part])
        while run := due_merge([part.segment.n_sentences for part in self._snapshot.parts], self._max_sentences):
            self._replace(self._snapshot.parts[run])

    def _replace(self, parts: Sequence[OpenSegment]) -> None:
        """Replace several segments by one. One commit."""
        for part in parts:
            self._commits.check_file(part.name)  # otherwise damage would get valid checksums
        segment = merge_segments([part.segment for part in parts], [part.kept for part in parts], self.counts, self._settings)
        self._drop(parts, [self._commits.store_segment(segment, self.counts.version)] if segment.n_documents else [])

    def _drop(self, parts: Sequence[OpenSegment], entries: Sequence[SegmentEntry]) -> None:
        """Replace segments by others, which permanently lack the removed documents. One commit."""
        gone = np.concatenate([part.segment.serials[~part.kept] for part in parts])
        self._commit(Change(add_segments=entries, drop_segments=[part.name for part in parts], settle=gone.tolist()))
        self._finish_replacing()

    def _finish_replacing(self) -> None:
        self._begin(self._reader.current())
        self.sweep()

    def _commit(self, change: Change) -> None:
        self._commits.commit(change, self._snapshot.state.mark)

    def sweep(self) -> None:
        """Delete the files that no commit needs. Readers that have them open keep them until they close."""
        self._commits.sweep()

    def _merge(self, segments: Sequence[Segment]) -> Segment:
        removed = np.array(sorted(self._removed_serials), np.int64)
        return merge_segments(segments, [kept_in(segment, removed) for segment in segments], self.counts, self._settings)


def _refuse(ids: Sequence[str], where: str) -> None:
    if ids:
        shown = ", ".join(map(repr, ids[:_IDS_SHOWN])) + (", …" if len(ids) > _IDS_SHOWN else "")
        message = f"{len(ids):,} {'ids are' if len(ids) > 1 else 'id is'} {where}: {shown}"
        step = "Leave these documents out, or give them other ids"
        raise KnownIdError(
            message,
            f"{step}, or replace the old ones with {given('replace', True)}." if "index" in where else f"{step}.",
        )
