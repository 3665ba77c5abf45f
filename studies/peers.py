"""Beside other tools: the same input, the same machine, one run; what each takes, what it finds, and what it misses.

Tools that compare whole documents (`ibidem cluster`, rensa, gaoya, datasketch, text-dedup, datatrove's MinHash) get ten words in a
row as features, 128 hash functions in 16 bands and similarity 0.8, semhash its default. So that all have the same features, they
get plain words: small letters, one space between, no punctuation. What they report is judged by exact similarity; of clusters
all pairs count. On collections with true passages it is asked whose pair of documents they report: parts of documents are not
what they look for, and the table shows how many they cannot see.

Tools that locate text get the texts as they are: `ibidem find` and `ibidem compare`, copydetect (which compares all pairs and
therefore gets a sample of them, as `ibidem compare` does), datatrove's sentence deduplication and `ibidem dedup`, which take out
what stands elsewhere too. Every peer runs in an environment of its own, as its documentation shows. W is the time of `wc -w` on
the file that the tool gets. Time is that of the whole process; kernels of ibidem are compiled before. Memory is the peak of all
processes of a run. Precision where pairs are listed: of those that are reported, the share that has a true passage; in mail,
whose truth is incomplete, the share of reported pairs that are of one thread.
"""

from __future__ import annotations

import json
import random
import re
import tempfile
import time
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import altair as alt
import pyarrow as pa
from evidence import Study, require, study_options
from peer_environments import Outcome, Runner, words_seconds
from peer_judging import (
    Answer,
    Truth,
    compare_ends,
    inner_ends,
    judge_documents,
    ordered,
    pairs_in,
    read_answer,
    read_duplicates,
    read_known_pairs,
    read_lines,
    read_truth,
    table_of,
)
from peer_runs import write_lines

import ibidem
from ibidem.evaluation import evaluate_passages
from ibidem.evaluation.reading import read_passages

SOURCES = (
    "mdn_en/docs.jsonl.zst", "mdn_en/docs_2024-01.jsonl.zst", "win32_api_docs/docs.jsonl.zst", "mail_list/docs.jsonl.zst",
    "newsgroups20/docs.jsonl.zst", "pan13_dev/docs.jsonl.zst", "mdn_ko/docs.jsonl.zst",
)  # fmt: skip
ARTICLES = "mccormick_articles/docs_1000.jsonl"
ARTICLE_PAIRS = "mccormick_articles/truth_pairs_1000.csv"
WITH_PASSAGES = ("pan13_dev", "mail_list")
IN_ENGLISH = ("newsgroups20", "pan13_dev")
DOCUMENT_PEERS = ("gaoya", "rensa", "datasketch", "text-dedup", "datatrove-minhash", "semhash")
SHOWN_LIMIT = 0.33  # copydetect: pairs of a lower similarity are not in its report
KINDS = {"02-no-obfuscation": "word for word", "03-random-obfuscation": "random edits",
         "04-translation-obfuscation": "translated twice", "05-summary-obfuscation": "summaries"}  # fmt: skip
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
COST = ("tool", "seconds", "W", "MB")
Record = dict[str, str]


@dataclass
class Bench:
    """What the parts of the study have in common: where tools run, how much of the collections, and what is to be plotted."""

    study: Study
    runner: Runner
    data: Path
    n_documents: int
    times: list[dict[str, Any]] = field(default_factory=list)
    shares: list[dict[str, Any]] = field(default_factory=list)

    def row(self, place: str, outcome: Outcome, words: float, n_columns: int, cells: Callable[[], Sequence[Any]]) -> list[Any]:
        """Return a row of a table: what a run took, and what `cells` says of its answer; or why there is none."""
        if outcome.failure:
            return [outcome.tool, outcome.failure, *[""] * (n_columns - 2)]
        multiple = outcome.seconds / words
        self.times.append({"place": place, "tool": outcome.tool, "seconds": outcome.seconds, "multiple": multiple})
        cost = (outcome.tool, f"{outcome.seconds:.1f}", f"{multiple:.1f}", f"{outcome.memory_bytes / 1e6:,.0f}")
        return [*cost, *cells()]


def read_records(path: Path) -> Iterator[Record]:
    """Yield the records of a JSONL file, compressed or not."""
    with pa.input_stream(str(path), compression="detect") as stream:
        # Not splitlines: it also cuts at U+2028, which JSON allows inside a string.
        yield from (json.loads(line) for line in stream.read().split(b"\n") if line)


def plain_words(text: str) -> str:
    """Return the words of a text in small letters, without marks, so that a word is a word for every tool."""
    if not text.isascii():
        letters = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
        text = unicodedata.normalize("NFC", letters)
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def write_texts(path: Path, texts: Sequence[tuple[str, str]]) -> Path:
    """Write a file of `id` and `text` for the tools."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_lines(path, ({"id": doc_id, "text": text} for doc_id, text in texts))
    return path


def make_collection(data: Path, work: Path, share: float) -> Path:
    """Write a share of all documents of spaced scripts, chosen by their ids, as plain words, shuffled."""
    path = work / f"documents-{share:g}.jsonl"
    if not path.exists():
        texts = []
        for source in SOURCES:
            name = source.replace("/docs", "").removesuffix(".jsonl.zst")
            for record in read_records(data / source):
                doc_id = f"{name}:{record['id']}"
                if zlib.crc32(doc_id.encode()) < share * 2**32 and not UNSPACED.search(record["text"]):
                    texts.append((doc_id, plain_words(record["text"])))
        random.Random(1).shuffle(texts)
        write_texts(path, [(doc_id, words) for doc_id, words in texts if words])
    return path


def answers_of(outcomes: Sequence[Outcome]) -> dict[str, Answer]:
    """Return the pairs of documents that tools report, by the name of the tool."""
    read = {True: lambda outcome: read_duplicates(outcome.folder / "out"), False: lambda outcome: read_answer(outcome.answer)}
    return {o.tool: read[o.tool.startswith("ibidem")](o) for o in outcomes if not o.failure}


def show_documents(bench: Bench, share: float) -> None:
    """Whole documents: what is found of similar pairs in a large collection, and of known ones in a small one."""
    path = make_collection(bench.data, bench.runner.work, share)
    words = words_seconds(path)
    outcomes = [bench.runner.run_ibidem("cluster", path), *(bench.runner.run_peer(name, path) for name in DOCUMENT_PEERS)]
    answers = answers_of(outcomes)
    scores, n_true = judge_documents(answers, path)
    columns = (*COST, "pairs reported", "precision", "recall")
    rows = [bench.row("documents", o, words, len(columns), lambda o=o: scores[o.tool]) for o in outcomes]
    size = path.stat().st_size / 1e6
    note = f"W is {words:.2f} s. {n_true:,} pairs of similarity 0.8 or more are reported by any of them; recall is of these."
    bench.study.table("documents", f"Whole documents: {size:.0f} MB of plain words", columns, rows, note)

    texts = [(record["id"], plain_words(record["text"])) for record in read_records(bench.data / ARTICLES)]
    path = write_texts(bench.runner.work / "articles.jsonl", texts)
    words, known = words_seconds(path), read_known_pairs(bench.data / ARTICLE_PAIRS)
    outcomes = [bench.runner.run_ibidem("cluster", path), *(bench.runner.run_peer(name, path) for name in DOCUMENT_PEERS)]
    answers = answers_of(outcomes)

    def cells(outcome: Outcome) -> tuple[int, int]:
        found = sum(pair in answers[outcome.tool] for pair in known)
        return found, answers[outcome.tool].n_pairs - found

    columns = (*COST, f"of {len(known)} known pairs", "others")
    rows = [bench.row("articles", o, words, len(columns), lambda o=o: cells(o)) for o in outcomes]
    note = f"W is {words:.3f} s: what is left is what a tool takes to start."
    bench.study.table("articles", f"Whole documents: {len(texts):,} articles", columns, rows, note)


def take_documents(records: list[Record], folder: Path, n_documents: int) -> list[Record]:
    """Return all records, or for a trial, those of the first true passages."""
    if not n_documents:
        return records
    wanted: dict[str, None] = {}
    for passage in read_records(folder / "truth_passages.jsonl.zst"):
        wanted |= {passage["a_id"]: None, passage["b_id"]: None}
    chosen = set(list(wanted)[:n_documents])
    return [record for record in records if record["id"] in chosen]


def show_parts(bench: Bench, name: str, n_given: int) -> None:
    """Parts of documents: which true passages are seen, by tools that look for pairs, are given pairs, or clean a collection."""
    folder, work = bench.data / name, bench.runner.work
    records = take_documents(list(read_records(folder / "docs.jsonl.zst")), folder, bench.n_documents)
    truth = read_truth(folder, records)
    raw = write_texts(work / f"{name}.jsonl", [(record["id"], record["text"]) for record in records])
    plain = write_texts(work / f"{name}-plain.jsonl", [(record["id"], plain_words(record["text"])) for record in records])
    show_pairs(bench, name, truth, raw, plain)
    show_given(bench, name, truth, raw, n_given)
    show_cleaned(bench, name, truth, raw)


def show_pairs(bench: Bench, name: str, truth: Truth, raw: Path, plain: Path) -> None:
    """Which pairs of documents are reported, nothing being given."""
    kinds = [] if truth.listed is None else list(KINDS)
    columns = [*COST, "pairs reported", "true passages whose pair is reported", *(KINDS[kind] for kind in kinds), "precision"]
    columns += ["characters located", *(["plagdet"] if kinds else [])]

    def cells(outcome: Outcome, answer: Answer, passages: pa.Table | None) -> list[Any]:
        shares = truth.shares(answer)
        reports = "pairs of documents" if passages is None else "passages"
        bench.shares.append({"place": name, "tool": outcome.tool, "share": shares["all"], "reports": reports})
        row = [answer.n_pairs, shares["all"], *(shares.get(kind, "") for kind in kinds), truth.plausible(answer)]
        if passages is None:
            return [*row, *[""] * (len(columns) - len(COST) - len(row))]
        scores = evaluate_passages(truth.passages, passages, truth.listed).overall.scores
        return [*row, scores.micro_recall, *([scores.plagdet] if kinds else [])]

    rows = []
    words = words_seconds(raw)
    for flags in ((), ("--align",)):
        outcome = bench.runner.run_ibidem("find", raw, *flags)
        passages = None if outcome.failure else read_passages(outcome.folder / "out")
        answer = Answer() if passages is None else Answer(pairs_in(passages))
        rows.append(bench.row(name, outcome, words, len(columns), lambda o=outcome, a=answer, p=passages: cells(o, a, p)))
    words = words_seconds(plain)
    outcomes = [bench.runner.run_ibidem("cluster", plain), *(bench.runner.run_peer(peer, plain) for peer in DOCUMENT_PEERS)]
    answers = answers_of(outcomes)
    rows += [bench.row(name, o, words, len(columns), lambda o=o: cells(o, answers[o.tool], None)) for o in outcomes]
    title = f"Parts of documents, {name}: {truth.passages.num_rows:,} true passages, {len(truth.lengths):,} documents"
    bench.study.table(f"{name}-pairs", title, columns, rows)


def show_given(bench: Bench, name: str, truth: Truth, raw: Path, n_given: int) -> None:
    """What is located in pairs that are given: listed ones, or those of true passages."""
    table = truth.passages if truth.listed is None else truth.listed
    pairs = sorted(set(zip(table["a_id"].to_pylist(), table["b_id"].to_pylist(), strict=True)))
    pairs = random.Random(1).sample(pairs, min(n_given, len(pairs)))
    given = pa.table({side: [pair[k] for pair in pairs] for k, side in enumerate(("a_id", "b_id"))})
    listed = {ordered(*pair) for pair in pairs}
    judged = Truth(truth.passages.filter(pa.array([ordered(a, b) in listed for a, b in ends_of(truth.passages)], pa.bool_())),
                   given.append_column("category", pa.array([""] * len(pairs))), truth.lengths, truth.thread)  # fmt: skip
    lines = bench.runner.work / f"{name}-given.jsonl"
    write_lines(lines, pairs)
    csv_file = lines.with_suffix(".csv")
    csv_file.write_text("a_id,b_id\n" + "".join(f"{a},{b}\n" for a, b in pairs), "utf-8")
    columns = (*COST, "true passages whose pair is reported", "precision", "characters located", "plagdet")

    def cells(passages: pa.Table) -> list[Any]:
        answer = Answer(pairs_in(passages))
        scores = evaluate_passages(judged.passages, passages, given).overall.scores
        precision = judged.plausible(answer) if truth.listed is not None else ""
        return [judged.shares(answer).get("all", 0.0), precision, scores.micro_recall, scores.plagdet]

    words, rows, note = words_seconds(raw), [], ""
    outcome = bench.runner.run_ibidem("compare", raw, "--pairs", str(csv_file))
    rows.append(bench.row(f"{name}, given", outcome, words, len(columns), lambda: cells(read_passages(outcome.folder / "out"))))
    peer = bench.runner.run_peer("copydetect", raw, lines)
    for least in (SHOWN_LIMIT, 0.0):
        named = Outcome(f"{peer.tool}, similarity above {least:g}", peer.folder, peer.seconds, peer.memory_bytes, peer.failure)
        found = None if peer.failure else table_of(read_lines(peer.answer), lambda value, least=least: value > least)
        rows.append(bench.row(f"{name}, given", named, words, len(columns), lambda found=found: cells(found)))
    if not peer.failure:
        took = json.loads((peer.folder / "seconds.json").read_text("utf-8"))
        n_all = len(truth.lengths) * (len(truth.lengths) - 1) // 2
        hours = took["comparing"] / took["n_pairs"] * n_all / 3600
        note = f"One run of copydetect, shown with its default limit and without. To compare all {n_all:,} pairs, as it does when "
        note += f"left alone, would take it {hours:.1f} hours besides."
    title = f"Parts of documents, {name}: {len(pairs):,} pairs given, {judged.passages.num_rows:,} true passages"
    bench.study.table(f"{name}-given", title, columns, rows, note)


def ends_of(table: pa.Table) -> Iterator[tuple[str, str]]:
    """Yield the documents that the rows of a table are about."""
    return zip(table["a_id"].to_pylist(), table["b_id"].to_pylist(), strict=True)


def show_cleaned(bench: Bench, name: str, truth: Truth, raw: Path) -> None:
    """What a cleaned copy loses: text that stands elsewhere too."""

    def cells(outcome: Outcome) -> tuple[str, float]:
        if outcome.tool.startswith("ibidem"):
            removed = read_lines(outcome.folder / "out" / "removed.jsonl")
            whole = [(line["id"], 0, truth.lengths[line["id"]]) for line in removed if line["start"] is None]
            pieces = [*whole, *((line["id"], line["start"], line["end"]) for line in removed if line["start"] is not None)]
        else:
            pieces = [tuple(line) for line in read_lines(outcome.answer)]
        share, of_truth = truth.taken_out(pieces)
        bench.shares.append({"place": name, "tool": outcome.tool, "share": of_truth, "reports": "text taken out"})
        return f"{share:.1%}", of_truth

    words = words_seconds(raw)
    outcomes = [bench.runner.run_ibidem("dedup", raw, "--level", level) for level in ("passage", "sentence")]
    outcomes.append(bench.runner.run_peer("datatrove-sentences", raw))
    columns = (*COST, "of all characters taken out", "of the true passages, on the side that loses more")
    rows = [bench.row(f"{name}, cleaned", o, words, len(columns), lambda o=o: cells(o)) for o in outcomes]
    bench.study.table(f"{name}-cleaned", f"Parts of documents, {name}: a cleaned copy", columns, rows)


def show_sentences(bench: Bench, megabytes: float) -> None:
    """Splitting: how fast, and how far splitters agree on where sentences end."""
    ibidem.split_sentences("It is compiled. Now it is.")
    others = ("ibidem", "pysbd", "syntok")
    places = ("after a stop", "at the end of a line", "elsewhere")
    columns = ("text", "splitter", "MB/s", "ends", *(f"also of {name}" for name in others), *(f"alone, {place}" for place in places))
    rows = []
    for name in IN_ENGLISH:
        records = list(read_records(bench.data / name / "docs.jsonl.zst"))
        random.Random(1).shuffle(records)
        texts, n_bytes = [], 0
        while records and n_bytes < megabytes * 1e6:
            record = records.pop()
            texts.append((record["id"], record["text"]))
            n_bytes += len(record["text"].encode())
        path = write_texts(bench.runner.work / f"{name}-sentences.jsonl", texts)
        begin = time.perf_counter()
        spans = [ibidem.split_sentences(text) for _, text in texts]
        speeds, tools = {"ibidem": n_bytes / 1e6 / (time.perf_counter() - begin)}, {"ibidem": "ibidem"}
        ends = {"ibidem": [inner_ends(text, (end for _, end in of)) for (_, text), of in zip(texts, spans, strict=True)]}
        for peer in ("pysbd", "syntok"):
            outcome = bench.runner.run_peer(peer, path)
            if outcome.failure:
                rows.append((name, outcome.tool, outcome.failure, *[""] * (len(columns) - 3)))
                continue
            seconds = json.loads((outcome.folder / "seconds.json").read_text("utf-8"))["splitting"]
            speeds[peer], tools[peer] = n_bytes / 1e6 / seconds, outcome.tool
            lines = read_lines(outcome.answer)
            ends[peer] = [inner_ends(text, of) for (_, text), (_, of) in zip(texts, lines, strict=True)]
        agreement = compare_ends([text for _, text in texts], ends)
        for key, (n_ends, shared, alone) in agreement.items():
            cells = [shared.get(other, "") for other in others] + [alone[place] for place in places]
            rows.append((f"{name}, {n_bytes / 1e6:.1f} MB", tools[key], speeds[key], n_ends, *cells))
    note = "Ends of texts do not count. A row read across says which share of its ends the others have too (its precision against "
    note += "them), a column read down which share of theirs it has (its recall). Alone: ends that none of the others has."
    bench.study.table("sentences", "Where sentences end", columns, rows, note)


def plot(bench: Bench) -> None:
    """Time by tool, and the share of true passages by tool."""
    for key, values, x, title in (
        ("time", bench.times, alt.X("multiple:Q", scale=alt.Scale(type="log"), title="time, in W"), "Time by tool, as a multiple of wc -w"),
        ("found", bench.shares, alt.X("share:Q", axis=alt.Axis(format="%"), title="share of true passages"),
         "Share of true passages whose pair of documents is reported, or whose text is taken out of a cleaned copy"),
    ):  # fmt: skip
        if values:
            encoding = {"x": x, "y": alt.Y("tool:N", sort="x", title=None)}
            if key == "found":
                encoding["color"] = alt.Color("reports:N", title="reports")
            mark = alt.Chart(alt.Data(values=values)).mark_point(filled=True, size=60) if key == "time" else None
            chart = (mark or alt.Chart(alt.Data(values=values)).mark_bar()).encode(**encoding).properties(width=300)
            bench.study.plot(key, title, chart.facet(row=alt.Row("place:N", title=None)).resolve_scale(y="independent"))


def main() -> None:
    """Run the study."""
    parser = study_options(__doc__)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "ibidem-peers", help="folder for environments and runs")
    parser.add_argument("--share", type=float, default=0.18, help="share of the documents that are compared as wholes")
    parser.add_argument("--documents", type=int, default=0, help="for a trial: so many documents of the collections with passages")
    parser.add_argument("--given", type=int, default=1500, help="pairs of each that are given")
    parser.add_argument("--megabytes", type=float, default=2, help="text of each collection that is split into sentences")
    parser.add_argument("--limit", type=float, default=300, help="seconds after which a run is stopped")
    options = parser.parse_args()
    needed = [f"{name}/{file}" for name in WITH_PASSAGES for file in ("docs.jsonl.zst", "truth_passages.jsonl.zst")]
    data = require(options.data, *SOURCES, ARTICLES, ARTICLE_PAIRS, *needed)
    options.work.mkdir(parents=True, exist_ok=True)
    study = Study("peers", "Beside other tools", (__doc__ or "").split("\n\n", 1)[1], options.out)
    bench = Bench(study, Runner(options.work, options.limit), data, options.documents)
    compile_kernels(bench)
    show_documents(bench, options.share)
    for name in WITH_PASSAGES:
        show_parts(bench, name, options.given)
    show_sentences(bench, options.megabytes)
    plot(bench)
    study.write()


if __name__ == "__main__":
    main()
