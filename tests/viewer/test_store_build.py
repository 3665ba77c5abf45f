"""From folders of results to views: all formats, all verbs, and inputs that are elsewhere, changed or gone."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem.viewer.material import material_of_folder, material_of_result
from ibidem.viewer.queries import DocumentQuery, FamilyQuery, PairQuery
from ibidem.viewer.store import ViewStore
from ibidem.viewer.store_cache import open_views, passing_views
from tests.cli.test_find import Run, said, write_jsonl
from tests.texts import changed, documents, text

CLOSELY: dict[str, Any] = {"min_aligned_words": 4, "min_evidence": 0}
FORMATS = ("parquet", "jsonl", "csv")
STRANGE_IDS = (
    "007", "7", "1e5", "100000", "-0", "+1", "0x10", "NA", "N/A", "null", "NULL", "None", "nan", "NaN", "true", "inf",
    "2020-01-01", "2020-01-01T00:00:00Z", "12:30", " lead", "trail ", "two\nlines", "car\rriage", "tab\there", 'a "quoted" id',
    "'single'", "com,ma", ",", '"', '""', "semi;colon", "back\\slash", "=1+1", "日本", "🎈", "é", "e\u0301", "<b>&amp;</b>",
)  # fmt: skip


def write(path: Path, records: list[Any]) -> str:
    write_jsonl(path, records)
    return str(path)


@contextmanager
def views(folder: Path, *named: str) -> Iterator[ViewStore]:
    with closing(open_views(folder, named)) as store:
        yield store


def told_pairs(store: ViewStore) -> set[tuple[str, str]]:
    return {(pair["a_id"], pair["b_id"]) for pair in store.rows("pairs")}


def texts(store: ViewStore) -> dict[tuple[str, bool], str]:
    """Return the texts available by id and side."""
    found = store.documents(DocumentQuery(limit=500))["items"]
    assert len(found) == len({(d["id"], d["is_reference"]) for d in found}), "a document is there twice"
    return {(d["id"], d["is_reference"]): store.texts.whole(d["document"]) for d in found}


def why_left_out(store: ViewStore) -> str:
    return "; ".join(entry["why"] for entry in store.summary()["left_out"] if "texts" in entry["what"])


def check_places(store: ViewStore) -> None:
    """Check that every passage is in the text that is shown, and that both sides have the words that are not marked."""
    for item in store.pairs(PairQuery(limit=500))["items"]:
        found = store.pair(item["pair"])
        assert found is not None
        for side in "ab":
            for passage in found["passages"]:
                start, end = passage[f"{side}_start"], passage[f"{side}_end"]
                held = [s for s in found[side]["segments"] if s["start"] <= start < s["start"] + len(s["text"])]
                assert not found[side]["segments"] or held, (item, passage)
                assert found[side]["n_chars"] is None or end <= found[side]["n_chars"]
                assert all(start <= first < last <= end for first, last in passage[f"{side}_changes"])


# Formats.


@pytest.mark.parametrize("table_format", FORMATS)
def test_ids_that_look_like_something_else(tmp_path: Path, table_format: str) -> None:
    records = [{"id": name, "text": f"{text(k + 100)} {text(1, 2, 3)}"} for k, name in enumerate(STRANGE_IDS)]
    ibidem.find(write(tmp_path / "news.jsonl", records)).write(tmp_path / "out", format=table_format)
    with views(tmp_path / "out") as store:
        assert set(texts(store)) == {(name, False) for name in STRANGE_IDS}
        assert all(texts(store).values())
        assert store.summary()["totals"]["pairs"] == len(STRANGE_IDS) * (len(STRANGE_IDS) - 1) // 2
        assert ("007", "7") in told_pairs(store)
        check_places(store)


@pytest.mark.parametrize("table_format", FORMATS)
@pytest.mark.parametrize("keep_text", [False, True])
def test_formats_make_the_same_views(tmp_path: Path, table_format: str, keep_text: bool) -> None:
    records = [
        {"id": "a", "text": text(1, 2, 3, 4), "time": "2031-01-01T00:00:00Z", "group": "g", "title": "A"},
        {"id": "b", "text": text(9, 1, 2, 3) + " " + changed(4), "time": "2031-01-03T12:00:00Z"},
        {"id": "c", "text": text(8, 2, 3, 4)},
    ]
    result = ibidem.find(write(tmp_path / "news.jsonl", records))
    result.write(tmp_path / "out", format=table_format, keep_text=keep_text)
    with views(tmp_path / "out") as store, passing_views(material_of_result(result)) as in_memory:
        for ask in ("pairs", "documents", "families"):
            assert list(store.rows(ask)) == list(in_memory.rows(ask))
        assert store.pair(0) == in_memory.pair(0)
        assert store.summary()["totals"] == in_memory.summary()["totals"]
        (first,) = (p for p in store.pairs(PairQuery())["items"] if (p["a"]["id"], p["b"]["id"]) == ("a", "b"))
        assert first["days"] == 2.5
        assert first["direction"] == "a_to_b"
        assert first["a"]["title"] == "A"
        check_places(store)


@pytest.mark.parametrize("table_format", FORMATS)
@pytest.mark.parametrize("keep_text", [False, True])
def test_nothing_found(tmp_path: Path, table_format: str, keep_text: bool) -> None:
    ibidem.find(write(tmp_path / "news.jsonl", documents(text(1, 2, 3), text(4, 5, 6)))).write(
        tmp_path / "out", format=table_format, keep_text=keep_text
    )
    with views(tmp_path / "out") as store:
        summary = store.summary()
        assert (summary["totals"]["documents"], summary["totals"]["pairs"], summary["totals"]["families"]) == (2, 0, 0)
        assert (summary["verb"], summary["reused_share"]) == ("find", 0)
        assert store.pairs(PairQuery())["items"] == store.families(FamilyQuery())["items"] == []
        assert all(sum(d["counts"]) == 0 for d in store.distributions().values())
        found = store.document(0)
        assert found is not None
        assert (found["shades"], found["pairs"]) == ([], [])


@pytest.mark.parametrize("table_format", FORMATS)
def test_repeats_are_families_and_boilerplate(tmp_path: Path, table_format: str) -> None:
    footer = text(1, 2, 3)
    records = [{"id": f"d{k}", "text": f"{text(100 + k)} {footer}", "time": f"2031-01-{k + 1:02}"} for k in range(8)]
    ibidem.find(write(tmp_path / "n.jsonl", records), max_places=5).write(tmp_path / "out", format=table_format)
    with views(tmp_path / "out") as store:
        totals = store.summary()["totals"]
        assert (totals["repeats"], totals["families"], totals["pairs"]) == (1, 1, 0)
        (family,) = store.families(FamilyQuery())["items"]
        assert (family["is_repeat"], family["n_documents"], family["n_places"]) == (True, 8, 8)
        assert family["first_time"] == "2031-01-01T00:00:00Z"
        found = store.document(0)
        assert found is not None
        start = records[0]["text"].index(footer)
        assert found["text"]["boilerplate"] == [[start, start + len(footer)]]
        assert [shade["n_documents"] for shade in found["shades"]] == [7, 7, 7]
        (variant,) = (store.family(family["family"]) or {})["variants"]
        assert variant["text"] == footer
        assert store.families(FamilyQuery(search=footer.split()[1]))["total"] == 1


LAW = "Whoever borrows a book returns it within four weeks of the day on which it was borrowed. Nobody writes in it."


def test_ignored_text_is_marked_even_if_its_file_is_gone(tmp_path: Path) -> None:
    law = tmp_path / "law.txt"
    law.write_text(LAW, "utf-8")
    shared = text(1, 2, 3)
    records = [{"id": name, "text": f"{text(number)} {LAW} {shared}"} for name, number in (("a", 10), ("b", 11))]
    ibidem.find(write(tmp_path / "n.jsonl", records), ignore=str(law)).write(tmp_path / "out")
    shutil.copytree(tmp_path / "out", tmp_path / "later")
    with views(tmp_path / "out") as store:
        law.unlink()
        for record in records:
            (document,) = (d["document"] for d in store.rows("documents") if d["id"] == record["id"])
            (start, end), *more = store.texts.shown(document, [{"start": 0, "text": record["text"]}])["ignored"]
            assert (LAW.startswith(record["text"][start:end]), end - start, more) == (True, len(LAW) - 1, [])
            place = record["text"].index(shared)
            assert store.texts.shown(document, [{"start": place, "text": shared}])["ignored"] == []
        left = {entry["what"]: entry for entry in store.summary()["left_out"]}
        assert (left["ignored sentences"]["count"], "grey" in left["ignored sentences"]["why"]) == (4, True)
    with views(tmp_path / "later") as store:
        assert store.texts.shown(0, [{"start": 0, "text": records[0]["text"]}])["ignored"] == []
        (why,) = (entry["why"] for entry in store.summary()["left_out"] if entry["what"] == "ignored sentences")
        assert why.startswith(str(law))
        assert "cannot be read" in why


def test_tables_in_parts_as_a_cluster_of_machines_writes_them(tmp_path: Path) -> None:
    records = [{"id": name, "text": text(1, 2, 3)} for name in ("2020-01-01", "2020-01-02", "003")]
    ibidem.find(write(tmp_path / "n.jsonl", records)).write(tmp_path / "out", format="jsonl")
    for table in ("passages", "documents", "repeats"):
        path = tmp_path / "out" / f"{table}.jsonl"
        content = path.read_bytes()
        path.unlink()
        path.mkdir()
        (path / "part-00000.jsonl").write_bytes(content)
        (path / "part-00001.jsonl").write_bytes(b"")
        (path / "_SUCCESS").write_bytes(b"")
    with views(tmp_path / "out") as store:
        assert set(texts(store)) == {(record["id"], False) for record in records}
        assert store.summary()["totals"]["pairs"] == 3


# Sides.


def test_one_id_on_both_sides(tmp_path: Path) -> None:
    new = write(tmp_path / "new.jsonl", documents(a=text(1, 2, 3, 4), b=text(9, 1, 2, 3)))
    old = write(tmp_path / "old.jsonl", documents(a=text(60, 61, 1, 2, 3), z=text(70)))
    result = ibidem.find(new, against=old)
    result.write(tmp_path / "out")
    expected = {
        ("a", False): text(1, 2, 3, 4), ("b", False): text(9, 1, 2, 3), ("a", True): text(60, 61, 1, 2, 3), ("z", True): "",
    }  # fmt: skip
    os.rename(new, tmp_path / "new2.jsonl")
    os.rename(old, tmp_path / "old2.jsonl")
    with views(tmp_path / "out", str(tmp_path / "new2.jsonl"), str(tmp_path / "old2.jsonl")) as store:
        assert {key: told for key, told in texts(store).items() if told} == {k: v for k, v in expected.items() if v}
        assert why_left_out(store) == ""
    os.rename(tmp_path / "new2.jsonl", new)
    os.rename(tmp_path / "old2.jsonl", old)
    with views(tmp_path / "out") as store:
        assert texts(store) == expected  # of a document that no pair names the text is not kept
        assert store.summary()["is_against"]
        assert told_pairs(store) == {("a", "a"), ("b", "a")}
        check_places(store)
        assert {pair["shared"] for pair in store.pairs(PairQuery())["items"]} == {len(text(1, 2, 3))}
        assert store.summary()["reused_share"] == pytest.approx(0.75)  # three sentences of four, in both
    with passing_views(material_of_result(result)) as store:
        assert texts(store)["a", True] == expected["a", True]


def test_a_document_with_itself(tmp_path: Path) -> None:
    name = write(tmp_path / "n.jsonl", documents(a=text(1, 2, 3, 4, 5, 1, 2, 3), b=text(50, 51, 52)))
    ibidem.find(name, same_document=True).write(tmp_path / "out")
    with views(tmp_path / "out") as store:
        assert told_pairs(store) == {("a", "a")}
        found = store.document(0)
        assert found is not None
        assert found["document"]["n_pairs"] == found["n_pairs"] == 1
        assert found["shades"] == []  # in no *other* document
        check_places(store)


# Verbs.


@pytest.mark.parametrize("table_format", FORMATS)
def test_comparisons(tmp_path: Path, table_format: str) -> None:
    name = write(tmp_path / "n.jsonl", documents(a=text(1, 2, 3, 4), b=text(9, 1, 2, 3) + changed(4), c=text(70, 71, 72)))
    ibidem.compare_pairs(name, [("a", "b"), ("a", "c")], **CLOSELY).write(tmp_path / "out", format=table_format)
    with views(tmp_path / "out") as store:
        summary = store.summary()
        assert (summary["verb"], summary["is_against"], summary["has_texts"]) == ("compare", False, True)
        assert told_pairs(store) == {("a", "b")}
        assert summary["totals"]["reusing_documents"] == 2
        assert [d["is_reference"] for d in store.documents(DocumentQuery())["items"]] == [False] * 3
        check_places(store)


def test_a_comparison_whose_documents_have_become_shorter(tmp_path: Path) -> None:
    path = tmp_path / "n.jsonl"
    write(path, documents(a=text(1, 2, 3), b=text(9, 1, 2, 3)))
    ibidem.compare_pairs(str(path), [("a", "b")], **CLOSELY).write(tmp_path / "out")
    write(path, documents(a=text(1, 2, 3), b="Short."))
    with views(tmp_path / "out") as store:
        assert texts(store) == {("a", False): text(1, 2, 3), ("b", False): ""}
        assert "changed since the run" in why_left_out(store)
        check_places(store)


@pytest.mark.parametrize("table_format", FORMATS)
def test_clusters(tmp_path: Path, table_format: str) -> None:
    records = [
        {"id": "a", "text": text(*range(9)), "time": "2031-01-05"}, {"id": "b", "text": text(*range(9)), "time": "2031-01-01"},
        {"id": "c", "text": text(*range(8)), "group": "g"}, {"id": "d", "text": text(70, 71)},
    ]  # fmt: skip
    result = ibidem.cluster(write(tmp_path / "n.jsonl", records))
    result.write(tmp_path / "out", format=table_format)
    with views(tmp_path / "out") as store, passing_views(material_of_result(result)) as in_memory:
        assert (store.summary()["verb"], store.summary()["totals"]["pairs"]) == ("cluster", 3)
        assert told_pairs(store) == {("a", "b"), ("a", "c"), ("b", "c")}
        pair = next(p for p in store.pairs(PairQuery())["items"] if (p["a"]["id"], p["b"]["id"]) == ("a", "b"))
        assert (pair["similarity"], pair["days"], pair["direction"], pair["n_passages"]) == (1, 4, "b_to_a", 0)
        assert (pair["kind"], pair["shared"]) == ("exact", len(text(*range(9))))
        (family,) = store.families(FamilyQuery())["items"]
        assert (family["n_documents"], family["n_places"], family["is_repeat"]) == (3, 3, False)
        found = store.pair(pair["pair"])
        assert found is not None
        assert found["a"]["is_complete"]
        check_places(store)
        assert list(store.rows("pairs")) == list(in_memory.rows("pairs"))


def test_clusters_against_another_collection(tmp_path: Path) -> None:
    new = write(tmp_path / "new.jsonl", documents(a=text(*range(1, 9)), b=text(*range(1, 8))))
    old = write(tmp_path / "old.jsonl", documents(a=text(70, 71), old=text(*range(1, 9))))
    ibidem.cluster(new, against=old).write(tmp_path / "out")
    with views(tmp_path / "out") as store:
        assert told_pairs(store) == {("a", "old"), ("b", "old")}
        (family,) = store.families(FamilyQuery())["items"]
        members = [m for variant in (store.family(family["family"]) or {})["variants"] for m in variant["members"]]
        assert sorted(member["id"] for member in members) == ["a", "b", "old"]
        assert {texts(store)[m["id"], m["id"] == "old"] != "" for m in members} == {True}


def test_no_clusters(tmp_path: Path) -> None:
    ibidem.cluster(write(tmp_path / "n.jsonl", documents(text(1, 2), text(3, 4)))).write(tmp_path / "out")
    with views(tmp_path / "out") as store:
        assert (store.summary()["totals"]["pairs"], store.summary()["totals"]["families"]) == (0, 0)


# HTML.


def page(*numbers: int) -> str:
    paragraphs = "".join(f"<p>{text(number, count=20)}</p>" for number in numbers)
    return f"<html><head><title>T</title></head><body><nav>menu</nav><article>{paragraphs}</article></body></html>"


def test_pages_of_html_are_read_again_or_taken_from_the_results(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    (folder / "below").mkdir(parents=True)
    (folder / "a.html").write_text(page(1, 2, 3, 4), "utf-8")
    (folder / "below" / "b.html").write_text(page(9, 1, 2, 3), "utf-8")
    ibidem.find(str(folder)).write(tmp_path / "out")
    assert (tmp_path / "out" / "texts.parquet").exists()
    with views(tmp_path / "out") as store:
        before = texts(store)
        assert set(before) == {(f"{folder}/a.html", False), (f"{folder}/below/b.html", False)}
        assert all(text(2, count=20) in told for told in before.values())
        assert why_left_out(store) == ""
    shutil.rmtree(folder)
    (tmp_path / "out" / "view.sqlite").unlink()
    with views(tmp_path / "out") as store:
        assert texts(store) == before
        assert "without their texts" not in why_left_out(store)
        assert store.summary()["has_texts"]
        check_places(store)


def test_pages_of_html_on_both_sides(tmp_path: Path) -> None:
    for side, numbers in (("new", (1, 2, 3, 4)), ("old", (9, 1, 2, 3))):
        (tmp_path / side).mkdir()
        (tmp_path / side / "p.html").write_text(page(*numbers), "utf-8")
    ibidem.find(str(tmp_path / "new"), against=str(tmp_path / "old")).write(tmp_path / "out")
    with views(tmp_path / "out") as store:
        before = texts(store)
        assert set(before) == {(f"{tmp_path}/new/p.html", False), (f"{tmp_path}/old/p.html", True)}
        assert text(9, count=20) in before[f"{tmp_path}/old/p.html", True]
    (tmp_path / "out" / "view.sqlite").unlink()
    for side in ("new", "old"):
        shutil.rmtree(tmp_path / side)
    with views(tmp_path / "out") as store:
        assert texts(store) == before
        check_places(store)


# Inputs that are elsewhere, changed or gone.


def test_a_run_from_another_folder_with_relative_paths(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    (here / "news" / "2031").mkdir(parents=True)
    (here / "news" / "2031" / "a.txt").write_text(text(1, 2, 3, 4), "utf-8")
    (here / "news" / "b.txt").write_text(text(9, 1, 2, 3), "utf-8")
    write_jsonl(here / "more.jsonl", documents(c=text(8, 1, 2, 3)))
    monkeypatch.chdir(here)
    said(run("find", "news", "-o", "../alone"), 0)
    said(run("find", "news", "more.jsonl", "-o", "../together"), 0)
    said(run("find", "news/*/*.txt", "--against", "news/b.txt", "-o", "../sides"), 0)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    expected = {
        "alone": {("news/2031/a.txt", False), ("news/b.txt", False)},
        "together": {("news/2031/a.txt", False), ("news/b.txt", False), ("c", False)},
        "sides": {("news/2031/a.txt", False), ("news/b.txt", True)},
    }
    for name, ids in expected.items():
        with views(tmp_path / name) as store:
            assert set(texts(store)) == ids
            assert all(texts(store).values())
            check_places(store)
    # The folder as a whole has moved.
    os.rename(here / "news", tmp_path / "moved")
    with views(tmp_path / "alone", str(tmp_path / "moved")) as store:
        assert set(texts(store)) == expected["alone"]
        assert all(texts(store).values())


def test_inputs_that_are_gone(tmp_path: Path) -> None:
    path = write(tmp_path / "n.jsonl", documents(a=text(1, 2, 3), b=text(9, 1, 2, 3)))
    ibidem.find(path).write(tmp_path / "out")
    os.unlink(path)
    with views(tmp_path / "out") as store:
        assert set(texts(store).values()) == {""}
        assert "cannot be found" in why_left_out(store)
        assert not store.summary()["has_texts"]
        found = store.pair(0)
        assert found is not None
        assert (found["a"]["segments"], found["a"]["is_complete"]) == ([], False)
        assert found["pair"]["coverage_a"] == 1  # how long it was is told in the results
        assert store.document(0)["shades"] == []  # type: ignore[index]


def test_one_of_several_inputs_is_gone(tmp_path: Path) -> None:
    one = write(tmp_path / "one.jsonl", documents(a=text(1, 2, 3)))
    two = write(tmp_path / "two.jsonl", documents(b=text(9, 1, 2, 3)))
    ibidem.find([one, two]).write(tmp_path / "out")
    os.unlink(one)
    with views(tmp_path / "out") as store:
        assert texts(store) == {("a", False): "", ("b", False): text(9, 1, 2, 3)}
        assert "one.jsonl" in why_left_out(store)
        check_places(store)


@pytest.mark.parametrize("side", ["inputs", "reference"])
def test_texts_that_have_changed_are_not_shown(tmp_path: Path, side: str) -> None:
    new, old = tmp_path / "new.jsonl", tmp_path / "old.jsonl"
    write(new, documents(a=text(1, 2, 3)))
    write(old, documents(b=text(9, 1, 2, 3)))
    ibidem.find(str(new), against=str(old)).write(tmp_path / "out")
    write(new if side == "inputs" else old, documents(**{"a" if side == "inputs" else "b": "Tiny."}))
    with views(tmp_path / "out") as store:
        left = {("b", True): text(9, 1, 2, 3)} if side == "inputs" else {("a", False): text(1, 2, 3)}
        assert texts(store) == {("a", False): "", ("b", True): ""} | left
        assert "changed since the run" in why_left_out(store)
        check_places(store)


def test_an_input_that_cannot_be_read_any_more(tmp_path: Path) -> None:
    path = tmp_path / "n.jsonl"
    ibidem.find(write(path, documents(a=text(1, 2, 3), b=text(1, 2, 3)))).write(tmp_path / "out")
    path.write_bytes(b"\x80\x81 no json")
    with views(tmp_path / "out") as store:
        assert set(texts(store).values()) == {""}
        assert store.summary()["totals"]["pairs"] == 1
    path.unlink()
    path.mkdir()
    with views(tmp_path / "out") as store:
        assert set(texts(store).values()) == {""}


def test_documents_that_no_file_holds(tmp_path: Path) -> None:
    result = ibidem.find(documents(a=text(1, 2, 3), b=text(9, 1, 2, 3)))
    result.write(tmp_path / "out")
    with passing_views(material_of_result(result)) as store:
        assert all(texts(store).values())
    with views(tmp_path / "out") as store:
        assert set(texts(store).values()) == {""}
        assert "cannot be found" in why_left_out(store)


def test_the_passages_own_texts_are_shown_if_they_were_kept(tmp_path: Path) -> None:
    """Three documents; the second shares two and three sentences from one place on, and words have changed."""
    records = documents(a=text(1, 2, 3, 4), b=f"{text(9, 1, 2)} {changed(3)} {text(4)}", c=text(8, 1, 2))
    result = ibidem.find(records, min_sentences=2)
    result.write(tmp_path / "out", keep_text=True)
    with views(tmp_path / "out") as store:
        for number, record in enumerate(records):
            shown = store.texts.shown(number, [])
            last = 0
            for segment in shown["segments"]:
                start, told = segment["start"], segment["text"]
                assert told == record["text"][start : start + len(told)]
                assert start >= last
                last = start + len(told)
            ends = [p["a_end"] for p in store.rows("passages") if p["a_id"] == record["id"]]
            ends += [p["b_end"] for p in store.rows("passages") if p["b_id"] == record["id"]]
            assert max(ends) <= last, "a passage is not shown to its end"
        assert "without their texts" not in why_left_out(store)
        for family in store.families(FamilyQuery())["items"]:
            for variant in (store.family(family["family"]) or {})["variants"]:
                for member in variant["members"]:
                    record = next(r for r in records if r["id"] == member["id"])
                    assert variant["text"] in record["text"], "a wording that this document does not have"
        with passing_views(material_of_result(result)) as whole:
            for pair in store.pairs(PairQuery())["items"]:
                changes = [p["a_changes"] for p in (store.pair(pair["pair"]) or {})["passages"]]
                assert changes == [p["a_changes"] for p in (whole.pair(pair["pair"]) or {})["passages"]]


def test_documents_from_stdin(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(json.dumps(record) + "\n" for record in documents(a=text(1, 2, 3), b=text(9, 1, 2, 3)))
    (tmp_path / "stdin.jsonl").write_text(lines, "utf-8")
    for name, arguments in (("without", []), ("with", ["--keep-text"])):
        with open(tmp_path / "stdin.jsonl", encoding="utf-8") as file:
            monkeypatch.setattr("sys.stdin", file)
            said(run("find", "-", "-o", name, *arguments), 0)
    with views(tmp_path / "without") as store:
        assert set(texts(store).values()) == {""}
        assert store.texts.shown(0, [])["segments"] == []
        assert "cannot be read again" in why_left_out(store)
    with views(tmp_path / "with") as store:
        assert store.texts.shown(0, [])["segments"] == [{"start": 0, "text": text(1, 2, 3)}]
        assert store.texts.shown(1, [])["segments"] == [{"start": len(text(9)) + 1, "text": text(1, 2, 3)}]
        (pair,) = store.pairs(PairQuery(search=text(1, 2, 3).split()[3]))["items"]
        assert pair["longest"] == len(text(1, 2, 3))
    with views(tmp_path / "without", str(tmp_path / "stdin.jsonl")) as store:
        assert all(texts(store).values())
        assert why_left_out(store) == ""


# What documents bring along.


def test_titles(tmp_path: Path) -> None:
    fields = [
        {"title": " First "}, {"headline": "Second", "name": "other"}, {"subject": "Third"}, {"title": ""}, {"title": 7},
        {"title": "x" * 5000}, {"title": ["a"]}, {"title": None, "name": "Eighth"},
    ]  # fmt: skip
    records = [{"id": str(k), "text": f"{text(1, 2, 3)} {text(50 + k)}"} | more for k, more in enumerate(fields)]
    ibidem.find(write(tmp_path / "n.jsonl", records)).write(tmp_path / "out")
    with views(tmp_path / "out") as store:
        found = {d["id"]: d["title"] for d in store.documents(DocumentQuery())["items"]}
    assert found == {
        "0": "First", "1": "Second", "2": "Third", "3": None, "4": None, "5": "x" * 300, "6": None, "7": "Eighth",
    }  # fmt: skip


def test_a_title_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "n.jsonl"
    path.write_text("".join(json.dumps({"id": k, "text": text(1, 2, 3), "title": "\ud800 half"}) + "\n" for k in "ab"), "utf-8")
    ibidem.find(str(path)).write(tmp_path / "out")
    with views(tmp_path / "out") as store:
        assert store.pairs(PairQuery())["total"] == 1


def test_times_and_groups(tmp_path: Path) -> None:
    records = [
        {"id": "a", "text": text(1, 2, 3), "time": "2031-01-01T10:00:00+02:00", "group": "G"},
        {"id": "b", "text": text(1, 2, 3), "time": "1931-06-01"},
        {"id": "c", "text": text(1, 2, 3), "group": ""},
    ]
    ibidem.find(write(tmp_path / "n.jsonl", records)).write(tmp_path / "out")
    with views(tmp_path / "out") as store:
        found = {d["id"]: d["time"] for d in store.documents(DocumentQuery())["items"]}
        assert found == {"a": "2031-01-01T08:00:00Z", "b": "1931-06-01T00:00:00Z", "c": None}
        summary = store.summary()
        assert summary["has_times"]
        assert summary["has_groups"]
        assert summary["facets"]["years"] == [{"year": 1931, "n_pairs": 1}, {"year": 2031, "n_pairs": 2}]
        assert store.pairs(PairQuery(year=1931))["items"][0]["days"] is None


def test_skipped_records_and_settings_are_told(tmp_path: Path) -> None:
    records = ['{"id": "broken', {"id": "x"}, {"id": "y", "text": ""}, *documents(a=text(1, 2), b=text(1, 2))]
    ibidem.find(write(tmp_path / "n.jsonl", records), min_sentences=2, skip_same_group=True).write(tmp_path / "out")
    material = material_of_folder(tmp_path / "out")
    assert len(material.skipped) == 3
    with views(tmp_path / "out") as store:
        summary = store.summary()
        assert summary["totals"]["skipped"] == 3
        assert sum(entry["count"] for entry in summary["left_out"] if entry["what"] == "skipped records") == 3
        assert [item["position"] for item in store.skipped(None, 10)["items"]] == [1, 2, 3]
        mine = {(s["stage"], s["name"], s["value"]) for s in summary["settings"] if not s["is_default"]}
        assert mine == {("passages", "min_sentences", 2), ("passages", "skip_same_group", True)}
        assert any("2 sentences" in entry["why"] for entry in summary["left_out"])
        assert summary["title"] == "out"
        json.dumps(summary, allow_nan=False)


def test_search_knows_all_words_of_a_passage(tmp_path: Path) -> None:
    name = write(tmp_path / "n.jsonl", documents(a=text(*range(1, 80)), b=text(200, *range(1, 80))))
    ibidem.find(name).write(tmp_path / "out")
    with views(tmp_path / "out") as store:
        assert [store.pairs(PairQuery(search=text(k).split()[2]))["total"] for k in (1, 40, 79)] == [1, 1, 1]


def test_a_phrase_goes_over_line_breaks(tmp_path: Path) -> None:
    broken = text(1, 2, 3).replace(" ", "\n")
    ibidem.find(write(tmp_path / "n.jsonl", documents(a=broken, b=broken))).write(tmp_path / "out")
    with views(tmp_path / "out") as store:
        first, second, *_ = text(1, 2, 3).split()
        assert store.pairs(PairQuery(search=f'"{first} {second}"'))["total"] == 1


def test_the_store_holds_no_text_of_documents_that_no_pair_names(tmp_path: Path) -> None:
    name = write(tmp_path / "n.jsonl", documents(a=text(1, 2, 3), b=text(1, 2, 3), c=text(70, 71)))
    ibidem.find(name).write(tmp_path / "out")
    with views(tmp_path / "out") as store:
        assert {key[0] for key, told in texts(store).items() if told} == {"a", "b"}
