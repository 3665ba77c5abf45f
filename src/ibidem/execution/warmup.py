"""The first run has to compile the kernels. While it compiles those of the first stages, a second process compiles the rest.

Both store them in numba's cache on disk, where the other process and all later runs find them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ibidem.config import Config

FIRST_RUN = "compiling kernels for this command, once; this first run takes 10 to 30 seconds longer"


@contextmanager
def later_stages_compiled_aside(config: Config, comparing: bool = False) -> Iterator[bool]:
    """Have a second process compile the kernels after the sentences stage; yield False if they are already compiled.

    `comparing`: pairs are aligned, and nothing is searched. The process ends with the block at the latest: by then the run has
    compiled what it needs.
    """
    from ibidem.alignment.kernels.pairs import align_pairs
    from ibidem.passages.kernels.chains import assemble

    searched = comparing or _is_compiled(assemble)
    if searched and (_is_compiled(align_pairs) or not (comparing or config.alignment.align)):
        yield False
        return
    aligned = "compare" if comparing else "align" if config.alignment.align else "find"
    command = [sys.executable, "-m", "ibidem.execution.warmup", config.signatures.signature, aligned]
    nowhere = subprocess.DEVNULL
    # Not from the current folder: a user's folder named ibidem must not be mistaken for this package.
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    # The pipe is never written to: when this process ends, in any way, it closes, and the other process ends too.
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, env=environment)
    try:
        yield True
    finally:
        process.terminate()
        process.wait()
        process.stdin.close()  # type: ignore[union-attr]


def is_index_compiled(searching: bool) -> bool:
    """Return whether an earlier run has compiled the kernels that search an index, or those that add to one."""
    from ibidem.index.kernels.search import search_overlap
    from ibidem.index.kernels.segment import write_postings

    return _is_compiled(search_overlap if searching else write_postings)


def _is_compiled(kernel: Any) -> bool:
    """Return whether an earlier run has left a compiled kernel in the cache."""
    name = f"{kernel.__module__.rpartition('.')[2]}.{kernel.__name__}"
    if kernel.stats.cache_path is None:  # there is no writable cache
        return False
    return any(Path(kernel.stats.cache_path).glob(f"{name}-*.nbi"))


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
    threading.Thread(target=_end_with, args=(sys.stdin.buffer,), daemon=True).start()
    signature, aligned = sys.argv[1:]
    if aligned == "compare":
        run_later_stages(Config(), comparing=True)
    else:
        # The last stages come first (exact sentences need no join): the run itself starts at the other end.
        for each in ("exact", signature):
            run_later_stages(Config.of(signature=each, align=aligned == "align"))
