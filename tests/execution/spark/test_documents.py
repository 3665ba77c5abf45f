"""Files whose text is extracted, and mailboxes, on Spark: the tables, with their pages, of a run in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import ibidem
from tests.formats.document_writers import PAGED, WRITERS, write_text
from tests.formats.languages import OWN, SHARED

pytest.importorskip("pypdfium2")
pytest.importorskip("reportlab")

MAILBOX = """From a Thu Jan  1 00:00:00 2031
From: anna@example.org
Message-ID: <1@example.org>
Date: Thu, 2 Jan 2031 10:00:00 +0000

{first}

From b Thu Jan  2 00:00:00 2031
From: bob@example.org

From c Thu Jan  3 00:00:00 2031
From: carol@example.org

{second}
"""


def test_documents_have_pages(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    inputs = tmp_path / "in"
    inputs.mkdir()
    for name, write in WRITERS.items():
        write(inputs / name, [*OWN["en"], *SHARED["en"]], "en")
    write_text(inputs / "source.txt", SHARED["en"], "en")
    local = ibidem.find("in", hash_seed=3)
    with ibidem.find("in", hash_seed=3, engine=ibidem.SparkEngine(spark, partitions=3)) as there:
        assert there.passages.toArrow().to_pylist() == local.passages.to_pylist()
        assert list(there) == list(local)
        there.write("out", keep_text=True)
        found = pq.read_table("out/passages.parquet")
    assert found.select([*local.with_texts().column_names]).to_pylist() == local.with_texts().to_pylist()
    assert found["a_page"].null_count < found.num_rows
    assert found["a_region"].null_count < found.num_rows
    assert {Path(row["a_id"]).name for row in found.to_pylist() if row["a_page"]} <= set(PAGED)


def test_mailboxes(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    first, second = " ".join(OWN["en"]), " ".join(SHARED["en"])
    (tmp_path / "in" / "a.mbox").write_text(MAILBOX.format(first=first, second=second))
    (tmp_path / "in" / "b.mbox").write_text(MAILBOX.format(first=second, second="Nothing else is in this one."))
    (tmp_path / "in" / "c.mbox").write_text("This is not a mailbox at all.")
    (tmp_path / "in" / "d.txt").write_text(first)
    call: dict[str, Any] = {"hash_seed": 3, "group_field": "from"}
    local = ibidem.find("in", **call)
    with ibidem.find("in", **call, engine=ibidem.SparkEngine(spark, partitions=2)) as there:
        assert there.passages.toArrow().to_pylist() == local.passages.to_pylist()
        assert there.documents.toArrow().to_pylist() == local.documents.to_pylist()
        assert sorted(map(str, there.skipped)) == sorted(map(str, local.skipped))
    assert {(row["a_id"], row["b_id"]) for row in local.passages.to_pylist()} == {
        ("in/a.mbox:1", "in/d.txt"), ("in/a.mbox:3", "in/b.mbox:1"),
    }  # fmt: skip
