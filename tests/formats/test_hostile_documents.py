"""Files that are damaged, or made to do harm: each is skipped with a reason, and nothing else happens."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import ibidem
from ibidem.errors import InputError
from ibidem.formats import byte_streams
from tests.formats.document_writers import WRITERS, write_docx, write_pdf, zipped
from tests.formats.languages import SHARED

BILLION = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><TEI><text><p>&b;</p></text></TEI>'
OUTSIDE = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]><TEI><text><p>&a;</p></text></TEI>'
FOREIGN = b'<!DOCTYPE TEI SYSTEM "http://example.invalid/tei.dtd"><TEI><text><p>caf&eacute; &unknown; is open</p></text></TEI>'


def reasons(path: Path) -> list[str]:
    skipped: list[str] = []
    assert list(ibidem.read(path, on_skip=lambda record: skipped.append(record.reason))) == []
    return skipped


@pytest.mark.parametrize("data", [BILLION, OUTSIDE])
def test_entities_are_not_expanded(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.xml").write_bytes(data)
    (reason,) = reasons(tmp_path / "a.xml")
    assert "defines an entity of its own ('a')" in reason
    (tmp_path / "b.docx").write_bytes(zipped({"word/document.xml": data}))
    (reason,) = reasons(tmp_path / "b.docx")
    assert "defines an entity of its own ('a')" in reason


def test_a_dtd_elsewhere_is_not_loaded(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(FOREIGN)
    assert [document.text.split() for document in ibidem.read(tmp_path)] == [["café", "is", "open"]]


def test_archives_that_expand_too_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_streams, "LEAST_LIMIT_BYTES", 100_000)
    bomb = b"<w:document xmlns:w='w'><w:p><w:r><w:t>" + b"ha " * 30_000_000 + b"</w:t></w:r></w:p></w:document>"
    data = zipped({"word/document.xml": bomb})
    assert len(bomb) > 1000 * len(data)
    (tmp_path / "a.docx").write_bytes(data)
    (reason,) = reasons(tmp_path / "a.docx")
    assert byte_streams.is_unfolded(reason)


def test_depth_does_no_harm(tmp_path: Path) -> None:
    for depth, is_read in ((900, True), (200_000, False)):
        deep = b"<TEI><text>" + b"<div>" * depth + b"words" + b"</div>" * depth + b"</text></TEI>"
        (tmp_path / "a.xml").write_bytes(deep)
        assert [document.text for document in ibidem.read(tmp_path, on_skip=lambda _: None)] == ["words"] * is_read


@pytest.mark.parametrize("name", [name for name in WRITERS if name < "k"])
def test_files_cut_off_or_changed_anywhere(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    WRITERS[name](path, SHARED["en"], "en")
    whole = path.read_bytes()
    for number, end in enumerate(range(0, len(whole), max(1, len(whole) // 12))):
        path.write_bytes(whole[:end] if number % 2 else whole[:end] + b"\0\xff\x13" + whole[end + 3 :])
        list(ibidem.read(path, on_skip=lambda record: None))  # an error would be raised here


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    WRITERS["a.pdf"](tmp_path / "a.pdf", SHARED["en"], "en")
    for loaded in [each for each in sys.modules if each.partition(".")[0] == "pypdfium2"]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    (reason,) = reasons(tmp_path / "a.pdf")
    assert reason == "reading PDF files needs pypdfium2: pip install 'ibidem[office]'"


def test_a_pdf_without_text(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.rect(72, 72, 300, 300)
    canvas.showPage()
    canvas.save()
    (reason,) = reasons(tmp_path / "a.pdf")
    assert "run OCR first" in reason


def test_what_cannot_be_read_is_told_apart(tmp_path: Path) -> None:
    for name in ("a.pdf", "a.docx", "a.rtf", "a.xml", "a.eml", "a.epub"):
        (tmp_path / name).write_bytes(b"")
        assert reasons(tmp_path / name) == ["the file is empty"]
    # Word puts encrypted files into a container of its old format.
    (tmp_path / "b.docx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000))
    assert reasons(tmp_path / "b.docx") == ["it is protected by a password, or in the format of Word before 2007"]
    (tmp_path / "c.rtf").write_bytes(b"{\\rtf1\\ansi The first half of the text")
    assert reasons(tmp_path / "c.rtf") == ["damaged RTF: it ends inside of a group"]
    (tmp_path / "d.pdf").write_bytes(b"words")
    (reason,) = reasons(tmp_path / "d.pdf")
    assert reason.startswith("not a PDF, or damaged: ")
    assert not reason.endswith(".")


def test_whole_files_can_be_removed_but_nothing_cut_out(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a.docx", "b.docx"):
        write_docx(folder / name, SHARED["en"], "en")
    write_pdf(folder / "c.pdf", SHARED["de"], "de")
    with ibidem.dedup(folder, level="document") as result:
        result.write(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").glob("[abc].*")) == ["a.docx", "c.pdf"]
    assert (tmp_path / "out" / "c.pdf").read_bytes() == (folder / "c.pdf").read_bytes()
    with pytest.raises(InputError, match="passages cannot be cut out of docx files") as refused:
        ibidem.dedup(folder, level="passage").write(tmp_path / "cut")
    assert "texts.jsonl" in refused.value.next_step
    texts = tmp_path / "texts"
    ibidem.find(folder).write(texts, format="jsonl")
    with ibidem.dedup(texts / "texts.jsonl", level="passage") as result:
        result.write(tmp_path / "cleaned")
    assert (tmp_path / "cleaned" / "texts.jsonl").exists()


def test_numbers_that_are_no_characters_and_endless_depth_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "a.rtf").write_bytes(b"{\\rtf1\\ansi hello \\u9999999999? world}")
    (document,) = ibidem.read(tmp_path / "a.rtf")
    assert document.text == "hello \ufffd world"
    (tmp_path / "a.rtf").write_bytes(b"{\\rtf1\\ansi " + b"{" * 200_000 + b"hello" + b"}" * 200_000 + b"}")
    (document,) = ibidem.read(tmp_path / "a.rtf")
    assert document.text == "hello"
    (tmp_path / "b.docx").write_bytes(zipped({"word/document.xml": b"<a>" * 5000 + b"<tab/>" * 5000 + b"</a>" * 5000}))
    (reason,) = reasons(tmp_path / "b.docx")
    assert "nested more than 1,000 deep" in reason


def test_a_letter_may_say_from_at_the_start_of_a_paragraph(tmp_path: Path) -> None:
    first = "From a@example.org Mon May  4 10:15:00 2031\nSubject: one\n\nHello.\n\n"
    first += "From the beginning we knew this.\nRest: of it.\n\nFrom noon, at 12:30 sharp,\nnobody came.\n"
    second = "\nFrom b@example.org Mon May  4 10:16:00 2031\nSubject: two\n\nGoodbye.\n"
    (tmp_path / "a.mbox").write_text(first + second, "utf-8")
    texts = [document.text for document in ibidem.read(tmp_path / "a.mbox")]
    assert len(texts) == 2
    assert texts[0].rstrip("\n").endswith("Rest: of it.\n\nFrom noon, at 12:30 sharp,\nnobody came.")
