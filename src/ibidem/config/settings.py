"""Settings, one frozen object per stage: their names, defaults, limits and help texts.

A field `min_sentences` is the flag `--min-sentences`, the keyword `min_sentences=` and the TOML key `min_sentences` in the
section named after its stage. Field names are unique over all stages, so a flat keyword finds its stage by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

SIGNATURES = ("exact", "words", "shingles", "imatch", "spotsigs", "fingerprint")
SET_SIGNATURES = ("words", "shingles", "spotsigs")
MEASURES = ("resemblance", "order")
EXACT_METHODS = ("join", "shingling")
METHODS_IN_PARTS = (*EXACT_METHODS, "minhash")  # those that many machines can do, or one that is short of memory
METHODS = ("join", "shingling", "pairs", "minhash", "simhash", "imatch", "spotsigs")
SHINGLE_SIZES = {"sentence": 2, "document": 10}
LEVELS = ("document", "passage", "sentence")
SEARCH_METHODS = ("overlap", "fingerprint", "bits", "inverted", "scan")
SCORES = ("idf", "fraction", "product")
FORMATS = ("parquet", "jsonl", "csv")
_FOUR_FIFTHS = Fraction(4, 5)
_NOTHING = Fraction(0)
KEEP_RULES = ("first", "longest", "earliest")


def _setting(
    default: Any, help_text: str, choices: tuple[str, ...] = (), at_least: float | None = None, at_most: float = 10**9
) -> Any:
    return field(default=default, metadata={"help": help_text, "choices": choices, "at_least": at_least, "at_most": at_most})


@dataclass(frozen=True)
class DocumentsConfig:
    """How records become documents."""

    text_field: str = _setting("text", "Field or column that holds the text.")
    id_field: str = _setting(
        "id", "Field that holds the document's id; records without one get an id made of file and position."
    )
    time_field: str = _setting("time", "Field that holds the time of publication (ISO 8601 or seconds since 1970).")
    group_field: str = _setting("group", "Field that names the group (outlet, author, site).")
    html: bool = _setting(False, "The text field holds HTML; take the text out of it.")
    main_content: bool = _setting(False, "Of HTML keep the main content only, without navigation and footers.")
    encoding: str = _setting("utf-8", "Character encoding of text, JSON and CSV files.")


@dataclass(frozen=True)
class SentencesConfig:
    """How texts are cut into sentences."""

    lang: str = _setting("auto", "Language of abbreviations (en, de, fr, …); auto knows all of them at once.")
    max_sentence_words: int = _setting(
        120, "Longer stretches without a stop are cut where their own words say so.", at_least=16, at_most=10_000
    )
    hash_seed: int = _setting(
        -1,
        "Seed of the hashes of words. -1: a new secret one for each run or index, which prevents crafted collisions; where it "
        "would change what find, cluster and tune report (samples, minhash, simhash, spotsigs, alignment), 0, the public hash.",
        at_least=-1,
        at_most=(1 << 63) - 1,
    )


@dataclass(frozen=True)
class SignaturesConfig:
    """What a sentence is known by."""

    signature: str = _setting(
        "auto", "What makes two sentences alike; auto: words, or exact where text is cut.", choices=("auto", *SIGNATURES)
    )
    shingle_size: int = _setting(0, "Words in a shingle; 0: 2 for sentences, 10 for documents.", at_least=0, at_most=1000)
    min_idf: float = _setting(0.1, "I-Match: keep words whose idf (0 to 1) is at least this.", at_least=0)
    max_idf: float = _setting(1.0, "I-Match: keep words whose idf (0 to 1) is at most this.", at_least=0)
    antecedents: str = _setting(
        "auto",
        "SpotSigs: how many of the most frequent words open a spot, or those words, or auto: as many as give most spots.",
    )
    spot_distance: int = _setting(1, "SpotSigs: words from one link of the chain to the next.", at_least=1)
    spot_chain: int = _setting(2, "SpotSigs: words in the chain after the antecedent.", at_least=1)
    max_document_share: float = _setting(
        0.6, "Fingerprint: drop words that stand in a larger share of the documents than this.", at_least=0
    )
    paper: bool = _setting(False, "Take the papers' limits as printed: strict instead of inclusive, no guards.")

    def shingle_words(self, unit: str) -> int:
        """Return the words in a shingle of a `sentence` or a `document`: as set, or as fits the unit."""
        return self.shingle_size or SHINGLE_SIZES[unit]


@dataclass(frozen=True)
class MatchesConfig:
    """When two sentences match."""

    min_similarity: Fraction = _setting(  # noqa: RUF009 (as all the others)
        _FOUR_FIFTHS, "Similarity that two sentences need (words, shingles, spotsigs), or two documents."
    )


@dataclass(frozen=True)
class PassagesConfig:
    """Which runs of matches are passages."""

    min_sentences: int = _setting(3, "Sentences that a passage needs.", at_least=1, at_most=1000)
    min_words: int = _setting(1, "Words that a passage needs on each side.", at_least=1)
    min_quote_words: int = _setting(
        10,
        "Fewer sentences are a passage too (quote) if one has this many words, or if they are all of both texts; 0: never.",
        at_least=0,
    )
    max_gap_sentences: int = _setting(
        4, "Differing sentences in a row, on either side, that a passage may hold; 0 for none.", at_least=0
    )
    max_places: int = _setting(
        100, "Text standing in more places than this becomes a repeat group instead of pairs.", at_least=2
    )
    same_document: bool = _setting(False, "Also report passages that stand twice in one document.")
    skip_same_group: bool = _setting(False, "Leave out pairs of documents of one group.")


@dataclass(frozen=True)
class AlignmentConfig:
    """How two texts are aligned word by word."""

    align: bool = _setting(False, "Extend what is found word by word, and look for edited copies and half sentences too.")
    min_evidence: float = _setting(
        25.0, "Evidence that an aligned passage needs: the logarithm of how much likelier a copy is than chance.", at_least=0
    )
    min_aligned_words: int = _setting(25, "Words that an aligned passage needs on each side.", at_least=1)
    summaries: bool = _setting(True, "Two texts aligned: also report a stretch that sums up the whole of the other text.")


@dataclass(frozen=True)
class ResemblanceConfig:
    """When two documents are duplicates."""

    measure: str = _setting(
        "resemblance", "Similarity of documents: shingles in common, or shingles in common in the same order.", choices=MEASURES
    )
    method: str = _setting("join", "How pairs to compare are found; join is exact, the others are baselines.", choices=METHODS)
    min_containment: Fraction = _setting(  # noqa: RUF009 (as all the others)
        _NOTHING, "Documents are duplicates too if this share of one stands in the other; 0: only by similarity."
    )
    max_shingle_documents: int = _setting(
        1000, "Shingles of more documents than this lead to no pairs of their own; they are compared all the same.", at_least=2
    )
    sample_every: int = _setting(1, "Look for pairs by one shingle in so many, chosen by hash; 1 for all.", at_least=1)
    sample_remainder: int = _setting(0, "Which of the shingles to sample: those whose hash leaves this.", at_least=0)
    verify: bool = _setting(True, "Compare every pair in full; without, pairs are as good as the method that found them.")
    filter_bits: int = _setting(
        256, "Order: bits of the sketch that rejects pairs before they are compared (64, 128, 256); 0 for none.", at_least=0
    )
    permutations: int = _setting(128, "MinHash: hash functions.", at_least=1, at_most=1 << 16)
    bands: int = _setting(16, "MinHash: bands of hashes; documents that agree in all of a band are a pair.", at_least=1)
    max_bits_apart: int = _setting(3, "SimHash: bits in which two documents may differ.", at_least=0, at_most=16)


@dataclass(frozen=True)
class ClustersConfig:
    """Which documents belong together, and which of them stays."""

    keep: str = _setting("first", "Which document of a cluster stays: first, longest, earliest, FIELD:max or FIELD:min.")
    chains: bool = _setting(False, "Let documents belong together through a chain of others that they do not resemble.")


@dataclass(frozen=True)
class CleaningConfig:
    """What is taken out of a collection, and how."""

    level: str = _setting("document", "What is removed: documents, passages or single sentences.", choices=LEVELS)
    mark_only: bool = _setting(False, "Remove nothing; add columns that say what would go.")


@dataclass(frozen=True)
class IndexConfig:
    """What an index on disk keeps, and how it is searched."""

    signature_bits: int = _setting(
        64, "Bits of a sentence's bit signature, fixed when the index is made.", at_least=8, at_most=64
    )
    bits_per_word: int = _setting(3, "Bits that each word sets in it, fixed when the index is made.", at_least=1, at_most=64)
    search_engine: str = _setting("overlap", "How sentences are looked up in the index.", choices=SEARCH_METHODS)
    score: str = _setting(
        "idf", "Score of a sentence: share of its words found, weighted by rarity; or unweighted; or both multiplied.",
        choices=SCORES,
    )  # fmt: skip
    min_score: Fraction = _setting(_FOUR_FIFTHS, "Score that a sentence needs to be a hit.")  # noqa: RUF009 (as all the others)
    min_contained_words: int = _setting(
        8, "A sentence of fewer distinct words is a hit only of one of the same words, not inside a longer one.", at_least=1
    )
    radius: int = _setting(
        -1, "Bits search: bits in which two signatures may differ; -1: as max_false_positive allows.", at_least=-1, at_most=64
    )
    max_false_positive: float = _setting(
        0.1, "Bits search: chance that a sentence with more changes than words_flexible is looked at.", at_least=0, at_most=1
    )
    words_flexible: int = _setting(2, "Bits search: words in which a sentence may differ.", at_least=0, at_most=1000)
    min_hits: int = _setting(3, "Known sentences that make a document a duplicate.", at_least=1)
    min_hit_words: int = _setting(4, "Words that a sentence needs to count for that verdict.", at_least=1)
    commit_every: str = _setting("1000,10s", "Watch: documents, or seconds, or both, after which what was added is safe.")


@dataclass(frozen=True)
class EngineConfig:
    """How the work is carried out; nothing here changes a result."""

    engine: str = _setting("local", "Where the stages run: on this machine, or on Spark.", choices=("local", "spark"))
    workers: int = _setting(0, "Threads; 0 for one a core.", at_least=0)
    memory: str = _setting(
        "auto",
        "Memory that a run may use, as 500MB or 4GB; what needs more is worked on part by part, and parts are stored on disk. "
        "auto: three quarters of what the machine has.",
    )
    max_disk: str = _setting(
        "auto",
        "Disk that temporary files may take at a time, as 500MB or 4GB; a run that needs more ends with exit code 5. auto: "
        "nine tenths of what is free, and at most 200 times the inputs, or 4 GB if that is more (Spark: no limit).",
    )
    tmp_dir: str = _setting(
        "auto", "Folder for temporary files (on Spark: one that all workers reach); auto: in the output folder or the system's."
    )
    partitions: int = _setting(
        0, "About how many parts files are cut into; 0: as memory asks for (Spark: one for every 32 MB).", at_least=0
    )
    resume: bool = _setting(
        False, "Go on after the last finished stage of a killed run into the same folder; store stages so that it is possible."
    )
    work_dir: str = _setting("auto", "Folder that finished stages are found in again by `resume`; auto: none that lasts.")

    @property
    def tmp_folder(self) -> str | None:
        """The folder for temporary files; None for the system's."""
        return None if self.tmp_dir == "auto" else self.tmp_dir


@dataclass(frozen=True)
class OutputConfig:
    """What is written, and how."""

    format: str = _setting("parquet", "File format of the tables.", choices=FORMATS)
    keep_text: bool = _setting(False, "Add the columns a_text and b_text to the passages.")
    overwrite: bool = _setting(False, "Replace the results that the output folder holds.")
    strict: bool = _setting(False, "Stop (exit code 3) at the first record that would be skipped.")
