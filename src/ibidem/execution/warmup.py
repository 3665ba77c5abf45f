"""The first run has to compile the kernels. While it compiles those of the first stages, a second process compiles the rest.

Both store them in numba's cache on disk, where the other process and all later runs find them.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import BinaryIO

from ibidem.config import SET_SIGNATURES, Config
from ibidem.execution.kernel_cache import KernelCache, storage_folder

# What is compiled together → a kernel of it that is compiled late → about how many seconds it takes (`benchmarks/startup.py`).
_PARTS = {
    "sentences": ("sentences.kernels.tokens", "tokenise", 4),
    "words": ("matches.kernels.join", "join_sets", 2),
    "passages": ("passages.kernels.chains", "assemble", 5),
    "alignment": ("alignment.kernels.pairs", "align_pairs", 8),
    "families": ("passages.kernels.families", "follow_copies", 2),
    "runs": ("word_runs.kernels", "cut_runs", 4),
    "items": ("contamination.kernels", "join_segments", 4),
    "shingles": ("resemblance.kernels.shingles", "shingle_documents", 4),
    "cuts": ("clusters.kernels.cuts", "cut_rows", 2),
    "adding": ("index.kernels.segment", "write_postings", 3),
    "searching": ("index.kernels.search", "search_overlap", 4),
}
_NEEDED = {
    "find": ("sentences", "words", "passages", "alignment", "runs", "families"),
    "compare": ("sentences", "alignment"),
    "cluster": ("shingles",),
    "dedup": ("sentences", "words", "cuts", "runs", "shingles", "passages", "alignment"),
    "decontaminate": ("items",),
    "tune": ("shingles",),
    "index add": ("sentences", "adding"),
    "index compact": ("adding",),
    "index query": ("sentences", "searching", "passages", "alignment"),
    "index check": ("sentences", "searching", "passages", "alignment"),
    "watch": ("sentences", "adding", "searching", "passages", "alignment"),
    "serve": ("sentences", "searching", "passages", "alignment"),
}


def announcement(verb: str, config: Config | None = None) -> str:
    """Return the line that says what a first run of a verb compiles, and how long that takes; "" if there is nothing.

    Without a folder to store kernels in, it says that every run will take as long.
    """
    missing = _missing(verb, config or Config())
    if not missing:
        return ""
    seconds = sum(_PARTS[part][2] for part in missing)
    if storage_folder() is None:
        return (
            f"compiling for `{verb}`: about {seconds} s in every run, as no folder can be written to keep the result; "
            "name one in NUMBA_CACHE_DIR"
        )
    return f"compiling code this run needs: about {seconds} s; later runs skip this"


def _missing(verb: str, config: Config) -> list[str]:
    """Return what a verb needs and no earlier run has stored."""
    needed = set(_NEEDED[verb])
    if verb not in ("compare", "serve") and not config.alignment.align:
        needed.discard("alignment")
        needed -= {"passages"} if verb in ("dedup", "index check") else set()
    if not config.passages.families:
        needed.discard("families")
    if not (config.passages.runs or (verb == "dedup" and config.cleaning.level == "run")):
        needed.discard("runs")
    if verb == "dedup":
        by_level = {"document": {"shingles"}, "run": {"sentences", "runs"}}
        needed &= by_level.get(config.cleaning.level, needed - {"shingles"})
    if verb in ("find", "dedup") and config.signatures.signature not in SET_SIGNATURES:
        needed.discard("words")
    return [part for part in _NEEDED[verb] if part in needed and not _is_compiled(part)]


def _is_compiled(part: str) -> bool:
    module, name, _ = _PARTS[part]
    kernel = getattr(import_module(f"ibidem.{module}"), name)
    cache = getattr(kernel, "_cache", None)  # None: compiling is turned off
    return isinstance(cache, KernelCache) and cache.is_filled(kernel.targetctx.codegen())


@contextmanager
def later_stages_compiled_aside(verb: str, config: Config) -> Iterator[None]:
    """Let a second process compile the kernels after the sentences stage, if an earlier run has left nothing to share.

    `compare` aligns pairs and searches for nothing. The process ends with the block at the latest: by then the run has
    compiled whatever it needed.
    """
    if not {"passages", "alignment"} & set(_missing(verb, config)) or storage_folder() is None:
        yield
        return
    aligned = "compare" if verb == "compare" else "align" if config.alignment.align else "find"
    command = [sys.executable, "-m", "ibidem.execution.warmup", config.signatures.signature, aligned]
    nowhere = subprocess.DEVNULL
    # Not from the current folder: a user's folder named ibidem must not be mistaken for this package.
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    # The pipe is never written to: when this process ends, in any way, it closes, and the other process ends too.
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, env=environment)
    try:
        yield
    finally:
        process.terminate()
        process.wait()
        process.stdin.close()  # type: ignore[union-attr]


def run_later_stages(config: Config, comparing: bool = False) -> int:
    """Run everything after the sentences stage on a few words; return the number of passages, which is 1."""
    import numpy as np
    import pyarrow as pa

    from ibidem.columns.collection import Collection
    from ibidem.execution.flow import InMemory, Parts
    from ibidem.execution.progress import Progress
    from ibidem.execution.threads import Threads
    from ibidem.model import DOCUMENT_BATCH
    from ibidem.pipeline import find_tables, passages_of_pairs

    sentences = [f"{a} one two three four five six seven eight nine ten" for a in ("here", "then", "there")]
    text = " ".join(sentences)
    starts = np.array([text.index(sentence) for sentence in sentences] * 2, np.uint32)
    ends = starts + np.array([len(sentence) for sentence in sentences] * 2, np.uint32)
    rows = {"id": ["a", "b"], "text": [text] * 2, "source": ["-"] * 2, "position": [1, 2], "cleaned": [False] * 2}
    batch = pa.RecordBatch.from_pylist(
        [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)], DOCUMENT_BATCH
    )
    collection = Collection(
        [batch],
        n_chars=np.full(2, len(text), np.int64),
        n_input=2,
        document=np.repeat(np.arange(2, dtype=np.int32), 3),
        start_byte=starts,
        end_byte=ends,
        start_char=starts,
        end_char=ends,
        n_words=np.full(6, 11, np.int32),
        digest=np.array([11, 12, 13, 11, 12, 13], np.uint64) << np.uint64(40),
    )
    with Threads(1) as engine:
        if comparing:
            passages = passages_of_pairs(collection, np.array([[0, 1]]), config, engine.run_tasks)
        else:
            passages = find_tables(InMemory(engine.run_tasks), Parts(collection), config, Progress())["passages"].take()
    return passages.num_rows  # type: ignore[no-any-return]


def _end_with(pipe: BinaryIO) -> None:
    """End this process when a pipe is closed."""
    pipe.read()
    os._exit(1)


if __name__ == "__main__":
    gc.set_threshold(100_000)  # as in every command: what compiling makes lives long
    threading.Thread(target=_end_with, args=(sys.stdin.buffer,), daemon=True).start()
    signature, aligned = sys.argv[1:]
    if aligned == "compare":
        run_later_stages(Config(), comparing=True)
    else:
        # The last stages come first (exact sentences need no join): the run itself starts at the other end.
        for each in ("exact", signature):
            run_later_stages(Config.of(signature=each, align=aligned == "align"))
