"""Text out of HTML: arbitrary bytes as a page, in any encoding that is said of it."""

from __future__ import annotations

import time

from fuzz.targets import Target
from ibidem.formats.html_text import decode_html, extract_text

CHARSETS = (
    None, "utf-8", "latin-1", "utf-16", "shift_jis", "gb18030", "big5", "x-user-defined", "no such", "\x00", "utf-7",
    "iso-2022-jp",
)  # fmt: skip
PIECES = (
    b"<p>", b"</p>", b"<div>", b"</div>", b"<b>", b"<a href='javascript:x'>", b"<table>", b"<tr>", b"<td>", b"<th ",
    b"</table>", b"<script>", b"</script>", b"<style>",
    b"<textarea>", b"<title>", b"<template>", b"<svg>", b"<math>", b"<noscript>", b"<iframe>", b"<plaintext>", b"<xmp>",
    b"<select>", b"<option>", b"<frameset>", b"<form>",
    b"<ul><li>", b"<ol><li>", b"<pre>\n", b"<br>", b"<hr/>", b"<img alt='x'>", b"<input value=x>", b"<main>", b"<article>",
    b"<nav>", b"<footer>", b"<h1>", b"<!--", b"-->",
    b"<![CDATA[", b"]]>", b"<!DOCTYPE html>", b"<html>", b"<body ", b"</body>", b"</html>", b"<meta charset=",
    b"<meta http-equiv=content-type content='text/html; charset=",
    b"utf-16", b"shift_jis", b"&amp;", b"&#0;", b"&#xD800;", b"&#1114112;", b"&nbsp;", b"&notin", b"\x00", b"\xff", b"\xc3",
    b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xfe\xff",
    b" hidden ", b" style='display:none'", b" class='nav menu'", b" id=", b"=\"", b"'", b">", b"<", b"/>", b"<a", b"</",
    b"<?", b"<!", b"\r\n", b"\x1b$B", b"\x0c",
)  # fmt: skip
_MOST_SECONDS, _MOST_SECONDS_A_BYTE = 0.5, 20e-6
_LONG_BYTES = 30_000
_REPEATED = 0xF0


def seeds() -> list[bytes]:
    """Return pages as people make them, and some that nobody makes."""
    pages = [
        b"<!DOCTYPE html><html><head><meta charset=utf-8><title>T</title><style>p{}</style></head>"
        b"<body><nav><a href=x>Home</a></nav>"
        b"<main><h1>Ferry</h1><p>One &amp; two<br>three <b>bold <i>both</b> italic</i><table><tr><td>a<td>b"
        b"</table><ul><li>x<li>y</ul>"
        b"<pre> a\n  b</pre><p hidden>no</p></main><footer>Imprint</footer><script>if (a < b) {}</script></body></html>",
        b"<div>" * 50 + b"deep" + b"</div>" * 50,
        b"<b><p>" * 30 + b"x",
        b"<table><table><tr><td><table><td>" * 5,
        b"no tags at all",
    ]
    found = [bytes([number, how]) + page for number in range(len(CHARSETS)) for how, page in enumerate(pages)]
    return [*found, *(b"\x01" + bytes([_REPEATED]) + piece + b"x" for piece in PIECES), b""]


def check(data: bytes) -> str:
    """Take the text out of what follows the first two bytes, which say the encoding and whether a piece is repeated."""
    charset, how, content = CHARSETS[data[0] % len(CHARSETS)] if data else None, data[1] if len(data) > 1 else 0, data[2:]
    if how >= _REPEATED and content:
        # Something long, made of one piece again and again: time must not grow faster than length.
        content *= 1 + _LONG_BYTES // len(content)
    started_seconds = time.thread_time()
    page = decode_html(content, charset)
    texts = [extract_text(page, main_content) for main_content in (False, True)]
    seconds = time.thread_time() - started_seconds
    for text in (page, *texts):
        text.encode("utf-8")  # what has lone surrogates in it would be refused later
    if seconds > _MOST_SECONDS + _MOST_SECONDS_A_BYTE * len(content):
        raise AssertionError(f"{len(content)} bytes took {seconds:.1f} s")
    if texts[0] != extract_text(page, False):
        raise AssertionError("not the same text a second time")
    lengths = [len(text).bit_length() for text in texts]
    return f"{charset} {lengths} {texts[0].count(chr(10)).bit_length()} {how >= _REPEATED}"


TARGET = Target(check, seeds, PIECES, max_bytes=4096)
