"""What `dedup --lossless` removes, over many partitions; the rule is that of `clusters.lossless`.

Every home knows its own units and text that stays. A gram is first looked for in the document that its row matches, at the
home of that document. Grams that are not there meet at the homes of their keys, with the first places that have them in text
that stays: each partition gets a filter of these keys, and sends only what passes it. What is nowhere has a keeper there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.clusters.lossless import Grams, KeyFilter, Units, bits_for
from ibidem.clusters.removals import READING_ORDER
from ibidem.columns.distinct import firsts_of_equal, numbered
from ibidem.columns.parted_tables import table_of
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup
from ibidem.sentences.hashed_words import HashedWords, number_texts, point_of
from ibidem.word_runs.exchange import TextWords

Numbers = NDArray[np.int64]
Keys = NDArray[np.uint64]
Truths = NDArray[np.bool_]

_ASKED = pa.schema([("matched", pa.int64()), ("key", pa.uint64()), ("size", pa.int64()), ASKER])
_SIZES = pa.schema([("size", pa.int64())])
_PLACE: list[tuple[str, pa.DataType]] = [("document", pa.int64()), ("word", pa.int64())]
# Where grams are: in the document that their row matches; or in text that stays, or in the first unit, their keeper.
MATCHED = pa.schema([("key", pa.uint64()), ("size", pa.int64()), *_PLACE])
_OPEN = pa.schema([("key", pa.uint64()), ("size", pa.int64()), *_PLACE, ASKER])
_KEPT = pa.schema([("key", pa.uint64()), ("size", pa.int64()), *_PLACE])
FOUND = pa.schema([("key", pa.uint64()), ("size", pa.int64()), *_PLACE, ("is_kept", pa.bool_())])
_FILTER = pa.schema([("first", pa.int64()), ("bits", pa.large_binary())])
_MOST_BITS = 26  # a filter of 8 MB goes to every partition
_HOME_BITS = np.uint64(16)  # of keys, which decide where they meet


class Rule(NamedTuple):
    """How many words make a gram, the secret seed, and whether rows without similarity match one place word for word."""

    size: int
    seed: int
    are_equal: bool


@dataclass(frozen=True)
class Home:
    """What would be removed of the documents of a home, in reading order, and their words."""

    here: TextWords
    document: Numbers
    start: Numbers
    matched: Numbers
    units: Units

    @classmethod
    def of(cls, tables: Mapping[str, pa.Table], rule: Rule, only: Numbers | None = None) -> Home:
        """Return the home of `texts` and `spans`, or some documents of it."""
        here = TextWords.of(tables["texts"], rule.seed, None, only)
        spans = tables["spans"].sort_by(READING_ORDER)
        if only is not None:
            spans = spans.filter(pa.array(np.isin(spans["document"].to_numpy(), only)))
        document, matched = (spans[name].to_numpy() for name in ("document", "matched"))
        rows = here.rows(document)
        edges = [number_texts(here.texts, rows, spans[name].to_numpy()) + here.words.first[rows] for name in ("start", "end")]
        similarity = spans["similarity"].to_numpy() if "similarity" in spans.column_names else np.full(len(rows), np.nan)
        is_proven = np.isnan(similarity) & rule.are_equal
        return cls(here, document, spans["start"].to_numpy(), matched, Units.of(document, edges[0], edges[1], is_proven))

    @property
    def words(self) -> HashedWords:
        """The words of the documents."""
        return self.here.words

    def grams(self, size: int, rule: Rule) -> Grams:
        """Return the grams of so many words: to be proven are those of units that have as many, or of `rule.size` words."""
        grams = Grams.of(self.words, self.units, size, point_of(rule.seed))
        return grams if size == rule.size else grams.asked_in((self.units.n_words == size)[self.units.unit], self.units)

    def few(self, rule: Rule) -> list[int]:
        """Return the numbers of words of units that are shorter than a gram."""
        n_words = self.units.n_words
        few: list[int] = np.unique(n_words[(n_words > 0) & (n_words < rule.size)]).tolist()
        return few if len(self.units.unit) else []

    def placed(self, words: Numbers) -> tuple[Numbers, Numbers]:
        """Return the documents of words, and their numbers there."""
        rows = self.words.documents(words)
        return self.here.documents[rows], words - self.words.first[rows]


def prove(flow: Flow, texts: PartedTable, spans: PartedTable, rule: Rule) -> dict[str, PartedTable]:
    """Return where the grams of every home were found: `matched` (MATCHED) and, those that are not there, `found` (FOUND)."""
    layout, n_partitions = flow.layout, flow.n_partitions

    def ask(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        if tables["spans"].num_rows == 0:
            return
        home = Home.of(tables, rule)
        few = home.few(rule)
        yield Sent("sizes", table_of([few], _SIZES), 0)
        for size in (*few, rule.size):
            grams = home.grams(size, rule)
            matched = home.matched[home.units.rows_of(grams.start)]
            _, first = numbered(matched, grams.key)
            columns = [matched[first], grams.key[first], np.full(len(first), size), np.full(len(first), partition)]
            yield Sent("asked", table_of(columns, _ASKED), layout.home(matched[first]))

    def answer_matched(asked: pa.Table, known: Mapping[str, pa.Table]) -> tuple[pa.Table, Numbers]:
        matched, key, size = (asked[name].to_numpy() for name in _ASKED.names[:3])
        home = Home.of(known, rule, np.unique(matched))
        found, questions = [], []
        for one in np.unique(size).tolist():
            some = np.flatnonzero(size == one)
            grams = home.grams(one, rule).wanted(np.unique(key[some]))
            document, word = home.placed(grams.kept)
            at, is_there = firsts_of_equal((matched[some], key[some]), (document, grams.kept_key))
            some, at = some[is_there], at[is_there]
            found.append(table_of([key[some], size[some], matched[some], word[at]], MATCHED))
            questions.append(some)
        return pa.concat_tables(found), np.concatenate(questions)

    def open_others(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        if tables["spans"].num_rows == 0:
            return
        home = Home.of(tables, rule)
        for size in (*home.few(rule), rule.size):
            grams = home.grams(size, rule)
            left = ~Answers.of(tables["matched"], size).at(grams.key, home.matched[home.units.rows_of(grams.start)])[1]
            key, first = np.unique(grams.key[left], return_index=True)
            columns = [key, np.full(len(key), size), *home.placed(grams.start[left][first]), np.full(len(key), partition)]
            yield Sent("open", table_of(columns, _OPEN), _home_of(key, n_partitions))

    met = flow.reduce("lossless-asked", {"texts": texts, "spans": spans}, ask, {"asked": _ASKED, "sizes": _SIZES})
    sizes = [*np.unique(flow.collect(met["sizes"])["size"].to_numpy()).tolist(), rule.size]
    matched = lookup(flow, "lossless-matched", met["asked"], {"texts": texts, "spans": spans}, answer_matched, MATCHED)
    given = {"texts": texts, "spans": spans, "matched": matched}
    left = flow.reduce("lossless-open", given, open_others, {"open": _OPEN})["open"]
    kept = _kept_grams(flow, texts, spans, left, sizes, rule)
    return {"matched": matched, "found": lookup(flow, "lossless-found", left, {"kept": kept}, _answer_found, FOUND)}


class Answers:
    """Where grams of one size are: by key and, in the documents that rows match, by document."""

    def __init__(self, table: pa.Table, names: Sequence[str]) -> None:
        self.table = table.sort_by([(name, "ascending") for name in names])
        self._known = [self.table[name].to_numpy() for name in names]

    @classmethod
    def of(cls, matched: pa.Table, size: int) -> Answers:
        """Return the answers about grams of a size, in the documents that their rows match."""
        return cls(matched.filter(pa.array(matched["size"].to_numpy() == size)), ("document", "key"))

    @classmethod
    def of_keys(cls, found: pa.Table, size: int) -> Answers:
        """Return the answers about grams of a size, anywhere."""
        return cls(found.filter(pa.array(found["size"].to_numpy() == size)), ("key",))

    def at(self, keys: Keys, documents: Numbers | None = None) -> tuple[Numbers, Truths]:
        """Return the row about each gram, and whether there is one."""
        return firsts_of_equal((keys,) if documents is None else (documents, keys), tuple(self._known))


def _home_of(keys: Keys, n_partitions: int) -> Numbers:
    """Return where keys meet: every partition has a range of them."""
    leading = (keys >> (np.uint64(64) - _HOME_BITS)).astype(np.int64)
    homes: Numbers = leading * n_partitions >> np.int64(_HOME_BITS)
    return homes


def _kept_grams(
    flow: Flow, texts: PartedTable, spans: PartedTable, left: PartedTable, sizes: Sequence[int], rule: Rule
) -> PartedTable:
    """Return the first places in text that stays, one from each partition, of the keys that are left, where these meet."""
    n_partitions = flow.n_partitions
    bits = min(max(bits_for(flow.count(left)), int(_HOME_BITS)), _MOST_BITS)

    def filter_keys(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        leading = (tables["open"]["key"].to_numpy() >> np.uint64(64 - bits)).astype(np.int64)
        if len(leading) == 0:
            return
        first = int(leading.min()) // 8 * 8
        table = np.zeros(int(leading.max()) - first + 1, np.bool_)
        table[leading - first] = True
        sent = table_of([[first], pa.array([np.packbits(table).tobytes()], pa.large_binary())], _FILTER)
        yield from (Sent("filter", sent, number) for number in range(n_partitions))

    def send_kept(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        if tables["filter"].num_rows == 0 or tables["texts"].num_rows == 0:
            return
        wanted = np.zeros(1 << bits, np.bool_)
        for first, packed in zip(tables["filter"]["first"].to_pylist(), tables["filter"]["bits"].to_pylist(), strict=True):
            part = np.unpackbits(np.frombuffer(packed, np.uint8)).astype(np.bool_)
            part = part[: len(wanted) - first]
            wanted[first : first + len(part)] |= part
        home, keys = Home.of(tables, rule), KeyFilter(wanted)
        for size in sizes:
            grams = home.grams(size, rule)
            may_be = keys.may_have(grams.kept_key)
            key, first_row = np.unique(grams.kept_key[may_be], return_index=True)
            columns = [key, np.full(len(key), size), *home.placed(grams.kept[may_be][first_row])]
            yield Sent("kept", table_of(columns, _KEPT), _home_of(key, n_partitions))

    filters = flow.reduce("lossless-filter", {"open": left}, filter_keys, {"filter": _FILTER})["filter"]
    given = {"texts": texts, "spans": spans, "filter": filters}
    return flow.reduce("lossless-kept", given, send_kept, {"kept": _KEPT})["kept"]


def _answer_found(asked: pa.Table, known: Mapping[str, pa.Table]) -> pa.Table:
    """Return where each gram is: the first place in text that stays, or else in the first unit."""
    both = known["kept"], asked
    columns = {name: np.concatenate([table[name].to_numpy() for table in both]) for name in _KEPT.names}
    n_kept = known["kept"].num_rows
    is_open = np.arange(len(columns["key"])) >= n_kept
    order = np.lexsort((columns["word"], columns["document"], is_open, columns["size"], columns["key"]))
    number, _ = numbered(columns["key"], columns["size"])
    first = np.full(int(number.max(initial=-1)) + 1, -1, np.int64)
    first[number[order[::-1]]] = order[::-1]
    at = first[number[n_kept:]]
    return table_of([*(columns[name][at] for name in _KEPT.names), ~is_open[at]], FOUND)
