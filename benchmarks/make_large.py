"""Makes collections of any size: rounds over the real collections, every round in other words, with known reuse on top.

A round writes every source document again: each word beyond the 200 most frequent is replaced by another of similar frequency,
the same one throughout the round. Case, punctuation, markup and lines stay. So what is repeated in the source is repeated in
each round, and rounds have nothing in common but short sentences of frequent words. A word that stands once in the source is
spelled again in each round, so that the vocabulary grows with the collection, as it does in real ones.

Across all rounds some documents are copies of an earlier one, whole or edited, or carry a passage of one; some have a footer
that is always the same. The file does not depend on its size: smaller collections are the first documents of larger ones.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from make_collection import SOURCES, read_lines, require_data

SEED = 1
ROUND_MB = 333  # three rounds a gigabyte, so that collections of 1, 2, 4, 8 GB end with a whole round, nearly
N_FREQUENT = 200
FREQUENCY_STEP = 1.5  # words change places inside ranks 200 to 300, 300 to 450, …
SHARES = {"copy": 0.05, "edited": 0.05, "passage": 0.10}  # of all documents; the others are plain
FOOTER_SHARE = 0.02
EDIT_EVERY_WORDS = 20
PASSAGE_SENTENCES = (3, 20)
FOOTER = (
    "\n\nThis page belongs to the open shelf of the reading room. Nobody vouches for what it says about prices or dates. "
    "Ask at the desk if you want to take a copy home. Lost cards are replaced on the first Tuesday of the month.\n"
)
# Signs of Chinese and Japanese have no spaces between words: each counts as a word.
_SIGNS = "\u3040-\u30ff\u3400-\u9fff"
_SYLLABLES = "\uac00-\ud7a3"  # Korean
_PIECE = re.compile(rf"[{_SIGNS}]|[^\W\d_{_SIGNS}]+|\d+|[\W_]+")
_SENTENCE_END = re.compile(r"[.!?]\W*\s|[。！？]|\n\s*\n")
_FORMS = (str.lower, str.capitalize, str.upper)


class Source(NamedTuple):
    """Documents as numbers of pieces (words, and what is between them), and what is known of each piece."""

    names: list[str]  # unique
    pieces: NDArray[np.int32]
    starts: NDArray[np.int64]  # where a document begins in pieces; one more than documents
    forms: NDArray[np.int64]  # a piece's own spelling, three spellings a word: lower, capitalised, upper case
    groups: list[NDArray[np.int64]]  # words that may change places with one another, the most frequent left out
    is_word: NDArray[np.bool_]
    is_rare: NDArray[np.bool_]
    ends_sentence: NDArray[np.bool_]
    spelling_starts: NDArray[np.int64]
    spellings: NDArray[np.uint8]  # escaped as JSON wants it

    def document(self, number: int) -> NDArray[np.int32]:
        """Return the pieces of a document."""
        return self.pieces[self.starts[number] : self.starts[number + 1]]


def read_source(data: Path, max_bytes: int) -> Source:
    """Read the real collections, shuffled, as many documents as `max_bytes` of JSON lines hold; cut them into pieces."""
    records = [(source, line) for source in SOURCES for line in read_lines(data / source)]
    random.Random(SEED).shuffle(records)
    number_of: defaultdict[str, int] = defaultdict(count().__next__)
    names, documents, n_bytes = [], [], 0
    for source, line in records:
        record = json.loads(line)
        documents.append(np.fromiter(map(number_of.__getitem__, _PIECE.findall(record["text"])), np.int32))
        names.append(f"{source.replace('/docs', '').removesuffix('.jsonl.zst')}:{record['id']}")
        n_bytes += len(line.encode())
        if n_bytes >= max_bytes:
            break
    del records
    starts = np.cumsum([0, *map(len, documents)])
    return _describe(names, np.concatenate(documents), starts, list(number_of))


def _describe(names: list[str], pieces: NDArray[np.int32], starts: NDArray[np.int64], vocabulary: list[str]) -> Source:
    """Sort pieces into words and what is between, and words into groups of similar frequency."""
    counts = np.bincount(pieces, minlength=len(vocabulary))
    word_of: dict[str, int] = {}
    forms = np.empty(len(vocabulary), np.int64)
    is_word, ends_sentence = np.zeros((2, len(vocabulary)), np.bool_)
    for number, piece in enumerate(vocabulary):
        is_word[number] = piece[0].isalnum()
        ends_sentence[number] = not is_word[number] and _SENTENCE_END.search(piece) is not None
        # In mixed case it is a word of its own.
        form = next((i for i, change in enumerate(_FORMS) if change(piece) == piece == change(piece.lower())), None)
        word = piece if form is None else piece.lower()
        forms[number] = 3 * word_of.setdefault(word, len(word_of)) + (form or 0)
    words = list(word_of)
    word_counts = np.bincount(forms // 3, counts, len(words)).astype(np.int64)
    groups = []
    kinds = np.array([_kind(word) for word in words])
    for kind in range(1, kinds.max() + 1):
        ranked = np.flatnonzero(kinds == kind)
        ranked = ranked[np.argsort(-word_counts[ranked], kind="stable")]
        begin = N_FREQUENT
        while begin < len(ranked):
            end = int(begin * FREQUENCY_STEP)
            groups.append(ranked[begin:end])
            begin = end
    spellings = [
        json.dumps(spelling, ensure_ascii=False)[1:-1].encode()
        for word in words
        for spelling in ([word] * 3 if word != word.lower() else [change(word) for change in _FORMS])
    ]
    return Source(
        names, pieces, starts, forms, groups, is_word, (kinds == 1)[forms // 3] & (word_counts == 1)[forms // 3], ends_sentence,
        np.cumsum([0, *map(len, spellings)]), np.frombuffer(b"".join(spellings), np.uint8),
    )  # fmt: skip


def _kind(word: str) -> int:
    """Return 0 for what is no word, 1 for words, 2 for Korean ones, 3 for signs, 4 for mixed case, 5 and up for digits."""
    if word.isdigit():
        return 4 + min(len(word), 5)
    if not word[0].isalpha():
        return 0
    if re.match(f"[{_SYLLABLES}{_SIGNS}]", word):
        return 2 if re.match(f"[{_SYLLABLES}]", word) else 3
    return 1 if word == word.lower() else 4


@njit
def _render(pieces, forms, is_rare, suffix, spelling_starts, spellings, out):  # type: ignore[no-untyped-def]
    """Write the spellings of pieces to `out`, rare ones with the suffix; return the bytes written, or -1 if out of room."""
    end = 0
    for piece in pieces:
        form = forms[piece]
        n_bytes = spelling_starts[form + 1] - spelling_starts[form]
        if end + n_bytes + len(suffix) > len(out):
            return -1
        for i in range(n_bytes):
            out[end + i] = spellings[spelling_starts[form] + i]
        end += n_bytes
        if is_rare[piece]:
            for i in range(len(suffix)):
                out[end + i] = suffix[i]
            end += len(suffix)
    return end


class SampleRatios:
    """Writes documents as they are in each round."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._chance = np.random.default_rng(SEED)
        self._forms = [source.forms]  # the first round is the source itself
        self._out = np.empty(1 << 22, np.uint8)

    def text(self, round_number: int, pieces: NDArray[np.int32]) -> bytes:
        """Return pieces in the words of a round, ready to be in a JSON string."""
        source = self._source
        while round_number >= len(self._forms):
            word_of = np.arange(len(source.spelling_starts) // 3)
            for group in source.groups:
                word_of[group] = self._chance.permutation(group)
            self._forms.append(3 * word_of[source.forms // 3] + source.forms % 3)
        suffix = np.frombuffer(_suffix(round_number), np.uint8)
        while True:
            forms, starts, spellings = self._forms[round_number], source.spelling_starts, source.spellings
            end = _render(pieces, forms, source.is_rare, suffix, starts, spellings, self._out)
            if end >= 0:
                return self._out[:end].tobytes()
            self._out = np.empty(2 * len(self._out), np.uint8)


def _suffix(round_number: int) -> bytes:
    """Return the letters that rare words end with in a round."""
    return b"" if round_number == 0 else bytes((97 + round_number // 26 % 26, 97 + round_number % 26))


def make_documents(source: Source) -> Iterator[tuple[bytes, str, bool]]:
    """Yield documents without end: the line of JSON, what kind it is of, and whether it has the footer."""
    rounds, chance = SampleRatios(source), np.random.default_rng(SEED + 1)
    n_documents = len(source.names)
    footer = json.dumps(FOOTER)[1:-1].encode()
    is_plain = bytearray()  # one of these can be taken from: so nothing is a copy of a copy
    for round_number in count():
        kinds = chance.choice([*SHARES, "plain"], n_documents, p=[*SHARES.values(), 1 - sum(SHARES.values())]).tolist()
        footers = (chance.random(n_documents) < FOOTER_SHARE).tolist()
        for number in range(n_documents):
            kind, pieces, taken_from = kinds[number], source.document(number), None
            if kind != "plain" and any(is_plain):
                earlier = int(chance.integers(len(is_plain)))
                while not is_plain[earlier]:
                    earlier = int(chance.integers(len(is_plain)))
                taken_from = divmod(earlier, n_documents)
            if taken_from is None:
                kind, text = "plain", rounds.text(round_number, pieces)
            elif kind == "passage":
                text = _with_passage(source, rounds, (round_number, number), taken_from, chance)
            else:
                taken = source.document(taken_from[1])
                text = rounds.text(taken_from[0], _edited(source, taken, chance) if kind == "edited" else taken)
            is_plain.append(kind == "plain" and not footers[number])
            name = json.dumps(f"{round_number}/{kind}/{source.names[number]}", ensure_ascii=False).encode()
            line = b'{"id": %b, "text": "%b%b"}\n' % (name, text, footer if footers[number] else b"")
            yield line, kind, footers[number]


def _edited(source: Source, pieces: NDArray[np.int32], chance: np.random.Generator) -> NDArray[np.int32]:
    """Return pieces with one word in 20 replaced by another of the same document."""
    words = np.flatnonzero(source.is_word[pieces])
    changed = words[chance.random(len(words)) < 1 / EDIT_EVERY_WORDS]
    pieces = pieces.copy()
    if len(changed):
        pieces[changed] = pieces[chance.choice(words, len(changed))]
    return pieces


def _with_passage(
    source: Source, rounds: SampleRatios, place: tuple[int, int], taken_from: tuple[int, int], chance: np.random.Generator
) -> bytes:
    """Return a document with some sentences of another one between two of its own (or at its end)."""
    own, taken = source.document(place[1]), source.document(taken_from[1])
    own_ends, ends = (np.flatnonzero(source.ends_sentence[pieces]) + 1 for pieces in (own, taken))
    n_sentences = int(chance.integers(PASSAGE_SENTENCES[0], PASSAGE_SENTENCES[1] + 1))
    first = int(chance.integers(max(1, len(ends) - n_sentences)))
    begin = int(ends[first]) if len(ends) > n_sentences else 0
    end = int(ends[first + n_sentences]) if len(ends) > n_sentences else len(taken)
    cut = int(chance.choice(own_ends)) if len(own_ends) else len(own)
    before, after = rounds.text(place[0], own[:cut]), rounds.text(place[0], own[cut:])
    return before + rounds.text(taken_from[0], taken[begin:end]) + after


def make_large(data: Path, path: Path, n_bytes: int, round_bytes: int = ROUND_MB * 10**6) -> dict[str, Any]:
    """Write the first documents that fit into `n_bytes` as JSONL, and beside it what was planted (`….planted.json`)."""
    source = read_source(data, round_bytes)
    planted: Counter[str] = Counter()
    n_written = n_documents = 0
    aside = path.with_name(path.name + ".part")
    with open(aside, "wb", buffering=1 << 22) as file:
        for line, kind, has_footer in make_documents(source):
            if n_written + len(line) > n_bytes:
                break
            file.write(line)
            n_written += len(line)
            n_documents += 1
            planted[kind] += 1
            planted["footer"] += has_footer
    description = {
        "bytes": n_written, "documents": n_documents, "rounds": round(n_documents / len(source.names), 3),
        "planted": dict(planted),
    }  # fmt: skip
    path.with_suffix(".planted.json").write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
    aside.replace(path)  # last: whoever sees the file has all of it
    return description


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, help="JSONL file to write")
    parser.add_argument("--data", help="folder with the real collections")
    parser.add_argument("--mb", type=int, default=1000, help="size of the file in MB")
    parser.add_argument("--round-mb", type=int, default=ROUND_MB, help="size of a round in MB")
    options = parser.parse_args()
    begin = time.perf_counter()
    options.path.parent.mkdir(parents=True, exist_ok=True)
    made = make_large(require_data(options.data), options.path, options.mb * 10**6, options.round_mb * 10**6)
    print(f"{options.path}: {made['documents']:,} documents, {made['rounds']} rounds, {time.perf_counter() - begin:.0f} s")
    print(", ".join(f"{kind} {number:,}" for kind, number in made["planted"].items()))


if __name__ == "__main__":
    main()
