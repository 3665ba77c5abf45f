"""Collections for parity tests: random ones that share sentences, footers and near copies, and one of each kind of trouble."""

from __future__ import annotations

import random
from typing import Any

from tests.texts import changed, text

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
