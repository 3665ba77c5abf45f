"""What to answer to a verb or an option that does not exist: where it belongs, or which one is most like it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click

_NAMED = 3  # verbs that are named when an option belongs to several
_OTHER_WORDS = {"--threshold": "--min-similarity"}  # what people try first


def option_answer(command: click.Command, context: click.Context, name: str) -> str:
    """Return what to say of an option that a command does not have."""
    own = options_of(command)
    meant = next((option for option in own if option in (_OTHER_WORDS.get(name), f"{name}-field")), "") or next(
        (option for option in own if option.startswith(f"{name}-") and name.startswith("--")), ""
    )
    if meant:
        return f"there is no option `{name}`. Did you mean `{meant}`?"
    owners: dict[str, list[str]] = {}
    for verb, other in verbs_of(context):
        for option in options_of(other):
            owners.setdefault(option, []).append(verb)
    if name in owners:
        return f"`{name}` belongs to {_listed([f'`ibidem {verb}`' for verb in owners[name]])}."
    near = nearest(name, {*own, *owners}) if name.startswith("--") else ""
    elsewhere = f" of `ibidem {owners[near][0]}`" if near and near not in own else ""
    return f"there is no option `{name}`." + (f" Did you mean `{near}`{elsewhere}?" if near else "")


def command_answer(group: click.Group, context: click.Context, name: str) -> str:
    """Return what to say of a command that a group does not have."""
    known = group.list_commands(context)
    near = nearest(name, known)
    if near:
        return f"there is no command `{name}`. Did you mean `{near}`?"
    inside = [verb for verb, _ in verbs_of(context) if verb.split()[-1] == name]
    if inside:
        return f"there is no command `{name}`. Did you mean `ibidem {inside[0]}`?"
    return f"there is no command `{name}`. The commands are {', '.join(known)}."


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that is most like one, or nothing if none is."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, list(known), n=1)), "")


def verbs_of(context: click.Context) -> Iterator[tuple[str, click.Command]]:
    """Yield all commands of the program that a command belongs to, by their full names."""
    root = context.find_root()
    if isinstance(root.command, click.Group):
        yield from _inside(root.command, root, "")


def options_of(command: click.Command) -> list[str]:
    """Return all names of options of a command."""
    options = (parameter for parameter in command.params if isinstance(parameter, click.Option))
    return [name for option in options for name in (*option.opts, *option.secondary_opts)]


def _inside(group: click.Group, context: click.Context, path: str) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _inside(command, context, f"{path}{name} ")
        elif command is not None:
            yield f"{path}{name}", command


def _listed(names: list[str]) -> str:
    if len(names) > _NAMED:
        names = [*names[: _NAMED - 1], "others"]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
