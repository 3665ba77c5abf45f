"""Every verb on inputs elsewhere gives what it gives on the same files here; results may be written elsewhere too."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ibidem
from ibidem.formats import remote_files
from tests.cli.test_find import Run, said, write_jsonl
from tests.execution.random_collections import random_records
from tests.remote.web_server import Site

pytest.importorskip("s3fs")  # of the extra `remote`
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
STORY = (
    "The lighthouse was built in 1871 by two brothers who had never seen the sea before they came to this coast. They cut "
    "the stones by hand, one after the other, and it took them eleven years until the lamp was lit for the first time."
)
SEED = ("--hash-seed", "7")


@pytest.fixture
def bucket(s3: tuple[Any, str], tmp_path: Path) -> str:
    """A bucket with two collections, which are also in the current folder."""
    system, name = s3
    for file, seed, prefix in (("news.jsonl", 3, "d"), ("others.jsonl", 5, "e")):
        records = random_records(seed, 14, prefix)
        write_jsonl(tmp_path / file, [*records, {**records[0], "id": f"{prefix}-copy"}])
        system.put_file(str(tmp_path / file), f"{name}/in/{file}")
    return f"s3://{name}"


def rows(path: Path) -> list[str]:
    return sorted(path.read_text("utf-8").splitlines())


def fetched(s3: tuple[Any, str], place: str, folder: Path) -> Path:
    system, bucket = s3
    system.get(f"{bucket}/{place}", str(folder), recursive=True)
    return folder


@pytest.mark.parametrize("parts", [(), ("--partitions", "3")])
def test_find_from_there_to_there(run: Run, bucket: str, s3: tuple[Any, str], tmp_path: Path, parts: tuple[str, ...]) -> None:
    options = (*SEED, "--format", "jsonl", *parts)
    said(run("find", "news.jsonl", "--against", "others.jsonl", "-o", "here", *options), 0)
    there = ("find", f"{bucket}/in/news.jsonl", "--against", f"{bucket}/in/others.jsonl", "-o", f"{bucket}/out", *options)
    answer = run(*there, "--report")
    said(answer, 0, f"results: {bucket}/out", f"report: {bucket}/out/report.html")
    out = fetched(s3, "out", tmp_path / "there")
    assert {path.name for path in out.iterdir()} == {path.name for path in (tmp_path / "here").iterdir()} | {"report.html"}
    assert rows(out / "passages.jsonl") == rows(tmp_path / "here" / "passages.jsonl")
    assert rows(out / "passages.jsonl")
    described = json.loads((out / "run.json").read_text())
    assert [each["path"] for each in described["inputs"]] == [f"{bucket}/in/news.jsonl", f"{bucket}/in/others.jsonl"]
    assert all(each["version"] and each["bytes"] for each in described["inputs"])
    assert not any("do-not-tell" in path.read_text() for path in out.iterdir())
    said(run(*there), 2, f"{bucket}/out already contains results", "--overwrite")
    said(run(*there, "--overwrite", "--families"), 0)
    assert "families.jsonl" in {path.name for path in fetched(s3, "out", tmp_path / "again").iterdir()}
    s3[0].pipe(f"{s3[1]}/mine/notes.txt", b"mine")
    said(run("find", f"{bucket}/in", "-o", f"{bucket}/mine", "--overwrite"), 2, "contains files that are not results of ibidem")
    assert s3[0].cat(f"{s3[1]}/mine/notes.txt") == b"mine"


def test_cluster_and_stale_results(run: Run, bucket: str, s3: tuple[Any, str], tmp_path: Path) -> None:
    said(run("cluster", f"{bucket}/in/*.jsonl", "-o", f"{bucket}/out", "--format", "csv"), 0, f"results: {bucket}/out")
    said(run("find", f"{bucket}/in", "-o", f"{bucket}/out", "--overwrite"), 0)
    names = {path.name for path in fetched(s3, "out", tmp_path / "there").iterdir()}
    assert names == {"passages.parquet", "documents.parquet", "repeats.parquet", "run.json", "skipped.jsonl"}


@pytest.mark.parametrize("level", ["document", "passage"])
def test_cleaned_copies(run: Run, bucket: str, s3: tuple[Any, str], tmp_path: Path, level: str) -> None:
    said(run("dedup", "news.jsonl", "others.jsonl", "-o", "here", "--level", level), 0)
    there = ("dedup", f"{bucket}/in", "-o", f"{bucket}/clean", "--level", level)
    said(run(*there), 0, f"cleaned collection: {bucket}/clean")
    out = fetched(s3, "clean", tmp_path / "there")
    for name in ("news.jsonl", "others.jsonl", "removed.jsonl"):
        ours = (out / name).read_text().replace(f"{bucket}/in/", "")
        assert ours == (tmp_path / "here" / name).read_text()
    assert (out / "removed.jsonl").read_bytes()
    said(run(*there), 2, f"{bucket}/clean already contains results")
    said(run(*there, "--overwrite"), 0)
    said(run("dedup", f"{bucket}/clean/news.jsonl", "-o", f"{bucket}/clean", "--overwrite"), 2, "inputs are among the results")
    said(run("find", f"{bucket}/clean", "-o", "found"), 0)  # a cleaned collection is read, and not the tables beside it
    described = json.loads((tmp_path / "found" / "run.json").read_text())
    assert [each["path"] for each in described["inputs"]] == [f"{bucket}/clean/news.jsonl", f"{bucket}/clean/others.jsonl"]


def test_an_input_that_changes_before_its_copy_is_written(bucket: str, s3: tuple[Any, str]) -> None:
    system, name = s3
    result = ibidem.dedup(f"{bucket}/in", level="document")
    system.pipe(f"{name}/in/news.jsonl", b'{"id": "new", "text": "Something else."}\n')
    with pytest.raises(ibidem.InputError, match=f"{bucket}/in/news.jsonl changed after it was read"):
        result.write(f"{bucket}/clean")
    assert not system.exists(f"{name}/clean")


def test_index_and_compare(run: Run, bucket: str, s3: tuple[Any, str], tmp_path: Path) -> None:
    said(run("index", "add", "news.idx", f"{bucket}/in/news.jsonl", *SEED), 0)
    said(run("index", "query", "news.idx", f"{bucket}/in/others.jsonl", "-o", f"{bucket}/answers"), 0, f"{bucket}/answers")
    said(run("index", "query", "news.idx", "others.jsonl", "-o", "here"), 0)
    there = fetched(s3, "answers", tmp_path / "there")
    assert (there / "hits.parquet").read_bytes() == (tmp_path / "here" / "hits.parquet").read_bytes()
    system, name = s3
    system.pipe(f"{name}/a.txt", f"It is said: {STORY}".encode())
    system.pipe(f"{name}/b.txt", f"Others tell it so. {STORY}".encode())
    answer = run("compare", f"{bucket}/a.txt", f"{bucket}/b.txt", "--format", "jsonl")
    assert answer.code == 0, answer.err
    assert "lighthouse" in answer.out


def test_a_run_is_resumed_if_its_inputs_are_the_same(
    run: Run, bucket: str, s3: tuple[Any, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from ibidem import pipeline

    command = ("find", f"{bucket}/in", "-o", "out", "--partitions", "3", *SEED)
    original = pipeline.find_passages

    def killed(*arguments: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline, "find_passages", killed)
    assert run(*command, "--resume").code == 130
    monkeypatch.setattr(pipeline, "find_passages", original)
    answer = run(*command, "--resume")
    said(answer, 0, "continuing after")
    assert (tmp_path / "out" / "passages.parquet").exists()
    monkeypatch.setattr(pipeline, "find_passages", killed)
    assert run(*command, "--overwrite", "--resume").code == 130
    monkeypatch.setattr(pipeline, "find_passages", original)
    s3[0].pipe(f"{s3[1]}/in/news.jsonl", s3[0].cat(f"{s3[1]}/in/news.jsonl").replace(b"a", b"o"))  # of the same size
    said(run(*command, "--resume"), 2, f"inputs are not the same ({bucket}/in/news.jsonl has changed)")


def test_what_cannot_be_done_elsewhere_is_said_at_once(run: Run, bucket: str, site: Site) -> None:
    said(run("find", f"{bucket}/in", "-o", f"{bucket}/out", "--resume"), 2, "--resume needs a local folder")
    said(run("find", f"{bucket}/in", "-o", site.address), 2, "is on a web server, where ibidem cannot write")
    said(run("find", f"{bucket}/in", "-o", "file:///tmp/out"), 2, "give the path without file://")
    said(run("find", f"{bucket}/in", "-o", f"{bucket}x/out"), 3, f"{bucket}x/out")
    site.has_sizes, site.files = False, {"/n.jsonl": b'{"text": "One."}\n'}
    site.versions = {"/n.jsonl": ""}
    told = f"a run on {site.address}/n.jsonl cannot be resumed: ibidem cannot tell whether it has changed"
    said(run("find", f"{site.address}/n.jsonl", "-o", "out", "--resume"), 2, told)


def test_results_that_cannot_be_sent_are_not_lost(
    run: Run, bucket: str, monkeypatch: pytest.MonkeyPatch, s3: tuple[Any, str]
) -> None:
    def refused(*arguments: Any, **options: Any) -> None:
        raise PermissionError("no")

    monkeypatch.setattr(s3[0], "put_file", refused)
    answer = run("find", f"{bucket}/in", "-o", f"{bucket}/out", "--format", "jsonl")
    said(answer, 5, f"no access to {bucket}/out/", "; the results are in ")
    place = re.search(r"the results are in (\S+)", answer.err)
    assert place is not None
    assert {path.name for path in Path(place[1]).iterdir()} >= {"passages.jsonl", "run.json"}


def test_a_report_reads_texts_there_again(run: Run, bucket: str, s3: tuple[Any, str], tmp_path: Path) -> None:
    said(run("find", f"{bucket}/in", "-o", "out"), 0)
    said(run("report", "out"), 0)
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000
    s3[0].pipe(f"{s3[1]}/in/news.jsonl", b'{"id": "new", "text": "Something else."}\n')
    said(run("report", "out", "--overwrite"), 0, f"{bucket}/in/news.jsonl")


def test_python(memory: Any, tmp_path: Path) -> None:
    for seed, name in ((3, "a"), (5, "b")):
        write_jsonl(tmp_path / f"{name}.jsonl", random_records(seed, 10, name))
        memory.put_file(str(tmp_path / f"{name}.jsonl"), f"/c/{name}.jsonl")
    result = ibidem.find(["memory://c/a.jsonl", "memory://c/b.jsonl"])
    assert len(result) == len(ibidem.find([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])) > 0
    assert result.write("memory://found") == []
    result.to_html("memory://found/report.html")
    assert set(remote_files.names_under("memory://found")) == {
        "documents.parquet", "passages.parquet", "repeats.parquet", "report.html", "run.json", "skipped.jsonl",
    }  # fmt: skip


def test_no_input_is_among_the_files_that_results_replace(run: Run, memory: Any, tmp_path: Path) -> None:
    text = "".join(json.dumps({"id": name, "text": STORY}) + "\n" for name in "ab")
    memory.pipe("/in/a.jsonl", text.encode())
    said(run("dedup", "memory://in", "-o", "memory://clean", *SEED), 0)
    memory.pipe("/clean/b.jsonl", text.encode())
    before = {name: memory.cat(name) for name in memory.find("/clean")}
    for name in ("memory:///clean/a.jsonl", "MEMORY://clean/a.jsonl", "memory://clean/b.jsonl"):
        said(run("dedup", name, "-o", "memory://clean", "--overwrite"), 2, "inputs are among the results in memory://clean")
    assert {name: memory.cat(name) for name in memory.find("/clean")} == before
    memory.pipe("/out/documents.jsonl", text.encode())
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "documents.jsonl").write_text(text, "utf-8")
    for place in ("memory:///out", "out"):
        given = f"{place}/documents.jsonl"
        for inputs in ((given,), ("memory://in", "--against", given)):
            said(run("find", *inputs, "-o", place.replace(":///", "://"), "--overwrite"), 2, "inputs are among the results in")
    assert memory.cat("/out/documents.jsonl") == (tmp_path / "out" / "documents.jsonl").read_bytes() == text.encode()


def test_the_commands_of_the_page(run: Run, s3: tuple[Any, str], site: Site, tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "operations" / "remote-data.md"
    commands = re.findall(r"^ibidem (\w+ .*://.+)$", page.read_text("utf-8"), re.MULTILINE)
    system, bucket = s3
    records = random_records(3, 8, "d")
    lines = "".join(json.dumps(record) + "\n" for record in records).encode()
    for name in ("crawl/2031/a.jsonl", "scans/a.jsonl", "train/a.jsonl"):
        system.pipe_file(f"{bucket}/{name}", lines)
    dates = "".join(f"{record['id']},2031-05-04\n" for record in records)
    system.pipe_file(f"{bucket}/scans/dates.csv", f"id,time\n{dates}".encode())
    table = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(records), table)
    system.pipe_file(f"{bucket}/archive/a.parquet", table.getvalue().to_pybytes())
    site.files = {"/news.jsonl.gz": gzip.compress(lines)}
    (tmp_path / "today.jsonl").write_bytes(lines)
    assert len(commands) == 5
    for number, command in enumerate(commands):
        here = command.replace("hf://datasets/someone/corpus/train", "s3://train").replace("https://example.org", site.address)
        words = shlex.split(here.replace("s3://", f"s3://{bucket}/"))
        words = [word if word != "out" else f"out{number}" for word in words]
        said(run(*words), 0)
    assert system.exists(f"{bucket}/results/today/run.json")
    assert system.exists(f"{bucket}/corpus/clean/a.jsonl")
