"""All settings of a run in one object: made from keywords or a TOML file, and checked as a whole."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ibidem.config.addresses import shown_address
from ibidem.config.checks import problems_of
from ibidem.config.cleaning_settings import CleaningConfig
from ibidem.config.contamination_settings import ContaminationConfig
from ibidem.config.document_settings import DocumentsConfig, ReferenceConfig
from ibidem.config.papers import PRESETS
from ibidem.config.passage_settings import AlignmentConfig, PassagesConfig
from ibidem.config.settings import (
    AUTO,
    EXACT_METHODS,
    NO_PAPER,
    ClustersConfig,
    EngineConfig,
    IndexConfig,
    MatchesConfig,
    OutputConfig,
    ResemblanceConfig,
    SentencesConfig,
    SignaturesConfig,
)
from ibidem.config.surface import given, named
from ibidem.config.word_source import WordSource
from ibidem.errors import SettingsError

_COUNTS_OR_WORDS = ("antecedents", "spot_stop_words")


@dataclass(frozen=True)
class Config:
    """All settings of a run. `Config.of(min_similarity=0.9)` takes any field of any stage by its name."""

    documents: DocumentsConfig = field(default_factory=DocumentsConfig)
    reference: ReferenceConfig = field(default_factory=ReferenceConfig)
    sentences: SentencesConfig = field(default_factory=SentencesConfig)
    signatures: SignaturesConfig = field(default_factory=SignaturesConfig)
    matches: MatchesConfig = field(default_factory=MatchesConfig)
    passages: PassagesConfig = field(default_factory=PassagesConfig)
    alignment: AlignmentConfig = field(default_factory=AlignmentConfig)
    resemblance: ResemblanceConfig = field(default_factory=ResemblanceConfig)
    clusters: ClustersConfig = field(default_factory=ClustersConfig)
    cleaning: CleaningConfig = field(default_factory=CleaningConfig)
    contamination: ContaminationConfig = field(default_factory=ContaminationConfig)
    index: IndexConfig = field(default_factory=IndexConfig)
    engine: EngineConfig = field(default_factory=EngineConfig)
    output: OutputConfig = field(default_factory=OutputConfig)

    @classmethod
    def of(cls, base: Config | None = None, **settings: Any) -> Config:
        """Return `base` (or the defaults) with the given settings; a SettingsError names everything that is wrong."""
        config = base or cls()
        preset = PRESETS.get(settings.get("as_paper", NO_PAPER))
        settings = settings if preset is None else {**preset.values, **settings}
        problems: list[str] = []
        changes: dict[str, dict[str, Any]] = {}
        homes = {f.name: (stage, f) for stage, f in setting_fields()}
        for name, value in settings.items():
            if name not in homes:
                problems.append(f"there is no setting '{name}'{_nearest(name, homes)}")
                continue
            stage, setting = homes[name]
            try:
                changes.setdefault(stage, {})[name] = _coerce(setting, value)
            except (ValueError, TypeError, ZeroDivisionError):
                problems.append(f"{named(name)} must be {_type_word(setting)}, not {value!r}")
        for stage, values in changes.items():
            config = dataclasses.replace(config, **{stage: dataclasses.replace(getattr(config, stage), **values)})
        problems.extend(problems_of(config))
        if problems:
            raise SettingsError(problems)
        return config

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Config:
        """Read settings from a TOML file whose sections are the stages; all that is wrong in it is named at once."""
        return cls.of(**settings_from_toml(path))

    def with_signature(self, usual: str) -> Config:
        """Return the settings with the signature that is usual for a verb, if none was chosen."""
        return Config.of(self, signature=usual) if self.signatures.signature == "auto" else self

    def with_alignment(self) -> Config:
        """Return the settings of `find`, which aligns words unless a signature or a paper is chosen.

        A limit of alignment that is not the default turns alignment on.
        """
        chosen, limits = self.signatures, (self.alignment.min_evidence, self.alignment.min_aligned_words)
        is_limited = limits != (AlignmentConfig.min_evidence, AlignmentConfig.min_aligned_words)
        if self.alignment.align is not None:
            if is_limited and not self.alignment.align:
                needing = f"{named('min_aligned_words')} and {named('min_evidence')} need alignment"
                raise SettingsError([f"{needing}: leave out {given('align', False)}"])
            return self
        is_usual = chosen.signature == "auto" and chosen.as_paper == NO_PAPER and not chosen.paper
        return Config.of(self, align=is_usual or is_limited)

    def to_toml(self) -> str:
        """Return the settings as TOML text that `from_toml` reads back. Words that were given in Python need a file first."""
        chosen = ((setting.name, getattr(getattr(self, stage), setting.name)) for stage, setting in setting_fields())
        unnamed = [name for name, value in chosen if isinstance(value, WordSource) and not value.is_named]
        if unnamed:
            raise SettingsError([f"{named(name)} was given in Python; write it to a file to refer to it" for name in unnamed])
        lines: list[str] = []
        for stage, values in self.to_dict().items():
            lines.append(f"[{stage}]")
            lines.extend(f"{name} = {_toml_value(value)}" for name, value in values.items() if value is not None)
            lines.append("")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return plain values by stage and setting."""
        plain: dict[str, dict[str, Any]] = {}
        for stage, setting in setting_fields():
            value = getattr(getattr(self, stage), setting.name)
            plain.setdefault(stage, {})[setting.name] = str(value) if isinstance(value, (Fraction, WordSource)) else value
        return plain

    def recorded(self) -> dict[str, dict[str, Any]]:
        """Return the same values as stored in `run.json`, without anything in addresses that may be secret."""
        plain = self.to_dict()
        plain["documents"]["metadata"] = shown_address(plain["documents"]["metadata"])
        return plain


def passage_limits(config: Config) -> PassagesConfig:
    """Return the limits of passages; as printed, PDC-MR wants more than `min_sentences`, and nothing shorter or gapped."""
    if not config.signatures.paper:
        return config.passages
    strict = config.passages.min_sentences + 1
    if config.signatures.as_paper != NO_PAPER:  # the other limits are in its settings, and may be given beside them
        return dataclasses.replace(config.passages, min_sentences=strict)
    return dataclasses.replace(
        config.passages, min_sentences=strict, min_words=1, min_quote_words=0, max_gap_sentences=0, extend_ends=False
    )


def extends_ends(config: Config) -> bool:
    """Return whether the ends of passages are extended in the texts.

    When words are aligned, alignment does it. If text is ignored, equal words beyond an end may be such text.
    """
    is_wanted = passage_limits(config).extend_ends and config.sentences.ignore == "none"
    return is_wanted and not config.alignment.align


def is_compared_in_full(config: Config) -> bool:
    """Return whether pairs of documents are compared in full, whatever `verify` says: the method itself does it."""
    settings = config.resemblance
    is_sampled = settings.sample_every > 1 or settings.sampling != "modulo"
    return settings.method in EXACT_METHODS and not is_sampled and settings.measure == "resemblance"


def document_shingle_size(config: Config) -> int:
    """Return how many words, or lines, a shingle of a document has."""
    return config.signatures.shingle_words("line" if config.resemblance.shingle_unit == "line" else "document")


def setting_fields() -> Iterator[tuple[str, dataclasses.Field[Any]]]:
    """Yield every setting as (stage, field), in the order of the flow."""
    for stage in dataclasses.fields(Config):
        for setting in dataclasses.fields(stage.default_factory):  # type: ignore[arg-type]
            yield stage.name, setting


def setting_type(setting: dataclasses.Field[Any]) -> type:
    """Return the Python type of a setting."""
    kind: type = setting.metadata["kind"]
    return kind


def settings_from_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the flat settings of a TOML file; a section or key that does not exist is a SettingsError."""
    try:
        import tomllib  # type: ignore[import-not-found,unused-ignore]
    except ModuleNotFoundError:  # Python 3.10
        import tomli as tomllib  # type: ignore[import-not-found,no-redef,unused-ignore]
    try:
        with open(path, "rb") as file:
            sections: Mapping[str, Any] = tomllib.load(file)
    except OSError as error:
        raise SettingsError([f"cannot read the settings file {os.fspath(path)}: {error.strerror}"]) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError([f"{os.fspath(path)}: {error}"]) from error
    stages = {setting.name: stage for stage, setting in setting_fields()}
    problems, flat = [], {}
    for section, values in sections.items():
        for name, value in values.items() if isinstance(values, dict) else [(section, values)]:
            if stages.get(name) == section:
                flat[name] = value
            elif name in stages:
                problems.append(f"{os.fspath(path)}: '{name}' in [{section}] belongs in [{stages[name]}]")
            else:
                near = _nearest(name, stages)
                problems.append(f"{os.fspath(path)}: there is no setting '{name}' in a section [{section}]{near}")
    if problems:
        try:
            Config.of(**flat)
        except SettingsError as error:
            problems.extend(error.problems)
        raise SettingsError(problems)
    return flat


def _coerce(setting: dataclasses.Field[Any], value: Any) -> Any:
    wanted = setting_type(setting)
    if value is None and setting.default is None:
        return None
    if wanted is Fraction:
        # repr, not the binary value: 0.8 means 4/5, and limits are compared as integers.
        return Fraction(str(value)) if isinstance(value, (int, float, str)) else Fraction(value)
    if wanted is WordSource:
        return value if isinstance(value, WordSource) else WordSource(value)
    if wanted is bool or wanted is str:
        if wanted is str and isinstance(value, os.PathLike):
            value = os.fspath(value)
        if wanted is str and isinstance(value, (list, tuple)):
            value = ",".join(map(str, value))
        if wanted is str and setting.name in _COUNTS_OR_WORDS and type(value) is int:
            value = str(value)
        if not isinstance(value, wanted):
            raise TypeError
        return value
    if value == "auto" and setting.metadata["takes_auto"]:
        return AUTO
    number = float(value)
    if isinstance(value, bool) or not math.isfinite(number) or (wanted is int and number != int(number)):
        raise TypeError
    return int(value) if wanted is int else number


def _type_word(setting: dataclasses.Field[Any]) -> str:
    words = {Fraction: "a number", int: "a whole number", float: "a number", bool: "True or False", str: "text"}
    words[WordSource] = "a file, words, a mapping or a table"
    return words[setting_type(setting)]


def _nearest(name: str, known: Iterable[str]) -> str:
    """Return which name may have been meant."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")  # TOML's strings are JSON's, except for DEL
