"""What the Spark engine needs is found, or the error says what to do; and nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ibidem.errors import ResourceError
from ibidem.execution.spark import session
from ibidem.execution.spark.session import SessionSettings, WorkFolder, check_pyspark, find_java, own_session

RECORDS = "spark.sql.execution.arrow.maxRecordsPerBatch"
ADAPTIVE = "spark.sql.adaptive.enabled"


def put_java(home: Path, says: str, exit_code: int = 0) -> Path:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit {exit_code}\n", "utf-8")
    java.chmod(0o755)
    return java


@pytest.mark.parametrize("says", ['openjdk version "17.0.15" 2025-04-15', 'java version "21"', 'openjdk version "25-ea"', "hm"])
def test_java_is_found_in_its_home_and_else_in_the_path(says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_home, in_path = put_java(tmp_path / "home", says), put_java(tmp_path / "other", says)
    monkeypatch.setenv("PATH", f"{in_path.parent}:/bin")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert find_java() == str(at_home)
    monkeypatch.delenv("JAVA_HOME")
    assert find_java() == str(in_path)


@pytest.mark.parametrize("says", ['openjdk version "11.0.2"', 'java version "1.8.0_292"'])
def test_an_old_java_is_refused(says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_java(tmp_path, says)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ResourceError, match=r"Java 17 or newer, but .* is Java (11|8)\nInstall a Java runtime 17") as caught:
        find_java()
    assert "default-jre-headless" in caught.value.next_step


def test_without_java_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nothing"))
    with pytest.raises(ResourceError, match=r"none in JAVA_HOME .*nothing"):
        find_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ResourceError, match="none in PATH\nInstall a Java runtime 17 or newer") as caught:
        find_java()
    assert caught.value.exit_code == 5
    put_java(tmp_path, "broken", exit_code=1)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(ResourceError, match="does not run"):
        find_java()


@pytest.mark.parametrize("package", ["pyspark", "pandas"])
def test_without_pyspark_the_error_says_what_to_install(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ResourceError, match="ibidem\\[spark\\]"):
        check_pyspark()


def test_an_old_pyspark_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(__version__="3.5.1"))
    with pytest.raises(ResourceError, match=r"needs PySpark 4, but this is 3\.5\.1"):
        check_pyspark()


def test_what_an_installation_says_is_not_overridden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)

    def configured() -> tuple[str | None, str | None]:
        return session._configured("spark.master", "--master"), session._configured("spark.driver.memory", "--driver-memory")

    assert configured() == (None, None)
    (tmp_path / "conf").mkdir()
    defaults = "# spark.master spark://elsewhere\nspark.master   yarn  \nspark.driver.memory=3g\n"
    (tmp_path / "conf" / "spark-defaults.conf").write_text(defaults, "utf-8")
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert configured() == ("yarn", "3g")
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--master k8s://one --conf spark.driver.memory=5g pyspark-shell")
    assert configured() == ("k8s://one", "5g")


def test_a_session_that_is_there_is_taken(spark: Any) -> None:
    assert own_session({}, workers=7).sparkContext is spark.sparkContext
    assert session.master_of(spark) == "local[2]"


SCRIPT = """
from ibidem.execution.spark.session import own_session
spark = own_session({"spark.custom": "ours"}, workers=1)
context = spark.sparkContext
rows = spark.range(3).mapInArrow(lambda batches: batches, "id long").count()
print(context.master, context.appName, context.getConf().get("spark.ui.enabled"), spark.conf.get("spark.custom"), rows)
print(context.getConf().get("spark.driver.memory"))
"""


def run(command: list[str], **environment: str) -> tuple[list[str], str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK_", "SPARK_"))}
    done = subprocess.run(command, env={**kept, **environment}, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-2:], done.stderr


def test_a_session_on_this_machine_is_quiet_and_has_half_of_the_memory(spark: Any, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, "utf-8")
    said, errors = run([sys.executable, str(script)])
    assert said == ["local[1] ibidem false ours 3", f"{session.machine_memory() // 2 >> 20}m"]
    # Java itself says that Spark uses one of its new modules.
    assert [line for line in errors.splitlines() if "incubator modules" not in line] == []


def test_what_spark_submit_was_given_holds(spark: Any, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, "utf-8")
    submit = Path(sys.executable).with_name("spark-submit")
    if not submit.exists():
        pytest.skip("no spark-submit beside this Python")
    given = ["--master", "local[2]", "--name", "given", "--driver-memory", "700m", "--conf", "spark.ui.enabled=false"]
    said, _ = run([str(submit), *given, str(script)], PYSPARK_PYTHON=sys.executable)
    assert said == ["local[2] given false ours 3", "700m"]


def test_settings_are_restored_whatever_happens(spark: Any) -> None:
    spark.conf.set(ADAPTIVE, "false")
    before = spark.conf.get(RECORDS)
    try:
        with SessionSettings(spark):
            assert (spark.conf.get(ADAPTIVE), spark.conf.get(RECORDS)) == ("true", "1000")
        assert (spark.conf.get(ADAPTIVE), spark.conf.get(RECORDS)) == ("false", before)
        with pytest.raises(ZeroDivisionError), SessionSettings(spark):
            1 / 0  # noqa: B018
        assert (spark.conf.get(ADAPTIVE), spark.conf.get(RECORDS)) == ("false", before)
        assert spark.conf.get(RECORDS, None) is None  # not only the same value, but not set
    finally:
        spark.conf.unset(ADAPTIVE)


def test_batches_stay_small_though_rows_are_large(spark: Any) -> None:
    def count(batches: Any) -> Any:
        import pyarrow as pa

        yield from (pa.RecordBatch.from_pydict({"n": [batch.num_rows]}) for batch in batches)

    rows = spark.range(0, 30, 1, 1).selectExpr("cast(repeat('x', 4000000) as binary) as payload")
    with SessionSettings(spark):
        counts = [row.n for row in rows.mapInArrow(count, "n long").collect()]
    assert sum(counts) == 30
    assert max(counts) < 10


def test_the_work_folder_is_there_while_it_is_needed(spark: Any, tmp_path: Path) -> None:
    parent = tmp_path / "not yet there, and with spaces"
    with WorkFolder(spark, str(parent)) as one, WorkFolder(spark, f"file:{parent}") as other:
        assert one != other
        assert len(list(parent.iterdir())) == 2
        spark.range(3).write.parquet(f"{one}/stage")
        assert spark.read.parquet(f"{one}/stage").count() == 3
    assert list(parent.iterdir()) == []
    with pytest.raises(ZeroDivisionError), WorkFolder(spark, str(parent)):
        1 / len([path for path in parent.iterdir() if path.is_file()])
    assert list(parent.iterdir()) == []


def test_the_work_folder_of_this_machine_needs_no_name(spark: Any) -> None:
    with WorkFolder(spark) as folder:
        assert Path(folder.removeprefix("file:")).parent == Path(tempfile.gettempdir()).resolve()
    assert not session.exists(spark, folder)


def test_the_work_folder_of_a_cluster_needs_a_name() -> None:
    with pytest.raises(ResourceError, match="tmp_dir"):
        WorkFolder(SimpleNamespace(sparkContext=SimpleNamespace(master="yarn")))


@pytest.mark.parametrize("parent", ["nowhere://bucket/folder", "/dev/null/folder"])
def test_a_place_that_cannot_be_written_is_named(spark: Any, parent: str) -> None:
    with (
        pytest.raises(ResourceError, match=f"cannot create a folder .* in {parent}: .*\n.*tmp_dir"),
        WorkFolder(spark, parent),
    ):
        pass


def test_files_on_any_file_system(spark: Any, tmp_path: Path) -> None:
    folder = f"file:{tmp_path}"
    session.write_text(spark, f"{folder}/out/run.json", '{"é": 1}')
    session.write_text(spark, f"{folder}/out/run.json", '{"é": 2}')
    session.write_text(spark, f"{folder}/out/table/part-1", "")
    session.write_text(spark, f"{folder}/out/table/_SUCCESS", "")
    assert (tmp_path / "out" / "run.json").read_text("utf-8") == '{"é": 2}'
    names = [path.rsplit("/out/", 1)[1] for path in session.list_files(spark, f"{folder}/out")]
    assert names == ["run.json", "table/part-1"]
    assert session.exists(spark, f"{folder}/out/table")
    session.delete(spark, f"{folder}/out")
    session.delete(spark, f"{folder}/out")
    assert not session.exists(spark, f"{folder}/out/run.json")
