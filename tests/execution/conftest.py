"""One Spark session for all tests that need one: two workers in this machine."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ibidem.errors import ResourceError
from ibidem.execution.spark.session import check_pyspark, find_java

N_WORKERS = 2
# For a machine of few cores and runs of seconds: what Java would gain by compiling its code a second time comes too late.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start Spark on two threads of this machine. The test is skipped where there is no Java or no PySpark."""
    try:
        find_java()
        check_pyspark()
    except ResourceError as error:
        pytest.skip(f"no Spark here: {error.message}")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers must find ibidem, as this process does
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # the name of this machine need not be known to it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        builder: Any = SparkSession.builder
        session = (
            builder.master(f"local[{N_WORKERS}]")
            .appName("ibidem-tests")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.memory", "1g")
            .config("spark.driver.extraJavaOptions", JAVA_OPTIONS)
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.default.parallelism", "4")
            .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
            .config("spark.executorEnv.PYTHONPATH", str(ROOT))  # workers must find what tests define, wherever tests are run
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("ERROR")
    yield session
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session.stop()


@pytest.fixture
def work(tmp_path: Path) -> str:
    """Return a folder for the stages of one run."""
    (tmp_path / "stages").mkdir()
    return f"file:{tmp_path / 'stages'}"
