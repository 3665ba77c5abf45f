"""What `decontaminate` promises, by brute force; and collections of pages in which items are planted."""

from __future__ import annotations

import random
import re
from typing import Any

import pyarrow as pa

from ibidem.config import Config
from ibidem.contamination.benchmark_files import read_items
from ibidem.contamination.stage import decide_items, find_items
from ibidem.execution.layout import Layout
from ibidem.execution.progress import Progress
from tests.execution.parity import Rows, numbered_batches
from tests.memory_flow import MemoryFlow

Records = list[dict[str, Any]]


def words_of(text: str) -> list[str]:
    """Return the words of a plain text."""
    return re.findall(r"\w+", text.lower())


def contains(page: list[str], item: list[str]) -> bool:
    """Return whether the words of an item follow one another in a page."""
    return any(page[at : at + len(item)] == item for at in range(len(page) - len(item) + 1))


def n_common(a: list[str], b: list[str]) -> int:
    """Return how many words two texts have in common, in order: their longest common subsequence."""
    before = [0] * (len(b) + 1)
    for word in a:
        row = [0]
        for k, other in enumerate(b):
            row.append(before[k] + 1 if word == other else max(row[k], before[k + 1]))
        before = row
    return before[-1]


def random_items(chance: random.Random, n_items: int, vocabulary: int) -> Records:
    """Return items with prompts of 8 to 30 words, some of which are alike, and short or long answers."""
    items: Records = []
    for number in range(n_items):
        words = [f"w{chance.randrange(vocabulary)}" for _ in range(chance.randint(8, 30))]
        if items and chance.random() < 0.3:  # a template: much of an earlier item
            earlier = chance.choice(items)["question"].split()
            words[: len(earlier) // 2] = earlier[: len(earlier) // 2]
        answer = [f"a{chance.randrange(vocabulary)}" for _ in range(chance.choice([1, 2, 12]))]
        items.append({"id": f"i{number}", "question": " ".join(words), "answer": " ".join(answer)})
    return items


def random_pages(chance: random.Random, items: Records, n_pages: int, vocabulary: int) -> Records:
    """Return pages of random words; most have an item, whole, in lines, with other words, or a part of it."""
    pages: Records = []
    for number in range(n_pages):
        text = [f"w{chance.randrange(vocabulary)}" for _ in range(chance.randint(0, 40))]
        for _ in range(chance.randrange(3)):
            item = chance.choice(items)
            words = item["question"].split()
            kind = chance.randrange(5)
            if kind == 1:
                words = [word if chance.random() < 0.85 else "other" for word in words]
            elif kind == 2:
                words = words[: chance.randint(4, len(words))]
            elif kind == 3:
                middle = len(words) // 2
                words = [*words[:middle], *(f"between{k}" for k in range(chance.randint(1, 30))), *words[middle:]]
            elif kind == 4:
                words = [*words, "Answer:", *item["answer"].split()]
            at = chance.randint(0, len(text))
            text[at:at] = words
        text += [f"end{number}"]
        breaks = [chance.choice([" ", " ", " ", "\n", ". "]) for _ in text]
        pages.append({"id": f"p{number}", "text": "".join(map("".join, zip(text, breaks, strict=True)))})
    return pages


def found_apart(
    pages: Any, benchmarks: Any, n_partitions: int, batch_rows: int = 3, seed: int = 0, **settings: Any
) -> dict[str, Rows]:
    """Return the rows of all tables that `decontaminate` gives over partitions in memory."""
    config = Config.of(**settings)
    batches, n_records, n_input = numbered_batches(pages, None, config, batch_rows)
    flow = MemoryFlow(n_partitions, seed, layout=Layout(n_records, n_input, n_partitions))
    items = read_items(benchmarks, config)
    found = find_items(flow, batches, items, config, Progress())
    made = decide_items(flow, found, items, config)
    tables: dict[str, pa.Table] = {"benchmarks": made.benchmarks, "found_items": made.items}
    tables["item_places"] = flow.collect(made.places.table("item_places"))
    removed = flow.collect(made.removed.table("removed"))
    tables["removed"] = removed.drop_columns(["document", *(n for n in removed.column_names if n.startswith("text_check"))])
    return {name: table.to_pylist() for name, table in tables.items()}


def rows_found(result: Any) -> dict[str, Rows]:
    """Return the rows of all tables of a result on this machine."""
    names = ("benchmarks", "found_items", "item_places", "removed")
    return {name: getattr(result, name).to_pylist() for name in names}


def answers_by_hand(pages: Records, items: Records, max_item_pages: int) -> set[tuple[str, str, int, bool]]:
    """Return item, page, first word of its answer and whether it is common text, of all answers that follow a prompt.

    Each prompt is at most once in a page, word for word.
    """
    words = {page["id"]: words_of(page["text"]) for page in pages}
    found: dict[tuple[str, str, int], list[bool]] = {}
    for item in items:
        answer = words_of(item["answer"])
        for name in ("context", "question"):
            prompt = words_of(item[name])
            holders = [page for page in words if contains(words[page], prompt)]
            for page in holders:
                text = words[page]
                begin = next(k for k in range(len(text)) if text[k : k + len(prompt)] == prompt) + len(prompt)
                last = begin + 4 if len(answer) < 4 else begin + 50 - len(answer)
                at = next((k for k in range(begin, last + 1) if text[k : k + len(answer)] == answer), None)
                if at is not None:
                    common = 0 < max_item_pages < len(holders)
                    found.setdefault((item["id"], page, at), []).append(common)
    return {(*place, all(common)) for place, common in found.items()}
