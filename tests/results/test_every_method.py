"""Every public method of every result works wherever its rows are, or says clearly why it does not."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem.errors import IbidemError
from tests.texts import documents, text

LONG = text(1, 2, 3, count=12)
RECORDS = [{**record, "group": "g"} for record in documents(a=LONG, b=f"{text(7)} {LONG}", c=text(4, 5), d=LONG)]
VERBS: dict[str, Callable[..., Any]] = {
    "find": lambda inputs, **more: ibidem.find(inputs, families=True, sentence_pairs=True, postings=True, runs=True, **more),
    "cluster": lambda inputs, **more: ibidem.cluster(inputs, shingle_size=1, min_similarity=0.5, by_group=True, **more),
    "dedup documents": lambda inputs, **more: ibidem.dedup(inputs, shingle_size=1, min_similarity=0.5, **more),
    "dedup passages": lambda inputs, **more: ibidem.dedup(inputs, level="passage", **more),
    "dedup sentences": lambda inputs, **more: ibidem.dedup(inputs, level="sentence", **more),
}
STORAGES: dict[str, dict[str, Any]] = {"memory": {}, "disk": {"partitions": 2}}
ARGUMENTS: dict[str, Callable[[Path], tuple[Any, ...]]] = {
    "to_html": lambda folder: (folder / "page.html",),
    "write": lambda folder: (folder / "out",),
    "export": lambda folder: (folder / "exported.gexf",),
    "hits_in_context": lambda folder: (0, 20),
    "longest": lambda folder: (2,),
    "first_removed": lambda folder: (2,),
    "hits_of": lambda folder: (0,),
    "hit_records_of": lambda folder: (0,),
    "passages_of": lambda folder: (0,),
    "n_passages_of": lambda folder: (0,),
    "check_reuse": lambda folder: (0.5,),
    "write_baseline": lambda folder: (folder / "reuse.json",),
}
KEYWORDS: dict[str, dict[str, Any]] = {"export": {"to": "gexf"}}
SPECIAL = ("__repr__", "_repr_html_", "__len__", "__iter__")


def members(result: Any) -> Iterator[str]:
    """Yield the public members of a result, and those that Python and notebooks call."""
    for name in dir(type(result)):
        if (not name.startswith("_") or name in SPECIAL) and name not in ("close", "share"):
            yield name


def call_all(result: Any, folder: Path) -> dict[str, Any]:
    """Return what each member gives; the ones that are files are written."""
    answers: dict[str, Any] = {}
    for name in members(result):
        if isinstance(inspect.getattr_static(type(result), name), staticmethod | classmethod):
            continue
        value = getattr(result, name)
        if callable(value) and hasattr(type(result), name):
            value = value(*ARGUMENTS.get(name, lambda folder: ())(folder), **KEYWORDS.get(name, {}))
        answers[name] = list(value) if isinstance(value, Iterator) else value
    return answers


@pytest.mark.parametrize("as_files", [False, True], ids=["records", "files"])
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("verb", VERBS)
def test_everything_can_be_called(verb: str, storage: str, as_files: bool, tmp_path: Path) -> None:
    inputs: Any = RECORDS
    if as_files:
        import json

        inputs = tmp_path / "a.jsonl"
        inputs.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    with VERBS[verb](inputs, **STORAGES[storage]) as result:
        assert result.backing.storage == storage
        is_cleaning = isinstance(result, ibidem.CleaningResult)
        answers: dict[str, Any] = {}
        for name in members(result):
            refused = is_cleaning and ((name == "cleaned") == as_files) and name in ("cleaned", "write")
            value = inspect.getattr_static(type(result), name)
            if refused:
                with pytest.raises(IbidemError, match="files") as caught:
                    getattr(result, name)(*ARGUMENTS.get(name, lambda folder: ())(tmp_path), **KEYWORDS.get(name, {}))
                assert caught.value.next_step
                continue
            found = getattr(result, name)
            if inspect.isfunction(value):
                found = found(*ARGUMENTS.get(name, lambda folder: ())(tmp_path), **KEYWORDS.get(name, {}))
            answers[name] = list(found) if isinstance(found, Iterator) else found
        assert answers["__len__"] == len(result) > 0
        assert answers["_repr_html_"].startswith('<div class="ibidem"><p>')
        assert "<script" not in answers["_repr_html_"]
        assert answers["to_html"].stat().st_size > 100_000
        assert answers["run"]["counts"]["documents"] == 4
    if storage == "disk":
        assert repr(result).startswith(f"<{type(result).__name__}: ")
        assert "was closed" in result._repr_html_()


def test_a_report_of_what_is_removed_shows_the_texts(tmp_path: Path) -> None:
    from ibidem.viewer.material import material_of_result

    for verb in ("dedup documents", "dedup passages", "dedup sentences"):
        for more in STORAGES.values():
            with VERBS[verb](RECORDS, **more) as result:
                material = material_of_result(result)
                texts = {document.id: document.text for document in material.read_documents()}
                assert texts == {record["id"]: record["text"] for record in RECORDS}
                table = material.passages if verb != "dedup documents" else material.duplicates
                assert table is not None
                pairs = list(zip(table["a_id"].to_pylist(), table["b_id"].to_pylist(), strict=True))
                assert pairs == [("b", "a"), ("d", "a")]
    share = material_of_result(ibidem.dedup([text(1, 2), text(1, 2)])).duplicates
    assert share is not None
    assert share.to_pylist() == [{"a_id": "1", "b_id": "0", "similarity": 1.0, "containment_a": 1.0, "containment_b": 1.0}]


def test_the_answers_of_an_index(tmp_path: Path) -> None:
    with ibidem.Index(tmp_path / "index") as index:
        index.add(RECORDS[:1])
        assert repr(index) == f"<Index {str(tmp_path / 'index')!r}: 1 documents>"
        result = index.query([{"id": "<b>", "text": RECORDS[1]["text"]}])
        assert call_all(result, tmp_path)["__len__"] == 3
        assert "&lt;b&gt;" in result._repr_html_()
        assert "3 of 4" in result._repr_html_()


def test_a_tuning_and_a_comparison(tmp_path: Path) -> None:
    tuning = ibidem.tune(RECORDS, shingle_size=1)
    assert call_all(tuning, tmp_path)["__repr__"].startswith("<Tuning: ")
    assert f"{tuning.share:.1%}" in tuning._repr_html_()
    comparison = ibidem.compare_pairs(RECORDS, [("a", "b")], min_aligned_words=5)
    assert call_all(comparison, tmp_path)["__repr__"] == "<Comparison: 1 passage in 1 pair>"


def test_shared_text_is_marked_and_nothing_is_taken_for_html() -> None:
    tail = "x" * 200
    records = [{"id": "<i>", "text": f"<b>One & two</b>\n\n{text(1, 2, 3)}\n\n{tail}"}, {"id": "b", "text": text(1, 2, 3)}]
    for more in STORAGES.values():
        with ibidem.find(records, **more) as result:
            shown = result._repr_html_()
            assert "<b>&lt;i&gt;</b>" in shown
            assert "&lt;b&gt;One &amp; two&lt;/b&gt;\n\n<mark" in shown
            assert f">{text(1, 2, 3)}</mark>" in shown
            assert f"</mark>\n\n{tail[:58]}…" in shown
