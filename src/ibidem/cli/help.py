"""`ibidem help`: a page on a verb or a topic, or the manual page of the program."""

from __future__ import annotations

import click

from ibidem.cli.commands import Verb, argument, option
from ibidem.cli.man_page import man_page
from ibidem.cli.suggestions import nearest, verbs_of
from ibidem.cli.topics import TOPICS
from ibidem.cli.verb_group import HelpfulCommand, VerbGroup
from ibidem.config.settings import OUTPUT


def _pages(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in (*context.find_root().command.list_commands(context), *TOPICS) if name.startswith(incomplete)]  # type: ignore[attr-defined]


@click.command(
    "help",
    cls=Verb,
    examples=(
        "ibidem help formats",
        "ibidem help index add",
    ),
)
@argument("words", metavar="[TOPIC]...", nargs=-1, about="A verb, or one of the topics above.", shell_complete=_pages)
@option("--man", is_flag=True, group=OUTPUT, help="Print the manual page of the program (roff).")
@click.pass_context
def help_on(context: click.Context, words: tuple[str, ...], man: bool) -> None:
    """Explain a verb with all its options, or a topic."""
    root = context.find_root()
    if man:
        click.echo(man_page(root), nl=False)
    elif not words:
        click.echo(root.get_help())
    elif len(words) == 1 and words[0] in TOPICS:
        formatter = root.make_formatter()
        formatter.write_heading(TOPICS[words[0]].title)
        with formatter.indentation():
            formatter.write_text(TOPICS[words[0]].text)
        click.echo(formatter.getvalue().rstrip("\n"))
    else:
        click.echo(_verb_page(root, words))


def _verb_page(root: click.Context, words: tuple[str, ...]) -> str:
    """Return the help of a verb with every option."""
    context = root
    for word in words:
        group = context.command
        command = group.get_command(context, word) if isinstance(group, VerbGroup) else None
        if command is None:
            known = [*(name for name, _ in verbs_of(root)), "index", *TOPICS]
            near = nearest(" ".join(words), known)
            raise click.UsageError(
                f"there is no page on `{' '.join(words)}`."
                + (f" Did you mean `ibidem help {near}`?" if near else f" The topics are {', '.join(TOPICS)}.")
            )
        context = click.Context(command, context, word)
    assert isinstance(context.command, HelpfulCommand)
    return context.command.whole_help(context)


help_on.help = f"{help_on.help}\n\nTopics: {', '.join(TOPICS)}."
help = help_on  # the verb's own name, by which it is looked up
