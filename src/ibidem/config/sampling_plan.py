"""Sampling plans: which share of a document's shingles is looked at, by the number of its shingles (Ye, Wen, Ma)."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.config import EXACT_METHODS, Config
from ibidem.config.surface import named
from ibidem.errors import InputError, SettingsError

_FORMAT = "ibidem sampling plan"


@dataclass(frozen=True)
class SamplingPlan:
    """Of documents with at least `from_shingles[i]` shingles one in `every[i]` is looked at; the ratios are powers of two.

    `made_for` says what the plan promises, and for which settings: similarity, precision, shingle size.
    """

    from_shingles: Sequence[int]
    every: Sequence[int]
    made_for: dict[str, Any]

    def every_of(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for documents of these sizes that one in so many shingles is looked at."""
        group = np.searchsorted(np.asarray(self.from_shingles), sizes, side="right") - 1
        return np.asarray(self.every, np.int64)[np.maximum(group, 0)]

    def check(self, config: Config) -> None:
        """Raise SettingsError if the plan was made for other settings: its promise would be void."""
        size = config.signatures.shingle_words("document")
        wanted = {"min_similarity": float(config.matches.min_similarity), "shingle_size": size}
        problems = [
            f"{named(name)} is {value:g}, but the sampling plan was made for {self.made_for[name]:g}"
            for name, value in wanted.items()
            if self.made_for.get(name, value) != value
        ]
        if config.resemblance.sample_every > 1:
            problems.append(f"{named('sample_every')} is {config.resemblance.sample_every}, but a sampling plan is given")
        if config.resemblance.method not in EXACT_METHODS:
            problems.append(f"a sampling plan is for the methods {' and '.join(EXACT_METHODS)}")
        if problems:
            raise SettingsError(problems)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan to a file."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    def to_dict(self) -> dict[str, Any]:
        """Return the content of a plan's file."""
        groups = [{"from_shingles": a, "every": b} for a, b in zip(self.from_shingles, self.every, strict=True)]
        return {"format": _FORMAT, "made_for": self.made_for, "groups": groups}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SamplingPlan:
        """Read a plan that was saved."""
        next_step = "Give a file that `ibidem tune` wrote."
        try:
            content = json.loads(Path(path).read_text("utf-8"))
        except OSError as error:
            raise InputError(f"cannot read the sampling plan {os.fspath(path)}: {error.strerror}", next_step) from error
        except (ValueError, RecursionError) as error:
            raise InputError(f"{os.fspath(path)} is not a sampling plan: {error}", next_step) from error
        try:
            if content["format"] != _FORMAT:
                raise ValueError(f"its format is {content['format']!r}")
            lows, every = zip(*((int(g["from_shingles"]), int(g["every"])) for g in content["groups"]), strict=True)
            if any(not 0 < n <= 1 << 32 or n & (n - 1) for n in every) or list(lows) != sorted(set(lows)) or lows[0] != 0:
                raise ValueError("groups must start at 0 and ascend, and their ratios must be powers of two")
            made_for = dict(content["made_for"])
            if not all(isinstance(made_for.get(name, 0), (int, float)) for name in ("min_similarity", "shingle_size")):
                raise ValueError("the settings it was made for are not numbers")
            return cls(lows, every, made_for)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(f"{os.fspath(path)} is not a sampling plan: {error}", next_step) from error


def is_plan(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a sampling plan."""
    try:
        SamplingPlan.load(path)
    except InputError:
        return False
    return True
