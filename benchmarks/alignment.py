"""Alignment measured: `compare` with the pairs given, `find` and an index without them, and short answers with degrees
of reuse.

The collection with known passages is halved by a hash of the suspicious document's id, so that no such document is in both
halves. `--tune` chooses the constants of the alignment on the tuning half alone, by one pass of coordinate search, and shows
what became of the other half. It prints what it would choose and changes no file.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import json
import shutil
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa

import ibidem
from ibidem.alignment import align_spans, aligner, candidates
from ibidem.alignment.places import aligned_table, locate, whole_documents, words_of
from ibidem.config import Config, passage_limits
from ibidem.evaluation import Evaluation, evaluate_passages
from ibidem.evaluation.truth_files import read_pairs, read_passages
from ibidem.execution.checks import numbers_of_pairs
from ibidem.execution.flow import Parts
from ibidem.execution.progress import Progress
from ibidem.execution.run import MemoryRun
from ibidem.pipeline import find_tables
from ibidem.sentences.stage import split
from speed import IBIDEM, run_timed

KINDS = {
    "01-no-plagiarism": "no reuse",
    "02-no-obfuscation": "none",
    "03-random-obfuscation": "random",
    "04-translation-obfuscation": "translation",
    "05-summary-obfuscation": "summary",
}
# Given figures, which no command of this repository measures: plagdet of the best published aligner on this collection (15
# pairs a second, 48 tightened), and of passim 2.0.1 without the pairs on another half of the corpus (561 s for 27 MB).
PUBLISHED_ALIGNER = {"all": 0.903, "none": 0.988, "random": 0.892, "translation": 0.869, "summary": 0.601}
PASSIM = {"all": 0.68, "none": 0.940, "random": 0.540, "translation": 0.642, "summary": 0.159}
LABELS = ("cut", "light", "heavy", "non")  # from copied to written afresh
LEAST_GAIN = 0.002  # of plagdet on the tuning half, for a constant to move: half of what chance makes of a half
WHOLE, TUNING, OTHER = "all pairs", "tuning half", "other half"


@dataclass(frozen=True)
class Constant:
    """A constant to tune: an attribute of a module, or without a module a setting, and the values to try."""

    name: str
    module: ModuleType | None
    values: tuple[float, ...]


OF_PAIRS = (
    Constant("min_evidence", None, (15.0, 20.0, 25.0, 30.0, 40.0)),
    Constant("min_aligned_words", None, (15, 20, 25, 30)),
    Constant("LEAST_COSINE", aligner, (0.1, 0.15, 0.2, 0.25)),
    Constant("LEAST_DICE", aligner, (0.05, 0.1, 0.15, 0.2)),
    Constant("LEAST_SHARE", aligner, (0.6, 0.7, 0.8, 0.9)),
    Constant("UNSEEN_WORDS", aligner, (0.1, 0.2, 0.4, 0.8)),
    Constant("LEAST_CHANCE", aligner, (0.025, 0.05, 0.1, 0.2)),
    Constant("EXTENSION_EVIDENCE", aligner, (5.0, 8.0, 12.0)),
    Constant("SUMMARY_EVIDENCE", aligner, (15.0, 20.0, 25.0, 35.0)),
    Constant("BESIDE_VERBATIM", aligner, (2.0, 4.0, 8.0, 16.0)),
)
OF_FINDING = (
    Constant("RARE_SHARE", candidates, (1, 2, 4, 8)),
    Constant("MOST_PLACES", candidates, (6, 12, 24)),
    Constant("LEAST_BONDS", candidates, (2, 3, 4)),
    Constant("MAX_GAP_WORDS", candidates, (50, 100, 200)),
)
Choice = dict[str, float]
Trial = Callable[[Choice, str], pa.Table]


def require_folders(folder: str | None) -> Path:
    """Return the data folder, or leave with a clear word: the collections are not in the repository."""
    if folder is None or not (Path(folder) / "pan13_dev" / "docs.jsonl.zst").exists():
        sys.exit(
            "This benchmark needs a folder with the collections pan13_dev and clough_stevenson: give it with --data DIR. "
            "Nothing was measured."
        )
    return Path(folder)


class Known:
    """The true passages of a collection, and its pairs: all of them and by half."""

    def __init__(self, folder: Path) -> None:
        self.documents = str(folder / "docs.jsonl.zst")
        self.pairs_file = str(folder / "pairs.csv")
        self.truth = read_passages(folder / "truth_passages.jsonl.zst")
        pairs = read_pairs(folder / "pairs.csv")
        half = np.array([zlib.crc32(name.encode()) & 1 for name in pairs["a_id"].to_pylist()])
        self.pairs = {WHOLE: pairs, TUNING: pairs.filter(pa.array(half == 0)), OTHER: pairs.filter(pa.array(half == 1))}

    def score(self, passages: pa.Table, which: str) -> Evaluation:
        """Measure passages against the truth, over some of the pairs; those of other pairs are left out."""
        return evaluate_passages(self.truth, passages, self.pairs[which])


def plagdet_by_kind(evaluation: Evaluation) -> dict[str, float]:
    """Return plagdet over all and by kind of reuse, and for pairs without reuse nothing."""
    scores = {KINDS.get(name, name): group.scores for name, group in evaluation.categories.items()}
    return {"all": evaluation.overall.scores.plagdet} | {name: s.plagdet for name, s in scores.items() if s.n_truth}


def print_scores(known: Known, passages: pa.Table, beside: Mapping[str, float], beside_name: str) -> None:
    """Print the scores over all and by kind, plagdet by half, and the figures of another tool beside them."""
    evaluations = {which: known.score(passages, which) for which in known.pairs}
    halves = [plagdet_by_kind(evaluations[which]) for which in (TUNING, OTHER)]
    whole = evaluations[WHOLE]
    groups = {"all": whole.overall} | {KINDS.get(name, name): group for name, group in whole.categories.items()}
    header = ("plagdet", "precision", "recall", "granularity", "true", "found", TUNING, OTHER, beside_name)
    print("    " + " " * 12 + "  ".join(header))
    for name, group in groups.items():
        scores = group.scores
        if scores.n_truth == 0:
            print(f"    {name:12}{scores.n_found:,} found in {scores.n_pairs:,} pairs")
            continue
        figures = [f"{x:.3f}" for x in (scores.plagdet, scores.precision, scores.recall, scores.granularity)]
        figures += [f"{scores.n_truth:,}", f"{scores.n_found:,}", *(f"{half[name]:.3f}" for half in halves)]
        figures += [f"{beside[name]:.3f}" if name in beside else "-"]
        print(f"    {name:12}" + "  ".join(cell.rjust(len(title)) for cell, title in zip(figures, header, strict=True)))


def measure_pairs(known: Known, work: Path, repeats: int) -> None:
    """Measure `compare` on the listed pairs."""
    out = work / "out-compare"
    command = [IBIDEM, "compare", known.documents, "--pairs", known.pairs_file, "-o", str(out), "--quiet"]
    seconds, peak = run_timed(command, repeats, out)
    n_pairs = known.pairs[WHOLE].num_rows
    print(f"with the pairs: ibidem compare {seconds:.2f} s for {n_pairs:,} pairs, {n_pairs / seconds:,.0f} pairs a second")
    print(f"  {timings(out)}; memory {peak / 1e6:.0f} MB; published aligner: 15 pairs a second, 48 tightened")
    print_scores(known, read_passages(out), PUBLISHED_ALIGNER, "published aligner")


def measure_finding(known: Known, work: Path, repeats: int) -> None:
    """Measure `find` over the whole collection, with alignment and without."""
    for flags in ([], ["--no-align"]):
        out = work / "out-find"
        seconds, peak = run_timed([IBIDEM, "find", known.documents, "-o", str(out), "--quiet", *flags], repeats, out)
        passages = read_passages(out)
        print(
            f"without the pairs: ibidem find {' '.join(flags)} {seconds:.2f} s; {timings(out)}; memory {peak / 1e6:.0f} MB; "
            f"{passages.num_rows:,} passages, also of pairs that are not judged; passim: 561 s"
        )
        print_scores(known, passages, PASSIM, "passim, other half of the corpus")


def measure_index(known: Known, work: Path) -> None:
    """Measure queries of an index that contains the sources, with alignment and without."""
    asked = set(known.pairs[WHOLE]["a_id"].to_pylist())
    documents = list(ibidem.read(known.documents))
    queries = [document for document in documents if document.id in asked]
    folder = work / "sources.idx"
    shutil.rmtree(folder, ignore_errors=True)
    with ibidem.Index(folder, hash_seed=0) as index:
        index.add([document for document in documents if document.id not in asked])
        about = index.info()
        sizes = about["bytes"] / about["sentences"], about["text_bytes"] / about["sentences"]
        print(f"index of the sources: {sizes[0]:.0f} bytes a sentence, {sizes[1]:.0f} of them for texts")
        for align in (True, False):
            begin = time.perf_counter()
            passages = index.query(queries, align=align).passages
            seconds = time.perf_counter() - begin
            print(f"index, {'aligned' if align else 'sentences only'}: {1000 * seconds / len(queries):.1f} ms a document")
            print_scores(known, passages, {}, "")


def timings(out: Path) -> str:
    """Return the seconds of the stages of a run."""
    seconds = json.loads((out / "run.json").read_text())["timings_seconds"]
    return " ".join(f"{name} {value:.1f}" for name, value in seconds.items())


def measure_answers(folder: Path) -> None:
    """Measure how well shares of short answers that are in their sources follow the degree of reuse."""
    with open(folder / "docs.jsonl", encoding="utf-8") as file:
        texts = {record["id"]: record["text"] for record in map(json.loads, file)}
    with open(folder / "truth_pairs.csv", encoding="utf-8") as file:
        answers = [row for row in csv.DictReader(file) if row["label"] in LABELS]
    compared = ibidem.compare_pairs(
        [{"id": name, "text": text} for name, text in texts.items()], [(row["answer_id"], row["source_id"]) for row in answers]
    )
    found: dict[str, list[tuple[float, int, int]]] = {}
    for passage in compared:
        found.setdefault(passage.a.id, []).append((passage.similarity, passage.a.start, passage.a.end))
    measures: dict[str, list[float]] = {}
    for row in answers:
        answer, source = texts[row["answer_id"]], texts[row["source_id"]]
        passages = found.get(row["answer_id"], [])
        measures.setdefault("compare: share covered", []).append(covered_share([(1.0, *p[1:]) for p in passages], len(answer)))
        measures.setdefault("compare: covered by similarity", []).append(covered_share(passages, len(answer)))
        for size in (1, 2, 3, 10):
            alike = ibidem.similarity(answer, source, shingle_size=size)
            measures.setdefault(f"resemblance, shingles of {size}", []).append(alike.resemblance)
            measures.setdefault(f"containment, shingles of {size}", []).append(alike.containment_a)
            measures.setdefault(f"order, shingles of {size}", []).append(alike.order)
    labels = np.array([row["label"] for row in answers])
    degree = np.array([-LABELS.index(label) for label in labels])
    counts = ", ".join(f"{label} {(labels == label).sum()}" for label in LABELS)
    print(f"short answers with four degrees of reuse ({counts}), default settings: mean by label, correlation of the ranks")
    print("    " + " " * 32 + "".join(f"{label:>8}" for label in LABELS) + "   Spearman")
    for name, values in measures.items():
        shares = np.array(values)
        means = "".join(f"{shares[labels == label].mean():8.3f}" for label in LABELS)
        print(f"    {name:32}{means}   {rank_correlation(shares, degree):8.3f}")
    is_empty = np.array([row["answer_id"] not in found for row in answers])
    empty = ", ".join(f"{label} {is_empty[labels == label].sum()}" for label in LABELS)
    print(f"    answers in which compare finds nothing: {empty}")


def covered_share(passages: Iterable[tuple[float, int, int]], n_chars: int) -> float:
    """Return the share of characters that passages (weight, start, end) cover, each counted by the highest weight over it."""
    weights = np.zeros(n_chars)
    for weight, start, end in passages:
        weights[start:end] = np.maximum(weights[start:end], weight)
    return float(weights.mean())


def rank_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Return Spearman's rank correlation; equal values share their mean rank."""
    ranks = []
    for values in (x, y):
        _, number, count = np.unique(values, return_inverse=True, return_counts=True)
        ranks.append((np.cumsum(count) - (count - 1) / 2)[number])
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def present_values(constants: Iterable[Constant]) -> Choice:
    """Return the values that the constants have now."""
    config = Config().alignment
    return {c.name: getattr(config if c.module is None else c.module, c.name) for c in constants}


def set_values(choice: Choice) -> Config:
    """Set the constants on their modules, where alignment reads them at every call; return the settings for the others."""
    settings: dict[str, Any] = {}
    for constant in OF_PAIRS + OF_FINDING:
        if constant.name not in choice:
            continue
        if constant.module is None:
            settings[constant.name] = choice[constant.name]
        else:
            setattr(constant.module, constant.name, choice[constant.name])
    return Config.of(**settings).with_signature("words")


def search(known: Known, constants: tuple[Constant, ...], choice: Choice, trial: Trial) -> Choice:
    """Try the values of one constant after the other on the tuning half, the others staying at the best so far."""
    choice = dict(choice)
    best = known.score(trial(choice, TUNING), TUNING).overall.scores.plagdet
    for constant in constants:
        present = choice[constant.name]
        shown = []
        for value in sorted({*constant.values, present}):
            begin = time.perf_counter()
            passages = trial({**choice, constant.name: value}, TUNING)
            seconds = time.perf_counter() - begin
            plagdet = known.score(passages, TUNING).overall.scores.plagdet
            shown.append((value, plagdet, f"{value:g}: {plagdet:.4f} ({passages.num_rows:,} found, {seconds:.1f} s)"))
        value, plagdet, _ = max(shown, key=lambda row: row[1])
        if plagdet >= best + LEAST_GAIN:
            choice[constant.name], best = value, plagdet
        moved = f"{present:g} -> {choice[constant.name]:g}" if choice[constant.name] != present else f"{present:g} stays"
        print(f"  {constant.name:18}{moved:16}" + "   ".join(row[2] for row in shown), flush=True)
    return choice


def print_choice(known: Known, usual: Choice, choice: Choice, trial: Trial) -> None:
    """Print what was chosen, and the scores of it and of the present values on both halves."""
    moved = {name: value for name, value in choice.items() if value != usual[name]}
    shown = ", ".join(f"{name} {usual[name]:g} -> {value:g}" for name, value in moved.items())
    print(f"  chosen: {shown or 'nothing moves'}")
    for name, values in {"present": usual, "chosen": choice}.items():
        if name == "chosen" and not moved:
            break
        for which in (TUNING, OTHER):
            scores = plagdet_by_kind(known.score(trial(values, which), which))
            shown = "  ".join(f"{kind} {plagdet:.4f}" for kind, plagdet in scores.items())
            print(f"    {name:8} {which:12} {shown}", flush=True)


def tune(known: Known) -> None:
    """Choose the constants on the tuning half, first those of the alignment, then those of finding what to align."""
    with MemoryRun(known.documents, None, Config(), Progress()) as run:
        collection = split(run.flow, run.read(run.config.documents), run.config, run.progress).look()
        run_tasks = run.flow.run_tasks
        words = words_of(collection, run_tasks)
        spans = {}
        for which, pairs in known.pairs.items():
            ids = list(zip(pairs["a_id"].to_pylist(), pairs["b_id"].to_pylist(), strict=True))
            spans[which] = whole_documents(words, numbers_of_pairs(collection, ids, known.pairs_file, run.skipped))

        def compare(choice: Choice, which: str) -> pa.Table:
            config = set_values(choice)
            limits = passage_limits(config)
            aligned = align_spans(words, spans[which], config.alignment, limits.max_gap_sentences, run_tasks)
            return aligned_table(locate(aligned, words, collection), collection, limits.min_sentences)

        def find(choice: Choice, which: str) -> pa.Table:
            config = set_values(choice)
            config = dataclasses.replace(config, alignment=dataclasses.replace(config.alignment, align=True))
            return find_tables(run.flow, Parts(collection), config, Progress())["passages"].take()

        usual = present_values(OF_PAIRS)
        print(f"with the pairs: plagdet on the tuning half by value; a constant moves for a gain of {LEAST_GAIN} or more")
        choice = search(known, OF_PAIRS, usual, compare)
        print_choice(known, usual, choice, compare)
        print("without the pairs: find over the whole collection, judged on the given pairs of the tuning half; these")
        print("  constants cost time, on large collections above all: weigh the gain against benchmarks/speed.py --only align")
        usual |= present_values(OF_FINDING)
        choice |= present_values(OF_FINDING)
        chosen = search(known, OF_FINDING, choice, find)
        print_choice(known, usual, chosen, find)
        set_values(usual)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with the collections pan13_dev and clough_stevenson")
    parser.add_argument("--work", default=str(Path(tempfile.gettempdir()) / "ibidem-benchmark"), help="folder for results")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each command, the best of which counts")
    parser.add_argument("--only", default="pairs,finding,index,answers", help="what to measure, separated by commas")
    parser.add_argument("--tune", action="store_true", help="choose the constants of the alignment instead")
    options = parser.parse_args()
    data, work = require_folders(options.data), Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    known = Known(data / "pan13_dev")
    if options.tune:
        tune(known)
        return
    wanted = options.only.split(",")
    if "pairs" in wanted:
        measure_pairs(known, work, options.repeats)
    if "finding" in wanted:
        measure_finding(known, work, options.repeats)
    if "index" in wanted:
        measure_index(known, work)
    if "answers" in wanted:
        measure_answers(data / "clough_stevenson")


if __name__ == "__main__":
    main()
