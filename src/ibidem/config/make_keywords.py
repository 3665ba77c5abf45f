"""Writes the settings of every function into its signature: `python -m ibidem.config.make_keywords`.

They replace the lines between `# settings of NAME` and `# end of settings`. A test fails when a signature is out of date.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from ibidem.config.config import setting_fields, setting_type
from ibidem.config.document_settings import DOCUMENT_FACTS
from ibidem.config.settings import DIFFERENCE_SETTINGS, REPORTED_LIMITS
from ibidem.config.word_source import WordSource

SOURCE = Path(__file__).parent.parent
WIDTH = 128
_WIDER_TYPES = {
    "antecedents": "str | int | Sequence[str]", "spot_stop_words": "str | int | Sequence[str]",
    "metadata": "GivenPath", "ignore": "str | Sequence[str]",
    "word_counts": "GivenWords", "stop_words": "GivenWords", "bits_per_word": 'int | Literal["auto"]',
}  # fmt: skip
_SIGNATURE_SETTINGS = (
    "signature", "min_idf", "max_idf", "antecedents", "spot_stop_words", "spot_short_chains", "spot_distance", "spot_chain",
    "max_document_share", "word_counts", "stop_words", "paper",
)  # fmt: skip
_DUPLICATE_SETTINGS = (
    "measure", "method", "min_containment", "min_shared_shingles", "sampling", "sample_every", "sample_remainder",
    "sample_size", "supershingles", "supershingle_size", "min_supershingles", "verify", "filter_bits", "permutations", "bands",
    "max_bits_apart",
)  # fmt: skip
_SENTENCE_TABLES = ("sentence_pairs", "postings")
_PASSAGE_TABLES = ("families", *_SENTENCE_TABLES)
_RUN = ("workers", "strict")
_INDEX_LOOKUP = ("signature_bits", "bits_per_word", "texts", "commit_every")
_FIXED = ("lang", "max_sentence_words", "hash_seed", "shingle_size", "min_similarity", *_SIGNATURE_SETTINGS)


@dataclasses.dataclass(frozen=True)
class Wanted:
    """The settings of a function: all those of some stages, except a few, plus single ones."""

    stages: Sequence[str] = ()
    without: Sequence[str] = ()
    also: Sequence[str] = ()

    def fields(self) -> Iterator[dataclasses.Field[Any]]:
        """Yield the settings, in the order of the flow; `engine` is a parameter of its own."""
        for stage, setting in setting_fields():
            if (stage in self.stages and setting.name not in self.without) or setting.name in self.also:
                if setting.name != "engine":
                    yield setting


_INDEX_STAGES = ("documents", "passages", "alignment", "index")
_NO_INDEX_SETTINGS = ("runs", "min_run_words", "families", "summaries", *REPORTED_LIMITS)
_QUERY = Wanted(_INDEX_STAGES, (*_INDEX_LOOKUP, "same_document", *_NO_INDEX_SETTINGS), ("ignore", "as_paper", "paper", *_RUN))
FUNCTIONS = {
    "find": Wanted(
        ("documents", "reference", "sentences", "signatures", "matches", "passages", "alignment", "engine", "output"),
        ("summaries", "contained"),
    ),
    "cluster": Wanted(
        ("documents", "reference", "signatures", "matches", "resemblance", "clusters", "engine", "output"),
        ("signature", "max_document_share", *_SENTENCE_TABLES, "keep_text"),
        ("hash_seed", "ignore"),
    ),
    "dedup": Wanted(
        (
            "documents",
            "reference",
            "sentences",
            "signatures",
            "matches",
            "passages",
            "alignment",
            "resemblance",
            "clusters",
            "cleaning",
            "engine",
            "output",
        ),
        (
            "max_gap_sentences",
            "extend_ends",
            "max_places",
            "skip_same_group",
            "runs",
            "summaries",
            *DIFFERENCE_SETTINGS,
            *REPORTED_LIMITS,
            "families",
            *_SENTENCE_TABLES,
            "keep_text",
            "format",
            "by_group",
        ),
    ),
    "decontaminate": Wanted(
        ("documents", "contamination", "engine", "output"),
        ("keep_text", "format", "time_field", "group_field", *DOCUMENT_FACTS),
        ("hash_seed", "ignore", "level", "mark_only"),
    ),
    "collapse": Wanted(
        also=(
            "text_field",
            "id_field",
            "hash_seed",
            "shingle_size",
            "min_similarity",
            "min_containment",
            "shingle_unit",
            "mark_only",
        )
    ),
    "compare": Wanted(("sentences", "alignment"), ("align", "ignore", "difference_kinds"), ("max_gap_sentences", "workers")),
    "compare_pairs": Wanted(
        ("documents", "sentences", "alignment", "output"),
        ("align", "ignore", "group_field", *DOCUMENT_FACTS),
        ("max_gap_sentences", "workers"),
    ),
    "tune": Wanted(
        ("documents", "signatures", "matches", "resemblance"),
        (*_SIGNATURE_SETTINGS, *_SENTENCE_TABLES, *_DUPLICATE_SETTINGS, "group_field", "time_field", *DOCUMENT_FACTS),
        ("hash_seed", *_RUN),
    ),
    "words": Wanted(("documents", "sentences"), ("ignore", "group_field", "time_field", "hash_seed", *DOCUMENT_FACTS), _RUN),
    "read": Wanted(("documents",)),
    "Index": Wanted(_INDEX_STAGES, _NO_INDEX_SETTINGS, (*_FIXED, "ignore", "as_paper", "paper", "memory", *_RUN)),
    "Index.query": _QUERY,
    "Index.check": _QUERY,
    "Index.add": Wanted(("documents",), (), ("as_paper", "memory", *_RUN)),
    "Index.info": Wanted(("index",)),
    "Index.watch": Wanted(
        _INDEX_STAGES, (*_NO_INDEX_SETTINGS, "query", *DOCUMENT_FACTS), ("ignore", "as_paper", "paper", "memory", *_RUN)
    ),
}
FILES = ("api.py", "contamination_api.py", "word_api.py", "formats/reader.py", "index/index.py")
# Verbs whose overloads say what a call returns take the same settings as a class of keywords.
OVERLOADED = ("find", "cluster", "dedup", "decontaminate")
SETTINGS_FILE = "config/verb_settings.py"
_BLOCK = re.compile(r"( *)# settings of ([\w.]+)\n(?:.*\n)*? *# end of settings\n")
_HEAD = '''"""The settings of verbs as keywords with types, for type checkers and editors; written by `make_keywords.py`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, TypedDict

from ibidem.config.word_source import GivenPath, GivenWords
'''


def main() -> None:
    """Write all signatures."""
    for name in FILES:
        path = SOURCE / name
        path.write_text(refreshed(path.read_text("utf-8")), encoding="utf-8")
    (SOURCE / SETTINGS_FILE).write_text(verb_settings(), encoding="utf-8")


def verb_settings() -> str:
    """Return the module with the keywords of verbs that have overloads."""
    parts = [_HEAD]
    for verb in OVERLOADED:
        parts.append(f'\n\nclass {verb.title()}Settings(TypedDict, total=False):\n    """Settings of `{verb}`."""\n\n')
        parts += [f"    {setting.name}: {type_of(setting)}\n" for setting in FUNCTIONS[verb].fields()]
    return "".join(parts)


def refreshed(source: str) -> str:
    """Return the source of a module with the settings that its functions have now."""
    return _BLOCK.sub(_block, source)


def _block(found: re.Match[str]) -> str:
    indent, name = found[1], found[2]
    lines = [indent]
    for word in map(parameter, FUNCTIONS[name].fields()):
        if len(lines[-1]) + len(word) + 2 > WIDTH and lines[-1] != indent:
            lines.append(indent)
        lines[-1] += ("" if lines[-1] == indent else " ") + word + ","
    return "\n".join([f"{indent}# settings of {name}", *lines, f"{indent}# end of settings"]) + "\n"


def parameter(setting: dataclasses.Field[Any]) -> str:
    """Return a setting as a parameter, with its type and default."""
    default = setting.default
    if isinstance(default, Fraction):
        default = float(default) if default.denominator > 1 else int(default)
    return f"{setting.name}: {type_of(setting)} = {_literal(default)}"


def type_of(setting: dataclasses.Field[Any]) -> str:
    """Return the type that callers may give."""
    choices = setting.metadata["choices"]
    if choices:
        return f"Literal[{', '.join(map(_literal, choices))}]"
    kind = setting_type(setting)
    name = "float | Fraction" if kind is Fraction else kind.__name__ + (" | None" if setting.default is None else "")
    return _WIDER_TYPES.get(setting.name, name)


def _literal(value: Any) -> str:
    return f'"{value}"' if isinstance(value, (str, WordSource)) else repr(value)


if __name__ == "__main__":
    main()
