"""Steps of datatrove in its local executor, with several tasks: the same as `dedup` and `Index.query`, and its statistics."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem.errors import InputError, NoIndexError, UsageError
from tests.integrations.conftest import COUNT, KNOWN, NEW, REMAINING
from tests.texts import text

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("datatrove")
    from datatrove.data import Document
    from datatrove.executor.local import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

from ibidem.integrations import datatrove_dedup
from ibidem.integrations.datatrove import CutKnown, DropKnown, MarkKnown
from ibidem.integrations.datatrove_dedup import DedupCollect, DedupDecide, DedupFilter

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning", "ignore::ResourceWarning")
NEWS = Path(__file__).parent.parent.parent / "examples" / "newsroom" / "documents.jsonl"
N_TASKS = 3


def documents() -> Iterator[Document]:
    return (Document(value, f"d{n}", metadata={"n": n}) for n, value in enumerate(NEW))


def write(folder: Path, records: list[dict[str, Any]]) -> Path:
    folder.mkdir()
    for part in range(N_TASKS):
        lines = [json.dumps(record) + "\n" for record in records[part::N_TASKS]]
        (folder / f"{part}.jsonl").write_text("".join(lines), "utf-8")
    return folder


def read(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]


def writer(folder: Path) -> Any:
    return JsonlWriter(str(folder), compression=None)


def run(steps: list[Any], logs: Path, tasks: int = N_TASKS, workers: int = 1) -> dict[str, dict[str, Any]]:
    """Run a pipeline; return the statistics of each step by its name."""
    LocalPipelineExecutor(steps, tasks=tasks, workers=workers, logging_dir=str(logs)).run()
    stats = json.loads((logs / "stats.json").read_text("utf-8"))
    return {step["name"]: step["stats"] for step in stats}


def total(value: Any) -> Any:
    return value["total"] if isinstance(value, dict) else value


def test_documents_are_dropped_cut_and_marked(index_path: Path) -> None:
    kept = [doc.metadata["n"] for doc in DropKnown(index_path)(documents())]
    assert kept == [n for n, known in enumerate(KNOWN) if not known]
    cut = [(doc.metadata["n"], doc.text) for doc in CutKnown(index_path, batch_size=2)(documents())]
    assert cut == [(n, REMAINING[n]) for n in (0, 2, 3, 4, 5)]
    marked = list(MarkKnown(index_path)(documents()))
    assert [doc.metadata["ibidem_known"] for doc in marked] == KNOWN
    assert marked[2].metadata["ibidem_spans"][0]["matched_id"] == "old 2"
    assert DropKnown(index_path).filter(next(documents())) is True
    with pytest.raises(NoIndexError):
        DropKnown(index_path.parent / "missing.idx")


def test_several_tasks_in_processes(tmp_path: Path, index_path: Path) -> None:
    source = write(tmp_path / "in", [{"id": f"d{n}", "text": value, "n": n} for n, value in enumerate(NEW) if value])
    steps = [
        JsonlReader(str(source)),
        MarkKnown(index_path),
        DropKnown(index_path, writer(tmp_path / "dropped")),
        writer(tmp_path / "out"),
    ]
    stats = run(steps, tmp_path / "logs", workers=2)
    assert sorted(record["metadata"]["n"] for record in read(tmp_path / "out")) == [0, 2, 4]
    dropped = read(tmp_path / "dropped")
    assert {record["metadata"]["ibidem_spans"][0]["matched_id"] for record in dropped} == {"old 1", "old 3"}
    assert {record["metadata"]["filter_reason"] for record in dropped} == {"known"}
    counted = next(values for name, values in stats.items() if "drop what is known" in name)
    assert [total(counted[name]) for name in ("total", "forwarded", "dropped", "dropped_known")] == [5, 3, 2, 2]


def test_benchmark_items_are_kept_out(tmp_path: Path) -> None:
    question = text(700, count=COUNT)
    with ibidem.Index(tmp_path / "benchmark.idx") as index:
        index.add([{"id": "quiz/17", "text": question}])
    step = DropKnown(tmp_path / "benchmark.idx", min_covered_share=0)
    long = Document(text(1, 2, 3, 4, count=COUNT) + " " + question + " " + text(5, 6, count=COUNT), "long")
    clean = Document(text(1, 2, 3, 4, count=COUNT), "clean")
    assert list(step([long, clean])) == [clean]
    assert long.metadata["ibidem_spans"][0]["matched_id"] == "quiz/17"


@pytest.mark.parametrize("settings", [{}, {"level": "passage"}, {"level": "sentence", "keep": "longest"}])
def test_dedup_over_all_tasks_is_dedup_of_the_collection(tmp_path: Path, settings: dict[str, Any]) -> None:
    records = [json.loads(line) for line in NEWS.read_text("utf-8").splitlines()]
    source = write(tmp_path / "in", records)
    ordered = [record for part in range(N_TASKS) for record in records[part::N_TASKS]]
    collected, logs = tmp_path / "collected", tmp_path / "logs"

    run([JsonlReader(str(source)), DedupCollect(collected)], logs / "1")
    decided = run([DedupDecide(collected, **settings)], logs / "2", tasks=1)
    steps = [JsonlReader(str(source)), DedupFilter(collected, writer(tmp_path / "dropped")), writer(tmp_path / "out")]
    stats = run(steps, logs / "3")
    expected = ibidem.dedup(ordered, **settings)
    cleaned = expected.cleaned()
    assert [(r["id"], r["text"]) for r in read(tmp_path / "out")] == [(r["id"], r["text"]) for r in cleaned]
    gone = expected.removed.filter(ibidem_document(expected.removed))
    dropped = {r["id"]: r["metadata"]["ibidem_duplicate_of"] for r in read(tmp_path / "dropped")}
    assert set(dropped) == set(gone["id"].to_pylist())
    assert set(dropped.values()) <= {record["id"] for record in records}
    counted = next(values for name, values in stats.items() if "ibidem: remove" in name)
    assert (total(counted["total"]), total(counted["forwarded"])) == (45, len(cleaned))
    removed = next(values["removed_documents"] for values in decided.values() if "removed_documents" in values)
    assert total(removed) == len(set(dropped))  # one with several rows counts once

    marking = DedupFilter(collected, mark_only=True)
    run([JsonlReader(str(source)), marking, writer(tmp_path / "marked")], logs / "4")
    marked = read(tmp_path / "marked")
    assert sorted(r["text"] for r in marked) == sorted(r["text"] for r in records)
    with_marks = {r["id"] for r in marked if {"ibidem_duplicate_of", "ibidem_cuts"} & set(r["metadata"])}
    assert with_marks == set(expected.removed["id"].to_pylist())


def ibidem_document(removed: Any) -> Any:
    import pyarrow.compute as pc

    return pc.equal(removed["removed"], "document")


def test_what_changed_since_is_not_touched(tmp_path: Path) -> None:
    copies = [Document(text(1, 2, 3, 4, count=COUNT), name) for name in ("a", "b")]
    with pytest.raises(InputError, match="no texts"):
        list(DedupFilter(tmp_path)(copies))
    DedupCollect(tmp_path).run(iter(copies))
    with pytest.raises(InputError, match="Run the stage with DedupDecide first"):
        list(DedupFilter(tmp_path)(copies))
    with pytest.raises(UsageError, match="tasks=1"):
        DedupDecide(tmp_path).run(None, 0, 2)
    DedupDecide(tmp_path).run()
    assert [doc.id for doc in DedupFilter(tmp_path)(copies)] == ["a"]
    with pytest.raises(UsageError, match="collected by 1 tasks, and this stage has 2"):
        list(DedupFilter(tmp_path).run(copies, 0, 2))
    changed = [copies[0], Document(copies[1].text + " More.", "b")]
    for others in (changed, copies[:1], [*copies, Document("Another one.", "c")], copies[::-1]):
        with pytest.raises(InputError, match="is not the one that was collected"):
            list(DedupFilter(tmp_path)(others))


def test_fields_for_deciding(tmp_path: Path) -> None:
    copies = [Document(text(1, 2, 3, 4, count=COUNT), "same id", metadata={"score": score}) for score in (1, 3, 2)]
    DedupCollect(tmp_path, fields=("score",)).run(iter(copies))
    DedupDecide(tmp_path, keep="score:max").run()
    assert [doc.metadata["score"] for doc in DedupFilter(tmp_path)(copies)] == [3]


def test_decisions_about_other_texts_are_never_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for rank in (0, 1):
        DedupCollect(tmp_path).run(iter([Document(text(1, 2, 3, 4, count=COUNT), "a")]), rank, 2)
    DedupDecide(tmp_path, keep="first").run()
    original = datatrove_dedup._new_file

    def stopped(path: Path) -> Any:
        if path.name.startswith("00001"):
            raise OSError("the disk is full")
        return original(path)

    with monkeypatch.context() as patched:
        patched.setattr(datatrove_dedup, "_new_file", stopped)
        with pytest.raises(OSError, match="full"):
            DedupDecide(tmp_path, keep="longest").run()
    with pytest.raises(InputError, match="Run the stage with DedupDecide first"):
        list(DedupFilter(tmp_path).run(iter([Document(text(1, 2, 3, 4, count=COUNT), "a")]), 1, 2))
    DedupDecide(tmp_path).run()
    DedupCollect(tmp_path).run(iter([Document("Other words.", "a")]), 0, 2)
    with pytest.raises(InputError, match="Run the stage with DedupDecide first"):
        list(DedupFilter(tmp_path).run(iter([Document(text(1, 2, 3, 4, count=COUNT), "a")]), 1, 2))
