"""What `dedup --lossless` removes, with receipts, over many partitions: given where the grams of every home were found.

Each home decides which of its units stay, and asks the homes of other documents where the words of receipts are in their texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.clusters.exchange.lossless import Answers, Home, Rule
from ibidem.clusters.lossless import stretches
from ibidem.clusters.removals import GONE, READING_ORDER
from ibidem.columns.distinct import numbered
from ibidem.columns.parted_tables import in_order, table_of
from ibidem.config import SentencesConfig
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup
from ibidem.model import RECEIPT
from ibidem.sentences.hashed_words import locate_texts, number_texts
from ibidem.sentences.splitter import split_and_check
from ibidem.word_runs.exchange import TextWords

Numbers = NDArray[np.int64]
Truths = NDArray[np.bool_]

# Words of other documents that receipts name.
_WORDS: list[tuple[str, pa.DataType]] = [("matched", pa.int64()), ("word", pa.int64()), ("n_words", pa.int64())]
_CHOSEN = pa.schema([("document", pa.int64()), ("row", pa.int64())])
_STRETCHES = pa.schema([("row", pa.int64()), ("number", pa.int64()), ("start", pa.int64()), ("end", pa.int64()), *_WORDS])
_ASKED = pa.schema([*_WORDS, ASKER])
_LOCATED = pa.schema([*_WORDS, ("id", pa.large_string()), ("matched_start", pa.int64()), ("matched_end", pa.int64())])
# How much stays after all, and its characters.
_LEFT = pa.schema([("n_rows", pa.int64()), ("n_chars", pa.int64())])
PROVEN = pa.schema([*GONE, RECEIPT])


def proven_flow(
    flow: Flow, texts: PartedTable, spans: PartedTable, proofs: Mapping[str, PartedTable], removals: Mapping[str, PartedTable],
    rule: Rule, sentences: SentencesConfig,
) -> dict[str, PartedTable]:  # fmt: skip
    """Return what is `removed` (PROVEN) of `removals`, what is true now of `members`, and how much stays (`left`)."""
    layout = flow.layout

    def choose(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        if tables["spans"].num_rows == 0:
            return
        home = Home.of(tables, rule)
        stays = np.zeros(home.units.n_units, np.bool_)
        for size in home.few(rule):
            grams = home.grams(size, rule)
            _, _, is_lost = _places(home, grams.start, grams.key, tables, size)
            stays[home.units.units_of(grams.start[is_lost])] = True
        grams = home.grams(rule.size, rule)
        document, word, is_lost = _places(home, grams.start, grams.key, tables, rule.size)
        is_keeper = is_lost & _is_at(home, grams.start, document, word)
        stays[home.units.units_of(grams.start[is_keeper])] = True
        chosen = ~stays[home.units.unit]
        rows = np.flatnonzero(chosen)
        yield Sent("chosen", table_of([home.document[rows], rows], _CHOSEN), partition)
        some = chosen[home.units.rows_of(grams.start)]
        found = _stretches(home, grams.start[some], document[some], word[some], rule, sentences)
        yield Sent("stretches", found, partition)
        places = [found[name].to_numpy() for name, _ in _WORDS]
        _, first = numbered(*places)
        columns = [*(column[first] for column in places), np.full(len(first), partition)]
        yield Sent("asked", table_of(columns, _ASKED), layout.home(places[0][first]))

    def locate(asked: pa.Table, known: Mapping[str, pa.Table]) -> pa.Table:
        document, word, n_words = (asked[name].to_numpy() for name, _ in _WORDS)
        here = TextWords.of(known["texts"], rule.seed, None, np.unique(document))
        rows = here.rows(document)
        start, end = locate_texts(here.texts, rows, word)[0], locate_texts(here.texts, rows, word + n_words - 1)[1]
        return table_of([document, word, n_words, here.ids.take(pa.array(rows)), start, end], _LOCATED)

    def finish(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        removed = tables["removed"].sort_by(READING_ORDER)
        row = np.sort(tables["chosen"]["row"].to_numpy())
        gone = _still_whole(removed, row).take(pa.array(row))
        receipts = _receipt_lists(tables["stretches"], tables["located"], row)
        yield Sent("removed", gone.append_column(RECEIPT, receipts), partition)
        n_chars = [int((table["end"].to_numpy() - table["start"].to_numpy()).sum()) for table in (removed, gone)]
        yield Sent("left", table_of([[removed.num_rows - gone.num_rows], [n_chars[0] - n_chars[1]]], _LEFT), 0)
        if "members" in tables:
            yield Sent("members", _kept_members(tables["members"], gone), partition)

    given = {"texts": texts, "spans": spans, **proofs}
    made = flow.reduce("lossless-chosen", given, choose, {"chosen": _CHOSEN, "stretches": _STRETCHES, "asked": _ASKED})
    located = lookup(flow, "lossless-located", made.pop("asked"), {"texts": texts}, locate, _LOCATED)
    outputs = {"removed": PROVEN, "left": _LEFT} | {name: table.schema for name, table in removals.items() if name == "members"}
    return flow.reduce("lossless-removed", {**removals, **made, "located": located}, finish, outputs)


def _places(
    home: Home, start: Numbers, keys: NDArray[np.uint64], tables: Mapping[str, pa.Table], size: int
) -> tuple[Numbers, Numbers, Truths]:
    """Return where each gram is, and whether it is nowhere in text that stays; then its place is in its keeper."""
    matched, found = Answers.of(tables["matched"], size), Answers.of_keys(tables["found"], size)
    at, is_there = matched.at(keys, home.matched[home.units.rows_of(start)])
    other = found.at(keys[~is_there])[0]
    places = []
    for name in ("document", "word"):
        place = np.empty(len(keys), np.int64)
        place[is_there] = matched.table[name].to_numpy()[at[is_there]]
        place[~is_there] = found.table[name].to_numpy()[other]
        places.append(place)
    is_lost = np.zeros(len(keys), np.bool_)
    is_lost[~is_there] = ~found.table["is_kept"].to_numpy()[other]
    return places[0], places[1], is_lost


def _is_at(home: Home, start: Numbers, document: Numbers, word: Numbers) -> Truths:
    """Return which grams are the places that were found."""
    own_document, own_word = home.placed(start)
    is_here: Truths = (own_document == document) & (own_word == word)
    return is_here


def _stretches(
    home: Home, start: Numbers, document: Numbers, word: Numbers, rule: Rule, sentences: SentencesConfig
) -> pa.Table:
    """Return the stretches of receipts with their places in the texts of this home."""
    words, texts = home.words, home.here.texts
    row, own = home.units.rows_of(start), np.unique(words.documents(start))
    split, _ = split_and_check(texts.take(pa.array(own)), sentences, np.empty(0, np.uint64))
    of = own[split.column("document").to_numpy()]
    begins = number_texts(texts, of, split.column("start_char").to_numpy().astype(np.int64)) + words.first[of]
    sentence_word = np.unique(np.concatenate([begins, words.first[:-1]]))
    found = stretches(start, row, document, word, rule.size, sentence_word, len(words.hashes))
    own = words.documents(start[found.gram])
    first, n_words = found.begin - words.first[own], found.end - found.begin
    places = locate_texts(texts, own, first)[0], locate_texts(texts, own, first + n_words - 1)[1]
    columns = [found.row, np.arange(len(found.row)), *places, found.document, found.word, n_words]
    return table_of(columns, _STRETCHES)


def _still_whole(removed: pa.Table, chosen: Numbers) -> pa.Table:
    """Return what was to be removed, as passages where other passages of the document stay."""
    document = removed["document"].to_numpy()
    stays = np.ones(len(document), np.bool_)
    stays[chosen] = False
    what = np.array(removed["removed"].to_pylist(), object)
    what[np.isin(document, document[stays])] = "passage"
    at = removed.column_names.index("removed")
    return removed.set_column(at, removed.schema.field(at), pa.array(what, pa.string()))


def _receipt_lists(found: pa.Table, located: pa.Table, rows: Numbers) -> pa.Array:
    """Return the receipts of rows, as a list for each."""
    found = in_order(found, "number")
    sides = [np.concatenate([table[name].to_numpy() for table in (located, found)]) for name, _ in _WORDS]
    number, _ = numbered(*sides)
    place = np.empty(int(number.max(initial=-1)) + 1, np.int64)
    place[number[: located.num_rows]] = np.arange(located.num_rows)
    there = located.take(pa.array(place[number[located.num_rows :]])).combine_chunks()
    columns = [found["start"], found["end"], there["id"], there["matched_start"], there["matched_end"]]
    arrays = [column.combine_chunks() for column in columns]
    arrays = [one if isinstance(one, pa.Array) else pa.concat_arrays(one.chunks) for one in arrays]
    structs = pa.StructArray.from_arrays(arrays, fields=list(RECEIPT.type.value_type))
    offsets = np.searchsorted(found["row"].to_numpy(), np.append(rows, np.iinfo(np.int64).max))
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), structs)


def _kept_members(members: pa.Table, gone: pa.Table) -> pa.Table:
    """Return members of clusters; those that are not removed are kept instead of nothing else."""
    stays = pa.array(~np.isin(members["document"].to_numpy(), gone["document"].to_numpy()))
    for name in ("document", "id"):
        at = members.column_names.index(f"kept_{name}")
        kept = pa.compute.if_else(stays, members[name], members[f"kept_{name}"])
        members = members.set_column(at, members.schema.field(at), kept)
    return members
