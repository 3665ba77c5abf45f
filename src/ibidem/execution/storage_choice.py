"""Whether a run fits into memory or works in parts on disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from ibidem.config import METHODS_IN_PARTS, Config
from ibidem.config.addresses import extension_of
from ibidem.config.surface import given
from ibidem.errors import UsageError
from ibidem.execution.disk_limit import no_room
from ibidem.execution.memory import allowed_memory
from ibidem.execution.progress import Progress
from ibidem.formats.inputs import resolve_inputs, without_iterators
from ibidem.formats.registry import PARQUET
from ibidem.formats.sources import FileSource, Source

# Memory that a run takes per byte of input, measured on the large collections of `benchmarks/speed.py`.
_MEMORY_A_BYTE = {
    "find-exact": 5,
    "find": 6,
    "find-aligned": 8,
    "cluster": 5,
    "dedup-document": 5,
    "dedup": 5,
    "dedup-aligned": 11,
    "decontaminate": 0,  # texts are not kept
    "dedup-lossless": 13,
}
_MEMORY_BEFORE = 300_000_000  # the program itself
_TEXT_A_STORED_BYTE = {".gz": 5, ".zst": 5, PARQUET: 3}  # how far compressed data expands


def room_in_memory(verb: str, inputs: Any, against: Any, config: Config, progress: Progress) -> int | None:
    """Return how many bytes of text a run may keep in memory, or None if it has to work in parts.

    It has to if it needs more memory than it may use, if partitions or durable stages are requested, or if a limit is set and
    the size is unknown. Files that turn out larger than they look can be read again, in parts; nothing else can.
    """
    engine = config.engine
    if engine.tmp_folder is not None and not engine.resume:  # when resuming, the place of the stages is known
        try:
            os.scandir(engine.tmp_folder).close()  # even if nothing will be stored: a typo should be noticed at once
        except OSError as error:
            raise no_room(engine.tmp_folder, error) from error
    sides = [inputs] if against is None else [inputs, against]
    sources = resolve_inputs(without_iterators(sides))
    needed = None if _holds_iterator(sides) else _needed_memory(verb, sources, config)
    allowed = allowed_memory(engine.memory)
    if needed is None:  # a stream: a limit that was set must be kept
        outgrows = engine.memory != "auto"
    else:
        outgrows = needed > allowed
    reason = _why_in_memory(verb, config)
    if outgrows or engine.partitions or engine.resume:
        if not reason:
            return None
        if engine.resume:
            raise UsageError(f"{reason}; such a run cannot be resumed", f"Leave out {given('resume', True)}.")
        progress.tell(f"{reason}, which may need more memory than allowed")
    is_stream = not all(isinstance(source, FileSource) and source.n_bytes is not None for source in sources)
    if is_stream or reason:
        return sys.maxsize
    a_byte = _MEMORY_A_BYTE[_kind(verb, config)]
    return max(0, allowed - _MEMORY_BEFORE) // a_byte if a_byte else sys.maxsize


def _why_in_memory(verb: str, config: Config) -> str:
    """Return what cannot be done in parts, if anything."""
    by_shingles = verb == "cluster" or (verb == "dedup" and config.cleaning.level == "document")
    if by_shingles and config.resemblance.method not in METHODS_IN_PARTS:
        return f"{given('method', config.resemblance.method)} keeps the collection in memory"
    return ""


def _needed_memory(verb: str, sources: Sequence[Source], config: Config) -> int | None:
    """Estimate the memory of a run; None if the size of an input is not known."""
    total = 0
    for source in sources:
        if not isinstance(source, FileSource):
            continue  # it is in memory already
        if source.n_bytes is None:
            return None
        times = 1
        for packing, ratio in _TEXT_A_STORED_BYTE.items():
            if extension_of(source.path) == packing or source.format == packing:
                times = max(times, ratio)
        total += source.n_bytes * times
    return _MEMORY_BEFORE + total * _MEMORY_A_BYTE[_kind(verb, config)]


def _holds_iterator(inputs: Any) -> bool:
    return isinstance(inputs, Iterator) or (isinstance(inputs, (list, tuple)) and any(map(_holds_iterator, inputs)))


def _kind(verb: str, config: Config) -> str:
    if verb == "dedup" and config.cleaning.lossless:
        return "dedup-lossless"
    if verb == "dedup" and config.cleaning.level == "document":
        return "dedup-document"
    if config.alignment.align and (verb == "find" or (verb == "dedup" and config.cleaning.level == "passage")):
        return f"{verb}-aligned"
    return "find-exact" if verb == "find" and config.signatures.signature == "exact" else verb
