"""Files of an index: damaged in every way that disks and people damage files, then opened, asked, verified and changed."""

from __future__ import annotations

import json
import shutil
import struct
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzz.targets import Target
from ibidem.errors import IbidemError, IndexDamagedError
from ibidem.index.array_files import FORMAT_VERSION, MAGIC, check_arrays, map_arrays
from ibidem.index.index import Index
from tests.index_faults import Texts, make_script, records

FOREIGN = {"notes.txt": b"not of the index", "segment.ibi.txt": b"nor this"}
_NEW: Texts = {"new/1": (900, 3, 901), "new/2": (902, 903, 904)}


class Sound:
    """An index in order: its files, and what it answers in each state that it can be brought to."""

    def __init__(self) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="fuzz-index-")
        self.root = Path(self._scratch.name)
        self.folder = self.root / "index"
        known: Texts = {}
        with Index(self.folder) as index:
            for step in make_script(5, ("add", "add", "replace", "add", "remove", "add", "add", "remove")):
                step.run(index)
                known = step.states(known)[-1]
        for name, content in FOREIGN.items():
            (self.folder / name).write_bytes(content)
        (self.root / "beside").write_bytes(b"outside")
        self.texts = known
        self.removed = sorted(known)[0]
        self.files = {path.name: path.read_bytes() for path in sorted(self.folder.iterdir()) if path.name != "lock"}
        with Index(self.folder, create=False) as index:
            state = index._catalog.state()
        # Not by their names, which are made up again each time: a case has to mean the same again.
        self.names = ["catalog.sqlite", *(entry.name for entry in state.segments), str(state.vocabulary)]
        self.asked = records({f"?{name}": numbers for name, numbers in {**known, **_NEW}.items()})
        self.answers: dict[str, Any] = {}
        for name, change in CHANGES.items():
            with Index(self.folder, create=False) as index:
                change(index, self)
            self.answers[name] = self.ask()
            self.restore()

    def restore(self) -> None:
        """Put all files back as they were."""
        for path in self.folder.iterdir():
            if path.name not in self.files:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        for name, content in self.files.items():
            path = self.folder / name
            if not path.is_file() or path.read_bytes() != content:
                path.write_bytes(content)

    def ask(self) -> Any:
        """Return all that can be asked, in an order of its own: ids, hits and passages."""
        with Index(self.folder, create=False) as index:
            result = index.query(self.asked)
            ids = sorted(index._catalog.ids())
            return len(index), ids, *(sorted(map(str, table.to_pylist())) for table in (result.hits, result.passages))

    def verify(self) -> list[str]:
        """Return what the index itself finds wrong."""
        with Index(self.folder, create=False) as index:
            return index.verify()


CHANGES: dict[str, Callable[[Index, Sound], Any]] = {
    "none": lambda index, sound: None,
    "add": lambda index, sound: index.add(records(_NEW)),
    "remove": lambda index, sound: index.remove(sound.removed),
    "compact": lambda index, sound: index.compact(),
    "recount": lambda index, sound: index.compact(recount=True),
    "watch": lambda index, sound: list(index.watch(records(_NEW))),
}
_sound: list[Sound] = []


def check(data: bytes) -> str:
    """Damage an index as the bytes say, or take them for the header of a file; see what comes of it."""
    if not _sound:
        _sound.append(Sound())
    if data[:1] == b"{":
        return _check_header(data, _sound[0].root / "header.ibi")
    sound = _sound[0]
    sound.restore()
    change = list(CHANGES)[data[0] % len(CHANGES)] if data else "none"
    damaged = _damage(sound, data[1:])
    catalog = _catalog(sound)
    outcome = _check_index(sound, change)
    for name, content in FOREIGN.items():
        if name not in damaged and (sound.folder / name).read_bytes() != content:
            raise AssertionError("a file that is not of the index has changed")
    if (sound.root / "beside").read_bytes() != b"outside" or len(list(sound.root.iterdir())) > 3:
        raise AssertionError("something outside of the index has changed")
    if "refused" in outcome and _catalog(sound) == catalog:
        _check_restored(sound, damaged)
    return f"{change} {outcome}"


def _check_index(sound: Sound, change: str) -> str:
    """Make a change, ask and verify: what is answered has to be right, unless verifying says that something is wrong."""
    changed = "changed"
    try:
        with Index(sound.folder, create=False) as index:
            CHANGES[change](index, sound)
    except IbidemError as error:
        _check_error(error)
        changed = f"refused by {type(error).__name__} {_words(error.message)}"
    answers, told = None, "asked"
    try:
        answers = sound.ask()
    except IbidemError as error:
        _check_error(error)
        told = f"{type(error).__name__} {_words(error.message)}"
    try:
        problems = sound.verify()
    except IbidemError as error:
        _check_error(error)
        problems = [error.message]
    if answers is None and not problems:
        raise AssertionError(f"verified, but not to be asked: {told}")
    if answers is not None and not problems:
        states = [change, "none"] if changed != "changed" else [change]
        if answers not in [sound.answers[state] for state in states]:
            raise AssertionError("a wrong answer, and nothing found by verifying")
    return f"{changed}, {told}" if not problems else f"found: {changed}, {told}, {_words(problems[0])}"


def _catalog(sound: Sound) -> bytes | None:
    path = sound.folder / "catalog.sqlite"
    return path.read_bytes() if path.is_file() else None


def _check_restored(sound: Sound, damaged: set[str]) -> None:
    """Check that a change that was refused has cost nothing: with the damaged files from a backup, the index is what it was."""
    for name in damaged:
        (sound.folder / name).write_bytes(sound.files[name])
    for path in sound.folder.glob("*-journal"):
        path.unlink()
    if missing := [name for name in sound.names if not (sound.folder / name).is_file()]:
        raise AssertionError(f"sound files were deleted: {missing}")
    if sound.verify() or sound.ask() != sound.answers["none"]:
        raise AssertionError("not as it was before, with the damaged files from a backup")


def _check_error(error: IbidemError) -> None:
    if not error.message or not error.next_step:
        raise AssertionError(f"an error that does not say what to do: {error}")


def _words(message: str) -> str:
    """Return the words of a message without names and numbers."""
    return " ".join(word for word in message.split() if word.isalpha())[:60]


def _damage(sound: Sound, script: bytes) -> set[str]:
    """Do to the files what the bytes say, six for each step; return the names of those that were touched."""
    damaged = set()
    for start in range(0, max(6, len(script) - 5), 6):
        what, which, high, low, value, length = (script[start : start + 6] + bytes(6))[:6]
        name, other = sound.names[which % len(sound.names)], sound.names[value % len(sound.names)]
        path = sound.folder / name
        damaged.add(name)
        content = bytearray(path.read_bytes()) if path.is_file() else bytearray()
        place = min(len(content), (high << 8 | low) * (1 + (what >> 4)))
        step = what & 15
        if step <= 3 and place < len(content):
            content[place] ^= 1 << (value & 7)
        elif step == 4:
            content[place : place + length] = bytes([value]) * length
        elif step == 5:
            del content[place:]
        elif step == 6:
            del content[place : place + length]
        elif step == 7:
            content[place:place] = bytes([value]) * length
        elif step == 8:
            content += bytes([value]) * length
        elif step == 9:
            content[place : place + 512] = sound.files[other][place : place + 512]
        elif step == 10:
            content = bytearray(sound.files[other])
        elif step == 11:
            (sound.folder / other).write_bytes(content)
            damaged.add(other)
            content = bytearray(sound.files[other])
        elif step == 12:
            path.unlink(missing_ok=True)
            continue
        elif step == 13:
            (sound.folder / f"{name}-journal").write_bytes(content[:length])
            continue
        elif step == 14:
            content = bytearray()
        else:
            (sound.folder / "lock").write_bytes(script[:100])
            continue
        path.unlink(missing_ok=True)
        path.write_bytes(content)
    return damaged


def _check_header(header: bytes, path: Path) -> str:
    """Check a file whose header is these bytes, with a checksum that is right."""
    start_bytes = -(-(32 + len(header)) // 64) * 64
    padding = bytes(start_bytes - 32 - len(header))
    arrays = bytes(range(256)) * 4
    lengths = struct.pack("<QQ", len(header), start_bytes + len(arrays))
    crc32 = zlib.crc32(lengths + header + padding)
    path.write_bytes(struct.pack("<8sII", MAGIC, FORMAT_VERSION, crc32) + lengths + header + padding + arrays)
    outcomes = []
    for read in (map_arrays, check_arrays):
        try:
            read(path)
            outcomes.append("read")
        except IndexDamagedError as error:
            outcomes.append(_words(error.message))
    path.unlink()
    return f"header {outcomes}"


def seeds() -> list[bytes]:
    """Return damage of every kind to every file, under every change."""
    entry = {"name": "a", "dtype": "<i8", "length": 4, "offset": 0, "crc32": zlib.crc32(bytes(range(32)))}
    other = {**entry, "name": "b", "offset": 64, "dtype": "|u1"}
    headers = [{"arrays": [entry], "about": {}}, {"arrays": [entry, other], "about": {"x": 1}, "name": "header.ibi"}]
    steps = [
        bytes([change, what | scale << 4, which, 0, 20 * scale, 3, 20])
        for change in range(len(CHANGES))
        for what in range(16)
        for which, scale in ((0, 0), (1, 3), (2, 9), (4, 1))
    ]
    return [json.dumps(header).encode() for header in headers] + steps + [b"", b"\x00\x0f"]


_HEADER_PIECES = (
    b'"arrays"', b'"about"', b'"name"', b'"dtype"', b'"<f8"', b'"|O"', b'"<M8[s]"', b'"(2,)i4"', b'"i4,i4"', b'"length"',
    b'"offset"', b"-1", b"null", b"[]", b"{}", b"1e400", b"9" * 25,
)  # fmt: skip
TARGET = Target(check, seeds, (*_HEADER_PIECES, *(bytes([step]) for step in range(16))), max_bytes=400, max_seconds=20)
