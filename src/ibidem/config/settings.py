"""Settings, one frozen object per stage: their names, defaults, limits and help texts.

A field `min_sentences` is the flag `--min-sentences`, the keyword `min_sentences=` and the TOML key `min_sentences` in the
section named after its stage. Field names are unique over all stages, so a flat keyword finds its stage by itself.

Each setting also says where help shows it: in which group, and whether it is common, that is, listed by a plain `--help`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

from ibidem.config.word_source import NO_WORDS, WordSource

SIGNATURES = ("exact", "words", "shingles", "imatch", "spotsigs", "fingerprint")
SET_SIGNATURES = ("words", "shingles", "spotsigs")
MEASURES = ("resemblance", "order")
EXACT_METHODS = ("join", "shingling")
IDENTICAL = "identical"  # finds only documents with the same words
METHODS_IN_PARTS = (*EXACT_METHODS, IDENTICAL, "minhash", "spotsigs")  # those that work in partitions
METHODS_BY_WORDS = ("imatch", "spotsigs")
METHODS = ("join", IDENTICAL, "shingling", "pairs", "minhash", "simhash", "imatch", "spotsigs")
SAMPLINGS = ("modulo", "smallest", "supershingles")
SHINGLE_UNITS = ("word", "line")
SHINGLE_SIZES = {"sentence": 2, "document": 10, "line": 1}
LEVELS = ("document", "passage", "sentence", "run")
SEARCH_METHODS = ("overlap", "fingerprint", "exact", "signature", "bits", "inverted", "scan")
SCORES = ("idf", "fraction", "product")
FORMATS = ("parquet", "jsonl", "csv")
NO_PAPER = "none"
PAPERS = ("pdc-mr", "swlr", "qsign", "yoon", "ye")  # what they are is in papers.py
HELP_GROUPS = INPUT, CRITERIA, OUTPUT, RUNNING = ("Input", "What counts", "Output", "Running")
LARGEST = 10**9
AUTO = 0
_FOUR_FIFTHS = Fraction(4, 5)
_NOTHING = Fraction(0)
_NO_WORDS = WordSource(NO_WORDS)
KEEP_RULES = ("first", "longest", "earliest")
# What kind of change a difference is; the first ones are facts that a text states.
FACT_KINDS = ("number", "date", "name", "negation", "unit")
DIFFERENCE_KINDS = (*FACT_KINDS, "spelling", "order", "added", "removed", "reworded")
ALL, NONE = "all", "none"
# What chooses passages by their differences, for the verbs that show passages.
DIFFERENCE_SETTINGS = ("difference_kinds", "only_differences")
# What chooses among the passages that were found, for the verb that writes them all.
REPORTED_LIMITS = ("min_passage_similarity", "min_passage_chars", "min_coverage")


def _setting(
    group: str,
    default: Any,
    help_text: str,
    *,
    common: bool = False,
    hidden: bool = False,
    value: str = "",
    choices: tuple[str, ...] = (),
    at_least: float | None = None,
    at_most: float = LARGEST,
    takes_auto: bool = False,
    kind: type | None = None,
) -> Any:
    """Describe a setting. A plain `--help` shows the first sentence of common ones; `value` is what it calls the value.

    A hidden one has a flag that no help shows. With `takes_auto`, a number may be given as the word auto, which is AUTO.
    `kind` is the type of one whose default is None: the verb chooses.
    """
    about = {"group": group, "help": help_text, "is_common": common, "is_hidden": hidden, "value": value}
    about |= {"takes_auto": takes_auto, "kind": type(default) if kind is None else kind}
    return field(default=default, metadata={**about, "choices": choices, "at_least": at_least, "at_most": at_most})


input_setting = partial(_setting, INPUT)
_criterion = criterion = partial(_setting, CRITERIA)
_output = output_setting = partial(_setting, OUTPUT)
_running = partial(_setting, RUNNING)


@dataclass(frozen=True)
class SentencesConfig:
    """How texts are cut into sentences."""

    lang: str = _criterion(
        "auto",
        "Language of the texts (en, de, fr, …), whose abbreviations do not end a sentence. auto: all known languages at once.",
        value="CODE",
    )
    max_sentence_words: int = _criterion(
        120,
        "Length of the longest sentence, in words. Longer stretches without punctuation are cut at places that depend on "
        "their own words only.",
        at_least=16,
        at_most=10_000,
    )
    hash_seed: int = _criterion(
        -1,
        "Seed for hashing words. -1: a new secret seed for each run or index, which prevents crafted collisions. Where a "
        "secret seed would change what find, cluster and tune report (sampling, minhash, simhash, spotsigs, alignment), -1 "
        "means 0, the public hash.",
        at_least=-1,
        at_most=(1 << 63) - 1,
    )
    ignore: str = _criterion(
        "none",
        "Files with text to ignore. Templates, licence headers or a quoted statute, for example: a file or folder, or "
        "several separated by commas. Can be repeated.",
        common=True,
        value="FILE",
    )


@dataclass(frozen=True)
class SignaturesConfig:
    """What represents a sentence."""

    signature: str = _criterion(
        "auto",
        "What makes two sentences match. words: most of their words are the same; exact: all of them, in order; auto: words, "
        "or exact where text is removed.",
        common=True,
        value="NAME",
        choices=("auto", *SIGNATURES),
    )
    shingle_size: int = _criterion(0, "Words per shingle. 0: 2 for sentences, 10 for documents.", at_least=0, at_most=1000)
    min_idf: float = _criterion(0.1, "I-Match: ignore words with a lower idf (0 to 1).", at_least=0)
    max_idf: float = _criterion(1.0, "I-Match: ignore words with a higher idf (0 to 1).", at_least=0)
    antecedents: str = _criterion(
        "auto",
        "SpotSigs: the words that begin a spot, separated by commas, or how many of the most frequent words do. auto: every "
        "word.",
        value="WORDS",
    )
    spot_stop_words: str = _criterion(
        "auto",
        "SpotSigs: the words that chains skip, in a file or separated by commas, or how many of the most frequent words they "
        "skip. none: none; auto: all stop words.",
        value="WORDS",
    )
    spot_short_chains: bool = _criterion(False, "SpotSigs: also keep chains that the end of the sentence cuts short.")
    spot_distance: int = _criterion(1, "SpotSigs: words from one link of the chain to the next.", at_least=1)
    spot_chain: int = _criterion(2, "SpotSigs: words in the chain after the antecedent.", at_least=1)
    max_document_share: float = _criterion(
        0.6, "Fingerprint: ignore words that occur in a larger share of the documents.", at_least=0
    )
    word_counts: WordSource = _criterion(  # noqa: RUF009 (as all the others)
        _NO_WORDS,
        "How common words are, in a file that `ibidem words` wrote, instead of in the inputs. For imatch, fingerprint and "
        "spotsigs, and for the scores of an index.",
        value="FILE",
    )
    stop_words: WordSource = _criterion(  # noqa: RUF009 (as all the others)
        _NO_WORDS,
        "Words that do not count, one per line in a file, or separated by commas. imatch, fingerprint and the scores of an "
        "index ignore them; the chains of spotsigs skip them.",
        value="FILE",
    )
    as_paper: str = _criterion(
        NO_PAPER,
        "Run a paper's method as it is printed: pdc-mr, swlr, qsign, yoon or ye. It sets every parameter that the paper names, "
        "and takes our safeguards away; other settings given beside it win. `ibidem papers` lists what it sets. none: our own "
        "settings.",
        value="PAPER",
        choices=(NO_PAPER, *PAPERS),
    )
    # What presets set; as a flag, it is there for those who used it before there were presets.
    paper: bool = _criterion(
        False, "Apply the papers' limits as printed: strict instead of inclusive, and without safeguards.", hidden=True
    )

    def shingle_words(self, unit: str) -> int:
        """Return the words in a shingle of a `sentence` or a `document`, or its lines (`line`): as set, or as fits the unit."""
        return self.shingle_size or SHINGLE_SIZES[unit]


@dataclass(frozen=True)
class MatchesConfig:
    """When two sentences match."""

    min_similarity: Fraction = _criterion(  # noqa: RUF009 (as all the others)
        _FOUR_FIFTHS,
        "Similarity a match needs (0 to 1). Two documents are compared by their shingles, two sentences by their "
        "signatures (words, shingles, spotsigs).",
        common=True,
    )
    sentence_pairs: bool = _output(
        False,
        "Also write all pairs of matching sentences, with their similarity. Sentences in too many places to be paired are "
        "left out.",
    )
    postings: bool = _output(
        False, "Also write the inverted index of signatures. It lists the sentences that have each word, shingle, spot or key."
    )


@dataclass(frozen=True)
class ResemblanceConfig:
    """When two documents are duplicates."""

    measure: str = _criterion(
        "resemblance",
        "How documents are compared: by the shingles they share, or by those they share in the same order.",
        value="NAME",
        choices=MEASURES,
    )
    method: str = _criterion(
        "join", "join: all similar pairs; identical: only the same words; others: baselines.", value="NAME", choices=METHODS
    )
    contractions: bool = _criterion(
        False, "An apostrophe between letters does not end a word: don't is one word, not two (whole documents only)."
    )
    min_containment: Fraction = _criterion(  # noqa: RUF009 (as all the others)
        _NOTHING, "Also match if this share is contained. 1: all of one is in the other. 0: it does not count."
    )
    min_shared_shingles: int = _criterion(
        0, "Also match if two documents share this many shingles. 0: documents match by similarity only.", at_least=0
    )
    max_shingle_documents: int = _criterion(
        1000,
        "Shingles found in more documents than this produce no candidate pairs. They still count when two documents are "
        "compared.",
        at_least=2,
    )
    shingle_unit: str = _criterion(
        "word",
        "What a document's shingles are made of: words, or whole lines. The shingle size counts these; 0 is one line.",
        value="NAME",
        choices=SHINGLE_UNITS,
    )
    sampling: str = _criterion(
        "modulo",
        "Which shingles to look for pairs with. modulo: one in so many; smallest: of these a limited number, those "
        "with the smallest hashes; supershingles: a few hashes of many shingles each.",
        value="NAME",
        choices=SAMPLINGS,
    )
    sample_every: int = _criterion(
        1, "Look for pairs with one in this many shingles, chosen by hash. 1: all of them.", at_least=1
    )
    sample_remainder: int = _criterion(0, "Which shingles to sample: those whose hash leaves this remainder.", at_least=0)
    sample_size: int = _criterion(400, "Smallest: shingles of a document to look at, at most.", at_least=1)
    supershingles: int = _criterion(6, "Supershingles: how many a document has.", at_least=1, at_most=1000)
    supershingle_size: int = _criterion(14, "Supershingles: sampled shingles in each of them.", at_least=1, at_most=1000)
    min_supershingles: int = _criterion(2, "Supershingles: how many two documents must share to be a pair.", at_least=1)
    verify: bool = _criterion(
        True, "Compare every candidate pair in full. Without it, pairs are as good as the method that found them."
    )
    filter_bits: int = _criterion(
        256, "Order: bits of the sketch that rejects pairs before they are compared (64, 128, 256). 0: no sketch.", at_least=0
    )
    permutations: int = _criterion(128, "MinHash: number of hash functions.", at_least=1, at_most=1 << 16)
    bands: int = _criterion(
        16, "MinHash: number of bands. Documents that agree in all hashes of a band are a pair.", at_least=1
    )
    max_bits_apart: int = _criterion(3, "SimHash: bits in which two documents may differ.", at_least=0, at_most=16)


@dataclass(frozen=True)
class ClustersConfig:
    """Which documents belong together, and which of them is kept."""

    keep: str = _criterion(
        "first",
        "Which document of a cluster to keep: first, longest, earliest, FIELD:max or FIELD:min. Several rules, separated by "
        "commas, decide in this order.",
        common=True,
        value="RULES",
    )
    chains: bool = _criterion(False, "Also put documents into one cluster that only a chain of similar documents connects.")
    by_group: bool = _output(
        False, "Also show which groups (sites, outlets) are copies of one another: the table mirrors.", common=True
    )


@dataclass(frozen=True)
class IndexConfig:
    """What an index on disk keeps, and how it is searched."""

    signature_bits: int = _criterion(
        64, "Bits in a sentence's bit signature. Fixed when the index is created.", at_least=8, at_most=512
    )
    bits_per_word: int = _criterion(
        3,
        "Bits that each word sets in it. auto: as few as give each word of the first documents bits of its own. Fixed when the "
        "index is created.",
        at_least=AUTO,
        at_most=512,
        takes_auto=True,
    )
    texts: bool = _running(
        True, "Keep the texts in the index, compressed, to show the words of sources. Fixed when the index is created."
    )
    search_engine: str = _criterion(
        "overlap",
        "How the index looks up sentences. overlap, inverted and scan: by the words they share; fingerprint: by the same words "
        "except common ones; exact: word for word; signature: as passages; bits: by bit signatures. The choice when the index "
        "is created is the default.",
        value="NAME",
        choices=SEARCH_METHODS,
    )
    score: str = _criterion(
        "idf",
        "How a sentence is scored. idf: the share of its words that were found, rare words counting more; fraction: the "
        "share itself; product: both multiplied.",
        value="NAME",
        choices=SCORES,
    )
    min_score: Fraction = _criterion(  # noqa: RUF009 (as all the others)
        _FOUR_FIFTHS, "Score a sentence needs to be a hit, from 0 to 1.", common=True
    )
    min_contained_words: int = _criterion(
        8,
        "Sentences with fewer distinct words match only sentences with the same words. They are not looked for inside longer"
        " ones.",
        at_least=1,
    )
    radius: int = _criterion(
        -1,
        "Bits search: bits in which two signatures may differ. -1: as many as the allowed share of false positives permits.",
        at_least=-1,
        at_most=512,
    )
    max_false_positive: float = _criterion(
        0.1, "Bits search: chance that a sentence with more changes than allowed is examined.", at_least=0, at_most=1
    )
    words_flexible: int = _criterion(2, "Bits search: words in which a sentence may differ.", at_least=0, at_most=1000)
    min_hits: int = _criterion(3, "Known sentences that make a document a duplicate.", common=True, at_least=1)
    min_hit_words: int = _criterion(4, "Words a sentence needs to count as a hit of its document.", at_least=1)
    commit_every: str = _running(
        "1000,10s",
        "Save after this many documents or seconds, or both. What was saved survives a crash.",
        common=True,
        value="N,Ns",
    )


@dataclass(frozen=True)
class EngineConfig:
    """How the work is carried out; nothing here changes a result."""

    engine: str = _running("local", "Where to run: on this machine, or on Spark.", value="NAME", choices=("local", "spark"))
    workers: int = _running(0, "Threads; 0: one per core.", common=True, at_least=0)
    memory: str = _running(
        "auto",
        "Memory a run may use, such as 4GB. A run that needs more is split into parts on disk. auto: three "
        "quarters of the machine's memory.",
        common=True,
        value="SIZE",
    )
    max_disk: str = _running(
        "auto",
        "Disk space that temporary files may take, such as 4GB. A run that needs more stops with exit code 5. auto: nine "
        "tenths of the free space, but at most 200 times the size of the inputs, or 4 GB if that is more (on Spark: no "
        "limit).",
        value="SIZE",
    )
    tmp_dir: str = _running(
        "auto",
        "Folder for temporary files. On Spark, all workers must be able to reach it. auto: a folder inside the output "
        "folder, or the system's.",
        value="DIR",
    )
    partitions: int = _running(
        0, "About how many parts to work in. 0: as many as memory requires (on Spark: one for every 32 MB).", at_least=0
    )
    resume: bool = _running(
        False,
        "Continue an interrupted run in the same folder. It continues after the last finished stage; only runs with this "
        "setting store their stages.",
        common=True,
    )
    work_dir: str = _running(
        "auto", "Folder in which `resume` finds finished stages. auto: none that outlasts the run.", value="DIR"
    )

    @property
    def tmp_folder(self) -> str | None:
        """The folder for temporary files; None for the system's."""
        return None if self.tmp_dir == "auto" else self.tmp_dir


@dataclass(frozen=True)
class OutputConfig:
    """What is written, and how."""

    format: str = _output("parquet", "Format: parquet, jsonl or csv.", common=True, value="NAME", choices=FORMATS)
    keep_text: bool = _output(False, "Add the texts of passages: columns a_text, b_text.", common=True)
    overwrite: bool = _output(False, "Replace the results in the output folder.", common=True)
    strict: bool = input_setting(False, "Stop with exit code 3 at the first record that would be skipped.")
