"""`find --sentence-pairs` and `--postings` against comparing everything, in memory, in partitions and on disk."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.config import SET_SIGNATURES, SIGNATURES, Config
from ibidem.execution.layout import Layout
from ibidem.execution.progress import Progress
from ibidem.model import POSTINGS, SENTENCE_PAIRS
from ibidem.pipeline import find_tables, split_to_find
from ibidem.results.summary import summarise, summarise_briefly
from tests.execution.disk.sameness import check_same_table, written
from tests.execution.parity import numbered_batches, rows_of
from tests.execution.random_collections import odd_records, random_records, skewed_records
from tests.matches import sentence_twins as twins
from tests.memory_flow import MemoryFlow
from tests.texts import changed, text

Rows = list[dict[str, Any]]
BOTH = {"sentence_pairs": True, "postings": True}


def lists_of(rows: Rows) -> Counter[frozenset[tuple[str, int]]]:
    lists = defaultdict(set)
    for row in rows:
        lists[row["signature"]].add((row["id"], row["sentence"]))
    return Counter(map(frozenset, lists.values()))


def tables_apart(inputs: Any, against: Any, n_partitions: int, batch_rows: int, seed: int, **settings: Any) -> Any:
    """Return the rows of both tables over partitions in memory, and how many sentences were left out."""
    config = Config.of(**settings).with_signature("words")
    batches, n_records, n_input = numbered_batches(inputs, against, config, batch_rows)
    layout = Layout(n_records, n_input, n_partitions)
    flow, progress = MemoryFlow(n_partitions, seed, layout=layout), Progress()
    tables = find_tables(flow, split_to_find(flow, batches, config, progress), config, progress)
    pairs, postings = (flow.collect(tables[name].table(name)) for name in ("sentence_pairs", "postings"))
    both = pairs.select(SENTENCE_PAIRS.names).to_pylist(), postings.select(POSTINGS.names).to_pylist()
    return (*both, progress.counts["sentences_left_out"])


@pytest.mark.parametrize("signature", [name for name in SIGNATURES if name != "spotsigs"])
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_random_collections(signature: str, data: Any) -> None:
    seed = data.draw(st.integers(0, 10**6))
    records = random_records(seed, data.draw(st.integers(2, 10)))
    reference = random_records(seed, data.draw(st.integers(1, 5)), "e") if data.draw(st.booleans()) else None
    chosen = {
        "signature": signature,
        "max_places": data.draw(st.sampled_from([2, 3, 6, 100])),
        "same_document": data.draw(st.booleans()),
        "skip_same_group": data.draw(st.booleans()),
        "min_similarity": data.draw(st.sampled_from(["0.3", "0.5", "0.8", "1"])),
        "min_idf": data.draw(st.sampled_from([0.1, 0.4])),
        "paper": data.draw(st.booleans()),
        "hash_seed": seed,
    }
    places = twins.places_of(records, reference)
    known = twins.known_by(places, signature, chosen["paper"], min_idf=chosen["min_idf"])
    by_sets, limit = signature in SET_SIGNATURES, Fraction(chosen["min_similarity"])
    options = {name: chosen[name] for name in ("max_places", "same_document", "skip_same_group")}
    pairs, n_left_out = twins.sentence_pairs(places, known, limit, by_sets, **options)
    whole = ibidem.find(records, against=reference, **chosen, **BOTH)
    assert rows_of(whole.sentence_pairs) == pairs
    assert whole.counts["sentences_left_out"] == n_left_out
    listed = rows_of(whole.postings)
    assert lists_of(listed) == twins.postings(places, known)
    order = {record["id"]: number for number, record in enumerate([*records, *(reference or [])])}
    assert listed == sorted(listed, key=lambda row: (row["signature"], order[row["id"]], row["sentence"]))
    partitions, batch_rows = data.draw(st.sampled_from([1, 2, 5])), data.draw(st.sampled_from([1, 3, 50]))
    apart = tables_apart(records, reference, partitions, batch_rows, seed, **chosen, **BOTH)
    assert apart == (pairs, listed, n_left_out)


@pytest.mark.parametrize("signature", SIGNATURES)
def test_on_disk(signature: str, tmp_path: Path) -> None:
    records = [*random_records(5, 40), *skewed_records(30), *odd_records()]
    records = [{**record, "id": f"r{number}"} for number, record in enumerate(records)]
    call = {"signature": signature, "max_places": 20, "same_document": True, "antecedents": 30, "hash_seed": 3} | BOTH
    with written(records) as (path,):
        whole = ibidem.find(path, **call)
        assert whole.sentence_pairs.num_rows > 0 < whole.postings.num_rows
        assert whole.counts["sentences_left_out"] > 0
        with ibidem.find(path, **call, partitions=4, memory="60MB", workers=2) as stored:
            assert stored.backing.storage == "disk"
            check_same_table(stored.sentence_pairs, whole.sentence_pairs)
            check_same_table(stored.postings, whole.postings)
            assert stored.run()["counts"] == whole.run()["counts"]
            names = {file.name for file in stored.write(tmp_path / "out", format="csv")}
    assert {"sentence_pairs.csv", "postings.csv", "passages.csv"} <= names


def test_a_template_without_a_bound_gives_every_pair() -> None:
    records = [{"id": str(number), "text": f"{text(number + 50)} {text(1)}"} for number in range(120)]
    bounded = ibidem.find(records, sentence_pairs=True)
    assert (bounded.sentence_pairs.num_rows, bounded.counts["sentences_left_out"]) == (0, 120)
    every = ibidem.find(records, sentence_pairs=True, max_places=10**9)
    assert (every.sentence_pairs.num_rows, every.counts["sentences_left_out"]) == (120 * 119 // 2, 0)


def test_the_summary_says_what_was_left_out() -> None:
    records = [{"id": str(number), "text": f"{text(number + 50)} {text(1, 2)}"} for number in range(5)]
    found = ibidem.find(records, sentence_pairs=True, postings=True, max_places=4, min_sentences=1)
    line = "10 sentences in more than 4 places are in no sentence pair (max_places)"
    assert {"0 sentence pairs", line, f"{found.postings.num_rows} postings"} <= set(summarise(found).splitlines())
    assert line in summarise_briefly(found).splitlines()
    assert "0 sentence pairs, 90 postings" in summarise_briefly(found)
    assert "sentence pair" not in summarise(ibidem.find(records, max_places=4))


def test_similar_sentences_and_their_similarity() -> None:
    records = [{"id": "a", "text": text(1, 2)}, {"id": "b", "text": f"{text(9)} {changed(1)}"}]
    found = ibidem.find(records, sentence_pairs=True, min_similarity=0.7)
    assert found.sentence_pairs.to_pylist() == [
        {"a_id": "a", "a_sentence": 0, "b_id": "b", "b_sentence": 1, "similarity": 5 / 7}
    ]
    assert ibidem.find(records, sentence_pairs=True, min_similarity=0.72).sentence_pairs.num_rows == 0


def test_tables_that_nobody_asked_for() -> None:
    found = ibidem.find([{"id": "a", "text": text(1)}])
    with pytest.raises(ibidem.UsageError, match="no table sentence_pairs"):
        _ = found.sentence_pairs
    with pytest.raises(ibidem.UsageError, match="no table postings"):
        _ = found.postings
    assert {"sentence_pairs", "postings"}.isdisjoint(found.run()["counts"])
