"""`ibidem completion`: verbs and options completed by the shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from ibidem.cli.commands import Verb, argument
from ibidem.cli.options import ChoiceType

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_IBIDEM_COMPLETE"  # the script sets it to ask the program for completions


@click.command(
    cls=Verb,
    examples=(
        "ibidem completion bash > ibidem-completion.bash",
        "ibidem completion fish > ibidem.fish",
    ),
)
@argument("shell", metavar="SHELL", type=ChoiceType(SHELLS), about="bash, zsh or fish.")
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that lets your shell complete verbs, options and file names.

    \b
    bash  Add to ~/.bashrc:  source <(ibidem completion bash)
    zsh   Add to ~/.zshrc:   source <(ibidem completion zsh)
    fish  Save the script as ~/.config/fish/completions/ibidem.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, "ibidem", VARIABLE).source())
