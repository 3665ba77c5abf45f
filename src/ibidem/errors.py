"""What can go wrong, as one tree; each error has an exit code and says what to do next.

IbidemError                      1
├── UsageError                   2   the call itself
│   ├── SettingsError                invalid settings, all of them at once
│   └── OutputExistsError            the output folder already contains results
├── InputError                   3   what is read
│   ├── NoDocumentsError             the inputs contain no readable document
│   ├── NoValueError                 no record has a value in a field that a setting names
│   ├── RepeatedIdError              one id in two places
│   └── SkippedRecordsError          records were skipped and `strict` was asked for
├── IndexStoreError              4   the index on disk
│   ├── NoIndexError                 there is no index in that folder
│   ├── IndexSettingsError           it was created with other settings
│   ├── IndexLockedError             another process is writing
│   ├── IndexDamagedError            a file is damaged or missing
│   ├── IndexChangedError            another process moved, replaced or changed it while it was open
│   ├── IndexWriteError              cannot write (read-only, no permission, ...)
│   │   └── IndexSpaceError      5       no space left on the disk; also a ResourceError
│   └── KnownIdError                 it already has a document with that id
└── ResourceError                5   memory, disk, missing programs
"""

from __future__ import annotations

from collections.abc import Sequence


class IbidemError(Exception):
    """The base of all errors that ibidem raises on purpose."""

    exit_code = 1

    def __init__(self, message: str, next_step: str = "") -> None:
        super().__init__(f"{message}\n{next_step}" if next_step else message)
        self.message = message
        self.next_step = next_step


class UsageError(IbidemError):
    """The call itself is wrong."""

    exit_code = 2


class SettingsError(UsageError):
    """One or more settings are invalid; `problems` names all of them."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("invalid settings: " + "; ".join(problems))
        self.problems = tuple(problems)


class OutputExistsError(UsageError):
    """The output folder contains results, and `overwrite` was not given."""


class InputError(IbidemError):
    """An input cannot be read."""

    exit_code = 3


class NoDocumentsError(InputError):
    """The inputs contain no document at all."""


class NoValueError(InputError):
    """No record has a value in the field that a setting names."""


class RepeatedIdError(InputError):
    """Two documents have the same id."""


class SkippedRecordsError(InputError):
    """A record or file had to be skipped while `strict` was set."""


class IndexStoreError(IbidemError):
    """The index on disk cannot be used as requested."""

    exit_code = 4


class NoIndexError(IndexStoreError):
    """There is no index in that folder."""


class IndexSettingsError(IndexStoreError):
    """The index was created with other settings."""


class IndexLockedError(IndexStoreError):
    """Another process is writing to the index."""


class IndexDamagedError(IndexStoreError):
    """A file of the index is damaged or missing."""


class IndexChangedError(IndexStoreError):
    """Another process moved, replaced or changed the index while it was open; nothing was deleted."""


class IndexWriteError(IndexStoreError):
    """The index cannot be written: the disk is full, read-only or failing."""


class KnownIdError(IndexStoreError):
    """The index already has a document with that id."""


class ResourceError(IbidemError):
    """There is not enough memory or disk space, or a program is missing."""

    exit_code = 5


class IndexSpaceError(IndexWriteError, ResourceError):
    """The index cannot be written because no space is left on its disk."""

    exit_code = 5
