"""How much of a noisy copy `find` covers: wrong characters as from OCR, words joined, split and hyphenated, old letters
and spellings.

`python benchmarks/noise.py --data DIR` takes passages of real texts, makes them noisy and puts each between unrelated text of
another document. A row gives the share of the copied characters that is covered on both sides, and the share of what is
reported between these two documents that is no copy.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections.abc import Callable, Iterator
from itertools import islice

import ibidem
from make_collection import read_lines, require_data

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2)
COPY_WORDS, AROUND_WORDS = 200, 300
# What optical recognition confuses; each is read as one of the others.
LOOK_ALIKE = ("rn m", "cl d", "l 1 i I", "O 0 o", "e c", "h b", "u n ii", "t f", "a o", "S 5", "g q 9", "v y", ". ,", "li h")
OLD_SPELLING = (
    (r"\bv(?=[a-z]*u)", "u"), (r"(?<=[a-z])v(?=[a-z])", "u"), (r"\bu(?=[bcdfgklmnprst])", "v"), (r"\bj", "i"),
    (r"(?<=[bdgknprt])\b", "e"), (r"ies\b", "yes"), (r"ick?\b", "icke"), (r"our\b", "or"), (r"ck\b", "cke"),
)  # fmt: skip
LIGATURES = (("ffi", "ﬃ"), ("fi", "ﬁ"), ("fl", "ﬂ"), ("ff", "ﬀ"), ("ae", "æ"))
Noise = Callable[[str, random.Random], str]


def wrong_characters(share: float) -> Noise:
    """Return noise that gets this share of the characters wrong: confused, lost, doubled or replaced."""
    others: dict[str, list[str]] = {}
    for group in LOOK_ALIKE:
        names = group.split()
        for name in names:
            others.setdefault(name, []).extend(other for other in names if other != name)

    def make(text: str, chance: random.Random) -> str:
        pieces, at = [], 0
        while at < len(text):
            if chance.random() >= share or text[at].isspace():
                pieces.append(text[at])
                at += 1
                continue
            two, one = text[at : at + 2], text[at]
            kind = chance.random()
            if two in others and kind < 0.7:
                pieces.append(chance.choice(others[two]))
                at += 2
                continue
            if one in others and kind < 0.7:
                pieces.append(chance.choice(others[one]))
            elif kind < 0.8:
                pieces.append(chance.choice("abcdefghijklmnopqrstuvwxyz"))
            elif kind < 0.9:
                pieces.append(one + chance.choice(".,'i1"))
            at += 1  # otherwise it is lost
        return "".join(pieces)

    return make


def joined_and_split(share: float) -> Noise:
    """Return noise that joins words with the next one, or splits them."""

    def make(text: str, chance: random.Random) -> str:
        words = []
        for word in text.split():
            kind = chance.random()
            if words and kind < share / 2:
                words[-1] += word
            elif len(word) > 3 and kind < share:
                cut = chance.randrange(1, len(word) - 1)
                words += [word[:cut], word[cut:]]
            else:
                words.append(word)
        return " ".join(words)

    return make


def hyphenated(text: str, chance: random.Random) -> str:
    """Return text in lines of 45 characters, with words divided at their ends."""
    lines, line = [], ""
    for word in text.split():
        room = 45 - len(line) - 2
        if len(line) + len(word) + 1 <= 45:
            line = f"{line} {word}".strip()
        elif room >= 3 and len(word) - room >= 2 and word[:room].isalpha():
            lines.append(f"{line} {word[:room]}-".strip())
            line = word[room:]
        else:
            lines.append(line)
            line = word
    return "\n".join([*lines, line])


def old_letters(text: str, chance: random.Random) -> str:
    """Return text with long s and ligatures."""
    text = re.sub(r"s(?=[a-z])", "ſ", text)
    for plain, ligature in LIGATURES:
        text = text.replace(plain, ligature)
    return text


def old_spelling(text: str, chance: random.Random) -> str:
    """Return text as if spelt in the seventeenth century, here and there."""
    for pattern, other in OLD_SPELLING:
        text = re.sub(pattern, lambda match, other=other: other if chance.random() < 0.5 else match[0], text)
    return text


def kinds() -> Iterator[tuple[str, Noise]]:
    """Yield all kinds of noise with their names."""
    yield "none", lambda text, chance: text
    yield from ((f"{share:.0%} of characters", wrong_characters(share)) for share in SHARES)
    yield from ((f"{share:.0%} joined or split", joined_and_split(share)) for share in SHARES)
    yield "hyphens at line ends", hyphenated
    yield "long s and ligatures", old_letters
    yield "old spelling", old_spelling


def is_prose(text: str) -> bool:
    """Return whether a text is language, not encoded data or a table."""
    return sum(char.isalpha() or char.isspace() for char in text) > 0.9 * len(text)


def passages(texts: list[str], n: int, chance: random.Random) -> Iterator[tuple[int, str, str, str]]:
    """Yield passages of texts, with their numbers, and what is put before and after the copy, from another text."""
    long = [number for number, text in enumerate(texts) if len(text.split()) > COPY_WORDS + 2 * AROUND_WORDS and is_prose(text)]
    for number in chance.sample(long, min(n, len(long))):
        bounds = [match.span() for match in re.finditer(r"\S+", texts[number])]
        at = chance.randrange(len(bounds) - COPY_WORDS)
        other = texts[chance.choice([each for each in long if each != number])].split()
        yield (
            number, texts[number][bounds[at][0] : bounds[at + COPY_WORDS - 1][1]], " ".join(other[:AROUND_WORDS]),
            " ".join(other[AROUND_WORDS : 2 * AROUND_WORDS]),
        )  # fmt: skip


def measure(texts: list[str], n: int, noise: Noise, **settings: object) -> tuple[float, float, float]:
    """Return the share of copied characters that is covered, the share of reported ones that is no copy, and seconds."""
    chance = random.Random(1)
    records, known = [], []
    for place, (number, copy, before, after) in enumerate(passages(texts, n, chance)):
        noisy = noise(copy, chance)
        start = texts[number].index(copy)
        records += [
            {"id": f"source {place}", "text": texts[number]},
            {"id": f"copy {place}", "text": f"{before}.\n\n{noisy}.\n\n{after}"},
        ]
        known.append(((start, start + len(copy)), (len(before) + 3, len(before) + 3 + len(noisy))))
    begin = time.perf_counter()
    found = ibidem.find(records, **settings).passages.to_pylist()
    seconds = time.perf_counter() - begin
    wanted = covered = reported = 0
    for place, spans in enumerate(known):
        rows = [row for row in found if {row["a_id"], row["b_id"]} == {f"source {place}", f"copy {place}"}]
        for name, (start, end) in zip((f"source {place}", f"copy {place}"), spans, strict=True):
            marks: set[int] = set()
            for row in rows:
                side = "a" if row["a_id"] == name else "b"
                marks.update(range(row[f"{side}_start"], row[f"{side}_end"]))
            reported += len(marks)
            covered += sum(start <= at < end for at in marks)
            wanted += end - start
    return covered / max(1, wanted), 1 - covered / max(1, reported), seconds


def main() -> None:
    """Print a row per kind of noise, without and with alignment."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder with the real collections")
    parser.add_argument("--name", default="newsgroups20", help="collection in it")
    parser.add_argument("-n", type=int, default=200, help="number of copies")
    parser.add_argument("--only", default="", help="kinds of noise with this in their name")
    options = parser.parse_args()
    lines = read_lines(require_data(options.data) / options.name / "docs.jsonl.zst")
    texts = [json.loads(line)["text"] for line in islice(lines, 20 * options.n)]
    print(f"{'':24}{'--no-align':>11}{'no copy':>9}{'find':>9}{'no copy':>9}")
    for name, noise in kinds():
        if options.only not in name:
            continue
        cells = [measure(texts, options.n, noise, **some)[:2] for some in ({"align": False}, {})]
        print(f"{name:24}{cells[0][0]:11.3f}{cells[0][1]:9.3f}{cells[1][0]:9.3f}{cells[1][1]:9.3f}", flush=True)


if __name__ == "__main__":
    main()
