"""The five papers as settings: `--as NAME`, in Python `as_paper=`, runs one of them as printed, without our safeguards."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ibidem.config.settings import LARGEST, NO_PAPER
from ibidem.config.surface import given
from ibidem.errors import SettingsError

if TYPE_CHECKING:
    from ibidem.config.config import Config


class Printed(NamedTuple):
    """A setting as a paper has it: its value, where the paper says so, and why our default differs ("": it does not)."""

    setting: str
    value: Any
    where: str
    why_not: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper: what it is, which verbs run it, its settings, and the rules that no setting has."""

    citation: str
    verbs: tuple[str, ...]
    example: tuple[str, ...]
    settings: tuple[Printed, ...]
    rules: tuple[str, ...]

    @property
    def values(self) -> dict[str, Any]:
        """The settings by name."""
        return {printed.setting: printed.value for printed in self.settings}


_PAIRS = "text in n places makes n (n - 1) / 2 pairs; we list it once, as a repeat"
_WHOLE_SENTENCES = Printed("extend_ends", False, "passages are whole sentences", "a copied half sentence also belongs to it")
_STRICT = Printed("paper", True, "the rules below")

PRESETS = {
    "pdc-mr": Paper(
        "Zhang, Zhang, Yu, Huang: Efficient partial-duplicate detection based on sequence matching. SIGIR 2010",
        ("find",),
        (
            "ibidem find pages.jsonl -o out --as pdc-mr --sentence-pairs --postings",
            "ibidem find pages.jsonl -o out --as pdc-mr --signature shingles",
        ),
        (
            Printed("signature", "imatch", "5.4", "words also finds sentences in which a word was changed"),
            Printed("min_idf", 0.1, "figure 7"),
            Printed("max_idf", 1.0, "figure 7"),
            Printed("min_similarity", 0.9, "figures 6 and 9", "at 0.9, one changed word in twenty is one too many"),
            Printed("shingle_size", 4, "figure 6; with --signature shingles", "shorter ones survive more changes"),
            Printed(
                "antecedents",
                "10000",
                "5.3, English (Chinese: 60); with --signature spotsigs",
                "how many are enough depends on the language",
            ),
            Printed(
                "spot_stop_words",
                "none",
                "4.1.3: chains of content words, no list printed; with --signature spotsigs",
                "the same, unless stop_words names some",
            ),
            Printed("min_sentences", 3, "5.4: a diagonal has more than γ = 3 sentences", "ours is inclusive: three are enough"),
            Printed("min_words", 1, "no such limit"),
            Printed("min_quote_words", 0, "no such rule", "one long sentence is a quotation worth reporting"),
            Printed("max_gap_sentences", 0, "algorithm 2: diagonals have no gaps", "a copy with one new sentence is still one"),
            Printed("max_places", LARGEST, "no such limit", _PAIRS),
            _WHOLE_SENTENCES,
            _STRICT,
        ),
        (
            "A passage has more than min_sentences sentences (algorithm 2, |D| > γ).",
            "A sentence shorter than a shingle has none and matches nothing.",
            "Sentences without any word in the idf range all have the same key.",
            "Read as ≥, not as printed: J < τ in algorithm 1, which contradicts the text.",
            "Read as two documents, though algorithm 1 also pairs sentences of one: --same-document does that.",
        ),
    ),
    "swlr": Paper(
        "Yu, Li, Zhang: Duplicate text detection based on LCS algorithm (SWLR)",
        ("cluster", "dedup"),
        ("ibidem cluster records.csv -o out --as swlr --shingle-size 1",),
        (
            Printed("measure", "order", "equation 6", "at equal shingle size, resemblance was never worse"),
            Printed("method", "pairs", "section 3: all pairs", "the join finds the same pairs without comparing all of them"),
            Printed("filter_bits", 64, "section 3 (64 or 128)", "256 bits reject more pairs before they are compared"),
            Printed(
                "max_shingle_documents", LARGEST, "no such limit", "shingles of very many documents make too many candidates"
            ),
            _STRICT,
        ),
        (
            "Two documents are similar if r is above min_similarity (r > q), not if it equals it.",
            "The sketch rejects a pair if more bits differ than half of both sizes; below q = 1/2 it loses pairs.",
            "Not printed: the size of shingles and q. Give --shingle-size (1 did best in our study) and --min-similarity.",
        ),
    ),
    "qsign": Paper(
        "Kim, Candan, Tatemura: Efficient overlap and content reuse detection in blogs and online news articles "
        "(qSign). WWW 2009",
        ("index add", "index query", "index check", "watch"),
        (
            "ibidem index add blogs.idx blogs.jsonl --as qsign",
            "ibidem index query blogs.idx today.jsonl --as qsign",
        ),
        (
            Printed("signature_bits", 32, "table 2 (m = 16 or 32)", "64 bits tell more sentences apart"),
            Printed("bits_per_word", 2, "table 2 (l = 1 for 16 bits, 2 for 32)", "three fit 64 bits better"),
            Printed("search_engine", "bits", "section 2.1", "overlap misses no match, and is about as fast"),
            Printed("radius", 5, "table 2 (d = 0 to 5)", "chosen from max_false_positive, as section 2.1.2 has it"),
            Printed("score", "product", "section 2", "idf alone can be searched exactly"),
            Printed("min_score", 0.5, "3.1: θ", "at 0.5, long sentences match whatever has the same common words"),
            Printed("min_contained_words", 1, "no such limit", "a few words occur in very many longer sentences"),
            Printed("min_hits", 1, "no such limit", "one known sentence does not make a duplicate"),
            Printed("min_hit_words", 1, "no such limit", "“See also.” is known everywhere"),
            Printed("max_places", LARGEST, "no such limit", "boilerplate is known everywhere"),
            _WHOLE_SENTENCES,
        ),
        (
            "The score is divided by that of the sentence with itself: as printed it has no upper bound, though θ "
            "is between 0.5 and 1.",
            "A sentence matches from θ on: figure 5 says above, table 2 counts θ = 0.5.",
            "The paper leaves out stop words; an index keeps all words and weighs them by idf.",
        ),
    ),
    "yoon": Paper(
        "Yoon, Jang, Kim, Park: Detecting partial and near duplication in the blogosphere. IEICE 2012",
        ("index add", "index query", "index check", "watch"),
        (
            "ibidem index add news.idx news.jsonl --as yoon",
            "ibidem index check news.idx blogs.jsonl --as yoon",
        ),
        (
            Printed("search_engine", "fingerprint", "section 2", "overlap also finds sentences with a new word"),
            Printed("max_document_share", 0.6, "3.1: 300,000 of 500,000 posts"),
            Printed("min_hits", 3, "3.1: more than δ = 3 sentences", "ours is inclusive: three are enough"),
            Printed("min_hit_words", 1, "no such limit", "“See also.” is known everywhere"),
            Printed("max_places", 300, "section 2", "boilerplate of one site rarely has 300 places"),
            _WHOLE_SENTENCES,
            _STRICT,
        ),
        (
            "A document is duplicated if more than min_hits of its sentences are known (Σ collide > δ).",
            "Places are counted per document. A word in ten documents or fewer is never common.",
        ),
    ),
    "ye": Paper(
        "Ye, Wen, Ma: A systematic study on parameter correlations in large scale duplicate document detection. KAIS 14, 2008",
        ("cluster", "dedup", "tune"),
        (
            "ibidem tune crawl.jsonl --as ye -o plan.json",
            "ibidem cluster crawl.jsonl -o out --as ye --plan plan.json",
        ),
        (
            Printed("shingle_size", 10, "3.1", "0 is 10 for documents and 2 for sentences"),
            Printed("contractions", True, "3.1: don't is one word", "sentences and the index split it into two"),
            Printed("min_similarity", 0.85, "section 1, figure 2 (0.5 to 1)", "lower finds more, and pairs are verified"),
            Printed("measure", "resemblance", "equation 1"),
            Printed("method", "shingling", "2.1: count the shingles that pairs share", "the join gives the same, faster"),
            Printed("max_shingle_documents", LARGEST, "no such limit (Broder: 1,000)", "they lead to too many candidate pairs"),
            Printed("verify", False, "4.4: sampled shingles decide", "a sample also accepts pairs that are not similar"),
        ),
        (
            "The similarity of a pair reaches the threshold or exceeds it, as ours does.",
            "Without --plan all shingles are compared: the result that the paper measures against.",
            "tune aims at a precision of 0.85 (--min-precision).",
            "Documents of different sizes are compared, too, at the coarser of their ratios; the paper leaves them out.",
        ),
    ),
}
MIN_PRECISION = {"ye": 0.85}  # of `tune`, where no setting has it


def check_paper(config: Config, verb: str) -> None:
    """Raise a SettingsError if the paper that the settings name is not run by this verb: `find`, `cluster`, `index`, …"""
    name = config.signatures.as_paper
    if name == NO_PAPER:
        return
    verbs = PRESETS[name].verbs
    if not any(each == verb or each.partition(" ")[0] == verb for each in verbs):
        listed = ", ".join(f"`{each}`" for each in verbs[1:])
        where = f"`ibidem {verbs[0]}`{f', {listed}' if listed else ''}"
        raise SettingsError([f"`{given('as_paper', name)}` belongs to {where}, not to `{verb}`"])
    if verb == "dedup" and config.cleaning.level != "document":
        level = given("level", config.cleaning.level)
        raise SettingsError([f"`{given('as_paper', name)}` compares whole documents; leave out `{level}`"])


def departures(config: Config) -> Iterator[tuple[str, Any, Any]]:
    """Yield the settings that are not as the paper has them: name, value as printed, value in use."""
    name = config.signatures.as_paper
    if name == NO_PAPER:
        return
    printed = type(config).of(as_paper=name)
    for stage in dataclasses.fields(config):
        before, after = getattr(printed, stage.name), getattr(config, stage.name)
        for setting in dataclasses.fields(after):
            wanted, used = getattr(before, setting.name), getattr(after, setting.name)
            if setting.name in PRESETS[name].values and wanted != used:
                yield setting.name, wanted, used
