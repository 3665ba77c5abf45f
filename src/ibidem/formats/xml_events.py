"""XML as a stream of events, safe for files from anybody: no entity is expanded, nothing is loaded, and depth is limited.

Names are without namespaces. Named characters of HTML (`&eacute;`), which old editions use, are known without a DTD.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from xml.parsers import expat

from ibidem.columns.page_marks import PAGE, REGION
from ibidem.formats.extracted_texts import UnreadableError

_NAMESPACE_END = "}"
_PIECE_BYTES = 1 << 20
# What is no part of a paragraph at its ends. Python counts the marks of pages among spaces.
_SPACES = "".join(sign for sign in map(chr, range(0x3001)) if sign.isspace() and sign not in (PAGE, REGION))
_DEEPEST = 1000  # readers look through the open elements


class XmlReader:
    """What is called while XML is read; `stack` has the names of the open elements. Subclasses use what they need."""

    def __init__(self) -> None:
        self.stack: list[str] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take the beginning of an element; its name is the last one in the stack."""

    def end(self, name: str) -> None:
        """Take the end of an element; its name is still the last one in the stack."""

    def text(self, data: str) -> None:
        """Take some text; what belongs together may come in pieces."""

    def read(self, data: bytes) -> None:
        """Read a whole document; UnreadableError if it is no XML, or defines entities."""
        parser = expat.ParserCreate(namespace_separator=_NAMESPACE_END)
        parser.buffer_text = True
        parser.UseForeignDTD(True)  # entities without a definition are reported then, and no error
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self.text
        parser.EntityDeclHandler = _refuse_entity
        parser.SkippedEntityHandler = self._named_character
        try:
            for begin in range(0, len(data), _PIECE_BYTES):
                parser.Parse(data[begin : begin + _PIECE_BYTES], False)
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            what = expat.errors.messages.get(error.code, "not XML")
            raise UnreadableError(f"broken XML: {what} in line {error.lineno}, character {error.offset + 1}") from None
        except (ValueError, LookupError) as error:  # an encoding that is not known
            if isinstance(error, (IndexError, KeyError)):
                raise
            raise UnreadableError(f"broken XML: {error}") from None

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        local = _local(name)
        if len(self.stack) >= _DEEPEST:
            raise UnreadableError(f"elements are nested more than {_DEEPEST:,} deep")
        self.stack.append(local)
        if any(_NAMESPACE_END in each for each in attributes):
            attributes = {_local(each): value for each, value in attributes.items()}
        self.start(local, attributes)

    def _end(self, name: str) -> None:
        self.end(self.stack[-1])
        self.stack.pop()

    def _named_character(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            known = html.unescape(f"&{name};")
            self.text("" if known.startswith("&") and len(known) > 1 else known)


def _local(name: str) -> str:
    return name.rpartition(_NAMESPACE_END)[2]


def _refuse_entity(name: str, is_parameter: bool, value: str | None, *_: object) -> None:
    # A few nested ones can expand to any size, and others name files of this machine.
    raise UnreadableError(f"it defines an entity of its own ('{name}'), which is not expanded; replace it by its text first")


class Paragraphs:
    """Text in blocks: gathers pieces, ends paragraphs, and keeps notes back until their paragraph has ended."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._open: list[list[str]] = [[]]  # the innermost note is last
        self._notes: list[list[str]] = [[]]

    def add(self, text: str) -> None:
        """Add text to the open paragraph."""
        self._open[-1].append(text)

    @property
    def ending(self) -> str:
        """The last piece of the open paragraph."""
        return self._open[-1][-1] if self._open[-1] else ""

    def trim_end(self, sign: str) -> None:
        """Remove a sign at the end of the open paragraph, with the space behind it."""
        while self._open[-1] and not self._open[-1][-1].strip():
            self._open[-1].pop()
        if self._open[-1]:
            self._open[-1][-1] = self._open[-1][-1].rstrip().removesuffix(sign)

    def end_paragraph(self) -> None:
        """End the open paragraph; the notes in it follow."""
        block = "".join(self._open[-1]).strip(_SPACES)
        notes = self._notes[-1]
        self._open[-1], self._notes[-1] = [], []
        target = self._blocks if len(self._open) == 1 else self._notes[-2]
        target += [each for each in (block, *notes) if each]

    def begin_note(self) -> None:
        """Begin text that is not part of the open paragraph."""
        self._open.append([])
        self._notes.append([])

    def end_note(self) -> None:
        """End the innermost note."""
        if len(self._open) > 1:
            self.end_paragraph()
            self._open.pop()
            notes = self._notes.pop()
            self._notes[-1] += notes

    def __iter__(self) -> Iterator[str]:
        """Yield the paragraphs."""
        self.end_paragraph()
        return iter(self._blocks)


def spaced(text: str) -> str:
    """Return text with its spaces and line ends as single spaces, as XML means them; those at its ends count."""
    words = " ".join(text.split())
    if not words:
        return " " if text else ""
    return " " * text[0].isspace() + words + " " * text[-1].isspace()
