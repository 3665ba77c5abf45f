"""Writes texts as files of every format that texts are extracted from, with the libraries that people use for that."""

from __future__ import annotations

import io
import mailbox
import re
from collections.abc import Callable, Sequence
from email.message import EmailMessage
from pathlib import Path
from xml.sax.saxutils import escape

WIDTH = 44
LINES_A_PAGE = 7
_FONTS = {"zh": "STSong-Light", "ko": "HYSMyeongJo-Medium"}
_DEJAVU = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")


def has_arabic_font() -> bool:
    """Return whether there is a font to write Arabic in PDF files with."""
    return _DEJAVU.exists()


def printed_lines(paragraph: str, lang: str) -> list[str]:
    """Return a paragraph in lines as a printer would set it: with hyphens, or broken between any two signs."""
    if lang == "zh":
        return re.findall(rf".{{1,{WIDTH // 2}}}[，。]?", paragraph)  # no line begins with such a sign
    lines, line = [], ""
    for word in paragraph.split():
        room = WIDTH - len(line) - 2
        if len(line) + 1 + len(word) <= WIDTH:
            line = f"{line} {word}".strip()
        elif lang in ("en", "de") and word.isalpha() and word.islower() and len(word) > 6 and room > 3:
            at = min(room, len(word) - 3)
            lines.append(f"{line} {word[:at]}-")
            line = word[at:]
        else:
            lines.append(line)
            line = word
    return [*lines, line]


def printed_pages(paragraphs: Sequence[str], lang: str) -> list[list[tuple[str, bool]]]:
    """Return pages of lines, each with whether it begins a paragraph. A page may end in the middle of a sentence."""
    lines = [(line, not number) for paragraph in paragraphs for number, line in enumerate(printed_lines(paragraph, lang))]
    return [lines[at : at + LINES_A_PAGE] for at in range(0, len(lines), LINES_A_PAGE)]


def write_pdf(path: Path, paragraphs: Sequence[str], lang: str) -> None:
    """Write a PDF file with a running title and page numbers."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.pdfgen.canvas import Canvas

    font = _FONTS.get(lang, "Helvetica")
    if lang in _FONTS:
        pdfmetrics.registerFont(UnicodeCIDFont(font))
    if lang == "ar":
        font = "DejaVu"
        pdfmetrics.registerFont(TTFont(font, str(_DEJAVU)))
    canvas = Canvas(str(path))
    canvas.setTitle(f"Title in {lang}")
    for number, page in enumerate(printed_pages(paragraphs, lang), 1):
        canvas.setFont(font, 12)
        canvas.drawString(72, 800, "~ 1848 ~")
        y = 760.0
        for line, is_apart in page:
            y -= 26 if is_apart else 15
            canvas.drawString(72, y, line[::-1] if lang == "ar" else line)  # as printed: from the right
        canvas.drawString(300, 40, str(number))
        canvas.showPage()
    canvas.save()


def write_docx(path: Path, paragraphs: Sequence[str], lang: str) -> None:
    """Write a Word file."""
    from docx import Document

    document = Document()
    document.core_properties.title = f"Title in {lang}"
    for paragraph in paragraphs:
        runs = document.add_paragraph()
        half = len(paragraph) // 2
        runs.add_run(paragraph[:half]).bold = True  # a word may be in two runs
        runs.add_run(paragraph[half:])
    document.save(str(path))


def write_odt(path: Path, paragraphs: Sequence[str], lang: str) -> None:
    """Write an OpenDocument text."""
    from odf.opendocument import OpenDocumentText
    from odf.text import P

    document = OpenDocumentText()
    for paragraph in paragraphs:
        document.text.addElement(P(text=paragraph))
    document.save(str(path))


def write_rtf(path: Path, paragraphs: Sequence[str], lang: str) -> None:
    """Write an RTF file, as word processors do: everything beyond ASCII as the number of its UTF-16 unit."""
    units = ["".join(_rtf_sign(sign) for sign in paragraph) for paragraph in paragraphs]
    path.write_text("{\\rtf1\\ansi\\ansicpg1252\\uc1\n" + "\\par\\par\n".join(units) + "\\par}", encoding="ascii")


def _rtf_sign(sign: str) -> str:
    number = ord(sign)
    return sign if number < 128 else f"\\u{number if number < 32768 else number - 65536}?"


def write_epub(path: Path, paragraphs: Sequence[str], lang: str) -> None:
    """Write an EPUB book; each paragraph is a chapter."""
    from ebooklib import epub

    book = epub.EpubBook()
    book.set_identifier("book")
    book.set_title(f"Title in {lang}")
    chapters = []
    for number, paragraph in enumerate(paragraphs):
        chapter = epub.EpubHtml(title=f"c{number}", file_name=f"c{number}.xhtml", lang=lang)
        chapter.content = f"<p>{escape(paragraph)}</p>"
        book.add_item(chapter)
        chapters.append(chapter)
    book.spine = chapters
    book.add_item(epub.EpubNcx())
    epub.write_epub(str(path), book)


def write_tei(path: Path, paragraphs: Sequence[str], lang: str) -> None:
    """Write a TEI edition with pages and lines."""
    body, is_open = [], False
    for page in printed_pages(paragraphs, lang):
        body.append("<pb/>")
        for line, is_apart in page:
            if is_apart:
                body.append("</p><p>" if is_open else "<p>")
                is_open = True
            no_break = line.endswith("-") or lang == "zh"
            body.append(f"{escape(line)}<lb{' break=' + chr(34) + 'no' + chr(34) if no_break else ''}/>")
    # The break of the last line on a page precedes the page.
    whole = "".join(body).replace("<pb/><p>", "<p><pb/>").replace('break="no"/><pb/>', 'break="no"/><pb break="no"/>')
    header = f"<teiHeader><fileDesc><titleStmt><title>Title in {lang}</title></titleStmt></fileDesc></teiHeader>"
    tei = f'<TEI xmlns="http://www.tei-c.org/ns/1.0">{header}<text><body>{whole}</p></body></text></TEI>'
    path.write_text(tei, encoding="utf-8")


def write_alto(path: Path, paragraphs: Sequence[str], lang: str) -> None:
    """Write pages of OCR as ALTO; each paragraph on a page is a block."""
    pages = []
    for page in printed_pages(paragraphs, lang):
        blocks: list[str] = []
        for line, is_apart in page:
            words = "<SP/>".join(f"<String CONTENT={_quoted(word)}/>" for word in line.removesuffix("-").split())
            row = (
                f"<TextLine>{words}{'<HYP CONTENT=' + chr(34) + '-' + chr(34) + '/>' if line.endswith('-') else ''}</TextLine>"
            )
            if is_apart or not blocks:
                blocks.append(row)
            else:
                blocks[-1] += row
        pages.append("<Page><PrintSpace>" + "".join(f"<TextBlock>{b}</TextBlock>" for b in blocks) + "</PrintSpace></Page>")
    path.write_text(
        f'<?xml version="1.0"?><alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout>{"".join(pages)}</Layout></alto>',
        encoding="utf-8",
    )


def write_page_xml(path: Path, paragraphs: Sequence[str], lang: str) -> None:
    """Write a page of OCR as PAGE, its regions in another order than they are read in; old prints have ¬ for hyphens."""
    regions = []
    for number, paragraph in enumerate(paragraphs):
        shown = [escape(re.sub("-$", "¬", line)) for line in printed_lines(paragraph, lang)]
        lines = [f"<TextLine><TextEquiv><Unicode>{line}</Unicode></TextEquiv></TextLine>" for line in shown]
        regions.append(f'<TextRegion id="r{number}">{"".join(lines)}</TextRegion>')
    order = "".join(f'<RegionRefIndexed index="{n}" regionRef="r{n}"/>' for n in range(len(paragraphs)))
    path.write_text(
        '<?xml version="1.0"?><PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"><Page>'
        f"<ReadingOrder><OrderedGroup>{order}</OrderedGroup></ReadingOrder>{''.join(reversed(regions))}</Page></PcGts>",
        encoding="utf-8",
    )


def _quoted(word: str) -> str:
    return '"' + escape(word, {'"': "&quot;"}) + '"'


def message_of(paragraphs: Sequence[str], lang: str) -> EmailMessage:
    """Return a mail with a plain and an HTML part."""
    message = EmailMessage()
    message["From"] = "Jürgen Groß <jg@example.org>"
    message["Subject"] = f"Title in {lang}: für Köln"
    message["Date"] = "Sat, 13 Sep 2031 04:00:00 +0000"
    message.set_content("\n\n".join(paragraphs))
    message.add_alternative("".join(f"<p>{escape(p)}</p>" for p in paragraphs), subtype="html")
    return message


def write_eml(path: Path, paragraphs: Sequence[str], lang: str) -> None:
    """Write a mail."""
    path.write_bytes(bytes(message_of(paragraphs, lang)))


def write_mbox(path: Path, paragraphs: Sequence[str], lang: str) -> None:
    """Write a mailbox of one mail."""
    box = mailbox.mbox(str(path))
    box.add(message_of(paragraphs, lang))
    box.close()


def write_text(path: Path, paragraphs: Sequence[str], lang: str) -> None:
    """Write plain text."""
    path.write_text("\n\n".join(paragraphs), encoding="utf-8")


Writer = Callable[[Path, Sequence[str], str], None]
WRITERS: dict[str, Writer] = {
    "a.pdf": write_pdf, "b.docx": write_docx, "c.odt": write_odt, "d.rtf": write_rtf, "e.epub": write_epub, "f.tei": write_tei,
    "g.xml": write_alto, "h.xml": write_page_xml, "i.eml": write_eml, "j.mbox": write_mbox, "k.md": write_text,
    "l.rst": write_text, "m.log": write_text, "n.text": write_text,
}  # fmt: skip
PAGED = {"a.pdf", "f.tei", "g.xml", "h.xml"}


def written(writer: Writer, paragraphs: Sequence[str], lang: str, folder: Path, name: str) -> bytes:
    """Return what a writer writes."""
    path = folder / name
    writer(path, paragraphs, lang)
    return path.read_bytes()


def zipped(members: dict[str, bytes]) -> bytes:
    """Return a zip archive."""
    import zipfile

    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return data.getvalue()
