"""`cluster` in parts that are stored gives what `cluster` in memory gives."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibidem
from tests.cluster_twins import limits, records, shingle_sizes, word_lists
from tests.execution.disk.sameness import check_same_cluster, examples, ways, written
from tests.resemblance.test_exchange import mixture

most_documents = st.sampled_from([2, 3, 4, 1000])


@examples(20)
@given(data=st.data(), way=ways)
def test_random_collections(data: Any, way: dict[str, Any]) -> None:
    call: dict[str, Any] = {
        "min_similarity": data.draw(limits),
        "shingle_size": data.draw(shingle_sizes),
        "max_shingle_documents": data.draw(most_documents),
        "chains": data.draw(st.booleans()),
    }
    if data.draw(st.booleans()):
        call["measure"] = "order"
    else:
        call["min_containment"] = data.draw(st.sampled_from(["0", "1/2", "0.9"]))
    others = data.draw(st.one_of(st.none(), word_lists(6)))
    reference = None if others is None else records(others, data.draw(st.sampled_from("db")))
    with written(records(data.draw(word_lists())), reference) as (inputs, against):
        check_same_cluster(inputs, against, way=way, **call)


@pytest.mark.parametrize("keep", ["first", "longest", "earliest", "score:max", "score:min"])
@examples(4)
@given(words=word_lists(), values=st.lists(st.sampled_from([None, 1, 2, "3", "2.5", "b"]), min_size=8, max_size=8), way=ways)
def test_who_stays(keep: str, words: list[list[str]], values: list[Any], way: dict[str, Any]) -> None:
    items = records(words)
    for item, value in zip(items, values, strict=False):
        item |= {"score": value, "time": value if isinstance(value, int) else None}
    items[0] |= {"score": 2, "time": 2}
    with written(items) as (inputs,):
        check_same_cluster(inputs, way=way, keep=keep, min_similarity="0.5", shingle_size=2)


@examples(6)
@given(words=word_lists(), limit=limits, verify=st.booleans(), bands=st.sampled_from([4, 16, 32]), way=ways)
def test_minhash(words: list[list[str]], limit: str, verify: bool, bands: int, way: dict[str, Any]) -> None:
    call: dict[str, Any] = {"min_similarity": limit, "verify": verify, "permutations": 32, "bands": bands}
    with written(records(words)) as (inputs,):
        check_same_cluster(inputs, way=way, method="minhash", shingle_size=2, **call)


@examples(6)
@given(words=word_lists(), limit=limits, verify=st.booleans(), every=st.sampled_from([(1, 2, 4), (2, 2, 8)]), way=ways)
def test_samples_and_plans(
    words: list[list[str]], limit: str, verify: bool, every: tuple[int, ...], way: dict[str, Any]
) -> None:
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": 2, "verify": verify}
    with written(records(words)) as (inputs,):
        check_same_cluster(inputs, way=way, plan=ibidem.SamplingPlan((0, 6, 10), every, {}), **call)
        check_same_cluster(inputs, way=way, sample_every=every[-1], **call)


@pytest.mark.parametrize(
    "call",
    [
        {},
        {"measure": "order", "keep": "score:max"},
        {"max_shingle_documents": 8, "min_containment": "0.5"},
        {"max_shingle_documents": 8, "chains": True},
        {"method": "shingling", "max_shingle_documents": 20},
        {"method": "identical", "keep": "score:max"},
        {"sampling": "smallest", "sample_size": 20, "sample_every": 2},
        {"sampling": "supershingles", "supershingle_size": 3, "max_shingle_documents": 8},
        {"sampling": "supershingles", "supershingle_size": 3, "verify": False},
        {"method": "minhash", "permutations": 64, "bands": 32, "max_shingle_documents": 4},
    ],
    ids=str,
)
def test_a_mixture(call: dict[str, Any]) -> None:
    items = mixture()
    usual = {"shingle_size": 2, "min_similarity": "0.3", "keep": "earliest"}
    reference = [{**item, "id": f"{item['id']}-r"} for item in items[60:]]
    way = {"partitions": 6, "workers": 2, "memory": "50MB"}
    with written(items, items[:70], reference) as (all_items, inputs, against):
        assert len(check_same_cluster(all_items, way=way, **usual | call)) > 0
        assert len(check_same_cluster(inputs, against, way=way, **usual | call)) > 0


@pytest.mark.parametrize("method", ["simhash", "pairs"])
def test_methods_that_hold_the_collection_in_memory(method: str) -> None:
    with written(records([["lum", "besk", "orda"]] * 3)) as (inputs,):
        assert isinstance(ibidem.cluster(inputs, partitions=3, method=method), ibidem.ClusterResult)
