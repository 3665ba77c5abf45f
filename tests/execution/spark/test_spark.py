"""The verbs on Spark itself, on what users give them, against the same verbs on this machine."""

from __future__ import annotations

import csv
import gzip
import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ibidem
from ibidem.errors import InputError, NoDocumentsError, OutputExistsError, ResourceError, SkippedRecordsError, UsageError
from ibidem.execution.spark.spark_flow import SparkFlow
from tests.cli.test_find import run
from tests.execution.parity import frame_rows, local_tables, rows_of, written_rows
from tests.execution.random_collections import edited_records, glued_records, odd_records, random_records, skewed_records
from tests.formats.document_writers import WRITERS
from tests.formats.languages import SHARED
from tests.texts import text

__all__ = ["run"]


def write_lines(path: Path, records: list[dict[str, Any]], broken_after: int = -1) -> str:
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    if broken_after >= 0:
        lines[broken_after:broken_after] = ["", '{"id": "broken"', '{"id": "no text"}']
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def written(folder: Path) -> tuple[Any, Any, Any]:
    passages, documents, repeats = (written_rows(folder, name) for name in ("passages", "documents", "repeats"))
    return passages, documents, repeats


def test_find_in_lines(spark: Any, tmp_path: Path) -> None:
    records = [*random_records(3, 60), *skewed_records(150), *glued_records(5, 20, "glued ")]
    path = write_lines(tmp_path / "a b%20ü.jsonl", records, broken_after=7)
    chosen = {"signature": "exact", "same_document": True}
    local = ibidem.find(path, **chosen)
    with ibidem.find(path, engine=ibidem.SparkEngine(spark, partitions=3), **chosen) as result:
        assert (type(result), result.backing.storage) == (ibidem.Result, "spark")
        assert list(result) == list(local)
        assert result.longest(3) == local.longest(3)
        assert result.overview().kinds == local.overview().kinds
        assert result.backing.table("repeats").read().to_pylist() == local.repeats.to_pylist()
        assert repr(result) == repr(local)
        result.write(tmp_path / "out", keep_text=True)
        with pytest.raises(OutputExistsError):
            result.write(tmp_path / "out")
        counts = result.run()["counts"]
        assert [record.position for record in result.skipped] == [9, 10]
    with pytest.raises(ibidem.UsageError, match="was closed"):
        len(result)
    passages, documents, repeats = written(tmp_path / "out")
    assert passages == rows_of(local.with_texts())
    assert documents == rows_of(local.documents)
    assert repeats == rows_of(local.repeats)
    assert repeats
    assert (counts["passages"], counts["skipped"]) == (len(local), 2)
    skipped = [line for part in (tmp_path / "out" / "skipped.jsonl").glob("part-*") for line in part.read_text().splitlines()]
    assert [json.loads(line)["position"] for line in skipped] == [9, 10]
    assert json.loads((tmp_path / "out" / "run.json").read_text())["spark"]["partitions"] == 3


@pytest.mark.parametrize("chosen", [{"signature": "exact"}, {"skip_same_group": True, "min_aligned_words": 8}])
def test_find_with_alignment(spark: Any, tmp_path: Path, chosen: dict[str, Any]) -> None:
    records = [record for seed in range(5) for record in edited_records(seed, 10, f"{seed}-")]
    path = write_lines(tmp_path / "edited.jsonl", records, broken_after=7)
    expected = local_tables(path, None, align=True, **chosen)
    assert expected[0] != local_tables(path, None, signature=chosen.get("signature", "words"))[0]
    with ibidem.find(path, engine=ibidem.SparkEngine(spark, partitions=3), align=True, **chosen) as result:
        result.write(tmp_path / "out")
    assert written(tmp_path / "out") == expected


def test_dedup_with_alignment(spark: Any, tmp_path: Path) -> None:
    records = [record for seed in range(5) for record in edited_records(seed, 10, f"{seed}-")]
    path = write_lines(tmp_path / "edited.jsonl", records)
    chosen: dict[str, Any] = {"level": "passage", "align": True, "keep": "longest", "min_aligned_words": 12}
    local = ibidem.dedup(path, **chosen)
    expected = rows_of(local.removed)
    assert sum(row["similarity"] is not None for row in expected) > 50
    with ibidem.dedup(path, engine=ibidem.SparkEngine(spark, partitions=3), **chosen) as result:
        assert sorted(frame_rows(result.removed), key=str) == sorted(expected, key=str)
        left = sorted(json.loads(row["value"])["text"] for row in frame_rows(result.remaining()))
    assert left == sorted(document.text for document in local.remaining())


def test_find_in_texts(spark: Any) -> None:
    texts = [text(1, 2, 3), f"{text(7)} {text(1, 2, 3)}"]
    with ibidem.find(texts, engine=ibidem.SparkEngine(spark, partitions=2)) as result:
        assert [(passage.a.id, passage.b.id) for passage in result] == [("0", "1")]
        assert result._repr_html_() == '<div class="ibidem"><p>1 passage, 0 repeats, 2 documents.</p></div>'


def test_find_in_data_frames(spark: Any) -> None:
    records, against = random_records(4, 40), random_records(4, 20, "e")
    frames = [spark.createDataFrame(pa.Table.from_pylist(side)).repartition(3) for side in (records, against)]
    before = spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")
    with ibidem.find(frames[0], against=frames[1], engine=ibidem.SparkEngine(spark, partitions=2)) as result:
        found = frame_rows(result.passages, ["a_id", "b_id", "a_start", "b_start"])
        shares = frame_rows(result.documents, ["id"])
    assert spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") == before
    # Rows of a frame have no order of their own: theirs are those of the files that it was stored in.
    expected, documents, _ = local_tables(records, against)
    assert found == sorted(expected, key=lambda row: (row["a_id"], row["b_id"], row["a_start"], row["b_start"]))
    assert [row["reused_share"] for row in shares] == [row["reused_share"] for row in sorted(documents, key=lambda r: r["id"])]


def test_find_in_files_of_two_kinds(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    for record in odd_records():
        (tmp_path / "texts" / f"{record['id'].replace(':', '-')}.txt").write_text(record["text"], encoding="utf-8")
    records = odd_records()
    pq.write_table(
        pa.Table.from_pylist([{"text": r["text"], "number": i} for i, r in enumerate(records)]), tmp_path / "t.parquet"
    )
    (tmp_path / "texts" / "notes.xyz").write_text("Of no known kind.")
    given = [str(tmp_path / "texts"), str(tmp_path / "t.parquet")]
    with ibidem.find(given, engine=ibidem.SparkEngine(spark, partitions=2), signature="exact") as result:
        result.write(tmp_path / "out")
        left_out = [(record.source, record.reason) for record in result.skipped]
        assert left_out == [(str(tmp_path / "texts" / "notes.xyz"), "unknown kind of file (.xyz)")]
    assert written(tmp_path / "out") == local_tables(given, None, signature="exact")


def test_find_in_documents(spark: Any, tmp_path: Path) -> None:
    pytest.importorskip("pypdfium2")
    for name in ("a.pdf", "b.docx", "c.odt", "f.tei", "i.eml"):
        WRITERS[name](tmp_path / name, SHARED["en"], "en")
    (tmp_path / "rows.csv").write_text("file,time\na.pdf,4 May 2031\nb.docx,3 May 2031\n", encoding="utf-8")
    files = [str(path) for path in sorted(tmp_path.glob("*.*")) if path.suffix != ".csv"]
    expected = ibidem.find(files, metadata=tmp_path / "rows.csv")
    with ibidem.find(files, metadata=tmp_path / "rows.csv", engine=ibidem.SparkEngine(spark, partitions=2)) as result:
        assert list(result) == list(expected)


def test_files_of_several_blocks_and_none(spark: Any, tmp_path: Path) -> None:
    """Workers read parts of 4 MB or more of a file of lines; positions count over all of them."""
    records = [{"text": f"{text(number % 40, number % 30)} " + "x" * 40_000} for number in range(300)]
    (tmp_path / "in").mkdir()
    write_lines(tmp_path / "in" / "b.jsonl", records, broken_after=200)
    (tmp_path / "in" / "a.jsonl").write_text("")
    (tmp_path / "in" / "z.jsonl").write_text("\ufeff" + json.dumps(records[3]) + "\r\n\r\n" + json.dumps(records[4]))
    engine, folder = ibidem.SparkEngine(spark), str(tmp_path / "in")
    with ibidem.dedup(folder, engine=engine, level="sentence", min_quote_words=1) as result:
        removed = frame_rows(result.removed, ["source", "position", "start"])
        left = [row["value"] for row in frame_rows(result.remaining())]
    local = ibidem.dedup(folder, level="sentence", min_quote_words=1)
    assert removed == sorted(local.removed.to_pylist(), key=lambda row: (row["source"], row["position"], row["start"]))
    assert len(removed) > 200
    texts = [json.loads(line)["text"] for line in left if line.startswith("{") and '"text"' in line]
    assert sorted(texts) == sorted(document.text for document in local.remaining())


@pytest.fixture
def mounted(spark: Any, tmp_path: Path) -> str:
    """Return the address of a folder on a file system that only Spark reaches: `viewfs`, which leads to this disk."""
    settings = spark.sparkContext._jsc.hadoopConfiguration()
    for name in ("in", "work"):
        (tmp_path / name).mkdir()
        settings.set(f"fs.viewfs.mounttable.{tmp_path.name}.link./{name}", (tmp_path / name).as_uri())
    return f"viewfs://{tmp_path.name}"


def test_where_only_spark_reaches(spark: Any, tmp_path: Path, mounted: str) -> None:
    """Then Spark reads the lines, and stages go through its own shuffle."""
    records = [*random_records(3, 40), *skewed_records(60)]
    path = write_lines(tmp_path / "in" / "a.jsonl", records, broken_after=7)
    engine = ibidem.SparkEngine(spark, tmp_dir=f"{mounted}/work", partitions=3)
    with ibidem.find(f"{mounted}/in/a.jsonl", engine=engine) as result:
        assert type(result.backing.run.flow) is SparkFlow  # type: ignore[attr-defined]
        assert len(list((tmp_path / "work").glob("*/sentences/tag=*/*.parquet"))) > 1
        result.write(tmp_path / "out")
        assert [record.position for record in result.skipped] == [9, 10]
        assert len(result) == len(ibidem.find(path))
    assert written(tmp_path / "out") == local_tables(path, None)
    with ibidem.dedup(f"{mounted}/in/*.jsonl", engine=engine, level="passage", signature="words") as cleaned:
        left = sorted(json.loads(row["value"])["text"] for row in frame_rows(cleaned.remaining()) if '"text"' in row["value"])
    assert left == sorted(d.text for d in ibidem.dedup(path, level="passage", signature="words").remaining())
    assert list((tmp_path / "work").iterdir()) == []


def test_files_that_are_not_what_their_names_say(spark: Any, tmp_path: Path) -> None:
    """What workers read themselves is read, or skipped, as on this machine."""
    records = random_records(3, 40)
    lines = Path(write_lines(tmp_path / "a.jsonl", records)).read_bytes()
    whole = gzip.compress(lines.replace(b'"id": "', b'"id": "b'))
    (tmp_path / "b.jsonl.gz").write_bytes(whole[: len(whole) * 2 // 3])
    (tmp_path / "c.jsonl").write_bytes(gzip.compress(lines.replace(b'"id": "', b'"id": "c')))
    (tmp_path / "d.jsonl").write_bytes(lines.decode().encode("utf-16"))
    (tmp_path / "e.jsonl.zst").write_bytes(b"")
    local = ibidem.find(str(tmp_path), signature="exact")
    with ibidem.find(str(tmp_path), engine=ibidem.SparkEngine(spark, partitions=3), signature="exact") as result:
        assert list(result) == list(local)
        assert sorted(map(str, result.skipped)) == sorted(map(str, local.skipped))
        assert result.run()["counts"] == local.run()["counts"]
    assert len(local.skipped) == 3


def test_parquet_files_of_different_columns(spark: Any, tmp_path: Path) -> None:
    records = random_records(12, 20)
    pq.write_table(pa.Table.from_pylist([{"text": r["text"]} for r in records[:10]]), tmp_path / "a.parquet", row_group_size=3)
    pq.write_table(pa.Table.from_pylist([{"id": r["id"], "text": r["text"]} for r in records[10:]]), tmp_path / "b.parquet")
    given = [str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")]
    with ibidem.find(given, engine=ibidem.SparkEngine(spark, partitions=2), signature="exact") as result:
        result.write(tmp_path / "out")
    assert written(tmp_path / "out") == local_tables(given, None, signature="exact")


def test_lines_in_another_encoding(spark: Any, tmp_path: Path) -> None:
    lines = [json.dumps({"id": str(n), "text": r["text"]}, ensure_ascii=False) for n, r in enumerate(odd_records()[:2])]
    (tmp_path / "gb.jsonl").write_bytes("\n".join(lines).encode("gb18030"))
    chosen = {"encoding": "gb18030", "level": "sentence", "min_quote_words": 1}
    with ibidem.dedup(str(tmp_path / "gb.jsonl"), engine=ibidem.SparkEngine(spark, partitions=2), **chosen) as result:
        left = sorted(json.loads(row["value"])["text"] for row in frame_rows(result.remaining()))
    assert left == sorted(d.text for d in ibidem.dedup(str(tmp_path / "gb.jsonl"), **chosen).remaining())


def test_words_from_outside(spark: Any, tmp_path: Path) -> None:
    """The driver alone has the file: workers are told what they need."""
    path = write_lines(tmp_path / "in.jsonl", random_records(15, 50))
    table = ibidem.words(random_records(16, 40, "e"))
    table.write(tmp_path / "words.tsv")
    stops = [row["word"] for row in table.to_arrow().slice(1, 6).to_pylist()]
    for signature in ("imatch", "spotsigs"):
        chosen: dict[str, Any] = {"signature": signature, "antecedents": 9, "min_idf": 0.3, "min_similarity": 0.5}
        chosen |= {"word_counts": tmp_path / "words.tsv", "stop_words": stops}
        with ibidem.find(path, engine=ibidem.SparkEngine(spark, partitions=2), **chosen) as result:
            result.write(tmp_path / signature)
        expected = local_tables(path, None, **chosen)
        assert expected[0]
        assert written(tmp_path / signature) == expected
        assert json.loads((tmp_path / signature / "run.json").read_text())["words"]["word_counts"]["documents"] == 40


@pytest.mark.parametrize("more", [{}, {"method": "spotsigs", "antecedents": 20, "spot_stop_words": 5}])
def test_cluster(spark: Any, tmp_path: Path, more: dict[str, Any]) -> None:
    path = write_lines(tmp_path / "in.jsonl", [*random_records(5, 60), *skewed_records(40)])
    chosen: dict[str, Any] = {"min_similarity": 0.5, "shingle_size": 2, "keep": "longest", **more}
    with ibidem.cluster(path, engine=ibidem.SparkEngine(spark, partitions=3), **chosen) as result:
        result.write(tmp_path / "out")
        assert result.clusters.count() == result.run()["counts"]["clustered"]
        local = ibidem.cluster(path, **chosen)
        assert (repr(result), result.overview()) == (repr(local), local.overview())
    assert len(local)
    assert written_rows(tmp_path / "out", "duplicates") == rows_of(local.duplicates)
    assert written_rows(tmp_path / "out", "clusters") == rows_of(local.clusters)


@pytest.mark.parametrize(
    "chosen",
    [
        {"sampling": "smallest", "sample_size": 6, "by_group": True},
        {"sampling": "supershingles", "supershingle_size": 2, "verify": False},
        {"shingle_unit": "line", "shingle_size": 0},
    ],
    ids=str,
)
def test_samples_lines_and_groups(spark: Any, tmp_path: Path, chosen: dict[str, Any]) -> None:
    items = [*random_records(5, 60), *skewed_records(40)]
    for number, item in enumerate(items):
        item |= {"group": f"site{number % 4}", "text": str(item["text"]).replace(". ", ".\n")}
    path = write_lines(tmp_path / "in.jsonl", items)
    call: dict[str, Any] = {"min_similarity": 0.4, "shingle_size": 2, "hash_seed": 0} | chosen
    with ibidem.cluster(path, engine=ibidem.SparkEngine(spark, partitions=3), **call) as result:
        result.write(tmp_path / "out")
    local = ibidem.cluster(path, **call)
    assert len(local)
    for name in ("duplicates", "clusters", *(["mirrors"] if "by_group" in chosen else [])):
        assert written_rows(tmp_path / "out", name) == rows_of(getattr(local, name))


def test_dedup_with_a_plan(spark: Any, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "in.jsonl", [*random_records(5, 60), *skewed_records(40)])
    call: dict[str, Any] = {"min_similarity": 0.4, "shingle_size": 2, "hash_seed": 0, "verify": False}
    plan = ibidem.SamplingPlan((0, 20), (1, 2), {})
    with ibidem.dedup(path, engine=ibidem.SparkEngine(spark, partitions=3), plan=plan, **call) as result:
        removed = frame_rows(result.removed, ["position"])
    assert removed == sorted(rows_of(ibidem.dedup(path, plan=plan, **call).removed), key=lambda row: row["position"])


@pytest.mark.parametrize(
    "chosen",
    [
        {"level": "document", "min_similarity": 0.5, "shingle_size": 2},
        {"level": "passage", "min_sentences": 2},
        {"level": "sentence", "mark_only": True, "signature": "words"},
        {"level": "run", "min_run_words": 8},
        {"level": "document", "min_similarity": 0.3, "shingle_size": 2, "keep_copies": 2},
        {"level": "document", "min_similarity": 0.3, "shingle_size": 2, "lossless": True, "lossless_words": 2},
        {"level": "passage", "min_sentences": 1, "signature": "words", "min_similarity": 0.5, "lossless": True},
    ],
)
def test_dedup_of_lines(spark: Any, tmp_path: Path, chosen: dict[str, Any]) -> None:
    path = write_lines(tmp_path / "in.jsonl", random_records(6, 50), broken_after=4)
    with ibidem.dedup(path, engine=ibidem.SparkEngine(spark, partitions=3), **chosen) as result:
        result.write(tmp_path / "out")
        local = ibidem.dedup(path, **chosen)
        assert len(result) == len(local)
        assert [cuts for _, cuts in result.changes()] == [cuts for _, cuts in local.changes()]
        named = ("removed_documents", "removed_characters", "removals")
        ours, theirs = ([run.run()["counts"][name] for name in named] for run in (result, local))
        assert ours == theirs
    local.write(tmp_path / "local")
    assert len(local)
    parts = sorted((tmp_path / "out" / "cleaned.jsonl").glob("part-*.jsonl"))
    assert "".join(part.read_text("utf-8") for part in parts) == (tmp_path / "local" / "in.jsonl").read_text("utf-8")
    parts = sorted((tmp_path / "out" / "removed.jsonl").glob("part-*"))
    assert "".join(part.read_text("utf-8") for part in parts).count("\n") == len(local)
    removed = [json.loads(line) for part in parts for line in part.read_text("utf-8").splitlines()]
    assert removed == [json.loads(line) for line in (tmp_path / "local" / "removed.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("mark_only", [False, True])
def test_lines_that_changed_after_they_were_read_are_refused(spark: Any, tmp_path: Path, mark_only: bool) -> None:
    records = random_records(6, 20)
    path = write_lines(tmp_path / "in.jsonl", [*records, *({**record, "id": f"again {record['id']}"} for record in records)])
    with ibidem.dedup(path, engine=ibidem.SparkEngine(spark, partitions=2), mark_only=mark_only) as result:
        result.write(tmp_path / "out", mark_only=not mark_only)
        earlier = {file.name: file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file()}
        lines = Path(path).read_text("utf-8").splitlines(keepends=True)
        Path(path).write_text("".join(reversed(lines)), encoding="utf-8")
        with pytest.raises(ibidem.InputError, match="the input changed after it was read"):
            result.write(tmp_path / "out", overwrite=True)
    assert {file.name: file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file()} == earlier


def test_dedup_of_a_data_frame(spark: Any, tmp_path: Path) -> None:
    moment = datetime(2026, 1, 2, tzinfo=timezone.utc)
    more = {"document": "d", "path": "p", "when": moment}
    records = [{"n": i, "more": [i], **more, **record} for i, record in enumerate(random_records(7, 30))]
    frame = spark.createDataFrame(pa.Table.from_pylist(records)).coalesce(1)
    with ibidem.dedup(frame, engine=ibidem.SparkEngine(spark, partitions=2), level="passage", min_sentences=1) as result:
        left = frame_rows(result.remaining(), ["n"])
        assert frame_rows(result.cleaned(), ["n"]) == left
        assert repr(result)[1:-1].partition(": ")[2] in result._repr_html_()
        assert result.to_html(tmp_path / "removed.html").stat().st_size > 100_000
        assert len(result) == len(result.first_removed(1000)) > 0
        assert list(result.changes())
        assert result.overview().n_removals == len(result)
        with pytest.raises(UsageError, match="has no mask"):
            _ = result.keep_mask
        result.write(tmp_path / "out")
        result.write(tmp_path / "out", mark_only=True, overwrite=True)
    texts = {document.id: document.text for document in ibidem.dedup(records, level="passage", min_sentences=1).remaining()}
    assert texts
    assert [(row["id"], row["text"]) for row in left] == list(texts.items())
    assert all(row["more"] == [row["n"]] and row["document"] == "d" for row in left)
    marked = written_rows(tmp_path / "out", "cleaned")
    assert len(marked) == len(records)
    assert any(row["ibidem_cuts"] for row in marked)


def test_the_command_line(spark: Any, tmp_path: Path, run: Any) -> None:
    path = write_lines(tmp_path / "in.jsonl", random_records(8, 12))
    out = tmp_path / "out"
    done = run("find", path, "-o", str(out), "--engine", "spark", "--format", "csv", "--signature", "exact")
    assert done.code == 0, done.err
    assert f"results: {out}" in done.err
    rows = [
        row for part in sorted((out / "passages.csv").glob("part-*")) for row in csv.DictReader(part.read_text().splitlines())
    ]
    local = rows_of(ibidem.find(path, signature="exact").passages)
    assert [(row["a_id"], int(row["b_end"])) for row in rows] == [(row["a_id"], row["b_end"]) for row in local]
    assert run("find", path, "-o", str(out), "--engine", "spark").code == 2
    assert run("find", "-", "-o", str(out), "--engine", "spark").code == 2
    assert run("find", path, "-o", str(out), "--spark-conf", "memory=3").code == 2
    wrong = run("find", path, "-o", "viewfs://bucket/out")  # Spark could write there
    assert (wrong.code, "unknown protocol viewfs" in wrong.err) == (3, True)


def test_what_is_wrong_is_said(spark: Any, tmp_path: Path) -> None:
    engine = ibidem.SparkEngine(spark, partitions=2)
    broken = write_lines(tmp_path / "broken.jsonl", [], broken_after=0)
    with pytest.raises(NoDocumentsError, match="2 records skipped; the first"):
        ibidem.find(broken, engine=engine)
    good = write_lines(tmp_path / "good.jsonl", random_records(9, 3), broken_after=1)
    with pytest.raises(SkippedRecordsError, match=r"good\.jsonl:3"):
        ibidem.find(good, engine=engine, strict=True, signature="exact")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(NoDocumentsError, match=r"the reference contains no documents: .*empty\.jsonl"):
        ibidem.find(good, against=str(tmp_path / "empty.jsonl"), engine=engine)
    with pytest.raises(
        InputError, match=r"a field 'nope' with text or a number; the fields of .*good\.jsonl are id, .*\nCheck group_field"
    ):
        ibidem.find(good, engine=engine, group_field="nope", signature="exact")
    frame = spark.createDataFrame([("a", "One."), ("b", "Two.")], "key string, text string")
    with pytest.raises(InputError, match=r"a field 'nope' with a value; the columns are key, text\nCheck id_field"):
        ibidem.find(frame, engine=engine, id_field="nope")
    (tmp_path / "x.csv").write_text("id,text\n1,One.\n")
    with pytest.raises(InputError, match=r"Spark cannot read .*x\.csv"):
        ibidem.find(str(tmp_path / "x.csv"), engine=engine)
    with pytest.raises(InputError, match="the data frame has no column 'text'"):
        ibidem.find(spark.range(3), engine=engine)
    with pytest.raises(InputError, match="is given twice"):
        ibidem.find([good, good], engine=engine)
    hidden = write_lines(tmp_path / "_hidden.jsonl", random_records(9, 3))
    with pytest.raises(InputError, match="Spark ignores"):
        ibidem.find([good, hidden], engine=engine)
    with pytest.raises(NoDocumentsError, match="the inputs contain no documents"):
        ibidem.find([], engine=engine)
    with pytest.raises(ResourceError, match="No FileSystem for scheme"):
        ibidem.find("nosuch://bucket/x.jsonl", engine=engine)
    assert spark.sparkContext.getLocalProperty("spark.job.description") is None


def test_stages_that_take_more_than_the_budget_end_the_run(spark: Any, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "news.jsonl", random_records(3, 60))
    (tmp_path / "work").mkdir()
    engine = ibidem.SparkEngine(spark, tmp_dir=f"file:{tmp_path / 'work'}", partitions=2)
    with pytest.raises(ResourceError, match="that max_disk allows: sentences "):
        ibidem.find(path, engine=engine, signature="exact", max_disk="5kB")
    assert list((tmp_path / "work").iterdir()) == []
    with ibidem.find(path, engine=engine, signature="exact", max_disk="1GB") as result:
        result.write(tmp_path / "out")
    assert written(tmp_path / "out")[0] == rows_of(ibidem.find(path, signature="exact").passages)


@pytest.mark.parametrize("signature", ["exact", "imatch"])
def test_sentence_pairs_and_postings(signature: str, spark: Any, tmp_path: Path) -> None:
    records = [*random_records(5, 40), *skewed_records(30)]
    call = {"signature": signature, "max_places": 20, "hash_seed": 3, "sentence_pairs": True, "postings": True}
    whole = ibidem.find(records, **call)
    frame = spark.createDataFrame([{"id": r["id"], "text": r["text"], "group": r.get("group")} for r in records])
    with ibidem.find(frame, engine=ibidem.SparkEngine(spark, partitions=3), **call) as found:
        for name in ("sentence_pairs", "postings"):
            assert found.backing.table(name).read().to_pylist() == getattr(whole, name).to_pylist()
        assert [tuple(row) for row in found.sentence_pairs.collect()] == [
            tuple(row.values()) for row in whole.sentence_pairs.to_pylist()
        ]
        found.write(tmp_path / "out")
        assert found.run()["counts"] == whole.run()["counts"]
    assert (tmp_path / "out" / "postings.parquet").is_dir()


def test_runs_without_what_is_ignored(spark: Any, tmp_path: Path) -> None:
    records = [*random_records(5, 40), *skewed_records(30)]
    (tmp_path / "ignored.txt").write_text(text(100) + " " + text(1))
    call = {"runs": True, "min_run_words": 10, "ignore": str(tmp_path / "ignored.txt"), "hash_seed": 3}
    whole = ibidem.find(records, **call)
    frame = spark.createDataFrame([{"id": r["id"], "text": r["text"]} for r in records])
    with ibidem.find(frame, engine=ibidem.SparkEngine(spark, partitions=3), **call) as found:
        assert found.backing.table("runs").read().to_pylist() == whole.runs.to_pylist()
        assert found.run()["counts"] == whole.run()["counts"]
    assert whole.runs.num_rows
    assert whole.counts["ignored_sentences"]


def test_families(spark: Any, tmp_path: Path) -> None:
    times = [None, "2031-05-01T08:00:00Z", "1931-05-01T08:00:00Z"]
    records = [{**record, "time": times[n % 3]} for n, record in enumerate([*random_records(5, 40), *skewed_records(30)])]
    call = {"max_places": 20, "min_sentences": 1, "hash_seed": 3, "families": True}
    whole = ibidem.find(records, **call)
    frame = spark.createDataFrame([{name: r.get(name) for name in ("id", "text", "group", "time")} for r in records])
    with ibidem.find(frame, engine=ibidem.SparkEngine(spark, partitions=3), **call) as found:
        assert found.backing.table("families").read().to_pylist() == whole.families.to_pylist()
        assert {tuple(row) for row in found.families.collect()} == {tuple(row.values()) for row in whole.families.to_pylist()}
        assert found.run()["counts"] == whole.run()["counts"]
        found.write(tmp_path / "out")
        assert found.backing.passages_with_texts().read().to_pylist() == whole.with_texts().to_pylist()
        assert {row["family"] for row in frame_rows(found.passages)} == set(whole.passages["family"].to_pylist())
    assert written_rows(tmp_path / "out", "families") == whole.families.to_pylist()
    assert written_rows(tmp_path / "out", "passages") == rows_of(whole.passages)
