"""Text of RTF files, by striprtf."""

from __future__ import annotations

from collections.abc import Callable

from ibidem.formats.extracted_texts import Extracted, UnreadableError, missing_library
from ibidem.formats.records import Wanted


def rtf_text(data: bytes, wanted: Wanted) -> Extracted:
    """Return the text of an RTF file."""
    try:
        from striprtf.striprtf import rtf_to_text
    except ImportError:
        raise missing_library("RTF files", "striprtf") from None
    extract: Callable[..., str] = rtf_to_text
    if not data.lstrip().startswith(b"{\\rtf"):
        raise UnreadableError("not an RTF file")
    try:
        # RTF is ASCII; what is beyond is in the code page of the file, usually that of Windows.
        text = extract(data.decode("cp1252", "replace"), errors="replace")
    except (ArithmeticError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableError(f"damaged RTF: {error}") from None
    return Extracted(text.replace("\n\n\n", "\n\n").strip())
