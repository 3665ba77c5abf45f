"""How answers of an index are put into words: JSON lines for programs, listings for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any

from ibidem.config import Config
from ibidem.index.answers import Hit, QueryResult, Source, Verdict
from ibidem.index.watcher import Arrival
from ibidem.results.screen_lines import excerpt_of, with_names
from ibidem.results.summary import EXCERPT_INDENT, excerpt_width, many

_SENTENCES_SHOWN = 5
_PLACES_SHOWN = 3
_SOURCES_SHOWN = 5
_SAME_TEXTS_SHOWN = 3
_NEARLY_ALL = 0.9
_ARROWS = {"a_to_b": "→", "b_to_a": "←"}


def query_line(result: QueryResult, number: int) -> str:
    """Return what a document shares with the index as a line of JSON."""
    verdict = result.verdicts[number]
    passages = [_without_id(passage) for passage in result.passages_of(number)]
    return _json({"id": verdict.id, "n_sentences": verdict.n_sentences, "hits": _hits(verdict), "passages": passages})


def verdict_line(verdict: Verdict) -> str:
    """Return the verdict on a document as a line of JSON."""
    return _json({**_verdict(verdict), "hits": _hits(verdict)})


def arrival_line(arrival: Arrival, line: int) -> str:
    """Return what is said of a document of a stream, whose record was in that line, as a line of JSON."""
    if arrival.verdict is None:
        reason = arrival.skipped.reason if arrival.skipped else ""
        return _json({"id": arrival.id or None, "skipped": reason, "line": line})
    same = {} if arrival.same_text_as is None else {"same_text_as": arrival.same_text_as}
    return _json({**_verdict(arrival.verdict), **same, "passages": [_without_id(passage) for passage in arrival.passages]})


def list_passages(result: QueryResult, number: int, text: str, width: int | None = None) -> Iterator[str]:
    """Yield lines for people: what a document shares with the index."""
    verdict, passages = result.verdicts[number], result.passages_of(number)
    n_known = verdict.n_known + verdict.n_common
    shared = f", in {many(len(passages), 'passage')}" if passages else ""
    yield from with_names((f"{{}}: {_appearing(n_known, verdict.n_sentences)}{shared}",), [verdict.id], width)
    for passage in sorted(passages, key=lambda passage: passage["a_start"]):
        start, end = passage["a_start"], passage["a_end"]
        likeness = passage["kind"] if passage["kind"] == "exact" else f"{passage['kind']} {passage['similarity']:.2f}"
        place = f"{{}} [{passage['b_start']}:{passage['b_end']}]"
        size = many(passage["n_sentences"], "sentence")
        places = f"  [{start}:{end}] {_ARROWS.get(passage['direction'], '·')} {place}"
        yield from with_names((places, f"  {size}, {likeness}"), [passage["b_id"]], width)
        yield EXCERPT_INDENT + excerpt_of(text[start:end], excerpt_width(width))
    if verdict.sources:
        yield from _sources(verdict.sources, width)


def list_verdict(verdict: Verdict, text: str, config: Config, show_all: bool, width: int | None = None) -> Iterator[str]:
    """Yield the lines that tell people how much of a document is in the index, and which sentences of it.

    It is called a duplicate only where nearly all of it is there: `duplicated` of a verdict needs a few sentences.
    """
    min_hits, max_places = config.index.min_hits, config.passages.max_places
    n_known = verdict.n_known + verdict.n_common
    word = "duplicate: " if verdict.duplicated and n_known >= _NEARLY_ALL * verdict.n_sentences else ""
    yield from with_names((f"{{}}: {word}{_appearing(verdict.n_known, verdict.n_sentences)}",), [verdict.id], width)
    if verdict.duplicated:
        yield (
            f"  above --min-hits {min_hits} (the paper's rule)"
            if config.signatures.paper
            else f"  reaches --min-hits {min_hits}"
        )
    by_sentence = [list(hits) for _, hits in groupby(verdict.hits, key=lambda hit: hit.a_sentence)]
    n_short = len(by_sentence) - verdict.n_known - verdict.n_common
    if verdict.is_own_id_known:
        yield "  not compared with the document of the same id in the index"
    if verdict.n_common:
        yield f"  not counting {many(verdict.n_common, 'sentence')} found in more than {max_places:,} documents"
    if n_short:
        yield f"  not counting {many(n_short, 'sentence')} of fewer than {config.index.min_hit_words:,} words"
    if verdict.sources:
        yield from _sources(verdict.sources, width)
    shown = by_sentence if show_all else by_sentence[:_SENTENCES_SHOWN]
    for hits in shown:
        start, end = hits[0].a_start, hits[0].a_end
        place = f"  [{start}:{end}] "
        yield place + excerpt_of(text[start:end], excerpt_width(width) - (len(place) - len(EXCERPT_INDENT) if width else 0))
        yield from _places(hits, width)
    if len(shown) < len(by_sentence):
        yield f"  and {many(len(by_sentence) - len(shown), 'more known sentence')}; --all lists them"


def summarise_query(result: QueryResult, seconds: float) -> Iterator[str]:
    """Yield the lines that say what was found for all documents together."""
    n_sentences = sum(verdict.n_sentences for verdict in result.verdicts)
    yield f"{many(len(result.ids), 'document')}, {many(n_sentences, 'sentence')}, {seconds:.1f} s"
    known = sum(verdict.n_known + verdict.n_common > 0 for verdict in result.verdicts)
    n_passages = result.passages.num_rows
    yield f"{many(len(result), 'hit')}, {many(n_passages, 'passage')}"
    yield f"{known:,} of {many(len(result.ids), 'document')} share text with the index"


def same_texts_lines(same_texts: Mapping[str, str]) -> Iterator[str]:
    """Yield lines that say how many documents were added whose text is in the index under another id, and which."""
    if same_texts:
        have = "has" if len(same_texts) == 1 else "have"
        yield f"{many(len(same_texts), 'document')} {have} the same text as another document in the index:"
        for new, known in islice(same_texts.items(), _SAME_TEXTS_SHOWN):
            yield f"  {new} = {known}"
        if len(same_texts) > _SAME_TEXTS_SHOWN:
            yield f"  and {len(same_texts) - _SAME_TEXTS_SHOWN:,} more"


def _appearing(n_known: int, n_sentences: int) -> str:
    """Say how many sentences of a document are in the index."""
    if not n_known:
        appear = "appears" if n_sentences == 1 else "appear"
        return f"none of its {many(n_sentences, 'sentence')} {appear} in the index" if n_sentences else "no sentences"
    share = 100 * n_known / n_sentences
    percent = f"{int(share)} %" if share >= 1 else "less than 1 %"  # never 100 % of less than all
    appear = "appears" if n_known == 1 else "appear"
    return f"{n_known:,} of {many(n_sentences, 'sentence')} ({percent}) also {appear} in the index"


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "id": verdict.id,
        "duplicated": verdict.duplicated,
        "n_sentences": verdict.n_sentences,
        "n_known": verdict.n_known,
        "n_common": verdict.n_common,
        "sources": [source._asdict() for source in verdict.sources],
    }


def _hits(verdict: Verdict) -> list[dict[str, Any]]:
    return [_without_id(hit._asdict()) for hit in verdict.hits]


def _without_id(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != "a_id"}


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False)


def _sources(sources: Sequence[Source], width: int | None) -> Iterator[str]:
    more = f" and {len(sources) - _SOURCES_SHOWN:,} more" if len(sources) > _SOURCES_SHOWN else ""
    form = ", ".join(f"{{}} ({many(source.n_sentences, 'sentence')})" for source in sources[:_SOURCES_SHOWN])
    yield from with_names((f"  mostly from: {form}{more}",), [source.id for source in sources[:_SOURCES_SHOWN]], width)


def _places(hits: Sequence[Hit], width: int | None) -> Iterator[str]:
    more = f" and {many(len(hits) - _PLACES_SHOWN, 'more place')}" if len(hits) > _PLACES_SHOWN else ""
    form = ", ".join(f"{{}}:{hit.b_start}-{hit.b_end}" for hit in hits[:_PLACES_SHOWN])
    yield from with_names((f"    {form}{more}",), [hit.b_id for hit in hits[:_PLACES_SHOWN]], width)
