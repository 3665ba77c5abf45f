"""`dedup`: what is removed also appears elsewhere and is kept there; the rest is unchanged."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import gzip
import io
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.errors import InputError, OutputExistsError, UsageError
from ibidem.results import cleaned_copies
from ibidem.results.cleaning_summary import summarise_cleaning
from tests import cluster_twins as twins
from tests.cluster_twins import limits, records, shingle_sizes, word_lists
from tests.clusters.cut_twins import expected_cuts
from tests.texts import changed, documents, render, text, words

Record = dict[str, Any]


def without(content: str, spans: Sequence[tuple[int, int]]) -> str:
    gone = {place for start, end in spans for place in range(start, end)}
    return "".join(sign for place, sign in enumerate(content) if place not in gone)


def check_removals(result: ibidem.CleaningResult, items: Sequence[Record], others: Sequence[Record] = ()) -> list[Record]:
    """Check all that is promised of whatever goes, at any level; return what remains."""
    rows = result.removed.to_pylist()
    texts = {item["id"]: item["text"] for item in [*items, *others]}
    spans: dict[str, list[tuple[int, int]]] = {}
    for row in rows:
        assert row["start"] < row["end"] <= len(texts[row["id"]])
        assert not spans.get(row["id"]) or spans[row["id"]][-1][1] <= row["start"], "spans rise"
        spans.setdefault(row["id"], []).append((row["start"], row["end"]))
        assert row["id"] in {item["id"] for item in items}, "the reference is left alone"
        assert not others or row["matched_id"] in {item["id"] for item in others}
        assert (row["source"], items[row["position"] - 1]["id"]) == ("records", row["id"])
    dropped = {row["id"] for row in rows if row["removed"] == "document"}
    remaining = [{"id": d.id, "text": d.text} for d in result.remaining()]
    expected = [{"id": i["id"], "text": without(i["text"], spans.get(i["id"], ()))} for i in items if i["id"] not in dropped]
    assert remaining == expected
    assert all(item["text"].strip() for item in remaining)
    for row in rows:
        assert row["removed"] == ("document" if row["id"] in dropped else "passage")
        assert not without(texts[row["id"]], spans[row["id"]]).strip() or row["id"] not in dropped
        # What it matches stays.
        assert row["matched_id"] not in dropped
        begin, end = row["matched_start"], row["matched_end"]
        assert not any(start < end and begin < stop for start, stop in spans.get(row["matched_id"], ()))
    return remaining


# Passages and sentences.


def joined(numbers: Sequence[int], style: int) -> tuple[str, list[int]]:
    """Return the text of some sentences, and where each starts."""
    content, starts = "", []
    for i, number in enumerate(numbers):
        content += (" ", "\n\n", "\n")[style % 3] if i else ""
        starts.append(len(content))
        sentence = render(words(number, 2 + number % 4))
        content += "- " * (style % 3 == 2) + (sentence, sentence.upper(), sentence.replace(" ", ", "))[style // 3 % 3]
    return content, starts


@st.composite
def numbered(draw: Any) -> list[list[int]]:
    """Draw documents of few sentences, often with stretches of one another."""
    found: list[list[int]] = []
    sentences = st.integers(1, draw(st.integers(1, 7)))
    for _ in range(draw(st.integers(1, 6))):
        mine = draw(st.lists(sentences, min_size=1, max_size=7))
        if found and draw(st.booleans()):
            other = draw(st.sampled_from(found))
            begin = draw(st.integers(0, len(other)))
            mine = mine[:3] + other[begin : begin + draw(st.integers(1, 7))] + mine[3:]
        found.append(mine)
    return found


@settings(max_examples=300, deadline=None)
@given(
    numbered(),
    st.lists(st.integers(0, 11), min_size=6, max_size=6),
    st.sampled_from(["passage", "sentence"]),
    st.integers(1, 3),
    st.sampled_from([1, 3, 6]),
    st.booleans(),
    st.sampled_from(["first", "longest"]),
    st.integers(0, 5),
)
def test_what_is_cut_is_what_stands_earlier(
    collection: list[list[int]], styles: list[int], level: str, size: int, min_words: int, same_document: bool, keep: str,
    n_reference: int,
) -> None:  # fmt: skip
    located = [joined(numbers, style) for numbers, style in zip(collection, styles, strict=False)]
    everything = documents(*[content for content, _ in located])
    n_input = max(1, len(everything) - n_reference)
    items, others = everything[:n_input], everything[n_input:]
    result = ibidem.dedup(
        items, against=others or None, level=level, min_sentences=size, min_words=min_words, min_quote_words=0,
        same_document=same_document, keep=keep, workers=1,
    )  # fmt: skip
    check_removals(result, items, others)
    found = set()
    for row in result.removed.to_pylist():
        number = int(row["id"][1:])
        found |= {(number, j) for j, start in enumerate(located[number][1]) if row["start"] <= start < row["end"]}
        content = everything[number]["text"][row["start"] : row["end"]]
        kept = everything[int(row["matched_id"][1:])]["text"][row["matched_start"] : row["matched_end"]]
        assert twins.tokens(content) == twins.tokens(kept) != ()
        assert row["n_sentences"] == sum(row["start"] <= start < row["end"] for start in located[number][1])
    lengths = [[2 + number % 4 for number in numbers] for numbers in collection]
    rank = [-len(item["text"]) if keep == "longest" else 0 for item in everything]
    is_reference = [d >= n_input for d in range(len(everything))] if others else []
    expected = expected_cuts(
        collection, lengths, rank, 1 if level == "sentence" else size, min_words, same_document, is_reference
    )
    assert found == set(expected)


@settings(max_examples=100, deadline=None)
@given(numbered(), st.lists(st.integers(0, 11), min_size=6, max_size=6), st.integers(1, 3))
def test_every_sentence_is_left_in_one_document(collection: list[list[int]], styles: list[int], size: int) -> None:
    items = documents(*[joined(numbers, style)[0] for numbers, style in zip(collection, styles, strict=False)])

    def holders(some: Sequence[Record]) -> Counter[tuple[int, ...]]:
        found = [{twins.tokens(i["text"][a:b]) for a, b in ibidem.split_sentences(i["text"])} for i in some]
        return Counter(sentence for sentences in found for sentence in sentences)

    by_sentence = check_removals(ibidem.dedup(items, level="sentence", min_quote_words=0, workers=1), items)
    assert holders(by_sentence) == dict.fromkeys(holders(items), 1)
    again = ibidem.dedup(by_sentence, level="sentence", min_quote_words=0, workers=1)
    assert len(again) == 0
    by_passage = check_removals(ibidem.dedup(items, level="passage", min_sentences=size, workers=1), items)
    assert holders(by_passage).keys() == holders(items).keys()


def test_levels_of_cutting_by_hand() -> None:
    one, two = f"{text(1, 2, 3)} {text(4, count=12)}", f"{text(50)}\n\n{text(1, 2, 3)}\n\n{text(4, count=12)} {text(2)}"
    items = documents(one=one, two=two, three=text(1, 2), four=text(4, count=12))
    result = ibidem.dedup(items, level="passage")
    assert [(d.id, d.text) for d in result.remaining()] == [
        ("one", one),
        ("two", f"{text(50)}\n\n{text(2)}"),
        ("three", text(1, 2)),
        ("four", text(4, count=12)),
    ]
    (row,) = result.removed.to_pylist()
    start = len(text(50)) + 2
    assert row == {
        "id": "two", "source": "records", "position": 2, "removed": "passage", "start": start,
        "end": two.index(text(2), start + 120), "n_sentences": 4, "matched_id": "one",
        "matched_source": "records", "matched_position": 1, "matched_start": 0,
        "matched_end": len(one), "similarity": None,
    }  # fmt: skip
    # Single sentences of ten words and more.
    result = ibidem.dedup(items, level="sentence")
    assert [(d.id, d.text) for d in result.remaining()] == [
        ("one", one),
        ("two", f"{text(50)}\n\n{text(1, 2, 3)}\n\n{text(2)}"),
        ("three", text(1, 2)),
    ]
    assert [(r["id"], r["removed"]) for r in result.removed.to_pylist()] == [("two", "passage"), ("four", "document")]
    assert repr(result) == f"<CleaningResult: 1 of 4 documents and {2 * len(text(4, count=12)) + 1} characters removed>"


def test_similar_passages_go_if_asked_for() -> None:
    items = documents(one=text(1, 2, 3, count=12), two=" ".join(changed(n, count=12) for n in (1, 2, 3)))
    assert len(ibidem.dedup(items, level="passage")) == 0
    near = ibidem.dedup(items, level="passage", signature="words")
    assert [d.id for d in near.remaining()] == ["one"]
    assert len(ibidem.dedup(items, level="passage", signature="words", min_similarity="0.9")) == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [("", ""), (" ", "\n" * 500), ("\n" * 500, "")],
)
def test_a_document_of_which_nothing_but_space_is_left_goes(before: str, after: str) -> None:
    items = documents(one=text(1, 2, 3), two=f"{before}{text(1, 2, 3)}{after}")
    check_removals(result := ibidem.dedup(items, level="passage"), items)
    assert [row["removed"] for row in result.removed.to_pylist()] == ["document"]


def test_what_stands_twice_in_one_document_stays_unless_asked_for() -> None:
    items = documents(text(1, 2, 3, 9, 1, 2, 3))
    assert len(ibidem.dedup(items, level="passage")) == 0
    cut = ibidem.dedup(items, level="passage", same_document=True)
    assert [d.text.strip() for d in cut.remaining()] == [text(1, 2, 3, 9)]


def test_the_settings_of_a_config_say_it_all() -> None:
    items = documents(one=text(1, 2, 3), two=" ".join(changed(n) for n in (1, 2, 3)))
    config = ibidem.Config.of(level="passage", min_similarity="0.7", signature="exact")
    assert len(ibidem.dedup(items, config=config)) == 0
    assert len(ibidem.dedup(items, config=config, signature="words")) == 1


# Whole documents.

keeps = st.sampled_from(["first", "longest", "score:max"])


@settings(max_examples=150, deadline=None)
@given(word_lists(), st.lists(st.integers(0, 11), min_size=1, max_size=4), limits, shingle_sizes, keeps, st.booleans())
def test_one_of_each_cluster_is_left(
    some: list[list[str]], styles: list[int], limit: str, size: int, keep: str, chains: bool
) -> None:
    items = [{**item, "score": 7 * i % 5} for i, item in enumerate(records(some, styles=styles))]
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": size, "keep": keep, "chains": chains, "workers": 1}
    result = ibidem.dedup(items, **call)
    left = {item["id"] for item in check_removals(result, items)}
    clustered = ibidem.cluster(items, **call)
    found, pairs = twins.clusters(clustered), twins.listed(clustered)
    everybody = {doc_id for members in found.values() for doc_id in members}
    assert left == {item["id"] for item in items} - everybody | set(found)
    home = {doc_id: stays for stays, members in found.items() for doc_id in members}
    for row in result.removed.to_pylist():
        assert row["matched_id"] == home[row["id"]]
        lengths = {item["id"]: len(item["text"]) for item in items}
        assert (row["start"], row["end"], row["matched_start"]) == (0, lengths[row["id"]], 0)
        assert (row["matched_end"], row["n_sentences"]) == (lengths[row["matched_id"]], None)
        pair = (row["id"], row["matched_id"])
        assert row["similarity"] == (pairs.get(pair) or pairs.get(pair[::-1]) or [None])[0]
    again = ibidem.dedup([item for item in items if item["id"] in left], **call)
    assert len(again) == 0 or chains


@pytest.mark.parametrize("level", ["document", "passage", "sentence"])
def test_against_a_reference_only_the_inputs_lose(level: str) -> None:
    items = documents(a=text(1, 2, 3, 4), b=text(1, 2, 3, 4) + " " + text(60), c=text(5, 6, 7), d=text(8, 9, 10) + changed(11))
    others = documents(r=text(5, 6, 7), s=text(8, 9, 10) + changed(11), t=text(8, 9, 10) + changed(11))
    call = {"level": level, "shingle_size": 2, "min_quote_words": 0}
    assert {item["id"] for item in check_removals(ibidem.dedup(items, **call), items)} >= {"a", "c", "d"}
    for chains in (False, True):
        left = check_removals(ibidem.dedup(items, against=others, chains=chains, **call), items, others)
        assert left == items[:2], "what stands in the inputs twice is none of its business"


@pytest.mark.parametrize("level", ["document", "passage", "sentence"])
def test_against_a_reference_copies_inside_the_inputs_stay(level: str) -> None:
    items = documents(a=text(1, 2, 3), b=text(1, 2, 3), c=text(5, 6, 7), d=text(5, 6, 7))
    left = check_removals(ibidem.dedup(items, against=documents(r=text(5, 6, 7)), level=level, min_quote_words=0), items,
                          documents(r=text(5, 6, 7)))  # fmt: skip
    assert left == items[:2]


@pytest.mark.parametrize("level", ["document", "passage", "sentence"])
def test_ids_may_stand_twice(level: str) -> None:
    items = [{"id": "same", "text": value} for value in (text(1, 2, 3), text(4, 5, 6), text(1, 2, 3), text(7, 8, 9))]
    result = ibidem.dedup(items, level=level, min_quote_words=0)
    assert [d.text for d in result.remaining()] == [text(1, 2, 3), text(4, 5, 6), text(7, 8, 9)]
    (row,) = result.removed.to_pylist()
    assert (row["id"], row["position"], row["matched_id"]) == ("same", 3, "same")


@pytest.mark.parametrize("level", ["document", "passage", "sentence"])
def test_texts_without_words_stay(level: str) -> None:
    items = documents("***", "***", "…", "…")
    result = ibidem.dedup(items, level=level)
    assert check_removals(result, items) == items


def test_who_stays() -> None:
    items = [{"id": name, "text": text(1, 2, 3), "time": time} for name, time in (("a", None), ("b", 2000), ("c", 1000))]
    for level in ("document", "passage"):
        assert [d.id for d in ibidem.dedup(items, level=level, keep="earliest").remaining()] == ["c"]
        assert [d.id for d in ibidem.dedup(items, level=level, keep="id:max").remaining()] == ["c"]
        with pytest.raises(ibidem.InputError, match="'rank'"):
            ibidem.dedup(items, level=level, keep="rank:max")


def test_objects_that_are_read_once_and_more_often() -> None:
    items = documents(a=text(1, 2), b=text(1, 2), c=text(3, 4))
    table = pa.Table.from_pylist(items)
    for inputs in (items, iter(items), table, table.to_reader(), [items[:1], table.slice(1)]):
        assert [d.id for d in ibidem.dedup(inputs).remaining()] == ["a", "c"]


# Files.

NEWS = [
    {"id": "a", "text": text(1, 2, 3, 4), "time": "2020-01-03", "outlet": "north"},
    {"id": "b", "text": f"{text(50)}\n{text(1, 2, 3)}", "time": "2020-01-02", "outlet": 'sóuth, "w"'},
    {"id": "c", "text": text(1, 2, 3, 4).upper(), "time": "2020-01-01", "outlet": ""},
    {"id": "d", "text": text(20, 21, 22), "time": None, "outlet": "east"},
]


def write_news(folder: Path, kind: str, items: Sequence[Record] = NEWS) -> Path:
    """Write records in a format; return what to give as input."""
    folder.mkdir(parents=True)
    if kind == "txt":
        (folder / "in" / "deep").mkdir(parents=True)
        for item in items:
            (folder / "in" / ("deep" if item["id"] == "c" else "") / f"{item['id']}.txt").write_text(item["text"], "utf-8")
        return folder / "in"
    path = folder / f"news.{kind}"
    base, _, compression = kind.partition(".")
    if base == "parquet":
        pq.write_table(pa.Table.from_pylist(list(items)), path, row_group_size=2)
        return path
    if base in ("csv", "tsv"):
        file = io.StringIO(newline="")
        writer = csv.DictWriter(file, list(items[0]), delimiter="," if base == "csv" else "\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(items)
        data = file.getvalue().encode()
    elif base == "json":
        data = json.dumps(items, ensure_ascii=False, indent=1).encode()
    else:
        data = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items).encode()
    compress = {"": bytes, "gz": gzip.compress, "zst": lambda data: pa.Codec("zstd").compress(data, asbytes=True)}
    path.write_bytes(compress[compression](data))
    return path


FORMATS = ["jsonl", "json", "csv", "tsv", "parquet", "txt", "jsonl.gz", "jsonl.zst", "csv.gz"]
OURS = {"removed.jsonl", "run.json", "skipped.jsonl"}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def cleaned_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.relative_to(folder).as_posix() not in OURS)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("level", ["document", "passage", "sentence"])
def test_the_files_hold_what_remains(tmp_path: Path, kind: str, level: str) -> None:
    source = write_news(tmp_path / "source", kind)
    call: dict[str, Any] = {"level": level, "shingle_size": 2, "min_quote_words": 0}
    result = ibidem.dedup(source, **call)
    remaining = list(result.remaining())
    assert [PurePath(d.id).name.removesuffix(".txt") for d in remaining] == (["a", "b", "d"])
    assert remaining[1].text == (NEWS[1]["text"] if level == "document" else f"{text(50)}\n")
    before = contents(tmp_path / "source")
    written = result.write(tmp_path / "out")
    assert sorted(written) == sorted(path for path in (tmp_path / "out").rglob("*") if path.is_file())
    copies = cleaned_files(tmp_path / "out")
    if kind == "txt":
        assert [path.relative_to(tmp_path / "out").as_posix() for path in copies] == ["a.txt", "b.txt", "d.txt"]
        assert [d.text for d in ibidem.read(copies)] == [d.text for d in remaining]
    else:
        assert [path.name for path in copies] == [source.name]
        assert list(ibidem.read(copies)) == remaining
    listed = [json.loads(line) for line in (tmp_path / "out" / "removed.jsonl").read_text("utf-8").splitlines()]
    for row in listed:
        assert row.pop("snippet")
    assert listed == result.removed.to_pylist()
    run = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))
    assert run["written"] == [path.relative_to(tmp_path / "out").as_posix() for path in copies]
    assert run["counts"]["removals"] == len(result) == len(listed)
    # The same again, to the byte; and again from what was written.
    ibidem.dedup(source, **call).write(tmp_path / "out2")
    one, two = contents(tmp_path / "out"), contents(tmp_path / "out2")
    assert {name: data for name, data in one.items() if name != "run.json"} == {
        name: data for name, data in two.items() if name != "run.json"
    }
    assert contents(tmp_path / "source") == before
    again = ibidem.dedup(copies, level="document", shingle_size=2)
    assert len(again) == 0
    again.write(tmp_path / "out3")
    assert {p.name: p.read_bytes() for p in cleaned_files(tmp_path / "out3")} == {p.name: p.read_bytes() for p in copies}


@pytest.mark.parametrize("kind", ["jsonl", "json", "csv", "parquet", "jsonl.gz"])
@pytest.mark.parametrize("level", ["document", "passage"])
def test_marks_change_nothing_but_columns(tmp_path: Path, kind: str, level: str) -> None:
    source = write_news(tmp_path / "source", kind)
    result = ibidem.dedup(source, level=level, keep="earliest", shingle_size=2)
    result.write(tmp_path / "out", mark_only=True)
    before, after = list(ibidem.read(source)), list(ibidem.read(cleaned_files(tmp_path / "out")))
    marks = []
    for old, new in zip(before, after, strict=True):
        fields = dict(new.fields)
        names = ["ibidem_cluster", "ibidem_duplicate_of"] if level == "document" else ["ibidem_cuts"]
        marks.append([fields.pop(name) for name in names])
        assert dataclasses.replace(new, fields=fields) == old
    if kind.startswith("csv"):
        marks = [[json.loads(v) if v[:1] in ("[", "0") else v or None for v in values] for values in marks]
    if level == "document":
        assert marks == [[0, "c"], [None, None], [0, None], [None, None]]
        return
    rows = result.removed.to_pylist()
    assert len(rows) == 2
    for old, (cuts,) in zip(before, marks, strict=True):
        mine = [row for row in rows if row["id"] == old.id]
        assert cuts == ([{"start": r["start"], "end": r["end"], "id": r["matched_id"]} for r in mine] or None)


def test_marks_of_files_that_have_no_columns(tmp_path: Path) -> None:
    source = write_news(tmp_path / "source", "txt")
    ibidem.dedup(source, mark_only=True).write(tmp_path / "out")
    before = {path.relative_to(source): path.read_bytes() for path in source.rglob("*.txt")}
    assert {path.relative_to(tmp_path / "out"): path.read_bytes() for path in (tmp_path / "out").rglob("*.txt")} == before
    lines = [json.loads(line) for line in (tmp_path / "out" / "marks.jsonl").read_text("utf-8").splitlines()]
    expected = [(f"{source}/a.txt", None), (f"{source}/deep/c.txt", f"{source}/a.txt")]
    assert [(row["id"], row["ibidem_duplicate_of"]) for row in lines] == expected


def test_records_that_were_skipped_stay(tmp_path: Path) -> None:
    lines = [json.dumps(NEWS[0]), '{"id": "broken', json.dumps(NEWS[2]), '{"id": "e"}', "", '{"id": "f", "text": " "}']
    (tmp_path / "news.jsonl").write_text("\n".join(lines), "utf-8")
    result = ibidem.dedup(tmp_path / "news.jsonl")
    result.write(tmp_path / "out")
    assert (tmp_path / "out" / "news.jsonl").read_text("utf-8") == "\n".join(lines[:2] + lines[3:])
    skipped = (tmp_path / "out" / "skipped.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["position"] for line in skipped] == [2, 4, 6]
    assert [d.id for d in result.remaining()] == ["a"]


def test_several_files_and_a_reference(tmp_path: Path) -> None:
    one, two = (write_news(tmp_path / name, kind) for name, kind in (("one", "jsonl"), ("two", "csv")))
    other = write_news(tmp_path / "other", "parquet", NEWS[3:])
    before = contents(tmp_path / "other")
    ibidem.dedup([one, two]).write(tmp_path / "out")
    assert [d.id for d in ibidem.read(cleaned_files(tmp_path / "out"))] == ["a", "b", "d"]  # of the first file
    ibidem.dedup([one, two], against=other, level="passage").write(tmp_path / "out2")
    assert [d.id for d in ibidem.read([tmp_path / "out2" / name for name in ("news.jsonl", "news.csv")])] == list("abcabc")
    assert contents(tmp_path / "other") == before
    assert {path.name for path in cleaned_files(tmp_path / "out2")} == {"news.jsonl", "news.csv"}


def test_objects_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ibidem.InputError, match=r"Use cleaned\(\)"):
        ibidem.dedup(NEWS).write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_pages_can_be_dropped_but_not_cut(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.html").write_text(f"<html><body><h1>{name}</h1><p>{text(1, 2, 3, 4)}</p></body></html>", "utf-8")
    result = ibidem.dedup(folder, level="passage")
    assert len(result) == 1
    with pytest.raises(ibidem.InputError, match=r"(?s)a\.html.*HTML.*mark_only=True or level=\"document\""):
        result.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    result.write(tmp_path / "out", mark_only=True)
    assert len(cleaned_files(tmp_path / "out")) == 3
    ibidem.dedup(folder, shingle_size=2).write(tmp_path / "out2")
    assert contents(tmp_path / "out2")["a.html"] == (folder / "a.html").read_bytes()
    assert "b.html" not in contents(tmp_path / "out2")


def test_output_folders(tmp_path: Path) -> None:
    source = write_news(tmp_path / "source", "txt")
    result = ibidem.dedup(source)
    out = tmp_path / "out"
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputExistsError, match="is a file"):
        result.write(tmp_path / "file")
    out.mkdir()
    result.write(out)
    before = contents(out)
    with pytest.raises(OutputExistsError, match="overwrite=True"):
        result.write(out)
    assert contents(out) == before
    # What was cleaned earlier goes, even if it is not written again.
    (source / "d.txt").unlink()
    ibidem.dedup(source).write(out, overwrite=True)
    assert set(contents(out)) == set(before) - {"d.txt"}
    for inputs, folder in ((source, source), (out, out), (out / "a.txt", out)):
        with pytest.raises(ibidem.IbidemError, match=r"other files|inputs are among|overwrite an input"):
            ibidem.dedup(inputs).write(folder, overwrite=True)
    assert set(contents(out)) == set(before) - {"d.txt"}
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("mine")
    for overwrite in (False, True):
        with pytest.raises(OutputExistsError, match="other files"):
            result.write(tmp_path / "other", overwrite=overwrite)
    assert contents(tmp_path / "other") == {"thesis.txt": b"mine"}
    ibidem.find(documents(text(1))).write(tmp_path / "found")
    with pytest.raises(OutputExistsError, match="other files"):
        result.write(tmp_path / "found", overwrite=True)


@pytest.mark.parametrize("where", ["rewrite", "write_result"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, MemoryError])
def test_a_run_that_does_not_end_leaves_earlier_results(
    where: str, error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = tmp_path / "news.jsonl", tmp_path / "out"
    path.write_text("".join(json.dumps(record) + "\n" for record in documents(text(1, 2, 3), text(1, 2, 3))))
    ibidem.dedup(path).write(out)
    earlier = {file.name: file.read_bytes() for file in out.iterdir()}
    result = ibidem.dedup(path, level="passage")
    real = getattr(cleaned_copies, where)

    def fail(*arguments: Any, **named: Any) -> None:
        real(*arguments, **named)
        raise error

    monkeypatch.setattr(cleaned_copies, where, fail)
    with pytest.raises(error):
        result.write(out, overwrite=True)
    assert {file.name: file.read_bytes() for file in out.iterdir()} == earlier
    with pytest.raises(error):
        result.write(tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_collection_that_was_being_replaced_is_no_input(tmp_path: Path) -> None:
    (tmp_path / "news.jsonl").write_text(json.dumps({"text": text(1)}))
    (tmp_path / "unfinished.json").write_text('{"written": ["news.jsonl"]}')
    with pytest.raises(InputError, match="is a half-replaced collection"):
        ibidem.find(tmp_path)


def test_files_that_cannot_be_opened_are_said_not_to_be_copied(tmp_path: Path) -> None:
    folder = tmp_path / "news"
    folder.mkdir()
    (folder / "one.jsonl").write_text(json.dumps({"text": text(1, 2, 3)}) + "\n")
    (folder / "two.jsonl").symlink_to("two.jsonl")
    result = ibidem.dedup(folder)
    result.write(tmp_path / "out")
    assert json.loads((tmp_path / "out" / "run.json").read_text())["not_copied"] == [str(folder / "two.jsonl")]
    assert "two.jsonl could not be read at all and was not copied" in summarise_cleaning(result, tmp_path / "out")
    assert cleaned_files(tmp_path / "out") == [tmp_path / "out" / "one.jsonl"]


@pytest.mark.parametrize("memory", ["auto", "1MB"])
def test_the_counts_of_a_summary_add_up(tmp_path: Path, memory: str) -> None:
    """A document that consists of two passages goes as a whole: only what is cut out of others counts as a passage."""
    items = documents(text(1, 2, 3), text(4, 5, 6), text(1, 2, 3) + " " + text(4, 5, 6), text(1, 2, 3) + " " + text(50))
    with ibidem.dedup(items, level="passage", memory=memory) as result:
        kinds = [row["removed"] for row in result.first_removed(10)]
        assert kinds == ["document", "document", "passage"]
        said = summarise_cleaning(result).splitlines()
        assert said[1:3] == ["1 passage would be removed from 1 document", "1 whole document would be removed, 3 remain"]
        assert (result.overview().n_cuts, result.overview().n_removals) == (1, 3)


def test_a_folder_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="is a file"):
        ibidem.dedup(write_news(tmp_path / "source", "txt")).write(tmp_path / "file" / "out")


def test_an_input_is_never_removed(tmp_path: Path) -> None:
    source = write_news(tmp_path / "source", "txt")
    (source / "deep" / "e.txt").write_text(text(70, 71))
    ibidem.dedup(source).write(tmp_path / "out")
    before = (tmp_path / "out" / "deep" / "e.txt").read_bytes()
    with contextlib.suppress(ibidem.IbidemError):
        ibidem.dedup(tmp_path / "out" / "deep").write(tmp_path / "out", overwrite=True)
    assert before in contents(tmp_path / "out").values()


def test_a_file_that_changed_is_an_error(tmp_path: Path) -> None:
    source = write_news(tmp_path / "source", "jsonl")
    result = ibidem.dedup(source, level="passage")
    source.write_text(json.dumps({"text": "x"}) + "\n")
    with pytest.raises(ibidem.InputError, match="changed after it was read"):
        result.write(tmp_path / "out")
    assert cleaned_files(tmp_path / "out") == []


def test_a_cleaned_folder_can_be_read_again(tmp_path: Path) -> None:
    ibidem.dedup(write_news(tmp_path / "source", "jsonl")).write(tmp_path / "out")
    result = ibidem.dedup(tmp_path / "out")
    assert (len(result), result.skipped) == (0, [])
    result.write(tmp_path / "out2")
    assert contents(tmp_path / "out2")["news.jsonl"] == contents(tmp_path / "out")["news.jsonl"]


# Nothing depends on how the work is done.


@pytest.mark.parametrize("level", ["document", "passage", "sentence"])
def test_workers_and_batches_change_nothing(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = [(7 * i * i + 3 * j) % 60 for i in range(80) for j in range(12)]
    items = documents(*[text(*numbers[12 * i : 12 * i + 12]) for i in range(80)])
    call: dict[str, Any] = {"level": level, "min_quote_words": 0, "shingle_size": 2, "min_similarity": "0.3"}
    plain = ibidem.dedup(items, workers=1, **call).removed
    assert plain.num_rows > 10
    for workers in (2, 3):
        assert ibidem.dedup(items, workers=workers, **call).removed.equals(plain)
    monkeypatch.setattr("ibidem.formats.records.MAX_BATCH_BYTES", 3000)
    monkeypatch.setattr("ibidem.formats.reader.MIN_BATCH_BYTES", 1)
    assert ibidem.dedup(items, workers=3, **call).removed.equals(plain)
