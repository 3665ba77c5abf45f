"""Settings are keyword parameters that editors, `help` and type checkers see; only what a caller gives counts as given."""

from __future__ import annotations

import inspect
import pydoc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

import ibidem
from ibidem.cli.commands import Option
from ibidem.cli.verbs import ibidem as program
from ibidem.config import Config, setting_fields
from ibidem.config.make_keywords import FILES, FUNCTIONS, OVERLOADED, SETTINGS_FILE, SOURCE, refreshed, verb_settings
from ibidem.config.word_source import WordSource
from ibidem.errors import SettingsError
from tests.texts import documents, text

SETTINGS = {setting.name: setting for _, setting in setting_fields()}
CALLABLES: dict[str, Callable[..., Any]] = {
    name: getattr(ibidem.Index, name.partition(".")[2]) if name.startswith("Index.") else getattr(ibidem, name)
    for name in FUNCTIONS
}
NOT_IN_PYTHON = {"engine"}  # a parameter of its own


@pytest.mark.parametrize("name", FILES)
def test_signatures_are_up_to_date(name: str) -> None:
    source = (SOURCE / name).read_text("utf-8")
    assert source == refreshed(source), "run python -m ibidem.config.make_keywords"


def test_the_keywords_of_overloads_are_up_to_date() -> None:
    assert (SOURCE / SETTINGS_FILE).read_text("utf-8") == verb_settings(), "run python -m ibidem.config.make_keywords"


@pytest.mark.parametrize("name", CALLABLES)
def test_every_setting_is_shown_with_type_and_default(name: str) -> None:
    parameters = inspect.signature(CALLABLES[name]).parameters
    assert not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())
    shown = {setting.name for setting in FUNCTIONS[name].fields()}
    assert shown
    assert shown <= set(parameters)
    for setting in shown:
        parameter = parameters[setting]
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        assert parameter.annotation not in (inspect.Parameter.empty, "Any")
        default = SETTINGS[setting].default
        assert parameter.default == pytest.approx(default.name if isinstance(default, WordSource) else default)
        # What a signature shows as the default is a value that may be given.
        assert Config.of(**{setting: parameter.default}) == Config()
    assert "text_field: 'str' = 'text'" in pydoc.render_doc(CALLABLES[name], renderer=pydoc.plaintext) or name in (
        "compare",
        "Index.info",
    )


@pytest.mark.parametrize("verb", ["find", "cluster", "dedup", "tune"])
def test_python_has_the_settings_that_the_command_line_has(verb: str) -> None:
    command = program.get_command(click.Context(program), verb)
    assert command is not None
    flags = {option.name for option in command.params if isinstance(option, Option)} & set(SETTINGS)
    missing = flags - set(inspect.signature(CALLABLES[verb]).parameters) - NOT_IN_PYTHON
    assert not missing or verb == "tune"
    # A plan is measured in memory, and nothing is written: these flags of `tune` have no effect in Python.
    assert missing <= {"memory", "max_disk", "tmp_dir", "partitions", "resume", "format", "keep_text", "overwrite"}


def test_only_what_is_given_wins_over_a_config() -> None:
    records = documents(text(1, 2, 3), text(1, 2, 9))
    config = Config.of(min_sentences=2, min_quote_words=0)
    assert ibidem.find(records, config=config).config.passages.min_sentences == 2
    assert ibidem.find(records, config=config, min_sentences=3).config.passages.min_sentences == 3
    assert len(ibidem.find(records, config=config)) == 1
    assert len(ibidem.find(records, config=config, min_sentences=3)) == 0


def test_a_name_that_is_no_setting_is_answered_with_the_nearest(tmp_path: Path) -> None:
    records = documents(text(1, 2, 3), text(1, 2, 9))
    index = ibidem.Index(tmp_path / "index")
    calls: list[Callable[..., Any]] = [ibidem.find, ibidem.cluster, ibidem.dedup, ibidem.tune, ibidem.read, index.query]
    for call in calls:
        with pytest.raises(SettingsError, match=r"there is no setting 'text_feld' \(did you mean text_field\?\)"):
            call(records, text_feld="text")
    index.close()


def test_arguments_that_do_not_fit_are_said_of_the_function_that_was_called() -> None:
    find: Callable[..., Any] = ibidem.find
    with pytest.raises(TypeError, match=r"^find\(\) takes 1 positional argument but 2 were given"):
        find([], [])
    with pytest.raises(TypeError, match=r"^find\(\) missing 1 required positional argument: 'inputs'"):
        find()


def test_overloads_take_the_settings_of_their_verb() -> None:
    from ibidem.config import verb_settings as made

    for verb in OVERLOADED:
        names = getattr(made, f"{verb.title()}Settings").__annotations__
        assert list(names) == [setting.name for setting in FUNCTIONS[verb].fields()]
