"""Arguments and options that verbs share. Flags of settings are made of `config/settings.py`: one word for each, everywhere."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import Any

import click

from ibidem.config import Config, setting_fields, setting_type, settings_from_toml

_DATA_SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".txt", ".gz", ".zst")
VERBOSE = "verbose"
_NO_FLAGS = ("work_dir",)  # the command line has a place for it
_SHORT_NAMES = {"search_engine": ("--engine",)}  # where it is searched, the engine is that of the search
NO_SEARCH_SETTINGS = ("signature_bits", "bits_per_word", "commit_every")  # settings of an index that a search has no use for
FIRST_SETTINGS = (  # settings that are fixed when an index is made
    "lang", "max_sentence_words", "hash_seed", "min_similarity", "max_document_share", "signature_bits", "bits_per_word",
)  # fmt: skip


class NumberType(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A number as the user writes it, read exactly: 0.8 or 4/5."""

    name = "number"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """Return the fraction that is meant."""
        try:
            return Fraction(str(value))
        except (ValueError, ZeroDivisionError):
            self.fail(f"{value!r} is not a number", parameter, context)


def setting_options(
    *stages: str, without: tuple[str, ...] = (), also: tuple[str, ...] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the flags of the given stages, but for some settings, those of single settings, and `--config` to a command.

    Unset flags stay None: the file or the default decides.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        options = [
            _option(setting)
            for stage, setting in setting_fields()
            if (stage in stages and setting.name not in (*without, *_NO_FLAGS)) or setting.name in also
        ]
        options.append(
            click.option("--config", "config_file", type=click.Path(dir_okay=False), help="TOML file with settings, by stage.")
        )
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def given_settings(config_file: str | None, flags: dict[str, Any]) -> dict[str, Any]:
    """Return what the file says, overlaid by the flags, and no defaults."""
    settings = settings_from_toml(config_file) if config_file else {}
    return settings | {name: value for name, value in flags.items() if value is not None}


def resolve_settings(config_file: str | None, flags: dict[str, Any]) -> Config:
    """Return defaults, overlaid by the file, overlaid by the flags."""
    return Config.of(**given_settings(config_file, flags))


def flag(name: str) -> str:
    """Return the flag of a setting."""
    return "--" + name.replace("_", "-")


def _option(setting: dataclasses.Field[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    kind = setting_type(setting)
    help_text = setting.metadata["help"]
    if kind is bool:
        return click.option(f"{flag(setting.name)}/--no-{setting.name.replace('_', '-')}", default=None, help=help_text)
    choices = setting.metadata["choices"]
    click_type: Any = click.Choice(choices) if choices else {Fraction: NumberType(), int: int, float: float, str: str}[kind]
    default: Any = setting.default
    default = float(default) if kind is Fraction else default
    names = (flag(setting.name), *_SHORT_NAMES.get(setting.name, ()), setting.name)
    return click.option(*names, type=click_type, default=None, help=f"{help_text}  [default: {default}]")


def inputs_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add INPUT...; standard input may be named once only."""

    @wraps(command)
    def checked(**values: Any) -> Any:
        if [*values["inputs"], *values.get("references", ())].count("-") > 1:
            raise click.UsageError("standard input (-) can be read once only")
        return command(**values)

    return click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)(checked)


def input_arguments(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add INPUT... and --against."""
    help_text = "Compare INPUT with REF only, not with itself (repeatable)."
    return click.option("--against", "references", metavar="REF", multiple=True, help=help_text)(inputs_argument(command))


class FolderType(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A folder of this machine, as a path, or of another file system, as a URI."""

    name = "folder"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """Return a path or a URI; the name of a file is refused."""
        if "://" in str(value):
            return value
        path = Path(value)
        if path.suffix.lower() in _DATA_SUFFIXES and not path.is_dir():
            self.fail(f"{value}: give a folder; the files in it get their own names", parameter, context)
        return path


def is_on_spark(config: Config, output: Any) -> bool:
    """Say whether a run is on Spark; if it is not, a folder of another file system is refused."""
    if config.engine.engine != "spark":
        check_local_folder(output)
    return config.engine.engine == "spark"


def check_local_folder(folder: Any) -> None:
    """Raise for a folder of another file system: only Spark writes there."""
    if isinstance(folder, str):
        raise click.UsageError(f"-o {folder} is a folder of another file system; only --engine spark writes there")


def output_option(what: str, required: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add -o OUT, a folder."""
    return click.option("-o", "--output", metavar="OUT", type=FolderType(), required=required, help=what)


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --progress, --verbose and --quiet."""
    progress = click.option(
        "--progress", type=click.Choice(["auto", "on", "off"]), default="auto", help="Progress bars; auto: on a terminal."
    )
    verbose = click.option(
        "-v", "--verbose", is_flag=True, help="Tell of every step: time, rate, memory, and what lies on disk."
    )

    @wraps(command)
    def run(verbose: bool, **values: Any) -> Any:
        return command(**values | ({"progress": VERBOSE} if verbose else {}))

    return progress(verbose(click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")(run)))


def verb_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --spark-conf, for a verb that Spark can run, and the options of every run."""
    help_text = "Setting of the Spark session, as spark.executor.memory=8g (repeatable)."
    spark = click.option("--spark-conf", metavar="KEY=VALUE", multiple=True, callback=_as_mapping, help=help_text)
    return spark(run_options(command))


def _as_mapping(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for given in values:
        key, separator, value = given.partition("=")
        if not separator or not key.startswith("spark."):
            raise click.BadParameter(f"{given!r} is not like spark.executor.memory=8g")
        settings[key] = value
    return settings


signature_option = click.option(
    "--signature",
    type=click.Choice(["words", "exact"]),
    help="What makes two sentences alike, fixed when the index is made.  [default: words]",
)
memory_option = click.option(
    "--memory", help="Memory for merging, as 500MB or 4GB.  [default: three quarters of what the machine has]"
)
max_places_option = click.option(
    "--max-places", type=int, help="Sentences that stand in more documents than this say nothing.  [default: 100]"
)


def index_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add DIR."""
    return click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))(command)
