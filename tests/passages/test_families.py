"""Families against a slow twin, over partitions and on disk, and what they promise."""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.columns.collection import NO_TIME
from ibidem.config import Config
from ibidem.execution.layout import Layout
from ibidem.execution.progress import Progress
from ibidem.model import FAMILIES, PASSAGES
from ibidem.passages import wordings
from ibidem.passages.exchange import wordings as wordings_exchange
from ibidem.passages.families import Spans, families_of, ranks_of
from ibidem.pipeline import find_tables, split_to_find
from ibidem.results.summary import summarise
from ibidem.sentences.word_texts import words_in
from tests.execution.disk.sameness import check_same_table, written
from tests.execution.parity import numbered_batches, rows_of
from tests.execution.random_collections import odd_records, random_records, skewed_records
from tests.memory_flow import MemoryFlow
from tests.passages.family_twins import Copy, expected_families
from tests.texts import changed, text

N_DOCUMENTS = 5
Rows = list[dict[str, Any]]


def drawn(chance: random.Random) -> list[Copy]:
    """Return random passages; many begin and end where others do, or nearly there."""
    size, found = chance.choice([8, 24, 60]), {}
    for _ in range(chance.randint(1, chance.choice([4, 12, 30]))):
        ends = [sorted(chance.sample(range(0, size + 1, chance.choice([1, 4])), 2)) for _ in "ab"]
        a, b = chance.randrange(N_DOCUMENTS), chance.randrange(N_DOCUMENTS)
        passage = Copy(a, b, *ends[0], *ends[1], chance.choice([0.5, 0.8, 0.9, 1.0, 1.0]))
        found[frozenset(passage.sides)] = passage
    return sorted(found.values())


def check_families(found: list[Copy], times: list[int | None], ids: list[str]) -> None:
    columns = [np.array([getattr(p, name) for p in found]) for name in Copy._fields]
    moments = np.array([NO_TIME if time is None else time for time in times], np.int64)
    places, families, of_passage = families_of(Spans(*columns), moments, ranks_of(pa.array(ids, pa.large_string())))
    expected, family_of = expected_families(found, times, ids)
    told = [
        [(int(places.document[p]), int(places.start[p]), int(places.end[p])) for p in families.places[first:end]]
        for first, end in zip(families.first[:-1], families.first[1:], strict=True)
    ]
    assert told == expected
    assert families.n_documents.tolist() == [len({place[0] for place in family}) for family in expected]
    assert of_passage.tolist() == [-1 if family is None else family for family in family_of]


def test_families_are_what_comparing_everything_says() -> None:
    for seed in range(4_000):
        chance = random.Random(seed)
        times = [chance.choice([None, chance.randint(-3, 3)]) for _ in range(N_DOCUMENTS)]
        check_families(drawn(chance), times, [chance.choice("xyz") + str(number) for number in range(N_DOCUMENTS)])


def test_families_do_not_depend_on_the_order_of_documents_and_passages() -> None:
    for seed in range(300):
        chance = random.Random(seed)
        found = drawn(chance)
        ids = [f"d{number}" for number in range(N_DOCUMENTS)]
        order = chance.sample(range(N_DOCUMENTS), N_DOCUMENTS)  # document n gets the number order[n]
        turned = [Copy(order[p.b], order[p.a], p.b_start, p.b_end, p.a_start, p.a_end, p.similarity) for p in found]
        chance.shuffle(turned)
        names = [""] * N_DOCUMENTS
        for number, name in zip(order, ids, strict=True):
            names[number] = name
        nothing: list[int | None] = [None] * N_DOCUMENTS
        one, other = expected_families(found, nothing, ids)[0], expected_families(turned, nothing, names)[0]
        assert [[(order[d], s, e) for d, s, e in family] for family in one] == other
        check_families(turned, nothing, names)


# Whole runs: in memory, over partitions, on disk.


def families_apart(
    inputs: Any, against: Any, n_partitions: int, batch_rows: int, seed: int, **chosen: Any
) -> tuple[Rows, Rows]:
    """Return the rows of families, and of passages, over partitions in memory."""
    config = Config.of(**chosen).with_signature("words")
    batches, n_records, n_input = numbered_batches(inputs, against, config, batch_rows)
    layout = Layout(n_records, n_input, n_partitions, homes_per_region=(seed + n_partitions) % 3)
    flow, progress = MemoryFlow(n_partitions, seed, layout.n_regions, layout=layout), Progress()
    tables = find_tables(flow, split_to_find(flow, batches, config, progress), config, progress)
    families = flow.collect(tables["families"].table("families")).select(FAMILIES.names)
    passages = flow.collect(tables["passages"].table("passages")).select([*PASSAGES.names, "family"])
    return families.to_pylist(), passages.to_pylist()


def similarity(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """Return the share of words that two wordings have in common."""
    return 2.0 * sum((Counter(one) & Counter(other)).values()) / (len(one) + len(other))


def expected_rows(result: Any, records: Rows, reference: Rows) -> tuple[Rows, list[int | None]]:
    """Return the rows that the twin gives for the passages of a result, and the family of each passage."""
    every = [*records, *reference]
    ids, times = [record["id"] for record in every], [moment_of(record) for record in every]
    number = {name: n for n, name in enumerate(ids)}
    found = [
        Copy(number[row["a_id"]], number[row["b_id"]], *(row[name] for name in Copy._fields[2:]))
        for row in rows_of(result.passages)
    ]
    rows = []
    families, of_passage = expected_families(found, times, ids)
    for family, places in enumerate(families, 1):
        wordings = [tuple(words_in(every[d]["text"][start:end])) for d, start, end in places]
        variants = list(dict.fromkeys(wordings))
        for place, words in zip(places, wordings, strict=True):
            rows.append(
                {
                    "family": family,
                    "id": ids[place[0]],
                    "start": place[1],
                    "end": place[2],
                    "time": None if times[place[0]] is None else every[place[0]]["time"].replace("+00:00", "Z"),
                    "group": every[place[0]].get("group"),
                    "variant": variants.index(words) + 1,
                    "n_places": len(places),
                    "n_documents": len({one[0] for one in places}),
                    "n_variants": len(variants),
                    "is_first": place == places[0],
                    "similarity": 1.0 if words == wordings[0] else similarity(wordings[0], words),
                }
            )
    return rows, [None if number is None else number + 1 for number in of_passage]


def moment_of(record: dict[str, Any]) -> int | None:
    return round(datetime.fromisoformat(record["time"]).timestamp() * 10**6) if record.get("time") else None


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_random_collections(data: Any) -> None:
    seed = data.draw(st.integers(0, 10**6))
    chance = random.Random(seed)
    times = {"time": lambda: chance.choice(["", f"2031-0{chance.randint(1, 9)}-01T10:00:00+00:00"])}
    records, reference = (
        [
            {**record, **{name: make() for name, make in times.items()}}
            for record in random_records(seed, data.draw(st.integers(1, 14)), prefix)
        ]
        for prefix in "de"
    )
    if data.draw(st.booleans()):
        reference = []
    chosen = {
        "max_places": data.draw(st.sampled_from([3, 6, 100])),
        "same_document": data.draw(st.booleans()),
        "min_sentences": data.draw(st.sampled_from([1, 2, 3])),
        "min_quote_words": data.draw(st.sampled_from([0, 4])),
        "hash_seed": seed,
        "families": True,
        "align": data.draw(st.booleans()),
    }
    whole = ibidem.find(records, against=reference or None, **chosen)
    rows, passages = rows_of(whole.families), rows_of(whole.passages)
    assert (rows, [passage["family"] for passage in passages]) == expected_rows(whole, records, reference)
    partitions, batch_rows = data.draw(st.sampled_from([1, 2, 5])), data.draw(st.sampled_from([1, 3, 50]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wordings, "_MOST_CUT_CHARS", data.draw(st.sampled_from([20, 4 << 20])))
        patch.setattr(wordings_exchange, "_MOST_SENT_CHARS", data.draw(st.sampled_from([20, 4 << 20])))
        found = families_apart(records, reference or None, partitions, batch_rows, seed, **chosen)
        assert found == (rows, passages)
        assert rows_of(ibidem.find(records, against=reference or None, **chosen).families) == rows
    if not reference:
        turned = ibidem.find(records[::-1], **chosen)
        if unordered(turned) == unordered(whole):
            assert rows_of(turned.families) == rows


def unordered(result: Any) -> set[Any]:
    """Return the passages of a result, whichever document of a pair comes first."""
    return {(frozenset([(p.a.id, p.a.start, p.a.end), (p.b.id, p.b.start, p.b.end)]), p.similarity) for p in result}


@pytest.mark.parametrize("signature", ["words", "exact"])
def test_on_disk(signature: str, tmp_path: Path) -> None:
    records = [*random_records(5, 40), *skewed_records(30), *odd_records()]
    records = [{**record, "id": f"r{number}"} for number, record in enumerate(records)]
    call = {"signature": signature, "max_places": 20, "min_sentences": 1, "hash_seed": 3, "families": True}
    with written(records) as (path,):
        whole = ibidem.find(path, **call)
        assert whole.families.num_rows > 50
        assert whole.run()["counts"]["families"] == whole.families["family"].to_numpy().max()
        for partitions in (1, 2, 5):
            with ibidem.find(path, **call, partitions=partitions, memory="60MB", workers=2) as stored:
                assert stored.backing.storage == "disk"
                check_same_table(stored.families, whole.families)
                check_same_table(stored.passages, whole.passages)
                check_same_table(stored.with_texts(), whole.with_texts())
                assert stored.run()["counts"] == whole.run()["counts"]
                for form in ("csv", "jsonl", "parquet"):
                    stored.write(tmp_path / f"disk-{partitions}-{form}", format=form)
        for form in ("csv", "jsonl"):
            whole.write(tmp_path / form, format=form)
            for partitions in (1, 2, 5):
                same = (tmp_path / f"disk-{partitions}-{form}" / f"families.{form}").read_bytes()
                assert same == (tmp_path / form / f"families.{form}").read_bytes()


# What families promise.


def places(result: Any) -> list[list[tuple[str, int]]]:
    """Return the families of a result: the id and the variant of each place."""
    found: dict[int, list[tuple[str, int]]] = {}
    for row in rows_of(result.families):
        found.setdefault(row["family"], []).append((row["id"], row["variant"]))
    return list(found.values())


def test_the_earliest_place_comes_first_and_wordings_are_numbered() -> None:
    day = "2031-05-{:02}T08:00:00Z".format
    records = [
        {"id": "blog", "text": f"{text(40)} {text(1, 2)} {changed(3)}", "time": day(9)},
        {"id": "paper", "text": f"{text(50)} {text(1, 2, 3).upper()}", "group": "North", "time": day(2)},
        {"id": "wire", "text": text(1, 2, 3, 60), "time": day(1)},
    ]
    found = ibidem.find(records, min_similarity=0.7, families=True)
    rows = rows_of(found.families)
    assert [row["similarity"] for row in rows[:2]] == [1.0, 1.0]
    assert 0.8 < rows[2]["similarity"] < 1.0
    assert {row["family"] for row in rows_of(found.passages)} == {1}
    assert [(row["id"], row["time"], row["group"], row["variant"], row["is_first"]) for row in rows] == [
        ("wire", day(1), None, 1, True),
        ("paper", day(2), "North", 1, False),
        ("blog", day(9), None, 2, False),
    ]
    assert {(row["family"], row["n_places"], row["n_documents"], row["n_variants"]) for row in rows} == {(1, 3, 3, 2)}
    texts = {record["id"]: record["text"] for record in records}
    assert texts["wire"][rows[0]["start"] : rows[0]["end"]] == text(1, 2, 3)
    assert "1 family of passages" in summarise(found).splitlines()
    assert places(ibidem.find(records[::-1], min_similarity=0.7, families=True)) == places(found)


def test_a_long_copy_does_not_swallow_the_short_passage_in_it() -> None:
    long = [{"id": name, "text": text(*range(20, 30), 1, 2, 3, *range(30, 40))} for name in ("a1", "a2")]
    short = [{"id": f"b{n}", "text": f"{text(100 + n)} {text(1, 2, 3)} {text(200 + n)}"} for n in range(3)]
    found = places(ibidem.find([*long, *short], families=True))
    assert found == [[(name, 1) for name in ("a1", "a2", "b0", "b1", "b2")], [("a1", 1), ("a2", 1)]]


def test_overlaps_form_no_chain() -> None:
    """Each document shares four sentences with the next one, and three with the one after it, and so on."""
    records = [{"id": f"d{n:02}", "text": f"{text(500 + n)} {text(*range(n, n + 5))} {text(600 + n)}"} for n in range(30)]
    found = ibidem.find(records, families=True)
    assert len(places(found)) > 10
    starts = {record["id"]: n for n, record in enumerate(records)}
    for family in places(found):
        numbers = [starts[name] for name, _ in family]
        assert max(numbers) - min(numbers) <= 4


def test_copies_that_were_never_compared_are_one_family() -> None:
    inputs = [{"id": f"new {n}", "text": f"{text(1, 2, 3)} {text(50 + n)}"} for n in range(2)]
    archive = [{"id": f"old {n}", "text": f"{text(70 + n)} {text(1, 2, 3)}"} for n in range(2)]
    found = ibidem.find(inputs, against=archive, families=True)
    assert places(found) == [[("new 0", 1), ("new 1", 1), ("old 0", 1), ("old 1", 1)]]


def test_numbers_are_given_by_size() -> None:
    records = [{"id": f"s{n}", "text": f"{text(100 + n)} {text(1, 2, 3)}"} for n in range(2)]
    records += [{"id": f"l{n}", "text": f"{text(200 + n)} {text(4, 5, 6, 7)}"} for n in range(2)]
    records += [{"id": f"m{n}", "text": f"{text(300 + n)} {text(8, 9, 10)}"} for n in range(3)]
    found = ibidem.find(records, families=True)
    assert [[name for name, _ in family] for family in places(found)] == [["m0", "m1", "m2"], ["l0", "l1"], ["s0", "s1"]]


def test_without_families() -> None:
    found = ibidem.find([{"id": "a", "text": text(1)}])
    with pytest.raises(ibidem.UsageError, match="no table families"):
        _ = found.families
    assert "families" not in found.run()["counts"]
    assert "family" not in found.passages.column_names
    assert ibidem.find([{"id": "a", "text": text(1)}], families=True).families.num_rows == 0
