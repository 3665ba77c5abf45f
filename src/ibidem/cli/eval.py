"""`ibidem eval`: found passages against true ones."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("eval")
@click.argument("truth_path", metavar="TRUTH", type=click.Path(path_type=Path))
@click.argument("result_path", metavar="RESULT", type=click.Path(path_type=Path))
@click.option(
    "--pairs",
    "pairs_path",
    metavar="PAIRS",
    type=click.Path(path_type=Path),
    help="Table of a_id, b_id and, if there is one, category: only passages of these pairs of documents count.",
)
@click.option(
    "--bootstrap",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    help="Resample the pairs of documents N times for 95 % intervals; 0 for none.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with micro-averaged scores and counts.")
def evaluate(truth_path: Path, result_path: Path, pairs_path: Path | None, bootstrap: int, as_json: bool) -> None:
    """Measure the passages in RESULT against those in TRUTH, by characters, as the PAN text alignment task does.

    RESULT is a folder that `ibidem find` wrote, or a table: a_id a_start a_end b_id b_start b_end, as parquet, jsonl or csv
    (the last two also .gz or .zst). TRUTH is the same; with a column category, scores are given for each category too.

    With --pairs, what is found in a pair of documents without truth is wrong, and what is found in other pairs is ignored.
    Without, all that is found counts.

    \b
    ibidem eval truth.jsonl out
    ibidem eval truth.jsonl out --pairs pairs.csv --bootstrap 1000
    """
    import json

    from ibidem.evaluation.passages import evaluate_passages
    from ibidem.evaluation.reading import read_pairs, read_passages
    from ibidem.evaluation.tables import evaluation_record, evaluation_table

    truth, found = read_passages(truth_path), read_passages(result_path)
    pairs = None if pairs_path is None else read_pairs(pairs_path)
    evaluation = evaluate_passages(truth, found, pairs, n_samples=bootstrap)
    if as_json:
        click.echo(json.dumps(evaluation_record(evaluation), indent=2, ensure_ascii=False))
    else:
        click.echo(evaluation_table(evaluation))
    for kind, number in (("true", evaluation.n_ignored_truth), ("found", evaluation.n_ignored_found)):
        if number:
            click.echo(f"{number:,} {kind} in pairs of documents that {pairs_path} does not list: ignored", err=True)
    scores = evaluation.overall.scores
    if scores.n_truth and scores.n_found and not scores.n_matched:
        click.echo("nothing that was found meets a true passage; are the ids the same in both?", err=True)


eval = evaluate  # the verb's own name, by which `main` looks it up
