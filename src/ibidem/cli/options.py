"""Arguments and options that verbs share. Settings become options here: one name for each, everywhere."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ibidem.cli.commands import Decorator, argument, files, option
from ibidem.config import SIGNATURES, Config, WordSource, setting_fields, setting_type, settings_from_toml
from ibidem.config.addresses import is_remote, shown_address
from ibidem.config.checks import not_among
from ibidem.config.papers import check_paper
from ibidem.config.settings import AUTO, CRITERIA, INPUT, OUTPUT, RUNNING
from ibidem.config.surface import flag
from ibidem.errors import UsageError

_DATA_SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".txt", ".gz", ".zst")
VERBOSE = "verbose"
_NO_FLAGS = ("work_dir",)  # the command line has a place for it
_LISTS = ("ignore", "prompt_fields", "answer_fields", "item_id_field")  # that can be given more than once
_SHORT_NAMES = {"search_engine": ("--engine",)}  # where it is searched, the engine is that of the search
# Settings of an index that a search has no use for.
NO_SEARCH_SETTINGS = ("signature_bits", "bits_per_word", "texts", "commit_every")
FIRST_SETTINGS = (  # settings that are fixed when an index is made
    "lang", "max_sentence_words", "hash_seed", "min_similarity", "shingle_size", "min_idf", "max_idf", "antecedents",
    "spot_stop_words", "spot_short_chains", "spot_distance", "spot_chain", "max_document_share", "signature_bits",
    "bits_per_word", "word_counts", "stop_words", "texts",
)  # fmt: skip


class NumberType(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A number as the user writes it, read exactly: 0.8 or 4/5."""

    name = "number"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """Return the fraction that is meant."""
        try:
            return Fraction(str(value))
        except (ValueError, ZeroDivisionError):
            self.fail(f"{value!r} is not a number such as 0.8 or 4/5", parameter, context)


class CountType(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A whole number, or the word auto."""

    name = "integer"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """Return the number; auto has one of its own."""
        return AUTO if value == "auto" else click.INT.convert(value, parameter, context)


class ChoiceType(click.Choice):  # type: ignore[type-arg,unused-ignore]
    """One of several words; another one is answered with all of them, and with the nearest."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """Return the word."""
        if value in self.choices:
            return value
        name = parameter.opts[0] if parameter is not None else "the value"
        raise click.UsageError(not_among(name, value, tuple(map(str, self.choices))), context)


def setting_options(
    *stages: str, without: tuple[str, ...] = (), also: tuple[str, ...] = (), on: tuple[str, ...] = ()
) -> Decorator:
    """Add the flags of the given stages, except for some settings, those of single settings, and `--config` to a command.

    Unset flags stay None: the file or the default decides. The settings `on` are so by default for this command.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        options = [
            _option(setting, setting.name in on)
            for stage, setting in setting_fields()
            if (stage in stages and setting.name not in (*without, *_NO_FLAGS)) or setting.name in also
        ]
        help_text = "TOML file with settings, by stage. Options override it."
        path = click.Path(dir_okay=False)
        options.append(option("--config", "config_file", metavar="FILE", type=path, is_common=False, help=help_text))
        for add in reversed(options):
            command = add(command)
        return command

    return decorate


def given_settings(config_file: str | None, flags: dict[str, Any]) -> dict[str, Any]:
    """Return what the file says, overlaid by the flags, and no defaults."""
    settings = settings_from_toml(config_file) if config_file else {}
    return settings | {name: value for name, value in flags.items() if value is not None}


def resolve_settings(config_file: str | None, flags: dict[str, Any]) -> Config:
    """Return defaults, overlaid by the file, overlaid by the flags; a paper that the verb does not run is refused."""
    config = Config.of(**given_settings(config_file, flags))
    check_paper(config, str(click.get_current_context().info_name))
    return config


def _option(setting: dataclasses.Field[Any], is_on: bool) -> Decorator:
    kind, about = setting_type(setting), setting.metadata
    default: Any = setting.default
    attributes: dict[str, Any] = {"default": None, "help": about["help"], "group": about["group"]}
    attributes |= {"is_common": about["is_common"], "hidden": about["is_hidden"]}
    if kind is bool:
        names = f"{flag(setting.name)}/--no-{setting.name.replace('_', '-')}"
        return option(names, shown_default="on" if default or is_on else "", **attributes)
    if setting.name in _LISTS:
        attributes |= {"multiple": True, "callback": _joined}
    if about["takes_auto"]:
        attributes["type"] = CountType()
    types = {Fraction: NumberType(), int: int, float: float, str: str, WordSource: str}
    return option(
        flag(setting.name),
        *_SHORT_NAMES.get(setting.name, ()),
        setting.name,
        metavar=about["value"] or "N",
        shown_default=str(float(default) if kind is Fraction else default),
        shell_complete=files if about["value"] in ("DIR", "FILE") else None,
        **{"type": ChoiceType(about["choices"]) if about["choices"] else types[kind], **attributes},
    )


def _joined(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> str | None:
    return ",".join(values) or None


def inputs_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add INPUT...; standard input may be named once only."""

    @wraps(command)
    def checked(**values: Any) -> Any:
        if [*values["inputs"], *values.get("references", ())].count("-") > 1:
            raise click.UsageError("standard input (-) can be read only once")
        return command(**values)

    return plain_inputs_argument(checked)


def plain_inputs_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add INPUT..."""
    about = "Files, folders or patterns; - is standard input."
    add = argument("inputs", metavar="INPUT...", nargs=-1, required=True, about=about, shell_complete=files)
    return add(command)


def input_arguments(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add INPUT... and --against."""
    help_text = "Compare INPUT with REF only, not with itself. Can be repeated."
    against = option(
        "--against", "references", metavar="REF", multiple=True, group=INPUT, help=help_text, shell_complete=files
    )  # fmt: skip
    return inputs_argument(against(command))


class FolderType(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A folder of this machine, as a path, or of another file system, as a URI."""

    name = "folder"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """Return a path or a URI; the name of a file is refused."""
        if "://" in str(value):
            return value
        path = Path(value)
        if path.suffix.lower() in _DATA_SUFFIXES and not path.is_dir():
            self.fail(f"{value} must be a folder, not a file; the files in it get their own names", parameter, context)
        return path


def is_on_spark(config: Config, output: Any) -> bool:
    """Return whether a run is on Spark; if it is not, one that is to be resumed needs a folder of this machine."""
    if config.engine.engine != "spark":
        check_address(output)
        if config.engine.resume and isinstance(output, str):
            raise click.UsageError(f"--resume needs a local folder, but {shown_address(output)} is remote")
    return config.engine.engine == "spark"


def check_address(folder: Any) -> None:
    """Raise for an address of this machine, which only Spark needs."""
    if isinstance(folder, str) and not is_remote(folder):
        raise click.UsageError(f"-o {folder}: give the path without file://")


def output_option(what: str, required: bool) -> Decorator:
    """Add -o OUT, a folder."""
    return option(
        "-o", "--output", metavar="OUT", type=FolderType(), required=required, group=OUTPUT, help=what, shell_complete=files
    )  # fmt: skip


def quiet_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --quiet."""
    return option("-q", "--quiet", is_flag=True, help="Print only errors.")(command)


def listening_options(port: int) -> Decorator:
    """Return a decorator that adds --host, --port and --token, with the port that is used without --port."""
    host = option(
        "--host", metavar="ADDRESS", default="127.0.0.1", shown_default="127.0.0.1",
        help="Address to listen on. Any address that other machines can reach needs --token.",
    )  # fmt: skip
    numbered = option(
        "--port", metavar="N", type=click.IntRange(0, 65535), default=port, shown_default=str(port),
        help="Port to listen on; 0: any free one.",
    )  # fmt: skip
    token = option(
        "--token", metavar="WORD", envvar="IBIDEM_TOKEN",
        help="Answer only requests with this token. It can also come from the variable IBIDEM_TOKEN.",
    )  # fmt: skip
    return lambda command: host(numbered(token(command)))


def check_no_listening(needed: str) -> None:
    """Raise if --host, --port or --token was typed without the option that they need."""
    context = click.get_current_context()
    for name in ("host", "port", "token"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise UsageError(f"--{name} has no effect without {needed}", f"Add {needed}, or leave out --{name}.")


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --progress, --verbose and --quiet."""
    progress = option(
        "--progress", metavar="WHEN", type=ChoiceType(["auto", "on", "off"]), default="auto", shown_default="auto",
        is_common=False, help="Show progress bars. auto: on a terminal; on; off.",
    )  # fmt: skip
    verbose = option(
        "-v", "--verbose", is_flag=True, is_common=False, help="Report time, rate, memory and disk space of every step."
    )

    @wraps(command)
    def run(verbose: bool, **values: Any) -> Any:
        return command(**values | ({"progress": VERBOSE} if verbose else {}))

    return progress(verbose(quiet_option(run)))


def verb_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --spark-conf, for a verb that Spark can run, and the options of every run."""
    help_text = "Setting of the Spark session, such as spark.executor.memory=8g (repeatable)."
    spark = option(
        "--spark-conf", metavar="KEY=VALUE", multiple=True, callback=_as_mapping, is_common=False, help=help_text
    )  # fmt: skip
    return spark(run_options(command))


def _as_mapping(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for given in values:
        key, separator, value = given.partition("=")
        if not separator or not key.startswith("spark."):
            raise click.BadParameter(f"must have the form spark.executor.memory=8g, not {given!r}")
        settings[key] = value
    return settings


plan_option = option(
    "--plan", metavar="FILE", type=click.Path(dir_okay=False), is_common=False, help="Sampling plan from `ibidem tune`."
)
report_option = option("--report", is_flag=True, group=OUTPUT, help="Also write OUT/report.html, a page to share.")
signature_option = option(
    "--signature",
    metavar="NAME",
    type=ChoiceType(SIGNATURES),
    group=CRITERIA,
    shown_default="words",
    help="What makes two sentences match: words, exact or another signature. Fixed when the index is created.",
)
memory_option = option(
    "--memory",
    metavar="SIZE",
    group=RUNNING,
    is_common=False,
    shown_default="three quarters of the machine's memory",
    help="Memory for merging, such as 500MB or 4GB.",
)
max_places_option = option(
    "--max-places",
    metavar="N",
    type=int,
    group=CRITERIA,
    shown_default="100",
    help="Ignore sentences found in more documents than this.",
)

source_words_option = option(
    "--keep-text/--no-keep-text",
    default=None,
    group=OUTPUT,
    is_common=False,
    shown_default="on in JSON, off in tables",
    help="Give the words of both sides, a_text and b_text, if the index keeps its texts.",
)


def index_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add DIR."""
    return argument("folder", metavar="DIR", type=click.Path(path_type=Path), about="Folder of the index.")(command)
