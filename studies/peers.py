"""Beside other tools: the same input, the same machine, one run; what each takes, what it finds, and what it misses.

Tools that compare whole documents (`ibidem cluster`, rensa, gaoya, datasketch, text-dedup, datatrove's MinHash) get ten words
in a row as features, 128 hash functions in 16 bands and similarity 0.8, semhash its default limit and, since its own model is
not available as a package, word vectors made from all-MiniLM-L6-v2 by its makers' procedure. So that all have the same
features, they get plain words: lower case, single spaces, no punctuation, and no text of fewer than ten words. What they report
is judged by exact similarity; of clusters, which text-dedup and datatrove report, all pairs count, also for ibidem's clusters,
which have their own row (one run gives both). On collections with true passages, the tables count those whose pair of documents
is reported: these tools do not look for parts of documents, and the tables show how many they cannot see.

Tools that locate text get the original texts: `ibidem find` and `ibidem compare`, copydetect (which compares all pairs, and
therefore gets a sample of them, as `ibidem compare` does), datatrove's sentence deduplication and `ibidem dedup`, which remove
what also appears elsewhere. Every peer runs in its own environment, as in the first example of its documentation, rensa and
datasketch document by document; text-dedup and datatrove also write a cleaned copy. W is the time of `wc -w` on the input file.
Time is that of the whole process; ibidem's kernels are compiled before. Memory is the peak of all processes of a run. Precision
in PAN 2013, where 5,210 pairs of documents are listed: the share of these among the reported pairs that has a true passage;
other reported pairs, which may share text that was not planted, are not judged. In mail, whose truth is incomplete: the share
of reported pairs within one thread.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import altair as alt
from evidence import Study, require, study_options
from inputs import SPACED_SOURCES, read_records
from peer_environments import Outcome, Runner, words_seconds
from peer_inputs import make_collection, plain_texts, take_documents, take_text, write_texts
from peer_judging import (
    Answer,
    RepeatedWords,
    Spans,
    Truth,
    compare_ends,
    inner_ends,
    judge_documents,
    pairs_in,
    read_answer,
    read_clusters,
    read_duplicates,
    read_known_pairs,
    read_lines,
    read_truth,
)
from peer_runs import write_lines

import ibidem
from ibidem.evaluation import evaluate_passages
from ibidem.evaluation.document_numbers import passage_table
from ibidem.evaluation.truth_files import read_passages

ARTICLES = "mccormick_articles/docs_1000.jsonl"
ARTICLE_PAIRS = "mccormick_articles/truth_pairs_1000.csv"
WITH_PASSAGES = ("pan13_dev", "mail_list")
IN_ENGLISH = ("newsgroups20", "pan13_dev")
DOCUMENT_PEERS = ("gaoya", "rensa", "datasketch", "text-dedup", "datatrove-minhash", "semhash")
SPLITTERS = ("ibidem", "pysbd", "syntok", "nupunkt", "sentencex", "blingfire")
WITH_ENDS = {
    "en_ewt": "English, web and mail", "en_gum": "English, edited and spoken", "de_gsd": "German", "zh_gsdsimp": "Chinese",
    "ja_gsd": "Japanese", "ko_kaist": "Korean",
}  # fmt: skip
SHOWN_LIMIT = 0.33  # copydetect: pairs of a lower similarity are not in its report
KINDS = {
    "02-no-obfuscation": "word for word",
    "03-random-obfuscation": "random edits",
    "04-translation-obfuscation": "translated twice",
    "05-summary-obfuscation": "summaries",
}
COST = ("tool", "seconds", "W", "MB")


@dataclass
class Bench:
    """What the parts of the study have in common: where tools run, and what is to be plotted."""

    study: Study
    runner: Runner
    data: Path
    times: list[dict[str, Any]] = field(default_factory=list)
    shares: list[dict[str, Any]] = field(default_factory=list)

    def table(
        self, key: str, title: str, columns: Sequence[str], runs: Sequence[tuple[Outcome, float]],
        cells: Callable[[Outcome], Sequence[Any]], note: str = "",
    ) -> None:  # fmt: skip
        """Add a table of runs, each with its W: what a run took, and what `cells` says of its answer, or why there is none."""
        rows = []
        for outcome, words in runs:
            if outcome.failure:
                rows.append([outcome.tool, outcome.failure, *[""] * (len(columns) + len(COST) - 2)])
                continue
            multiple = outcome.seconds / words
            self.times.append({"place": key, "tool": outcome.tool, "multiple": multiple})
            cost = (outcome.tool, f"{outcome.seconds:.1f}", f"{multiple:.1f}", f"{outcome.memory_bytes / 1e6:,.0f}")
            rows.append([*cost, *cells(outcome)])
        self.study.table(key, title, (*COST, *columns), rows, note)

    def compare_documents(self, path: Path) -> tuple[list[tuple[Outcome, float]], dict[str, Answer]]:
        """Run all tools that compare whole documents; return the runs with W, and what they report by the name of the tool."""
        words = words_seconds(path)
        own = self.runner.run_ibidem("cluster", path)
        as_clusters = replace(own, tool=f"{own.tool}, its clusters")
        peers = [self.runner.run_peer(name, path) for name in DOCUMENT_PEERS]
        answers = {peer.tool: read_answer(peer.answer) for peer in peers if not peer.failure}
        if not own.failure:
            answers |= {own.tool: read_duplicates(own.folder / "out"), as_clusters.tool: read_clusters(own.folder / "out")}
        return [(outcome, words) for outcome in (own, as_clusters, *peers)], answers


def compile_kernels(bench: Bench, articles: Path) -> None:
    """Run every verb of ibidem once, so that what is timed later is compiled."""
    pairs = bench.runner.work / "articles-given.csv"
    pairs.write_bytes((bench.data / ARTICLE_PAIRS).read_bytes())
    for verb, *flags in (
        ("cluster",), ("find", "--no-align"), ("find",), ("compare", "--pairs", str(pairs)), ("dedup", "--level", "passage"),
        ("dedup", "--level", "passage", "--align"),
        ("dedup", "--level", "sentence"),
    ):  # fmt: skip
        outcome = bench.runner.run_ibidem(verb, articles, *flags)
        if outcome.failure:
            raise RuntimeError(f"{outcome.tool}: {outcome.failure}")
    ibidem.split_sentences("This is compiled. Now it is.")


def show_documents(bench: Bench, articles: Path, share: float) -> None:
    """Whole documents: what is found of similar pairs in a large collection, and of known ones in a small one."""
    path = make_collection(bench.data, bench.runner.work, share)
    runs, answers = bench.compare_documents(path)
    scores, n_true = judge_documents(answers, path)
    note = f"W is {runs[0][1]:.2f} s. {n_true:,} pairs of similarity 0.8 or more are reported by any; recall is of these."
    title = f"Whole documents: {path.stat().st_size / 1e6:.0f} MB of plain words"
    bench.table("documents", title, ("pairs reported", "precision", "recall"), runs, lambda outcome: scores[outcome.tool], note)

    known = read_known_pairs(bench.data / ARTICLE_PAIRS)
    runs, answers = bench.compare_documents(articles)

    def found(outcome: Outcome) -> tuple[int, int]:
        n_found = sum(pair in answers[outcome.tool] for pair in known)
        return n_found, answers[outcome.tool].n_pairs - n_found

    note = f"W is {runs[0][1]:.3f} s: the times here are mostly start-up times."
    columns = (f"of {len(known)} known pairs", "other pairs")
    bench.table("articles", "Whole documents: 1,000 articles", columns, runs, found, note)


def show_parts(bench: Bench, name: str, n_documents: int, n_given: int) -> None:
    """Parts of documents: which true passages tools see that are given nothing, or pairs, or that clean a collection."""
    records = take_documents(bench.data / name, n_documents)
    truth = read_truth(bench.data / name, records)
    work = bench.runner.work
    raw = write_texts(work / f"{name}.jsonl", [(record["id"], record["text"]) for record in records])
    plain = write_texts(work / f"{name}-plain.jsonl", plain_texts((record["id"], record["text"]) for record in records))
    show_pairs(bench, name, truth, raw, plain)
    show_given(bench, name, truth, raw, n_given)
    show_cleaned(bench, name, truth, raw, RepeatedWords({record["id"]: record["text"] for record in records}))


def show_pairs(bench: Bench, name: str, truth: Truth, raw: Path, plain: Path) -> None:
    """Which pairs of documents are reported, nothing being given."""
    words, passages = words_seconds(raw), {}
    found = [(bench.runner.run_ibidem("find", raw, *flags), words) for flags in (("--no-align",), ())]
    runs, answers = bench.compare_documents(plain)
    for outcome, _ in found:
        if not outcome.failure:
            passages[outcome.tool] = read_passages(outcome.folder / "out")
            answers[outcome.tool] = Answer(pairs_in(passages[outcome.tool]))
    kinds = KINDS if truth.listed is not None else {}

    def cells(outcome: Outcome) -> list[Any]:
        answer, located = answers[outcome.tool], passages.get(outcome.tool)
        shares = truth.shares(answer)
        reports = "pairs of documents" if located is None else "passages"
        bench.shares.append({"place": name, "tool": outcome.tool, "share": shares["all"], "reports": reports})
        row = [answer.n_pairs, shares["all"], *(shares.get(kind, "") for kind in kinds), truth.plausible(answer)]
        if located is None:
            return [*row, *["" for _ in ("characters", *(["plagdet"] if kinds else []))]]
        scores = evaluate_passages(truth.passages, located, truth.listed).overall.scores
        return [*row, scores.micro_recall, *([scores.plagdet] if kinds else [])]

    precision = "precision among listed pairs" if kinds else "precision by thread"
    columns = ["pairs reported", "true passages whose pair is reported", *kinds.values(), precision, "characters located"]
    title = f"Parts of documents, {name}: {truth.passages.num_rows:,} true passages, {len(truth.lengths):,} documents"
    bench.table(f"{name}-pairs", title, [*columns, "plagdet"] if kinds else columns, [*found, *runs], cells)


def show_given(bench: Bench, name: str, truth: Truth, raw: Path, n_given: int) -> None:
    """What is located in pairs that are given: some of those that are listed, or else of those of true passages."""
    judged, pairs = truth.sample(n_given)
    lines = bench.runner.work / f"{name}-given.jsonl"
    write_lines(lines, pairs)
    rows = lines.with_suffix(".csv")
    rows.write_text("a_id,b_id\n" + "".join(f"{a},{b}\n" for a, b in pairs), "utf-8")

    words = words_seconds(raw)
    own, peer = bench.runner.run_ibidem("compare", raw, "--pairs", str(rows)), bench.runner.run_peer("copydetect", raw, lines)
    runs, passages, note = [(own, words)], {}, ""
    if not own.failure:
        passages[own.tool] = read_passages(own.folder / "out")
    for least in (SHOWN_LIMIT, 0.0):
        shown = replace(peer, tool=f"{peer.tool}, similarity above {least:g}")
        runs.append((shown, words))
        if not peer.failure:
            passages[shown.tool] = passage_table(line[:6] for line in read_lines(peer.answer) if line[6] > least)
    if not peer.failure:
        note = "One run of copydetect, shown with its default limit and without. It marks slices of each text separately; "
        note += "here slices that share words are joined into passages. By default, it compares all pairs of documents."

    def cells(outcome: Outcome) -> list[Any]:
        answer = Answer(pairs_in(passages[outcome.tool]))
        scores = evaluate_passages(judged.passages, passages[outcome.tool], judged.listed).overall.scores
        # In mail only pairs with a true passage are given: every one that is reported is right.
        precision = judged.plausible(answer) if truth.listed is not None else ""
        return [judged.shares(answer)["all"], precision, scores.micro_recall, scores.plagdet]

    columns = ("true passages whose pair is reported", "precision", "characters located", "plagdet")
    title = f"Parts of documents, {name}: {len(pairs):,} pairs given, {judged.passages.num_rows:,} true passages"
    bench.table(f"{name}-given", title, columns, runs, cells, note)


def show_cleaned(bench: Bench, name: str, truth: Truth, raw: Path, repeated: RepeatedWords) -> None:
    """What a cleaned copy loses: text that also appears elsewhere."""

    def cells(outcome: Outcome) -> tuple[str, float | None, float]:
        if outcome.answer.exists():
            pieces = read_lines(outcome.answer)
        else:
            removed = read_lines(outcome.folder / "out" / "removed.jsonl")
            whole = [(line["id"], 0, truth.lengths[line["id"]]) for line in removed if line["start"] is None]
            pieces = [*whole, *((line["id"], line["start"], line["end"]) for line in removed if line["start"] is not None)]
        spans = Spans(pieces)
        share, of_truth = truth.taken_out(spans)
        bench.shares.append({"place": name, "tool": outcome.tool, "share": of_truth, "reports": "text removed"})
        return f"{share:.1%}", repeated.share(spans), of_truth

    words = words_seconds(raw)
    levels = (("passage",), ("passage", "--align"), ("sentence",))
    outcomes = [bench.runner.run_ibidem("dedup", raw, "--level", *level) for level in levels]
    runs = [(outcome, words) for outcome in (*outcomes, bench.runner.run_peer("datatrove-sentences", raw))]
    columns = ("characters removed", "of these, also elsewhere", "true passages, on the side that loses more")
    note = "Also elsewhere: removed words that are in a run of five that occurs in the collection more than once."
    bench.table(f"{name}-cleaned", f"Parts of documents, {name}: a cleaned copy", columns, runs, cells, note)


def show_sentences(bench: Bench, megabytes: float) -> None:
    """Splitting: how fast, and how far splitters agree on where sentences end."""
    places = ("after a stop", "at the end of a line", "elsewhere")
    columns = ["text", "splitter", "MB/s", "ends", *(f"also of {name}" for name in SPLITTERS)]
    columns += [f"alone, {place}" for place in places]
    rows: list[Sequence[Any]] = []
    for name in IN_ENGLISH:
        texts, size = take_text(bench.data / name / "docs.jsonl.zst", megabytes)
        path = write_texts(bench.runner.work / f"{name}-sentences.jsonl", texts)
        begin = time.perf_counter()
        found = {"ibidem": [[end for _, end in ibidem.split_sentences(text)] for _, text in texts]}
        speeds, tools = {"ibidem": size / (time.perf_counter() - begin)}, {"ibidem": "ibidem"}
        for peer in SPLITTERS[1:]:
            outcome = bench.runner.run_peer(peer, path)
            if outcome.failure:
                rows.append((name, outcome.tool, f"fails: {outcome.failure}", *[""] * (len(columns) - 3)))
                continue
            seconds = json.loads((outcome.folder / "seconds.json").read_text("utf-8"))["splitting"]
            speeds[peer], tools[peer] = size / seconds, outcome.tool
            found[peer] = [ends for _, ends in read_lines(outcome.answer)]
        bodies = [text for _, text in texts]
        ends = {key: list(map(inner_ends, bodies, of_texts)) for key, of_texts in found.items()}
        for key, (n_ends, shared, alone) in compare_ends(bodies, ends).items():
            cells = [shared.get(other, "") for other in SPLITTERS] + [alone[place] for place in places]
            rows.append((f"{name}, {size:.1f} MB", tools[key], speeds[key], n_ends, *cells))
    note = "Text by text, without the start of the program. Ends of texts do not count. A row gives the share of its "
    note += "ends that the others also have (its precision against them), a column the share of their ends that it has (its "
    note += "recall). Alone: ends that none of the others has, as a share of all."
    bench.study.table("sentences", "Where sentences end", columns, rows, note)


def show_true_ends(bench: Bench) -> None:
    """Splitting, where people have marked the ends of sentences."""
    rows: dict[str, list[Any]] = {}
    for name in WITH_ENDS:
        records = list(read_records(bench.data / f"sentence_ends/{name}.jsonl"))
        bodies = [record["text"] for record in records]
        true = [inner_ends(record["text"], (end for _, end in record["sentences"])) for record in records]
        path = write_texts(bench.runner.work / f"{name}.jsonl", [(record["id"], record["text"]) for record in records])
        found = {"ibidem": [[end for _, end in ibidem.split_sentences(text)] for text in bodies]}
        for peer in SPLITTERS[1:]:
            outcome = bench.runner.run_peer(peer, path)
            if outcome.failure:
                rows.setdefault(outcome.tool, []).append(outcome.failure)
            else:
                found[outcome.tool] = [ends for _, ends in read_lines(outcome.answer)]
        n_true = sum(map(len, true))
        for tool, of_texts in found.items():
            ends = list(map(inner_ends, bodies, of_texts))
            n_right = sum(len(a & b) for a, b in zip(ends, true, strict=True))
            rows.setdefault(tool, []).append(f"{2 * n_right / (n_true + sum(map(len, ends))):.3f}")
    note = "F1 of the ends inside documents, against the development sets of Universal Dependencies, joined into documents "
    note += "with their paragraphs. pySBD and sentencex are told the language; nupunkt's model is English."
    table = [(tool, *cells) for tool, cells in rows.items()]
    bench.study.table("true_ends", "Where sentences end, judged by people", ("splitter", *WITH_ENDS.values()), table, note)


def plot(bench: Bench) -> None:
    """Time by tool, and the share of true passages by tool."""
    tool = alt.Y("tool:N", sort="x", title=None)
    row = alt.Row("place:N", title=None, header=alt.Header(labelAngle=0, labelAlign="left"))
    multiple = alt.X("multiple:Q", scale=alt.Scale(type="log"), title="time as a multiple of wc -w")
    base = alt.Chart(alt.Data(values=bench.times)).mark_point(filled=True, size=60).encode(x=multiple, y=tool)
    chart = base.properties(width=300).facet(row=row).resolve_scale(y="independent")
    bench.study.plot("time", "Time by tool, as a multiple of wc -w on the same file, logarithmic", chart)
    tool = alt.Y("tool:N", sort="-x", title=None)
    share = alt.X("share:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"), title="share of true passages")
    colour = alt.Color("reports:N", title="what it reports")
    base = alt.Chart(alt.Data(values=bench.shares)).mark_bar().encode(x=share, y=tool, color=colour)
    chart = base.properties(width=300).facet(row=row).resolve_scale(y="independent")
    title = "Share of true passages by tool: those whose pair of documents is reported, or characters of them removed"
    bench.study.plot("found", title, chart)


def main() -> None:
    """Run the study."""
    work = Path(tempfile.gettempdir()) / "ibidem-peers"
    parser = study_options(__doc__)
    parser.add_argument("--work", type=Path, default=work, help="folder for environments, which are kept, and runs")
    parser.add_argument("--share", type=float, default=0.2, help="share of the documents that are compared as a whole")
    parser.add_argument("--documents", type=int, default=0, help="for a trial: so many of the collections with passages")
    parser.add_argument("--given", type=int, default=1500, help="pairs of each that are given")
    parser.add_argument("--megabytes", type=float, default=2, help="text of each collection that is split into sentences")
    parser.add_argument("--limit", type=float, default=300, help="seconds after which a run is stopped")
    options = parser.parse_args()
    needed = [f"{name}/{file}" for name in WITH_PASSAGES for file in ("docs.jsonl.zst", "truth_passages.jsonl.zst")]
    needed += [f"sentence_ends/{name}.jsonl" for name in WITH_ENDS]
    data = require(options.data, *SPACED_SOURCES, ARTICLES, ARTICLE_PAIRS, *needed)
    options.work.mkdir(parents=True, exist_ok=True)
    study = Study("peers", "Beside other tools", (__doc__ or "").split("\n\n", 1)[1], options.out)
    bench = Bench(study, Runner(options.work, options.limit), data)
    texts = plain_texts((record["id"], record["text"]) for record in read_records(data / ARTICLES))
    articles = write_texts(options.work / "articles.jsonl", texts)
    compile_kernels(bench, articles)
    show_documents(bench, articles, options.share)
    for name in WITH_PASSAGES:
        show_parts(bench, name, options.documents, options.given)
    show_sentences(bench, options.megabytes)
    show_true_ends(bench)
    plot(bench)
    study.write()


if __name__ == "__main__":
    main()
