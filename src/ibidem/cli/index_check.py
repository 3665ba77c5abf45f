"""`ibidem index verify` and `info`: whether an index is sound, and what it is made of."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from ibidem.cli.commands import Verb, option
from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import ChoiceType, given_settings, index_argument, run_options, setting_options
from ibidem.config import Config
from ibidem.config.quantities import size_of
from ibidem.config.settings import OUTPUT
from ibidem.errors import IndexDamagedError


@click.command(
    cls=Verb,
    short_help="Check that an index is undamaged.",
    examples=(
        "ibidem index verify news.idx",
        "ibidem index verify news.idx --quiet",
    ),
)
@index_argument
@run_options
def verify(folder: Path, progress: str, quiet: bool) -> None:
    """Read everything in an index, and say whether it is undamaged.

    Exit code 4: it is damaged.
    """
    with loading_libraries():
        from ibidem.cli.display import open_display
        from ibidem.cli.index_access import open_index
        from ibidem.cli.screen import say
        from ibidem.results.summary import many

    begin = time.perf_counter()
    with open_display(progress, quiet) as display, open_index(folder, {}, progress=display) as index:
        problems = index.verify()
        about = {} if problems else index.info()
    if problems:
        say(problems)
        step = "Restore the index from a backup, or build it again."
        raise IndexDamagedError(f"{folder} is damaged: {many(len(problems), 'problem')}", step)
    if not quiet:
        contents = f"{many(about['documents'], 'document')}, {many(about['segments'], 'segment')}, {size_of(about['bytes'])}"
        say([f"no damage: {contents}, {time.perf_counter() - begin:.1f} s"], err=False)


@click.command(
    cls=Verb,
    short_help="Show counts, sizes and settings.",
    examples=(
        "ibidem index info news.idx",
        "ibidem index info news.idx --words-flexible 3 --format json",
    ),
)
@index_argument
@option(
    "--format", "form", metavar="NAME", type=ChoiceType(["text", "json"]), default="text", shown_default="text", group=OUTPUT,
    help="Format of the output: text or json.",
)  # fmt: skip
@setting_options(also=("signature_bits", "bits_per_word", "radius", "max_false_positive", "words_flexible"))
def info(folder: Path, form: str, config_file: str | None, **flags: Any) -> None:
    """Show the counts, sizes and settings of an index.

    \f
    The options change nothing in the index. They show what the bits search (--search-engine bits) would find with other
    settings.
    """
    settings = given_settings(config_file, flags)
    with loading_libraries():
        from ibidem.cli.index_access import open_index
        from ibidem.cli.screen import say
        from ibidem.index.inspection import predict

    with open_index(folder, {}) as index:
        about = index.info()
        about["bits"] = predict(
            Config.of(index.config, **settings), about["bits"]["words_per_sentence"], about["bits"]["vocabulary"]
        )
    if form == "json":
        click.echo(json.dumps(about, indent=2, ensure_ascii=False))
    else:
        say(_lines(about), err=False)


def _lines(about: dict[str, Any]) -> Iterator[str]:
    counts, bits = about["word_counts"], about["bits"]
    removed = f" (not counting {about['removed_documents']:,} removed)" if about["removed_documents"] else ""
    yield _row("documents", f"{about['documents']:,}{removed}")
    yield _row("sentences", f"{about['sentences']:,}, {about['types']:,} types")
    texts = f", {size_of(about['text_bytes'])} of the total for texts" if about["text_bytes"] else ""
    yield _row("size", f"{size_of(about['bytes'])}, {about['bytes_per_sentence']} bytes per sentence{texts}")
    yield _row("segments", f"{about['segments']:,}")
    yield _row("commits", f"{about['generation']:,}")
    yield _row("engine", about["engine"])
    yield _row("word counts", f"version {counts['version']}: {counts['words']:,} words in {counts['documents']:,} documents")
    yield "fixed when the index was created"
    for name, value in about["settings"].items():
        yield _row(f"  {name}", str(value))
    yield f"bits search, sentences of {bits['words_per_sentence']} words of which up to {bits['words_flexible']} may differ"
    per_word = "none" if bits["bits_per_word"] is None else bits["bits_per_word"]
    yield _row("  signature", f"{bits['signature_bits']} bits, {per_word} per word")
    if bits["radius"] is None:
        yield _row("  radius", bits["reason"])
        return
    longest = bits["longest_sentence"]
    until = "" if longest is None else f"; none for sentences of more than {longest:,} words, where it is 0"
    radius = f"{bits['radius']} bit{'s' * (bits['radius'] != 1)}"
    yield _row("  radius", f"{radius} (lossless: {bits['lossless_radius']}){until}")
    yield _row("  recall", f"{bits['predicted_recall']:.1%} predicted")
    yield _row("  false positives", f"{bits['predicted_false_positive']:.2%} predicted")


def _row(name: str, value: str) -> str:
    return f"{name:<22}{value}"
