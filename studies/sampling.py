"""Adaptive sampling of shingles (Ye, Wen, Ma): precision and recall by ratio, limit and size; and plans with a promise.

The paper's collection, a million pages of .GOV, is not available; here it is all collections together: technical pages, mail,
forum posts, web pages, in five languages. As in the paper identical documents count once, shingles have ten words, and the
ground truth uses all shingles. For every ratio 1/n all n samples are tried.

Plans are tuned on one half of the collection (every second document) and measured on the other, pairs not verified. A promise
is kept if the share of right pairs is as promised or better, over all and in every size group with at least 50 pairs found.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
from evidence import Study, require, study_options
from inputs import SOURCES

from ibidem.columns.sets import HashSets
from ibidem.columns.shingled import ShingledDocuments
from ibidem.config import Config
from ibidem.config.sampling_plan import SamplingPlan
from ibidem.execution.threads import Threads
from ibidem.formats import read_batches
from ibidem.resemblance import Corpus, representatives, tune_sampling
from ibidem.resemblance.candidates import find_candidates
from ibidem.resemblance.sampling_trials import GROUPS, RATIOS
from ibidem.resemblance.shingled_texts import gather_shingles

PAPER_GROUPS = (0, 500, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000)
PAPER_DOCUMENTS = (651983, 153741, 78590, 28917, 14669, 8808, 5636, 3833, 2790, 1983, 7775)
PAPER_RATIOS = (2, 4, 8, 16)
LIMITS = ("0.5", "0.6", "0.7", "0.8", "0.9", "0.95")
PROMISES = (0.7, 0.8, 0.85, 0.9)
LEAST_PAIRS, LEAST_SHOWN = 50, 20


@dataclass(frozen=True)
class Half:
    """Every second document: the shingles of all, and which of them count."""

    sets: HashSets
    wanted: np.ndarray


def halves(documents: ShingledDocuments) -> list[Half]:
    """Return both halves of the collection, identical documents once."""
    n = documents.n_documents
    representative = representatives(documents.digests, documents.side, np.arange(n))
    wanted = (representative == np.arange(n)) & (documents.digests != 0)
    return [Half(documents.known_by, wanted & (np.arange(n) % 2 == side)) for side in (0, 1)]


def pairs_of(half: Half, every: np.ndarray, config: Config, engine: Threads) -> np.ndarray:
    """Return the pairs that a sample of the shingles finds, each as one number."""
    corpus = Corpus(half.sets, None, half.wanted, np.empty(0, np.int8), every)
    found = find_candidates(corpus, config, False, engine.run_tasks).duplicates
    return found.a.astype(np.int64) << 32 | found.b


def measure(
    half: Half, every: np.ndarray, truth: np.ndarray, config: Config, engine: Threads
) -> tuple[float, float, float, float]:
    """Return precision over all, the lowest of a size group, recall, and the share of shingles used."""
    sizes = np.diff(half.sets.first)
    found = pairs_of(half, every, config, engine)
    right = np.isin(found, truth)
    larger = np.maximum(sizes[found >> 32], sizes[found & 0xFFFFFFFF])
    group = np.searchsorted(GROUPS, larger, side="right") - 1
    by_group = [right[group == g].mean() for g in range(len(GROUPS)) if np.count_nonzero(group == g) >= LEAST_PAIRS]
    share = float((sizes[half.wanted] / every[half.wanted]).sum() / sizes[half.wanted].sum())
    return float(right.mean()), float(min(by_group)), float(np.isin(truth, found).mean()), share


def group_names() -> list[str]:
    """Return the names of the paper's groups of sizes."""
    ends = [*PAPER_GROUPS[1:], None]
    return [f"{low:,}-{high:,}" if high else f"{low:,} and more" for low, high in zip(PAPER_GROUPS, ends, strict=True)]


def show_sizes(study: Study, documents: ShingledDocuments) -> None:
    """Figure 1 and table 3: document sizes."""
    sizes = np.diff(documents.known_by.first)
    group = np.searchsorted(PAPER_GROUPS, sizes, side="right") - 1
    of_group = [sizes[group == g] for g in range(len(PAPER_GROUPS))]
    rows = [(name, len(s), int(s.sum()), n) for name, s, n in zip(group_names(), of_group, PAPER_DOCUMENTS, strict=True)]
    study.table("sizes", "Documents by size (table 3)", ("shingles", "documents", "total shingles", "paper: documents"), rows)
    ranked = np.sort(sizes)[::-1]
    ranks = np.unique(np.geomspace(1, len(ranked), 200).astype(int))
    points = [{"rank": int(r), "size": int(max(1, ranked[r - 1]))} for r in ranks]
    chart = alt.Chart(alt.Data(values=points)).mark_line().encode(
        x=alt.X("rank:Q", scale=alt.Scale(type="log"), title="rank"),
        y=alt.Y("size:Q", scale=alt.Scale(type="log"), title="shingles"),
    ).properties(width=320, height=200)  # fmt: skip
    study.plot("sizes", "Size of documents by rank, both axes logarithmic", chart)
    tail = (ranks >= 10) & (ranks <= len(ranked) // 20)
    slope = float(np.polyfit(np.log(ranks[tail]), np.log([ranked[r - 1] for r in ranks[tail]]), 1)[0])
    small = float((sizes < 500).mean())
    fit = float(np.corrcoef(np.log(ranks[tail]), np.log([ranked[r - 1] for r in ranks[tail]]))[0, 1]) ** 2
    words = f"The largest twentieth falls as rank^{slope:.2f} (R² {fit:.3f}); {small:.0%} of the documents are smaller than "
    words += "500 (paper: 68 %)."
    study.judge("Sampling, figure 1 and table 3: sizes follow a power law", fit >= 0.95, words)


def show_shapes(study: Study, half: Half, engine: Threads) -> None:
    """Figures 2 and 3: precision and recall by limit, ratio and size."""
    rows, points = [], []
    for limit in LIMITS:
        tuned = tune_sampling(half.sets, half.wanted, Fraction(limit), 1e-9, 1000, PAPER_GROUPS, PAPER_RATIOS, engine.run_tasks)
        for k, ratio in enumerate(PAPER_RATIOS, 1):
            trials = [group.trials[k] for group in tuned]
            cells = [f"{t.precision:.2f} / {t.recall:.2f}" if t.accepted >= LEAST_SHOWN else "" for t in trials]
            accepted, right, true = (sum(getattr(t, what) for t in trials) for what in ("accepted", "right", "true"))
            rows.append((limit, f"1/{ratio}", *cells, f"{right / max(1, accepted):.2f} / {right / max(1, true):.2f}"))
            of = {"limit": float(limit), "ratio": f"1/{ratio}"}
            points += [
                of | {"size": name, "n": g, "precision": t.precision, "recall": t.recall}
                for g, (name, t) in enumerate(zip(group_names(), trials, strict=True))
                if t.accepted >= LEAST_SHOWN
            ]
    title = "Precision / recall by limit, ratio and shingles in a document (figures 2 and 3)"
    study.table("shapes", title, ("limit", "ratio", *group_names(), "all"), rows)
    for what, ratios, figure in (("precision", ("1/4", "1/16"), 2), ("recall", ("1/16",), 3)):
        chosen: list[dict[str, Any]] = [point for point in points if point["ratio"] in ratios]
        chart = alt.Chart(alt.Data(values=chosen)).mark_line(point=True).encode(
            x=alt.X("limit:Q", scale=alt.Scale(zero=False), title="similarity limit"), y=alt.Y(f"{what}:Q"),
            color=alt.Color("size:N", sort=group_names(), title="shingles"), column=alt.Column("ratio:N", title="sampled"),
        ).properties(width=260, height=200)  # fmt: skip
        study.plot(what, f"{what.capitalize()} by limit and document size (figure {figure})", chart)

    def precision(limit: str, ratio: str, n: int) -> float:
        key = {"limit": float(limit), "ratio": ratio, "n": n}
        return next((float(p["precision"]) for p in points if all(p[k] == v for k, v in key.items())), float("nan"))

    small = [precision(limit, "1/16", 0) for limit in LIMITS]
    larger = [precision("0.8", "1/16", n) for n in (0, 1, 2)]
    told, by_size = (", ".join(f"{x:.2f}" for x in values) for values in (small, larger))
    quarter = precision("0.8", "1/4", 0)
    highest = [precision("0.95", "1/16", n) for n in (0, 1, 2)]
    words = f"Documents below 500 shingles, 1/16: {told} at limits {', '.join(LIMITS)}; at limit 0.8 by size {by_size} "
    words += f"(0-500, 500-1,000, 1,000-2,000); 1/4 instead of 1/16 gives {quarter:.2f} for the smallest. At 0.95 and 1/16 "
    words += f"{', '.join(f'{x:.2f}' for x in highest)} by size (paper: below 0.1 up to 3,000)."
    falls = [small == sorted(small, reverse=True), larger == sorted(larger), quarter > small[3], max(highest) < 0.1]
    study.judge("Sampling, figure 2: precision falls with limit, shortness, ratio", falls, words)
    recalls = [point["recall"] for point in points if point["ratio"] == "1/16"]
    words = f"At 1/16 the lowest recall of a group is {min(recalls):.2f} (paper: above 0.6)."
    study.judge("Sampling, figure 3: sampling hardly hurts recall", min(recalls) > 0.6, words)


def show_promises(study: Study, known: Half, unseen: Half, engine: Threads) -> None:
    """Figure 4: plans by size against one ratio for all."""
    sizes = np.diff(unseen.sets.first)
    rows, points, kept, fewer = [], [], 0, 0
    for limit in ("0.6", "0.8", "0.85"):
        config = Config.of(min_similarity=limit)
        truth = pairs_of(unseen, np.ones(len(sizes), np.int64), config, engine)
        uniform = {n: measure(unseen, np.full(len(sizes), n), truth, config, engine) for n in RATIOS}
        for promise in PROMISES:
            tuned = tune_sampling(known.sets, known.wanted, Fraction(limit), promise, 1000, run_tasks=engine.run_tasks)
            plan = SamplingPlan([g.from_shingles for g in tuned], [g.every for g in tuned], {})
            overall, worst, recall, share = measure(unseen, plan.every_of(sizes), truth, config, engine)
            keeping = [n for n, m in uniform.items() if min(m[0], m[1]) >= promise]
            best = 1 / max(keeping) if keeping else 1.0
            is_kept = min(overall, worst) >= promise
            kept, fewer = kept + is_kept, fewer + (share < best)
            rows.append((limit, promise, f"{share:.1%}", overall, worst, recall, is_kept, f"{best:.1%}"))
            points += [
                {"limit": f"limit {limit}", "promise": promise, "share": x, "how": how}
                for x, how in ((share, "by size"), (best, "one ratio for all"))
            ]
    columns = ("limit", "promise", "shingles", "precision", "worst group", "recall", "kept", "one ratio that keeps it")
    study.table("promises", "Plans by size, tuned on one half and measured on the other (figure 4)", columns, rows)
    chart = alt.Chart(alt.Data(values=points)).mark_line(point=True).encode(
        x=alt.X("promise:Q", scale=alt.Scale(zero=False), title="promised precision"),
        y=alt.Y("share:Q", axis=alt.Axis(format="%"), title="shingles used"), color=alt.Color("how:N", title=None),
        column=alt.Column("limit:N", title=None),
    ).properties(width=180, height=180)  # fmt: skip
    study.plot("promises", "Shingles needed for a promised precision, by size and with one ratio", chart)
    words = f"{kept} of {len(rows)} plans keep their promise in every size group; {fewer} use fewer shingles than "
    words += "one ratio for all sizes that keeps it, too. They use "
    words += f"{next(row[2] for row in rows if row[:2] == ('0.85', 0.85))} of the shingles at limit and promise 0.85 (paper: "
    words += f"5.55 %) and {next(row[2] for row in rows if row[:2] == ('0.6', 0.8))} at limit 0.6 and promise 0.8 "
    words += "(paper: 8 %)."
    study.judge("Sampling, figure 4: adaptive plans use fewer shingles", [fewer == len(rows), kept == len(rows)], words)


def main() -> None:
    """Run the study."""
    parser = study_options(__doc__)
    options = parser.parse_args()
    data = require(options.data, *SOURCES)
    study = Study("sampling", "Adaptive sampling of shingles", (__doc__ or "").split("\n\n", 1)[1], options.out)
    config = Config()
    with Threads() as engine:
        batches = read_batches([str(Path(data) / source) for source in SOURCES], config.documents, lambda record: None)
        documents = gather_shingles(batches, (), config, engine.run_tasks, lambda n: None)
        show_sizes(study, documents)
        known, unseen = halves(documents)
        show_shapes(study, known, engine)
        show_promises(study, known, unseen, engine)
    study.verdict(
        "Sampling, tables 1 and 2: parameters of earlier work, the .GOV collection", "not available",
        "The collection is licensed; the study runs on nine others.",
    )  # fmt: skip
    study.write()


if __name__ == "__main__":
    main()
