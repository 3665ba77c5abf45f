"""The settings of verbs as keywords with types, for type checkers and editors; written by `make_keywords.py`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, TypedDict

from ibidem.config.word_source import GivenPath, GivenWords


class FindSettings(TypedDict, total=False):
    """Settings of `find`."""

    text_field: str
    id_field: str
    time_field: str
    group_field: str
    date_format: str
    metadata: GivenPath
    metadata_key: str
    time_from: str
    group_from: str
    query: str
    html: bool
    main_content: bool
    text_path: str
    encoding: str
    against_text_field: str
    against_id_field: str
    against_time_field: str
    against_group_field: str
    lang: str
    max_sentence_words: int
    hash_seed: int
    ignore: str | Sequence[str]
    signature: Literal["auto", "exact", "words", "shingles", "imatch", "spotsigs", "fingerprint"]
    shingle_size: int
    min_idf: float
    max_idf: float
    antecedents: str | int | Sequence[str]
    spot_stop_words: str | int | Sequence[str]
    spot_short_chains: bool
    spot_distance: int
    spot_chain: int
    max_document_share: float
    word_counts: GivenWords
    stop_words: GivenWords
    as_paper: Literal["none", "pdc-mr", "swlr", "qsign", "yoon", "ye"]
    paper: bool
    min_similarity: float | Fraction
    sentence_pairs: bool
    postings: bool
    min_sentences: int
    min_words: int
    min_quote_words: int
    max_gap_sentences: int
    extend_ends: bool
    max_places: int
    min_run_words: int
    min_passage_similarity: float | Fraction
    min_passage_chars: int
    min_coverage: float | Fraction
    same_document: bool
    skip_same_group: bool
    runs: bool
    families: bool
    align: bool | None
    min_evidence: float
    min_aligned_words: int
    difference_kinds: bool
    only_differences: str
    workers: int
    memory: str
    max_disk: str
    tmp_dir: str
    partitions: int
    resume: bool
    work_dir: str
    format: Literal["parquet", "jsonl", "csv"]
    keep_text: bool
    overwrite: bool
    strict: bool


class ClusterSettings(TypedDict, total=False):
    """Settings of `cluster`."""

    text_field: str
    id_field: str
    time_field: str
    group_field: str
    date_format: str
    metadata: GivenPath
    metadata_key: str
    time_from: str
    group_from: str
    query: str
    html: bool
    main_content: bool
    text_path: str
    encoding: str
    against_text_field: str
    against_id_field: str
    against_time_field: str
    against_group_field: str
    contained: Literal["input", "reference", "either"]
    hash_seed: int
    ignore: str | Sequence[str]
    shingle_size: int
    min_idf: float
    max_idf: float
    antecedents: str | int | Sequence[str]
    spot_stop_words: str | int | Sequence[str]
    spot_short_chains: bool
    spot_distance: int
    spot_chain: int
    word_counts: GivenWords
    stop_words: GivenWords
    as_paper: Literal["none", "pdc-mr", "swlr", "qsign", "yoon", "ye"]
    paper: bool
    min_similarity: float | Fraction
    measure: Literal["resemblance", "order"]
    method: Literal["join", "identical", "shingling", "pairs", "minhash", "simhash", "imatch", "spotsigs"]
    contractions: bool
    min_containment: float | Fraction
    min_shared_shingles: int
    max_shingle_documents: int
    shingle_unit: Literal["word", "line"]
    sampling: Literal["modulo", "smallest", "supershingles"]
    sample_every: int
    sample_remainder: int
    sample_size: int
    supershingles: int
    supershingle_size: int
    min_supershingles: int
    verify: bool
    filter_bits: int
    permutations: int
    bands: int
    max_bits_apart: int
    keep: str
    chains: bool
    by_group: bool
    workers: int
    memory: str
    max_disk: str
    tmp_dir: str
    partitions: int
    resume: bool
    work_dir: str
    format: Literal["parquet", "jsonl", "csv"]
    overwrite: bool
    strict: bool


class DedupSettings(TypedDict, total=False):
    """Settings of `dedup`."""

    text_field: str
    id_field: str
    time_field: str
    group_field: str
    date_format: str
    metadata: GivenPath
    metadata_key: str
    time_from: str
    group_from: str
    query: str
    html: bool
    main_content: bool
    text_path: str
    encoding: str
    against_text_field: str
    against_id_field: str
    against_time_field: str
    against_group_field: str
    contained: Literal["input", "reference", "either"]
    lang: str
    max_sentence_words: int
    hash_seed: int
    ignore: str | Sequence[str]
    signature: Literal["auto", "exact", "words", "shingles", "imatch", "spotsigs", "fingerprint"]
    shingle_size: int
    min_idf: float
    max_idf: float
    antecedents: str | int | Sequence[str]
    spot_stop_words: str | int | Sequence[str]
    spot_short_chains: bool
    spot_distance: int
    spot_chain: int
    max_document_share: float
    word_counts: GivenWords
    stop_words: GivenWords
    as_paper: Literal["none", "pdc-mr", "swlr", "qsign", "yoon", "ye"]
    paper: bool
    min_similarity: float | Fraction
    min_sentences: int
    min_words: int
    min_quote_words: int
    min_run_words: int
    same_document: bool
    align: bool | None
    min_evidence: float
    min_aligned_words: int
    measure: Literal["resemblance", "order"]
    method: Literal["join", "identical", "shingling", "pairs", "minhash", "simhash", "imatch", "spotsigs"]
    contractions: bool
    min_containment: float | Fraction
    min_shared_shingles: int
    max_shingle_documents: int
    shingle_unit: Literal["word", "line"]
    sampling: Literal["modulo", "smallest", "supershingles"]
    sample_every: int
    sample_remainder: int
    sample_size: int
    supershingles: int
    supershingle_size: int
    min_supershingles: int
    verify: bool
    filter_bits: int
    permutations: int
    bands: int
    max_bits_apart: int
    keep: str
    chains: bool
    level: Literal["document", "passage", "sentence", "run"]
    min_copy_similarity: float | Fraction
    keep_copies: int
    lossless: bool
    lossless_words: int
    keep_if_differs: str
    mark_copies: bool
    mark_only: bool
    workers: int
    memory: str
    max_disk: str
    tmp_dir: str
    partitions: int
    resume: bool
    work_dir: str
    overwrite: bool
    strict: bool


class DecontaminateSettings(TypedDict, total=False):
    """Settings of `decontaminate`."""

    text_field: str
    id_field: str
    query: str
    html: bool
    main_content: bool
    text_path: str
    encoding: str
    hash_seed: int
    ignore: str | Sequence[str]
    level: Literal["document", "passage", "sentence", "run"]
    mark_only: bool
    prompt_fields: str
    answer_fields: str
    item_id_field: str
    min_item_words: int
    whole_share: float | Fraction
    min_part_words: int
    max_item_pages: int
    workers: int
    memory: str
    max_disk: str
    tmp_dir: str
    partitions: int
    resume: bool
    work_dir: str
    overwrite: bool
    strict: bool
