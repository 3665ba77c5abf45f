"""Verbs with their arguments and options, as help shows them: in groups, the common ones first.

`--help` lists what most people use; `--help-all` lists everything. Which group an option belongs to, and whether it is common,
is stated beside the option: for settings in `config/settings.py`, for the others where a verb declares them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import click

from ibidem.cli.verb_group import HELP_ALL, UNBROKEN, HelpfulCommand
from ibidem.config.settings import HELP_GROUPS, INPUT, RUNNING
from ibidem.config.surface import speaking

_WIDEST_NAME = 26  # of an option with its value; help for longer ones begins on the next line
_LONGEST_UNBROKEN = 32  # characters of a default


class Option(click.Option):
    """An option that knows where help shows it; the first sentence of its text is what `--help` says of it."""

    def __init__(
        self, *declarations: Any, group: str = RUNNING, is_common: bool = True, shown_default: str = "", **attributes: Any
    ) -> None:
        super().__init__(*declarations, **attributes)
        self.group, self.is_common, self.shown_default = group, is_common, shown_default

    def names(self) -> str:
        """Return the names, and the word for the value."""
        is_on = self.secondary_opts and self.shown_default == "on"  # then it is the other name that people use
        both = [*self.opts, *self.secondary_opts] if is_on else self.opts
        names = " / ".join(both) if is_on else ", ".join(sorted(both, key=lambda name: name.startswith("--")))
        return names if self.is_flag else f"{names} {self.metavar}"

    def text(self, complete: bool) -> str:
        """Return what help says: all of it, or its first sentence; and the default."""
        text = self.help or ""
        choices = [str(choice) for choice in self.type.choices] if isinstance(self.type, click.Choice) else []
        if not complete:
            text = text.partition(". ")[0].removesuffix(".") + "."
        elif not all(choice in text for choice in choices):
            text += f" One of {', '.join(choices)}."
        return f"{text} [default: {self.shown_default}]" if self.shown_default else text


class Argument(click.Argument):
    """An argument that help explains like an option."""

    is_common = True

    def __init__(self, *declarations: Any, about: str = "", group: str = INPUT, **attributes: Any) -> None:
        super().__init__(*declarations, **attributes)
        self.group, self.about = group, about

    def names(self) -> str:
        """Return the name."""
        return str(self.metavar)

    def text(self, complete: bool) -> str:
        """Return what help says."""
        return self.about


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def option(*names: str, **attributes: Any) -> Decorator:
    """Add an option to a command: what `click.option` takes, and what `Option` adds to it."""
    return click.option(*names, cls=Option, **attributes)


def argument(name: str, **attributes: Any) -> Decorator:
    """Add an argument to a command: what `click.argument` takes, and what `Argument` adds to it."""
    return click.argument(name, cls=Argument, **attributes)


def files(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Let a shell complete the name of a file or folder."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


class Verb(HelpfulCommand):
    """A command that does something, with its arguments and options in groups."""

    def invoke(self, context: click.Context) -> Any:
        """Do it; what is said meanwhile names settings as flags."""
        with speaking("shell"):
            return super().invoke(context)

    def help_all_option(self) -> click.Option:
        """Return the option that shows everything."""
        return Option(["--help-all"], **HELP_ALL)

    def write_contents(self, context: click.Context, formatter: click.HelpFormatter, complete: bool) -> None:
        """Write the arguments and options, by group."""
        groups = list(self.option_groups(complete))
        width = max(len(name) for _, rows in groups for name, _ in rows if len(name) <= _WIDEST_NAME)
        for group, rows in groups:
            with formatter.section(group):
                formatter.write_dl([(name.ljust(width), _unbroken(text)) for name, text in rows], col_max=_WIDEST_NAME)

    def option_groups(self, complete: bool) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Yield every group that is not empty, with names and texts; without `complete`, of common options only."""
        for group in HELP_GROUPS:
            shown = [parameter for parameter in self.params if isinstance(parameter, (Option, Argument))]
            shown = [each for each in shown if each.group == group and (each.is_common or complete)]
            rows = [(each.names(), each.text(complete)) for each in shown if not complete or each.opts[0] != "--help-all"]
            if rows:
                yield group, rows


def _unbroken(text: str) -> str:
    """Return a text in which lines break before a short default, not inside it."""
    before, mark, default = text.rpartition("[default: ")
    return before + (mark + default).replace(" ", UNBROKEN) if mark and len(default) <= _LONGEST_UNBROKEN else text
