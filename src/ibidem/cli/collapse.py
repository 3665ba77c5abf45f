"""`ibidem collapse`: search results, near-duplicates of a higher hit folded under it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, cast

import click

from ibidem.cli.commands import Verb, argument, files, option
from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import quiet_option, resolve_settings, setting_options
from ibidem.config import Config
from ibidem.config.settings import INPUT
from ibidem.errors import SkippedRecordsError


@click.command(
    cls=Verb,
    examples=(
        "ibidem collapse results.jsonl --query-field query > collapsed.jsonl",
        "ibidem collapse --mark-only --shingle-size 3 < results.jsonl",
    ),
)
@argument(
    "path", metavar="[FILE]", default="-", about="Ranked hits as JSON lines, the best first; - is standard input.",
    shell_complete=files,
)  # fmt: skip
@option("--query-field", metavar="NAME", group=INPUT, help="Field with the query. Each run of lines with one value is a list.")
@setting_options(
    also=(
        "text_field", "id_field", "min_similarity", "min_containment", "shingle_size", "shingle_unit", "hash_seed",
        "mark_only", "strict",
    )
)  # fmt: skip
@quiet_option
def collapse(path: str, query_field: str | None, config_file: str | None, quiet: bool, **flags: Any) -> None:
    """Fold search results that are nearly the same as a higher one under it.

    Each line of input is a hit as JSON, the best first. The hits that are kept
    come out in this order, with the ids of those folded under them (collapsed).
    \f

    Two hits are nearly the same if they share most of their shingles, as in `ibidem cluster`. All fields stay as they are. With
    --query-field, one file may have the lists of many queries, one after the other; each is written when it ends. With
    --mark-only, every hit is written at once, with the id of the hit it would be folded under (collapsed_into), or null. Hits
    without text are kept.
    """
    config = resolve_settings(config_file, flags)
    with loading_libraries():
        from ibidem.api import collapse as collapse_hits
        from ibidem.formats.json_fields import add_fields
        from ibidem.formats.jsonl_files import ranked_records

    fields, mark = config.documents, "collapsed_into" if config.cleaning.mark_only else "collapsed"
    n_hits = n_lists = n_folded = n_skipped = 0

    def hits() -> Iterator[dict[str, Any]]:
        nonlocal n_hits, n_lists, n_skipped
        query: Any = None
        for number, line, record in ranked_records(path):
            if isinstance(record, str):
                if config.output.strict:
                    raise SkippedRecordsError(f"line {number}: {record}", "Fix the line, or run without --strict to skip it.")
                n_skipped += 1
                if not quiet:
                    click.echo(f"ibidem: line {number}: {record}", err=True)
                continue
            before, query = query, None if query_field is None else record.get(query_field)
            n_hits, n_lists = n_hits + 1, n_lists + (n_hits == 0 or query != before)
            hit_id = record.get(fields.id_field)
            yield {
                "query": query, "id": f"{path}:{number}" if hit_id is None else hit_id, "text": record.get(fields.text_field),
                "line": line, "record": record if mark in record else None,
            }  # fmt: skip

    found = Config.of(config, text_field="text", id_field="id")
    for hit in collapse_hits(hits(), query_field="query", config=found):
        n_folded += hit[mark] is not None if config.cleaning.mark_only else len(cast("list[Any]", hit[mark]))
        click.echo(_line_with(hit, mark, add_fields))  # it flushes: a reader sees the hit at once
    if not quiet:
        # Summaries of runs have words for this, and take as long to load as all else together.
        lists = f", lists: {n_lists:,}" if query_field is not None else ""
        skipped = f", lines skipped: {n_skipped:,}" if n_skipped else ""
        click.echo(f"hits: {n_hits:,}, collapsed: {n_folded:,}{lists}{skipped}", err=True)


def _line_with(hit: dict[str, Any], mark: str, add_fields: Callable[[str, str], str]) -> str | bytes:
    """Return the line of a hit with its mark; all else stays as it is, byte by byte, unless the mark was there before."""
    if hit["record"] is not None:
        return json.dumps({**hit["record"], mark: hit[mark]})
    line = hit["line"].decode("utf-8", "surrogateescape")
    try:
        written = add_fields(line, f'"{mark}": {json.dumps(hit[mark], ensure_ascii=False)}')
        encoded: bytes = written.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a character in an id
        encoded = add_fields(line, f'"{mark}": {json.dumps(hit[mark])}').encode("utf-8", "surrogateescape")
    try:
        return encoded.decode("utf-8")
    except UnicodeDecodeError:
        return encoded
