"""The tables of `find`: repeats, documents, and the result that contains them, written and read back."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import ibidem
from ibidem.errors import OutputExistsError, SettingsError
from ibidem.model import DOCUMENTS, PASSAGES, REPEATS
from ibidem.results.summary import summarise
from tests.texts import changed, documents, only, places, text

PARAGRAPH = text(1, 2, 3, 4)


def shares(result: ibidem.Result) -> dict[str, tuple[float, float, int | None]]:
    """Return reused share, first share and cluster by document."""
    return {
        row["id"]: (round(row["reused_share"], 9), round(row["first_share"], 9), row["cluster"])
        for row in result.documents.to_pylist()
    }


# Repeats.


@pytest.mark.parametrize("signature", ["exact", "words"])
def test_a_paragraph_of_150_documents_is_one_repeat_group(signature: str) -> None:
    own = [text(100 + 2 * i, 101 + 2 * i) for i in range(150)]
    records = documents(*[f"{mine}\n\n{PARAGRAPH}\n\n{text(500 + i)}" for i, mine in enumerate(own)])
    result = ibidem.find(records, signature=signature)
    assert len(result) == 0
    (group,) = result.repeats.to_pylist()
    assert (group["text"], group["n_documents"]) == (PARAGRAPH, 150)
    start = len(own[0]) + 2
    assert group["places"] == [{"id": f"d{i}", "start": start, "end": start + len(PARAGRAPH)} for i in range(150)]
    share = len(PARAGRAPH) - 3
    assert result.documents["reused_share"].to_pylist() == pytest.approx([share / (share + 3 * len(text(1)))] * 150, abs=2e-3)
    assert [i for i, share in enumerate(result.documents["first_share"].to_pylist()) if share] == [0]
    assert result.documents["cluster"].null_count == 150
    assert "1 repeat group" in summarise(result)


def test_up_to_max_places_are_pairs() -> None:
    records = documents(*[f"{PARAGRAPH} {text(100 + i)}" for i in range(20)])
    assert (len(ibidem.find(records, max_places=20)), len(ibidem.find(records, max_places=19))) == (190, 0)
    assert ibidem.find(records, max_places=20).repeats.num_rows == 0
    assert ibidem.find(records, max_places=19).repeats["n_documents"].to_pylist() == [20]


@pytest.mark.parametrize("signature", ["exact", "words", "shingles"])
def test_a_thousand_copies_of_a_chinese_line_are_one_repeat_group(signature: str) -> None:
    line = "港口昨晚因为风暴而关闭。"
    result = ibidem.find([{"id": f"{i:04}", "text": line} for i in range(1000)], signature=signature)
    assert len(result) == 0
    (group,) = result.repeats.to_pylist()
    assert (group["text"], group["n_documents"]) == (line, 1000)
    assert group["places"] == [{"id": f"{i:04}", "start": 0, "end": len(line)} for i in range(1000)]
    assert shares(result)["0000"] == (1.0, 1.0, 0)
    assert shares(result)["0999"] == (1.0, 0.0, 0)


def test_a_long_sentence_of_many_documents_is_one_repeat_group() -> None:
    quote = text(50, count=14)
    result = ibidem.find(documents(*[f"{text(100 + i)} {quote} {text(400 + i)}" for i in range(130)]))
    assert len(result) == 0
    (group,) = result.repeats.to_pylist()
    assert (group["text"], group["n_documents"], len(group["places"])) == (quote, 130, 130)


def test_a_longer_copy_runs_through_a_repeat() -> None:
    """Two documents share more than the boilerplate: that passage comes out whole."""
    records = documents(*[f"{text(100 + i)} {PARAGRAPH} {text(400 + i)}" for i in range(120)])
    whole = f"{text(80, 81, 82)} {PARAGRAPH} {text(83, 84, 85)}"
    records += documents(x=f"{text(90)} {whole}", y=f"{whole} {text(91)}")
    result = ibidem.find(records, align=False)
    passage = only(result)
    assert (passage.a.id, passage.a.text) == ("x", whole)
    assert (passage.b.id, passage.b.text) == ("y", whole)
    assert result.repeats["n_documents"].to_pylist() == [122]


def test_repeats_are_ordered_by_their_documents() -> None:
    other = text(11, 12, 13)
    records = documents(*[f"{PARAGRAPH} {text(100 + i)}" + (f" {other}" if i % 2 else "") for i in range(30)])
    result = ibidem.find(records, max_places=5)
    assert [(g["text"], g["n_documents"]) for g in result.repeats.to_pylist()] == [(PARAGRAPH, 30), (other, 15)]


def test_against_has_no_repeats_of_the_reference_alone() -> None:
    reference = documents(*[f"{PARAGRAPH} {text(100 + i)}" for i in range(20)])
    assert ibidem.find(documents(x=text(50, 51, 52)), against=reference, max_places=10).repeats.num_rows == 0


def test_repeats_of_one_group_are_left_out_if_asked_for() -> None:
    records = [{**record, "group": "g"} for record in documents(*[f"{PARAGRAPH} {text(100 + i)}" for i in range(20)])]
    result = ibidem.find(records, skip_same_group=True, max_places=10)
    assert result.repeats.num_rows == 0
    assert set(result.documents["reused_share"].to_pylist()) == {0.0}


def test_with_against_the_reference_is_first_in_repeats_too() -> None:
    reference = documents(*[f"{PARAGRAPH} {text(100 + i)}" for i in range(20)])
    result = ibidem.find(documents(x=f"{PARAGRAPH} {text(50)}"), against=reference, max_places=10)
    assert shares(result)["x"][:2] == (0.8, 0.0)


def test_a_repeat_inside_one_document_is_not_lost() -> None:
    records = documents(" ".join(f"{PARAGRAPH} {text(100 + i)}" for i in range(20)))
    result = ibidem.find(records, same_document=True, max_places=10)
    assert len(result) + result.repeats.num_rows > 0


# Documents.


def test_shares_and_clusters() -> None:
    body = text(*range(1, 11))
    records = documents(
        copy_a=body,
        copy_b=body,
        revised=text(*range(1, 10)) + " " + text(40),
        part=text(1, 2, 3, 41, 42, 43),
        alone=text(60, 61),
    )
    result = ibidem.find(records)
    assert shares(result) == {
        "copy_a": (1.0, 1.0, 0),
        "copy_b": (1.0, 0.0, 0),
        "revised": (0.9, 0.0, 0),
        "part": (0.5, 0.0, None),
        "alone": (0.0, 0.0, None),
    }
    assert result.documents["n_chars"].to_pylist() == [len(record["text"]) for record in records]
    assert result.documents["n_sentences"].to_pylist() == [10, 10, 10, 6, 2]


def test_clusters_are_numbered_in_reading_order() -> None:
    records = documents(text(9, 8, 7), text(1, 2, 3), text(1, 2, 3), text(30, 31), text(9, 8, 7))
    assert ibidem.find(records).documents["cluster"].to_pylist() == [0, 1, 1, None, 0]


def test_partial_copies_do_not_join_clusters_through_a_digest() -> None:
    records = documents(one=text(1, 2, 3, 4), digest=text(1, 2, 3, 4, 5, 6, 7, 8), two=text(5, 6, 7, 8))
    assert ibidem.find(records).documents["cluster"].to_pylist() == [None, None, None]


def test_a_stretch_that_is_copied_twice_covers_its_document_once() -> None:
    result = ibidem.find(documents(half=text(1, 2, 3, 7, 8, 9), twice=text(1, 2, 3, 1, 2, 3)))
    assert [row["reused_share"] for row in result.documents.to_pylist()] == [0.5, 1.0]
    assert result.documents["cluster"].to_pylist() == [None, None]


def test_what_was_first_is_told_by_time_where_there_is_one() -> None:
    records = [
        {"id": "late", "text": text(1, 2, 3, 10), "time": "2024-05-02"},
        {"id": "early", "text": text(1, 2, 3, 11), "time": "2024-05-01"},
        {"id": "undated", "text": text(1, 2, 3, 12)},
    ]
    assert {name: values[1] for name, values in shares(ibidem.find(records)).items()} == {
        "late": 0.0, "early": 0.75, "undated": 0.0,
    }  # fmt: skip


# The result.


@pytest.fixture(scope="module")
def result() -> ibidem.Result:
    footer = text(31, 32, 33)
    records: list[dict[str, Any]] = [
        {"id": f"página {i}", "text": f"{text(100 + i)} {footer}", "time": f"2024-01-{i + 1:02}"} for i in range(12)
    ]
    records.append({"id": 'quoted "id", with comma', "text": f"{text(1, 2, 3)}\n{text(4)}"})
    records.append({"id": "other", "text": f"{text(200)} {text(1, 2)} {changed(3, count=6)} {text(4)}"})
    records.append({"id": "more", "text": f"{text(201)} {text(1, 2, 3)}"})
    records.append({"id": "empty", "text": ""})
    return ibidem.find(records, max_places=8, min_similarity="0.7")


def test_schemas_are_those_of_the_model(result: ibidem.Result) -> None:
    assert result.passages.schema == PASSAGES
    assert result.documents.schema == DOCUMENTS
    assert result.repeats.schema == REPEATS


def test_a_result_is_a_sequence_of_passages(result: ibidem.Result) -> None:
    passages = list(result)
    assert len(result) == len(passages) == 3
    assert all(isinstance(passage, ibidem.Passage) for passage in passages)
    assert [(p.a.id, p.b.id) for p in passages] == [
        ('quoted "id", with comma', "other"), ('quoted "id", with comma', "more"), ("other", "more"),
    ]  # fmt: skip
    assert passages[1].a.text == passages[1].b.text == text(1, 2, 3)
    assert repr(result) == "<Result: 3 passages, 1 repeat, 15 documents>"


def test_the_longest_passages(result: ibidem.Result) -> None:
    longest = result.longest(2)
    assert longest == sorted(result, key=lambda p: len(p.a.text) + len(p.b.text), reverse=True)[:2]
    assert len(result.longest(99)) == 3
    assert result.longest(0) == []


def test_with_texts(result: ibidem.Result) -> None:
    table = result.with_texts()
    assert table.column_names == [*PASSAGES.names, "a_text", "b_text"]
    assert table["a_text"].to_pylist() == [p.a.text for p in result]
    assert table["b_text"].to_pylist() == [p.b.text for p in result]
    assert "a_text" not in result.passages.column_names


def test_skipped_records_are_kept(result: ibidem.Result) -> None:
    (skipped,) = result.skipped
    assert (skipped.source, skipped.position, skipped.reason, skipped.id) == ("records", 16, "empty text", "empty")


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read a table back, whatever its format."""
    if path.suffix == ".parquet":
        return pa.parquet.read_table(path).to_pylist()  # type: ignore[no-any-return]
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def as_csv(value: Any) -> str:
    if isinstance(value, float):
        return str(int(value)) if value == int(value) else repr(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else "" if value is None else str(value)


@pytest.mark.parametrize("table_format", ["parquet", "jsonl", "csv"])
@pytest.mark.parametrize("keep_text", [False, True])
def test_tables_are_read_back_as_they_were(result: ibidem.Result, tmp_path: Path, table_format: str, keep_text: bool) -> None:
    written = result.write(tmp_path / "out", format=table_format, keep_text=keep_text)
    tables = {"passages": result.with_texts() if keep_text else result.passages}
    tables |= {"documents": result.documents, "repeats": result.repeats}
    names = [*(f"{name}.{table_format}" for name in tables), "skipped.jsonl", "run.json"]
    assert sorted(path.name for path in written) == sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(names)
    for name, table in tables.items():
        rows = read_rows(tmp_path / "out" / f"{name}.{table_format}")
        expected = table.to_pylist()
        if table_format == "csv":
            expected = [{key: as_csv(value) for key, value in row.items()} for row in expected]
        assert rows == expected
        assert rows, name
    assert read_rows(tmp_path / "out" / "skipped.jsonl") == [
        {"source": "records", "position": 16, "reason": "empty text", "id": "empty"}
    ]


def test_empty_tables_are_written_with_their_columns(tmp_path: Path) -> None:
    nothing = ibidem.find(documents(text(1), text(2)))
    nothing.write(tmp_path / "csv", format="csv")
    assert (tmp_path / "csv" / "passages.csv").read_text().replace('"', "").strip().split(",") == PASSAGES.names
    nothing.write(tmp_path / "parquet", keep_text=True)
    assert pa.parquet.read_table(tmp_path / "parquet" / "passages.parquet").column_names[-2:] == ["a_text", "b_text"]
    nothing.write(tmp_path / "jsonl", format="jsonl")
    assert (tmp_path / "jsonl" / "passages.jsonl").read_text() == ""


def test_results_are_replaced_only_if_asked_for(result: ibidem.Result, tmp_path: Path) -> None:
    result.write(tmp_path, format="jsonl")
    with pytest.raises(OutputExistsError, match="already contains results"):
        result.write(tmp_path)
    result.write(tmp_path, overwrite=True)
    assert sorted(path.name for path in tmp_path.glob("passages.*")) == ["passages.parquet"]
    with pytest.raises(SettingsError, match="must be one of parquet, jsonl, csv"):
        result.write(tmp_path, format="xlsx", overwrite=True)


def test_a_run_can_be_told_again(result: ibidem.Result) -> None:
    run = result.run()
    assert run["version"] == ibidem.__version__
    assert run["inputs"] == [{"kind": "python object"}]
    assert run["counts"]["documents"] == 15
    assert (run["counts"]["passages"], run["counts"]["repeats"], run["counts"]["skipped"]) == (3, 1, 1)
    flat = {name: value for stage in run["settings"].values() for name, value in stage.items()}
    assert ibidem.Config.of(**flat) == result.config
    assert json.loads(json.dumps(run)) == run


# What a user reads where there is nothing.


@pytest.mark.parametrize(
    ("texts", "wanted", "message"),
    [
        (["Velmo tarrin.", "Quovex lum.", "Brindol saffet.", "Ockvar."], {}, "the texts are short"),
        ([text(1, 2, 3)], {}, "only one document"),
        ([text(1, 2, 3), text(4, 5, 6)], {}, "no 3 consecutive sentences match"),
        ([text(1, 2, 3), text(4, 5, 6)], {"min_sentences": 1}, "no sentences match"),
        ([text(1, 2, 3), text(4, 5, 6)], {"signature": "exact"}, "no 3 consecutive sentences are equal"),
    ],
)
def test_nothing_is_explained(texts: list[str], wanted: dict[str, Any], message: str) -> None:
    answer = ibidem.find(documents(*texts), **wanted)
    assert len(answer) == 0
    summary = summarise(answer)
    assert "nothing found:" in summary
    assert message in summary


def test_four_short_texts_give_an_answer() -> None:
    records = documents("The harbour is closed.", "The harbour is closed!", "The harbour is open.", "Ships wait.")
    assert places(ibidem.find(records)) == [("d0", 0, 22, "d1", 0, 22)]


def test_the_advice_of_a_summary_helps() -> None:
    records = documents("Ships wait. The harbour is closed.", "The harbour is closed. Go home.", "Red.", "Blue.")
    assert "try min_sentences=1" in summarise(ibidem.find(records))
    assert only(ibidem.find(records, min_sentences=1)).a.text == "The harbour is closed."


def test_the_explanation_is_true_for_equal_sentences_that_stand_alone() -> None:
    records = documents(text(1, 2, 3), text(1, 5, 6))
    assert "no sentences are equal" not in summarise(ibidem.find(records, signature="exact"))


@pytest.mark.parametrize("signature", ["imatch", "fingerprint"])
def test_the_advice_fits_the_signature(signature: str) -> None:
    records = documents(text(1, 2, 3), text(4, 5, 6))
    assert "min_similarity" not in summarise(ibidem.find(records, signature=signature))


def test_texts_without_any_sentence_are_not_called_short() -> None:
    assert "short" not in summarise(ibidem.find(documents("!!!", "???")))


@pytest.mark.parametrize(("wanted", "cause"), [({"min_words": 99}, "min_words"), ({"skip_same_group": True}, "group")])
def test_the_limit_that_kept_passages_out_is_named(wanted: dict[str, Any], cause: str) -> None:
    records = [{**record, "group": "g"} for record in documents(text(1, 2, 3, 8), text(1, 2, 3, 9))]
    assert cause in summarise(ibidem.find(records, **wanted))


def test_a_hot_sentence_is_listed_even_if_two_of_its_places_are_in_a_passage() -> None:
    """Found in review: the two places that a passage covers made the group fall below the limit, and all was lost."""
    hot = text(50, count=16)
    texts = [f"{text(100 + 2 * i)} {hot} {text(101 + 2 * i)}" for i in range(100)]
    result = ibidem.find(documents(*texts, texts[0]))
    assert [group["n_documents"] for group in result.repeats.to_pylist()] == [101]
    assert min(result.documents["reused_share"].to_pylist()) > 0


def test_every_place_of_a_repeat_group_matches_the_first() -> None:
    """Found in review: a class is a chain of similar sentences, its ends may share no word."""
    windows = [[f"term{j}k" for j in range(i, i + 20)] for i in range(150)]
    result = ibidem.find(documents(*[" ".join(words).capitalize() + "." for words in windows]))
    assert result.repeats.num_rows > 1
    texts = {f"d{i}": set(words) for i, words in enumerate(windows)}
    for group in result.repeats.to_pylist():
        first, *others = (texts[place["id"]] for place in group["places"])
        assert all(len(first & other) / len(first | other) >= 0.8 for other in others)


def test_runs_between_the_pieces_of_a_cut_diagonal_are_chained() -> None:
    """Found in review: pieces of one diagonal came before a run that begins between them."""
    a = [*range(6), 70, 71, 72, 73, 74, 75, *range(10, 16), 76, 77, *range(20, 26)]
    b = [*range(6), 80, 81, 82, 83, 84, 85, 86, 87, *range(10, 16), *range(20, 26)]
    exact = ibidem.find(documents(text(*a), text(*b)), signature="exact", max_gap_sentences=2)
    words = ibidem.find(documents(text(*a), text(*b)), signature="words", max_gap_sentences=2)
    assert words.passages.equals(exact.passages)
    assert exact.passages["n_sentences"].to_pylist() == [6, 12]
