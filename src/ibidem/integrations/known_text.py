"""What an index says about a text: which stretches of it are known, from where, and what can be cut.

All integrations ask this one class. It travels to other processes, opens the index there when it is first asked, and takes no
lock unless texts are added.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from ibidem.api import find
from ibidem.config import AlignmentConfig, Config
from ibidem.config.surface import named
from ibidem.errors import IndexLockedError, IndexSettingsError, NoDocumentsError, SettingsError, UsageError
from ibidem.formats.decisions import without_spans
from ibidem.index.answers import QueryResult
from ibidem.index.index import Index
from ibidem.model import Document

MIN_COVERED_SHARE = 0.8
_MOST_CHARS = 8 << 20  # of texts that are looked up together
_LOCK_SECONDS, _STEP_SECONDS = 60.0, 0.05

SPAN = pa.struct(
    [
        ("start", pa.int64()), ("end", pa.int64()), ("matched_id", pa.string()), ("matched_start", pa.int64()),
        ("matched_end", pa.int64()), ("similarity", pa.float64()), ("kind", pa.string()),
    ]
)  # fmt: skip
# What marking adds to a record, as columns or as fields of its metadata.
MARKS = pa.schema(
    [
        pa.field("ibidem_known", pa.bool_()),
        pa.field("ibidem_covered_share", pa.float64()),
        pa.field("ibidem_spans", pa.list_(SPAN)),
    ]
)
# Indexes that a process got from its parent by forking. Closing them there could harm the parent's, so they stay as they are.
_inherited: list[Index] = []


class KnownSpan(NamedTuple):
    """A stretch of a text, in characters, and where a document of the index has it."""

    start: int
    end: int
    matched_id: str
    matched_start: int
    matched_end: int
    similarity: float
    kind: str


@dataclass(frozen=True)
class Known:
    """What an index says about one text.

    `spans` are the known stretches: where passages overlap, the longest of them, and others for what it does not cover.
    `covered_share` is the share of the text's characters in them. `is_known`: that is at least the share asked for. `cuts` are
    the sentences in these stretches that the index has word for word, each with the space after it.
    """

    is_known: bool = False
    covered_share: float = 0.0
    spans: tuple[KnownSpan, ...] = ()
    cuts: tuple[tuple[int, int], ...] = ()

    def marks(self) -> dict[str, Any]:
        """Return the values of the columns `MARKS`."""
        values = (self.is_known, self.covered_share, [span._asdict() for span in self.spans])
        return dict(zip(MARKS.names, values, strict=True))

    def remaining(self, text: str) -> str:
        """Return the text without the cuts; empty if only space is left."""
        left = without_spans(text, self.cuts)
        return left if left.strip() else ""


class KnownText:
    """Says of texts what an index knows of them. It can be pickled, also for a process on another machine with the same path.

    A text is known if at least `min_covered_share` of its characters are in passages that the index also has; with 0, any
    passage makes it known. Ids play no part: a document that is itself in the index is known. Settings are those of
    `Index.query`, such as `min_sentences` and `align`. With `create`, an index is created if there is none.
    """

    def __init__(
        self, index: str | os.PathLike[str], *, min_covered_share: float = MIN_COVERED_SHARE, create: bool = False,
        **settings: Any,
    ) -> None:  # fmt: skip
        if not 0 <= min_covered_share <= 1:
            raise SettingsError([f"{named('min_covered_share')} must be between 0 and 1, not {min_covered_share}"])
        self.path = Path(index).absolute()  # workers may run in another folder
        self.min_covered_share = min_covered_share
        self._create = create
        # Pipelines have processes of their own: threads in each of them would only be in each other's way.
        self._settings = {"workers": 1, **settings}
        self._start()
        self._open()  # what is wrong with the path or the settings shows now, not in a worker

    def _start(self) -> None:
        self._index: Index | None = None
        self._process = os.getpid()
        self._mutex = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Return how to open the index elsewhere, and its last commit: caches of results must notice when the index grows."""
        kept = {name: value for name, value in self.__dict__.items() if name not in ("_index", "_process", "_mutex")}
        return kept | {"_commit": self.commit}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: value for name, value in state.items() if name != "_commit"})
        self._start()

    def __repr__(self) -> str:
        return f"<KnownText {str(self.path)!r}>"

    @property
    def commit(self) -> str:
        """The last commit of the index: it differs whenever documents were added or removed."""
        return self._open().commit

    def check_texts(self) -> None:
        """Raise if the index keeps no texts: then nothing can be cut."""
        if not self._open().config.index.texts:
            message = "cutting needs the texts of documents, which this index does not keep"
            raise IndexSettingsError(message, "Build the index again so that it keeps texts.")

    def close(self) -> None:
        """Close the index in this process; it is opened again when it is needed."""
        with self._mutex:
            index, self._index = self._index, None
            if index is not None and self._process == os.getpid():
                index.close()

    def look_up(self, texts: Sequence[str | None], *, cuts: bool = False) -> list[Known]:
        """Return what the index says about each text; nothing about one that is missing or empty. `cuts` are found if wanted.

        Cutting needs an index that keeps texts: only what is proven to be in it word for word is cut.
        """
        found = [Known()] * len(texts)
        for portion in _portions(texts):
            same: dict[str, list[int]] = {}
            for number in portion:
                same.setdefault(id_of(texts[number] or ""), []).append(number)
            wanted = {name: numbers[0] for name, numbers in same.items()}
            documents = [Document(name, texts[number] or "") for name, number in wanted.items()]
            try:
                result = self._open().query(documents, search_engine="exact")
            except NoDocumentsError:
                continue
            spans = _spans_of(result.passages, wanted)
            cut = _verbatim_of(result, wanted) if cuts else {}
            for number in spans:
                known = self._known(texts[number] or "", spans[number], cut.get(number, []))
                for each in same[id_of(texts[number] or "")]:
                    found[each] = known
        return found

    def admit(self, texts: Sequence[str | None], ids: Sequence[str]) -> list[Known]:
        """Look up texts one after the other, each also in those of this call before it, and add to the index what is not known.

        A text whose id is in the index replaces the document there. They are safe on disk when this returns. Several processes
        may add: each waits for the others for a minute, but does not see what another adds at the same moment.
        """
        found = self.look_up(texts)
        new = [number for number, each in enumerate(found) if not each.is_known and (texts[number] or "").strip()]
        records = {f"{number}": {"id": f"{number}", "text": texts[number]} for number in new}
        among = self._spans_among(list(records.values())) if len(new) > 1 else {}
        kept: dict[int, str] = {}
        for number in new:
            earlier = [span for span in among.get(number, []) if int(span.matched_id) in kept]
            named = [span._replace(matched_id=kept[int(span.matched_id)]) for span in earlier]
            if named:
                found[number] = self._known(texts[number] or "", [*found[number].spans, *named], [])
            if not found[number].is_known:
                kept[number] = ids[number]
        self._add([Document(name, texts[number] or "") for number, name in kept.items()])
        return found

    def _add(self, documents: list[Document]) -> None:
        if not documents:
            return
        end = time.monotonic() + _LOCK_SECONDS
        while True:
            try:
                self._open().add(documents, replace=True)
                return
            except IndexLockedError:
                if time.monotonic() > end:
                    raise
            time.sleep(_STEP_SECONDS)

    def _spans_among(self, records: list[dict[str, Any]]) -> dict[int, list[KnownSpan]]:
        """Return for each text the passages that it shares with an earlier one, as `find` finds them."""
        spans: dict[int, list[KnownSpan]] = {}
        with find(records, config=_as_the_index_aligns(self._open().config)) as result:
            for row in result.passages.to_pylist():
                a, b = int(row["a_id"]), int(row["b_id"])
                later, mine, other = (a, "a", "b") if a > b else (b, "b", "a")
                spans.setdefault(later, []).append(_span(row, mine, other))
        return spans

    def _known(self, text: str, spans: list[KnownSpan], verbatim: list[tuple[int, int]]) -> Known:
        chosen = tuple(_without_covered(spans))
        share = min(1.0, _n_covered(chosen) / max(len(text.strip()), 1))
        is_known = share >= self.min_covered_share and bool(chosen)
        return Known(is_known, share, chosen, tuple(_cuts(text, chosen, verbatim)))

    def _open(self) -> Index:
        """Return the index as this process has it open."""
        if self._process != os.getpid():
            if self._index is not None:
                _inherited.append(self._index)
            self._start()
        with self._mutex:
            if self._index is None:
                self._index = Index(self.path, create=self._create, **self._settings)
            return self._index


def id_of(text: str) -> str:
    """Return the id under which a text is looked up: no document of an index has it, and it decides where passages tie.

    So it is made from the text alone: the answer is the same whenever and beside whatever a text is looked up.
    """
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, person=b"ibidem look-up").hexdigest()


def _portions(texts: Sequence[str | None]) -> Iterator[list[int]]:
    """Yield the numbers of texts that are looked up together."""
    portion: list[int] = []
    n_chars = 0
    for number, text in enumerate(texts):
        if text is not None and not isinstance(text, str):
            raise UsageError(f"text {number} must be a string, not {type(text).__name__}", "Name the column with the texts.")
        if not text or not text.strip():
            continue
        if portion and n_chars + len(text) > _MOST_CHARS:
            yield portion
            portion, n_chars = [], 0
        portion.append(number)
        n_chars += len(text)
    if portion:
        yield portion


def _as_the_index_aligns(config: Config) -> Config:
    """Return the settings of an index for `find`: unlike `find`, an index does not align because of limits of alignment."""
    if config.alignment.align:
        return config
    usual = AlignmentConfig()
    return Config.of(config, align=False, min_evidence=usual.min_evidence, min_aligned_words=usual.min_aligned_words)


def _span(row: dict[str, Any], mine: str, other: str) -> KnownSpan:
    return KnownSpan(
        row[f"{mine}_start"], row[f"{mine}_end"], row[f"{other}_id"], row[f"{other}_start"], row[f"{other}_end"],
        row["similarity"], row["kind"],
    )  # fmt: skip


def _spans_of(passages: pa.Table, wanted: dict[str, int]) -> dict[int, list[KnownSpan]]:
    spans: dict[int, list[KnownSpan]] = {}
    for row in passages.to_pylist():
        spans.setdefault(wanted[row["a_id"]], []).append(_span(row, "a", "b"))
    return spans


def _verbatim_of(result: QueryResult, wanted: dict[str, int]) -> dict[int, list[tuple[int, int]]]:
    """Return for each text its sentences that are in the index word for word."""
    sentences: dict[int, list[tuple[int, int]]] = {}
    table = result.verbatim().select(["a_id", "a_start", "a_end"])
    for name, start, end in zip(*(column.to_pylist() for column in table.columns), strict=True):
        sentences.setdefault(wanted[name], []).append((start, end))
    return sentences


def _without_covered(spans: list[KnownSpan]) -> list[KnownSpan]:
    """Return spans in reading order, without those that longer ones cover: the longest first, then the most similar."""
    ranked = sorted(spans, key=lambda span: (span.start - span.end, -span.similarity, span.start, span.matched_id, span[3]))
    chosen: list[KnownSpan] = []
    for span in ranked:
        overlaps = [KnownSpan(max(span.start, o.start), min(span.end, o.end), *o[2:]) for o in chosen]
        if _n_covered([overlap for overlap in overlaps if overlap.start < overlap.end]) < span.end - span.start:
            chosen.append(span)
    return sorted(chosen)


def _n_covered(spans: Sequence[KnownSpan]) -> int:
    """Return how many characters are in any of the spans."""
    covered = reached = 0
    for start, end in sorted(span[:2] for span in spans):
        covered += max(0, end - max(start, reached))
        reached = max(reached, end)
    return covered


def _cuts(text: str, spans: Sequence[KnownSpan], sentences: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield what is cut: the sentences that lie in a span, with the space after them; neighbours as one."""
    begin = end = 0
    for sentence_start, sentence_end in sorted(sentences):
        if not any(span.start <= sentence_start and sentence_end <= span.end for span in spans):
            continue
        after = len(text) - len(text[sentence_end:].lstrip())
        if sentence_start > end:
            if end > begin:
                yield begin, end
            begin = sentence_start
        end = after
    if end > begin:
        yield begin, end
