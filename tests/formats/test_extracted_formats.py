"""Every format from which text is extracted, in five languages: the same passages as in plain texts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem.columns.page_marks import PAGE, PageMap
from tests.formats.document_writers import PAGED, WRITERS, has_arabic_font, printed_pages, write_text
from tests.formats.languages import OWN, SHARED

pytest.importorskip("pypdfium2")
pytest.importorskip("reportlab")


def collections(folder: Path, lang: str) -> tuple[Path, Path]:
    """Write a source and its copies, in all formats and as plain text."""
    real, plain = folder / "real", folder / "plain"
    for place in (real, plain):
        place.mkdir()
        write_text(place / "source.txt", SHARED[lang], lang)
    for name, write in WRITERS.items():
        if name == "a.pdf" and lang == "ar" and not has_arabic_font():
            continue
        paragraphs = [*OWN[lang], *SHARED[lang]] if name < "g" else [*SHARED[lang], *OWN[lang]]
        write(real / name, paragraphs, lang)
        write_text(plain / f"{name}.txt", paragraphs, lang)
    return real, plain


def stem(name: str) -> str:
    return Path(name.removesuffix(":1")).name.removesuffix(".txt")


def words(text: str) -> str:
    return re.sub(r"[\s\x1d\x1e]+", "", text)


def found(passages: Any) -> list[tuple[Any, ...]]:
    """Return passages by what they are, wherever they are."""
    rows = [
        (
            *sorted([(stem(row["a_id"]), words(row["a_text"])), (stem(row["b_id"]), words(row["b_text"]))]),
            row["n_sentences"], row["similarity"], row["kind"],
        )
        for row in passages.to_pylist()
    ]  # fmt: skip
    return sorted(rows)


@pytest.mark.parametrize("lang", SHARED)
def test_all_formats_give_the_passages_of_plain_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lang: str) -> None:
    real, _ = collections(tmp_path, lang)
    monkeypatch.chdir(tmp_path)
    expected = ibidem.find("plain")
    result = ibidem.find("real")
    assert not result.skipped
    assert len(expected) >= len(list(real.iterdir())) - 1
    assert found(result.with_texts()) == found(expected.with_texts())
    assert "a_page" not in expected.passages.column_names
    _check_pages(result.with_texts())
    with ibidem.find("real", memory="200MB", partitions=3, work_dir=str(tmp_path / "work"), resume=True) as on_disk:
        assert on_disk.backing.storage == "disk"
        assert on_disk.passages.to_pylist() == result.passages.to_pylist()
        assert on_disk.with_texts().to_pylist() == result.with_texts().to_pylist()
    result.write("out", keep_text=True)
    page = ibidem.find("real").to_html(tmp_path / "report.html").read_text("utf-8")
    assert f"Title in {lang}" in page


def _check_pages(passages: Any) -> None:
    for row in passages.to_pylist():
        for side in "ab":
            is_paged = stem(row[f"{side}_id"]) in PAGED
            assert (row[f"{side}_page"] is not None) == is_paged
            if is_paged:
                assert row[f"{side}_page"] >= 1
            assert (row[f"{side}_region"] is not None) == (stem(row[f"{side}_id"]) in ("g.xml", "h.xml"))


@pytest.mark.parametrize("lang", SHARED)
def test_an_index_finds_them_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lang: str) -> None:
    collections(tmp_path, lang)
    monkeypatch.chdir(tmp_path)
    answers = {}
    for kind in ("plain", "real"):
        with ibidem.Index(f"{kind}.idx", texts=True) as index:
            index.add(kind)
            query = tmp_path / "query.txt"
            write_text(query, SHARED[lang], lang)
            answers[kind] = index.query("query.txt").with_texts()
    assert found(answers["real"]) == found(answers["plain"])
    _check_pages(answers["real"])
    assert "b_page" not in answers["plain"].column_names


def test_a_passage_is_on_the_page_where_it_was_printed(tmp_path: Path) -> None:
    paragraphs = [*OWN["en"] * 3, *SHARED["en"]]
    WRITERS["a.pdf"](tmp_path / "a.pdf", paragraphs, "en")
    write_text(tmp_path / "source.txt", SHARED["en"][1:], "en")
    (row,) = ibidem.find(tmp_path).passages.to_pylist()
    first = SHARED["en"][1][:20]
    pages = printed_pages(paragraphs, "en")
    (expected,) = [n for n, page in enumerate(pages, 1) if any(first in line for line, _ in page)]
    assert (row["a_page"], row["b_page"]) == (expected, None)
    passage = next(iter(ibidem.find(tmp_path)))
    assert (passage.a_page, passage.b_page) == (expected, None)
    (document,) = ibidem.read(tmp_path / "a.pdf")
    assert document.text.startswith(PAGE)
    assert document.text.count(PAGE) == len(pages)
    assert "1848" not in document.text, "a running title"
    assert PageMap(document.text).place(len(document.text)) == (len(pages), None)
    assert document.fields["title"] == "Title in en"
