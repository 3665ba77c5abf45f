"""The verbs on Spark itself, on what users give them, against the same verbs on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ibidem
from ibidem.errors import InputError, NoDocumentsError, OutputExistsError, SkippedRecordsError
from tests.cli.test_find import run
from tests.distributed.collections import odd_records, random_records, skewed_records
from tests.distributed.parity import frame_rows, local_tables, rows_of, written_rows

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
    path = write_lines(tmp_path / "a b%20ü.jsonl", [*random_records(3, 60), *skewed_records(150)], broken_after=7)
    chosen = {"signature": "exact", "same_document": True}
    with ibidem.find(path, engine=ibidem.SparkEngine(spark, partitions=3), **chosen) as result:
        result.write(tmp_path / "out", keep_text=True)
        with pytest.raises(OutputExistsError):
            result.write(tmp_path / "out")
        counts = result.run()["counts"]
        assert [record.position for record in result.skipped] == [9, 10]
    passages, documents, repeats = written(tmp_path / "out")
    local = ibidem.find(path, **chosen)
    assert passages == rows_of(local.with_texts())
    assert documents == rows_of(local.documents)
    assert repeats == rows_of(local.repeats)
    assert repeats
    assert (counts["passages"], counts["skipped"]) == (len(local), 2)
    skipped = [line for part in (tmp_path / "out" / "skipped.jsonl").glob("part-*") for line in part.read_text().splitlines()]
    assert [json.loads(line)["position"] for line in skipped] == [9, 10]
    assert json.loads((tmp_path / "out" / "run.json").read_text())["spark"]["partitions"] == 3


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
    given = [str(tmp_path / "texts"), str(tmp_path / "t.parquet")]
    with ibidem.find(given, engine=ibidem.SparkEngine(spark, partitions=2), signature="exact") as result:
        result.write(tmp_path / "out")
    assert written(tmp_path / "out") == local_tables(given, None, signature="exact")


def test_cluster(spark: Any, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "in.jsonl", [*random_records(5, 60), *skewed_records(40)])
    chosen = {"min_similarity": 0.5, "shingle_size": 2, "keep": "longest"}
    with ibidem.cluster(path, engine=ibidem.SparkEngine(spark, partitions=3), **chosen) as result:
        result.write(tmp_path / "out")
        assert result.clusters.count() == result.run()["counts"]["clustered"]
    local = ibidem.cluster(path, **chosen)
    assert len(local)
    assert written_rows(tmp_path / "out", "duplicates") == rows_of(local.duplicates)
    assert written_rows(tmp_path / "out", "clusters") == rows_of(local.clusters)


@pytest.mark.parametrize(
    "chosen",
    [
        {"level": "document", "min_similarity": 0.5, "shingle_size": 2},
        {"level": "passage", "min_sentences": 2},
        {"level": "sentence", "mark_only": True, "signature": "words"},
    ],
)
def test_dedup_of_lines(spark: Any, tmp_path: Path, chosen: dict[str, Any]) -> None:
    path = write_lines(tmp_path / "in.jsonl", random_records(6, 50), broken_after=4)
    with ibidem.dedup(path, engine=ibidem.SparkEngine(spark, partitions=3), **chosen) as result:
        result.write(tmp_path / "out")
    local = ibidem.dedup(path, **chosen)
    local.write(tmp_path / "local")
    assert len(local)
    parts = sorted((tmp_path / "out" / "cleaned.jsonl").glob("part-*.jsonl"))
    assert "".join(part.read_text("utf-8") for part in parts) == (tmp_path / "local" / "in.jsonl").read_text("utf-8")
    parts = sorted((tmp_path / "out" / "removed.jsonl").glob("part-*"))
    assert "".join(part.read_text("utf-8") for part in parts).count("\n") == len(local)
    removed = [json.loads(line) for part in parts for line in part.read_text("utf-8").splitlines()]
    assert removed == local.removed.to_pylist()


def test_dedup_of_a_data_frame(spark: Any) -> None:
    records = [{"n": i, "more": [i], **record} for i, record in enumerate(random_records(7, 30))]
    frame = spark.createDataFrame(pa.Table.from_pylist(records)).coalesce(1)
    with ibidem.dedup(frame, engine=ibidem.SparkEngine(spark, partitions=2), level="passage", min_sentences=1) as result:
        left = frame_rows(result.remaining(), ["n"])
    texts = {document.id: document.text for document in ibidem.dedup(records, level="passage", min_sentences=1).remaining()}
    assert texts
    assert [(row["id"], row["text"]) for row in left] == list(texts.items())
    assert all(row["more"] == [row["n"]] for row in left)


def test_the_command_line(spark: Any, tmp_path: Path, run: Any) -> None:
    path = write_lines(tmp_path / "in.jsonl", random_records(8, 12))
    out = tmp_path / "out"
    done = run("find", path, "-o", str(out), "--engine", "spark", "--format", "csv", "--signature", "exact")
    assert done.code == 0, done.err
    assert f"results: {out}" in done.err
    parts = sorted((out / "passages.csv").glob("part-*"))
    assert parts[0].read_text().startswith("a_id,a_start,a_end,b_id")
    assert run("find", path, "-o", str(out), "--engine", "spark").code == 2
    assert run("find", "-", "-o", str(out), "--engine", "spark").code == 2
    assert run("find", path, "-o", str(out), "--spark-conf", "memory=3").code == 2
    wrong = run("find", path, "-o", "s3a://bucket/out")
    assert (wrong.code, "only --engine spark writes there" in wrong.err) == (2, True)


def test_what_is_wrong_is_said(spark: Any, tmp_path: Path) -> None:
    engine = ibidem.SparkEngine(spark, partitions=2)
    broken = write_lines(tmp_path / "broken.jsonl", [], broken_after=0)
    with pytest.raises(NoDocumentsError, match="2 skipped; the first"):
        ibidem.find(broken, engine=engine)
    good = write_lines(tmp_path / "good.jsonl", random_records(9, 3), broken_after=1)
    with pytest.raises(SkippedRecordsError, match=r"good\.jsonl:3"):
        ibidem.find(good, engine=engine, strict=True, signature="exact")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(NoDocumentsError, match="the reference holds no documents"):
        ibidem.find(good, against=str(tmp_path / "empty.jsonl"), engine=engine)
    (tmp_path / "x.csv").write_text("id,text\n1,One.\n")
    with pytest.raises(InputError, match=r"Spark cannot read .*x\.csv"):
        ibidem.find(str(tmp_path / "x.csv"), engine=engine)
    with pytest.raises(InputError, match="the data frame has no column 'text'"):
        ibidem.find(spark.range(3), engine=engine)
