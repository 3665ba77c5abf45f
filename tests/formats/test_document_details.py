"""What is read of each format besides its paragraphs, and what is left out."""

from __future__ import annotations

import mailbox
from email.message import EmailMessage
from pathlib import Path

import pytest

import ibidem
from ibidem.formats.line_joins import join_lines, join_pages, without_hyphenation
from ibidem.model import Document, Skipped
from tests.formats.document_writers import zipped

TEI = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>Ice</title><author>Mia</author></titleStmt>
<sourceDesc><bibl><date when="1848-05-04"/></bibl></sourceDesc></fileDesc></teiHeader><text><body><pb n="7"/>
<head>The ice</head><p>It fro-<lb break="no"/>ze <note>A foot note.</note>over.
<choice><sic>Nobdy</sic><corr>Nobody</corr></choice><pb n="8"/> sailed, <quote>he said</quote>.</p>
<fw>running head</fw><lg><l>One line</l><l>of verse</l></lg></body></text></TEI>"""
WORD = """<w:document xmlns:w="w" xmlns:mc="mc"><w:body><w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>One</w:t><w:tab/>
<w:t>two</w:t></w:r><w:del><w:r><w:t>gone</w:t></w:r></w:del><w:ins><w:r><w:t> new</w:t></w:r></w:ins><w:r><mc:AlternateContent>
<mc:Choice><w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent></mc:Choice><mc:Fallback><w:t>twice</w:t>
</mc:Fallback></mc:AlternateContent><w:footnoteReference w:id="2"/>
<w:t> end.</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc>
<w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:document>"""
NOTES = """<w:footnotes xmlns:w="w"><w:footnote w:type="separator" w:id="0"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>
<w:footnote w:id="2"><w:p><w:r><w:t>A note.</w:t></w:r></w:p>
<w:p><w:r><w:t>Its end.</w:t></w:r></w:p></w:footnote></w:footnotes>"""
KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def only(path: Path, **settings: str) -> Document:
    (document,) = ibidem.read(path, **settings)  # type: ignore[arg-type]
    return document


def test_tei(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(TEI, encoding="utf-8")
    document = only(tmp_path / "a.xml")
    assert document.text.split("\n\n") == [
        "\x1dThe ice", "It froze over. Nobody \x1d sailed, he said.", "A foot note.", "One line", "of verse",
    ]  # fmt: skip
    assert document.fields == {"title": "Ice", "author": "Mia"}
    assert str(document.time)[:10] == "1848-05-04"
    assert only(tmp_path / "a.xml", text_path="head").text == "The ice"
    assert only(tmp_path / "a.xml", text_path="lg/*").text == "One line\n\nof verse"
    assert only(tmp_path / "a.xml", text_path="/TEI//quote").text == "he said"
    skipped: list[Skipped] = []
    # Where nothing has the path, a file of a known kind is read as usual.
    assert only(tmp_path / "a.xml", text_path="/body").text == only(tmp_path / "a.xml").text
    (tmp_path / "a.xml").write_text("<letter><p>Words</p></letter>")
    assert not list(ibidem.read(tmp_path, text_path="/body", on_skip=skipped.append))
    assert skipped[0].reason == "nothing in it has the path '/body'"


def test_word(tmp_path: Path) -> None:
    first = f'<R><Relationship Type="{KINDS}/officeDocument" Target="/main/text.xml"/></R>'
    second = f'<R><Relationship Type="{KINDS}/footnotes" Target="notes.xml"/></R>'
    members = {"_rels/.rels": first, "main/_rels/text.xml.rels": second, "main/text.xml": WORD, "main/notes.xml": NOTES}
    (tmp_path / "a.docx").write_bytes(zipped({name: part.encode() for name, part in members.items()}))
    assert only(tmp_path / "a.docx").text.split("\n\n") == ["One\ttwo new end.", "In a box.", "A note.", "Its end.", "a \tb"]


RTF = rb"""{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fnil\fcharset0 Arial;}{\f1\fcharset238 Arial CE;}
{\f2\fcharset128 Gothic;}}{\colortbl;\red0\green0\blue0;}{\stylesheet{\s0 Normal;}}
{\info{\title Schnee \'fcber Lyon}{\author M\u243\'f3 K}{\creatim\yr2031}}
{\header Running title\par}
\pard\plain It fro\-ze{\super\chftn}{\*\footnote\pard\plain {\chftn} A \{note\}.\par And more.} over\~there.
{\deleted gone}{\v hidden}{\*\unknown nothing {\f0 of this}}\par
\f1 P\'f8\'edli\'9a \f0{\uc2\u-10179 ??\u-8704 ??} {\f2\'8c\'e3\'94\'79} \emdash  end\line next\par
\trowd\intbl one\cell two\par three\cell\row\intbl four\cell\cell\row\pard {\listtext\'b7\tab}item\par
{\field{\*\fldinst HYPERLINK "https://example.org"}{\fldrslt a link}}{\pict\bin5 }}}}}}{\*\annotation a comment}
{\shp{\*\shpinst{\sp{\sn a}{\sv b}}{\shptxt In a box.\par}}{\shprslt In a box.}}, the end.}trailing"""


def test_rtf(tmp_path: Path) -> None:
    (tmp_path / "a.rtf").write_bytes(RTF)
    document = only(tmp_path / "a.rtf")
    assert document.text.split("\n\n") == [
        "It froze over\u00a0there.", "A {note}.", "And more.", "Příliš 😀 後輩 — end\nnext",
        "one\ttwo three\t\nfour", "item", "a link, the end.", "In a box.",
    ]  # fmt: skip
    assert document.fields == {"title": "Schnee über Lyon", "author": "Mó K"}


def test_pages_of_an_edition_begin_with_their_text(tmp_path: Path) -> None:
    body = '<pb/><p>One.</p><pb/><p>Two<note>A note.</note> and</p><pb/><pb/><note place="foot">Low.</note><head>Four.</head>'
    (tmp_path / "a.xml").write_text(f"<TEI><text><body>{body}<p>It <del>was</del> is.</p></body></text></TEI>")
    expected = "\x1dOne.|\x1dTwo and|A note.|Low.|\x1d\x1dFour.|It  is."
    assert only(tmp_path / "a.xml").text.split("\n\n") == expected.split("|")


def test_the_best_reading_of_ocr_counts(tmp_path: Path) -> None:
    def readings(*texts: str) -> str:
        pairs = [(len(texts) - 1 - k, text) for k, text in enumerate(texts)]
        return "".join(f'<TextEquiv index="{k}"><Unicode>{text}</Unicode></TextEquiv>' for k, text in pairs)

    lines = f"<TextLine>{readings('wrong', 'right line')}</TextLine>"
    lines += f"<TextLine><Word>{readings('wrong', 'by')}</Word><Word>{readings('wrong', 'words')}</Word></TextLine>"
    page = f"<PcGts><Page><TextRegion>{lines}</TextRegion><TextRegion>{readings('wrong', 'region')}</TextRegion></Page></PcGts>"
    (tmp_path / "a.xml").write_text(page)
    assert only(tmp_path / "a.xml").text.split() == ["right", "line", "by", "words", "region"]


def test_words_and_sentences_go_on_in_the_next_region(tmp_path: Path) -> None:
    def region(*lines: str) -> str:
        found = (f"<TextLine><TextEquiv><Unicode>{line}</Unicode></TextEquiv></TextLine>" for line in lines)
        return f"<TextRegion>{''.join(found)}</TextRegion>"

    first = ["The ice", "The harbour froze and the mer-", "", "chants waited", "for it.", "Nobody was consid-"]
    pages = ["".join(map(region, page)) for page in (first, ["erate. No.", "Yes."])]
    page = f"<PcGts><Page>{pages[0]}</Page><Page>{pages[1]}</Page></PcGts>"
    (tmp_path / "a.xml").write_text(page)
    assert only(tmp_path / "a.xml").text.split("\n\n") == [
        "\x1d\x1eThe ice", "\x1eThe harbour froze and the merchants", "\x1e \x1ewaited \x1efor it.",
        "\x1eNobody was considerate", "\x1d\x1e. No.", "\x1eYes.",
    ]  # fmt: skip


@pytest.mark.parametrize("has_title", [False, True])
def test_text_that_is_repeated_at_the_edges_of_pages_stays(tmp_path: Path, has_title: bool) -> None:
    from reportlab.pdfgen.canvas import Canvas

    refrain = "And so we went on, and so we went on,"
    canvas = Canvas(str(tmp_path / "a.pdf"))
    for number in range(1, 4):
        if has_title:
            canvas.drawString(72, 800, f"The long song, page {number}")
        y = 740
        for place, line in enumerate([refrain, *[f"over hill {number}, {place}" for place in range(9)], refrain]):
            canvas.drawString(72, y, line)
            y -= 30 if (number, place) in ((2, 0), (3, 9)) else 15
        canvas.showPage()
    canvas.save()
    text = only(tmp_path / "a.pdf").text
    assert text.count(refrain) == 6
    assert "The long song" not in text


def test_mail(tmp_path: Path) -> None:
    message = EmailMessage()
    message["From"], message["To"] = "Jürgen Groß <jg@example.org>", "Mia <mia@example.org>"
    message["Subject"], message["Date"] = "Über das Eis", "Thu, 4 May 2031 06:00:00 +0200"
    message["Message-ID"] = "<1@example.org>"
    message.set_content("It froze.\n\n> It thawed, you wrote.\n")
    message.add_alternative("<p>It froze in colour.</p>", subtype="html")
    message.add_attachment(b"attached words", maintype="text", subtype="plain", filename="a.txt")
    path = tmp_path / "a.eml"
    path.write_bytes(bytes(message))
    document = only(path, group_field="from")
    assert document.text.split("\n\n") == ["It froze.", "> It thawed, you wrote.\n"]
    assert str(document.time) == "2031-05-04 04:00:00+00:00"
    assert (document.group, document.fields["title"]) == ("Jürgen Groß <jg@example.org>", "Über das Eis")
    assert document.fields["to"] == "Mia <mia@example.org>"
    assert document.id.endswith("a.eml")
    assert only(path, id_field="message_id").id == "<1@example.org>"
    html = EmailMessage()
    html.set_content("<p>Only <b>in</b> colour.</p>", subtype="html")
    path.write_bytes(bytes(html))
    assert only(path).text == "Only in colour."


@pytest.mark.parametrize("n_bytes", [7, 1 << 20])
def test_a_mailbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_bytes: int) -> None:
    from ibidem.formats import mbox_files

    monkeypatch.setattr(mbox_files, "_READ_BYTES", n_bytes)
    path = tmp_path / "all.mbox"
    box = mailbox.mbox(str(path))
    for number in range(30):
        message = EmailMessage()
        message["Subject"] = f"Mail {number}"
        message.set_content(f"Body {number}.\n\nFrom here on it is quoted.\n\n{'x' * 3000 * (number == 7)}")
        box.add(message)
    box.close()
    documents = list(ibidem.read(path))
    assert [document.id for document in documents] == [f"{path}:{number}" for number in range(1, 31)]
    assert [document.fields["title"] for document in documents] == [f"Mail {number}" for number in range(30)]
    assert all("\n\nFrom here on" in document.text for document in documents)


def test_hyphens_at_line_ends() -> None:
    def joined(*lines: str) -> str:
        return without_hyphenation([join_lines([(line, False) for line in lines])])[0]

    assert joined("the har-", "bour froze") == "the harbour froze"
    assert joined("a well-known man, a well-", "known woman") == "a well-known man, a well-known woman"
    assert joined("zwischen Nord-", "Süd und West") == "zwischen Nord-Süd und West"
    assert joined("from 1914 -", "1918 it was") == "from 1914 - 1918 it was"
    assert joined("这座城市被", "冰封") == "这座城市被冰封"
    assert joined("a full line of words here", "short", "a full line of words there").count("\n") == 1
    assert join_pages(["it was consid-", "erable. Then"]) == ["it was considerable", ". Then"]
    assert join_pages(["the North-", "South line"]) == ["the North-", "South line"]


def test_a_mailbox_with_an_empty_message(tmp_path: Path) -> None:
    begin = "From a@b.org Mon May  5 10:00:00 2031\n"
    (tmp_path / "a.mbox").write_text(f"{begin}\n{begin}Subject: Ice\n\nThe ice broke.\n\n{begin}\n")
    skipped: list[Skipped] = []
    (found,) = ibidem.read(tmp_path / "a.mbox", on_skip=skipped.append)
    assert found.text.strip() == "The ice broke."
    assert [(record.position, record.reason) for record in skipped] == [(place, "there is no text in it") for place in (1, 3)]
