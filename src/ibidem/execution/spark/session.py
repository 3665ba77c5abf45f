"""The Spark session and what it needs: Java, PySpark, settings, a folder that all workers reach."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import uuid
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ibidem.config.surface import named
from ibidem.errors import InputError, ResourceError, UsageError
from ibidem.execution.memory import machine_memory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEAST_JAVA = 17
LEAST_PYSPARK = 4

_GET_JAVA = (
    f"Install a Java runtime {LEAST_JAVA} or newer, for example with `apt install default-jre-headless`, "
    "or set JAVA_HOME to the folder of one."
)
_GET_PYSPARK = "Install it with `pip install 'ibidem[spark]'`."

# Our own errors raised by a worker, in the text of Spark's error.
_OURS = re.compile(r"ibidem\.errors\.(InputError|UsageError): (.+)")

# Rows are documents or blocks of up to megabytes: few at a time, limited by bytes.
_NEEDED = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(32 << 20),
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.maxConcurrentOutputFileWriters": "16",  # a stage writes up to this many tables at once, unsorted
    "spark.sql.parquet.enableVectorizedReader": "false",  # it reads 4096 rows at a time, however large
}

# Users' rows are small and many. A file must always be split in the same way: its lines were counted by split.
_FOR_ROWS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    "spark.sql.parquet.enableVectorizedReader": "true",
    "spark.sql.files.maxPartitionBytes": str(128 << 20),
    "spark.sql.files.minPartitionNum": "16",
    "spark.sql.files.openCostInBytes": str(4 << 20),
}


def find_java() -> str:
    """Return the path of the Java that Spark will use: that of JAVA_HOME, or the first in PATH.

    If there is none, or if it is too old, the error says what to install.
    """
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(os.path.join(home, "bin", "java") if home else "java")
    if java is None:
        raise ResourceError(f"Spark needs Java, but there is none in {f'JAVA_HOME ({home})' if home else 'PATH'}", _GET_JAVA)
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError) as error:
        raise ResourceError(f"Spark needs Java, but {java} does not run: {error}", _GET_JAVA) from error
    version = re.search(r'version "(?:1\.)?(\d+)', said)  # Java 8 reports 1.8
    if version is not None and int(version[1]) < LEAST_JAVA:
        raise ResourceError(f"Spark needs Java {LEAST_JAVA} or newer, but {java} is Java {version[1]}", _GET_JAVA)
    return java


def check_pyspark() -> None:
    """Check that PySpark and pandas, which it needs, are installed and new enough; if not, the error says what to install."""
    # PySpark warns in every process that it is not tested with pandas 3; nothing that ibidem uses goes through pandas.
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
    try:
        import pandas  # noqa: F401
        import pyspark
    except ImportError as error:
        raise ResourceError(f"the Spark engine needs the package {error.name}, which is not installed", _GET_PYSPARK) from error
    if int(pyspark.__version__.split(".")[0]) < LEAST_PYSPARK:
        raise ResourceError(f"the Spark engine needs PySpark {LEAST_PYSPARK}, but this is {pyspark.__version__}", _GET_PYSPARK)


def own_session(settings: Mapping[str, str], workers: int) -> SparkSession:
    """Return the session created for this process, as by `spark-submit`, or else a local one.

    The local one has `workers` workers; `settings` override everything else.
    """
    check_pyspark()
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    chosen = {"spark.app.name": "ibidem", "spark.ui.showConsoleProgress": "false", "spark.sql.adaptive.enabled": "true"}
    if "PYSPARK_GATEWAY_PORT" in os.environ or SparkContext._active_spark_context is not None:
        chosen = {"spark.sql.adaptive.enabled": "true"}  # whoever started it chose the rest
    else:
        find_java()
        master = settings.get("spark.master") or _configured("spark.master", "--master")
        if master is None:
            master = chosen["spark.master"] = f"local[{max(1, workers)}]"
        if is_local(master):
            chosen |= _local_settings(settings)
    builder: Any = SparkSession.builder
    for key, value in {**chosen, **settings}.items():
        builder = builder.config(key, value)
    is_new = SparkContext._active_spark_context is None
    spark: SparkSession = builder.getOrCreate()
    if is_new and is_local(master_of(spark)):
        spark.sparkContext.setLogLevel("ERROR")
    return spark


def is_local(master: str) -> bool:
    """Return whether a master runs its workers on this machine."""
    return master.startswith("local")


def master_of(spark: Any) -> str:
    """Return the master of a session."""
    return str(spark.sparkContext.master)


def _local_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a local session; also make its workers use this very Python."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # a machine may not be able to resolve its own name
    chosen = {"spark.ui.enabled": "false"}
    if "SPARK_DRIVER_MEMORY" not in os.environ and _configured("spark.driver.memory", "--driver-memory") is None:
        chosen["spark.driver.memory"] = f"{machine_memory() // 2 >> 20}m"  # the other half is for Python
    quiet = Path(__file__).with_name("log4j2.properties")
    options = "spark.driver.extraJavaOptions"
    if quiet.exists() and _configured(options, "--driver-java-options") is None:
        chosen[options] = f"-Dlog4j2.configurationFile={quiet.as_uri()}"
    return chosen


def _configured(key: str, flag: str) -> str | None:
    """Return the value of a setting in PYSPARK_SUBMIT_ARGS or in the defaults of the Spark installation."""
    arguments = os.environ.get("PYSPARK_SUBMIT_ARGS", "")
    given = re.search(rf"{re.escape(flag)}[ =](\S+)|{re.escape(key)}=(\S+)", arguments)
    if given is not None:
        return given[1] or given[2]
    home = os.environ.get("SPARK_HOME")
    folder = os.environ.get("SPARK_CONF_DIR") or (os.path.join(home, "conf") if home else None)
    defaults = Path(folder, "spark-defaults.conf") if folder else None
    if defaults is None or not defaults.exists():
        return None
    given = re.search(rf"^\s*{re.escape(key)}(?:\s+|\s*=\s*)(.+?)\s*$", defaults.read_text("utf-8"), re.MULTILINE)
    return given[1] if given is not None else None


class SessionSettings:
    """Applies the settings that the engine needs to a session, which may be the user's, and restores the old ones afterwards.

    `for_rows`: for reading users' rows instead of blocks.
    """

    def __init__(self, spark: Any, for_rows: bool = False) -> None:
        self._conf = spark.conf
        self._wanted = _FOR_ROWS if for_rows else _NEEDED
        self._before: dict[str, str | None] = {}

    def __enter__(self) -> None:
        for key, value in self._wanted.items():
            self._before[key] = self._conf.get(key, None)
            self._conf.set(key, value)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for key, value in self._before.items():
            if value is None:
                self._conf.unset(key)
            else:
                self._conf.set(key, value)


@contextmanager
def job_name(context: Any, stage: str) -> Iterator[None]:
    """Give Spark's jobs the name of a stage, for its pages and its log."""
    before = context.getLocalProperty("spark.job.description")
    context.setJobDescription(f"ibidem: {stage}")
    try:
        yield
    finally:
        context.setLocalProperty("spark.job.description", before)


@contextmanager
def spark_errors() -> Iterator[None]:
    """Turn Spark's exceptions, which are pages long, into one error that says what went wrong."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        java = getattr(error, "java_exception", None)  # of a Java error that PySpark did not translate
        raised_text = str(java.toString()) if java is not None else str(error)
        lines = [line.strip() for line in raised_text.splitlines() if line.strip()]
        raised = next((found for line in lines if (found := _OURS.search(line))), None)
        if raised is not None:  # raised by a worker on purpose
            raise {"InputError": InputError, "UsageError": UsageError}[raised[1]](raised[2]) from error
        # The last line of a worker's Python traceback says what it was; of Java's, the first.
        chosen = [line for line in lines if not line.startswith(("at ", "...", "File ", "^", "JVM stacktrace"))]
        said = chosen[-1] if "Traceback" in str(error) else chosen[0] if chosen else type(error).__name__
        next_step = f"See the logs of Spark's workers; if memory was short, more {named('partitions')} make smaller tasks."
        raise ResourceError(f"Spark could not finish: {said[:500]}", next_step) from error


class WorkFolder:
    """A new folder below `parent`, on any file system that Spark reaches, which is always deleted afterwards, even after
    errors.

    Without a parent it is in this machine's folder for temporary files, if the workers run here.
    """

    def __init__(self, spark: Any, parent: str | None = None) -> None:
        if parent is None:
            if not is_local(master_of(spark)):
                raise ResourceError(
                    "Spark needs a folder for the stages of a run",
                    f"Name one that all workers can reach with {named('tmp_dir')}: on HDFS, an object store (s3a://…) or a "
                    "shared mount.",
                )
            parent = f"file:{Path(tempfile.gettempdir()).resolve()}"  # Hadoop does not unescape it: no %20
        self._spark = spark
        self._parent = parent

    def __enter__(self) -> str:
        try:
            files, parent = _file_system(self._spark, self._parent)
            self._path = f"{files.makeQualified(parent).toString()}/ibidem-{uuid.uuid4().hex}"
            place = _file_system(self._spark, self._path)[1]
            is_made = files.mkdirs(place)
            only_me = self._spark._jvm.org.apache.hadoop.fs.permission.FsPermission("700")
            files.setPermission(place, only_me)  # it will contain texts
        except _java_errors() as error:
            raise self._refused(error) from error
        if not is_made:
            raise self._refused("it cannot be created")
        return self._path

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            delete(self._spark, self._path)
        except Exception:
            if error is None:  # otherwise Spark may be gone, and the error says why
                raise

    def _refused(self, reason: object) -> ResourceError:
        said = getattr(reason, "java_exception", None)
        reason = said.getMessage() if said is not None else reason
        return ResourceError(
            f"cannot create a folder for the stages of the run in {self._parent}: {reason}",
            f"Name another one with {named('tmp_dir')}, one that all workers can reach.",
        )


def exists(spark: Any, path: str) -> bool:
    """Return whether there is a file or a folder."""
    files, place = _file_system(spark, path)
    return bool(files.exists(place))


def list_files(spark: Any, path: str) -> list[str]:
    """Return the files below a folder, at any depth, or matching a pattern, in order; see `list_sizes`."""
    return list(list_sizes(spark, path))


def list_sizes(spark: Any, path: str) -> dict[str, int]:
    """Return the files below a folder, at any depth, or matching a pattern, in order, with their sizes in bytes.

    Files that Spark hides, whose names begin with _ or a dot, are left out.
    """
    files, place = _file_system(spark, path)
    found: dict[str, int] = {}
    for status in files.globStatus(place) or ():
        walk = files.listFiles(status.getPath(), True)
        while walk.hasNext():
            file = walk.next()
            if not file.getPath().getName().startswith(("_", ".")):
                found[file.getPath().toString()] = int(file.getLen())
    return dict(sorted(found.items()))


def folder_sizes(spark: Any, path: str) -> dict[str, int]:
    """Return the folders in a folder by name, each with the bytes of all files in it."""
    files, place = _file_system(spark, path)
    found = [status.getPath() for status in files.listStatus(place) if status.isDirectory()]
    return {folder.getName(): int(files.getContentSummary(folder).getLength()) for folder in found}


def escaped(path: str) -> str:
    """Return a path escaped for Spark, which would read some characters as patterns."""
    return "".join("\\" + c if c in "*?[]{}\\" else c for c in path)


def rename_parts(spark: Any, folder: str, ending: str, wanted: str) -> None:
    """Give the files of a folder another ending."""
    files, place = _file_system(spark, folder)
    for status in files.listStatus(place):
        path = status.getPath()
        if path.getName().endswith(ending):
            name = path.getName().removesuffix(ending) + wanted
            files.rename(path, spark._jvm.org.apache.hadoop.fs.Path(place, name))


def delete(spark: Any, path: str) -> None:
    """Delete a file, or a folder and everything in it; it need not exist."""
    files, place = _file_system(spark, path)
    files.delete(place, True)


def write_text(spark: Any, path: str, text: str) -> None:
    """Write a file, replacing an existing one."""
    files, place = _file_system(spark, path)
    stream = files.create(place, True)
    try:
        stream.write(bytearray(text.encode()))
    finally:
        stream.close()


def _file_system(spark: Any, path: str) -> tuple[Any, Any]:
    """Return the Hadoop file system of a path or URI, and the path as Hadoop's own."""
    place = spark._jvm.org.apache.hadoop.fs.Path(path)
    return place.getFileSystem(spark._jsc.hadoopConfiguration()), place


def _java_errors() -> tuple[type[BaseException], ...]:
    from py4j.protocol import Py4JError

    return (Py4JError,)
