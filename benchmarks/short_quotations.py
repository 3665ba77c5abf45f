"""How many short quotations `find --min-aligned-words 5` finds, and what it reports beside them.

`python benchmarks/short_quotations.py --data DIR` puts runs of 5 to 24 words of one document of a real collection into another
one, word for word, in the middle of a sentence. A row gives the share of the quotations that is found (at least four fifths of
their characters, on both sides), of all and of those with a rare word, by length. The words of a quotation follow one another
nowhere else. Passages of other pairs of documents are in the collection anyway: their number is printed, that without the
quotations beside it, and with `--show` some short ones, to read.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import Counter, defaultdict
from typing import Any, NamedTuple

import ibidem
from make_collection import read_lines, require_data

LENGTHS = (5, 6, 8, 12, 16, 24)
FEWEST_WORDS = 150  # of a document that quotes or is quoted
RARE = 10  # a word that occurs so often in the collection, or less, is rare
WORD = re.compile(r"\w+")


class Quotation(NamedTuple):
    """A quotation that was put into a document: where it is there and in the source, its length, whether a word is rare."""

    document: str
    source: str
    place: tuple[int, int]
    source_place: tuple[int, int]
    n_words: int
    is_rare: bool


def is_prose(text: str) -> bool:
    """Return whether a text is language, not encoded data or a table."""
    return sum(char.isalpha() or char.isspace() for char in text) > 0.9 * len(text)


def _plain(text: str) -> str:
    return " ".join(WORD.findall(text.lower()))


def plant(records: list[dict[str, str]], n: int, chance: random.Random) -> list[Quotation]:
    """Put `n` quotations of each length into documents, at most one into each; return them.

    The words quoted are in a row nowhere else. Documents that quote are not quoted.
    """
    counts = Counter(word.lower() for record in records for word in WORD.findall(record["text"]))
    long = [record for record in records if len(record["text"].split()) >= FEWEST_WORDS and is_prose(record["text"])]
    chance.shuffle(long)
    everything = " ".join(_plain(record["text"]) for record in records)
    planted: list[Quotation] = []
    while len(long) >= 2 and len(planted) < n * len(LENGTHS):
        into, source, length = long.pop(), long.pop(), LENGTHS[len(planted) % len(LENGTHS)]
        words = [match.span() for match in WORD.finditer(source["text"])]
        at = chance.randrange(len(words) - length)
        start, end = words[at][0], words[at + length - 1][1]
        quoted = source["text"][start:end]
        if everything.count(_plain(quoted)) > 1:
            continue
        cut = chance.choice([match.end() for match in re.finditer(r"\w\s", into["text"])])
        into["text"] = f"{into['text'][:cut]}{quoted} {into['text'][cut:]}"
        is_rare = any(counts[word.lower()] <= RARE for word in WORD.findall(quoted))
        planted.append(Quotation(into["id"], source["id"], (cut, cut + len(quoted)), (start, end), length, is_rare))
    return planted


def is_found(quotation: Quotation, rows: list[dict[str, Any]]) -> bool:
    """Return whether a passage covers most of a quotation on both sides."""
    places = {quotation.document: quotation.place, quotation.source: quotation.source_place}
    for row in rows:
        shares = []
        for side in "ab":
            start, end = places[row[f"{side}_id"]]
            shares.append(min(end, row[f"{side}_end"]) - max(start, row[f"{side}_start"]) >= 0.8 * (end - start))
        if all(shares):
            return True
    return False


def main() -> None:
    """Print a row per length, then how many other passages there are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder with the real collections")
    parser.add_argument("--name", default="newsgroups20", help="collection in it")
    parser.add_argument("-n", type=int, default=200, help="quotations of each length")
    parser.add_argument("--documents", type=int, default=None, help="documents of the collection")
    parser.add_argument("--min-aligned-words", type=int, default=5, help="as in `find`")
    parser.add_argument("--show", type=int, default=0, help="print so many of the other short passages")
    options = parser.parse_args()
    lines = read_lines(require_data(options.data) / options.name / "docs.jsonl.zst")[: options.documents]
    records = [{key: value for key, value in json.loads(line).items() if key in ("id", "text")} for line in lines]
    chance = random.Random(1)
    before = [dict(record) for record in records]
    planted = plant(records, options.n, chance)
    pairs = {frozenset((each.document, each.source)) for each in planted}

    def found(records: list[dict[str, str]]) -> dict[frozenset[str], list[dict[str, Any]]]:
        by_pair = defaultdict(list)
        passages = ibidem.find(records, align=True, min_aligned_words=options.min_aligned_words).passages
        for row in passages.to_pylist():
            by_pair[frozenset((row["a_id"], row["b_id"]))].append(row)
        return by_pair

    begin = time.perf_counter()
    by_pair = found(records)
    seconds = time.perf_counter() - begin
    print(f"{'words':>6}{'all':>8}{'found':>8}{'rare':>8}{'found':>8}")
    for length in LENGTHS:
        of_length = [each for each in planted if each.n_words == length]
        rare = [each for each in of_length if each.is_rare]
        cells = []
        for some in (of_length, rare):
            hits = sum(is_found(each, by_pair[frozenset((each.document, each.source))]) for each in some)
            cells.append(f"{len(some):8}{hits / max(1, len(some)):8.3f}")
        print(f"{length:6}" + "".join(cells))
    n_words = sum(len(record["text"].split()) for record in records)
    texts = {record["id"]: record["text"] for record in records}
    others = [row for pair, rows in by_pair.items() if pair not in pairs for row in rows]
    n_before = sum(len(rows) for pair, rows in found(before).items() if pair not in pairs)
    short = [row for row in others if len(texts[row["a_id"]][row["a_start"] : row["a_end"]].split()) < 25]
    print(f"{len(records):,} documents, {n_words:,} words, {seconds:.1f} seconds")
    print(f"passages of other pairs: {len(others):,}, without the quotations {n_before:,}; {len(short):,} are below 25 words")
    for row in chance.sample(short, min(options.show, len(short))):
        print(f"  {row['a_id']} {row['b_id']}: {' '.join(texts[row['a_id']][row['a_start'] : row['a_end']].split())}")


if __name__ == "__main__":
    main()
