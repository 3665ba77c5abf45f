"""PDC-MR, figure 11: the time of both levels by size, in one process and on Spark.

Judged is the time of the processor, of all processes together: it does not depend on what else the machine is doing.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair as alt
import pyarrow as pa
from evidence import Study

import ibidem
from ibidem.errors import IbidemError
from ibidem.execution.spark.session import own_session

SHARES = (0.125, 0.25, 0.5, 1.0)
REPEATS = 3
SPARK_SIZES = (4_000, 16_000)
SPARK_REPEATS = 2
SPARK_WORKERS = 2
WAYS = ("SpotSigs on documents", "I-Match on sentences")
ELAPSED = "Times elapsed depend on what else the machine does."
Row = tuple[int, float, float, float, float]
Calls = tuple[Callable[[], Any], Callable[[], Any]]


def show_times(study: Study, name: str, documents: pa.Table, whole: dict[str, Any], part: dict[str, Any]) -> None:
    """Figure 11, in one process and on Spark."""
    rows, points = [], []
    for share in SHARES:
        some = documents.slice(0, int(share * documents.num_rows))
        runs = (lambda some=some: ibidem.cluster(some, **whole), lambda some=some: ibidem.find(some, **part))
        rows.append(row_of(some.num_rows, measure(runs, REPEATS)))
        points += [{"documents": some.num_rows, "seconds": rows[-1][1 + at], "way": way} for at, way in enumerate(WAYS)]
    columns = ("documents", *(f"{way}, s of processor" for way in WAYS), *(f"{way}, s elapsed" for way in WAYS))
    note = f"Best of {REPEATS}, in turn, both in memory with the same engine on as many threads as cores. {ELAPSED}"
    study.table("times", f"Time by size ({name}; figure 11)", columns, rows, note)
    chart = alt.Chart(alt.Data(values=points)).mark_line(point=True).encode(
        x="documents:Q", y=alt.Y("seconds:Q", title="seconds of processor"), color=alt.Color("way:N", title=None)
    ).properties(width=320, height=180)  # fmt: skip
    study.plot("times", "Seconds by number of documents, SpotSigs on documents and I-Match on sentences", chart)
    of = "PDC-MR, figure 11: sentences are faster than documents"
    told = f"{name}, nothing planted or fitted; paper: ClueWeb09, 60 mappers and reducers on 16 machines"
    judge_times(study, f"{of}, one machine", rows, f"{told}; decided by {len(rows)} sizes, best of {REPEATS} runs each")
    decides = (
        f"{told}, here {SPARK_WORKERS} workers on one; decided by {len(SPARK_SIZES)} sizes, best of {SPARK_REPEATS} runs each"
    )
    on_spark = spark_times(documents, whole, part)
    if isinstance(on_spark, str):
        study.verdict(f"{of}, on Spark", "not available", f"Not run: {on_spark}.", decides)
        return
    title = f"Time by size on Spark, local[{SPARK_WORKERS}] ({name}; figure 11)"
    note = f"Best of {SPARK_REPEATS}, in turn, tables written; all processes of Spark together. {ELAPSED}"
    study.table("spark-times", title, columns, on_spark, note)
    judge_times(study, f"{of}, on Spark", on_spark, decides)


def row_of(n_documents: int, best: list[tuple[float, float]]) -> Row:
    """Return a row: documents, seconds of the processor for both ways, and seconds elapsed."""
    (elapsed, busy), (other_elapsed, other_busy) = best
    return n_documents, busy, other_busy, elapsed, other_elapsed


def judge_times(study: Study, of: str, rows: list[Row], data: str) -> None:
    """Say at how many sizes sentences are faster."""
    faster = [sentences < documents for _, documents, sentences, *_ in rows]
    told = "; ".join(f"{n:,} documents: {b:.1f} s by sentences, {a:.1f} s by documents" for n, a, b, *_ in (rows[0], rows[-1]))
    ratios = [sentences / documents for _, documents, sentences, *_ in rows]
    words = f"Processor time: {told}. Sentences are faster at {sum(faster)} of {len(faster)} sizes; they take "
    words += f"{min(ratios):.2f} to {max(ratios):.2f} times as long. Elapsed times are in the table. ibidem joins documents by "
    words += "few of their spots, and so looks at few pairs."
    study.judge(of, faster, words, data)


def measure(runs: Calls, repeats: int) -> list[tuple[float, float]]:
    """Return the best time elapsed of both, and the best of the processor. They take turns: a busy machine slows both down."""
    best = [(math.inf, math.inf)] * len(runs)
    for _ in range(repeats):
        for at, run in enumerate(runs):
            begin, busy = time.perf_counter(), processor_seconds()
            run()
            taken = time.perf_counter() - begin, processor_seconds() - busy
            best[at] = min(best[at][0], taken[0]), min(best[at][1], taken[1])
    return best


def processor_seconds() -> float:
    """Return what this process and all that it started have used of the processor; without /proc, this process alone."""
    used, children = {}, defaultdict(list)
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text("utf-8", "replace").rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has ended: its parent has its time
        used[int(path.parent.name)] = sum(map(int, fields[11:15]))
        children[int(fields[1])].append(int(path.parent.name))
    if os.getpid() not in used:
        return time.process_time()
    total, open_ones = 0, [os.getpid()]
    while open_ones:
        one = open_ones.pop()
        total += used[one]
        open_ones += children[one]
    return total / os.sysconf("SC_CLK_TCK")


def spark_times(documents: pa.Table, whole: dict[str, Any], part: dict[str, Any]) -> list[Row] | str:
    """Return rows of both ways on Spark, tables written; or why there is no Spark here."""
    try:
        spark = own_session({}, SPARK_WORKERS)
    except IbidemError as error:
        return str(error).splitlines()[0]  # the rest says how to get it
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        engine, out = ibidem.SparkEngine(spark), Path(folder) / "out"

        def runs_on(n_documents: int) -> Calls:
            path = Path(folder) / f"{n_documents}.jsonl"
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(f"{json.dumps(record)}\n" for record in documents.slice(0, n_documents).to_pylist())

            def run(verb: Callable[..., Any], settings: dict[str, Any]) -> None:
                with verb(str(path), engine=engine, **settings) as result:
                    result.write(out, overwrite=True)

            return lambda: run(ibidem.cluster, whole), lambda: run(ibidem.find, part)

        measure(runs_on(100), 1)  # workers start and load their kernels
        rows = [row_of(n_documents, measure(runs_on(n_documents), SPARK_REPEATS)) for n_documents in SPARK_SIZES]
    spark.stop()
    return rows
