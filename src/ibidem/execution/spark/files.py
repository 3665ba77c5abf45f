"""The output folder on any file system: whether results may be written there, and how each table is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ibidem.config.surface import in_shell
from ibidem.errors import OutputExistsError
from ibidem.execution.output_folder import RESULT_NAMES, check_output, clear_output, to_replace
from ibidem.execution.spark.readers import without_scheme
from ibidem.execution.spark.session import delete, exists, list_files, spark_errors, write_text

# What readers of JSON and CSV other than Spark's expect.
_AS_OTHERS_READ = {
    "header": True,
    "ignoreNullFields": False,
    "escape": '"',
    "ignoreLeadingWhiteSpace": False,
    "ignoreTrailingWhiteSpace": False,
    "emptyValue": "",
}


def check_spark_output(spark: Any, folder: str, overwrite: bool) -> None:
    """Raise unless results may be written to the folder, on any file system."""
    with spark_errors():
        if (path := local_path(folder)) is not None:
            check_output(path, overwrite)
        elif exists(spark, folder) and list_files(spark, folder):
            if not exists(spark, f"{folder}/run.json"):
                raise OutputExistsError(
                    f"{folder} contains files that are not results of ibidem", f"Give another folder{in_shell(' with -o')}."
                )
            if not overwrite:
                raise OutputExistsError(f"{folder} already contains results", to_replace())


def clear_spark_output(spark: Any, folder: str) -> None:
    """Remove the results in a folder, on any file system."""
    if (path := local_path(folder)) is not None:
        clear_output(path)
    else:
        for name in RESULT_NAMES:
            delete(spark, f"{folder}/{name}")


def local_path(folder: str) -> Path | None:
    """Return the path of a local folder, or None for another file system."""
    plain = without_scheme(folder)
    return None if "://" in plain else Path(plain)


def uri_of(folder: str) -> str:
    """Return a folder as a URI that names its file system."""
    local = local_path(folder)
    return folder if local is None else f"file:{local.resolve()}"


def write_frame(frame: Any, folder: str, name: str, table_format: str) -> None:
    """Write a table into a folder, as a folder of parts: NAME.parquet, NAME.jsonl or NAME.csv."""
    writer = (_flat(frame) if table_format == "csv" else frame).write.options(**_AS_OTHERS_READ)
    path = f"{folder}/{name}.{table_format}"
    {"parquet": writer.parquet, "jsonl": writer.json, "csv": writer.csv}[table_format](path)


def write_file(spark: Any, folder: str, name: str, text: str) -> None:
    """Write a file of text into a folder."""
    local = local_path(folder)
    if local is None:
        write_text(spark, f"{folder}/{name}", text)
    else:
        (local / name).write_text(text, encoding="utf-8")


def _flat(frame: Any) -> Any:
    """Return a frame without nested columns: in CSV they are stored as JSON."""
    from pyspark.sql import functions

    nested = [field.name for field in frame.schema.fields if field.dataType.typeName() in ("array", "struct")]
    return frame.withColumns({name: functions.to_json(name) for name in nested}) if nested else frame
