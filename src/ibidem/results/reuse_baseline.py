"""A baseline: the sentences of each document that were already shared when a rule was introduced, so that they do not count.

It is keyed by what sentences say, not by where they are: nothing changes when text moves, when lines wrap differently, or when
another document is renamed. A document that is itself renamed takes over what was known of documents that were removed.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from ibidem.config import SentencesConfig
from ibidem.config.surface import given, in_shell
from ibidem.errors import InputError, ResourceError
from ibidem.execution.durable_files import replace_file
from ibidem.results.screen_lines import excerpt_of
from ibidem.sentences.splitter import SPLITTER_VERSION, split_texts
from ibidem.sentences.word_texts import words_in

FORMAT = 1
# Where a passage ends inside a sentence, the piece of it may change with the words around it: short ones decide nothing.
_LEAST_END_WORDS = 8
_EXCERPT_CHARS = 60
_DIGITS = 16


class SharedSentence(NamedTuple):
    """A sentence of a shared stretch: where it is in the stretch, its words, and a fingerprint of these.

    It is not shared itself if it is in a gap: less than half of its words are in the other text.
    """

    start: int
    end: int
    n_words: int
    fingerprint: int
    is_shared: bool = True


def shared_sentences(
    texts: pa.Array, config: SentencesConfig, others: Sequence[str | None] | None = None
) -> list[list[SharedSentence]]:
    """Return the sentences of each stretch of text. Fingerprints depend on the words alone, and on no seed.

    `others` are the texts on the other side of stretches that may have gaps; None if there are no gaps.
    """
    plain = SentencesConfig(lang=config.lang, max_sentence_words=config.max_sentence_words, hash_seed=0)
    found = split_texts(texts.cast(pa.large_string()), plain)
    columns = (found[name].to_pylist() for name in ("document", "start_char", "end_char", "n_words", "digest"))
    stretches: list[list[SharedSentence]] = [[] for _ in range(len(texts))]
    for row, *sentence in zip(*columns, strict=True):
        stretches[row].append(SharedSentence(*sentence))
    for row, other in enumerate(others or ()):
        if other is not None:
            stretches[row] = _without_gaps(stretches[row], texts[row].as_py(), other)
    return stretches


def _without_gaps(sentences: Sequence[SharedSentence], text: str, other: str) -> list[SharedSentence]:
    there = set(words_in(other))
    found = []
    for each in sentences:
        words = words_in(text[each.start : each.end])
        found.append(each._replace(is_shared=2 * sum(word in there for word in words) >= len(words)))
    return found


def new_parts(sentences: Sequence[SharedSentence], known: Collection[int]) -> list[Sequence[SharedSentence]]:
    """Return the runs of shared sentences of a stretch that are not known, in order.

    A short piece at either end counts as its neighbour.
    """
    is_new = [sentence.is_shared and sentence.fingerprint not in known for sentence in sentences]
    if len(sentences) > 1:
        for at, inner in ((0, 1), (-1, -2)):
            if sentences[at].n_words < _LEAST_END_WORDS:
                is_new[at] = is_new[inner]
    parts: list[Sequence[SharedSentence]] = []
    begin = 0
    for at in range(len(sentences) + 1):
        if at == len(sentences) or not is_new[at]:
            if begin < at:
                parts.append(sentences[begin:at])
            begin = at + 1
    return parts


@dataclass(frozen=True)
class Baseline:
    """What each document already shared: for every sentence its fingerprint and its first words, in the order of the text."""

    documents: Mapping[str, Mapping[int, str]]
    splitter: int = SPLITTER_VERSION

    @property
    def is_current(self) -> bool:
        """Whether sentences are still split and compared as they were when it was written."""
        return self.splitter == SPLITTER_VERSION

    def known_among(self, present: Collection[str]) -> dict[str, Collection[int]]:
        """Return the fingerprints known in each document that is there.

        One that the baseline does not have may be another under a new name: in it, all is known that was in documents that
        are gone.
        """
        gone = {each for doc_id in self.documents.keys() - set(present) for each in self.documents[doc_id]}
        return {doc_id: self.documents.get(doc_id, gone) for doc_id in present}

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the baseline as JSON with a line per sentence; an existing file is replaced when the new one is complete."""
        path = Path(path)
        lines = {
            doc_id: [f"{fingerprint:0{_DIGITS}x} {words}" for fingerprint, words in sentences.items()]
            for doc_id, sentences in sorted(self.documents.items())
            if sentences
        }
        content = {"ibidem_baseline": FORMAT, "splitter": self.splitter, "documents": lines}
        aside = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.part")
        try:
            try:
                aside.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", "utf-8")
                replace_file(aside, path)
            finally:
                with suppress(OSError):
                    aside.unlink()
        except OSError as error:
            message = f"cannot write the baseline {path}: {error.strerror or error}"
            raise ResourceError(message, "Check disk space and permissions.") from error
        return path

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Baseline:
        """Read a baseline; an InputError says what is wrong with the file."""
        create = f"Create it with {given('update_baseline', True)}." if in_shell("yes") else "Write it with write_baseline."
        try:
            content: Any = json.loads(Path(path).read_text("utf-8-sig"))
        except FileNotFoundError:
            raise InputError(f"there is no baseline {os.fspath(path)}", create) from None
        except OSError as error:
            raise InputError(f"cannot read the baseline {os.fspath(path)}: {error.strerror}", create) from error
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"the baseline {os.fspath(path)} is not JSON: {error}",
                f"Restore it, for example from version control (a merge may have left marks in it). {create}",
            ) from error
        form = content.get("ibidem_baseline") if isinstance(content, dict) else None
        if form is None:
            raise InputError(f"{os.fspath(path)} is not a baseline", "Check the name of the file.")
        if form != FORMAT:
            raise InputError(
                f"the baseline {os.fspath(path)} has format {form!r}, and this version of ibidem reads format {FORMAT}",
                f"Use the version that wrote it. {create}",
            )
        try:
            documents = {doc_id: dict(map(_sentence, lines)) for doc_id, lines in content["documents"].items()}
            return cls(documents, int(content["splitter"]))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"the baseline {os.fspath(path)} is damaged: {_reason(error)}", f"Restore it from version control. {create}"
            ) from error


def _sentence(line: str) -> tuple[int, str]:
    digits, _, words = line.partition(" ")
    try:
        if len(digits) != _DIGITS:
            raise ValueError
        return int(digits, 16), words
    except ValueError:
        raise ValueError(f"{line[:40]!r} does not begin with a fingerprint") from None


def _reason(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


class BaselineSentences:
    """The shared sentences of documents, collected for a baseline."""

    def __init__(self) -> None:
        self._found: dict[str, dict[int, tuple[int, str]]] = {}

    def add(self, doc_id: str, start: int, text: str, sentences: Iterable[SharedSentence]) -> None:
        """Add the sentences of a stretch that begins at a character of a document."""
        own = self._found.setdefault(doc_id, {})
        for sentence in sentences:
            at = start + sentence.start
            if not sentence.is_shared:
                continue
            if sentence.fingerprint not in own or at < own[sentence.fingerprint][0]:
                own[sentence.fingerprint] = (at, excerpt_of(text[sentence.start : sentence.end], _EXCERPT_CHARS))

    def baseline(self) -> Baseline:
        """Return the baseline of what was added."""
        documents = {}
        for doc_id, own in self._found.items():
            in_order = sorted(own.items(), key=lambda entry: (entry[1][0], entry[0]))
            documents[doc_id] = {fingerprint: words for fingerprint, (_, words) in in_order}
        return Baseline(documents)
