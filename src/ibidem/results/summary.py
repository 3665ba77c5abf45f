"""The summary for people: counts, the longest passages, and why nothing was found."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from ibidem.config import SET_SIGNATURES, Config, passage_limits
from ibidem.config.quantities import size_of
from ibidem.config.sampling_plan import SamplingPlan
from ibidem.config.settings import ALL
from ibidem.config.surface import given, named
from ibidem.formats.file_access import is_unknown_kind
from ibidem.formats.printable_names import printable
from ibidem.model import Passage, Skipped
from ibidem.results.overview import PassageOverview
from ibidem.results.result import Result, RunResult
from ibidem.results.screen_lines import excerpt_of, fit_lines, with_names

_LONGEST = 5
_REASONS = 3
_KINDS = 8
EXCERPT_CHARS = 96
EXCERPT_INDENT = "    "


def summarise(
    result: Result[Any], folder: Path | str | None = None, report: Path | str | None = None, width: int | None = None,
    with_passages: bool = True,
) -> str:  # fmt: skip
    """Return the summary as text, with the folder of the results and the report if they were written.

    `width` is that of the screen, if it is to be shown on one. Without passages, it leaves out the longest ones.
    """
    return as_text(_lines(result, folder, report, width, with_passages), width)


def as_text(lines: Iterable[str], width: int | None) -> str:
    """Return lines, in which ids and names of files may contain anything, as text that fits a screen."""
    return "\n".join(fit_lines(map(printable, lines), width))


def _lines(
    result: Result[Any], folder: Path | str | None, report: Path | str | None, width: int | None, with_passages: bool
) -> Iterator[str]:
    counts = result.counts
    seconds = sum(result.timings.values())
    yield f"{documents_of(result)}, {many(counts['sentences'], 'sentence')}, {seconds:.1f} s"
    found = result.overview()
    parts = ", ".join(f"{count:,} {kind}" for kind, count in sorted(found.kinds.items(), key=lambda entry: -entry[1]))
    yield many(found.n_passages, "passage") + (f" ({parts})" if parts else "")
    if found.n_repeats:
        yield f"{many(found.n_repeats, 'repeat group')}: text in too many places to list as pairs"
    yield from _further_lines(result)
    if found.n_reused:
        yield f"{found.n_reused:,} of {many(found.n_documents, 'document')} share text with another document"
    yield from skipped_lines(result.skipped)
    yield from result.notices
    yield from stored_lines(result.resources)
    if found.n_passages and with_passages:
        yield f"the {min(_LONGEST, found.n_passages)} longest:" if found.n_passages > 1 else "this one:"
        for passage in result.longest(_LONGEST):
            yield from _passage_lines(passage, width)
    elif not found.n_passages and not found.n_repeats:
        yield from _why_nothing(result.config, result.counts["documents"], found)
    if folder is not None:
        yield f"results: {folder}"
        if report is not None:
            yield f"report: {report}"
        elif found.n_passages or found.n_repeats:
            yield from look_at(folder, width)
    yield from unknown_files_lines(result.skipped)


def _further_lines(result: Result[Any]) -> Iterator[str]:
    """Say what was written besides: families, and single sentences, and which of them are in no pair."""
    if result.backing.has("families"):
        n_families = result.run()["counts"]["families"]
        yield f"{n_families:,} {'family' if n_families == 1 else 'families'} of passages"
    if n_left_out := result.counts.get("passages_below_limits"):
        yield f"{many(n_left_out, 'passage')} below the limits of what is reported"
    if result.counts.get("ignored_sentences"):
        yield many(result.counts["ignored_sentences"], "sentence") + " ignored"
    if result.backing.has("runs"):
        yield many(result.backing.table("runs").n_rows, "run") + f" of {result.config.passages.min_run_words} words or more"
    if result.backing.has("sentence_pairs"):
        yield many(result.backing.table("sentence_pairs").n_rows, "sentence pair")
        yield from _left_out_lines(result)
    if result.backing.has("postings"):
        yield many(result.backing.table("postings").n_rows, "posting")


def _left_out_lines(result: RunResult[Any]) -> Iterator[str]:
    """Say how many sentences are in no pair because they have too many places."""
    if n_left_out := result.counts.get("sentences_left_out", 0):
        are, most = "is" if n_left_out == 1 else "are", result.config.passages.max_places
        yield f"{many(n_left_out, 'sentence')} in more than {most:,} places {are} in no sentence pair ({named('max_places')})"


def look_at(folder: Path | str, width: int | None = None) -> Iterator[str]:
    """Yield how results are looked at, in one line or two; nothing of results elsewhere, which have to be fetched first."""
    if isinstance(folder, str):
        return
    name = shlex.quote(str(folder))
    line = f"to view: ibidem report {name}, or ibidem serve {name}"
    yield from (line,) if width is None or len(line) <= width else line.replace(", or ", "\n     or: ").split("\n")


def summarise_briefly(result: RunResult[Any], folder: object = None, width: int | None = None) -> str:
    """Return counts and time alone: on Spark, everything else would have to be computed."""
    run, seconds = result.run(), sum(result.timings.values())
    run["counts"].pop("sentences_left_out", None)
    n_skipped = run["counts"].pop("skipped") - sum(is_unknown_kind(record.reason) for record in result.skipped)
    lines = [", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in run["counts"].items()) + f"; {seconds:.1f} s"]
    if n_skipped:
        lines.append(f"{many(n_skipped, 'record')} skipped; see skipped.jsonl")
    lines += _left_out_lines(result)
    where = [f"results: {folder}"] if folder is not None else []
    return as_text([*lines, *result.notices, *where, *unknown_files_lines(result.skipped)], width)


def stored_lines(resources: Mapping[str, int]) -> Iterator[str]:
    """Say how much a run that did not fit into memory has stored."""
    if resources.get("spilled_bytes"):
        most, total = (size_of(resources[name]) for name in ("spilled_bytes_peak", "spilled_bytes"))
        parts = f"processed in {many(resources['partitions'], 'partition')}: " if "partitions" in resources else ""
        allowed = f" ({size_of(resources['max_disk_bytes'])} allowed)" if "max_disk_bytes" in resources else ""
        yield f"{parts}up to {most} of temporary files{allowed}, {total} written in total"


def sampling_lines(config: Config, plan: SamplingPlan | None) -> Iterator[str]:
    """Say by which shingles pairs of documents were looked for, unless by all."""
    settings = config.resemblance
    rate = f"one in {settings.sample_every:,} shingles" if settings.sample_every > 1 else "all shingles"
    if plan is not None:
        rates = ["all" if n == 1 else f"one in {n:,}" for n in sorted({min(plan.every), max(plan.every)})]
        yield f"pairs looked for by the sampling plan: {' to '.join(rates)} shingles, by document size"
    elif settings.sampling == "supershingles":
        each = f"{settings.supershingles:,} supershingles of {settings.supershingle_size:,} shingles each"
        yield f"pairs looked for by {each}, {settings.min_supershingles:,} of them in common"
    elif settings.sampling == "smallest":
        yield f"pairs looked for by at most {settings.sample_size:,} shingles per document, the smallest hashes of {rate}"
    elif settings.sample_every > 1:
        yield f"pairs looked for by {rate} (remainder {settings.sample_remainder})"


def many(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def documents_of(result: RunResult[Any]) -> str:
    """Say how many documents a run compared, and how many with, if it had a reference."""
    sizes = result.backing.sizes()
    n_reference = sizes.n_all_documents - sizes.n_documents
    return many(sizes.n_documents, "document") + (f" and {many(n_reference, 'reference document')}" if n_reference else "")


def excerpt_width(width: int | None) -> int:
    """Return how much of a text is shown below the line that says where it is."""
    return EXCERPT_CHARS if width is None else min(EXCERPT_CHARS, max(width - len(EXCERPT_INDENT), 1))


def _passage_lines(passage: Passage, width: int | None) -> Iterator[str]:
    a, b = passage.a, passage.b
    arrow = {"a_to_b": "→", "b_to_a": "←"}.get(passage.direction, "·")
    likeness = passage.kind if passage.kind == "exact" else f"{passage.kind} {passage.similarity:.2f}"
    size = many(passage.n_sentences, "sentence")
    places = f"  {{}} [{a.start}:{a.end}]", f" {arrow} {{}} [{b.start}:{b.end}]"
    yield from with_names((*places, f"  {size}, {likeness}"), (a.id, b.id), width)
    yield EXCERPT_INDENT + excerpt_of(a.text, excerpt_width(width))


def skipped_lines(skipped: Sequence[Skipped], listed_in: str | None = "skipped.jsonl") -> Iterator[str]:
    """Say how many records were skipped, and why; `listed_in` is the file that names all of them, if one does.

    Files of unknown kind are not among them: see `unknown_files_lines`.
    """
    skipped = [record for record in skipped if not is_unknown_kind(record.reason)]
    if not skipped:
        return
    reasons = Counter(record.reason for record in skipped)
    yield f"{many(len(skipped), 'record')} skipped{f' (listed in {listed_in})' if listed_in else ''}:"
    for reason, count in reasons.most_common(_REASONS):
        first = next(record for record in skipped if record.reason == reason)
        place = f"{first.source}:{first.position}" if first.position else first.source
        yield f"  {count:,} × {reason}, first at {place}" if count > 1 else f"  {reason}: {place}"
    if len(reasons) > _REASONS:
        yield f"  and {many(len(reasons) - _REASONS, 'other reason')}"


def unknown_files_lines(skipped: Sequence[Skipped], listed_in: str | None = "skipped.jsonl") -> Iterator[str]:
    """Say how many files in folders were not read because their kind is unknown: the last line of a summary."""
    paths = [PurePath(record.source) for record in skipped if is_unknown_kind(record.reason)]
    if paths:
        kinds = Counter(path.suffix.lower() or "no extension" for path in paths)
        named = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common(_KINDS))
        more = ", …" if len(kinds) > _KINDS else ""
        listed = f"; {listed_in} lists them" if listed_in else ""
        what, were = ("file of an unsupported type", "was") if len(paths) == 1 else ("files of unsupported types", "were")
        yield f"{len(paths):,} {what} {were} not read ({named}{more}){listed}"


def _why_nothing(config: Config, n_documents: int, found: PassageOverview) -> Iterator[str]:
    """Say what kept a run from finding anything, and what to try."""
    yield "nothing found:"
    yield from (f"  {reason}" for reason in _reasons(config, n_documents, found))


def _reasons(config: Config, n_documents: int, found: PassageOverview) -> Iterator[str]:
    limits = passage_limits(config)
    words, sentences = found.most_words, found.most_sentences
    kinds = config.alignment.only_differences
    if kinds != ALL:
        yield f"no passage differs only in {kinds.replace(',', ', ')}; try {given('difference_kinds', True)}"
    elif n_documents < 2 and not limits.same_document:
        yield f"there is only one document; {given('same_document', True)} finds passages that it repeats"
    elif words == 0:
        yield "the texts contain no words"
    elif words is not None and sentences is not None and sentences < limits.min_sentences and words < limits.min_quote_words:
        yield (
            f"the texts are short: no document has {limits.min_sentences} sentences and no sentence has "
            f"{limits.min_quote_words} words; try {given('min_sentences', 1)}"
        )
    else:
        single = limits.min_sentences == 1
        run = "no sentences" if single else f"no {limits.min_sentences} consecutive sentences"
        one = f", and no single sentence of {limits.min_quote_words} words or more"
        long_one = f"{one} does" if limits.min_quote_words and not single else ""
        if config.signatures.signature in SET_SIGNATURES:
            yield f"{run} match{long_one}; try a lower {named('min_similarity')}" + (
                "" if single else f" or {named('min_sentences')}"
            )
        elif config.signatures.signature == "exact":
            yield f"{run} are equal{long_one.replace(' does', ' is')}; {given('signature', 'words')} finds similar ones"
        else:
            yield f"{run} have the same signature{long_one}; {given('signature', 'words')} finds similar ones"
    if limits.min_words > 1:
        yield f"passages of fewer than {limits.min_words} words were left out; try a lower {named('min_words')}"
    if limits.skip_same_group:
        yield f"pairs within a group were left out ({given('skip_same_group', True)})"
