"""`ibidem eval`: what was found, against what is true."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ibidem.cli.libraries import loading_libraries
from ibidem.cli.options import resolve_settings, setting_options
from ibidem.cli.signals import loading

if TYPE_CHECKING:
    import pyarrow as pa

    from ibidem.config import Config
    from ibidem.evaluation.counts import CountEvaluation
    from ibidem.evaluation.passage_scores import Evaluation

# What is measured: the columns that truth and result need, and which tables of a folder of results have them.
# (As in `evaluation.numbering`, which is not imported here: `--help` shall not wait for NumPy.)
_PLACES = ("a_id", "a_start", "a_end", "b_id", "b_start", "b_end")
_MEASURES = {
    "passages": (_PLACES, ("passages",)),
    "sentences": (_PLACES, ("passages",)),
    "sentence-pairs": (("a_id", "a_sentence", "b_id", "b_sentence"), ("hits",)),
    "pairs": (("a_id", "b_id"), ("duplicates", "passages")),
    "clusters": (("cluster", "id"), ("clusters",)),
    "verdicts": (("id", "duplicated"), ("verdicts", "clusters")),
}
_OF_PAIRS = ("passages", "sentences", "sentence-pairs", "pairs")
_RECOGNISED = ("sentence-pairs", "passages", "pairs", "clusters", "verdicts")  # by their columns, in this order
_ANY_TABLE = ("passages", "hits", "clusters", "duplicates")


@click.command("eval")
@click.argument("truth_path", metavar="TRUTH", type=click.Path(path_type=Path))
@click.argument("result_path", metavar="RESULT", type=click.Path(path_type=Path))
@click.option(
    "--measure",
    type=click.Choice(list(_MEASURES)),
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
    import json

    with loading_libraries():
        from ibidem.evaluation.score_tables import evaluation_record, evaluation_table

    measure = measure or _measure_of(truth_path)
    if pairs_path is not None and measure not in _OF_PAIRS:
        raise click.UsageError(f"--pairs is of no use for --measure {measure}: it lists pairs of documents.")
    if documents and measure != "sentences":
        raise click.UsageError("--documents is for --measure sentences only.")
    if not documents and measure == "sentences":
        raise click.UsageError("--measure sentences needs the documents: --documents INPUT.")
    config = resolve_settings(config_file, flags)
    evaluation = _evaluate(measure, truth_path, result_path, pairs_path, documents, config, bootstrap)
    if as_json:
        click.echo(json.dumps({"measure": measure, **evaluation_record(evaluation)}, indent=2, ensure_ascii=False))
    else:
        click.echo(evaluation_table(evaluation))
    for line in _remarks(evaluation, measure, pairs_path):
        click.echo(line, err=True)


def _remarks(evaluation: Evaluation | CountEvaluation, measure: str, pairs_path: Path | None) -> Iterator[str]:
    """Yield what a user should know beside the scores."""
    told = evaluation._asdict()
    where = f"pairs of documents that {pairs_path} does not list" if pairs_path else "documents that the truth does not have"
    for kind in ("truth", "found"):
        name = "true" if kind == "truth" else kind
        if number := told[f"n_ignored_{kind}"]:
            yield f"{number:,} {name} in {where}: ignored"
        if number := told.get(f"n_empty_{kind}", 0):
            yield f"{number:,} {name} passages cover half of no sentence, and count for nothing"
    scores = evaluation.overall.scores
    if scores.n_truth and scores.n_found and not scores.n_matched:
        what = "meets a true passage" if measure == "passages" else "is true"
        yield f"nothing that was found {what}; are the ids the same in both?"


def _measure_of(truth_path: Path) -> str:
    """Return what the columns of the truth are for."""
    from ibidem.errors import InputError
    from ibidem.evaluation.truth_files import table_columns

    columns = table_columns(truth_path, _ANY_TABLE)
    measure = next((name for name in _RECOGNISED if columns.issuperset(_MEASURES[name][0])), None)
    if measure is None and columns:
        known = "; ".join(f"{name}: {' '.join(_MEASURES[name][0])}" for name in _RECOGNISED)
        raise InputError(f"{truth_path}: its columns ({', '.join(sorted(columns))}) are no truth of a known kind", known)
    return measure or "passages"


def _evaluate(
    measure: str,
    truth_path: Path,
    result_path: Path,
    pairs_path: Path | None,
    documents: tuple[str, ...],
    config: Config,
    n_samples: int,
) -> Evaluation | CountEvaluation:
    with loading():
        from ibidem.api import sentence_places
        from ibidem.evaluation import measures
        from ibidem.evaluation.passage_scores import evaluate_passages
        from ibidem.evaluation.truth_files import read_pairs, read_table

    columns, names = _MEASURES[measure]
    truth, found = (
        _read_verdicts(path) if measure == "verdicts" else read_table(path, columns, names)
        for path in (truth_path, result_path)
    )
    pairs = None if pairs_path is None else read_pairs(pairs_path)
    match measure:
        case "sentences":
            sentences = sentence_places(list(documents), config=config)
            return measures.evaluate_sentences(truth, found, sentences, pairs, n_samples)
        case "sentence-pairs":
            return measures.evaluate_sentence_pairs(truth, found, pairs, n_samples)
        case "pairs":
            return measures.evaluate_pairs(truth, found, pairs, n_samples)
        case "clusters":
            return measures.evaluate_clusters(truth, found, n_samples)
        case "verdicts":
            return measures.evaluate_verdicts(truth, found, n_samples)
    return evaluate_passages(truth, found, pairs, n_samples)


def _read_verdicts(path: Path) -> pa.Table:
    """Return the verdicts on documents, from a table of them or from clusters."""
    import pyarrow.compute as pc

    from ibidem.evaluation.truth_files import read_table, table_columns

    _, names = _MEASURES["verdicts"]
    columns = table_columns(path, names)
    if "duplicated" in columns or "canonical" not in columns:
        return read_table(path, ("id", "duplicated"), names)
    table = read_table(path, ("id", "canonical"), names)
    return table.append_column("duplicated", pc.invert(table["canonical"]))


eval = evaluate  # the verb's own name, by which `main` looks it up
