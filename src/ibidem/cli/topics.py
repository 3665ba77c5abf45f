"""The topics that `ibidem help TOPIC` and the manual page explain."""

from __future__ import annotations

from typing import NamedTuple


class Topic(NamedTuple):
    """A page of help; paragraphs after a line with a backspace are not wrapped."""

    title: str
    text: str


TOPICS = {
    "formats": Topic(
        "What ibidem reads and writes",
        """\
INPUT is a file, a folder, a pattern such as 'news/*.jsonl', an address such as s3://bucket/folder (needs ibidem[remote]),
or - for standard input. The extension decides the format; without one, the first bytes do.

\b
.txt .md .rst .log
                one document per file
.html           one document per file; its text is extracted
.pdf            the same; needs ibidem[office]
.docx .odt .rtf .epub, .xml (TEI, ALTO, PAGE, or --text-path), .eml
                the same
.mbox           mailboxes: one document per mail
.jsonl          one document per line, as a JSON object
.json           a list of JSON objects, one per document
.csv .tsv       one document per row; the first row names the columns
.parquet        one document per row
.sqlite .db .duckdb
                one document per row of --query SQL
.warc           web archives: one document per page

All of them may be compressed: .gz or .zst. Parquet compresses its own columns.

\b
--text-field NAME    the field with the text (text)
--id-field NAME      the field with the id (id)
--time-field NAME    the field with the publication time (time)
--group-field NAME   the field with the outlet, author or site (group)
--metadata FILE      a table with times, groups and titles of documents

Results are tables in a folder: parquet, or jsonl or csv with --format. Records that cannot be used are skipped and listed in
skipped.jsonl; with --strict, the run stops at the first one.""",
    ),
    "signatures": Topic(
        "What makes two sentences match",
        """\
--signature chooses what sentences are compared by:

\b
words        their sets of words are similar (the default of find)
exact        the same words in the same order
shingles     their sets of --shingle-size words in a row are similar
spotsigs     their sets of spots are similar: a word (with
             --antecedents, a frequent one) and the words after it
imatch       the same words, of those with an idf between --min-idf and
             --max-idf
fingerprint  the same words, without the most common ones, in any order

Case, punctuation, spacing and Unicode form never count. How similar two sets must be is --min-similarity (0.8): the words that
both have, divided by the words that either has.

--as pdc-mr runs a paper as it is printed; `ibidem papers` lists what it sets.

auto means words where text is looked for, and exact where it is removed (dedup). An index takes words or exact. exact is the
fastest; words also finds sentences in which a word was changed. With auto, find also aligns words, to find edited copies and
parts of sentences; with another signature, it does so only with --align, or a limit such as --min-aligned-words.""",
    ),
    "memory": Topic(
        "Memory and disk space",
        """\
A run uses up to three quarters of the machine's memory. --memory 4GB sets another limit. If the inputs need more, the run
is split into parts on disk; the results are the same.

Temporary files go to the output folder, or to the folder that --tmp-dir names, and are deleted when the run ends. --max-disk
limits their size; a run that needs more stops with exit code 5.

With --resume, a run stores its finished stages. If it is interrupted, the same command continues after the last of them.

--workers sets the number of threads; by default there is one per core. The results do not depend on it.""",
    ),
    "settings": Topic(
        "Settings in a file",
        """\
Every setting has one name: --min-sentences on the command line, min_sentences= in Python, and min_sentences in a TOML file
that --config names. The file has a section for each stage: documents, sentences, signatures, matches, passages, alignment,
resemblance, clusters, cleaning, index, engine, output. If a setting is in the wrong section, the message names the right one.

\b
[passages]
min_sentences = 4
[output]
format = "jsonl"

Options override the file, and the file overrides the defaults. Limits are inclusive. A switch such as --align can be turned
off again with --no-align. Every result folder has a run.json with all settings of its run.""",
    ),
    "exit-codes": Topic(
        "Exit codes",
        """\
\b
0    done, also if nothing was found
1    a check failed: `index check --exit-code` found a duplicated document,
     `verify` a quotation that is not verbatim, or a share exceeds
     --max-reused-share or --max-contaminated-share; also unexpected errors
2    usage: a wrong option, setting or output folder
3    input: a file cannot be read, or contains no documents; with --strict,
     a record would be skipped
4    index: missing, damaged, locked, or created with other settings
5    resources: not enough memory or disk space, or a missing program
130  interrupted with Ctrl-C (143: by SIGTERM, 129: by SIGHUP)

An error is one message on standard error, which also says what to do next.""",
    ),
}
