"""What the paper on qSign prints, and how its scores are read as words. Used by qsign.py and qsign_disk.py."""

from __future__ import annotations

import math
from collections.abc import Callable

from qsign_search import LEVELS, MASKS

PAPER_MASKS = MASKS[:2]
PAPER_SCORES = LEVELS[1:4]  # in figure 7
PAPER_WORDS = 9.98  # in a query sentence
PAPER_QUERIES = 1020
# Table 1: documents, sentences, words per sentence; what replaces it here.
PAPER_COLLECTIONS = {
    "Google_1000": (1_000, 29_292, 9.45, "30 K"),
    "Google_10000": (10_000, 291_331, 9.24, "290 K"),
    "query Google": (30, PAPER_QUERIES, PAPER_WORDS, "queries"),
    "Blog_100000": (100_000, 5_226_708, 6.73, ""),
    "query Blog": (20, 950, 6.55, ""),
}
# Table 2: matches by level; recall by level and radius, over all, and candidates a query sentence.
PAPER_MATCHES = {"30 K": (1158, 534, 112, 86, 94), "290 K": (2286, 993, 281, 189, 164)}
PAPER = {
    ("30 K", 16): (
        (0.957, 0.988, 0.990, 0.999, 0.999, 1.0), (0.768, 0.841, 0.919, 0.996, 0.998, 1.0),
        (0.107, 0.366, 0.750, 0.920, 0.991, 1.0), (0.0, 0.091, 0.443, 0.693, 0.920, 0.989),
        (0.0, 0.096, 0.319, 0.545, 0.819, 0.936), (0.772, 0.832, 0.903, 0.960, 0.987, 0.997),
        (1.7, 5.0, 28.7, 134.7, 459.2, 1199.7),
    ),
    ("30 K", 32): (
        (0.950, 0.969, 0.988, 0.989, 0.992, 0.992), (0.678, 0.783, 0.846, 0.888, 0.905, 0.942),
        (0.063, 0.170, 0.411, 0.509, 0.732, 0.875), (0.0, 0.023, 0.058, 0.170, 0.372, 0.500),
        (0.0, 0.021, 0.032, 0.117, 0.255, 0.383), (0.740, 0.788, 0.831, 0.854, 0.892, 0.922),
        (1.4, 1.5, 1.6, 1.7, 2.1, 3.7),
    ),
    ("290 K", 16): (
        (0.955, 0.982, 0.987, 0.999, 0.999, 1.0), (0.783, 0.878, 0.949, 0.996, 0.998, 1.0),
        (0.139, 0.523, 0.758, 0.940, 0.996, 1.0), (0.0, 0.143, 0.423, 0.640, 0.894, 0.905),
        (0.0, 0.122, 0.348, 0.512, 0.811, 0.835), (0.767, 0.846, 0.907, 0.957, 0.986, 0.989),
        (5.1, 37.9, 267.8, 1277.6, 4398.2, 11531.5),
    ),
    ("290 K", 32): (
        (0.922, 0.948, 0.982, 0.986, 0.990, 0.992), (0.681, 0.807, 0.872, 0.913, 0.940, 0.965),
        (0.057, 0.281, 0.484, 0.616, 0.762, 0.883), (0.0, 0.011, 0.037, 0.196, 0.344, 0.466),
        (0.0, 0.018, 0.024, 0.128, 0.220, 0.390), (0.716, 0.780, 0.833, 0.867, 0.897, 0.926),
        (2.7, 2.9, 3.2, 3.9, 7.2, 21.9),
    ),
}  # fmt: skip
READINGS: dict[str, Callable[[float, float], tuple[float, float]]] = {
    "linear": lambda score, n: (score * n, (1 - score) * n),
    "product": lambda score, n: (math.sqrt(score) * n, 2 * (1 - math.sqrt(score)) * n),
}
