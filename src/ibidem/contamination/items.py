"""The items of benchmarks: their fields with prompts and answers, read from files or objects, and what finds them in texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.distinct import firsts, numbered
from ibidem.columns.hashes import draw_seed
from ibidem.columns.ragged import ranges, starts_of, take_ranges
from ibidem.columns.text_checks import CheckKey
from ibidem.config import Config, DocumentsConfig
from ibidem.config.contamination_settings import AUTO_FIELDS, LEAST_ITEM_WORDS, fields_of_benchmark, owners_of_fields
from ibidem.config.settings import NONE
from ibidem.config.surface import given, in_shell, named
from ibidem.contamination import kernels
from ibidem.errors import InputError, SettingsError
from ibidem.formats import describe_inputs, read_batches, resolve_inputs
from ibidem.formats.inputs import without_iterators
from ibidem.formats.known_fields import field_names
from ibidem.formats.python_inputs import repeatable, settle
from ibidem.formats.records import shown_names
from ibidem.formats.sources import FileSource, place_of
from ibidem.model import Skipped
from ibidem.sentences.hashed_words import HashedWords, gram_keys, hash_counted, point_of
from ibidem.sentences.ignored_text import IgnoredText, load_ignored

PROMPT, ANSWER = "prompt", "answer"
ROLES = (PROMPT, ANSWER)
USUAL_FIELDS = {
    PROMPT: ("question", "problem", "prompt", "instruction", "input", "query", "stem", "premise", "goal", "ctx", "context",
             "passage", "sentence", "text"),
    ANSWER: ("answer", "solution", "target", "canonical_solution", "completion", "output", "response", "reference", "best_answer"),
}  # fmt: skip
MOST_SHARING = 10  # a gram in more items than this leads to none of them, unless an item has no rarer one
_FILTER_BITS_A_KEY = 16

Numbers = NDArray[np.int64]
Keys = NDArray[np.uint64]

# A field of an item: the number and the name of its benchmark, the number and the id of its item, and where it was read.
FIELDS = pa.schema(
    [
        ("benchmark", pa.int64()),
        ("name", pa.large_string()),
        ("item", pa.int64()),
        ("id", pa.large_string()),
        ("field", pa.large_string()),
        ("role", pa.string()),
        ("source", pa.large_string()),
        ("position", pa.int64()),
    ]
)


class GramTable(NamedTuple):
    """The grams that lead to texts: a hash table of their keys, and for each gram the texts and the words where it begins."""

    filter_bits: Keys
    slot_keys: Keys
    slot_grams: Numbers
    post_first: Numbers
    post_text: Numbers
    post_word: Numbers
    is_anchor: NDArray[np.bool_]

    @classmethod
    def of(cls, keys: Keys, text: Numbers, word: Numbers) -> GramTable:
        """Return the table of grams, given the key, the text and the place of each; keys are not 0.

        Of equal grams of a text, the first leads to it. The rarest gram of a text is its anchor.
        """
        order = np.lexsort((word, text, keys))
        keys, text, word = keys[order], text[order], word[order]
        is_new = np.ones(len(keys), np.bool_)
        is_new[1:] = (keys[1:] != keys[:-1]) | (text[1:] != text[:-1])
        keys, text, word = keys[is_new], text[is_new], word[is_new]
        heads = firsts(keys)
        n_texts = np.diff(np.append(heads, len(keys)))
        n_sharing = np.repeat(n_texts, n_texts)
        by_text = np.lexsort((word, n_sharing, text))
        is_anchor = np.zeros(len(keys), np.bool_)
        is_anchor[by_text[firsts(text[by_text])]] = True
        chosen = is_anchor | (n_sharing <= MOST_SHARING)
        keys, text, word, is_anchor = keys[chosen], text[chosen], word[chosen], is_anchor[chosen]
        heads = firsts(keys)
        distinct = keys[heads]
        filter_bits = np.zeros(1 << max(10, (_FILTER_BITS_A_KEY * len(distinct)).bit_length() - 6), np.uint64)
        slot_keys = np.zeros(1 << max(4, (2 * len(distinct)).bit_length()), np.uint64)
        slot_grams = np.zeros(len(slot_keys), np.int64)
        kernels.fill_table(distinct, filter_bits, slot_keys, slot_grams)
        return cls(filter_bits, slot_keys, slot_grams, np.append(heads, len(keys)), text, word, is_anchor)


@dataclass(frozen=True)
class Items:
    """The fields of all items of benchmarks (`fields`, one row each, of `FIELDS`), with their `texts` and `words`.

    Fields with the same words are one *distinct text*: `distinct` has its number for each field, -1 for those with too few
    words to be looked for. `n_counted` are the words of each field that are not ignored.
    """

    names: Sequence[str]
    fields: pa.Table
    texts: pa.LargeStringArray
    words: HashedWords
    n_counted: Numbers
    distinct: Numbers
    seed: int
    inputs: Sequence[Mapping[str, Any]]
    skipped: Sequence[tuple[str, Skipped]]  # each with the name of its benchmark

    def __len__(self) -> int:
        return self.fields.num_rows

    @property
    def n_distinct(self) -> int:
        """Number of distinct texts."""
        return int(self.distinct.max(initial=-1)) + 1

    @cached_property
    def fields_of_distinct(self) -> tuple[Numbers, Numbers]:
        """The fields with each distinct text, concatenated, and where those of each begin."""
        order = np.argsort(self.distinct, kind="stable")
        order = order[self.distinct[order] >= 0]
        return order, np.searchsorted(self.distinct[order], np.arange(self.n_distinct + 1))

    @cached_property
    def examples(self) -> Numbers:
        """The first field with each distinct text."""
        order, first = self.fields_of_distinct
        return order[first[:-1]]

    @cached_property
    def distinct_words(self) -> HashedWords:
        """The words of the distinct texts."""
        return self.words_of(self.examples)

    @cached_property
    def grams(self) -> GramTable:
        """What leads to the distinct texts."""
        words = self.distinct_words
        keys = gram_keys(words, LEAST_ITEM_WORDS, point_of(self.seed))
        place = np.flatnonzero(keys)
        text = words.documents(place)
        return GramTable.of(keys[place], text, place - words.first[text])

    @cached_property
    def short_partners(self) -> tuple[Numbers, Numbers]:
        """The fields of the same item that are too short to be looked for, concatenated, and where those of each field begin."""
        item = self.fields["item"].to_numpy()
        short = np.flatnonzero((self.distinct < 0) & self._may_follow)
        order = short[np.argsort(item[short], kind="stable")]
        begins, ends = (np.searchsorted(item[order], item, side=side) for side in ("left", "right"))
        counts = np.where(self.distinct >= 0, ends - begins, 0)
        return order[ranges(begins, counts)], starts_of(counts)

    @property
    def _may_follow(self) -> NDArray[np.bool_]:
        """Which fields mean something after a prompt: a number, or three characters; a single letter is there by chance."""
        texts = self.texts.to_pylist()
        return np.array([len(text.strip()) > 2 or any(map(str.isdigit, text)) for text in texts], np.bool_) & (
            np.diff(self.words.first) > 0
        )

    @cached_property
    def _rows(self) -> dict[tuple[str, str, str], int]:
        names = (self.fields[name].to_pylist() for name in ("name", "id", "field"))
        return {name: row for row, name in reversed(list(enumerate(zip(*names, strict=True))))}

    def text_of(self, benchmark: str, item: str, field: str) -> str:
        """Return the text of a field; of several items with one id, that of the first."""
        text: str = self.texts[self._rows[benchmark, item, field]].as_py()
        return text

    def words_of(self, fields: Numbers) -> HashedWords:
        """Return the words of some fields."""
        counts = np.diff(self.words.first)[fields]
        return HashedWords(take_ranges(self.words.hashes, self.words.first[fields], counts), starts_of(counts))


def check_level(config: Config) -> None:
    """Raise unless whole documents or passages are to be removed."""
    level = config.cleaning.level
    if level not in ("document", "passage"):
        either = f"{given('level', 'document')} or {given('level', 'passage')}"
        raise SettingsError([f"decontaminate knows {either}, not {given('level', level)}"])


def read_items(benchmarks: Mapping[str, Any], config: Config, train: Any = ()) -> Items:
    """Read benchmarks, given their inputs by name. A named field that no record has, or a benchmark that is also among the
    training data, is an InputError.
    """
    if not isinstance(benchmarks, Mapping) or not benchmarks:
        raise SettingsError([in_shell("name a benchmark: --benchmark NAME=PATH", 'benchmarks must be a dict: {"name": inputs}')])
    settings = config.contamination
    named_fields = settings.prompt_fields, settings.answer_fields, settings.item_id_field
    if unknown := [owner for owner in owners_of_fields(named_fields) if owner not in benchmarks]:
        known = ", ".join(benchmarks)
        raise SettingsError([f"there is no benchmark '{unknown[0]}' to have fields; the benchmarks are {known}"])
    rows: dict[str, list[Any]] = {name: [] for name in FIELDS.names}
    texts: list[str] = []
    skipped: list[tuple[str, Skipped]] = []
    inputs: list[Mapping[str, Any]] = []
    n_items = 0
    for number, (name, item) in enumerate(benchmarks.items()):
        sources = repeatable(settle(item))
        _check_apart(name, sources, train)
        inputs += [{**described, "benchmark": name} for described in describe_inputs(sources)]
        found = list(_read_fields(name, sources, config, skipped))
        items: dict[tuple[str, int], int] = {}
        for field in found:
            of_item = items.setdefault((field.source, field.position), n_items + len(items))
            values = number, name, of_item, field.id, field.field, field.role, field.source, field.position
            for column, value in zip(rows.values(), values, strict=True):
                column.append(value)
            texts.append(field.text)
        n_items += len(items)
    order = np.lexsort((np.arange(len(texts)), np.array(rows["item"], np.int64)))
    table = pa.table(rows, schema=FIELDS).take(pa.array(order))
    column = pa.array(texts, pa.large_string()).take(pa.array(order))
    return _prepared(list(benchmarks), table, column, inputs, skipped, config)


def _check_apart(name: str, benchmark: Any, train: Any) -> None:
    sides = [
        {place_of(source): source.name for source in resolve_inputs(without_iterators(side)) if isinstance(source, FileSource)}
        for side in (benchmark, train)
    ]
    if both := sides[0].keys() & sides[1].keys():
        step = "Leave it out of the training data: all of it would be removed."
        raise InputError(f"{sides[0][min(both)]} is both the benchmark {name} and training data", step)


def _prepared(
    names: list[str], fields: pa.Table, texts: pa.LargeStringArray, inputs: list[Mapping[str, Any]],
    skipped: list[tuple[str, Skipped]], config: Config,
) -> Items:  # fmt: skip
    seed = draw_seed()
    ignored: IgnoredText | None = load_ignored(config.sentences.ignore)
    words = hash_counted(texts, np.arange(len(texts)), seed, ignored)
    n_counted = np.diff(words.first)
    if ignored is not None:
        n_ignored = starts_of(ignored.words(texts)[1])
        n_counted = n_counted - (n_ignored[words.first[1:]] - n_ignored[words.first[:-1]])
    distinct = np.full(len(texts), -1, np.int64)
    long = np.flatnonzero(n_counted >= config.contamination.min_item_words)
    if len(long):
        plain = words if ignored is None else hash_counted(texts, np.arange(len(texts)), seed, None)
        counts = np.diff(plain.first)[long]
        checks = CheckKey(seed).of_tokens(take_ranges(plain.hashes, plain.first[long], counts), starts_of(counts))
        number, example = numbered(*checks.T)
        in_order = np.empty(len(example), np.int64)
        in_order[np.argsort(example, kind="stable")] = np.arange(len(example))
        distinct[long] = in_order[number]
    return Items(names, fields, texts, words, n_counted, distinct, seed, inputs, skipped)


class ReadField(NamedTuple):
    """A field of an item as it was read."""

    id: str
    field: str
    role: str
    text: str
    source: str
    position: int


def _read_fields(name: str, inputs: Any, config: Config, skipped: list[tuple[str, Skipped]]) -> Iterator[ReadField]:
    """Yield the fields of a benchmark's items, field by field; records without any of them are skipped."""
    chosen = _chosen_fields(name, inputs, config)
    usable: set[tuple[str, int]] = set()
    left_out: dict[tuple[str, int], Skipped] = {}
    for role, field, is_named in chosen:
        ids = fields_of_benchmark(config.contamination.item_id_field, name) or [DocumentsConfig().id_field]
        fields = DocumentsConfig(text_field=field, id_field=ids[0], encoding=config.documents.encoding)
        missing: list[Skipped] = []
        n_found = 0
        for batch in read_batches(inputs, fields, missing.append):
            columns = (batch[column].to_pylist() for column in ("id", "text", "source", "position"))
            for item_id, text, source, position in zip(*columns, strict=True):
                usable.add((source, position))
                n_found += 1
                yield ReadField(item_id, field, role, text, source, position)
        if is_named and n_found == 0:
            raise _no_field(name, role, field, inputs, missing, config)
        left_out |= {(record.source, record.position): record for record in missing}
    if not usable:
        raise _no_field(name, PROMPT, chosen[0][1], inputs, list(left_out.values()), config)
    skipped += [(name, record) for place, record in left_out.items() if place not in usable]


def _chosen_fields(name: str, inputs: Any, config: Config) -> list[tuple[str, str, bool]]:
    """Return role and name of the fields to read, and whether they were named by the user."""
    chosen: list[tuple[str, str, bool]] = []
    for role, setting in ((PROMPT, config.contamination.prompt_fields), (ANSWER, config.contamination.answer_fields)):
        fields = fields_of_benchmark(setting, name) or [AUTO_FIELDS]
        if fields == [AUTO_FIELDS]:
            known = _known_fields(inputs, config.documents.encoding)
            found = [field for field in USUAL_FIELDS[role] if field in known]
            if role == PROMPT and not found:
                if known:
                    step = f"Name one with {_prompt_setting(name)}. The fields are {shown_names(sorted(known))}."
                    raise InputError(f"the benchmark {name} has no field that usually contains a prompt", step)
                found = [DocumentsConfig().text_field]  # plain texts
            chosen += [(role, field, False) for field in found]
        elif fields != [NONE]:
            chosen += [(role, field, True) for field in fields]
    if len({field for _, field, _ in chosen}) < len(chosen):
        twice = next(field for _, field, _ in chosen if [each for _, each, _ in chosen].count(field) > 1)
        raise SettingsError([f"the field '{twice}' of the benchmark {name} is named twice"])
    if not chosen:
        raise SettingsError([f"the benchmark {name} has no fields: {named('prompt_fields')} and {named('answer_fields')} are none"])
    return chosen


def _prompt_setting(name: str) -> str:
    return in_shell(f"--prompt-fields {name}=FIELD", f'prompt_fields="{name}=FIELD"')


def _known_fields(inputs: Any, encoding: str) -> set[str]:
    known: set[str] = set()
    for source in resolve_inputs(inputs):
        known |= set(field_names(source, encoding))
    return known


def _no_field(
    name: str, role: str, field: str, inputs: Any, missing: Sequence[Skipped], config: Config
) -> InputError:
    """Return the error for a field that no record has."""
    where = ""
    if missing:
        first = min(missing, key=lambda record: (record.source, record.position))
        line = f":{first.position}" if first.position else ""
        where = f" ({first.source}{line}: {first.reason})"
    known = sorted(_known_fields(inputs, config.documents.encoding))
    setting = in_shell(f"--{role}-fields {name}=FIELD", f'{role}_fields="{name}=FIELD"')
    step = f"Name another with {setting}." + (f" The fields are {shown_names(known)}." if known else "")
    return InputError(f"no record of the benchmark {name} has text in the field '{field}'{where}", step)

