"""`cluster` and `dedup` of whole documents over many partitions: what they are on one machine, row for row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.clusters.stage import cluster_tables
from ibidem.columns.keep_rules import fields_for_keeping
from ibidem.columns.parted_tables import NUMBERED
from ibidem.config import Config
from ibidem.errors import NoDocumentsError, RepeatedIdError, SettingsError
from ibidem.execution.layout import Layout
from ibidem.execution.progress import Progress
from ibidem.formats import read_batches
from ibidem.pipeline import cluster_documents, remove_duplicates
from ibidem.resemblance.exchange import shingle_pairs
from tests.cluster_twins import WORDS, limits, records, shingle_sizes, word_lists
from tests.memory_flow import MemoryFlow
from tests.texts import documents, text, word

Record = dict[str, Any]


def numbered(
    inputs: Sequence[Record], against: Sequence[Record] | None, config: Config, n_partitions: int, seed: int
) -> tuple[list[pa.RecordBatch], Layout]:
    """Return documents as mappers read them, some at a time, in any order; records between them were left out."""
    random = np.random.default_rng(seed)
    batches: list[pa.RecordBatch] = []
    number, n_input = 0, 0
    for side in (inputs, against):
        for batch in read_batches(list(side), fields_for_keeping(config), lambda skipped: None) if side is not None else ():
            steps = random.integers(1, 3, batch.num_rows) if seed % 2 else np.ones(batch.num_rows, np.int64)
            documents = number + np.cumsum(steps) - 1
            number = int(documents[-1]) + 1
            whole = pa.RecordBatch.from_arrays([pa.array(documents), *batch.columns], schema=NUMBERED)
            at = 0
            while at < whole.num_rows:
                batches.append(whole.slice(at, int(random.integers(1, 5))))
                at += batches[-1].num_rows
        n_input = number if side is inputs else n_input
    return [batches[i] for i in random.permutation(len(batches))], Layout(number, n_input, n_partitions)


def clustered_apart(
    inputs: Sequence[Record], against: Sequence[Record] | None = None, plan: ibidem.SamplingPlan | None = None,
    n_partitions: int = 3, seed: int = 0, **call: Any,
) -> tuple[pa.Table, pa.Table, int]:  # fmt: skip
    """Return pairs and clusters, as `cluster` gives them over partitions, and how many documents it counted."""
    config, progress = Config.of(None, **call), Progress()
    batches, layout = numbered(inputs, against, config, n_partitions, seed)
    flow = MemoryFlow(n_partitions, seed, layout=layout)
    shingled, clustered = cluster_documents(flow, batches, config, progress, plan)
    tables = cluster_tables(flow, shingled, clustered, config)
    pairs, clusters = (flow.collect(tables[name].table(name)) for name in ("duplicates", "clusters"))
    return pairs, clusters, progress.counts["documents"]


def decided_apart(
    inputs: Sequence[Record], against: Sequence[Record] | None = None, plan: ibidem.SamplingPlan | None = None,
    n_partitions: int = 3, seed: int = 0, **call: Any,
) -> pa.Table:  # fmt: skip
    """Return what `dedup` decides about the members of clusters over partitions."""
    config = Config.of(None, **call)
    batches, layout = numbered(inputs, against, config, n_partitions, seed)
    flow = MemoryFlow(n_partitions, seed, layout=layout)
    return flow.collect(remove_duplicates(flow, batches, config, Progress(), plan)[1].table("members"))


def check_equal(
    inputs: Sequence[Record], against: Sequence[Record] | None = None, plan: ibidem.SamplingPlan | None = None,
    n_partitions: Sequence[int] = (1, 2, 5), seed: int = 0, **call: Any,
) -> ibidem.ClusterResult:  # fmt: skip
    """Check that tables and decisions are those of the local engine; return its result."""
    call = {"hash_seed": 1, **call}  # which documents meet at common shingles depends on it
    local = ibidem.cluster(inputs, against=against, plan=plan, workers=1, **call)
    cleaned = ibidem.dedup(inputs, against=against, plan=plan, workers=1, **call)
    for n in n_partitions:
        pairs, clusters, n_documents = clustered_apart(inputs, against, plan, n, seed, **call)
        assert pairs.select(local.duplicates.column_names).to_pylist() == local.duplicates.to_pylist()
        assert clusters.select(local.clusters.column_names).to_pylist() == local.clusters.to_pylist()
        assert n_documents == local.backing.documents.n_documents
        numbers = list(zip(pairs["a_document"].to_pylist(), pairs["b_document"].to_pylist(), strict=True))
        assert numbers == sorted(set(numbers))
        decisions = decided_apart(inputs, against, plan, n, seed, **call)
        check_decisions(decisions, cleaned, len(inputs), {row["id"] for row in local.clusters.to_pylist()})
    return local


def check_decisions(decisions: pa.Table, cleaned: Any, n_input: int, clustered: set[str]) -> None:
    rows = decisions.to_pylist()
    assert {row["id"] for row in rows} == clustered
    names = cleaned.backing.documents.ids.to_pylist()
    inputs = set(names[: cleaned.backing.documents.n_input])
    removed = [row for row in rows if row["document"] != row["kept_document"] and row["id"] in inputs]
    expected = cleaned.backing.removals.table(cleaned.backing.documents).to_pylist()
    assert [
        {
            "id": row["id"], "source": row["source"], "position": row["position"], "end": row["n_chars"],
            "matched_id": row["kept_id"], "matched_source": row["kept_source"], "matched_position": row["kept_position"],
            "matched_end": row["kept_n_chars"], "similarity": None if np.isnan(row["similarity"]) else row["similarity"],
        }
        for row in removed
    ] == [{name: row[name] for name in COMPARED} for row in expected]  # fmt: skip
    cluster = dict(zip(names, cleaned.backing.removals.cluster.tolist(), strict=True))
    assert all(cluster[row["id"]] == row["cluster"] for row in rows)


COMPARED = (
    "id", "source", "position", "end", "matched_id", "matched_source", "matched_position", "matched_end", "similarity",
)  # fmt: skip
most_documents = st.sampled_from([2, 3, 4, 1000])
seeds = st.integers(0, 1000)


@settings(max_examples=40, deadline=None)
@given(word_lists(), limits, shingle_sizes, most_documents, st.booleans(), seeds)
def test_pairs_and_clusters_are_those_of_one_machine(
    words: list[list[str]], limit: str, size: int, most: int, chains: bool, seed: int
) -> None:
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": size, "max_shingle_documents": most, "chains": chains}
    check_equal(records(words), seed=seed, **call)


@settings(max_examples=70, deadline=None)
@given(
    word_lists(6), word_lists(6), limits, st.sampled_from(["0", "1/2", "0.9"]), shingle_sizes, most_documents, st.booleans(),
    st.sampled_from(["resemblance", "order"]), seeds,
)  # fmt: skip
def test_against_a_reference(
    given_words: list[list[str]], other_words: list[list[str]], limit: str, containment: str, size: int, most: int,
    chains: bool, measure: str, seed: int,
) -> None:  # fmt: skip
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": size, "max_shingle_documents": most, "chains": chains}
    call |= {"measure": measure} if measure == "order" else {"min_containment": containment}
    check_equal(records(given_words, "a"), records(other_words, "b"), seed=seed, n_partitions=(1, 4), **call)


@settings(max_examples=50, deadline=None)
@given(word_lists(), limits, shingle_sizes, most_documents, st.sampled_from(["join", "shingling"]), seeds)
def test_order_and_containment(words: list[list[str]], limit: str, size: int, most: int, method: str, seed: int) -> None:
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": size, "max_shingle_documents": most, "method": method}
    check_equal(records(words), seed=seed, n_partitions=(3,), measure="order", **call)
    check_equal(records(words), seed=seed, n_partitions=(3,), min_containment="0.7", **call)


RULES = ["first", "longest", "earliest", "score:max", "score:min"]
scores = st.lists(st.sampled_from([None, 1, 2, "3", "2.5", "b", "a", "nan"]), min_size=8, max_size=8)


@pytest.mark.parametrize("keep", RULES)
@settings(max_examples=40, deadline=None)
@given(word_lists(), st.lists(st.integers(0, 3), min_size=1, max_size=4), scores, limits, shingle_sizes, st.data())
def test_who_stays(
    keep: str, words: list[list[str]], styles: list[int], values: list[Any], limit: str, size: int, data: st.DataObject
) -> None:
    items = records(words, styles=styles)
    for item, value in zip(items, values, strict=False):
        item |= {"score": value, "time": value if isinstance(value, int) else None}
    field = {"earliest": "time", "score:max": "score", "score:min": "score"}.get(keep)
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": size, "keep": keep}
    call |= {"max_shingle_documents": data.draw(most_documents), "min_containment": data.draw(st.sampled_from(["0", "0.8"]))}
    others = data.draw(st.one_of(st.none(), word_lists(4)))
    against = None if others is None else [{**item, "score": "2", "time": 2} for item in records(others, "b")]
    if field and all(item.get(field) is None for item in [*items, *(against or ())]):
        for run in (ibidem.cluster, clustered_apart):
            with pytest.raises(ibidem.InputError, match="no record has a"):
                run(items, **call)
        return
    check_equal(items, against, seed=data.draw(seeds), n_partitions=(1, 3), **call)


@settings(max_examples=50, deadline=None)
@given(word_lists(), limits, shingle_sizes, st.sampled_from([2, 3, 4]), st.booleans(), most_documents, seeds)
def test_samples(words: list[list[str]], limit: str, size: int, every: int, verify: bool, most: int, seed: int) -> None:
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": size, "verify": verify, "max_shingle_documents": most}
    call |= {"sample_every": every, "sample_remainder": seed % every}
    check_equal(records(words), seed=seed, n_partitions=(1, 4), **call)
    if verify:
        check_equal(records(words), seed=seed, n_partitions=(4,), measure="order", **call)


@settings(max_examples=50, deadline=None)
@given(word_lists(), limits, st.sampled_from([(1, 2, 4), (2, 2, 8), (1, 1, 4)]), st.booleans(), most_documents, seeds)
def test_plans(words: list[list[str]], limit: str, every: tuple[int, ...], verify: bool, most: int, seed: int) -> None:
    plan = ibidem.SamplingPlan((0, 6, 10), every, {})
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": 2, "verify": verify, "max_shingle_documents": most}
    check_equal(records(words), plan=plan, seed=seed, n_partitions=(1, 4), **call)


@settings(max_examples=50, deadline=None)
@given(word_lists(), st.one_of(st.none(), word_lists(5)), limits, shingle_sizes, st.booleans(), most_documents, seeds)
def test_minhash(
    words: list[list[str]], others: list[list[str]] | None, limit: str, size: int, verify: bool, most: int, seed: int
) -> None:
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": size, "verify": verify, "max_shingle_documents": most}
    call |= {"method": "minhash", "permutations": 32, "bands": (4, 16, 32)[seed % 3]}
    against = None if others is None else records(others, "b")
    check_equal(records(words), against, seed=seed, n_partitions=(1, 4), **call)
    if verify:
        check_equal(records(words), against, seed=seed, n_partitions=(3,), measure="order", **call)


@settings(max_examples=50, deadline=None)
@given(word_lists(), st.one_of(st.none(), word_lists(5)), seeds)
def test_identical(words: list[list[str]], others: list[list[str]] | None, seed: int) -> None:
    against = None if others is None else records(others, "b")
    check_equal(records(words), against, seed=seed, n_partitions=(1, 4), method="identical")


def mixture(n: int = 120) -> list[Record]:
    """Ten templates, their copies with more and more words changed, and some of them word for word."""
    random = np.random.default_rng(3)
    templates = random.integers(0, 2000, (10, 80))
    items: list[Record] = []
    for i in range(n):
        changed = templates[i % 10].copy()
        places = random.integers(0, 80, i // 10)
        changed[places] = random.integers(0, 2000, len(places))
        items.append({"id": f"d{i}", "text": " ".join(map(word, changed.tolist())), "time": 1_000_000 + i % 7, "score": i % 5})
    return items + [{**item, "id": item["id"] + "-copy"} for item in items[::9]]


@pytest.mark.parametrize(
    "call",
    [
        {},
        {"measure": "order"},
        {"sample_every": 4},
        {"max_shingle_documents": 5},
        {"max_shingle_documents": 5, "measure": "order", "keep": "score:max"},
        {"max_shingle_documents": 8, "min_containment": "0.5"},
        {"max_shingle_documents": 8, "sample_every": 2},
        {"max_shingle_documents": 8, "chains": True},
        {"method": "shingling", "max_shingle_documents": 20},
        {"method": "identical", "keep": "score:max"},
        {"method": "minhash", "permutations": 64, "bands": 32},
        {"method": "minhash", "permutations": 64, "bands": 32, "max_shingle_documents": 4},
    ],
    ids=str,
)
@pytest.mark.parametrize("with_reference", [False, True])
def test_a_mixture(call: dict[str, Any], with_reference: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shingle_pairs, "_ROOM", 7)  # pairs come in many parts, and a part may have to grow
    call = {"shingle_size": 2, "min_similarity": "0.3", "keep": "earliest"} | call
    items = mixture()
    against = None
    if with_reference:
        items, against = items[:70], [{**item, "id": f"{item['id']}-r"} for item in items[60:]]
    assert len(check_equal(items, against, n_partitions=(1, 7), seed=5, **call)) > 0


def test_crowds() -> None:
    shared = [word(i) for i in range(60)]
    random = np.random.default_rng(8)
    crowd = [[*shared, word(1000 + i)] for i in range(80)] + [[*shared[i % 7 :], word(2000 + i)] for i in range(40)]
    alone = [[word(int(n)) for n in random.integers(3000, 9000, 30)] for _ in range(20)]
    footers = [[*words, *shared[:8]] for words in alone]
    items = [item for _, item in sorted(enumerate(records(crowd + alone + footers)), key=lambda pair: pair[0] * 37 % 160)]
    usual: dict[str, Any] = {"n_partitions": (1, 6), "seed": 3, "shingle_size": 2, "max_shingle_documents": 10}
    half = {"sample_every": 2}
    plan = {"plan": ibidem.SamplingPlan((0, 58), (1, 2), {})}
    calls: list[dict[str, Any]] = [{}, {"measure": "order"}, {"min_containment": "0.8"}, half, plan]
    for call in [*calls, {**half, "verify": False}, {**plan, "verify": False}]:
        assert 100 < len(check_equal(items, **usual, **call)) < 3000
    check_equal(items[:70], items[70:], **usual)


def test_many_identical_documents() -> None:
    items = documents(*[text(1, 2)] * 30, text(1, 2, 3), *[text(4, 5)] * 3, "***", "…", "***")
    for most in (2, 4, 29, 1000):
        assert len(check_equal(items, shingle_size=2, max_shingle_documents=most, min_similarity="0.5")) > 0
        check_equal(items[:20], items[20:], shingle_size=2, max_shingle_documents=most, min_similarity="0.5", chains=most < 9)


def test_no_words_and_no_pairs() -> None:
    for items in (documents("***", "…"), documents(text(1)), documents(text(1), text(2))):
        assert len(check_equal(items)) == 0
        assert len(check_equal(items, documents(r="***"))) == 0
    check_equal(documents("***", "…"), documents(text(1)), plan=ibidem.SamplingPlan((0, 6), (1, 4), {}))


def test_ids_and_sides() -> None:
    same = [*documents(a=text(1, 2), b=text(1, 2, 3)), *documents(a=text(1, 2))]
    with pytest.raises(RepeatedIdError, match="'a'"):
        clustered_apart(same)
    assert [(row["document"], row["kept_document"]) for row in decided_apart(same).to_pylist()] == [(0, 0), (2, 0)]
    check_equal(same[:2], same[2:])  # on two sides an id may come twice
    config = Config.of(None)
    batches, layout = numbered(same, None, config, 2, 0)
    more = Layout(layout.n_records + 1, layout.n_input, 2)
    with pytest.raises(NoDocumentsError, match="the reference contains no documents"):
        cluster_documents(MemoryFlow(2, layout=more), batches, config, Progress(), None, removing=True)


@settings(max_examples=40, deadline=None)
@given(
    word_lists(), limits, most_documents, st.booleans(), st.booleans(), seeds,
    st.sampled_from(
        [
            {},
            {"antecedents": "2"},
            {"antecedents": "3", "spot_stop_words": "2", "spot_short_chains": True},
            {"antecedents": f"{WORDS[0]},{WORDS[1]}", "spot_chain": 1, "stop_words": WORDS[2]},
            {"word_counts": {"*": 9, WORDS[0]: 5, WORDS[1]: (4, 12), WORDS[2]: 3}, "antecedents": "2", "spot_chain": 1},
        ]
    ),
)  # fmt: skip
def test_spots_of_documents_are_those_of_one_machine(
    words: list[list[str]], limit: str, most: int, verify: bool, in_order: bool, seed: int, spots: dict[str, Any]
) -> None:
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": 2, "max_shingle_documents": most, "method": "spotsigs"}
    call |= {"verify": verify or in_order, "measure": "order" if in_order else "resemblance", **spots}
    check_equal(records(words), seed=seed, **call)
    check_equal(records(words[:2]), records(words[2:], "r") or None, seed=seed, n_partitions=(3,), **call)


@pytest.mark.parametrize("method", ["pairs", "simhash", "imatch"])
def test_methods_that_are_for_one_machine(method: str) -> None:
    with pytest.raises(SettingsError, match=f'method="{method}".*join, shingling, identical, minhash, spotsigs'):
        clustered_apart(documents(text(1)), method=method)
