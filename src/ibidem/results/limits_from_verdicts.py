"""What `tune --from-verdicts` returns: limits, how well they separate what was judged, and a settings file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ibidem.columns.notebook import counted, listed, page
from ibidem.config import Config
from ibidem.errors import InputError
from ibidem.results.limit_choice import (
    NAMES,
    Choice,
    Counted,
    Grid,
    Judged,
    Values,
    count_pairs,
    resample,
    share_interval,
)
from ibidem.results.verdict_chart import chart
from ibidem.results.verdict_summary import remarks, summary_text

FIRST_LINE = "# Limits that `ibidem tune` chose from verdicts."
FEW = 20
_SAMPLES = 200
_LEAST_PAIRS, _LEAST_SAMPLES = 10, 50  # for measuring on pairs left out
# The settings that the limits are, by verb.
SETTINGS = {
    "find": dict(zip(NAMES, ("min_passage_similarity", "min_passage_chars", "min_coverage"), strict=True)),
    "cluster": {"similarity": "min_similarity"},
}
# What may make two documents duplicates although they are less similar.
_OTHER_REASONS = ("min_containment", "min_shared_shingles")
_STAGES = ("sentences", "signatures", "matches", "passages", "alignment", "resemblance", "clusters")
_OF_ONE_RUN = ("hash_seed", "sentence_pairs", "postings", "runs", "families")

CURVE = pa.schema(
    [
        pa.field("setting", pa.string(), nullable=False),
        pa.field("value", pa.float64(), nullable=False),
        pa.field("confirmed", pa.int64(), nullable=False),
        pa.field("rejected", pa.int64(), nullable=False),
        *(pa.field(f"{name}{end}", pa.float64()) for name in ("precision", "recall") for end in ("", "_low", "_high")),
    ]
)  # fmt: skip


def is_limits_file(path: Path) -> bool:
    """Return whether a file was written by `VerdictTuning.save`."""
    with path.open("rb") as file:
        return file.read(len(FIRST_LINE)) == FIRST_LINE.encode()


class Estimate(NamedTuple):
    """A figure and its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f}-{self.high:.2f})"


class PairScores(NamedTuple):
    """How many confirmed and rejected pairs some limits keep; precision and recall with 95 % intervals, and F1."""

    confirmed: int
    rejected: int
    precision: Estimate
    recall: Estimate
    f1: float


@dataclass(frozen=True)
class VerdictTuning:
    """Limits that separate confirmed pairs from rejected ones, and how well they do.

    `limits` has the settings that were chosen; one that would separate nothing is not there. `intervals` says between which
    values each setting lies in 95 % of samples of the pairs. `without` are the scores of all judged pairs as they were found,
    `within` of those that the limits keep, `left_out` of pairs on which the limits were not chosen (None: too few). `curve` has
    a row for each value of each setting, the others as chosen.
    """

    verb: str
    limits: Mapping[str, float | int]
    intervals: Mapping[str, tuple[float, float]]
    n_confirmed: int
    n_rejected: int
    n_unsure: int
    n_gone: int
    without: PairScores
    within: PairScores
    left_out: Mapping[str, Estimate] | None
    curve: pa.Table
    min_precision: float | None
    settings: Mapping[str, Mapping[str, Any]]

    @property
    def is_reliable(self) -> bool:
        """Whether there are at least 20 confirmed and 20 rejected pairs."""
        return min(self.n_confirmed, self.n_rejected) >= FEW

    @property
    def config(self) -> Config:
        """The settings of the run, with the limits."""
        known = {name for stage in Config().to_dict().values() for name in stage}
        of_run = {name: value for values in self.settings.values() for name, value in values.items() if name in known}
        return Config.of(**{**of_run, **self.limits})

    def to_toml(self) -> str:
        """Return the text of a settings file for `--config`: the limits, and settings of the run that are not the defaults."""
        usual = self._usual()
        lines = [FIRST_LINE, *(f"# {line}" for line in remarks(self))]
        for stage, values in self.config.to_dict().items():
            chosen = {
                name: value for name, value in values.items()
                if name in self.limits or (stage in _STAGES and name not in _OF_ONE_RUN and value != usual[stage][name])
            }  # fmt: skip
            if chosen:
                lines += ["", f"[{stage}]", *(f"{name} = {_toml(name, value, self.limits)}" for name, value in chosen.items())]
        return "\n".join(lines) + "\n"

    def _usual(self) -> dict[str, dict[str, Any]]:
        """Return the settings that the verb has by default."""
        if self.verb != "find":
            return Config().to_dict()
        usual = Config().with_signature("words").to_dict()
        signature = self.config.signatures.signature
        untold = Config.of(self.config, align=None, signature="auto" if signature == "words" else signature)
        usual["alignment"]["align"] = untold.with_alignment().alignment.align
        return usual

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the settings file."""
        Path(path).write_text(self.to_toml(), encoding="utf-8")

    def to_svg(self) -> str:
        """Return the curves as a picture."""
        return chart(self)

    def __str__(self) -> str:
        return summary_text(self)

    def __repr__(self) -> str:
        limits = ", ".join(f"{name}={value:g}" for name, value in self.limits.items()) or "no limits"
        return f"<VerdictTuning: {limits}, from {self.n_confirmed:,} confirmed and {self.n_rejected:,} rejected pairs>"

    def _repr_html_(self) -> str:
        judged = f"{counted(self.n_confirmed, 'confirmed pair')}, {counted(self.n_rejected, 'rejected pair')}."
        rows = [[name, f"{value:g}", "{:g}-{:g}".format(*self.intervals[name])] for name, value in self.limits.items()]
        return page(judged, listed(["limit", "value", "95 %"], rows), self.to_svg())


def choose_limits(
    verb: str, settings: Mapping[str, Mapping[str, Any]], judged: Judged, n_unsure: int, n_gone: int,
    min_precision: float | None, where: str,
) -> VerdictTuning:  # fmt: skip
    """Return the limits that separate confirmed pairs from rejected ones best; `where` names the results in messages."""
    n_confirmed = int(np.count_nonzero(judged.is_confirmed))
    n_rejected = len(judged.is_confirmed) - n_confirmed
    if not n_confirmed or not n_rejected:
        counts = f"{n_confirmed:,} confirmed and {n_rejected:,} rejected {'pair' if n_confirmed + n_rejected == 1 else 'pairs'}"
        raise InputError(
            f"{where} has {counts}; limits need both",
            f"Judge pairs in `ibidem serve {where}`; at least {FEW} of each are best.",
        )
    names = SETTINGS[verb]
    if reason := next((name for name in _OTHER_REASONS if verb == "cluster" and _is_set(settings, name)), None):
        raise InputError(
            f"{where} was made with {reason}, so its pairs do not depend on their similarity alone",
            f"Run `ibidem cluster` without {reason}, and tune on that.",
        )
    values = Values.between(judged, tuple(names))
    grid = Grid(judged, values)
    choice = grid.best(np.ones(len(judged.is_confirmed)), min_precision)
    samples = resample(grid, min_precision, _SAMPLES)
    limits, intervals = {}, {}
    for axis, setting in enumerate(names.values()):
        if choice[axis]:
            limits[setting] = _plain(values[axis][choice[axis]])
            tried = [_plain(values[axis][at]) for at in samples.choices[:, axis].tolist()] or [limits[setting]]
            low, high = np.percentile(tried, [2.5, 97.5], method="nearest")
            intervals[setting] = (float(low), float(high))
    everything = np.ones(len(judged.is_confirmed), np.bool_)
    left_out = None
    if min(n_confirmed, n_rejected) >= _LEAST_PAIRS and len(samples.left_out) >= _LEAST_SAMPLES:
        ends = np.percentile(samples.left_out, [2.5, 97.5], axis=0)
        figures = zip(("f1", "precision", "recall"), samples.left_out.mean(axis=0), *ends, strict=True)
        left_out = {name: Estimate(float(mean), float(low), float(high)) for name, mean, low, high in figures}
    return VerdictTuning(
        verb, limits, intervals, n_confirmed, n_rejected, n_unsure, n_gone,
        _scores(everything, judged), _scores(grid.keeps(choice), judged), left_out,
        _curve(grid, values, choice, names), min_precision, settings,
    )  # fmt: skip


def _is_set(settings: Mapping[str, Mapping[str, Any]], name: str) -> bool:
    return Fraction(str(settings.get("resemblance", {}).get(name, 0))) > 0


def _plain(value: Fraction | int) -> float | int:
    return int(value) if isinstance(value, int) else float(value)


def _toml(name: str, value: Any, limits: Mapping[str, float | int]) -> str:
    """Return a value as TOML; shares as decimals."""
    if name in limits:
        return repr(limits[name])
    if isinstance(value, str) and value.replace("/", "", 1).isdecimal():
        return repr(float(Fraction(value)))
    return json.dumps(value, ensure_ascii=False)


def _scores(is_kept: Any, judged: Judged) -> PairScores:
    """Return the scores of some limits."""
    found = count_pairs(is_kept, judged.is_confirmed)
    right, wrong, n_confirmed = int(found.right), int(found.wrong), int(found.n_confirmed)
    precision = Estimate(float(found.precision), *share_interval(right, right + wrong))
    recall = Estimate(float(found.recall), *share_interval(right, n_confirmed))
    return PairScores(right, wrong, precision, recall, float(found.f1))


def _curve(grid: Grid, values: Values, choice: Choice, names: Mapping[str, str]) -> pa.Table:
    found = grid.counted(np.ones(len(grid.is_confirmed)))
    rows: list[dict[str, Any]] = []
    for axis, (name, setting) in enumerate(names.items()):
        tried: Sequence[Fraction | int] = getattr(values, name)
        for at, value in enumerate(tried):
            place = tuple(at if a == axis else choice[a] for a in range(3))
            here = Counted(found.right[place], found.wrong[place], found.n_confirmed)
            kept = float(here.right + here.wrong)
            ends = share_interval(float(here.right), kept), share_interval(float(here.right), float(here.n_confirmed))
            rows.append(
                {
                    "setting": setting, "value": float(value), "confirmed": int(here.right), "rejected": int(here.wrong),
                    "precision": float(here.precision), "precision_low": ends[0][0], "precision_high": ends[0][1],
                    "recall": float(here.recall), "recall_low": ends[1][0], "recall_high": ends[1][1],
                }
            )  # fmt: skip
    return pa.Table.from_pylist(rows, schema=CURVE)
