"""What PDC-MR says of signatures in its text, beside its figures and table 2."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from evidence import Study
from oracle import Oracle
from sentence_keys import SentenceKeys

import ibidem

ALIKE = Fraction(9, 10)
IMATCH, DEFAULT = "I-Match, idf 0.1 to 1", "words, 0.8 (ibidem's default)"
N_NAMED = {"Chinese": 60, "English": 10_000}  # antecedents of the paper
NEAR = 0.05  # of the best F1: what counts as robust
PLAIN: dict[str, Any] = {"max_gap_sentences": 0, "min_quote_words": 0, "max_places": 1_000_000}


def show_claims(study: Study, oracles: dict[str, Oracle], keys: dict[str, SentenceKeys], data: str) -> None:
    """Measure each claim, in both languages."""
    show_counts(study, keys, data)
    show_stability(study, keys, data)
    show_length_filter(study, oracles, keys, data)
    words = "The oracle sets were labelled by six people; these are constructed, so that nobody had to judge. The shares of "
    words += "duplicates that are identical (.91 and .89) are fitted, not found."
    study.verdict("PDC-MR, section 5.3: oracle sets, κ = 91.6 %, .91 and .89 identical", "not available", words, data)
    words = "This would need pages whose duplicates are labelled by characters; the sentences of the oracle are known "
    words += "beforehand. How far ibidem's ends of sentences agree with those of other tools is on the page of evidence."
    study.verdict("PDC-MR, section 5.2: finding ends of sentences has little impact", "not available", words, data)


def show_counts(study: Study, keys: dict[str, SentenceKeys], data: str) -> None:
    """Section 4.1: how many signatures sentences have."""
    rows = []
    for language, known in keys.items():
        for size in (2, 3, 4):
            rows.append((language, f"{size}-shingles", *known.counts("shingles", shingle_size=size)))
        rows.append((language, IMATCH, 1.0, float((known.imatch_keys(0.1, 1.0) == 0).mean())))
        for number in (5, 60, 10_000):
            name = f"SpotSigs, {number:,} antecedents"
            rows.append((language, name, *known.counts("spotsigs", antecedents=number)))
    columns = ("", "signature", "per sentence", "sentences without any")
    study.table("counts", "Signatures per sentence (section 4.1)", columns, rows, "A sentence shorter than a shingle has one.")
    by = {row[:2]: row for row in rows}
    told = "; ".join(
        f"{k} {by[k, '2-shingles'][2]:.1f} shingles of two words, {by[k, '4-shingles'][2]:.1f} of four" for k in keys
    )
    words = f"Signatures per sentence: {told}; I-Match has one. An index of shingles is that many times as large."
    study.judge("PDC-MR, section 4.1.1: shingles are many", [by[k, "4-shingles"][2] > 4 for k in keys], words, data)
    none = {k: by[k, "SpotSigs, 5 antecedents"][3] for k in keys}
    told = ", ".join(f"{k} {share:.1%}" for k, share in none.items())
    words = f"With the 5 most frequent words: {told} (paper, English: more than 15.2 %; its five words are not named)."
    of = "PDC-MR, section 4.1.3: five antecedents leave many sentences without a signature"
    study.judge(of, [share > 0.152 for share in none.values()], words, data)


def show_stability(study: Study, keys: dict[str, SentenceKeys], data: str) -> None:
    """Section 4.1.2: I-Match is unstable even to small perturbations."""
    rows = []
    for language, known in keys.items():
        a, b = known.edited_pairs()
        imatch = known.imatch_keys(0.1, 1.0)
        found = {IMATCH: (imatch[a] == imatch[b]) & (imatch[a] != 0)}
        for size in (2, 4):
            found[f"{size}-shingles, 0.9"] = _alike(known, ALIKE, a, b, "shingles", shingle_size=size)
        found["SpotSigs, 10,000 antecedents, 0.9"] = _alike(known, ALIKE, a, b, "spotsigs", antecedents=10_000)
        found[DEFAULT] = _alike(known, Fraction(8, 10), a, b, "words")
        rows += [(language, name, len(a), float(which.mean())) for name, which in found.items()]
    columns = ("", "signature", "pairs whose words differ", "found")
    study.table("edited", "True pairs of sentences whose words differ (section 4.1.2)", columns, rows)
    by = {row[:2]: row[3] for row in rows}
    told = []
    for k in keys:
        few, more, most = by[k, IMATCH], by[k, "2-shingles, 0.9"], by[k, DEFAULT]
        told.append(f"{k} {few:.3f} (2-shingles at 0.9: {more:.3f}; words at 0.8: {most:.3f})")
    n = " and ".join(f"{next(row[2] for row in rows if row[0] == k):,}" for k in keys)
    words = f"Of the true pairs in which a word or two differ, I-Match finds {'; '.join(told)}. "
    words += "Words that are repeated, or too common for its range of idf, do it no harm; any other change does."
    decides = data.rsplit(";", 1)[0] + f"; decided by {n} true pairs whose words differ"
    unstable = [by[k, IMATCH] < 0.5 for k in keys]
    study.judge("PDC-MR, section 4.1.2: I-Match is unstable to small changes", unstable, words, decides)


def _alike(known: SentenceKeys, limit: Fraction, a: Any, b: Any, name: str, **settings: Any) -> Any:
    shared, n_a, n_b = known.overlaps(known.sets(name, **settings), a, b)
    return (shared > 0) & (shared * limit.denominator >= limit.numerator * (n_a + n_b - shared))


def show_length_filter(study: Study, oracles: dict[str, Oracle], keys: dict[str, SentenceKeys], data: str) -> None:
    """Section 4.2: which pairs the test of lengths may remove."""
    rows = []
    for language, oracle in oracles.items():
        known = keys[language]
        for limit in (Fraction(1, 2), Fraction(8, 10), ALIKE):
            call: dict[str, Any] = PLAIN | {"signature": "shingles", "shingle_size": 2, "min_sentences": 1}
            found = ibidem.find(oracle.records, min_similarity=float(limit), sentence_pairs=True, **call).sentence_pairs
            a, b = (known.types.of_sentence[side] for side in known.places(found))
            _, n_a, n_b = known.overlaps(known.sets("shingles", shingle_size=2), a, b)
            small, large = np.minimum(n_a, n_b) * limit.denominator, np.maximum(n_a, n_b) * limit.numerator
            rows.append((language, f"{float(limit):.1f}", len(a), int((small < large).sum()), int((small == large).sum())))
    columns = ("", "τ", "pairs with J ≥ τ", "removed if below τ", "removed if τ or below")
    study.table("lengths", "What the test of lengths removes (section 4.2; 2-shingles)", columns, rows)
    lost, at = sum(row[4] for row in rows), sum(row[2] for row in rows)
    below = sum(row[3] for row in rows)
    words = f"The ratio of the sizes is never below J, so nothing is lost where shorter ones are removed ({below} of {at:,} "
    words += f"pairs), as algorithm 1 does it. The text also removes pairs at exactly τ: {lost:,} of these have J = τ, and "
    words += "would be lost unless J must exceed τ, as the text says and algorithm 1 does not."
    lossless = [all(row[3] == 0 for row in rows), lost == 0]
    decides = data.rsplit(";", 1)[0] + f"; decided by {at:,} pairs of sentences, three limits, two languages"
    study.judge(
        "PDC-MR, section 4.2: pairs whose sizes have a ratio of τ or less can be removed safely", lossless, words, decides
    )


def judge_robustness(study: Study, limits: list[tuple[Any, ...]], ranges: list[tuple[Any, ...]], data: str) -> None:
    """Section 5.3: results are robust for a large variety of parameters."""
    guarded = [(row[:1], row[5]) for row in ranges if row[2] == "yes"]
    by_limit = [(row[:2], row[5], float(row[2])) for row in limits]
    best: dict[tuple[Any, ...], float] = {}
    for group, f1 in [*guarded, *((group, f1) for group, f1, _ in by_limit)]:
        best[group] = max(best.get(group, 0.0), f1)
    kinds = {
        "τ from 0.8 to 1": [best[group] - f1 <= NEAR for group, f1, limit in by_limit if limit >= 0.8],
        "τ from 0.5 to 0.7": [best[group] - f1 <= NEAR for group, f1, limit in by_limit if limit < 0.8],
        "ranges of idf": [best[group] - f1 <= NEAR for group, f1 in guarded],
    }
    told = "; ".join(f"{name} {sum(near)} of {len(near)}" for name, near in kinds.items())
    words = f"Settings within {NEAR} of the best F1 of their signature and language, single sentences: {told}."
    robust = [sum(near) >= 0.8 * len(near) for near in kinds.values()]
    study.judge("PDC-MR, section 5.3: robust for a large variety of parameters", robust, words, data)
