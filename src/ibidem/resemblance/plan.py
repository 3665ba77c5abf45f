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

from ibidem.config import SHINGLE_SIZES, Config
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
        """Raise SettingsError if the plan was made for other settings: what it promises would not hold."""
        size = config.signatures.shingle_size or SHINGLE_SIZES["document"]
        wanted = {"min_similarity": float(config.matches.min_similarity), "shingle_size": size}
        problems = [
            f"{name} = {value:g}, but the sampling plan was made for {self.made_for[name]:g}"
            for name, value in wanted.items()
            if self.made_for.get(name, value) != value
        ]
        if problems:
            raise SettingsError(problems)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan to a file."""
        groups = [{"from_shingles": a, "every": b} for a, b in zip(self.from_shingles, self.every, strict=True)]
        content = {"format": _FORMAT, "made_for": self.made_for, "groups": groups}
        Path(path).write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SamplingPlan:
        """Read a plan that was saved."""
        next_step = "Give a file that `ibidem tune` wrote."
        try:
            content = json.loads(Path(path).read_text("utf-8"))
        except OSError as error:
            raise InputError(f"cannot read the sampling plan {os.fspath(path)}: {error.strerror}", next_step) from error
        except ValueError as error:
            raise InputError(f"{os.fspath(path)} is no sampling plan: {error}", next_step) from error
        try:
            if content["format"] != _FORMAT:
                raise ValueError(f"its format is {content['format']!r}")
            lows, every = zip(*((int(g["from_shingles"]), int(g["every"])) for g in content["groups"]), strict=True)
            if any(n < 1 or n & (n - 1) for n in every) or list(lows) != sorted(set(lows)) or lows[0] != 0:
                raise ValueError("groups must begin with 0 and rise, their ratios must be powers of two")
            return cls(lows, every, dict(content["made_for"]))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{os.fspath(path)} is no sampling plan: {error}", next_step) from error
