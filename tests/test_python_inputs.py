"""Everything that a caller in Python may give as inputs is read as what it is, or refused in words that help."""

from __future__ import annotations

import importlib.util
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ibidem
from ibidem.config.surface import speaking
from ibidem.errors import InputError, UsageError
from ibidem.formats.python_inputs import PathName, Taken, Texts, original_of, settle
from tests.python_objects import TABLES
from tests.texts import text

TEXTS = [text(1, 2, 3), f"{text(7)} {text(1, 2, 3)}", text(4, 5)]
RECORDS = [{"id": f"d{n}", "text": value, "n": n} for n, value in enumerate(TEXTS)]


def pairs(result: Any) -> list[tuple[str, str]]:
    return [(passage.a.id, passage.b.id) for passage in result]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two files, which is the current one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my notes.txt").write_text(TEXTS[0])
    (tmp_path / "b.txt").write_text(TEXTS[1])
    (tmp_path / "why not").mkdir()
    return tmp_path


@pytest.mark.parametrize("kind", TABLES)
def test_tables_are_read_with_their_columns(kind: str) -> None:
    make = TABLES[kind]
    assert pairs(ibidem.find(make(RECORDS))) == [("d0", "d1")]
    assert pairs(ibidem.find(make(RECORDS[:1]), against=make(RECORDS[1:]))) == [("d0", "d1")]
    assert [document.id for document in ibidem.read(make(RECORDS))] == ["d0", "d1", "d2"]
    assert len(ibidem.cluster(make(RECORDS), shingle_size=1, min_similarity=0.5)) == 1
    assert pairs(ibidem.compare_pairs(make(RECORDS), [("d0", "d1")], min_aligned_words=5)) == [("d0", "d1")]


@pytest.mark.parametrize("kind", TABLES)
def test_an_index_takes_them(kind: str, tmp_path: Path) -> None:
    make = TABLES[kind]
    with ibidem.Index(tmp_path / "index") as index:
        assert index.add(make(RECORDS[:1])) == 1
        assert [verdict.n_known for verdict in index.check(make(RECORDS))] == [0, 3, 0]
        assert [arrival.id for arrival in index.watch(make(RECORDS[1:]))] == ["d1", "d2"]
        assert len(index) == 3


def series(*arguments: Any, **named: Any) -> Any:
    return pytest.importorskip("pandas").Series(*arguments, **named)


def test_texts_have_their_positions_as_ids() -> None:
    for texts in (TEXTS, tuple(TEXTS), iter(TEXTS), np.array(TEXTS), pa.array(TEXTS), pa.chunked_array([TEXTS]), series(TEXTS)):
        assert pairs(ibidem.find(texts)) == [("0", "1")]
    polars = pytest.importorskip("polars")
    assert pairs(ibidem.find(polars.Series(TEXTS))) == [("0", "1")]
    assert pairs(ibidem.find(TEXTS, text_field="body", id_field="key")) == [("0", "1")]
    assert pairs(ibidem.find([TEXTS[:1], TEXTS[1:]])) == [("0", "records2:0")]
    assert pairs(ibidem.find(TEXTS[:1], against=TEXTS[1:])) == [("0", "0")]


def test_the_index_of_a_series_names_its_texts_if_it_can() -> None:
    pandas = pytest.importorskip("pandas")
    assert pairs(ibidem.find(series(TEXTS, index=["a", "b", "c"]))) == [("a", "b")]
    assert pairs(ibidem.find(series(TEXTS, index=[20, 10, 30]))) == [("20", "10")]
    assert pairs(ibidem.find(series(TEXTS)[lambda texts: texts.index != 2])) == [("0", "1")]
    for index in (["a", "a", "c"], [np.nan, 1, 2], pandas.MultiIndex.from_tuples([("a", 1), ("b", 1), ("c", 1)])):
        assert pairs(ibidem.find(series(TEXTS, index=index))) == [("0", "1")]
    result = ibidem.find(series([*TEXTS, None, np.nan], dtype=object))
    assert [(record.position, record.reason) for record in result.skipped] == [
        (4, "field 'text' is null"),
        (5, "field 'text' is null"),
    ]


def test_a_list_of_strings_is_paths_or_texts_and_never_both(folder: Path) -> None:
    assert settle(["my notes.txt", "b.txt"]) == ["my notes.txt", "b.txt"]
    assert settle(["*.txt"]) == ["*.txt"]
    assert all(isinstance(path, PathName) for path in settle(["my no*", "b.txt", "-"]))
    assert settle([Path("b.txt")]) == [Path("b.txt")]
    (taken,) = settle(["What is this? And that? *", "word", None, "", f"{TEXTS[0]}\nb.txt"])
    assert isinstance(taken.records, Texts)
    assert ibidem.find([TEXTS[0], "word"]).counts["documents"] == 2
    refused = {
        ("b.txt", TEXTS[0]): r"mixes paths and texts: 'b.txt' is a path, and '.*…' is a text",
        (TEXTS[0], "why not"): r"mixes paths and texts: 'why not' is a path",
        ("c d.txt", TEXTS[0]): r"mixes paths and texts: 'c d.txt' is named like a file, which does not exist",
        ("c d.txt", "e f.csv.gz"): "there is no file or folder c d.txt",
        ("word", "another"): "there is no file or folder word",
        ("none/*.txt",): r"no file matches none/\*.txt",
    }
    for strings, message in refused.items():
        with pytest.raises(InputError, match=message):
            ibidem.find(list(strings))
    # A record is a text, whatever it says.
    assert ibidem.find([{"text": "b.txt"}, {"text": TEXTS[0]}]).counts["documents"] == 2


def test_in_the_shell_strings_are_paths(folder: Path) -> None:
    with speaking("shell"), pytest.raises(InputError, match=f"there is no file or folder {TEXTS[0]}\nCheck the spelling"):
        ibidem.find([TEXTS[0], TEXTS[1]])


def test_a_single_string_with_a_blank_is_a_text_unless_it_is_a_path(folder: Path) -> None:
    assert ibidem.find("my notes.txt", same_document=True).counts["documents"] == 1
    with ibidem.Index(folder / "index") as index:
        calls = [ibidem.find, ibidem.cluster, ibidem.dedup, ibidem.tune, ibidem.read, index.add, index.query, index.check]
        for call in (*calls, lambda inputs: ibidem.compare_pairs(inputs, [("a", "b")]), index.watch):
            with pytest.raises(
                InputError, match=r"is a text, not the name of a file or folder\nPass texts in a list: \[text\]\."
            ):
                list(call(TEXTS[0]))  # type: ignore[call-overload]
        with pytest.raises(InputError, match="is a text"):
            ibidem.find(TEXTS, against=TEXTS[0])
    with pytest.raises(InputError, match=r'folder my note\.txt\n.* If it is a text, pass it as a record: {"text": text}\.'):
        ibidem.find("my note.txt")


MISSING: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "iterator": iter,
    "values": lambda items: dict(enumerate(items)).values(),
    "array": lambda items: np.array(items, dtype=object),
}


@pytest.mark.parametrize("form", MISSING)
def test_the_first_item_that_is_not_missing_says_what_they_are(form: str, folder: Path) -> None:
    nulls = [None, float("nan")]
    if importlib.util.find_spec("pandas"):
        import pandas

        nulls += [pandas.NA, pandas.NaT]
    for null in nulls:
        assert pairs(ibidem.find(MISSING[form]([null, *TEXTS]))) == [("1", "2")]
        cleaned = ibidem.dedup(MISSING[form]([null, TEXTS[0], TEXTS[0]]), min_similarity=1).cleaned()
        assert cleaned[0] is null
        assert cleaned[1:] == TEXTS[:1]
    if form in ("list", "iterator"):
        result = ibidem.find(MISSING[form]([None, *RECORDS]))
        assert (pairs(result), len(result.skipped)) == ([("d0", "d1")], 1)
    for items in ([None, None], ["b.txt", None]):
        with pytest.raises(InputError, match="cannot read documents from a NoneType"):
            ibidem.find(MISSING[form](items))


def test_a_pattern_is_no_text_even_if_nothing_matches(folder: Path) -> None:
    for pattern in ("why not/any*", "none at all/*", "why not/what is it?", f"{folder}/none of them*", "none/at all/*.old"):
        with pytest.raises(InputError, match="no file matches"):
            ibidem.find([pattern])
        with pytest.raises(InputError, match=r"mixes paths and texts: .* is named like a file, which does not exist"):
            ibidem.find([pattern, TEXTS[0]])
    sentences = ["Was it he/she who came?", "This and/*or* that.", "/s Is it so?", "Either [a/b] or * is meant."]
    (taken,) = settle(sentences)
    assert taken.records == Texts(sentences)


def test_folders_are_looked_at_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (taken,) = settle(["new one*", TEXTS[0]])
    assert isinstance(taken.records, Texts)
    (folder / "new one.txt").write_text(TEXTS[0])
    assert settle(["new one*"]) == ["new one*"]
    monkeypatch.chdir(folder / "why not")
    (taken,) = settle(["new one*", TEXTS[0]])
    assert isinstance(taken.records, Texts)


def test_an_open_file_is_refused(folder: Path) -> None:
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, RECORDS)))
    with ibidem.Index(folder / "index") as index, open("a.jsonl") as lines, open("a.jsonl", "rb") as stored:
        for file in (lines, stored, io.StringIO("\n".join(TEXTS))):
            for call in (ibidem.find, ibidem.read, index.add, index.watch):
                with pytest.raises(InputError, match=r"an open file .*\nPass the path"):
                    list(call(file))  # type: ignore[operator]


def test_compare_takes_texts(folder: Path) -> None:
    for a, b in (("my notes.txt", "b.txt"), (Path("b.txt"), Path("b.txt")), (TEXTS[0], None)):
        with pytest.raises(InputError, match=r"compare takes two texts, not .*\n.*Path\(name\)\.read_text\(\)"):
            ibidem.compare(a, b)  # type: ignore[arg-type]
    assert ibidem.compare("b.txt", TEXTS[0]) == []


def test_an_index_wants_ids(tmp_path: Path) -> None:
    with ibidem.Index(tmp_path / "index") as index:
        for call in (index.add, index.watch):
            with pytest.raises(UsageError, match="the texts have no ids, which an index needs"):
                list(call(TEXTS))  # type: ignore[call-overload]
        assert index.add(series(TEXTS[:2], index=["a", "0"])) == 2
        # A text without an id is compared with everything: its position is the id of another text.
        result = index.query(TEXTS[:2])
        assert result.ids == ["query:0", "query:1"]
        assert [{source.id for source in verdict.sources} for verdict in result.verdicts] == [{"a", "0"}, {"a", "0"}]
        assert [arrival.id for arrival in index.watch(series(TEXTS[2:], index=["c"]))] == ["c"]


def test_files_can_be_watched(tmp_path: Path) -> None:
    lines = [*map(json.dumps, RECORDS), "{", json.dumps({"id": "x"})]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    with ibidem.Index(tmp_path / "index") as index:
        arrivals = list(index.watch(str(tmp_path / "a.jsonl")))
        assert [arrival.id for arrival in arrivals if arrival.verdict] == ["d0", "d1", "d2"]
        assert len([arrival for arrival in arrivals if arrival.skipped]) == 2


def test_several_splits_have_to_be_chosen_from() -> None:
    datasets = pytest.importorskip("datasets")
    splits = datasets.DatasetDict({"train": TABLES["dataset"](RECORDS), "test": TABLES["dataset"](RECORDS)})
    with pytest.raises(InputError, match=r"several splits: train, test\nChoose one, such as dataset\[\"train\"\]"):
        ibidem.find(splits)
    with pytest.raises(InputError, match="no splits"):
        ibidem.find(datasets.DatasetDict())


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (None, r"from a NoneType\nPass paths, texts in a list, an Arrow table"),
        (3, "cannot read documents from a int"),
        (b"bytes", "cannot read documents from a bytes"),
        ({"a", "b"}, "a set has no order\nPass a list"),
        (pa.array([1, 2]), "the array contains int64, not texts"),
        ([], r"contain no documents\nPass at least one document\."),
        (iter(()), "contain no documents"),
    ],
    ids=["none", "number", "bytes", "set", "numbers", "empty list", "empty iterator"],
)
def test_what_cannot_be_read_is_refused(inputs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ibidem.find(inputs)


def test_a_spark_frame_without_arrow_is_left_to_spark() -> None:
    frame = type("DataFrame", (), {"__module__": "pyspark.sql.classic.dataframe"})()
    assert settle(frame, on_spark=True) == [frame]
    with pytest.raises(InputError, match=r"only Spark can read a Spark data frame\nAdd engine="):
        ibidem.find(frame)  # type: ignore[call-overload]


def test_a_series_of_numbers_is_refused() -> None:
    with pytest.raises(InputError, match="the Series contains int64, not texts"):
        ibidem.find(series([1, 2]))


def test_a_lazy_frame_is_collected_once() -> None:
    polars = pytest.importorskip("polars")
    n_calls = 0

    def count(frame: Any) -> Any:
        nonlocal n_calls
        n_calls += 1
        return frame

    lazy = polars.DataFrame({"text": TEXTS}).lazy().map_batches(count)
    assert len(ibidem.dedup(lazy, level="passage").cleaned().collect()) == 3
    assert n_calls == 1


def test_what_is_settled_stays_settled_and_leads_back() -> None:
    for inputs in (TEXTS, RECORDS, pa.table({"text": TEXTS}), [RECORDS, pa.table({"text": TEXTS})], "a path.txt"):
        settled = settle(inputs)
        assert settle(settled) == settled
        assert original_of(settled) == inputs
    mixed = settle([RECORDS[0], RECORDS[1], "a.txt", RECORDS[2]])
    assert [type(item) for item in mixed] == [Taken, PathName, Taken]


@pytest.mark.parametrize("setting", ["id_field", "time_field", "group_field"])
def test_a_field_that_is_not_there_is_answered_with_those_that_are(setting: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    (tmp_path / "a.json").write_text(json.dumps(RECORDS))
    (tmp_path / "a.csv").write_text("id,text,n\n" + "".join(f"{r['id']},{r['text']},{r['n']}\n" for r in RECORDS))
    pq.write_table(pa.Table.from_pylist(RECORDS), tmp_path / "a.parquet")
    for name in ("a.jsonl", "a.json", "a.csv", "a.parquet"):
        path = tmp_path / name
        with pytest.raises(InputError, match=f"in the field|a field 'nope' .*; the fields of {path} are id, text, n\n"):
            ibidem.find(path, **{setting: "nope"})  # type: ignore[call-overload]
    for kind, make in TABLES.items():
        if kind != "documents":
            with pytest.raises(InputError, match="; the fields are id, text, n\n"):
                ibidem.find(make(RECORDS), **{setting: "nope"})  # type: ignore[call-overload]


def test_of_two_sides_the_one_is_named_that_lacks_a_field(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"id,text\n1,{TEXTS[0]}\n")
    (tmp_path / "b.csv").write_text(f"key,text\n1,{TEXTS[0]}\n")
    for sides in (("a.csv", "b.csv"), ("b.csv", "a.csv")):
        inputs, against = (tmp_path / side for side in sides)
        with pytest.raises(InputError, match=f"a field 'key' with a value; the fields of {tmp_path / 'a.csv'} are id, text\n"):
            ibidem.find(inputs, against=against, id_field="key")
