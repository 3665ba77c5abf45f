"""`ibidem papers`: the papers that `--as` runs as printed, with their parameters and ours."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import click

from ibidem.cli.commands import Verb, argument
from ibidem.cli.options import ChoiceType
from ibidem.config import setting_fields
from ibidem.config.papers import PRESETS, Paper, Printed
from ibidem.config.settings import LARGEST
from ibidem.config.surface import flag

_WIDTH = 100


@click.command(
    cls=Verb,
    examples=(
        "ibidem papers",
        "ibidem papers pdc-mr",
    ),
)
@argument("name", metavar="[NAME]", required=False, type=ChoiceType(list(PRESETS)), about=f"One of {', '.join(PRESETS)}.")
def papers(name: str | None) -> None:
    """List the papers that --as runs as printed.

    For each: which verb runs it, every parameter it prints, and where our own
    default differs and why.
    """
    pages = ["\n".join(page(each, PRESETS[each])) for each in ([name] if name else PRESETS)]
    click.echo("\n\n".join(pages))


def page(name: str, paper: Paper) -> Iterator[str]:
    """Yield the lines that describe a paper."""
    yield from textwrap.wrap(f"{name}: {paper.citation}", _WIDTH, subsequent_indent="  ")
    yield f"  run by: {', '.join(f'ibidem {verb}' for verb in paper.verbs)}"
    yield from (f"    {example}" for example in paper.example)
    yield "  it sets:"
    shown = [printed for printed in paper.settings if printed.setting != "paper"]
    width = max(len(_set_to(printed)) for printed in shown)
    for printed in shown:
        yield f"    {_set_to(printed).ljust(width)}  {printed.where}"
        if printed.why_not:
            ours = f"ours: {value_shown(_defaults()[printed.setting])} ({printed.why_not})"
            yield from textwrap.wrap(ours, _WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 10)
    yield "  and these rules:"
    for rule in paper.rules:
        yield from textwrap.wrap(rule, _WIDTH, initial_indent="    - ", subsequent_indent="      ")


def value_shown(value: Any) -> str:
    """Return the value of a setting in words."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if value == LARGEST:
        return "no limit"
    return f"{float(value):g}" if isinstance(value, (float, Fraction)) else str(value)


def _set_to(printed: Printed) -> str:
    return f"{flag(printed.setting)}: {value_shown(printed.value)}"


def _defaults() -> dict[str, Any]:
    return {setting.name: setting.default for _, setting in setting_fields()}
