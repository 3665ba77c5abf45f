"""Collections for parity tests: random ones that share sentences, footers and near copies, and one of each kind of trouble."""

from __future__ import annotations

import random
from typing import Any

from tests.texts import changed, text, word

Records = list[dict[str, Any]]


def random_records(seed: int, n_documents: int, prefix: str = "d") -> Records:
    """Return documents made of few sentences, some of them changed a little, with footers, times and groups."""
    chance = random.Random(f"{prefix}{seed}")
    n_different = chance.choice([4, 8, 20])

    def sentence() -> str:
        number, count = chance.randrange(n_different), chance.choice([6, 6, 11])
        return changed(number, count=count) if chance.random() < 0.3 else text(number, count=count)

    def document() -> str:
        body = [sentence() for _ in range(chance.randint(1, 9))]
        footer = [text(100), text(101), text(102)][: chance.randint(1, 3)] if chance.random() < 0.5 else []
        return " ".join(body + footer)

    return [
        {
            "id": f"{prefix}{number}",
            "text": document(),
            "time": chance.choice([None, f"2020-01-0{chance.randint(1, 9)}"]),
            "group": chance.choice(["x", "y", None]),
        }
        for number in range(n_documents)
    ]


def edited_records(seed: int, n_documents: int, prefix: str = "d") -> Records:
    """Return documents that take stretches from a few sources, unchanged or edited word by word, and join them at any word.

    Some sentences stand alone in several documents, some words are everywhere, and some sentences have no words.
    """
    chance = random.Random(f"{prefix}{seed}")
    common = [word(20000 + k) for k in range(5)]
    sources = random.Random(seed)  # the same on both sides
    n_different = sources.choice([3, 8])
    pool = [[word(sources.randrange(600)) for _ in range(sources.choice([12, 40, 90]))] for _ in range(n_different)]

    def edited(words: list[str]) -> list[str]:
        """Return words with some of them left out, replaced, or put in another order."""
        share = chance.choice([0.0, 0.0, 0.1, 0.3])
        kept: list[str] = []
        for each in words:
            lot = chance.random()
            if lot < share / 3:
                continue
            kept.append(word(chance.randrange(20000)) if lot < share else each)
            if chance.random() < 0.1:
                kept.append(chance.choice(common))
        if share > 0.2 and len(kept) > 12:
            kept[3], kept[9] = kept[9], kept[3]
        return kept

    def document() -> str:
        words: list[str] = []
        for _ in range(chance.randint(1, 5)):
            if chance.random() < 0.7:
                source = chance.choice(pool)
                begin = chance.choice([0, 0, chance.randrange(len(source))])
                words += edited(source[begin:])
            else:
                words += [word(chance.randrange(20000)) for _ in range(chance.randrange(30))]
        parts = [each + ("." if each.startswith(("ta", "ve")) else "") for each in words]  # copies have the same sentences
        odd = chance.choice(["", "", " ...", " ?! * * *", "\n\n* * *\n\n"])
        begins = [True, *(each.endswith(".") for each in parts)]
        written = " ".join(each.capitalize() if begin else each for begin, each in zip(begins, parts, strict=False))
        return written + odd + (" " + text(300) if chance.random() < 0.3 else "")

    return [
        {
            "id": f"{prefix}{number}",
            "text": document() or word(1),
            "time": chance.choice([None, f"2020-01-0{chance.randint(1, 9)}"]),
            "group": chance.choice(["x", "y", None]),
        }
        for number in range(n_documents)
    ]


def glued_records(seed: int, n_documents: int, prefix: str = "d") -> Records:
    """Return documents that take stretches of one text, in each of which other sentences are glued together."""
    source, chance = random.Random(seed), random.Random(f"{prefix}{seed}")
    sentences = [[word(source.randrange(300)) for _ in range(source.randint(3, 14))] for _ in range(source.choice([6, 12]))]

    def document() -> str:
        first = chance.randrange(len(sentences))
        taken = sentences[first : first + chance.randint(2, 12)]
        ends = [chance.choice([*[". "] * 8, ", ", ", ", "\n\n", ' "', f" {word(chance.randrange(300))} "]) for _ in taken]
        return "".join(" ".join(each).capitalize() + end for each, end in zip(taken, ends, strict=True))

    return [
        {"id": f"{prefix}{number}", "text": f"{chance.choice(['', 'É: ', 'Nu. '])}{document()} {document()}"}
        for number in range(n_documents)
    ]


def skewed_records(n_documents: int) -> Records:
    """Return documents that all end in one footer, every tenth being a copy of the one before."""
    footer = " ".join(text(number) for number in (200, 201, 202, 203))
    texts = [" ".join(text(300 + 4 * (n - (n % 10 == 9)) + k) for k in range(4)) + " " + footer for n in range(n_documents)]
    return [{"id": f"page {number}", "text": value} for number, value in enumerate(texts)]


def odd_records() -> Records:
    """Return what is unusual: scripts without spaces, one sentence, the same text throughout, letters outside of the plane."""
    chinese = "今天天气很好,我们去公园散步。公园里有很多花,孩子们在草地上跑来跑去。晚上我们回家吃饭,然后早早睡觉。"
    same = " ".join([text(7)] * 12)
    letters = "𝔸𝔹ℂ déjà-vu naïve Ünïcödé wörds ståy tögether hêre tødây. Ça va bien, merci beaucoup à tous nos amis ici."
    texts = [
        chinese,
        chinese + "再见。",
        same,
        same,
        text(1),
        text(1, count=12),
        letters,
        "Nu. " + letters,
        "!!!",
        text(1, 2, 3),
    ]
    return [{"id": f"odd:{number}", "text": value} for number, value in enumerate(texts)]
