"""How copied words are expected to look: the models of the evidence, and the weights that words get from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ibidem.alignment.kernels.evidence import (
    IN_ORDER,
    LEVELS_PER_UNIT,
    LOWEST_EXPECTED,
    N_EXPECTED,
    N_GRADES,
    N_LEVELS,
    NOT_THERE,
    STEPS_PER_UNIT,
)

# From word for word to loose: the shares of words that were taken over in order, and loosely.
MODELS: tuple[tuple[float, float], ...] = (
    (0.97, 0.004),
    (0.9, 0.03),
    (0.75, 0.1),
    (0.5, 0.2),
    (0.3, 0.3),
    (0.1, 0.4),
    (0.05, 0.25),
)
SUMMARY_MODEL = (0.2, 0.5)  # what is summed up lends its words, seldom their order
MOST_EVIDENCE = 8.0  # of one word


def word_weights(models: tuple[tuple[float, float], ...] = MODELS) -> NDArray[np.float64]:
    """Return the evidence of a word by model and grade, flat."""
    rarest = np.exp((np.arange(N_LEVELS) + 0.5) / LEVELS_PER_UNIT)  # one over the chance, at the middle of each level
    weights = np.empty((len(models), N_GRADES))
    for model, (in_order, loose) in enumerate(models):
        new = 1.0 - in_order - loose
        weights[model, :N_LEVELS] = np.log(new + loose * rarest)
        weights[model, IN_ORDER:NOT_THERE] = np.log(new + in_order * rarest)
        weights[model, NOT_THERE] = np.log(new)
    return np.minimum(weights, MOST_EVIDENCE).reshape(-1)


def rarity_levels() -> NDArray[np.int8]:
    """Return the level of a word by how often it is expected in a stretch: four times the logarithm of one over its chance."""
    expected = np.exp(LOWEST_EXPECTED + (np.arange(N_EXPECTED) + 0.5) / STEPS_PER_UNIT)
    rarity = -np.log(-np.expm1(-expected))
    levels: NDArray[np.int8] = np.minimum(rarity * LEVELS_PER_UNIT, N_LEVELS - 1).astype(np.int8)
    return levels


def chance_level(least_chance: float) -> int:
    """Return the highest level that a word gets for following its neighbour."""
    return int(-np.log(least_chance) * LEVELS_PER_UNIT)
