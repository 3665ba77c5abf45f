"""`ibidem eval`: what was found, against what is true."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import resolve_settings, setting_options

if TYPE_CHECKING:
    from ibidem.evaluation.counts import CountEvaluation
    from ibidem.evaluation.passage_scores import Evaluation

# The keys of `evaluation.file_scores.MEASURES`, which is not imported here: `--help` shall not wait for NumPy.
MEASURES = ("passages", "sentences", "sentence-pairs", "pairs", "clusters", "verdicts")
_OF_PAIRS = ("passages", "sentences", "sentence-pairs", "pairs")


@click.command("eval")
@click.argument("truth_path", metavar="TRUTH", type=click.Path(path_type=Path))
@click.argument("result_path", metavar="RESULT", type=click.Path(path_type=Path))
@click.option(
    "--measure",
    type=click.Choice(MEASURES),
    help="What to measure. By default the columns of TRUTH decide, and passages are measured by characters.",
)
@click.option(
    "--pairs",
    "pairs_path",
    metavar="PAIRS",
    type=click.Path(path_type=Path),
    help="Table of a_id, b_id and, if there is one, category: only what was found in these pairs of documents counts.",
)
@click.option(
    "--documents",
    multiple=True,
    metavar="INPUT",
    help="The documents, for --measure sentences. May be given more than once.",
)
@click.option(
    "--bootstrap",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    help="Resample pairs of documents (documents, for clusters and verdicts) N times for 95 % intervals; 0 for none.",
)
@setting_options("documents", "sentences", without=("time_field", "group_field", "hash_seed"))
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all counts and, for passages, micro-averaged scores.")
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
    """Measure what was found, RESULT, against what is there, TRUTH.

    Both are tables, as parquet, jsonl or csv (the last two also .gz or .zst); RESULT may be a folder of results. With a column
    category in TRUTH, scores are given for each category too. What is measured (--measure) goes by the columns of TRUTH:

    \b
    passages        a_id a_start a_end b_id b_start b_end: characters, as the PAN text alignment task has it
    sentences       the same columns, by sentences; needs --documents
    sentence-pairs  a_id a_sentence b_id b_sentence: numbers from 0, as `ibidem index query` gives them
    pairs           a_id b_id: documents that are duplicates, or share passages
    clusters        cluster id: by pairs that are put together, and the adjusted Rand index
    verdicts        id duplicated: true or false, as `ibidem index check` says it; of clusters, all but the canonical

    With --pairs, what is found in a pair of documents without truth is wrong, and what is found in other pairs is ignored.
    Without, all that is found counts.

    \b
    ibidem eval truth.jsonl out
    ibidem eval truth.jsonl out --pairs pairs.csv --bootstrap 1000
    ibidem eval same-page.csv out --measure clusters --json
    """
    with loading_libraries():
        from ibidem.api import sentence_places
        from ibidem.evaluation.file_scores import evaluate_files, evaluation_record, evaluation_table, measure_of

    measure = measure or measure_of(truth_path)
    if pairs_path is not None and measure not in _OF_PAIRS:
        raise click.UsageError(f"--pairs is of no use for --measure {measure}: it lists pairs of documents.")
    if documents and measure != "sentences":
        raise click.UsageError("--documents is for --measure sentences only.")
    if not documents and measure == "sentences":
        raise click.UsageError("--measure sentences needs the documents: --documents INPUT.")
    config = resolve_settings(config_file, flags)
    sentences = partial(sentence_places, list(documents), config=config)
    evaluation = evaluate_files(measure, truth_path, result_path, pairs_path, sentences, bootstrap)
    if as_json:
        click.echo(json.dumps({"measure": measure, **evaluation_record(evaluation)}, indent=2, ensure_ascii=False))
    else:
        click.echo(evaluation_table(evaluation))
    for line in _remarks(evaluation, measure, pairs_path):
        click.echo(line, err=True)


def _remarks(evaluation: Evaluation | CountEvaluation, measure: str, pairs_path: Path | None) -> Iterator[str]:
    """Yield what a user should know beside the scores."""
    counts = evaluation._asdict()
    where = f"pairs of documents that {pairs_path} does not list" if pairs_path else "documents that the truth does not have"
    for kind in ("truth", "found"):
        name = "true" if kind == "truth" else kind
        if number := counts[f"n_ignored_{kind}"]:
            yield f"{number:,} {name} in {where}: ignored"
        if number := counts.get(f"n_empty_{kind}", 0):
            yield f"{number:,} {name} passages cover half of no sentence, and count for nothing"
    scores = evaluation.overall.scores
    if scores.n_truth and scores.n_found and not scores.n_matched:
        what = "meets a true passage" if measure == "passages" else "is true"
        yield f"nothing that was found {what}; are the ids the same in both?"


eval = evaluate  # the verb's own name, by which `main` looks it up
