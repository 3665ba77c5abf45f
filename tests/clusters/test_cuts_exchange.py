"""Cuts over many partitions: what goes is what goes on one machine, row for row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.clusters.exchange import cuts
from ibidem.clusters.exchange.cuts import cuts_flow
from ibidem.clusters.removals import SPANS, Removals
from ibidem.columns.collection import Collection
from ibidem.columns.parted_tables import CLASSED
from ibidem.columns.ragged import as_lists
from ibidem.config import Config
from ibidem.execution.flow import PartedTable
from ibidem.execution.layout import Layout
from ibidem.execution.tasks import in_turn
from ibidem.matches import join_types, sort_sets
from ibidem.signatures import SetSignature, collapse_sentences, count_vocabulary, load_signature, type_tokens
from tests.memory_flow import MemoryFlow
from tests.texts import documents, render, text, word, words

Record = dict[str, Any]
ANTECEDENTS = [word(20 * number) for number in (1, 3, 4, 7)]  # other sentences have no signature by spots
RANKS = pa.schema([("document", pa.int64()), ("rank_key", pa.int64())])


def classed(collection: Collection, config: Config) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Return the class of each sentence under a name that says nothing, and the sets of those that are similar to others."""
    signature = config.signatures.signature
    if signature == "exact":
        return collection.digest, {}
    kind = load_signature(signature)
    types = collapse_sentences(collection.digest)
    tokens = type_tokens(collection, types, in_turn)
    counted = types.of_sentence, collection.document, collection.n_documents
    vocabulary = count_vocabulary(tokens, *counted) if kind.needs_vocabulary else None
    if not isinstance(kind, SetSignature):
        return kind.key(tokens, vocabulary, config.signatures)[types.of_sentence], {}
    hashes = kind.hashes(tokens, vocabulary, config.signatures)
    kept = hashes.hashes.copy()  # sorting sets may use their room
    of_type = join_types(sort_sets(hashes), config.matches.min_similarity).of_type
    names = (of_type.astype(np.uint64) + np.uint64(1)) * np.uint64(0x2545F4914F6CDD1D)
    similar = (np.bincount(of_type[of_type >= 0], minlength=len(of_type)) > 1)[of_type] & (of_type >= 0)
    sets = {
        sentence: np.unique(kept[hashes.first[t] : hashes.first[t + 1]])
        for sentence, t in enumerate(types.of_sentence.tolist())
        if similar[t]
    }
    return names[types.of_sentence], sets


def document_table(collection: Collection, numbers: np.ndarray, config: Config) -> pa.Table:
    """Return the documents of a collection as the stages before would hand them on."""
    classes, sets = classed(collection, config)
    first = collection.document_first
    counts = np.diff(first)
    mine = [[s for s in range(first[d], first[d + 1]) if s in sets] for d in range(collection.n_documents)]
    compared = [[s - int(first[d]) for s in some] for d, some in enumerate(mine)]
    sizes = [[len(sets[s]) for s in some] for some in mine]
    hashes = [[h for s in some for h in sets[s].tolist()] for some in mine]
    columns = [
        pa.array(numbers),
        collection.ids,
        pa.array([None] * len(numbers), CLASSED.field("time").type),
        collection.groups,
        pa.array(collection.n_chars),
        *(
            as_lists(getattr(collection, name), counts, CLASSED.field(name).type.value_type)
            for name in ("start_char", "end_char", "n_words", "digest")
        ),
        as_lists(classes, counts, pa.uint64()),
        pa.array(compared, CLASSED.field("compared").type),
        pa.array(sizes, CLASSED.field("set_sizes").type),
        pa.array(hashes, CLASSED.field("sets").type),
    ]
    return pa.Table.from_arrays(columns, schema=CLASSED)


def in_blocks(table: pa.Table, layout: Layout, tag: str) -> PartedTable:
    homes = layout.home(table["document"].to_numpy())
    parts = [(p, table.filter(pa.array(homes == p))) for p in range(layout.n_partitions)]
    return PartedTable(tag, table.schema, [(p, part) for p, part in parts if part.num_rows])


def rank_keys(rule: str, collection: Collection) -> np.ndarray:
    if rule == "longest":
        return -collection.n_chars
    if rule.endswith(":max"):
        return -np.array([float(value or 0) for value in collection.groups.to_pylist()]).astype(np.int64)
    return np.zeros(collection.n_documents, np.int64)


def check(
    items: Sequence[Record], others: Sequence[Record] = (), partitions: Sequence[int] = (1, 2, 5), step: int = 1,
    most_rounds: int = 30, most_at_once: int = 0, **call: Any,
) -> list[int]:  # fmt: skip
    """Compare the flow with the local engine, for some numbers of partitions; return the rounds that each took."""
    local = ibidem.dedup(items, against=others or None, workers=1, **call)
    collection = local.backing.documents
    assert isinstance(collection, Collection)
    expected = local.backing.removals
    n = collection.n_documents
    numbers = np.arange(n) * step + (step - 1)  # skipped records leave gaps
    n_input = collection.n_input * step
    rounds = []
    for n_partitions in partitions:
        layout = Layout(n * step, n_input if others else n * step, n_partitions)
        flow = MemoryFlow(n_partitions, seed=n + n_partitions)
        given = in_blocks(document_table(collection, numbers, local.config), layout, "documents")
        ranks = in_blocks(pa.table([numbers, rank_keys(local.config.clusters.keep, collection)], schema=RANKS), layout, "ranks")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cuts, "MOST_ROUNDS", most_rounds)
            patch.setattr(cuts, "MOST_AT_ONCE", most_at_once)
            spans = cuts_flow(flow, given, ranks, layout, local.config)
        assert spans.schema.equals(SPANS)
        for partition, part in spans.handle:
            assert (layout.home(part["document"].to_numpy()) == partition).all()
        found = flow.collect(spans)
        removals = Removals.of_spans(found)
        removals = replace(removals, document=removals.document // step, matched=removals.matched // step)
        assert removals.table(collection).to_pylist() == local.removed.to_pylist()
        assert removals.matched.tolist() == expected.matched.tolist()
        assert removals.rows(collection).equals(expected.rows(collection))
        assert removals.dropped.tolist() == expected.dropped.tolist()
        assert removals.is_dropped.tolist() == expected.is_dropped.tolist()
        rounds.append(sum(stage.startswith("cuts-round-") for stage in flow.stages))
    return rounds


# Random collections.


def sentence(number: int, variant: int) -> str:
    """Return a sentence: variants differ in a word, in case, or in nothing but what is no word."""
    said = list(words(number, 3 + number % 4))
    if variant in (1, 2):
        said[-1] = word(9000 + 20 * number + variant)
    return render(said).upper() if variant == 3 else render(said)


@st.composite
def collections(draw: Any, with_variants: bool = False, max_documents: int = 8) -> list[str]:
    """Draw texts of few different sentences, often with stretches of one another, some without any words."""
    found: list[list[tuple[int, int]]] = []
    variants = st.integers(0, 3) if with_variants else st.sampled_from([0, 3])
    sentences = st.tuples(st.integers(1, draw(st.integers(1, 8))), variants)
    for _ in range(draw(st.integers(1, max_documents))):
        mine = draw(st.lists(sentences, min_size=1, max_size=8))
        if found and draw(st.booleans()):
            other = draw(st.sampled_from(found))
            begin = draw(st.integers(0, len(other)))
            mine = mine[:3] + other[begin : begin + draw(st.integers(1, 8))] + mine[3:]
        found.append(mine)
    gap = draw(st.sampled_from([" ", "\n\n"]))
    return [draw(st.sampled_from(["", "  "])) + gap.join(sentence(*one) for one in mine) for mine in found]


def records(texts: Sequence[str], prefix: str = "d") -> list[Record]:
    return [{"id": f"{prefix}{i}", "text": value, "score": 7 * i % 5} for i, value in enumerate(texts)]


calls = st.fixed_dictionaries(
    {
        "level": st.sampled_from(["passage", "passage", "sentence"]),
        "min_sentences": st.integers(1, 4),
        "min_words": st.sampled_from([1, 1, 4, 9, 14]),
        "min_quote_words": st.sampled_from([0, 0, 5]),
        "same_document": st.booleans(),
        "keep": st.sampled_from(["first", "longest", "score:max"]),
    }
)


@settings(max_examples=100, deadline=None)
@given(collections(), calls, st.integers(0, 4), st.sampled_from([1, 3]))
def test_equal_rows(texts: list[str], call: Record, n_reference: int, step: int) -> None:
    items = records(texts)
    n_input = max(1, len(items) - n_reference)
    check(items[:n_input], items[n_input:], step=step, **call)


@settings(max_examples=70, deadline=None)
@given(collections(), calls, st.integers(1, 3), st.sampled_from([0, 5, 10**6]))
def test_rows_that_are_left_after_some_rounds(texts: list[str], call: Record, most_rounds: int, most_at_once: int) -> None:
    check(records(texts), partitions=(1, 3), most_rounds=most_rounds, most_at_once=most_at_once, **call)


@st.composite
def surroundings(draw: Any) -> list[str]:
    """Draw texts of few sentences in ever different surroundings: what goes depends on others that depend on others."""
    beside = st.integers(1, draw(st.integers(2, 5)))
    pattern = draw(st.sampled_from([(1, 0, 1), (1, 0, 0, 1), (1, 0, 1, 0, 1), (1, 0, 0, 0, 1)]))
    places = list(enumerate(pattern, 1))
    return [text(*(20 * k + draw(beside) if one else 0 for k, one in places)) for _ in range(draw(st.integers(3, 16)))]


@settings(max_examples=100, deadline=None)
@given(
    surroundings(), st.integers(2, 3), st.booleans(), st.sampled_from(["first", "score:max"]), st.sampled_from([2, 3, 30]),
    st.sampled_from([0, 0, 20]),
)  # fmt: skip
def test_rows_that_wait_for_others(
    texts: list[str], size: int, same_document: bool, keep: str, most_rounds: int, most_at_once: int
) -> None:
    call: Record = {"level": "passage", "min_sentences": size, "same_document": same_document, "keep": keep}
    check(records(texts), partitions=(1, 3), most_rounds=most_rounds, most_at_once=most_at_once, **call)


@settings(max_examples=70, deadline=None)
@given(
    collections(with_variants=True), calls, st.integers(0, 4), st.sampled_from(["0.5", "0.6", "0.8", "1"]),
    st.sampled_from(["words", "words", "shingles", "spotsigs"]), st.integers(0, 2),
)  # fmt: skip
def test_similar_rows(texts: list[str], call: Record, n_reference: int, limit: str, signature: str, max_gap: int) -> None:
    items = records(texts)
    n_input = max(1, len(items) - n_reference)
    check(
        items[:n_input], items[n_input:], signature=signature, min_similarity=limit, max_gap_sentences=max_gap,
        antecedents=ANTECEDENTS, **call,
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    collections(with_variants=True), calls, st.sampled_from(["imatch", "fingerprint"]), st.integers(0, 2),
    st.sampled_from([0.1, 0.4, 0.6]),
)  # fmt: skip
def test_keys_that_some_rows_lack(texts: list[str], call: Record, signature: str, max_gap: int, share: float) -> None:
    check(records(texts), signature=signature, max_gap_sentences=max_gap, min_idf=share, max_document_share=share, **call)


# SampleRatios.


def test_copies_take_two_rounds() -> None:
    items = documents(*[text(*range(10)) + " " + text(100 + i) for i in range(40)])
    assert check(items, level="passage") == [2, 2, 2]
    items = documents(*[text(*range(i, i + 30)) for i in range(0, 200, 20)])
    assert max(check(items, level="passage")) == 2


def test_one_text_in_all_documents_is_sent_once_a_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    items = documents(*[f"{text(100 + i)} {text(1, 2, 3, 4)} {text(500 + i)}" for i in range(300)])
    sent: dict[str, int] = {}
    store = MemoryFlow._store

    def counting(self: MemoryFlow, stage: str, *more: Any) -> Any:
        stored = store(self, stage, *more)
        for tag, blocks in stored.items():
            sent[f"{stage}/{tag}"] = sum(table.num_rows for _, table in blocks.handle)
        return stored

    monkeypatch.setattr(MemoryFlow, "_store", counting)
    check(items, level="passage", partitions=(5,))
    at_home = {"cuts-rows/rows", "cuts-round-1/pairs", "cuts-round-2/cuts", "cuts-spans/spans", "cuts/spans", "cuts-keys/keys"}
    assert sent["cuts-repeated/answers"] == 2 * 5
    assert {name for name, n_rows in sent.items() if n_rows > 4 * 5} == at_home
    assert max(check(items, level="passage", same_document=True)) == 2


@pytest.mark.parametrize("same_document", [False, True])
@pytest.mark.parametrize("most_rounds", [3, 30])
def test_chains_end(most_rounds: int, same_document: bool) -> None:
    # The sentence 0 is in all documents, and each shares it with the one before and the one after, in different windows.
    items = documents(*[text(100 + (i + 1) // 2, 0, 500 + i // 2) for i in range(100)])
    call: Record = {"level": "passage", "min_sentences": 2, "same_document": same_document}
    assert check(items, most_rounds=most_rounds, **call) == [most_rounds] * 3
    assert check(items, most_rounds=most_rounds, most_at_once=10**6, **call) == [1, 1, 1], "few enough for one task"
    removed = ibidem.dedup(items, **call).removed
    assert removed["n_sentences"].to_pylist()[:4] == [2, 1, 2, 1], "0 goes in every other document"
    longest_first = [{**item, "text": item["text"] + " " * (7 * i % 100)} for i, item in enumerate(items)]
    rounds = check(longest_first, keep="longest", most_rounds=most_rounds, **call)
    assert max(rounds) == min(15, most_rounds), "fourteen documents rise in rank, then it falls"
    overlapping = documents(*[text(*range(2 * i, 2 * i + 5)) for i in range(100)])
    assert max(check(overlapping, level="passage", same_document=same_document)) <= 3


@pytest.mark.parametrize(("most_rounds", "most_at_once"), [(30, 0), (1, 0), (1, 100)])
def test_what_overlaps_itself_stays(most_rounds: int, most_at_once: int) -> None:
    # Twice 2 in a row goes in the third document, but not because of itself; so it stays in the fourth, three times.
    items = documents(text(1, 2), text(2, 3), text(1, 2, 2, 3), text(4, 2, 2, 2, 5), text(6, 2, 2))
    call: Record = {"level": "passage", "min_sentences": 2, "same_document": True}
    assert ibidem.dedup(items, **call).removed["id"].to_pylist() == ["d2", "d2", "d4"]
    check(items, most_rounds=most_rounds, most_at_once=most_at_once, **call)


def test_equal_texts_without_a_class_hold_similar_ones_together() -> None:
    items = documents(text(1, 2, 3), text(50), text(1, 2, 3), " ".join((text(9, 10), text(1, 2, 3))))
    call: Record = {"level": "passage", "signature": "spotsigs", "antecedents": ANTECEDENTS, "max_gap_sentences": 0}
    assert len(ibidem.dedup(items, **call)) == 2, "2 has no spots, and interrupts"
    check(items, **call)


def test_similar_text_that_stands_twice_in_one_document_only() -> None:
    items = documents(text(60, 61), f"{text(1, 2)} {text(1)} {sentence(2, 1)}", text(70))
    call: Record = {"level": "passage", "signature": "words", "min_similarity": "0.5", "min_sentences": 2}
    assert len(ibidem.dedup(items, same_document=True, **call)) == 1
    check(items, same_document=True, **call)
    check(items, **call)
    check(items[:2], items[2:], same_document=True, **call)


def test_nothing_to_cut() -> None:
    assert check(documents(text(1, 2, 3), "…", text(4, 5, 6)), level="passage") == [1, 1, 1]
    assert check(documents("…", "***"), level="passage") == [1, 1, 1]
