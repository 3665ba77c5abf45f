"""A constructed oracle: real documents into which passages of one another are copied; all duplicate sentences are known.

PDC-MR's oracle sets are 2,000 web pages in English and 2,000 in Chinese, labelled by hand; they are not to be had. This one
has as many documents and about as many sentences, and the same share of duplicate sentences that are identical (.89 and .91).
The paper does not say how the others differ, but its recall shows it: at similarity 0.9, where a changed word is
too much in most sentences, .966 and .937 are found, so seven tenths and three tenths of them differ in signs or case only.
The others here have a word or two changed. Passages are of the lengths that the paper tells of: about 6 sentences, most above
3; one in ten is a whole document, as its news and its articles in several pages are.

Whatever real documents share by themselves would be unknown truth. So a sentence of eight words or more that stands
in the collection twice is left out. Shorter ones stay in two documents, if their neighbours are not repeated, too ("See also.",
"Examples"): they are equal by chance, and whoever reports them is wrong.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from inputs import read_documents

import ibidem

SEED = 2010
N_DOCUMENTS = 2000
LEAST_LABELLED_WORDS = 8
LEAST_SENTENCES = 8
LENGTHS = (2, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 12)  # of copied passages, in sentences: 5.9 in the mean
WHOLES = 0.1  # of what is copied: whole documents
COPIES_A_DOCUMENT = 0.5
CHANCE_DOCUMENTS = 2  # that a short sentence may occur in by chance
SENTENCES = ("a_id", "a_sentence", "b_id", "b_sentence")


class Language(NamedTuple):
    """Where the documents come from, and the paper's figures for its oracle of that language."""

    name: str
    path: str
    exact_share: float
    signs_share: float  # of those that are not identical: those that differ in signs or case only
    most_sentences: int  # of a document, so that there are about as many in all as in the paper
    between: str  # words


ENGLISH = Language("English", "mdn_en/docs.jsonl.zst", 0.89, 0.7, 40, " ")
CHINESE = Language("Chinese", "mdn_zh/docs.jsonl.zst", 0.91, 0.3, 60, "")


class Oracle(NamedTuple):
    """Documents as records and as lists of sentences, and the true pairs of sentences."""

    records: list[dict[str, str]]
    sentences: list[list[str]]
    truth: pa.Table
    n_identical: int  # true pairs of the same words

    @property
    def n_sentences(self) -> int:
        """The total number of sentences."""
        return sum(map(len, self.sentences))

    def found_pairs(self, result: ibidem.Result) -> pa.Table:
        """Return the pairs of sentences that lie on the diagonals of passages without gaps."""
        places = {}
        for record, sentences in zip(self.records, self.sentences, strict=True):
            start = 0
            for number, sentence in enumerate(sentences):
                places[record["id"], start] = places[record["id"], -(start + len(sentence))] = number
                start += len(sentence) + 2
        rows: list[tuple[str, int, str, int]] = []
        for passage in result:
            a, b = passage.a, passage.b
            first_a, last_a = places[a.id, a.start], places[a.id, -a.end]
            first_b, last_b = places[b.id, b.start], places[b.id, -b.end]
            assert last_a - first_a == last_b - first_b, passage
            rows += [(a.id, first_a + k, b.id, first_b + k) for k in range(last_a - first_a + 1)]
        return pair_table(rows)


def make_oracle(data: Path, language: Language, n_documents: int = N_DOCUMENTS) -> Oracle:
    """Return the oracle of a language; the same every time."""
    chance = random.Random(SEED)
    documents = list(_plain_documents(data / language.path, n_documents, language.most_sentences))
    places: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)  # original: where it occurs
    inserted: list[list[tuple[int, int, str]]] = [[] for _ in documents]  # by document: original, and its text here
    at = [0] * len(documents)
    for target in range(len(documents)):
        if chance.random() >= COPIES_A_DOCUMENT:
            continue
        source = chance.randrange(len(documents))
        is_whole = chance.random() < WHOLES
        length = len(documents[source]) if is_whole else min(chance.choice(LENGTHS), len(documents[source]) // 2)
        if source == target or length == 0:
            continue
        first = chance.randrange(len(documents[source]) - length + 1)
        at[target] = chance.randrange(len(documents[target]) + 1)
        for number in range(first, first + length):
            text = documents[source][number]
            if chance.random() >= language.exact_share:
                is_sign = chance.random() < language.signs_share
                changed = _with_other_signs(text, chance) if is_sign else _edited(text, chance, language.between)
                text = changed if _is_one(changed) else text
            inserted[target].append((source, number, text))
    sentences = []
    identical = []
    for number, plain in enumerate(documents):
        cut = at[number]
        copies = inserted[number]
        sentences.append([*plain[:cut], *(text for _, _, text in copies), *plain[cut:]])
        for k in range(len(plain)):
            places[number, k].append((number, k if k < cut else k + len(copies)))
        for k, (source, original, _) in enumerate(copies):
            places[source, original].append((number, cut + k))
    rows = []
    for stand in places.values():
        for (a, i), (b, j) in combinations(sorted(stand), 2):
            if a != b:
                rows.append((str(a), i, str(b), j))
                identical.append(sentences[a][i] == sentences[b][j])
    records = [{"id": str(number), "text": "\n\n".join(document)} for number, document in enumerate(sentences)]
    return Oracle(records, sentences, pair_table(rows), sum(identical))


def pair_table(rows: list[tuple[str, int, str, int]]) -> pa.Table:
    """Return pairs of sentences as a table."""
    columns = list(zip(*rows, strict=True)) or [()] * 4
    kinds = (pa.large_string(), pa.int64(), pa.large_string(), pa.int64())
    return pa.table([pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)], names=list(SENTENCES))


def _plain_documents(path: Path, n_documents: int, most_sentences: int) -> Iterator[list[str]]:
    """Yield documents of some sentences, none of which occurs elsewhere except by chance."""
    texts = read_documents(path)["text"].to_pylist()[: 3 * n_documents]
    read = [[text[start:end] for start, end in ibidem.split_sentences(text)] for text in texts]
    count = Counter(key for document in read for key in {_key(sentence) for sentence in document})
    n_kept: Counter[str] = Counter()
    n_yielded = 0
    for document in read:
        kept: list[str] = []
        seen: set[str] = set()
        was_repeated = False
        for sentence in document:
            key = _key(sentence)
            is_repeated = count[key] > 1
            is_labelled = was_repeated or _n_words(sentence) >= LEAST_LABELLED_WORDS or n_kept[key] == CHANCE_DOCUMENTS
            if not key or key in seen or (is_repeated and is_labelled):
                continue
            # It must be one sentence by itself, and without a break inside, where it will be put between others.
            if "\n" in sentence or not _is_one(sentence):
                continue
            if len(kept) == most_sentences:
                break
            seen.add(key)
            kept.append(sentence)
            was_repeated = is_repeated
        if len(kept) >= LEAST_SENTENCES:
            n_kept.update(seen)
            yield kept
            n_yielded += 1
        if n_yielded == n_documents:
            return


def _is_one(sentence: str) -> bool:
    return ibidem.split_sentences(sentence) == [(0, len(sentence))]


def _key(sentence: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in sentence.casefold()).split())


def _n_words(sentence: str) -> int:
    words = _key(sentence).split()
    return sum(len(word) if ord(word[0]) > 0x3000 else 1 for word in words)


def _with_other_signs(sentence: str, chance: random.Random) -> str:
    """Return a sentence of the same words that is not identical: it has a comma more."""
    if " " in sentence.strip():
        comma, after = ",", [at for at, sign in enumerate(sentence) if sign == " " and sentence[at - 1].isalnum()]
    else:
        comma, after = "，", [at for at in range(1, len(sentence)) if sentence[at - 1 : at + 1].isalpha()]
    if not after:
        return sentence
    at = chance.choice(after)
    return f"{sentence[:at]}{comma}{sentence[at:]}"


def _edited(sentence: str, chance: random.Random, between: str) -> str:
    """Return a sentence with one word (or, without blanks, one sign) changed, added or left out, or two changed."""
    pieces: list[Any] = sentence.split(" ") if between else list(sentence)
    inside = [k for k in range(1, len(pieces) - 1) if any(c.isalnum() for c in pieces[k])]
    if not inside:
        return sentence
    for _ in range(chance.choice((1, 1, 1, 1, 2))):
        k = chance.choice(inside)
        kind = chance.randrange(4)
        other = pieces[chance.choice(inside)]
        pieces[k] = {0: other, 1: other, 2: f"{pieces[k]}{between}{other}", 3: ""}[kind]
    return between.join(piece for piece in pieces if piece)
