"""Documents to be judged, and whether each is a duplicate: quotations and revisions, which are real, and clippings, which are
planted. Used by fingerprints.py.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from inputs import Record, gathered
from numpy.typing import NDArray

from ibidem.columns.collection import Collection

LEAST_QUOTED = 200  # characters
PREVALENCE = 924 / 19_076  # the paper's share of duplicates
COMMON_WORDS = {
    "English": ("the", "to", "of", "a", "and", "in", "is", "that", "it", "for", "on", "this", "some", "with", "be", "are"),
    "Korean": (
        "수",
        "이",
        "그",
        "더",
        "또는",
        "및",
        "있는",
        "대한",
        "위해",
        "다른",
        "모든",
        "같은",
        "경우",
        "다음",
        "때",
        "현재",
    ),
}
KINDS = ("entire", "entire, revised", "a part", "a part, revised")


class Quality(NamedTuple):
    """Precision, recall and F1 of what was found."""

    precision: float
    recall: float
    f1: float

    def __str__(self) -> str:
        return f"{self.precision:.3f} / {self.recall:.3f} / {self.f1:.3f}"


@dataclass(frozen=True)
class Targets:
    """Documents to be judged, whether each is a duplicate, and its kind where there are kinds."""

    name: str
    records: list[Record]
    collection: Collection
    duplicated: NDArray[np.bool_]
    kinds: NDArray[np.int64]

    def quality(self, found: NDArray[np.bool_]) -> Quality:
        """Return precision (for the paper's share of duplicates), recall and F1 of what was found."""
        recall = float(found[self.duplicated].mean())
        wrong = float(found[~self.duplicated].mean())
        right = PREVALENCE * recall
        precision = right / max(right + (1 - PREVALENCE) * wrong, 1e-12)
        return Quality(precision, recall, 2 * precision * recall / max(precision + recall, 1e-12))

    def recall_by_kind(self, found: NDArray[np.bool_]) -> list[float | None]:
        """Return the recall of every kind; nothing where there are no kinds."""
        if not self.kinds.any():
            return [None] * len(KINDS)
        of_kind = [self.duplicated & (self.kinds == kind) for kind in range(len(KINDS))]
        return [float(found[chosen].mean()) if chosen.any() else None for chosen in of_kind]


def targets_of(name: str, records: list[Record], duplicated: NDArray[np.bool_], kinds: NDArray[np.int64]) -> Targets:
    """Return targets without the few that have no text to speak of."""
    collection = gathered(records)
    present = set(collection.ids.to_pylist())
    rows = np.array([row for row, record in enumerate(records) if record["id"] in present])
    return Targets(name, [records[row] for row in rows], collection, duplicated[rows], kinds[rows])


def only_text(records: list[Record]) -> list[Record]:
    """Return records without their further fields."""
    return [{"id": record["id"], "text": record["text"]} for record in records]


def is_conversation(record: Record) -> bool:
    """Return whether a post is in a discussion group, not in a technical one."""
    return record["label"].split(".")[0] in ("alt", "rec", "soc", "talk")


def subject_of(record: Record) -> str:
    """Return the subject without what marks an answer."""
    return re.sub(r"^(\s*(re|fwd?)\s*(\[\d+\])?\s*:\s*)+", "", record["subject"].lower()).strip()


def author_of(record: Record) -> str:
    """Return the address of the author; nothing if there is none."""
    found = re.search(r"^From:.*?([\w.+%-]+@[\w.-]+)", record["headers"], re.MULTILINE)
    return found[1].lower() if found else ""


def quoting_targets(records: list[Record], quotations: list[dict[str, Any]], is_source: dict[str, bool]) -> Targets:
    """Return the targets of which it is known whether they share text with sources."""
    subjects = {record["id"]: subject_of(record) for record in records}
    authors = {author_of(record) for record in records if is_source[record["id"]]}
    spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
    unclear = set()
    for quotation in quotations:
        a, b = quotation["a_id"], quotation["b_id"]
        if a not in is_source or b not in is_source:
            continue
        for mine, other, side in ((a, b, "a"), (b, a, "b")):  # who quoted whom does not matter here
            if is_source[mine] or not is_source[other]:
                continue
            unclear.add(mine)
            if subjects[mine] == subjects[other]:
                spans[mine].append((quotation[f"{side}_start"], quotation[f"{side}_end"]))
    chosen, duplicated = [], []
    for record in records:
        covered: set[int] = set()
        for start, end in spans[record["id"]]:
            covered.update(range(start, end))
        quotes = len(covered) >= LEAST_QUOTED
        unrelated = not is_conversation(record) and author_of(record) not in authors and record["id"] not in unclear
        if quotes or unrelated:
            chosen.append(record)
            duplicated.append(quotes)
    return targets_of("quotations", only_text(chosen), np.array(duplicated), np.zeros(len(chosen), np.int64))


def revision_targets(later: list[Record], earlier: dict[str, str], unrelated: list[Record]) -> Targets:
    """Return pages whose earlier version (text by page) is among the sources, unchanged or revised, and unrelated ones."""
    kinds = [int(" ".join(record["text"].split()) != " ".join(earlier[record["page"]].split())) for record in later]
    duplicated = np.arange(len(later) + len(unrelated)) < len(later)
    return targets_of("revisions", only_text([*later, *unrelated]), duplicated, np.array(kinds + [0] * len(unrelated)))


def revise(sentence: str, common_words: Sequence[str], draw: random.Random) -> str:
    """Leave out a common word, or put one in, or swap two words."""
    words = sentence.split()
    common = [i for i, word in enumerate(words) if word.lower() in common_words]
    way = draw.randrange(3)
    if way == 0 and common:
        del words[draw.choice(common)]
    elif way == 1:
        words.insert(draw.randrange(1, len(words)), draw.choice(common_words))
    else:
        i = draw.randrange(len(words) - 2)
        words[i], words[i + 1] = words[i + 1], words[i]
    return " ".join(words)


def clipping_targets(hosts: list[Record], sources: Collection, language: str) -> Targets:
    """Return targets of which every second one has something clipped from a source."""
    draw = random.Random(2)
    first = sources.document_first
    long_enough = [d for d in range(sources.n_documents) if 8 <= first[d + 1] - first[d] <= 100]
    records, duplicated, kinds = [], [], []
    for number, host in enumerate(hosts):
        kind = number // 2 % len(KINDS)
        text = host["text"]
        if number % 2:
            source = draw.choice(long_enough)
            whole = sources.text(source)
            begin, end = int(first[source]), int(first[source + 1])
            if kind >= 2:
                n = draw.randrange(3, 9)
                begin = draw.randrange(begin, end - n + 1)
                end = begin + n
            sentences = [whole[sources.start_char[s] : sources.end_char[s]] for s in range(begin, end)]
            every = 5 if kind == 1 else 2 if kind == 3 else 0
            sentences = [
                revise(s, COMMON_WORDS[language], draw) if every and i % every == 0 and len(s.split()) > 3 else s
                for i, s in enumerate(sentences)
            ]
            clipped = whole if kind == 0 else "\n\n".join(sentences)
            text = clipped if kind < 2 else "\n\n".join([text, clipped])
        records.append({"id": host["id"], "text": text})
        duplicated.append(bool(number % 2))
        kinds.append(kind)
    return targets_of("clippings", records, np.array(duplicated), np.array(kinds))
