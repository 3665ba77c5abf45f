"""Stored results, damaged, and what `ibidem report` and `ibidem eval` make of them."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import ibidem
from fuzz.targets import Target
from ibidem.errors import IbidemError
from ibidem.evaluation.file_scores import evaluation_record, evaluation_rows
from ibidem.evaluation.passage_scores import evaluate_passages
from ibidem.evaluation.truth_files import read_passages
from ibidem.viewer.material import material_of_folder, read_run
from ibidem.viewer.report import MOST_PAIRS, report_data
from ibidem.viewer.store_cache import passing_views
from tests.texts import text

FORMATS = ("jsonl", "csv", "parquet")
PIECES = (
    b"null", b"[]", b"{}", b"-1", b"0", b"1e400", b"NaN", b"true", b'""', b'"a_id"', b"a_id", b"b_start", b'"inputs"',
    b'"settings"', b'"documents"', b'"folder"', b'"path"',
    b'"kind"', b"exact", b'"\\ud800"', b"\\u0000", b"\x00", b"\xff", b"\n", b",", b'"', b"]", b"}", b"[", b"{", b"9" * 25,
    b"2024-05-01T00:00:00Z", b"../", b"d1", b"PAR1",
)  # fmt: skip


class Stored:
    """Results of a small collection in every format, to be damaged file by file."""

    def __init__(self) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="fuzz-results-")
        self.root = Path(self._scratch.name)
        inputs = self.root / "documents.jsonl"
        records = [
            {"id": "d0", "text": text(1, 2, 3, 4, 5), "time": "2024-05-01", "title": "One", "group": "x"},
            {"id": "d1", "text": text(9, 1, 2, 3, 4), "time": "2024-05-02", "group": "y"},
            {"id": "d2", "text": text(3, 4, 5, 11)},
            {"id": "d3", "text": ""},
        ]
        inputs.write_text("\n".join(map(json.dumps, records)))
        self.files: list[tuple[str, str, bytes]] = []
        for kind in FORMATS:
            folder = self.root / kind
            ibidem.find(str(inputs)).write(folder, format=kind, keep_text=True)
            self.files += [(kind, path.name, path.read_bytes()) for path in sorted(folder.iterdir())]


_stored: list[Stored] = []


def _sound() -> Stored:
    if not _stored:
        _stored.append(Stored())
    return _stored[0]


def seeds() -> list[bytes]:
    """Return every file of the results, as it is."""
    return [bytes([number]) + content for number, (_, _, content) in enumerate(_sound().files)]


def check(data: bytes) -> str:
    """Put what follows the first byte in the place of a file of results, which that byte chooses; report and evaluate."""
    stored = _sound()
    kind, name, content = stored.files[data[0] % len(stored.files) if data else 0]
    folder = stored.root / kind
    (folder / name).write_bytes(data[1:])
    outcomes = []
    try:
        for act in (_report, _evaluate):
            try:
                outcomes.append(act(folder))
            except IbidemError as error:
                if not str(error).strip():
                    raise AssertionError("an error that says nothing") from error
                str(error).encode("utf-8")
                outcomes.append(" ".join(word for word in error.message.split() if word.isalpha())[:60])
    finally:
        (folder / name).write_bytes(content)
    return f"{kind} {name} {outcomes}"


def _report(folder: Path) -> str:
    """Put together what the page holds, but not the page, which takes long and knows nothing of the results."""
    read_run(folder)
    with passing_views(material_of_folder(folder)) as store:
        data = report_data(store, None, MOST_PAIRS)
    json.dumps(data).encode("utf-8")
    return f"reported {sorted(entry['what'] for entry in data['summary']['left_out'])}"


def _evaluate(folder: Path) -> str:
    found = read_passages(folder)
    evaluation = evaluate_passages(found, found, None, n_samples=0)
    json.dumps(evaluation_record(evaluation), ensure_ascii=False).encode("utf-8")
    evaluation_rows(evaluation)
    return "evaluated"


TARGET = Target(check, seeds, PIECES, max_bytes=16_384)
