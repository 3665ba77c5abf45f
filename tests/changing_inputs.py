"""`dedup` while its inputs change, at any moment and in any way. Nothing may be lost, and nothing left half done.

`python -m tests.changing_inputs --runs 20000` tries as many runs by chance, and ends with an error at the first that loses a
sentence, replaces an earlier result although it fails, or fails in a way that is not documented.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import ibidem
from ibidem.execution.progress import Progress

_WORDS = [
    "amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty", "knoll", "ledge", "marsh",
    "notch", "orbit", "pearl", "quarry", "ridge", "shoal",
]  # fmt: skip
# Many, so that what is lost is seldom left elsewhere.
SENTENCES = [" ".join(random.Random(n).sample(_WORDS, 14)).capitalize() + "." for n in range(40)]
FORMATS = ("jsonl", "json", "csv", "parquet", "txt")
LEVELS = ("document", "passage", "sentence")
CHANGES = ("resorted", "resorted unseen", "replaced", "truncated", "appended", "touched", "removed", "added")
MOMENTS = 40  # more than a run of this size has


@dataclass(frozen=True)
class Case:
    """One run: texts as lists of sentences, how they are stored and cleaned, and what happens to them when."""

    texts: tuple[tuple[int, ...], ...]
    kind: str
    level: str
    change: str
    moment: int
    mark_only: bool = False
    on_disk: bool = False


def run_case(case: Case, folder: Path) -> str:
    """Run one case; return how it ended: `cleaned`, or the first word of the message that the input is no more what it was."""
    inputs, out = folder / "inputs", folder / "out"
    inputs.mkdir()
    paths = write_texts(inputs, case.kind, [" ".join(SENTENCES[s] for s in text) for text in case.texts])
    ibidem.dedup(_earlier(folder)).write(out)
    earlier, before = contents(out), sentences_in(inputs)
    meddler = Meddler(case.moment, lambda: change_inputs(case, paths))
    settings = {"level": case.level, "mark_only": case.mark_only, "partitions": 2 * case.on_disk, "shingle_size": 3}
    problem = ""
    try:
        with ibidem.dedup(str(inputs), progress=meddler, **settings) as result:
            meddler.step()
            result.write(out, on_bytes=lambda _: meddler.step(), overwrite=True)
    except ibidem.InputError as error:
        problem = str(error)
    if problem:
        assert meddler.is_done, f"an error although nothing was changed: {problem}"
        assert contents(out) == earlier, f"an earlier result was touched: {problem}"
        assert str(inputs) in problem or "no documents" in problem, f"which file? {problem}"
        return "refused"
    after = sentences_in(inputs)
    left = sentences_in(out)
    assert left >= before or left >= after, f"lost: {(before - left) or (after - left)}"
    return "cleaned"


class Meddler(Progress):
    """Changes the inputs when a run has come as far as a certain step."""

    def __init__(self, moment: int, change: Callable[[], None]) -> None:
        super().__init__()
        self.is_done = False
        self._left = moment
        self._change = change

    def step(self) -> None:
        if self._left == 0 and not self.is_done:
            self.is_done = True
            self._change()
        self._left -= 1

    def begin_stage(self, name: str, n_bytes: int | None, amount: str = "") -> None:
        self.step()

    def end_stage(self, name: str) -> None:
        self.step()

    def add_bytes(self, n_bytes: int) -> None:
        self.step()

    def add_documents(self, n_documents: int, n_sentences: int = 0) -> None:
        super().add_documents(n_documents, n_sentences)
        self.step()


def write_texts(folder: Path, kind: str, texts: list[str]) -> list[Path]:
    """Write texts in a format, and return the files."""
    rows = [{"id": f"d{number:03}", "text": text} for number, text in enumerate(texts)]
    path = folder / f"texts.{kind}"
    if kind == "txt":
        paths = [folder / f"{row['id']}.txt" for row in rows]
        for each, row in zip(paths, rows, strict=True):
            each.write_text(row["text"], encoding="utf-8")
        return paths
    if kind == "parquet":
        pq.write_table(pa.table({"id": [row["id"] for row in rows], "text": texts}), path)
        return [path]
    with open(path, "r+" if path.exists() else "w", encoding="utf-8", newline="") as file:
        if kind == "csv":
            writer = csv.DictWriter(file, ["id", "text"])
            writer.writeheader()
            writer.writerows(rows)
        else:
            lines = [json.dumps(row) for row in rows]
            file.write("\n".join(lines) + "\n" if kind == "jsonl" else "[" + ",\n".join(lines) + "]\n")
        file.truncate()
    return [path]


def change_inputs(case: Case, paths: list[Path]) -> None:
    """Change what is to be read, or was."""
    path, folder = paths[0], paths[0].parent
    texts = [" ".join(SENTENCES[s] for s in text) for text in reversed(case.texts)]
    if case.change.startswith("resorted"):
        state = path.stat()
        write_texts(folder, case.kind, texts)
        if case.change.endswith("unseen"):
            os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    elif case.change == "replaced":
        state = path.stat()
        with tempfile.TemporaryDirectory(dir=folder.parent) as aside:
            new = write_texts(Path(aside), case.kind, texts)[0]
            os.utime(new, ns=(state.st_atime_ns, state.st_mtime_ns))
            os.replace(new, path)
    elif case.change == "truncated":
        os.truncate(path, path.stat().st_size // 2)
    elif case.change == "appended":
        write_texts(folder, case.kind, [*reversed(texts), "One more text that nobody knew of when all of this began."])
    elif case.change == "touched":
        os.utime(path, ns=(0, 10**18))
    elif case.change == "removed":
        path.unlink()
    else:
        (folder / "new.txt").write_text("A new file that nobody knew of when all of this began.", encoding="utf-8")


def sentences_in(folder: Path) -> set[str]:
    """Return the sentences of all documents below a folder, as far as they can be read."""
    ours = ("removed.jsonl", "run.json", "skipped.jsonl", "marks.jsonl")
    paths = [str(path) for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in ours]
    try:
        texts = [document.text for document in ibidem.read(paths, on_skip=lambda record: None)] if paths else []
    except ibidem.InputError:
        return set()
    return {sentence for text in texts for sentence in SENTENCES if sentence in text}


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _earlier(folder: Path) -> str:
    path = folder / "earlier.jsonl"
    path.write_text(json.dumps({"text": "What was here before, and must be here still if anything goes wrong."}) + "\n")
    return str(path)


def chance_case(chance: random.Random) -> Case:
    """Return a case by chance."""
    texts = tuple(tuple(chance.sample(range(len(SENTENCES)), chance.randint(1, 4))) for _ in range(chance.randint(2, 6)))
    repeated = (*texts, *chance.choices(texts, k=chance.randint(1, 3)))
    return Case(
        repeated, chance.choice(FORMATS), chance.choice(LEVELS), chance.choice(CHANGES), chance.randrange(MOMENTS),
        chance.random() < 0.2, chance.random() < 0.2,
    )  # fmt: skip


def run_by_chance(n_runs: int, seed: int) -> dict[str, int]:
    """Run cases by chance; return how often they ended in which way. What is wrong is an AssertionError that names the case."""
    ends: dict[str, int] = {}
    for number in range(n_runs):
        case = chance_case(random.Random(f"{seed}-{number}"))
        folder = Path(tempfile.mkdtemp(prefix="changing-"))
        try:
            end = run_case(case, folder)
        except Exception as error:
            raise AssertionError(f"{case}: {error}") from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        ends[end] = ends.get(end, 0) + 1
    return ends


def main(arguments: Any = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    print(run_by_chance(options.runs, options.seed))


if __name__ == "__main__":
    main()
