"""How a command shows its help and answers misspelt words; and commands that consist of others.

Nothing here loads settings: `ibidem --help` answers without them.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import click

from ibidem.cli.suggestions import command_answer, option_answer

UNBROKEN = "\N{NO-BREAK SPACE}"  # where lines must not break; it is written as a space


class HelpfulCommand(click.Command):
    """A command with two helps: `--help` shows what most people need, `--help-all` everything; both end with examples."""

    def __init__(self, *arguments: Any, examples: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.examples = tuple(examples)
        self.params.append(self.help_all_option())

    def help_all_option(self) -> click.Option:
        """Return the option that shows everything."""
        return click.Option(["--help-all"], **HELP_ALL)

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; of an option that is not known, say where it belongs, or which one may be meant."""
        try:
            return super().parse_args(context, args)
        except click.NoSuchOption as error:
            message = option_answer(self, context, error.option_name)
            raise click.NoSuchOption(error.option_name, message, ctx=context) from None
        except click.MissingParameter as error:
            if error.param is None or error.param.name != "output":
                raise
            raise click.UsageError("Name a folder for the results with -o FOLDER.", ctx=context) from None

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
        formatter.buffer[:] = [part.replace(UNBROKEN, " ") for part in formatter.buffer]

    def write_contents(self, context: click.Context, formatter: click.HelpFormatter, complete: bool) -> None:
        """Write what can be given to the command."""
        raise NotImplementedError


class VerbGroup(HelpfulCommand, click.Group):
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
    if wanted and not context.resilient_parsing and isinstance(context.command, HelpfulCommand):
        click.echo(context.command.whole_help(context))
        context.exit()


HELP_ALL: dict[str, Any] = {
    "is_flag": True, "is_eager": True, "expose_value": False, "callback": _show_all, "help": "Show every option.",
}  # fmt: skip
