"""Writes the pages of docs/reference that are made from the code: commands, settings, tables, Python, exit codes, formats.

    python docs/make_reference.py

Nothing on these pages can differ from the code; a test fails when one of them is out of date.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import click
import pyarrow as pa

import ibidem
from ibidem import errors
from ibidem.cli.commands import Option, Verb
from ibidem.cli.options import flag
from ibidem.cli.papers import value_shown
from ibidem.cli.verb_group import VerbGroup
from ibidem.cli.verbs import ibidem as program
from ibidem.config import setting_fields, setting_type
from ibidem.config.papers import PRESETS
from ibidem.formats.byte_streams import COMPRESSIONS
from ibidem.formats.registry import FORMATS

sys.path.insert(0, str(Path(__file__).parent))

from reference_texts import COLUMNS, EXIT_CODES, FORMAT_NOTES, HEADS, PYTHON_SECTIONS, TABLES

FOLDER = Path(__file__).parent / "reference"
WIDTH = 110  # of code
_MOST_SETTINGS = 4  # of a method, that are shown in its row


def cell(text: str) -> str:
    """Return text that fits into one cell of a table."""
    return re.sub(r"\s+", " ", text).strip().replace("|", "\\|")


def settings_page() -> str:
    """Return the page of settings, by stage."""
    lines, last_stage = [HEADS["settings"]], ""
    for stage, setting in setting_fields():
        if setting.metadata["is_hidden"]:
            continue
        if stage != last_stage:
            lines.append(f"\n## [{stage}]\n\n| setting | default | meaning |\n|---|---|---|")
            last_stage = stage
        default, kind = setting.default, setting_type(setting)
        switch = {True: "on", False: "off", None: "on for `find`, otherwise off"}
        shown = switch.get(default, default) if kind is bool else default
        shown = float(shown) if isinstance(shown, Fraction) else shown
        choices = f" One of {', '.join(setting.metadata['choices'])}." if setting.metadata["choices"] else ""
        lines.append(f"| `{flag(setting.name)}` | {shown} | {cell(setting.metadata['help'])}{choices} |")
    return "\n".join(lines) + "\n"


def commands_page() -> str:
    """Return the page of commands: each with its usage, its text and the options that are not settings."""
    lines = [HEADS["commands"]]
    for name, command in _commands("ibidem", program):
        context = click.Context(command, info_name=name)
        lines += [f"\n## {name}\n", f"```\n{' '.join([name, *command.collect_usage_pieces(context)])}\n```\n"]
        lines.append(_help_text(command))
        own, shared = _split_options(command)
        if own:
            lines += ["\n| option | meaning |", "|---|---|", *(_option_row(option) for option in own)]
        if shared:
            links = ", ".join(f"`{option.opts[0]}`" for option in shared)
            lines.append(f"\n[Settings](settings.md): {links}.")
    return "\n".join(lines) + "\n"


def _commands(name: str, command: click.Command) -> Iterator[tuple[str, Verb]]:
    if isinstance(command, Verb):
        yield name, command
        return
    assert isinstance(command, VerbGroup)
    context = click.Context(command, info_name=name)
    for below in command.list_commands(context):
        found = command.get_command(context, below)
        if found is not None and not found.hidden:
            yield from _commands(f"{name} {below}", found)


def _help_text(command: Verb) -> str:
    """Return the help of a command as Markdown: what follows the mark for lines as they are is code."""
    blocks = []
    for block in command.description(complete=True).split("\n\n"):
        if block.startswith("\b"):
            blocks.append("```text\n" + block.removeprefix("\b").strip("\n") + "\n```")
        else:
            blocks.append(re.sub(r"\s*\n\s*", " ", block))
    return "\n\n".join([*blocks, "```text\n" + "\n".join(command.examples) + "\n```"])


def _split_options(command: Verb) -> tuple[list[Option], list[Option]]:
    """Return the options that a command has of its own, and those that are settings."""
    texts = {setting.name: setting.metadata["help"] for _, setting in setting_fields()}
    options = [option for option in command.params if isinstance(option, Option) and option.opts != ["--help-all"]]
    options = [option for option in options if not option.hidden]
    shared = [option for option in options if option.name in texts and texts[option.name] in (option.help or "")]
    return [option for option in options if option not in shared], shared


def _option_row(option: Option) -> str:
    return f"| `{cell(option.names())}` | {cell(option.text(complete=True))} |"


def tables_page() -> str:
    """Return the page of tables: every column with its type and what it means."""
    lines = [HEADS["tables"]]
    for table, (schema, text) in TABLES.items():
        lines += [f"\n## {table}\n", f"{text}\n", "| column | type | meaning |", "|---|---|---|"]
        described = COLUMNS[table]
        if list(described) != schema.names:
            raise ValueError(f"{table}: describe exactly the columns {schema.names} in docs/reference_texts.py")
        lines += [f"| `{name}` | {_type_name(schema.field(name))} | {described[name]} |" for name in schema.names]
    return "\n".join(lines) + "\n"


def _type_name(column: pa.Field) -> str:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        fields = ", ".join(f"{name}: {_type_name(kind.value_type.field(name))}" for name in kind.value_type.names)
        name = f"list of {{{fields}}}"
    elif pa.types.is_integer(kind):
        name = "integer"
    elif pa.types.is_floating(kind):
        name = "number"
    elif pa.types.is_boolean(kind):
        name = "true or false"
    else:
        name = "string"
    return name


def python_page() -> str:
    """Return the page of the Python API: what the package exports, with signatures and docstrings."""
    lines = [HEADS["python"]]
    listed = [name for names in PYTHON_SECTIONS.values() for name in names]
    if sorted(listed) != sorted(name for name in ibidem.__all__ if name != "__version__"):
        raise ValueError("list every exported name once in PYTHON_SECTIONS of docs/reference_texts.py")
    for section, names in PYTHON_SECTIONS.items():
        lines.append(f"\n## {section}")
        for name in names:
            lines += [f"\n### {name}\n", *_described(getattr(ibidem, name), name)]
    return "\n".join(lines) + "\n"


def _described(thing: Any, name: str) -> list[str]:
    if not inspect.isclass(thing):
        return [f"```python\n{_call(name, thing)}\n```\n", _docstring(thing)]
    lines = [_docstring(thing)]
    if hasattr(thing.__init__, "__wrapped__"):  # it declares its settings
        lines.insert(0, f"```python\n{_call(name, thing)}\n```\n")
    fields = [(field.name, field.type) for field in dataclasses.fields(thing)] if dataclasses.is_dataclass(thing) else []
    fields = fields or list(getattr(thing, "__annotations__", {}).items()) if not issubclass(thing, Exception) else []
    shown = [field for field, _ in fields if not field.startswith("_")]
    if shown:
        lines.append("\nFields: " + ", ".join(f"`{field}`" for field in shown) + ".")
    members = []
    for member in dict.fromkeys(member for kind in thing.__mro__ for member in vars(kind)):
        if member.startswith("_") or member in shown or issubclass(thing, Exception):
            continue
        value = inspect.getattr_static(thing, member)
        text = _docstring(value).partition("\n\n")[0]
        function = getattr(value, "__func__", value)
        is_own = isinstance(value, (property, cached_property)) or str(getattr(function, "__module__", "")).startswith("ibidem")
        if not text or not is_own:
            continue
        call = f".{member}{_short_signature(function)}" if inspect.isfunction(function) else f".{member}"
        members.append(f"| `{cell(call)}` | {cell(text)} |")
    return [*lines, "\n| member | meaning |\n|---|---|", *members] if members else lines


def _signature(function: Any) -> str:
    try:
        text = str(inspect.signature(function))
    except (TypeError, ValueError):
        return "(…)"
    text = re.sub(r"(: |-> )'((?:[^'\\]|\\')*)'", r"\1\2", text)  # annotations are strings there
    text = re.sub(r'"(Literal\[[^]]*\](?: \| None)?)"', r"\1", text)
    return re.sub(r"\((self|cls)(, )?", "(", text)


def _short_signature(function: Any) -> str:
    """Return the signature of a method; many settings are left out: they are those of its class."""
    text, names = _signature(function), {setting.name for _, setting in setting_fields()}
    begin, arrow, end = text.rpartition(") -> ")
    parts = re.split(r", (?=\w+: |\*)", begin)
    others = [part for part in parts if part.partition(":")[0].lstrip("(") not in names]
    return f"{', '.join([*others, '…'])}{arrow}{end}" if len(parts) - len(others) > _MOST_SETTINGS else text


def _call(name: str, function: Any) -> str:
    """Return a function with its parameters as code, on several lines if it has many."""
    text = f"{name}{_signature(function)}"
    if len(text) <= WIDTH:
        return text
    begin, _, rest = text.partition("(")
    parameters, end = rest.rsplit(")", 1) if ") -> " not in rest else rest.split(") -> ", 1)
    end = f") -> {end}" if ") -> " in rest else f"){end}"
    # Lines break between parameters, not inside of one.
    joined = re.sub(r", (?=\w+: |\*)", ",\n", parameters).replace(" ", "\xa0").replace("\n", " ")
    return f"{begin}(\n{textwrap.fill(joined, WIDTH, initial_indent='    ', subsequent_indent='    ')}\n{end}".replace(
        "\xa0", " "
    )


def _docstring(thing: Any) -> str:
    """Return a docstring as Markdown; what is tried in it becomes an example."""
    if isinstance(thing, type) and "__doc__" not in vars(thing):
        return ""
    blocks = inspect.cleandoc(getattr(thing, "__doc__", None) or "").split("\n\n")
    return "\n\n".join(f"```pycon\n{block}\n```" if block.startswith(">>> ") else block for block in blocks)


def exit_codes_page() -> str:
    """Return the page of exit codes, with the errors of Python that lead to them."""
    lines = [HEADS["exit-codes"], "\n| code | meaning | errors in Python |", "|---|---|---|"]
    classes = [each for each in vars(errors).values() if inspect.isclass(each) and issubclass(each, errors.IbidemError)]
    if missing := {each.exit_code for each in classes} - set(EXIT_CODES):
        raise ValueError(f"describe the exit codes {missing} in docs/reference_texts.py")
    for code, text in EXIT_CODES.items():
        raised = ", ".join(f"`{each.__name__}`" for each in classes if each.exit_code == code)
        lines.append(f"| {code} | {text} | {raised} |")
    lines += ["\n## Errors\n", "| error | is a | meaning |", "|---|---|---|"]
    for each in classes:
        base = each.__bases__[0].__name__
        lines.append(f"| `{each.__name__}` | `{base}` | {cell(inspect.getdoc(each) or '')} |")
    return "\n".join(lines) + "\n"


def formats_page() -> str:
    """Return the page of formats that are read."""
    lines = [HEADS["file-formats"], "\n## Inputs\n", "| format | extensions | one document is |", "|---|---|---|"]
    for name, kind in FORMATS.items():
        extensions = " ".join(f"`{extension}`" for extension in (*kind.extensions, *kind.other_extensions))
        lines.append(f"| {name} | {extensions} | {FORMAT_NOTES[name]} |")
    compressed = ", ".join(f"`{extension}`" for extension in COMPRESSIONS)
    lines.append(HEADS["after-formats"].replace("COMPRESSIONS", compressed))
    return "\n".join(lines) + "\n"


def papers_page() -> str:
    """Return the page of the papers: what `--as` sets, and where our defaults differ."""
    lines, defaults = [HEADS["papers"]], {setting.name: setting.default for _, setting in setting_fields()}
    for name, paper in PRESETS.items():
        lines += [f"\n## {name}\n", f"{paper.citation}. Run by {', '.join(f'`ibidem {verb}`' for verb in paper.verbs)}.\n"]
        lines += [
            "```text",
            *paper.example,
            "```\n",
            "| setting | as printed | where | our default, if another | why |",
            "|---|---|---|---|---|",
        ]
        for printed in paper.settings:
            if printed.setting != "paper":
                ours = value_shown(defaults[printed.setting]) if printed.why_not else ""
                cells = (f"`{flag(printed.setting)}`", value_shown(printed.value), printed.where, ours, printed.why_not)
                lines.append(f"| {' | '.join(map(cell, cells))} |")
        lines += ["\nRules:\n", *(f"- {rule}" for rule in paper.rules)]
    return "\n".join(lines) + "\n"


PAGES = {
    "commands.md": commands_page,
    "settings.md": settings_page,
    "tables.md": tables_page,
    "python.md": python_page,
    "exit-codes.md": exit_codes_page,
    "file-formats.md": formats_page,
    "papers.md": papers_page,
}

if __name__ == "__main__":
    for page, make in PAGES.items():
        (FOLDER / page).write_text(make(), encoding="utf-8")
