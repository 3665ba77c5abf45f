"""The manual page of the program, made from the help of its verbs and topics."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from ibidem.cli.commands import Verb
from ibidem.cli.suggestions import verbs_of
from ibidem.cli.topics import TOPICS
from ibidem.cli.verb_group import VerbGroup
from ibidem.version import __version__


def man_page(root: click.Context) -> str:
    """Return the page in roff."""
    return "\n".join(_lines(root)) + "\n"


def _lines(root: click.Context) -> Iterator[str]:
    program = root.command
    assert isinstance(program, VerbGroup)
    yield f'.TH IBIDEM 1 "" "ibidem {__version__}" "User Commands"'
    yield from (".SH NAME", "ibidem \\- find text that also appears elsewhere, and see where")
    yield from (".SH SYNOPSIS", ".B ibidem", ".I VERB", "[options] ...")
    yield ".SH DESCRIPTION"
    yield from _paragraphs(program.description(complete=True))
    for job, verbs in program.listing().items():
        yield f".SS {_plain(job)}"
        for verb, line in verbs.items():
            yield from (".TP", f".B {_plain(verb)}", _plain(line))
    yield ".SH VERBS"
    for name, command in verbs_of(root):
        assert isinstance(command, Verb)
        yield f".SS ibidem {_plain(name)}"
        yield from _paragraphs(command.description(complete=True))
        for group, rows in command.option_groups(complete=True):
            yield from (".PP", f".I {_plain(group)}")
            for names, text in rows:
                yield from (".TP", f".B {_plain(names)}", _plain(text))
        yield from (".PP", "Examples:")
        yield from _unfilled(command.examples)
    for topic in TOPICS.values():
        yield f".SH {_plain(topic.title.upper())}"
        yield from _paragraphs(topic.text)
    yield ".SH EXAMPLES"
    yield from _unfilled(program.examples)


def _paragraphs(text: str) -> Iterator[str]:
    """Yield paragraphs; those that begin with a backspace keep their lines."""
    for paragraph in text.split("\n\n"):
        lines = paragraph.strip("\n").split("\n")
        if lines[0] == "\b":
            yield from _unfilled(lines[1:])
        else:
            yield from (".PP", _plain(" ".join(lines)))


def _unfilled(lines: Iterator[str] | list[str] | tuple[str, ...]) -> Iterator[str]:
    yield from (".PP", ".RS 2", ".nf", *map(_plain, lines), ".fi", ".RE")


def _plain(text: str) -> str:
    """Return text that roff prints as it is."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("…", "...")
    return re.sub(r"^([.'])", r"\\&\1", escaped)
