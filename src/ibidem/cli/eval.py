"""`ibidem eval`: results measured against ground truth."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ibidem.cli.commands import Verb, argument, files, option
from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import ChoiceType, resolve_settings, setting_options
from ibidem.config.document_settings import DOCUMENT_FACTS
from ibidem.config.settings import CRITERIA, INPUT, OUTPUT

if TYPE_CHECKING:
    from ibidem.evaluation.counts import CountEvaluation
    from ibidem.evaluation.passage_scores import Evaluation

# The keys of `evaluation.file_scores.MEASURES`, which is not imported here: `--help` shall not wait for NumPy.
MEASURES = ("passages", "sentences", "sentence-pairs", "pairs", "clusters", "verdicts")
_OF_PAIRS = ("passages", "sentences", "sentence-pairs", "pairs")


@click.command(
    "eval",
    cls=Verb,
    examples=(
        "ibidem eval truth.jsonl out",
        "ibidem eval truth.jsonl out --measure pairs --json",
    ),
)
@argument("truth_path", metavar="TRUTH", type=click.Path(path_type=Path), about="Table with the ground truth.")
@argument("result_path", metavar="RESULT", type=click.Path(path_type=Path), about="Table, or folder of results.")
@option(
    "--measure",
    metavar="NAME",
    type=ChoiceType(MEASURES),
    group=CRITERIA,
    help="What to measure.",
    shown_default="by the columns of TRUTH",
)
@option(
    "--pairs",
    "pairs_path",
    metavar="PAIRS",
    type=click.Path(path_type=Path),
    group=INPUT,
    help="Count only these pairs of documents. A table with columns a_id, b_id and perhaps category.",
)
@option(
    "--documents",
    multiple=True,
    metavar="INPUT",
    group=INPUT,
    shell_complete=files,
    help="The documents, for --measure sentences (repeatable).",
)
@option(
    "--bootstrap",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    shown_default="0",
    group=CRITERIA,
    help="Resample N times for 95 % intervals. Pairs of documents are resampled; for clusters and verdicts, documents.",
)
@setting_options("documents", "sentences", without=("ignore", "time_field", "group_field", "hash_seed", *DOCUMENT_FACTS))
@option(
    "--json", "as_json", is_flag=True, group=OUTPUT, help="Print JSON. It has all counts and, for passages, micro-averages."
)
def evaluate(
    truth_path: Path,
    result_path: Path,
    measure: str | None,
    pairs_path: Path | None,
    documents: tuple[str, ...],
    bootstrap: int,
    as_json: bool,
    config_file: str | None,
    **flags: Any,
) -> None:
    """Evaluate results against ground truth.

    TRUTH is a table (parquet, jsonl or csv). Its columns decide what is measured:

    \b
    passages        a_id a_start a_end b_id b_start b_end, by characters (PAN)
    sentences       the same columns, by sentences; needs --documents
    sentence-pairs  a_id a_sentence b_id b_sentence, numbered from 0
    pairs           a_id b_id: documents that are duplicates or share passages
    clusters        cluster id: pairs put together, and the adjusted Rand index
    verdicts        id duplicated: true or false
    \f

    Tables may be compressed (.gz, .zst) unless they are parquet. If TRUTH has a column category, every category gets its own
    scores. sentence-pairs are numbered as `ibidem index query` numbers them, verdicts are those of `ibidem index check`; of
    clusters, all documents but the canonical one count as duplicated.

    With --pairs, anything found in a listed pair without truth counts as wrong, and what was found in other pairs is
    ignored. Without it, everything that was found counts.
    """
    with loading_libraries():
        from ibidem.api import sentence_places
        from ibidem.cli.screen import say, screen_width
        from ibidem.evaluation.file_scores import evaluate_files, evaluation_record, evaluation_rows, measure_of
        from ibidem.results.screen_lines import table_lines

    measure = measure or measure_of(truth_path)
    if pairs_path is not None and measure not in _OF_PAIRS:
        raise click.UsageError(f"--pairs lists pairs of documents, which --measure {measure} does not use.")
    if documents and measure != "sentences":
        raise click.UsageError("--documents works with --measure sentences only.")
    if not documents and measure == "sentences":
        raise click.UsageError("--measure sentences needs the documents: add --documents INPUT.")
    config = resolve_settings(config_file, flags)
    sentences = partial(sentence_places, list(documents), config=config)
    evaluation = evaluate_files(measure, truth_path, result_path, pairs_path, sentences, bootstrap)
    if as_json:
        click.echo(json.dumps({"measure": measure, **evaluation_record(evaluation)}, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(table_lines(evaluation_rows(evaluation), screen_width(sys.stdout), align_left=1)))
    say(_remarks(evaluation, measure, pairs_path))


def _remarks(evaluation: Evaluation | CountEvaluation, measure: str, pairs_path: Path | None) -> Iterator[str]:
    """Yield what a user should know beside the scores."""
    counts = evaluation._asdict()
    where = (
        f"pairs of documents that {pairs_path} does not list" if pairs_path else "documents that are not in the ground truth"
    )
    for kind in ("truth", "found"):
        name = "true" if kind == "truth" else kind
        if number := counts[f"n_ignored_{kind}"]:
            yield f"{number:,} {name} in {where}: ignored"
        if number := counts.get(f"n_empty_{kind}", 0):
            yield f"{number:,} {name} passages cover less than half of any sentence and were ignored"
    scores = evaluation.overall.scores
    if scores.n_truth and scores.n_found and not scores.n_matched:
        what = "overlaps a true passage" if measure == "passages" else "is true"
        yield f"nothing that was found {what}; do both files use the same ids?"


eval = evaluate  # the verb's own name, by which `main` looks it up
