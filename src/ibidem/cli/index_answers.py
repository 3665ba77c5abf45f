"""How answers of an index are put into words: JSON lines for programs, listings for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import Any
from urllib.parse import quote

from ibidem.index.answers import QueryResult, Source, Verdict, are_passages_listed
from ibidem.index.watcher import Arrival
from ibidem.results.screen_lines import excerpt_of, with_names
from ibidem.results.summary import EXCERPT_INDENT, excerpt_width, many

_SENTENCES_SHOWN = 5
_PLACES_SHOWN = 3
_SOURCES_SHOWN = 5
_SAME_TEXTS_SHOWN = 3
_NEARLY_ALL = 0.9
_MINE, _OTHER = "here:   ", "source: "
_ARROWS = {"a_to_b": "→", "b_to_a": "←"}


def query_line(result: QueryResult, number: int, with_texts: bool = True) -> str:
    """Return what a document shares with the index as a line of JSON; with the texts, if they are wanted and there."""
    verdict, passages = result.verdicts[number], _records(result.passages_of(number), with_texts)
    hits = _records(result.hit_records_of(number), with_texts)
    return _json({"id": verdict.id, "n_sentences": verdict.n_sentences, "hits": hits, "passages": passages})


def verdict_line(result: QueryResult, number: int, with_texts: bool = True) -> str:
    """Return the verdict on a document as a line of JSON; with passages, if they were asked for."""
    verdict = result.verdicts[number]
    shown = {**_verdict(verdict), "hits": _records(result.hit_records_of(number), with_texts)}
    if are_passages_listed(result.config):
        shown |= {"covered_share": verdict.covered_share, "passages": _records(verdict.passages, with_texts)}
    return _json(shown)


def trec_lines(result: QueryResult, number: int) -> Iterator[str]:
    """Yield a document's lines of a TREC run: the documents of the index that contain most of its characters, best first.

    Blanks and signs that would end a field are escaped as in addresses.
    """
    spans: dict[str, list[tuple[int, int]]] = {}
    for row in (*(hit._asdict() for hit in result.hits_of(number)), *result.passages_of(number)):
        spans.setdefault(row["b_id"], []).append((row["a_start"], row["a_end"]))
    scores = []
    for name, own in spans.items():
        n_chars = reached = 0
        for start, end in sorted(own):
            n_chars += max(0, end - max(start, reached))
            reached = max(reached, end)
        scores.append((-n_chars, name))
    query = _field(result.ids[number])
    for rank, (less, name) in enumerate(sorted(scores), 1):
        yield f"{query} Q0 {_field(name)} {rank} {-less} ibidem"


def _field(name: str) -> str:
    return "".join(
        quote(letter) if letter.isspace() or not letter.isprintable() or letter == "%" else letter for letter in name
    )


def arrival_line(arrival: Arrival, line: int, with_texts: bool = True) -> str:
    """Return what is said of a document of a stream, whose record was in that line, as a line of JSON."""
    if arrival.verdict is None:
        reason = arrival.skipped.reason if arrival.skipped else ""
        return _json({"id": arrival.id or None, "skipped": reason, "line": line})
    same = {} if arrival.same_text_as is None else {"same_text_as": arrival.same_text_as}
    return _json({**_verdict(arrival.verdict), **same, "passages": _records(arrival.passages, with_texts)})


def list_passages(result: QueryResult, number: int, text: str, width: int | None = None) -> Iterator[str]:
    """Yield lines for people: what a document shares with the index."""
    verdict, passages = result.verdicts[number], result.passages_of(number)
    n_known = verdict.n_known + verdict.n_common
    shared = f", in {many(len(passages), 'passage')}" if passages else ""
    yield from with_names((f"{{}}: {_appearing(n_known, verdict.n_sentences)}{shared}",), [verdict.id], width)
    yield from _passages(passages, text, width)
    if verdict.sources:
        yield from _sources(verdict.sources, width)


def _passages(passages: Sequence[Mapping[str, Any]], text: str, width: int | None) -> Iterator[str]:
    """Yield lines for passages in the order of a text, with the words of both sides where these differ."""
    for passage in sorted(passages, key=lambda passage: passage["a_start"]):
        start, end = passage["a_start"], passage["a_end"]
        likeness = passage["kind"] if passage["kind"] == "exact" else f"{passage['kind']} {passage['similarity']:.2f}"
        place = f"{{}} [{passage['b_start']}:{passage['b_end']}]"
        kinds = f" ({', '.join(passage['differences'])})" if passage.get("differences") else ""
        size = many(passage["n_sentences"], "sentence")
        places = f"  [{start}:{end}] {_ARROWS.get(passage['direction'], '·')} {place}"
        yield from with_names((places, f"  {size}, {likeness}{kinds}"), [passage["b_id"]], width)
        yield from _beside(text[start:end], passage.get("b_text"), excerpt_width(width))


def list_verdict(result: QueryResult, number: int, text: str, show_all: bool, width: int | None = None) -> Iterator[str]:
    """Yield the lines that tell people how much of a document is in the index, and which sentences of it.

    It is called a duplicate only where nearly all of it is there: `duplicated` of a verdict needs a few sentences.
    """
    verdict, config = result.verdicts[number], result.config
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
    by_sentence = [list(hits) for _, hits in groupby(result.hit_records_of(number), key=itemgetter("a_sentence"))]
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
        start, end = hits[0]["a_start"], hits[0]["a_end"]
        place = f"  [{start}:{end}] "
        yield place + excerpt_of(text[start:end], excerpt_width(width) - (len(place) - len(EXCERPT_INDENT) if width else 0))
        yield from _places(hits, width)
        yield from _source_words(text[start:end], hits[0].get("b_text"), excerpt_width(width))
    if len(shown) < len(by_sentence):
        yield f"  and {many(len(by_sentence) - len(shown), 'more known sentence')}; --all lists them"
    if are_passages_listed(config) and verdict.passages:
        share = f"{int(100 * verdict.covered_share)} % of the text"
        aligned = "aligned word by word, " if config.alignment.align else ""
        yield f"  {aligned}{share} is in {many(len(verdict.passages), 'passage')}:"
        yield from _passages(verdict.passages, text, width)


def summarise_query(result: QueryResult, seconds: float) -> Iterator[str]:
    """Yield the lines that say what was found for all documents together."""
    n_sentences = sum(verdict.n_sentences for verdict in result.verdicts)
    yield f"{many(len(result.ids), 'document')}, {many(n_sentences, 'sentence')}, {seconds:.1f} s"
    known = sum(verdict.n_known + verdict.n_common > 0 for verdict in result.verdicts)
    n_passages = result.passages.num_rows
    yield f"{many(len(result), 'hit')}, {many(n_passages, 'passage')}"
    yield f"{known:,} of {many(len(result.ids), 'document')} {'shares' if known == 1 else 'share'} text with the index"


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


def _records(rows: Sequence[dict[str, Any]], with_texts: bool) -> list[dict[str, Any]]:
    left_out = ("a_id",) if with_texts else ("a_id", "a_text", "b_text")
    return [{name: value for name, value in row.items() if name not in left_out} for row in rows]


def _beside(mine: str, other: str | None, room: int) -> Iterator[str]:
    """Yield the beginning of a passage; where the words of its source are others, these too, from where they differ."""
    mine, other = " ".join(mine.split()), None if other is None else " ".join(other.split())
    if other is None or mine == other:
        yield EXCERPT_INDENT + excerpt_of(mine, room)
        return
    n_common = next((k for k, (x, y) in enumerate(zip(mine, other, strict=False)) if x != y), min(len(mine), len(other)))
    skipped = 0 if n_common < room // 2 else mine.rfind(" ", 0, n_common - room // 4) + 1
    for name, text in ((_MINE, mine), (_OTHER, other)):
        yield EXCERPT_INDENT + name + excerpt_of(("…" if skipped else "") + text[skipped:], room - len(name))


def _source_words(mine: str, other: str | None, room: int) -> Iterator[str]:
    """Yield the words of a source where they are others."""
    if other is not None and " ".join(mine.split()) != " ".join(other.split()):
        yield EXCERPT_INDENT + _OTHER + excerpt_of(other, room - len(_OTHER))


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False)


def _sources(sources: Sequence[Source], width: int | None) -> Iterator[str]:
    more = f" and {len(sources) - _SOURCES_SHOWN:,} more" if len(sources) > _SOURCES_SHOWN else ""
    form = ", ".join(f"{{}} ({many(source.n_sentences, 'sentence')})" for source in sources[:_SOURCES_SHOWN])
    yield from with_names((f"  mostly from: {form}{more}",), [source.id for source in sources[:_SOURCES_SHOWN]], width)


def _places(hits: Sequence[Mapping[str, Any]], width: int | None) -> Iterator[str]:
    more = f" and {many(len(hits) - _PLACES_SHOWN, 'more place')}" if len(hits) > _PLACES_SHOWN else ""
    form = ", ".join(f"{{}}:{hit['b_start']}-{hit['b_end']}" for hit in hits[:_PLACES_SHOWN])
    yield from with_names((f"    {form}{more}",), [hit["b_id"] for hit in hits[:_PLACES_SHOWN]], width)
