"""Text of RTF files, as a word processor shows it: notes after their paragraph, without headers, hidden and deleted text."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from typing import NamedTuple

from ibidem.formats.extracted_texts import Extracted, UnreadableError
from ibidem.formats.records import Wanted
from ibidem.formats.xml_events import Paragraphs

_TOKEN = re.compile(rb"\\([a-zA-Z]{1,32})(-?[0-9]{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]+|([^\\{}\r\n]+)")
_SIGNS = {
    "tab": "\t", "line": "\n", "emdash": "\u2014", "endash": "\u2013", "emspace": "\u2003", "enspace": "\u2002",
    "qmspace": "\u2005", "bullet": "\u2022", "lquote": "\u2018", "rquote": "\u2019", "ldblquote": "\u201c",
    "rdblquote": "\u201d", "zwj": "\u200d", "zwnj": "\u200c",
}  # fmt: skip
_ESCAPED = {b"~": "\u00a0", b"_": "-", b"{": "{", b"}": "}", b"\\": "\\", b"\t": "\t"}
_NEW_PARAGRAPH = frozenset({"par", "sect", "page", "column"})
_NOTES = frozenset({"footnote", "shptxt", "dptxbxtext"})
# Groups that only old programs would skip, with text in them or around it.
_TRANSPARENT = frozenset({"shpinst", "nesttableprops", "do"}) | _NOTES
_LEFT_OUT = frozenset(
    {"fonttbl", "colortbl", "stylesheet", "info", "pict", "nonshppict", "shprslt", "sp", "listtext", "pntext", "xe", "tc"}
    | {"tcl", "rxe", "txe", "fldinst", "nonesttables", "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn", "filetbl"}
    | {"header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf", "upr", "objdata", "objclass"}
)
_FIELDS = {"title": "title", "author": "author"}
_CHARSETS = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "cp950", 161: "cp1253", 162: "cp1254",
    163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250",
}  # fmt: skip
_CODE_PAGES = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850", "65001": "utf-8", "10000": "mac_roman"}
_TEXT, _NOTHING, _FONTS, _INFO = "text", "nothing", "fonts", "info"
_MOST_STAND_INS = 10  # characters after one that old programs cannot show


class _State(NamedTuple):
    """What a group inherits and cannot change for the group around it."""

    goes_to: str = _NOTHING  # before the first group there is no text
    font: int = -1
    n_stand_ins: int = 1
    is_hidden: bool = False
    is_deleted: bool = False
    in_table: bool = False
    is_note: bool = False


class _Reader:
    """Reads one file."""

    def __init__(self) -> None:
        self._paragraphs = Paragraphs()
        self._state = _State()
        self._around: list[_State] = []
        self._fonts: dict[int, str] = {}
        self._default_font = -1
        self._code_page = "cp1252"
        self._bytes = bytearray()  # in the code page of the font
        self._fields: dict[str, str] = {}
        self._n_skip = 0
        self._may_be_skipped = self._has_rows = False

    def read(self, data: bytes) -> Extracted:
        """Return the text of a file; UnreadableError if it ends too early."""
        place = 0
        while place < len(data):
            found = _TOKEN.match(data, place)
            if found is None:  # a backslash at the very end
                break
            place = found.end()
            word, number, code, sign, brace, run = found.groups()
            if brace == b"{":
                self._begin()
            elif brace is not None:
                self._end()
                if not self._around:
                    return self._extracted()
            elif word == b"bin":
                place += max(int(number or 0), 0)
            elif word is not None:
                self._word(word.decode("ascii"), None if number is None else int(number))
            elif code is not None:
                self._add_bytes(bytes.fromhex(code.decode("ascii")))
            elif sign == b"*":
                self._may_be_skipped = True
            elif sign is not None:
                self._sign(sign)
            elif run is not None:
                self._add_bytes(run)
        raise UnreadableError("damaged RTF: it ends inside of a group")

    def _begin(self) -> None:
        self._flush()
        self._n_skip = 0
        self._around.append(self._state)
        self._state = self._state._replace(is_note=False, goes_to=self._state.goes_to if len(self._around) > 1 else _TEXT)

    def _end(self) -> None:
        self._flush()
        self._n_skip = 0
        self._may_be_skipped = False
        if self._state.is_note:
            self._paragraphs.end_note()
        if self._around:
            self._state = self._around.pop()

    def _word(self, word: str, number: int | None) -> None:
        if self._n_skip:
            self._n_skip -= 1
            return
        if word == "u" and number is not None:
            self._add(chr(number % 65536) if -32768 <= number < 65536 else "\ufffd")
            self._n_skip = self._state.n_stand_ins
            return
        self._flush()
        may_be_skipped, self._may_be_skipped = self._may_be_skipped, False
        state = self._state
        if word == "fonttbl":
            self._state = state._replace(goes_to=_FONTS)
        elif word == "info" and state.goes_to == _TEXT:
            self._state = state._replace(goes_to=_INFO)
        elif word in _LEFT_OUT or (may_be_skipped and word not in _TRANSPARENT):
            self._state = state._replace(goes_to=_NOTHING)
        elif state.goes_to == _INFO:
            self._state = state._replace(goes_to=_FIELDS.get(word, _NOTHING))
        elif state.goes_to == _FONTS:
            self._font_word(word, number)
        elif state.goes_to == _TEXT and not self._shows(word):
            self._setting(word, number)

    def _font_word(self, word: str, number: int | None) -> None:
        if word == "f" and number is not None:
            self._state = self._state._replace(font=number)
        elif word in ("fcharset", "cpg") and number is not None:
            known = _CHARSETS.get(number) if word == "fcharset" else _code_page(str(number))
            if known is not None:
                self._fonts[self._state.font] = known

    def _shows(self, word: str) -> bool:
        """Take a word that is text, or ends some; return whether it is one."""
        paragraphs = self._paragraphs
        if word in _SIGNS:
            self._add(_SIGNS[word])
        elif word in _NOTES:
            paragraphs.begin_note()
            self._state = self._state._replace(is_note=True, in_table=False)
        elif word in _NEW_PARAGRAPH and self._state.in_table:
            self._add(" ")
        elif word in _NEW_PARAGRAPH:
            paragraphs.end_paragraph()
            self._has_rows = False
        elif word in ("cell", "nestcell"):
            paragraphs.add("\t")
        elif word in ("row", "nestrow"):
            paragraphs.add("\n")
            self._has_rows = True
        else:
            return False
        return True

    def _setting(self, word: str, number: int | None) -> None:
        state = self._state
        if word == "f" and number is not None:
            state = state._replace(font=number)
        elif word == "plain":
            state = state._replace(font=self._default_font, is_hidden=False, is_deleted=False)
        elif word == "v":
            state = state._replace(is_hidden=number != 0)
        elif word == "deleted":
            state = state._replace(is_deleted=number != 0)
        elif word == "pard":
            state = state._replace(in_table=False)
        elif word == "intbl":
            state = state._replace(in_table=True)
        elif word == "uc" and number is not None:
            state = state._replace(n_stand_ins=min(max(number, 0), _MOST_STAND_INS))
        elif word == "deff" and number is not None:
            self._default_font = number
            state = state._replace(font=number)
        elif word == "ansicpg" or word in _CODE_PAGES:
            self._code_page = _code_page(word if word in _CODE_PAGES else str(number)) or self._code_page
        self._state = state

    def _sign(self, sign: bytes) -> None:
        if self._n_skip:
            self._n_skip -= 1
        elif sign in (b"\r", b"\n"):
            self._word("par", None)
        elif sign in _ESCAPED:
            self._add(_ESCAPED[sign])

    def _add_bytes(self, run: bytes) -> None:
        skip = min(self._n_skip, len(run))
        self._n_skip -= skip
        self._may_be_skipped = False
        self._bytes += run[skip:]

    def _flush(self) -> None:
        """Add what has come in bytes."""
        if self._bytes:
            text = self._bytes.decode(self._fonts.get(self._state.font, self._code_page), "replace")
            self._bytes.clear()
            self._take(text)

    def _add(self, text: str) -> None:
        self._flush()
        self._take(text)

    def _take(self, text: str) -> None:
        state = self._state
        if state.goes_to in _FIELDS:
            self._fields[state.goes_to] = self._fields.get(state.goes_to, "") + text
        elif state.goes_to == _TEXT and not state.is_hidden and not state.is_deleted:
            if self._has_rows and not state.in_table and not state.is_note and text.strip():
                self._paragraphs.end_paragraph()  # a table is a paragraph of its own
                self._has_rows = False
            self._paragraphs.add(text)

    def _extracted(self) -> Extracted:
        text = "\n\n".join(_whole_characters(each) for each in self._paragraphs)
        fields: Mapping[str, str] = {_FIELDS[name]: _whole_characters(value).strip() for name, value in self._fields.items()}
        return Extracted(text, {name: value for name, value in fields.items() if value})


def rtf_text(data: bytes, wanted: Wanted) -> Extracted:
    """Return the text of an RTF file."""
    if not data.lstrip().startswith(b"{\\rtf"):
        raise UnreadableError("not an RTF file")
    return _Reader().read(data.lstrip())


def _code_page(number: str) -> str | None:
    name = _CODE_PAGES.get(number, f"cp{number}")
    try:
        codecs.lookup(name)
    except LookupError:
        return None
    return name


def _whole_characters(text: str) -> str:
    """Return text whose characters beyond U+FFFF came in two halves, and without NUL."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\0", "")
