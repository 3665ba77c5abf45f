"""Commands that help people: options in groups, the common ones first, two examples, and answers to what is misspelt.

`--help` lists what most people use; `--help-all` lists everything. Which group an option belongs to, and whether it is common,
is stated beside the option: for settings in `config/settings.py`, for the others where a verb declares them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from ibidem.cli.suggestions import command_answer, option_answer
from ibidem.config.settings import HELP_GROUPS, INPUT, RUNNING

_WIDEST_NAME = 26  # of an option with its value; help for longer ones begins on the next line
_UNBROKEN = "\N{NO-BREAK SPACE}"  # where lines must not break; it is written as a space
_LONGEST_UNBROKEN = 42
_HELP_NAMES = ("--help", "--help-all")


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
        if not self.shown_default:
            return text
        default = f"[default: {self.shown_default}]"
        return f"{text} {default.replace(' ', _UNBROKEN) if len(default) <= _LONGEST_UNBROKEN else default}"


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


class _Helpful(click.Command):
    """What single commands and groups of them have in common."""

    def __init__(self, *arguments: Any, examples: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.examples = tuple(examples)
        self.params.append(
            Option(
                ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all, help="Show every option."
            )
        )  # fmt: skip

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; of an option that is not known, say where it belongs, or which one may be meant."""
        try:
            return super().parse_args(context, args)
        except click.NoSuchOption as error:
            message = option_answer(self, context, error.option_name)
            raise click.NoSuchOption(error.option_name, message, ctx=context) from None

    def format_help(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help that `--help` shows."""
        self.write_help(context, formatter, complete=False)

    def whole_help(self, context: click.Context) -> str:
        """Return the help that `--help-all` shows."""
        formatter = context.make_formatter()
        self.write_help(context, formatter, complete=True)
        return formatter.getvalue().rstrip("\n")

    def description(self, complete: bool) -> str:
        """Return what the command does; `--help` shows what comes before a form feed."""
        text = inspect.cleandoc(self.help or "")
        return text.replace("\f\n", "").replace("\f", "") if complete else text.partition("\f")[0].rstrip()

    def write_help(self, context: click.Context, formatter: click.HelpFormatter, complete: bool) -> None:
        """Write usage, description, what can be given, and examples."""
        self.format_usage(context, formatter)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(self.description(complete))
        self.write_contents(context, formatter, complete)
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"{'':>{formatter.current_indent}}{example}\n")
        formatter.buffer[:] = [part.replace(_UNBROKEN, " ") for part in formatter.buffer]

    def write_contents(self, context: click.Context, formatter: click.HelpFormatter, complete: bool) -> None:
        """Write the arguments and options, by group."""
        groups = list(self.option_groups(complete))
        width = max(len(name) for _, rows in groups for name, _ in rows if len(name) <= _WIDEST_NAME)
        for group, rows in groups:
            with formatter.section(group):
                formatter.write_dl([(name.ljust(width), text) for name, text in rows], col_max=_WIDEST_NAME)

    def option_groups(self, complete: bool) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Yield every group that is not empty, with names and texts; without `complete`, of common options only."""
        for group in HELP_GROUPS:
            shown = [parameter for parameter in self.params if isinstance(parameter, (Option, Argument))]
            shown = [each for each in shown if each.group == group and (each.is_common or complete)]
            rows = [(each.names(), each.text(complete)) for each in shown if not complete or each.opts[0] not in _HELP_NAMES]
            if rows:
                yield group, rows


class Verb(_Helpful):
    """A command that does something."""


class VerbGroup(_Helpful, click.Group):
    """A command of commands, listed in the order in which they are used."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self.commands)

    def listing(self) -> dict[str, dict[str, str]]:
        """Return lines on the commands, under headings."""
        return {"Commands": {name: command.get_short_help_str(200) for name, command in self.commands.items()}}

    def write_contents(self, context: click.Context, formatter: click.HelpFormatter, complete: bool) -> None:
        """List the commands."""
        for heading, lines in self.listing().items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(10), line) for name, line in lines.items()])

    def resolve_command(self, context: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is meant; if there is none, say which one may be."""
        if not args[0].startswith("-") and self.get_command(context, args[0]) is None:
            context.fail(command_answer(self, context, args[0]))
        return super().resolve_command(context, args)


def _show_all(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing and isinstance(context.command, _Helpful):
        click.echo(context.command.whole_help(context))
        context.exit()
