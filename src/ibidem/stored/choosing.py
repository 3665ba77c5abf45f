"""Whether a run fits into memory, or is done in parts that are stored on disk."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from ibidem.config import EXACT_METHODS, Config
from ibidem.documents.inputs import PARQUET, FileSource, resolve_inputs, without_iterators
from ibidem.errors import UsageError
from ibidem.memory import allowed_memory
from ibidem.progress import Progress
from ibidem.quantities import memory_bytes

# Memory that a run takes for each byte of its inputs, measured on the large collections of `benchmarks/speed.py`.
_MEMORY_A_BYTE = {"find-exact": 5, "find": 6, "cluster": 5, "dedup-document": 5, "dedup": 5}
_MEMORY_BEFORE = 300_000_000  # the program itself
_TEXT_A_STORED_BYTE = {".gz": 5, ".zst": 5, PARQUET: 3}  # what is packed takes more room when it is unpacked
_METHODS_IN_PARTS = (*EXACT_METHODS, "minhash")


def outgrows_memory(verb: str, inputs: Any, against: Any, config: Config, progress: Progress) -> bool:
    """Say whether a run needs more memory than it may use, or goes on with one that did, and can be done in parts."""
    engine = config.engine
    wanted = bool(engine.partitions) or engine.resume
    needed = _needed_memory(verb, [inputs] if against is None else [inputs, against], config)
    allowed = allowed_memory(memory_bytes(engine.memory) or 0)
    if needed is None:  # a stream: nobody knows how long; whoever sets a limit wants it to hold
        wanted = wanted or engine.memory != "auto"
    elif needed > allowed:
        wanted = True
    if not wanted:
        return False
    reason = _why_in_memory(verb, config)
    if reason and engine.resume:
        raise UsageError(f"{reason}: such a run cannot be resumed", "Leave out --resume.")
    if reason:
        progress.tell(f"{reason}: it may need more memory than it should")
    return not reason


def most_text_bytes(verb: str, inputs: Any, against: Any, config: Config) -> int:
    """Return how much text a run in memory may hold before it is done in parts instead; its files must be there still."""
    sources = resolve_inputs(without_iterators([inputs] if against is None else [inputs, against]))
    is_stream = not all(isinstance(source, FileSource) and source.n_bytes is not None for source in sources)
    if is_stream or _why_in_memory(verb, config):
        return sys.maxsize
    allowed = allowed_memory(memory_bytes(config.engine.memory) or 0) - _MEMORY_BEFORE
    return max(0, allowed) // _MEMORY_A_BYTE[_kind(verb, config)]


def _why_in_memory(verb: str, config: Config) -> str:
    """Say what cannot be done in parts, or nothing."""
    if verb == "find" and config.alignment.align:
        return "--align holds the collection in memory"
    by_shingles = verb == "cluster" or (verb == "dedup" and config.cleaning.level == "document")
    if by_shingles and config.resemblance.method not in _METHODS_IN_PARTS:
        return f"--method {config.resemblance.method} holds the collection in memory"
    return ""


def _needed_memory(verb: str, inputs: Any, config: Config) -> int | None:
    """Return about how much memory a run takes, or None if the size of an input is not known."""
    if _holds_iterator(inputs):
        return None
    total = 0
    for source in resolve_inputs(without_iterators(inputs)):
        if not isinstance(source, FileSource):
            continue  # it is in memory already
        if source.n_bytes is None:
            return None
        times = 1
        for packing, ratio in _TEXT_A_STORED_BYTE.items():
            if source.name.lower().endswith(packing) or source.format == packing:
                times = max(times, ratio)
        total += source.n_bytes * times
    return _MEMORY_BEFORE + total * _MEMORY_A_BYTE[_kind(verb, config)]


def _holds_iterator(inputs: Any) -> bool:
    return isinstance(inputs, Iterator) or (isinstance(inputs, (list, tuple)) and any(map(_holds_iterator, inputs)))


def _kind(verb: str, config: Config) -> str:
    if verb == "dedup" and config.cleaning.level == "document":
        return "dedup-document"
    return "find-exact" if verb == "find" and config.signatures.signature == "exact" else verb
