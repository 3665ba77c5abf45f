"""How well edited copies are found in languages without spaces between words, beside English and Korean.

`python benchmarks/scripts.py --data DIR` copies passages of technical pages into others of the same language and edits them as
the PAN collections do: unchanged; words replaced, dropped and added; pieces of sentences moved. In unspaced scripts two
characters count as a word. Pairs of pages that share text anyway are left out. Thai has no collection here: its texts are
English ones, each word written as Thai syllables, without spaces.

The score is the harmonic mean of recall (characters of the copy and of its source) and precision (of what is reported, on the
side of the copy: the source repeats itself, and a copy of one of its places is one of the others, too).
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

import ibidem
from make_collection import read_lines, require_data

COLLECTIONS = {"English": "mdn_en", "Korean": "mdn_ko", "Chinese": "mdn_zh", "Japanese": "mdn_ja"}
SPACED = ("English", "Korean")
FEWEST, MOST = 50, 300  # words of a copied passage
CONSONANTS, VOWELS = "กขคงจชดตทนบปผพฟมยรลวสหอ", ("ะ", "า", "ิ", "ี", "ุ", "ู", "ำ", "อ")
SPACED_UNIT, UNIT = re.compile(r"\S+\s*"), re.compile(r"\s*(?:[A-Za-z0-9_]+|[^\sA-Za-z0-9_]{1,2})")
Words = list[str]
Edit = Callable[[Words, Words, random.Random], Words]


def unchanged(words: Words, others: Words, chance: random.Random) -> Words:
    """Return the passage as it is."""
    return words


def edited(words: Words, others: Words, chance: random.Random) -> Words:
    """Return the passage with words replaced, dropped and added: a quarter of them in all."""
    result: Words = []
    for word in words:
        kind = chance.random()
        if kind < 0.12:
            result.append(chance.choice(others))
        elif kind < 0.18:
            continue
        else:
            result.append(word)
            if kind > 0.93:
                result.append(chance.choice(others))
    return result


def moved(words: Words, others: Words, chance: random.Random) -> Words:
    """Return the passage with pieces of four to twelve words in another order nearby, and every tenth word replaced."""
    pieces, at = [], 0
    while at < len(words):
        size = chance.randrange(4, 13)
        pieces.append(words[at : at + size])
        at += size
    order = sorted(range(len(pieces)), key=lambda number: number + chance.uniform(0, 3))
    return [chance.choice(others) if chance.random() < 0.1 else word for number in order for word in pieces[number]]


KINDS: dict[str, Edit] = {"unchanged": unchanged, "edited": edited, "moved": moved}


def units(text: str, is_spaced: bool) -> Words:
    """Return the words of a text with what follows them, or pieces of two characters."""
    return [match[0] for match in (SPACED_UNIT if is_spaced else UNIT).finditer(text)]


def prose(text: str) -> str:
    """Return the lines of a page that are language: long enough, few signs of code."""
    lines = (line for line in text.split("\n") if len(line) >= 20)
    return "\n".join(line for line in lines if sum(char.isalpha() or char.isspace() for char in line) > 0.85 * len(line))


def in_thai(text: str) -> str:
    """Return a text with every word written as Thai syllables, spaces only where something else separates words."""

    def syllables(match: re.Match[str]) -> str:
        made = random.Random(match[0].lower())
        return "".join(made.choice(CONSONANTS) + made.choice(VOWELS) for _ in range(max(1, len(match[0]) // 3)))

    return re.sub(r"(?<=[\u0e00-\u0e7f]) (?=[\u0e00-\u0e7f])", "", re.sub(r"[A-Za-z]+", syllables, text))


def texts_of(language: str, data: Path, n: int, chance: random.Random) -> list[str]:
    """Return texts that are long enough, in any order."""
    lines = read_lines(data / COLLECTIONS.get(language, COLLECTIONS["English"]) / "docs.jsonl.zst")
    chance.shuffle(lines)
    texts = (prose(json.loads(line)["text"]) for line in lines)
    if language == "Thai":
        texts = map(in_thai, texts)
    return list(islice((text for text in texts if len(units(text, language in SPACED)) > 2 * MOST), n))


def planted(texts: list[str], is_spaced: bool, edit: Edit, chance: random.Random) -> Iterator[tuple[dict[str, str], dict]]:
    """Yield records with a copied passage in them, and the place of the copy."""
    others = [unit for text in texts for unit in units(text, is_spaced)]
    for number, text in enumerate(texts):
        source = (number + 1) % len(texts)
        bounds = [match.span() for match in (SPACED_UNIT if is_spaced else UNIT).finditer(texts[source])]
        size = chance.randrange(FEWEST, MOST)
        at = chance.randrange(len(bounds) - size)
        start, end = bounds[at][0], bounds[at + size - 1][1]
        copy = "".join(edit(units(texts[source][start:end], is_spaced), others, chance)).strip()
        lines = text.split("\n")
        cut = len("\n".join(lines[: chance.randrange(len(lines) + 1)]))
        into = f"{text[:cut]}\n\n{copy}\n\n{text[cut:]}"
        known = {"a_id": f"{number}", "a_start": cut + 2, "a_end": cut + 2 + len(copy)}
        yield {"id": f"{number}", "text": into}, known | {"b_id": f"s{source}", "b_start": start, "b_end": end}


def marked(rows: list[dict[str, Any]], side: str) -> set[int]:
    """Return the characters that passages cover on one side."""
    return {at for row in rows for at in range(row[f"{side}_start"], row[f"{side}_end"])}


def score(passages: pa.Table, truth: list[dict[str, Any]]) -> float:
    """Return how well the known copies are located; other pairs do not count."""
    by_pair = defaultdict(list)
    for row in passages.to_pylist():
        by_pair[row["a_id"], row["b_id"]].append(row)
    wanted = found = reported = right = 0
    for known in truth:
        rows = by_pair[known["a_id"], known["b_id"]]
        for side in "ab":
            wanted += known[f"{side}_end"] - known[f"{side}_start"]
            marks = marked(rows, side)
            inside = sum(known[f"{side}_start"] <= at < known[f"{side}_end"] for at in marks)
            found += inside
            if side == "a":
                reported += len(marks)
                right += inside
    recall, precision = found / max(1, wanted), right / max(1, reported)
    return 2 * recall * precision / max(1e-9, recall + precision)


def measure(language: str, data: Path, n: int) -> dict[str, tuple[float, float]]:
    """Return the score by kind, with the pairs given and found."""
    results: dict[str, tuple[float, float]] = {}
    for kind, edit in KINDS.items():
        chance = random.Random(7)
        texts = texts_of(language, data, n, chance)
        made = list(planted(texts, language in SPACED, edit, chance))
        records = [record for record, _ in made]
        sources = [{"id": f"s{number}", "text": text} for number, text in enumerate(texts)]
        everything = [(known["a_id"], known["b_id"]) for _, known in made]
        before = [{"id": f"{number}", "text": text} for number, text in enumerate(texts)]
        sharing = set(ibidem.compare_pairs([*before, *sources], everything).passages["a_id"].to_pylist())
        truth = [known for _, known in made if known["a_id"] not in sharing]
        given = ibidem.compare_pairs([*records, *sources], [(known["a_id"], known["b_id"]) for known in truth]).passages
        found = ibidem.find(records, against=sources, align=True).passages
        results[kind] = score(given, truth), score(found, truth)
    return results


def main() -> None:
    """Print a row per language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder with the real collections")
    parser.add_argument("-n", type=int, default=200, help="copies per language and kind")
    options = parser.parse_args()
    data = require_data(options.data)
    print(f"{'':10}" + "".join(f"{kind + ', given':>18}{'found':>8}" for kind in KINDS))
    for language in (*COLLECTIONS, "Thai"):
        row = measure(language, data, options.n)
        print(f"{language:10}" + "".join(f"{given:18.3f}{found:8.3f}" for given, found in row.values()), flush=True)


if __name__ == "__main__":
    main()
