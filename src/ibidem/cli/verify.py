"""`ibidem verify`: quotations looked up in an index, word for word."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ibidem.cli.commands import Verb, argument, option
from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import ChoiceType, index_argument, quiet_option, resolve_settings, setting_options
from ibidem.config.settings import CRITERIA, INPUT, OUTPUT

if TYPE_CHECKING:
    from ibidem.index.claims import Claim
    from ibidem.index.quotations import VerifiedQuotation

FAILED = 1
_SHOWN_CHARS = 300
_RECORDS = (".jsonl", ".ndjson", ".json")


@click.command(
    cls=Verb,
    examples=(
        'ibidem verify news.idx "the lowest level that has been measured"',
        "ibidem verify news.idx article.md --format jsonl",
    ),
)
@index_argument
@argument("claims", metavar="CLAIMS", about="A quotation, or a file of them; - is standard input.")
@option("--source", metavar="ID", group=CRITERIA, help="Document that the quotation is attributed to (one quotation).")
@option(
    "--type", "kind", metavar="NAME", type=ChoiceType(["auto", "file", "quotation"]), default="auto", shown_default="auto",
    group=INPUT, help="What CLAIMS is. auto: a file if there is one with that name, otherwise a quotation.",
)  # fmt: skip
@option(
    "--format", "form", metavar="NAME", type=ChoiceType(["text", "jsonl"]), default="text", shown_default="text", group=OUTPUT,
    help="Format of the answers: text or jsonl.",
)  # fmt: skip
@setting_options(also=("ignore",))
@quiet_option
def verify(
    folder: Path, claims: str, source: str | None, kind: str, form: str, config_file: str | None, quiet: bool, **flags: Any
) -> None:
    """Say whether quotations are in an index, word for word.

    CLAIMS is a quotation, or a file: JSON lines with the fields quotation and source,
    or a text (Markdown, Word, PDF and the like), whose quotations are in quotation marks
    or quoted blocks.

    Each is verbatim, altered, elsewhere (not in the source it is attributed to) or absent. The exit code is 1 if
    any of them is not verbatim. Quotations in a file that consist of ignored text (--ignore) are counted, not checked.
    """
    config = resolve_settings(config_file, flags)
    with loading_libraries():
        from ibidem.cli.index_access import open_index
        from ibidem.cli.screen import say
        from ibidem.errors import InputError

    is_file = kind == "file" or (kind == "auto" and (claims == "-" or os.path.exists(claims)))
    if kind == "auto" and not is_file and _looks_like_file(claims):
        raise InputError(f"there is no file {claims}", f"Check the spelling; the current folder is {Path.cwd()}.")
    if is_file and source is not None:
        raise click.UsageError("--source is for one quotation; in a file, each claim names its own source")
    with open_index(folder, {}) as index:
        asked = _read(claims, index.__contains__) if is_file else [_single(claims, source)]
        ignored = config.sentences.ignore if is_file else None  # a single quotation is always checked
        answers = index.verify([(claim.quotation, claim.source) for claim in asked], ignore=ignored)
        unknown = {claim.source for claim in asked if claim.source is not None and claim.source not in index}
    shown = "standard input" if claims == "-" else claims
    for claim, answer in zip(asked, answers, strict=True):
        if answer.status == "ignored":
            continue
        if form == "jsonl":
            click.echo(json.dumps(_record(claim, answer), ensure_ascii=False))
        else:
            say(_lines(claim, answer, shown if is_file else None, claim.source in unknown), err=False)
    if not quiet and is_file:
        counts = {status: sum(answer.status == status for answer in answers) for status in _STATUSES}
        listed = ", ".join(f"{count:,} {status}" for status, count in counts.items() if count)
        n_all = len(answers)
        say([f"{n_all:,} quotation{'s' * (n_all != 1)}: {listed}" if n_all else "no quotation has three words"])
    if any(answer.status not in ("verbatim", "ignored") for answer in answers):
        sys.exit(FAILED)


_STATUSES = ("verbatim", "altered", "elsewhere", "absent", "ignored")


def _looks_like_file(claims: str) -> bool:
    """Say whether a text without spaces ends like the name of a file: `article.md`."""
    return not any(map(str.isspace, claims)) and (claims.lower().endswith(_RECORDS) or _is_document(claims))


def _is_document(name: str) -> bool:
    """Say whether a name is that of a file with one text."""
    from ibidem.formats.registry import FORMATS, format_of

    kind = format_of(name)
    return kind is not None and FORMATS[kind].is_document


def _single(quotation: str, source: str | None) -> Claim:
    from ibidem.index.claims import Claim

    return Claim(quotation, 0, source)


def _read(name: str, is_known: Any) -> Sequence[Claim]:
    """Return the claims of a file, or of standard input."""
    from ibidem.errors import InputError
    from ibidem.formats.registry import TEXT, format_of
    from ibidem.index.claims import claims_of

    if name != "-" and format_of(name) != TEXT and _is_document(name):
        # A line of a text that was taken out of a file means nothing to its reader.
        return [replace(claim, line=0) for claim in claims_of(_extracted(name), name, is_known)]
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror}", "Check the name of the file.") from None
    except UnicodeDecodeError:
        raise InputError(f"{name} is not UTF-8 text", "Convert it, for example with iconv.") from None
    return claims_of(text, name, is_known)


def _extracted(name: str) -> str:
    """Return the text of a file that is more than text."""
    from ibidem.errors import InputError
    from ibidem.formats.reader import read
    from ibidem.model import Skipped

    skipped: list[Skipped] = []
    documents = list(read(name, on_skip=skipped.append))
    if not documents:
        reason = skipped[0].reason if skipped else "there is no text in it"
        raise InputError(f"{name} cannot be checked: {reason}", "Save it as text or Markdown, or in another format.")
    return documents[0].text


def _record(claim: Claim, answer: VerifiedQuotation) -> dict[str, Any]:
    """Return what a line of JSON says about a quotation."""
    text = answer.text or ""
    differences = [
        {**each._asdict(), "a": answer.quotation[each.a_start : each.a_end], "b": text[each.b_start : each.b_end]}
        for each in answer.differences
        if each.operation != "equal"
    ]
    return {
        "quotation": answer.quotation, "line": claim.line or None, "page": claim.page, "source": answer.source,
        "status": answer.status, "kinds": answer.kinds, "similarity": answer.similarity, "id": answer.id,
        "start": answer.start, "end": answer.end, "text": answer.text, "before": answer.before, "after": answer.after,
        "differences": differences, "is_exhaustive": answer.is_exhaustive,
    }  # fmt: skip


def _lines(claim: Claim, answer: VerifiedQuotation, name: str | None, is_unknown: bool) -> Iterator[str]:
    """Yield what the terminal shows of a quotation: the answer, then the quotation, the source and what differs."""
    line = f":{claim.line}" if claim.line else ""
    page = "" if claim.page is None else f", page {claim.page}"
    where = "" if name is None else f"{name}{line}{page}: "
    kinds = f" ({', '.join(answer.kinds)})" if answer.kinds else ""
    place = "" if answer.id is None else f" in {answer.id} [{answer.start}:{answer.end}]"
    attributed = f", attributed to {answer.source}" if answer.source is not None and answer.id != answer.source else ""
    attributed += ", which is not in the index" if is_unknown else ""
    rest = (
        ""
        if answer.is_exhaustive or answer.status == "verbatim"
        else "; its words are so common that not all places were checked"
    )
    yield f"{where}{answer.status}{kinds}{place}{attributed}{rest}"
    yield f"  quotation  {_shown(answer.quotation)}"
    if answer.text is not None:
        yield f"  source     {_shown(answer.before[-40:], at_end=True)}«{_shown(answer.text)}»{_shown(answer.after[:40])}"
    for each in answer.differences:
        if each.operation != "equal":
            a, b = answer.quotation[each.a_start : each.a_end], (answer.text or "")[each.b_start : each.b_end]
            yield f"  {each.kind or '':<10} {_shown(a) or '–'} → {_shown(b) or '–'}"


def _shown(text: str, at_end: bool = False) -> str:
    from ibidem.viewer.side_by_side import harmless

    line = " ".join(harmless(text).split())
    if at_end and text[-1:].isspace() and line:
        line += " "
    elif not at_end and text[:1].isspace() and line and len(text) <= 40:
        line = f" {line}"
    return line if len(line) <= _SHOWN_CHARS else f"{line[: _SHOWN_CHARS // 2]} […] {line[-_SHOWN_CHARS // 2 :]}"
