"""Groups that share documents: equal to looking at every cluster, in memory, over partitions and on disk."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.clusters import mirrors
from ibidem.clusters.stage import cluster_tables
from ibidem.config import Config
from ibidem.execution.progress import Progress
from ibidem.model import MIRRORS
from ibidem.pipeline import cluster_documents
from tests.cluster_twins import clusters, limits, records, shingle_sizes, word_lists
from tests.execution.disk.sameness import examples, ways, written
from tests.memory_flow import MemoryFlow
from tests.resemblance.test_exchange import most_documents, numbered, seeds
from tests.texts import documents, text

GROUPS = ("alder.example", "birch.example", "cedar.example", "", None)
groups = st.lists(st.sampled_from(GROUPS), min_size=8, max_size=8)


def grouped(words: list[list[str]], names: list[str | None]) -> list[dict[str, Any]]:
    return [{**item, "group": name} for item, name in zip(records(words), names, strict=False)]


def by_hand(result: Any, items: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Look at all clusters, group by group."""
    of_id = {item["id"]: item["group"] for item in items if item["group"] is not None}
    in_order = list(dict.fromkeys(of_id.values()))
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for stays, members in clusters(result).items():
        by_group: dict[str, list[str]] = {}
        for doc_id in members:
            if doc_id in of_id:
                by_group.setdefault(of_id[doc_id], []).append(doc_id)
        names = sorted(by_group, key=in_order.index)
        first = next(doc_id for doc_id in members if doc_id in of_id) if by_group else ""
        leading = of_id.get(stays, of_id.get(first))
        for i, a in enumerate(names):
            for b in names[i + 1 :]:
                if len(names) > most and leading not in (a, b):
                    continue
                row = found.setdefault((a, b), {"shared": [0, 0], "examples": []})
                row["shared"] = [row["shared"][0] + len(by_group[a]), row["shared"][1] + len(by_group[b])]
                row["examples"].append((by_group[a][0], by_group[b][0]))
    place = {item["id"]: i for i, item in enumerate(items)}
    sizes = {name: list(of_id.values()).count(name) for name in in_order}
    rows = []
    for (a, b), row in sorted(found.items(), key=lambda entry: [in_order.index(name) for name in entry[0]]):
        a_id, b_id = min(row["examples"], key=lambda pair: place[pair[0]])
        shared = dict(zip(("a_shared", "b_shared"), row["shared"], strict=True))
        shares = {"a_share": shared["a_shared"] / sizes[a], "b_share": shared["b_shared"] / sizes[b]}
        counts = {"a_documents": sizes[a], "b_documents": sizes[b]}
        rows.append({"a_group": a, "b_group": b, **counts, **shared, **shares, "a_id": a_id, "b_id": b_id})
    return rows


def mirrors_apart(items: list[dict[str, Any]], n_partitions: int, seed: int, **call: Any) -> pa.Table:
    config = Config.of(None, by_group=True, **call)
    batches, layout = numbered(items, None, config, n_partitions, seed)
    flow = MemoryFlow(n_partitions, seed, layout=layout)
    shingled, clustered = cluster_documents(flow, batches, config, Progress(), None)
    return flow.collect(cluster_tables(flow, shingled, clustered, config)["mirrors"].table("mirrors"))


@settings(max_examples=100, deadline=None)
@given(word_lists(), groups, limits, shingle_sizes, most_documents, st.booleans(), seeds)
def test_groups_that_share_documents(
    words: list[list[str]], names: list[str | None], limit: str, size: int, most: int, chains: bool, seed: int
) -> None:
    items = grouped(words, names)
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": size, "max_shingle_documents": most, "chains": chains}
    call["hash_seed"] = 1
    if all(item["group"] is None for item in items):
        for run in (lambda: ibidem.cluster(items, by_group=True, **call), lambda: mirrors_apart(items, 2, seed, **call)):
            with pytest.raises(ibidem.InputError, match="no record has a field 'group' with a value, so there are no groups"):
                run()
        return
    result = ibidem.cluster(items, by_group=True, workers=1, **call)
    assert result.mirrors.schema.equals(MIRRORS)
    expected = by_hand(result, items, most)
    assert result.mirrors.to_pylist() == expected
    for n in (1, 4):
        assert mirrors_apart(items, n, seed, **call).to_pylist() == expected


@examples(4)
@given(words=word_lists(), names=groups, limit=limits, way=ways)
def test_on_disk(words: list[list[str]], names: list[str | None], limit: str, way: dict[str, Any]) -> None:
    items = grouped(words, [*names[:-1], "alder.example"])
    items[0]["group"] = "birch.example"
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": 2, "by_group": True, "hash_seed": 1}
    whole = ibidem.cluster(items, **call)
    with written(items) as (inputs,), ibidem.cluster(inputs, **call, **way) as stored:
        assert stored.backing.storage == "disk"
        assert stored.mirrors.schema.equals(whole.mirrors.schema)
        assert stored.mirrors.to_pylist() == whole.mirrors.to_pylist()
        assert stored.overview() == whole.overview()
        assert stored.run()["counts"]["mirrors"] == whole.mirrors.num_rows


def crowd(n_groups: int) -> list[dict[str, Any]]:
    """One page that all sites have, and one more that two of them have."""
    random = np.random.default_rng(2)
    pages = [" ".join(f"w{n}" for n in random.integers(0, 10**6, 60)) for _ in range(2)]
    items = [{"id": f"s{i}/a", "group": f"site{i}", "text": pages[0]} for i in range(n_groups)]
    return items + [{"id": f"s{i}/b", "group": f"site{i}", "text": pages[1]} for i in (3, 5)]


def test_a_page_that_very_many_groups_have_gives_no_square() -> None:
    items = crowd(60)
    usual: dict[str, Any] = {"max_shingle_documents": 20, "by_group": True, "hash_seed": 1}
    rows = ibidem.cluster(items, **usual).mirrors.to_pylist()
    assert [(row["a_group"], row["b_group"]) for row in rows] == [
        *(("site0", f"site{i}") for i in range(1, 60)), ("site3", "site5"),
    ]  # fmt: skip
    assert rows == mirrors_apart(items, 5, 1, max_shingle_documents=20, hash_seed=1).to_pylist()
    assert len(ibidem.cluster(items, by_group=True).mirrors) == 60 * 59 // 2


def test_pairs_are_added_up_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    cluster = np.sort(random.integers(0, 40, 400))
    columns = cluster, random.integers(0, 12, 400), np.arange(400), np.concatenate([[True], cluster[1:] != cluster[:-1]])
    for most in (3, 1000):
        whole = mirrors.shared_documents(*columns, most)
        assert len(whole.x) == 66 or most == 3
        for n in (1, 7, 100):
            monkeypatch.setattr(mirrors, "_PAIRS_AT_A_TIME", n)
            parts = mirrors.shared_documents(*columns, most)
            assert [column.tolist() for column in parts.columns] == [column.tolist() for column in whole.columns]
        monkeypatch.undo()


def test_what_does_not_go_together_is_refused() -> None:
    items = documents(text(1), text(2))
    with pytest.raises(ibidem.UsageError, match='by_group does not work with keep="score:max"'):
        ibidem.cluster(items, by_group=True, keep="score:max")
    with pytest.raises(ibidem.UsageError, match="by_group compares the groups of the inputs"):
        ibidem.cluster(items, against=items, by_group=True)
    with pytest.raises(ibidem.UsageError, match=r"(?s)groups were not compared.*by_group"):
        _ = ibidem.cluster(items).mirrors
