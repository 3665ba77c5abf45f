"""Items of a benchmark planted into pages: how many `decontaminate` finds, by kind and length, what else, and how fast.

`python benchmarks/contamination.py --data DIR --megabytes 130` takes items from texts of one real collection and plants some of
them into pages of the others: as they are, in lines of eight words, with 2 % of the characters misread, with other quotation
marks, dashes and full-width letters, with other text between two halves, and the first half alone. The items that were not
planted, and the pages without an item, show false alarms. `--pages FILE` takes other pages, such as a gigabyte that
`make_large.py` made. Time is processor time, best of `--repeats`, against `wc -w` on the same file in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from make_collection import make_collection, read_lines, require_data
from noise import wrong_characters

ITEM_SOURCE = "pan13_dev/docs.jsonl.zst"
LENGTHS = {"8–19": (8, 19), "20–59": (20, 59), "60–300": (60, 300)}
SHARES = {"8–19": 0.25, "20–59": 0.5, "60–300": 0.25}
FULL_WIDTH = {ord(char): chr(ord(char) + 0xFEE0) for char in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"}
MARKS = str.maketrans({'"': "”", "'": "’", "-": "—", ",": "，", ".": "．", "?": "？", "(": "（", ")": "）"})
LINE_WORDS = 8
NOISE = 0.02
Change = Callable[[str, random.Random, list[str]], str]


def rewrapped(text: str, chance: random.Random, others: list[str]) -> str:
    """Return a text in lines of eight words."""
    words = text.split()
    return "\n".join(" ".join(words[at : at + LINE_WORDS]) for at in range(0, len(words), LINE_WORDS))


def translated(text: str, chance: random.Random, others: list[str]) -> str:
    """Return a text with other marks, and every third word in full-width letters."""
    words = text.translate(MARKS).split(" ")
    return " ".join(word.translate(FULL_WIDTH) if number % 3 == 0 else word for number, word in enumerate(words))


def divided(text: str, chance: random.Random, others: list[str]) -> str:
    """Return two halves of a text, with a paragraph of other words between them."""
    words = text.split(" ")
    middle = len(words) // 2
    between = " ".join(chance.choice(others).split()[:60])
    return f"{' '.join(words[:middle])}\n\n{between}\n\n{' '.join(words[middle:])}"


def halved(text: str, chance: random.Random, others: list[str]) -> str:
    """Return the first half of a text."""
    words = text.split(" ")
    return " ".join(words[: (len(words) + 1) // 2])


KINDS: dict[str, Change] = {
    "as it is": lambda text, chance, others: text,
    "lines of 8 words": rewrapped,
    "2 % of characters misread": lambda text, chance, others: wrong_characters(NOISE)(text, chance),
    "other marks, full width": translated,
    "text between two halves": divided,
    "first half alone": halved,
}


def main() -> None:
    """Print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder with the real collections")
    parser.add_argument("--work", default="build/contamination", help="folder for what is made")
    parser.add_argument("--pages", help="pages to plant into, as JSON lines, instead of the real collections")
    parser.add_argument("--megabytes", type=int, default=130, help="size of the pages")
    parser.add_argument("--items", type=int, default=4000, help="items; of each kind, an eighth of them is planted")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    data, work = require_data(options.data), Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    items = list(items_of(data, options.items))
    source = Path(options.pages) if options.pages else make_collection(data, work)[0]
    pages, benchmark = work / "pages.jsonl", work / "items.jsonl"
    truth = plant(items, source, pages, options.megabytes * 1_000_000)
    with open(benchmark, "w", encoding="utf-8") as file:
        file.writelines(json.dumps({name: item[name] for name in ("id", "question", "answer")}) + "\n" for item in items)
    print(f"{pages.stat().st_size / 1e6:.0f} MB of pages, {len(items):,} items, {len(truth):,} planted")
    wc, _ = measured([shutil.which("wc") or "wc", "-w", str(pages)], options.repeats)
    out = work / "out"
    command = [
        sys.executable, "-m", "ibidem", "decontaminate", str(pages), "--benchmark", f"planted={benchmark}", "-o", str(out),
        "--overwrite", "--quiet", "--level", "passage",
    ]  # fmt: skip
    seconds, peak = measured(command, options.repeats)
    judge(items, truth, out)
    print(f"wc -w {wc:.2f} s; decontaminate {seconds:.1f} s = {seconds / wc:.1f} W, with the cleaned copy; {peak / 1e6:.0f} MB")


def items_of(data: Path, n_items: int) -> Iterator[dict[str, Any]]:
    """Yield items: a stretch of a text that begins with a sentence, and, as its answer, a few words of its end."""
    chance = random.Random(5)
    texts = [json.loads(line)["text"] for line in read_lines(data / ITEM_SOURCE)]
    texts = [text for text in texts if sum(char.isalpha() or char.isspace() for char in text) > 0.93 * len(text)]
    chance.shuffle(texts)
    classes = chance.choices(list(SHARES), list(SHARES.values()), k=n_items)
    n_made = 0
    for text in texts:
        if n_made == n_items:
            return
        sentences = [match.end() for match in re.finditer(r"[.!?]\s+(?=[A-Z])", text)]
        fewest, most = LENGTHS[classes[n_made]]
        size = chance.randint(fewest, most)
        if not sentences:
            continue
        words = [word for word in text[chance.choice(sentences) :].split() if any(map(str.isalnum, word))]
        if len(words) < size + 12:
            continue
        question, answer = " ".join(words[:size]), " ".join(words[size + 8 : size + 12])
        yield {"id": f"item-{n_made}", "question": question, "answer": answer, "length": classes[n_made]}
        n_made += 1


def plant(items: list[dict[str, Any]], source: Path, target: Path, n_bytes: int) -> dict[str, dict[str, Any]]:
    """Write pages, and items into some of them; return for each planted item its page, its kind and its place."""
    chance = random.Random(7)
    lines, total, others = [], 0, []
    with open(source, encoding="utf-8") as file:
        for line in file:
            if line.startswith('{"id": "pan13_dev'):
                continue
            total += len(line.encode())
            lines.append(line)
            if len(others) < 2000:
                others.append(json.loads(line)["text"])
            if total >= n_bytes:
                break
    others = [text for text in others if len(text.split()) > 80 and text.isascii()]
    planted = [(kind, item) for number, item in enumerate(items) if (kind := _kind(number)) is not None]
    hosts = dict(zip(chance.sample(range(len(lines)), len(planted)), planted, strict=True))
    truth: dict[str, dict[str, Any]] = {}
    with open(target, "w", encoding="utf-8") as file:
        for number, line in enumerate(lines):
            if number in hosts:
                kind, item = hosts[number]
                record = json.loads(line)
                changed = KINDS[kind](item["question"], chance, others)
                breaks = [0, *(match.end() for match in re.finditer(r"\n\n|[.!?]\s", record["text"]))]
                at = chance.choice(breaks)
                before, after = record["text"][:at] + "\n\n", f"\n\nAnswer: {item['answer']}.\n\n" + record["text"][at:]
                record["text"] = before + changed + after
                start, end = len(before), len(before) + len(changed)
                stop = end + len(f"\n\nAnswer: {item['answer']}.")
                truth[item["id"]] = {"page": record["id"], "kind": kind, "start": start, "end": end, "stop": stop}
                line = json.dumps(record, ensure_ascii=False) + "\n"
            file.write(line)
    return truth


def _kind(number: int) -> str | None:
    """Return how an item is planted; one in four is not."""
    return [*KINDS, None, None][number % (len(KINDS) + 2)]


def measured(command: list[str], repeats: int) -> tuple[float, int]:
    """Return the processor time of a command, the best of several, and its peak memory in bytes."""
    best, peak = float("inf"), 0
    for _ in range(repeats):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=os.environ)
        _, status, used = os.wait4(process.pid, 0)
        if status:
            sys.exit(f"failed: {' '.join(command)}")
        best, peak = min(best, used.ru_utime + used.ru_stime), max(peak, used.ru_maxrss * 1024)
    return best, peak


def judge(items: list[dict[str, Any]], truth: dict[str, dict[str, Any]], out: Path) -> None:
    """Print recall by kind and length, the false alarms, and how much of what was planted is removed."""
    with open(out / "item_places.jsonl", encoding="utf-8") as file:
        places = [json.loads(line) for line in file]
    found: dict[str, set[str]] = defaultdict(set)
    answers: set[str] = set()
    false: list[dict[str, Any]] = []
    of_page = {known["page"]: known for known in truth.values()}
    n_shared = 0
    n_inside = n_outside = 0
    for row in places:
        known = truth.get(row["item"])
        if known is None or known["page"] != row["id"]:
            other = of_page.get(row["id"])
            if other is not None and row["start"] < other["stop"] and row["end"] > other["start"]:
                n_shared += 1  # what was planted has words that another item has, too
            else:
                false.append(row)
        elif row["field"] == "answer":
            answers.add(row["item"])
        else:
            found[row["item"]].add(row["found"])
            inside = max(0, min(row["end"], known["end"]) - max(row["start"], known["start"]))
            n_inside, n_outside = n_inside + inside, n_outside + row["end"] - row["start"] - inside
    lengths = {item["id"]: item["length"] for item in items}
    print(f"{'kind':28}{'words':>8}{'items':>7}{'whole':>8}{'found':>8}{'answers':>9}")
    for kind in KINDS:
        for length in LENGTHS:
            chosen = [name for name, known in truth.items() if known["kind"] == kind and lengths[name] == length]
            n_whole, n_found = (sum(bool(found[name] & what) for name in chosen) for what in ({"whole"}, {"whole", "part"}))
            n, n_answers = max(1, len(chosen)), sum(name in answers for name in chosen)
            print(f"{kind:28}{length:>8}{len(chosen):>7}{n_whole / n:>8.3f}{n_found / n:>8.3f}{n_answers / n:>9.3f}")
    pages = {(row["item"], row["id"]) for row in false}
    print(f"false alarms: {len(pages):,} pairs of item and page, by {len({item for item, _ in pages}):,} items")
    print(f"places with words of another item in what was planted: {n_shared:,}")
    for row in false[:10]:
        print(f"  {row['item']} in {row['id']} [{row['start']}:{row['end']}], {row['found']}, {row['n_words']} words")
    print(f"characters found: {n_inside:,} of what was planted, {n_outside:,} beside it ({n_outside / max(1, n_inside):.2%})")
    print(f"removed: {dict(Counter(row['found'] for row in places))}")


if __name__ == "__main__":
    main()
