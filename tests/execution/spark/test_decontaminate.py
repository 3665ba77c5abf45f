"""`decontaminate` on Spark against the same on this machine; and reference fields there."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import ibidem
from tests.contamination.twins import random_items, random_pages, rows_found
from tests.execution.parity import frame_rows, rows_of
from tests.execution.spark.test_spark import write_lines


def test_decontaminate_in_lines(spark: Any, tmp_path: Path) -> None:
    chance = random.Random(9)
    items = random_items(chance, 20, 50)
    pages = random_pages(chance, items, 40, 50)
    train, quiz = write_lines(tmp_path / "train.jsonl", pages, broken_after=5), write_lines(tmp_path / "quiz.jsonl", items)
    for level in ("document", "passage"):
        here = ibidem.decontaminate(train, {"quiz": quiz}, level=level)
        engine = ibidem.SparkEngine(spark, partitions=3)
        with ibidem.decontaminate(train, {"quiz": quiz}, level=level, engine=engine) as result:
            assert (type(result), result.backing.storage) == (ibidem.ContaminationResult, "spark")
            assert result.benchmarks.to_pylist() == here.benchmarks.to_pylist()
            assert result.found_items.to_pylist() == here.found_items.to_pylist()
            expected = rows_found(here)
            assert result.backing.table("item_places").read().to_pylist() == expected["item_places"]
            assert result.backing.table("removed").read().to_pylist() == expected["removed"]
            assert len(frame_rows(result.item_places)) == len(expected["item_places"])
            result.write(tmp_path / level)
            here.write(tmp_path / f"{level}-here")
            cleaned = [row.value for row in result.cleaned().collect()]
        local = (tmp_path / f"{level}-here" / "train.jsonl").read_text("utf-8").splitlines()
        assert sorted(line for line in cleaned if line) == sorted(line for line in local if line)
        for name in ("benchmarks", "found_items"):
            lines = (tmp_path / level / f"{name}.jsonl").read_text("utf-8").splitlines()
            table = getattr(here, name).to_pylist()
            assert [json.loads(line) for line in lines] == table


def test_fields_of_the_reference(spark: Any, tmp_path: Path) -> None:
    text = "The harbour was closed on Monday because of the storm. Two ferries stayed in port. The mayor stayed at home."
    known = write_lines(tmp_path / "known.jsonl", [{"url": "k", "doc": {"body": text}}])
    new = write_lines(tmp_path / "new.jsonl", [{"id": "n", "text": f"It was loud. {text}"}])
    call: dict[str, Any] = {"against": known, "against_text_field": "doc.body", "against_id_field": "url"}
    here = rows_of(ibidem.find(new, **call).passages)
    assert [(row["a_id"], row["b_id"]) for row in here] == [("n", "k")]
    with ibidem.find(new, engine=ibidem.SparkEngine(spark, partitions=2), **call) as result:
        assert [(p.a.id, p.b.id) for p in result] == [("n", "k")]
