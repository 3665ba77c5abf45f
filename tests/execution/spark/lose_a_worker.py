"""Run `find` and `cluster` in a cluster of two worker processes, one of which is killed on the way; compare with this machine.

Run as a program, with a folder: a Spark session of another kind cannot be had in the process of the other tests.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import ibidem
from ibidem.execution.spark.folder_flow import FolderFlow
from ibidem.execution.spark.session import own_session
from tests.execution.conftest import JAVA_OPTIONS
from tests.execution.parity import rows_of, written_rows
from tests.execution.random_collections import random_records, skewed_records


def workers() -> list[int]:
    """Return the worker processes of this cluster."""
    found = subprocess.run(["pgrep", "-f", "lose-a-worker.*CoarseGrainedExecutorBackend"], capture_output=True, text=True)
    return [int(number) for number in found.stdout.split()]


def kill_one(after: float) -> None:
    """Kill a worker in a moment."""

    def kill() -> None:
        time.sleep(after)
        victim = workers()[0]
        os.kill(victim, signal.SIGKILL)
        print("killed a worker", flush=True)

    threading.Thread(target=kill).start()


def main(folder: Path) -> None:
    settings = {
        "spark.master": "local-cluster[2,1,1024]",
        "spark.executor.memory": "700m",
        "spark.driver.memory": "700m",
        "spark.driver.extraJavaOptions": JAVA_OPTIONS,
        "spark.executor.extraJavaOptions": f"-Dname=lose-a-worker {JAVA_OPTIONS}",
        "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
    }
    spark = own_session(settings, 2)
    engine = ibidem.SparkEngine(spark, tmp_dir=f"file:{folder}", partitions=3)
    records = [*random_records(11, 60), *skewed_records(120)]
    reduce = FolderFlow.reduce

    def reduce_and_kill(self: FolderFlow, stage: str, inputs: Any, reducer: Any, outputs: Any) -> Any:
        if stage == "passages":
            kill_one(after=0.2)
        return reduce(self, stage, inputs, reducer, outputs)

    FolderFlow.n_small_bytes = 1  # so that workers do everything
    FolderFlow.reduce = reduce_and_kill  # type: ignore[method-assign]
    with ibidem.find(records, engine=engine, signature="exact") as result:
        result.write(folder / "found")
    local = ibidem.find(records, signature="exact")
    for name in ("passages", "documents", "repeats"):
        assert written_rows(folder / "found", name) == rows_of(getattr(local, name)), name
    with ibidem.cluster(records, engine=engine, min_similarity=0.5, shingle_size=2) as result:
        result.write(folder / "clustered")
    clusters = ibidem.cluster(records, min_similarity=0.5, shingle_size=2)
    for name in ("duplicates", "clusters"):
        assert written_rows(folder / "clustered", name) == rows_of(getattr(clusters, name)), name
    print("equal", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
