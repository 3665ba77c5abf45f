"""An index that grows: a stream of sentences, and a tenth added compared with rebuilding everything. Used by qsign.py."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import numpy as np
from evidence import Study
from inputs import Record
from numpy.typing import NDArray

import ibidem

N_STREAM = 200_000  # sentences
N_PARTS = 10


class Way(NamedTuple):
    """Settings of an index; how often the stream is timed; how much is there when a tenth arrives."""

    settings: dict[str, Any]
    n_times: int
    shares: tuple[float, ...] = ()


def bits_way(n_bits: int, bits_per_word: int, radius: int, n_times: int, shares: tuple[float, ...] = ()) -> Way:
    """Return a search by bit signatures."""
    settings = {"search_engine": "bits", "radius": radius, "signature_bits": n_bits, "bits_per_word": bits_per_word}
    return Way(settings, n_times, shares)


# With 16 bits and whole sentences most signatures are within two bits of one another: that is left out, it takes too long.
WAYS = {
    "overlap": Way({}, 2, (0.5, 0.6, 0.7, 0.8)),
    "bits 32/2, d = 1": bits_way(32, 2, 1, 2, (0.5, 0.8)),
    "bits 32/2, d = 2": bits_way(32, 2, 2, 1),
    "bits 16/1, d = 1": bits_way(16, 1, 1, 1, (0.5, 0.8)),
}


def parts_of(n_sentences: NDArray[np.int64], shares: Sequence[float]) -> list[int]:
    """Return the documents after which these shares of all sentences have passed."""
    done = np.cumsum(n_sentences)
    return [int(np.searchsorted(done, share * done[-1])) for share in shares]


def time_stream(records: list[Record], ends: Sequence[int], way: Way) -> NDArray[np.float64]:
    """Return the seconds that every part of a stream takes, each document queried and added."""
    best = np.full(len(ends) - 1, math.inf)
    for _ in range(way.n_times):
        with tempfile.TemporaryDirectory() as folder, ibidem.Index(Path(folder) / "index", **way.settings) as index:
            for part, (begin, end) in enumerate(pairwise(ends)):
                started = time.perf_counter()
                for _arrival in index.watch(records[begin:end]):
                    pass
                best[part] = min(best[part], time.perf_counter() - started)
    return best


def show_stream(study: Study, records: list[Record], n_sentences: NDArray[np.int64]) -> None:
    """Figure 11: how time grows with the stream."""
    (n_taken,) = parts_of(n_sentences, (min(1.0, N_STREAM / n_sentences.sum()),))
    records, n_sentences = records[:n_taken], n_sentences[:n_taken]
    ends = parts_of(n_sentences, [part / N_PARTS for part in range(N_PARTS + 1)])
    passed = [int(n_sentences[:end].sum()) for end in ends[1:]]
    rows: list[tuple[Any, ...]] = []
    points: list[dict[str, Any]] = []
    powers: dict[str, float] = {}
    totals: dict[str, float] = {}
    for name, way in WAYS.items():
        taken = time_stream(records, ends, way)
        total = np.cumsum(taken)
        # The first part pays for what is set up once.
        powers[name] = float(np.polyfit(np.log(passed[1:]), np.log(total[1:]), 1)[0])
        totals[name] = float(total[-1])
        rows.append((name, *(f"{seconds:.2f}" for seconds in taken), f"{total[-1]:.1f}", f"{powers[name]:.2f}"))
        points += [{"search": name, "sentences": n, "seconds": float(t)} for n, t in zip(passed, total, strict=True)]
    title = f"A stream of {passed[-1]:,} sentences: seconds for each tenth, queried and added (figure 11)"
    note = "The paper's curves for a million sentences x, in seconds, in an unstated order: 1e-8 x² - .004 x + 57; "
    note += "3e-9 x² + .001 x - 122; 4e-9 x² - .001 x + 27; 2e-10 x² - 22."
    columns = ("search", *(f"{10 * part} %" for part in range(1, N_PARTS + 1)), "in all", "grows with the power")
    study.table("stream", title, columns, rows, note)
    chart = alt.Chart(alt.Data(values=points)).mark_line(point=True).encode(
        x="sentences:Q", y="seconds:Q", color=alt.Color("search:N", title=None),
    ).properties(width=340, height=220)  # fmt: skip
    study.plot("stream", "Seconds by sentences that have passed (figure 11)", chart)
    told = ", ".join(f"{power:.2f} ({name})" for name, power in powers.items())
    of_paper = [power for name, power in powers.items() if name.startswith("bits")]
    order = totals["bits 32/2, d = 1"] < min(totals["bits 32/2, d = 2"], totals["bits 16/1, d = 1"])
    words = f"Time grows with these powers of the stream: {told} (paper: 2). {'As' if order else 'Unlike'} in the paper, 32 "
    words += f"bits with d = 1 are {'' if order else 'not '}faster than 16 bits and than d = 2. The paper's stream has a "
    words += f"million sentences, this one {passed[-1]:,}: slow growth may only show later."
    study.judge("qSign, figure 11: time is quadratic in the stream", [min(of_paper) >= 1.7, order], words)


def time_increment(records: list[Record], old: int, new: int, way: Way) -> tuple[float, float, int, int]:
    """Return the seconds to query and add what is new, and to rebuild everything; and the duplicates that each finds."""
    added = anew = math.inf
    n_added = n_anew = 0
    for _ in range(way.n_times):
        with tempfile.TemporaryDirectory() as folder:
            with ibidem.Index(Path(folder) / "growing", **way.settings) as index:
                index.add(records[:old])
                begin = time.perf_counter()
                verdicts = [arrival.verdict for arrival in index.watch(records[old:new])]
                added = min(added, time.perf_counter() - begin)
                n_added = sum(verdict.duplicated for verdict in verdicts if verdict)
            begin = time.perf_counter()
            with ibidem.Index(Path(folder) / "anew", **way.settings) as index:
                index.add(records[:new])
                n_anew = sum(verdict.duplicated for verdict in index.check(records[:new]))
            anew = min(anew, time.perf_counter() - begin)
    return added, anew, n_added, n_anew


def show_increments(study: Study, records: list[Record], n_sentences: NDArray[np.int64]) -> None:
    """Figure 13: a tenth arrives."""
    rows: list[tuple[Any, ...]] = []
    points: list[dict[str, Any]] = []
    gains: dict[str, list[float]] = {}
    for name, way in WAYS.items():
        for share in way.shares:
            old, new = parts_of(n_sentences, (share, share + 0.1))
            added, anew, n_added, n_anew = time_increment(records, old, new, way)
            gains.setdefault(name, []).append(anew / added)
            n_old, n_new = int(n_sentences[:old].sum()), int(n_sentences[old:new].sum())
            rows.append((name, n_old, n_new, f"{added:.2f}", f"{anew:.2f}", f"{anew / added:.1f}", n_added, n_anew))
            how = (("added", added), ("rebuilt", anew))
            points += [{"how": f"{name}, {what}", "sentences": n_old, "seconds": taken} for what, taken in how]
    columns = ("search", "sentences before", "new", "seconds to add", "seconds to rebuild", "gain", "duplicates: new", "all")
    title = "A tenth of the collection arrives: queried and added, compared with rebuilding everything (figure 13)"
    note = "The paper has 500,000 to 800,000 sentences and 100,000 new ones; its gain is up to 7 with 32 bits, 5 with 16."
    study.table("increments", title, columns, rows, note)
    chart = alt.Chart(alt.Data(values=points)).mark_line(point=True).encode(
        x=alt.X("sentences:Q", scale=alt.Scale(zero=False), title="sentences before"), y="seconds:Q",
        color=alt.Color("how:N", title=None),
    ).properties(width=340, height=220)  # fmt: skip
    study.plot("increments", "Seconds to add a tenth, and to rebuild everything (figure 13)", chart)
    mine = gains["bits 32/2, d = 1"]
    told = "; ".join(f"{name}: {', '.join(f'{gain:.1f}' for gain in of_way)}" for name, of_way in gains.items())
    words = f"Gains by the size of the collection: {told} (paper: up to 7 with 32 bits, 5 with 16). With "
    grows = mine[-1] > mine[0]
    words += f"32 bits the gain {'grows, as' if grows else 'does not grow, unlike'} in the paper, with its size."
    verdict = "reproduced" if max(mine) >= 7 and mine[-1] > mine[0] else "in shape" if min(mine) > 1 else "contradicted"
    study.verdict("qSign, figure 13: adding is faster than rebuilding", verdict, words)
