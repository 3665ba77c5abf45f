"""Text of mail: the message that a reader sees, quotations included, and its headers as fields. Attachments are not read."""

from __future__ import annotations

import re
from email import message_from_bytes
from email.header import decode_header
from email.message import Message
from typing import Any

from ibidem.formats.extracted_texts import Extracted, UnreadableError
from ibidem.formats.html_text import decode_html, extract_text
from ibidem.formats.records import Wanted

_ADDRESSES = ("from", "to", "cc")
_OTHERS = ("message-id", "in-reply-to", "references", "list-id", "newsgroups", "organization")
_MOST_PARTS = 1000
_FOLD = re.compile(r"\r?\n[ \t]+")
_MOST_HEADER_CHARS = 10_000
_HEADER = re.compile(rb"(?:From .*\r?\n)?[!-9;-~]+:")


def mail_text(data: bytes, wanted: Wanted) -> Extracted:
    """Return the text of one message."""
    if not _HEADER.match(data.lstrip(b"\xef\xbb\xbf\r\n")):
        raise UnreadableError("not a mail: it does not begin with headers")
    return message_text(data, wanted)


def message_text(data: bytes, wanted: Wanted) -> Extracted:
    """Return the text and the headers of one message: subject as `title`, date as `time`."""
    try:
        message = message_from_bytes(data.lstrip(b"\xef\xbb\xbf\r\n"))
        parts = [text for text in _texts(message, wanted) if text.strip()]
    except RecursionError:
        raise UnreadableError("a mail with too many parts inside one another") from None
    fields = {"title": _header(message, "subject"), "time": _date(message)}
    fields |= {name.replace("-", "_"): _header(message, name) for name in (*_ADDRESSES, "date", *_OTHERS)}
    return Extracted("\n\n".join(parts), {name: value for name, value in fields.items() if value})


def _header(message: Message[str, str], name: str) -> str:
    """Return a header, decoded as far as it can be."""
    value = message.get(name)
    if value is None:
        return ""
    unfolded = _FOLD.sub(" ", str(value)[:_MOST_HEADER_CHARS]).strip()
    try:
        pieces = decode_header(unfolded)
    except Exception:  # whatever is in a header, its mail is read
        return unfolded
    return "".join(piece if isinstance(piece, str) else _decoded(piece, charset) for piece, charset in pieces).strip()


def _date(message: Message[str, str]) -> str:
    """Return the date, without what some programs write behind it."""
    return re.sub(r"\([^()]*\)$", "", _header(message, "date")).strip()


def _texts(message: Message[str, str], wanted: Wanted) -> list[str]:
    """Return the readable parts of a message, in their order; of alternatives, the plain one."""
    texts: list[str] = []
    waiting = [message]
    n_parts = 0
    while waiting:
        part = waiting.pop()
        n_parts += 1
        if n_parts > _MOST_PARTS or part.get_content_disposition() == "attachment":
            continue
        kind = part.get_content_type()
        payload: Any = part.get_payload()
        if isinstance(payload, list):
            children = [child for child in payload if isinstance(child, Message)]
            if kind == "multipart/alternative":
                children = _best(children, wanted)
            waiting += reversed(children)
        elif kind in ("text/plain", "text/html"):
            texts.append(_part_text(part, kind, wanted))
    return texts


def _best(children: list[Message[str, str]], wanted: Wanted) -> list[Message[str, str]]:
    """Return the alternative to read: plain text unless it is empty, or else the last one, which is meant to be the best."""
    plain = [child for child in children if child.get_content_type() == "text/plain"]
    full = [child for child in plain if _part_text(child, "text/plain", wanted).strip()]
    return full[:1] or children[-1:]


def _part_text(part: Message[str, str], kind: str, wanted: Wanted) -> str:
    data = part.get_payload(decode=True)
    content = data if isinstance(data, bytes) else str(part.get_payload()).encode("utf-8", "surrogateescape")
    charset = part.get_content_charset()
    if kind == "text/html":
        return extract_text(decode_html(content, charset), wanted.config.main_content)
    text = _decoded(content, charset).replace("\r\n", "\n")
    if str(part.get_param("format", "")).lower() == "flowed":
        # A line that ends with a space continues in the next one.
        space = "" if str(part.get_param("delsp", "")).lower() == "yes" else " "
        text = re.sub(r"(?<!\n--) \n(?!>|-- \n)", space, text)
    return text


def _decoded(data: bytes, charset: str | None) -> str:
    """Return bytes as text: in their charset, in UTF-8, or as is most likely."""
    for name in (charset, "utf-8"):
        try:
            if name:
                return data.decode(name)
        except (LookupError, ValueError):
            continue
    return decode_html(data)
